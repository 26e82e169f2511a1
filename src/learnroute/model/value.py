"""The value of routes for a problem: losses, errors and travel; and the checks of given routes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from learnroute.errors import InputError
from learnroute.model.instance import UNTRAINED, Instance, Service
from learnroute.model.law import ModelErrors, follow
from learnroute.model.losses import (
    Loss,
    as_order,
    final_errors,
    indices_of,
    largest_loss,
    losses_without,
    true_dissimilarities,
    visited_then_skipped,
)
from learnroute.model.problem import Problem
from learnroute.model.rounding import SAME, is_less
from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray, freeze
from learnroute.model.visits import check_budget, check_visits

MOST_CONTRIBUTIONS = 100  # visits of a fleet up to which the loss without each of them is computed
MOST_ERRORS = 10_000  # regions up to which a value has the expected error of each region


class Value(NamedTuple):
    """The losses and other members of `Plan` that follow from routes.

    Attributes
    ----------
    loss, true_loss
        The expected loss, and the same with the true models, if they are known.
    travel_cost, travels
        The travel that counts, in units of travel, and the travel of each vehicle.
    expected_errors
        The expected error in each region, in the order of first visits, followed by the skipped regions; None above
        10,000 regions.
    loss_at_most
        The largest total loss with dissimilarities between their bounds; None if unknown.
    contributions
        The total loss without each visit, if visits are optional; None if unknown.
    weights, served_by
        How models serve, if there are several: the weights of their average, or the number of a model by region.
    """

    loss: Loss
    true_loss: Loss | None
    travel_cost: float
    travels: tuple[float, ...]
    expected_errors: tuple[float, ...] | None
    loss_at_most: float | None
    contributions: tuple[float, ...] | None
    weights: tuple[float, ...] | None
    served_by: dict[str, int | None] | None


def value_of(problem: Problem, routes: Routes) -> Value:
    """Return all that follows from routes; reject routes that violate the problem's rules."""
    check_routes(problem, routes)
    instance, few = problem.instance, problem.size <= MOST_ERRORS
    service = None if instance.single else instance.service(routes)
    loss = loss_of(instance, routes, service)
    if service is None:
        order = routes.order
        errors = final_errors(problem, order, loss.error) if few else None
        without = losses_without(problem, order) if few and not problem.visits_all_once else None
        return Value(
            loss, _true_loss(problem, routes), instance.paid_travel(routes), tuple(instance.travels(routes)),
            None if errors is None else tuple(errors.tolist()), largest_loss(problem, order),
            None if without is None else tuple(without.tolist()), None, None,
        )  # fmt: skip
    served = service.served_by
    return Value(
        loss=loss,
        true_loss=_true_loss(problem, routes, service),
        travel_cost=instance.paid_travel(routes),
        travels=tuple(instance.travels(routes)),
        expected_errors=tuple(service.errors[visited_then_skipped(routes.regions, problem.size)].tolist()),
        loss_at_most=None,
        contributions=None if problem.visits_all_once else _losses_without(instance, routes),
        weights=None if service.weights is None else tuple(service.weights.tolist()),
        served_by=None
        if served is None
        else {
            name: None if one == UNTRAINED else one for name, one in zip(problem.regions, served.tolist(), strict=True)
        },
    )


def loss_of(instance: Instance, routes: Routes, service: Service | None = None) -> Loss:
    """Return the expected loss per region of routes, and its parts; the gain from merging is in `pairs`.

    `service` may be given if it is known.
    """
    found, size = instance.parts(routes, service), instance.size
    parts = {"travel": instance.rate * instance.paid_travel(routes) / size}
    parts |= {part: math.fsum(terms) / size for part, terms in found._asdict().items()}
    return Loss(total=math.fsum(parts.values()), **parts)


def _true_loss(problem: Problem, routes: Routes, planned: Service | None = None) -> Loss | None:
    """Return the same loss if the true models are known; models serve the regions as planned."""
    if problem.truth is None:
        return None
    true = problem.instance.knowing(true_dissimilarities(problem))
    return loss_of(true, routes, planned and true.service(routes, planned))


def _losses_without(instance: Instance, routes: Routes) -> tuple[float, ...] | None:
    """Return, for each visit, the total loss without it, with the others unchanged; None if there are too many."""
    if len(routes.regions) > MOST_CONTRIBUTIONS:
        return None
    places = [(vehicle, place) for vehicle, route in enumerate(routes.vehicles) for place in range(len(route))]
    return tuple(instance(routes.without(*where)) / instance.size for where in places)


def error_histories(problem: Problem, routes: Routes) -> list[FloatArray]:
    """Return, for each model, its expected error in each region after each of its trainings (row 0: before any)."""
    found, first = [], ModelErrors(problem.initial_errors)
    for regions in routes.trainings(problem.fleet_rules.size):
        rows = follow(first, regions, problem.updates.along(regions), problem.dissimilarities)
        found.append(freeze(np.array([first.total, *(errors.total for errors in rows)])))
    return found


# Given routes


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
    instance = problem.instance
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
