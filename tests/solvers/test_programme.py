"""The linear programme of tours: its cuts hold for every tour, and its value is that of a 1-tree at its prices."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from learnroute import objective_of
from learnroute.model.validation import FloatArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.branch_and_cut import branching
from learnroute.solvers.exact.branch_and_cut.branching import FREE, GONE, NEEDED
from learnroute.solvers.exact.branch_and_cut.lp_relaxation import Programme, least_crossings
from learnroute.solvers.exact.branch_and_cut.separation import BoolArray, combs_crossed_too_little, sets_left_too_little
from learnroute.solvers.exact.branch_and_cut.solver import TourProver, cheapest_tree
from learnroute.solvers.local_search.iterated import best_order
from learnroute.study.families import random_problem
from learnroute.verification.branch_and_bound import is_comb
from samples import UNDER

RNG = np.random.default_rng


def fractional(size: int, seed: int) -> FloatArray:
    """Shares with two at every vertex: a mean of a few ways to give each vertex two edges, tours or not."""
    rng = RNG(seed)
    shares = np.zeros((size, size))
    for _ in range(3):
        order = rng.permutation(size)
        half = size // 2 if rng.random() < 0.7 else size
        for circle in (order[:half], order[half:]):
            for a, b in zip(circle, np.roll(circle, 1), strict=True):
                shares[a, b] += 1 / 3
                shares[b, a] += 1 / 3
    return shares


def boundary(shares: FloatArray, members: BoolArray) -> float:
    return float(shares[np.ix_(members, ~members)].sum())


def test_sets_are_found_wherever_one_is_left_too_little() -> None:
    outcomes = set()
    for seed in range(60):
        size = 6 + seed % 4
        shares = fractional(size, seed)
        found = sets_left_too_little(shares)
        for members in found:
            assert not members[-1]
            assert boundary(shares, members) < 2 - 1e-7
        least = min(
            boundary(shares, np.isin(np.arange(size), chosen))
            for count in range(1, size)
            for chosen in combinations(range(size), count)
        )
        assert bool(found) == (least < 2 - 1e-6)
        outcomes.add(bool(found))
    assert outcomes == {True, False}


def test_combs_are_violated_but_by_no_tour() -> None:
    seen = 0
    for seed in range(20):
        objective = objective_of(random_problem("euclidean", 30, UNDER, seed))
        prover = TourProver(objective, best_order(objective, RNG(0), Budget(), 300), Budget())
        prover.run()
        for sets in prover.combs:
            seen += 1
            assert is_comb(tuple(tuple(np.flatnonzero(row).tolist()) for row in sets))
            for _ in range(20):
                tour = RNG(seen).permutation(32)
                crossed = sum(int((row[tour] != np.roll(row[tour], 1)).sum()) for row in sets)
                assert crossed >= least_crossings(len(sets))
    assert seen > 10


def test_the_smallest_combs_hold_for_all_tours() -> None:
    sets = np.zeros((4, 7), dtype=bool)
    sets[0, :3] = True
    for tooth in range(3):
        sets[tooth + 1, [tooth, tooth + 3]] = True
    least = min(
        sum(int((row[list(tour)] != np.roll(row[list(tour)], 1)).sum()) for row in sets)
        for tour in permutations(range(7))
        if tour[0] == 0
    )
    assert least == least_crossings(4)


def test_a_known_violated_comb_is_found() -> None:
    # two triangles of halves, joined by three whole edges: every set is left twice, but no tour is like that
    shares = np.zeros((6, 6))
    for a, b, share in [(0, 1, 0.5), (1, 2, 0.5), (0, 2, 0.5), (3, 4, 0.5), (4, 5, 0.5), (3, 5, 0.5),
                        (0, 3, 1.0), (1, 4, 1.0), (2, 5, 1.0)]:  # fmt: skip
        shares[a, b] = shares[b, a] = share
    assert not sets_left_too_little(shares)
    found = combs_crossed_too_little(shares)
    assert found
    for comb in found:
        assert sum(boundary(shares, members) for members in comb) < least_crossings(len(comb)) - 0.5


@pytest.mark.parametrize(
    "comb",
    [
        ((0, 1, 2), (0, 3), (1, 4)),  # two teeth
        ((0, 1, 2), (0, 3)),  # one
        ((0, 1, 2), (0, 3), (1, 4), (2, 4)),  # not disjoint
        ((0, 1, 2), (0, 3), (1, 4), (2,)),  # not outside
        ((0, 1, 2), (0, 3), (1, 4), (5, 6)),  # not inside
    ],
)
def test_what_is_no_comb(comb: tuple[tuple[int, ...], ...]) -> None:
    assert not is_comb(comb)
    assert is_comb(((0, 1, 2), (0, 3), (1, 4), (2, 5, 6)))


def programme_of(size: int, seed: int) -> tuple[TourProver, Programme, branching.ByteArray, branching.ByteArray]:
    objective = objective_of(random_problem("euclidean", size, UNDER, seed))
    prover = TourProver(objective, np.arange(size), Budget())
    kinds = np.full((size + 1, size + 1), FREE, dtype=np.int8)
    np.fill_diagonal(kinds, GONE)
    leaving = np.full(size, FREE, dtype=np.int8)
    return prover, Programme(kinds, leaving, prover.combs), kinds, leaving


def test_its_value_is_that_of_a_tree_at_its_prices() -> None:
    for seed in range(5):
        prover, programme, kinds, leaving = programme_of(25, seed)
        found = programme.solve(prover.costs, prover.exits, kinds, leaving, np.inf, Budget())
        assert found.prices is not None
        costs, exits, back = programme.priced(prover.costs, prover.exits, found.prices.combs)
        total = cheapest_tree(costs, exits, kinds, leaving, found.prices.multipliers).total
        assert total + back == pytest.approx(found.value, rel=1e-9)
        prover.run()
        assert found.value <= prover.value * (1 + 1e-9)


def test_where_there_is_no_solution_prices_grow_without_end() -> None:
    prover, programme, kinds, leaving = programme_of(12, 0)
    for a, b in ((0, 1), (1, 2), (3, 4), (4, 5)):
        kinds[a, b] = kinds[b, a] = NEEDED
    for u in (0, 2):  # a path of three that can be left by one edge only
        for v in range(13):
            if kinds[u, v] == FREE and (u, v) != (0, 7):
                kinds[u, v] = kinds[v, u] = GONE
    leaving[[0, 1, 2]] = GONE
    found = programme.solve(prover.costs, prover.exits, kinds, leaving, np.inf, Budget())
    assert found.value == np.inf
    assert found.prices is not None
    rise = cheapest_tree(
        np.zeros_like(prover.costs), np.zeros_like(prover.exits), kinds, leaving, found.prices.multipliers
    )
    assert rise.total > 0
