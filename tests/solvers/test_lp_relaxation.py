"""The LP relaxation: its cuts hold for every tour, and its value is that of a 1-tree at its dual values."""

from __future__ import annotations

import threading
from itertools import combinations, permutations

import numpy as np
import pytest

from learnroute._core import FIXED_TO_0, FIXED_TO_1, FREE
from learnroute.model.ends import BoolArray
from learnroute.model.linear import Linear
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.branch_and_cut.lp_relaxation import LpRelaxation
from learnroute.solvers.exact.branch_and_cut.separation import least_crossings, violated_combs, violated_subtours
from learnroute.solvers.exact.branch_and_cut.solver import BranchAndCut
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.one_tree import StatusArray, all_free, minimum_one_tree, tour_graph
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import BranchAndCutParams, LpParams
from learnroute.study.families import random_problem
from learnroute.verification.branch_and_bound import is_comb
from samples import UNDER, linear_of

RNG = np.random.default_rng


def tree_of(objective: Linear, order: IntArray) -> BranchAndCut:
    tree = BranchAndCut(Incumbent(objective, order), Budget(), BranchAndCutParams())
    tree.run()
    return tree


def fractional_solution(size: int, seed: int) -> FloatArray:
    """x_e with two at every vertex: a mean of a few ways to give each vertex two edges, tours or not."""
    rng = RNG(seed)
    x = np.zeros((size, size))
    for _ in range(3):
        order = rng.permutation(size)
        half = size // 2 if rng.random() < 0.7 else size
        for circle in (order[:half], order[half:]):
            for a, b in zip(circle, np.roll(circle, 1), strict=True):
                x[a, b] += 1 / 3
                x[b, a] += 1 / 3
    return x


def boundary(x: FloatArray, members: BoolArray) -> float:
    return float(x[np.ix_(members, ~members)].sum())


def test_subtours_are_found_wherever_one_is_violated() -> None:
    outcomes = set()
    for seed in range(60):
        size = 6 + seed % 4
        x = fractional_solution(size, seed)
        found = violated_subtours(x)
        for members in found:
            assert not members[-1]
            assert boundary(x, members) < 2 - 1e-7
        least = min(
            boundary(x, np.isin(np.arange(size), chosen))
            for count in range(1, size)
            for chosen in combinations(range(size), count)
        )
        assert bool(found) == (least < 2 - 1e-6)
        outcomes.add(bool(found))
    assert outcomes == {True, False}


def test_combs_are_violated_but_by_no_tour() -> None:
    seen = 0
    for seed in range(20):
        objective = linear_of(random_problem("euclidean", 30, UNDER, seed))
        for sets in tree_of(objective, iterated_local_search(objective, RNG(0), Budget(), 300)).combs:
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
    # two triangles of halves, joined by three edges with x_e = 1: every set is left twice, but no tour is like that
    x = np.zeros((6, 6))
    for a, b, share in [(0, 1, 0.5), (1, 2, 0.5), (0, 2, 0.5), (3, 4, 0.5), (4, 5, 0.5), (3, 5, 0.5),
                        (0, 3, 1.0), (1, 4, 1.0), (2, 5, 1.0)]:  # fmt: skip
        x[a, b] = x[b, a] = share
    assert not violated_subtours(x)
    found = violated_combs(x)
    assert found
    for comb in found:
        assert sum(boundary(x, members) for members in comb) < least_crossings(len(comb)) - 0.5


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
def test_invalid_combs(comb: tuple[tuple[int, ...], ...]) -> None:
    assert not is_comb(comb)
    assert is_comb(((0, 1, 2), (0, 3), (1, 4), (2, 5, 6)))


def lp_of(size: int, seed: int) -> tuple[FloatArray, LpRelaxation, StatusArray]:
    costs = tour_graph(linear_of(random_problem("euclidean", size, UNDER, seed)))
    status = all_free(costs)
    return costs, LpRelaxation(status, [], 1.0, LpParams()), status


def test_its_value_is_that_of_a_one_tree_at_its_dual_values() -> None:
    for seed in range(5):
        costs, lp, status = lp_of(25, seed)
        found = lp.solve(costs, status, np.inf, Budget())
        assert found.duals is not None
        reduced, back = lp.reduced_costs(costs, found.duals.combs)
        total = minimum_one_tree(reduced, status, found.duals.multipliers).total
        assert total + back == pytest.approx(found.value, rel=1e-9)
        objective = linear_of(random_problem("euclidean", 25, UNDER, seed))
        tree = tree_of(objective, np.arange(25))
        assert found.value <= tree.incumbent.value * (1 + 1e-9)


def test_if_it_is_infeasible_bounds_grow_along_a_dual_ray() -> None:
    costs, lp, status = lp_of(12, 0)
    for a, b in ((0, 1), (1, 2), (3, 4), (4, 5)):
        status[a, b] = status[b, a] = FIXED_TO_1
    for u in (0, 1, 2):  # a path of three that can be left by one edge only
        for v in range(14):
            if status[u, v] == FREE and (u, v) != (0, 7):
                status[u, v] = status[v, u] = FIXED_TO_0
    status[0, 7] = status[7, 0] = FREE
    found = lp.solve(costs, status, np.inf, Budget())
    assert found.value == np.inf
    assert found.duals is not None
    nothing = np.where(np.isfinite(costs), 0.0, costs)
    assert minimum_one_tree(nothing, status, found.duals.multipliers).total > 0


class StopAfter(threading.Event):
    """An event that is set after this many queries."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def is_set(self) -> bool:
        self.looks -= 1
        return self.looks < 0


@pytest.mark.parametrize("looks", [0, 5, 100])
def test_simplex_iterations_end_with_the_budget(looks: int) -> None:
    costs, lp, status = lp_of(60, 0)
    stop = StopAfter(looks)
    found = lp.solve(costs, status, np.inf, Budget(stop=stop))
    assert (found.value, found.duals) == (-np.inf, None)
    assert -3 <= stop.looks < 0  # HiGHS asked once more at most, and so did the caller
    assert np.isfinite(lp.solve(costs, status, np.inf, Budget()).value)
