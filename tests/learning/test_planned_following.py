"""Following a plan: its learner, its scaling, its numbers of samples, and its prediction beside the measured errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from learnroute import (
    Calibrated,
    FeaturesScaling,
    InputError,
    Learner,
    Plan,
    Problem,
    Proximal,
    Visits,
    error_over_time,
    evaluate,
    plan,
    read_plan,
    read_problem,
    verify,
    write_plan,
    write_problem,
)
from learnroute.cli import run
from learnroute.formats import plan_from
from learnroute.formats.samples import write_samples
from learnroute.learning import (
    Estimate,
    GradientRegressor,
    ProximalRegressor,
    RegionData,
    RouteRegressor,
    estimate,
    follow,
    transfer,
)
from learnroute.learning.final_error import ALARM, chance_of, enough_repeats, power_of
from learnroute.learning.planned_training import PlannedTraining
from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray
from learnroute.model.value import value_of

NAMES = ("A", "B", "C", "D")
COLUMNS = ["income", "age", "rooms"]
SIGMA, M = 0.5, 3


def models(seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).standard_normal((len(NAMES), M))


def draw(truth: FloatArray, train: list[int], test: int, rng: np.random.Generator) -> dict[str, RegionData]:
    """Fresh samples with features as in the theory."""
    data = {}
    for name, model, count in zip(NAMES, truth, train, strict=True):
        x = rng.standard_normal((count + test, M))
        y = x @ model + SIGMA * rng.standard_normal(count + test)
        data[name] = RegionData((x[:count], y[:count]), (x[count:], y[count:]))
    return data


def problem_of(truth: FloatArray, **changes: Any) -> Problem:
    asked = Problem(
        np.ones((4, 4)) - np.eye(4), Learner(M, 20, SIGMA), vectors=truth, initial=(truth**2).sum(axis=1),
        regions=NAMES,
    )  # fmt: skip
    return asked.replace(**changes)


LEARNERS: list[tuple[dict[str, Any], Callable[[], Any]]] = [
    ({}, RouteRegressor),
    ({"rule": "proximal", "regularization": 1.96}, lambda: ProximalRegressor(1.96)),
    ({"rule": "proximal", "regularization": (0.0, 0.5, 1.0, 2.5)}, lambda: ProximalRegressor([0.0, 0.5, 1.0, 2.5])),
    ({"rule": "proximal", "regularization": 0.0}, RouteRegressor),
    ({"rule": "gradient", "steps": 7, "rate": 0.2}, lambda: GradientRegressor(7, 0.2)),
]


@pytest.mark.parametrize(("members", "made"), LEARNERS)
def test_the_learner_of_the_plan_is_trained(members: dict[str, Any], made: Callable[[], Any], tmp_path: Path) -> None:
    """A plan, its JSON object and its file train what the plan was made for: rule, λ, λ by position, steps, rate."""
    asked = problem_of(models(), learner=Learner(M, 20, SIGMA, **members))
    found = plan(asked)
    data = draw(models(), [20] * 4, 10, np.random.default_rng(1))
    by_hand = follow(found.route, data, made())
    write_plan(found, tmp_path / "plan.json")
    for given in (found, found.to_dict(), read_plan(tmp_path / "plan.json")):
        followed = follow(given, data)
        np.testing.assert_array_equal(followed.errors, by_hand.errors)
        assert followed.notes == ()
        assert followed.final.predicted is not None
    assert follow(found, data, made()).final.predicted == followed.final.predicted  # the same learner, given


def test_another_learner_is_named_and_not_predicted() -> None:
    found = plan(problem_of(models(), learner=Proximal(M, 20, SIGMA, regularization=1.96)))
    data = draw(models(), [20] * 4, 10, np.random.default_rng(1))
    for other, said in (
        (RouteRegressor(), "no prediction for least-squares"),
        (ProximalRegressor(1.0), "no prediction for proximal, λ = 1"),
        (ProximalRegressor([0.5, 1, 2, 3]), "no prediction for proximal, λ = 0.5 … 3 by position"),
        (GradientRegressor(3, 0.1), "no prediction for gradient, 3 steps of 0.1"),
    ):
        followed = follow(found, data, other)
        assert followed.notes[0] == f"the plan was made for proximal, λ = 1.96, so there is {said}"
        assert followed.final.predicted is None
        assert followed.verdict is None


def test_plan_without_expected_errors_trains_without_prediction() -> None:
    found = plan(problem_of(models(), learner=Proximal(M, 20, SIGMA, regularization=1.96)))
    new = ("features", "samples", "features_scaling", "expected_errors", "label_noise")
    bare = {name: value for name, value in found.to_dict().items() if name not in new}
    data = draw(models(), [20] * 4, 10, np.random.default_rng(1))
    followed = follow(bare, data)
    assert isinstance(followed.model, ProximalRegressor)
    assert followed.model.strength == 1.96
    assert followed.final.predicted is None
    whole = plan_from(bare, problem_of(models(), learner=Proximal(M, 20, SIGMA, regularization=1.96)))
    assert whole.expected_errors == found.expected_errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"route": None}, "route: missing; expected a plan"),
        ({"learner": {"rule": "proximal", "regularization": "auto"}}, "expected numbers"),
        ({"learner": {"rule": "proximal", "regularization": [1, 2]}}, "expected 4, one per position"),
        ({"learner": {"rule": "boosting"}}, "learner.rule = 'boosting': unknown"),
        ({"samples": [3]}, "samples has 1 entries: expected 4"),
        ({"expected_errors": [1, 2]}, "expected_errors has 2 entries"),
        ({"label_noise": -1}, "label_noise = -1"),
        ({"features_scaling": {"means": [0]}}, "features_scaling"),
    ],
)
def test_damaged_plans_are_rejected(change: dict[str, Any], message: str) -> None:
    data = draw(models(), [20] * 4, 10, np.random.default_rng(1))
    with pytest.raises(InputError, match=message):
        follow({**plan(problem_of(models())).to_dict(), **change}, data)


def test_a_calibrated_plan_needs_its_learner() -> None:
    asked = Problem(np.ones((4, 4)) - np.eye(4), Calibrated(retention=0.3, coupling=0.1, noise=0.1),
                    transfer=np.ones((4, 4)), regions=NAMES)  # fmt: skip
    data = draw(models(), [20] * 4, 10, np.random.default_rng(1))
    found = plan(asked)
    with pytest.raises(
        InputError, match="a plan for a calibrated learner does not define how to train; give the learner"
    ):
        follow(found, data)
    followed = follow(found, data, ProximalRegressor(0.5), "zero-one")
    assert followed.final.label_noise == 0.0  # contained in what was measured
    assert followed.final.expected == followed.final.predicted == pytest.approx(found.loss.error)


# Predicted and measured errors


@pytest.mark.parametrize("samples", [None, [20, 12, 2, 40]])
@pytest.mark.parametrize("members", [members for members, _ in LEARNERS if members.get("regularization") != 0.0])
def test_expected_errors_are_those_of_the_recursion(members: dict[str, Any], samples: list[int] | None) -> None:
    """The closed form equals the last row of the error over time, by vectors and by a matrix, and its mean is F_T."""
    members = {**members, "rate": 0.02} if "rate" in members else members
    if "regularization" in members and isinstance(members["regularization"], tuple):
        members = {**members, "regularization": (0.1, 0.5, 1.0, 2.5)}
    features = 5 if samples else M
    truth = models()
    asked = problem_of(truth, learner=Learner(features, 20, SIGMA, **members), samples=samples)
    delta = ((truth[:, None] - truth[None]) ** 2).sum(axis=2)
    order = [2, 0, 3, 1]
    routes = Routes.of_order(order)
    for one in (asked, asked.replace(vectors=None, dissimilarity=delta)):
        errors = np.array(value_of(one, routes).expected_errors)
        np.testing.assert_allclose(errors, error_over_time(one, order)[-1][order], rtol=1e-10)
    assert np.mean(errors) == pytest.approx(evaluate(asked, order).loss.error)
    inflated = asked.replace(vectors=None, dissimilarity=3 * delta, dissimilarity_estimate=delta,
                             initial=3 * asked.initial, initial_estimate=asked.initial)  # fmt: skip
    np.testing.assert_allclose(np.array(value_of(inflated, routes).expected_errors), errors, rtol=1e-10)


@pytest.mark.parametrize(("members", "made"), LEARNERS[:3] + LEARNERS[4:])
def test_prediction_and_label_noise_are_what_is_measured(members: dict[str, Any], made: Callable[[], Any]) -> None:
    """Over fresh samples, each region's measured error is the predicted one plus σ², within 4.5 standard errors."""
    truth, rng = models(3), np.random.default_rng(4)
    counts = [20, 14, 30, 9]
    asked = problem_of(truth, learner=Learner(M, 20, SIGMA, **members), samples=counts)
    found = evaluate(asked, [2, 0, 3, 1])
    finals = [follow(found.route, draw(truth, counts, 30, rng), made()).errors[-1] for _ in range(300)]
    measured, error = np.mean(finals, axis=0), np.std(finals, axis=0, ddof=1) / 300**0.5
    assert found.label_noise == SIGMA**2
    assert found.expected_errors is not None
    assert (np.abs(measured - found.expected_errors - SIGMA**2) < 4.5 * error).all()
    assert found.samples == (30, 20, 9, 14)  # in the order of the route


