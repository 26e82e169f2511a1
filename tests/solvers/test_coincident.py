"""Coincident regions: a search finds the route through the locations, for any number of regions at each."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from learnroute.model.ends import Ends
from learnroute.model.linear import Weighted
from learnroute.model.travel import Places, TravelMatrix
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search.coincident import clusters_of
from learnroute.solvers.local_search.iterated import iterated_local_search

RNG = np.random.default_rng
ENDS = [Ends(first, last, closed) for first in (None, 2) for last in (None, 3) for closed in (False, True)]


def weights_of(rate: float, size: int) -> Any:
    return (1 - rate) * rate ** np.arange(size - 1, -1, -1.0)


def crowd(places: int, copies: int, seed: int) -> tuple[Any, Any]:
    """Return places, and the same with copies of each, mixed."""
    rng = RNG(seed)
    alone = rng.uniform(0, 1, (places, 2))
    return alone, rng.permutation(np.repeat(alone, copies, axis=0))


@pytest.mark.parametrize("rate", [0.0, 1 / 6])
@pytest.mark.parametrize("matrix", [False, True])
def test_copies_cost_no_more_travel_than_the_places_alone(rate: float, matrix: bool) -> None:
    places, copies = crowd(120, 12, 1)
    nothing = np.zeros(len(places))
    alone = Weighted(Places(places), nothing, nothing)
    least = alone(iterated_local_search(alone, RNG(0), Budget(), 2000))
    scores = RNG(2).uniform(0, 0.1, len(copies))
    travel = TravelMatrix(Places(copies).matrix) if matrix else Places(copies)
    objective = Weighted(travel, scores, weights_of(rate, len(copies)))
    order = iterated_local_search(objective, RNG(0), Budget(), 2000)
    assert sorted(order.tolist()) == list(range(len(copies)))
    assert float(objective.legs(order).sum()) <= 1.01 * least


@pytest.mark.parametrize("ends", ENDS)
def test_if_only_the_last_score_counts_clusters_suffice(ends: Ends) -> None:
    for seed in range(3):
        rng = RNG(seed)
        places = Places(rng.uniform(0, 1, (3, 2))[rng.integers(0, 3, 7)])
        objective = Weighted(places, rng.uniform(0, 2, 7), weights_of(0.0, 7), 0.5, ends)
        clusters = clusters_of(objective)
        assert clusters is not None
        assert clusters.suffice
        least = min(objective(order) for order in itertools.permutations(range(7)) if ends.allows(order))
        ways = (np.array(way) for way in itertools.permutations(range(clusters.objective.size)))
        orders = [clusters.regions(way) for way in ways if clusters.objective.ends.allows(way)]
        assert all(ends.allows(order) for order in orders)
        assert min(objective(order) for order in orders) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("rate", [0.0, 1 / 6, 0.9])
@pytest.mark.parametrize("ends", ENDS)
def test_every_end_is_kept_and_the_first_order_is_never_made_worse(rate: float, ends: Ends) -> None:
    _, copies = crowd(20, 8, 3)
    objective = Weighted(Places(copies), RNG(4).uniform(0, 1, 160), weights_of(rate, 160), 0.0, ends)
    first = iterated_local_search(objective, RNG(1), Budget(), 5)
    order = iterated_local_search(objective, RNG(2), Budget(), 20, initial=first)
    assert ends.allows(order)
    assert objective(order) <= objective(first)


def test_clusters_are_priced_as_if_they_came_last() -> None:
    _, copies = crowd(5, 4, 5)
    objective = Weighted(Places(copies), RNG(6).uniform(0, 1, 20), weights_of(0.4, 20))
    clusters = clusters_of(objective)
    assert clusters is not None
    order = clusters.regions(np.arange(5))
    assert clusters.locations(order).tolist() == [0, 1, 2, 3, 4]
    assert clusters.objective.legs(np.arange(5)).sum() == pytest.approx(objective.legs(order).sum(), rel=1e-12)
    last = float(objective.weights[-4:] @ objective.scores[order[-4:]])
    assert clusters.objective.weights[-1] * clusters.objective.scores[4] == pytest.approx(last, rel=1e-12)
    matrix = Weighted(TravelMatrix(objective.travel.matrix), objective.scores, objective.weights)
    same = clusters_of(matrix)
    assert same is not None
    groups = (sorted(np.flatnonzero(found.location_of == k).tolist() for k in range(5)) for found in (clusters, same))
    assert next(groups) == next(groups)


def test_larger_scores_come_first_at_a_location_and_the_way_stays() -> None:
    _, copies = crowd(4, 3, 7)
    objective = Weighted(Places(copies), RNG(8).uniform(0, 1, 12), weights_of(0.7, 12))
    clusters = clusters_of(objective)
    assert clusters is not None
    for seed in range(20):
        order = RNG(seed).permutation(12)
        better = clusters.sorted_within(order)
        assert np.array_equal(clusters.location_of[order], clusters.location_of[better])
        assert sorted(better.tolist()) == list(range(12))
        assert objective(better) <= objective(order) + 1e-12
        for k in range(4):
            scores = objective.scores[better[clusters.location_of[better] == k]]
            assert np.all(np.diff(scores) <= 0)


def test_there_are_no_clusters_if_no_regions_coincide() -> None:
    places, _ = crowd(12, 1, 9)
    scores, weights = np.ones(12), weights_of(0.0, 12)
    assert clusters_of(Weighted(Places(places), scores, weights)) is None
    assert clusters_of(Weighted(TravelMatrix(Places(places).matrix), scores, weights)) is None
    places[3] = places[2]  # a fixed end is a location of its own
    assert clusters_of(Weighted(Places(places), scores, weights, ends=Ends(2))) is None
    assert clusters_of(Weighted(Places(places), scores, weights, ends=Ends(1))) is not None


def test_all_regions_at_one_location_are_sorted_by_score() -> None:
    scores = RNG(1).uniform(0, 1, 400)
    for rate in (0.0, 1 / 6, 0.95):
        objective = Weighted(Places(np.full((400, 2), 7.0)), scores, weights_of(rate, 400))
        order = iterated_local_search(objective, RNG(0), Budget(), 50)
        assert objective(order) == pytest.approx(float(objective.weights @ np.sort(scores)[::-1]), rel=1e-12)


@pytest.mark.parametrize("matrix", [False, True])
def test_regions_that_nearly_coincide_are_clusters(matrix: bool) -> None:
    rng = RNG(3)
    centres = rng.uniform(0, 1, (10, 2))
    places = rng.permutation(np.repeat(centres, 15, axis=0)) + 1e-6 * rng.uniform(-1, 1, (150, 2))
    nothing = np.zeros(150)
    travel = TravelMatrix(Places(places).matrix) if matrix else Places(places)
    objective = Weighted(travel, nothing, nothing, ends=Ends(closed=True))
    clusters = clusters_of(objective)
    assert clusters is not None
    assert clusters.near
    assert not clusters.suffice
    assert clusters.objective.size == 10
    alone = Weighted(Places(centres), np.zeros(10), np.zeros(10), ends=Ends(closed=True))
    least = alone(iterated_local_search(alone, RNG(0), Budget(), 500))
    assert objective(iterated_local_search(objective, RNG(0), Budget(), 500)) <= 1.001 * least
    uniform = Weighted(Places(rng.uniform(0, 1, (150, 2))), nothing, nothing)
    assert clusters_of(uniform) is None


def test_huge_entries_do_not_hide_the_others() -> None:
    """Edges of 1e13 between most regions: the best cycle through the others is found to the last digits."""
    rng = RNG(4)
    travel = np.full((40, 40), 1e13)
    ring = rng.permutation(40)
    for a, b in itertools.pairwise([*ring.tolist(), int(ring[0])]):
        travel[a, b] = travel[b, a] = 1.0
    np.fill_diagonal(travel, 0)
    objective = Weighted(TravelMatrix(travel), np.zeros(40), np.zeros(40), ends=Ends(closed=True))
    assert objective(iterated_local_search(objective, RNG(0), Budget(), 2000)) == 40.0
