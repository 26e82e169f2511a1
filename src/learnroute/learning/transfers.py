"""The transfer matrix of any learner: train in each region alone, test in all."""

from __future__ import annotations

import copy
import importlib.util
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, RefusedError
from learnroute.formats import json_files
from learnroute.formats.files import errors_naming
from learnroute.learning.adapters import as_learner, is_classifier
from learnroute.learning.data import FeatureMap, RegionData, resample_region
from learnroute.learning.following import errors_before, errors_in, regions_of, reseed
from learnroute.learning.measures import Error, measure_of, name_of
from learnroute.learning.records import as_record, learner_record
from learnroute.learning.trainings import TrainingFile, fingerprint
from learnroute.model.features_scaling import FeaturesScaling
from learnroute.model.learners import Learner
from learnroute.model.problem import Problem
from learnroute.model.result_mixin import PictureMixin
from learnroute.model.table import Column, Sheet, Table
from learnroute.model.validation import FloatArray, IntArray, as_count, as_names, as_path, as_square, as_vector, freeze
from learnroute.solvers.contract import Budget, Progress


@dataclass(frozen=True, eq=False)
class Transfer(PictureMixin):
    """The errors in all regions of models trained in one region alone.

    Attributes
    ----------
    regions
        Names of the regions, in the order of rows and columns.
    errors
        T x T: errors[k, j] is the mean error in region j of models trained in region k alone.
    standard_errors
        Standard errors of these means over the trainings; NaN if there was only one training.
    trainings
        Number of trainings in each region.
    measure
        Name of the error measure.
    before
        The error in each region before any training, for a linear learner; else None. A learner that is regularised
        towards its initial model does not reach the regions' own models, and `calibrate` can allow for that.
    learner
        The class and the parameters of the learner, without seeds; None if they are unknown.
    features_scaling
        The scaling from raw features to the learner's, if known; the problem keeps it.
    """

    picture = "draw_transfer"
    regions: tuple[str, ...]
    errors: FloatArray
    standard_errors: FloatArray
    trainings: IntArray
    measure: str = ""
    seed: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    before: FloatArray | None = None
    learner: dict[str, Any] | None = None
    features_scaling: FeaturesScaling | None = None

    @property
    def scores(self) -> FloatArray:
        """Row sums: the total error after ending in a region, for a learner that retains nothing."""
        return freeze(self.errors.sum(axis=1))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        wrong = np.isnan(self.standard_errors)
        return {
            "regions": list(self.regions),
            "transfer": self.errors.tolist(),
            "standard_errors": None if wrong.any() else self.standard_errors.tolist(),
            "trainings": self.trainings.tolist(),
            "before": None if self.before is None else self.before.tolist(),
            "learner": self.learner,
            "measure": self.measure,
            "seed": self.seed,
            "seconds": self.seconds,
            "features_scaling": None if self.features_scaling is None else self.features_scaling.to_dict(),
        }

    def table(self) -> Table:
        """Return the matrix."""
        return Table.of_matrix("trained in", self.regions, self.errors)

    def sheet(self) -> Sheet:
        """Return one row per training region."""
        heads = ("trainings", "own error", "± s.e.", "mean error", "least", "most")
        styles = ("", ".4g", ".2g", ".4g", ".4g", ".4g")
        columns = (Column(None, "trained in", left=True), *map(Column, repeat(None), heads, styles))
        own, spread = self.errors.diagonal(), self.standard_errors.diagonal()
        means, least, most = self.errors.mean(axis=1), self.errors.min(axis=1), self.errors.max(axis=1)
        rows = list(zip(self.regions, self.trainings, own, spread, means, least, most, strict=True))
        measure = self.measure.replace("_", " ")
        said = f"{measure} in {len(rows)} regions, {int(self.trainings.sum())} trainings, {self.seconds:.1f} s"
        return Sheet(said, (Table(columns, rows),), tuple(("note", note) for note in self.notes))

    @classmethod
    def read(cls, path: str | Path) -> Transfer:
        """Read a `.json` file written by `save`."""
        path = Path(path)
        with errors_naming(path):
            data = json_files.read(path)
            if not isinstance(data, dict) or not {"regions", "transfer"} <= set(data):
                raise InputError("expected a file written by `learnroute transfer -o`, with regions and transfer")
            found = cls.of(data["transfer"], data["regions"], data.get("standard_errors"), data.get("trainings"),
                           data.get("measure", ""), data.get("before"), data.get("learner"))  # fmt: skip
            scaling = data.get("features_scaling")
            return found if scaling is None else replace(found, features_scaling=FeaturesScaling.from_dict(scaling))

    @classmethod
    def of(
        cls, errors: ArrayLike, regions: Iterable[str] | None = None, standard_errors: ArrayLike | None = None,
        trainings: ArrayLike | None = None, measure: str = "", before: ArrayLike | None = None,
        learner: dict[str, Any] | None = None,
    ) -> Transfer:  # fmt: skip
        """Return a transfer matrix that was measured elsewhere."""
        table = as_square("transfer", errors, None, meaning="errors", zero_diagonal=False)
        size = len(table)
        names = as_names("regions", [f"R{i + 1}" for i in range(size)] if regions is None else list(regions), size)
        spread = np.full((size, size), np.nan)
        if standard_errors is not None:
            given = as_square("standard_errors", standard_errors, size, meaning="errors", zero_diagonal=False)
            spread = np.array(given)
        counts = np.ones(size) if trainings is None else np.asarray(trainings)
        first = None if before is None else as_vector("before", before, size, least=0.0, meaning="errors")
        counted, record = freeze(counts.astype(np.int64)), as_record("learner", learner)
        return cls(names, table, freeze(spread), counted, str(measure), before=first, learner=record)

    def to_problem(
        self, learner: Learner, travel: ArrayLike | None = None, coordinates: ArrayLike | None = None, **fields: Any
    ) -> Problem:
        """Return the planning problem with these errors; without travel or coordinates, travel costs nothing.

        If the error before any training is unknown and `initial` is not given, it is assumed to be the average error
        of models trained in other regions.
        """
        if travel is None and coordinates is None:
            travel = np.zeros((len(self.regions), len(self.regions)))
        first = self.errors.mean(axis=0) if self.before is None else self.before
        given = {"initial": first, "regions": self.regions, "coordinates": coordinates,
                 "features_scaling": self.features_scaling, **fields}  # fmt: skip
        return Problem(travel, learner, transfer=self.errors, **given)