def test_false_alarms_are_rare_and_real_ones_are_given() -> None:
    """Repeats divide the same samples, so their spread is too small; the correction keeps alarms rare."""
    truth, rng = models(5), np.random.default_rng(6)
    found = plan(problem_of(truth))
    followed = [follow(found, draw(truth, [20] * 4, 20, rng), repeats=10, seed=1) for _ in range(60)]
    assert sum(one.final.agrees is False for one in followed) <= 2
    deviations = [one.final.deviation or 0.0 for one in followed]
    assert np.std(deviations) < 1.5  # standard errors of the repeats alone would give more than 3
    wrong = replace(found, expected_errors=tuple(5 + error for error in found.expected_errors or ()))
    alarmed = follow(wrong, draw(truth, [20] * 4, 20, rng), repeats=10, seed=1)
    assert alarmed.final.agrees is False
    assert alarmed.verdict is not None
    assert alarmed.verdict.startswith("predicted and measured errors differ by more than chance: ")
    assert followed[0].verdict == "predicted and measured errors agree within chance"


def test_few_repeats_do_not_agree_by_lack_of_power() -> None:
    """No number of repeats calls a deviation chance that it could not have noticed."""
    truth, rng = models(5), np.random.default_rng(6)
    found = plan(problem_of(truth))
    data = draw(truth, [20] * 4, 20, rng)
    enough = enough_repeats(1)
    for repeats in (2, 3, enough - 1, enough):
        right = follow(found, data, repeats=repeats, seed=1).final
        for off in (5.0, 8.0, 11.0):
            by = (off - (right.deviation or 0.0)) * (right.standard_error or 0.0)
            shifted = replace(found, expected_errors=tuple(error - by for error in found.expected_errors or ()))
            followed = follow(shifted, data, repeats=repeats, seed=1)
            assert followed.final.deviation == pytest.approx(off)
            assert followed.final.agrees is not True
            assert "agree within chance" not in str(followed.verdict)
    few = follow(found, data, repeats=3, seed=1)
    assert few.final.agrees is None
    said = f"too few repeats to tell whether predicted and measured errors agree (3; {enough} would do)"
    assert few.verdict == said
    assert ("verdict", said) in few.sheet().lines
    most = follow(found, data, repeats=enough, seed=1)
    assert most.final.agrees is True
    said = "agree within chance on average; too few repeats to tell for single regions (9 would do)"
    assert str(most.verdict).endswith(said)
    large = replace(found, expected_errors=tuple(1e6 + error for error in found.expected_errors or ()))
    assert follow(large, data, repeats=3, seed=1).final.agrees is False  # 11 standard errors are not, 10⁶ are


