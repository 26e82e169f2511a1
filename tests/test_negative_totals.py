"""Losses that are negative, zero, or sums of cancelling parts: methods end with correct, printable results.

They occur if dissimilarities are not squared distances, or if ν of a calibrated learner is negative.
"""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from learnroute import (
    Calibrated,
    Gradient,
    InputError,
    Journey,
    Learner,
    Plan,
    Problem,
    Proximal,
    compare,
    compare_learners,
    evaluate,
    expected_loss,
    plan,
    robustness,
    tradeoff,
)
from learnroute import tuning as tuning_module
from learnroute.cli import commands
from learnroute.formats.json_files import problem_to_dict
from learnroute.model import relaxation
from learnroute.model.result import Guarantee
from learnroute.model.rounding import PRINTED, SAME, is_less
from learnroute.model.routes import Routes
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.pareto import pareto_front
from learnroute.tuning import tune_for
from samples import small

FORGED: dict[str, Any] = {
    "travel": [[0, 0], [0, 0]],
    "dissimilarity": [[0, 0], [0, 0]],
    "initial": [0, 2],
    "learner": {"features": 20, "samples": 100, "rule": "proximal", "regularization": "auto"},
}


def negative_problem(regularization: Any = "auto") -> Problem:
    """Two regions with a negative expected error: similar to each other, but not to the initial model."""
    return Problem.from_dict({**FORGED, "learner": {**FORGED["learner"], "regularization": regularization}})


LEARNERS = (
    Proximal(20, 100, regularization=0.4),
    Proximal(20, 100, 0.1, regularization="auto"),
    Proximal(30, 25, regularization="schedule"),
    Gradient(20, 100, steps=3, rate=0.5),
    Calibrated(noise=-0.7, retention=0.7, coupling=0.3),
    Calibrated(noise=-0.2, retention=0.5, coupling=0.2, common_retention=0.6),
    Calibrated(noise=0.0, retention=1.0, coupling=1.0),
)


@st.composite
def problems(draw: st.DrawFn, least: int = 2, most: int = 5) -> Problem:
    """Small numbers with many ties and zeros, next to an initial model that is far from some regions."""
    size = draw(st.integers(least, most))
    numbers = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0, 3.0])
    delta = np.zeros((size, size))
    travel = np.zeros((size, size))
    for i, j in itertools.combinations(range(size), 2):
        delta[i, j] = delta[j, i] = draw(numbers) / draw(st.sampled_from([1, 1, 1e3]))
        travel[i, j] = travel[j, i] = draw(numbers)
    initial = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, 1e3]), min_size=size, max_size=size))
    initial[0] = initial[0] if any(initial) else 2.0  # λ is not chosen where the initial model is right everywhere
    rate = draw(st.sampled_from([0.0, 0.01, 1.0]))
    return Problem(
        travel=travel, dissimilarity=delta, initial=initial, travel_rate=rate, learner=draw(st.sampled_from(LEARNERS))
    )


# Every loop ends


def test_choosing_lambda_ends_if_the_loss_is_negative() -> None:
    found = plan(negative_problem())
    assert found.loss.total < 0
    assert found.learner is not None
    grid = [expected_loss(negative_problem(float(one)), found.order).total for one in np.logspace(-3, 3, 200)]
    assert found.loss.total <= min(grid) + 1e-6
    assert evaluate(negative_problem(), [0, 1]).loss.total == pytest.approx(found.loss.total)
    many = plan(negative_problem("schedule"))
    assert many.loss.total <= found.loss.total + PRINTED
    assert evaluate(negative_problem("schedule"), [0, 1]).loss.total == pytest.approx(many.loss.total)
    table = compare_learners(negative_problem(), time_limit=2)
    assert table.best.total is not None
    assert table.best.total < 0


