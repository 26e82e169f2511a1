"""Ascent of the 1-tree bound on a sparse graph, for many regions.

Multipliers that are good for the edges of candidate lists are good for all edges, and a minimum 1-tree of a sparse
graph is found quickly (Prim's algorithm with a heap). The caller recomputes the bound on all edges from the
multipliers. If the minimum 1-tree of the complete graph uses missing edges, they are added and the ascent continues
(pricing).
"""

from __future__ import annotations

import numpy as np

from learnroute._core import SparseOneTrees
from learnroute.model.linear import Linear
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.subgradient import new_ascent
from learnroute.solvers.local_search.candidates import candidates_of
from learnroute.solvers.params import OneTreeParams
from learnroute.solvers.spanning_tree import minimum_spanning_tree


class SparseAscent:
    """Subgradient ascent on some edges of a problem's tour graph (`one_tree.tour_graph`)."""

    def __init__(self, objective: Linear, costs: FloatArray, params: OneTreeParams) -> None:
        size = objective.size
        self._costs, self._params = costs, params
        self._ascent = params.clustered_ascent if _is_clustered(objective, params.clustered) else params.sparse_ascent
        near = candidates_of(objective, params.sparse_neighbours)
        begins = np.flatnonzero(np.isfinite(costs[size, :size]))
        begins = begins[np.argsort(costs[size, begins], kind="stable")][: 4 * params.sparse_neighbours]
        source = np.repeat(np.arange(size + 1), [near.shape[1]] * size + [len(begins)])
        self._edges = np.zeros(0, dtype=np.int64)  # edges of the regions and `home`, numbered, in both directions
        self.add(source, np.concatenate([near.ravel(), begins]))

    def add(self, one: IntArray, two: IntArray) -> int:
        """Add edges; return the number of new ones, in both directions."""
        count, before = len(self._costs) - 1, len(self._edges)
        self._edges = np.unique(np.concatenate([self._edges, one * count + two, two * count + one]))
        source, target = self._edges // count, self._edges % count
        start = np.searchsorted(source, np.arange(count + 1)).astype(np.int64)
        self._trees = SparseOneTrees(start, target, self._costs[source, target], self._costs[-1, :-1])
        return len(self._edges) - before

    def ascend(self, multipliers: FloatArray, target: float, budget: Budget, pace: float) -> FloatArray:
        """Return better multipliers: subgradient steps towards `target`, the value of a known order."""
        ascent = new_ascent(multipliers, target, self._ascent._replace(pace=pace))
        done, most, some = 0, self._ascent.steps, self._params.steps_per_call
        while done < most and not budget.exhausted and not ascent.ended:
            self._trees.ascend(ascent, min(some, most - done))
            done += some
            budget.progress("bound", min(0.99, done / most))
        return ascent.best


def _is_clustered(objective: Linear, ratio: float) -> bool:
    """Whether a few edges make up much of the minimum spanning tree, as edges between clusters do."""
    tree = minimum_spanning_tree(objective.travel.matrix)
    edges = objective.travel.matrix[tree[:, 0], tree[:, 1]]
    return float(edges.mean()) > ratio * float(np.median(edges))
