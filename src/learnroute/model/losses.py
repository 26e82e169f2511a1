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
from learnroute.model.distances import Points
from learnroute.model.objective import Objective, least_products, products_after
from learnroute.model.problem import Learner, Problem, distance_sums
from learnroute.model.validation import FloatArray, IntArray, frozen


@dataclass(frozen=True)
class Loss:
    """An expected overall loss and what it is made of, per region; `travel` is the travel cost times its rate."""

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

    def in_travel_units(self, rate: float, size: int) -> Loss | None:
        """Return the same in units of travel cost, for the whole route; None where travel is worth nothing."""
        return Loss(**{part: value * size / rate for part, value in asdict(self).items()}) if rate > 0 else None


def expected_loss(problem: Problem, order: ArrayLike) -> Loss:
    """Upper bound of the expected overall loss of a route: (e8) in the under regime, (e14) in the over regime."""
    return _loss(problem, problem.scores, problem.initial_sum, as_order(order, problem.size))


def true_loss(problem: Problem, order: ArrayLike) -> Loss:
    """Expected overall loss of a route where the true models are known: (e7), or (e4) with (e12).

    Its `error` is the paper's expected forgetting loss, (e6) or (e12).
    """
    if problem.truth is None or problem.initial_model is None:
        raise InputError("missing; the true models are needed for the true expected loss", field="truth")
    initial_sum = math.fsum(((problem.truth - problem.initial_model) ** 2).ravel())
    scores = distance_sums(problem.truth)
    return _loss(problem, scores, initial_sum, as_order(order, problem.size))


def travel_cost(problem: Problem, order: ArrayLike) -> float:
    """Return what a route costs to travel, in the units of travel, the way back included where it counts."""
    return math.fsum(ways_of(problem).legs(as_order(order, problem.size)))


def ways_of(problem: Problem) -> Objective:
    """Return the travel of a problem alone, in its own units."""
    nothing = np.zeros(problem.size)
    travel: FloatArray | Points = problem.travel if problem.points is None else problem.points
    return Objective(travel, nothing, nothing, 0.0, problem.ends)


def error_over_time(problem: Problem, order: ArrayLike) -> FloatArray:
    """Upper bound of the expected error on each region after each visit of a route.

    Row t is the model held after t visits (row 0: the first model), column i is region i. Lemma 2 restarted after
    every visit: training in region k keeps r of the error so far and adds (1-r)·Δ[k, i], and noise comes in
    as after a route of t regions. The mean of the last row is the `error` of `expected_loss`.
    """
    stops = as_order(order, problem.size)
    steps = Steps.of(problem)
    errors = np.empty((len(stops) + 1, problem.size))
    errors[0] = problem.initial
    model, noise = np.array(problem.initial), 0.0
    for t, region in enumerate(stops.tolist(), 1):
        retention, plasticity = steps.retention[region], steps.plasticity[region]
        model = retention * model + plasticity * problem.dissimilarities_to(region)
        noise = noise_error(problem.learner, t) if problem.samples is None else retention * noise + steps.noise[region]
        errors[t] = model + noise
    return frozen(errors)


@dataclass(frozen=True, eq=False)
class Steps:
    """What training in each region does to the expected error: it retains a share, learns one, and adds noise.

    Training in region i turns an error e_j on region j into retention_i·e_j + plasticity_i·Δ[i, j] + noise_i. With
    n_i > m the old model is forgotten (retention 0, plasticity 1); else retention_i = 1 - n_i/m and plasticity_i =
    n_i/m. So the share of region τ_t in the final model is its plasticity times the later ones' retentions.
    """

    retention: FloatArray
    plasticity: FloatArray
    noise: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> Steps:
        """Return the steps of a problem, one a region."""
        m, variance = problem.learner.features, problem.learner.noise**2
        n = problem.counts
        under = n > m
        noise = np.where(under, m, n) * variance / (np.abs(n - m) - 1)
        return cls(problem.retentions, np.where(under, 1.0, n / m), noise)


