"""Constraints on the start and end of routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from learnroute.errors import InputError
from learnroute.model.depot import Depot
from learnroute.model.ends import Ends
from learnroute.model.validation import as_flag, as_members, as_region

MEMBERS = {"start": "start", "end": "end", "return": "returns"}  # names in files, and names of attributes
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "start": {"type": "string", "description": "First region of the route"},
        "end": {"type": "string", "description": "Last region of the route"},
        "return": {
            "type": "boolean",
            "description": "Whether travel includes the return trip to the first region; default false",
        },
    },
}


@dataclass(frozen=True)
class Constraints:
    """Constraints on every route: the first region, the last region, and whether the agent then returns.

    `start` and `end` are names of regions. With `returns`, travel from the last region back to the first counts too.

    Raises
    ------
    InputError
        If start and end are the same or have the wrong type. `Problem` rejects unknown regions.
    """

    start: str | None = None
    end: str | None = None
    returns: bool = False

    def __post_init__(self) -> None:
        for field in ("start", "end"):
            value = getattr(self, field)
            if value is not None and not isinstance(value, str):
                raise InputError("expected the name of a region", field=f"constraints.{field}", value=value)
        as_flag("constraints.return", self.returns)
        if self.start is not None and self.start == self.end:
            raise InputError(
                "is also the start; for a round trip, omit the end and count the return trip (return)",
                field="constraints.end",
                value=self.end,
            )

    def __bool__(self) -> bool:
        return self != Constraints()

    @classmethod
    def from_dict(cls, data: Any) -> Constraints:
        """Read the member `constraints` of a problem file."""
        given = as_members("constraints.", data, tuple(MEMBERS))
        return cls(**{MEMBERS[key]: value for key, value in given.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the members that differ from their defaults, in the format of a problem file."""
        members = {key: getattr(self, field) for key, field in MEMBERS.items()}
        return {key: value for key, value in members.items() if value not in (None, False)}

    def check(self, route: Sequence[str]) -> None:
        """Reject a route that violates the constraints."""
        for field, verb, stop in (("start", "begins", route[0]), ("end", "ends", route[-1])):
            required = getattr(self, field)
            if required not in (None, stop):
                raise InputError(f"{verb} at {stop!r}; constraints.{field} is {required!r}", field="route")

    def compile(self, regions: tuple[str, ...], depot: Depot | None = None) -> Ends:
        """Return the constraints by index, as solvers use them; a depot is the stop after the last region."""
        start, end = self._index("start", regions), self._index("end", regions)
        if depot is None:
            return Ends(start, end, self.returns)
        if start is not None:
            reason = f"routes start at the depot, {depot.name!r}; omit one of them"
            raise InputError(reason, field="constraints.start", value=self.start)
        if self.returns and not depot.returns:
            reason = "depot.return is false, so routes end at their last region; omit one of them"
            raise InputError(reason, field="constraints.return", found="= true")
        return Ends(len(regions), end, depot.returns)

    def _index(self, field: str, regions: tuple[str, ...]) -> int | None:
        """Return the index of the region that a constraint names."""
        name = getattr(self, field)
        return None if name is None else as_region(f"constraints.{field}", name, regions)


FREE = Constraints()
