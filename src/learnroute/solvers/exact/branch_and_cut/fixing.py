"""Reduced-cost fixing of edges by 1-trees, and an edge to branch on (Volgenant and Jonker 1982).

Imported only when a proof is attempted, because importing it wakes the compiler.

An edge outside of the minimum 1-tree is fixed to 0 if the 1-tree that has to take it reaches the upper bound: it would
replace the dearest edge on the way between its ends. An edge of the 1-tree is fixed to 1 if no other edge can replace
it below the upper bound.
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.exact.one_tree import FIXED_TO_0, FIXED_TO_1, FREE, StatusArray, one_tree


@kernel
def fix_by_reduced_cost(
    costs: FloatArray, status: StatusArray, multipliers: FloatArray, limit: float
) -> tuple[float, IntArray]:
    """Fix edges that no tour, or every tour, below `limit` takes; return the bound and an edge to branch on.

    The bound is inf where no tour is left. The branch is a vertex with two of its edges, v, a, b; v < 0 where the
    1-tree is a tour, b < 0 where one edge of v is fixed to 1 already.
    """
    count = len(costs)
    out = count - 1
    parent, joined, degree = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    bound, last = one_tree(costs, status, multipliers, parent, joined, degree)
    if bound >= limit:
        return np.inf, np.full(3, -1, dtype=np.int64)
    replacement = _fix_to_0(costs, status, multipliers, parent, joined, bound, limit)
    # what the second cheapest edge of `out` costs more than the one that is taken
    second = np.inf
    for v in range(out - 1):
        if v != last and status[out, v] == FREE:
            extra = costs[out, v] - multipliers[v] - (costs[out, last] - multipliers[last])
            if bound + extra >= limit:
                status[out, v] = status[v, out] = FIXED_TO_0
            else:
                second = min(second, extra)
    for k in range(1, out):
        v = joined[k]
        p = parent[v]
        replacement[v] -= costs[p, v] - multipliers[p] - multipliers[v]
        if status[p, v] == FREE and bound + replacement[v] >= limit:
            status[p, v] = status[v, p] = FIXED_TO_1
    if status[out, last] == FREE:
        replacement[out] = second
    return bound, _branch(status, parent, degree, replacement, last, limit - bound)


@kernel
def _fix_to_0(
    costs: FloatArray,
    status: StatusArray,
    multipliers: FloatArray,
    parent: IntArray,
    joined: IntArray,
    bound: float,
    limit: float,
) -> FloatArray:
    """Fix edges outside of the tree to 0; return the cheapest edge that can replace the one from v to its parent."""
    out = len(costs) - 1
    dearest = np.full((out, out), -np.inf)  # the dearest edge on the way between two vertices that may leave the tree
    depth = np.zeros(out, dtype=np.int64)
    for k in range(1, out):
        v = joined[k]
        p = parent[v]
        depth[v] = depth[p] + 1
        own = -np.inf if status[p, v] == FIXED_TO_1 else costs[p, v] - multipliers[p] - multipliers[v]
        for x in range(k):
            u = joined[x]
            dearest[v, u] = dearest[u, v] = max(dearest[p, u], own)
    replacement = np.full(out + 1, np.inf)
    for i in range(out):
        for j in range(i):
            if status[i, j] != FREE or parent[i] == j or parent[j] == i:
                continue
            cost = costs[i, j] - multipliers[i] - multipliers[j]
            if bound + cost - dearest[i, j] >= limit:
                status[i, j] = status[j, i] = FIXED_TO_0
                continue
            u, v = i, j
            while u != v:
                if depth[u] < depth[v]:
                    u, v = v, u
                replacement[u] = min(replacement[u], cost)
                u = parent[u]
    return replacement


@kernel
def _branch(
    status: StatusArray, parent: IntArray, degree: IntArray, replacement: FloatArray, last: int, gap: float
) -> IntArray:
    """Return a vertex of degree 3 or more, and its two edges that are dearest to replace."""
    out = len(status) - 1
    branch = np.full(3, -1, dtype=np.int64)
    best = -1.0
    for v in range(out):
        if degree[v] < 3:
            continue
        fixed = 0
        one, other, third = -1.0, -1.0, -1.0
        a, b = -1, -1
        for u in range(out + 1):
            if u == out:
                if v == out - 1:  # home, whose edge to `out` every tour takes
                    fixed += 1
                    continue
                if v != last:
                    continue
                gain = replacement[out]
            elif parent[u] == v:
                gain = replacement[u]
            elif parent[v] == u:
                gain = replacement[v]
            else:
                continue
            if status[u, v] != FREE:
                fixed += 1
                continue
            gain = min(gain, gap)
            if gain > one:
                one, other, third, a, b = gain, one, other, u, a
            elif gain > other:
                other, third, b = gain, other, u
            else:
                third = max(third, gain)
        if a < 0 or fixed >= 2:
            continue
        worth = min(one, other) if fixed == 1 else min(min(one, other), max(third, 0.5 * other))
        worth += 1e-3 * (one + max(other, 0.0))
        if worth > best:
            best = worth
            branch[0], branch[1], branch[2] = v, a, -1 if fixed == 1 else b
    return branch
