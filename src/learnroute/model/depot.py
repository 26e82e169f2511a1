"""The depot: the place where routes start and end, without training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, check_type, did_you_mean
from learnroute.model.labelled_tables import SQUARE, align
from learnroute.model.validation import FloatArray, as_flag, as_members, as_vector, freeze

MEMBERS = {
    "name": "name", "coordinates": "coordinates", "travel": "travel", "travel_back": "travel_back",
    "return": "returns",
}  # fmt: skip  # names in files, and names of attributes
PLACE = {"type": "array", "minItems": 2, "maxItems": 2, "items": {"$ref": "#/$defs/anyNumber"}}
COSTS = {"type": "array", "items": {"$ref": "#/$defs/nonNegative"}}
HAS_NAME = "a region has this name; rename the depot, or remove the region"
SCHEMA: dict[str, Any] = {
    "description": "A place where routes start (and end) without training",
    "anyOf": [
        {"type": "string", "description": "Name of a region that becomes the depot and is no longer a learning region"},
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string", "minLength": 1, "description": "Name of the depot; default Depot"},
                "coordinates": {
                    **PLACE,
                    "description": "[x, y] of the depot; required if the regions have coordinates",
                },
                "travel": {
                    **COSTS,
                    "description": "Travel cost from the depot to each region; required if travel is given",
                },
                "travel_back": {
                    **COSTS,
                    "description": "Travel cost from each region to the depot; default: same as travel",
                },
                "return": {"type": "boolean", "description": "Whether routes end at the depot; default true"},
            },
        },
    ],
}


@dataclass(frozen=True, eq=False)
class Depot:
    """A place that is not a region: the agent starts there and returns; it has no data, and no error counts there.

    Parameters
    ----------
    name
        The name of the depot, different from all names of regions.
    coordinates
        Its (x, y), or (longitude, latitude), if the regions have coordinates.
    travel
        Travel costs from the depot to each region, if the problem has travel costs; otherwise they are distances.
    travel_back
        Travel costs from each region to the depot; equal to `travel` if omitted.
    returns
        Whether the agent returns at the end, so that the return trip counts too.

    Raises
    ------
    InputError
        If a member has the wrong type. `Problem` rejects members that do not fit the regions.
    """

    name: str = "Depot"
    coordinates: ArrayLike | None = None
    travel: ArrayLike | None = None
    travel_back: ArrayLike | None = None
    returns: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable():
            raise InputError("expected a name", field="depot.name", value=self.name)
        as_flag("depot.return", self.returns)

    def __repr__(self) -> str:
        return f"<Depot {self.name}, {'start and end' if self.returns else 'start'} of routes>"

    @classmethod
    def from_dict(cls, data: Any) -> Depot:
        """Build a depot from the member `depot` of a problem file."""
        given = as_members("depot.", data, tuple(MEMBERS))
        return cls(**{MEMBERS[key]: value for key, value in given.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the members in the format of a problem file, omitting those that are not needed."""
        found: dict[str, Any] = {"name": self.name}
        for key in ("coordinates", "travel", "travel_back"):
            value = getattr(self, key)
            if value is not None and not (key == "travel_back" and np.array_equal(value, np.asarray(self.travel))):
                found[key] = np.asarray(value).tolist()
        return found if self.returns else {**found, "return": False}

    @property
    def place(self) -> FloatArray:
        """The coordinates as an array."""
        assert self.coordinates is not None
        return np.asarray(self.coordinates, dtype=np.float64)

    @property
    def there(self) -> FloatArray:
        """The travel costs from the depot to each region."""
        return np.asarray(self.travel, dtype=np.float64)

    @property
    def back(self) -> FloatArray:
        """The travel costs from each region to the depot."""
        return self.there if self.travel_back is None else np.asarray(self.travel_back, dtype=np.float64)


