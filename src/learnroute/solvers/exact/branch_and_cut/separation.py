"""Separation: subtour elimination and comb inequalities that a solution of the LP relaxation violates.

Imported only when a proof is attempted, because importing it wakes the compiler.

`x` is the symmetric matrix of the solution: x_e between 0 and 1 for each edge, two in all at each vertex. Subtour
elimination demands x(δ(S)) >= 2 of every set S of vertices; connected components and min-cut separation (Stoer and
Wagner 1997) find sets that violate it. Combs (see `lp_relaxation`) are sought as blossoms: handles are components of
the fractional edges, teeth are single edges (Padberg and Hong 1980).
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.ends import BoolArray
from learnroute.model.validation import FloatArray, IntArray

INTEGRAL = 1e-6  # x_e this near to 0 or 1 is taken for it
LEAST_SUBTOUR_VIOLATION = 1e-6
LEAST_COMB_VIOLATION = 1e-3
THRESHOLDS = (INTEGRAL, 0.1, 0.2, 0.3, 0.4)  # handles are components of the edges whose x_e is this far from 0 and 1
FLIPS = 20  # tries to make teeth disjoint


def violated_subtours(x: FloatArray) -> list[BoolArray]:
    """Return sets of vertices, without the last one, with x(δ(S)) < 2; none where there are none."""
    parts = components(x > INTEGRAL)
    many = parts.max() + 1
    found = [parts == number for number in range(many)] if many > 1 else list(_minimum_cuts(x))
    sides = {side.tobytes(): side for side in (~members if members[-1] else members.copy() for members in found)}
    return list(sides.values())


def violated_combs(x: FloatArray) -> list[list[BoolArray]]:
    """Return violated combs: each a handle and an odd number of teeth, edges that leave it."""
    tried: set[bytes] = set()
    found: dict[bytes, list[BoolArray]] = {}
    for threshold in THRESHOLDS:
        parts = components((x > threshold) & (x < 1 - threshold))
        for number in range(parts.max() + 1):
            handle = parts == number
            if 3 <= handle.sum() <= len(x) - 3 and handle.tobytes() not in tried:
                tried.add(handle.tobytes())
                comb = _with_teeth(x, handle)
                if comb is not None:
                    found[comb[0].tobytes()] = comb
    return list(found.values())


def _with_teeth(x: FloatArray, handle: BoolArray) -> list[BoolArray] | None:
    """Return the comb of a handle (or one near it) and the edges that leave it with x_e of more than a half."""
    for _ in range(FLIPS):
        a, b = np.nonzero(np.triu(x * (handle[:, None] != handle[None, :])) > 0)
        if len(a) < 3:
            return None
        leaving = x[a, b]
        teeth = leaving >= 0.5
        if teeth.sum() % 2 == 0:
            nearest = np.argmin(np.abs(leaving - 0.5))
            teeth[nearest] = ~teeth[nearest]
        shared = np.bincount(np.append(a[teeth], b[teeth]), minlength=len(x)) > 1
        if not shared.any():
            break
        handle = handle ^ shared  # a vertex with two teeth belongs to the other side
    else:
        return None
    many = int(teeth.sum())
    if many < 3 or leaving.sum() + 4 * many - 2 * leaving[teeth].sum() > 3 * many + 1 - LEAST_COMB_VIOLATION:
        return None
    comb = [handle]
    for tooth in zip(a[teeth], b[teeth], strict=True):
        members = np.zeros(len(x), dtype=np.bool_)
        members[list(tooth)] = True
        comb.append(members)
    return comb


@kernel
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


@kernel
def _minimum_cuts(x: FloatArray) -> BoolArray:
    """Return sets with x(δ(S)) < 2, found on the way to the minimum cut (Stoer and Wagner 1997).

    Paths of edges with x_e = 1 are shrunk to one vertex: a set that ends within one is left no less if all of it is
    taken in or out.
    """
    linked = np.empty(x.shape, dtype=np.bool_)
    for v in range(len(x)):
        for u in range(len(x)):
            linked[v, u] = x[v, u] > 1.0 - INTEGRAL
    shrunk, count = components(linked), 0
    for v in range(len(x)):
        count = max(count, shrunk[v] + 1)
    weights = np.zeros((count, count))
    inside = np.zeros((count, len(x)), dtype=np.bool_)
    for v in range(len(x)):
        inside[shrunk[v], v] = True
        for u in range(len(x)):
            if shrunk[v] != shrunk[u]:
                weights[shrunk[v], shrunk[u]] += x[v, u]
    found = np.zeros((count, len(x)), dtype=np.bool_)
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
        if most < 2.0 - LEAST_SUBTOUR_VIOLATION:
            found[many] = inside[last]
            many += 1
        for v in range(count):
            weights[before, v] += weights[last, v]
            weights[v, before] += weights[v, last]
        weights[before, before] = 0.0
        for v in range(len(x)):
            inside[before, v] = inside[before, v] or inside[last, v]
        alive[last] = False
    return found[:many]
