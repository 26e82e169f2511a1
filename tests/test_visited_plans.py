"""Plans with skipped and repeated regions: pictures, tables, files, training along them."""

from __future__ import annotations

import csv
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import gpxpy
import numpy as np
import pytest
import yaml

from learnroute import (
    InputError,
    Plan,
    Problem,
    Proximal,
    Visits,
    evaluate,
    read_plan,
    read_problem,
    with_depot,
    write_plan,
)
from learnroute.cli import run
from learnroute.formats import PLAN_WRITERS, check_plan_destination, plan_from
from learnroute.learning import RegionData, RouteRegressor, calibrate, follow, transfer
from learnroute.model.subsets import restrict_to
from learnroute.model.validation import FloatArray
from learnroute.plots import draw_plan
from learnroute.plots.label_placement import LABEL
from learnroute.plots.routes import SKIPPED

PLACES = [[8.5, 47.4], [8.6, 47.5], [8.7, 47.3], [8.4, 47.2], [8.3, 47.6]]
NAMES = ["A", "B", "C", "D", "E"]
ROUTES = {"skips": "CA", "repeats": "ABA", "twice in a row": "ABB", "one visit": "D", "all": "EDCBA"}


def five_regions(**changes: Any) -> Problem:
    vectors = np.random.default_rng(3).standard_normal((5, 3))
    fields: dict[str, Any] = {
        "learner": Proximal(30, 60, 0.2, regularization=1.0), "vectors": vectors, "coordinates": PLACES,
        "geographic": True, "regions": NAMES, "initial": (vectors**2).sum(axis=1) + 1, "travel_rate": 0.01,
        "visits": Visits(repeat=2), "title": "Five",
    }  # fmt: skip
    return Problem(**{**fields, **changes})


def with_ends(kind: str) -> Problem:
    problem = five_regions()
    if kind == "depot":
        return with_depot(problem, [8.55, 47.35])
    return problem.replace(constraints=problem.constraints.from_dict({"return": True})) if kind == "back" else problem


@pytest.fixture(params=["open", "back", "depot"])
def problem(request: pytest.FixtureRequest) -> Problem:
    return with_ends(request.param)


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_pictures_show_numbers_and_hollow_regions(problem: Problem, route: str, tmp_path: Path) -> None:
    found = evaluate(problem, list(route))
    figure = draw_plan(found, problem)
    figure.savefig(tmp_path / "a.png")
    axes = figure.axes[0]
    labels = {text.get_text(): text.get_color() for text in axes.texts if text.get_gid() == LABEL}
    for name in NAMES:
        numbers = [k + 1 for k, there in enumerate(route) if there == name]
        text = f"{', '.join(map(str, numbers))} {name}" if len(numbers) > 1 else name
        assert labels[text] == ("black" if numbers else SKIPPED)
    hollow = next(marks for marks in axes.collections if marks.get_gid() == "skipped")
    assert len(np.asarray(hollow.get_offsets())) == len(found.skipped) == 5 - len(set(route))
    if len(set(route)) < 5:
        assert found.visited in figure.get_suptitle()


def test_sheets_say_what_is_skipped_and_what_each_visit_brings(capsys: pytest.CaptureFixture[str]) -> None:
    found = evaluate(with_ends("depot"), ["C", "A", "C"])
    assert found.contributions is not None
    assert found.untrained is not None
    assert found.visited == "3 visits to 2 of 5 regions"
    frame = found.to_frame()
    assert frame["region"].tolist() == ["Depot", "C", "A", "C", "Depot"]
    assert frame["total_without"].tolist()[1:-1] == list(found.contributions)
    sheet = found.sheet()
    assert dict(sheet.lines)["skipped"] == "3 of 5 regions: B, D, E"
    assert dict(sheet.lines)["untrained"] == f"total loss {found.untrained:.6g} without any visit"
    assert sheet.headline.startswith("3 visits to 2 of 5 regions, total loss")
    assert "total loss without it" in found._repr_html_()
    once = evaluate(five_regions(visits=None), NAMES)
    assert "total_without" not in once.to_frame()
    assert not {"skipped", "untrained"} & set(dict(once.sheet().lines))
    example = str(Path(__file__).parents[1] / "examples" / "warehouse-robot.json")
    assert run(["plan", example, "--optional"]) == 0
    assert "total loss without it" in capsys.readouterr().out


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_files_have_all_stops(problem: Problem, route: str, tmp_path: Path) -> None:
    found = evaluate(problem, list(route))
    stops = list(found.stops)
    for suffix in PLAN_WRITERS:
        if suffix == ".tour":
            continue
        write_plan(found, tmp_path / f"p{suffix}", problem)
    rows = list(csv.DictReader((tmp_path / "p.csv").read_text().splitlines()))
    assert [row["region"] for row in rows] == stops
    gpx = gpxpy.parse((tmp_path / "p.gpx").read_text())
    assert [point.name for point in gpx.routes[0].points] == stops
    assert len(yaml.safe_load((tmp_path / "p.yaml").read_text())["poses"]) == len(stops)
    mission = json.loads((tmp_path / "p.plan").read_text())["mission"]
    assert len(mission["items"]) == len(stops)
    features = json.loads((tmp_path / "p.geojson").read_text())["features"]
    once = stops[:-1] if problem.closed else stops
    assert [feature["properties"]["name"] for feature in features[:-1]] == once
    assert features[-1]["geometry"]["type"] == "LineString"
    assert len(features[-1]["geometry"]["coordinates"]) == max(2, len(stops))
    lines = ElementTree.parse(tmp_path / "p.kml").iter("{http://www.opengis.net/kml/2.2}LineString")
    assert len("".join(next(lines).itertext()).split()) >= 2
    assert np.loadtxt(tmp_path / "p.txt", dtype=int, ndmin=1).tolist() == list(found.order)
    for again in (plan_from(read_plan(tmp_path / "p.json"), problem), pickle.loads(pickle.dumps(found))):
        assert replace(again, certificate=None) == replace(found, certificate=None)
        assert again.certificate is not None
        assert found.certificate is not None
        assert again.certificate.bound == pytest.approx(found.certificate.bound, rel=1e-12)  # per region in files


