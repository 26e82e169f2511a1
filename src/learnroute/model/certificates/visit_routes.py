"""The bound of ng-routes of any length, for optional and repeated visits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from learnroute.errors import InputError
from learnroute.model.certificates.base import (
    LISTS_OF_INDICES,
    NUMBERS,
    Certificate,
    as_index_lists,
    as_multipliers,
    plain,
)  # fmt: skip
from learnroute.model.validation import FloatArray, as_number


@dataclass(frozen=True, eq=False, repr=False)
class VisitRoutes(Certificate):
    """The cheapest ng-route of any allowed number of visits, with Lagrangian multipliers.

    `multipliers` has one entry per stop; that of a depot is ignored. `ng_sets` has one set per stop; they are empty if
    regions may be visited again. `budget_multiplier` is the cost of one unit of travel beyond the budget.
    """

    kind: ClassVar[str] = "visit-routes"
    members: ClassVar[Mapping[str, Any]] = {
        "multipliers": {**NUMBERS, "description": "One per stop, for its number of visits; 0 for a depot"},
        "ng_sets": {**LISTS_OF_INDICES, "description": "The ng-set of each stop; empty for a depot"},
        "budget_multiplier": {
            "type": "number",
            "minimum": 0,
            "description": "Multiplier of the travel budget; default 0",
        },
    }
    optional: ClassVar[tuple[str, ...]] = ("budget_multiplier",)

    multipliers: FloatArray
    ng_sets: tuple[tuple[int, ...], ...]
    budget_multiplier: float = 0.0

    def __repr__(self) -> str:
        return f"<{self.kind} certificate: bound {self.bound:.6g}, {len(self.multipliers):,} multipliers>"

    def _members(self) -> dict[str, Any]:
        found = {"multipliers": plain(self.multipliers), "ng_sets": [list(row) for row in self.ng_sets]}
        return {**found, "budget_multiplier": self.budget_multiplier} if self.budget_multiplier else found

    @classmethod
    def read(cls, bound: float, data: Mapping[str, Any], size: int) -> Self:
        """Read the multipliers and ng-sets."""
        multipliers = as_multipliers("certificate.multipliers", data.get("multipliers"), size)
        ng_sets = as_index_lists("certificate.ng_sets", data.get("ng_sets"), size)
        if len(ng_sets) != size:
            reason = f"expected one for each of {size} stops"
            raise InputError(reason, field="certificate.ng_sets", found=f"has {len(ng_sets)} lists")
        budget = as_number(
            "certificate.budget_multiplier", data.get("budget_multiplier", 0.0), least=0.0,
            meaning="multipliers of budgets", derived=True,
        )  # fmt: skip
        return cls(bound, multipliers, ng_sets, budget)
