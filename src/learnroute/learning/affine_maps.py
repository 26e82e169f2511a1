"""Trainings of a linear learner as affine maps w ← A·w + c, one per batch and draw.

All rules here move the model by a gain times the residual, w ← w + K·(y - X·w), and differ in how the gain depends on
the singular values of X. Oracle: `learning/learners.py`, which trains on one batch after another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnroute.errors import InputError
from learnroute.learning.adapters import as_learner
from learnroute.learning.data import Batch, RegionData, resample_region
from learnroute.learning.planned_training import LEARNERS
from learnroute.learning.steps import may_be_dependent, train
from learnroute.model.spectrum import gradient_shares
from learnroute.model.validation import FloatArray, IntArray

DOUBT = 1e-9
MOST_NUMBERS = 5 * 10**7  # entries in the maps of all batches and draws
Triangles = tuple[FloatArray, FloatArray, FloatArray]  # root, aims, rest (see `AffineMaps`)


@dataclass(frozen=True, eq=False)
class AffineMaps:
    """Trainings and tests of all draws; the draw is the last axis of each array.

    Attributes
    ----------
    maps, constants
        A and c by position (or a single one, if all are the same) and batch, with the batches grouped by region.
    start
        The initial model.
    root, aims, rest
        The test error is the sum of ``|root·w - aims|² + rest`` over tests, the first axis: one test for all regions,
        or one per region.
    """

    maps: FloatArray
    constants: FloatArray
    start: FloatArray
    root: FloatArray
    aims: FloatArray
    rest: FloatArray


class Draws:
    """Several random divisions of the regions' samples into training and test samples, with the given sizes.

    `first` is the number of the first draw; draws with different numbers are independent of each other. The training
    samples of a region are divided equally among `visits` visits.
    """

    def __init__(self, regions: Sequence[RegionData], count: int, seed: int, first: int = 0, visits: int = 1) -> None:
        self.regions, self.count, self.seed, self.first, self.visits = regions, count, seed, first, visits

    def batches(self, region: RegionData) -> list[Batch]:
        """Return the training samples of each visit to a region."""
        inputs, targets = region.train
        size = len(targets) // self.visits
        return [(inputs[k : k + size], targets[k : k + size]) for k in range(0, size * self.visits, size)]

    def divide(self, draw: int) -> list[RegionData]:
        """Return the samples of one draw."""
        number = self.first + draw
        return [
            resample_region(region, np.random.default_rng((self.seed, number, place)))
            for place, region in enumerate(self.regions)
        ]

    @cached_property
    def divisions(self) -> list[list[RegionData]]:
        """The samples of all draws."""
        return [self.divide(draw) for draw in range(self.count)]

    @property
    def correction(self) -> float:
        """The factor from the spread of errors over draws to the standard error of their mean.

        Draws share samples, so their mean is less certain than the mean of as many independent draws. Therefore the
        ratio of test samples to training samples is added (Nadeau and Bengio 2003).
        """
        trained = sum(len(region.train[1]) for region in self.regions)
        tested = sum(len(region.test[1]) for region in self.regions)
        return math.sqrt(1 / self.count + tested / trained)


def is_linear(learner: Any) -> bool:
    """Return whether this module knows the trainings of a learner as affine maps."""
    return type(learner).__module__ == LEARNERS


class LinearTrainings:
    """The trainings of a linear learner in all draws, decomposed once for all values of λ."""

    def __init__(self, learner: Any, draws: Draws, weights: FloatArray, names: Sequence[str]) -> None:
        self.learner, self.draws, self.names, self.weights = learner, draws, names, weights
        self.kind, self.intercept = type(learner).__name__, bool(learner.fit_intercept)
        self.width = draws.regions[0].train[0].shape[1] + self.intercept
        per_draw = len(names) * draws.visits * self.width**2
        if per_draw * draws.count > MOST_NUMBERS:
            raise InputError(
                f"{len(names) * draws.visits} batches of {self.width} features would make maps of "
                f"{per_draw * draws.count:,} numbers; use draws <= {MOST_NUMBERS // per_draw}, or fewer features",
                field="draws",
                value=draws.count,
            )

    @cached_property
    def _batches(self) -> list[tuple[FloatArray, FloatArray]]:
        """Features and targets for training by batch; the draw is the first axis."""
        found = []
        for place in range(len(self.names)):
            divisions = [self.draws.batches(regions[place]) for regions in self.draws.divisions]
            for batches in zip(*divisions, strict=True):
                inputs = np.array([self._with_constant(features) for features, _ in batches])
                found.append((inputs, np.array([targets for _, targets in batches])))
        return found

    @cached_property
    def _tests(self) -> tuple[FloatArray, FloatArray]:
        """Features and targets for testing, one region after another; the draw is the first axis."""
        draws = self.draws.divisions
        inputs = [self._with_constant(np.concatenate([region.test[0] for region in regions])) for regions in draws]
        return np.array(inputs), np.array([np.concatenate([region.test[1] for region in regions]) for regions in draws])

    @cached_property
    def _test_sizes(self) -> IntArray:
        """Number of test samples of each region."""
        return np.array([len(region.test[1]) for region in self.draws.regions])

    @cached_property
    def _factors(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """The singular values, right singular vectors and rotated targets of each batch."""
        found = []
        for inputs, targets in self._batches:
            left, singular, right = np.linalg.svd(inputs, full_matrices=False)
            found.append((singular, right, np.einsum("bnr,bn->br", left, targets)))
        return found

    @cached_property
    def _common_test(self) -> Triangles:
        """The mean test error over all regions as one triangle per draw."""
        return self._triangles([range(len(self.names))])

    @cached_property
    def _tests_by_region(self) -> Triangles:
        """The mean test error as a sum of one triangle per region."""
        return self._triangles([[place] for place in range(len(self.names))])

    def _triangles(self, groups: Sequence[Sequence[int]]) -> Triangles:
        """Return root, aims and rest of groups of consecutive regions: their contributions to the mean test error."""
        shape = len(groups), self.draws.count, self.width
        root, aims, rest = np.zeros((*shape, self.width)), np.zeros(shape), np.zeros(shape[:2])
        factors = np.sqrt(np.repeat(self.weights / (self._test_sizes * len(self.names)), self._test_sizes))
        inputs, targets = self._tests
        rows = np.concatenate([inputs, targets[:, :, None]], axis=2) * factors[:, None]
        ends = [0, *np.cumsum(self._test_sizes).tolist()]
        for test, group in enumerate(groups):
            samples = slice(ends[group[0]], ends[group[-1] + 1])
            for draw in range(self.draws.count):
                triangle: FloatArray = np.linalg.qr(rows[draw, samples], mode="r")  # type: ignore[assignment]
                size = min(len(triangle), self.width)
                root[test, draw, :size], aims[test, draw, :size] = triangle[:size, :-1], triangle[:size, -1]
                rest[test, draw] = float((triangle[self.width :, -1] ** 2).sum())
        found = (np.ascontiguousarray(np.moveaxis(table, 1, -1)) for table in (root, aims, rest))
        return next(found), next(found), next(found)

    @property
    def scale(self) -> float:
        """The mean eigenvalue of X'X/n, the natural scale of a strength λ."""
        total: float = 0.0
        for (singular, _, _), (inputs, _) in zip(self._factors, self._batches, strict=True):
            total += float((singular**2).sum()) / float(inputs.shape[0] * inputs.shape[1])
        return total / float(len(self._batches) * self.width)

    def _with_constant(self, features: FloatArray) -> FloatArray:
        return np.column_stack([features, np.ones(len(features))]) if self.intercept else features

    @cached_property
    def start(self) -> FloatArray:
        """The current model of the learner, or its initial model."""
        learner = self.learner
        raw = self.width - self.intercept
        if hasattr(learner, "coef_"):
            return np.append(learner.coef_, learner.intercept_)[: self.width]
        found: FloatArray = learner._initial_parameters(raw)[: self.width]
        return found

    @property
    def learnt(self) -> int:
        """Number of batches that the learner was trained on before."""
        return int(self.learner.batches_) if hasattr(self.learner, "coef_") else 0

    def maps(self, positions: int, strength: float | None = None, by_region: bool = False) -> AffineMaps:
        """Return the maps of up to `positions` positions, with another strength of a proximal learner if one is given.

        With `by_region`, there is one test per region instead of one test for all regions.
        """
        kind = self.kind
        if kind == "RecursiveRegressor":
            tables = [self._pooled_maps()]
        elif kind == "ProximalRegressor":
            given = self.learner.strength if strength is None else strength
            each = range(positions) if np.ndim(given) else range(1)
            if strength is None:
                tables = [self._proximal(self.learner._strength(self.learnt + k)) for k in each]
            else:
                tables = [self._proximal(strength)]
        elif kind == "GradientRegressor":
            tables = [self._gradient()]
        else:
            tables = [self._least_squares()]
        maps, constants = (np.array(parts) for parts in zip(*tables, strict=True))
        start = np.repeat(self.start[:, None], self.draws.count, axis=1)
        return AffineMaps(maps, constants, start, *(self._tests_by_region if by_region else self._common_test))

    def _proximal(self, strength: float) -> tuple[FloatArray, FloatArray]:
        if strength == 0:
            return self._least_squares()
        return self._by_gain(lambda singular, samples: singular / (singular**2 + samples * strength))

    def check(self) -> None:
        """Let the learner reject batches that it cannot learn; the message names the region."""
        strengths = np.atleast_1d(getattr(self.learner, "strength", 0.0))
        if self.kind == "RecursiveRegressor" or (strengths > 0).all():
            return  # these learners accept any batch
        for place, (inputs, targets) in enumerate(self._batches):
            doubtful = np.flatnonzero(self._may_be_rejected(place))
            for batch in zip(inputs[doubtful], targets[doubtful], strict=True):
                try:
                    if self.kind == "GradientRegressor":
                        self.learner._step(*batch, self.start, 0)
                    else:
                        train(*batch, self.start)
                except InputError as refusal:
                    raise refusal.within(f"region {self.names[place // self.draws.visits]!r}") from None

    def _may_be_rejected(self, place: int) -> NDArray[np.bool_]:
        """Return whether each draw of a batch may be rejected by the learner."""
        inputs = self._batches[place][0]
        if self.kind != "GradientRegressor":
            return may_be_dependent(inputs)
        largest = self._factors[place][0][:, 0] ** 2 / inputs.shape[1]
        return np.asarray((self.learner.rate or 0.0) * largest >= 2 - DOUBT)

    def _least_squares(self) -> tuple[FloatArray, FloatArray]:
        return self._by_gain(lambda singular, samples: 1 / singular)

    def _gradient(self) -> tuple[FloatArray, FloatArray]:
        learner = self.learner

        def gain(singular: FloatArray, samples: int) -> FloatArray:
            values = singular**2 / samples
            largest = np.where(values[:, :1] > 0, values[:, :1], 1.0)
            learnt = gradient_shares(values / largest if learner.rate is None else values * learner.rate, learner.steps)
            return np.divide(learnt[1], singular, out=np.zeros_like(singular), where=singular > 0)

        return self._by_gain(gain)

    def _by_gain(self, gain: Any) -> tuple[FloatArray, FloatArray]:
        """Return A = I - V·g·s·V' and c = V·g·U'y, by batch; the draw is the last axis."""
        maps, constants = [], []
        for (singular, right, turned), (inputs, _) in zip(self._factors, self._batches, strict=True):
            gains = gain(singular, inputs.shape[1])
            moved = np.einsum("brm,br,brk->mkb", right, gains * singular, right)
            maps.append(np.eye(self.width)[:, :, None] - moved)
            constants.append(np.einsum("brm,br->mb", right, gains * turned))
        return np.array(maps), np.array(constants)

    def _pooled_maps(self) -> tuple[FloatArray, FloatArray]:
        """Return the maps of recursive least squares; every order ends with the same model, so each map returns it."""
        models = []
        for divisions in self.draws.divisions:
            model = as_learner(self.learner)
            for region in divisions:
                model.partial_fit(*region.train)
            models.append(np.append(model.coef_, model.intercept_)[: self.width])
        constants = np.repeat(np.array(models).T[None], len(self.names), axis=0)
        return np.zeros((len(self.names), self.width, self.width, self.draws.count)), constants

    def errors_by_region(self, models: FloatArray) -> FloatArray:
        """Return the test error of each draw's model (columns) in each region: draws x regions."""
        inputs, targets = self._tests
        errors = (np.einsum("bnm,mb->bn", inputs, models) - targets) ** 2
        first = np.cumsum(self._test_sizes) - self._test_sizes
        return np.asarray(np.add.reduceat(errors, first, axis=1) / self._test_sizes)