@pytest.mark.parametrize("tests", [1, 6, 100])
def test_enough_repeats_have_the_stated_power(tests: int) -> None:
    """Against the noncentral t distribution: the first number of repeats with a power of 80 %."""
    level, enough = ALARM / tests, enough_repeats(tests)
    effect = 2 * scipy.stats.norm.isf(level / 2)
    powers = []
    for degrees in (enough - 2, enough - 1):
        powers.append(scipy.stats.nct.sf(scipy.stats.t.isf(level / 2, degrees), degrees, effect))
        assert power_of(effect, degrees, level) == pytest.approx(powers[-1], abs=1e-6)
    assert powers[0] < 0.8 <= powers[1]


def test_standard_errors_by_hand() -> None:
    data = draw(models(), [20] * 4, 10, np.random.default_rng(1))
    found = plan(problem_of(models()))
    once, many = follow(found, data), follow(found, data, repeats=5, seed=3)
    own = []
    for name, final in zip(once.route, once.final_by_region, strict=True):
        x, y = data[name].test
        squares = (once.model.predict(x) - y) ** 2
        own.append(squares.std(ddof=1) / 10**0.5)
        assert final.measured == pytest.approx(squares.mean())
        assert final.standard_error == pytest.approx(own[-1])
        assert final.agrees is None  # the chance in training is most of it
    assert once.final.standard_error == pytest.approx(np.sqrt(np.sum(np.square(own))) / 4)
    assert many.repeats == 5
    again = follow(found, data, repeats=5, seed=3)
    np.testing.assert_array_equal(many.errors, again.errors)
    assert (follow(found, data, repeats=5, seed=4).errors != many.errors).any()
    runs = [follow(found, data, repeats=k, seed=3).metrics.average_final_error * k for k in range(1, 6)]
    finals = np.diff([0.0, *runs])  # of each repeat
    assert finals[0] == pytest.approx(once.metrics.average_final_error)
    assert many.final.measured == pytest.approx(finals.mean())
    assert many.final.standard_error == pytest.approx(finals.std(ddof=1) * np.sqrt(1 / 5 + 10 / 20))


