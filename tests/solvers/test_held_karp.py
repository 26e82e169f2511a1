from __future__ import annotations

import numpy as np
import pytest

import oracle
from learnroute import Learner, RefusedError, objective_of, plan
from learnroute.model.ends import Ends
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact import held_karp
from learnroute.study.families import random_problem
from samples import ALL_FAMILIES, LEARNERS, OVER, UNDER, asymmetric


@pytest.mark.parametrize("family", ALL_FAMILIES)
@pytest.mark.parametrize("learner", [UNDER, OVER], ids=["under", "over"])
def test_equals_brute_force_on_500_instances(family: str, learner: Learner) -> None:
    for seed in range(500):
        problem = random_problem(family, 2 + seed % 6, learner, seed)
        found = plan(problem, "exact")
        assert found.optimal
        assert found.loss.total == pytest.approx(oracle.least_loss(problem), rel=1e-12)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_equals_brute_force_where_travel_differs_by_direction(learner: Learner) -> None:
    for seed in range(30):
        problem = asymmetric(2 + seed % 6, learner, seed)
        assert plan(problem, "exact").loss.total == pytest.approx(oracle.least_loss(problem), rel=1e-12)


def test_interpreted_and_compiled_tables_are_the_same_bits() -> None:
    objective = objective_of(random_problem("uniform", 8, OVER, 1))
    weights, counts = held_karp.weights_before(objective), held_karp._sizes(8)
    found = []
    positions = Ends(last=3).positions(8)
    for fill in (held_karp._fill.interpreted, held_karp._fill):
        table = held_karp.Table(np.full(8 << 7, -1.0), np.cumsum(counts) - counts)
        fill(table, objective.travel, objective.scores, weights, objective.scores, positions, 0, 255)
        found.append(table.values.tolist())
    assert found[0] == found[1]
    assert held_karp._filled_by_size(objective, weights, objective.scores, positions).tolist() == found[0]


def test_enumeration_beyond_its_size_refuses_and_says_why() -> None:
    objective = objective_of(random_problem("uniform", 21, UNDER))
    with pytest.raises(RefusedError, match=r"21 regions.*0\.164 GiB.*at most 20"):
        held_karp.held_karp(objective, np.random.default_rng(0), Budget())


@pytest.mark.parametrize(
    ("size", "learner", "message"),
    [
        (
            257,
            OVER,
            r"257 regions; proofs are attempted up to 256 regions \(up to 1000 where .* m < n\); use",
        ),
        (1001, UNDER, r"1001 regions; proofs are attempted up to 1000 regions; use method auto or search"),
    ],
)
def test_proofs_beyond_their_size_are_refused(size: int, learner: Learner, message: str) -> None:
    with pytest.raises(RefusedError, match=message):
        plan(random_problem("uniform", size, learner), "exact")


def test_progress_is_told() -> None:
    told: list[tuple[str, float]] = []
    plan(random_problem("uniform", 12, UNDER), "exact", progress=lambda stage, share: told.append((stage, share)))
    assert told[-1] == ("exact", 1.0)
