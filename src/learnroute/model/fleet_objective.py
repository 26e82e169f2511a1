"""The value of the routes of a fleet: several vehicles with one model each, or one vehicle with several models.

Each model obeys the law of distances (`model.law`) along the visits that train it. At the end, the models are averaged,
or each region is served by the model with the lowest expected error there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from learnroute.model.dissimilarities import Dissimilarities, row_sums
from learnroute.model.law import Distances, ErrorParts, error_parts, errors_after
from learnroute.model.merge_weights import merge_weights
from learnroute.model.rounding import SAME, is_less
from learnroute.model.validation import FloatArray, IntArray, freeze
from learnroute.model.visit_objective import VisitObjective

UNTRAINED = -1  # stands for the initial model, which no visit trains, in place of a model's number


@dataclass(frozen=True)
class FleetRules:
    """The numbers of vehicles and models, how models serve, and which travel counts.

    Attributes
    ----------
    vehicles, models
        Their numbers; one of the two is 1. Each vehicle has its own model.
    merged, equal
        Whether models are averaged at the end, and whether all trained models then have equal weights.
    longest
        Whether the travel of the longest route counts instead of that of all vehicles.
    limit
        The maximum travel of one vehicle, in units of travel; inf if there is no limit.
    """

    vehicles: int
    models: int
    merged: bool
    equal: bool = False
    longest: bool = False
    limit: float = math.inf

    @property
    def size(self) -> int:
        """The number of models."""
        return max(self.vehicles, self.models)


ONE = FleetRules(1, 1, merged=True)  # one vehicle with one model


class FleetRoutes(NamedTuple):
    """The visits of each vehicle in order, by region, and the model that each visit trains."""

    routes: tuple[tuple[int, ...], ...]
    models: tuple[tuple[int, ...], ...]

    @classmethod
    def of_vehicles(cls, routes: Sequence[Sequence[int] | IntArray]) -> Self:
        """Return the routes of several vehicles, each with its own model."""
        kept = tuple(tuple(map(int, route)) for route in routes)
        return cls(kept, tuple((vehicle,) * len(route) for vehicle, route in enumerate(kept)))

    @classmethod
    def of_models(cls, route: Sequence[int] | IntArray, models: Sequence[int] | IntArray) -> Self:
        """Return the route of one vehicle, with the model that each visit trains."""
        return cls((tuple(map(int, route)),), (tuple(map(int, models)),))

    def visits(self) -> Iterator[tuple[int, int, int]]:
        """Yield vehicle, region and model of each visit, one vehicle after another."""
        for vehicle, (route, models) in enumerate(zip(*self, strict=True)):
            for region, model in zip(route, models, strict=True):
                yield vehicle, region, model

    def trainings(self, models: int) -> list[list[int]]:
        """Return, for each model, the regions in which it is trained, in order."""
        found: list[list[int]] = [[] for _ in range(models)]
        for _, region, model in self.visits():
            found[model].append(region)
        return found

    def resize(self, vehicles: int) -> Self:
        """Return the same routes for another number of vehicles, which must suffice; unused ones come last."""
        if len(self.routes) == 1:
            return self
        used = [route for route in self.routes if route]
        return self.of_vehicles([*used, *[()] * (vehicles - len(used))])

    def without(self, vehicle: int, place: int) -> Self:
        """Return the routes without one visit."""
        routes, models = ([list(row) for row in rows] for rows in self)
        del routes[vehicle][place], models[vehicle][place]
        return type(self)(tuple(map(tuple, routes)), tuple(map(tuple, models)))

    @property
    def regions(self) -> list[int]:
        """The regions of all visits, one vehicle after another."""
        return [region for route in self.routes for region in route]


class Service(NamedTuple):
    """Which model serves each region, and how well.

    Attributes
    ----------
    errors
        The expected error in each region.
    weights
        The weight of each model in the average; None if models serve their own regions.
    served_by
        The number of the model that serves each region, or `UNTRAINED`; None if models are averaged.
    between
        The expected squared distances between models; None if models serve their own regions.
    """

    errors: FloatArray
    weights: FloatArray | None = None
    served_by: IntArray | None = None
    between: FloatArray | None = None


class FleetParts(NamedTuple):
    """The terms of T times an expected final error; `pairs` includes the gain from averaging models."""

    dissimilarity: list[float]
    initial: list[float]
    noise: list[float]
    pairs: list[float]

    def terms(self) -> list[float]:
        """Return all terms, to be summed with a single rounding."""
        return [term for part in self for term in part]


@dataclass(frozen=True, eq=False)
class FleetObjective:
    """The value of the routes of a fleet, to be minimised; T times the loss per region.

    Attributes
    ----------
    visits
        Travel, law and rules of visits. Routes begin at its origin, if there is one; its budget limits the total travel
        of all vehicles.
    rules
        Vehicles, models and how they serve.
    """

    visits: VisitObjective
    rules: FleetRules

    @property
    def size(self) -> int:
        """The number of regions T."""
        return self.visits.size

    def without_idle(self) -> Self:
        """Return the same objective without the vehicles or models for which no visits are left.

        One of them is kept, because an untrained model may have a weight in the average.
        """
        most = max(2, self.visits.rules.at_most + 1)
        rules = replace(self.rules, vehicles=min(self.rules.vehicles, most), models=min(self.rules.models, most))
        return replace(self, rules=rules)

    def __call__(self, routes: FleetRoutes) -> float:
        """Return the value of the routes."""
        return math.fsum(self._terms(routes))

    def magnitude(self, routes: FleetRoutes) -> float:
        """Return the sum of the absolute values of all terms of a value: the scale of its rounding error."""
        return math.fsum(map(abs, self._terms(routes)))

    def _terms(self, routes: FleetRoutes) -> list[float]:
        return [self.visits.rate * self.paid_travel(routes), *self.parts(routes).terms()]

    def travels(self, routes: FleetRoutes) -> list[float]:
        """Return the travel of each vehicle, in units of travel; 0 for an unused vehicle."""
        return [self.visits.travel_cost(route) if route else 0.0 for route in routes.routes]

    def paid_travel(self, routes: FleetRoutes) -> float:
        """Return the travel that counts, in units of travel."""
        travels = self.travels(routes)
        return max(travels) if self.rules.longest else math.fsum(travels)

    def allows(self, routes: FleetRoutes) -> bool:
        """Return whether the routes satisfy all rules; travel may exceed its limits by rounding."""
        visits, regions = self.visits, np.array(routes.regions, dtype=np.int64)
        rules, travels = visits.rules, self.travels(routes)
        return bool(
            rules.allow_counts(regions)
            and all(visits.first in (None, route[0]) for route in routes.routes if route)
            and all(visits.ends.last in (None, route[-1]) for route in routes.routes if route)
            and not is_less(rules.budget, math.fsum(travels), SAME)
            and not is_less(self.rules.limit, max(travels), SAME)
        )

    def service(self, routes: FleetRoutes, planned: Service | None = None) -> Service:
        """Return which model serves each region, and the expected errors, with the best or the planned assignment."""
        trainings = routes.trainings(self.rules.size)
        return self._serve_merged(trainings, planned) if self.rules.merged else self._serve_own(trainings, planned)

    def _serve_own(self, trainings: Sequence[Sequence[int]], planned: Service | None) -> Service:
        known = self.visits.known
        rows = np.array([known.initial, *(self._errors(regions) for regions in trainings)])
        if planned is None:
            served = np.argmin(rows, axis=0)
        else:
            assert planned.served_by is not None
            served = planned.served_by - UNTRAINED
        return Service(freeze(rows[served, np.arange(self.size)]), served_by=freeze(served + UNTRAINED))

    def _errors(self, regions: Sequence[int]) -> FloatArray:
        """Return the expected errors of a model trained in these regions, in order."""
        return errors_after(self.visits.known, regions, self.visits.updates.along(regions)).total

    def _serve_merged(self, trainings: Sequence[Sequence[int]], planned: Service | None) -> Service:
        known, updates = self.visits.known, self.visits.updates
        distances = Distances(known.matrix, known.initial, len(trainings))
        for model, regions in enumerate(trainings):
            for region, step in zip(regions, updates.along(regions), strict=True):
                distances.train(model, region, step)
        trained = np.array([bool(regions) for regions in trainings])
        if planned is not None:
            assert planned.weights is not None
            weights = planned.weights
        elif self.rules.equal:
            weights = trained / max(1, int(trained.sum())) if trained.any() else np.eye(len(trainings))[0]
        else:
            some = np.flatnonzero(trained | (np.cumsum(~trained) == 1))  # untrained models are all alike
            means = distances.to_regions[some] @ known.region_weights
            weights = np.zeros(len(trainings))
            weights[some] = merge_weights(means, self.visits.count * distances.between[np.ix_(some, some)])
        return Service(freeze(distances.merge(weights)), weights=freeze(weights), between=freeze(distances.between))

    def parts(self, routes: FleetRoutes, service: Service | None = None) -> FleetParts:
        """Return the terms of the expected error; `service` may be given if it is known."""
        found = FleetParts([], [], [], [])
        known, service = self.visits.known, service or self.service(routes)
        trainings = routes.trainings(self.rules.size)
        if service.weights is not None:
            assert service.between is not None
            for share, regions in zip(service.weights.tolist(), trainings, strict=True):
                self._add(found, regions, known, share, self.visits.total, self.visits.count)
            gains = -0.5 * self.visits.count * service.weights[:, None] * service.weights * service.between
            found.pairs.extend(gains[gains != 0].tolist())
            return found
        assert service.served_by is not None
        for model, regions in enumerate([[], *trainings], UNTRAINED):
            mine = service.served_by == model
            weights = np.where(mine, known.region_weights, 0.0)
            scores = np.zeros(self.size)  # scores of other regions are not used
            scores[regions] = row_sums(known.matrix[np.ix_(regions, mine)], weights[mine])
            served = Dissimilarities(known.matrix, None, known.initial, scores, weights)
            self._add(found, regions, served, 1.0, math.fsum(weights * known.initial), math.fsum(weights))
        return found

    def _add(
        self, found: FleetParts, regions: Sequence[int], known: Dissimilarities, share: float, total: float,
        count: float,
    ) -> None:  # fmt: skip
        """Add the terms of one model, multiplied by its share in the average."""
        if not regions:
            found.initial.append(share * total)
            return
        order = np.asarray(regions, dtype=np.int64)
        parts: ErrorParts = error_parts(known, order, self.visits.updates.along(order), total, count)
        found.dissimilarity.extend((share * parts.dissimilarity).tolist())
        found.initial.append(share * float(parts.initial))
        found.noise.extend((share * parts.noise).tolist())
        found.pairs.extend((share * parts.pairs).tolist())
