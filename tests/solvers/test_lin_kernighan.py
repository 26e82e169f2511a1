"""The search for many regions: what its moves say is what the objective says, whatever the ends."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from learnroute import Objective
from learnroute.model.distances import Points
from learnroute.model.ends import Ends
from learnroute.solvers.construction.space_filling_curve import hilbert_order
from learnroute.solvers.construction.spanning_tree import minimum_spanning_tree
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search import lin_kernighan, lk_state
from learnroute.solvers.local_search.candidates import candidate_lists
from learnroute.solvers.local_search.iterated import best_rotation, iterated_local_search
from learnroute.solvers.local_search.lk_search import LinKernighanSearch
from learnroute.solvers.methods import search
from learnroute.solvers.params import LinKernighanParams

RNG = np.random.default_rng
ENDS = [Ends(first, last, closed) for first in (None, 2) for last in (None, 3) for closed in (False, True)]
PARAMS = LinKernighanParams()


def weights_of(rate: float, size: int) -> Any:
    return (1 - rate) * rate ** np.arange(size - 1, -1, -1.0)


def problem(size: int, rate: float, ends: Ends, seed: int, places: bool) -> Objective:
    rng = RNG(seed)
    points = Points(rng.uniform(0, 1, (size, 2)))
    travel = points if places else points.matrix()
    return Objective(travel, rng.uniform(0, 2, size), weights_of(rate, size), 0.5, ends)


@pytest.mark.parametrize("rate", [1 / 6, 0.9])
def test_sums_are_right_where_they_are_needed(rate: float) -> None:
    """Far from the end, where no move that changes scores begins, they are not kept up to date."""
    params = LinKernighanParams(longest_scored=300)
    objective = problem(3000, rate, ENDS[0], 1, places=True)
    running = LinKernighanSearch(objective, RNG(0).permutation(3000), rate, params)
    running.run(RNG(1), 3000, Budget())
    assert min(running.values) == pytest.approx(objective(running.best()), rel=1e-11)
    fresh = LinKernighanSearch(objective, running.order_now(), rate, params).state
    near = slice(3000 - int(fresh.counts[lk_state.REACH]) - 300, 3000)
    scores = running.state.sums[:, near]
    assert scores == pytest.approx(fresh.sums[:, near], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("rate", [0.0, 1 / 6, 0.9994])
@pytest.mark.parametrize("ends", ENDS)
def test_moves_change_the_value_by_what_they_say_and_can_be_undone(rate: float, ends: Ends) -> None:
    for seed, size in enumerate((5, 12, 40)):
        objective = problem(size, rate, ends, seed, places=seed % 2 == 0)
        if ends.cyclic and rate == 0:
            objective = objective.travel_alone()  # where such a cycle begins is settled afterwards
        rng = RNG(seed)
        made = 0
        for _ in range(30):
            running = LinKernighanSearch(objective, ends.repair(rng.permutation(size)), rate, PARAMS)
            running._measure()
            state, found = running.state, np.zeros(9, dtype=np.int64)
            before = objective(running.order_now())
            for a in rng.permutation(size + 1 - state.counts[lk_state.CYCLIC]).tolist():
                if lin_kernighan.best_at(state, a, -1, 0.0, found):
                    lk_state.apply_move(state, *found[:4].tolist())
                    after = objective(running.order_now())
                    assert before - after == pytest.approx(state.numbers[lk_state.BEST], abs=1e-9)
                    assert ends.allows(running.order_now())
                    before, made = after, made + 1
            order = running.order_now()
            mark = int(state.counts[lk_state.JOURNAL_SIZE])
            low = int(state.counts[lk_state.CYCLIC])
            p, q, r, t = sorted((low + rng.choice(size + 1 - low, 4, replace=False)).tolist())
            worse = lin_kernighan.double_bridge(state, p, q, r, t)
            if worse < np.inf:
                assert objective(running.order_now()) - before == pytest.approx(worse, abs=1e-9)
                lk_state.undo(state, mark)
                assert running.order_now().tolist() == order.tolist()
                if state.counts[lk_state.SCORED]:
                    fresh = LinKernighanSearch(objective, order, rate, PARAMS).state.sums
                    assert state.sums[:, 1:size] == pytest.approx(fresh[:, 1:size], abs=1e-9)
        assert made > 10


@pytest.mark.parametrize("rate", [0.0, 1 / 6, 0.5])
@pytest.mark.parametrize("ends", ENDS)
def test_small_problems_are_searched_to_the_optimum(rate: float, ends: Ends) -> None:
    for seed in range(3):
        objective = problem(7, rate, ends, seed, places=False)
        least = min(objective(order) for order in itertools.permutations(range(7)) if ends.allows(order))
        found = []
        for start in range(8):
            running = LinKernighanSearch(objective, ends.repair(RNG(start).permutation(7)), rate, PARAMS)
            running.run(RNG(start), 200, Budget())
            found.append(objective(best_rotation(objective, running.best())))
            if rate > 0 or not ends.cyclic:
                assert objective(running.best()) == pytest.approx(min(running.values), abs=1e-9)
        assert min(found) == pytest.approx(least, rel=1e-9)
        assert objective(iterated_local_search(objective, RNG(0), Budget(), 200, 4)) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("kind", ["differs by direction", "factors", "factors and direction", "other weights"])
@pytest.mark.parametrize("ends", ENDS)
def test_other_objectives_are_searched_to_the_optimum(kind: str, ends: Ends) -> None:
    for seed in range(3):
        rng = RNG(seed)
        travel = rng.uniform(1, 10, (6, 6))
        np.fill_diagonal(travel, 0)
        if "direction" not in kind:
            travel = np.triu(travel) + np.triu(travel).T
        factors = np.where(rng.random(6) < 0.3, 0.0, rng.uniform(0, 1, 6)) if "factors" in kind else None
        weights = np.sort(rng.random(6)) if kind == "other weights" else weights_of(0.4, 6)
        objective = Objective(travel, rng.uniform(0, 20, 6), weights, 0.0, ends, factors)
        least = min(objective(order) for order in itertools.permutations(range(6)) if ends.allows(order))
        order = iterated_local_search(objective, rng, Budget(), 100, 4)
        assert ends.allows(order)
        assert objective(order) == pytest.approx(least, rel=1e-9)


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
def test_odd_places_are_no_trouble(name: str, rate: float, size: int) -> None:
    places = clouds(size)[name]
    for scores in (np.ones(size), np.zeros(size), RNG(1).uniform(0, 1, size) * np.abs(places).max()):
        objective = Objective(Points(places), scores, weights_of(rate, size))
        order = iterated_local_search(objective, RNG(0), Budget(), 50)
        assert sorted(order.tolist()) == list(range(size))
        if name == "all alike":
            sorted_scores = np.sort(scores)[::-1]
            assert objective.legs(order).sum() == 0
            assert objective(order) >= float(weights_of(rate, size) @ sorted_scores) * (1 - 1e-12)
        if name == "on a line" and size == 400 and not scores.any():
            assert objective(order) == pytest.approx(float(np.hypot(*np.ptp(places, axis=0))), rel=0.05)


def test_a_search_repeats_itself_and_stops_in_time() -> None:
    objective = problem(400, 0.0, Ends(), 1, places=True)
    one, two = (iterated_local_search(objective, RNG(3), Budget(), 300) for _ in range(2))
    assert np.array_equal(one, two)
    told: list[float] = []
    budget = Budget.of(1.5, lambda what, share: told.append(share) if what == "search" else None)
    answer = search(objective, RNG(0), budget)
    assert not budget.exhausted  # a part of the time is left for the bound
    assert told
    assert told == sorted(told)
    assert objective(answer.order) < objective(hilbert_order(objective.points))  # type: ignore[arg-type]


def test_the_curve_visits_neighbouring_cells() -> None:
    """On a grid of 16 x 16 places, Hilbert's curve goes from each to one beside it."""
    grid = np.array(list(itertools.product(range(16), repeat=2)), dtype=float)
    order = hilbert_order(Points(RNG(0).permutation(grid) * 16 / 16))
    assert sorted(order.tolist()) == list(range(256))
    places = Points(RNG(0).permutation(grid))
    assert places.between(order[:-1], order[1:]).max() == 1.0


