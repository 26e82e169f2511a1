"""The paper's closed forms, and their translation into an objective for the solvers.

Equation numbers are the paper's. Everything here is per region, as the paper writes it (each sum divided
by T), except the objective, which is T times that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError
from learnroute.model.objective import Objective
from learnroute.model.problem import Learner, Problem, distance_sums
from learnroute.model.validation import FloatArray, IntArray, frozen


@dataclass(frozen=True)
class Loss:
    """An expected overall loss and what it is made of, per region."""

    total: float
    travel: float
    dissimilarity: float
    initial: float
    noise: float

    @property
    def error(self) -> float:
        """The expected final error over all regions: the loss without the travel."""
        return math.fsum([self.dissimilarity, self.initial, self.noise])

    def to_dict(self) -> dict[str, float]:
        """Return the parts by name."""
        return asdict(self)


def expected_loss(problem: Problem, order: ArrayLike) -> Loss:
    """Upper bound of the expected overall loss of a route: (e8) in the under regime, (e14) in the over regime."""
    return _loss(problem.learner, problem.travel, problem.scores, problem.initial_sum, as_order(order, problem.size))


def true_loss(problem: Problem, order: ArrayLike) -> Loss:
    """Expected overall loss of a route where the true models are known: (e7), or (e4) with (e12).

    Its `error` is the paper's expected forgetting loss, (e6) or (e12).
    """
    if problem.truth is None or problem.start is None:
        raise InputError("truth: missing; the true models are needed for the true expected loss")
    initial_sum = math.fsum(((problem.truth - problem.start) ** 2).ravel())
    scores = distance_sums(problem.truth)
    return _loss(problem.learner, problem.travel, scores, initial_sum, as_order(order, problem.size))


def error_over_time(problem: Problem, order: ArrayLike) -> FloatArray:
    """Upper bound of the expected error on each region after each visit of a route.

    Row t is the model held after t visits (row 0: the first model), column i is region i. Lemma 2 restarted after
    every visit: training in region k keeps r of the error so far and adds (1-r)·Δ[k, i], and noise comes in
    as after a route of t regions. The mean of the last row is the `error` of `expected_loss`.
    """
    stops = as_order(order, problem.size)
    learner = problem.learner
    kept = learner.retention
    learnt = 1.0 if learner.regime == "under" else learner.samples / learner.features
    errors = np.empty((len(stops) + 1, problem.size))
    errors[0] = problem.initial
    model = np.array(problem.initial)
    for t, region in enumerate(stops, 1):
        model = kept * model + learnt * problem.dissimilarities_to(int(region))
        errors[t] = model + noise_error(learner, t)
    return frozen(errors)


def objective_of(problem: Problem) -> Objective:
    """Compile the regime away: the same minimisation, in the terms that solvers see."""
    size = problem.size
    kept = retained(problem.learner, size)
    constant = math.fsum([kept * problem.initial_sum, size * noise_error(problem.learner, size)])
    return Objective(problem.travel, problem.scores, position_weights(problem.learner, size), constant)


def position_weights(learner: Learner, size: int) -> FloatArray:
    """w[t] = (1-r)·r^(T-t): the share of the final model learnt at each position (0, …, 0, 1 in the under regime)."""
    if learner.regime == "under":
        weights = np.zeros(size)
        weights[-1] = 1.0
    else:
        after = np.arange(size - 1, -1, -1, dtype=np.float64)
        weights = (learner.samples / learner.features) * learner.retention**after
    return frozen(weights)


def retained(learner: Learner, size: int) -> float:
    """r^T, the share of the first model that survives the whole route."""
    return learner.retention**size


def noise_error(learner: Learner, size: int) -> float:
    """Return the part of the expected final error that comes from noise, whatever the order."""
    m, n, variance = learner.features, learner.samples, learner.noise**2
    if learner.regime == "under":
        return m * variance / (n - m - 1)
    return -math.expm1(size * _log_retention(learner)) * (m * variance / (m - n - 1))


def as_order(order: ArrayLike, size: int, names: Sequence[str] | None = None) -> IntArray:
    """Return a permutation of 0 … T-1 as an array, or refuse; regions are called by `names` where given."""
    try:
        stops = np.asarray(order)
    except ValueError:
        stops = np.empty(0)
    if stops.ndim != 1 or (stops.size and stops.dtype.kind not in "iu"):
        raise InputError("route: a list of region indices is needed")
    outside = stops[(stops < 0) | (stops >= size)]
    if outside.size:
        raise InputError(f"route: there is no region {outside[0]}; indices go from 0 to {size - 1}")
    stops = stops.astype(np.int64)
    visits = np.bincount(stops, minlength=size)
    for region in np.flatnonzero(visits != 1).tolist():
        called = region if names is None else repr(names[region])
        wrong = f"visited {visits[region]} times" if visits[region] else "missing"
        raise InputError(f"route: region {called} is {wrong}; visit each region once")
    return frozen(stops)


def _loss(learner: Learner, travel: FloatArray, scores: FloatArray, initial_sum: float, order: IntArray) -> Loss:
    size = len(order)
    if learner.regime == "under":  # (e6), (e8): only the last region counts
        dissimilarity = float(scores[order[-1]])
        initial = 0.0
    else:  # (e12), (e14)
        dissimilarity = math.fsum(position_weights(learner, size) * scores[order])
        initial = retained(learner, size) * initial_sum
    parts = {
        "travel": math.fsum(travel[order[:-1], order[1:]]) / size,
        "dissimilarity": dissimilarity / size,
        "initial": initial / size,
        "noise": noise_error(learner, size),
    }
    return Loss(total=math.fsum(parts.values()), **parts)


def _log_retention(learner: Learner) -> float:
    """log r without the rounding of 1 - n/m: exact for m just above n and for m far above n alike."""
    m, n = learner.features, learner.samples
    return math.log1p(-n / m) if 2 * n < m else math.log((m - n) / m)
