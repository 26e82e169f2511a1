"""Planning from start to end: problem -> objective -> solver -> bound -> plan."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from learnroute.errors import InputError, check_type
from learnroute.guarantees import guarantee_of_algorithm1
from learnroute.model.certificates import Certificate
from learnroute.model.ends import Ends
from learnroute.model.fleet_losses import fleet_objective_of, fleet_routes_of
from learnroute.model.fleet_objective import FleetObjective, FleetRoutes
from learnroute.model.losses import Loss, as_order, indices_of, objective_of, visit_objective_of
from learnroute.model.notes import (
    fleet_notes,
    impossible_error_notes,
    initial_model_note,
    law_note,
    travel_note,
    visits_notes,
)
from learnroute.model.objective import Objective, Weighted
from learnroute.model.problem import UPPER, Problem
from learnroute.model.result import Guarantee, Plan
from learnroute.model.rounding import OPTIMALITY, margin
from learnroute.model.validation import IntArray, as_count
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.construction.insertion import complete
from learnroute.solvers.contract import Answer, Budget, Progress, Solver
from learnroute.solvers.exact.proof import lower_bound
from learnroute.solvers.fleets.bounds import NO_FLEET_BOUND, fleet_bound
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import DEFAULTS, SolverParams, check_params
from learnroute.solvers.registry import METHODS, Method, method_by_name
from learnroute.solvers.visits.bounds import NO_BOUND, visits_bound
from learnroute.solvers.visits.exact import prover
from learnroute.tuning import (
    Key,
    Tuned,
    objective_for_method,
    range_note,
    route_finder,
    solve_visits,
    starting_routes,
    tune,
    tune_for,
)

TIED = 1e-17  # relative to the value; anything smaller cannot be distinguished from 0
CHECKING = 5e-10  # seconds that the check of the triangle inequality takes, times T³ ...
CHECKED_AT_ONCE = 300  # ... and the number of regions up to which that time is negligible
TUNING_SHARE = 0.7  # share of the time for choosing λ; the rest is for the final plan and its bound
GIVEN = "given"  # the method of a route that the caller chose


def plan(
    problem: Problem,
    method: str = "auto",
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
    params: SolverParams = DEFAULTS,
    initial: Sequence[str | int] | None = None,
    threads: int = 1,
    stop: threading.Event | None = None,
) -> Plan:
    """Choose the route with the lowest expected overall loss.

    Parameters
    ----------
    problem
        The planning problem.
    method
        One of `learnroute.METHODS`: auto, exact, search, algorithm1, baseline, travel, nearest, random.
    seed
        Seed of the random number generator. The same problem, method, seed and number of threads give the same route.
    time_limit
        Time limit in seconds. When it is reached, the best route and lower bound so far are returned.
    progress
        Called from time to time with the name of the current stage and the completed share of it.
    params
        Parameters of the solvers; the defaults suit most problems.
    initial
        A route to start from, for example that of an older plan (a warm start; for auto, exact and search). Missing
        regions are inserted where they add the least travel.
    threads
        Number of threads that search in parallel and share the best route.
    stop
        Set it from a signal handler or another thread to get the best route so far at once.

    Returns
    -------
    Plan
        The route, its expected loss, a lower bound on the loss of all routes, and the certificate of that bound.

    Raises
    ------
    InputError
        If an argument has the wrong type or is out of range.
    RefusedError
        If the method cannot solve this problem, such as `algorithm1` with asymmetric travel.
    """
    check_type("problem", problem, Problem)
    check_type("params", params, SolverParams)
    check_params(params)
    chosen = method_by_name(method)
    seed = as_count("seed", seed, least=0, meaning="the seed")
    if as_count("threads", threads, least=1, meaning="the number of threads") > 1:
        params = params._replace(search=params.search._replace(threads=threads, rounds_at_once=threads))
    budget = Budget.of(time_limit, progress, stop, spend_all=True)
    return plan_within(problem, chosen, seed, budget, params, initial)


def plan_within(
    problem: Problem, method: Method, seed: int, budget: Budget, params: SolverParams = DEFAULTS,
    initial: Sequence[str | int] | None = None, bound: Certificate | None = None,
) -> Plan:  # fmt: skip
    """Choose the route, and the regularisation if it is undecided. A given lower bound is not computed again."""
    started = time.monotonic()
    if problem.learner.undecided:
        made = _plan_with_learner(problem, method, seed, budget, params, initial)
    elif problem.fleet_rules is not None:
        made = _plan_fleet(problem, method, seed, budget, params, initial)
    elif problem.rules is not None:
        made = _plan_visits(problem, method, seed, budget, params, initial)
    else:
        made = _plan_order(problem, method, seed, budget, params, initial, bound)
    return replace(made, seconds=time.monotonic() - started)


def _plan_order(
    problem: Problem, method: Method, seed: int, budget: Budget, params: SolverParams,
    initial: Sequence[str | int] | None, bound: Certificate | None,
) -> Plan:  # fmt: skip
    """Choose the order of all regions."""
    whole, budget = budget, _reserve_metric_check(problem, budget)
    objective = objective_of(problem)
    solve = method.solve if initial is None else _with_warm_start(problem, objective, method, initial)
    answer = solve(objective_for_method(problem, objective, method), np.random.default_rng(seed), budget, params)
    if problem.travel_rate == 0 and method.warm:
        answer = replace(answer, order=_shorten_ties(problem, objective, answer.order, budget, params))
    certificate = answer.certificate or bound or lower_bound(objective, answer.order, budget, params)
    return assess(problem, answer, certificate, method.name, seed, whole)


def _plan_visits(
    problem: Problem, method: Method, seed: int, budget: Budget, params: SolverParams,
    initial: Sequence[str | int] | None,
) -> Plan:  # fmt: skip
    """Choose which regions to visit, how often, and in which order."""
    start = None if initial is None else indices_of(problem, initial, "initial")
    objective = visit_objective_of(problem)
    searching = budget if prover(objective, params) else budget.part(1 - params.visit_bound.share)
    answer = solve_visits(problem, method, np.random.default_rng(seed), searching, params, start)
    return _assess_visits(problem, objective, answer, method.name, seed, budget, params)


def _plan_fleet(
    problem: Problem, method: Method, seed: int, budget: Budget, params: SolverParams, initial: Any = None
) -> Plan:
    """Choose the routes of all vehicles, and the model that each visit trains."""
    objective = fleet_objective_of(problem)
    start = initial
    if initial is not None and not isinstance(initial, FleetRoutes):
        start = fleet_routes_of(problem, initial, [0] * len(initial))
    usable = objective.without_idle()
    options = {} if start is None else {"initial": start.resize(usable.rules.vehicles)}
    answer = method.solve(usable, np.random.default_rng(seed), budget, params, **options)
    assert answer.routes is not None
    answer = replace(answer, routes=answer.routes.resize(objective.rules.vehicles))
    return _assess_fleet(problem, objective, answer, method.name, seed, budget)


def _assess_fleet(
    problem: Problem, objective: FleetObjective, answer: Answer, requested: str, seed: int, budget: Budget
) -> Plan:
    """Compute a lower bound unless the answer is proved optimal, and recompute every claim."""
    certificate = None if answer.optimal else fleet_bound(objective)
    if certificate is None and not answer.optimal:
        answer = replace(answer, notes=(*answer.notes, NO_FLEET_BOUND))
    return assess(problem, answer, certificate, requested, seed, budget)


def _assess_visits(
    problem: Problem, objective: VisitObjective, answer: Answer, requested: str, seed: int, budget: Budget,
    params: SolverParams = DEFAULTS,
) -> Plan:  # fmt: skip
    """Compute a lower bound unless the answer is proved optimal, and recompute every claim."""
    certificate = None if answer.optimal else visits_bound(objective, answer.order, budget, params)
    if certificate is None and not answer.optimal:
        answer = replace(answer, notes=(*answer.notes, NO_BOUND))
    return assess(problem, answer, certificate, requested, seed, budget)


def _reserve_metric_check(problem: Problem, budget: Budget) -> Budget:
    """Return a budget that leaves time for checking the triangle inequality if that takes at most a tenth of it."""
    left, check = budget.seconds_left, CHECKING * problem.size**3
    if left is None or problem.ways.is_metric or check > 0.1 * left:
        return budget
    return replace(budget, deadline=budget.deadline - check)


def _plan_with_learner(
    problem: Problem, method: Method, seed: int, budget: Budget, params: SolverParams,
    initial: Sequence[str | int] | None,
) -> Plan:  # fmt: skip
    """Choose the regularisation together with the route, then plan the route once more for it."""
    part = budget.part(TUNING_SHARE)
    starts = starting_routes(problem, seed, part, params) if method.warm else None
    found = tune(problem, route_finder(problem, method, seed, budget, params), part, starts)
    decided = problem.with_regularization(found.regularization)
    if initial is None and not budget.has_seconds(found.seconds):
        used = "search" if method.warm else method.name
        made = _assess_given(decided, found.order, used, method.name, seed, budget, params)
        return _choice_note(made, problem, found)
    if decided.fleet_rules is not None or decided.rules is not None:
        again = _plan_visits if decided.fleet_rules is None else _plan_fleet
        return _choice_note(again(decided, method, seed, budget, params, initial or found.order), problem, found)
    objective = objective_of(decided)
    final = method.solve if initial is None else _with_warm_start(decided, objective, method, initial)
    answer = final(objective_for_method(decided, objective, method), np.random.default_rng(seed), budget, params)
    if not method.by_travel and not method.random:
        tuned = decided.from_depot(found.order)
        if objective(tuned) < objective(answer.order):
            answer = replace(answer, order=tuned, optimal=False)
    certificate = answer.certificate or lower_bound(objective, answer.order, budget, params)
    made = assess(decided, answer, certificate, method.name, seed, budget)
    return _choice_note(made, problem, found)


def _choice_note(made: Plan, problem: Problem, found: Tuned) -> Plan:
    """Add how the regularisation was chosen, and a note if it is at an end of its range."""
    return replace(
        made,
        notes=(*made.notes, *range_note(found.regularization)),
        chosen=str(problem.learner.training["regularization"]),
        regularization_range=(found.low, found.high),
    )


def _with_warm_start(problem: Problem, objective: Objective, method: Method, initial: Sequence[str | int]) -> Solver:
    """Return a method that starts from a route."""
    if not method.warm:
        able = ", ".join(name for name, one in METHODS.items() if one.warm)
        raise InputError(f"method {method.name} cannot start from a route; use {able}", field="initial")
    stops = indices_of(problem, initial, "initial")
    for stop in stops:
        if not 0 <= stop < problem.size or stops.count(stop) > 1:
            wrong = "is given twice" if 0 <= stop < problem.size else "does not exist"
            raise InputError(f"region {stop} {wrong}; name each region at most once", field="initial", value=stop)
    started = problem.from_depot(np.array(stops, dtype=np.int64))
    return partial(method.solve, initial=complete(objective, started))


def _shorten_ties(
    problem: Problem, objective: Objective, order: IntArray, budget: Budget, params: SolverParams
) -> IntArray:
    """Shorten the part of a route whose scores do not count, if travel is worth nothing."""
    counted = np.flatnonzero(objective.weights_of(order) * objective.scores.max() > TIED * abs(objective(order)))
    many = int(counted[0]) + 1 if len(counted) else objective.size
    ways = objective_of(problem.replace(travel_rate=1.0))
    part = order[:many]
    ends = replace(problem.ends, last=int(part[-1])) if many == objective.size else Ends(int(part[0]), int(part[-1]))
    if many < 4:
        return order
    number = np.zeros(objective.size, dtype=np.int64)
    number[part] = np.arange(many)
    nothing = np.zeros(many)
    alone = Weighted(ways.travel.of(part), nothing, nothing, 0.0, ends.renumber(number))
    rng, start = np.random.default_rng(0), np.arange(many)
    found = iterated_local_search(alone, rng, budget.for_one_job(), initial=start, params=params)
    shorter = np.concatenate([part[found], order[many:]])
    return (
        shorter
        if objective(shorter) <= objective(order) and ways.legs(shorter).sum() < ways.legs(order).sum()
        else order
    )


def evaluate(
    problem: Problem, route: Sequence[Any], time_limit: float | None = None, progress: Progress | None = None,
    models: Sequence[int] | None = None,
) -> Plan:  # fmt: skip
    """Evaluate a given route: its loss, and how far that can be above the optimum.

    Parameters
    ----------
    problem
        The problem that the route is for.
    route
        Names or indices of the regions in order of visit; for several vehicles, one list per vehicle.
    models
        For one vehicle with several models, the number of the model that each visit trains, from 0.
    time_limit
        Time limit in seconds. When it is reached, the best λ (if it is to be chosen) and the best lower bound so far
        are used.
    progress
        As for `plan`.

    Returns
    -------
    Plan
        A plan as returned by `plan`, with the method `given`.

    Raises
    ------
    InputError
        If the route misses a region that it must visit, or violates a constraint of the problem.
    """
    check_type("problem", problem, Problem)
    return evaluate_within(problem, route, Budget.of(time_limit, progress), models)


def evaluate_within(
    problem: Problem, route: Sequence[Any], budget: Budget, models: Sequence[int] | None = None
) -> Plan:
    """Evaluate a given route within a budget; see `evaluate`."""
    started = time.monotonic()
    visits: Key
    if problem.fleet_rules is not None:
        visits = fleet_routes_of(problem, route, models)
    else:
        order = as_order(problem, indices_of(problem, route))
        problem.constraints.check([problem.regions[i] for i in order])
        visits = tuple(order.tolist())
    if problem.learner.undecided:
        kind = str(problem.learner.training["regularization"])
        found = tune_for(problem, visits, kind, budget.part(TUNING_SHARE))
        decided = problem.with_regularization(found.regularization)
        made = _choice_note(_assess_given(decided, visits, GIVEN, GIVEN, 0, budget), problem, found)
    else:
        made = _assess_given(problem, visits, GIVEN, GIVEN, 0, budget)
    return replace(made, seconds=time.monotonic() - started)


def _assess_given(
    problem: Problem, visits: Key, method: str, requested: str, seed: int, budget: Budget,
    params: SolverParams = DEFAULTS,
) -> Plan:  # fmt: skip
    """Compute a lower bound for given visits, and recompute every claim."""
    if isinstance(visits, FleetRoutes):
        routes = Answer.of_fleet(visits, method, complete=False)
        return _assess_fleet(problem, fleet_objective_of(problem), routes, requested, seed, budget)
    order = np.array(visits, dtype=np.int64)
    if problem.rules is not None:
        answer = Answer(order, method, complete=False)
        return _assess_visits(problem, visit_objective_of(problem), answer, requested, seed, budget, params)
    answer = Answer(problem.from_depot(order), method, complete=False)
    certificate = lower_bound(objective_of(problem), answer.order, budget, params)
    return assess(problem, answer, certificate, requested, seed, budget)


def assess(
    problem: Problem, answer: Answer, certificate: Certificate | None, requested: str, seed: int, budget: Budget
) -> Plan:  # fmt: skip
    """Recompute every claim about an answer from the problem itself.

    The budget is for the guarantee alone, because checking whether travel is a metric may take long.
    """
    priced = Plan.of(problem, answer.routes or problem.regions_of(answer.order))
    loss, bound = priced.loss, -math.inf if certificate is None else certificate.bound / problem.size
    optimal = answer.optimal or loss.total - OPTIMALITY * abs(loss.total) + _rounding(loss, problem) <= bound
    return replace(
        priced,
        lower_bound=loss.total if optimal else None if math.isinf(bound) else min(bound, loss.total),
        optimal=optimal,
        guarantee=_guarantee(problem, answer, budget),
        method=answer.method,
        requested=requested,
        seed=seed,
        notes=(
            *answer.notes,
            *_tie_note(problem, answer),
            *_bound_note(problem, priced.loss_at_most),
            *travel_note(problem, loss),
            *initial_model_note(problem, priced.order),
            *impossible_error_notes(problem, priced),
            *law_note(problem),
            *visits_notes(problem, priced, optimal),
            *fleet_notes(problem),
        ),
        certificate=certificate,
    )


def _rounding(loss: Loss, problem: Problem) -> float:
    """Return a bound on the rounding error of a loss whose parts cancel; 0 if all parts have the same sign."""
    sizes = math.fsum(map(abs, (loss.travel, loss.dissimilarity, loss.initial, loss.noise, loss.pairs)))
    return 0.0 if sizes == abs(loss.total) else margin(16 * problem.size, sizes)


def _bound_note(problem: Problem, most: float | None) -> tuple[str, ...]:
    """Explain in a note what upper bounds on dissimilarities mean for a regularised learner."""
    if not problem.updates.coupled or problem.dissimilarity_kind != UPPER:
        return ()
    said = "with a regularised learner, upper bounds on the dissimilarities do not give an upper bound on the loss; "
    if most is None:
        return (f"{said}provide dissimilarity_low to get one",)
    return (f"{said}with dissimilarity_low, the loss is at most {most:.6g}",)


def _guarantee(problem: Problem, answer: Answer, budget: Budget) -> Guarantee:
    def stop() -> bool:
        return problem.size > CHECKED_AT_ONCE and budget.exhausted

    if answer.optimal:
        return Guarantee(1.0, "optimal (proved)")
    if answer.basis == "algorithm1":
        found = guarantee_of_algorithm1(problem, stop=stop)
        return replace(found, reason=f"no worse than Algorithm 1; {found.reason}")
    if answer.method != "algorithm1":
        return Guarantee(None, f"method {answer.method} has no guarantee")
    if not answer.complete:
        return Guarantee(None, "Algorithm 1 was stopped before its end")
    return guarantee_of_algorithm1(problem, stop=stop)


def _tie_note(problem: Problem, answer: Answer) -> tuple[str, ...]:
    """Return a note on which of several equally good last regions Algorithm 1 chose."""
    if answer.method != "algorithm1" or problem.ends.last is not None:
        return ()
    objective = objective_of(problem)
    tied = np.flatnonzero(objective.ranks == objective.ranks[objective.best_last])
    tied = tied[tied != problem.ends.first]
    if len(tied) == 1:
        return ()
    last = int(answer.order[-1])
    others = ", ".join(problem.regions[i] for i in tied[tied != last][:3]) + (", …" if len(tied) > 4 else "")
    return (f"ends at {problem.regions[last]}, one of {len(tied)} regions with the least score (also {others})",)
