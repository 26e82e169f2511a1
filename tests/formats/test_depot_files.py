"""A depot in files: problems of every format, round trips, and plans that start and end there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from learnroute import (
    Constraints,
    Depot,
    InputError,
    Learner,
    Problem,
    plan,
    read_plan,
    read_problem,
    verify,
    write_plan,
)
from learnroute.formats import plan_from, write_problem
from learnroute.formats.schemas import plan_schema, problem_schema

NAMES = ["Harbour", "Old Town", "Airport", "Station"]


def problem_of(*, places: bool = False, returns: bool = True, symmetric: bool = True) -> Problem:
    rng = np.random.default_rng(4)
    where = rng.uniform(4, 6, (5, 2))
    fields: dict[str, Any] = {
        "learner": Learner(30, 20, 0.5), "regions": NAMES, "coordinates": where[:4], "geographic": True,
        "vectors": rng.random((4, 2)), "title": "Four", "initial": rng.random(4),
        "constraints": Constraints(end="Airport"),
    }  # fmt: skip
    if places:
        return Problem(**fields, depot=Depot("Base", where[4], returns=returns))
    travel = rng.uniform(1, 2, (5, 5))
    travel = travel + travel.T if symmetric else travel
    np.fill_diagonal(travel, 0)
    depot = Depot("Base", where[4], travel[4, :4], travel[:4, 4], returns)
    return Problem(travel[:4, :4], **fields, depot=depot)


FILES = ("p.json", "p.geojson", "p.npz", "p.tsp", "folder", "p.atsp")


@pytest.mark.parametrize("returns", [True, False])
@pytest.mark.parametrize(("name", "places"), [(f, p) for f in FILES for p in (True, False)] + [("p.csv", True)])
def test_problems_with_a_depot_are_the_same_after_a_file(
    tmp_path: Path, name: str, places: bool, returns: bool
) -> None:
    problem = problem_of(places=places, returns=returns, symmetric=name != "p.atsp")
    write_problem(problem, tmp_path / name)
    found = read_problem(tmp_path / name)
    assert found.stops == problem.stops
    assert found.closed == problem.closed == returns
    assert found.constraints == problem.constraints
    np.testing.assert_array_equal(found.ways.matrix, problem.ways.matrix)
    assert found.stop_coordinates is not None
    np.testing.assert_array_equal(found.stop_coordinates, problem.stop_coordinates)
    assert plan(found).loss == plan(problem).loss


def test_schema_accepts_written_and_hand_written_files(tmp_path: Path) -> None:
    schema = problem_schema()
    write_problem(problem_of(), tmp_path / "p.json")
    data = json.loads((tmp_path / "p.json").read_text())
    Draft202012Validator(schema).validate(data)
    Draft202012Validator(schema).validate({**data, "depot": "Harbour"})
    assert list(Draft202012Validator(schema).iter_errors({**data, "depot": {"nme": "Base"}}))
    found = plan(problem_of())
    Draft202012Validator(plan_schema()).validate(found.to_dict())


@pytest.mark.parametrize("own", [True, False], ids=["with its numbers", "without"])
def test_a_region_of_a_json_file_is_named_as_the_depot(tmp_path: Path, own: bool) -> None:
    whole = problem_of()
    stops, travel = [*NAMES, "Base"], whole.ways.matrix.tolist()
    assert whole.vectors is not None
    assert whole.stop_coordinates is not None
    vectors = [*whole.vectors.tolist(), *([[9.0, 9.0]] if own else [])]
    initial = [*whole.initial.tolist(), *([3.0] if own else [])]
    data = {"regions": stops, "travel": travel, "vectors": vectors, "initial": initial, "depot": "Base",
            "coordinates": whole.stop_coordinates.tolist(), "geographic": True, "constraints": {"end": "Airport"},
            "learner": {"features": 30, "samples": 20, "noise": 0.5}}  # fmt: skip
    (tmp_path / "p.json").write_text(json.dumps(data))
    found = read_problem(tmp_path / "p.json")
    assert plan(found).loss == plan(whole).loss
    (tmp_path / "p.json").write_text(json.dumps({**data, "depot": "Bas"}))
    with pytest.raises(InputError, match=r"depot = 'Bas'.*did you mean.*Base"):
        read_problem(tmp_path / "p.json")


def test_a_table_of_places_marks_its_depot(tmp_path: Path) -> None:
    (tmp_path / "learner.csv").write_text("features,samples,noise\n30,20,0.5\n")
    rows = ["name,x,y,v1,depot", "A,0,0,1,", "Base,1,1,,yes", "B,2,0,2,no", "C,0,2,3,"]
    (tmp_path / "p.csv").write_text("\n".join(rows))
    problem = read_problem(tmp_path / "p.csv")
    assert problem.stops == ("A", "B", "C", "Base")
    assert problem.depot is not None
    assert problem.depot.place.tolist() == [1, 1]
    for wrong, line in ((",maybe", "depot = 'maybe'"), (",yes", "second depot; only one is allowed")):
        (tmp_path / "p.csv").write_text("\n".join([*rows[:-1], f"C,0,2,3{wrong}"]))
        with pytest.raises(InputError, match=line):
            read_problem(tmp_path / "p.csv")
    (tmp_path / "p.csv").write_text("\n".join(row.rpartition(",")[0] for row in [rows[0], rows[1], *rows[3:]]))
    (tmp_path / "options.csv").write_text("depot\nBse\n")
    with pytest.raises(InputError, match=r"options\.csv: depot = 'Bse'.*no such region"):
        read_problem(tmp_path / "p.csv")


GRAPH = """<graphml><key id="r" for="node" attr.name="region"/><key id="d" for="node" attr.name="depot"/>
<key id="v" for="node" attr.name="vector"/><key id="x" for="node" attr.name="lon"/>
<key id="y" for="node" attr.name="lat"/><key id="l" for="edge" attr.name="length"/>
<key id="f" for="graph" attr.name="features"/><key id="s" for="graph" attr.name="samples"/>
<graph edgedefault="undirected"><data key="f">30</data><data key="s">20</data>
{nodes}<edge source="n0" target="c"><data key="l">1</data></edge><edge source="n1" target="c"><data key="l">2</data>
</edge><edge source="n2" target="c"><data key="l">3</data></edge><edge source="n3" target="c"><data key="l">4</data>
</edge></graph></graphml>"""


def test_a_node_of_a_street_graph_is_the_depot(tmp_path: Path) -> None:
    places = {"n0": (0, 0), "n1": (1, 0), "n2": (0, 1), "n3": (1, 1), "c": (0.5, 0.4)}
    marks = {"n0": '<data key="r">A</data><data key="v">1</data>', "n1": '<data key="d">Base</data>',
             "n2": '<data key="r">B</data><data key="v">2</data>', "n3": '<data key="r">C</data><data key="v">4</data>',
             "c": ""}  # fmt: skip
    nodes = "".join(
        f'<node id="{n}"><data key="x">{x}</data><data key="y">{y}</data>{marks[n]}</node>'
        for n, (x, y) in places.items()
    )
    (tmp_path / "p.graphml").write_text(GRAPH.format(nodes=nodes))
    problem = read_problem(tmp_path / "p.graphml")
    assert problem.stops == ("A", "B", "C", "Base")
    np.testing.assert_array_equal(problem.ways.matrix[3], [3, 5, 6, 0])
    assert problem.streets is not None
    assert problem.streets.path(3, 0).tolist() == [[1, 0], [0.5, 0.4], [0, 0]]
    found = plan(problem)
    assert verify(problem, found).verdict == "confirmed"
    write_plan(found, tmp_path / "r.gpx", problem)
    points = ElementTree.parse(tmp_path / "r.gpx").iter("{http://www.topografix.com/GPX/1/1}trkpt")
    assert len(list(points)) == 9  # five stops, and the crossing on each of four ways
    (tmp_path / "p.graphml").write_text(GRAPH.format(nodes=nodes.replace('<data key="d">Base</data>', "")))
    (tmp_path / "p.regions.json").write_text(json.dumps({"depot": "n1"}))
    assert read_problem(tmp_path / "p.graphml").stops == ("A", "B", "C", "n1")


@pytest.mark.parametrize("returns", [True, False])
def test_plans_start_and_end_at_the_depot_in_every_format(tmp_path: Path, returns: bool) -> None:
    problem = problem_of(places=True, returns=returns)
    found = plan(problem)
    stops = list(found.stops)
    assert stops == ["Base", *found.route, *(["Base"] if returns else [])]
    for suffix in ("gpx", "kml", "geojson", "plan", "csv", "json", "tour", "txt", "npz"):
        write_plan(found, tmp_path / f"r.{suffix}", problem)
    names = ElementTree.parse(tmp_path / "r.gpx").iter("{http://www.topografix.com/GPX/1/1}rtept")
    assert [point[0].text for point in names] == stops
    placemarks = ElementTree.parse(tmp_path / "r.kml").iter("{http://www.opengis.net/kml/2.2}Placemark")
    called = [str(mark[0].text) for mark in placemarks]
    assert called == ["Base", *(f"{k}. {name}" for k, name in enumerate(found.route, 1)), "Four"]
    features = json.loads((tmp_path / "r.geojson").read_text())["features"]
    assert [f["properties"]["position"] for f in features[:-1]] == [0, 1, 2, 3, 4]
    assert features[0]["properties"]["score"] is None
    assert len(features[-1]["geometry"]["coordinates"]) == len(stops)
    mission = json.loads((tmp_path / "r.plan").read_text())["mission"]
    assert len(mission["items"]) == len(stops)
    assert problem.depot is not None
    assert mission["plannedHomePosition"][:2] == problem.depot.place.tolist()[::-1]
    table = [line.split(",") for line in (tmp_path / "r.csv").read_text().splitlines()]
    assert [row[1] for row in table[1:]] == stops
    assert table[1][:4] == ["0", "Base", "", "0.0"]
    assert float(table[-1][4]) == pytest.approx(found.travel_cost, rel=1e-12)
    tour = (tmp_path / "r.tour").read_text().split("TOUR_SECTION\n")[1].split()[:-2]
    assert tour == [str(i + 1) for i in (4, *found.order)]
    assert (tmp_path / "r.txt").read_text().split() == [str(i) for i in found.order]
    again = plan_from(read_plan(tmp_path / "r.json"), problem)
    assert again.stops == found.stops
    assert verify(problem, again).verdict == "confirmed"


def test_a_robot_drives_back_to_the_depot(tmp_path: Path) -> None:
    problem = problem_of(places=True)
    near = Problem(learner=problem.learner, coordinates=[[0, 0], [3, 0], [3, 4]], vectors=[[0], [1], [2]],
                   depot=Depot("Dock", (0, 4)))  # fmt: skip
    write_plan(plan(near), tmp_path / "r.yaml", near)
    lines = (tmp_path / "r.yaml").read_text().splitlines()
    assert [line.strip() for line in lines if "#" in line][::4] == ["# Dock", "# Dock"]
    assert sum("position: {x: 0.0, y: 4.0" in line for line in lines) == 2
