"""Plans with pair terms: the optimum against all orders, search against the optimum, bounds below it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from learnroute import METHODS, Constraints, Learner, Problem, RefusedError, evaluate, expected_loss, plan
from learnroute.model.losses import objective_of
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.suffix_labelling import label_suffixes
from learnroute.solvers.local_search.pair_search import pair_search
from learnroute.solvers.params import PairSearchParams, SuffixLabellingParams

ENDS = [
    Constraints(), Constraints(start="R2"), Constraints(end="R1"), Constraints(start="R2", end="R1"),
    Constraints(returns=True), Constraints(start="R1", returns=True),
]  # fmt: skip


def drawn(seed: int, size: int | None = None) -> Problem:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 7)) if size is None else size
    vectors = rng.standard_normal((size, 3))
    lam: Any = 10 ** rng.uniform(-2, 1.5, size)
    samples = rng.integers(5, 40, size).tolist() if seed % 2 else None
    return Problem(
        coordinates=rng.random((size, 2)) * 10 ** rng.uniform(-1, 1.5),
        learner=Learner(12, 15, 0.5, rule="proximal", regularization=float(lam[0]) if seed % 3 else lam.tolist()),
        vectors=vectors, samples=samples, initial=(vectors**2).sum(axis=1) if seed % 5 else None,
        constraints=ENDS[seed % 6] if size > 2 else None,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_exact_finds_the_best_of_all_orders(seed: int) -> None:
    asked = drawn(seed)
    objective = objective_of(asked)
    orders = [order for order in itertools.permutations(range(asked.size)) if asked.ends.allows(order)]
    best = min(expected_loss(asked, order).total for order in orders)
    found = plan(asked, "exact")
    assert found.optimal
    assert found.loss.total == pytest.approx(best, rel=1e-10)
    assert found.certificate is not None
    assert found.certificate.bound <= asked.size * best * (1 + 1e-12)
    # from the worst incumbent on
    worst = np.array(max(orders, key=objective))
    again = label_suffixes(objective, worst, Budget(), SuffixLabellingParams())
    assert again.proved
    assert objective(again.order) == pytest.approx(asked.size * best, rel=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_long_gradient_steps_are_enumerated(seed: int) -> None:
    asked = drawn(seed, 5)
    learner = Learner(12, 15, 0.5, rule="gradient", steps=2 * seed + 1, rate=0.2)
    asked = asked.changed(learner=learner, samples=None)
    best = min(expected_loss(asked, o).total for o in itertools.permutations(range(5)) if asked.ends.allows(o))
    found = plan(asked, "exact")
    assert found.optimal
    assert found.loss.total == pytest.approx(best, rel=1e-10)


def test_labels_that_are_too_many_prove_nothing() -> None:
    asked = drawn(2, 8)
    objective = objective_of(asked)
    start = np.array(plan(asked, "random").order)
    found = label_suffixes(objective, start, Budget(), SuffixLabellingParams(labels=3))
    assert not found.proved
    assert "labels outgrew" in found.cause
    assert plan(asked, "exact", time_limit=1e-3).optimal in (True, False)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "exact"])
def test_every_method_prices_its_route_by_the_true_loss(method: str) -> None:
    asked = drawn(4, 6).changed(constraints=None)
    best = plan(asked, "exact").loss.total
    found = plan(asked, method)
    assert found.loss.total >= best * (1 - 1e-12)
    assert found.loss.total == pytest.approx(expected_loss(asked, found.order).total)
    assert found.lower_bound is not None
    assert found.lower_bound <= best * (1 + 1e-12)
    assert found.guarantee.value in (None, 1.0)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 8, 9])
def test_local_search_comes_to_orders_that_no_move_improves(seed: int) -> None:
    asked = drawn(seed, 8)
    objective = objective_of(asked)
    start = np.array(plan(asked, "random", seed=seed).order)
    found = pair_search(objective, start, np.random.default_rng(0), Budget(), PairSearchParams(perturbations=0))
    value = objective(found)
    assert value <= objective(start)
    assert asked.ends.allows(found)
    for i, j in itertools.combinations(range(8), 2):
        swapped, turned = found.copy(), found.copy()
        swapped[[i, j]] = swapped[[j, i]]
        turned[i : j + 1] = turned[i : j + 1][::-1]
        moved = np.insert(np.delete(found, i), j, found[i])
        for other in (swapped, turned, moved):
            if asked.ends.allows(other):
                assert objective(other) >= value * (1 - 1e-9)


def test_the_same_seed_gives_the_same_route_and_search_is_near_the_optimum() -> None:
    asked = drawn(2, 14).changed(samples=None, learner=Learner(12, 15, 0.5, rule="proximal", regularization=1.0))
    once, again = (plan(asked, "search", seed=3) for _ in range(2))
    assert once.order == again.order
    best = plan(asked, "exact")
    assert best.loss.total <= once.loss.total <= 1.01 * best.loss.total


def test_beyond_a_few_hundred_regions_searches_go_by_typical_pair_terms() -> None:
    rng = np.random.default_rng(0)
    asked = Problem(coordinates=rng.random((310, 2)), vectors=rng.standard_normal((310, 3)),
                    learner=Learner(12, 15, 0.5, rule="proximal", regularization=1.0))  # fmt: skip
    found = plan(asked, "search", time_limit=3)
    assert any("typical pair terms" in note for note in found.notes)
    assert found.loss.total == pytest.approx(expected_loss(asked, found.order).total)
    assert found.loss.total < evaluate(asked, range(310)).loss.total


def test_too_many_regions_for_a_proof_are_refused() -> None:
    with pytest.raises(RefusedError, match="with a regularised learner, proofs are attempted up to 16 regions"):
        plan(drawn(2, 17), "exact")
