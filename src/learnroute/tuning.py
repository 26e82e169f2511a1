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
from learnroute.model.instance import Instance
from learnroute.model.law import ModelErrors, Step, Updates, error_parts, train
from learnroute.model.learners import SCHEDULE, LeastSquares, Proximal
from learnroute.model.notes import impossible_error_notes, regularization_note
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.rounding import is_less
from learnroute.model.routes import Routes
from learnroute.model.spectrum import proximal_moments
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget, Rounds
from learnroute.solvers.exact.enumeration import count_routes
from learnroute.solvers.methods import METHODS, Method
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.solvers.solve import solve

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

Find = Callable[[Problem], Routes]
Starts = Sequence[Routes] | None  # routes that may be chosen; None if only the routes of `Find` may


@dataclass(frozen=True)
class Tuned:
    """A regularisation and the routes with which it was chosen.

    Attributes
    ----------
    regularization
        λ, or one λ per position.
    routes
        The routes.
    total
        Their expected total loss.
    low, high
        The range of λ (for a schedule, of a common factor) whose loss on this route is within 1 % of the total.
    seconds
        The longest time that planning a route and choosing its λ took.
    """

    regularization: float | tuple[float, ...]
    routes: Routes
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


def route_finder(problem: Problem, method: Method, seed: int, budget: Budget, params: SolverParams = DEFAULTS) -> Find:
    """Return a function that finds routes without bounds: by a method, or by `search` if proofs take long."""
    quick = METHODS["search"] if method.name in ("auto", "exact") and problem.size > EXACT_REGIONS else method

    def find(variant: Problem) -> Routes:
        part, rng = budget.for_one_job().part(ROUTE_SHARE), np.random.default_rng(seed)
        return solve(variant.instance, quick, rng, part, params, bounds=False).routes

    return find


def tune(problem: Problem, find: Find, budget: Budget, starts: Starts = None) -> Tuned:
    """Choose λ (or a schedule, if the learner asks for one) and the routes together.

    `find` plans routes for a problem with a given λ. With `starts`, any other routes may be chosen as well.
    """
    check_initial_model(problem)
    assert isinstance(problem.learner, Proximal)
    requested = problem.learner.regularization
    found = tune_constant(problem, find, budget, starts)
    return tune_schedule(problem, find, budget, found, starts) if requested == SCHEDULE else found


def decide_learner(problem: Problem, seed: int, budget: Budget) -> Problem:
    """Return the problem with its regularisation chosen if it asks for that, otherwise the problem itself."""
    check_type("problem", problem, Problem)
    if not problem.learner.undecided:
        return problem
    starts = starting_routes(problem, seed, budget)
    found = tune(problem, route_finder(problem, METHODS["search"], seed, budget), budget, starts)
    return problem.with_regularization(found.regularization)


def starting_routes(problem: Problem, seed: int, budget: Budget, params: SolverParams = DEFAULTS) -> list[Routes]:
    """Return the shortest route and the best one for least squares, which are often good with the right λ.

    There are none unless each region is visited once.
    """
    rounds, known = Rounds(budget), problem.decided
    if not known.instance.permutation:
        return []
    papers, _ = with_least_squares(known)
    with rounds.measure():
        shortest = route_finder(known, METHODS["travel"], seed, budget, params)(known)
    back = Routes.of_order(shortest.order[::-1])
    both, travel = [shortest], known.instance.paid_travel
    if known.instance.has_ends(back) and travel(back) <= travel(shortest):
        both.append(back)
    priced = (papers or known).instance
    found = [min(both, key=priced)]
    if papers is not None and not rounds.is_late:
        found.append(route_finder(papers, METHODS["auto"], seed, budget, params)(papers))
    return found


def shortest_of(problem: Problem, routes: Iterable[Routes]) -> Routes:
    """Return the shortest of several routes; the first one in case of ties."""
    return min(routes, key=problem.decided.instance.paid_travel)


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


def tune_for(problem: Problem, routes: Routes, kind: str, budget: Budget) -> Tuned:
    """Return the best λ (or schedule) for given routes."""
    return tune(problem.with_regularization(kind), lambda _: routes, budget)


def error_curve(problem: Problem, routes: Routes, regularizations: Iterable[float]) -> FloatArray:
    """Return the expected final error of routes (per region) for each of many λ."""
    if not problem.fleet_rules.single:
        instances = (problem.with_regularization(one).instance for one in regularizations)
        return np.array([math.fsum(one.parts(routes).terms()) / problem.size for one in instances])
    stops, table = routes.order, np.fromiter(regularizations, dtype=np.float64)
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


