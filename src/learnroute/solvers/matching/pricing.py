"""Which edges of a complete graph are lighter than a matching's duals allow. Imported only with `blossom`.

DUAL of a vertex is the sum over all sets around it, its own number included. An edge does not leave the sets that
contain both its ends, so their lifts count twice too much: its slack is weight - dual - dual + 2·(common lifts).
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import compile_function
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.kd_tree import Ground, length
from learnroute.solvers.matching.blossom import DUAL, LIFT, PARENT

WORST = 6  # edges of one vertex that are added at a time


@compile_function
def depths_and_lifts(node: IntArray) -> IntArray:
    """For each node, how many blossoms are around it, and the sum of their lifts and its own."""
    count = node.shape[1]
    table = np.full((2, count), -1, dtype=np.int64)
    way = np.empty(count, dtype=np.int64)
    for start in range(count):
        b, steps = start, 0
        while b >= 0 and table[0, b] < 0:  # up to the first node that is known, or out
            way[steps] = b
            steps += 1
            b = node[PARENT, b]
        for k in range(steps - 1, -1, -1):  # and down again
            c = way[k]
            table[0, c] = table[0, b] + 1 if b >= 0 else 0
            table[1, c] = node[LIFT, c] + (table[1, b] if b >= 0 else 0)
            b = c
    return table


@compile_function
def _common_lift(node: IntArray, table: IntArray, i: int, j: int) -> int:
    """Return the sum of the lifts of all blossoms around both vertices: an edge inside a set does not leave it."""
    a, b = node[PARENT, i], node[PARENT, j]
    while a != b:
        if a < 0 or b < 0:
            return 0
        if table[0, a] >= table[0, b]:
            a = node[PARENT, a]
        else:
            b = node[PARENT, b]
    return table[1, a] if a >= 0 else 0


@compile_function
def _keep_worst(worst: IntArray, slack: int, j: int) -> None:
    """Insert a slack and its vertex where it belongs among the worst ones, the worst first."""
    k = worst.shape[1] - 1
    if slack >= worst[0, k]:
        return
    while k > 0 and worst[0, k - 1] > slack:
        worst[0, k], worst[1, k] = worst[0, k - 1], worst[1, k - 1]
        k -= 1
    worst[0, k], worst[1, k] = slack, j


@compile_function
def _listed(found: IntArray, count: int, i: int, worst: IntArray) -> int:
    """Write the worst edges of a vertex down; return how many there are now."""
    for k in range(worst.shape[1]):
        if worst[0, k] < 0:
            found[count, 0], found[count, 1] = i, worst[1, k]
            count += 1
        worst[0, k] = 0
    return count


@compile_function
def unborne_in_matrix(
    weights: FloatArray, scale: float, node: IntArray, table: IntArray, first: int, end: int
) -> IntArray:
    """Return pairs (i, j), i in first … end-1, i < j, that are lighter than the duals allow."""
    found = np.empty((WORST * (end - first), 2), dtype=np.int64)
    worst = np.zeros((2, WORST), dtype=np.int64)
    count = 0
    for i in range(first, end):
        for j in range(i + 1, len(weights)):
            slack = 2 * np.int64(np.rint(weights[i, j] * scale)) - node[DUAL, i] - node[DUAL, j]
            if slack < 0:
                slack += 2 * _common_lift(node, table, i, j)
                if slack < 0:
                    _keep_worst(worst, slack, j)
        count = _listed(found, count, i, worst)
    return found[:count].copy()


@compile_function
def unborne_between_places(
    ground: Ground, scale: float, node: IntArray, table: IntArray, first: int, end: int
) -> IntArray:
    """Do the same for distances; a further vertex is at distance 0 and needs no check here."""
    found = np.empty((WORST * (end - first), 2), dtype=np.int64)
    worst = np.zeros((2, WORST), dtype=np.int64)
    size = len(ground.places)
    count = 0
    for i in range(first, min(end, size)):
        for j in range(i + 1, size):
            slack = 2 * np.int64(np.rint(length(ground, i, j) * scale)) - node[DUAL, i] - node[DUAL, j]
            if slack < 0:
                slack += 2 * _common_lift(node, table, i, j)
                if slack < 0:
                    _keep_worst(worst, slack, j)
        count = _listed(found, count, i, worst)
    return found[:count].copy()
