"""Choose the regularisation of a proximal learner together with the route: one λ, or one per position.

For a given route, the expected error is a smooth function of λ; for a given λ, a route is planned. Therefore routes are
planned for a few λ (if there are only few routes, all are evaluated instead), the best λ is chosen for each route, and
the best pair is planned again until nothing changes. A schedule is found by coordinate descent: the final error is
linear in p₁, p₂ and ν of each visit, so the best λ of one visit, given the others, is a minimum over a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.errors import InputError, check_type
from learnroute.model.fleet_losses import fleet_objective_of
from learnroute.model.fleet_objective import FleetRoutes
from learnroute.model.law import ModelErrors, Step, Updates, error_parts, train
from learnroute.model.learners import SCHEDULE, LeastSquares, Proximal
from learnroute.model.losses import expected_loss, objective_of, travel_cost, visit_objective_of
from learnroute.model.notes import impossible_error_notes, regularization_note
from learnroute.model.objective import Objective
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.rounding import is_less
from learnroute.model.spectrum import proximal_moments
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Answer, Budget, Rounds
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.solvers.registry import METHODS, Method
from learnroute.solvers.visits.exact import all_visits, sequences

PLANNED = np.logspace(-3, 5, 17)  # λ for which routes are planned
GRID = np.concatenate([np.logspace(-9, -4, 6), np.logspace(-3, 5, 33), np.logspace(6, 9, 4)])  # first λ per route
# table for schedules, and for the range of λ that are nearly as good; λ near 0 matter if m = n and there is no noise
FINE = np.concatenate([np.logspace(-20, -5, 16), np.logspace(-4, 6, 241)])
FEW_REGIONS = 12  # up to this number, routes are planned for all λ in PLANNED; beyond, for every fourth
FACTORS = np.logspace(-3, 3, 121)  # common factors of a whole schedule
NEAR = np.geomspace(0.9, 1 / 0.9, 9)  # factors for refining a schedule
FLAT = 0.01  # a loss at most this share above the minimum is nearly as good
ENTRIES = 1 << 20  # λ times regions evaluated at once for a curve
ROUND = 1 << 13  # λ times work per λ (about the number of numbers computed) in one round
EXACT_REGIONS = 9  # up to this number, routes are optimal while λ is chosen
ROUTE_SHARE = 0.1  # share of the remaining time for each of these routes
SWEEPS = 60  # maximum number of sweeps over the positions of a schedule
ALTERNATIONS = 60  # maximum number of alternations between a route and its λ; usually a few suffice
SEQUENCES = 3000  # up to this number of routes, λ are chosen for all of them on a table, then refined for ...
REFINED = 4  # ... this many of them; schedules start from the best known ones, and from ...
STARTS = (0.01, 10.0, 1e4)  # ... each of these
FIRST = 0.3  # λ of the running mean at its first visit, if least squares has no expected error
SETTLED = 1e-9  # the relative gain below which an alternation ends

Visits = Any  # an order of regions, or FleetRoutes
Key = Any  # the same, as a key
Solve = Callable[[Problem], Visits]
Starts = Sequence[Key] | None  # routes that may be chosen; None if only the routes of `Solve` may


@dataclass(frozen=True)
class Tuned:
    """A regularisation and the route with which it was chosen.

    Attributes
    ----------
    regularization
        λ, or one λ per position.
    order
        The route.
    total
        Its expected total loss.
    low, high
        The range of λ (for a schedule, of a common factor) whose loss on this route is within 1 % of the total.
    seconds
        The longest time that planning a route and choosing its λ took.
    """

    regularization: float | tuple[float, ...]
    order: Key
    total: float
    low: float
    high: float
    seconds: float = 0.0


def range_note(regularization: float | tuple[float, ...]) -> tuple[str, ...]:
    """Note that a chosen λ, or some λ of a schedule, is at an end of the range that was searched."""
    table = FINE if isinstance(regularization, tuple) else GRID
    return regularization_note(regularization, float(table[0]), float(table[-1]))


def doubts_of(plans: Iterable[Plan]) -> tuple[str, ...]:
    """Return notes on the best of several plans: its error cannot be, or its chosen λ is at an end of its range."""
    best = min(plans, key=lambda plan: plan.loss.total)
    assert best.problem is not None
    assert best.learner is not None
    at_end = range_note(best.learner.regularization) if best.chosen else ()
    return (*impossible_error_notes(best.problem, best), *at_end)


def route_finder(problem: Problem, method: Method, seed: int, budget: Budget, params: SolverParams = DEFAULTS) -> Solve:
    """Return a function that finds routes without bounds: by a method, or by `search` if proofs take long."""
    quick = METHODS["search"] if method.name in ("auto", "exact") and problem.size > EXACT_REGIONS else method

    def solve(variant: Problem) -> Visits:
        part, rng = budget.for_one_job().part(ROUTE_SHARE), np.random.default_rng(seed)
        if variant.fleet_rules is not None:
            found = quick.solve(fleet_objective_of(variant), rng, part, params).routes
            assert found is not None
            return found
        if variant.rules is not None:
            return solve_visits(variant, quick, rng, part, params).order
        objective = objective_for_method(variant, objective_of(variant), quick)
        return variant.regions_of(quick.solve(objective, rng, part, params).order)

    return solve


def solve_visits(
    problem: Problem, method: Method, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS,
    initial: Sequence[int] | None = None,
) -> Answer:  # fmt: skip
    """Return a sequence of visits found by a method, starting from a given sequence if the method supports that."""
    objective = visit_objective_of(problem)
    options = {} if initial is None else {"initial": np.array(initial, dtype=np.int64)}
    return method.solve(objective, rng, budget, params, **options)


def objective_for_method(problem: Problem, objective: Objective, method: Method) -> Objective:
    """Return the objective for a method: there is a shortest route even if travel is worth nothing."""
    if method.by_travel and problem.travel_rate == 0:
        return objective_of(problem.replace(travel_rate=1.0))
    return objective


def tune(problem: Problem, solve: Solve, budget: Budget, starts: Starts = None) -> Tuned:
    """Choose λ (or a schedule, if the learner asks for one) and the route together.

    `solve` plans a route for a problem with a given λ. With `starts`, any other route may be chosen as well.
    """
    check_initial_model(problem)
    assert isinstance(problem.learner, Proximal)
    requested = problem.learner.regularization
    found = tune_constant(problem, solve, budget, starts)
    return tune_schedule(problem, solve, budget, found, starts) if requested == SCHEDULE else found


def decide_learner(problem: Problem, seed: int, budget: Budget) -> Problem:
    """Return the problem with its regularisation chosen if it asks for that, otherwise the problem itself."""
    check_type("problem", problem, Problem)
    if not problem.learner.undecided:
        return problem
    starts = starting_routes(problem, seed, budget)
    found = tune(problem, route_finder(problem, METHODS["search"], seed, budget), budget, starts)
    return problem.with_regularization(found.regularization)


def starting_routes(
    problem: Problem, seed: int, budget: Budget, params: SolverParams = DEFAULTS
) -> list[tuple[int, ...]]:
    """Return the shortest route and the best one for least squares, which are often good with the right λ.

    Problems with vehicles or with chosen visits have none.
    """
    if problem.fleet_rules is not None or problem.rules is not None:
        return []
    rounds, known = Rounds(budget), problem.with_regularization(1.0)
    papers, _ = with_least_squares(known)
    with rounds.measure():
        shortest = route_finder(known, METHODS["travel"], seed, budget, params)(known)
    back = shortest[::-1]
    both = [shortest]
    if known.ends.allows(known.from_depot(back)) and travel_cost(known, back) <= travel_cost(known, shortest):
        both.append(back)
    found = [min(both, key=lambda order: expected_loss(papers or known, order).total)]
    if papers is not None and not rounds.is_late:
        found.append(route_finder(papers, METHODS["auto"], seed, budget, params)(papers))
    return [tuple(order.tolist()) for order in found]


def shortest_of(problem: Problem, routes: Iterable[Key]) -> Key:
    """Return the shortest of several routes; the first one in case of ties."""
    return min(routes, key=lambda order: travel_cost(problem, np.asarray(order)))


def with_least_squares(problem: Problem) -> tuple[Problem | None, str | None]:
    """Return the problem for the paper's learner, or the reason why it has no expected error."""
    n = problem.learner.samples if problem.samples is None else int(problem.samples[0])
    try:
        learner = LeastSquares(problem.learner.features, n, problem.learner.noise)
        return problem.replace(learner=learner), None
    except InputError:
        counts = problem.counts[np.abs(problem.counts - problem.learner.features) <= 1]
        return None, f"the expected error does not exist for m = {problem.learner.features}, n = {counts[0]}"


