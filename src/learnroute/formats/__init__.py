"""Files in and out: one module a format, chosen by the file's suffix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from learnroute.errors import InputError
from learnroute.formats import csv_files, json_files, npz_files
from learnroute.formats.files import check_destination
from learnroute.model.problem import Problem
from learnroute.model.result import Plan

FOLDER = ""  # a path without a suffix
READERS: dict[str, Callable[[Path], Any]] = {
    ".json": json_files.read,
    ".csv": csv_files.read,
    ".npz": npz_files.read,
    FOLDER: csv_files.read,
}
WRITERS: dict[str, Callable[[Problem, Path], None]] = {
    ".json": json_files.write,
    ".npz": npz_files.write,
    FOLDER: csv_files.write,
}
PLAN_WRITERS: dict[str, Callable[[Plan, Path, Problem | None], None]] = {
    ".json": json_files.write_plan,
    ".csv": csv_files.write_plan,
    ".npz": npz_files.write_plan,
}


def read_problem(path: str | Path, learner: Mapping[str, Any] | None = None) -> Problem:
    """Read a problem from a JSON file, or from a folder of CSV tables (or the `travel.csv` in it).

    Members of `learner` (features, samples, noise) replace those of the file.
    """
    path = Path(path)
    try:
        data = _read(path)
        if learner and isinstance(data, dict):
            own = data.get("learner", {})
            data["learner"] = {**own, **learner} if isinstance(own, dict) else own
        return Problem.from_dict(data)
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(str(path)) else f"{path}: {message}") from None


def write_problem(problem: Problem, path: str | Path) -> None:
    """Write a problem: `.json`, or a folder of CSV tables where the name has no suffix."""
    path = Path(path)
    check_destination(path, WRITERS)
    WRITERS[path.suffix.lower()](problem, path)


def read_plan(path: str | Path) -> Any:
    """Read the members of a plan that was written as JSON."""
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise InputError(f"{path}: plans are read from .json files; write the plan as .json")
    try:
        return json_files.read(path)
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(str(path)) else f"{path}: {message}") from None


def write_plan(plan: Plan, path: str | Path, problem: Problem | None = None) -> None:
    """Write a plan as `.json` or `.csv`; the table says more where the problem is given."""
    path = Path(path)
    check_destination(path, PLAN_WRITERS)
    PLAN_WRITERS[path.suffix.lower()](plan, path, problem)


def _read(path: Path) -> Any:
    if path.is_dir():
        return READERS[FOLDER](path)
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.suffix.lower() not in READERS:
        known = ", ".join(suffix or "a folder" for suffix in READERS)
        raise InputError(f"{path}: unknown format {path.suffix!r}; known are {known}")
    return READERS[path.suffix.lower()](path)
