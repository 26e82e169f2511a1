from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from learnroute import Learner, Problem, plan
from learnroute.guarantees import paper_ratio, sharper_ratio
from learnroute.model.ends import Ends
from learnroute.model.linear import Linear, Weighted
from learnroute.model.travel import Places, TravelMatrix
from learnroute.solvers.construction import algorithm1 as module
from learnroute.solvers.construction.algorithm1 import algorithm1, eulerian_circuit
from learnroute.solvers.construction.canonical import canonical_order
from learnroute.solvers.contract import Budget
from learnroute.solvers.core_travel import place_travel
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.matching.perfect_matching import match_by_blossoms, minimum_matching
from learnroute.solvers.matching.weights import MatrixWeights, PlaceWeights
from learnroute.solvers.params import MatchingParams
from learnroute.solvers.spanning_tree import minimum_spanning_tree
from learnroute.study.families import random_problem
from samples import LEARNERS, METRIC_FAMILIES, OVER, UNDER


def solve(travel: np.ndarray, scores: np.ndarray) -> list[int]:
    weights = np.append(np.zeros(len(scores) - 1), 1.0)
    answer = algorithm1(Weighted(TravelMatrix(travel), scores, weights), np.random.default_rng(0), Budget())
    return [int(i) for i in answer.order]


metric_problems = st.tuples(
    st.sampled_from(METRIC_FAMILIES), st.integers(2, 7), st.sampled_from(list(LEARNERS.values())), st.integers(0, 10**6)
)


@given(metric_problems)
@settings(max_examples=200)
@pytest.mark.slow
def test_on_metric_travel_it_keeps_its_guarantees(drawn: tuple[str, int, Learner, int]) -> None:
    family, size, learner, seed = drawn
    problem = random_problem(family, size, learner, seed)
    found = plan(problem, "algorithm1")
    assert problem.scores[found.order[-1]] == problem.scores.min()
    assert found.loss.travel * size <= 1.5 * oracle.shortest_path(problem.travel) * (1 + 1e-12)
    ratio = found.loss.total / oracle.least_loss(problem)
    assert found.guarantee.value is not None
    assert ratio <= found.guarantee.value * (1 + 1e-12)
    if learner.regime == "under":
        assert found.guarantee.value == 1.5


def test_in_the_over_regime_three_halves_alone_would_be_false() -> None:
    """Regions on a short line with a distinct one next to its end: Algorithm 1 visits it last but one."""
    size = 8
    places = 1e-3 * np.arange(size)
    vectors = np.zeros((size, 1))
    vectors[1, 0] = 1.0
    vectors[0, 0] = 1e-9  # nearest to the mean model: v'
    travel = np.abs(places[:, None] - places[None, :])
    problem = Problem(travel, Learner(200, 100), vectors=vectors)
    found = plan(problem, "algorithm1")
    assert found.order[-2:] == (1, 0)
    ratio = found.loss.total / oracle.least_loss(problem)
    assert found.guarantee.value == found.guarantee.sharper
    assert found.guarantee.value is not None
    assert 2.3 < ratio <= found.guarantee.value


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_two_regions_are_solved_to_optimality(learner: Learner) -> None:
    """Corollary 1."""
    for seed in range(20):
        problem = random_problem("uniform", 2, learner, seed)
        found = plan(problem, "algorithm1")
        assert found.loss.total == pytest.approx(oracle.least_loss(problem), rel=1e-12)
        assert found.optimal


def _odd_weights(travel: np.ndarray, last: int) -> tuple[list[int], np.ndarray]:
    size = len(travel)
    degree = np.bincount(minimum_spanning_tree(travel).ravel(), minlength=size)
    degree[last] += 1
    scores = np.where(np.arange(size) == last, 0.0, 1.0)
    order = canonical_order(Weighted(TravelMatrix(travel), scores, np.append(np.zeros(size - 1), 1.0)), last)
    odd = [*(i for i in order.tolist() if degree[i] % 2), size]
    weights = np.zeros((len(odd), len(odd)))
    for (a, i), (b, j) in itertools.product(enumerate(odd), repeat=2):
        weights[a, b] = travel[i, j] if max(i, j) < size else 0.0
    return odd, weights


def _shortest(travel: np.ndarray) -> float:
    blind = Weighted(TravelMatrix(travel), np.zeros(len(travel)), np.zeros(len(travel)))
    return blind(held_karp(blind, np.random.default_rng(0), Budget()).order)


