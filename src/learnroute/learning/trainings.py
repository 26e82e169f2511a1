"""Trainings that are done, kept in a file, so that a long series of them goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.formats import json_files
from learnroute.formats.files import errors_naming, is_there, write_text
from learnroute.learning.data import RegionData
from learnroute.model.validation import FloatArray

DEEPEST = 8  # how far a learner's members are looked into


class TrainingFile:
    """Errors after trainings, by run and region: in a file, or in memory alone."""

    def __init__(self, path: Path | None, told_apart: str) -> None:
        self.path, self.told_apart = path, told_apart
        self.rows: dict[tuple[int, int], FloatArray] = {}
        if path is None:
            return
        if path.suffix.lower() != ".json":
            raise InputError(f"unknown format {path.suffix!r}; known is .json", where=path)
        if is_there(path):
            with errors_naming(path):
                data = json_files.read(path)
                if not isinstance(data, dict) or data.get("fingerprint") != told_apart:
                    raise InputError(
                        "holds trainings of other data, another learner, error or seed; give another file, or delete it"
                    )
                self.rows = {(int(row[0]), int(row[1])): np.array(row[2:]) for row in data["rows"]}

    def keep(self, key: tuple[int, int], errors: FloatArray) -> None:
        """Add a training, and write all of them."""
        self.rows[key] = errors
        if self.path is not None:
            rows = [[*key, *self.rows[key].tolist()] for key in sorted(self.rows)]
            write_text(self.path, json_files.dumps({"fingerprint": self.told_apart, "rows": rows}))


def fingerprint(settings: list[Any], regions: list[RegionData], learner: Any) -> str:
    """Return what tells apart trainings with other results: the settings, the data, and how the learner is made."""
    found = hashlib.sha256(json.dumps(settings).encode())
    for part in _said(learner, 0):
        found.update(part)
    for region in regions:
        for table in (*region.train, *region.test):
            found.update(np.ascontiguousarray(table).tobytes())
    return found.hexdigest()


def _said(value: Any, depth: int) -> Iterator[bytes]:
    """Say what a value is, the same in every process: members by name, arrays and tensors by their numbers."""
    yield type(value).__qualname__.encode()
    if depth > DEEPEST or isinstance(value, type | ModuleType):
        yield str(getattr(value, "__name__", "")).encode()
        return
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield repr((value.shape, value.dtype)).encode()
        yield np.ascontiguousarray(value).tobytes()
    elif hasattr(value, "state_dict") and hasattr(value, "parameters"):  # a PyTorch module
        yield repr(value).encode()
        for name, tensor in value.state_dict().items():
            yield name.encode() + tensor.detach().cpu().numpy().tobytes()
    elif isinstance(value, Mapping):
        for key in sorted(value, key=repr):
            yield repr(key).encode()
            yield from _said(value[key], depth + 1)
    elif isinstance(value, list | tuple | np.ndarray):
        for one in value:
            yield from _said(one, depth + 1)
    elif hasattr(value, "__code__"):
        code = value.__code__
        yield code.co_code + repr((code.co_names, [c for c in code.co_consts if not hasattr(c, "co_code")])).encode()
        for cell in value.__closure__ or ():
            yield from _said(cell.cell_contents, depth + 1)
    elif hasattr(value, "__dict__"):
        yield from _said(vars(value), depth + 1)
    elif " at 0x" not in repr(value):  # addresses differ from process to process
        yield repr(value).encode()
