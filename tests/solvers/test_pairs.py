"""Plans with pair terms: the optimum against all orders, search against the optimum, bounds below it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnroute import (
    METHODS,
    Constraints,
    Depot,
    Gradient,
    Problem,
    Proximal,
    RefusedError,
    evaluate,
    expected_loss,
    plan,
)
from learnroute._core import PairTerms
from learnroute.formats import read_problem
from learnroute.model.learners import Calibrated
from learnroute.model.losses import objective_of, remaining_objective
from learnroute.model.objective import Paired
from learnroute.model.travel import TravelMatrix
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.suffix_labelling import _Search, label_suffixes
from learnroute.solvers.local_search.candidates import candidates_of
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.local_search.tour_search import TourSearch
from learnroute.solvers.params import DEFAULTS, KOptParams, PairSearchParams, SuffixLabellingParams

ROOT = Path(__file__).parents[2]
ENDS = [
    Constraints(), Constraints(start="R2"), Constraints(end="R1"), Constraints(start="R2", end="R1"),
    Constraints(returns=True), Constraints(start="R1", returns=True),
]  # fmt: skip


def paired_of(problem: Problem) -> Paired:
    found = objective_of(problem)
    assert isinstance(found, Paired)
    return found


def random_objective_problem(seed: int, size: int | None = None) -> Problem:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 7)) if size is None else size
    vectors = rng.standard_normal((size, 3))
    lam: Any = 10 ** rng.uniform(-2, 1.5, size)
    samples = rng.integers(5, 40, size).tolist() if seed % 2 else None
    return Problem(
        coordinates=rng.random((size, 2)) * 10 ** rng.uniform(-1, 1.5),
        learner=Proximal(12, 15, 0.5, regularization=float(lam[0]) if seed % 3 else lam.tolist()),
        vectors=vectors, samples=samples, initial=(vectors**2).sum(axis=1) if seed % 5 else None,
        constraints=ENDS[seed % 6] if size > 2 else None,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_exact_finds_the_best_of_all_orders(seed: int) -> None:
    asked = random_objective_problem(seed)
    objective = paired_of(asked)
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


def completions(seed: int) -> Paired:
    """Return the objective of a problem with any law, any dissimilarities, a depot, or a journey that has begun."""
    rng = np.random.default_rng(seed)
    size, kind = 6, seed % 8
    vectors = rng.standard_normal((size, 3)) + 2 * rng.standard_normal(3)
    delta = ((vectors[:, None] - vectors) ** 2).sum(axis=2)
    noisy = np.maximum(0.0, delta + np.triu(rng.normal(0, 10 ** rng.uniform(-3, 1), delta.shape), 1))
    own: dict[str, Any] = {"vectors": vectors}
    if kind in (1, 5):
        own = {"dissimilarity": np.triu(noisy, 1) + np.triu(noisy, 1).T}
    if kind == 2:
        own = {"transfer": rng.uniform(0.1, 3, delta.shape)}
    lam: Any = 10 ** rng.uniform(-1, 1.5, size)
    learner: Any = Proximal(12, 15, 0.5, regularization=lam.tolist() if kind == 3 else float(lam[0]))
    if kind in (2, 5):
        retention = float(rng.uniform(0.3, 1))
        coupling, common = rng.uniform(0, retention), rng.uniform(0, 1) if seed % 3 else None
        learner = Calibrated(
            noise=float(rng.normal(0, 0.1)), retention=retention, coupling=coupling, common_retention=common
        )
    samples = rng.integers(5, 40, size).tolist() if kind in (3, 4) else None
    initial = ((vectors - rng.standard_normal(3)) ** 2).sum(axis=1) * (rng.uniform(0.5, 2, size) if seed % 3 else 1)
    if kind == 0:  # the bound is nearly tight: the mean of all models is close to the centre, and exactly known
        own, initial = {"vectors": np.eye(size)}, np.full(size, 1 - 1 / size)
        learner = Proximal(12, 10**6, 0.0, regularization=10.0)
    asked = Problem(
        coordinates=rng.random((size, 2)) * 10 ** rng.uniform(-5, 1), learner=learner, samples=samples, initial=initial,
        depot=Depot("home", (0.0, 0.0)) if kind in (4, 6) else None,
        importance=rng.uniform(0, 2, size) if kind else None, **own,
    )  # fmt: skip
    found = remaining_objective(asked, (2, 4) if kind == 7 else (), initial)
    assert isinstance(found, Paired)
    return found


@pytest.mark.parametrize("seed", range(32))
def test_completion_bounds_are_below_all_orders(seed: int) -> None:
    objective = completions(seed)
    some = objective.ends.repair(np.arange(objective.size))
    search = _Search(objective, some, SuffixLabellingParams())
    search.target, least = np.inf, dict[tuple[int, ...], float]()
    for order in itertools.permutations(range(objective.size)):
        if objective.ends.allows(order):
            for t in range(1, objective.size):
                least[order[t:]] = min(least.get(order[t:], np.inf), objective(order))
    search._drop_dominated = lambda labels: labels  # type: ignore[method-assign]
    suffixes, labels = [(int(last),) for last in search.endings().last], search.endings()
    for position in range(objective.size - 1, 0, -1):
        bounds = search.completion.bounds(labels, position)
        known = np.array([least.get(suffix, np.inf) for suffix in suffixes])
        assert (bounds <= known + 1e-12 * abs(known)).all()
        grown = search.grow(labels, position - 1)
        assert grown is not None
        suffixes = [(int(k), *suffixes[row]) for k, row in zip(grown.first, grown.parents, strict=True)]
        labels = grown


def test_proofs_for_a_strong_memory_need_few_labels() -> None:
    asked = read_problem(ROOT / "examples" / "city-survey.json")
    for strength in (4.0, 8.0):
        few = DEFAULTS._replace(suffix_labelling=SuffixLabellingParams(labels=40_000))
        assert plan(asked.replace(learner=asked.learner.with_regularization(strength)), params=few).optimal


def test_auto_gives_up_a_proof_that_needs_many_labels() -> None:
    rng = np.random.default_rng(9)
    vectors = rng.standard_normal((12, 6))
    asked = Problem(
        coordinates=rng.random((12, 2)), learner=Proximal(30, 40, 0.3, regularization=8.0), vectors=vectors,
        initial=((vectors - 1.5) ** 2).sum(axis=1), travel_rate=0.5,
    )  # fmt: skip
    found = plan(asked)
    assert not found.optimal
    assert "the limit of 50,000 labels was reached" in found.notes[0]


@pytest.mark.parametrize("seed", range(6))
def test_long_gradient_steps_are_enumerated(seed: int) -> None:
    asked = random_objective_problem(seed, 5)
    learner = Gradient(12, 15, 0.5, steps=2 * seed + 1, rate=0.2)
    asked = asked.replace(learner=learner, samples=None)
    best = min(expected_loss(asked, o).total for o in itertools.permutations(range(5)) if asked.ends.allows(o))
    found = plan(asked, "exact")
    assert found.optimal
    assert found.loss.total == pytest.approx(best, rel=1e-10)


def test_labels_that_are_too_many_prove_nothing() -> None:
    asked = random_objective_problem(2, 8)
    objective = paired_of(asked)
    start = np.array(plan(asked, "random").order)
    found = label_suffixes(objective, start, Budget(), SuffixLabellingParams(labels=3))
    assert not found.proved
    assert "the limit of 3 labels was reached" in found.cause
    assert plan(asked, "exact", time_limit=1e-3).optimal in (True, False)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "exact"])
def test_every_method_prices_its_route_by_the_true_loss(method: str) -> None:
    asked = random_objective_problem(4, 6).replace(constraints=None)
    best = plan(asked, "exact").loss.total
    found = plan(asked, method)
    assert found.loss.total >= best * (1 - 1e-12)
    assert found.loss.total == pytest.approx(expected_loss(asked, found.order).total)
    assert found.lower_bound is not None
    assert found.lower_bound <= best * (1 + 1e-12)
    assert found.guarantee.value in (None, 1.0)


def make_search(asked: Problem, seed: int, directed: bool) -> tuple[Paired, TourSearch]:
    """Return a problem's objective, and a search of it from a random order."""
    objective = paired_of(asked)
    rng = np.random.default_rng(seed)
    if directed:
        travel = TravelMatrix(objective.travel.matrix * rng.uniform(0.7, 1.3, objective.travel.matrix.shape))
        objective = Paired(travel, objective.pairs, objective.ends)
    start = objective.ends.repair(rng.permutation(objective.size))
    return objective, TourSearch(objective, start, candidates_of(objective, 8), KOptParams())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_moves_change_the_value_by_what_they_say_and_can_be_undone(seed: int, directed: bool) -> None:
    """For equal and different samples, one λ or one per position, all kinds of ends, few and many regions."""
    for size in (7, 25):
        objective, search = make_search(random_objective_problem(seed, size), seed, directed)
        rng = np.random.default_rng(seed)
        value, made, bridges = objective(search.order()), 0, 0
        assert search.value(search.order()) == value
        for vertex in rng.permutation(search.vertices).tolist():
            gain = search.core.improve(vertex)
            if gain:
                after = objective(search.order())
                assert value - after == pytest.approx(gain, abs=1e-9 * abs(value))
                assert objective.ends.allows(search.order())
                value, made = after, made + 1
        assert isinstance(search.terms, PairTerms)
        order, price = search.order(), search.terms.error
        assert search.terms.value(search.tour()) == pytest.approx(price, rel=1e-12)
        search.core.keep_changes()
        for _ in range(20):
            vertex, bits = int(rng.integers(search.vertices)), int(rng.integers(1 << 30))
            worse = search.core.perturb_at(vertex, bits, np.full(4, -1))
            if worse < np.inf:
                assert objective(search.order()) - value == pytest.approx(worse, abs=1e-9 * abs(value))
                bridges += 1
            search.core.undo()
            assert search.order().tolist() == order.tolist()
            assert search.terms.error == pytest.approx(price, rel=1e-12)
        assert made > 0
        assert bridges > 0 or size == 7


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_small_problems_are_searched_to_the_optimum(seed: int, directed: bool) -> None:
    objective, _ = make_search(random_objective_problem(seed, 6), seed, directed)
    allowed = [order for order in itertools.permutations(range(6)) if objective.ends.allows(order)]
    found = iterated_local_search(objective, np.random.default_rng(0), Budget(), 300, 3)
    assert objective.ends.allows(found)
    assert objective(found) == pytest.approx(min(map(objective, allowed)), rel=1e-9)


