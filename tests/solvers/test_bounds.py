from __future__ import annotations

import numpy as np
import pytest

from learnroute import plan
from learnroute.model.ends import Ends
from learnroute.model.linear import Linear, Weighted
from learnroute.model.travel import Places, TravelMatrix
from learnroute.solvers.bounds import path_relaxation, simple_bound, sparse_bound
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.one_tree import all_free, minimum_one_tree, one_tree_bound, tour_graph
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import (
    BoundParams,
    IteratedLocalSearchParams,
    OneTreeParams,
    SolverParams,
)  # fmt: skip
from learnroute.study.families import random_problem
from samples import OVER


@pytest.mark.parametrize("size", [2, 3, 9])
def test_no_order_is_below_the_bound(size: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        places = rng.integers(0, 4, (size, 2)).astype(float) if seed % 2 else rng.uniform(0, 1, (size, 2))
        travel = Places(places)
        objective = Weighted(travel, rng.uniform(0, 1, size), np.sort(rng.random(size)), 0.25)
        least = objective(held_karp(objective, rng, Budget()).order)
        assert sparse_bound(objective, travel) <= least
        assert sparse_bound(objective, travel) >= simple_bound(objective) * (1 - 1e-9)


def test_many_places_are_planned_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Places, "matrix", property(lambda _: pytest.fail("a T x T matrix was made")))
    monkeypatch.setattr("learnroute.guarantees.MOST_CHECKED", 300)
    problem = random_problem("places", 400, OVER, 1)
    few = IteratedLocalSearchParams(many_perturbations=5)
    params = SolverParams(search=few, bound=BoundParams(one_tree=OneTreeParams(most_regions=300)))
    found = plan(problem, params=params)
    assert sorted(found.order) == list(range(400))
    assert found.gap is not None
    assert found.gap < 0.5
    assert found.certificate is not None
    assert found.certificate.kind == "simple"


def clustered_objective(seed: int, ends: Ends, rate: float) -> Linear:
    """Twelve clusters of 22 regions, for which a plain ascent hardly raises the bound."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0, 100, (12, 2))
    points = Places(np.concatenate([centre + rng.normal(0, 0.5, (22, 2)) for centre in centres]))
    weights = (1 - rate) * rate ** np.arange(263, -1, -1.0)
    return Weighted(TravelMatrix(points.matrix), rng.uniform(0, 2, 264), weights, 0.5, ends)


@pytest.mark.parametrize("ends", [Ends(), Ends(closed=True), Ends(3, 5), Ends(3, closed=True)])
@pytest.mark.parametrize("rate", [0.0, 0.5])
@pytest.mark.slow
def test_an_ascent_on_few_edges_bounds_all_orders_and_is_no_worse_than_one_on_all_edges(
    ends: Ends, rate: float
) -> None:
    objective = clustered_objective(1, ends, rate)
    order = iterated_local_search(objective, np.random.default_rng(0), Budget(), 2000)
    value, params = objective(order), OneTreeParams()
    few = one_tree_bound(objective, value, Budget(), params)
    every = one_tree_bound(objective, value, Budget(), params._replace(sparse_regions=objective.size + 1))
    assert few.bound <= value
    assert value - few.bound <= 1.02 * (value - every.bound)
    # the bound is what all edges give at the multipliers that are stored
    path = path_relaxation(objective).objective
    costs = tour_graph(path)
    assert few.bound == pytest.approx(
        minimum_one_tree(costs, all_free(costs), np.array(few.multipliers)).total + path.constant
    )
