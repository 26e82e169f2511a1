"""The objective for optional and repeated visits: the value of a sequence of visits.

The law of distances (`model.law`) holds for any sequence of trainings and does not require a permutation. So the value
is that of an order, with L visits in place of T: travel times its rate, plus the expected error over all regions,
visited or not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from learnroute.model.dissimilarities import Dissimilarities
from learnroute.model.ends import BoolArray, Ends
from learnroute.model.law import ErrorParts, Step, Updates, error_parts
from learnroute.model.rounding import SAME, is_less
from learnroute.model.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class VisitRules:
    """Which regions must, may and must not be visited, and how often.

    Attributes
    ----------
    required
        By region: whether it must be visited.
    repeats
        By region: how often it may be visited; 0 if it must not be visited.
    at_least, at_most
        The minimum and maximum total number of visits.
    budget, budget_field
        The maximum travel of a route, in units of travel, and the field that says so; inf if there is no limit.
    """

    required: BoolArray
    repeats: IntArray
    at_most: int = 1
    budget: float = math.inf
    at_least: int = 1
    budget_field: str = "visits.budget"

    @cached_property
    def allowed(self) -> BoolArray:
        """By region: whether it may be visited."""
        return self.repeats > 0

    @cached_property
    def repeat(self) -> int:
        """The maximum number of visits to any single region."""
        return int(self.repeats.max())

    def allow_counts(self, regions: IntArray) -> bool:
        """Whether the number of visits, and that to each region, satisfies the rules."""
        counts = np.bincount(regions, minlength=len(self.repeats))
        return bool(
            self.at_least <= len(regions) <= self.at_most
            and (counts <= self.repeats).all()
            and counts[self.required].all()
        )


@dataclass(frozen=True, eq=False)
class VisitObjective:
    """The value of a sequence of visits, to be minimised; T times the loss per region.

    A sequence has at least one visit. Two consecutive visits to the same region are two trainings without travel.

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
    total, count
        The weighted sum of the initial model's errors over all regions, and the sum of these weights.
    rules
        Which visits are allowed.
    """

    travel: FloatArray
    rate: float
    ends: Ends
    known: Dissimilarities
    updates: Updates
    total: float
    count: int
    rules: VisitRules

    def __call__(self, visits: ArrayLike) -> float:
        """Return the value of a sequence of visits, correctly rounded."""
        return math.fsum(self._terms(visits))

    def magnitude(self, visits: ArrayLike) -> float:
        """Return the sum of the absolute values of all terms of a value: the scale of its rounding error."""
        return math.fsum(map(abs, self._terms(visits)))

    def _terms(self, visits: ArrayLike) -> list[float]:
        return [*(self.rate * self.legs(visits)), *self.parts(visits).terms()]

    def error(self, visits: ArrayLike) -> float:
        """Return the expected error, times the number of regions."""
        return math.fsum(self.parts(visits).terms())

    def parts(self, visits: ArrayLike) -> ErrorParts:
        """Return the terms of the expected error."""
        regions = _indices(visits)
        return error_parts(self.known, regions, self.updates.along(regions), self.total, self.count)

    def travel_cost(self, visits: ArrayLike) -> float:
        """Return the travel of a route in units of travel, including the trips from and to the origin."""
        return math.fsum(self.legs(visits))

    def legs(self, visits: ArrayLike) -> FloatArray:
        """Return the travel from each stop of a route to the next one."""
        stops = _indices(visits)
        if self.origin is not None:
            stops = np.concatenate([[self.origin], stops])
        if self.ends.closed:
            stops = np.concatenate([stops, stops[:1]])
        return np.asarray(self.travel[stops[:-1], stops[1:]])

    def allows(self, visits: ArrayLike) -> bool:
        """Return whether a sequence of visits satisfies all rules; travel may exceed its budget by rounding."""
        regions, rules = _indices(visits), self.rules
        return bool(
            rules.allow_counts(regions)
            and self.first in (None, regions[0])
            and self.ends.last in (None, regions[-1])
            and not is_less(rules.budget, self.travel_cost(regions), SAME)
        )

    def single_visits(self) -> FloatArray:
        """Return the value of a single visit, for each region."""
        regions, first = np.arange(self.size), Step(*(table[0] for table in self.updates.tables))
        error = first.retention * self.total + first.plasticity * self.known.scores
        error += self.count * (first.noise - first.coupling * self.known.initial)
        begin = regions if self.origin is None else np.full(self.size, self.origin)
        back = self.travel[regions, begin] if self.ends.closed else 0.0
        return np.asarray(error + self.rate * (self.travel[begin, regions] + back))

    @property
    def size(self) -> int:
        """The number of regions T."""
        return self.known.size

    @property
    def origin(self) -> int | None:
        """The stop where routes begin without training, such as a depot; None if they begin with a visit."""
        return self.size if self.ends.first == self.size else None

    @property
    def first(self) -> int | None:
        """The region with which every sequence begins; None if it is free, as it is with an origin."""
        return self.ends.first if self.origin is None else None

    @cached_property
    def steady(self) -> bool:
        """Whether training has the same effect at every position."""
        return self.updates.same_positions


def _indices(visits: ArrayLike) -> IntArray:
    return np.asarray(visits, dtype=np.int64)
