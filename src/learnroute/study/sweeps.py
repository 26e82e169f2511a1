"""Sweeps: experiment -> batches -> engine -> store."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.model.result_mixin import TableMixin
from learnroute.model.table import Column, Sheet, Table
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Progress
from learnroute.study.cells import Values, solve_cell
from learnroute.study.engines import engine
from learnroute.study.experiment import Experiment
from learnroute.study.store import Store, open_store
from learnroute.study.summary import RunningStatistics

BATCH_SECONDS = 0.4  # target time of a batch: long compared with its overhead, short enough to lose if killed
MOST_BATCH = 2000  # cells
SYNC = 2.0  # seconds between two flushes to disk

MOST_KINDS = 100_000  # kinds of problems for which times are recorded separately

Solved = tuple[list[tuple[int, list[Values]]], list[float]]


@dataclass(frozen=True)
class Sweep(TableMixin):
    """The result of a sweep: number of cells, cells found in the store, cells solved now, and the time taken.

    `folder` contains the store, and `methods` are those of the experiment.
    """

    cells: int
    found: int
    solved: int
    failed: int
    seconds: float
    workers: int
    folder: Path = field(repr=False)
    methods: tuple[str, ...] = field(repr=False)

    def table(self) -> Table:
        """Return the ratios of each method to the optimum (or best bound), over all problems in the store."""
        found = {method: RunningStatistics() for method in self.methods}
        for row in Store(self.folder).rows():
            if row["ratio"] is not None:
                found[row["method"]].add(row["ratio"])
        columns = (
            Column("method", "method", left=True),
            Column("problems", "problems"),
            *(Column(name, head, ".4f") for name, head in
              (("mean_ratio", "mean ratio"), ("half_width", "± 95 %"), ("largest_ratio", "largest"))),
        )  # fmt: skip
        rows = [
            (method, one.count, *((one.mean, one.half_width, one.maximum) if one.count else (None, None, None)))
            for method, one in found.items()
        ]
        return Table(columns, rows)

    def sheet(self) -> Sheet:
        """Return the ratios and the number of solved problems."""
        before = f"; {self.found} were stored before" if self.found else ""
        failed = f", {self.failed} of them with an error (column `error`)" if self.failed else ""
        solved = f"solved {self.solved} problems{failed}, in {self.seconds:.1f} s on {self.workers} workers{before}"
        return Sheet(solved, (self.table(),))

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {name: value for name, value in asdict(self).items() if name not in ("folder", "methods")}


def sweep(
    experiment: Experiment,
    folder: str | Path,
    resume: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Solve all cells of an experiment and store them in `folder`; `Store(folder).rows()` yields the rows.

    Parameters
    ----------
    experiment
        The experiment to solve.
    folder
        Folder of the store; must be new or empty, unless resumed.
    resume
        Whether to continue the store of the same experiment in `folder`; solved cells are not solved again.
    workers
        Number of processes on this machine; default: one per core.
    dask
        Address of a Dask scheduler, or `local`, instead of `workers`. Rows are bit-identical wherever they are
        computed.
    progress
        Called with the estimated share of the work that is done (`Work`).
    """
    started = time.monotonic()
    with open_store(folder, experiment, resume) as store, engine(workers, dask) as (run, count):
        found = solved = store.done
        failed = 0
        work = Work(experiment, store.solved)
        if progress:
            progress("sweep", work.share)
        pace = _BatchSizes(experiment.size - found, count)
        batches = pace.batches(store.pending())
        synced = time.monotonic()
        task = partial(solve_batch, experiment)
        for entries, seconds in run(task, batches):
            store.add(entries)
            pace.learn(len(entries), sum(seconds))
            work.add([number for number, _ in entries], seconds)
            solved += len(entries)
            failed += sum(any(values[-1] is not None for values in cell) for _, cell in entries)
            if time.monotonic() - synced > SYNC:
                store.sync()
                synced = time.monotonic()
            if progress:
                progress("sweep", work.share)
    seconds = time.monotonic() - started
    return Sweep(experiment.size, found, solved - found, failed, seconds, count, Path(folder), experiment.methods)


def solve_batch(experiment: Experiment, numbers: list[int]) -> Solved:
    """Solve some cells, and return how long each took; runs in a worker."""
    entries, seconds = [], []
    for number in numbers:
        started = time.perf_counter()
        entries.append((number, solve_cell(experiment, number)))
        seconds.append(time.perf_counter() - started)
    return entries, seconds


class Work:
    """The share of a sweep's work that is done, estimated from the mean time of each kind of problem.

    Problems of the same family, size and features are of one kind; a few large problems may take longer than all
    others. Kinds without a solved problem count as the mean of the others.
    """

    def __init__(self, experiment: Experiment, solved: IntArray) -> None:
        kinds = math.prod(experiment.lengths[:3])
        self.cells = experiment.size // kinds if kinds <= MOST_KINDS else experiment.size
        self.done = np.bincount(solved // self.cells, minlength=experiment.size // self.cells).astype(np.float64)
        self.timed, self.seconds = np.zeros_like(self.done), np.zeros_like(self.done)

    def add(self, numbers: list[int], seconds: list[float]) -> None:
        """Record solved problems and the time that each took."""
        kinds = np.array(numbers, dtype=np.int64) // self.cells
        np.add.at(self.done, kinds, 1.0)
        np.add.at(self.timed, kinds, 1.0)
        np.add.at(self.seconds, kinds, seconds)

    @property
    def share(self) -> float:
        """The share of the work that is done."""
        if not self.timed.any():
            return float(self.done.sum() / (self.cells * len(self.done)))
        known = self.timed > 0
        mean = np.full(len(self.done), self.seconds[known].sum() / self.timed[known].sum())
        mean[known] = self.seconds[known] / self.timed[known]
        whole = float(self.cells * mean.sum())
        return float(self.done @ mean) / whole if whole > 0 else 1.0


class _BatchSizes:
    """Batch sizes: a single cell first, then as many as fill BATCH_SECONDS at the most recent pace."""

    def __init__(self, cells: int, workers: int) -> None:
        self.size = 1
        self.most = max(1, min(MOST_BATCH, cells // (8 * workers)))

    def batches(self, numbers: Iterator[int]) -> Iterator[list[int]]:
        while batch := list(islice(numbers, self.size)):
            yield batch

    def learn(self, cells: int, seconds: float) -> None:
        wanted = int(cells * BATCH_SECONDS / max(seconds, 1e-9))
        self.size = max(1, min(wanted, 4 * max(self.size, cells), self.most))
