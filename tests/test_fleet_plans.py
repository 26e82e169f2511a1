"""Plans of several vehicles or models: content, files, and comparison of sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from learnroute import Fleet, InputError, Learner, Problem, Visits, compare_fleets, evaluate, plan
from learnroute.cli import run
from learnroute.fleet_tables import federated_error
from learnroute.formats import plan_from, read_plan, read_problem, write_plan, write_problem
from learnroute.model.routes import Routes

EXAMPLE = Path(__file__).parent.parent / "examples" / "city-survey.json"
PLACES = [[5.1, 52.1], [5.2, 52.1], [5.1, 52.2], [5.3, 52.0], [5.0, 52.3]]


def problem(size: int = 5, **members: object) -> Problem:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(size, 3))
    given = {
        "coordinates": PLACES[:size], "geographic": True, "vectors": vectors, "initial": (vectors**2).sum(axis=1) + 0.5,
        "learner": Learner(20, 30, 0.4), "travel_rate": 0.02, **members,
    }  # fmt: skip
    return Problem(**given)


FLEETS = [
    Fleet(vehicles=2),
    Fleet(vehicles=2, serve="own", travel="longest"),
    Fleet(vehicles=2, weights="equal", limit=30.0),
    Fleet(models=2),
    Fleet(models=2, serve="merged"),
]


@pytest.mark.parametrize("fleet", FLEETS, ids=str)
def test_plans_and_problems_are_read_as_they_were_written(fleet: Fleet, tmp_path: Path) -> None:
    asked = problem(fleet=fleet, visits=Visits(required=["R1", "R5"]))
    made = plan(asked)
    for name in ("p.json", "p.geojson", "p.npz", "p", "p.csv"):
        write_problem(asked, tmp_path / name)
        assert read_problem(tmp_path / name).fleet == fleet
    write_plan(made, tmp_path / "plan.json")
    again = plan_from(read_plan(tmp_path / "plan.json"), asked)
    assert again.to_dict() == made.to_dict()
    assert ("route" in made.to_dict()) == (fleet.vehicles == 1)
    given = made.route if fleet.vehicles == 1 else made.routes
    priced = evaluate(asked, given, models=made.models)
    assert (priced.loss, priced.weights, priced.served_by) == (made.loss, made.weights, made.served_by)


def test_one_vehicle_with_one_model_is_what_it_was_without_a_fleet() -> None:
    for rule in ({}, {"rule": "proximal", "regularization": 0.5}):
        plain = problem(learner=Learner(20, 30, 0.4, **rule))
        alone = plan(plain.replace(fleet=Fleet(vehicles=1)))
        assert alone.to_dict() | {"seconds": 0} == plan(plain).to_dict() | {"seconds": 0}
    limited = plan(problem(fleet=Fleet(limit=12.0), visits=Visits()))
    assert limited.loss == plan(problem(visits=Visits(budget=12.0))).loss


@pytest.mark.parametrize("method", ["auto", "search"])
@pytest.mark.parametrize("serve", ["merged", "own"])
def test_a_hundred_vehicles_are_planned_like_one_more_than_regions(
    serve: Literal["merged", "own"], method: str
) -> None:
    asked = {count: problem(4, fleet=Fleet(vehicles=count, serve=serve)) for count in (5, 100)}
    assert asked[100].instance.without_idle().fleet.size == 5
    few, many = (plan(each, method=method) for each in asked.values())
    assert many.loss == few.loss
    assert list(many.routes) == [*few.routes, *[()] * 95]
    start = Routes.of_vehicles([[], [1, 0], [], [3, 2], *[[]] * 96])
    assert start.resize(5) == Routes.of_vehicles([[1, 0], [3, 2], [], [], []])


def test_a_hundred_models_are_planned_like_one_more_than_regions() -> None:
    assert problem(4, fleet=Fleet(models=100)).instance.without_idle().fleet.size == 5
    few, many = (plan(problem(4, fleet=Fleet(models=count))) for count in (5, 100))
    assert (many.loss, many.route, many.models) == (few.loss, few.route, few.models)


def test_each_vehicle_has_a_file_and_tables_have_a_column(tmp_path: Path) -> None:
    asked = problem(fleet=Fleet(vehicles=3, serve="own"))
    made = evaluate(asked, [["R1", "R2"], [], ["R3", "R5", "R4"]])
    written = write_plan(made, tmp_path / "out.gpx", asked)
    assert [path.name for path in written] == ["out-1.gpx", "out-3.gpx"]
    text = written[1].read_text()
    assert ("R5" in text, "R1" in text) == (True, False)
    table = made.to_frame()
    assert table.vehicle.tolist() == [1, 1, 3, 3, 3]
    assert table.position.tolist() == [1, 2, 1, 2, 3]
    write_plan(made, tmp_path / "out.geojson", asked)
    features = json.loads((tmp_path / "out.geojson").read_text())["features"]
    lines = [one["properties"]["vehicle"] for one in features if one["geometry"]["type"] == "LineString"]
    assert lines == [1, 3]
    assert made.travels is not None
    assert made.travels[1] == 0
    assert made.travel_cost == pytest.approx(sum(made.travels))
    with pytest.raises(InputError, match="TSPLIB"):
        write_plan(made, tmp_path / "out.tour", asked)


def test_models_of_one_vehicle_are_a_column() -> None:
    asked = problem(fleet=Fleet(models=2))
    made = evaluate(asked, ["R1", "R2", "R3", "R4", "R5"], models=[0, 1, 1, 0, 1])
    assert made.to_frame().model.tolist() == [1, 2, 2, 1, 2]
    assert made.to_dict()["models"] == [0, 1, 1, 0, 1]
    assert set(made.served_by or {}) == set(asked.regions)


def test_pictures_are_drawn() -> None:
    made = evaluate(problem(fleet=Fleet(vehicles=2, serve="own")), [["R1", "R2"], ["R3", "R5", "R4"]])
    assert "2 routes, one colour each" in made.plot().subfigs[0].axes[0].get_title(loc="left")
    single = evaluate(problem(fleet=Fleet(models=2), visits=Visits()), ["R1", "R2"], models=[0, 1])
    assert "2 models, one shape each" in single.plot().subfigs[0].axes[0].get_title(loc="left")


def test_lambda_is_chosen_with_the_fleet() -> None:
    asked = problem(4, learner=Learner(20, 10, 0.6, rule="proximal", regularization="auto"), fleet=Fleet(vehicles=2))
    made = plan(asked)
    assert made.chosen == "auto"
    least = min(plan(asked.with_regularization(value)).loss.total for value in np.geomspace(0.01, 100, 9))
    assert made.loss.total <= least * (1 + 1e-9)


def federated_errors(problem: Problem, rounds: int, fresh: bool, runs: int) -> np.ndarray:
    """Simulate federated averaging of a proximal learner; without fresh samples, clients keep the first ones."""
    assert problem.vectors is not None
    truth, (size, m), rng = problem.vectors, problem.vectors.shape, np.random.default_rng(5)
    n, noise, strength = problem.learner.samples, problem.learner.noise, problem.learner.regularization
    models = np.zeros((runs, m))
    for done in range(rounds):
        if fresh or done == 0:
            x = rng.normal(size=(runs, size, n, m))
            y = np.einsum("rknm,km->rkn", x, truth) + noise * rng.normal(size=(runs, size, n))
        residuals = y - np.einsum("rknm,rm->rkn", x, models)
        slopes = np.einsum("rknm,rkn->rkm", x, residuals) / n
        curvature = np.einsum("rkna,rknb->rkab", x, x) / n + strength * np.eye(m)
        models = models + np.linalg.solve(curvature, slopes[..., None])[..., 0].mean(axis=1)
    errors: np.ndarray = ((truth - models[:, None]) ** 2).sum(axis=2).mean(axis=1)
    return errors


@pytest.mark.parametrize("samples", [3, 9])
def test_federated_averaging_is_what_it_is_on_average_with_fresh_data(samples: int) -> None:
    """Fixed local data, on which clients train again and again, give larger errors than the law says."""
    truth = np.random.default_rng(5).normal(size=(3, 5))
    asked = Problem(
        travel=np.ones((3, 3)) - np.eye(3), vectors=truth, initial=(truth**2).sum(axis=1),
        learner=Learner(5, samples, 0.7, rule="proximal", regularization=0.3),
    )  # fmt: skip
    law = federated_error(asked, 6)
    for fresh in (True, False):
        errors = federated_errors(asked, 6, fresh, 3000)
        above = (errors.mean() - law) / (errors.std(ddof=1) / np.sqrt(len(errors)))
        assert abs(above) < 3 if fresh else above > 3


def test_rows_of_fleets_state_their_samples() -> None:
    """Each round of federated averaging takes fresh samples, which the row says and counts."""
    asked = problem(samples=[4, 5, 6, 7, 8], visits=Visits())
    found = compare_fleets(asked, [1, 2], [2], rounds=3)
    for row in found.rows[:5]:
        assert row.samples == sum(4 + asked.regions.index(name) for route in row.routes for name in route)
    assert [(row.name, row.samples) for row in found.rows[5:]] == [
        ("federated averaging, 1 round of fresh data", 30), ("federated averaging, 3 rounds of fresh data", 90),
    ]  # fmt: skip
    table = found.table()
    shown = table.rows[-1][[column.name for column in table.columns].index("samples")]
    assert shown == found.to_dict()["rows"][-1]["samples"] == 90
    unknown = problem(learner=Learner(rule="calibrated", retention=0.5, coupling=0.1, noise=0.01))
    assert {row.samples for row in compare_fleets(unknown, [1], [1]).rows} == {None}


def test_the_table_of_fleets() -> None:
    found = compare_fleets(problem(), [1, 2], [2], rounds=3)
    names = [row.name for row in found.rows]
    assert names == [
        "1 vehicle", "2 vehicles, merged", "2 vehicles, own", "2 models, merged", "2 models, own",
        "federated averaging, 1 round of fresh data", "federated averaging, 3 rounds of fresh data",
    ]  # fmt: skip
    planned = found.rows[:5]
    assert all(row.optimal for row in planned)
    assert found.rows[found.best].total == min(row.total for row in planned)
    assert planned[1].total <= planned[0].total  # one of the two may stay at home
    assert planned[3].total == pytest.approx(planned[3].error + 0.02 * planned[3].travel / 5)
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["serve"] == "merged"
    assert "below that of one vehicle" in dict(found.sheet().lines)["in short"]
    measured = problem(vectors=None, transfer=np.ones((5, 5)), learner=Learner(rule="calibrated", retention=0.5,
                       coupling=0.1, noise=0.01))  # fmt: skip
    assert {row.serve for row in compare_fleets(measured, [2], [2]).rows} == {"own"}


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"fleet": {"vehicles": 2, "models": 2}}, "fleet.models = 2: each vehicle carries one model"),
        ({"fleet": {"vehicles": 0}}, "fleet.vehicles = 0"),
        ({"fleet": {"vehicles": 2, "serve": "all"}}, "fleet.serve = 'all'"),
        ({"fleet": {"vehicles": 2, "limit": -1}}, "fleet.limit = -1"),
        ({"fleet": {"vehicles": 2, "weights": "equal", "serve": "own"}}, "fleet.weights = 'equal'"),
        ({"fleet": {"wheels": 4}}, "fleet.wheels"),
        ({"fleet": {"vehicles": 2}, "constraints": {"start": "Harbour"}}, "constraints.start = 'Harbour'"),
        ({"fleet": {"vehicles": 2}, "initial": [0] * 12}, "initial is missing or 0 for all regions"),
    ],
)  # fmt: skip
def test_contradictions_are_one_line(members: dict[str, object], said: str) -> None:
    data = json.loads(EXAMPLE.read_text()) | members
    with pytest.raises(InputError) as refusal:
        Problem.from_dict(data)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_merging_needs_distances_and_a_linear_law() -> None:
    calibrated = {"rule": "calibrated", "retention": 0.5, "coupling": 0.1, "noise": 0.01}
    fleet = Fleet(vehicles=2)
    with pytest.raises(InputError, match="averaging needs squared distances"):
        problem(vectors=None, transfer=np.ones((5, 5)), learner=Learner(**calibrated), fleet=fleet)
    with pytest.raises(InputError, match="averaging needs squared distances"):
        problem(learner=Learner(**calibrated, common_retention=0.7), fleet=fleet)


@pytest.mark.parametrize(
    ("routes", "models", "said"),
    [
        ([["R1", "R2"], ["R3"]], None, "region 'R4' is missing"),
        ([["R1", "R2", "R3", "R4", "R5", "R1"], []], None, "6 visits"),
        ([["R1"], ["R2"], ["R3", "R4", "R5"]], None, "3 routes for 2 vehicles"),
        (["R1", "R2"], None, "a list of region names per vehicle"),
    ],
)
def test_routes_that_break_rules_are_rejected(routes: list[object], models: list[int] | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        evaluate(problem(fleet=Fleet(vehicles=2)), routes, models=models)


def test_limits_are_kept_or_rejected() -> None:
    asked = problem(fleet=Fleet(vehicles=2, limit=25.0))
    made = plan(asked)
    assert max(made.travels or ()) <= 25.0
    with pytest.raises(InputError, match=r"fleet\.limit"):
        evaluate(asked, [["R1", "R4", "R5", "R3"], ["R2"]])
    with pytest.raises(InputError, match=r"fleet\.limit = 1"):
        plan(asked.replace(fleet=Fleet(vehicles=2, limit=1.0)))


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "plan.json"
    assert run(["plan", str(EXAMPLE), "--vehicles", "2", "--optional", "--limit", "12", "-o", str(made)]) == 0
    assert "vehicle 2" in capsys.readouterr().out
    assert len(json.loads(made.read_text())["routes"]) == 2
    picture = tmp_path / "fleet.png"
    asked = ["fleet", str(EXAMPLE), "--vehicles", "1,2", "--models", "1", "--json", "--at-most", "3"]
    assert run([*asked, "--plot", str(picture)]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["vehicles"] for row in rows] == [1, 2, 2, 0, 0]
    assert picture.exists()
    given = ["--route", "0,1,2,3,4,5", "--route", "6,7,8,9,10,11", "--json"]
    assert run(["evaluate", str(EXAMPLE), "--vehicles", "2", *given]) == 0
    assert [len(route) for route in json.loads(capsys.readouterr().out)["routes"]] == [6, 6]
    visits = ["--optional", "--route", "0,1", "--trained", "2,1", "--json"]
    assert run(["evaluate", str(EXAMPLE), "--models", "2", *visits]) == 0
    assert json.loads(capsys.readouterr().out)["models"] == [1, 0]
    assert run(["fleet", str(EXAMPLE), "--vehicles", "3-x"]) == 2
    assert run(["plan", str(EXAMPLE), "--vehicles", "2", "--models", "2"]) == 2
    assert capsys.readouterr().err.count("\n") == 2