def test_mean_errors_are_weighted_by_importance(tmp_path: Path) -> None:
    importance = {"A": 3.0, "B": 0.0, "C": 1.0, "D": 4.0}
    found = plan(problem_of(models(), importance=list(importance.values())))
    data = draw(models(), [20] * 4, 10, np.random.default_rng(1))
    write_plan(found, tmp_path / "plan.json")
    weights = np.array([importance[name] / 2 for name in found.route])
    for repeats in (1, 4):
        once = follow(read_plan(tmp_path / "plan.json"), data, repeats=repeats)
        assert once.final.predicted == pytest.approx(found.loss.error)
        assert once.final.measured == pytest.approx(np.mean([
            weight * one.measured for weight, one in zip(weights, once.final_by_region, strict=True)
        ]))  # fmt: skip
        assert f"{float((weights * once.errors[0]).mean()):.4g}" in str(once.sheet().to_markdown())
    own = [one.standard_error or 0.0 for one in follow(found, data).final_by_region]
    assert follow(found, data).final.standard_error == pytest.approx(float(np.linalg.norm(weights * own)) / 4)
    plain = follow(replace(found, importance=None), data)
    assert plain.metrics == follow(found, data).metrics
    assert plain.final.measured == pytest.approx(plain.metrics.average_final_error)
    for wrong in ([1.0, 2.0], [0.0] * 4, "much"):
        with pytest.raises(InputError, match="importance"):
            follow({**found.to_dict(), "importance": wrong}, data)
        assert verify(problem_of(models(), importance=list(importance.values())),
                      {**found.to_dict(), "importance": wrong}).verdict == "refuted"  # fmt: skip


def test_importance_is_that_of_the_regions_tested() -> None:
    importance = {"A": 3.0, "B": 0.0, "C": 1.0, "D": 4.0}
    found = plan(problem_of(models(), importance=list(importance.values()), visits=Visits(["A"], at_most=1)))
    data = draw(models(), [20] * 4, 10, np.random.default_rng(1))
    assert follow(found, data).final.predicted == pytest.approx(found.loss.error)
    known = dict(zip((*found.route, *found.skipped), found.expected_errors or (), strict=True))
    del data["C"]
    followed = follow(found, data)
    assert followed.importance is not None
    assert followed.importance.tolist() == [importance[name] for name in followed.tested] == [3.0, 0.0, 4.0]
    assert followed.final.predicted == pytest.approx((3 * known["A"] + 4 * known["D"]) / 7)


@pytest.mark.parametrize("degrees", [1, 2, 9, 400])
def test_the_chance_of_a_deviation_is_students(degrees: int) -> None:
    for deviation in (-0.2, 1.0, 3.0, 8.0):
        assert chance_of(deviation, degrees) == pytest.approx(2 * scipy.stats.t.sf(abs(deviation), degrees), rel=1e-6)
    assert chance_of(-3.0, None) == pytest.approx(2 * scipy.stats.norm.sf(3.0))


