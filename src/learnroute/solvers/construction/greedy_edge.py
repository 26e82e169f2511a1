"""Greedy edges (Bentley 1992): join the two nearest ends of paths, again and again, until one path is left.

Imported only when a search runs, because importing it wakes the compiler.
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
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
    near = np.zeros((len(ends), few), dtype=np.int64)
    _nearest_in_matrix(objective.travel, ends, near)
    return near


@kernel
def _nearest_in_matrix(travel: FloatArray, ends: IntArray, near: IntArray) -> None:
    for i in range(len(ends)):
        nearest_in_row(travel, ends[i], ends, near, i)


@kernel
def nearest_in_row(travel: FloatArray, region: int, others: IntArray, near: IntArray, row: int) -> None:
    """Fill a row with the nearest of others (their places), nearest first, the first of those that are equally near."""
    few = near.shape[1]
    apart = np.empty(few)
    apart[:] = np.inf
    for j in range(len(others)):
        way = travel[region, others[j]]
        if way < apart[few - 1] and others[j] != region:
            place = few - 1
            while place > 0 and apart[place - 1] > way:
                apart[place], near[row, place] = apart[place - 1], near[row, place - 1]
                place -= 1
            apart[place], near[row, place] = way, j


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
