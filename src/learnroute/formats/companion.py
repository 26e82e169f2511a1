"""`NAME.regions.json` next to a road or travel file, with the members of a problem that the file cannot store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnroute.errors import InputError, show
from learnroute.formats import files, json_files
from learnroute.formats.files import errors_naming, exists
from learnroute.model.problem import Problem


def companion_path(path: Path) -> Path:
    """Return the path of the file with the other members: `berlin.regions.json` for `berlin.tsp`."""
    return path.with_suffix(".regions.json")


def read_companion(path: Path, taken: tuple[str, ...]) -> dict[str, Any]:
    """Read the other members, which must not be among those `taken` from the main file; empty if there is no file."""
    other = companion_path(path)
    if not exists(other):
        return {}
    with errors_naming(other):
        data = json_files.read(other)
        if not isinstance(data, dict):
            raise InputError(f"{show(data)}: expected an object with learner, and vectors or dissimilarity")
        for member in taken:
            if member in data:
                raise InputError(f"comes from {path.name}; remove it here", field=member)
        return data


def write_companion(problem: Problem, path: Path, taken: tuple[str, ...]) -> None:
    """Write all members of a problem except those in the main file."""
    data = json_files.problem_to_dict(problem)
    data["regions"] = list(problem.stops)  # the depot is one of the nodes, also in travel and coordinates
    if problem.stop_coordinates is not None:
        data["coordinates"] = problem.stop_coordinates.tolist()
    if problem.depot is not None:
        data["depot"] = problem.depot.name
        if not problem.depot.returns:
            data["constraints"] = {**data.get("constraints", {}), "return": False}
    files.write_owned(companion_path(path), json_files.dumps({k: data[k] for k in data if k not in taken}), path)


def missing_models_error(path: Path) -> InputError:
    """Return an error that says where dissimilarities are expected."""
    other = companion_path(path)
    if exists(other):
        return InputError("has neither vectors nor dissimilarity of the regions; add one of them", where=other)
    return InputError(
        f"has no vectors and no dissimilarity of the regions; put one of them, and the learner, into {other.name} "
        f"beside it, as a JSON problem has them (learnroute generate --travel {path.name} -o {other.name} draws some)",
        where=path,
    )
