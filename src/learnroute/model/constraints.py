"""Where a route has to begin and to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from learnroute.errors import InputError
from learnroute.model.depot import Depot
from learnroute.model.ends import Ends
from learnroute.model.validation import as_flag, as_members, as_region

MEMBERS = {"start": "start", "end": "end", "return": "returns"}  # in files, and here
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "start": {"type": "string", "description": "The region that routes begin with"},
        "end": {"type": "string", "description": "The region that routes end with"},
        "return": {"type": "boolean", "description": "Whether the way back to the first region is paid too"},
    },
}


@dataclass(frozen=True)
class Constraints:
    """What every route must respect: the first region, the last one, and whether the agent then drives back.

    `start` and `end` are names of regions. With `returns`, the way from the last region to the first is paid too.

    Raises
    ------
    InputError
        Where start and end are the same, or of the wrong type. That a region is unknown is said by `Problem`.
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
                "is also the start; for a round trip, omit the end and count the way back (return)",
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
        """Return the members that say something, as a problem file has them."""
        members = {key: getattr(self, field) for key, field in MEMBERS.items()}
        return {key: value for key, value in members.items() if value not in (None, False)}

    def check(self, route: Sequence[str]) -> None:
        """Refuse a route that does not respect them."""
        for field, verb, stop in (("start", "begins", route[0]), ("end", "ends", route[-1])):
            asked = getattr(self, field)
            if asked not in (None, stop):
                raise InputError(f"{verb} at {stop!r}; constraints.{field} is {asked!r}", field="route")

    def compile(self, regions: tuple[str, ...], depot: Depot | None = None) -> Ends:
        """Return the constraints as solvers ask for them: by index; a depot is the stop after the last region."""
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
