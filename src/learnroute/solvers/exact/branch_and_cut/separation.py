"""Separation: subtour elimination and comb inequalities that a solution of the LP relaxation violates.

`x` is the symmetric matrix of the solution, with x_e between 0 and 1 for each edge and a sum of two at each vertex.
Subtour elimination requires x(δ(S)) >= 2 for every set S of vertices; connected components and min-cut separation
(Stoer and Wagner 1997) find sets that violate it. Combs (see `lp_relaxation`) are separated as blossoms: handles are
components of the fractional edges, and teeth are single edges (Padberg and Hong 1980).
"""

from __future__ import annotations

import numpy as np

from learnroute._core import connected_components, minimum_cuts
from learnroute.model.ends import BoolArray
from learnroute.model.validation import FloatArray, IntArray

INTEGRAL = 1e-6  # tolerance within which x_e counts as 0 or 1
LEAST_SUBTOUR_VIOLATION = 1e-6
LEAST_COMB_VIOLATION = 1e-3
THRESHOLDS = (INTEGRAL, 0.1, 0.2, 0.3, 0.4)  # handles are components of the edges whose x_e is this far from 0 and 1
FLIPS = 20  # attempts to make teeth disjoint


def violated_subtours(x: FloatArray) -> list[BoolArray]:
    """Return sets of vertices, without the last one, with x(δ(S)) < 2; an empty list if there are none."""
    parts = connected_components(x > INTEGRAL)
    many = parts.max() + 1
    found = [parts == number for number in range(many)]
    if many == 1:
        found = [_members(cut, len(x)) for cut in minimum_cuts(x, 2 - LEAST_SUBTOUR_VIOLATION, 1 - INTEGRAL)]
    sides = {side.tobytes(): side for side in (~members if members[-1] else members.copy() for members in found)}
    return list(sides.values())


def violated_combs(x: FloatArray) -> list[list[BoolArray]]:
    """Return violated combs, each a handle and an odd number of teeth, which are edges that leave it."""
    tried: set[bytes] = set()
    found: dict[bytes, list[BoolArray]] = {}
    for threshold in THRESHOLDS:
        parts = connected_components((x > threshold) & (x < 1 - threshold))
        for number in range(parts.max() + 1):
            handle = parts == number
            if 3 <= handle.sum() <= len(x) - 3 and handle.tobytes() not in tried:
                tried.add(handle.tobytes())
                comb = _with_teeth(x, handle)
                if comb is not None:
                    found[comb[0].tobytes()] = comb
    return list(found.values())


def _with_teeth(x: FloatArray, handle: BoolArray) -> list[BoolArray] | None:
    """Return the comb of a handle (or a similar one) and the edges that leave it with x_e > 1/2."""
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
    return [handle, *(_members(tooth, len(x)) for tooth in np.stack([a[teeth], b[teeth]], axis=1))]


def _members(vertices: IntArray, count: int) -> BoolArray:
    """Return which of `count` vertices are among the given ones."""
    members = np.zeros(count, dtype=np.bool_)
    members[vertices] = True
    return members


def least_crossings(sets: int) -> float:
    """Return how often a tour crosses the boundaries of a comb of this many sets (a handle and teeth) at least."""
    return 3.0 * (sets - 1) + 1.0
