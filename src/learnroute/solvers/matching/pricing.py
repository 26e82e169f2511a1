"""Pricing: which edges of a complete graph have a negative reduced cost (Cook and Rohe 1999). Imported with `blossom`.

`dual` of a vertex is the sum over all sets around it, its own value included. An edge does not leave the sets that
contain both its ends, so their lifts count twice too much: its reduced cost is
weight - dual - dual + 2·(common lifts).
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.kd_tree import Ground, length
from learnroute.solvers.matching.blossom import DUAL, LIFT, PARENT


@kernel
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


@kernel
def _common_lift(node: IntArray, table: IntArray, i: int, j: int) -> int:
    """Return the sum of the lifts of all blossoms around both vertices: an edge inside a set does not leave it."""
    parent = node[PARENT]
    a, b = parent[i], parent[j]
    while a != b:
        if a < 0 or b < 0:
            return 0
        if table[0, a] >= table[0, b]:
            a = parent[a]
        else:
            b = parent[b]
    return table[1, a] if a >= 0 else 0


@kernel
def _keep_least(least: IntArray, slack: int, j: int) -> None:
    """Insert a slack and its vertex where it belongs among the least ones, the least first."""
    k = least.shape[1] - 1
    if slack >= least[0, k]:
        return
    while k > 0 and least[0, k - 1] > slack:
        least[0, k], least[1, k] = least[0, k - 1], least[1, k - 1]
        k -= 1
    least[0, k], least[1, k] = slack, j


@kernel
def _listed(found: IntArray, count: int, i: int, least: IntArray) -> int:
    """Write the least edges of a vertex down; return how many there are now."""
    for k in range(least.shape[1]):
        if least[0, k] < 0:
            found[count, 0], found[count, 1] = i, least[1, k]
            count += 1
        least[0, k] = 0
    return count


@kernel
def _row(matrix: FloatArray, ground: Ground, i: int, buffer: FloatArray) -> FloatArray:
    """Return the weights of the pairs of vertex i with the vertices behind it."""
    if len(matrix) > 0:
        return matrix[i]
    for j in range(i + 1, len(buffer)):
        buffer[j] = length(ground, i, j)
    return buffer


@kernel
def negative_pairs(
    matrix: FloatArray, ground: Ground, scale: float, node: IntArray, table: IntArray, first: int, end: int, most: int
) -> IntArray:
    """Return pairs (i, j), i in first … end-1, i < j, of negative reduced cost; none only if there are none.

    At most `most` of each i, those of least reduced cost. Weights are those of the matrix, or distances where it is
    empty; a further vertex is then at distance 0 and needs no check here.
    """
    size, dual = max(len(matrix), len(ground.places)), node[DUAL]
    found = np.empty((most * (end - first), 2), dtype=np.int64)
    least = np.zeros((2, most), dtype=np.int64)
    buffer = np.empty(size)
    count = 0
    for i in range(first, min(end, size)):
        row = _row(matrix, ground, i, buffer)
        for j in range(i + 1, size):
            slack = 2 * np.int64(np.rint(row[j] * scale)) - dual[i] - dual[j]
            if slack < 0:
                slack += 2 * _common_lift(node, table, i, j)
                if slack < 0:
                    _keep_least(least, slack, j)
        count = _listed(found, count, i, least)
    return found[:count].copy()
