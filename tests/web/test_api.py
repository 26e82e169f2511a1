from __future__ import annotations

import io
import json
import random
import socket
import struct
import zipfile
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import numpy as np
import pytest

import oracle
from learnroute import (
    METHODS,
    InputError,
    Problem,
    compare,
    compare_fleets,
    compare_learners,
    error_over_time,
    evaluate,
    plan,
    read_problem,
    visit_curve,
    write_plan,
)  # fmt: skip
from learnroute.formats import DEGREES, PLACES_NEEDED, PLAN_WRITERS
from learnroute.formats.schemas import plan_schema
from learnroute.model.value import error_histories
from learnroute.web.assets import examples, page_files
from learnroute.web.requests import PlanRequest
from learnroute.web.settings import Limits, Settings
from learnroute.web.tasks import MEDIA
from service import ROOT, Service, example, serving
from waiting import GUARD, wait_for

PROBLEM_JSON = "application/problem+json"


def details(answer: httpx.Response, status: int, field: str | None = None) -> str:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == PROBLEM_JSON
    document = answer.json()
    assert document["status"] == status
    assert "Traceback" not in answer.text
    if field is not None:
        assert document["field"] == field
    return str(document["detail"])


def without_time(data: Any) -> Any:
    """Leave out how long things took."""
    if isinstance(data, dict):
        return {key: without_time(value) for key, value in data.items() if key != "seconds"}
    return [without_time(item) for item in data] if isinstance(data, list) else data


@pytest.mark.parametrize("method", METHODS)
def test_plan_is_the_plan_of_the_library(service: Service, method: str) -> None:
    data = service.post("plan", problem=example(), method=method, seed=5).json()
    assert without_time(data) == without_time(plan(Problem.from_dict(example()), method, 5).to_dict())
    jsonschema.validate(data, plan_schema())


def test_evaluate_and_compare_are_those_of_the_library(service: Service) -> None:
    problem = Problem.from_dict(example())
    route = list(problem.regions)[::-1]
    given = service.post("evaluate", problem=example(), route=route).json()
    assert without_time(given) == without_time(evaluate(problem, route).to_dict())
    assert service.post("evaluate", problem=example(), route=[7, 6, 5, 4, 3, 2, 1, 0]).json()["loss"] == given["loss"]
    found = service.post("compare", problem=example(), methods=["exact", "random"], draws=9).json()
    assert without_time(found) == without_time(compare(problem, ["exact", "random"], draws=9).to_dict())


def test_the_error_history_is_the_closed_form(service: Service) -> None:
    for name in examples():
        problem = Problem.from_dict(example(name))
        data = service.post("error_history", problem=example(name), route=list(problem.regions)).json()
        assert data["errors"] == error_over_time(problem, range(problem.size)).tolist()
        assert data["scores"] == problem.scores.tolist()


@pytest.mark.parametrize("training", [
    {"rule": "proximal", "regularization": 2.5},
    {"rule": "proximal", "regularization": [0, 1, 2, 3, 4, 5, 6, 7]},
    {"rule": "proximal", "regularization": "auto"},
    {"rule": "proximal", "regularization": "schedule"},
    {"rule": "gradient", "steps": 5, "rate": 0.1},
], ids=lambda training: str(training.get("regularization", "gradient")))  # fmt: skip
def test_learners_of_every_rule(service: Service, training: dict[str, Any]) -> None:
    data = example()
    data["learner"] |= training
    problem = Problem.from_dict(data)
    found = service.post("plan", problem=data).json()
    assert without_time(found) == without_time(plan(problem).to_dict())
    jsonschema.validate(found, plan_schema())
    given = service.post("evaluate", problem=data, route=found["route"]).json()
    walked = evaluate(problem, found["route"])
    assert without_time(given) == without_time(walked.to_dict())
    history = service.post("error_history", problem=data, route=found["route"]).json()
    decided = problem.replace(learner=walked.learner)
    assert history["errors"] == error_over_time(decided, walked.order).tolist()
    assert np.mean(history["errors"][-1]) == pytest.approx(given["loss"]["total"] - given["loss"]["travel"], rel=1e-9)


