"""Decide whether any routes of a fleet are below a goal: by the floor of the mean model, or by trying all routes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np

from learnroute.model.certificates import Certificate, Simple
from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray
from learnroute.verification import fleet_floor
from learnroute.verification.bounds import Outcome
from learnroute.verification.exact import Interval, as_float
from learnroute.verification.fleet_losses import FleetLosses
from learnroute.verification.fleet_values import FleetValues
from learnroute.verification.visits import ROOM, RouteChecker, compare_totals, violated_rule

MOST_ROUTES = 200_000  # maximum number of routes that are tried
NEAR = 1 + 1e-9  # factor of a limit beyond which travel certainly exceeds it
TOO_MANY = "there are too many routes to try them all"


class FleetChecker(RouteChecker):
    """Checker of whether any routes of a fleet are below a goal (T times a loss)."""

    def __init__(self, losses: FleetLosses, certificate: Certificate | None = None) -> None:
        self.losses, self.problem, self.rules = losses, losses.problem, losses.rules
        self.visits, self.certificate = self.problem.visit_rules, certificate

    def violated_rule(self, routes: Routes) -> str:
        """Return which rule the routes violate, in words; an empty string if they satisfy all."""
        problem = self.problem
        if why := violated_rule(problem, self.visits, routes.regions):
            return why
        for route in filter(None, routes.vehicles):
            for end, wanted in zip((route[0], route[-1]), self._ends, strict=True):
                if wanted not in (None, end):
                    return (
                        f"a route begins or ends at {problem.regions[end]!r}, and must at {problem.regions[wanted]!r}"
                    )
        travels = self.losses.travels(routes)
        if math.isfinite(self.visits.budget) and sum(travels) > Fraction(self.visits.budget) * ROOM:
            return f"routes travel farther than their budget, {self.visits.budget:g}"
        if math.isfinite(self.rules.limit) and max(travels) > Fraction(self.rules.limit) * ROOM:
            return f"vehicle {travels.index(max(travels)) + 1} travels farther than its limit, {self.rules.limit:g}"
        return ""

    @property
    def _ends(self) -> tuple[int | None, int | None]:
        ends = self.problem.ends
        return ends.first if ends.first is not None and ends.first < self.problem.size else None, ends.last

    def _by_certificate(self, goal: Fraction) -> Outcome:
        if not isinstance(self.certificate, Simple) or self._floor is None:
            return Outcome(why=TOO_MANY)
        if self._floor >= goal:
            return Outcome(proved=True)
        return Outcome(follows=self._floor, why="the certificate proves a lower bound only")

    @cached_property
    def _floor(self) -> Fraction | None:
        return fleet_floor.least_total(self.problem, self.rules, self.losses.terms)

    def _by_trying(self, goal: Fraction) -> Outcome | None:
        return None if self._values is None else compare_totals(self._totals_near(goal), goal)

    def _totals_near(self, goal: Fraction) -> Iterator[Interval]:
        """Yield the totals of all routes near the goal or below, in increasing order."""
        assert self._values is not None
        everyone, values, slacks = self._values
        near = np.flatnonzero(~(values - slacks >= as_float(goal)))
        for place in near[np.argsort(values[near], kind="stable")].tolist():
            routes = everyone[place]
            if not self.violated_rule(routes):
                yield self.losses.total(routes, self.losses.best_service(routes))

    @cached_property
    def _values(self) -> tuple[list[Routes], FloatArray, FloatArray] | None:
        """Return all routes, their values and rounding errors; None if there are too many."""
        if self._count() > MOST_ROUTES:
            return None
        values = FleetValues(self.losses)
        with np.errstate(all="ignore"):
            everyone = [routes for routes in self._routes() if self._is_near(list(map(values.travel, routes.vehicles)))]
            found = values.of(everyone)
        return None if found is None else (everyone, *found)

    def _is_near(self, travels: list[float]) -> bool:
        """Whether vehicles may be within their limits, in floats."""
        return sum(travels) <= self.visits.budget * NEAR and max(travels) <= self.rules.limit * NEAR

    def _count(self) -> float:
        """Return an upper bound on the number of routes."""
        visits, total, sequences = self.visits, 0.0, 1.0
        regions, vehicles = int(visits.allowed.sum()), self.rules.vehicles
        ways = [1.0] + [0.0] * self.rules.size  # ways to assign models to visits, by the number of models used
        for length in range(1, visits.at_most + 1):
            sequences *= regions if visits.repeat > 1 else regions - length + 1
            ways = [0.0, *(k * ways[k] + ways[k - 1] for k in range(1, len(ways)))]
            splits = sum(math.comb(length - 1, parts - 1) for parts in range(1, min(length, vehicles) + 1))
            total += sequences * (splits if vehicles > 1 else sum(ways))
            if total > MOST_ROUTES:
                break
        return total

    def _routes(self) -> Iterator[Routes]:
        """Yield all routes, with interchangeable vehicles and models in one order only."""
        vehicles, models = self.rules.vehicles, self.rules.size
        for sequence in self._sequences(()):
            if vehicles == 1:
                for labels in _labels(len(sequence), models):
                    yield Routes.of_models(sequence, labels)
                continue
            for count in range(1, min(vehicles, len(sequence)) + 1):
                for cuts in combinations(range(1, len(sequence)), count - 1):
                    parts = [sequence[a:b] for a, b in pairwise((0, *cuts, len(sequence)))]
                    if parts == sorted(parts):
                        yield Routes.of_vehicles([*parts, *([()] * (vehicles - count))])

    def _sequences(self, begun: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Yield all sequences of visits, vehicle by vehicle, that begin with given ones."""
        visits, (first, last) = self.visits, self._ends
        counts = Counter(begun)
        whole = len(begun) >= visits.at_least and all(counts[k] for k in np.flatnonzero(visits.required).tolist())
        if whole and last in (None, *begun[-1:]):
            yield begun
        if len(begun) < visits.at_most:
            for k in np.flatnonzero(visits.allowed).tolist():
                if counts[k] < visits.repeats[k] and (begun or first in (None, k)):
                    yield from self._sequences((*begun, k))


def _labels(count: int, models: int, begun: Sequence[int] = ()) -> Iterator[tuple[int, ...]]:
    """Yield the models of visits, numbered in the order of their first trainings."""
    if len(begun) == count:
        yield tuple(begun)
        return
    for model in range(min(models, max(begun, default=-1) + 2)):
        yield from _labels(count, models, (*begun, model))
