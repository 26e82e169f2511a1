"""Problems and plans as NumPy archives (.npz): compact, fast to read, for up to millions of regions.

A problem's arrays are named after its fields. `learner` contains features, samples and noise; `constraints`, `depot`,
`visits`, `fleet`, `features_scaling` and `title` are text; names are omitted if they are R1, R2, …. A plan contains
`order`, and everything else but the route as JSON text.
"""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from learnroute.errors import InputError, printable, show
from learnroute.formats import json_files
from learnroute.formats.files import atomic_write, open_file
from learnroute.model.problem import PARTS, Problem
from learnroute.model.result import Plan

ARRAYS = (
    "travel", "dissimilarity", "vectors", "initial", "coordinates", "truth", "initial_model", "samples",
    "dissimilarity_low", "dissimilarity_estimate", "initial_estimate", "transfer", "importance",
)  # fmt: skip
LEARNER = ("features", "samples", "noise")
TEXTS = ("title", "training", *PARTS)  # parts are JSON text
SINGLES = ("travel_rate", "geographic")
KNOWN = (*ARRAYS, *TEXTS, *SINGLES, "learner", "regions")
MOST_BYTES = 1 << 33  # of all arrays together, uncompressed
MOST_MEMBERS = 1000
PLENTY = 1 << 28  # up to this uncompressed size in bytes, any compression ratio is accepted
DENSEST = 100  # highest compression ratio of larger files; real data of many regions compress far less


def read(path: Path) -> dict[str, Any]:
    """Read the members of a problem."""
    members = _members(path)
    data: dict[str, Any] = {name: members.pop(name) for name in ARRAYS if name in members}
    learner = members.pop("learner", None)
    if learner is not None:
        if learner.shape != (3,):
            raise InputError(
                "expected features, samples and noise", field="learner", found=f"has shape {learner.shape}"
            )
        data["learner"] = dict(zip(LEARNER, learner.tolist(), strict=True))
    if "training" in members:
        training = _object("training", members.pop("training"))
        data["learner"] = {**data.get("learner", {}), **training} if isinstance(training, dict) else training
    if "regions" in members:
        data["regions"] = _names(members.pop("regions"))
    if "travel_rate" in members:
        data["travel_rate"] = _single("travel_rate", members.pop("travel_rate"))
    if "geographic" in members:
        flag = _single("geographic", members.pop("geographic"))
        data["geographic"] = bool(flag) if flag in (0, 1) else flag
    if "title" in members:
        data["title"] = _text("title", members.pop("title"))
    for name in PARTS:
        if name in members:
            data[name] = _object(name, members.pop(name))
    return {**data, **members}  # unknown members are rejected by name, as in other formats


def _object(field: str, member: Any) -> Any:
    text = _text(field, member)
    try:
        return json_files.parse(text)
    except InputError:
        raise InputError("expected JSON text", field=field, value=text) from None