def test_alternations_end_by_their_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if each alternation seems to improve on the one before."""
    monkeypatch.setattr(tuning_module, "is_less", lambda *_: True)
    monkeypatch.setattr(tuning_module, "ALTERNATIONS", 5)
    monkeypatch.setattr(tuning_module, "SWEEPS", 3)
    for kind in ("auto", "schedule"):
        assert tune_for(negative_problem(kind), Routes.of_order([0, 1]), kind, Budget()).total < 0


@pytest.mark.parametrize(
    ("value", "other", "less"),
    [
        (1.0, 2.0, True), (2.0, 1.0, False), (-2.0, -1.0, True), (-1.0, -2.0, False), (-1.0, -1.0, False),
        (1 - 1e-12, 1.0, False), (-1 - 1e-12, -1.0, False), (-1.0, 0.0, True), (0.0, 0.0, False), (0.0, 1e-30, True),
        (1.0, math.inf, True), (-1.0, math.inf, True),
    ],
)  # fmt: skip
def test_less_by_more_than_rounding_whatever_the_sign(value: float, other: float, less: bool) -> None:
    assert is_less(value, other, PRINTED) is less
    found = is_less(np.array([value, value]), np.array([other, other]), PRINTED)
    assert found.tolist() == [less, less]


def test_cancelling_sums_are_compared_by_the_size_of_their_terms() -> None:
    assert is_less(1e-10, 2e-10, PRINTED)
    assert not is_less(1e-10, 2e-10, PRINTED, magnitude=1.0)


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_less_never_holds_in_both_directions(a: float, b: float) -> None:
    assert not (is_less(a, b, PRINTED) and is_less(b, a, PRINTED))


# Pareto fronts


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=12))
def test_pareto_fronts_of_any_sign_are_the_obvious_ones(pairs: list[tuple[int, int]]) -> None:
    wanted = sorted({
        p for p in pairs if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in pairs)
    })  # fmt: skip
    first, second = np.array(pairs, dtype=float).T
    kept = pareto_front(first, second)
    assert [(int(first[k]), int(second[k])) for k in kept] == wanted


@settings(max_examples=40)
@given(problems(2, 5))
def test_a_trade_off_holds_no_dominated_route(problem: Problem) -> None:
    found = tradeoff(problem)
    assert found.problem is not None
    decided, size = found.problem, problem.size
    sides = [
        (math.fsum(decided.travel[i, j] for i, j in itertools.pairwise(order)), expected_loss(decided, order).error)
        for order in itertools.permutations(range(size))
    ]
    scale = SAME * 10 * max(1.0, *(abs(error) for _, error in sides))
    assert found.complete
    for point in found.points:
        assert not any(
            travel <= point.travel_cost + 1e-12 and error < point.error - scale for travel, error in sides
        ), point
    for travel, error in sides:  # and none is missing
        assert any(p.travel_cost <= travel + 1e-12 and p.error <= error + scale for p in found.points)
    for point in found.points:
        assert found.below(point.error).travel_cost <= point.travel_cost
        assert found.within(point.travel_cost).error <= point.error


def test_negative_ceilings() -> None:
    found = tradeoff(negative_problem(0.4))
    least = found.points[-1].error
    assert least < 0
    assert found.below(least * (1 + 1e-12)) == found.points[-1]  # printed, and read again
    with pytest.raises(InputError, match="no route has an error that small"):
        found.below(least * 1.001)


# Robustness


def test_robustness_of_a_negative_loss(tmp_path: Path) -> None:
    file = tmp_path / "forged.json"
    file.write_text(json.dumps({**FORGED, "learner": {**FORGED["learner"], "regularization": 0.4}}))
    asked = ["robustness", str(file), "--within", "0.3", "--json"]
    answer = CliRunner().invoke(commands, asked, catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.output)
    assert found["plan"]["loss"]["total"] < 0
    assert (found["unchanged"], found["worst_regret"], found["pairs"]) == (1.0, 0.0, [])


@settings(max_examples=25)
@given(problems(3, 4))
def test_regrets_are_those_of_all_routes(problem: Problem) -> None:
    found = robustness(problem, within=0.5, draws=5)
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.mean_regret >= 0
    assert found.worst_regret >= 0
    assert found.worst_regret == 0 or found.unchanged < 1
    assert found.best_case <= found.worst_case
    for pair in found.pairs:
        assert pair.low <= pair.switch <= pair.high
        assert pair.regret > 0


# What is said of them


def a_plan(total: float, bound: float | None, optimal: bool = False) -> Plan:
    loss = expected_loss(negative_problem(0.4), [0, 1])
    changed = type(loss)(total, 0.0, total, 0.0, 0.0)
    return Plan(("a",), (0,), "under", changed, bound, optimal, Guarantee(None, ""), "search", "search", 0.0, 0)


@pytest.mark.parametrize("total", [-1.0, 0.0, 1.0])
def test_a_bound_that_is_not_positive_gives_a_distance_instead_of_a_ratio(total: float) -> None:
    found = a_plan(total, -2.0)
    assert (found.gap, found.certified_ratio) == (None, None)
    assert found.quality == f"at most {total + 2:.3g} above the least possible total loss"
    assert a_plan(total, None).quality == "nothing proved"


def test_worst_case_bound_is_finite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Long gradient steps, and more regions than pair bounds are sorted for: every term counts at its worst."""
    monkeypatch.setattr(relaxation, "SORTED_REGIONS", 3)
    rng = np.random.default_rng(0)
    delta = rng.random((5, 5))
    problem = Problem(
        coordinates=rng.random((5, 2)), dissimilarity=np.triu(delta, 1) + np.triu(delta, 1).T, initial=rng.random(5),
        learner=Gradient(2, 100_000, steps=1, rate=1.9),
    )  # fmt: skip
    found = plan(problem, "travel")
    least = min(expected_loss(problem, order).total for order in itertools.permutations(range(5)))
    assert found.lower_bound is not None
    assert -math.inf < found.lower_bound <= least
    assert (found.gap, found.optimal) == (None, False)
    compared = compare(problem, ["travel", "nearest"])
    assert compared.lower_bound is not None
    assert -math.inf < compared.lower_bound <= least
    for result in (found, compared):
        json.dumps(result.to_dict(), allow_nan=False)
        assert "<img" in result._repr_html_()
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(problem_to_dict(problem)))
    answer = CliRunner().invoke(commands, ["compare", str(file), "--methods", "travel,nearest"], catch_exceptions=False)
    assert f"bound      {compared.lower_bound:.6g} per region" in answer.output


