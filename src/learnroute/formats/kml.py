"""Plans as KML, for Google Earth and other globes: longitude first, in degrees."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

from learnroute.errors import printable
from learnroute.formats.files import write_text
from learnroute.formats.tracks import Place, decimal, split_at_date_line, stops_of, stops_without_return, track_of
from learnroute.model.problem import Problem
from learnroute.model.result import Plan


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write the stops in order as placemarks, then the path through them as lines, along the streets if known."""
    stops = stops_of(plan, problem, path)
    unit = f" {problem.travel_unit}" if problem is not None and problem.travel_unit else ""
    title = _text((problem.title if problem else "") or path.stem)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<kml xmlns="http://www.opengis.net/kml/2.2"><Document>',
        f"  <name>{title}</name>",
    ]
    for stop in stops_without_return(stops):
        score = "depot" if stop.score is None else f"score {stop.score:g}"
        about = f"travel from the previous stop {stop.travel:g}{unit}, {score}"
        number = f"{stop.position}. " if stop.visit else ""
        lines += [
            f"  <Placemark><name>{number}{_text(stop.name)}</name><description>{about}</description>",
            f"    <Point><coordinates>{_points([stop.place])}</coordinates></Point></Placemark>",
        ]
    parts = split_at_date_line(track_of(stops))
    ways = (
        f"    <LineString><tessellate>1</tessellate><coordinates>{_points(p)}</coordinates></LineString>" for p in parts
    )
    lines += [f"  <Placemark><name>{title}</name><MultiGeometry>", *ways, "  </MultiGeometry></Placemark>"]
    write_text(path, "\n".join([*lines, "</Document></kml>"]) + "\n")


def _text(name: str) -> str:
    """Return a name without characters that XML forbids."""
    return escape(printable(name, None))


def _points(places: Iterable[Place]) -> str:
    return " ".join(f"{decimal(longitude)},{decimal(latitude)}" for longitude, latitude in places)
