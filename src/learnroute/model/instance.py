"""The problem that solvers see: routes by index and their value, without names, files, regimes or dates.

The value of routes is travel times its rate, plus T times the expected error over all regions, visited or not. Each
model obeys the law of distances (`model.law`) along the visits that train it; the law does not require a permutation.
At the end, the models are averaged, or each region is served by the model with the lowest expected error there. One
vehicle with one model is a fleet of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from learnroute.model.depot import border
from learnroute.model.dissimilarities import Dissimilarities, row_sums
from learnroute.model.ends import Ends
from learnroute.model.law import (
    STAY,
    Distances,
    ErrorParts,
    ModelErrors,
    Step,
    Updates,
    error_parts,
    errors_after,
    products_after,
)
from learnroute.model.merge_weights import merge_weights
from learnroute.model.relaxation import Orders
from learnroute.model.rounding import SAME, is_less
from learnroute.model.routes import UNTRAINED, Routes
from learnroute.model.rules import FleetRules, VisitRules
from learnroute.model.travel import Travel, TravelMatrix
from learnroute.model.validation import FloatArray, IntArray, freeze

DENSE_STOPS = 3000  # stops up to which a matrix of travel costs is built for a search


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


class Parts(NamedTuple):
    """The terms of T times an expected final error; `pairs` includes the gain from averaging models."""

    dissimilarity: list[float]
    initial: list[float]
    noise: list[float]
    pairs: list[float]

    def terms(self) -> list[float]:
        """Return all terms, to be summed with a single rounding."""
        return [term for part in self for term in part]

    def add(self, parts: ErrorParts, share: float = 1.0) -> None:
        """Add the terms of one model, multiplied by its share in the average."""
        self.dissimilarity.extend((share * parts.dissimilarity).tolist())
        self.initial.append(share * float(parts.initial))
        self.noise.extend((share * parts.noise).tolist())
        self.pairs.extend((share * parts.pairs).tolist())


@dataclass(frozen=True, eq=False)
class Instance:
    """The value of routes, to be minimised; T times the loss per region. Routes have at least one visit.

    Attributes
    ----------
    travel
        Travel costs between stops: the regions, followed by the origin if there is one.
    rate
        The cost of one unit of travel.
    ends
        Where routes begin and end, by stop, and whether the return trip counts. With an origin, they begin there.
    known
        The dissimilarities, and the errors of the initial model.
    updates
        The effect of training by position (one row per possible visit) and region.
    coupled
        Whether training in one region may change all errors by that region's error, or depend on the position.
    visits, fleet
        Which visits are allowed; vehicles, models and how they serve.
    """

    travel: Travel
    rate: float
    ends: Ends
    known: Dissimilarities
    updates: Updates
    coupled: bool
    visits: VisitRules
    fleet: FleetRules = FleetRules()  # noqa: RUF009  (immutable)

    # What it is

    @property
    def size(self) -> int:
        """The number of regions T, which is also the sum of their weights."""
        return self.known.size

    @property
    def single(self) -> bool:
        """Whether one model serves all regions."""
        return self.fleet.single

    @property
    def permutation(self) -> bool:
        """Whether one vehicle with one model visits each allowed region exactly once, however far it travels."""
        return self.single and self.visits.each_once

    @property
    def dense(self) -> bool:
        """Whether the matrix of travel costs exists or is small enough to be built at once."""
        return self.travel.has_matrix or self.travel.size <= DENSE_STOPS

    @cached_property
    def steady(self) -> bool:
        """Whether training has the same effect at every position."""
        return self.updates.same_positions

    @cached_property
    def separable(self) -> bool:
        """Whether the cost of a visit depends only on the visits that follow, and no term of a value is negative."""
        retention, plasticity, _, second, noise = (float(table.min()) for table in self.updates.tables)
        least = min(retention, plasticity, second, noise, float(self.known.scores.min()), self.total)
        return self.single and self.steady and not self.updates.coupled and least >= 0

    @cached_property
    def total(self) -> float:
        """The weighted sum of the initial model's errors over all regions."""
        return math.fsum(self.known.region_weights * self.known.initial)

    @property
    def origin(self) -> int | None:
        """The stop where routes begin without training, such as a depot; None if they begin with a visit."""
        return self.size if self.ends.first == self.size else None

    @property
    def first(self) -> int | None:
        """The region with which every route begins; None if it is free, as it is with an origin."""
        return self.ends.first if self.origin is None else None

    @cached_property
    def orders(self) -> Orders:
        """The linear objectives of the orders of stops, if each region is visited once (`permutation`)."""
        return Orders(
            self.travel, self.rate, self.ends, self.known, self.updates, self.total, self.visits.regions, self.coupled
        )

    # The value of routes

    def __call__(self, routes: Routes) -> float:
        """Return the value of routes."""
        return math.fsum(self._terms(routes))

    def magnitude(self, routes: Routes) -> float:
        """Return the sum of the absolute values of all terms of a value: the scale of its rounding error."""
        return math.fsum(map(abs, self._terms(routes)))

    def _terms(self, routes: Routes) -> list[float]:
        return [self.rate * self.paid_travel(routes), *self.parts(routes).terms()]

    def legs(self, route: ArrayLike) -> FloatArray:
        """Return the travel from each stop of a route to the next one, from the origin first, the return trip last."""
        stops = np.asarray(route, dtype=np.int64)
        if self.origin is not None:
            stops = np.concatenate([[self.origin], stops])
        return self.travel.legs(stops, self.ends.closed)

    def travels(self, routes: Routes) -> list[float]:
        """Return the travel of each vehicle, in units of travel; 0 for an unused vehicle."""
        return [math.fsum(self.legs(route)) if route else 0.0 for route in routes.vehicles]

    def paid_travel(self, routes: Routes) -> float:
        """Return the travel that counts, in units of travel."""
        travels = self.travels(routes)
        return max(travels) if self.fleet.longest else math.fsum(travels)

    def allows(self, routes: Routes) -> bool:
        """Return whether routes satisfy all rules; travel may exceed its limits by rounding."""
        return self.visits.allow_counts(routes.order) and self.has_ends(routes) and self.is_within(routes)

    def has_ends(self, routes: Routes) -> bool:
        """Return whether routes begin and end where they must."""
        ends = [(route[0], route[-1]) for route in routes.vehicles if route]
        return all(self.first in (None, first) and self.ends.last in (None, last) for first, last in ends)

    def is_within(self, routes: Routes) -> bool:
        """Return whether travel exceeds its limits by rounding at most."""
        if math.isinf(self.visits.budget) and math.isinf(self.fleet.limit):
            return True
        travels = self.travels(routes)
        return not is_less(self.visits.budget, math.fsum(travels), SAME) and not is_less(
            self.fleet.limit, max(travels), SAME
        )

    def service(self, routes: Routes, planned: Service | None = None) -> Service:
        """Return which model serves each region, and the expected errors, with the best or the planned assignment."""
        trainings = routes.trainings(self.fleet.size)
        if self.single:
            return Service(self._errors(trainings[0]), weights=np.ones(1), between=np.zeros((1, 1)))
        return self._serve_merged(trainings, planned) if self.fleet.merged else self._serve_own(trainings, planned)

    def _serve_own(self, trainings: Sequence[Sequence[int]], planned: Service | None) -> Service:
        rows = np.array([self.known.initial, *map(self._errors, trainings)])
        if planned is None:
            served = np.argmin(rows, axis=0)
        else:
            assert planned.served_by is not None
            served = planned.served_by - UNTRAINED
        return Service(freeze(rows[served, np.arange(self.size)]), served_by=freeze(served + UNTRAINED))

    def _errors(self, regions: Sequence[int]) -> FloatArray:
        """Return the expected errors of a model trained in these regions, in order."""
        return errors_after(self.known, regions, self.updates.along(regions)).total

    def _serve_merged(self, trainings: Sequence[Sequence[int]], planned: Service | None) -> Service:
        distances = Distances(self.known.matrix, self.known.initial, len(trainings))
        for model, regions in enumerate(trainings):
            for region, step in zip(regions, self.updates.along(regions), strict=True):
                distances.train(model, region, step)
        trained = np.array([bool(regions) for regions in trainings])
        if planned is not None:
            assert planned.weights is not None
            weights = planned.weights
        elif self.fleet.equal:
            weights = trained / max(1, int(trained.sum())) if trained.any() else np.eye(len(trainings))[0]
        else:
            some = np.flatnonzero(trained | (np.cumsum(~trained) == 1))  # untrained models are all alike
            means = distances.to_regions[some] @ self.known.region_weights
            weights = np.zeros(len(trainings))
            weights[some] = merge_weights(means, self.size * distances.between[np.ix_(some, some)])
        return Service(freeze(distances.merge(weights)), weights=freeze(weights), between=freeze(distances.between))

    def parts(self, routes: Routes, service: Service | None = None) -> Parts:
        """Return the terms of the expected error; `service` may be given if it is known."""
        found, trainings = Parts([], [], [], []), routes.trainings(self.fleet.size)
        known, size = self.known, self.size
        if self.single:
            self._add(found, trainings[0], known, self.total, size)
            return found
        service = service or self.service(routes)
        if service.weights is not None:
            assert service.between is not None
            for share, regions in zip(service.weights.tolist(), trainings, strict=True):
                self._add(found, regions, known, self.total, size, share)
            gains = -0.5 * size * service.weights[:, None] * service.weights * service.between
            found.pairs.extend(gains[gains != 0].tolist())
            return found
        assert service.served_by is not None
        for model, regions in enumerate([[], *trainings], UNTRAINED):
            mine = service.served_by == model
            weights = np.where(mine, known.region_weights, 0.0)
            scores = np.zeros(size)  # scores of other regions are not used
            scores[regions] = row_sums(known.matrix[np.ix_(regions, mine)], weights[mine])
            served = Dissimilarities(known.matrix, None, known.initial, scores, weights)
            self._add(found, regions, served, math.fsum(weights * known.initial), math.fsum(weights))
        return found

    def _add(
        self, found: Parts, regions: Sequence[int], known: Dissimilarities, total: float, count: float,
        share: float = 1.0,
    ) -> None:  # fmt: skip
        """Add the terms of one model, multiplied by its share in the average."""
        if not regions:
            found.initial.append(share * total)
            return
        order = np.asarray(regions, dtype=np.int64)
        found.add(error_parts(known, order, self.updates.along(order), total, count), share)

    def shares(self, regions: Sequence[int] | IntArray) -> FloatArray:
        """Return the share of each training of one model in its final state."""
        along = self.updates.along(regions)
        return freeze(products_after(along.retention) * along.plasticity)

    def single_visits(self) -> FloatArray:
        """Return the value of a single visit, for each region."""
        regions, first = np.arange(self.size), Step(*(table[0] for table in self.updates.tables))
        error = first.retention * self.total + first.plasticity * self.known.scores
        error += self.size * (first.noise - first.coupling * self.known.initial)
        begin = regions if self.origin is None else np.full(self.size, self.origin)
        travel = self.travel.between(begin, regions)
        if self.ends.closed:
            travel = travel + self.travel.between(regions, begin)
        return np.asarray(error + self.rate * travel)

    # Variants

    def knowing(self, known: Dissimilarities) -> Self:
        """Return the same instance with other dissimilarities."""
        return replace(self, known=known)

    def travel_alone(self, longest: bool = False) -> Self:
        """Return the same instance with travel (total or of the longest route) as the only cost, without limits."""
        shape = self.updates.retention.shape
        updates = Updates(*(np.broadcast_to(number, shape) for number in STAY))
        visits, fleet = replace(self.visits, budget=math.inf), replace(self.fleet, limit=math.inf, longest=longest)
        known = self.known.with_initial(np.zeros(self.size))
        return replace(self, rate=1.0, updates=updates, coupled=False, visits=visits, fleet=fleet, known=known)

    def error_alone(self) -> Self:
        """Return the same instance without travel costs."""
        return replace(self, travel=TravelMatrix(np.zeros((self.travel.size, self.travel.size))))

    def without_idle(self) -> Self:
        """Return the same instance without the vehicles or models for which no visits are left.

        One of them is kept, because an untrained model may have a weight in the average.
        """
        most, fleet = max(2, self.visits.at_most + 1), self.fleet
        if fleet.size <= most:
            return self
        return replace(self, fleet=replace(fleet, vehicles=min(fleet.vehicles, most), models=min(fleet.models, most)))

    def after(self, visited: Sequence[int], errors: ModelErrors) -> Self:
        """Return the rest of a journey of one vehicle with one model, whose current model has these errors.

        Past visits count in all rules, and their travel counts in the budget. The origin is the agent's current place;
        a return to it stands for a return to the depot or to the first region.
        """
        if not visited:
            return self
        visits, size, many = self.visits, self.size, len(visited)
        counts = np.bincount(visited, minlength=size)
        home = visited[0] if self.origin is None else self.origin
        ways = self.travel.matrix
        costs = border(ways[:size, :size], ways[visited[-1], :size], ways[:size, home])
        legs = self.legs(visited)
        travelled = math.fsum(legs[:-1] if self.ends.closed else legs)
        left = VisitRules(
            freeze(visits.required & (counts == 0)), freeze(np.maximum(visits.repeats - counts, 0)),
            visits.at_most - many, max(0.0, visits.budget - travelled), max(1, visits.at_least - many),
        )  # fmt: skip
        last = self.ends.last if self.ends.last is not None and left.repeats[self.ends.last] > 0 else None
        retention, plasticity, coupling, second, noise = (table[many:] for table in self.updates.tables)
        initial = errors.total
        if not np.allclose(second, retention - coupling, rtol=1e-9, atol=0.0):  # else it decays like the others
            initial, noise = errors.own, np.vstack([noise[:1] + second[:1] * errors.common, noise[1:]])
        updates = Updates(*map(freeze, (retention, plasticity, coupling, second, noise)))
        return replace(
            self, travel=TravelMatrix(freeze(costs)), ends=Ends(size, last, self.ends.closed), updates=updates,
            known=self.known.with_initial(initial), visits=left,
        )  # fmt: skip
