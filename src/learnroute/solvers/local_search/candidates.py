"""Candidate lists by α-nearness (Helsgaun 2000): for each region, the few others that a move may join it to.

Imported only when a search runs, because importing it wakes the compiler.

The nearest regions alone mislead where regions lie in clusters: no list leads out of a cluster. The α of an edge is
what a minimum spanning tree costs more if it has to take that edge; edges between clusters have small ones. A list
holds the regions of least α, and the nearest ones.
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import compile_function
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.construction.spanning_tree import minimum_spanning_tree


def candidate_lists(travel: FloatArray, most: int, by_alpha: int) -> IntArray:
    """Return lists of `most` regions each, nearest first, of which up to `by_alpha` were chosen by α-nearness."""
    size = len(travel)
    most = min(most, size - 1)
    edges = minimum_spanning_tree(travel)
    parent = np.full(size, -1, dtype=np.int64)
    parent[edges[:, 1]] = edges[:, 0]
    others = travel.copy()
    np.fill_diagonal(others, np.inf)
    nearest = np.argpartition(others, most - 1, axis=1)[:, :most]
    nearest.sort(axis=1)
    rank = np.argsort(np.take_along_axis(others, nearest, axis=1), axis=1, kind="stable")
    lists = np.take_along_axis(nearest, rank, axis=1)
    _choose(travel, parent, np.concatenate([edges[:1, 0], edges[:, 1]]), min(by_alpha, most), lists)
    rank = np.argsort(np.take_along_axis(others, lists, axis=1), axis=1, kind="stable")
    return np.ascontiguousarray(np.take_along_axis(lists, rank, axis=1))


@compile_function
def _choose(travel: FloatArray, parent: IntArray, joined: IntArray, count: int, lists: IntArray) -> None:
    """Put the regions of least α into each list, in the place of the farthest ones that are not among them."""
    size, most = lists.shape
    dearest, alpha = np.empty(size), np.empty(size)  # the dearest tree edge on the way to each region
    seen = np.full(size, -1)
    for i in range(size):
        dearest[i], seen[i], k = -np.inf, i, i
        while parent[k] >= 0:
            above = parent[k]
            dearest[above] = max(dearest[k], travel[k, above])
            seen[above] = i
            k = above
        for x in range(size):
            j = joined[x]
            if seen[j] != i:
                dearest[j] = max(dearest[parent[j]], travel[j, parent[j]])
            alpha[j] = travel[i, j] - dearest[j] + 1e-6 * travel[i, j]
        alpha[i] = np.inf
        chosen = np.empty(most, dtype=np.int64)
        for k in range(count):
            chosen[k] = np.argmin(alpha)
            alpha[chosen[k]] = np.inf
        filled = count
        for k in range(most):
            if filled < most and not np.any(chosen[:count] == lists[i, k]):
                chosen[filled] = lists[i, k]
                filled += 1
        lists[i] = chosen
