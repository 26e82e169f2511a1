"""Completed trainings in a file, so that a long series of them can be resumed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.formats import json_files
from learnroute.formats.files import errors_naming, exists, write_text
from learnroute.learning.data import RegionData
from learnroute.learning.records import contents
from learnroute.model.validation import FloatArray


class TrainingFile:
    """Errors after trainings, by run and region, kept in a file or only in memory."""

    def __init__(self, path: Path | None, digest: str) -> None:
        self.path, self.digest = path, digest
        self.rows: dict[tuple[int, int], FloatArray] = {}
        if path is None:
            return
        if path.suffix.lower() != ".json":
            raise InputError(f"unknown format {path.suffix!r}; known is .json", where=path)
        if exists(path):
            with errors_naming(path):
                data = json_files.read(path)
                if not isinstance(data, dict) or data.get("fingerprint") != digest:
                    raise InputError(
                        "holds trainings of other data, another learner, error or seed; give another file, or delete it"
                    )
                self.rows = {(int(row[0]), int(row[1])): np.array(row[2:]) for row in data["rows"]}

    def add(self, key: tuple[int, int], errors: FloatArray) -> None:
        """Add a training, and write all trainings."""
        self.rows[key] = errors
        if self.path is not None:
            rows = [[*key, *self.rows[key].tolist()] for key in sorted(self.rows)]
            write_text(self.path, json_files.dumps({"fingerprint": self.digest, "rows": rows}))


def fingerprint(settings: list[Any], regions: list[RegionData], learner: Any) -> str:
    """Return a digest of everything that determines the results: settings, data, and the learner."""
    found = hashlib.sha256(json.dumps(settings).encode())
    for part in contents(learner):
        found.update(part)
    for region in regions:
        for table in (*region.train, *region.test):
            found.update(np.ascontiguousarray(table).tobytes())
    return found.hexdigest()
