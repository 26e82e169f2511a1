"""Plans with optional and repeated visits: against all sequences in exact fractions, by the checker, and forged."""

from __future__ import annotations

import itertools
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from claims import random_visits
from learnroute import (
    Constraints,
    Fleet,
    InputError,
    Problem,
    RefusedError,
    Visits,
    evaluate,
    expected_loss,
    plan,
    verify,
    visit_curve,
)
from learnroute.formats import json_files
from learnroute.learning import simulate
from learnroute.model.learners import Learner, Proximal
from learnroute.model.losses import error_over_time
from learnroute.visit_curves import VisitCurve, VisitRow
from oracle import law_of


def problems(first: int, last: int) -> list[Problem]:
    return [found for seed in range(first, last) if (found := random_visits(seed)) is not None]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_plans_are_the_best_of_all_sequences_and_verified(block: int) -> None:
    for problem in problems(40 * block, 40 * block + 40):
        everyone = law_of(problem).orders()
        with np.errstate(all="ignore"):
            if not everyone:
                with pytest.raises(InputError):
                    plan(problem)
                continue
            exact = law_of(problem)
            best = min(map(exact.total, everyone))
            for method in ("auto", "search"):
                found = plan(problem, method, seed=1)
                assert found.order in everyone
                scale = found.loss.magnitude
                assert found.loss.total == pytest.approx(float(exact.total(found.order)), rel=1e-9, abs=1e-11 * scale)
                if found.optimal or method == "auto":
                    assert found.loss.total <= float(best) + 1e-9 * abs(float(best)) + 1e-11 * scale, problem
                report = verify(problem, json_files.parse(json_files.dumps(found.to_dict())))
                assert report.verdict != "refuted", (problem, report)
                assert report.verdict == "confirmed" or not found.optimal, report


def test_skipped_untrained_and_contributions() -> None:
    problem = small()
    found = plan(problem)
    assert set(found.skipped) == set(problem.regions) - set(found.route)
    assert found.untrained == pytest.approx(problem.initial.mean())
    assert found.contributions is not None
    for t, total in enumerate(found.contributions):
        rest = tuple(np.delete(found.order, t).tolist())
        expected = float(law_of(problem).total(rest)) if rest else found.untrained
        assert total == pytest.approx(expected, rel=1e-12)
        assert total >= found.loss.total


def test_the_number_of_visits_is_limited() -> None:
    with pytest.raises(InputError) as refusal:
        small(visits=Visits(repeat=10_000))
    assert str(refusal.value) == (
        "visits.repeat = 10000: that allows 60,000 visits; reduce repeat or at_most so that there are at most 20,000"
    )
    with pytest.raises(InputError, match=r"visits\.repeat = 1000000000: that allows 20,001 visits"):
        small(visits=Visits(repeat=10**9, at_most=20_001))
    few = plan(small(visits=Visits(repeat=10**9, at_most=3)))
    assert few.order == plan(small(visits=Visits(repeat=3, at_most=3))).order
    assert few.optimal


@pytest.mark.parametrize("fleet", [None, Fleet(vehicles=2)])
@pytest.mark.parametrize("learner", [Learner(100, 20, 0.1), Proximal(100, 20, 0.1, regularization=1.0)])
def test_many_possible_visits_need_little_memory(learner: Learner, fleet: Fleet | None) -> None:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((200, 3))
    problem = Problem(
        coordinates=rng.random((200, 2)), vectors=vectors, initial=(vectors**2).sum(axis=1) + 1, learner=learner,
        visits=Visits(repeat=100), fleet=fleet,
    )  # fmt: skip
    plan(problem.replace(visits=Visits(repeat=2)), time_limit=0.1)
    tracemalloc.start()
    try:
        plan(problem, time_limit=0.1)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20  # a table by visit and region takes 32 MB
    finally:
        tracemalloc.stop()


def test_sequences_are_counted_only_as_far_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    multiplications, convolve = list[int](), np.convolve

    def counted(one: Any, other: Any) -> Any:
        multiplications.append(len(one) * len(other))
        return convolve(one, other)

    monkeypatch.setattr(np, "convolve", counted)
    plan(small(visits=Visits(repeat=3333)), time_limit=0.1)
    assert sum(multiplications) < 1e8


