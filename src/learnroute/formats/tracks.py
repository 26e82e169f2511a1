"""A plan as coordinates: its stops, and the path between them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from learnroute.errors import InputError
from learnroute.model.problem import Problem
from learnroute.model.result import Plan, itinerary
from learnroute.model.travel import Places
from learnroute.model.validation import FloatArray

Place = tuple[float, float]
FARTHEST = 100.0  # km from the origin of a robot's flat map


@dataclass(frozen=True)
class Stop:
    """One stop: its coordinates, the cost of travelling there, and the points on the path (the stop itself last).

    `position` is 0 at the depot, and one more than the last visit on return; `score` is None at the depot.
    """

    position: int
    name: str
    place: Place
    travel: float
    score: float | None
    way: tuple[Place, ...]
    visit: bool


def stops_of(plan: Plan, problem: Problem | None, path: Path, *, degrees: bool = True) -> list[Stop]:
    """Return the stops of a plan, including the depot if there is one, and the return if it counts.

    The file format at `path` needs longitudes and latitudes (`degrees`), or coordinates in a plane (see `as_metres`).
    """
    if problem is None:
        raise InputError("needs the coordinates of the regions; give the problem, too", where=path)
    places = as_degrees(problem, path) if degrees else as_metres(problem, path)
    found: list[Stop] = []
    before: int | None = None
    for stop in itinerary(problem, plan.order):
        place = _pair(places[stop.place])
        way: tuple[Place, ...] = (place,)
        if before is not None and problem.streets is not None:
            along = problem.streets.path(before, stop.place)
            way = tuple(map(_pair, _wrap_longitudes(along) if degrees else along))[1:] or way
        score = float(problem.scores[stop.place]) if stop.region else None
        found.append(Stop(stop.position, stop.name, place, stop.travel, score, way, stop.visit))
        before = stop.place
    return found


def stops_without_return(stops: list[Stop]) -> list[Stop]:
    """Return the stops without the return to the first one."""
    last = stops[-1]
    return stops if last.visit else stops[:-1]


def track_of(stops: list[Stop]) -> list[Place]:
    """Return all points on the path through the stops."""
    return [place for stop in stops for place in stop.way]


def split_at_date_line(track: list[Place]) -> list[list[Place]]:
    """Split a track where it crosses the 180th meridian, so that no part leads around the whole globe.

    Each part has at least two points, as lines in files must; a single point is repeated.
    """
    track = 2 * track if len(track) == 1 else track
    parts = [track[:1]]
    for (x, y), (to_x, to_y) in pairwise(track):
        if abs(to_x - x) > 180:
            edge = 180.0 if x > 0 else -180.0
            beyond = to_x + 2 * edge
            middle = y + (to_y - y) * ((edge - x) / (beyond - x) if beyond != x else 0.5)
            parts[-1].append((edge, middle))
            parts.append([(-edge, middle)])
        parts[-1].append((to_x, to_y))
    return parts


def as_degrees(problem: Problem, path: Path) -> FloatArray:
    """Return longitudes and latitudes; reject problems without them."""
    if problem.stop_coordinates is None or not problem.geographic:
        what = "there are no coordinates" if problem.coordinates is None else "the coordinates are in a plane"
        raise InputError(
            f"{path.suffix} files need longitudes and latitudes, but {what}; give coordinates as "
            "[longitude, latitude] with geographic: true",
            where=path,
        )
    return _wrap_longitudes(problem.stop_coordinates)


def as_metres(problem: Problem, path: Path) -> FloatArray:
    """Return x and y in the plane of a robot's map; reject problems without suitable coordinates.

    Longitudes and latitudes are projected to metres east and north of the datum (`datum_of`) by the azimuthal
    equidistant projection. Directions and distances from the datum are exact; all others are off by less than one part
    in ten thousand, since no place may be farther away than `FARTHEST`.
    """
    places = problem.stop_coordinates
    if places is None:
        raise InputError(
            f"{path.suffix} files need x and y in the plane of the robot's map, but there are no coordinates; give "
            "coordinates in metres, or as [longitude, latitude] with geographic: true",
            where=path,
        )
    if not problem.geographic:
        return places
    datum = datum_of(problem)
    distance = Places(places, geographic=True).between(datum, np.arange(len(places)))
    far = int(np.argmax(distance))
    if distance[far] > FARTHEST:
        raise InputError(
            f"{path.suffix} files need places on one flat map, but {problem.stops[far]!r} is {distance[far]:.0f} km "
            f"from {problem.stops[datum]!r}; at most {FARTHEST:g} km, or write .gpx",
            where=path,
        )
    east = np.radians((places[:, 0] - places[datum, 0] + 180) % 360 - 180)
    latitude, home = np.radians(places[:, 1]), np.radians(places[datum, 1])
    x = np.cos(latitude) * np.sin(east)
    y = np.cos(home) * np.sin(latitude) - np.sin(home) * np.cos(latitude) * np.cos(east)
    away = np.hypot(x, y)
    scale = 1000 * distance / np.where(away > 0, away, 1.0)
    return np.column_stack([x * scale, y * scale])


def datum_of(problem: Problem) -> int:
    """Return the stop at the origin of a robot's map: the depot or, without a depot, the first region."""
    return 0 if problem.depot is None else problem.size


def decimal(number: float, *, point: bool = False) -> str:
    """Format a number with all its digits and no exponent; with `point`, always with a decimal point."""
    return np.format_float_positional(number, trim="0" if point else "-")


def _wrap_longitudes(places: FloatArray) -> FloatArray:
    """Normalise longitudes to at least -180 and less than 180 degrees."""
    longitude = places[:, 0]
    around = np.where((longitude < -180) | (longitude >= 180), (longitude + 180) % 360 - 180, longitude)
    return np.column_stack([around, places[:, 1]])


def _pair(row: FloatArray) -> Place:
    return float(row[0]), float(row[1])
