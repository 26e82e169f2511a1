"""The bound of position-indexed ng-routes (Baldacci, Mingozzi and Roberti 2011; Roberti and Mingozzi 2014)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from learnroute.errors import InputError
from learnroute.model.certificates.base import (
    LISTS_OF_INDICES,
    NUMBERS,
    Certificate,
    as_index_lists,
    as_multipliers,
    plain,
)  # fmt: skip
from learnroute.model.validation import FloatArray

Rows = tuple[tuple[int, ...], ...]  # a position, a region, and additional regions in its ng-set there

MEMBERS: dict[str, Any] = {
    "multipliers": {**NUMBERS, "description": "One per region, for the constraint that it is visited once"},
    "ng_sets": {**LISTS_OF_INDICES, "description": "The ng-set of each region, at all positions"},
    "ng_sets_at": {
        **LISTS_OF_INDICES,
        "description": "Additions to ng-sets: a position, a region, and the members added there",
    },
}


class NgRelaxation(NamedTuple):
    """An ng-route relaxation: Lagrangian multipliers and ng-sets.

    `ng_sets` contains, for each region, the regions that a label arriving there keeps in its memory. Each row of
    `ng_sets_at` is a position, a region, and the additional regions that it keeps there.
    """

    multipliers: FloatArray
    ng_sets: tuple[tuple[int, ...], ...]
    ng_sets_at: Rows = ()

    def masks(self) -> list[list[int]]:
        """Return the ng-set at each position and region, itself included, with one bit per region."""
        everywhere = [sum(1 << u for u in {v, *row}) for v, row in enumerate(self.ng_sets)]
        found = [list(everywhere) for _ in everywhere]
        grow(found, self.ng_sets_at)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the members in their JSON format."""
        data: dict[str, Any] = {
            "multipliers": plain(self.multipliers),
            "ng_sets": [list(row) for row in self.ng_sets],
        }
        if self.ng_sets_at:
            data["ng_sets_at"] = [list(row) for row in self.ng_sets_at]
        return data

    @classmethod
    def read(cls, field: str, data: Any, size: int) -> NgRelaxation:
        """Read the output of `to_dict`, or reject it."""
        if not isinstance(data, Mapping):
            raise InputError("expected an object with multipliers and ng_sets", field=field, value=data)
        multipliers = as_multipliers(f"{field}.multipliers", data.get("multipliers"), size)
        ng_sets = as_index_lists(f"{field}.ng_sets", data.get("ng_sets"), size)
        if len(ng_sets) != size:
            raise InputError(
                f"expected one for each of {size} regions", field=f"{field}.ng_sets", found=f"has {len(ng_sets)} lists"
            )
        return cls(multipliers, ng_sets, _rows(f"{field}.ng_sets_at", data.get("ng_sets_at", []), size))


def _rows(field: str, data: Any, size: int) -> Rows:
    """Read additions to ng-sets: each row is a position and a region, followed by the regions to add."""
    rows = as_index_lists(field, data, size)
    for k, row in enumerate(rows):
        if len(row) < 2:
            raise InputError("expected a position and a region, then others", field=f"{field}[{k}]", value=list(row))
    return rows


def grow(masks: list[list[int]], rows: Sequence[Sequence[int]]) -> None:
    """Add regions to ng-sets, one bit each: a row is a position, a region, and the additions to its ng-set there."""
    for position, region, *others in rows:
        for other in others:
            masks[position][region] |= 1 << other


@dataclass(frozen=True, eq=False, repr=False)
class NgRoutes(Certificate):
    """The cheapest ng-route, after arcs were fixed to 0 by the reduced costs of earlier relaxations.

    `stages` are successive relaxations. All but the last one only fix arcs to 0, namely those that no ng-route cheaper
    than the bound contains. The last one gives the bound. `turns` says how its ng-sets grow: its forward labelling is
    followed by a backward labelling with the ng-sets of the first turn, pruned by the forward labels, then by a forward
    labelling with the ng-sets of the second turn, and so on.
    """

    kind: ClassVar[str] = "ng-routes"
    members: ClassVar[Mapping[str, Any]] = {
        **MEMBERS,
        "fixing": {
            "type": "array",
            "description": "Earlier relaxations; their reduced costs fixed arcs to 0",
            "items": {
                "type": "object",
                "properties": MEMBERS,
                "required": ["multipliers", "ng_sets"],
                "additionalProperties": False,
            },
        },
        "turns": {
            "type": "array",
            "description": "Additions to ng-sets before each further labelling, backward and forward in turn",
            "items": LISTS_OF_INDICES,
        },
    }
    optional: ClassVar[tuple[str, ...]] = ("ng_sets_at", "fixing", "turns")

    stages: tuple[NgRelaxation, ...]
    turns: tuple[Rows, ...] = ()

    def _members(self) -> dict[str, Any]:
        *earlier, last = self.stages
        data = last.to_dict()
        if earlier:
            data["fixing"] = [stage.to_dict() for stage in earlier]
        if self.turns:
            data["turns"] = [[list(row) for row in rows] for rows in self.turns]
        return data

    @classmethod
    def read(cls, bound: float, data: Mapping[str, Any], size: int) -> Self:
        """Read the relaxations."""
        earlier = data.get("fixing", [])
        if not isinstance(earlier, list):
            raise InputError("expected a list of objects", field="certificate.fixing", value=earlier)
        stages = [NgRelaxation.read(f"certificate.fixing[{k}]", stage, size) for k, stage in enumerate(earlier)]
        given = data.get("turns", [])
        if not isinstance(given, list):
            raise InputError("expected a list of lists", field="certificate.turns", value=given)
        turns = tuple(_rows(f"certificate.turns[{k}]", rows, size) for k, rows in enumerate(given))
        return cls(bound, (*stages, NgRelaxation.read("certificate", data, size)), turns)
