"""Read and write files, with one module per format, selected by the file's suffix."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from learnroute.errors import InputError, check_type, list_names
from learnroute.formats import json_files
from learnroute.formats.files import check_destination, errors_naming, exists, is_folder, no_such_file, open_file
from learnroute.formats.plans import plan_from
from learnroute.model.learners import TRAINING
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.streets import Streets
from learnroute.model.validation import as_path

__all__ = [
    "DEGREES", "FOLDER", "METRES", "ONE_FILE", "PICTURES", "PLACES_NEEDED", "PLAN_WRITERS", "READERS", "TEXT_READERS",
    "WRITERS", "check_plan_destination", "main_file", "plan_from", "read_plan", "read_problem", "write_plan",
    "write_problem",
]  # fmt: skip

FOLDER = ""  # a path without a suffix

# The module of each format. It is imported when a file of that format is read or written.
READERS = {  # each has read(path)
    ".json": "json_files",
    ".csv": "places",
    ".geojson": "geojson",
    ".tsp": "tsplib",
    ".atsp": "tsplib",
    ".graphml": "graphml",
    ".npz": "npz_files",
    FOLDER: "csv_files",
}
TEXT_READERS = tuple(suffix for suffix in READERS if suffix not in (FOLDER, ".npz"))
WRITERS = {  # write(problem, path)
    ".json": "json_files",
    ".geojson": "geojson",
    ".csv": "places",
    ".tsp": "tsplib",
    ".atsp": "tsplib",
    ".npz": "npz_files",
    FOLDER: "csv_files",
}
ONE_FILE = (".json", ".geojson")  # formats that store a problem in one file
PLAN_WRITERS = {  # write_plan(plan, path, problem)
    ".json": "json_files",
    ".csv": "csv_files",
    ".geojson": "geojson",
    ".gpx": "gpx",
    ".kml": "kml",
    ".plan": "missions",
    ".yaml": "poses",
    ".tour": "tsplib",
    ".txt": "orders",
    ".npz": "npz_files",
}
PER_VEHICLE = (".gpx", ".kml", ".plan", ".yaml", ".txt")  # formats that store one route
PICTURES = (".png", ".svg", ".pdf")

# coordinates that a format needs to write plans: functions of `tracks`, which reject other coordinates
DEGREES, METRES = "as_degrees", "as_metres"
PLACES_NEEDED = {".geojson": DEGREES, ".gpx": DEGREES, ".kml": DEGREES, ".plan": DEGREES, ".yaml": METRES}


def read_problem(
    path: str | Path,
    learner: Mapping[str, Any] | None = None,
    constraints: Mapping[str, Any] | None = None,
    travel_rate: float | None = None,
) -> Problem:
    """Read a problem from a file, whose suffix selects the format (`READERS`), or from a folder.

    Members of `learner` (features, samples, noise, rule, …) and of `constraints` (start, end, return) replace those of
    the file, as does `travel_rate`.

    Parameters
    ----------
    path
        A file in one of the formats, or a folder that contains one problem.
    learner
        Members (features, samples, noise, rule, …) that replace those of the file.
    constraints
        Members (start, end, return) that replace those of the file.
    travel_rate
        Travel rate that replaces the one of the file.

    Returns
    -------
    Problem
        The problem, validated.

    Raises
    ------
    InputError
        If the file cannot be read or is not a valid problem; the message names file, line and field.
    """
    path = as_path("path", path)
    for field, changes in (("learner", learner), ("constraints", constraints)):
        if not isinstance(changes, Mapping | None):
            raise InputError("expected an object with the members to replace", field=field, value=changes)
    with errors_naming(path):
        return problem_from(read_members(path), learner, constraints, travel_rate)


def problem_from(
    data: Any,
    learner: Mapping[str, Any] | None = None,
    constraints: Mapping[str, Any] | None = None,
    travel_rate: float | None = None,
) -> Problem:
    """Build a problem from the content of a file, with replacements as in `read_problem`."""
    if isinstance(data, dict):
        if {"route", "order", "loss"} <= data.keys():
            raise InputError(
                "is a plan, not a problem; give the problem that it was made for (`learnroute verify PLAN FILE` checks "
                "a plan, `learnroute convert PLAN NEW --problem FILE` converts one)"
            )
        if not (learner or data.get("learner")) and data.keys() & {"travel", "coordinates"}:
            raise InputError(
                'missing; add it, such as {"features": 80, "samples": 100, "noise": 0.1} (or learner.csv beside CSV '
                "tables), or use --features and --samples",
                field="learner",
            )
        for field, changes in (("learner", learner), ("constraints", constraints)):
            own = data.get(field) or {}
            if changes and isinstance(own, dict):
                if "rule" in changes:  # drop the members of the old rule
                    own = {name: value for name, value in own.items() if name not in TRAINING}
                data[field] = {**own, **changes}
        depot, back = data.get("depot"), (constraints or {}).get("return")
        if isinstance(depot, dict) and back is not None:  # with a depot, `return` is a member of the depot
            data["depot"], data["constraints"] = {**depot, "return": back}, {**data["constraints"], "return": None}
        if learner and "samples" in learner:
            data.pop("samples", None)
        if travel_rate is not None:
            data["travel_rate"] = travel_rate
    streets = data.get("streets") if isinstance(data, dict) else None
    if not isinstance(streets, Streets):
        return Problem.from_dict(data)
    del data["streets"]
    return Problem.from_dict(data).replace(streets=streets)


def write_problem(problem: Problem, path: str | Path) -> tuple[Path, ...]:
    """Write a problem to a file, whose suffix selects the format (`WRITERS`), or to a folder if there is no suffix.

    Some formats need several files.

    Parameters
    ----------
    problem
        The problem.
    path
        Its suffix decides the format.

    Returns
    -------
    tuple of pathlib.Path
        All files that were written.

    Raises
    ------
    InputError
        If the format is unknown or cannot represent the problem, or the file cannot be written.
    """
    check_type("problem", problem, Problem)
    path = as_path("path", path)
    check_destination(path, WRITERS)
    written: tuple[Path, ...] | None = _module(WRITERS[path.suffix.lower()]).write(problem, path)
    return written or (path,)


def read_plan(path: str | Path) -> Any:
    """Read the members of a plan that was written as JSON.

    Parameters
    ----------
    path
        A `.json` file.

    Returns
    -------
    dict
        The members of the plan as JSON values, as accepted by `verify`.

    Raises
    ------
    InputError
        If the file cannot be read, or is not JSON.
    """
    path = as_path("path", path)
    if path.suffix.lower() != ".json":
        raise InputError("plans are read from .json files only; save the plan as .json", where=path)
    with errors_naming(path):
        return json_files.read(path)


def write_plan(plan: Plan, path: str | Path, problem: Problem | None = None) -> tuple[Path, ...]:
    """Write a plan to a file, whose suffix selects the format (`PLAN_WRITERS`).

    Most formats contain coordinates only if the problem is given. Formats for maps, robots and drones store one route:
    with several vehicles, each vehicle in use gets a separate file, `route-1.gpx`, `route-2.gpx`, ….

    Parameters
    ----------
    plan
        The plan.
    path
        Its suffix decides the format.
    problem
        The problem that was planned, which contains the coordinates of the regions.

    Returns
    -------
    tuple of pathlib.Path
        All files that were written.

    Raises
    ------
    InputError
        If the format is unknown or needs coordinates that the problem does not have, or the file cannot be written.
    """
    check_type("plan", plan, Plan)
    if problem is not None:
        check_type("problem", problem, Problem)
    path = as_path("path", path)
    check_destination(path, PLAN_WRITERS)
    writer = _module(PLAN_WRITERS[path.suffix.lower()])
    if not plan.several or path.suffix.lower() not in PER_VEHICLE:
        writer.write_plan(plan, path, problem)
        return (path,)
    plans = {path.with_stem(f"{path.stem}-{number}"): one for number, one in plan.by_vehicle().items()}
    for file, one in plans.items():
        writer.write_plan(one, file, problem)
    return tuple(plans)


def check_plan_destination(path: str | Path, problem: Problem) -> None:
    """Reject, before solving, a file to which a plan of this problem could not be written."""
    path = as_path("path", path)
    check_destination(path, PLAN_WRITERS)
    if path.suffix.lower() in PLACES_NEEDED:
        getattr(_module("tracks"), PLACES_NEEDED[path.suffix.lower()])(problem, path)
    if path.suffix.lower() == ".tour":
        _module("tsplib").check_tour(not (problem.visits_all_once and problem.fleet_rules.single), path)


def read_members(path: Path) -> Any:
    """Read the members of a problem from a file, without checking that they form one."""
    path = main_file(path)
    if is_folder(path):
        return _module(READERS[FOLDER]).read(path)
    if not exists(path):
        raise no_such_file(path)
    if not path.suffix:
        with open_file(path):  # rejects anything but regular files
            pass
    if path.suffix.lower() not in READERS or not path.suffix:
        known = ", ".join(suffix or "a folder" for suffix in READERS)
        given = f"unknown format {path.suffix!r}" if path.suffix else "the name has no extension for the format"
        raise InputError(f"{given}; known are {known}", where=path)
    return _module(READERS[path.suffix.lower()]).read(path)


def _module(name: str) -> Any:
    return import_module(f"{__name__}.{name}")


def main_file(path: Path) -> Path:
    """Return the only problem file of a folder; the path itself if it is a file, or a folder of tables."""
    if not is_folder(path):
        return path
    try:
        known = set(READERS) - {FOLDER}
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in known and file.is_file())
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from None
    found = [file for file in files if _is_problem(file)]
    tables = [path / name for name in ("travel.csv", "regions.csv") if (path / name).exists()]
    if len(found) + bool(tables) > 1:
        names = [file.name for file in (*tables[:1], *found)]
        raise InputError(f"{len(names)} problems in this folder; give one of them: {list_names(names)}", where=path)
    if not found and not tables:
        hint = "; `learnroute estimate` makes one from samples" if any(path.glob("*.csv")) else ""
        expected = "expected a problem file, or the tables travel.csv and dissimilarity.csv"
        raise InputError(f"no problem in this folder; {expected}{hint}", where=path)
    return found[0] if found else path


def files_of_problem(path: Path) -> tuple[Path, ...]:
    """Return all files that a problem may be read from: its file and those beside it, or the tables of a folder."""
    try:
        file = main_file(path)
    except InputError:  # reported when the problem is read
        return (path,)
    if is_folder(file):
        return (path, *_tables(file))
    return (path, file, *_companion(file), *(_tables(file.parent) if file.suffix.lower() == ".csv" else ()))


def files_of_samples(path: Path) -> tuple[Path, ...]:
    """Return all files that samples may be read from: a table, or the tables of a folder or of its train and test."""
    folders = (path, path / "train", path / "test") if is_folder(path) else ()
    return (path, *(file for folder in folders for file in folder.glob("*.csv")))


def files_to_write(path: Path) -> tuple[Path, ...]:
    """Return all files that a command may write for a path: the file and its companion, or the tables of a folder."""
    if path.suffix and not is_folder(path):
        return (path, *_companion(path))
    return (*_tables(path), *files_of_samples(path))


def _companion(path: Path) -> tuple[Path, ...]:
    has_one = path.suffix.lower() in (".tsp", ".atsp", ".graphml")
    return (_module("companion").companion_path(path),) if has_one else ()


def _tables(folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in _module("csv_files").TABLES)


def _is_places(file: Path) -> bool:
    try:
        return bool(_module("places").is_places(file))
    except InputError:
        return True  # errors are reported when the file is read


def _is_problem(file: Path) -> bool:
    """Return whether a file can be the problem of its folder: not a table, a companion of another file, or a plan."""
    suffix, name = file.suffix.lower(), file.name.lower()
    if suffix == ".csv":
        return name not in _module("csv_files").TABLES and _is_places(file)
    if suffix != ".json":
        return True
    if name.endswith(".regions.json"):
        return False
    try:
        data = json_files.read(file)
    except InputError:
        return True  # errors are reported when the file is read
    return isinstance(data, dict) and bool(data.keys() & {"travel", "coordinates"})
