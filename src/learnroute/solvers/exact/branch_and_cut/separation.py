"""Find cuts that a solution of the linear programme of tours violates.

Imported only when a proof is attempted, because importing it wakes the compiler.

A solution gives each edge a share between 0 and 1, two in all at each vertex; `shares` is the symmetric matrix of them.
Two kinds of sets of vertices are looked for: those that are left by shares of less than 2 (every tour leaves a set and
comes back), and the handles of combs (see `programme`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnroute.kernels import compile_function
from learnroute.model.validation import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

CLEARLY = 1e-6  # shares by which a set is left too little, at least
WHOLE = 1e-6  # shares this near to 0 or 1 are
WORTH_A_COMB = 1e-3  # shares by which a comb is violated, at least
THRESHOLDS = (WHOLE, 0.1, 0.2, 0.3, 0.4)  # handles are what edges hold together whose shares are this far from 0 and 1
FLIPS = 20  # tries to make teeth disjoint


def sets_left_too_little(shares: FloatArray) -> list[BoolArray]:
    """Return sets of vertices, without the last one, that shares of less than 2 leave; none where there are none."""
    parts = components(shares > WHOLE)
    many = parts.max() + 1
    found = [parts == number for number in range(many)] if many > 1 else list(_light_cuts(shares))
    sides = {side.tobytes(): side for side in (~members if members[-1] else members.copy() for members in found)}
    return list(sides.values())


def combs_crossed_too_little(shares: FloatArray) -> list[list[BoolArray]]:
    """Return combs that are violated: each a handle and an odd number of teeth, edges that leave it."""
    tried: set[bytes] = set()
    found: dict[bytes, list[BoolArray]] = {}
    for threshold in THRESHOLDS:
        parts = components((shares > threshold) & (shares < 1 - threshold))
        for number in range(parts.max() + 1):
            handle = parts == number
            if 3 <= handle.sum() <= len(shares) - 3 and handle.tobytes() not in tried:
                tried.add(handle.tobytes())
                comb = _with_teeth(shares, handle)
                if comb is not None:
                    found[comb[0].tobytes()] = comb
    return list(found.values())


def _with_teeth(shares: FloatArray, handle: BoolArray) -> list[BoolArray] | None:
    """Return the comb of a handle (or one near it) and the edges that leave it with more than half a share."""
    for _ in range(FLIPS):
        a, b = np.nonzero(np.triu(shares * (handle[:, None] != handle[None, :])) > 0)
        if len(a) < 3:
            return None
        leaving = shares[a, b]
        teeth = leaving >= 0.5
        if teeth.sum() % 2 == 0:
            nearest = np.argmin(np.abs(leaving - 0.5))
            teeth[nearest] = ~teeth[nearest]
        shared = np.bincount(np.append(a[teeth], b[teeth]), minlength=len(shares)) > 1
        if not shared.any():
            break
        handle = handle ^ shared  # a vertex with two teeth belongs to the other side
    else:
        return None
    many = int(teeth.sum())
    if many < 3 or leaving.sum() + 4 * many - 2 * leaving[teeth].sum() > 3 * many + 1 - WORTH_A_COMB:
        return None
    comb = [handle]
    for tooth in zip(a[teeth], b[teeth], strict=True):
        members = np.zeros(len(shares), dtype=np.bool_)
        members[list(tooth)] = True
        comb.append(members)
    return comb


@compile_function
def components(linked: BoolArray) -> IntArray:
    """Number the vertices by the component that they are in."""
    count = len(linked)
    number = np.full(count, -1, dtype=np.int64)
    stack = np.empty(count, dtype=np.int64)
    parts = 0
    for start in range(count):
        if number[start] >= 0:
            continue
        number[start] = parts
        stack[0] = start
        height = 1
        while height > 0:
            height -= 1
            v = stack[height]
            for u in range(count):
                if linked[v, u] and number[u] < 0:
                    number[u] = parts
                    stack[height] = u
                    height += 1
        parts += 1
    return number


@compile_function
def _light_cuts(shares: FloatArray) -> BoolArray:
    """Return sets that shares of less than 2 leave, found on the way to the least cut (Stoer and Wagner 1997).

    Paths of edges with whole shares are one vertex: a set that ends within one is left no less if all of it is taken in
    or out.
    """
    whole = components(shares > 1.0 - WHOLE)
    count = whole.max() + 1
    weights = np.zeros((count, count))
    inside = np.zeros((count, len(shares)), dtype=np.bool_)
    for v in range(len(shares)):
        inside[whole[v], v] = True
        for u in range(len(shares)):
            if whole[v] != whole[u]:
                weights[whole[v], whole[u]] += shares[v, u]
    found = np.zeros((count, len(shares)), dtype=np.bool_)
    many = 0
    alive = np.ones(count, dtype=np.bool_)
    for left in range(count, 1, -1):
        reach = np.zeros(count)
        taken = np.zeros(count, dtype=np.bool_)
        before, last = -1, -1
        for _ in range(left):
            here, most = -1, -1.0
            for v in range(count):
                if alive[v] and not taken[v] and reach[v] > most:
                    here, most = v, reach[v]
            taken[here] = True
            before, last = last, here
            for v in range(count):
                reach[v] += weights[here, v]
        if most < 2.0 - CLEARLY:
            found[many] = inside[last]
            many += 1
        for v in range(count):
            weights[before, v] += weights[last, v]
            weights[v, before] += weights[v, last]
        weights[before, before] = 0.0
        inside[before] |= inside[last]
        alive[last] = False
    return found[:many]