def transfer(
    data: Mapping[str, Any],
    learner: Any,
    repeats: int = 1,
    error: str | Error | None = None,
    seed: int = 0,
    workers: int = 1,
    time_limit: float | None = None,
    progress: Progress | None = None,
    file: str | Path | None = None,
    resample: bool = False,
    features: FeatureMap | None = None,
) -> Transfer:
    """Train a copy of a learner in each region alone and test it in all, with T x repeats trainings.

    Parameters
    ----------
    data
        Each region's samples: a `RegionData`, or (features, targets, test features, test targets).
    learner
        Any learner that `follow` accepts, with `partial_fit` and `predict`. It should be the learner used along routes,
        with as much training per region. It is not changed.
    repeats
        Number of trainings per region. They differ in the learner's `random_state`, if it has one, and in the order of
        the samples.
    error
        `squared`, `zero-one`, `cross-entropy`, or a function of a model and a region. Default: `zero-one` for
        classifiers, otherwise `squared`.
    seed
        Seed of the random states and of the orders of samples.
    workers
        Number of parallel trainings; more than 1 requires joblib. The result does not depend on it.
    time_limit
        Seconds after which no further training begins. Rejected if some region has not been trained in by then.
    progress
        Called after every training.
    file
        A file (.json) that stores each training as soon as it is done. A call with the same arguments resumes from it.
    resample
        Whether each training divides the region's samples anew into training and test samples of the same sizes. The
        mean is then also over the divisions, and a plan does not depend on a single one. Useful if samples are few.
    features
        A feature map applied before the learner, as in `follow`: a problem's `features_scaling`, a callable or a
        transformer. Samples that `Estimate.held_out` scaled are not scaled again.

    Returns
    -------
    Transfer
        The mean error in each region of models trained in each region alone, with standard errors.

    Raises
    ------
    InputError
        If samples, learner or error measure are invalid.
    RefusedError
        If the time limit was reached before each region had a training.
    """
    budget = Budget.of(time_limit, progress)
    runs = as_count("repeats", repeats, meaning="the number of trainings")
    seed = as_count("seed", seed, least=0, meaning="the seed")
    workers = as_count("workers", workers, meaning="the number of workers")
    measure = measure_of(error, is_classifier(learner))
    names, regions, classes = regions_of(list(data) if isinstance(data, Mapping) else [], data, features)
    if len(names) < 2:
        raise InputError("expected samples of at least 2 regions", field="data")
    as_learner(learner, classes)  # rejects anything that is not a learner
    started = time.monotonic()
    called = name_of(measure)
    settings = [names, called, seed, *(["resample"] if resample else [])]
    store = TrainingFile(None if file is None else as_path("file", file), fingerprint(settings, regions, learner))
    todo = [(r, k) for r in range(runs) for k in range(len(names)) if (r, k) not in store.rows]
    jobs = ((r, k, learner, regions, measure, classes, seed, resample) for r, k in todo)
    for done, (key, row) in enumerate(_train_all(jobs, workers, budget), 1):
        store.add(key, row)
        budget.progress("transfer", done / len(todo))
    rows = {key: row for key, row in store.rows.items() if key[0] < runs}
    before = errors_before(as_learner(learner, classes), regions, measure)
    found = _summary(names, rows, runs, called, seed, time.monotonic() - started, before)
    return replace(found, features_scaling=common_scaling(regions), learner=learner_record(learner))


