"""Check the simple bound: a path is a spanning tree and enters all regions except one; scores are rearranged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from learnroute.model.certificates import Simple
from learnroute.verification.grid import LARGEST, Costs, IntMatrix, exact_total


def bound(costs: Costs, certificate: Simple) -> int:
    """Return the simple bound in grid units; it does not depend on the certificate."""
    begin, finish, arcs = costs.begin, costs.finish, _CheapestArcs(costs)
    first, last = int(begin.min()), int(finish.min())
    tree = spanning_tree(costs.size, arcs.either_way)
    assert tree is not None  # no cost is larger than the goal
    travel = max(
        tree + first + last,
        exact_total(arcs.entered) + int((begin - arcs.entered).min()) + last,  # the first region is not entered
        exact_total(arcs.left) + int((finish - arcs.left).min()) + first,
        arcs.half(costs.model.ends.closed) if costs.model.ends.closed else arcs.half(False) + first + last,
    )
    return travel + int(costs.score_parts().min())


class _CheapestArcs:
    """The cheapest arcs at each region, recorded while a spanning tree is computed."""

    def __init__(self, costs: Costs) -> None:
        self.costs, size = costs, costs.size
        self.entered, self.left = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.nearest, self.second = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)

    def either_way(self, v: int) -> IntMatrix:
        """Return the cost of the arc between a region and each other, in its cheaper direction."""
        out, into = self.costs.arcs_at(v)
        either = np.minimum(out, into)
        others = np.arange(len(out)) != v
        if others.any():
            self.left[v], self.entered[v] = out[others].min(), into[others].min()
            two = np.partition(either[others], 1)[:2] if len(out) > 2 else either[others]
            self.nearest[v], self.second[v] = two[0], two[-1]
        return either

    def half(self, closed: bool) -> int:
        """Return half the sum of the two cheapest arcs at each region; the two ends of a path lack the second one."""
        spare = 0 if closed else exact_total(np.sort(self.second)[-2:])
        return (exact_total(self.nearest) + exact_total(self.second) - spare) // 2 if len(self.second) > 2 else 0


def spanning_tree(size: int, costs: Callable[[int], IntMatrix]) -> int | None:
    """Return the cost of a minimum spanning tree; None if an edge of it would cost `LARGEST`."""
    edges = tree_edges(size, costs)
    return None if edges is None else sum(edges)


def tree_edges(size: int, costs: Callable[[int], IntMatrix]) -> list[int] | None:
    """Return the edge costs of a minimum spanning tree (Prim's rule); None if an edge would cost `LARGEST`.

    `costs` returns the costs of the edges at a vertex; it is called once per vertex.
    """
    near = costs(0).copy()
    outside = np.ones(size, dtype=bool)
    outside[0] = False
    edges = []
    while outside.any():
        open_costs = np.where(outside, near, LARGEST)
        v = int(np.argmin(open_costs))
        if open_costs[v] == LARGEST:
            return None
        edges.append(int(near[v]))
        outside[v] = False
        near = np.minimum(near, costs(v))
    return edges