def test_tours_visit_each_node_once(tmp_path: Path) -> None:
    problem = with_ends("depot")
    for route in ("CA", "ABCDEA"):
        with pytest.raises(InputError, match="TSPLIB tours visit each node once"):
            write_plan(evaluate(problem, list(route)), tmp_path / "p.tour", problem)
    with pytest.raises(InputError, match="TSPLIB tours visit each node once"):
        check_plan_destination(tmp_path / "p.tour", problem)
    write_plan(evaluate(problem, NAMES), tmp_path / "p.tour", problem)
    assert (tmp_path / "p.tour").read_text().split("TOUR_SECTION\n")[1].split() == ["6", *"12345", "-1", "EOF"]


def test_streets_lead_to_a_region_and_to_it_again(tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "examples" / "old-town"
    problem = read_problem(folder)
    problem = problem.replace(visits=Visits(repeat=2), initial=np.ones(problem.size))
    found: Plan = evaluate(problem, [0, 0, 2])
    draw_plan(found, problem)
    for suffix in (".csv", ".yaml"):
        write_plan(found, tmp_path / f"p{suffix}", problem)


def test_parts_of_a_problem_keep_their_visits() -> None:
    problem = five_regions(visits=Visits(["A", "B"], ["C"], 2))
    assert restrict_to(problem, [0, 3, 4]).visits == Visits(["A"], [], 2)


SIGMA = 0.5


def samples(truth: FloatArray, count: int, rng: np.random.Generator) -> dict[str, RegionData]:
    data = {}
    for name, model in zip(NAMES, truth, strict=True):
        x = rng.standard_normal((count + 20, 3))
        y = x @ model + SIGMA * rng.standard_normal(count + 20)
        data[name] = RegionData((x[:count], y[:count]), (x[count:], y[count:]))
    return data


def learning(**changes: Any) -> Problem:
    truth = np.random.default_rng(5).standard_normal((5, 3))
    fields: dict[str, Any] = {"learner": Proximal(3, 15, SIGMA, regularization=0.6)}
    return five_regions(vectors=truth, initial=(truth**2).sum(axis=1), **{**fields, **changes})


@pytest.mark.parametrize("regularization", [0.6, (0.2, 0.5, 0.9, 1.4, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)])
def test_following_agrees_with_what_a_plan_expects(regularization: Any) -> None:
    """Fresh samples at each visit, also of a region that is visited again; skipped regions are tested."""
    problem = learning(learner=Proximal(3, 15, SIGMA, regularization=regularization))
    assert problem.vectors is not None
    found = evaluate(problem, ["B", "A", "B"])
    assert found.expected_errors is not None
    finals = []
    for seed in range(400):
        data = samples(problem.vectors, 30, np.random.default_rng([seed, 29]))
        data["A"] = RegionData((data["A"].train[0][:15], data["A"].train[1][:15]), data["A"].test)
        followed = follow(found, data)
        assert followed.route == ("B", "A", "B")
        assert followed.tested == ("B", "A", "C", "D", "E")
        assert followed.errors.shape == (3, 5)
        assert not followed.notes
        assert followed.final.predicted == pytest.approx(np.mean(found.expected_errors))
        finals.append(followed.errors[-1])
    off = np.mean(finals, axis=0) - SIGMA**2 - found.expected_errors
    assert (np.abs(off) <= 4 * np.std(finals, axis=0) / 20).all()
    assert (followed.metrics.forgetting, followed.metrics.learning_error) == pytest.approx(
        (followed.errors[2, 1] - followed.errors[1, 1], (followed.errors[2, 0] + followed.errors[1, 1]) / 2)
    )
    assert followed.to_frame().shape == (3, 6)
    assert [row["region"] for row in followed.to_dict()["final"]["regions"]] == list(followed.tested)


def test_following_with_few_samples() -> None:
    problem = learning()
    assert problem.vectors is not None
    data = samples(problem.vectors, 15, np.random.default_rng(1))
    single = follow(evaluate(problem, ["C"]), {name: data[name] for name in "CAB"})
    assert single.tested == ("C", "A", "B")
    assert single.notes == ("2 skipped regions have no samples, and are not tested",)
    assert single.metrics.forgetting == 0
    few = RegionData((data["A"].train[0][:1], data["A"].train[1][:1]), data["A"].test)
    with pytest.raises(InputError, match="1 training samples for 2 visits"):
        follow(["A", "B", "A"], {**data, "A": few}, RouteRegressor())
    again = follow(["A", "B", "A"], data, RouteRegressor())
    assert again.tested == ("A", "B")
    with pytest.raises(InputError, match="a pilot route must visit each tested region exactly once"):
        calibrate(transfer(data, RouteRegressor()), [again])
