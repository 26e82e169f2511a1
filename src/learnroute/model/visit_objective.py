"""The value of a sequence of visits, where regions may be left out or visited again: what solvers of visits see.

The law of distances (`model.law`) holds for any sequence of trainings: nothing in it asks for a permutation. So the
value is that of an order, with L visits in the place of T: travel times its rate, plus the expected error over all
regions, visited or not.
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
    """Which regions must, may and may not be visited, and how often.

    Attributes
    ----------
    required
        By region: whether it must be visited.
    repeats
        By region: how often it may be visited; 0 where it may not be.
    at_least, at_most
        The fewest and the most visits in all.
    budget
        The most travel of a route, in units of travel; inf where there is no limit.
    """

    required: BoolArray
    repeats: IntArray
    at_most: int = 1
    budget: float = math.inf
    at_least: int = 1

    @cached_property
    def allowed(self) -> BoolArray:
        """By region: whether it may be visited."""
        return self.repeats > 0

    @cached_property
    def repeat(self) -> int:
        """How often any one region may be visited."""
        return int(self.repeats.max())


@dataclass(frozen=True, eq=False)
class VisitObjective:
    """The value of a sequence of visits, to be minimised; T times the loss per region.

    A sequence has at least one visit. Two visits in a row to the same region are two trainings without travel between.

    Attributes
    ----------
    travel
        Travel costs between stops: the regions, and after them the origin, if there is one.
    rate
        What a unit of travel costs.
    ends
        Where routes begin and end, by stop, and whether the way back is paid. With an origin, they begin there.
    known
        The dissimilarities, and the errors of the first model.
    updates
        What training does, by position (one row per possible visit) and region.
    total, count
        The weighted sum of the first model's errors over all regions, and the sum of these weights.
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
        """Return the sum of the sizes of all terms of a value: what its rounding is relative to."""
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
        """Return the travel of a route in units of travel, from the origin and back included."""
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
        """Whether a sequence of visits keeps all rules; travel may exceed its budget by rounding."""
        regions, rules = _indices(visits), self.rules
        if not rules.at_least <= len(regions) <= rules.at_most:
            return False
        counts = np.bincount(regions, minlength=self.size)
        return bool(
            (counts <= rules.repeats).all()
            and counts[rules.required].all()
            and self.first in (None, regions[0])
            and self.ends.last in (None, regions[-1])
            and not is_less(rules.budget, self.travel_cost(regions), SAME)
        )

    def single_visits(self) -> FloatArray:
        """Return the value of one visit alone, to each region."""
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
        """The stop where routes begin without training, such as a depot; None where they begin with a visit."""
        return self.size if self.ends.first == self.size else None

    @property
    def first(self) -> int | None:
        """The region that every sequence begins with; None where that is free, as it is with an origin."""
        return self.ends.first if self.origin is None else None

    @cached_property
    def steady(self) -> bool:
        """Whether training does the same at every position."""
        return self.updates.same_positions


def _indices(visits: ArrayLike) -> IntArray:
    return np.asarray(visits, dtype=np.int64)