def objective_of(problem: Problem) -> Objective:
    """Compile the regime away: the same minimisation, in the terms that solvers see."""
    size = problem.size
    travel: FloatArray | Points
    if problem.points is not None:
        travel = problem.points.scaled(problem.travel_rate)
    else:
        travel = problem.travel if problem.travel_rate == 1 else frozen(problem.travel * problem.travel_rate)
    ends = problem.ends
    if problem.samples is None:
        surviving = retained(problem.learner, size)
        constant = math.fsum([surviving * problem.initial_sum, size * noise_error(problem.learner, size)])
        return Objective(travel, problem.scores, position_weights(problem.learner, size), constant, ends)
    steps = Steps.of(problem)
    scores = frozen(steps.plasticity * problem.scores + size * steps.noise)
    constant = float(np.prod(steps.retention)) * problem.initial_sum
    factors = steps.retention if steps.retention.any() else None  # if nothing is retained, only the last region counts
    return Objective(travel, scores, least_products(steps.retention), constant, ends, factors)


def position_weights(learner: Learner, size: int) -> FloatArray:
    """w[t] = (1-r)·r^(T-t): the share of the final model learnt at each position (0, …, 0, 1 in the under regime)."""
    if learner.regime == "under":
        weights = np.zeros(size)
        weights[-1] = 1.0
    else:
        after = np.arange(size - 1, -1, -1, dtype=np.float64)
        weights = (learner.samples / learner.features) * learner.retention**after
    return frozen(weights)


def model_shares(problem: Problem, order: ArrayLike) -> FloatArray:
    """Return the share of the final model that each stop of a route gives: what it learns and later ones retain."""
    if problem.samples is None:
        return position_weights(problem.learner, problem.size)
    stops, steps = as_order(order, problem.size), Steps.of(problem)
    return frozen(products_after(steps.retention[stops]) * steps.plasticity[stops])


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
        raise InputError("a list of region indices is needed", field="route")
    outside = stops[(stops < 0) | (stops >= size)]
    if outside.size:
        raise InputError(f"there is no region {outside[0]}; indices go from 0 to {size - 1}", field="route")
    stops = stops.astype(np.int64)
    visits = np.bincount(stops, minlength=size)
    for region in np.flatnonzero(visits != 1).tolist():
        called = region if names is None else repr(names[region])
        wrong = f"visited {visits[region]} times" if visits[region] else "missing"
        raise InputError(f"region {called} is {wrong}; visit each region once", field="route")
    return frozen(stops)


def check_ends(problem: Problem, order: IntArray) -> None:
    """Refuse an order that does not begin and end where the problem says."""
    for field, region, stop in (("start", problem.ends.first, order[0]), ("end", problem.ends.last, order[-1])):
        if region is not None and stop != region:
            verb = "begins" if field == "start" else "ends"
            raise InputError(
                f"{verb} at {problem.regions[stop]!r}; constraints.{field} is {problem.regions[region]!r}",
                field="route",
            )


def _loss(problem: Problem, scores: FloatArray, initial_sum: float, order: IntArray) -> Loss:
    size, learner = len(order), problem.learner
    if problem.samples is not None:
        steps = Steps.of(problem)
        later = products_after(steps.retention[order])
        dissimilarity = math.fsum(later * steps.plasticity[order] * scores[order])
        initial = float(np.prod(steps.retention)) * initial_sum
        noise = math.fsum(later * steps.noise[order])
    elif learner.regime == "under":  # (e6), (e8): only the last region counts
        dissimilarity = float(scores[order[-1]])
        initial = 0.0
        noise = noise_error(learner, size)
    else:  # (e12), (e14)
        dissimilarity = math.fsum(position_weights(learner, size) * scores[order])
        initial = retained(learner, size) * initial_sum
        noise = noise_error(learner, size)
    parts = {
        "travel": problem.travel_rate * math.fsum(ways_of(problem).legs(order)) / size,
        "dissimilarity": dissimilarity / size,
        "initial": initial / size,
        "noise": noise,
    }
    return Loss(total=math.fsum(parts.values()), **parts)


def _log_retention(learner: Learner) -> float:
    """log r without the rounding of 1 - n/m: exact for m just above n and for m far above n alike."""
    m, n = learner.features, learner.samples
    return math.log1p(-n / m) if 2 * n < m else math.log((m - n) / m)