def running_mean(problem: Problem, positions: int) -> FloatArray:
    """Return the schedule that averages all models equally: t - 1 at visit t.

    The first λ is above 0 if least squares has no expected error.
    """
    papers, _ = with_least_squares(problem)
    return np.maximum(np.arange(positions), FIRST if papers is None else 0.0)


def check_initial_model(problem: Problem) -> None:
    """Reject choosing λ if the initial model has an error of 0 everywhere, because then not training is best."""
    if problem.initial_sum == 0 < math.fsum(problem.scores):
        raise InputError(
            "the initial model has no error, so λ cannot be chosen; set its dissimilarity to each region",
            field="initial",
            found="is missing or 0 for all regions",
        )


def tune_for(problem: Problem, order: Sequence[int] | FleetRoutes, kind: str, budget: Budget) -> Tuned:
    """Return the best λ (or schedule) for a given route."""
    stops = order if isinstance(order, FleetRoutes) else np.asarray(order, dtype=np.int64)
    return tune(problem.with_regularization(kind), lambda _: stops, budget)


def error_curve(
    problem: Problem, order: Sequence[int] | IntArray | FleetRoutes, regularizations: Iterable[float]
) -> FloatArray:
    """Return the expected final error of a route (per region) for each of many λ."""
    if isinstance(order, FleetRoutes):
        objectives = (fleet_objective_of(problem.with_regularization(one)) for one in regularizations)
        return np.array([math.fsum(one.parts(order).terms()) / problem.size for one in objectives])
    stops = np.asarray(order, dtype=np.int64)
    table = np.fromiter(regularizations, dtype=np.float64)
    at_once = max(1, ENTRIES // problem.size)
    parts = [table[begin : begin + at_once, None] for begin in range(0, len(table), at_once)]
    return np.concatenate([_error(problem, stops, part) for part in parts])


def _error(problem: Problem, stops: IntArray, regularization: FloatArray) -> Any:
    """Return the expected final error of a route (per region); the last axis of λ is over positions, or of length 1."""
    terms = error_parts(
        problem.dissimilarities, stops, _along(problem, stops, regularization), problem.initial_sum, problem.size
    )
    return (terms.initial + (terms.dissimilarity + terms.noise + terms.pairs).sum(axis=-1)) / problem.size


def _along(problem: Problem, stops: IntArray, regularization: FloatArray) -> Updates:
    """Return the effect of training at each stop of a route, which may end before the last position with a λ."""
    counts, regularization = problem.counts[stops], regularization[..., : len(stops)]
    tables = np.empty((5, *regularization.shape[:-1], len(stops)))
    for n in np.unique(counts).tolist():
        for table, part in zip(tables, _step(problem, n, regularization), strict=True):
            table[..., counts == n] = np.broadcast_to(part, table.shape)[..., counts == n]
    return Updates(*tables)


def _step(problem: Problem, samples: int, regularization: FloatArray) -> Step:
    """Return the effect of training with this number of samples, for many λ at once."""
    moments = proximal_moments(problem.learner.features, samples, regularization)
    return Step(*(np.broadcast_to(part, regularization.shape) for part in moments.step(problem.learner.noise**2)))


def tune_constant(problem: Problem, solve: Solve, budget: Budget, starts: Starts = None) -> Tuned:
    """Choose one λ and the route; `starts` as for `tune`."""
    pool: dict[Key, tuple[float, float]] = {}  # by route: its best λ and the total loss with it
    rounds, curves = Rounds(budget), Rounds(budget)
    every = [] if starts is None else _best_routes(problem, budget)
    for order in [*every, *(starts or ())]:
        _add(pool, problem, order, curves)
    planned = [] if every else PLANNED[:: 1 if problem.size <= FEW_REGIONS else 4].tolist()
    for k, one in enumerate(planned):
        if rounds.is_late:
            break
        with rounds.measure():
            _add(pool, problem, solve(problem.with_regularization(one)), curves)
        budget.progress("regularisation", (k + 1) / len(planned))
    for order in sorted(pool, key=lambda order: pool[order][1])[:3]:
        at = order
        for _ in range(ALTERNATIONS):
            if rounds.is_late:
                break
            with rounds.measure():
                better = _add(pool, problem, solve(problem.with_regularization(pool[at][0])), curves)
            if not is_less(pool[better][1], pool[at][1], SETTLED):
                break
            at = better
    best = min(pool, key=lambda order: pool[order][1])
    value, total = pool[best]
    if not budget.has_seconds(curves.longest * _rounds_of(FINE, _work(problem, best))):
        return Tuned(value, best, total, value, value, rounds.longest)
    losses = error_curve(problem, best, FINE) + _travel(problem, best)
    return Tuned(value, best, total, *flat_range(FINE, losses, value, total), rounds.longest)


def _add(pool: dict[Key, tuple[float, float]], problem: Problem, order: Visits, curves: Rounds) -> Key:
    """Add a route to the pool with its best λ; return its key."""
    key: Key = order if isinstance(order, FleetRoutes) else tuple(int(i) for i in order)
    if key not in pool:
        value, error = minimise(lambda table: error_curve(problem, key, table), GRID, _work(problem, key), curves)
        pool[key] = value, error + _travel(problem, key)
    return key


def _work(problem: Problem, order: Key) -> int:
    """Return the work of evaluating a route for one λ."""
    return problem.size ** (2 if isinstance(order, FleetRoutes) else 1)


def _rounds_of(table: FloatArray, work: int) -> int:
    """Return the number of rounds in which a table of λ is evaluated, given the work per λ."""
    return min(len(table), -(-len(table) * work // ROUND))


def minimise(
    curve: Callable[[FloatArray], FloatArray], table: FloatArray, work: int, rounds: Rounds
) -> tuple[float, float]:
    """Return the minimiser of a curve over λ and the minimum, from a table that is refined while time allows.

    If the work per λ is long, the table is evaluated in several rounds, each with evenly spread λ.
    """
    found = math.nan, math.inf
    for refined in range(4):
        errors, parts = np.full(len(table), np.inf), _rounds_of(table, work)
        for k in range(parts):
            if (refined or k) and rounds.is_late:
                break
            with rounds.measure():
                errors[k::parts] = curve(table[k::parts])
        best = int(np.argmin(errors))
        if errors[best] < found[1] or not refined:
            found = float(table[best]), float(errors[best])
        if rounds.is_late:
            break
        table = np.geomspace(table[max(0, best - 1)], table[min(len(table) - 1, best + 1)], 17)
    return found


def _travel(problem: Problem, order: Sequence[int] | IntArray | FleetRoutes) -> float:
    if isinstance(order, FleetRoutes):
        known = problem.with_regularization(1.0) if problem.learner.undecided else problem
        return problem.travel_rate * fleet_objective_of(known).paid_travel(order) / problem.size
    return problem.travel_rate * travel_cost(problem, np.asarray(order)) / problem.size


def flat_range(table: FloatArray, losses: FloatArray, value: float, total: float) -> tuple[float, float]:
    """Return the ends of the range around a value in a table where losses are close to the minimum."""
    good = losses <= total + FLAT * abs(total)
    at = int(np.argmin(np.abs(np.log(table) - math.log(value))))
    low = high = at
    while low > 0 and good[low - 1]:
        low -= 1
    while high < len(table) - 1 and good[high + 1]:
        high += 1
    return min(value, float(table[low])), max(value, float(table[high]))


# Schedules


def tune_schedule(problem: Problem, solve: Solve, budget: Budget, found: Tuned, starts: Starts = None) -> Tuned:
    """Choose one λ per position and the route, starting from the route and λ that `tune_constant` found.

    The result is never worse than `found`; if there is no time left, it is `found`. With `starts`, it is also no worse
    than the running mean on the shortest route.
    """
    mean = running_mean(problem, problem.most_visits)
    constant = np.full(len(mean), found.regularization, dtype=np.float64)
    order = np.array(found.order)
    best: tuple[float, FloatArray, IntArray] = (found.total, constant, order)
    rounds = Rounds(budget, found.seconds)
    shortest = shortest_of(problem, [*starts, found.order]) if starts else found.order
    pairs = [(order, constant), (np.array(shortest), mean)]
    if starts is not None:
        pairs += _best_schedules(problem, constant, mean, budget)
    for at, start in pairs:
        if budget.exhausted:
            break
        schedule = _descend(problem, at, start, budget)
        total = _total(problem, at, schedule)
        for _ in range(ALTERNATIONS):
            if rounds.is_late:
                break
            with rounds.measure():
                other = solve(problem.with_regularization(schedule.tolist()))
                changed = _descend(problem, other, schedule, budget)
                better = _total(problem, other, changed)
            if not is_less(better, total, SETTLED):
                break
            schedule, at, total = changed, other, better
        best = min(best, (total, schedule, at), key=lambda one: one[0])
    total, schedule, order = best
    low, high = (_flat_factor(problem, order, schedule, total, way, budget) for way in (FACTORS[::-1], FACTORS))
    return Tuned(tuple(schedule.tolist()), tuple(order.tolist()), total, low, high, rounds.longest)


def _best_schedules(
    problem: Problem, constant: FloatArray, mean: FloatArray, budget: Budget
) -> list[tuple[IntArray, FloatArray]]:
    """Return the best few of all routes with their schedules on a table; nothing if there are too many routes.

    Each route starts from these two schedules, and from a few that are constant over all positions.
    """
    starts = [constant, mean, *(np.full(len(mean), one) for one in STARTS)]
    found: list[tuple[float, IntArray, FloatArray]] = []
    for orders, travel, steps in _all_routes(problem):
        positions = np.minimum(np.arange(len(mean)), orders.shape[1] - 1)
        for start in starts:
            if budget.exhausted:
                break
            near = np.abs(np.log(FINE) - np.log(np.maximum(start, FINE[0])[: orders.shape[1], None])).argmin(axis=1)
            chosen = np.tile(near, (len(orders), 1))
            totals = travel + _descend_together(problem, orders, chosen, steps, budget)
            best = np.argsort(totals, kind="stable")[:REFINED].tolist()
            found += [(float(totals[k]), orders[k], FINE[chosen[k, positions]]) for k in best]
    return [(order, schedule) for _, order, schedule in sorted(found, key=lambda one: one[0])[:REFINED]]


def _best_routes(problem: Problem, budget: Budget) -> list[IntArray]:
    """Return the best few of all routes, each with one λ of a table; nothing if there are too many routes."""
    found: list[tuple[float, IntArray]] = []
    rows = problem.dissimilarities.matrix
    for orders, travel, steps in _all_routes(problem):
        totals = np.full(len(orders), np.inf)
        for one in range(0, len(FINE), 4):
            if budget.exhausted:
                return []
            errors = _initial_models(problem, len(orders))
            for region in orders.T:
                errors = train(errors, region, Step(*steps[region, :, one].T), rows[region])
            totals = np.minimum(totals, travel + errors.mean(problem.region_weights))
        found += [(float(totals[k]), orders[k]) for k in np.argsort(totals, kind="stable")[:REFINED].tolist()]
    return [order for _, order in sorted(found, key=lambda one: one[0])[:REFINED]]


def _all_routes(problem: Problem) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
    """Yield all routes of each length, one per row, with their travel; nothing for fleets or too many routes.

    The third table is the effect of training by region, part and λ of `FINE`.
    """
    if problem.fleet_rules is not None:
        return
    objective = visit_objective_of(problem.with_regularization(1.0))
    rules = objective.rules
    if sequences(rules.repeats[rules.allowed], rules.at_most, SEQUENCES) > SEQUENCES:
        return
    tables = {n: _step(problem, n, FINE) for n in np.unique(problem.counts).tolist()}
    steps = np.array([tables[n] for n in problem.counts.tolist()])
    routes = list(all_visits(objective))
    for length in sorted({len(route) for route in routes}):
        orders = np.array([route for route in routes if len(route) == length])
        stops = orders if objective.origin is None else np.insert(orders, 0, objective.origin, axis=1)
        stops = np.column_stack([stops, stops[:, 0]]) if objective.ends.closed else stops
        travel = objective.travel[stops[:, :-1], stops[:, 1:]].sum(axis=1)
        yield orders, problem.travel_rate * travel / problem.size, steps


def _initial_models(problem: Problem, count: int) -> ModelErrors:
    """Return the errors of `count` copies of the initial model."""
    return ModelErrors(np.tile(problem.initial_errors, (count, 1)), np.zeros(count))


def _descend_together(
    problem: Problem, orders: IntArray, chosen: IntArray, steps: FloatArray, budget: Budget
) -> FloatArray:
    """Do for many routes at once, one per row, what `_sweep` does for one; return their errors.

    `chosen` are indices of λ in the table and are changed in place. `steps` is the effect of training with each λ in
    each region.
    """
    rows, weights = problem.dissimilarities.matrix, problem.region_weights / problem.size
    many, everyone = orders.shape[1], np.arange(len(orders))
    before: FloatArray = np.full(len(orders), np.inf)
    for _ in range(SWEEPS):
        here = steps[orders, :, chosen]  # by route, position and part
        slopes, totals = np.empty((many, len(orders), problem.size)), np.empty((many, len(orders)))
        slope, total = np.tile(weights, (len(orders), 1)), np.ones(len(orders))
        for t in range(many - 1, -1, -1):
            slopes[t], totals[t] = slope, total
            slope = here[:, t, 0, None] * slope
            slope[everyone, orders[:, t]] -= here[:, t, 2] * total
            total = total * here[:, t, 3]
        errors = _initial_models(problem, len(orders))
        for t in range(many):
            region, now = orders[:, t], errors.total
            kept, learnt = (slopes[t] * now).sum(axis=1), (slopes[t] * rows[region]).sum(axis=1)
            error = now[everyone, region]
            for k in np.unique(region).tolist():  # routes that visit the same region share its table
                at = np.flatnonzero(region == k)
                known = Step(*steps[k])
                costs = _costs(known, *(one[at, None] for one in (kept, learnt, totals[t], error)))
                chosen[at, t] = costs.argmin(axis=1)
            errors = train(errors, region, Step(*steps[region, :, chosen[:, t]].T), rows[region])
        reached = errors.mean(problem.region_weights)
        if budget.exhausted or not (reached < before - SETTLED * np.abs(reached)).any():
            break
        before = reached
    return np.asarray(reached)


def _flat_factor(
    problem: Problem, order: IntArray, schedule: FloatArray, total: float, factors: FloatArray, budget: Budget
) -> float:
    """Return the last factor of a schedule, starting from 1, up to which its loss is close to the minimum."""
    reached = 1.0
    for factor in factors[len(factors) // 2 + 1 :].tolist():
        if budget.exhausted or _total(problem, order, factor * schedule) > total + FLAT * abs(total):
            break
        reached = factor
    return reached


def _total(problem: Problem, order: IntArray, schedule: FloatArray) -> float:
    return float(_error(problem, order, schedule)) + _travel(problem, order)


def _descend(problem: Problem, order: IntArray, start: FloatArray, budget: Budget) -> FloatArray:
    """Return a schedule for a route that no change of a single λ improves, unless time runs out first."""
    schedule = np.array(start)
    for table in (FINE, None):  # first all λ of a table, then λ near the current ones
        before = math.inf
        for _ in range(SWEEPS):
            if budget.exhausted:
                break
            error = _sweep(problem, order, schedule, table, budget)
            if not is_less(error, before, SETTLED):
                break
            before = error
    return schedule


def _sweep(problem: Problem, order: IntArray, schedule: FloatArray, table: FloatArray | None, budget: Budget) -> float:
    """Choose λ again, position by position; return the error reached. If `table` is None, only try λ near each.

    The weighted mean of the final errors is linear in p₁, q and ν of each visit, with these slopes in the errors after.
    """
    size, rows = problem.size, problem.dissimilarities
    here = list(_along(problem, order, schedule))
    slopes = np.empty((len(order), size))  # row t: how the final error depends on each error after visit t
    totals = np.empty(len(order))  # ... and on the part common to all of them
    slope, total = problem.region_weights / size, 1.0
    for t in range(len(order) - 1, -1, -1):
        slopes[t], totals[t] = slope, total
        slope = here[t].retention * slope
        slope[order[t]] -= here[t].coupling * total
        total *= here[t].retention - here[t].coupling
    near = np.clip(schedule[:, None] * NEAR, FINE[0], FINE[-1])
    steps = {n: _step(problem, n, near if table is None else table) for n in np.unique(problem.counts).tolist()}
    errors = ModelErrors(problem.initial_errors)
    for t, k in enumerate(order.tolist()):
        step = here[t]
        if not budget.exhausted:
            values, known = near[t] if table is None else table, steps[int(problem.counts[k])]
            known = Step(*(column[t] for column in known)) if table is None else known
            before, learnt = float(slopes[t] @ errors.total), float(slopes[t] @ rows[k])
            error = float(errors.own[k] + errors.common)
            costs = _costs(known, before, learnt, totals[t], error)
            best = int(np.argmin(costs))
            if costs[best] < _costs(step, before, learnt, totals[t], error):
                schedule[t] = values[best]
                step = Step(*(float(column[best]) for column in known))
        errors = train(errors, k, step, rows[k])
    return float(errors.mean(problem.region_weights))


def _costs(step: Step, before: Any, learnt: Any, slope: Any, error: Any) -> Any:
    """Return the contribution of a visit to the final error, up to a constant that no step changes.

    `before` and `learnt` are the errors before the visit and the errors of the region's own model, times the slopes of
    all regions. `slope` is the sum of these slopes, and `error` the error in the region before the visit. All four are
    numbers, or columns with one row per route.
    """
    return step.retention * before + step.plasticity * learnt + slope * (step.noise - step.coupling * error)
