"""Solved cells on disk: an append-only log that survives interruptions.

A store is a folder with `experiment.json` and `cells.log`. Each line of the log is one solved cell: a checksum, the
cell's number and its results, as JSON. A cell counts once its line is complete; a line truncated by a crash is dropped
when the store is opened again.

Why not SQLite: an append-only log needs no transactions. A truncated or corrupted line costs only its own cell, whereas
a corrupted page of a database costs the whole file. The log also works on file systems shared by a cluster, where
SQLite's locks and journals are not safe, and it can be read with any text tool.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.formats.files import (
    TEMPORARY,
    errors_naming,
    exists,
    lock,
    make_folder,
    open_file,
    read_text,
    remove_leftovers,
    write_text,
)
from learnroute.formats.json_files import dumps, parse
from learnroute.model.validation import IntArray
from learnroute.study.cells import Row, Values, rows_of
from learnroute.study.experiment import Experiment

EXPERIMENT_FILE = "experiment.json"
LOG_FILE = "cells.log"
FORMAT = 1
MISSING = -1


class Store:
    """The solved cells of one experiment. Open for writing with `open_store`, for reading with `Store(folder)`."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.experiment = _experiment_in(self.folder)
        self.places, self.length = _index(self.folder / LOG_FILE, self.experiment.size)
        self._log: io.FileIO | None = None

    @property
    def done(self) -> int:
        """Number of solved cells."""
        return int(np.count_nonzero(self.places != MISSING))

    @property
    def solved(self) -> IntArray:
        """The numbers of the solved cells."""
        return np.flatnonzero(self.places != MISSING)

    def pending(self) -> Iterator[int]:
        """Yield the cells that are not solved yet, in random order.

        Shuffling mixes small and large problems, so that the pace so far predicts the remaining time, and the rows of
        an unfinished sweep cover the whole experiment.
        """
        for number in np.random.default_rng(0).permutation(np.flatnonzero(self.places == MISSING)):
            yield int(number)

    def add(self, solved: Iterable[tuple[int, list[Values]]]) -> None:
        """Append solved cells; once this returns, they survive the end of this process."""
        assert self._log is not None
        lines = []
        for number, values in solved:
            if self.places[number] == MISSING:
                line = _line(number, values)
                self.places[number] = self.length
                self.length += len(line)
                lines.append(line)
        text = memoryview(b"".join(lines))
        with self._writing():
            while text:  # the log is unbuffered, as a buffer would be written again on closing
                text = text[self._log.write(text) :]

    def sync(self) -> None:
        """Flush appended cells to disk, so that they also survive a crash of the machine."""
        assert self._log is not None
        with self._writing():
            os.fsync(self._log.fileno())

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(
                f"cannot be written ({error.strerror}); solved problems are stored; free space, then use --resume",
                where=self.folder / LOG_FILE,
            ) from None

    def rows(self) -> Iterator[Row]:
        """Yield the rows of all solved cells, in the order of the experiment, regardless of the order of solving."""
        with open_file(self.folder / LOG_FILE, None) as log:
            for number in np.flatnonzero(self.places != MISSING):
                log.seek(self.places[number])
                entry = _entry(log.readline())
                assert entry is not None
                yield from rows_of(self.experiment, int(number), entry[1])


@contextlib.contextmanager
def open_store(folder: str | Path, experiment: Experiment, resume: bool) -> Iterator[Store]:
    """Open a new store or, with `resume`, an existing one for writing; only one process may do so at a time."""
    folder = Path(folder)
    make_folder(folder)
    if not (folder / EXPERIMENT_FILE).exists():
        _check_empty(folder)
    elif not resume:
        raise InputError("contains a sweep; add --resume to continue it, or give another folder", where=folder)
    with _lock(folder) as log:
        remove_leftovers(folder)
        if (folder / EXPERIMENT_FILE).exists():
            _same(folder, _experiment_in(folder), experiment)
        else:
            write_text(folder / EXPERIMENT_FILE, dumps({"format": FORMAT, **experiment.to_dict()}))
        store = Store(folder)
        store._log = log
        with store._writing():
            log.truncate(store.length)  # drops a line truncated by a crash
            log.seek(store.length)
        try:
            yield store
            store.sync()
        finally:
            store._log = None


def _check_empty(folder: Path) -> None:
    """Reject a folder that is not empty, except for files of a sweep that was killed as it started."""
    try:
        for path in folder.iterdir():
            begun = path.name.startswith(TEMPORARY) or (path.name == LOG_FILE and path.stat().st_size == 0)
            if not begun:
                raise InputError("contains other files; give a new or empty folder", where=folder)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=folder) from None


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[io.FileIO]:
    try:
        log = (folder / LOG_FILE).open("ab", buffering=0)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", where=folder / LOG_FILE) from None
    with log:
        if not lock(log.fileno()):
            raise InputError("another sweep is writing to it; wait for it, or give another folder", where=folder)
        yield log


def _experiment_in(folder: Path) -> Experiment:
    path = folder / EXPERIMENT_FILE
    with errors_naming(path):
        data = parse(read_text(path))
        if isinstance(data, dict) and data.pop("format", None) != FORMAT:
            raise InputError(
                f"expected {FORMAT}; the store was written by another version of learnroute", field="format"
            )
        return Experiment.from_dict(data)


def _same(folder: Path, stored: Experiment, given: Experiment) -> None:
    old, new = stored.to_dict(), given.to_dict()
    for field in sorted({*old, *new} - {"name"}):
        if old.get(field) != new.get(field):
            said = [json.dumps(one.get(field)) for one in (old, new)]
            differs = f"{field} = {said[0]} instead of {said[1]}"
            if field == "problems":
                differs = "other problems, or problems that have changed since"
            raise InputError(f"contains another experiment, with {differs}; give another folder", where=folder)


def _line(number: int, values: list[Values]) -> bytes:
    text = json.dumps([number, values], allow_nan=False, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _entry(line: bytes) -> tuple[int, list[Values]] | None:
    """Return the number and values of a log line; None if the line is incomplete."""
    if len(line) < 10 or not line.endswith(b"\n"):
        return None
    text = line[9:-1]
    if line[:9] != b"%08x " % zlib.crc32(text):
        return None
    entry: Any = json.loads(text)
    return entry[0], entry[1]


def _index(log: Path, size: int) -> tuple[IntArray, int]:
    """Return the start of each cell's line, and the end of the last complete line; broken lines are skipped."""
    places = np.full(size, MISSING, dtype=np.int64)
    place = length = 0
    if exists(log):
        with open_file(log, None) as lines:
            for line in lines:
                entry = _entry(line)
                if entry is not None and 0 <= entry[0] < size:
                    places[entry[0]] = place
                    length = place + len(line)
                place += len(line)
    return places, length
