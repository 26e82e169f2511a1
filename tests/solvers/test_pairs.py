"""Plans with coupled errors: the optimum against all orders, search against the optimum, bounds below it."""

from __future__ import annotations

import itertools
from dataclasses import replace
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
from learnroute.formats import read_problem
from learnroute.model.instance import Instance
from learnroute.model.law import ModelErrors
from learnroute.model.learners import Calibrated
from learnroute.model.routes import Routes
from learnroute.model.travel import TravelMatrix
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.exact.suffix_labelling import SuffixLabelling, _Search
from learnroute.solvers.params import DEFAULTS, SuffixLabellingParams
from learnroute.solvers.ruin_and_recreate import Annealing
from learnroute.solvers.solve import solve
from oracle import law_of_instance

ROOT = Path(__file__).parents[2]
ENDS = [
    Constraints(), Constraints(start="R2"), Constraints(end="R1"), Constraints(start="R2", end="R1"),
    Constraints(returns=True), Constraints(start="R1", returns=True),
]  # fmt: skip


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
    orders = [order for order in itertools.permutations(range(asked.size)) if asked.ends.allows(order)]
    losses = {order: expected_loss(asked, order).total for order in orders}
    best = min(losses.values())
    found = plan(asked, "exact")
    assert found.optimal
    assert found.loss.total == pytest.approx(best, rel=1e-10)
    assert found.lower_bound is not None
    assert found.lower_bound <= best * (1 + 1e-12)
    # from the worst incumbent on
    worst, rung = Answer(Routes.of_order(max(orders, key=losses.__getitem__)), "given"), SuffixLabelling(quick=False)
    assert rung.supports(asked.instance, DEFAULTS)
    again = rung.prove(asked.instance, worst, np.random.default_rng(0), Budget(), DEFAULTS)
    assert again.optimal
    assert asked.instance(again.routes) == pytest.approx(asked.size * best, rel=1e-10)


def completions(seed: int) -> Instance:
    """Return the instance of a problem with any law, any dissimilarities, a depot, or a journey that has begun."""
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
    return asked.instance.after((2, 4), ModelErrors(initial)) if kind == 7 else asked.instance


@pytest.mark.parametrize("seed", range(32))
def test_completion_bounds_are_below_all_orders(seed: int) -> None:
    instance = completions(seed)
    regions = instance.visits.regions.tolist()
    search = _Search(instance, Routes.of_order(regions), SuffixLabellingParams())
    search.target, least = np.inf, dict[tuple[int, ...], float]()
    for order in itertools.permutations(range(len(regions))):
        value = instance(Routes.of_order([regions[k] for k in order]))
        for t in range(1, len(order)):
            least[order[t:]] = min(least.get(order[t:], np.inf), value)
    search._drop_dominated = lambda labels: labels  # type: ignore[method-assign]
    suffixes, labels = [(int(last),) for last in search.endings().last], search.endings()
    for position in range(len(regions) - 1, 0, -1):
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
    start = Answer(Routes.of_order(plan(asked, "random").order), "random")
    few = DEFAULTS._replace(suffix_labelling=DEFAULTS.suffix_labelling._replace(labels=3))
    found = SuffixLabelling(quick=False).prove(asked.instance, start, np.random.default_rng(0), Budget(), few)
    assert not found.optimal
    assert found.routes == start.routes
    assert "the limit of 3 labels was reached" in found.notes[0]
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


def instance_of(seed: int, size: int, directed: bool) -> Instance:
    """Return the instance of a random problem, with travel that differs by direction if `directed`."""
    instance = random_objective_problem(seed, size).instance
    if not directed:
        return instance
    costs = instance.travel.matrix
    return replace(instance, travel=TravelMatrix(costs * np.random.default_rng(seed).uniform(0.7, 1.3, costs.shape)))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_values_along_a_search_are_those_of_its_routes(seed: int, directed: bool) -> None:
    """For equal and different samples, one λ or one per position, all kinds of ends, few and many regions."""
    for size in (7, 25):
        instance, rng = instance_of(seed, size, directed), np.random.default_rng(seed)
        start = instance.orders.routes(instance.orders.ends.repair(rng.permutation(size)))
        for rearranged in (0.0, 0.5, 1.0):
            params = DEFAULTS._replace(ruin=DEFAULTS.ruin._replace(rearranged=rearranged))
            annealing, value = Annealing(instance, rng, params), instance(start)
            annealing.begin(start, instance.service(start))
            annealing.search.insert(np.empty(0, dtype=np.int64))
            assert annealing.search.best_value == pytest.approx(value, rel=1e-9)
            for temperature in (0.01 * value, 0.0):
                annealing.search.run(20 * size, temperature)
                assert annealing.best is not None
                assert instance(annealing.best) <= value * (1 + 1e-12)
                value = instance(annealing.best)
                assert annealing.search.best_value == pytest.approx(value, rel=1e-9)
            assert value < instance(start) or size == 7


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_small_problems_are_searched_to_the_optimum(seed: int, directed: bool) -> None:
    instance = instance_of(seed, 6, directed)
    least, _ = law_of_instance(instance).best()
    found = solve(instance, METHODS["search"], np.random.default_rng(0), Budget(), bounds=False).routes
    assert instance.allows(found)
    assert instance(found) == pytest.approx(least, rel=1e-9)


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
    few = DEFAULTS._replace(ruin=DEFAULTS.ruin._replace(most_orders=39))
    found = plan(asked, "search", params=few)
    assert any("typical pair terms" in note for note in found.notes)
    assert found.loss.total == pytest.approx(expected_loss(asked, found.order).total)
    assert found.loss.total < evaluate(asked, range(40)).loss.total
    assert plan(asked, "search").loss.total < found.loss.total


def test_too_many_regions_for_a_proof_are_rejected() -> None:
    with pytest.raises(RefusedError, match="with a regularised learner, proofs are attempted up to 16 regions"):
        plan(random_objective_problem(2, 17), "exact")
