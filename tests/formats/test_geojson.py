"""GeoJSON in and out, read by the geojson package; longitude before latitude."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import geojson
import numpy as np
import pytest

from learnroute import Constraints, InputError, Problem, plan, read_problem, write_plan, write_problem
from learnroute.formats.json_files import problem_to_dict
from samples import small

ROOT = Path(__file__).parents[2]
PLACES = [[8.5, 47.4], [-0.1, 51.5], [13.4, 52.5], [2.35, 48.86]]  # longitude, latitude


def base() -> dict[str, Any]:
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": place},
            "properties": {"name": name, "vector": [i, 1]},
        }
        for i, (place, name) in enumerate(zip(PLACES, "ABCD", strict=True))
    ]
    return {"type": "FeatureCollection", "features": features, "learner": {"features": 80, "samples": 100}}


def read(folder: Path, data: Any) -> Problem:
    (folder / "p.geojson").write_text(json.dumps(data))
    return read_problem(folder / "p.geojson")


def test_a_collection_of_points_is_a_problem(tmp_path: Path) -> None:
    data = base() | {"title": "Capitals", "constraints": {"start": "B", "return": True}, "travel_rate": 0.5, "bbox": []}
    for k, feature in enumerate(data["features"]):
        feature["properties"] |= {"initial": k, "samples": 100 + k, "importance": 3 - k, "population": 10**6}
        feature["geometry"]["coordinates"] = [*PLACES[k], 400.0]  # with a height
    problem = read(tmp_path, data)
    assert problem.regions == ("A", "B", "C", "D")
    assert problem.coordinates is not None
    assert problem.coordinates.tolist() == PLACES
    assert problem.geographic
    assert problem.travel[1, 3] == pytest.approx(343, rel=0.01)  # London to Paris
    assert problem.constraints == Constraints("B", None, True)
    assert (problem.title, problem.travel_rate, problem.initial.tolist()) == ("Capitals", 0.5, [0, 1, 2, 3])
    assert problem.samples is not None
    assert problem.samples.tolist() == [100, 101, 102, 103]
    assert problem.importance is not None
    assert problem.importance.tolist() == [3, 2, 1, 0]


def problems() -> list[Problem]:
    truth = np.random.default_rng(0).normal(size=(4, 3))
    places: dict[str, Any] = {"coordinates": PLACES, "geographic": True}
    return [
        small(**places),
        small(**places, travel=None, title="Zürich – 東京", constraints=Constraints("A", "C"), travel_rate=2),
        small(**places, dissimilarity=None, vectors=[[0.1, 1], [2, 3], [1e-17, 0], [4, 4]], samples=[90, 105, 110, 95]),
        small(**places, truth=truth, initial_model=[1, 2, 3]),
    ]


@pytest.mark.parametrize("problem", problems(), ids=range(4))
def test_problems_round_trip_to_the_last_bit(tmp_path: Path, problem: Problem) -> None:
    write_problem(problem, tmp_path / "p.geojson")
    assert problem_to_dict(read_problem(tmp_path / "p.geojson")) == problem_to_dict(problem)
    collection = geojson.loads((tmp_path / "p.geojson").read_text())
    assert collection.is_valid
    assert [feature.geometry.coordinates for feature in collection.features] == PLACES


def test_a_plan_is_its_stops_and_one_line(tmp_path: Path) -> None:
    problem = problems()[0]
    for returns in (False, True):
        asked = problem.replace(constraints=Constraints(returns=returns))
        found = plan(asked, "nearest")
        write_plan(found, tmp_path / "r.geojson", asked)
        collection = geojson.loads((tmp_path / "r.geojson").read_text())
        assert collection.is_valid
        *points, line = collection.features
        stops = [PLACES[i] for i in found.order]
        assert [point.geometry.coordinates for point in points] == stops
        assert [point.properties["name"] for point in points] == list(found.route)
        assert [point.properties["position"] for point in points] == [1, 2, 3, 4]
        assert [point.properties["score"] for point in points] == [asked.scores[i] for i in found.order]
        assert points[1].properties["travel"] == asked.travel[found.order[0], found.order[1]]
        assert line.geometry.coordinates == stops + stops[: int(returns)]
        assert line.properties["travel"] == pytest.approx(found.loss.travel * 4)


def test_places_in_a_plane_are_rejected_with_the_remedy(tmp_path: Path) -> None:
    for problem, reason in (
        (small(coordinates=PLACES), "the coordinates are in a plane"),
        (small(), "there are no coordinates"),
    ):
        with pytest.raises(InputError, match=f"{reason}; give coordinates as .* with geographic: true"):
            write_problem(problem, tmp_path / "p.geojson")
        for suffix in ("geojson", "gpx", "plan"):
            with pytest.raises(InputError, match=f"{reason}; give coordinates as .* with geographic: true"):
                write_plan(plan(problem), tmp_path / f"r.{suffix}", problem)


def wrong(path: str, value: Any) -> Any:
    data: Any = base()
    node = data
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in way:
        node = node[part]
    node[last] = value
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "type = []: expected a FeatureCollection of Points"),
        ({"type": "Feature"}, "type = 'Feature': expected a FeatureCollection"),
        (wrong("features", None), "features = None: expected a list"),
        (wrong("features.1", 7), "features[1] = 7: expected a Feature with a geometry"),
        (wrong("features.1.geometry", None), "features[1] = {"),
        (wrong("features.1.geometry.type", "Polygon"), "features[1].geometry.type = 'Polygon': expected Points"),
        (
            wrong("features.1.geometry.coordinates", [1]),
            "features[1].geometry.coordinates = [1]: expected a longitude and",
        ),
        (wrong("features.1.geometry.coordinates", [1, "x"]), "coordinates[1, 1] = 'x'"),
        (wrong("features.1.geometry.coordinates", [1, 95]), "coordinates[1, 1] = 95: latitudes go from -90"),
        (wrong("features.2.properties", {}), "features[2].properties.name: missing; all features need it, or none"),
        (wrong("features.2.properties.vector", "a"), "vectors[2] = 'a'"),
        (wrong("features.2.properties", [1]), "features[2] = {"),
        (wrong("crs", {"type": "name", "properties": {"name": "EPSG:2056"}}), "crs = {"),
        (wrong("lerner", {}), "lerner: unknown field; did you mean learner?"),
        (wrong("start", [0, 0]), "start: unknown field"),
        (wrong("learner", 7), "learner = 7"),
        (wrong("features", []), "missing; give each feature a vector"),
    ],
    ids=range(17),
)
def test_wrong_collections_are_rejected_by_field(tmp_path: Path, data: Any, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        read(tmp_path, data)
    assert str(refusal.value).startswith(f"{tmp_path / 'p.geojson'}: ")
    assert message in str(refusal.value)


def test_example_is_valid() -> None:
    assert read_problem(ROOT / "examples" / "lakes.geojson").size == 9
