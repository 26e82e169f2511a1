"""Minimum spanning trees of a matrix."""

from __future__ import annotations

import numpy as np

from learnroute.model.validation import FloatArray, IntArray


def minimum_spanning_tree(costs: FloatArray, order: IntArray | None = None) -> IntArray:
    """Return the T-1 edges of a minimum spanning tree, one (i, j) row each, by Prim's rule (1957) in O(T²).

    Ties go to the first region in `order`, or to the smallest index. The matrix is assumed to be symmetric: only rows
    of visited regions are used.
    """
    size = len(costs)
    numbers = np.arange(size) if order is None else order

    def row(k: int) -> FloatArray:
        found: FloatArray = costs[numbers[k]]
        return found if order is None else found[order]

    outside = np.ones(size, dtype=bool)
    outside[0] = False
    nearest = row(0).copy()
    nearest[0] = np.inf
    entry = np.zeros(size, dtype=np.int64)
    edges = np.empty((size - 1, 2), dtype=np.int64)
    for step in range(size - 1):
        joined = int(np.argmin(nearest))
        edges[step] = entry[joined], joined
        outside[joined] = False
        nearest[joined] = np.inf
        ways = row(joined)
        closer = outside & (ways < nearest)
        nearest[closer] = ways[closer]
        entry[closer] = joined
    return numbers[edges]