def test_importance_weighs_the_error(service: Service) -> None:
    data = {**example(), "importance": [0, 1, 2, 3, 4, 5, 6, 7]}
    found = service.post("plan", problem=data).json()
    assert without_time(found) == without_time(plan(Problem.from_dict(data)).to_dict())
    jsonschema.validate(found, plan_schema())
    history = service.post("error_history", problem=data, route=found["route"]).json()
    assert np.average(history["errors"][-1], weights=data["importance"]) == pytest.approx(
        found["loss"]["total"] - found["loss"]["travel"], rel=1e-9
    )


def test_a_travel_rate_counts_travel_more(service: Service) -> None:
    once = service.post("evaluate", problem=example(), route=example()["regions"]).json()
    thrice = service.post("evaluate", problem=example(), route=example()["regions"], travel_rate=3).json()
    assert thrice["loss"]["travel"] == pytest.approx(3 * once["loss"]["travel"], rel=1e-12)
    assert thrice["loss"]["dissimilarity"] == once["loss"]["dissimilarity"]


@pytest.mark.parametrize(
    "task", ["plan", "evaluate", "compare", "tradeoff", "learners", "visits", "error_history", "export"]
)
def test_callers_choose_the_dissimilarities_and_results_name_them(service: Service, task: str) -> None:
    data = example()
    halved = {**data, "dissimilarity_estimate": (np.array(data["dissimilarity"]) / 2).tolist()}
    more = {"route": data["regions"]} if task in ("evaluate", "error_history") else {}
    more = {"methods": ["exact"]} if task == "compare" else more
    for asked, kind in (({}, "estimate"), ({"dissimilarities": "estimate"}, "estimate"),
                        ({"dissimilarities": "upper"}, "upper")):  # fmt: skip
        found = service.post(task, problem=halved, **asked, **more).json()
        assert found["dissimilarities"] == kind
        if kind == "upper":
            wanted = service.post(task, problem=data, **more).json()
        else:
            wanted = service.post(task, problem={**data, "dissimilarity": halved["dissimilarity_estimate"]}, **more)
            wanted = {**wanted.json(), "dissimilarities": kind}
        if task in ("plan", "evaluate", "export"):
            assert found["loss"] == wanted["loss"]
            assert found["route"] == wanted["route"]
        elif task != "compare":
            assert found == wanted


def test_the_tradeoff_has_the_corners_of_all_routes(service: Service) -> None:
    data = example()
    for field in ("travel", "dissimilarity"):
        data[field] = [row[:6] for row in data[field][:6]]
    data |= {"regions": data["regions"][:6], "initial": data["initial"][:6], "coordinates": data["coordinates"][:6]}
    answer = service.post("tradeoff", problem=data, points=50).json()
    assert answer["complete"]
    found = [(point["travel_cost"] / 6, point["error"]) for point in answer["points"] if point["rates"]]
    assert np.array(found) == pytest.approx(np.array(oracle.corners(Problem.from_dict(data))), rel=1e-9)
    assert found == sorted(found)


def test_learners_are_those_of_the_library(service: Service) -> None:
    answer = service.post("learners", problem=example(), seed=2, travel_rate=0.5).json()
    problem = Problem.from_dict(example()).replace(travel_rate=0.5)
    assert answer == json.loads(json.dumps(compare_learners(problem, 2).to_dict()))
    limited = {**example(), "fleet": {"vehicles": 1, "limit": 5.0}}
    answer = service.post("learners", problem=limited, seed=2).json()
    assert answer == json.loads(json.dumps(compare_learners(Problem.from_dict(limited), 2).to_dict()))
    assert any("the travel limit of 5 applies to the row" in note for note in answer["notes"])
    refusal = service.post("learners", problem={**example(), "initial": None})
    assert "the initial model has no error, so λ cannot be chosen" in details(refusal, 422, "problem.initial")


