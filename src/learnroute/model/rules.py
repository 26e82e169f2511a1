"""The rules of visits and fleets by index, as solvers use them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from learnroute.model.ends import BoolArray
from learnroute.model.validation import IntArray


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
        The maximum total travel, in units of travel, and the field that says so; inf if there is no limit.
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
    def regions(self) -> IntArray:
        """The regions that may be visited."""
        return np.flatnonzero(self.allowed)

    @cached_property
    def repeat(self) -> int:
        """The maximum number of visits to any single region."""
        return int(self.repeats.max())

    @cached_property
    def each_once(self) -> bool:
        """Whether each region that may be visited is visited exactly once, and travel is unlimited."""
        return bool((self.required == self.allowed).all()) and self.repeat <= 1 and math.isinf(self.budget)

    def allow_counts(self, regions: IntArray) -> bool:
        """Whether the number of visits, and that to each region, satisfies the rules."""
        counts = np.bincount(regions, minlength=len(self.repeats))
        return bool(
            self.at_least <= len(regions) <= self.at_most
            and (counts <= self.repeats).all()
            and counts[self.required].all()
        )


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

    vehicles: int = 1
    models: int = 1
    merged: bool = True
    equal: bool = False
    longest: bool = False
    limit: float = math.inf

    @property
    def size(self) -> int:
        """The number of models."""
        return max(self.vehicles, self.models)

    @property
    def single(self) -> bool:
        """Whether one model serves all regions."""
        return self.size == 1 and self.merged