def test_differences_from_the_plan_are_reported() -> None:
    found = plan(problem_of(models()))
    rng = np.random.default_rng(1)
    more = follow(found, draw(models(), [20, 25, 30, 35], 10, rng))
    assert more.notes == ("the plan assumes 20 training samples per visit; training on 20 … 35",)
    large = {name: RegionData((1000 * r.train[0], r.train[1]), (1000 * r.test[0], r.test[1]))
             for name, r in draw(models(), [20] * 4, 10, rng).items()}  # fmt: skip
    assert any("second moments go from" in note for note in follow(found, large).notes)
    wider = {name: RegionData((np.hstack([r.train[0], r.train[0][:, :2] ** 2]), r.train[1]),
                              (np.hstack([r.test[0], r.test[0][:, :2] ** 2]), r.test[1]))
             for name, r in draw(models(), [20] * 4, 10, rng).items()}  # fmt: skip
    assert "the plan was made for 3 features; these samples have 6" in follow(found, wider).notes
    counted = follow(found, draw(models(), [20] * 4, 10, rng), error="zero-one")
    assert counted.final.predicted is None
    said = "the plan predicts the squared error, so there is no prediction for the zero one error"
    assert said in counted.notes[-1]


# Scaling


def raw(seed: int = 0) -> dict[str, tuple[pd.DataFrame, FloatArray]]:
    """Regions whose features are incomes, ages and rooms, in numbers that differ by region."""
    rng = np.random.default_rng(seed)
    found = {}
    for k, name in enumerate(NAMES):
        x = rng.standard_normal((60 + 20 * k, M)) @ rng.uniform(-0.3, 0.3, (M, M)) + rng.standard_normal(
            (60 + 20 * k, M)
        )
        y = 3 + x @ [2.0, -1.0, 0.5 * k] + SIGMA * rng.standard_normal(len(x))
        table = pd.DataFrame(x * [30_000, 12, 1.5] + [88_000, 40, 4], columns=COLUMNS)
        found[name] = table, y
    return found


def travel() -> FloatArray:
    return np.ones((4, 4)) - np.eye(4)


@pytest.mark.parametrize("options", [{"scaling": "whiten", "intercept": True}, {"scaling": "standardise"},
                                     {"scaling": "none", "intercept": True}])  # fmt: skip
def test_one_scaling_for_held_out_follow_and_transfer(options: dict[str, Any], tmp_path: Path) -> None:
    found = estimate(raw(), **options)
    scaling = found.features_scaling
    assert scaling is not None
    assert scaling.columns == tuple(COLUMNS)
    data, held = unscaled(found), found.held_out()
    for name in NAMES:
        np.testing.assert_array_equal(scaling.apply(data[name].train[0]), held[name].train[0])
        made = (data[name].train[0] - scaling.means) @ scaling.matrix  # the definition
        np.testing.assert_allclose(held[name].train[0][:, : made.shape[1]], made)
        assert (held[name].train[0][:, made.shape[1] :] == 1).all()
    write_problem(found.to_problem(travel()), tmp_path / "problem.json")
    asked = read_problem(tmp_path / "problem.json")
    assert asked.features_scaling == scaling
    planned = plan(asked)
    one, two = follow(planned, data), follow(planned, held)
    np.testing.assert_array_equal(one.errors, two.errors)  # held_out() is not scaled twice
    learner = ProximalRegressor(0.5)
    three, four = transfer(data, learner, features=scaling), transfer(held, learner, features=scaling)
    np.testing.assert_array_equal(three.errors, four.errors)
    assert three.features_scaling == scaling
    assert three.to_problem(Calibrated(retention=0.3, coupling=0.1)).features_scaling == scaling
    shuffled = {name: (*frames(r.train, scaling), *frames(r.test, scaling)) for name, r in data.items()}
    np.testing.assert_array_equal(follow(planned, shuffled).errors, one.errors)  # columns are brought into order


def unscaled(found: Estimate) -> dict[str, RegionData]:
    """The raw samples that were not used for estimation."""
    data = {}
    for name, (inputs, outputs) in found.samples.items():
        rows = found.rows[name]
        train, test = ((np.asarray(inputs)[part], np.asarray(outputs)[part]) for part in (rows.train, rows.test))
        data[name] = RegionData(train, test)
    return data


