"""The search for many regions: gains of moves agree with the objective, for any ends."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest

from learnroute.model.ends import Ends
from learnroute.model.linear import Linear, Weighted
from learnroute.model.relaxation import LinearError
from learnroute.model.travel import Places, Travel, TravelMatrix
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search.candidates import candidates_of
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.local_search.tour_search import TourSearch
from learnroute.solvers.params import KOptParams

RNG = np.random.default_rng
ENDS = [Ends(first, last, closed) for first in (None, 2) for last in (None, 3) for closed in (False, True)]
PARAMS = KOptParams()


def weights_of(rate: float, size: int) -> Any:
    return (1 - rate) * rate ** np.arange(size - 1, -1, -1.0)


def problem(size: int, rate: float, ends: Ends, seed: int, places: bool) -> Linear:
    rng = RNG(seed)
    points = Places(rng.uniform(0, 1, (size, 2)))
    travel = points if places else TravelMatrix(points.matrix)
    return Weighted(travel, rng.uniform(0, 2, size), weights_of(rate, size), 0.5, ends)


def running(objective: Linear, order: Any, params: KOptParams = PARAMS) -> TourSearch:
    return TourSearch(objective, order, candidates_of(objective, params.neighbours), params)


KINDS = ["last score", "geometric", "nearly flat", "other weights", "factors", "direction", "factors and direction"]


def objective_of_kind(kind: str, size: int, ends: Ends, seed: int) -> Linear:
    rng = RNG(seed)
    places = rng.uniform(0, 1, (size, 2))
    travel: Travel = Places(places) if seed % 2 else TravelMatrix(Places(places).matrix)
    rate = {"last score": 0.0, "nearly flat": 0.9994}.get(kind, 1 / 3)
    weights = np.sort(rng.random(size)) if kind == "other weights" else weights_of(rate, size)
    scores = rng.uniform(0, 2, size)
    if kind == "last score" and ends.cyclic:
        weights = np.zeros(size)  # where such a cycle begins is settled afterwards
    if "direction" in kind:
        travel = TravelMatrix(Places(places).matrix * rng.uniform(0.7, 1.3, (size, size)))
    factors = np.where(rng.random(size) < 0.3, 0.0, rng.uniform(0, 1, size)) if "factors" in kind else None
    return LinearError(scores, weights, 0.0, factors).objective(travel, ends)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.slow
def test_moves_change_the_value_by_what_they_say_and_can_be_undone(kind: str, ends: Ends) -> None:
    for seed, (size, starts) in enumerate(((6, 10), (13, 5), (40, 2))):
        objective = objective_of_kind(kind, size, ends, seed)
        rng = RNG(seed)
        made = bridges = 0
        for _ in range(starts):
            search = running(objective, ends.repair(rng.permutation(size)))
            before = objective(search.order())
            for vertex in rng.permutation(search.vertices).tolist():
                gain = search.core.improve(vertex)
                if gain:
                    after = objective(search.order())
                    assert before - after == pytest.approx(gain, abs=1e-9)
                    assert ends.allows(search.order())
                    before, made = after, made + 1
            order, sums = search.order(), None if search.terms is None else search.terms.sums
            search.core.keep_changes()
            for _ in range(20):
                vertex, bits = int(rng.integers(search.vertices)), int(rng.integers(1 << 30))
                chosen = rng.choice(search.vertices, 4, replace=False) if bits & 1 else np.full(4, -1)
                worse = search.core.perturb_at(vertex, bits, chosen)
                if worse < np.inf:
                    assert objective(search.order()) - before == pytest.approx(worse, abs=1e-9)
                    assert ends.allows(search.order())
                    bridges += 1
                search.core.undo()
                assert search.order().tolist() == order.tolist()
                if search.terms is not None:
                    assert search.terms.sums == pytest.approx(sums, abs=1e-9)
        assert made > 10
        assert bridges > 10


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ends", ENDS)
def test_small_problems_are_searched_to_the_optimum(kind: str, ends: Ends) -> None:
    for seed in range(2):  # places, and a matrix
        objective = objective_of_kind(kind, 6, ends, seed)
        least = min(objective(order) for order in itertools.permutations(range(6)) if ends.allows(order))
        order = iterated_local_search(objective, RNG(0), Budget(), 200, 4)
        assert ends.allows(order)
        assert objective(order) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_merging_takes_what_is_better_in_either_order(kind: str) -> None:
    objective = objective_of_kind(kind, 60, Ends(), 1)
    orders = []
    for seed in range(2):
        search = running(objective, RNG(seed).permutation(60))
        search.descend(Budget())
        orders.append(search.order())
    child = search.merge(orders[0], orders[1], Budget())
    assert sorted(child.tolist()) == list(range(60))
    assert objective(child) <= objective(orders[0]) + 1e-9
    arcs = {frozenset(edge) for order in orders for edge in itertools.pairwise(order.tolist())}
    assert {frozenset(edge) for edge in itertools.pairwise(child.tolist())} <= arcs


def clouds(size: int) -> dict[str, Any]:
    rng = RNG(size)
    line = rng.uniform(-1, 1, size)
    return {
        "square": rng.uniform(0, 1, (size, 2)),
        "many alike": rng.integers(0, 4, (size, 2)).astype(float),
        "all alike": np.full((size, 2), 7.0),
        "on a line": np.column_stack([line, -3 * line]),
        "huge": 1e99 * rng.uniform(-1, 1, (size, 2)),
        "tiny": 1e-99 * rng.uniform(-1, 1, (size, 2)),
    }


@pytest.mark.parametrize("name", clouds(2))
@pytest.mark.parametrize("rate", [0.0, 1 / 6])
@pytest.mark.parametrize("size", [2, 3, 400])
def test_unusual_places_are_supported(name: str, rate: float, size: int) -> None:
    places = clouds(size)[name]
    for scores in (np.ones(size), np.zeros(size), RNG(1).uniform(0, 1, size) * np.abs(places).max()):
        objective = Weighted(Places(places), scores, weights_of(rate, size))
        order = iterated_local_search(objective, RNG(0), Budget(), 50)
        assert sorted(order.tolist()) == list(range(size))
        if name == "all alike":
            sorted_scores = np.sort(scores)[::-1]
            assert objective.legs(order).sum() == 0
            assert objective(order) >= float(weights_of(rate, size) @ sorted_scores) * (1 - 1e-12)
        if name == "on a line" and size == 400 and not scores.any():
            assert objective(order) == pytest.approx(float(np.hypot(*np.ptp(places, axis=0))), rel=0.05)


def test_a_search_repeats_itself_and_stops_when_its_budget_is_exhausted() -> None:
    objective = problem(400, 0.0, Ends(), 1, places=True)
    one, two = (iterated_local_search(objective, RNG(3), Budget(), 300) for _ in range(2))
    assert np.array_equal(one, two)
    told: list[float] = []
    stop = threading.Event()

    def tell(what: str, share: float) -> None:
        if what == "search":
            told.append(share)
        if len(told) == 5:
            stop.set()

    found = iterated_local_search(objective, RNG(0), Budget(progress=tell, stop=stop))
    assert 5 <= len(told) < 10
    assert told == sorted(told)
    assert objective(found) < objective(nearest_neighbour(objective, RNG(0), Budget()).order)


@pytest.mark.parametrize("matrix", [False, True])
def test_candidate_lists_lead_out_of_clusters(matrix: bool) -> None:
    rng = RNG(5)
    places = np.concatenate([rng.uniform(0, 1, (30, 2)) + corner for corner in ((0, 0), (100, 0), (0, 100))])
    travel = TravelMatrix(Places(places).matrix) if matrix else Places(places)
    nothing = np.zeros(90)
    lists = candidates_of(Weighted(travel, nothing, nothing), PARAMS.neighbours)
    cluster = np.arange(90) // 30
    assert all(len({*row.tolist()}) == PARAMS.neighbours and v not in row for v, row in enumerate(lists))
    assert (cluster[lists] != cluster[:, None]).any(axis=1).sum() >= 6


def test_lists_of_a_matrix_hold_relative_neighbours_by_their_definition() -> None:
    """Three clusters of 40: the neighbours in other clusters are farther than all that are examined first."""
    rng = RNG(6)
    places = np.concatenate([rng.uniform(0, 1, (40, 2)) + corner for corner in ((0, 0), (9, 0), (4, 9))])
    travel, nothing = Places(places).matrix, np.zeros(120)
    lists = candidates_of(Weighted(TravelMatrix(travel), nothing, nothing), 10)
    for owner, found in enumerate(lists.tolist()):
        by_distance = [int(j) for j in np.argsort(travel[owner]) if j != owner]
        entries: list[int] = []
        for j in by_distance:
            if sum(travel[entry, j] < travel[owner, j] for entry in entries) <= 1 and len(entries) < 10:
                entries.append(j)
        entries += [j for j in by_distance if j not in entries][: 10 - len(entries)]
        assert found == entries
