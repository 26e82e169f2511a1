"""Plans for maps, robots, drones and learning frameworks, read back by the libraries of those fields."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import gpxpy
import numpy as np
import pytest
import yaml

from learnroute import Constraints, Depot, InputError, Problem, evaluate, plan, read_problem, write_plan, write_problem
from learnroute.cli import run
from learnroute.formats import PLAN_WRITERS, check_plan_destination
from samples import small

PLACES = [[8.5, 47.4], [-0.1, 51.5], [1e-7, 52.5], [-1e-15, -48.86]]  # longitude, latitude


def globe(returns: bool = False, **changes: Any) -> Problem:
    return small(coordinates=PLACES, geographic=True, constraints=Constraints(returns=returns), **changes)


def closed(order: tuple[int, ...], returns: bool) -> list[int]:
    return [*order, *order[: int(returns)]]


@pytest.mark.parametrize("returns", [False, True])
def test_gpx_routes(tmp_path: Path, returns: bool) -> None:
    problem = globe(returns, regions=["A & B", '<"C">', "Zürich", "東京"], title="Tom & Jerry")
    found = evaluate(problem, [2, 0, 3, 1])
    write_plan(found, tmp_path / "r.gpx", problem)
    gpx = gpxpy.parse((tmp_path / "r.gpx").read_text())
    stops = closed(found.order, returns)
    assert [(p.longitude, p.latitude) for p in gpx.routes[0].points] == [tuple(PLACES[i]) for i in stops]
    assert [p.name for p in gpx.routes[0].points] == [problem.regions[i] for i in stops]
    assert gpx.routes[0].name == "Tom & Jerry"
    assert not gpx.tracks
    assert "e-" not in (tmp_path / "r.gpx").read_text().split("<rte>")[1]  # the schema has decimals only


@pytest.mark.parametrize("returns", [False, True])
def test_missions(tmp_path: Path, returns: bool) -> None:
    problem = globe(returns)
    found = evaluate(problem, [2, 0, 3, 1])
    write_plan(found, tmp_path / "r.plan", problem)
    data = json.loads((tmp_path / "r.plan").read_text())
    assert (data["fileType"], data["version"], data["groundStation"]) == ("Plan", 1, "QGroundControl")
    mission = data["mission"]
    assert mission["version"] == 2
    assert mission["plannedHomePosition"] == [PLACES[2][1], PLACES[2][0], 0]
    stops = closed(found.order, returns)
    assert [item["doJumpId"] for item in mission["items"]] == list(range(1, len(stops) + 1))
    assert {(item["type"], item["command"], item["frame"]) for item in mission["items"]} == {("SimpleItem", 16, 3)}
    assert [item["params"][4:6] for item in mission["items"]] == [PLACES[i][::-1] for i in stops]
    assert all(len(item["params"]) == 7 and item["params"][6] == item["Altitude"] for item in mission["items"])


@pytest.mark.parametrize("returns", [False, True])
def test_poses_face_the_next_stop(tmp_path: Path, returns: bool) -> None:
    places = np.array([[0.0, 0], [2, 0], [2, 3], [2, 3]])
    problem = small(coordinates=places, constraints=Constraints(returns=returns))
    found = evaluate(problem, [0, 1, 2, 3])
    write_plan(found, tmp_path / "r.yaml", problem)
    poses = yaml.safe_load((tmp_path / "r.yaml").read_text())["poses"]
    assert {pose["header"]["frame_id"] for pose in poses} == {"map"}
    at = [pose["pose"]["position"] for pose in poses]
    stops = closed(found.order, returns)
    assert [[p["x"], p["y"], p["z"]] for p in at] == [[*places[i], 0] for i in stops]
    home = math.atan2(-3, -2)
    expected = [0, math.pi / 2, math.pi / 2, home, home] if returns else [0, math.pi / 2, math.pi / 2, math.pi / 2]
    for pose, angle in zip(poses, expected, strict=True):
        turn = pose["pose"]["orientation"]
        assert (turn["x"], turn["y"]) == (0, 0)
        assert all(isinstance(value, float) for value in turn.values())
        assert 2 * math.atan2(turn["z"], turn["w"]) == pytest.approx(angle)


def test_plain_orders(tmp_path: Path) -> None:
    write_plan(evaluate(small(), [2, 0, 3, 1]), tmp_path / "r.txt")
    assert np.loadtxt(tmp_path / "r.txt", dtype=int).tolist() == [2, 0, 3, 1]


def test_longitudes_beyond_180_are_normalised(tmp_path: Path) -> None:
    problem = small(coordinates=[[181, 1], [359, 2], [-190, 3], [180, 4]], geographic=True)
    write_plan(evaluate(problem, [0, 1, 2, 3]), tmp_path / "r.gpx", problem)
    gpx = gpxpy.parse((tmp_path / "r.gpx").read_text())
    assert [p.longitude for p in gpx.routes[0].points] == [-179, -1, 170, -180]


def test_missing_requirements_are_reported_before_planning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planar = small(coordinates=PLACES)
    for suffix in PLAN_WRITERS:
        path = tmp_path / f"r{suffix}"
        needs_degrees, needs_metres = suffix in (".geojson", ".gpx", ".kml", ".plan"), suffix == ".yaml"
        for problem, refused in (
            (planar, needs_degrees),
            (globe(), needs_metres),
            (small(), needs_degrees or needs_metres),
        ):
            if refused:
                with pytest.raises(InputError, match=r"files need .*; (give coordinates|at most 100 km)"):
                    check_plan_destination(path, problem)
            else:
                check_plan_destination(path, problem)
                write_plan(plan(problem), path, problem)
    with pytest.raises(InputError, match="needs the coordinates of the regions; give the problem, too"):
        write_plan(plan(planar), tmp_path / "r.gpx")
    robot = str(Path(__file__).parents[2] / "examples" / "warehouse-robot.json")
    assert run(["plan", robot, "-o", str(tmp_path / "x.gpx")]) == 2
    assert "geographic: true" in capsys.readouterr().err
    assert run(["plan", robot, "-o", str(tmp_path / "x.yaml")]) == 0


def test_tables_of_far_places_have_longitudes(tmp_path: Path) -> None:
    problem = globe(travel=None)
    write_plan(plan(problem, "nearest"), tmp_path / "r.csv", problem)
    assert (tmp_path / "r.csv").read_text().splitlines()[0].endswith("score,weight,lon,lat")


HOSTILE = ['=HYPERLINK("http://x")', "+1", "-2", "@SUM(A1)"]


def test_no_name_is_a_formula_in_tables_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = small(regions=HOSTILE)
    found = evaluate(problem, [0, 1, 2, 3])
    write_plan(found, tmp_path / "r.csv", problem)
    write_problem(problem, tmp_path / "p.json")
    rows = list(csv.reader((tmp_path / "r.csv").read_text().splitlines()))
    assert [row[1] for row in rows[1:]] == [f"'{name}" for name in HOSTILE]
    assert run(["tradeoff", str(tmp_path / "p.json"), "-o", str(tmp_path / "t.csv")]) == 0
    assert run(["simulate", str(tmp_path / "p.json"), "--runs", "10", "-o", str(tmp_path / "s.csv")]) == 0
    capsys.readouterr()
    for name in ("r.csv", "t.csv", "s.csv"):
        for row in csv.reader((tmp_path / name).read_text().splitlines()):
            assert not any(cell.startswith(("=", "+", "@", "-2 ")) for cell in row), name
    other = small(regions=["'=a", "=a", "'s-Hertogenbosch", "b"])
    write_plan(evaluate(other, [0, 1, 2, 3]), tmp_path / "r.csv", other)
    names = [row[1] for row in csv.reader((tmp_path / "r.csv").read_text().splitlines())][1:]
    assert names == ["''=a", "'=a", "'s-Hertogenbosch", "b"]  # nothing becomes the same


@pytest.mark.parametrize("name", ["folder", "places.csv", "p.tsp", "p.npz"])
def test_names_that_look_like_formulas_round_trip(tmp_path: Path, name: str) -> None:
    fields: dict[str, Any] = {"coordinates": PLACES, "regions": HOSTILE}
    if name == "places.csv":
        problem = Problem(learner=small().learner, vectors=[[0.0], [1.0], [3.0], [4.0]], **fields)
    else:
        problem = small(**fields)
    (tmp_path / "here").mkdir()
    write_problem(problem, tmp_path / "here" / name)
    assert list(read_problem(tmp_path / "here" / name).regions) == HOSTILE


KML = {"k": "http://www.opengis.net/kml/2.2"}


@pytest.mark.parametrize("returns", [False, True])
def test_kml_has_the_stops_and_the_way(tmp_path: Path, returns: bool) -> None:
    problem = globe(returns, regions=["A & B", '<"C">', "Zürich", "東京"], title="Tom & Jerry")
    found = evaluate(problem, [2, 0, 3, 1])
    write_plan(found, tmp_path / "r.kml", problem)
    root = ElementTree.parse(tmp_path / "r.kml").getroot()
    marks = root.findall("k:Document/k:Placemark", KML)
    assert [mark.findtext("k:name", "", KML) for mark in marks] == [
        "1. Zürich", "2. A & B", "3. 東京", '4. <"C">', "Tom & Jerry",
    ]  # fmt: skip
    points = [mark.findtext("k:Point/k:coordinates", "", KML) for mark in marks[:4]]
    assert [[float(number) for number in text.split(",")] for text in points] == [PLACES[i] for i in found.order]
    (way,) = marks[4].findall("k:MultiGeometry/k:LineString/k:coordinates", KML)
    assert way.text is not None
    line = [[float(number) for number in pair.split(",")] for pair in way.text.split()]
    assert line == [PLACES[i] for i in closed(found.order, returns)]


def test_kml_across_the_date_line_has_two_lines(tmp_path: Path) -> None:
    problem = small(coordinates=[[170, 0], [-170, 0], [175, 10], [179, 5]], geographic=True)
    write_plan(evaluate(problem, [0, 1, 2, 3]), tmp_path / "r.kml", problem)
    lines = ElementTree.parse(tmp_path / "r.kml").getroot().findall(".//k:LineString", KML)
    assert len(lines) == 3  # there, and back again


@pytest.mark.parametrize("home", [[8.54, 47.37], [179.99, -16.5], [0.0, 0.0], [25.0, 84.0]])
def test_poses_from_degrees_keep_distances_and_directions(tmp_path: Path, home: list[float]) -> None:
    rng = np.random.default_rng(0)
    around = 0.2 / math.cos(math.radians(home[1]))
    places = np.array([home, *(home + rng.uniform(-1, 1, (3, 2)) * [around, 0.2])])
    places[1] = [home[0] + around, home[1]]  # due east, nearly
    places[2] = [home[0], home[1] + 0.1]  # due north
    problem = small(coordinates=places, geographic=True, travel=None)
    found = evaluate(problem, [3, 1, 0, 2])
    write_plan(found, tmp_path / "r.yaml", problem)
    text = (tmp_path / "r.yaml").read_text()
    assert f"latitude {home[1]:g}, longitude {home[0]:g}: the map's datum" in text.splitlines()[0]
    poses = [pose["pose"]["position"] for pose in yaml.safe_load(text)["poses"]]
    at = np.empty((4, 2))
    at[list(found.order)] = [[pose["x"], pose["y"]] for pose in poses]
    assert at[0].tolist() == [0, 0]
    assert at[2] == pytest.approx([0, 1000 * problem.travel[0, 2]])
    assert at[1, 0] == pytest.approx(1000 * problem.travel[0, 1], rel=1e-2)
    apart = np.hypot(*(at[:, None] - at[None, :]).transpose(2, 0, 1))
    assert apart[0] == pytest.approx(1000 * problem.travel[0])
    assert apart == pytest.approx(1000 * problem.travel, rel=1e-4)


def test_the_datum_of_poses_is_the_depot(tmp_path: Path) -> None:
    places = [[8.54, 47.37], [8.56, 47.37], [8.54, 47.39], [8.5, 47.35]]
    depot = Depot("Yard", coordinates=[8.52, 47.36])
    problem = small(coordinates=places, geographic=True, travel=None, depot=depot)
    write_plan(evaluate(problem, [3, 1, 0, 2]), tmp_path / "r.yaml", problem)
    text = (tmp_path / "r.yaml").read_text()
    assert "latitude 47.36, longitude 8.52: the map's datum" in text.splitlines()[0]
    at = np.array([[pose["pose"]["position"][axis] for axis in "xy"] for pose in yaml.safe_load(text)["poses"]])
    assert at[0].tolist() == at[-1].tolist() == [0, 0]  # from the depot, and back
    costs = 1000 * problem.ways.matrix[4, [3, 1, 0, 2]]
    assert np.hypot(*at[1:-1].T) == pytest.approx(costs)


def test_places_too_far_apart_for_a_flat_map_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.yaml files need places on one flat map, but '.*' is \d+ km from"):
        check_plan_destination(tmp_path / "r.yaml", globe())