def tune_constant(problem: Problem, find: Find, budget: Budget, starts: Starts = None) -> Tuned:
    """Choose one λ and the route; `starts` as for `tune`."""
    pool: dict[Routes, tuple[float, float]] = {}  # by routes: their best λ and the total loss with it
    rounds, curves = Rounds(budget), Rounds(budget)
    every = [] if starts is None else _best_routes(problem, budget)
    for routes in [*every, *(starts or ())]:
        _add(pool, problem, routes, curves)
    planned = [] if every else PLANNED[:: 1 if problem.size <= FEW_REGIONS else 4].tolist()
    for k, one in enumerate(planned):
        if rounds.is_late:
            break
        with rounds.measure():
            _add(pool, problem, find(problem.with_regularization(one)), curves)
        budget.progress("regularisation", (k + 1) / len(planned))
    for at in sorted(pool, key=lambda routes: pool[routes][1])[:3]:
        for _ in range(ALTERNATIONS):
            if rounds.is_late:
                break
            with rounds.measure():
                better = _add(pool, problem, find(problem.with_regularization(pool[at][0])), curves)
            if not is_less(pool[better][1], pool[at][1], SETTLED):
                break
            at = better
    best = min(pool, key=lambda routes: pool[routes][1])
    value, total = pool[best]
    if not budget.has_seconds(curves.longest * _rounds_of(FINE, _work(problem))):
        return Tuned(value, best, total, value, value, rounds.longest)
    losses = error_curve(problem, best, FINE) + _travel(problem, best)
    return Tuned(value, best, total, *flat_range(FINE, losses, value, total), rounds.longest)


def _add(pool: dict[Routes, tuple[float, float]], problem: Problem, routes: Routes, curves: Rounds) -> Routes:
    """Add routes to the pool with their best λ; return them."""
    if routes not in pool:
        value, error = minimise(lambda table: error_curve(problem, routes, table), GRID, _work(problem), curves)
        pool[routes] = value, error + _travel(problem, routes)
    return routes


def _work(problem: Problem) -> int:
    """Return the work of evaluating routes for one λ."""
    return problem.size ** (1 if problem.fleet_rules.single else 2)


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


def _travel(problem: Problem, routes: Routes) -> float:
    return problem.travel_rate * problem.decided.instance.paid_travel(routes) / problem.size


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


def tune_schedule(problem: Problem, find: Find, budget: Budget, found: Tuned, starts: Starts = None) -> Tuned:
    """Choose one λ per position and the route, starting from the route and λ that `tune_constant` found.

    The result is never worse than `found`; if there is no time left, it is `found`. With `starts`, it is also no worse
    than the running mean on the shortest route.
    """
    mean = running_mean(problem, problem.most_visits)
    constant = np.full(len(mean), found.regularization, dtype=np.float64)
    order = found.routes.order
    best: tuple[float, FloatArray, IntArray] = (found.total, constant, order)
    rounds = Rounds(budget, found.seconds)
    shortest = shortest_of(problem, [*starts, found.routes]) if starts else found.routes
    pairs = [(order, constant), (shortest.order, mean)]
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
                other = find(problem.with_regularization(schedule.tolist())).order
                changed = _descend(problem, other, schedule, budget)
                better = _total(problem, other, changed)
            if not is_less(better, total, SETTLED):
                break
            schedule, at, total = changed, other, better
        best = min(best, (total, schedule, at), key=lambda one: one[0])
    total, schedule, order = best
    low, high = (_flat_factor(problem, order, schedule, total, way, budget) for way in (FACTORS[::-1], FACTORS))
    return Tuned(tuple(schedule.tolist()), Routes.of_order(order), total, low, high, rounds.longest)


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


def _best_routes(problem: Problem, budget: Budget) -> list[Routes]:
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
    return [Routes.of_order(order) for _, order in sorted(found, key=lambda one: one[0])[:REFINED]]


def _all_routes(problem: Problem) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
    """Yield all routes of each length, one per row, with their travel; nothing for fleets or too many routes.

    The third table is the effect of training by region, part and λ of `FINE`.
    """
    instance = problem.decided.instance
    if not instance.single or count_routes(instance, SEQUENCES) > SEQUENCES:
        return
    tables = {n: _step(problem, n, FINE) for n in np.unique(problem.counts).tolist()}
    steps = np.array([tables[n] for n in problem.counts.tolist()])
    everything = list(_all_visits(instance))
    for length in sorted({len(visits) for visits in everything}):
        orders = np.array([visits for visits in everything if len(visits) == length])
        travel = np.array([instance.paid_travel(Routes.of_order(visits)) for visits in orders])
        yield orders, problem.travel_rate * travel / problem.size, steps


def _all_visits(instance: Instance, begun: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield all sequences of visits that satisfy the rules and begin with given ones."""
    if begun and instance.allows(Routes.of_order(begun)):
        yield begun
    if len(begun) < instance.visits.at_most:
        for region in instance.visits.regions.tolist():
            if begun.count(region) < instance.visits.repeats[region]:
                yield from _all_visits(instance, (*begun, region))


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
    return float(_error(problem, order, schedule)) + _travel(problem, Routes.of_order(order))


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