def test_v0_may_be_matched_with_the_last_region_or_with_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both cases occur in random trials, and the route is correct in both."""
    met = {True: 0, False: 0}

    def watched(weights: MatrixWeights, budget: Budget, params: MatchingParams) -> object:
        matching = match_by_blossoms(weights, budget, params)
        extra = weights.size - 1
        mate = next(i for i, j in matching.pairs.tolist() if j == extra)
        met[mate == watched_last[0]] += 1
        return matching

    watched_last = [-1]
    monkeypatch.setattr(module, "match_by_blossoms", watched)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 11))
        points = rng.uniform(0, 1, (size, 2))
        travel = np.hypot(*(points[:, None] - points[None]).T)
        travel = (travel + travel.T) / 2
        last = int(rng.integers(size))
        odd, _ = _odd_weights(travel, last)
        watched_last[0] = odd.index(last) if last in odd else -1
        order = solve(travel, np.where(np.arange(size) == last, 0.0, 1.0))
        assert sorted(order) == list(range(size))
        assert order[-1] == last
        assert sum(travel[a, b] for a, b in itertools.pairwise(order)) <= 1.5 * _shortest(travel) * (1 + 1e-12)
    assert min(met.values()) >= 3


def test_ties_for_the_last_region_are_reported() -> None:
    delta = 1 - np.eye(4)
    travel = np.array([[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0.0]])
    found = plan(Problem(travel, UNDER, delta, regions=["w", "x", "y", "z"]), "algorithm1")
    assert found.route[-1] == "w"
    assert found.notes == ("ends at w, one of 4 regions with the least score (also x, y, z)",)


@pytest.mark.parametrize(
    ("family", "learner", "word"),
    [("uniform", UNDER, "not a metric"), ("uniform", OVER, "not a metric")],
)
def test_without_a_metric_there_is_no_guarantee_and_the_plan_says_why(family: str, learner: Learner, word: str) -> None:
    found = plan(random_problem(family, 10, learner, 1), "algorithm1")
    assert found.guarantee.value is None
    assert word in found.guarantee.reason
    assert "cheaper via R" in found.guarantee.reason


def test_guarantees_of_the_over_regime_are_the_papers_and_the_sharper_one() -> None:
    problem = random_problem("euclidean", 10, OVER, 1)
    found = plan(problem, "algorithm1").guarantee
    r, scores = 1 / 6, problem.scores
    share = (r - r**10) / (1 - r**10)
    assert found.paper == pytest.approx(1.5 + r**-9)
    assert found.sharper == pytest.approx(max(1.5, 1 + share * (scores.max() / scores.min() - 1)))
    assert found.value == min(found.paper, found.sharper)  # type: ignore[type-var]


def test_infinite_ratios_are_omitted() -> None:
    large = random_problem("euclidean", 300, Learner(102, 100), 1)
    assert paper_ratio(large) is None
    assert sharper_ratio(large) is not None
    vectors = np.zeros((4, 1))
    free = Problem(np.zeros((4, 4)), OVER, vectors=vectors)
    assert sharper_ratio(free) == 1.5


@given(st.integers(3, 30), st.integers(0, 10**6))
def test_the_sharper_guarantee_covers_every_order_that_ends_right_on_free_travel(size: int, seed: int) -> None:
    """Its score part alone: ending at v' costs at most the stated share more."""
    rng = np.random.default_rng(seed)
    learner = Learner(100 + int(rng.integers(2, 900)), 100)
    delta = np.triu(rng.uniform(0.1, 10, (size, size)), 1)
    problem = Problem(np.zeros((size, size)), learner, delta + delta.T)
    scores = np.sort(problem.scores)
    r = learner.retention
    weights = (1 - r) * r ** np.arange(size - 1, -1, -1.0)
    worst = np.append(scores[1:], scores[0])  # ascending before v' is the worst that can come before it
    best = scores[::-1]
    sharper = sharper_ratio(problem)
    assert sharper is not None
    assert math.fsum(weights * worst) <= sharper * math.fsum(weights * best) * (1 + 1e-12)


def test_eulerian_circuits_use_every_edge_once() -> None:
    edges: list[tuple[int, ...]] = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (0, 4), (4, 0)]
    circuit = eulerian_circuit(edges, 5, 4)
    assert circuit[0] == circuit[-1] == 4
    walked = sorted(tuple(sorted(step)) for step in itertools.pairwise(circuit))
    assert walked == sorted(tuple(sorted(edge)) for edge in edges)