def test_orders_of_required_regions_take_as_long_as_without_rules() -> None:
    """In processor time; without a limit of effort, they took ten times as long."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((40, 6))
    problem = Problem(
        coordinates=rng.random((40, 2)) * 10, vectors=vectors, initial=(vectors**2).sum(axis=1) + 1,
        learner=Proximal(100, 40, 0.3, regularization=2.0), travel_rate=0.5,
    )  # fmt: skip
    spent, losses = [], []
    for visits in (None, Visits(required="all", budget=1e6)):
        begun = time.process_time()
        losses.append(plan(problem.replace(visits=visits), "search").loss.total)
        spent.append(time.process_time() - begun)
    assert spent[1] < 4 * spent[0]
    assert losses[1] <= 1.001 * losses[0]


def small(**changes: Any) -> Problem:
    """Six regions on a line, of which three pay."""
    rng = np.random.default_rng(4)
    vectors = rng.standard_normal((6, 3))
    places = np.column_stack([np.arange(6.0), np.zeros(6)])
    fields: dict[str, Any] = {
        "learner": Proximal(30, 60, 0.2, regularization=1.0), "vectors": vectors, "coordinates": places,
        "initial": (vectors**2).sum(axis=1) + 1, "travel_rate": 0.2, "visits": Visits(),
    }  # fmt: skip
    return Problem(**{**fields, **changes})


FORGED: dict[str, Any] = {
    "skipped": lambda plan: plan["skipped"][1:],
    "untrained": lambda plan: plan["untrained"] * 1.01,
    "contributions": lambda plan: [plan["contributions"][0] * 1.01, *plan["contributions"][1:]],
    "lower_bound": lambda plan: plan["lower_bound"] * 1.01,
}


@pytest.mark.parametrize("member", FORGED)
def test_forged_members_are_refuted(member: str) -> None:
    problem = small()
    data = plan(problem).to_dict()
    assert verify(problem, data).verdict == "confirmed"
    data[member] = FORGED[member](data)
    assert verify(problem, data).verdict == "refuted"


def test_an_optimum_of_another_budget_is_refuted() -> None:
    tight, wide = small(visits=Visits(budget=1.0)), small(visits=Visits(budget=9.0))
    small_plan, large_plan = plan(tight), plan(wide)
    assert small_plan.travel_cost <= 1 < large_plan.travel_cost
    assert verify(wide, small_plan.to_dict()).verdict == "refuted"  # it is not the best there
    assert "budget" in str(verify(tight, large_plan.to_dict()).to_dict())
    assert verify(tight, large_plan.to_dict()).verdict == "refuted"


@pytest.mark.parametrize("shape", [(80, 100), (120, 100)])
@pytest.mark.parametrize("samples", [None, [90, 140, 95, 130, 104, 97, 150, 93, 110, 98, 97]])
def test_sets_are_enumerated_by_the_checker(shape: tuple[int, int], samples: list[int] | None) -> None:
    """Eleven regions have too many sequences; over sets, optima are confirmed and others refuted."""
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((11, 4))
    if samples is not None and shape[0] == 120:
        samples = [n - 35 for n in samples]
    problem = Problem(
        coordinates=rng.random((11, 2)), vectors=vectors, learner=Learner(*shape, 0.1), samples=samples,
        initial=(vectors**2).sum(axis=1), visits=Visits(["R3", "R5"], ["R4"], at_most=9), travel_rate=2.0,
    )  # fmt: skip
    for asked in (problem, problem.replace(constraints=replace(problem.constraints, returns=True))):
        found = plan(asked)
        assert found.optimal
        assert verify(asked, found.to_dict()).verdict == "confirmed"
        data = found.to_dict()
        worse = evaluate(asked, ["R5", "R3"] if found.route != ("R5", "R3") else ["R3", "R5"])
        data |= {name: value for name, value in worse.to_dict().items() if name not in ("optimal", "lower_bound")}
        data |= {"optimal": True, "lower_bound": worse.loss.total, "gap": 0.0, "certified_ratio": 1.0}
        assert verify(asked, data).verdict == "refuted"


def test_the_curve_has_the_best_route_of_each_length() -> None:
    problem = small(visits=None)
    curve = visit_curve(problem)
    assert [row.visits for row in curve.rows] == list(range(7))
    assert curve.rows[0].error == pytest.approx(problem.initial.mean())
    optional = problem.replace(visits=Visits())
    exact = law_of(optional)
    for row in curve.rows[1:]:
        best = min(map(exact.total, itertools.permutations(range(6), row.visits)))
        assert row.total == pytest.approx(float(best), rel=1e-12)
        assert row.optimal
    assert curve.rows[curve.best].total == pytest.approx(plan(optional).loss.total)
    assert curve.summary == "3 visits bring a smaller error than 6, with 50 % of the travel"


def test_the_summary_names_the_visits_that_help_if_all_together_do_not() -> None:
    rows = [
        VisitRow(k, ("R1",) * k, (0,) * k, error, float(k), error + k / 100) for k, error in enumerate((4, 3, 1, 5))
    ]
    curve = VisitCurve(tuple(rows), 0.5)
    assert curve.rows[curve.best].visits == 2
    assert curve.summary == "2 visits bring the error from 4 to 1"
    dear = VisitCurve(tuple(replace(row, total=row.total + 9 * row.visits) for row in rows), 0.5)
    assert dear.best == 0
    assert dear.summary == "2 visits bring the error from 4 to 1"
    worse = VisitCurve(tuple(replace(row, error=4.0 + row.visits) for row in rows), 0.5)
    assert worse.summary == "up to 3 visits do not bring the error below that of the initial model"


def test_the_curve_begins_with_the_initial_model_and_what_must_be_visited() -> None:
    problem = small(visits=None)
    first, second, *_ = problem.regions
    fixed = problem.replace(constraints=Constraints(start=first, end=second))
    for asked, fewest in (
        (problem.replace(visits=Visits(required=[first, second])), 2), (fixed, 2),
        (problem.replace(visits=Visits(required="all")), 6),
    ):  # fmt: skip
        curve = visit_curve(asked)
        assert [row.visits for row in curve.rows] == [0, *range(fewest, 7)]
        assert curve.rows[0].error == pytest.approx(problem.initial.mean())
        assert all({first, second} <= set(row.route) for row in curve.rows[1:])


def test_a_curve_without_time_has_a_row() -> None:
    curve = visit_curve(small(visits=None), time_limit=1e-9)
    assert [row.visits for row in curve.rows] == [0, 1]
    assert curve.notes == ("the time limit was reached after the rows for up to 1 visit",)
    untrained, first = (f"{row.error:.4g}" for row in curve.rows)
    assert curve.summary == f"1 visit brings the error from {untrained} to {first}"


@pytest.mark.slow
def test_lambda_is_chosen_with_the_visits() -> None:
    """Never worse than a fine grid over λ with brute force, by more than 0.1 %."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        vectors = rng.standard_normal((4, 2))
        problem = small(
            vectors=vectors, coordinates=rng.random((4, 2)), initial=(vectors**2).sum(axis=1) + 0.5,
            learner=Proximal(20, 12, 0.5, regularization="auto"),
        )  # fmt: skip
        found = plan(problem)
        every = [visits for many in range(1, 5) for visits in itertools.permutations(range(4), many)]
        given = map(problem.with_regularization, np.logspace(-3, 4, 60).tolist())
        assert found.loss.total <= 1.001 * min(expected_loss(one, visits).total for one in given for visits in every)
    one, many = (plan(small(learner=Proximal(30, 60, 0.2, regularization=kind))) for kind in ("auto", "schedule"))
    assert many.loss.total <= one.loss.total * (1 + 1e-9)