VISITS = {"required": ["Packing"], "forbidden": ["Cold store"], "repeat": 2, "at_most": 5, "budget": 90.0}


def test_problems_with_visits_are_planned_as_the_library_does(service: Service) -> None:
    data = {**example(), "visits": VISITS, "travel_rate": 0.01}
    problem = Problem.from_dict(data)
    found = service.post("plan", problem=data).json()
    assert without_time(found) == without_time(plan(problem).to_dict())
    jsonschema.validate(found, plan_schema())
    assert set(found["skipped"]) == set(problem.regions) - set(found["route"])
    assert found["untrained"] is not None
    assert len(found["contributions"]) == len(found["route"])
    given = service.post("evaluate", problem=data, route=["Packing"]).json()
    assert without_time(given) == without_time(evaluate(problem, ["Packing"]).to_dict())
    history = service.post("error_history", problem=data, route=found["route"]).json()
    assert history["errors"] == error_over_time(problem, found["order"]).tolist()
    for what, kept in (("problem", data["visits"]), ("plan", found["route"])):
        saved = service.post("export", problem=data, what=what, format=".json").json()
        assert saved["visits" if what == "problem" else "route"] == kept
    read = service.post("read", files=[{"name": "p.json", "text": json.dumps(data)}]).json()
    assert read["problem"]["visits"] == data["visits"]


def test_the_curve_of_visits_is_that_of_the_library(service: Service) -> None:
    for visits in ({}, {"visits": VISITS}):
        data = {**example(), **visits}
        answer = service.post("visits", problem=data, seed=2, travel_rate=0.01).json()
        problem = Problem.from_dict(data).replace(travel_rate=0.01)
        assert answer == json.loads(json.dumps(visit_curve(problem, 2).to_dict()))
        assert answer["rows"][0]["visits"] == 0
    place = service.submit("visits", problem=example())
    wait_for(lambda: service.job(place)["state"] == "done")
    rows = service.client.get(f"{place}/result").json()["rows"]
    assert [row["visits"] for row in rows] == list(range(9))
    for row in rows[1:]:
        walked = service.post("evaluate", problem={**example(), "visits": {}}, route=row["route"]).json()
        assert walked["loss"]["total"] == pytest.approx(row["total"], rel=1e-12)


FLEETS = ({"vehicles": 2}, {"vehicles": 2, "serve": "own", "travel": "longest", "limit": 30.0}, {"models": 2})


@pytest.mark.parametrize("fleet", FLEETS, ids=str)
def test_problems_with_fleets_are_planned_as_the_library_does(service: Service, fleet: dict[str, Any]) -> None:
    data = {**example("city-survey"), "fleet": fleet, "visits": {"required": ["Harbour", "Airport"]}}
    problem = Problem.from_dict(data)
    wanted = plan(problem)
    found = service.post("plan", problem=data).json()
    assert without_time(found) == without_time(wanted.to_dict())
    jsonschema.validate(found, plan_schema())
    given = {"routes": found["routes"], **({"models": found["models"]} if "models" in found else {})}
    again = service.post("evaluate", problem=data, **given).json()
    assert again["loss"] == found["loss"]
    assert again["method"] == "given"
    history = service.post("error_history", problem=data, **given).json()
    assert wanted.fleet is not None
    assert [model["errors"] for model in history["models"]] == [
        errors.tolist() for errors in error_histories(problem, wanted.fleet)
    ]
    assert [model["order"] for model in history["models"]] == wanted.fleet.trainings(2)
    last = np.array([model["errors"][-1] for model in history["models"]])
    if "served_by" in found:
        served = np.minimum(last.min(axis=0), data["initial"])  # the initial model may serve, too
        assert served.mean() == pytest.approx(found["loss"]["total"] - found["loss"]["travel"], rel=1e-12)


