"""Closed forms of the paper and of regularised learners, and their translation into an objective for the solvers.

Equation numbers refer to the paper; docs/theory.md has the other formulas. All losses are per region, as in the paper
(each sum divided by T), except the objective, which is T times that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, check_type, did_you_mean
from learnroute.model.depot import border
from learnroute.model.dissimilarities import Dissimilarities, distance_sums
from learnroute.model.ends import Ends
from learnroute.model.law import ModelErrors, Step, Updates, error_parts, errors_after, follow, products_after
from learnroute.model.objective import Objective
from learnroute.model.origin import order_objective
from learnroute.model.pairs import Pairs
from learnroute.model.problem import Problem
from learnroute.model.travel import Travel, TravelMatrix
from learnroute.model.validation import FloatArray, IntArray, freeze
from learnroute.model.visit_objective import VisitObjective, VisitRules
from learnroute.model.visits import check_visits


@dataclass(frozen=True)
class Loss:
    """An expected overall loss and its parts, per region; `travel` is the travel cost times its rate.

    `pairs` is the gain from averaging models: of regularised learners if dissimilar regions follow each other, and of
    fleets with merged models. It is negative or 0.
    """

    total: float
    travel: float
    dissimilarity: float
    initial: float
    noise: float
    pairs: float = 0.0

    @property
    def error(self) -> float:
        """The expected final error over all regions: the loss without the travel."""
        return math.fsum([self.dissimilarity, self.initial, self.noise, self.pairs])

    @property
    def magnitude(self) -> float:
        """The sum of the absolute values of all parts: the scale of the total's rounding error, as parts may cancel."""
        return math.fsum(map(abs, (self.travel, self.dissimilarity, self.initial, self.noise, self.pairs)))

    def to_dict(self) -> dict[str, float]:
        """Return the parts by name."""
        return asdict(self)

    def in_travel_units(self, rate: float, size: int) -> Loss | None:
        """Return the loss of the whole route in units of travel cost; None if travel is worth next to nothing."""
        if rate == 0:
            return None
        parts = {part: value * size / rate for part, value in asdict(self).items()}
        return Loss(**parts) if all(map(math.isfinite, parts.values())) else None


def expected_loss(problem: Problem, order: ArrayLike) -> Loss:
    """Return the expected overall loss of a route: (e8) in the under regime, (e14) in the over regime.

    It uses the problem's unbiased estimates of the dissimilarities if there are any. With upper bounds, it is an upper
    bound for a least squares learner, but not for a regularised one, whose loss may decrease with a dissimilarity.
    `largest_loss` is an upper bound for both.

    Parameters
    ----------
    problem
        The problem.
    order
        Indices of the regions in order of visit, as in `Plan.order`.

    Returns
    -------
    Loss
        The loss per region, and its parts.

    Raises
    ------
    InputError
        If the order does not contain each index exactly once.
    """
    check_type("problem", problem, Problem)
    return _loss(problem, problem.dissimilarities, as_order(problem, order))


def true_loss(problem: Problem, order: ArrayLike) -> Loss:
    """Return the expected overall loss of a route if the true models are known: (e7), or (e4) with (e12).

    Its `error` is the paper's expected forgetting loss, (e6) or (e12).

    Parameters
    ----------
    problem
        A problem with `truth`.
    order
        Indices of the regions in order of visit, as in `Plan.order`.

    Returns
    -------
    Loss
        The loss per region, and its parts.

    Raises
    ------
    InputError
        If the problem has no true models, or the order does not contain each index exactly once.
    """
    check_type("problem", problem, Problem)
    return _loss(problem, true_dissimilarities(problem), as_order(problem, order))


def true_dissimilarities(problem: Problem) -> Dissimilarities:
    """Return the squared distances between the true models, and from each of them to the initial model."""
    if problem.truth is None or problem.initial_model is None:
        raise InputError("missing; the true expected loss needs the true models", field="truth")
    initial = np.array([math.fsum(row) for row in ((problem.truth - problem.initial_model) ** 2).tolist()])
    weights = problem.region_weights
    return Dissimilarities(None, problem.truth, freeze(initial), distance_sums(problem.truth, weights), weights)


def largest_loss(problem: Problem, order: ArrayLike) -> float | None:
    """Return the largest total loss of a route with dissimilarities between their lower and upper bounds.

    The loss is linear in each dissimilarity. Where the coefficient is negative, the lower bound is used (0
    for dissimilarities to the initial model). Return None if a coefficient is negative and the problem has no lower
    bounds. Unbiased estimates are ignored.
    """
    stops = as_order(problem, order)
    problem = problem.with_upper_bounds()
    if not problem.updates.coupled:
        return expected_loss(problem, stops).total
    if problem.dissimilarity is None or problem.dissimilarity_low is None:
        return None
    upper = expected_loss(problem, stops).total
    counts, first = slopes(problem, stops)
    width = problem.dissimilarity - problem.dissimilarity_low
    lowered = np.triu(np.minimum(counts, 0.0) * width, 1)
    return upper - math.fsum([*lowered[lowered < 0], *(np.minimum(first, 0.0) * problem.initial)])


