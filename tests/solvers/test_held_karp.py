from __future__ import annotations

import itertools

import numpy as np
import pytest

import oracle
from learnroute import Learner, RefusedError, plan
from learnroute._core import HeldKarp
from learnroute.model.ends import BoolArray, Ends
from learnroute.model.linear import Factored, Linear
from learnroute.model.relaxation import LinearError
from learnroute.model.validation import FloatArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.study.families import random_problem
from samples import ALL_FAMILIES, LEARNERS, OVER, UNDER, asymmetric, linear_of


@pytest.mark.parametrize("learner", [UNDER, OVER], ids=["under", "over"])
@pytest.mark.slow
def test_equals_brute_force_on_500_instances(learner: Learner) -> None:
    for seed, family, size in itertools.product(range(14), ALL_FAMILIES, range(2, 8)):
        problem = random_problem(family, size, learner, seed)
        found = plan(problem, "exact")
        assert found.optimal
        assert found.loss.total == pytest.approx(oracle.least_loss(problem), rel=1e-12)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_equals_brute_force_if_travel_differs_by_direction(learner: Learner) -> None:
    for seed in range(30):
        problem = asymmetric(2 + seed % 6, learner, seed)
        assert plan(problem, "exact").loss.total == pytest.approx(oracle.least_loss(problem), rel=1e-12)


def values_by_size(objective: Linear, last_costs: FloatArray, positions: BoolArray) -> FloatArray:
    """Minimum costs from each region of each set through the set to the end, one set size at a time."""
    size = objective.size
    regions, sets = np.arange(size), np.arange(1 << size)
    within = (sets[:, None] >> regions) & 1
    counts = within.sum(axis=1)
    factors = objective.factors if isinstance(objective, Factored) else np.ones(size)
    weights = np.where(within == 1, factors, 1.0).cumprod(axis=1)[:, -1]
    if not isinstance(objective, Factored):
        weights = objective.weights[np.maximum(size - 1 - counts, 0)]
    values = np.full(within.shape, np.inf)
    values[1 << regions, regions] = np.where(positions[-1], last_costs, np.inf)
    for count in range(1, size):
        after = sets[counts == count]
        costs = (values[after][:, None, :] + objective.travel.matrix).min(axis=2)
        costs += weights[after][:, None] * objective.scores
        costs[:, ~positions[-1 - count]] = np.inf
        number, here = np.nonzero(within[after] == 0)
        values[after[number] | (1 << here), here] = costs[number, here]
    found: FloatArray = values[within == 1]
    return found


@pytest.mark.parametrize("weights", ["positions", "factors"])
@pytest.mark.parametrize("sets", [1, 100, 1000])  # filled at a time
def test_values_of_all_sets_are_the_least_bit_for_bit(weights: str, sets: int) -> None:
    drawn = linear_of(random_problem("uniform", 8, OVER, 1))
    factors = None if weights == "positions" else np.random.default_rng(1).uniform(0, 1, 8)
    objective = LinearError(drawn.scores, drawn.weights, 0.0, factors).objective(drawn.travel, Ends())
    positions = Ends(last=3).positions(8)
    table = HeldKarp(objective.travel.matrix, objective.scores, objective.weights, factors, objective.scores, positions)
    done = [table.fill(sets)]
    while done[-1] < 1:
        done.append(table.fill(sets))
    assert len(done) == -(-255 // sets)
    assert table.values.tolist() == values_by_size(objective, objective.scores, positions).tolist()


def test_enumeration_beyond_its_size_rejects_and_says_why() -> None:
    objective = linear_of(random_problem("uniform", 21, UNDER))
    with pytest.raises(RefusedError, match=r"21 regions.*0\.164 GiB.*at most 20"):
        held_karp(objective, np.random.default_rng(0), Budget())


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
def test_proofs_beyond_their_size_are_rejected(size: int, learner: Learner, message: str) -> None:
    with pytest.raises(RefusedError, match=message):
        plan(random_problem("uniform", size, learner), "exact")


def test_progress_is_reported() -> None:
    told: list[tuple[str, float]] = []
    plan(random_problem("uniform", 12, UNDER), "exact", progress=lambda stage, share: told.append((stage, share)))
    assert told[-1] == ("exact", 1.0)
