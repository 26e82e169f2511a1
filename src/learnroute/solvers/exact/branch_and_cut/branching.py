"""Kernels of branch and bound over 1-trees: raise a bound, fix edges by their reduced cost, follow what that implies.

Imported only when a proof is attempted, because importing it wakes the compiler.

Vertices are the regions and `home` (the last row); `out` is apart: `exits[v]` is the edge from region v to it. The edge
between home and out is always there. `kinds[i, j]` says whether an edge is FREE, NEEDED or GONE, `leaving[v]` the
same of the exits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnroute.kernels import compile_function
from learnroute.model.validation import FloatArray, IntArray

ByteArray = NDArray[np.int8]

FREE, NEEDED, GONE = 0, 1, 2


@compile_function
def one_tree(
    costs: FloatArray,
    exits: FloatArray,
    kinds: ByteArray,
    leaving: ByteArray,
    now: FloatArray,
    parent: IntArray,
    joined: IntArray,
    degree: IntArray,
) -> tuple[float, int]:
    """Find the cheapest 1-tree at multipliers `now`: fill parents, the order of joining and degrees.

    Returns its cost with the multipliers paid (inf where there is none) and the region before `out`.
    """
    count = len(costs)
    home = count - 1
    last, least = -1, np.inf
    for v in range(home):
        if leaving[v] == NEEDED:
            last = v
            least = exits[v] - now[v]
            break
        if leaving[v] == FREE and exits[v] - now[v] < least:
            last = v
            least = exits[v] - now[v]
    if last < 0 or least == np.inf:
        return np.inf, -1
    total = least - now[home]
    near = np.full(count, np.inf)
    first = np.zeros(count, dtype=np.bool_)  # whether `near` belongs to a needed edge
    inside = np.zeros(count, dtype=np.bool_)
    for v in range(count):
        degree[v] = 0
        parent[v] = -1
    degree[last] += 1
    degree[home] += 1
    here = home
    inside[home] = True
    joined[0] = home
    for k in range(1, count):
        for v in range(count):
            if inside[v] or kinds[here, v] == GONE:
                continue
            cost = costs[here, v] - now[here] - now[v]
            if kinds[here, v] == NEEDED:
                if not first[v] or cost < near[v]:
                    first[v] = True
                    near[v] = cost
                    parent[v] = here
            elif not first[v] and cost < near[v]:
                near[v] = cost
                parent[v] = here
        here = -1
        best = np.inf
        needed = False
        for v in range(count):
            if (
                not inside[v]
                and (first[v] or near[v] < np.inf)
                and ((first[v] and not needed) or (first[v] == needed and near[v] < best))
            ):
                best = near[v]
                here = v
                needed = first[v]
        if here < 0:
            return np.inf, -1
        inside[here] = True
        joined[k] = here
        total += best
        degree[here] += 1
        degree[parent[here]] += 1
    for v in range(count):
        total += 2.0 * now[v]
    return total, last


@compile_function
def climb(
    costs: FloatArray,
    exits: FloatArray,
    kinds: ByteArray,
    leaving: ByteArray,
    kept: FloatArray,
    target: float,
    limit: float,
    steps: int,
    pace: float,
) -> float:
    """Take subgradient steps from the multipliers `kept`, which become the best ones found; return their bound.

    Stops at once where the bound reaches `limit`.
    """
    count = len(costs)
    now = kept.copy()
    heavy = np.zeros(count)
    parent, joined, degree = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    best = -np.inf
    stalled = 0
    for _ in range(steps):
        total, _last = one_tree(costs, exits, kinds, leaving, now, parent, joined, degree)
        if total > best + 1e-3 * max(target - best, 0.0):
            stalled = 0
        else:
            stalled += 1
        if total > best:
            best = total
            kept[:] = now
        if best >= limit:
            break
        square = 0.0
        wrong = False
        for v in range(count):
            slope = 2.0 - degree[v]
            wrong = wrong or slope != 0.0
            heavy[v] = slope + 0.6 * heavy[v]
            square += heavy[v] * heavy[v]
        if not wrong:
            break
        if stalled >= 8:
            stalled = 0
            pace *= 0.7
            now[:] = kept
            heavy[:] = 0.0
            if pace < 0.01:
                break
            continue
        step = pace * max(target - total, 1e-3 * abs(target)) / max(square, 1e-9)
        for v in range(count):
            now[v] += step * heavy[v]
    return best


@compile_function
def fix(
    costs: FloatArray, exits: FloatArray, kinds: ByteArray, leaving: ByteArray, now: FloatArray, limit: float
) -> tuple[float, IntArray]:
    """Forbid edges that no tour below `limit` uses, need those that all of them use; propose edges to branch on.

    Returns the bound at multipliers `now` (inf where nothing is left) and a vertex with two of its edges: v, a, b;
    v < 0 where the 1-tree is a tour; b < 0 where v has a needed edge already.
    """
    count = len(costs)
    home = count - 1
    parent, joined, degree = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    choice = np.full(3, -1, dtype=np.int64)
    bound, last = one_tree(costs, exits, kinds, leaving, now, parent, joined, degree)
    if bound >= limit:
        return np.inf, choice
    # the dearest edge that could be removed on the way between any two vertices of the tree
    dearest = np.full((count, count), -np.inf)
    for k in range(1, count):
        v = joined[k]
        p = parent[v]
        own = -np.inf if kinds[p, v] == NEEDED else costs[p, v] - now[p] - now[v]
        for x in range(k):
            u = joined[x]
            most = max(dearest[p, u], own)
            dearest[v, u] = most
            dearest[u, v] = most
    depth = np.zeros(count, dtype=np.int64)
    for k in range(1, count):
        depth[joined[k]] = depth[parent[joined[k]]] + 1
    spare = np.full(count, np.inf)  # what it costs to replace the edge from v to its parent, at least
    for i in range(count):
        for j in range(i):
            if kinds[i, j] != FREE or parent[i] == j or parent[j] == i:
                continue
            cost = costs[i, j] - now[i] - now[j]
            if bound + cost - dearest[i, j] >= limit:
                kinds[i, j] = GONE
                kinds[j, i] = GONE
                continue
            u, v = i, j
            while u != v:
                if depth[u] < depth[v]:
                    u, v = v, u
                if cost < spare[u]:
                    spare[u] = cost
                u = parent[u]
    second = np.inf
    for v in range(home):
        if v != last and leaving[v] == FREE:
            extra = exits[v] - now[v] - (exits[last] - now[last])
            if bound + extra >= limit:
                leaving[v] = GONE
            else:
                second = min(second, extra)
    if leaving[last] == NEEDED:
        second = np.inf
    for k in range(1, count):
        v = joined[k]
        p = parent[v]
        spare[v] -= costs[p, v] - now[p] - now[v]
        if kinds[p, v] == FREE and bound + spare[v] >= limit:
            kinds[p, v] = NEEDED
            kinds[v, p] = NEEDED
    # a vertex of degree 3 or more, and its two edges that are dearest to replace
    best = -1.0
    for v in range(count):
        if degree[v] < 3:
            continue
        needed = 0
        one, other, third = -1.0, -1.0, -1.0
        a, b = -1, -1
        for u in range(count + 1):
            if u == count:
                if v != last:
                    continue
                free, gain = leaving[v] == FREE, second
            elif parent[u] == v:
                free, gain = kinds[u, v] == FREE, spare[u]
            elif parent[v] == u:
                free, gain = kinds[u, v] == FREE, spare[v]
            else:
                continue
            if not free:
                needed += 1
                continue
            gain = min(gain, limit - bound)
            if gain > one:
                third = other
                other = one
                b = a
                one = gain
                a = u
            elif gain > other:
                third = other
                other = gain
                b = u
            else:
                third = max(third, gain)
        if v == home:
            needed += 1
        if a < 0 or needed >= 2:
            continue
        worth = min(one, other) if needed == 1 else min(min(one, other), max(third, 0.5 * other))
        worth += 1e-3 * (one + max(other, 0.0))
        if worth > best:
            best = worth
            choice[0] = v
            choice[1] = a
            choice[2] = -1 if needed == 1 else b
    return bound, choice


@compile_function
def imply(kinds: ByteArray, leaving: ByteArray) -> bool:
    """Follow what the kinds imply for degrees and subtours, until nothing changes; False where no tour is left."""
    count = len(kinds)
    home = count - 1
    far = np.empty(count, dtype=np.int64)
    length = np.empty(count, dtype=np.int64)
    changed = True
    while changed:
        changed = False
        ways, sure = 0, 0
        for v in range(home):
            if leaving[v] != GONE:
                ways += 1
            if leaving[v] == NEEDED:
                sure += 1
        if ways == 0 or sure > 1:
            return False
        for v in range(home):
            if leaving[v] == FREE and (ways == 1 or sure == 1):
                leaving[v] = NEEDED if ways == 1 else GONE
                changed = True
        for v in range(count):
            free, needed = 0, 0
            for u in range(count):
                if u != v:
                    if kinds[v, u] == FREE:
                        free += 1
                    elif kinds[v, u] == NEEDED:
                        needed += 1
            if v == home or leaving[v] == NEEDED:
                needed += 1
            elif leaving[v] == FREE:
                free += 1
            if needed > 2 or needed + free < 2:
                return False
            if free > 0 and (needed == 2 or needed + free == 2):
                kind = GONE if needed == 2 else NEEDED
                for u in range(count):
                    if u != v and kinds[v, u] == FREE:
                        kinds[v, u] = kind
                        kinds[u, v] = kind
                if v != home and leaving[v] == FREE:
                    leaving[v] = kind
                changed = True
        # the two ends of each path of needed edges must not be joined, unless that closes the tour
        for v in range(count):
            ends = 0
            for u in range(count):
                if u != v and kinds[v, u] == NEEDED:
                    ends += 1
            far[v] = v if ends <= 1 else -1
            length[v] = 1
            if ends != 1:
                continue
            before, here = -1, v
            while True:
                going = -1
                for u in range(count):
                    if u != here and u != before and kinds[here, u] == NEEDED:
                        going = u
                        break
                if going < 0:
                    break
                before, here = here, going
                length[v] += 1
                if length[v] > count:
                    return False
            far[v] = here
        for v in range(count):
            u = far[v]
            if u >= 0 and u != v:
                if kinds[v, u] == FREE and length[v] > 2:
                    kinds[v, u] = GONE
                    kinds[u, v] = GONE
                    changed = True
                if v == home and length[v] < count:
                    if leaving[u] == NEEDED:
                        return False
                    if leaving[u] == FREE:
                        leaving[u] = GONE
                        changed = True
    # circles of needed edges have no ends: every vertex of one has two needed edges and none of them is `home`
    seen = np.zeros(count, dtype=np.bool_)
    for v in range(count):
        if far[v] < 0:
            continue
        before, here = -1, v
        while here >= 0:
            seen[here] = True
            going = -1
            for u in range(count):
                if u != here and u != before and kinds[here, u] == NEEDED:
                    going = u
                    break
            before, here = here, going
    return bool(seen.all())
