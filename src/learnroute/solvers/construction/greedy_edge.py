"""Greedy edges (Bentley 1992): join the two nearest ends of paths, again and again, until one path is left.

Imported only when a search runs, because importing it wakes the compiler.
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import IntArray
from learnroute.solvers.kd_tree import ground_of, nearest_places, tree_of

FEW = 6  # nearest ends of other paths that each end of a path may be joined to in one round


def greedy_edge_path(objective: Objective) -> IntArray:
    """Return a path through all regions; travel must be symmetric."""
    size = objective.size
    links = np.full((size, 2), -1, dtype=np.int64)
    other_end = np.arange(size)
    ends = np.arange(size)
    left = size
    while left > 1:
        lists = ends[_nearest(objective, ends)]
        one = np.repeat(ends, lists.shape[1])
        two = lists.ravel()
        ways = objective.between(one, two)
        by_length = np.lexsort((two, one, ways))
        left -= _join(one[by_length], two[by_length], links, other_end)
        ends = np.flatnonzero(links[:, 1] < 0)
    return _walk(links, int(ends[0]))


def _nearest(objective: Objective, ends: IntArray) -> IntArray:
    """Return for each end the nearest other ones, as places in the row of ends."""
    few = min(FEW, len(ends) - 1)
    points = objective.points
    if points is not None:
        ground = ground_of(Points(points.places[ends], points.geographic, points.scale))
        return nearest_places(ground, tree_of(ground), few)
    apart = objective.travel[np.ix_(ends, ends)]
    np.fill_diagonal(apart, np.inf)
    near = np.sort(np.argpartition(apart, few - 1, axis=1)[:, :few], axis=1)
    rank = np.argsort(np.take_along_axis(apart, near, axis=1), axis=1, kind="stable")
    return np.take_along_axis(near, rank, axis=1)


@kernel
def _join(one: IntArray, two: IntArray, links: IntArray, other_end: IntArray) -> int:
    """Join paths along the edges, shortest first, where both ends are free; return how many were joined."""
    joined = 0
    for k in range(len(one)):
        a, b = one[k], two[k]
        if links[a, 1] >= 0 or links[b, 1] >= 0 or other_end[a] == b or a == b:
            continue
        links[a, 0 if links[a, 0] < 0 else 1] = b
        links[b, 0 if links[b, 0] < 0 else 1] = a
        first, last = other_end[a], other_end[b]
        other_end[first], other_end[last] = last, first
        joined += 1
    return joined


@kernel
def _walk(links: IntArray, start: int) -> IntArray:
    """Follow a path from one of its ends."""
    path = np.empty(len(links), dtype=np.int64)
    before, here = -1, start
    for k in range(len(links)):
        path[k] = here
        after = links[here, 0] if links[here, 0] != before else links[here, 1]
        before, here = here, after
    return path
