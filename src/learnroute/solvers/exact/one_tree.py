"""Minimum 1-trees with Lagrangian multipliers (Held and Karp 1970, 1971): a bound that scales to thousands of regions.

Two vertices are added. `home` is joined to every region at the cost of starting there. `out` is joined to every region
v at the cost of ending there plus the lowest score part of any order that ends at v. Every tour uses the edge between
the two, so an order is a tour: home, first region, …, last region, out, home. A tour is a spanning tree of the regions
and `home` plus two edges of `out`, in which every vertex has degree 2. Without the condition on degrees it is a
*1-tree*, and a minimum 1-tree is found quickly. One multiplier per vertex, subtracted from its edges and added back
twice, moves the degrees towards 2.

If only the last position counts, the score part is exact; with other weights it is bounded by rearrangement. For
asymmetric travel, the cheaper direction of each pair is used.

Vertices are numbered: the regions, `home` = T, `out` = T + 1. `status[i, j]` is FREE, fixed to 1 (all tours use the
edge) or fixed to 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute import _core
from learnroute._core import FIXED_TO_0, FIXED_TO_1, FREE, ascend_one_trees
from learnroute.model.certificates import OneTree
from learnroute.model.linear import Linear
from learnroute.model.rounding import margin
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.bounds import least_score_parts, path_relaxation
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.sparse_ascent import SparseAscent
from learnroute.solvers.exact.subgradient import new_ascent
from learnroute.solvers.params import OneTreeParams

StatusArray = NDArray[np.int8]
ENTRIES_PER_CALL = 20_000_000  # matrix entries that subgradient steps read per call of the core


class Tree(NamedTuple):
    """A minimum 1-tree: its cost including the multipliers (inf if there is none) and its edges."""

    total: float
    last: int  # the region before `out`
    parent: IntArray  # of each vertex but `out`, towards home
    joined: IntArray  # home and the regions, in the order in which they joined the tree
    degree: IntArray

    @property
    def order(self) -> IntArray | None:
        """The order, if the 1-tree is a tour."""
        if self.total == np.inf or (self.degree != 2).any():
            return None
        return self.joined[1:].copy()

    def margin(self, costs: FloatArray, multipliers: FloatArray) -> float:
        """Return an upper bound on the rounding error of its total."""
        if self.total == np.inf:
            return 0.0
        inside = self.joined[1:]
        paid = np.abs(costs[inside, self.parent[inside]]).sum() + abs(costs[-1, self.last])
        return margin(len(costs), float(paid + 2 * (self.degree + 2) @ np.abs(multipliers)))


def tour_graph(objective: Linear) -> FloatArray:
    """Return the costs of the edges between regions, `home` and `out`; inf where an order cannot start or end."""
    size = objective.size
    costs = np.full((size + 2, size + 2), np.inf)
    costs[:size, :size] = np.minimum(objective.travel.matrix, objective.travel.matrix.T)
    costs[size, :size] = costs[:size, size] = objective.begin
    costs[size + 1, :size] = costs[:size, size + 1] = least_score_parts(objective) + objective.finish
    costs[size, size + 1] = costs[size + 1, size] = 0.0
    return costs


def all_free(costs: FloatArray) -> StatusArray:
    """Return the initial status of all edges: those of infinite cost are fixed to 0, home-out is fixed to 1."""
    status = np.where(np.isfinite(costs), FREE, FIXED_TO_0).astype(np.int8)
    np.fill_diagonal(status, FIXED_TO_0)
    status[-1, -2] = status[-2, -1] = FIXED_TO_1
    return status


def one_tree_bound(objective: Linear, value: float, budget: Budget, params: OneTreeParams) -> OneTree:
    """Raise the 1-tree bound by subgradient steps towards `value`, the value of a known order."""
    path = path_relaxation(objective).objective
    costs = tour_graph(path)
    status = all_free(costs)
    target = value - path.constant
    if path.travel.symmetric and path.size >= params.sparse_regions:
        multipliers = _ascend_on_few_edges(path, costs, status, target, budget, params)
    else:
        multipliers = _ascend(costs, status, target, budget, params)
    tree = minimum_one_tree(costs, status, multipliers)
    bound = tree.total - tree.margin(costs, multipliers) + path.constant
    return OneTree(bound - margin(path.size + 2, abs(bound) + abs(path.constant)), multipliers)


def _ascend(costs: FloatArray, status: StatusArray, target: float, budget: Budget, params: OneTreeParams) -> FloatArray:
    """Return the best multipliers of an ascent on all edges."""
    ascent = new_ascent(np.zeros(len(costs)), target, params.ascent)
    done = 0
    while done < params.ascent.steps and not budget.exhausted and not ascent.ended:
        count = min(params.steps_per_call, params.ascent.steps - done, max(1, ENTRIES_PER_CALL // costs.size))
        ascend_one_trees(costs, status, ascent, count)
        done += count
        budget.progress("bound", done / params.ascent.steps)
    return ascent.best


def _ascend_on_few_edges(
    path: Linear, costs: FloatArray, status: StatusArray, target: float, budget: Budget, params: OneTreeParams
) -> FloatArray:
    """Return the best multipliers of ascents on few edges; after each, missing edges of the full 1-tree are added."""
    sparse = SparseAscent(path, costs, params)
    now = best = np.zeros(len(costs))
    highest, pace = -np.inf, params.sparse_ascent.pace
    for _ in range(params.sparse_rounds):
        now = sparse.ascend(now, target, budget, pace)
        tree = minimum_one_tree(costs, status, now)
        if tree.total > highest:
            highest, best = tree.total, now
        if tree.total == np.inf or budget.exhausted or not sparse.add(tree.joined[1:], tree.parent[tree.joined[1:]]):
            break
        pace = params.next_pace
    return best


def minimum_one_tree(costs: FloatArray, status: StatusArray, multipliers: FloatArray) -> Tree:
    """Return the minimum 1-tree for the given multipliers, using edges that are not fixed to 0."""
    return Tree(*_core.minimum_one_tree(costs, status, multipliers))