def everything(problem: Problem) -> list[Any]:
    made = plan(problem)
    found: list[Any] = [
        made, evaluate(problem, made.order[::-1]), compare(problem, draws=3), tradeoff(problem),
        robustness(problem, within=0.3, draws=3),
    ]  # fmt: skip
    if problem.learner.rule != "calibrated":
        found.append(compare_learners(problem))
    return found


@settings(max_examples=8)
@given(problems(2, 4))
def test_everything_can_be_computed_written_printed_and_drawn(problem: Problem) -> None:
    for result in everything(problem):
        json.dumps(result.to_dict(), allow_nan=False)
        assert repr(result)
        assert "<img" in result._repr_html_()
    trip = Journey(problem)
    while trip.next is not None:
        trip.visit()
        json.dumps(trip.to_dict(), allow_nan=False)
    assert math.isfinite(trip.expected_loss)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: f"{learner.rule}-{learner.training}")
def test_commands_print_losses_that_are_negative(learner: Learner, tmp_path: Path) -> None:
    file = tmp_path / "problem.json"
    given = {name: value for name, value in vars(learner).items() if value not in (None, 0)}
    file.write_text(json.dumps({**FORGED, "learner": given}))
    outputs = ["--plot", str(tmp_path / "picture.png")]
    rated: list[list[str]] = [
        ["plan", *outputs], ["compare", *outputs], ["tradeoff", *outputs], ["robustness", "--within", "0.3", *outputs],
        ["evaluate", "--route", "R1,R2"],
    ]  # fmt: skip
    rated += [] if learner.rule == "calibrated" else [["learners", "--time-limit", "2", *outputs]]
    for command, *options in rated:
        answer = CliRunner().invoke(commands, [command, str(file), *options], catch_exceptions=False)
        assert answer.exit_code == 0, answer.output
        assert not {"nan", "inf", "-inf", "nan%"} & set(answer.output.split()), answer.output


def test_savings_are_differences_of_losses() -> None:
    table = compare_learners(negative_problem(0.4))
    assert table.rows[0].total == 0
    for row in table.rows[1:]:
        assert row.saves == (None if row.total is None else -row.total)


@pytest.mark.parametrize("strength", [0.0, 5.0])
def test_shares_are_shown_only_if_no_part_is_negative(strength: float) -> None:
    found = plan(small(Proximal(30, 60, 0.3, regularization=strength)))
    assert (found.loss.pairs < 0) == (strength > 0)
    heads = [column.head for column in found.sheet().tables[1].printed]
    assert ("share" in heads) == (strength == 0)