def test_minimum_spanning_trees_weigh_what_networkx_finds() -> None:
    import networkx

    for seed in range(10):
        travel = random_problem("uniform", 25, UNDER, seed).travel
        tree = minimum_spanning_tree(travel)
        other = networkx.minimum_spanning_tree(networkx.from_numpy_array(travel))
        assert travel[tree[:, 0], tree[:, 1]].sum() == pytest.approx(other.size("weight"))


def _least_travel(objective: Linear) -> float:
    """The least travel of any order that begins where it must and ends where Algorithm 1 does (a tour: anywhere)."""
    tour = objective.ends.closed and objective.ends.first is None
    blind = objective.travel_alone() if tour else objective.ending_at(objective.best_last).travel_alone()
    orders = (order for order in itertools.permutations(range(objective.size)) if tour or blind.ends.allows(order))
    return min(math.fsum(blind.legs(order)) for order in orders)


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("first", [None, 1])
@pytest.mark.parametrize("last", [None, 0])
@pytest.mark.slow
def test_fixed_ends_and_the_return_trip_are_honoured(closed: bool, first: int | None, last: int | None) -> None:
    """Within 3/2 of the best free-start path or tour; within 5/3 of the best path between two fixed ends."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 8))
        travel = random_problem(METRIC_FAMILIES[seed % 3], size, UNDER, seed).travel
        weights = np.append(np.zeros(size - 1), 1.0)
        objective = Weighted(TravelMatrix(travel), rng.uniform(0, 1, size), weights, 0.0, Ends(first, last, closed))
        order = algorithm1(objective, rng, Budget()).order
        assert sorted(order.tolist()) == list(range(size))
        assert objective.ends.allows(order)
        assert order[-1] == objective.best_last
        if first is not None:
            path = Weighted(objective.travel, objective.scores, weights, 0.0, Ends(first, objective.best_last))
            walked = math.fsum(path.travel_alone().legs(order))
            assert walked <= 5 / 3 * _least_travel(path) * (1 + 1e-12)
        else:
            walked = math.fsum(objective.travel_alone().legs(order))
            assert walked <= 1.5 * _least_travel(objective) * (1 + 1e-12)


def _clouds(size: int) -> list[np.ndarray]:
    rng = np.random.default_rng(size)
    line = rng.uniform(-1, 1, size)
    return [
        rng.uniform(0, 1, (size, 2)),
        rng.integers(0, 4, (size, 2)).astype(float),
        np.full((size, 2), 7.0),
        np.column_stack([line, -3 * line]),
        1e99 * rng.uniform(-1, 1, (size, 2)),
        1e-99 * rng.uniform(-1, 1, (size, 2)),
    ]


@pytest.mark.parametrize("size", [2, 3, 9, 10, 400])
def test_spanning_trees_of_places_weigh_what_the_matrix_says(size: int) -> None:
    for places in _clouds(size):
        travel = Places(places).matrix
        tree = place_travel(Places(places)).spanning_edges(np.arange(size))
        other = minimum_spanning_tree(travel)
        assert len(tree) == size - 1
        near = 1e-12 * size * float(travel.max())
        assert travel[tree[:, 0], tree[:, 1]].sum() == pytest.approx(travel[other[:, 0], other[:, 1]].sum(), abs=near)


def test_places_are_routed_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Places, "matrix", property(lambda _: pytest.fail("a T x T matrix was made")))
    for places in _clouds(400):
        scores = np.random.default_rng(1).uniform(0, 1, 400)
        objective = Weighted(Places(places), scores, np.append(np.zeros(399), 1.0))
        answer = algorithm1(objective, np.random.default_rng(0), Budget())
        assert sorted(answer.order.tolist()) == list(range(400))
        assert answer.order[-1] == np.argmin(scores)
        assert answer.complete
        tree = place_travel(Places(places)).spanning_edges(np.arange(400))
        assert math.fsum(objective.legs(answer.order)) <= 2 * math.fsum(objective.travel.between(*tree.T)) * (1 + 1e-9)


@pytest.mark.parametrize("closed", [False, True], ids=["with v0", "without v0"])
def test_places_that_coincide_are_paired_beforehand_and_the_matching_stays_the_lightest(
    closed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    matched: list[int] = []

    def counted(weights: PlaceWeights, budget: Budget, params: MatchingParams) -> object:
        matched.append(len(weights.travel_data.places))
        return match_by_blossoms(weights, budget, params)

    for seed, kinds in enumerate((1, 2, 30, 400)):
        rng = np.random.default_rng(seed)
        places = Places(rng.uniform(0, 1, (kinds, 2))[rng.integers(0, kinds, 400)])
        odd = np.sort(rng.choice(400, 299 if not closed else 300, replace=False))
        vertices = odd if closed else np.append(odd, 400)
        monkeypatch.setattr(module, "match_by_blossoms", counted)
        pairs, optimal = module._matching(place_travel(places), vertices, 400, Budget(), MatchingParams())
        monkeypatch.undo()
        assert optimal
        assert sorted(pairs.ravel().tolist()) == list(range(300))
        assert matched[-1] <= kinds
        travel = np.zeros((401, 401))
        travel[:400, :400] = places.matrix
        weights = travel[np.ix_(vertices, vertices)]
        best = minimum_matching(weights)
        found, least = (weights[p[:, 0], p[:, 1]].sum() for p in (pairs, best.pairs))
        assert found == pytest.approx(least, abs=1e-10)


def _tied(kind: str, size: int, rng: np.random.Generator) -> np.ndarray:
    """Symmetric travel with many ties."""
    travel: np.ndarray
    if kind == "grid":
        places = rng.integers(0, 5, (size, 2)).astype(float)
        travel = np.abs(places[:, None] - places[None]).sum(axis=2)
    elif kind == "circle":  # every region looks like every other
        apart = np.abs(np.arange(size)[:, None] - np.arange(size))
        travel = np.minimum(apart, size - apart).astype(float)
    else:
        travel = np.triu(rng.integers(1, 5, (size, size)), 1).astype(float)
        travel = travel + travel.T
    return travel


@pytest.mark.parametrize("ends", [Ends(), Ends(first=3), Ends(closed=True), Ends(last=5)])
@pytest.mark.parametrize("kind", ["grid", "circle", "whole numbers"])
def test_the_route_does_not_depend_on_numbering_if_ties_are_many(kind: str, ends: Ends) -> None:
    """The same values, leg by leg, for any numbering of the regions, also if v' is tied."""
    size = 24
    for seed in range(6):
        rng = np.random.default_rng(seed)
        travel, scores = _tied(kind, size, rng), rng.integers(1, 4, size).astype(float)
        if seed % 2:
            scores[rng.integers(size)] = 0.0  # one v'; else several regions tie for it
        weights = np.sort(rng.random(size))
        found = []
        for k in range(6):
            turn = np.random.default_rng(k).permutation(size) if k else np.arange(size)
            where = np.argsort(turn)
            first, last = (None if i is None else int(where[i]) for i in (ends.first, ends.last))
            turned = Ends(first, last, ends.closed)
            objective = Weighted(TravelMatrix(travel[np.ix_(turn, turn)]), scores[turn], weights, 0.0, turned)
            order = algorithm1(objective, np.random.default_rng(0), Budget()).order
            found.append((objective.legs(order).tolist(), objective.scores[order].tolist()))
        assert all(one == found[0] for one in found)