def write(problem: Problem, path: Path) -> None:
    """Write a problem."""
    learner = problem.learner
    data: dict[str, Any] = {"learner": np.array([learner.features, learner.samples, learner.noise], dtype=np.float64)}
    if learner.training:
        data["training"] = np.array(json.dumps(learner.training))
    for name in ARRAYS:
        value = problem.given_travel if name == "travel" else getattr(problem, name)
        needed = name != "initial" or problem.initial_model is not None or problem.visits or problem.fleet
        if value is not None and (needed or value.any()):
            data[name] = value
    if problem.regions != tuple(f"R{i + 1}" for i in range(problem.size)):
        data["regions"] = np.array(problem.regions)
    if problem.title:
        data["title"] = np.array(problem.title)
    if problem.geographic:
        data["geographic"] = np.array(True)
    if problem.travel_rate != 1:
        data["travel_rate"] = np.array(problem.travel_rate)
    for name in PARTS:
        if part := getattr(problem, name):
            data[name] = np.array(json.dumps(part.to_dict(), ensure_ascii=False))
    _write(path, data)


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write a plan: its order as an array, everything else but the route as JSON text."""
    left_out = ("route", "order") if plan.several else ("route", "routes", "order")
    rest = {key: value for key, value in plan.to_dict().items() if key not in left_out}
    _write(
        path, {"order": np.array(plan.order, dtype=np.int64), "plan": np.array(json.dumps(rest, ensure_ascii=False))}
    )


def _write(path: Path, data: dict[str, Any]) -> None:
    """Write compressed arrays, or plain ones if they compress so well that `read` would reject them."""
    total = sum(np.asarray(value).nbytes for value in data.values())
    with atomic_write(path) as temporary:
        with temporary.open("wb") as file:
            np.savez_compressed(file, **data)
        if total > PLENTY and total > DENSEST * temporary.stat().st_size // 2:
            with temporary.open("wb") as file:
                np.savez(file, **data)


def _members(path: Path) -> dict[str, Any]:
    """Decompress all arrays that a problem can have; None stands for unknown members.

    Sizes and shapes are checked before anything is decompressed.
    """
    try:
        with open_file(path, None) as file, zipfile.ZipFile(file) as archive:
            names = _check_names(path, archive)
            return {name: _array(archive, entry) for name, entry in names.items()}
    except (InputError, MemoryError):
        raise
    except Exception as error:  # damaged bytes make the zip and array readers raise anything
        cause = printable(str(error), 100)
        raise InputError(f"not a NumPy archive that can be read ({cause})", where=path) from None


def _check_names(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo | None]:
    """Return the members by name; reject archives that are too large when decompressed."""
    entries = archive.infolist()
    if len(entries) > MOST_MEMBERS:
        raise InputError(f"{len(entries):,} members; archives are limited to {MOST_MEMBERS:,}", where=path)
    names: dict[str, zipfile.ZipInfo | None] = {}
    for entry in entries:
        name = entry.filename.removesuffix(".npy")
        if name in names:
            raise InputError("given twice; give each array once", field=show(name), where=path)
        if name in KNOWN and not entry.filename.endswith(".npy"):
            raise InputError(f"member {show(name)} is not an array", where=path)
        names[name] = entry if name in KNOWN else None
    total = sum(entry.file_size for entry in entries)
    if total > MOST_BYTES:
        raise InputError(f"{total:,} bytes of arrays; archives are limited to {MOST_BYTES:,}", where=path)
    packed = sum(entry.compress_size for entry in entries)
    if total > PLENTY and total > DENSEST * packed:
        raise InputError(
            f"{total:,} bytes of arrays in {packed:,}; beyond {PLENTY:,} bytes, archives may be packed at most "
            f"{DENSEST} to 1: write it with numpy.savez, not packed",
            where=path,
        )
    return names


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo | None) -> Any:
    if entry is None:
        return None
    with archive.open(entry) as file:
        _check_header(file, entry)
    with archive.open(entry) as file:
        return npy.read_array(file, allow_pickle=False)


def _check_header(file: IO[bytes], entry: zipfile.ZipInfo) -> None:
    """Reject an array whose header does not match the content of the archive."""
    version = npy.read_magic(file)
    if version == (1, 0):
        shape, _, kind = npy.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, kind = npy.read_array_header_2_0(file)
    else:
        raise ValueError(f"version {version} of arrays")
    if kind.kind not in "biufU" or not kind.itemsize:  # entries of no bytes could be any number of names
        raise ValueError(f"contains an array of {kind}; expected numbers or text")
    needed, there = math.prod(shape) * kind.itemsize, entry.file_size - file.tell()
    if needed != there:
        raise ValueError(f"the header announces {needed:,} bytes, but there are {there:,}")


def _single(field: str, value: Any) -> Any:
    if value.shape != ():
        raise InputError("expected a single value", field=field, found=f"has shape {value.shape}")
    return value.item()


def _text(field: str, value: Any) -> str:
    text = _single(field, value)
    if not isinstance(text, str):
        raise InputError("expected text", field=field, value=text)
    return text


def _names(value: Any) -> list[str]:
    if value.ndim != 1:
        raise InputError("expected a list of names", field="regions", found=f"has shape {value.shape}")
    if value.dtype.kind not in "Uiu":
        raise InputError(f"is an array of {value.dtype}; expected names", field="regions")
    return [str(name) for name in value.tolist()]
