"""Problems as GeoJSON points with properties, and plans as points with the path through them.

GeoJSON coordinates are longitude and latitude, in this order, in degrees.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnroute.errors import InputError, did_you_mean
from learnroute.formats import json_files
from learnroute.formats.files import write_text
from learnroute.formats.tracks import as_degrees, split_at_date_line, stops_of, stops_without_return, track_of
from learnroute.model.depot import MEMBERS as DEPOT_MEMBERS
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.validation import as_flag

PROPERTIES = {
    "name": "regions", "vector": "vectors", "initial": "initial", "samples": "samples", "importance": "importance",
}  # fmt: skip
MEMBERS = (
    "title",
    "learner",
    "constraints",
    "travel_rate",
    "dissimilarity",
    "dissimilarity_low",
    "dissimilarity_estimate",
    "initial_estimate",
    "transfer",
    "travel",
    "truth",
    "initial_model",
    "features_scaling",
    "visits",
    "fleet",
)
DEPOT = "depot"  # the property that marks the depot
PASSED_OVER = ("type", "features", "bbox", "crs", "name", "id", "description", "generator", "copyright", "timestamp")


def read(path: Path) -> dict[str, Any]:
    """Read a collection of points into the members of a problem."""
    data = json_files.read(path)
    if not isinstance(data, dict) or data.get("type") != "FeatureCollection":
        got = data.get("type") if isinstance(data, dict) else data
        raise InputError("expected a FeatureCollection of Points", field="type", value=got)
    for key in data:
        if key not in MEMBERS and key not in PASSED_OVER:
            hint = did_you_mean(key, MEMBERS, "beside features, known are")
            raise InputError(f"unknown field; {hint}", field=key)
    _check_reference_system(data.get("crs"))
    features = data.get("features")
    if not isinstance(features, list):
        raise InputError("expected a list of features", field="features", value=features)
    members = {key: data[key] for key in MEMBERS if key in data}
    features = _extract_depot(features, members)
    members["coordinates"] = [_place(f"features[{i}]", feature) for i, feature in enumerate(features)]
    members["geographic"] = True
    own = [feature.get("properties") or {} for feature in features]
    for name, field in PROPERTIES.items():
        values = _column(name, own)
        if values is not None:
            members[field] = values
    if not {"dissimilarity", "vectors", "transfer"} & set(members):
        raise InputError(
            "missing; give each feature a vector, or the collection a dissimilarity or transfer",
            field="features[0].properties.vector",
        )
    return members


def write(problem: Problem, path: Path) -> None:
    """Write one point per region, and members that concern all regions next to the features."""
    as_degrees(problem, path)
    data = json_files.problem_to_dict(problem)
    columns = {name: data[field] for name, field in PROPERTIES.items() if field in data}
    features = [
        _feature("Point", place, {name: values[i] for name, values in columns.items()})
        for i, place in enumerate(data["coordinates"])
    ]
    if "depot" in data:
        own = {DEPOT: True, **data["depot"]}
        features.append(_feature("Point", own.pop("coordinates"), own))
    above = {key: data[key] for key in MEMBERS if key in data}
    write_text(path, json_files.dumps({"type": "FeatureCollection", **above, "features": features}))


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write the stops in order as points, then the path through them as one line, along the streets if known.

    Each vehicle has its own points and line, with its number if there are several vehicles.
    """
    features = []
    for number, one in plan.by_vehicle().items():
        vehicle = {"vehicle": number} if plan.several else {}
        stops = stops_of(one, problem, path)
        for stop in stops_without_return(stops):
            said = {"position": stop.position, "name": stop.name, "travel": stop.travel, "score": stop.score}
            model = {"model": one.models[stop.position - 1] + 1} if one.models is not None and stop.visit else {}
            features.append(_feature("Point", stop.place, {**vehicle, **model, **said}))
        whole = {"title": problem.title if problem else "", "loss": plan.loss.total}
        whole |= {**vehicle, "travel": sum(stop.travel for stop in stops)}
        parts = split_at_date_line(track_of(stops))
        kind, line = ("MultiLineString", parts) if parts[1:] else ("LineString", parts[0])
        features.append(_feature(kind, line, whole))
    write_text(path, json_files.dumps({"type": "FeatureCollection", "features": features}))


def _extract_depot(features: list[Any], members: dict[str, Any]) -> list[Any]:
    """Return the features without the depot, which is added to the members of the problem."""
    found = []
    for i, feature in enumerate(features):
        given = feature.get("properties") if isinstance(feature, dict) else None
        own: dict[str, Any] = given if isinstance(given, dict) else {}
        mark = own.get(DEPOT)
        if mark in (None, False):
            found.append(feature)
            continue
        as_flag(f"features[{i}].properties.{DEPOT}", mark)
        if DEPOT in members:
            raise InputError("second depot; only one is allowed", field=f"features[{i}].properties.{DEPOT}")
        known = {key: own[key] for key in DEPOT_MEMBERS if key in own}
        members[DEPOT] = {**known, "coordinates": _place(f"features[{i}]", feature)}
    return found


def _feature(kind: str, coordinates: Any, properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, "properties": properties}


def _place(field: str, feature: Any) -> list[Any]:
    """Return the longitude and latitude of a feature; a height is ignored."""
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    if not isinstance(geometry, dict) or not isinstance(feature.get("properties") or {}, dict):
        raise InputError("expected a Feature with a geometry and properties", field=field, value=feature)
    if geometry.get("type") != "Point":
        raise InputError("expected Points", field=f"{field}.geometry.type", value=geometry.get("type"))
    place = geometry.get("coordinates")
    if not isinstance(place, list) or not 2 <= len(place) <= 3:
        raise InputError("expected a longitude and a latitude", field=f"{field}.geometry.coordinates", value=place)
    return place[:2]


def _column(name: str, properties: list[dict[str, Any]]) -> list[Any] | None:
    """Return the values of a property of all features; None if no feature has it."""
    missing = [i for i, own in enumerate(properties) if own.get(name) is None]
    if len(missing) == len(properties):
        return None
    if missing:
        raise InputError("missing; all features need it, or none", field=f"features[{missing[0]}].properties.{name}")
    return [own[name] for own in properties]


def _check_reference_system(system: Any) -> None:
    name = str(system.get("properties")) if isinstance(system, dict) else ""
    if system is not None and "CRS84" not in name and "4326" not in name:
        raise InputError("expected longitudes and latitudes (WGS 84); transform the points", field="crs", value=system)
