"""Plans as GPX routes, for navigation devices and maps, with latitude and longitude in degrees."""

from __future__ import annotations

from html import escape
from pathlib import Path

from learnroute.formats.files import write_text
from learnroute.formats.tracks import Place, decimal, stops_of, track_of
from learnroute.model.problem import Problem
from learnroute.model.result import Plan


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write the stops as a route, and the path along the streets, if known, as a track."""
    stops = stops_of(plan, problem, path)
    title = escape((problem.title if problem else "") or path.stem)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<gpx version="1.1" creator="learnroute" xmlns="http://www.topografix.com/GPX/1/1">',
        f"  <metadata><name>{title}</name></metadata>",
        f"  <rte><name>{title}</name>",
        *(f"    <rtept {_position(stop.place)}><name>{escape(stop.name)}</name></rtept>" for stop in stops),
        "  </rte>",
    ]
    if problem is not None and problem.streets is not None:
        points = (f"    <trkpt {_position(place)}/>" for place in track_of(stops))
        lines += [f"  <trk><name>{title}</name><trkseg>", *points, "  </trkseg></trk>"]
    write_text(path, "\n".join([*lines, "</gpx>"]) + "\n")


def _position(place: Place) -> str:
    longitude, latitude = place
    return f'lat="{decimal(latitude)}" lon="{decimal(longitude)}"'
