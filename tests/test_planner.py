from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import learnroute
import oracle
from learnroute import METHODS, InputError, Problem, compare, evaluate, plan
from learnroute.study.families import random_problem
from samples import OVER, UNDER, asymmetric, small


def test_the_doctest_of_the_package_holds() -> None:
    import doctest

    result = doctest.testmod(learnroute)
    assert (result.attempted, result.failed) == (3, 0)


def test_plan_has_all_members_of_the_contract() -> None:
    data = plan(small(), "algorithm1", seed=3).to_dict()
    assert set(data) >= {
        "route", "order", "regime", "loss", "lower_bound", "gap", "optimal", "guarantee", "method", "seconds", "seed",
    }  # fmt: skip
    assert set(data["loss"]) == {"total", "travel", "dissimilarity", "initial", "noise", "pairs"}
    assert data["seed"] == 3
    assert data["regime"] == "under"


def test_auto_proves_small_problems_and_guarantees_large_metric_ones() -> None:
    found = plan(random_problem("closure", 10, OVER, 1))
    assert (found.method, found.requested, found.optimal, found.gap) == ("exact", "auto", True, 0.0)
    assert found.guarantee.value == 1.0
    proved = plan(random_problem("closure", 104, UNDER, 1))
    assert (proved.method, proved.optimal, proved.gap) == ("exact", True, 0.0)
    large = plan(random_problem("closure", 104, OVER, 1))
    assert large.method == "search"
    assert large.guarantee.value is not None
    assert large.guarantee.value >= 1.5
    assert large.loss.total <= plan(random_problem("closure", 104, OVER, 1), "algorithm1").loss.total
    assert large.gap is not None
    assert large.gap < 0.01


def test_evaluate_takes_names_or_indices() -> None:
    problem = small(OVER)
    by_name, by_index = evaluate(problem, ["D", "C", "A", "B"]), evaluate(problem, [3, 2, 0, 1])
    assert by_name.loss == by_index.loss
    assert by_name.method == "given"
    assert by_name.loss.to_dict() == pytest.approx(oracle.loss_of(problem, [3, 2, 0, 1]), rel=1e-12)


@pytest.mark.parametrize(
    ("route", "message"),
    [
        (["A", "B", "C"], "route: region 'D' is missing"),
        (["A", "B", "C", "C"], "route: region 'C' is visited 2 times"),
        (["A", "B", "C", "E"], "route: there is no region 'E'; regions are A, B, C, D"),
        ("ABCD", "route = 'ABCD': expected a list of region names"),
        ([0, 1, 2, 9], "there is no region 9"),
        ([0.5, 1, 2, 3], "expected a list of region names"),
    ],
)
def test_invalid_routes_are_rejected(route: Any, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        evaluate(small(), route)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method = 'magic': unknown; known are auto, exact"),
        ({"seed": -1}, "seed = -1: the seed must be >= 0"),
        ({"seed": 1.5}, "seed = 1.5"),
        ({"time_limit": 0}, "time_limit = 0: seconds must be > 0"),
        ({"time_limit": math.nan}, "time_limit = nan"),
        ({"time_limit": "soon"}, "time_limit = 'soon'"),
    ],
)
def test_wrong_options_are_rejected(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        plan(small(), **options)
    assert message in str(refusal.value)


def test_true_models_give_a_true_loss_below_its_bound() -> None:
    vectors = np.random.default_rng(2).normal(size=(5, 3))
    base = random_problem("euclidean", 5, OVER, 2)
    wide = [[2 * x for x in row] for row in oracle.squared_distances(vectors)]
    problem = Problem(base.travel, OVER, wide, initial=2 * (vectors**2).sum(axis=1), truth=vectors)
    found = plan(problem)
    assert found.true_loss is not None
    assert found.true_loss.total < found.loss.total
    assert found.true_loss.travel == found.loss.travel


def test_comparisons_rank_all_methods_by_the_optimum() -> None:
    problem = random_problem("uniform", 8, UNDER, 4)
    found = compare(problem, draws=20)
    assert [row.method for row in found.rows] == [name for name in METHODS if name != "auto"]
    assert found.optimal
    assert found.lower_bound == pytest.approx(oracle.least_loss(problem), rel=1e-12)
    ratios = {row.method: found.ratio(row) for row in found.rows}
    assert ratios["exact"] == 1.0
    assert all(ratio is not None and ratio >= 1 for ratio in ratios.values())
    assert {row.method: row.draws for row in found.rows if row.draws > 1} == {"baseline": 20, "random": 20}


def test_the_mean_over_draws_is_the_mean_over_all_orders_in_the_long_run() -> None:
    problem = random_problem("uniform", 5, UNDER, 9)
    row = compare(problem, ["random"], draws=4000).rows[0]
    assert row.loss is not None
    assert row.loss.travel * 5 == pytest.approx(4 * problem.travel.sum() / 20, rel=0.03)


def test_methods_that_reject_say_so_in_their_row() -> None:
    found = compare(asymmetric(9, UNDER, 1))
    refused = [row for row in found.rows if row.refused]
    assert [row.method for row in refused] == ["algorithm1"]
    assert "travel[0, 1] differs from travel[1, 0], but Algorithm 1 needs symmetric travel" in str(refused[0].refused)
    assert found.optimal


def test_loss_of_zero_has_no_ratio_and_no_gap() -> None:
    problem = Problem(np.zeros((3, 3)), learnroute.Learner(80, 100), np.zeros((3, 3)))
    found = plan(problem, "random")
    assert (found.loss.total, found.gap, found.optimal) == (0.0, 0.0, True)
    assert compare(problem).ratio(compare(problem).rows[0]) is None
