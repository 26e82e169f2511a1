"""Verdict, form and learner of calibrated laws, on known laws."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnroute import (
    Calibrated,
    InputError,
    Problem,
    evaluate,
    plan,
    read_plan,
    read_problem,
    verify,
    write_plan,
    write_problem,
)
from learnroute.cli import run
from learnroute.formats.json_files import problem_to_dict
from learnroute.formats.schemas import plan_schema, problem_schema
from learnroute.learning import Calibration, ProximalRegressor, RegionData, Transfer, calibrate, follow, transfer
from learnroute.learning import laws as laws_module
from learnroute.learning.calibration import read_following
from learnroute.learning.laws import Coefficient, in_triangle
from learnroute.learning.records import distinguishing_names, learner_record
from learnroute.learning.selection import Scores, preference_of
from learnroute.learning.verdict import Evidence, judge

SIZE, FEATURES = 8, 6


def pilots_by(table: np.ndarray, law: tuple[float, float], noise: float, rng: np.random.Generator, count: int) -> Any:
    """Errors along random routes by the law itself, measured with noise."""
    kept, coupled = law
    found = []
    for _ in range(count):
        order, errors, rows = rng.permutation(SIZE), table.mean(axis=0), []
        for k in order:
            errors = kept * errors - coupled * errors[k] + (1 - kept) * table[k]
            rows.append(errors + noise * rng.standard_normal(SIZE))
        found.append((order.tolist(), np.array(rows)[:, order]))
    return found


def verdicts(make: Callable[[int], Calibration], runs: int) -> Counter[str]:
    return Counter(make(seed).verdict for seed in range(runs))


@pytest.mark.parametrize("law", [(0.4, 0.1), (0.8, 0.1), (0.0, 0.0)])
def test_a_law_that_holds_is_supported(law: tuple[float, float]) -> None:
    def make(seed: int) -> Calibration:
        rng = np.random.default_rng((seed, 1))
        table = 0.2 + rng.random((SIZE, SIZE))
        return calibrate(table, pilots_by(table, law, 0.03, rng, 3))

    found = verdicts(make, 40)
    assert found["not supported"] == 0, found
    assert found["supported"] >= 38, found


def test_uninformative_transfer_matrix_is_not_supported() -> None:
    """The pilots follow a law, but not with this matrix."""

    def make(seed: int) -> Calibration:
        rng = np.random.default_rng((seed, 2))
        table, other = 0.2 + rng.random((2, SIZE, SIZE))
        return calibrate(other, pilots_by(table, (0.4, 0.1), 0.03, rng, 3))

    found = verdicts(make, 60)
    assert found["supported"] == 0, found
    assert found["not supported"] >= 58, found


def test_a_learner_that_hardly_changes_is_not_supported() -> None:
    """Errors drift without an effect of training: R² is large, but the law is useless for planning."""

    def make(seed: int) -> Calibration:
        rng = np.random.default_rng((seed, 3))
        routes = []
        for _ in range(3):
            errors, rows = rng.random(SIZE), []
            for _ in range(SIZE):
                errors = 0.9 * errors + 0.05 + 0.05 * rng.standard_normal(SIZE)
                rows.append(errors)
            order = rng.permutation(SIZE)
            routes.append((order.tolist(), np.array(rows)[:, order]))
        return calibrate(0.2 + rng.random((SIZE, SIZE)), routes)

    found = verdicts(make, 60)
    assert found["supported"] == 0, found
    assert found["not supported"] >= 56, found


def evidence(**changed: Any) -> Evidence:
    good = {
        "form": "linear",
        "skill": 0.8,
        "retention": Coefficient(0.3, 0.02, 0.26, 0.34),
        "free": Coefficient(0.7, 0.03, 0.64, 0.76),
        "total": Coefficient(1.0, 0.02, 0.96, 1.04),
        "own": Coefficient(0.01, 0.005, 0.002, 0.018),  # significant, but small beside D
        "plain": (0.3, 0.1),
        "pilots": 3,
        "same_learner": None,
    }
    return Evidence(**{**good, **changed})


REPEATED = Transfer.of(np.eye(3), standard_errors=np.full((3, 3), 0.01), trainings=[4, 4, 4])


def test_the_figures_of_three_pilots_of_a_network_are_not_supported() -> None:
    """Retention 0.70 … 1.17 and a coefficient of D of 0.05 (-0.10 … 0.20)."""
    seen = evidence(skill=0.2, retention=Coefficient(0.93, 0.1, 0.70, 1.17), free=Coefficient(0.05, 0.07, -0.10, 0.20))
    found = judge(seen, REPEATED)
    assert found.verdict == "not supported"
    assert found.reason.startswith(
        "the coefficient of D, 0.05 (-0.10 … 0.20), does not differ significantly from 0; p₁, 0.93 (0.70 …"
    )
    assert "the law may not fit this learner" in (found.advice or "")  # 36 pilots would do if the middles stayed
    wide = evidence(retention=Coefficient(0.5, 0.2, 0.2, 0.8))
    assert judge(wide, REPEATED).verdict == "weak"
    assert judge(wide, REPEATED).advice == "follow about 5 pilot routes"  # 3 · (0.6 / 0.5)²


@pytest.mark.parametrize(
    ("changed", "verdict", "said"),
    [
        ({}, "supported", "80 % less squared error"),
        ({"skill": 0.3}, "weak", "only 30 % less squared error"),
        ({"skill": -0.1}, "not supported", "no better than by ignoring where"),
        ({"pilots": 1}, "weak", "a single pilot"),
        ({"total": Coefficient(1.3, 0.05, 1.2, 1.4)}, "weak", "add up to 1.30"),
        ({"form": "common", "total": Coefficient(1.3, 0.05, 1.2, 1.4)}, "weak", "add up to 1.30"),
        ({"own": Coefficient(-0.2, 0.05, -0.3, -0.1)}, "weak", "errors just after training differ by -0.20"),
        ({"own": Coefficient(-0.2, 0.2, -0.6, 0.2)}, "supported", "less squared error"),
        ({"plain": (-0.3, 0.1)}, "weak", "a law has 0 <= q <= p₁ <= 1"),
        ({"same_learner": False}, "supported", "less squared error"),
    ],
)
def test_each_reason_gives_its_verdict(changed: dict[str, Any], verdict: str, said: str) -> None:
    found = judge(evidence(**changed), REPEATED)
    assert found.verdict == verdict
    assert said in found.reason
    assert (found.advice is None) == (verdict == "supported")


def test_advice_names_what_would_help() -> None:
    noisy = Transfer.of(np.eye(3), standard_errors=np.full((3, 3), 0.5), trainings=[2, 2, 2])
    assert judge(evidence(skill=0.3), noisy).advice == "repeat the transfer matrix 8 times: much of it is noise"
    single = judge(evidence(skill=0.3, same_learner=False), Transfer.of(np.eye(3))).advice or ""
    assert "with the learner of the pilots" in single
    assert "its noise is unknown" in single
    still = judge(evidence(free=Coefficient(0.01, 0.01, -0.01, 0.03)), REPEATED).advice or ""
    assert "train longer in each region" in still


# The choice of the form


def test_a_tie_goes_to_the_simpler_form() -> None:
    """A form that is better by no more than a standard error of the difference ties with the simpler one."""
    linear, change = np.linspace(1, 1.1, 20), np.tile([0.02, -0.02], 10)  # its standard error is 0.0046
    doubtful, clear = linear - 0.004 + change, linear - 0.05 + change
    order = preference_of(None)
    assert Scores({"linear": linear, "common": doubtful}, 30.0, 40.0).choose(order) == "linear"
    assert Scores({"linear": linear, "common": clear}, 30.0, 40.0).choose(order) == "common"
    assert Scores({"common": doubtful, "linear": linear, "held": linear}, 30.0, 40.0).choose(order) == "held"
    assert Scores({"linear": clear, "held": linear}, 30.0, 40.0).choose(order) == "linear"
    exact = Scores({"linear": np.full(20, 1e-28), "common": np.zeros(20)}, 30.0, 40.0)
    assert exact.choose(order) == "linear"  # rounding is no difference
    scores = Scores({"linear": linear}, 4 * float(linear.sum()), 40.0)
    assert scores.skill("linear") == pytest.approx(0.75)
    assert scores.r_squared["linear"] == pytest.approx(1 - linear.sum() / 40)


def test_a_proved_form_comes_first_only_for_its_own_learner() -> None:
    assert preference_of(True) == preference_of(None) == ("held", "linear", "common")
    assert preference_of(False) == ("linear", "held", "common")


def test_coefficients_within_bounds_are_the_best_ones_there() -> None:
    """Against a fine grid over the triangle 0 <= q <= p₁ <= 1, ν being free."""
    rng = np.random.default_rng(0)
    steps = np.linspace(0, 1, 101)
    kept, coupled = (part.ravel() for part in np.meshgrid(steps, steps, indexing="ij"))
    inside = coupled <= kept
    grid = np.column_stack([kept[inside], coupled[inside]])
    for _ in range(40):
        table = np.column_stack([rng.standard_normal((30, 2)), np.ones(30)])
        wanted = table @ (2 * rng.standard_normal(3)) + rng.standard_normal(30)
        found = in_triangle(laws_module.least_squares(table, wanted), table.T @ table, table.T @ wanted)
        assert -1e-12 <= found[1] <= found[0] + 1e-12 <= 1 + 2e-12
        rest = wanted[:, None] - table[:, :2] @ grid.T
        least = ((rest - rest.mean(axis=0)) ** 2).sum(axis=0).min()
        assert ((wanted - table @ found) ** 2).sum() <= least + 1e-9


def regions(rng: np.random.Generator, samples: int = 60) -> dict[str, RegionData]:
    truth = 0.7 * rng.standard_normal((SIZE, FEATURES))
    found = {}
    for k in range(SIZE):
        x = rng.standard_normal((2 * samples, FEATURES))
        y = x @ truth[k] + 0.5 * rng.standard_normal(2 * samples)
        found[f"R{k + 1}"] = RegionData((x[:samples], y[:samples]), (x[samples:], y[samples:]))
    return found


def network() -> MLPRegressor:
    return MLPRegressor(hidden_layer_sizes=(16,), learning_rate_init=0.01, random_state=0)


def test_left_out_pilots_choose_the_form_for_linear_learners_too() -> None:
    """D of a regularised linear learner: `held` is best for its own pilots, but not for those of a network."""
    rng = np.random.default_rng(0)
    data = regions(rng)
    moved = transfer(data, ProximalRegressor(1.0))
    orders = [rng.permutation(SIZE).tolist() for _ in range(3)]
    own = calibrate(moved, [follow(order, data, ProximalRegressor(1.0)) for order in orders])
    assert own.form == "held"
    assert own.forms["held"] > 0.95 > own.forms["linear"]
    assert own.same_learner is True
    assert own.verdict == "supported"
    assert not own.notes
    other = calibrate(moved, [follow(order, data, network()) for order in orders])
    assert other.form == "linear"
    assert other.forms["linear"] > 0.9 > 0.6 > other.forms["held"]
    assert other.same_learner is False
    assert "D was measured with ProximalRegressor, pilots 1, 2, 3 with MLPRegressor" in other.notes
    assert other.to_dict()["forms"] == other.forms
    assert repr(other).startswith(f"<Calibration, {other.verdict}: p₁ = ")
    assert len(repr(other)) < 500


def test_single_pilot_is_validated_on_left_out_visits_and_at_best_weak() -> None:
    rng = np.random.default_rng(4)
    table = 0.2 + rng.random((SIZE, SIZE))
    found = calibrate(table, pilots_by(table, (0.4, 0.1), 0.01, rng, 1))
    assert found.forms["linear"] > 0.99
    assert found.verdict == "weak"
    assert found.reason == "a single pilot route cannot show whether other routes follow the same law"
    assert (found.pilots, found.visits) == (1, SIZE - 1)


def test_many_pilots_are_left_out_in_groups() -> None:
    rng = np.random.default_rng(5)
    table = 0.2 + rng.random((SIZE, SIZE))
    found = calibrate(table, pilots_by(table, (0.4, 0.1), 0.0, rng, 23))
    assert found.forms["linear"] == pytest.approx(1.0)
    assert found.form == "linear"


# Whose law it is


def test_records_name_the_class_and_its_parameters_but_no_seeds() -> None:
    pipeline = make_pipeline(StandardScaler(), SGDRegressor(alpha=0.01, random_state=3))
    record = learner_record(pipeline)
    assert record["class"] == "Pipeline"
    assert json.loads(json.dumps(record)) == record
    assert record == learner_record(make_pipeline(StandardScaler(), SGDRegressor(alpha=0.01, random_state=4)))
    other = learner_record(make_pipeline(StandardScaler(), SGDRegressor(alpha=0.1)))
    assert distinguishing_names(record, record) is None
    assert distinguishing_names(record, other) == (
        "Pipeline(steps.1.1.parameters.alpha=0.01)",
        "Pipeline(steps.1.1.parameters.alpha=0.1)",
    )
    assert distinguishing_names(record, learner_record(network())) == ("Pipeline", "MLPRegressor")

    class Own:
        def __init__(self, rate: float) -> None:
            self.rate, self.seed, self._state = rate, rate, object()
            self.rule = lambda old: old * rate
            self.start = np.zeros(40)

    first, second = (learner_record(Own(rate)) for rate in (0.5, 0.25))
    assert first == learner_record(Own(0.5))
    assert set(first["parameters"]) == {"rate", "rule", "start"}
    names = distinguishing_names(first, second)
    assert names is not None
    assert names[0].startswith("Own(rate=0.5, rule=function ")
    assert json.loads(json.dumps(first)) == first


def test_files_keep_the_learner_and_older_ones_without_it_are_read(tmp_path: Path) -> None:
    data = regions(np.random.default_rng(1))
    matrix, route = tmp_path / "transfer.json", tmp_path / "errors.json"
    transfer(data, ProximalRegressor(0.5)).save(matrix)
    follow(list(data), data, ProximalRegressor(0.5)).save(route)
    known = Transfer.read(matrix)
    assert known.learner is not None
    assert known.learner["parameters"]["strength"] == 0.5
    assert calibrate(known, [read_following(route)]).same_learner is True
    for file in (matrix, route):
        older = {name: value for name, value in json.loads(file.read_text()).items() if name != "learner"}
        file.write_text(json.dumps(older))
        found = calibrate(Transfer.read(matrix), [read_following(route)])
        assert found.same_learner is None
        assert not any("measured with" in note for note in found.notes)
    route.write_text(json.dumps({**older, "learner": "MLP"}))
    with pytest.raises(InputError, match=r"learner = 'MLP': expected an object with class and parameters"):
        read_following(route)


def test_the_command_prints_the_verdict_in_one_line_and_warns_of_another_learner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = regions(np.random.default_rng(2))
    matrix, files = tmp_path / "transfer.json", []
    transfer(data, ProximalRegressor(1.0)).save(matrix)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(SIZE).tolist()
        files.append(str(tmp_path / f"errors{seed}.json"))
        follow(order, data, network()).save(files[-1])
    assert run(["calibrate", *files, "--transfer", str(matrix)]) == 0
    lines = capsys.readouterr().out.splitlines()
    said = {line.split()[0]: line for line in lines if line[:1].isalpha()}
    assert run(["calibrate", *files, "--transfer", str(matrix), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] in ("weak", "not supported")
    meaning = {"weak": "plan with care", "not supported": "do not plan with it"}[found["verdict"]]
    assert said["verdict"] == f"verdict    {found['verdict']}, {meaning}: {found['reason']}"
    assert said["advice"] == f"advice     {found['advice']}"
    shown = ", ".join(f"{name} {score:.3f}" for name, score in found["forms"].items())
    assert said["forms"] == f"forms      R² in left-out pilots: {shown}"
    assert "warning    D was measured with ProximalRegressor, pilots 1, 2, 3 with MLPRegressor" in lines


# What plans say about the law


@pytest.mark.parametrize("suffix", [".json", ".npz", "", ".geojson"])
@pytest.mark.parametrize("verdict", ["supported", "weak", "not supported", None])
def test_plans_say_what_the_measurements_say_about_the_law(verdict: Any, suffix: str, tmp_path: Path) -> None:
    """The verdict is kept by every format, and doubts are part of each claim about the route."""
    learner = Calibrated(retention=0.4, coupling=0.1, noise=0.1, verdict=verdict, measure="squared_error")
    places = [[8.0, 47.0], [8.5, 47.1], [9.0, 46.0]]
    made = Problem(None, learner, transfer=0.5 + np.ones((3, 3)) - np.eye(3), coordinates=places, geographic=True,
                   initial=[3.0] * 3)  # fmt: skip
    write_problem(made, tmp_path / f"problem{suffix}")
    problem = read_problem(tmp_path / f"problem{suffix}")
    assert problem.learner == learner
    doubt = {
        "weak": "which the measurements support only weakly",
        "not supported": "which the measurements do not support",
    }
    said = f" for this law, {doubt[verdict]}" if verdict in doubt else ""
    assert ("law" in problem.shape) == (verdict is not None)
    for found in (plan(problem), evaluate(problem, plan(problem).route), plan(problem, "travel")):
        notes = [note for note in found.notes if "calibrated law" in note]
        wanted = [f"expected errors, bounds and proofs are for the calibrated law, {doubt[verdict]}"] if said else []
        assert notes == wanted
        assert found.to_dict()["notes"] == list(found.notes)
        assert verify(problem, found).holds
    best = plan(problem)
    assert best.quality == f"proved optimal{said}"
    assert dict(best.sheet().lines)["guarantee"] == f"optimal (proved){said}"
    assert replace(best, optimal=False).quality == f"at most 0 % above the optimum{said}"
    write_plan(best, tmp_path / "plan.json")
    data = read_plan(tmp_path / "plan.json")
    assert data["learner"].get("verdict") == verdict
    jsonschema.validate(data, plan_schema())
    jsonschema.validate(problem_to_dict(problem), problem_schema())
    hidden = {**data, "learner": {name: value for name, value in data["learner"].items() if name != "verdict"}}
    assert verify(problem, hidden).holds == (verdict is None)


def test_unknown_verdicts_are_rejected() -> None:
    with pytest.raises(
        InputError, match=r"learner.verdict = 'perfect': unknown; known are supported, weak, not supported"
    ):
        Calibrated(retention=0.4, coupling=0.1, verdict="perfect")
    with pytest.raises(InputError, match=r"learner\.measure = 3: expected the name of an error measure"):
        Calibrated(retention=0.4, coupling=0.1, measure=3)  # type: ignore[arg-type]


def test_a_calibrated_problem_has_the_verdict() -> None:
    rng = np.random.default_rng((0, 2))
    table, other = 0.2 + rng.random((2, SIZE, SIZE))
    law = calibrate(other, pilots_by(table, (0.4, 0.1), 0.03, rng, 3))
    assert law.verdict == "not supported"
    assert plan(law.to_problem()).quality.endswith("for this law, which the measurements do not support")


def common_pilots(
    table: np.ndarray, rho: float, noise: float, rng: np.random.Generator, shift: float = 0.0
) -> list[tuple[list[int], np.ndarray]]:
    """Three routes by the law with a common retention, from the errors of the first region's model."""
    found = []
    for _ in range(3):
        order, gained, rows = rng.permutation(SIZE), 0.0, []
        own = table[order[0]]
        for t, k in enumerate(order):
            if t:
                gained = rho * gained + 0.15 * own[k]
                own = 0.3 * own + 0.7 * table[k]
            errors = own - gained + noise * rng.standard_normal(SIZE)
            errors[k] += shift
            rows.append(errors)
        found.append((order.tolist(), np.array(rows)[:, order]))
    return found