def frames(part: tuple[FloatArray, FloatArray], scaling: FeaturesScaling) -> tuple[pd.DataFrame, FloatArray]:
    return pd.DataFrame(part[0], columns=list(scaling.columns or ()))[COLUMNS[::-1]], part[1]


def test_samples_of_another_scaling_are_rejected() -> None:
    one, two = estimate(raw(), scaling="whiten"), estimate(raw(), scaling="standardise")
    planned = plan(one.to_problem(travel()))
    with pytest.raises(InputError, match="scaled by another features_scaling; give raw samples"):
        follow(planned, two.held_out())
    wide = estimate(raw(), scaling="whiten", intercept=True)
    scaled = {name: RegionData(r.train, r.test) for name, r in wide.held_out().items()}  # says that it is raw
    with pytest.raises(InputError, match=r"features_scaling meets samples of shape \(\d+, 4\): 3 raw features are"):
        follow(plan(wide.to_problem(travel())), scaled)


def test_feature_maps_cannot_be_saved() -> None:
    found = estimate(raw(), features=lambda x: x / 1000, scaling="whiten")
    assert found.features_scaling is None
    assert found.to_problem(travel()).features_scaling is None
    assert any("a feature map cannot be saved in a file" in caveat for caveat in found.caveats)
    np.testing.assert_allclose(np.concatenate([r.train[0] for r in found.held_out().values()]).std(axis=0), 1, rtol=0.2)


