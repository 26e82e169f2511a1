"""Following the plan of a fleet: each model along its visits, merged or serving its own regions, beside the law."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor
from sklearn.neural_network import MLPRegressor

from learnroute import Fleet, InputError, Learner, Plan, Problem, Visits, evaluate, read_plan, write_plan, write_problem
from learnroute.cli import run
from learnroute.formats.samples import write_samples
from learnroute.learning import ProximalRegressor, RegionData, RouteRegressor, calibrate, follow, transfer
from learnroute.learning.calibration import read_following
from learnroute.learning.measures import model_distance
from learnroute.model.validation import FloatArray

NAMES = ("A", "B", "C", "D", "E")
SIGMA, M, COUNT = 0.5, 3, 20
PROXIMAL = Learner(M, COUNT, SIGMA, rule="proximal", regularization=0.4)
TRUTH = np.random.default_rng(0).standard_normal((len(NAMES), M))
OPTIONAL = Visits(required=(), repeat=2)


def draw(rng: np.random.Generator, train: dict[str, int] | None = None, test: int = 10) -> dict[str, RegionData]:
    """Fresh samples with features as in the theory."""
    data = {}
    for name, model in zip(NAMES, TRUTH, strict=True):
        count = (train or {}).get(name, COUNT)
        x = rng.standard_normal((count + test, M))
        y = x @ model + SIGMA * rng.standard_normal(count + test)
        data[name] = RegionData((x[:count], y[:count]), (x[count:], y[count:]), truth=model)
    return data


def problem_of(fleet: Fleet, learner: Learner = PROXIMAL, **members: Any) -> Problem:
    return Problem(
        1 - np.eye(len(NAMES)), learner, vectors=TRUTH, initial=(TRUTH**2).sum(axis=1), regions=NAMES, fleet=fleet,
        travel_rate=0.01, **members,
    )  # fmt: skip


def train_along(data: dict[str, RegionData], route: str, learner: Any) -> Any:
    model = copy.deepcopy(learner)
    for name in route:
        model.partial_fit(*data[name].train)
    return model


def errors_of(model: Any, data: dict[str, RegionData], names: str) -> list[float]:
    return [float(np.mean((model.predict(data[name].test[0]) - data[name].test[1]) ** 2)) for name in names]


def merged_plan() -> Plan:
    return evaluate(problem_of(Fleet(3), visits=OPTIONAL), [["D", "A"], [], ["B", "C"]])


def own_plan() -> Plan:
    """One vehicle, two models; the untrained one serves some region, and E is skipped."""
    first = (TRUTH**2).sum(axis=1)
    first[4] = 0.0
    asked = problem_of(Fleet(models=2), visits=OPTIONAL).replace(initial=first)
    return evaluate(asked, ["D", "A", "B", "C"], models=[1, 0, 1, 0])


def test_linear_models_are_averaged_by_the_weights_of_the_plan(tmp_path: Path) -> None:
    found, data = merged_plan(), draw(np.random.default_rng(1))
    assert found.weights is not None
    models = [train_along(data, route, ProximalRegressor(0.4)) for route in ("DA", "BC")]
    coefficients = [models[0].coef_, np.zeros(M), models[1].coef_]
    average = sum(weight * one for weight, one in zip(found.weights, coefficients, strict=True))
    write_plan(found, tmp_path / "plan.json")
    for given in (found, found.to_dict(), read_plan(tmp_path / "plan.json")):
        followed = follow(given, data)
        np.testing.assert_allclose(followed.model.coef_, average, rtol=1e-12)
        assert followed.route == ("D", "A", "B", "C")
        assert followed.tested == ("D", "A", "B", "C", "E")
        rows = [errors_of(train_along(data, way, ProximalRegressor(0.4)), data, "DABCE")
                for way in ("D", "DA", "B", "BC")]  # fmt: skip
        np.testing.assert_allclose(followed.errors, rows, rtol=1e-12)
        measured = [one.measured for one in followed.final_by_region]
        np.testing.assert_allclose(measured, errors_of(followed.model, data, "DABCE"), rtol=1e-12)
        assert [one.predicted for one in followed.final_by_region] == list(found.expected_errors or ())
        assert followed.final.predicted == pytest.approx(found.loss.error, rel=1e-9)
        assert followed.notes == ()


def test_each_region_is_served_by_the_model_that_the_plan_says() -> None:
    found, data = own_plan(), draw(np.random.default_rng(2))
    served = found.served_by
    assert served is not None
    assert served["E"] is None
    assert {served[name] for name in "ABCD"} == {0, 1}
    models: dict[int | None, Any] = {
        number: train_along(data, way, ProximalRegressor(0.4)) for number, way in enumerate(("AC", "DB"))
    }
    models[None] = ProximalRegressor(0.4).without_training(M)
    followed = follow(found, data)
    expected = [errors_of(models[served[name]], data, name)[0] for name in followed.tested]
    np.testing.assert_allclose([one.measured for one in followed.final_by_region], expected, rtol=1e-12)
    assert followed.metrics.average_final_error == pytest.approx(np.mean(expected))
    np.testing.assert_allclose(followed.model[1].coef_, models[1].coef_, rtol=1e-12)
    assert followed.final.predicted == pytest.approx(found.loss.error, rel=1e-9)


@pytest.mark.parametrize("fleet", [Fleet(2), Fleet(2, weights="equal"), Fleet(2, serve="own")])
@pytest.mark.parametrize("learner", [PROXIMAL, Learner(M, COUNT, SIGMA)])
def test_errors_are_those_that_the_plan_expects_within_three_standard_errors(fleet: Fleet, learner: Learner) -> None:
    """Each visit of B has samples of its own, and E is skipped."""
    found = evaluate(problem_of(fleet, learner, visits=OPTIONAL), [["A", "B"], ["C", "B", "D"]])
    rng = np.random.default_rng(3)
    finals = []
    for _ in range(80):
        followed = follow(found, draw(rng, {"B": 2 * COUNT}, test=1), error=model_distance)
        finals.append([one.measured for one in followed.final_by_region])
    runs = np.array(finals)
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - found.expected_errors) <= 3 * error + 1e-12).all()


def test_repeats_measure_and_judge_the_models_that_serve() -> None:
    found, data = merged_plan(), draw(np.random.default_rng(4), test=200)
    followed = follow(found, data, repeats=10)
    assert followed.repeats == 10
    assert followed.final.standard_error is not None
    assert followed.final.agrees is True
    assert followed.verdict == "predicted and measured errors agree within chance"


def test_other_linear_learners_are_averaged_and_others_rejected() -> None:
    found, data = merged_plan(), draw(np.random.default_rng(1))
    plain = evaluate(problem_of(Fleet(2)), [["D", "A"], ["B", "C", "E"]])
    followed = follow(plain, data, SGDRegressor(random_state=0))
    assert plain.weights is not None
    models = [train_along(data, way, SGDRegressor(random_state=0)) for way in ("DA", "BCE")]
    for name in ("coef_", "intercept_"):
        average = sum(weight * getattr(one, name) for weight, one in zip(plain.weights, models, strict=True))
        np.testing.assert_allclose(getattr(followed.model, name), average, rtol=1e-12)
    assert followed.notes[0].startswith("the plan was made for proximal")
    with pytest.raises(InputError, match="has no coefficients"):
        follow(found, data, MLPRegressor(hidden_layer_sizes=(3,), random_state=0))
    with pytest.raises(InputError, match="cannot predict before its first training; give a learner that was trained"):
        follow(own_plan(), data, SGDRegressor(random_state=0))
    fitted = SGDRegressor(random_state=0).partial_fit(np.zeros((2, M)), np.zeros(2))
    assert follow(own_plan(), data, fitted).final.measured > 0


def test_any_learner_serves_its_own_regions() -> None:
    far = problem_of(Fleet(2, serve="own")).replace(initial=[100.0] * len(NAMES))
    plain = evaluate(far, [["D", "A"], ["B", "C", "E"]])
    assert plain.served_by is not None
    assert None not in plain.served_by.values()
    followed = follow(plain, draw(np.random.default_rng(1)), MLPRegressor(hidden_layer_sizes=(3,), random_state=0))
    assert [type(one) for one in followed.model] == [MLPRegressor] * 2


def test_displayed_values_of_a_fleet() -> None:
    data = draw(np.random.default_rng(1))
    for found, kind, several in ((merged_plan(), "vehicle", True), (own_plan(), "model", False)):
        followed = follow(found, data)
        said = json.loads(json.dumps(followed.to_dict()))
        plan = found.to_dict()
        members = {"routes", "weights"} if several else {"route", "routes", "models", "served_by"}
        assert {name: said[name] for name in members} == {name: plan[name] for name in members}
        assert ("route" in said) is not several
        frame = followed.to_frame()
        numbers = [1, 1, 3, 3] if several else [2, 1, 2, 1]
        assert list(frame[kind]) == numbers
        assert list(frame["after training on"]) == ["D", "A", "B", "C"]
        text = followed.sheet().to_markdown()
        assert text.startswith("mean error of the " + ("average of all models" if several else "models that serve"))
        if several:
            assert "- vehicle 2: stays at home" in text
        else:
            assert "- route: D (model 2) > A (model 1) > B (model 2) > C (model 1)" in text
            assert "- initial model: serves E" in text
            assert "| E | untrained |" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"routes": None}, "routes = None: expected a list of region names per vehicle"),
        ({"weights": [0.5, 0.5]}, "weights has 2 entries: expected 3"),
        ({"weights": [0.5, 0.0, 0.1]}, "weights = .*: weights must add up to 1"),
        ({"weights": None, "served_by": {"A": 0}}, "served_by: expected one model number"),
        ({"weights": None, "served_by": dict.fromkeys(NAMES, 1)}, "served_by.*no visit trains this model"),
        ({"routes": [["D", "A", "B", "C"]]}, "models = None: expected one model number"),
    ],
)
def test_damaged_plans_of_fleets_are_rejected(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        follow({**merged_plan().to_dict(), **change}, draw(np.random.default_rng(1)))


def test_calibration_needs_routes_of_one_model(tmp_path: Path) -> None:
    data = draw(np.random.default_rng(1))
    for found in (merged_plan(), own_plan()):
        followed = follow(found, data)
        with pytest.raises(InputError, match="several models were trained"):
            calibrate(transfer(data, RouteRegressor()), [followed])
        followed.save(tmp_path / "followed.json")
        with pytest.raises(InputError):
            read_following(tmp_path / "followed.json")


def folder_of(path: Path, data: dict[str, RegionData]) -> Path:
    columns = [f"x{k}" for k in range(M)]
    for part in ("train", "test"):
        (path / part).mkdir(parents=True)
        for name, region in data.items():
            write_samples(path / part / f"{name}.csv", columns, "y", *getattr(region, part))
    return path


def test_the_command_follows_the_plan_file_of_a_fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data: dict[str, RegionData] = draw(np.random.default_rng(1))
    where = folder_of(tmp_path / "samples", data)
    for found in (merged_plan(), own_plan()):
        write_plan(found, tmp_path / "plan.json")
        arguments = ["follow", str(where), "--target", "y", "--plan", str(tmp_path / "plan.json")]
        assert run(arguments) == 0
        assert ("vehicle 2" if found.several else "initial model") in capsys.readouterr().out
        assert run([*arguments, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        library = follow(found, data).to_dict()
        measured: FloatArray = np.array([one["measured"] for one in said["final"]["regions"]])
        np.testing.assert_allclose(measured, [one["measured"] for one in library["final"]["regions"]], rtol=1e-9)
        assert said["final"]["predicted"] == pytest.approx(found.loss.error, rel=1e-9)


def test_the_command_follows_no_single_route_of_a_fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_problem(problem_of(Fleet(2)), tmp_path / "problem.json")
    where = folder_of(tmp_path / "samples", draw(np.random.default_rng(1)))
    arguments = ["follow", str(where), "--target", "y", "--problem", str(tmp_path / "problem.json"), "--route", "A,B"]
    assert run(arguments) == 2
    assert "--route: supports one vehicle with one model; plan for the fleet and give --plan" in capsys.readouterr().err


def test_the_command_simulates_a_fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "problem.json")
    write_problem(problem_of(Fleet(2)), file)
    routes = ["--route", "A,B", "--route", "C,D,E"]
    assert run(["simulate", file, *routes, "--runs", "200", "--plot", str(tmp_path / "picture.png")]) == 0
    said = capsys.readouterr().out
    assert "1 vehicle 2 C > D > E" in said
    assert "the average" in said
    assert (tmp_path / "picture.png").stat().st_size > 1000
    assert run(["simulate", file, *routes, "--runs", "200", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["routes"] == [["A", "B"], ["C", "D", "E"]]
    assert run(["simulate", file, "--models", "2", "--runs", "200"]) == 0
    assert "(model 2)" in capsys.readouterr().out
    assert run(["simulate", file, "--models", "2", "--route", "A,B,C,D,E"]) == 2
    assert "--route: does not say which model each visit trains" in capsys.readouterr().err
