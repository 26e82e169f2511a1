from __future__ import annotations

import itertools

import numpy as np
import pytest

import oracle
from learnroute import Learner, plan
from learnroute.model.ends import Ends
from learnroute.model.linear import Weighted
from learnroute.solvers.bounds import path_bound, score_bound, simple_bound
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.shortest import shortest_order
from learnroute.study.families import random_problem
from samples import ALL_FAMILIES, OVER, UNDER, asymmetric, linear_of


def test_the_baseline_ends_right_and_is_otherwise_random_in_the_under_regime() -> None:
    problem = random_problem("uniform", 6, UNDER, 1)
    routes = [plan(problem, "baseline", seed=seed).order for seed in range(300)]
    assert {route[-1] for route in routes} == {int(np.argmin(problem.scores))}
    assert len(set(routes)) > 90  # of 120
    assert len({route[0] for route in routes}) == 5


@pytest.mark.parametrize("learner", [OVER, Learner(102, 100)], ids=["r = 1/6", "r = 1/51"])
def test_the_baseline_goes_by_descending_scores_in_the_over_regime(learner: Learner) -> None:
    problem = random_problem("uniform", 300, learner, 1)  # so long that the first weights vanish in float64
    scores = problem.scores[list(plan(problem, "baseline").order)]
    assert np.all(np.diff(scores) <= 0)


@pytest.mark.parametrize("learner", [UNDER, OVER], ids=["under", "over"])
@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_the_baseline_has_the_least_error_and_the_travel_route_the_least_travel(family: str, learner: Learner) -> None:
    for seed in range(3):
        problem = random_problem(family, 6, learner, seed)
        losses = [oracle.loss_of(problem, order) for order in itertools.permutations(range(6))]
        least_error = min(loss["dissimilarity"] for loss in losses)
        assert plan(problem, "baseline").loss.dissimilarity == pytest.approx(least_error, rel=1e-12)
        assert plan(problem, "travel").loss.travel * 6 == pytest.approx(oracle.shortest_path(problem.travel), rel=1e-12)


@pytest.mark.parametrize("ends", [Ends(), Ends(first=2), Ends(first=2, last=0), Ends(closed=True)], ids=str)
@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_the_shortest_route_is_the_same_length_by_branching_and_by_a_table(family: str, ends: Ends) -> None:
    rng = np.random.default_rng(0)
    for size in (16, 17):
        problem = random_problem(family, size, OVER, size)
        objective = Weighted(problem.ways, problem.scores, np.linspace(0, 1, size), ends=ends)
        found = shortest_order(objective, rng, Budget())
        shortest = held_karp(objective.travel_alone(), rng, Budget())
        assert found.notes == ()  # proved
        assert ends.allows(found.order)
        assert objective.legs(found.order).sum() == pytest.approx(objective.legs(shortest.order).sum(), rel=1e-10)


def test_nearest_goes_to_the_nearest_region_left() -> None:
    problem = random_problem("uniform", 9, UNDER, 5)
    order = plan(problem, "nearest").order
    for step in range(8):
        left = order[step + 1 :]
        assert problem.travel[order[step], left[0]] == min(problem.travel[order[step], i] for i in left)


@pytest.mark.slow
def test_random_orders_are_all_equally_likely() -> None:
    problem = random_problem("uniform", 3, UNDER, 0)
    counts = dict.fromkeys(itertools.permutations(range(3)), 0)
    for seed in range(3000):
        counts[plan(problem, "random", seed=seed).order] += 1
    assert all(400 < count < 600 for count in counts.values())


@pytest.mark.parametrize("learner", [UNDER, OVER], ids=["under", "over"])
def test_simple_bounds_are_below_every_order(learner: Learner) -> None:
    for seed in range(20):
        for problem in (random_problem("uniform", 6, learner, seed), asymmetric(6, learner, seed)):
            objective = linear_of(problem)
            orders = list(itertools.permutations(range(6)))
            travels = [float(objective.legs(order).sum()) for order in orders]
            scores = [float((objective.weights * objective.scores[list(order)]).sum()) for order in orders]
            assert path_bound(objective) <= min(travels) * (1 + 1e-12)
            assert score_bound(objective) == pytest.approx(min(scores), rel=1e-12)
            assert simple_bound(objective) <= min(map(objective, orders))
