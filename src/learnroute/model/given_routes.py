"""Routes given by names or indices: as indices, or rejected with the rule that they violate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, did_you_mean
from learnroute.model.problem import Problem
from learnroute.model.rounding import SAME, is_less
from learnroute.model.routes import Routes
from learnroute.model.validation import IntArray, freeze
from learnroute.model.visits import check_budget, check_visits


def routes_of(problem: Problem, given: Any, models: Any = None, field: str = "route") -> Routes:
    """Return routes from names or indices: one list per vehicle, or one list for one vehicle; check them.

    Vehicles that are not mentioned stay unused. `models` is the model that each visit of a single vehicle trains.
    """
    rules = problem.fleet_rules
    if rules.vehicles == 1:
        order = indices_of(problem, given, field)
        if rules.single:
            as_order(problem, order)
            return Routes.of_order(order)
        return as_routes(problem, [order], models)
    if isinstance(given, str) or not isinstance(given, Sequence) or any(isinstance(one, str | int) for one in given):
        raise InputError("expected a list of region names per vehicle", field="routes", value=given)
    return as_routes(problem, [indices_of(problem, route, "routes") for route in given])


def as_routes(problem: Problem, routes: Sequence[Sequence[int]], models: Any = None) -> Routes:
    """Return the routes of a fleet from indices; reject those that violate its rules, apart from ends and travel."""
    rules = problem.fleet_rules
    if len(routes) > rules.vehicles:
        reason = f"{len(routes)} routes for {rules.vehicles} vehicles; give more vehicles (--vehicles)"
        raise InputError(reason, field="routes")
    flat = [region for route in routes for region in route]
    for region in flat:
        if not 0 <= region < problem.size:
            raise InputError(f"there is no region {region}; indices go from 0 to {problem.size - 1}", field="routes")
    if rules.vehicles > 1:
        found = Routes.of_vehicles([*routes, *([[]] * (rules.vehicles - len(routes)))])
    else:
        found = Routes.of_models(flat, as_models(flat, models, rules.models))
    check_visits(problem.visit_rules, flat, problem.regions)
    return found


def as_models(visits: Sequence[int], models: Any, count: int) -> list[int]:
    """Return the validated number of the model that each visit trains."""
    if models is None and count == 1:
        return [0] * len(visits)
    known = isinstance(models, Sequence) and not isinstance(models, str) and len(models) == len(visits)
    if not known or not all(type(one) is int and 0 <= one < count for one in models):
        reason = f"expected one model number (0 … {count - 1}) per visit"
        raise InputError(reason, field="models", value=models)
    return list(models)


def check_routes(problem: Problem, routes: Routes) -> None:
    """Reject routes that violate a rule of the problem."""
    instance = problem.decided.instance
    if instance.allows(routes):
        return
    if instance.single:
        as_order(problem, routes.order)
    else:
        as_routes(problem, routes.vehicles, routes.models[0])
    for route in filter(None, routes.vehicles):
        problem.constraints.check([problem.regions[route[0]], problem.regions[route[-1]]])
    travels = instance.travels(routes)
    check_budget(problem.visit_rules, math.fsum(travels))
    if is_less(instance.fleet.limit, max(travels), SAME):
        farthest = max(travels)
        reason = f"vehicle {travels.index(farthest) + 1} travels {farthest:.6g}; the limit is {instance.fleet.limit:g}"
        raise InputError(f"{reason} (fleet.limit)", field="routes")


def as_order(problem: Problem, order: ArrayLike) -> IntArray:
    """Return the visits of a route as an array of indices; reject forbidden and missing visits.

    Without `visits`, each region is visited once. The travel budget is not checked.
    """
    check_one_model(problem)
    if problem.visits_all_once:
        return as_permutation(order, problem.size, problem.regions)
    stops = _as_indices(order, problem.size)
    check_visits(problem.visit_rules, stops.tolist(), problem.regions)
    return freeze(stops)


def check_one_model(problem: Problem) -> None:
    """Reject a fleet if only one route of one model is supported."""
    if not problem.fleet_rules.single:
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