@pytest.mark.parametrize("rho", [0.7, 0.9])
def test_coefficients_add_up_to_1_for_a_law_with_a_common_retention(rho: float) -> None:
    """The gain that all regions share is a part of the free fit: without it, sums would be 1.07 and 1.17 on average."""
    found = []
    for seed in range(30):
        rng = np.random.default_rng((seed, 9))
        table = 0.2 + rng.random((SIZE, SIZE))
        measured = np.abs(table + 0.03 * rng.standard_normal((SIZE, SIZE)))
        found.append(calibrate(measured, common_pilots(table, rho, 0.03, rng)))
    assert Counter(one.form for one in found)["common"] == 30
    assert np.mean([one.coefficient_sum.value for one in found]) == pytest.approx(1, abs=0.03)
    assert Counter(one.verdict for one in found)["supported"] >= 29


def test_errors_just_after_training_are_compared_with_the_diagonal() -> None:
    """Pilots that were trained longer than D have smaller errors where they trained, and only there."""
    for rho in (0.15, 0.7):  # 0.15 = p₁ - q: the linear form
        for shift in (-0.15, 0.0):
            found = []
            for seed in range(10):
                rng = np.random.default_rng((seed, 9))
                table = 0.4 + rng.random((SIZE, SIZE))
                found.append(calibrate(table, common_pilots(table, rho, 0.03, rng, shift)))
            said = sum("errors just after training differ by -0.1" in one.reason for one in found)
            assert said == (10 if shift else 0)
            advised = sum(
                "train as long for the transfer matrix as along a route" in (one.advice or "") for one in found
            )
            assert advised == said
            assert sum(one.verdict == "supported" for one in found) == 10 - said
