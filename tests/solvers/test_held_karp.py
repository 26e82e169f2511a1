from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import oracle
from learnroute import Learner, Objective, RefusedError, objective_of, plan
from learnroute.model.ends import Ends
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact import held_karp
from learnroute.solvers.params import DEFAULTS
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
    for most in (8, 4):
        for fill, join in (
            (held_karp._fill.interpreted, held_karp._join.interpreted),
            (held_karp._fill, held_karp._join),
        ):
            table = held_karp.Table(np.full(8 << 7, -1.0), np.cumsum(counts) - counts, most)
            fill(table, objective.travel, objective.scores, weights, objective.scores, positions, 0, 255)
            found.append((table.values.tolist(), join(table, objective.travel)))
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert held_karp._filled_by_size(objective, weights, objective.scores, positions).tolist() == found[0][0]


@pytest.mark.parametrize("size", range(2, 10))
def test_two_halves_meet_where_the_whole_table_has_its_optimum(size: int) -> None:
    """Shortest paths by sets of half the regions, beside all orders."""
    halves = replace(DEFAULTS, held_karp=replace(DEFAULTS.held_karp, interpreted=1))
    for seed in range(10):
        objective = objective_of(random_problem("uniform", size, OVER, seed)).travel_alone()
        found = held_karp.held_karp(objective, np.random.default_rng(0), Budget(), halves)
        assert sorted(found.order.tolist()) == list(range(size))
        least = min(objective(np.array(order)) for order in itertools.permutations(range(size))) if size < 8 else None
        if least is None:  # with a score that counts for nothing the whole table is filled
            nearly = Objective(objective.ways, np.full(size, 1e-300), np.full(size, 1e-300))
            least = nearly(held_karp.held_karp(nearly, np.random.default_rng(0), Budget()).order)
        assert objective(found.order) == pytest.approx(least, rel=1e-12)


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
