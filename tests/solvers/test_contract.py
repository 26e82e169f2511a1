"""The contract of every method."""

from __future__ import annotations

import math

import numpy as np
import pytest

from learnroute import METHODS, Learner, Problem, RefusedError, evaluate, expected_loss, plan
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.contract import Budget
from learnroute.solvers.solve import solve
from learnroute.study.families import random_problem
from samples import ALL_FAMILIES, LEARNERS, OVER, UNDER, asymmetric, linear_of

EVERY_METHOD = pytest.mark.parametrize("method", METHODS)


@EVERY_METHOD
@pytest.mark.parametrize("family", ALL_FAMILIES)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_returns_a_permutation_with_its_own_value_and_a_valid_bound(method: str, family: str, learner: Learner) -> None:
    for size in (2, 3, 7, 15):
        problem = random_problem(family, size, learner, seed=size)
        found = plan(problem, method, seed=1)
        assert sorted(found.order) == list(range(size))
        assert found.route == tuple(problem.regions[i] for i in found.order)
        assert found.loss == expected_loss(problem, found.order)
        assert found.lower_bound is not None
        assert found.gap is not None
        assert found.lower_bound <= found.loss.total
        assert found.lower_bound <= plan(problem, "exact").loss.total * (1 + 1e-12)
        assert found.gap >= 0
        assert found.requested == method


@EVERY_METHOD
def test_same_seed_same_route(method: str) -> None:
    problem = random_problem("euclidean", 14, UNDER, seed=3)
    assert plan(problem, method, seed=5).order == plan(problem, method, seed=5).order


@pytest.mark.parametrize("method", ["baseline", "random"])
def test_other_seeds_give_other_random_routes(method: str) -> None:
    problem = random_problem("euclidean", 14, UNDER, seed=3)
    assert len({plan(problem, method, seed=seed).order for seed in range(5)}) == 5


@pytest.mark.parametrize("method", ["auto", "exact", "algorithm1", "nearest"])
@pytest.mark.parametrize("learner", [UNDER, OVER], ids=["under", "over"])
def test_the_value_does_not_depend_on_numbering(method: str, learner: Learner) -> None:
    problem = random_problem("euclidean", 9, learner, seed=8)
    for seed in range(5):
        turn = np.random.default_rng(seed).permutation(9)
        assert problem.dissimilarity is not None
        turned = Problem(
            problem.travel[np.ix_(turn, turn)],
            learner,
            problem.dissimilarity[np.ix_(turn, turn)],
            initial=problem.initial[turn],
            regions=[problem.regions[i] for i in turn],
        )
        found = plan(turned, method)
        assert found.loss.total == pytest.approx(plan(problem, method).loss.total, rel=1e-12)


@pytest.mark.parametrize("method", ["exact", "algorithm1", "travel", "nearest"])
@pytest.mark.parametrize("learner", [Learner(80, 100), Learner(120, 100)], ids=["under", "over"])
def test_the_route_does_not_depend_on_the_unit(method: str, learner: Learner) -> None:
    """Scaling travel and dissimilarities alike scales the loss and changes nothing else."""
    problem = random_problem("closure", 10, learner, seed=2)
    assert problem.dissimilarity is not None
    scaled = Problem(problem.travel * 8, learner, problem.dissimilarity * 8, initial=problem.initial * 8)
    found, other = plan(problem, method), plan(scaled, method)
    assert other.order == found.order
    assert other.loss.total == pytest.approx(8 * found.loss.total, rel=1e-12)


@EVERY_METHOD
def test_equal_costs_and_scores_are_supported(method: str) -> None:
    for size in (2, 3, 6, 22):
        flat = (1 - np.eye(size)) * 3
        zero = np.zeros((size, size))
        for travel, delta in ((flat, flat), (zero, zero), (flat, zero), (zero, flat)):
            for learner in (UNDER, OVER):
                try:
                    found = plan(Problem(travel, learner, delta), method)
                except RefusedError:
                    assert (method, size) == ("exact", 22)
                    continue
                assert sorted(found.order) == list(range(size))
                assert math.isfinite(found.loss.total)
                assert found.optimal  # every order is, and the simple bound shows it


@EVERY_METHOD
@pytest.mark.parametrize("learner", [UNDER, OVER], ids=["under", "over"])
def test_asymmetric_travel_is_solved_or_rejected_with_the_reason(method: str, learner: Learner) -> None:
    for size in (5, 25):
        problem = asymmetric(size, learner, seed=4)
        if method == "algorithm1":
            with pytest.raises(RefusedError, match="needs symmetric travel; use method auto, exact or search"):
                plan(problem, method)
            continue
        found = plan(problem, method)
        assert found.loss == evaluate(problem, found.order).loss
        assert found.guarantee.value in (None, 1.0)


@EVERY_METHOD
def test_a_time_limit_of_nearly_nothing_still_gives_a_route(method: str) -> None:
    problem = random_problem("uniform", 18, OVER, seed=1)
    found = plan(problem, method, time_limit=1e-9)
    assert sorted(found.order) == list(range(18))
    if method in ("auto", "exact"):
        assert not found.optimal
        assert "time limit" in found.notes[0]
        assert found.guarantee.value is None


@pytest.mark.parametrize("learner", [UNDER, OVER], ids=["under", "over"])
def test_auto_descends_even_without_time(learner: Learner) -> None:
    problem = random_problem("euclidean", 150, learner, 3)
    objective = linear_of(problem)
    rng = np.random.default_rng(0)
    found = solve(problem.instance, METHODS["auto"], rng, Budget.of(1e-9))
    start = algorithm1(objective, rng, Budget.of(1e-9))
    floor = objective.constant + float(objective.weights.sum() * objective.scores.min())
    assert problem.instance(found.routes) - floor < 0.95 * (objective(start.order) - floor)
    assert found.method == "search"
    assert not found.complete


@pytest.mark.parametrize("size", [60, 150])
def test_methods_work_beyond_the_exact_size(size: int) -> None:
    problem = random_problem("euclidean", size, OVER, seed=6)
    losses = {m: plan(problem, m).loss for m in ("auto", "algorithm1", "travel", "nearest", "baseline", "random")}
    assert losses["auto"].total <= losses["algorithm1"].total
    assert losses["travel"].travel < min(losses["nearest"].travel, losses["algorithm1"].travel)
    assert losses["random"].travel > 2 * losses["algorithm1"].travel