def test_visits_without_effect_on_the_end_are_omitted() -> None:
    """With little retention, only the last positions count, and values still agree with the objective."""
    rng = np.random.default_rng(1)
    asked = Problem(coordinates=rng.random((120, 2)), vectors=rng.standard_normal((120, 3)),
                    learner=Proximal(12, 100, 0.5, regularization=0.2))  # fmt: skip
    objective, search = make_search(asked, 1, False)
    assert isinstance(search.terms, PairTerms)
    assert search.terms.reach < 60
    before = objective(search.order())
    search.descend(Budget())
    legs = float(objective.legs(search.order()).sum())
    assert objective(search.order()) < before
    assert objective(search.order()) - legs == pytest.approx(search.terms.error, rel=1e-10)


def test_the_same_seed_gives_the_same_route_and_search_is_near_the_optimum() -> None:
    asked = random_objective_problem(2, 14).replace(samples=None, learner=Proximal(12, 15, 0.5, regularization=1.0))
    once, again = (plan(asked, "search", seed=3) for _ in range(2))
    assert once.order == again.order
    best = plan(asked, "exact")
    assert best.loss.total <= once.loss.total <= 1.01 * best.loss.total


@pytest.mark.slow
def test_beyond_many_regions_searches_go_by_typical_pair_terms() -> None:
    rng = np.random.default_rng(0)
    asked = Problem(coordinates=rng.random((40, 2)), vectors=rng.standard_normal((40, 3)),
                    learner=Proximal(12, 15, 0.5, regularization=1.0))  # fmt: skip
    few = DEFAULTS._replace(pair_search=PairSearchParams(most_regions=39))
    found = plan(asked, "search", params=few)
    assert any("typical pair terms" in note for note in found.notes)
    assert found.loss.total == pytest.approx(expected_loss(asked, found.order).total)
    assert found.loss.total < evaluate(asked, range(40)).loss.total
    assert plan(asked, "search").loss.total < found.loss.total


def test_too_many_regions_for_a_proof_are_rejected() -> None:
    with pytest.raises(RefusedError, match="with a regularised learner, proofs are attempted up to 16 regions"):
        plan(random_objective_problem(2, 17), "exact")