def common_scaling(regions: list[RegionData]) -> FeaturesScaling | None:
    """Return the scaling of the features if it is the same in all regions; else None."""
    first = regions[0].scaling
    return first if all(region.scaling == first for region in regions) else None


def _train(
    run: int, here: int, learner: Any, regions: list[RegionData], measure: Error, classes: FloatArray | None, seed: int,
    resample: bool,
) -> tuple[tuple[int, int], FloatArray]:  # fmt: skip
    """Train in one region alone, and test in all."""
    rng = np.random.default_rng((seed, run, here))
    model = as_learner(reseed(copy.deepcopy(learner), int(rng.integers(2**31))), classes)
    if resample:
        regions = [resample_region(region, rng) for region in regions]
    inputs, outputs = regions[here].train
    order = rng.permutation(len(outputs)) if run else np.arange(len(outputs))
    model.partial_fit(inputs[order], outputs[order])
    return (run, here), errors_in(model, regions, measure)


def _train_all(jobs: Iterator[Any], workers: int, budget: Budget) -> Iterator[tuple[tuple[int, int], FloatArray]]:
    """Run the trainings, in this process or with joblib; start none after the time limit."""
    if workers == 1:
        for job in jobs:
            if budget.exhausted:
                return
            yield _train(*job)
        return
    if importlib.util.find_spec("joblib") is None:
        raise InputError("needs joblib: pip install 'learnroute[study]', or use 1", field="workers", value=workers)
    import joblib

    parallel = joblib.Parallel(n_jobs=workers, return_as="generator_unordered", pre_dispatch=workers)
    begun = (joblib.delayed(_train)(*job) for job in jobs if not budget.exhausted)
    yield from parallel(begun)


def _summary(
    names: tuple[str, ...], rows: dict[tuple[int, int], FloatArray], runs: int, called: str, seed: int, seconds: float,
    before: FloatArray | None,
) -> Transfer:  # fmt: skip
    size = len(names)
    by_region = [np.array([row for (_, k), row in sorted(rows.items()) if k == here]) for here in range(size)]
    trainings = np.array([len(found) for found in by_region])
    if not trainings.all():
        missing = names[int(np.argmin(trainings))]
        raise RefusedError(
            f"the time limit was reached after {len(rows)} of {runs * size} trainings, before any in {missing!r}; give "
            "more time, or a file to resume from"
        )
    means = np.array([found.mean(axis=0) for found in by_region])
    spread = np.full((size, size), np.nan)
    for k, found in enumerate(by_region):
        if len(found) > 1:
            spread[k] = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    notes = () if len(rows) == runs * size else (f"time limit reached after {len(rows)} of {runs * size} trainings",)
    return Transfer(names, freeze(means), freeze(spread), freeze(trainings), called, seed, seconds, notes, before)
