"""Check the simple bound: a path is a spanning tree, and enters all regions but one; scores are rearranged."""

from __future__ import annotations

import numpy as np

from learnroute.model.certificates import Simple
from learnroute.verification.grid import LARGEST, Costs, IntMatrix, exact_total


def bound(costs: Costs, certificate: Simple) -> int:
    """Return the simple bound in grid units; nothing in it depends on the certificate."""
    begin, finish = costs.begin, costs.finish
    others = costs.travel.copy()
    np.fill_diagonal(others, costs.goal)
    into, out = others.min(axis=0), others.min(axis=1)
    first, last = int(begin.min()), int(finish.min())
    tree = spanning_tree(np.minimum(costs.travel, costs.travel.T))
    assert tree is not None  # no cost is larger than the goal
    travel = max(
        tree + first + last,
        exact_total(into) + int((begin - into).min()) + last,  # the first region is not entered
        exact_total(out) + int((finish - out).min()) + first,
    )
    return travel + int(costs.score_parts().min())


def spanning_tree(costs: IntMatrix) -> int | None:
    """Return the cost of a minimum spanning tree (Prim's rule); None where some edge of it would cost `LARGEST`."""
    near = costs[0].copy()
    outside = np.ones(len(costs), dtype=bool)
    outside[0] = False
    total = 0
    while outside.any():
        open_costs = np.where(outside, near, LARGEST)
        v = int(np.argmin(open_costs))
        if open_costs[v] == LARGEST:
            return None
        total += int(near[v])
        outside[v] = False
        near = np.minimum(near, costs[v])
    return total
