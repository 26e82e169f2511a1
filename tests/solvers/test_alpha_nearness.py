"""Candidate lists by α-nearness against minimum spanning trees that must contain an edge."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from learnroute._core import AlphaNearness
from learnroute.model.linear import Weighted
from learnroute.model.travel import TravelMatrix
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search.alpha_nearness import alpha_lists, edges_between
from learnroute.solvers.local_search.candidates import both_candidates, candidates_of
from learnroute.solvers.params import AlphaParams, KOptParams


def _distances(size: int, seed: int) -> FloatArray:
    places = np.random.default_rng(seed).random((size, 2))
    found: FloatArray = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    return found


def _graph(travel: FloatArray, near: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    start, source, target = edges_between(near)
    return start, target, travel[source, target]


def _alpha(travel: FloatArray, multipliers: FloatArray) -> FloatArray:
    """Return by how much a minimum spanning tree costs more that must contain each edge."""
    size = len(travel)
    reduced = travel + multipliers[:, None] + multipliers[None, :]
    network = nx.from_numpy_array(reduced - reduced.min() + 1.0)  # 0 would be no edge
    free = nx.minimum_spanning_tree(network).size(weight="weight")
    found = np.full((size, size), np.inf)
    for i in range(size):
        for j in range(i):
            forced = network.copy()
            own = forced[i][j]["weight"]
            forced[i][j]["weight"] = -1e6
            with_edge = nx.minimum_spanning_tree(forced).size(weight="weight") + 1e6 + own
            found[i, j] = found[j, i] = with_edge - free
    return found


@pytest.mark.parametrize("seed", range(3))
def test_lists_hold_the_least_alpha_values(seed: int) -> None:
    travel = _distances(12, seed)
    multipliers = np.random.default_rng(seed).normal(0, 0.1, 12)
    everyone = np.array([[j for j in range(12) if j != i] for i in range(12)])
    lists = AlphaNearness(*_graph(travel, everyone), first_step=0.01).candidate_lists(multipliers, 4)
    alpha = _alpha(travel, multipliers)
    for i in range(12):
        assert len(set(lists[i].tolist())) == 4
        np.testing.assert_allclose(np.sort(alpha[i])[:4], alpha[i, lists[i]], atol=1e-9)


def test_the_ascent_bounds_the_shortest_tour_and_rises() -> None:
    for seed in range(5):
        travel = _distances(11, seed)
        everyone = np.array([[j for j in range(11) if j != i] for i in range(11)])
        order = _shortest_tour(travel)
        tour = float(travel[order, np.roll(order, -1)].sum())
        bounds = []
        for steps in (1, 20, 500):
            nearness = AlphaNearness(*_graph(travel, everyone), first_step=0.01)
            nearness.ascend(steps)
            bounds.append(nearness.bound)
        assert bounds[0] < bounds[1] <= bounds[2] <= tour * (1 + 1e-12)
        assert bounds[2] > 0.97 * tour


def _shortest_tour(travel: FloatArray) -> IntArray:
    """The shortest tour by plain dynamic programming over sets."""
    size = len(travel)
    best: dict[tuple[int, int], tuple[float, list[int]]] = {(1, 0): (0.0, [0])}
    for _ in range(size - 1):
        following: dict[tuple[int, int], tuple[float, list[int]]] = {}
        for (seen, last), (cost, order) in best.items():
            for v in range(1, size):
                if not seen >> v & 1:
                    key, total = (seen | 1 << v, v), cost + float(travel[last, v])
                    if key not in following or total < following[key][0]:
                        following[key] = total, [*order, v]
        best = following
    return np.array(min(best.values(), key=lambda found: found[0] + float(travel[found[1][-1], 0]))[1])


def test_lists_are_made_for_graphs_in_several_pieces_and_short_lists_are_filled_up() -> None:
    travel = _distances(8, 0)
    near = np.array([[1], [2], [0], [4], [3], [6], [7], [5]])
    lists = alpha_lists(*_graph(travel, near), AlphaParams())
    assert lists.shape == (8, 5)
    assert set(lists[3].tolist()) == {4}
    assert set(lists[0].tolist()) == {1, 2}


def test_an_ascent_in_slices_is_the_same_as_in_one_go() -> None:
    travel = _distances(60, 0)
    graph = _graph(travel, np.argsort(travel, axis=1)[:, 1:6])
    whole, sliced = (AlphaNearness(*graph, first_step=0.01) for _ in range(2))
    whole.ascend(300)
    for _ in range(100):
        sliced.ascend(3)
    assert sliced.bound == whole.bound
    assert sliced.multipliers.tolist() == whole.multipliers.tolist()


def test_lists_may_be_longer_than_those_looked_at_first() -> None:
    places = np.arange(60) + 1000.0 * (np.arange(60) >= 50)
    travel = np.abs(places[:, None] - places[None, :])
    lists = candidates_of(Weighted(TravelMatrix(travel), np.zeros(60), np.zeros(60)), 45)
    for i, row in enumerate(lists.tolist()):
        assert len({*row, i}) == 46
        assert min(row) >= 0
        assert max(row) < 60


def test_kinds_of_lists() -> None:
    rng = np.random.default_rng(0)
    lopsided = Weighted(TravelMatrix(rng.random((30, 30))), np.zeros(30), np.zeros(30))
    assert both_candidates(lopsided, KOptParams(), Budget())[1] is None
    even = Weighted(TravelMatrix(_distances(30, 0)), np.zeros(30), np.zeros(30))
    near, alpha = both_candidates(even, KOptParams(), Budget())
    assert near.shape == (30, 8)
    assert alpha is not None
    assert alpha.shape == (30, 5)
    assert both_candidates(even, KOptParams(alpha=AlphaParams(work=100)), Budget())[1] is None
