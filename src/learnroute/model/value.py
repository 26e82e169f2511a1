"""The value of routes for a problem: losses, errors and travel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from learnroute.errors import InputError
from learnroute.model.dissimilarities import Dissimilarities, distance_sums
from learnroute.model.given_routes import check_routes
from learnroute.model.instance import Instance, Service
from learnroute.model.law import ModelErrors, Step, follow, products_after
from learnroute.model.problem import Problem
from learnroute.model.routes import UNTRAINED, Routes
from learnroute.model.validation import FloatArray, IntArray, freeze

MOST_CONTRIBUTIONS = 100  # visits of a fleet up to which the loss without each of them is computed
MOST_ERRORS = 10_000  # regions up to which a value has the expected error of each region


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
    service = instance.service(routes) if few or not instance.single else None
    errors = None if service is None else service.errors[visited_then_skipped(routes.regions, problem.size)]
    served = None if service is None else service.served_by
    weights = None if service is None or instance.single else service.weights
    return Value(
        loss=loss_of(instance, routes, service),
        true_loss=_true_loss(problem, routes, service),
        travel_cost=instance.paid_travel(routes),
        travels=tuple(instance.travels(routes)),
        expected_errors=None if errors is None else tuple(errors.tolist()),
        loss_at_most=largest_loss(problem, routes) if instance.single else None,
        contributions=None if problem.visits_all_once or not few else losses_without(instance, routes),
        weights=None if weights is None else tuple(weights.tolist()),
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


def true_dissimilarities(problem: Problem) -> Dissimilarities:
    """Return the squared distances between the true models, and from each of them to the initial model."""
    if problem.truth is None or problem.initial_model is None:
        raise InputError("missing; the true expected loss needs the true models", field="truth")
    initial = np.array([math.fsum(row) for row in ((problem.truth - problem.initial_model) ** 2).tolist()])
    weights = problem.region_weights
    return Dissimilarities(None, problem.truth, freeze(initial), distance_sums(problem.truth, weights), weights)


def _true_loss(problem: Problem, routes: Routes, planned: Service | None = None) -> Loss | None:
    """Return the same loss if the true models are known; models serve the regions as planned."""
    if problem.truth is None:
        return None
    true = problem.instance.knowing(true_dissimilarities(problem))
    return loss_of(true, routes, planned and true.service(routes, planned))


def untrained_loss(problem: Problem) -> float | None:
    """Return the loss without any visit; None if the errors of the initial model are unknown."""
    known = problem.initial_sum > 0 or bool(problem.updates.retention.any())
    return problem.initial_sum / problem.size if known else None


def largest_loss(problem: Problem, routes: Routes) -> float | None:
    """Return the largest total loss of the route of one model with dissimilarities between their bounds.

    The loss is linear in each dissimilarity. Where the coefficient is negative, the lower bound is used (0
    for dissimilarities to the initial model). Return None if a coefficient is negative and the problem has no lower
    bounds. Unbiased estimates are ignored.
    """
    problem = problem.with_upper_bounds()
    if not problem.updates.coupled:
        return loss_of(problem.instance, routes).total
    if problem.dissimilarity is None or problem.dissimilarity_low is None:
        return None
    upper = loss_of(problem.instance, routes).total
    counts, first = slopes(problem.instance, routes)
    width = problem.dissimilarity - problem.dissimilarity_low
    lowered = np.triu(np.minimum(counts, 0.0) * width, 1)
    return upper - math.fsum([*lowered[lowered < 0], *(np.minimum(first, 0.0) * problem.initial)])


def slopes(instance: Instance, routes: Routes) -> tuple[FloatArray, FloatArray]:
    """Return the slopes of the loss of one model in each Δ[i, j], i ≠ j, and in each Δ_i0; it is linear in all."""
    stops, size, weights = routes.order, instance.size, instance.known.region_weights
    shares = np.zeros(size)
    np.add.at(shares, stops, instance.shares(stops))
    along = instance.updates.along(stops)
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


def losses_without(instance: Instance, routes: Routes) -> tuple[float, ...] | None:
    """Return, for each visit, the total loss without it, with the others unchanged; None if there are too many."""
    if instance.single:
        return tuple(_losses_without(instance, routes.order).tolist())
    if len(routes.regions) > MOST_CONTRIBUTIONS:
        return None
    places = [(vehicle, place) for vehicle, route in enumerate(routes.vehicles) for place in range(len(route))]
    return tuple(instance(routes.without(*where)) / instance.size for where in places)


def _losses_without(instance: Instance, visits: IntArray) -> FloatArray:
    """Return the same for one model: its final mean error is linear in the errors before each visit."""
    known, updates, many, size = instance.known, instance.updates, len(visits), instance.size
    if many == 1:
        return np.array([instance.total / size])
    travel = np.array([math.fsum(instance.legs(np.delete(visits, t))) for t in range(many)])
    first = ModelErrors(known.initial)
    before = [first, *follow(first, visits[:-1].tolist(), updates.along(visits[:-1]), known)]
    # The visits after t move forward by one position
    slopes, slope, constant = known.region_weights / size, 1.0, 0.0
    errors = np.empty(many)
    for t in range(many - 1, -1, -1):
        errors[t] = slopes @ before[t].own + slope * before[t].common + constant
        region = int(visits[t])
        step = Step(*(float(table[t - 1, region]) for table in updates.tables))
        constant += step.plasticity * float(slopes @ known[region]) + slope * step.noise
        slopes = step.retention * slopes
        slopes[region] -= slope * step.coupling
        slope *= step.second
    found: FloatArray = instance.rate * travel / size + errors
    return found


def error_histories(problem: Problem, routes: Routes) -> list[FloatArray]:
    """Return, for each model, its expected error in each region after each of its trainings (row 0: before any)."""
    found, first = [], ModelErrors(problem.initial_errors)
    for regions in routes.trainings(problem.fleet_rules.size):
        rows = follow(first, regions, problem.updates.along(regions), problem.dissimilarities)
        found.append(freeze(np.array([first.total, *(errors.total for errors in rows)])))
    return found


def visited_then_skipped(order: Sequence[int], size: int) -> list[int]:
    """Return all regions once: those of a route in the order of their first visits, then the skipped ones."""
    return list(dict.fromkeys([*order, *range(size)]))
