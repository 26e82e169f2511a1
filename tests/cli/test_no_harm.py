"""No user data are lost, changed or silently ignored."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from learnroute import Constraints, InputError, Journey, Learner, Problem, plan, read_problem, verify, write_plan
from learnroute.cli import commands
from learnroute.study.families import random_problem
from samples import OVER, UNDER

WAREHOUSE = "examples/warehouse-robot.json"


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(commands, [str(a) for a in arguments], standalone_mode=False)


def test_files_of_another_problem_are_not_replaced(tmp_path: Path) -> None:
    town = tmp_path / "town"
    shutil.copytree("examples/burma14", town)
    before = (town / "burma14.regions.json").read_text()
    refused = call("convert", town / "burma14.tsp", town / "burma14.atsp").exception
    assert f"burma14.atsp: would overwrite the input {town / 'burma14.regions.json'}" in str(refused)
    refused = call("convert", WAREHOUSE, town / "burma14.atsp").exception
    assert "burma14.regions.json: exists and belongs to another problem" in str(refused)
    assert (town / "burma14.regions.json").read_text() == before
    read_problem(town / "burma14.tsp")

    sensors = tmp_path / "sensors"
    shutil.copytree("examples/sensors", sensors)
    assert "belongs to another problem" in str(call("convert", WAREHOUSE, sensors).exception)
    read_problem(sensors / "places.csv")
    assert call("convert", WAREHOUSE, tmp_path / "own").exit_code == 0
    assert call("convert", WAREHOUSE, tmp_path / "own").exit_code == 0  # the same again
    for name in ("learner.csv", "options.csv", "travel.csv"):
        refused = call("convert", "examples/lakes.geojson", tmp_path / name).exception
        assert "is reserved for another table of a problem; give another name" in str(refused)
        assert not (tmp_path / name).exists()


def test_failed_replanning_undoes_the_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem("euclidean", 6, OVER, 1).replace(constraints=Constraints(returns=True))
    trip = Journey(problem, "algorithm1")
    while trip.next is not None:  # the way on is not symmetric: planned by another method
        trip.visit()
    trip = Journey(problem)
    before = trip.to_dict()

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Journey, "_plan", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trip.visit()
    assert trip.to_dict() == before


def test_journeys_say_what_no_longer_holds(tmp_path: Path) -> None:
    file = tmp_path / "trip.json"
    problem = tmp_path / "problem.json"
    data = {**json.loads(Path(WAREHOUSE).read_text()), "constraints": {"start": "Receiving", "end": "Dispatch"}}
    problem.write_text(json.dumps(data))
    assert call("journey", file, "--begin", problem).exit_code == 0
    assert "fixed when the journey starts; give" in str(call("journey", file, "--method", "exact").exception)
    text = call("journey", file, "--visited", "Dispatch").output
    assert "began at Dispatch, not at Receiving" in text
    assert "Dispatch has been visited already, so any region may be the last one" in text


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"lower_bound": None, "optimal": True}, "optimum"),
        ({"travel_cost": 1.0}, "travel_cost"),
        ({"travel_rate": 2.0}, "travel_rate"),
        ({"closed": True}, "closed"),
        ({"regime": "under"}, "regime"),
        ({"constraints": {"start": "Packing"}}, "constraints"),
        ({"gap": 0.5}, "gap"),
        ({"certified_ratio": 1.5}, "certified_ratio"),
        ({"route": 5}, "route"),
    ],
)
def test_verify_checks_every_derived_member(change: dict[str, Any], what: str) -> None:
    problem = read_problem(WAREHOUSE)
    plan_data = plan(problem, "baseline").to_dict()
    assert all(check.holds for check in verify(problem, plan_data))
    assert what in [check.what for check in verify(problem, {**plan_data, **change}) if check.holds is False]


@pytest.mark.parametrize("bound", ["abc", [1], True])
def test_verify_refutes_values_that_are_not_numbers(bound: Any) -> None:
    problem = read_problem(WAREHOUSE)
    with pytest.raises(InputError, match="lower_bound = "):
        verify(problem, {**plan(problem, "baseline").to_dict(), "lower_bound": bound})


def test_plans_close_to_the_best_pass_their_own_check() -> None:
    problem = Problem(
        [[0, 1, 9], [1, 0, 2], [9, 2, 0]], Learner(10, 20), [[0, 1, 1], [1, 0, 1], [1, 1, 0]], travel_rate=1e-11
    )
    for method in ("exact", "travel", "nearest", "random"):
        assert all(check.holds for check in verify(problem, plan(problem, method).to_dict()))


def test_travel_of_no_worth_still_has_a_shortest_route() -> None:
    problem = read_problem(WAREHOUSE)
    shortest = plan(problem, "travel").travel_cost
    assert plan(problem.replace(travel_rate=0), "travel").travel_cost == pytest.approx(shortest, rel=1e-12)
    many = random_problem("closure", 22, Learner(130, 100, 0.1), 3).replace(travel_rate=0)
    assert plan(many).optimal


def test_names_are_printed_as_they_are(tmp_path: Path) -> None:
    data = json.loads(Path(WAREHOUSE).read_text())
    names = [r"\[red]", "Bus :car: stop", "[bold]", "a, b", 'q"q', "Zoë", "x", "y"]
    file = tmp_path / "problem.json"
    file.write_text(json.dumps({**data, "regions": names, "title": ":smile:"}))
    text = call("plan", file).output
    for name in [*names, ":smile:"]:
        assert name in text


def test_lines_are_cut_at_the_date_line(tmp_path: Path) -> None:
    problem = Problem(
        learner=UNDER, vectors=[[0.0], [1.0], [2.0]], geographic=True,
        coordinates=[[179.0, 10.0], [-179.0, 12.0], [-178.0, 12.0]],
    )  # fmt: skip
    assert problem.travel[0, 1] < 320
    write_plan(plan(problem), tmp_path / "route.geojson", problem)
    line = json.loads((tmp_path / "route.geojson").read_text())["features"][-1]["geometry"]
    assert line["type"] == "MultiLineString"
    assert abs(line["coordinates"][0][-1][0]) == 180
    for part in line["coordinates"]:
        assert all(abs(a[0] - b[0]) < 180 for a, b in pairwise(part))


def test_the_return_trip_is_in_the_table(tmp_path: Path) -> None:
    problem = read_problem(WAREHOUSE, constraints={"return": True})
    found = plan(problem)
    write_plan(found, tmp_path / "plan.csv", problem)
    rows = [line.split(",") for line in (tmp_path / "plan.csv").read_text().splitlines()]
    assert len(rows) == 1 + 8 + 1
    assert float(rows[-1][4]) == pytest.approx(found.travel_cost, rel=1e-12)
    assert rows[-1][1] == found.route[0]


def test_costs_that_differ_by_rounding_are_the_same_both_ways() -> None:
    travel = np.array([[0, 0.3, 1], [0.1 + 0.2, 0, 1], [1, 1, 0]])
    delta = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert plan(Problem(travel, UNDER, delta), "algorithm1").method == "algorithm1"
    travel[1, 0] = 0.3001
    other = Problem(travel, UNDER, delta)
    assert other.travel[0, 1] != other.travel[1, 0]


def test_samples_by_region_replace_the_learners_own(tmp_path: Path) -> None:
    data = json.loads(Path(WAREHOUSE).read_text())
    file = tmp_path / "problem.json"
    file.write_text(json.dumps({**data, "learner": {"features": 100, "samples": 100}, "samples": [50] * 8}))
    assert read_problem(file).regime == "over"
    refused = call("plan", file, "--features", "51").exception
    assert "--features = 51 with samples[0] = 50" in str(refused)
