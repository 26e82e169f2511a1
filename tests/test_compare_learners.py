"""The comparison of learners: each row against a direct computation, recursive least squares against sampling."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oracle
from calls import call
from learnroute import (
    Constraints,
    Fleet,
    InputError,
    Learner,
    LearnerTable,
    Problem,
    Proximal,
    Visits,
    compare_learners,
    plan,
    read_problem,
)
from learnroute.comparison.of_learners import (
    CHOSEN,
    MEAN_MODEL,
    OWN,
    PAPERS,
    PROXIMAL,
    RECURSIVE,
    RUNNING_MEAN,
    SCHEDULE,
    SHORTEST,
    LearnerRow,
)
from learnroute.model.pooled import floor_of, pooled_curve
from learnroute.model.spectrum import Moments, proximal_moments
from learnroute.plots import draw_learners
from learnroute.solvers.params import IteratedLocalSearchParams, SolverParams
from learnroute.study.families import random_problem
from learnroute.tuning import FIRST
from samples import small

ROOT = Path(__file__).parents[1]
WAREHOUSE = str(ROOT / "examples" / "warehouse-robot.json")
LEARNERS = {
    "under": Learner(20, 30, 0.5),
    "over": Learner(30, 20, 0.5),
    "equal": Proximal(20, 20, 0.5, regularization=1.0),
}
GRID = np.logspace(-3, 4, 281)  # λ that are all tried


def row(found: LearnerTable, learner: str, kind: str) -> LearnerRow:
    return next(one for one in found.rows if (one.learner, one.route_kind) == (learner, kind))


@cache
def moments(m: int, n: int, regularizations: tuple[float, ...]) -> Moments:
    return proximal_moments(m, n, regularizations)


def totals(problem: Problem, order: Any, regularizations: Any) -> Any:
    """The total loss by λ (with two axes: one row per schedule), by the explicit recursion."""
    table = np.asarray(regularizations, dtype=float)
    by_visit = np.broadcast_to(table[..., None], (*table.shape, problem.size)) if table.ndim == 1 else table
    delta, m, variance = np.array(oracle.delta_of(problem)), problem.learner.features, problem.learner.noise**2
    errors = np.tile(np.asarray(problem.initial), (len(by_visit), 1))
    for t, k in enumerate(order):
        values, which = np.unique(by_visit[:, t], return_inverse=True)
        law = moments(m, int(problem.counts[k]), tuple(values.tolist()))
        p1, q, noise = (np.asarray(part)[which][:, None] for part in (law.retention, law.coupling, law.noise))
        errors = p1 * errors - q * errors[:, [k]] + (1 - p1) * delta[k] + variance * noise
    way = sum(float(problem.travel[a, b]) for a, b in itertools.pairwise(order))
    way += float(problem.travel[order[-1], order[0]]) if problem.constraints.returns else 0.0
    return errors.mean(axis=1) + problem.travel_rate * way / problem.size


@pytest.mark.parametrize("ends", [{}, {"start": "R2"}, {"returns": True}], ids=["free", "start", "tour"])
@pytest.mark.parametrize("shape", LEARNERS)
def test_rows_are_those_of_all_orders_and_many_regularizations(shape: str, ends: dict[str, Any]) -> None:
    problem = random_problem("vectors", 5, Learner(20, 30, 0.5), 3)
    problem = problem.replace(learner=LEARNERS[shape], constraints=Constraints(**ends))
    orders = list(oracle.allowed_orders(problem))
    found = compare_learners(problem)
    least_squares = {}
    if shape != "equal":
        least_squares = {order: oracle.journey_loss(problem, order) for order in orders}
        best = min(parts["total"] for parts in least_squares.values())
        assert row(found, "least-squares", PAPERS).total == pytest.approx(best, rel=1e-9)
        first = found.rows[0]
        assert first.total == pytest.approx(least_squares[first.order or ()]["total"], rel=1e-9)
    ways = [oracle.journey_loss(problem.replace(learner=LEARNERS["under"]), order)["travel_cost"] for order in orders]
    assert found.rows[0].order is not None
    assert found.floor.travel_cost == pytest.approx(min(ways), rel=1e-12)
    for kind in (SHORTEST, *([PAPERS] if least_squares else [])):
        given = row(found, PROXIMAL, kind)
        by_value = totals(problem, given.order, GRID)
        assert given.total == pytest.approx(by_value.min(), rel=1e-3)
        assert given.total <= by_value.min() * (1 + 1e-9)
        assert totals(problem, given.order, [given.regularization])[0] == pytest.approx(given.total, rel=1e-9)
    together = row(found, PROXIMAL, OWN)
    least = min(float(totals(problem, order, GRID).min()) for order in orders)
    assert together.total is not None
    assert least * (1 - 1e-3) <= together.total <= least * (1 + 1e-6)
    curve = next(one for one in found.curves if one.order == together.order)
    assert curve.totals == pytest.approx(totals(problem, curve.order, found.regularizations), rel=1e-9)
    scheduled = row(found, SCHEDULE, OWN)
    assert scheduled.total is not None
    assert scheduled.total <= together.total * (1 + 1e-12)
    assert totals(problem, scheduled.order, [scheduled.regularization])[0] == pytest.approx(scheduled.total, rel=1e-9)
    mean = row(found, RUNNING_MEAN, SHORTEST)
    values = [max(FIRST if shape == "equal" else 0.0, t) for t in range(5)]
    assert mean.regularization == pytest.approx(values)
    assert mean.total == pytest.approx(totals(problem, mean.order, [values])[0], rel=1e-9)


@pytest.mark.parametrize("shape", LEARNERS)
def test_the_schedule_is_nearly_the_best_of_all(shape: str) -> None:
    problem = random_problem("vectors", 3, Learner(20, 30, 0.5), 5).replace(learner=LEARNERS[shape])
    values = np.logspace(-2, 4, 31)
    schedules = np.array(list(itertools.product(values, repeat=3)))
    least = min(float(totals(problem, order, schedules).min()) for order in itertools.permutations(range(3)))
    found = row(compare_learners(problem), SCHEDULE, OWN).total
    assert found is not None
    assert least * (1 - 5e-3) <= found <= least * (1 + 1e-3)  # route and schedule in turns: a local optimum


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", LEARNERS)
def test_no_learner_is_below_the_floor(shape: str, seed: int) -> None:
    problem = random_problem("vectors", 5, Learner(20, 30, 0.1), seed)
    problem = problem.replace(learner=replace(LEARNERS[shape], noise=0.1))
    found = compare_learners(problem)
    vectors = problem.vectors
    assert vectors is not None
    assert found.floor.error == pytest.approx(float(((vectors - vectors.mean(axis=0)) ** 2).sum()) / 5, rel=1e-12)
    for one in found.rows[:-1]:
        assert one.error is None or one.error > float(found.floor.error or 0)
        if one.learner != CHOSEN:  # it travels less
            assert one.total is None or one.total > float(found.floor.total or 0)


SHAPES = [
    (3, [2, 2, 2], 0.05), (3, [2, 2, 2, 2], 1e-9), (6, [4] * 5, 0.3), (20, [5] * 3, 0.2), (20, [4] * 4, 0.02),
    (8, [3, 9, 5, 2], 0.1), (5, [1, 1], 0.5), (12, [6, 6], 0.1), (30, [10] * 6, 0.02), (4, [30] * 6, 1e-9),
]  # fmt: skip


@pytest.mark.parametrize(("m", "counts", "value"), SHAPES, ids=str)
def test_recursive_least_squares_has_the_error_of_sampled_fits(m: int, counts: list[int], value: float) -> None:
    rng = np.random.default_rng(7)
    size, total, sigma, runs = len(counts), sum(counts), 0.5, 4000
    truth, first = rng.standard_normal((size, m)), 0.7 * rng.standard_normal(m)
    problem = Problem(
        1 - np.eye(size), Proximal(m, 5 * m, sigma, regularization=1.0), vectors=truth,
        initial=((truth - first) ** 2).sum(axis=1), samples=counts,
    )  # fmt: skip
    x = rng.standard_normal((runs, m, total))
    y = np.einsum("rmk,km->rk", x, np.repeat(truth, counts, axis=0)) + sigma * rng.standard_normal((runs, total))
    moments = x @ x.transpose(0, 2, 1) + total * value * np.eye(m)
    products = np.einsum("rmk,rk->rm", x, y) + total * value * first
    models = np.linalg.solve(moments, products[:, :, None])[:, :, 0]
    errors = ((models[:, None, :] - truth) ** 2).sum(axis=2).mean(axis=1)
    predicted = float(pooled_curve(problem)(np.array([value]))[0])
    assert abs(errors.mean() - predicted) < 3.5 * errors.std() / np.sqrt(runs)


def test_recursive_least_squares_has_known_limits() -> None:
    problem = random_problem("vectors", 5, Learner(10, 40, 0.5), 1)
    fixed = problem.with_regularization(1.0)
    assert pooled_curve(fixed)(np.array([1e12]))[0] == pytest.approx(problem.initial.mean(), rel=1e-6)
    many = problem.with_regularization(1.0).replace(samples=[10**6] * 5)
    assert pooled_curve(many)(np.array([1e-9]))[0] == pytest.approx(floor_of(problem), rel=1e-4)
    same = fixed.replace(vectors=np.zeros((5, 3)))  # one model everywhere: least squares with 5·40 samples
    assert pooled_curve(same)(np.array([1e-12]))[0] == pytest.approx(10 * 0.25 / (200 - 10 - 1), rel=1e-6)
    found = row(compare_learners(problem), RECURSIVE, SHORTEST)
    values = np.logspace(-9, 4, 1001)
    assert found.error == pytest.approx(float(pooled_curve(fixed)(np.array(values)).min()), rel=1e-5)


def test_savings_and_memory_are_reported() -> None:
    found = compare_learners(small(Learner(60, 100, 0.5)))
    sums = [float(one.total or 0) for one in found.rows]
    assert [one.saves for one in found.rows[1:]] == pytest.approx([sums[0] - value for value in sums[1:]])
    assert [one.step for one in found.rows[1:]] == pytest.approx([a - b for a, b in itertools.pairwise(sums)])
    assert (found.rows[0].saves, found.rows[0].step) == (None, None)
    assert [one.memory for one in found.rows] == [60, 60, 120, 120, 120, 120, 120, 120, 3660, None]
    assert found.best.total == min(sums[:-1])


def test_if_least_squares_has_no_error_its_rows_report_it() -> None:
    problem = small(LEARNERS["equal"], samples=[30, 40, 21, 15])
    found = compare_learners(problem)
    assert found.rows[0].refused == "the expected error does not exist for m = 20, n = 21"
    for one in (found.rows[0], found.rows[1], found.rows[3]):
        assert (one.error, one.total, one.refused) == (None, None, found.rows[0].refused)
    assert found.rows[2].saves is None
    assert found.rows[4].saves is not None
    assert all(curve.limit is None for curve in found.curves)
    assert any("λ = 0.3 at the first visit" in note for note in found.notes)
    assert draw_learners(found, problem).axes


def test_all_errors_use_the_unbiased_estimates() -> None:
    exact = small(Learner(60, 100, 0.5))
    wide = small(Learner(60, 100, 0.5), dissimilarity=3 * np.array(exact.dissimilarity), initial=[9, 9, 9, 9])
    wide = wide.replace(dissimilarity_estimate=exact.dissimilarity, initial_estimate=exact.initial)
    found, wanted = compare_learners(wide), compare_learners(exact)
    assert (found.dissimilarities, wanted.dissimilarities) == ("estimate", "upper")
    assert found.rows == wanted.rows
    assert "unbiased estimates" in found.sheet().lines[0][1]


def test_a_table_is_the_same_for_a_seed_and_comes_in_time() -> None:
    problem = random_problem("euclidean", 7, Learner(60, 50, 0.5), 2)
    assert compare_learners(problem, seed=3).to_dict() == compare_learners(problem, seed=3).to_dict()
    hurried = compare_learners(problem, time_limit=1e-3)
    assert not hurried.complete
    assert "time limit" in hurried.sheet().lines[-1][1]
    assert [one.learner for one in hurried.rows][-1] == MEAN_MODEL
    assert all(sorted(one.order or ()) == list(range(7)) for one in hurried.rows if one.learner != CHOSEN)


def test_dissimilarities_that_no_models_have_are_reported() -> None:
    notes = compare_learners(small(dissimilarity=[[0, 1, 9, 9], [1, 0, 1, 9], [9, 1, 0, 1], [9, 9, 1, 0]])).notes
    assert any("not squared distances" in note for note in notes)
    assert not any("not squared distances" in note for note in compare_learners(
        random_problem("vectors", 4, Learner(60, 100, 0.5), 1)).notes)  # fmt: skip
    near = compare_learners(small(initial=[0.1, 0.1, 0.1, 0.1])).notes
    assert any("better than the mean model; check these values" in note for note in near)


def test_the_order_of_many_regions_with_even_weights_is_found() -> None:
    """A large λ gives all positions the same weight, which must not cause a division by zero."""
    problem = random_problem("places", 150, Learner(120, 100, 0.5), 1).with_regularization(1e4)
    found = plan(problem, "search", params=SolverParams(search=IteratedLocalSearchParams(many_perturbations=5)))
    assert sorted(found.order) == list(range(150))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            lambda: small(initial=[0, 0, 0, 0]),
            "initial is missing or 0 for all regions: the initial model has no error",
        ),
        (lambda: random_problem("places", 2001, Learner(8, 20), 0), "regions has 2001 entries: learners are compared"),
    ],
)
def test_invalid_comparisons_are_rejected_in_one_line(given: Any, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        compare_learners(given())
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)


def test_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(capsys, "learners", WAREHOUSE, "-o", str(tmp_path / "a.md"), "-o", str(tmp_path / "a.json"))
    assert code == 0
    found = json.loads((tmp_path / "a.json").read_text())
    lines = (tmp_path / "a.md").read_text().splitlines()
    assert sum(line.startswith("|") for line in lines) == 2 + len(found["rows"])
    for one, line in zip(found["rows"], lines[4:], strict=False):
        assert f"| {one['total']:.5g} |" in line
        assert f"{one['total']:.5g}" in out
    code, out, _ = call(capsys, "learners", WAREHOUSE, "--json")
    assert json.loads(out) == found
    code, out, err = call(capsys, "learners", WAREHOUSE, "-o", "a.gpx")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "unknown format '.gpx'" in err


def test_documents_have_the_figures_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "learners", str(ROOT / "examples" / "city-survey.json"))
    assert code == 0
    printed = [line.split() for line in out.splitlines()]
    page = (ROOT / "docs" / "learners.md").read_text().split("learnroute learners")[1].split("```")
    rows = [line.split() for line in page[2].splitlines() if line.strip()]
    assert len(rows) == 12
    for one in rows:
        assert one in printed
    for number in ("8.93", "5.74", "5.38", "5.25"):
        assert number in page[3]
        assert any(value.startswith(number[:3]) and abs(float(value) - float(number)) < 0.006
                   for line in printed for value in line if value.replace(".", "").isdigit())  # fmt: skip


def test_the_picture_has_a_curve_a_route() -> None:
    problem = random_problem("vectors", 5, Learner(60, 100, 0.5), 1)
    found = compare_learners(problem)
    axes = draw_learners(found, problem).axes[0]
    assert axes.get_xscale() == "log"
    drawn = [line for line in axes.get_lines() if np.size(line.get_xdata()) == len(found.regularizations)]
    assert len(drawn) == len(found.curves) == len({curve.order for curve in found.curves})
    marks = [line for line in axes.get_lines() if line.get_marker() == "D"]
    assert [float(np.asarray(line.get_ydata())[0]) for line in marks] == [curve.limit for curve in found.curves]
    low, high = axes.get_ylim()
    assert low < float(found.floor.total or 0) < high


@pytest.mark.parametrize("kept", [[0, 2, 3, 4, 5, 7, 11], [1, 3, 4, 5, 6, 9, 11]])
def test_plans_are_no_worse_than_the_table(kept: list[int]) -> None:
    whole = read_problem(ROOT / "examples" / "city-survey.json")
    assert whole.vectors is not None
    assert whole.initial is not None
    problem = Problem(
        travel=whole.travel[np.ix_(kept, kept)],
        learner=Proximal(60, 200, 0.5, regularization="schedule"),
        vectors=whole.vectors[kept],
        initial=whole.initial[kept],
        travel_rate=0.2,
    )
    totals = {(one.learner, one.route_kind): one.total or math.inf for one in compare_learners(problem).rows}
    scheduled = plan(problem).loss.total
    assert scheduled <= min(totals[SCHEDULE, OWN], totals[RUNNING_MEAN, SHORTEST]) * (1 + 1e-12)
    constant = plan(problem.with_regularization("auto")).loss.total
    assert constant <= min(totals[PROXIMAL, kind] for kind in (SHORTEST, PAPERS, OWN)) * (1 + 1e-12)


@pytest.mark.parametrize("limited", [
    {"fleet": Fleet(vehicles=1, limit=3.0)},
    {"visits": Visits(budget=3.0)},
    {"visits": Visits(budget=20.0), "fleet": Fleet(vehicles=1, limit=3.0)},
])  # fmt: skip
def test_a_travel_limit_applies_to_chosen_visits_only(limited: dict[str, Any]) -> None:
    problem = small(LEARNERS["under"])
    free, found = compare_learners(problem), compare_learners(problem.replace(**limited))
    assert free.floor.travel_cost is not None
    assert free.floor.travel_cost > 3.0
    assert [one.order for one in found.rows if one.learner != CHOSEN] == [
        one.order for one in free.rows if one.learner != CHOSEN
    ]
    chosen = row(found, CHOSEN, OWN)
    assert chosen.order is not None
    assert chosen.travel_cost is not None
    assert len(chosen.order) < problem.size
    assert chosen.travel_cost <= 3.0
    said = "the travel limit of 3 applies to the row 'proximal, optional' only; all other rows visit each region once"
    assert said in found.notes
    assert not any("travel limit" in note for note in free.notes)
