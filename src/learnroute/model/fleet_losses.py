"""The loss of the routes of a fleet, and other results of plans with several vehicles or models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.model.fleet_objective import FleetObjective, FleetRoutes, Service
from learnroute.model.law import ModelErrors, follow
from learnroute.model.losses import Loss, indices_of, true_dissimilarities, visit_objective_of
from learnroute.model.problem import Problem
from learnroute.model.rounding import SAME, is_less
from learnroute.model.validation import FloatArray, freeze
from learnroute.model.visits import check_budget, check_visits

MOST_CONTRIBUTIONS = 100  # visits up to which the loss without each of them is computed


def fleet_objective_of(problem: Problem) -> FleetObjective:
    """Return the objective for solvers if there are several vehicles or models."""
    assert problem.fleet_rules is not None
    return FleetObjective(visit_objective_of(problem), problem.fleet_rules)


def expected_fleet_loss(objective: FleetObjective, routes: FleetRoutes, service: Service | None = None) -> Loss:
    """Return the expected loss per region of the routes of a fleet, and its parts; the gain from merging is in `pairs`.

    `service` may be given if it is known.
    """
    found, size = objective.parts(routes, service), objective.size
    parts = {
        "travel": objective.visits.rate * objective.paid_travel(routes) / size,
        "dissimilarity": math.fsum(found.dissimilarity) / size,
        "initial": math.fsum(found.initial) / size,
        "noise": math.fsum(found.noise) / size,
        "pairs": math.fsum(found.pairs) / size,
    }
    return Loss(total=math.fsum(parts.values()), **parts)


def true_fleet_loss(problem: Problem, objective: FleetObjective, routes: FleetRoutes) -> Loss:
    """Return the same loss if the true models are known; models serve the regions as planned."""
    known, planned = true_dissimilarities(problem), objective.service(routes)
    total = math.fsum(known.region_weights * known.initial)
    true = replace(objective, visits=replace(objective.visits, known=known, total=total))
    return expected_fleet_loss(true, routes, true.service(routes, planned))


def fleet_losses_without(objective: FleetObjective, routes: FleetRoutes) -> list[float] | None:
    """Return, for each visit, the total loss without it, with the others unchanged; None if there are too many."""
    if len(routes.regions) > MOST_CONTRIBUTIONS:
        return None
    places = [(vehicle, place) for vehicle, route in enumerate(routes.routes) for place in range(len(route))]
    return [objective(routes.without(*where)) / objective.size for where in places]


def error_histories(problem: Problem, routes: FleetRoutes) -> list[FloatArray]:
    """Return, for each model, its expected error in each region after each of its trainings (row 0: before any)."""
    found, first = [], ModelErrors(problem.initial_errors)
    for regions in routes.trainings(problem.fleet_rules.size if problem.fleet_rules else 1):
        rows = follow(first, regions, problem.updates.along(regions), problem.dissimilarities)
        found.append(freeze(np.array([first.total, *(errors.total for errors in rows)])))
    return found


def fleet_routes_of(problem: Problem, given: Any, models: Sequence[int] | None = None) -> FleetRoutes:
    """Return the routes of a fleet from names or indices: one list per vehicle, or one list for one vehicle."""
    assert problem.fleet_rules is not None
    if problem.fleet_rules.vehicles == 1:
        return as_fleet_routes(problem, [indices_of(problem, given)], models)
    if isinstance(given, str) or not isinstance(given, Sequence) or any(isinstance(one, str | int) for one in given):
        raise InputError("expected a list of region names per vehicle", field="routes", value=given)
    return as_fleet_routes(problem, [indices_of(problem, route, "routes") for route in given])


def as_fleet_routes(
    problem: Problem, routes: Sequence[Sequence[int]], models: Sequence[int] | None = None
) -> FleetRoutes:
    """Return the routes of a fleet from indices; reject those that violate its rules, apart from travel.

    Vehicles that are not mentioned stay unused. `models` is the model that each visit of a single vehicle trains.
    """
    rules = problem.fleet_rules
    assert rules is not None
    if len(routes) > rules.vehicles:
        reason = f"{len(routes)} routes for {rules.vehicles} vehicles; give more vehicles (--vehicles)"
        raise InputError(reason, field="routes")
    flat = [region for route in routes for region in route]
    for region in flat:
        if not 0 <= region < problem.size:
            raise InputError(f"there is no region {region}; indices go from 0 to {problem.size - 1}", field="routes")
    if rules.vehicles > 1:
        found = FleetRoutes.of_vehicles([*routes, *([[]] * (rules.vehicles - len(routes)))])
    else:
        found = FleetRoutes.of_models(flat, as_models(flat, models, rules.models))
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


def check_fleet_travel(problem: Problem, objective: FleetObjective, routes: FleetRoutes) -> None:
    """Reject routes whose travel exceeds its limits by more than rounding."""
    travels = objective.travels(routes)
    check_budget(problem.visit_rules, math.fsum(travels))
    farthest = max(travels)
    if is_less(objective.rules.limit, farthest, SAME):
        reason = f"vehicle {travels.index(farthest) + 1} travels {farthest:.6g}; the limit is {objective.rules.limit:g}"
        raise InputError(f"{reason} (fleet.limit)", field="routes")
