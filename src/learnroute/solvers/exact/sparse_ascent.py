"""The ascent of the 1-tree bound on few edges, for many regions.

Imported only when a bound is asked for, because importing it wakes the compiler.

Multipliers that are good on the edges of candidate lists are good on all edges, and a minimum 1-tree of so few edges is
found quickly (Prim's rule with a heap). The bound itself is that of all edges: whoever calls this computes it once more
from the multipliers. Where a 1-tree of all edges takes some that are missing, they are put in, and the ascent goes on
(pricing).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.construction.spanning_tree import minimum_spanning_tree
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.subgradient import Ascent, advance, new_ascent
from learnroute.solvers.local_search.alpha_nearness import Forest, Graph, edges_between, new_forest, span
from learnroute.solvers.local_search.candidates import candidates_of
from learnroute.solvers.params import OneTreeParams


class SparseAscent:
    """The multipliers of a problem's tour graph (`one_tree.tour_graph`), raised on some of its edges."""

    def __init__(self, objective: Objective, costs: FloatArray, params: OneTreeParams) -> None:
        size = objective.size
        self._costs, self._params = costs, params
        self._ascent = params.clustered_ascent if _clustered(objective, params.clustered) else params.sparse_ascent
        _, source, target = edges_between(candidates_of(objective, params.sparse_neighbours))
        begins = np.flatnonzero(np.isfinite(costs[size, :size]))
        begins = begins[np.argsort(costs[size, begins], kind="stable")][: 4 * params.sparse_neighbours]
        home = np.full(len(begins), size)
        self._graph = self._of(np.concatenate([source, home, begins]), np.concatenate([target, begins, home]))

    def _of(self, source: IntArray, target: IntArray) -> Graph:
        """Return the graph of some edges, each in both directions, of the regions and `home`."""
        count = len(self._costs) - 1
        codes = np.unique(source * count + target)
        source, target = codes // count, codes % count
        start = np.searchsorted(source, np.arange(count + 1)).astype(np.int64)
        return Graph(start, target, np.ascontiguousarray(self._costs[source, target]))

    def add(self, one: IntArray, two: IntArray) -> int:
        """Put in edges; return how many of them were missing."""
        count = len(self._costs) - 1
        source = np.repeat(np.arange(count), np.diff(self._graph.start))
        before = len(source)
        self._graph = self._of(np.concatenate([source, one, two]), np.concatenate([self._graph.target, two, one]))
        return len(self._graph.target) - before

    def raised(self, multipliers: FloatArray, target: float, budget: Budget, pace: float) -> FloatArray:
        """Return better multipliers: subgradient steps towards `target`, the value of a known order."""
        ascent = new_ascent(multipliers, target, replace(self._ascent, pace=pace))
        out = np.ascontiguousarray(self._costs[-1, :-1])
        done, most, some = 0, self._ascent.steps, self._params.steps_a_call
        while done < most and not budget.exhausted and not ascent.ended:
            _ascend(self._graph, out, ascent, min(some, most - done))
            done += some
            budget.progress("bound", min(0.99, done / most))
        return ascent.best


def _clustered(objective: Objective, ratio: float) -> bool:
    """Whether few edges of a minimum spanning tree make up much of it, as those between clusters do."""
    tree = minimum_spanning_tree(objective.travel)
    edges = objective.travel[tree[:, 0], tree[:, 1]]
    return float(edges.mean()) > ratio * float(np.median(edges))


@kernel
def _ascend(graph: Graph, out: FloatArray, ascent: Ascent, steps: int) -> None:
    """Take subgradient steps; `out` holds what edges of the vertex `out` cost, the last of them that to `home`."""
    count = len(out)
    home = count - 1
    tree = new_forest(count)
    signed = np.empty(count)
    subgradient = np.empty(count + 1)
    multipliers = ascent.multipliers
    for _ in range(steps):
        for v in range(count):
            signed[v] = -multipliers[v]
        total = span(graph, signed, tree)
        last, least = -1, np.inf
        for v in range(home):
            if out[v] - multipliers[v] < least:
                last, least = v, out[v] - multipliers[v]
        if last < 0 or _parts(tree) > 1:
            return
        total += least + out[home] - multipliers[home] - 2.0 * multipliers[count]
        tree.degree[last] += 1
        tree.degree[home] += 1
        for v in range(count):
            total += 2.0 * multipliers[v]
            subgradient[v] = 2.0 - tree.degree[v]
        total += 2.0 * multipliers[count]
        subgradient[count] = 0.0
        if not advance(ascent, subgradient, total):
            return


@kernel
def _parts(tree: Forest) -> int:
    """Return into how many trees a forest falls."""
    roots = 0
    for v in range(len(tree.parent)):
        roots += tree.parent[v] < 0
    return roots