def test_the_table_of_fleets_is_that_of_the_library(service: Service) -> None:
    data = example("city-survey")
    asked: dict[str, Any] = {"vehicles": [1, 2], "models": [2], "rounds": 3}
    answer = service.post("fleet", problem=data, seed=1, travel_rate=0.05, **asked).json()
    problem = Problem.from_dict(data).replace(travel_rate=0.05)
    assert answer == json.loads(json.dumps(compare_fleets(problem, **asked, seed=1).to_dict()))
    assert [(row["vehicles"], row["models"], row["serve"]) for row in answer["rows"]] == [
        (1, 1, "merged"), (2, 2, "merged"), (2, 2, "own"), (1, 2, "merged"), (1, 2, "own"),
        (0, 12, "federated"), (0, 12, "federated"),
    ]  # fmt: skip
    merged = service.post("fleet", problem=data, vehicles=[2], models=[], serve="merged").json()
    assert [row["serve"] for row in merged["rows"]] == ["merged", "federated", "federated"]


def test_routes_of_several_vehicles_are_saved_together(service: Service, tmp_path: Path) -> None:
    data = {**example("north-sea"), "fleet": {"vehicles": 2, "travel": "longest"}}
    problem = Problem.from_dict(data)
    found = plan(problem)
    written = write_plan(found, tmp_path / "plan.gpx", problem)
    assert len(written) == 2
    answer = service.post("export", problem=data, format=".gpx")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == 'attachment; filename="plan.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            file.name: file.read_bytes() for file in written
        }
    assert service.post("export", problem=data, format=".gpx").content == answer.content
    table = service.post("export", problem=data, format=".csv", routes=[found.routes[1], found.routes[0]])
    assert table.headers["content-disposition"] == 'attachment; filename="plan.csv"'
    assert table.text.splitlines()[1].startswith(f"1,1,{found.routes[1][0]},")
    alone = service.post("export", problem=data, format=".gpx", routes=[problem.regions, []])
    assert alone.headers["content-disposition"] == 'attachment; filename="plan-1.gpx"'


@pytest.mark.parametrize("format_", PLAN_WRITERS)
def test_files_are_those_of_the_library(service: Service, tmp_path: Path, format_: str) -> None:
    problem = example()
    if PLACES_NEEDED.get(format_) == DEGREES:
        answer = service.post("export", problem=problem, format=format_)
        assert answer.status_code == 422
        assert "geographic: true" in answer.json()["detail"]
        problem |= {"geographic": True}
    answer = service.post("export", problem=problem, format=format_, method="algorithm1")
    assert answer.status_code == 200
    assert f'filename="plan{format_}"' in answer.headers["content-disposition"]
    assert answer.headers["content-type"] == MEDIA[format_]
    if format_ == ".json":
        assert answer.json()["method"] == "algorithm1"
    elif format_ == ".npz":
        with np.load(io.BytesIO(answer.content)) as archive:
            assert archive["order"].tolist() == list(plan(Problem.from_dict(problem), "algorithm1").order)
    else:
        written = tmp_path / f"plan{format_}"
        read = Problem.from_dict(problem)
        write_plan(plan(read, "algorithm1"), written, read)
        assert answer.text == written.read_text()


def test_problem_of_several_files_is_read_completely(service: Service) -> None:
    town = ROOT / "examples" / "burma14"
    files = [{"name": path.name, "text": path.read_text()} for path in sorted(town.iterdir())]
    answer = service.post("read", files=files).json()
    assert answer["problem"]["travel"] == read_problem(town / "burma14.tsp").travel.tolist()
    assert answer["problem"]["geographic"] is True
    alone = service.post("read", files=[file for file in files if file["name"].endswith(".tsp")])
    assert alone.status_code == 422
    assert alone.json()["detail"].startswith("burma14.tsp: has no vectors and no dissimilarity of the regions; put one")
    lakes = {"name": "lakes.geojson", "text": (ROOT / "examples" / "lakes.geojson").read_text()}
    assert len(service.post("read", files=[lakes]).json()["problem"]["travel"]) == 9
    written = service.post("export", problem=answer["problem"], what="problem", format=".geojson")
    assert written.status_code == 200
    assert service.post("export", problem=answer["problem"], what="problem", format=".tsp").status_code == 422