@pytest.mark.parametrize("strength", [0.02, 30.0])
def test_command_line_and_library_measure_the_same(
    strength: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """λ is for whitened features: from files with incomes of 88,000, follow gives the library's number, bit by bit."""
    monkeypatch.chdir(tmp_path)
    write_raw()
    found = estimate(raw(), scaling="whiten", intercept=True)
    chosen = ["--regularization", str(strength)]
    assert run([*ESTIMATE, "--scaling", "whiten", "--intercept", *chosen]) == 0
    assert run(["plan", "problem.json", "-o", "plan.json"]) == 0
    capsys.readouterr()
    assert run(["follow", "held", "--target", "price", "--plan", "plan.json", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    by_library = follow(printed["route"], found.held_out(), ProximalRegressor(strength))
    assert printed["errors"] == by_library.errors.tolist()
    assert printed["final"]["measured"] == by_library.metrics.average_final_error
    given = ["--target", "price", "--problem", "problem.json"]
    assert run(["follow", "held", *given, "--route", ",".join(printed["route"]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["final"] == printed["final"]
    learner = ["--learner", "proximal", "--regularization", str(strength)]
    assert run(["transfer", "held", *given, *learner, "--json"]) == 0
    moved = json.loads(capsys.readouterr().out)
    assert moved["transfer"] == transfer(found.held_out(), ProximalRegressor(strength)).errors.tolist()
    assert moved["features_scaling"] == found.features_scaling.to_dict()  # type: ignore[union-attr]


ESTIMATE = ["estimate", "samples", "--target", "price", "--travel", "travel.csv", "--problem", "problem.json", "--rest",
            "held"]  # fmt: skip


def write_raw() -> None:
    Path("samples").mkdir()
    for name, (table, targets) in raw().items():
        write_samples(Path("samples") / f"{name}.csv", COLUMNS, "price", table.to_numpy(), np.asarray(targets))
    pd.DataFrame(travel(), NAMES, NAMES).to_csv("travel.csv")


def test_follow_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_raw()
    assert run([*ESTIMATE, "--scaling", "whiten", "--intercept"]) == 0
    assert run(["plan", "problem.json", "--regularization", "1.96", "-o", "plan.json"]) == 0
    given = ["follow", "held", "--target", "price", "--plan", "plan.json"]
    capsys.readouterr()
    assert run([*given, "--repeats", "4", "-o", "errors.json"]) == 0
    said = capsys.readouterr()
    final = json.loads(Path("errors.json").read_text())["final"]
    predicted, noise, expected = final["predicted"], final["label_noise"], final["expected"]
    line = f"predicted {predicted:.4g} + label noise {noise:.4g} = {expected:.4g}; measured {final['measured']:.4g} ± "
    assert line in said.out
    assert "(4 repeats)" in said.out
    assert [one["region"] for one in final["regions"]] == json.loads(Path("plan.json").read_text())["route"]
    assert noise == read_problem("problem.json").learner.noise ** 2
    assert "learnroute: " not in said.err  # nothing differs from what the plan assumes: n of each region is its own
    assert run([*given, "--learner", "proximal", "--json"]) == 0  # the plan's rule, so the plan's λ
    one = json.loads(capsys.readouterr().out)
    assert run([*given, "--json"]) == 0
    assert one["errors"] == json.loads(capsys.readouterr().out)["errors"]
    for options, training in (
        (["--learner", "least-squares"], "least-squares"),
        (["--regularization", "1"], "proximal, λ = 1"),
        (["--learner", "sklearn.linear_model:SGDRegressor"], "SGDRegressor"),
    ):
        assert run([*given, *options, "--json"]) == 0
        said = capsys.readouterr()
        assert (
            f"learnroute: the plan was made for proximal, λ = 1.96, so there is no prediction for {training}\n"
            in said.err
        )
        assert json.loads(said.out)["final"]["predicted"] is None
    assert run(["plan", "problem.json", "-o", "least.json"]) == 0
    capsys.readouterr()
    assert run(["follow", "held", "--target", "price", "--plan", "least.json", "--regularization", "2"]) == 2
    assert "least-squares, which has no λ; add --learner proximal" in capsys.readouterr().err
    assert run(["follow", "held", "--target", "income", "--plan", "plan.json"]) == 2
    assert "lacks income and has price, to be omitted with --skip" in capsys.readouterr().err


def test_a_calibrated_plan_on_the_command_line_asks_for_its_learner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_raw()
    law = Calibrated(retention=0.3, coupling=0.1)
    write_plan(plan(Problem(travel(), law, transfer=np.ones((4, 4)), regions=NAMES)), "plan.json")
    given = ["follow", "samples", "--target", "price", "--plan", "plan.json"]
    assert run(given) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "give the learner (--learner)" in said
    assert run([*given, "--learner", "proximal"]) == 0


# Numbers of samples


def test_the_problem_has_each_regions_own_number_of_samples() -> None:
    found = estimate(raw(), scaling="whiten", intercept=True)
    asked = found.to_problem(travel())
    assert asked.samples is not None
    assert asked.samples.tolist() == [15, 20, 25, 30]
    assert found.to_problem(travel(), samples=15).samples is None
    equal = {name: (table[:60], targets[:60]) for name, (table, targets) in raw().items()}
    same = estimate(equal, scaling="whiten").to_problem(travel())
    assert same.samples is None
    assert same.learner.samples == 15
    assert follow(plan(asked), found.held_out()).notes == ()  # what is trained on is what the plan assumes


def test_numbers_of_samples_without_an_expected_error_are_rejected_with_a_remedy() -> None:
    few = {
        name: (table[: 16 + 12 * k], targets[: 16 + 12 * k]) for k, (name, (table, targets)) in enumerate(raw().items())
    }
    found = estimate(few, scaling="whiten", intercept=True)
    said = (
        r"region 'A' has 4 samples left to train on: .* with 4 features does not exist for 3 to 5 samples; use another "
        r"share, one number .*, or a regularization"
    )
    with pytest.raises(InputError, match=said):
        found.to_problem(travel())
    assert found.to_problem(travel(), samples=9).learner.samples == 9
    proximal = found.to_problem(travel(), regularization="auto")
    assert proximal.samples is not None
    assert proximal.samples.tolist() == [4, 7, 10, 13]
    assert plan(proximal).learner is not None
    said = "samples: missing; no samples are left for training, so give the number per region"
    with pytest.raises(InputError, match=said):
        estimate(raw(), share=1.0).to_problem(travel())


def test_plan_contains_what_follow_needs(tmp_path: Path) -> None:
    found: Plan = plan(estimate(raw(), scaling="whiten", intercept=True).to_problem(travel()))
    write_plan(found, tmp_path / "plan.json")
    one, two = PlannedTraining.of(found), PlannedTraining.of(read_plan(tmp_path / "plan.json"))
    assert one.scaling == two.scaling
    assert one.samples is not None
    assert two.samples is not None
    assert one.samples.tolist() == two.samples.tolist()
    assert one.errors is not None
    assert two.errors is not None
    assert one.errors.tolist() == two.errors.tolist()
    assert (one.features, one.label_noise) == (two.features, two.label_noise) == (4, found.label_noise)
