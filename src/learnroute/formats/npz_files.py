"""Problems and plans as NumPy archives (.npz): compact, quick to read, for up to millions of regions.

A problem's arrays have the names of its fields. `learner` holds features, samples and noise; `constraints` and `title`
are text; names are left out where they are R1, R2, …. A plan holds `order`, and all else but the route as JSON text.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.errors import InputError, shown
from learnroute.formats.files import written_whole
from learnroute.model.problem import Problem
from learnroute.model.result import Plan

ARRAYS = (
    "travel", "dissimilarity", "vectors", "initial", "coordinates", "truth", "initial_model", "samples",
    "dissimilarity_low",
)  # fmt: skip
LEARNER = ("features", "samples", "noise")
MOST_BYTES = 1 << 33  # of all arrays together, unpacked


def read(path: Path) -> dict[str, Any]:
    """Read the members of a problem."""
    members = _members(path)
    data: dict[str, Any] = {name: members.pop(name) for name in ARRAYS if name in members}
    learner = members.pop("learner", None)
    if learner is not None:
        if learner.shape != (3,):
            raise InputError(
                "features, samples and noise are needed", field="learner", found=f"has shape {learner.shape}"
            )
        data["learner"] = dict(zip(LEARNER, learner.tolist(), strict=True))
    if "regions" in members:
        data["regions"] = [str(name) for name in members.pop("regions").tolist()]
    if "travel_rate" in members:
        data["travel_rate"] = _single("travel_rate", members.pop("travel_rate"))
    if "geographic" in members:
        data["geographic"] = bool(_single("geographic", members.pop("geographic")))
    if "title" in members:
        data["title"] = str(_single("title", members.pop("title")))
    if "constraints" in members:
        text = str(_single("constraints", members.pop("constraints")))
        try:
            data["constraints"] = json.loads(text)
        except ValueError:
            raise InputError("JSON text is needed", field="constraints", value=text) from None
    return {**data, **members}  # what is unknown is refused by name, as in any other format


def write(problem: Problem, path: Path) -> None:
    """Write a problem."""
    learner = problem.learner
    data: dict[str, Any] = {"learner": np.array([learner.features, learner.samples, learner.noise], dtype=np.float64)}
    for name in ARRAYS[problem.points is not None :]:  # travel that follows from coordinates is not written
        value = getattr(problem, name)
        if value is not None and not (name == "initial" and not value.any()):
            data[name] = value
    if problem.regions != tuple(f"R{i + 1}" for i in range(problem.size)):
        data["regions"] = np.array(problem.regions)
    if problem.title:
        data["title"] = np.array(problem.title)
    if problem.geographic:
        data["geographic"] = np.array(True)
    if problem.travel_rate != 1:
        data["travel_rate"] = np.array(problem.travel_rate)
    if problem.constraints:
        data["constraints"] = np.array(json.dumps(problem.constraints.to_dict()))
    _write(path, data)


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write a plan: its order as an array, all else but the route as JSON text."""
    rest = {key: value for key, value in plan.to_dict().items() if key not in ("route", "order")}
    _write(
        path, {"order": np.array(plan.order, dtype=np.int64), "plan": np.array(json.dumps(rest, ensure_ascii=False))}
    )


def _write(path: Path, data: dict[str, Any]) -> None:
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **data)


def _members(path: Path) -> dict[str, Any]:
    """Unpack all arrays, or refuse."""
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
        if total > MOST_BYTES:
            raise InputError(f"{total:,} bytes of arrays; archives are limited to {MOST_BYTES:,}", where=path)
        with warnings.catch_warnings(action="ignore"), np.load(path, allow_pickle=False) as archive:
            members = {name: archive[name] for name in archive.files}
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError("no such file", where=path) from None
    except Exception as error:  # whatever damaged bytes make the readers of zip files and of arrays say
        cause = " ".join(str(error).split())[:100]
        raise InputError(f"not a NumPy archive that can be read ({cause})", where=path) from None
    for name, value in members.items():
        if not isinstance(value, np.ndarray):
            raise InputError(f"{shown(name)} is not an array", where=path)
    return members


def _single(field: str, value: Any) -> Any:
    if value.shape != ():
        raise InputError("a single value is needed", field=field, found=f"has shape {value.shape}")
    return value.item()