def test_written_files_are_read_back(service: Service) -> None:
    text = service.post("export", problem=example(), what="problem").text
    answer = service.post("read", files=[{"name": "mine.json", "text": text}]).json()
    assert answer["problem"]["regions"] == example()["regions"]
    assert answer["places"] == example()["coordinates"]
    tables = [
        {"name": "travel.csv", "text": ",A,B,C\nA,0,1,2\nB,1,0,1\nC,2,1,0\n"},
        {"name": "vectors.csv", "text": "region,v1\nA,0\nB,1\nC,3\n"},
        {"name": "learner.csv", "text": "features,samples,noise\n80,100,0.5\n"},
    ]
    answer = service.post("read", files=tables).json()
    assert answer["problem"]["vectors"] == [[0], [1], [3]]
    assert answer["places_made_up"] is True
    assert len(answer["places"]) == 3


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "a list of 1 to 20 objects"),
        ([{"name": "x.json", "text": "{"}], "x.json: line 1, column 2: not JSON"),
        ([{"name": "x.json", "text": "{}"}], "x.json: travel: missing"),
        ([{"name": "travel.csv", "text": ",A,B\nA,0,1\nB,1,0\n"}], "dissimilarity.csv: no such file"),
        ([{"name": "x.xml", "text": ""}], "x.xml is not a problem file; files of these kinds are: .json, .csv"),
        ([{"name": "../x.json", "text": "{}"}], "a plain file name without folders"),
        ([{"name": "/etc/hosts.json", "text": "{}"}], "a plain file name without folders"),
        ([{"name": ".json", "text": "{}"}], "a plain file name without folders"),
        ([{"name": "x.json", "text": "\ud800"}], "not UTF-8"),
        ([{"name": "x.json", "text": 3}], "must be text"),
    ],
)
def test_bad_files_are_rejected_without_a_path_of_ours(service: Service, files: Any, message: str) -> None:
    detail = details(service.client.post("/api/read", content=json.dumps({"files": files}), headers=JSON), 422)
    assert message in detail
    assert "learnroute-" not in detail
    assert "/tmp" not in detail


JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"problem": None}, None),
        ({"problem": {}}, "problem.travel"),
        ({"problem": {**example(), "travel": [[0, -1], [1, 0]]}}, "problem.travel[0, 1]"),
        ({"problem": {**example(), "learner": {"features": 100, "samples": 100}}}, "problem.learner.features"),
        ({"problem": {**example(), "regions": []}}, "problem.regions"),
        ({"problem": {**example(), "speed": 1}}, "problem.speed"),
        ({"problem": {**example(), "importance": [0] * 8}}, "problem.importance"),
        ({"problem": {**example(), "importance": [1] * 7 + [-1]}}, "problem.importance[7]"),
        ({"method": "magic"}, "method"),
        ({"seed": -1}, "seed"),
        ({"time_limit": 0}, "time_limit"),
        ({"time_limit": 1e6}, "time_limit"),
        ({"travel_rate": -1}, "travel_rate"),
        ({"dissimilarities": "given"}, "dissimilarities"),
        ({"dissimilarities": 1}, "dissimilarities"),
        ({"dissimilarities": "estimate"}, "dissimilarities"),  # the example has none
        ({"problem": {**example(), "vectors": [[1]] * 8}}, "problem.dissimilarity"),
        ({"problem": {**example(), "visits": 3}}, "problem.visits"),
        ({"problem": {**example(), "visits": {"often": 1}}}, "problem.visits.often"),
        ({"problem": {**example(), "visits": {"required": "Packing"}}}, "problem.visits.required"),
        ({"problem": {**example(), "visits": {"forbidden": ["Nowhere"]}}}, "problem.visits.forbidden"),
        ({"problem": {**example(), "visits": {"repeat": 0}}}, "problem.visits.repeat"),
        ({"problem": {**example(), "visits": {"at_most": 2.5}}}, "problem.visits.at_most"),
        ({"problem": {**example(), "visits": {"budget": -1}}}, "problem.visits.budget"),
        ({"problem": {**example(), "visits": {"required": "all", "budget": 1}}}, "problem.visits.budget"),
        ({"problem": {**example(), "fleet": 3}}, "problem.fleet"),
        ({"problem": {**example(), "fleet": {"vehicles": 0}}}, "problem.fleet.vehicles"),
        ({"problem": {**example(), "fleet": {"vehicles": 101}}}, "problem.fleet.vehicles"),
        ({"problem": {**example(), "fleet": {"vehicles": 2, "models": 2}}}, "problem.fleet.models"),
        ({"problem": {**example(), "fleet": {"vehicles": 2, "serve": "both"}}}, "problem.fleet.serve"),
        ({"problem": {**example(), "fleet": {"vehicles": 2, "limit": 1}}}, "problem.fleet.limit"),
        ({"problem": {**example(), "fleet": {"vehicles": 2}}, "method": "baseline"}, "method"),
        ({"problem": 3}, "problem"),
        ({"method": ["exact"]}, "method"),
        ({"seed": None, "method": None, "time_limit": -1}, "time_limit"),
        ({"wings": 2}, "wings"),
        ({"wings": None}, "wings"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_invalid_input_is_rejected_by_field(service: Service, change: dict[str, Any], field: str | None) -> None:
    details(service.post("plan", **{"problem": example(), **change}), 422, field)


@pytest.mark.parametrize(
    ("task", "members", "detail"),
    [
        ("evaluate", {}, "route: missing; give it, or routes with one list per vehicle"),
        ("evaluate", {"route": [0], "routes": [[0]]}, "routes: given beside route; give one of the two"),
        ("evaluate", {"routes": []}, "routes = []: expected a list of 1 to 100 routes, one per vehicle"),
        ("evaluate", {"routes": [[0], 3]}, "routes[1] = 3: expected a list of region names"),
        ("evaluate", {"routes": [[0], [1]]}, "routes: there are 2 routes for one vehicle; allow more (fleet.vehicles)"),
        ("evaluate", {"route": [0], "models": [-1]}, "models = [-1]: expected a list of numbers of models, from 0"),
        ("fleet", {"vehicles": 2}, "vehicles = 2: expected a list of different numbers"),
        ("fleet", {"vehicles": [2, 2]}, "vehicles = [2, 2]: expected a list of different numbers"),
        ("fleet", {"models": [101]}, "models[0] = 101: this service takes at most 100"),
        ("fleet", {"vehicles": [], "models": []}, "vehicles = []: there is no fleet to compare; give 1"),
        ("fleet", {"serve": "both"}, "serve = 'both': unknown; known are merged, own"),
        ("fleet", {"rounds": 101}, "rounds = 101: this service takes at most 100"),
        (
            "evaluate",
            {"route": [True] * 8},
            "route = [True, True, True, True, True, True, True, True]: expected a list of reg",
        ),
        ("evaluate", {"route": [1 << 62] * 8}, "route: there is no region with so large an index"),
        ("compare", {"methods": []}, "methods = []: expected a list of different methods"),
        ("compare", {"methods": ["exact", "magic"]}, "methods[1] = 'magic': unknown; known are auto, exact"),
        ("compare", {"draws": 1001}, "draws = 1001: this service takes at most 1000"),
        ("tradeoff", {"points": 1}, "points = 1: the number of points must be >= 2"),
        ("plan", {"seed": "x"}, "seed = 'x': the seed must be a whole number"),
        (
            "plan",
            {"wings": 2},
            "'wings': unknown field; known are problem, travel_rate, dissimilarities, seed, time_limit, method",
        ),
        ("export", {"what": "map"}, "what = 'map': unknown; known are plan, problem"),
        ("export", {"what": "problem", "format": ".gpx"}, "format = '.gpx': unknown for a problem; known are .json"),
        ("export", {"format": ".gpx"}, "plan.gpx: .gpx files need longitudes and latitudes, but the coordinates"),
    ],
)
def test_invalid_input_is_reported_in_one_line(
    service: Service, task: str, members: dict[str, Any], detail: str
) -> None:
    answer = service.post(task, problem=example(), **members)
    field = (
        "format" if detail.startswith("plan.gpx") else detail.lstrip("'").replace("'", " ").split(" ")[0].rstrip(":")
    )
    said = details(answer, 422, field)
    assert said.startswith(detail)
    assert "\n" not in said


def test_bodies_that_are_no_json_objects(service: Service) -> None:
    for body in (b"", b"{", b"\xff\xfe", b"NaN", b'{"a": 1, "a": 2}', b"[" * 100_000):
        details(service.client.post("/api/plan", content=body, headers=JSON), 400, "body")
    for body in (b"3", b"[]", b"null", b'"x"'):
        details(service.client.post("/api/plan", content=body, headers=JSON), 422, "body")
    details(service.client.post("/api/plan", content=b"{}", headers={"content-type": "text/plain"}), 415)


def test_a_thousand_malformed_bodies(service: Service) -> None:
    """Changed, cut and doubled bytes, and members of wrong kinds, give problem documents; the service survives."""
    rng = random.Random(8)
    whole = json.dumps({"problem": example(), "route": example()["regions"]}).encode()
    values: list[Any] = [
        None,
        True,
        -1,
        1e308,
        10**40,
        "",
        "x" * 300,
        [],
        [[]],
        {},
        {"a": [1]},
        "\ud800",
        float("1e-320"),
    ]
    statuses = set()
    for k in range(1000):
        if k % 2:
            body = bytearray(whole)
            for _ in range(rng.randint(1, 8)):
                at = rng.randrange(len(body))
                rng.choice((
                    lambda b, a: b.__setitem__(a, rng.randrange(256)),
                    lambda b, a: b.__delitem__(slice(a, a + rng.randint(1, 40))),
                    lambda b, a: b.__setitem__(slice(a, a), b[a : a + rng.randint(1, 40)]),
                ))(body, at)  # fmt: skip
            content = bytes(body)
        else:
            members: dict[str, Any] = {"problem": example(), "route": example()["regions"]}
            target = members if rng.random() < 0.2 else members["problem"]
            key = rng.choice(list(target))
            if isinstance(target[key], list) and rng.random() < 0.6:
                target[key][rng.randrange(len(target[key]))] = rng.choice(values)
            else:
                target[key] = rng.choice(values)
            content = json.dumps(members).encode()
        answer = service.client.post("/api/evaluate", content=content, headers=JSON)
        statuses.add(answer.status_code)
        if answer.status_code != 200:
            assert details(answer, answer.status_code)
    assert statuses == {200, 400, 422}
    assert service.client.get("/api/health").json()["status"] == "ok"


def test_only_a_time_limit_that_is_asked_for_is_used_up() -> None:
    limits = Limits(seconds=60)
    for members, spends in (({}, False), ({"time_limit": 5}, True)):
        asked = PlanRequest.of({"problem": example(), **members}, limits)
        assert asked.budget(limits, lambda *_: None).spend_all is spends


def test_exceeded_limits_have_clear_answers() -> None:
    with serving(workers=1, limits=Limits(body=20_000, regions=9, seconds=2)) as small:
        assert "at most 9 regions" in details(small.post("plan", problem=example("city-survey")), 422, "problem.travel")
        assert "at most 2 seconds" in details(small.post("plan", problem=example(), time_limit=3), 422, "time_limit")
        assert "at most 2 seconds" in details(small.post("compare", problem=example(), time_limit=3), 422, "time_limit")
        detail = details(small.client.post("/api/plan", content=b" " * 20_001, headers=JSON), 413, "body")
        assert "20,000 bytes" in detail
        chunks = (b" " * 1000 for _ in range(30))  # no length is announced
        details(small.client.post("/api/plan", content=chunks, headers=JSON), 413)
        assert small.post("plan", problem=example()).status_code == 200
        assert small.client.get("/api/health").json()["limits"]["regions"] == 9


def test_unknown_addresses_and_methods(service: Service) -> None:
    detail = details(service.client.get("/api/nothing"), 404)
    assert detail.startswith("unknown path '/api/nothing'; known are /, /api/")
    assert detail.endswith(" (/docs shows all)")
    hostile = details(service.client.get(f"/%0a%1b[2J{'x' * 5000}"), 404)
    assert hostile.isprintable()
    assert len(hostile) < 500
    details(service.client.get("/../pyproject.toml"), 404)
    details(service.client.get("/%2e%2e/app.py"), 404)
    details(service.client.get("/api/examples/..%2f..%2fapp"), 404)
    wrong = service.client.put("/api/plan")
    assert details(wrong, 405) == "'/api/plan' does not support 'PUT', only POST (/docs shows all)"
    assert wrong.headers["allow"] == "POST"
    wrong = service.client.post("/api/jobs/none")
    assert details(wrong, 405) == "'/api/jobs/none' does not support 'POST', only DELETE, GET (/docs shows all)"
    details(service.client.get("/api/jobs/none"), 404, "id")
    details(service.client.post("/api/jobs", json={}), 422, "task")
    details(service.client.post("/api/jobs?task=fly", json={}), 422, "task")


def test_every_answer_carries_the_security_headers(service: Service) -> None:
    for answer in (service.client.get("/"), service.client.get("/api/health"), service.client.get("/nothing")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers


def test_other_names_and_other_origins_are_rejected(service: Service) -> None:
    details(service.client.get("/api/health", headers={"host": "evil.example"}), 421, "Host")
    details(service.client.get("/", headers={"host": "evil.example:80"}), 421, "Host")
    details(service.client.get("/api/health", headers={"host": "["}), 421)
    assert service.client.get("/api/health", headers={"host": "localhost:1"}).status_code == 200
    details(service.client.get("/api/health", headers={"sec-fetch-site": "cross-site"}), 403)
    answer = service.client.options("/api/plan", headers={"origin": "http://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_beyond_loopback_a_token_is_needed() -> None:
    with pytest.raises(InputError, match="not a loopback address, so a token is required"):
        Settings(host="0.0.0.0")
    with serving(workers=1, token="a secret") as guarded:
        assert guarded.client.get("/api/formats").status_code == 200
        for headers in ({}, {"Authorization": "Bearer a secre"}, {"Authorization": "a secret"}):
            bare = httpx.get(f"{guarded.url}/api/formats", headers=headers)
            details(bare, 401)
            assert bare.headers["www-authenticate"] == "Bearer"
        lower = {"Authorization": "bearer a secret"}  # names of schemes have no case
        assert httpx.get(f"{guarded.url}/api/formats", headers=lower).status_code == 200
        assert httpx.get(f"{guarded.url}/api/health").status_code == 200
        assert httpx.get(guarded.url).status_code == 200  # the page itself says nothing


def test_garbage_instead_of_http(service: Service) -> None:
    host, port = service.url.removeprefix("http://").split(":")
    for garbage in (b"\x00" * 100, b"GET / HTTP/9\r\n\r\n", b"POST /api/plan HTTP/1.1\r\nContent-Length: -5\r\n\r\n"):
        with socket.create_connection((host, int(port)), timeout=GUARD) as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            line.sendall(garbage)
            line.settimeout(5)
            assert b"Traceback" not in line.recv(4096)
    assert service.client.get("/api/health").status_code == 200


def test_the_page_is_served_whole_and_cached_by_content(service: Service) -> None:
    for path, asset in page_files().items():
        answer = service.client.get(path)
        assert (answer.status_code, answer.content) == (200, asset.content)
        assert answer.headers["content-type"] == asset.media
        again = service.client.get(path, headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert b"http" not in page_files()["/app.js"].content  # nothing from elsewhere


def test_all_examples_of_one_file_are_offered() -> None:
    assert {name: json.loads(text) for name, (_, text) in examples().items()} == {
        path.stem: json.loads(path.read_text()) for path in (ROOT / "examples").glob("*.json")
    }
