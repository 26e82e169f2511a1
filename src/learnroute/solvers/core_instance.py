"""An instance for the compiled core: one stop as the origin of routes."""

from __future__ import annotations

import numpy as np

from learnroute import _core
from learnroute.errors import InputError
from learnroute.model.instance import Instance
from learnroute.model.rounding import SAME
from learnroute.model.routes import Routes
from learnroute.model.rules import VisitRules
from learnroute.model.validation import IntArray

Rows = tuple[list[list[int]], list[list[int]]]


def longest_route(rules: VisitRules) -> int:
    """Return the maximum number of visits of all routes together."""
    return min(rules.at_most, int(rules.repeats.sum()))


class CoreInstance:
    """The core's instance and the numbers of its regions.

    With one model, regions that may not be visited are omitted. Routes within the core's limits satisfy the rules up to
    rounding, and all that satisfy them exactly are within the core's limits.
    """

    def __init__(self, instance: Instance, everything: bool = False) -> None:
        """Compile an instance; with `everything`, regions that may not be visited are kept in any case."""
        rules, ends, first = instance.visits, instance.ends, instance.first
        kept = everything or not instance.single
        self.regions: IntArray = np.arange(instance.size) if kept else rules.regions
        self.size = len(self.regions)
        self._number = np.full(instance.size, -1)
        self._number[self.regions] = np.arange(self.size)
        fixed = [-1 if end is None else int(self._number[end]) for end in (first, ends.last)]
        for name, end in (("start", first), ("end", ends.last)):
            if end is not None and not rules.allowed[end]:
                raise InputError(f"region {end} may not be visited", field=f"constraints.{name}")
        costs, travel = instance.travel.matrix, np.zeros((self.size + 1, self.size + 1))
        travel[:-1, :-1] = costs[np.ix_(self.regions, self.regions)]
        begin = first if instance.origin is None else instance.origin
        if instance.origin is not None:
            travel[-1, :-1] = costs[instance.origin, self.regions]
        if ends.closed and begin is not None:
            travel[:-1, -1] = costs[self.regions, begin]
        elif ends.closed and ends.last is not None:
            travel[-1, :-1] = costs[ends.last, self.regions]
        self.travel = travel
        self.required = rules.required[self.regions]
        self.at_most = longest_route(rules)
        self.repeats = np.minimum(rules.repeats[self.regions], self.at_most)
        self.cyclic = ends.closed and begin is None and ends.last is None
        self.first, self.last = fixed
        numbers = np.arange(self.size)
        self.may_begin = (numbers == self.first) | (self.first < 0)
        self.may_end = (numbers == self.last) | (self.last < 0)
        tables = instance.updates.compact(self.regions, self.at_most)
        self.tables = [np.broadcast_to(table, (len(table), self.size)) for table in tables]
        known = instance.known.of(self.regions)
        self.scores, self.initial = known.scores, known.initial
        needed = instance.updates.coupled or kept
        apart = known.matrix if needed else np.zeros((self.size, self.size))
        retention, plasticity, coupling, second, noise = tables
        fleet = instance.fleet
        self.core = _core.Instance(
            travel, instance.rate, retention, plasticity, coupling, second, noise, np.ascontiguousarray(apart),
            self.initial, self.scores, instance.total, instance.size, self.required, self.repeats,
            rules.at_least, self.at_most, rules.budget * (1 + SAME / 2), self.first, self.last, self.cyclic,
            importance=np.ascontiguousarray(known.region_weights), vehicles=fleet.vehicles, models=fleet.size,
            merged=fleet.merged, equal=fleet.equal, longest=fleet.longest, limit=fleet.limit * (1 + SAME / 2),
        )  # fmt: skip

    def nearest(self, most: int) -> IntArray:
        """Return up to `most` nearest regions for each region, nearest first."""
        count = min(most, self.size - 1)
        return self.core.nearest(count) if count else np.empty((self.size, 0), dtype=np.int64)

    def numbers(self, regions: IntArray) -> IntArray:
        """Return the core's numbers of regions that may be visited."""
        return np.asarray(self._number[regions])

    def rows(self, routes: Routes) -> Rows:
        """Return the visits and their models by vehicle, in the core's numbers."""
        return [self._number[list(route)].tolist() for route in routes.vehicles], [list(row) for row in routes.models]

    def routes(self, rows: Rows) -> Routes | None:
        """Return routes that the core found; None if there are none.

        Vehicles and models are numbered by the regions that they start with; unused ones come last.
        """
        regions, models = [self.regions[route].tolist() for route in rows[0]], rows[1]
        if not regions:
            return None
        if len(regions) > 1:
            return Routes.of_vehicles(sorted(regions, key=lambda route: (not route, route[:1])))
        number = {model: k for k, model in enumerate(dict.fromkeys(models[0]))}
        return Routes.of_models(regions[0], [number[model] for model in models[0]])
