"""A problem of visits for the compiled core: allowed regions only, and one stop as the origin of routes."""

from __future__ import annotations

import numpy as np

from learnroute import _core
from learnroute.errors import InputError
from learnroute.model.rounding import SAME
from learnroute.model.validation import IntArray
from learnroute.model.visit_objective import VisitObjective, VisitRules


def longest_route(rules: VisitRules) -> int:
    """Return the maximum number of visits of a route."""
    return min(rules.at_most, int(rules.repeats.sum()))


class CoreProblem:
    """The core's problem and the numbers of its regions; regions that may not be visited are omitted, unless asked for.

    Routes within the core's budget satisfy that of the rules up to rounding, and all that satisfy it exactly are
    within the core's budget.
    """

    def __init__(self, objective: VisitObjective, with_forbidden: bool = False) -> None:
        rules, ends, first = objective.rules, objective.ends, objective.first
        self.regions: IntArray = np.flatnonzero(rules.allowed | with_forbidden)
        self.size = len(self.regions)
        self._number = np.full(objective.size, -1)
        self._number[self.regions] = np.arange(self.size)
        fixed = [-1 if end is None else int(self._number[end]) for end in (first, ends.last)]
        for name, end, number in zip(("start", "end"), (first, ends.last), fixed, strict=True):
            if end is not None and number < 0:
                raise InputError(f"region {end} may not be visited", field=f"constraints.{name}")
        travel = np.zeros((self.size + 1, self.size + 1))
        travel[:-1, :-1] = objective.travel[np.ix_(self.regions, self.regions)]
        begin = first if objective.origin is None else objective.origin
        if objective.origin is not None:
            travel[-1, :-1] = objective.travel[objective.origin, self.regions]
        if ends.closed and begin is not None:
            travel[:-1, -1] = objective.travel[self.regions, begin]
        elif ends.closed and ends.last is not None:
            travel[-1, :-1] = objective.travel[ends.last, self.regions]
        self.travel = travel
        self.required = rules.required[self.regions]
        self.at_most = longest_route(rules)
        self.repeats = np.minimum(rules.repeats[self.regions], self.at_most)
        self.cyclic = ends.closed and begin is None and ends.last is None
        self.first, self.last = fixed
        numbers = np.arange(self.size)
        self.may_begin = (numbers == self.first) | (self.first < 0)
        self.may_end = (numbers == self.last) | (self.last < 0)
        tables = objective.updates.compact(self.regions, self.at_most)
        self.tables = [np.broadcast_to(table, (len(table), self.size)) for table in tables]
        self.scores, self.initial = objective.known.scores[self.regions], objective.known.initial[self.regions]
        needed = objective.updates.coupled or with_forbidden
        apart = objective.known.matrix[np.ix_(self.regions, self.regions)] if needed else np.zeros((self.size,) * 2)
        retention, plasticity, coupling, second, noise = tables
        self.core = _core.VisitProblem(
            travel, objective.rate, retention, plasticity, coupling, second, noise, np.ascontiguousarray(apart),
            self.initial, self.scores, objective.total, objective.count, self.required, self.repeats,
            rules.at_least, self.at_most, rules.budget * (1 + SAME / 2), self.first, self.last, self.cyclic,
        )  # fmt: skip

    def nearest(self, most: int) -> IntArray:
        """Return up to `most` nearest regions for each region, nearest first."""
        count = min(most, self.size - 1)
        return self.core.nearest(count) if count else np.empty((self.size, 0), dtype=np.int64)

    def numbers(self, visits: IntArray) -> IntArray:
        """Return the core's numbers of visited regions, without those that may not be visited."""
        found = self._number[visits]
        return np.asarray(found[found >= 0])