@pytest.mark.parametrize("learner", [Proximal(12, 15, 0.4, regularization=0.7), Learner(14, 9, 0.4)])
def test_simulation_agrees_with_the_law_if_regions_are_skipped_and_repeated(learner: Learner) -> None:
    problem = small(learner=learner, visits=Visits(repeat=2))
    for order in ([0, 2, 0, 3], [5], [1, 1, 4]):
        found = simulate(problem, order, runs=20_000, seed=2)
        assert abs(found.mean - found.expected) <= 3 * found.standard_error
        assert error_over_time(problem, order).shape == (len(order) + 1, 6)


def test_contradictions_are_rejected_in_one_line() -> None:
    base = small(visits=None)
    wrong: list[tuple[Callable[[], Visits], str]] = [
        (lambda: Visits(["R1"], ["R1"]), "is also required"),
        (lambda: Visits(["R9"]), "no such region"),
        (lambda: Visits(["R1", "R2"], at_most=1), r"visits\.at_most = 1: 2 regions are required"),
        (lambda: Visits(forbidden=[f"R{i}" for i in range(1, 7)]), "all regions are forbidden"),
        (lambda: Visits(repeat=0), "visits.repeat"),
        (lambda: Visits(budget=-1), "visits.budget"),
        (lambda: Visits("R1"), "a list of region names"),
        (lambda: Visits(at_least=9), "visits.at_least"),
    ]
    for visits, words in wrong:
        with pytest.raises(InputError, match=words):
            base.replace(visits=visits())
    with pytest.raises(InputError, match=r"budget|rule"):
        plan(small(visits=Visits(["R1", "R6"], budget=2.0)))
    with pytest.raises(
        RefusedError, match=r"algorithm1 does not support optional visits \(visits\); use auto, exact or search"
    ):
        plan(small(), "algorithm1")
    with pytest.raises(InputError, match="missing; optional visits need the dissimilarity of the initial model"):
        small(initial=None)
    with pytest.raises(InputError, match=r"R2.*forbidden"):
        evaluate(small(visits=Visits(forbidden=["R2"])), ["R1", "R2"])


def test_files_hold_visits() -> None:
    problem = small(visits=Visits(["R1"], ["R2"], 2, 1, 5, 7.5))
    data = json_files.problem_to_dict(problem)
    assert data["visits"] == {"required": ["R1"], "forbidden": ["R2"], "repeat": 2, "at_most": 5, "budget": 7.5}
    again = Problem.from_dict(data)
    assert again.visits == problem.visits
    assert plan(again).to_dict()["route"] == plan(problem).to_dict()["route"]
