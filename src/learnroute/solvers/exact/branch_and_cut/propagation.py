"""Propagation: what fixed edges imply, because a tour has two edges a vertex and no subtours.

Imported only when a proof is attempted, because importing it wakes the compiler.
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.ends import BoolArray
from learnroute.model.validation import IntArray
from learnroute.solvers.exact.one_tree import FIXED_TO_0, FIXED_TO_1, FREE, StatusArray


@kernel
def propagate(status: StatusArray) -> bool:
    """Fix what follows from what is fixed, until nothing does; False where no tour is left."""
    beside = np.empty((len(status), 2), dtype=np.int64)
    changed = True
    while changed:
        found = _degrees(status, beside)
        if found < 0:
            return False
        changed = found > 0
        if not changed:
            closed = _subtours(status, beside)
            if closed < 0:
                return False
            changed = closed > 0
    return True


@kernel
def _degrees(status: StatusArray, beside: IntArray) -> int:
    """Fix edges of vertices that have two fixed to 1, or two left; return how many vertices, -1 where one has too few.

    `beside` becomes, for each vertex, the other ends of its edges that are fixed to 1, or -1.
    """
    count = len(status)
    changed = 0
    for v in range(count):
        free, fixed = 0, 0
        beside[v, 0] = beside[v, 1] = -1
        for u in range(count):
            if status[v, u] == FREE:
                free += 1
            elif status[v, u] == FIXED_TO_1:
                if fixed < 2:
                    beside[v, fixed] = u
                fixed += 1
        if fixed > 2 or fixed + free < 2:
            return -1
        if free > 0 and (fixed == 2 or fixed + free == 2):
            kind = FIXED_TO_0 if fixed == 2 else FIXED_TO_1
            for u in range(count):
                if status[v, u] == FREE:
                    status[v, u] = status[u, v] = kind
            changed += 1
    return changed


@kernel
def _subtours(status: StatusArray, beside: IntArray) -> int:
    """Fix the edge between the ends of each path to 0, unless it closes the tour; return how many, -1 for a subtour."""
    count = len(status)
    seen = np.zeros(count, dtype=np.bool_)
    changed = 0
    for v in range(count):
        if seen[v] or beside[v, 1] >= 0:  # a path begins at a vertex with at most one fixed edge
            continue
        length, end = _follow(beside, seen, v)
        if length > 2 and length < count and status[v, end] == FREE:
            status[v, end] = status[end, v] = FIXED_TO_0
            changed += 1
    for v in range(count):
        if not seen[v]:  # on a cycle
            length, _end = _follow(beside, seen, v)
            if length < count:
                return -1
    return changed


@kernel
def _follow(beside: IntArray, seen: BoolArray, start: int) -> tuple[int, int]:
    """Follow fixed edges from a vertex; return how many vertices are on the way, and the last one."""
    before, here, length = -1, start, 0
    while here >= 0 and not seen[here]:
        seen[here] = True
        length += 1
        onward = beside[here, 0] if beside[here, 0] != before else beside[here, 1]
        before, here = here, onward
    return length, before