def test_places_on_a_grid_do_not_depend_on_numbering() -> None:
    for size in (30, 300):
        rng = np.random.default_rng(size)
        places, scores = rng.integers(0, 12, (size, 2)).astype(float), rng.integers(1, 4, size).astype(float)
        scores[: 7 if size == 30 else 1] = 0.0
        found = []
        for k in range(3):
            turn = np.random.default_rng(k).permutation(size) if k else np.arange(size)
            objective = Weighted(Places(places[turn]), scores[turn], np.append(np.zeros(size - 1), 1.0))
            order = algorithm1(objective, np.random.default_rng(0), Budget()).order
            found.append((objective.legs(order).tolist(), objective.scores[order].tolist()))
        assert all(one == found[0] for one in found)


def test_canonical_orders_tell_apart_what_differs_and_stop_in_time() -> None:
    size = 60
    everywhere = Weighted(TravelMatrix(1 - np.eye(size)), np.ones(size), np.zeros(size))
    assert canonical_order(everywhere, 5).tolist() == [*(i for i in range(size) if i != 5), 5]
    path = np.abs(np.arange(size)[:, None] - np.arange(size)).astype(float)
    line = Weighted(TravelMatrix(path), np.ones(size), np.zeros(size))
    turn = np.random.default_rng(0).permutation(size)
    turned = Weighted(TravelMatrix(path[np.ix_(turn, turn)]), np.ones(size), np.zeros(size))
    for last in range(3):
        order = canonical_order(line, last)
        other = turn[canonical_order(turned, int(np.argsort(turn)[last]))]
        assert sorted(order.tolist()) == list(range(size))
        assert order.tolist() == other.tolist()
