"""Plans as poses on a robot's map (.yaml): the goal of Nav2's FollowWaypoints action."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

from learnroute.formats.files import write_text
from learnroute.formats.tracks import Stop, datum_of, decimal, stops_of
from learnroute.model.problem import Problem
from learnroute.model.result import Plan


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write one pose per stop, facing the next stop; the last pose keeps the direction of arrival."""
    stops = stops_of(plan, problem, path, degrees=False)
    lines = [] if problem is None or not problem.geographic else [_origin(problem)]
    lines.append("poses:")
    for stop, facing in zip(stops, _headings(stops), strict=True):
        x, y = (decimal(value, point=True) for value in stop.place)
        z, w = (decimal(turn(facing / 2), point=True) for turn in (math.sin, math.cos))
        lines += [
            f"  # {stop.name}",
            "  - header: {frame_id: map}",
            "    pose:",
            f"      position: {{x: {x}, y: {y}, z: 0.0}}",
            f"      orientation: {{x: 0.0, y: 0.0, z: {z}, w: {w}}}",
        ]
    write_text(path, "\n".join(lines) + "\n")


def _origin(problem: Problem) -> str:
    """Return a comment with the place of the map's origin on the globe, which does not depend on the route."""
    assert problem.stop_coordinates is not None
    longitude, latitude = (decimal(value) for value in problem.stop_coordinates[datum_of(problem)])
    return f"# metres east (x) and north (y) of latitude {latitude}, longitude {longitude}: the map's datum"


def _headings(stops: list[Stop]) -> list[float]:
    """Return the direction to face at each stop, anticlockwise from the x axis, in radians."""
    found: list[float] = []
    for here, there in pairwise(stop.place for stop in stops):
        same = here == there
        found.append((found or [0.0])[-1] if same else math.atan2(there[1] - here[1], there[0] - here[0]))
    return [*found, (found or [0.0])[-1]]
