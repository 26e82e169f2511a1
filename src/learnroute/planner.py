"""Planning from start to end: problem -> instance -> λ, if it is to be chosen -> answer -> plan."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from learnroute.errors import InputError, check_type
from learnroute.guarantees import guarantee_of_algorithm1
from learnroute.model.certificates import Certificate
from learnroute.model.given_routes import check_routes, indices_of, routes_of
from learnroute.model.notes import (
    fleet_notes,
    impossible_error_notes,
    initial_model_note,
    law_note,
    travel_note,
    visits_notes,
)
from learnroute.model.problem import UPPER, Problem
from learnroute.model.result import Guarantee, Plan
from learnroute.model.rounding import OPTIMALITY, margin
from learnroute.model.routes import Routes
from learnroute.model.validation import as_count
from learnroute.model.value import Loss
from learnroute.solvers.contract import Answer, Budget, Progress
from learnroute.solvers.methods import BOUNDS, METHODS, Method, method_by_name
from learnroute.solvers.params import DEFAULTS, SolverParams, check_params
from learnroute.solvers.solve import climb, solve
from learnroute.solvers.tours import GIVEN
from learnroute.tuning import Tuned, range_note, route_finder, starting_routes, tune, tune_for

NO_BOUND = (
    "optional visits with a regularised learner have a known lower bound only if dissimilarities are squared distances"
)
NO_FLEET_BOUND = "no lower bound is known for these routes"
CHECKING = 5e-10  # seconds that the check of the triangle inequality takes, times T³ ...
CHECKED_AT_ONCE = 300  # ... and the number of regions up to which that time is negligible
TUNING_SHARE = 0.7  # share of the time for choosing λ; the rest is for the final plan and its bound


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
    if params is not DEFAULTS:
        check_params(params)
    chosen = method_by_name(method)
    seed = as_count("seed", seed, least=0, meaning="the seed")
    if as_count("threads", threads, least=1, meaning="the number of threads") > 1:
        params = params._replace(search=params.search._replace(threads=threads, rounds_at_once=threads))
    budget = Budget.of(time_limit, progress, stop, spend_all=True)
    return plan_within(problem, chosen, seed, budget, params, initial)


def plan_within(
    problem: Problem, method: Method, seed: int, budget: Budget, params: SolverParams = DEFAULTS,
    initial: Sequence[str | int] | Routes | None = None, bound: Certificate | None = None,
) -> Plan:  # fmt: skip
    """Choose the routes, and the regularisation if it is undecided. A given lower bound is not computed again."""
    started = time.monotonic()
    start = initial if initial is None else _as_start(problem, method, initial)
    found, undecided = None, problem
    if problem.learner.undecided:
        part = budget.part(TUNING_SHARE)
        starts = starting_routes(problem, seed, part, params) if method.warm else None
        found = tune(problem, route_finder(problem, method, seed, budget, params), part, starts)
        decided = problem.with_regularization(found.regularization)
        if start is None and not budget.has_seconds(found.seconds):
            answer = Answer(found.routes, "search" if method.warm else method.name, complete=False)
            answer = bound_of(decided, answer, budget, params, seed)
            return _finish(assess(decided, answer, method.name, seed, budget), started, problem, found)
        problem = decided
    left = _reserve_metric_check(problem, budget)
    start = start or (found.routes if found is not None and method.warm else None)
    rng = np.random.default_rng(seed)
    answer = solve(problem.instance, method, rng, left, params, start, bounds=bound is None)
    answer = replace(answer, certificate=answer.certificate or bound)
    return _finish(assess(problem, answer, method.name, seed, budget), started, undecided, found)


def _as_start(problem: Problem, method: Method, initial: Sequence[str | int] | Routes) -> Routes:
    """Return given routes to start from, which may violate the problem's rules; complete an order of all regions."""
    if not method.warm:
        able = ", ".join(name for name, one in METHODS.items() if one.warm)
        raise InputError(f"method {method.name} cannot start from a route; use {able}", field="initial")
    if isinstance(initial, Routes):
        return initial
    visits, rules = indices_of(problem, initial, "initial"), problem.fleet_rules
    for stop in visits:
        if not 0 <= stop < problem.size or (problem.visits_all_once and visits.count(stop) > 1):
            wrong = "is given twice" if 0 <= stop < problem.size else "does not exist"
            raise InputError(f"region {stop} {wrong}; name each region at most once", field="initial", value=stop)
    if rules.vehicles > 1:
        return Routes.of_vehicles([visits, *[[]] * (rules.vehicles - 1)])
    routes = Routes.of_models(visits, [0] * len(visits))
    instance = problem.decided.instance
    return instance.orders.complete(routes) if instance.permutation else routes


def _reserve_metric_check(problem: Problem, budget: Budget) -> Budget:
    """Return a budget that leaves time for checking the triangle inequality if that takes at most a tenth of it."""
    left, check = budget.seconds_left, CHECKING * problem.size**3
    if left is None or problem.ways.is_metric or check > 0.1 * left or not problem.instance.permutation:
        return budget
    return replace(budget, deadline=budget.deadline - check)


def _finish(made: Plan, started: float, problem: Problem, found: Tuned | None) -> Plan:
    """Add the time, and how the regularisation of a problem was chosen, with a note if it is at an end of its range."""
    made = replace(made, seconds=time.monotonic() - started)
    if found is None:
        return made
    return replace(
        made,
        notes=(*made.notes, *range_note(found.regularization)),
        chosen=str(problem.learner.training["regularization"]),
        regularization_range=(found.low, found.high),
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
    started, undecided, found = time.monotonic(), problem, None
    routes = routes_of(problem, route, models)
    check_routes(problem.decided, routes)
    if problem.learner.undecided:
        kind = str(problem.learner.training["regularization"])
        found = tune_for(problem, routes, kind, budget.part(TUNING_SHARE))
        problem = problem.with_regularization(found.regularization)
    answer = bound_of(problem, Answer(routes, GIVEN, complete=False), budget)
    return _finish(assess(problem, answer, GIVEN, 0, budget), started, undecided, found)


def bound_of(
    problem: Problem, answer: Answer, budget: Budget, params: SolverParams = DEFAULTS, seed: int = 0
) -> Answer:
    """Return an answer with a lower bound, unless it has one or is optimal."""
    instance = problem.instance
    rungs = (rung for rung in BOUNDS if rung.supports(instance, params))
    return climb(instance, rungs, answer, np.random.default_rng(seed), budget, params)


def assess(problem: Problem, answer: Answer, requested: str, seed: int, budget: Budget) -> Plan:
    """Recompute every claim about an answer from the problem itself.

    The budget is for the guarantee alone, because checking whether travel is a metric may take long.
    """
    certificate = answer.certificate
    priced = Plan.of(problem, answer.routes)
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
            *_no_bound_note(problem, answer),
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


def _no_bound_note(problem: Problem, answer: Answer) -> tuple[str, ...]:
    """Note that no lower bound is known, if so."""
    if answer.optimal or answer.certificate is not None or problem.instance.permutation:
        return ()
    return (NO_BOUND if problem.instance.single else NO_FLEET_BOUND,)


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
    objective = problem.instance.orders.typical
    tied = np.flatnonzero(objective.ranks == objective.ranks[objective.best_last])
    tied = tied[tied != problem.ends.first]
    if len(tied) == 1:
        return ()
    last = answer.routes.regions[-1]
    others = ", ".join(problem.regions[i] for i in tied[tied != last][:3]) + (", …" if len(tied) > 4 else "")
    return (f"ends at {problem.regions[last]}, one of {len(tied)} regions with the least score (also {others})",)