def slopes(problem: Problem, order: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the slopes of a route's loss in each Δ[i, j], i ≠ j, and in each Δ_i0; it is linear in all of them."""
    stops, size, weights = as_order(problem, order), problem.size, problem.region_weights
    shares = np.zeros(size)
    np.add.at(shares, stops, model_shares(problem, stops))
    along = problem.updates.along(stops)
    counts = np.outer(shares, weights) + np.outer(weights, shares)
    first = float(np.prod(along.retention)) * weights
    if along.coupled:
        paired = size * products_after(along.second) * along.coupling
        held, left = np.zeros(size), 1.0  # shares of the regions and of the initial model in the current model
        for t, k in enumerate(stops.tolist()):
            counts[k] -= paired[t] * held
            counts[:, k] -= paired[t] * held
            first[k] -= paired[t] * left
            held, left = held * along.retention[t], left * float(along.retention[t])
            held[k] += along.plasticity[t]
    return counts / size, first / size


def travel_cost(problem: Problem, order: ArrayLike) -> float:
    """Return the travel cost of a route, in units of travel, including the return trip if it counts."""
    return math.fsum(legs_of(problem, order))


def legs_of(problem: Problem, order: ArrayLike) -> FloatArray:
    """Return the travel cost of each leg of a route, in units of travel: from the depot first, the return trip last."""
    return _legs(problem, as_order(problem, order))


def _legs(problem: Problem, visits: IntArray) -> FloatArray:
    return problem.ways.legs(problem.from_depot(visits), problem.closed)


def untrained_loss(problem: Problem) -> float | None:
    """Return the loss without any visit; None if the errors of the initial model are unknown."""
    known = problem.initial_sum > 0 or bool(problem.updates.retention.any())
    return problem.initial_sum / problem.size if known else None


def losses_without(problem: Problem, order: ArrayLike) -> FloatArray:
    """Return, for each visit of a route, the total loss without it; the other visits keep their order."""
    visits = as_order(problem, order)
    many, size = len(visits), problem.size
    if many == 1:
        return np.array([problem.initial_sum / size])
    travel = np.array([math.fsum(_legs(problem, np.delete(visits, t))) for t in range(many)])
    first, rows = ModelErrors(problem.initial_errors), problem.dissimilarities
    before = [first, *follow(first, visits[:-1].tolist(), problem.updates.along(visits[:-1]), rows)]
    # The final mean error is linear in the errors before the visits after t, which move forward by one position
    slopes, slope, constant = problem.region_weights / size, 1.0, 0.0
    errors = np.empty(many)
    for t in range(many - 1, -1, -1):
        errors[t] = slopes @ before[t].own + slope * before[t].common + constant
        region = int(visits[t])
        step = Step(*(float(table[t - 1, region]) for table in problem.updates.tables))
        constant += step.plasticity * float(slopes @ rows[region]) + slope * step.noise
        slopes = step.retention * slopes
        slopes[region] -= slope * step.coupling
        slope *= step.second
    found: FloatArray = problem.travel_rate * travel / size + errors
    return found


def error_over_time(problem: Problem, order: ArrayLike) -> FloatArray:
    """Return the expected error in each region after each visit of a route.

    Row t is the model after t visits (row 0: the initial model), column i is region i. Lemma 2 is restarted after every
    visit: training in region k keeps a share r of the previous error and adds (1-r)·Δ[k, i], and the noise is that of
    a route of t regions. The mean of the last row, weighted by importance, is the `error` of `expected_loss`.
    Regularised learners also subtract q times the error in k before the visit from all errors (docs/theory.md).

    Parameters
    ----------
    problem
        The problem.
    order
        Indices of the regions in order of visit, as in `Plan.order`.

    Returns
    -------
    numpy.ndarray
        T + 1 rows of T errors, read-only.

    Raises
    ------
    InputError
        If the order does not contain each index exactly once.
    """
    check_type("problem", problem, Problem)
    stops, first = as_order(problem, order), ModelErrors(problem.initial_errors)
    visits = follow(first, stops.tolist(), problem.updates.along(stops), problem.dissimilarities)
    return freeze(np.array([first.total, *(errors.total for errors in visits)]))


def final_errors(problem: Problem, order: ArrayLike) -> FloatArray:
    """Return the expected error in each region after the last visit, as a test would measure it.

    Regions are in the order of their first visits, followed by the unvisited ones. The result is the last row of
    `error_over_time`, computed without the other rows.
    """
    stops = as_order(problem, order)
    errors = errors_after(problem.dissimilarities, stops, problem.updates.along(stops))
    return freeze(errors.total[visited_then_skipped(stops.tolist(), problem.size)])


def objective_of(problem: Problem) -> Objective:
    """Compile a problem into the objective that solvers minimise, which does not know about regimes.

    Parameters
    ----------
    problem
        The problem.

    Returns
    -------
    Objective
        Travel, scores and weights; its value is T times the loss per region. A depot is its last stop, with a score of
        0 and fixed to the first position; `Problem.regions_of` converts its orders.

    Raises
    ------
    InputError
        If the argument is not a `Problem`, or has optional visits.
    """
    return remaining_objective(problem, (), problem.initial_errors if isinstance(problem, Problem) else np.empty(0))


def remaining_objective(problem: Problem, visited: Sequence[int], errors: FloatArray) -> Objective:
    """Return the objective of the unvisited regions during a journey.

    The agent is in the last region of `visited`, and the current model has these `errors`, which count in all regions.
    The regions of the objective are the remaining ones, in the order of the problem. If orders begin at an origin (the
    depot or the agent's current place), it is the last stop. Past travel does not count.
    """
    check_type("problem", problem, Problem)
    if problem.rules is not None:
        raise InputError("optional visits are not supported here; each region must be visited once", field="visits")
    check_one_model(problem)
    size, known, updates, total = problem.size, problem.dissimilarities, problem.updates, problem.initial_sum
    ways, ends = _remaining_travel(problem, visited)
    travel = ways.scale_by(problem.travel_rate)
    if visited:
        left = [i for i in range(size) if i not in set(visited)]
        total = math.fsum(problem.region_weights * errors)
        known, updates = known.of(left, errors), updates.of(left, len(visited))
    origin = ends.first == len(known.initial)
    error = Pairs(known, updates, total, size)
    return order_objective(travel, error, ends, origin, problem.learner.couples, problem.samples is None)


def visit_objective_of(problem: Problem) -> VisitObjective:
    """Return the objective for solvers of visits; without rules about visits, each region is visited once."""
    return VisitObjective(
        problem.ways.matrix, problem.travel_rate, problem.ends, problem.dissimilarities, problem.updates,
        problem.initial_sum, problem.size, problem.visit_rules,
    )  # fmt: skip


def further_visits(problem: Problem, visited: Sequence[int], errors: FloatArray, common: float = 0.0) -> VisitObjective:
    """Return the objective of further visits during a journey with optional visits.

    Past visits count in all rules, and their travel counts in the budget. `common` is the part of the errors that is
    common to all regions. The origin is the agent's current place; a return to it stands for a return to the depot or
    to the first region.
    """
    objective = visit_objective_of(problem)
    if not visited:
        return objective
    rules, ends, size, many = objective.rules, problem.ends, problem.size, len(visited)
    counts = np.bincount(visited, minlength=size)
    ways, home = problem.ways.matrix, problem.from_depot(visited)[0]
    costs = border(ways[:size, :size], ways[visited[-1], :size], ways[:size, home])
    travelled = math.fsum(problem.ways.legs(problem.from_depot(visited), False))
    left = VisitRules(
        freeze(rules.required & (counts == 0)), freeze(np.maximum(rules.repeats - counts, 0)), rules.at_most - many,
        max(0.0, rules.budget - travelled), max(1, rules.at_least - many),
    )  # fmt: skip
    last = ends.last if ends.last is not None and left.repeats[ends.last] > 0 else None
    retention, plasticity, coupling, second, noise = (table[many:] for table in problem.updates.tables)
    if not np.allclose(second, retention - coupling, rtol=1e-9, atol=0.0):  # else it decays like the others
        errors, noise = errors - common, np.vstack([noise[:1] + second[:1] * common, noise[1:]])
    updates = Updates(*map(freeze, (retention, plasticity, coupling, second, noise)))
    known = problem.dissimilarities.of(range(size), errors)
    total = math.fsum(known.region_weights * errors)
    return replace(
        objective, travel=freeze(costs), ends=Ends(size, last, ends.closed), known=known, updates=updates, total=total,
        rules=left,
    )  # fmt: skip


def _remaining_travel(problem: Problem, visited: Sequence[int]) -> tuple[Travel, Ends]:
    """Return the travel between the remaining regions and the origin, and the ends of orders."""
    ends = problem.ends
    if not visited:
        return problem.ways, ends
    left = [i for i in range(problem.size) if i not in set(visited)]
    ids = [*left, visited[-1]]
    costs = problem.ways.matrix[np.ix_(ids, ids)]
    if ends.closed:  # no route returns to the agent's place, so its column can be the return trip
        costs[:-1, -1] = problem.ways.matrix[left, problem.from_depot(visited)[0]]
    last = left.index(ends.last) if ends.last in left else None
    return TravelMatrix(costs), Ends(len(left), last, ends.closed)


def model_shares(problem: Problem, order: ArrayLike) -> FloatArray:
    """Return the share of each stop of a route in the final model: what it learns there and later stops retain."""
    return shares_along(problem, as_order(problem, order))


def shares_along(problem: Problem, trainings: Sequence[int] | IntArray) -> FloatArray:
    """Return the same for any trainings of one model, without validation."""
    along = problem.updates.along(trainings)
    return freeze(products_after(along.retention) * along.plasticity)


def as_order(problem: Problem, order: ArrayLike) -> IntArray:
    """Return the visits of a route as an array of indices; reject forbidden and missing visits.

    Without `visits`, each region is visited once. The travel budget is not checked.
    """
    check_one_model(problem)
    if problem.rules is None:
        return as_permutation(order, problem.size, problem.regions)
    stops = _as_indices(order, problem.size)
    check_visits(problem.rules, stops.tolist(), problem.regions)
    return freeze(stops)


def check_one_model(problem: Problem) -> None:
    """Reject a fleet if only one route of one model is supported."""
    if problem.fleet_rules is not None:
        raise InputError(
            "only one vehicle with one model is supported here; omit the fleet (--vehicles, --models)", field="fleet"
        )


def indices_of(problem: Problem, route: Any, field: str = "route") -> list[int]:
    """Return the indices of regions given by names or indices; reject unknown ones."""
    if isinstance(route, str | bytes | type) or not isinstance(route, Iterable):
        raise InputError("expected a list of region names", field=field, value=route)
    if not all(isinstance(stop, str | int | np.integer) and not isinstance(stop, bool) for stop in route):
        raise InputError("expected a list of region names", field=field, value=route)
    index = {name: i for i, name in enumerate(problem.regions)}
    stops = []
    for stop in route:
        if stop in problem.stops[problem.size :]:
            raise InputError(f"{stop!r} is the depot, where all routes start; remove it from the route", field=field)
        if isinstance(stop, str) and stop not in index:
            hint = did_you_mean(stop, problem.regions, "regions are")
            raise InputError(f"there is no region {stop!r}; {hint}", field=field)
        stops.append(index[stop] if isinstance(stop, str) else int(stop))
    return stops


def as_permutation(order: ArrayLike, size: int, names: Sequence[str] | None = None) -> IntArray:
    """Return a permutation of 0 … T-1 as an array, or reject it; messages use `names` of regions if given."""
    stops = _as_indices(order, size)
    visits = np.bincount(stops, minlength=size)
    for region in np.flatnonzero(visits != 1).tolist():
        called = region if names is None else repr(names[region])
        wrong = f"visited {visits[region]} times" if visits[region] else "missing"
        raise InputError(f"region {called} is {wrong}; routes visit each region once", field="route")
    return freeze(stops)


def _as_indices(order: ArrayLike, size: int) -> IntArray:
    try:
        stops = np.asarray(order)
    except ValueError:
        stops = np.empty(0)
    if stops.ndim != 1 or (stops.size and stops.dtype.kind not in "iu"):
        raise InputError("expected a list of region indices", field="route")
    outside = stops[(stops < 0) | (stops >= size)]
    if outside.size:
        raise InputError(f"there is no region {outside[0]}; indices go from 0 to {size - 1}", field="route")
    return stops.astype(np.int64)


def visited_then_skipped(order: Sequence[int], size: int) -> list[int]:
    """Return all regions once: those of a route in the order of their first visits, then the skipped ones."""
    return list(dict.fromkeys([*order, *range(size)]))


def _loss(problem: Problem, known: Dissimilarities, order: IntArray) -> Loss:
    size = problem.size
    total = math.fsum(known.region_weights * known.initial)
    found = error_parts(known, order, problem.updates.along(order), total, size)
    parts = {
        "travel": problem.travel_rate * math.fsum(_legs(problem, order)) / size,
        "dissimilarity": math.fsum(found.dissimilarity) / size,
        "initial": float(found.initial) / size,
        "noise": math.fsum(found.noise) / size,
        "pairs": math.fsum(found.pairs) / size,
    }
    return Loss(total=math.fsum(parts.values()), **parts)
