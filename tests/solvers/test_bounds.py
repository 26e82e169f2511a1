from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnroute import Objective, plan
from learnroute.model.distances import Points
from learnroute.solvers.bounds import simple_bound, sparse_bound
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.held_karp import held_karp
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
        objective = Objective(Points(places), rng.uniform(0, 1, size), np.sort(rng.random(size)), 0.25)
        least = objective(held_karp(objective, rng, Budget()).order)
        assert sparse_bound(objective) <= least
        assert sparse_bound(objective) >= simple_bound(objective) * (1 - 1e-9)


def test_many_places_are_planned_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    few: Any = Points.matrix
    monkeypatch.setattr(Points, "matrix", lambda p: few(p) if len(p) <= 12 else pytest.fail("a T x T matrix was made"))
    monkeypatch.setattr("learnroute.guarantees.MOST_CHECKED", 300)
    problem = random_problem("places", 400, OVER, 1)
    few = IteratedLocalSearchParams(many_perturbations=5)
    params = SolverParams(search=few, bound=BoundParams(one_tree=OneTreeParams(most_regions=300)))
    found = plan(problem, time_limit=20, params=params)
    assert sorted(found.order) == list(range(400))
    assert found.gap is not None
    assert found.gap < 0.5
    assert found.certificate is not None
    assert found.certificate.kind == "simple"
