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

from learnroute.errors import InputError, check_type
from learnroute.model.distances import Points
from learnroute.model.objective import Objective, least_products, products_after
from learnroute.model.problem import Problem, distance_sums
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
        """Return the same in units of travel cost, for the whole route; None where travel is worth next to nothing."""
        if rate == 0:
            return None
        parts = {part: value * size / rate for part, value in asdict(self).items()}
        return Loss(**parts) if all(map(math.isfinite, parts.values())) else None


def expected_loss(problem: Problem, order: ArrayLike) -> Loss:
    """Upper bound of the expected overall loss of a route: (e8) in the under regime, (e14) in the over regime."""
    check_type("problem", problem, Problem)
    return _loss(problem, problem.scores, problem.initial_sum, as_order(order, problem.size))


def true_loss(problem: Problem, order: ArrayLike) -> Loss:
    """Expected overall loss of a route where the true models are known: (e7), or (e4) with (e12).

    Its `error` is the paper's expected forgetting loss, (e6) or (e12).
    """
    check_type("problem", problem, Problem)
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
    check_type("problem", problem, Problem)
    stops = as_order(order, problem.size)
    steps = problem.steps
    errors = np.empty((len(stops) + 1, problem.size))
    errors[0] = problem.initial
    model, noise = np.array(problem.initial), 0.0
    for t, region in enumerate(stops.tolist(), 1):
        retention, plasticity = steps.retention[region], steps.plasticity[region]
        model = retention * model + plasticity * problem.dissimilarities_to(region)
        noise = problem.learner.noise_error(t) if problem.samples is None else retention * noise + steps.noise[region]
        errors[t] = model + noise
    return frozen(errors)


def objective_of(problem: Problem) -> Objective:
    """Compile the regime away: the same minimisation, in the terms that solvers see."""
    check_type("problem", problem, Problem)
    size = problem.size
    travel: FloatArray | Points
    if problem.points is not None:
        travel = problem.points.scaled(problem.travel_rate)
    else:
        travel = problem.travel if problem.travel_rate == 1 else frozen(problem.travel * problem.travel_rate)
    ends = problem.ends
    if problem.samples is None:
        learner = problem.learner
        constant = math.fsum([learner.retained(size) * problem.initial_sum, size * learner.noise_error(size)])
        return Objective(travel, problem.scores, learner.position_weights(size), constant, ends)
    steps = problem.steps
    scores = frozen(steps.plasticity * problem.scores + size * steps.noise)
    constant = float(np.prod(steps.retention)) * problem.initial_sum
    factors = steps.retention if steps.retention.any() else None  # if nothing is retained, only the last region counts
    return Objective(travel, scores, least_products(steps.retention), constant, ends, factors)


def model_shares(problem: Problem, order: ArrayLike) -> FloatArray:
    """Return the share of the final model that each stop of a route gives: what it learns and later ones retain."""
    if problem.samples is None:
        return problem.learner.position_weights(problem.size)
    stops, steps = as_order(order, problem.size), problem.steps
    return frozen(products_after(steps.retention[stops]) * steps.plasticity[stops])


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


def _loss(problem: Problem, scores: FloatArray, initial_sum: float, order: IntArray) -> Loss:
    size, learner = len(order), problem.learner
    if problem.samples is not None:
        steps = problem.steps
        later = products_after(steps.retention[order])
        dissimilarity = math.fsum(later * steps.plasticity[order] * scores[order])
        initial = float(np.prod(steps.retention)) * initial_sum
        noise = math.fsum(later * steps.noise[order])
    else:  # (e6), (e8): only the last region has a weight; (e12), (e14)
        dissimilarity = math.fsum(learner.position_weights(size) * scores[order])
        initial = learner.retained(size) * initial_sum
        noise = learner.noise_error(size)
    parts = {
        "travel": problem.travel_rate * math.fsum(ways_of(problem).legs(order)) / size,
        "dissimilarity": dissimilarity / size,
        "initial": initial / size,
        "noise": noise,
    }
    return Loss(total=math.fsum(parts.values()), **parts)
