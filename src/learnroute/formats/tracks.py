"""A plan as places on the ground: its stops, and the way between them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from learnroute.errors import InputError
from learnroute.model.distances import Points
from learnroute.model.losses import ways_of
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.validation import FloatArray

Place = tuple[float, float]
FARTHEST = 100.0  # km from the origin of a robot's flat map


@dataclass(frozen=True)
class Stop:
    """One visit: where, what the way there cost, and by which places it led (the stop itself last)."""

    name: str
    place: Place
    travel: float
    score: float
    way: tuple[Place, ...]


def stops_of(plan: Plan, problem: Problem | None, path: Path, *, degrees: bool = True) -> list[Stop]:
    """Return the visits of a plan, and the first place once more where the way back counts.

    The file format at `path` needs longitudes and latitudes (`degrees`), or places in a plane: see `in_metres`.
    """
    if problem is None:
        raise InputError("the problem is needed too, for the places of its regions", where=path)
    places = in_degrees(problem, path) if degrees else in_metres(problem, path)
    order = [*plan.order, *plan.order[: int(problem.constraints.returns)]]
    legs = [0.0, *ways_of(problem).legs(plan.order).tolist()]
    found = []
    for k, (i, leg) in enumerate(zip(order, legs, strict=True)):
        place = _pair(places[i])
        way: tuple[Place, ...] = (place,)
        if k and problem.streets is not None:
            along = problem.streets.path(order[k - 1], i)
            way = tuple(map(_pair, _wrapped(along) if degrees else along))[1:]
        found.append(Stop(problem.regions[i], place, leg, float(problem.scores[i]), way))
    return found


def track_of(stops: list[Stop]) -> list[Place]:
    """Return all places on the way through the stops."""
    return [place for stop in stops for place in stop.way]


def across_the_date_line(track: list[Place]) -> list[list[Place]]:
    """Cut a track where it crosses the 180th meridian, so that no part leads around the whole globe."""
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


def in_degrees(problem: Problem, path: Path) -> FloatArray:
    """Return longitudes and latitudes, or refuse."""
    if problem.coordinates is None or not problem.geographic:
        what = "there are no coordinates" if problem.coordinates is None else "the coordinates are in a plane"
        raise InputError(
            f"{path.suffix} files need longitudes and latitudes, but {what}; give coordinates as "
            "[longitude, latitude] with geographic: true",
            where=path,
        )
    return _wrapped(problem.coordinates)


def in_metres(problem: Problem, path: Path) -> FloatArray:
    """Return x and y in the plane of a robot's map, or refuse.

    Longitudes and latitudes are projected to metres east and north of the problem's first region, by the azimuthal
    equidistant projection: directions and distances from there are right, and all others off by less than one part in
    ten thousand, since nothing may be farther away than `FARTHEST`.
    """
    if problem.coordinates is None:
        raise InputError(
            f"{path.suffix} files need x and y in the plane of the robot's map, but there are no coordinates; give "
            "coordinates in metres, or as [longitude, latitude] with geographic: true",
            where=path,
        )
    if not problem.geographic:
        return problem.coordinates
    distance = Points(problem.coordinates, geographic=True).between(0, np.arange(problem.size))
    far = int(np.argmax(distance))
    if distance[far] > FARTHEST:
        raise InputError(
            f"{path.suffix} files need places on one flat map, but {problem.regions[far]!r} is {distance[far]:.0f} km "
            f"from {problem.regions[0]!r}; at most {FARTHEST:g} km, or write .gpx",
            where=path,
        )
    east = np.radians((problem.coordinates[:, 0] - problem.coordinates[0, 0] + 180) % 360 - 180)
    latitude, home = np.radians(problem.coordinates[:, 1]), np.radians(problem.coordinates[0, 1])
    x = np.cos(latitude) * np.sin(east)
    y = np.cos(home) * np.sin(latitude) - np.sin(home) * np.cos(latitude) * np.cos(east)
    away = np.hypot(x, y)
    scale = 1000 * distance / np.where(away > 0, away, 1.0)
    return np.column_stack([x * scale, y * scale])


def decimal(number: float, *, point: bool = False) -> str:
    """Write a number without an exponent, all its digits kept; with a decimal point, where that is needed."""
    return np.format_float_positional(number, trim="0" if point else "-")


def _wrapped(places: FloatArray) -> FloatArray:
    """Bring longitudes to where maps have them: -180 degrees or more, less than 180."""
    longitude = places[:, 0]
    around = np.where((longitude < -180) | (longitude >= 180), (longitude + 180) % 360 - 180, longitude)
    return np.column_stack([around, places[:, 1]])


def _pair(row: FloatArray) -> Place:
    return float(row[0]), float(row[1])
