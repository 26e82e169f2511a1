"""Which regions must, may and must not be visited, how often, and how far a route may go."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from learnroute.errors import InputError, did_you_mean
from learnroute.model.rounding import SAME, is_less
from learnroute.model.rules import VisitRules
from learnroute.model.validation import MOST_MATRIX_REGIONS, as_count, as_members, as_number, freeze

ALL = "all"
MOST_VISITS = MOST_MATRIX_REGIONS  # visits of a route; optional visits need a matrix of travel in any case
MEMBERS = ("required", "forbidden", "repeat", "at_least", "at_most", "budget")
NAMES = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Rules for visits; default: each region once",
    "additionalProperties": False,
    "properties": {
        "required": {
            "anyOf": [NAMES, {"const": ALL}],
            "description": "Regions that must be visited, or all; default none",
        },
        "forbidden": {**NAMES, "description": "Regions that must not be visited; their errors still count"},
        "repeat": {"type": "integer", "minimum": 1, "description": "Maximum number of visits per region; default 1"},
        "at_least": {
            "type": "integer",
            "minimum": 1,
            "description": "Minimum number of visits of the route; default 1",
        },
        "at_most": {"type": "integer", "minimum": 1, "description": "Maximum number of visits of the route"},
        "budget": {
            "$ref": "#/$defs/nonNegative",
            "description": "Maximum travel of the route, including the return trip",
        },
    },
}


@dataclass(frozen=True)
class Visits:
    """Rules for optional visits: required regions are visited, others only if that lowers the loss.

    Parameters
    ----------
    required
        Names of the regions that must be visited, or `all`.
    forbidden
        Names of the regions that must not be visited; their errors count like those of all regions.
    repeat
        How often one region may be visited; each visit has fresh samples. A route has at most 20,000 visits.
    at_least, at_most
        The minimum and maximum total number of visits.
    budget
        The maximum travel of the whole route in units of travel, including the trips from and to the depot.

    Raises
    ------
    InputError
        If a member has the wrong type, or members contradict each other. `Problem` rejects members that do not fit the
        regions.
    """

    required: Sequence[str] | str = ()
    forbidden: Sequence[str] = ()
    repeat: int = 1
    at_least: int = 1
    at_most: int | None = None
    budget: float | None = None

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "required": ALL if self.required == ALL else _names("visits.required", self.required),
            "forbidden": _names("visits.forbidden", self.forbidden),
            "repeat": as_count("visits.repeat", self.repeat, meaning="the number of visits to one region"),
            "at_least": as_count("visits.at_least", self.at_least, meaning="the number of visits"),
        }
        if self.at_most is not None:
            checked["at_most"] = as_count("visits.at_most", self.at_most, meaning="the number of visits")
        if self.budget is not None:
            checked["budget"] = as_number("visits.budget", self.budget, least=0.0, meaning="the travel budget")
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        clash = self.forbidden if self.required == ALL else [name for name in self.required if name in self.forbidden]
        if clash:
            reason = "is also required; remove it from one of the two"
            raise InputError(reason, field="visits.forbidden", value=clash[0])

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Build the rules from the member `visits` of a problem file."""
        return cls(**as_members("visits.", data, MEMBERS))

    def to_dict(self) -> dict[str, Any]:
        """Return the members in the format of a problem file, omitting those that are not needed."""
        found: dict[str, Any] = {"required": ALL if self.required == ALL else list(self.required)}
        if self.forbidden:
            found["forbidden"] = list(self.forbidden)
        found |= {name: value for name in ("repeat", "at_least") if (value := getattr(self, name)) > 1}
        return found | {name: value for name in ("at_most", "budget") if (value := getattr(self, name)) is not None}

    def of(self, regions: Sequence[str]) -> Self:
        """Return the rules for some of the regions, without those for the others."""
        required = ALL if self.required == ALL else [name for name in self.required if name in regions]
        return replace(self, required=required, forbidden=[name for name in self.forbidden if name in regions])

    def compile(self, regions: Sequence[str], ends: Sequence[int] = ()) -> VisitRules:
        """Return the rules by index; reject those that do not fit the regions. Routes visit both `ends`, too."""
        index = {name: i for i, name in enumerate(regions)}
        required, allowed = np.zeros(len(regions), dtype=np.bool_), np.ones(len(regions), dtype=np.bool_)
        required[:] = self.required == ALL
        for field, names in (("required", self.required), ("forbidden", self.forbidden)):
            for name in () if names == ALL else names:
                if name not in index:
                    hint = did_you_mean(name, regions, "regions are")
                    raise InputError(f"there is no such region; {hint}", field=f"visits.{field}", value=name)
                if field == "required":
                    required[index[name]] = True
                else:
                    allowed[index[name]] = False
        for end in ends:
            if not allowed[end]:
                reason = "is the start or end of the route; allow it, or remove that constraint"
                raise InputError(reason, field="visits.forbidden", value=regions[end])
            required[end] = True
        if not allowed.any():
            raise InputError("all regions are forbidden; allow at least one", field="visits.forbidden")
        most = self.repeat * int(allowed.sum())
        at_most = most if self.at_most is None else min(most, self.at_most)
        if at_most > max(MOST_VISITS, int(required.sum())):
            reason = f"that allows {at_most:,} visits; reduce repeat or at_most so that there are at most"
            raise InputError(f"{reason} {MOST_VISITS:,}", field="visits.repeat", value=self.repeat)
        if at_most < required.sum():
            reason = f"{int(required.sum())} regions are required; allow more visits, or require fewer regions"
            raise InputError(reason, field="visits.at_most", value=self.at_most)
        if at_most < self.at_least:
            reason = f"at most {at_most} visits are possible; reduce at_least, or allow more visits"
            raise InputError(reason, field="visits.at_least", value=self.at_least)
        budget = math.inf if self.budget is None else self.budget
        return VisitRules(freeze(required), freeze(self.repeat * allowed), at_most, budget, self.at_least)


def check_visits(rules: VisitRules, order: Sequence[int], regions: Sequence[str]) -> None:
    """Reject a sequence of visits that violates the rules, apart from its travel."""
    visits = Counter(order)
    if not rules.at_least <= len(order) <= rules.at_most:
        reason = f"expected {rules.at_least} … {rules.at_most} (visits)"
        raise InputError(reason, field="route", found=f"has {len(order)} visits")
    for i, name in enumerate(regions):
        if rules.required[i] and not visits[i]:
            raise InputError(f"region {name!r} is missing, but required (visits.required)", field="route")
        if visits[i] and not rules.allowed[i]:
            raise InputError(f"region {name!r} is visited, but forbidden (visits.forbidden)", field="route")
        if visits[i] > rules.repeats[i]:
            reason = (
                f"region {name!r} is visited {visits[i]} times; at most {rules.repeats[i]} are allowed (visits.repeat)"
            )
            raise InputError(reason, field="route")


def check_budget(rules: VisitRules, travel: float) -> None:
    """Reject a route whose travel exceeds the budget by more than rounding."""
    if is_less(rules.budget, travel, SAME):
        reason = f"travels {travel:.6g}, but the budget is {rules.budget:g} ({rules.budget_field})"
        raise InputError(reason, field="route")


def _names(field: str, given: Any) -> tuple[str, ...]:
    """Return a list of distinct names."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise InputError("expected a list of region names", field=field, value=given)
    twice = next((name for name, count in Counter(given).items() if count > 1), None)
    if twice is not None:
        raise InputError("is given twice; name each region once", field=field, value=twice)
    return tuple(given)
