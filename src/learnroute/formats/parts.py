"""Parts of problems: travel from a file without models, and measured dissimilarities from another file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from learnroute.errors import InputError
from learnroute.formats import csv_files, graphml, json_files, tsplib
from learnroute.formats.files import errors_naming, exists, no_such_file
from learnroute.model.validation import as_region

TRAVEL: dict[str, Callable[[Path], Any]] = {
    ".tsp": lambda path: tsplib.read(path, models=False),
    ".atsp": lambda path: tsplib.read(path, models=False),
    ".graphml": lambda path: graphml.read(path, models=False),
    ".json": json_files.read,
}
MODELS = ("dissimilarity", "vectors", "transfer", "dissimilarity_low", "dissimilarity_estimate", "initial",
          "initial_estimate", "truth", "initial_model", "features_scaling")  # fmt: skip
MEASURED = (".csv", ".json")


def read_travel(path: Path) -> dict[str, Any]:
    """Read all members of a problem except those about models (`MODELS`)."""
    suffix = _check_format(path, tuple(TRAVEL))
    with errors_naming(path):
        data = TRAVEL[suffix](path)
        if not isinstance(data, dict) or not data.keys() & {"travel", "coordinates"}:
            raise InputError("has neither travel nor coordinates", where=path)
    return {key: value for key, value in data.items() if key not in MODELS}


def size_of(data: dict[str, Any]) -> int:
    """Return the number of regions in the members of a problem."""
    return len(data["travel"] if data.get("travel") is not None else data["coordinates"])


def names_in(data: dict[str, Any]) -> list[str]:
    """Return the names of the regions, with the same defaults as `Problem`."""
    given = data.get("regions")
    return [f"R{i + 1}" for i in range(size_of(data))] if given is None else [str(name) for name in given]


def read_dissimilarities(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    """Read dissimilarities for the regions of `data` from a matrix with names (.csv), or a JSON problem or estimate.

    If `data` has no names, the regions take those of the matrix, in its order.
    """
    suffix = _check_format(path, MEASURED)
    with errors_naming(path):
        if suffix == ".csv":
            names, matrix = csv_files.read_matrix(path)
            found: dict[str, Any] = {"dissimilarity": matrix}
        else:
            members = json_files.read(path)
            if not isinstance(members, dict) or not members.keys() & {"dissimilarity", "vectors", "transfer"}:
                raise InputError("expected an object with dissimilarity, vectors or transfer", value=members)
            found = {key: members[key] for key in MODELS if members.get(key) is not None}
            names = [str(name) for name in members.get("regions") or []]
        size = size_of(data)
        for key in ("dissimilarity", "vectors", "transfer"):
            if key in found and len(found[key]) != size:
                raise InputError(f"expected {size}, one per region", field=key, found=f"has {len(found[key])} rows")
        if not names:
            return found
        if "regions" not in data and set(names) != set(names_in(data)):
            return {**found, "regions": names}
        return {**_in_order(found, names, names_in(data)), "regions": names_in(data)}


def _in_order(found: dict[str, Any], names: list[str], wanted: list[str]) -> dict[str, Any]:
    for name in names:
        as_region("regions", name, wanted)
    for name in wanted:
        if names.count(name) != 1:
            raise InputError("missing, or given twice; list each region once", field="regions", value=name)
    place = [names.index(name) for name in wanted]
    square = ("dissimilarity", "transfer", "dissimilarity_low", "dissimilarity_estimate")
    return {
        key: [[rows[i][j] for j in place] for i in place]
        if key in square
        else rows
        if key in ("initial_model", "features_scaling")
        else [rows[i] for i in place]
        for key, rows in found.items()
    }


def _check_format(path: Path, suffixes: tuple[str, ...]) -> str:
    if not exists(path):
        raise no_such_file(path)
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        raise InputError(f"unknown format {suffix!r}; known here are {', '.join(suffixes)}", where=path)
    return suffix