def as_depot(
    depot: Depot | None, names: Sequence[str], places: FloatArray | None, costs: bool, geographic: bool
) -> Depot | None:
    """Return a depot whose arrays fit the regions, or reject it; `costs` says whether travel costs are given."""
    if depot is None:
        return None
    check_type("depot", depot, Depot)
    if depot.name in names:
        raise InputError(HAS_NAME, field="depot.name", value=depot.name)
    place, size = depot.coordinates, len(names)
    if (place is None) != (places is None):
        if place is None:
            raise InputError(
                "missing; regions have coordinates, so the depot needs them, too", field="depot.coordinates"
            )
        raise InputError(
            "the regions have no coordinates; add coordinates to all regions, or omit the depot's",
            field="depot.coordinates",
        )
    if place is not None:
        place = as_vector("depot.coordinates", place, 2, meaning="coordinates")
        if geographic and not (abs(place[0]) <= 360 and abs(place[1]) <= 90):
            reason = "expected a longitude of at most 360 degrees and a latitude of at most 90, in this order"
            raise InputError(reason, field="depot.coordinates", value=place.tolist())
    there, back = align("depot.travel", depot.travel, names), align("depot.travel_back", depot.travel_back, names)
    if not costs:
        for field, given in (("depot.travel", there), ("depot.travel_back", back)):
            if given is not None:
                reason = "travel follows from the coordinates; remove it"
                raise InputError(reason, field=field)
    elif there is None:
        reason = "missing; add the travel cost from the depot to each region"
        raise InputError(reason, field="depot.travel")
    else:
        there = as_vector("depot.travel", there, size, least=0.0, meaning="travel costs")
        back = there if back is None else as_vector("depot.travel_back", back, size, least=0.0, meaning="travel costs")
    return replace(depot, coordinates=place, travel=there, travel_back=back)


def stop_costs(costs: FloatArray, depot: Depot | None) -> FloatArray:
    """Return travel costs between all stops; the depot, if there is one, has the last row and column."""
    return costs if depot is None else freeze(border(costs, depot.there, depot.back))


def border(matrix: FloatArray, row: FloatArray, column: FloatArray) -> FloatArray:
    """Return a matrix with one more row and column, and 0 in the corner."""
    found = np.pad(matrix, (0, 1))
    found[-1, :-1], found[:-1, -1] = row, column
    return found


def members_of_travel(costs: FloatArray, depot: Depot | None) -> dict[str, Any]:
    """Return the members `travel` and `depot` of a problem with these costs between all stops, the depot last."""
    if depot is None:
        return {"travel": costs}
    size = len(costs) - 1
    depot = replace(depot, travel=costs[size, :size], travel_back=costs[:size, size])
    return {"travel": costs[:size, :size], "depot": depot}


ROWS = ("coordinates", "vectors", "initial", "truth", "samples", "initial_estimate", "importance")


def extract_depot(fields: dict[str, Any]) -> dict[str, Any]:
    """Return members of a problem with the depot as an object, if it was given as the name of one of the regions.

    `regions`, `travel` and `coordinates` then contain an entry for the depot; other members may or may not have one.
    """
    name = fields.get("depot")
    if not isinstance(name, str):
        return fields
    sizes = [len(fields[key]) for key in ("regions", "travel", "coordinates") if _is_list(fields.get(key))]
    size = max(sizes, default=0)
    given = fields.get("regions", [f"R{i + 1}" for i in range(size)])
    names = list(given) if _is_list(given) else []
    if name not in names:
        hint = did_you_mean(name, [each for each in names if isinstance(each, str)], "regions are")
        instead = "" if hint.endswith("?") else f"; or give an object with {', '.join(MEMBERS)}"
        raise InputError(f"there is no such region; {hint}{instead}", field="depot", value=name)
    if names.count(name) > 1:
        raise InputError(HAS_NAME, field="depot.name", value=name)
    here = names.index(name)
    found: dict[str, Any] = {**fields, "regions": _without(names, here)}
    depot: dict[str, Any] = {"name": name}
    for key in ("travel", "coordinates"):
        rows = fields.get(key, ())
        if key in fields and (not _is_list(rows) or len(rows) != size):
            raise InputError(f"expected {size} rows, one of them for the depot", field=key)
        if key == "travel" and not all(_is_list(row) and len(row) == size for row in rows):
            raise InputError(f"expected {size} rows of {size} entries, one of them for the depot", field=key)
    if "coordinates" in fields:
        depot["coordinates"] = fields["coordinates"][here]
    if "travel" in fields:
        ways = [row[here] for row in fields["travel"]]
        depot |= {"travel": _without(fields["travel"][here], here), "travel_back": _without(ways, here)}
    for key in (*SQUARE, *ROWS):
        rows = fields.get(key, ())
        if _is_list(rows) and len(rows) == size:
            found[key] = _without(rows, here)
            if key in SQUARE and isinstance(rows, np.ndarray):
                found[key] = np.delete(found[key], here, axis=1)
            elif key in SQUARE:
                found[key] = [_without(row, here) if _is_list(row) else row for row in found[key]]
    wanted = fields.get("constraints")
    if isinstance(wanted, dict) and wanted.get("return") is False:
        depot["return"] = False
    return {**found, "depot": depot}


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _without(rows: Any, here: int) -> Any:
    if isinstance(rows, np.ndarray):
        return np.delete(rows, here, axis=0)
    return [row for k, row in enumerate(rows) if k != here]
