"""Problems and plans as JSON, following docs/formats.md strictly."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

from learnroute.errors import InputError
from learnroute.formats.files import read_text, write_text
from learnroute.model.problem import PARTS, Problem
from learnroute.model.result import Plan

CONSTANTS = re.compile(r'"(?:\\.|[^"\\])*"|(-?Infinity|NaN)')


def parse(text: str) -> Any:
    """Parse standard JSON, without NaN and repeated members."""
    if not text.strip():
        raise InputError("is empty; expected JSON")
    try:
        return json.loads(text, parse_constant=partial(_reject_constant, text), object_pairs_hook=_reject_repeats)
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}, column {error.colno}: not JSON ({error.msg})") from None
    except InputError:  # raised by the two hooks
        raise
    except RecursionError:
        raise InputError("lists are nested too deeply for a problem") from None
    except ValueError as error:  # an integer with too many digits
        raise InputError(str(error)) from None


def dumps(data: Any) -> str:
    """Return a JSON object as text, with one line per matrix row."""
    members = ",\n".join(f"  {json.dumps(key)}: {_member(value)}" for key, value in data.items())
    return "{\n" + members + "\n}\n"


def read(path: Path) -> Any:
    """Read the members of a problem."""
    return parse(read_text(path))


def write(problem: Problem, path: Path) -> None:
    """Write a problem."""
    write_text(path, dumps(problem_to_dict(problem)))


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write a plan."""
    write_text(path, dumps(plan.to_dict()))


def problem_to_dict(problem: Problem) -> dict[str, Any]:
    """Return a problem in the form of docs/formats.md, without members that have their defaults."""
    data: dict[str, Any] = {"title": problem.title, "regions": list(problem.regions)}
    data["learner"] = problem.learner.to_dict()
    arrays = ("dissimilarity", "vectors", "initial", "coordinates", "truth", "initial_model",
              "samples", "dissimilarity_low", "dissimilarity_estimate", "initial_estimate", "transfer",
              "importance")  # fmt: skip
    for name, value in {"travel": problem.given_travel, **{name: getattr(problem, name) for name in arrays}}.items():
        if value is not None:
            data[name] = value.tolist()
    if problem.geographic:
        data["geographic"] = True
    if problem.travel_rate != 1:
        data["travel_rate"] = problem.travel_rate
    data |= {name: part.to_dict() for name in PARTS if (part := getattr(problem, name))}
    return {key: value for key, value in data.items() if value != ""}


def _member(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        return _by_line(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _by_line(rows: list[Any]) -> str:
    return "[\n" + ",\n".join(f"    {json.dumps(row, ensure_ascii=False, allow_nan=False)}" for row in rows) + "\n  ]"


def _reject_constant(text: str, name: str) -> Any:
    """Reject NaN and Infinity as numbers, and report the first occurrence outside of quotes."""
    place = next(found.start() for found in CONSTANTS.finditer(text) if found[1])
    line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
    raise InputError(f"line {line}, column {column}: {name}: numbers must be finite; fill in the missing value")


def _reject_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InputError("given twice; give each field once", field=key)
            seen.add(key)
    return members