def test_candidate_lists_lead_out_of_clusters() -> None:
    rng = RNG(5)
    places = np.concatenate([rng.uniform(0, 1, (30, 2)) + corner for corner in ((0, 0), (100, 0), (0, 100))])
    travel = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    lists = candidate_lists(travel, 10, 5)
    cluster = np.arange(90) // 30
    assert all(len({*row.tolist()}) == 10 and v not in row for v, row in enumerate(lists))
    assert np.all(np.diff(np.take_along_axis(travel, lists, axis=1), axis=1) >= 0)
    assert (cluster[lists] != cluster[:, None]).any(axis=1).sum() >= 6
    assert not (cluster[candidate_lists(travel, 10, 0)] != cluster[:, None]).any()


def test_alpha_is_what_a_spanning_tree_costs_more_with_an_edge() -> None:
    rng = RNG(6)
    travel = rng.uniform(1, 10, (8, 8))
    travel = np.triu(travel, 1) + np.triu(travel, 1).T
    tree = minimum_spanning_tree(travel)
    least = travel[tree[:, 0], tree[:, 1]].sum()
    for v, row in enumerate(candidate_lists(travel, 3, 3).tolist()):
        alphas = {}
        for u in set(range(8)) - {v}:
            forced = travel.copy()
            forced[u, v] = forced[v, u] = -1.0
            with_edge = minimum_spanning_tree(forced)
            alphas[u] = forced[with_edge[:, 0], with_edge[:, 1]].sum() + 1.0 + travel[u, v] - least
        worst = max(alphas[u] for u in row)
        assert sum(alpha < worst - 1e-4 for alpha in alphas.values()) <= 2
