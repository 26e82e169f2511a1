"""A k-d tree of places (Bentley 1975): nearest neighbours and spanning trees without a T x T matrix.

Imported only for many places, because importing it wakes the compiler.

The tree halves the places again and again along the longest side of the box around them. A node is known by its
number (its halves are 2k + 1 and 2k + 2); it holds a range of `items` and the box around them. A search skips every box
that is further away than what it has found.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.distances import EARTH_RADIUS, Points
from learnroute.model.validation import FloatArray, IntArray

LEAF = 8  # places up to which a node is not halved
DEEPEST = 64  # nodes on a search's stack: more than two for each level of any tree
NEAR = 1.4  # chords up to which an arcsine of half of them has all its digits
# Places in Ground.metric
UNIT, ROUND = 0, 1


class Ground(NamedTuple):
    """Places as kernels see them: in three dimensions, none further than 1 from the origin along any axis."""

    places: FloatArray
    metric: FloatArray  # what a unit of distance costs; whether places are on a sphere (great circles) or not


NOWHERE = Ground(np.zeros((0, 3)), np.zeros(2))  # where travel is given as a matrix


class Tree(NamedTuple):
    """A k-d tree over places."""

    items: IntArray  # the places, those of a node side by side
    ranges: IntArray  # 2 x nodes: first and past the last item
    boxes: FloatArray  # 6 x nodes: lowest corner, highest corner


def ground_of(points: Points) -> Ground:
    """Return places as kernels see them; scaled by a power of two, so that nothing is lost."""
    if points.geographic:
        return Ground(np.array(points.embedded), np.array([points.scale * EARTH_RADIUS, 1.0]))
    return plane(points.places, points.scale)


def plane(places: FloatArray, scale: float = 1.0) -> Ground:
    """Return places of up to three coordinates with straight distances."""
    largest = float(np.abs(places).max(initial=0.0))
    unit = 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0
    padded = np.zeros((len(places), 3))
    padded[:, : places.shape[1]] = places / unit
    return Ground(padded, np.array([scale * unit, 0.0]))


def lengths(ground: Ground, origins: IntArray, goals: IntArray) -> FloatArray:
    """Return what it costs to go from each origin to its goal."""
    return _lengths(ground, np.asarray(origins, dtype=np.int64), np.asarray(goals, dtype=np.int64))


def tree_of(ground: Ground) -> Tree:
    """Return the k-d tree over places."""
    size = len(ground.places)
    levels = 0
    while size > LEAF << levels:
        levels += 1
    nodes = (2 << levels) - 1
    tree = Tree(np.arange(size), np.zeros((2, nodes), dtype=np.int64), np.empty((6, nodes)))
    _halve(ground.places, tree)
    return tree


@kernel
def square(ground: Ground, i: int, j: int) -> float:
    """Return the squared straight distance of two places, which orders them like their distance."""
    x = ground.places[i, 0] - ground.places[j, 0]
    y = ground.places[i, 1] - ground.places[j, 1]
    z = ground.places[i, 2] - ground.places[j, 2]
    return x * x + y * y + z * z


@kernel
def length(ground: Ground, i: int, j: int) -> float:
    """Return what it costs to go from one place to another."""
    straight = math.sqrt(square(ground, i, j))
    if ground.metric[ROUND] == 0.0:
        return ground.metric[UNIT] * straight
    if straight < NEAR:
        return ground.metric[UNIT] * 2.0 * math.asin(0.5 * straight)
    x = ground.places[i, 0] + ground.places[j, 0]  # the chord to the antipode, where an arcsine loses no digits
    y = ground.places[i, 1] + ground.places[j, 1]
    z = ground.places[i, 2] + ground.places[j, 2]
    return ground.metric[UNIT] * (math.pi - 2.0 * math.asin(0.5 * math.sqrt(x * x + y * y + z * z)))


@kernel
def _lengths(ground: Ground, origins: IntArray, goals: IntArray) -> FloatArray:
    found = np.empty(len(origins))
    for k in range(len(origins)):
        found[k] = length(ground, origins[k], goals[k])
    return found


@kernel
def _halve(places: FloatArray, tree: Tree) -> None:
    """Arrange the items node by node; the halves differ by at most one item."""
    nodes = tree.ranges.shape[1]
    tree.ranges[1, 0] = len(tree.items)
    for node in range(nodes):
        first, end = tree.ranges[0, node], tree.ranges[1, node]
        widest = 0
        for axis in range(3):
            low, high = np.inf, -np.inf
            for k in range(first, end):
                low = min(low, places[tree.items[k], axis])
                high = max(high, places[tree.items[k], axis])
            tree.boxes[axis, node], tree.boxes[axis + 3, node] = low, high
            if high - low > tree.boxes[widest + 3, node] - tree.boxes[widest, node]:
                widest = axis
        if 2 * node + 2 >= nodes:
            continue
        half = (first + end) // 2
        _select(places, tree.items, widest, first, end - 1, half)
        tree.ranges[0, 2 * node + 1], tree.ranges[1, 2 * node + 1] = first, half
        tree.ranges[0, 2 * node + 2], tree.ranges[1, 2 * node + 2] = half, end


@kernel
def _select(places: FloatArray, items: IntArray, axis: int, first: int, last: int, wanted: int) -> None:
    """Move items so that none before `wanted` is higher than it, and none behind is lower (Hoare's quickselect)."""
    while first < last:
        pivot = places[items[(first + last) // 2], axis]
        i, j = first, last
        while i <= j:
            while places[items[i], axis] < pivot:
                i += 1
            while places[items[j], axis] > pivot:
                j -= 1
            if i <= j:
                items[i], items[j] = items[j], items[i]
                i += 1
                j -= 1
        if wanted <= j:
            last = j
        elif wanted >= i:
            first = i
        else:
            return


@kernel
def box_distance(ground: Ground, tree: Tree, node: int, i: int) -> float:
    """Return the squared distance between a place and the box of a node."""
    total = 0.0
    for axis in range(3):
        x = ground.places[i, axis]
        gap = max(tree.boxes[axis, node] - x, x - tree.boxes[axis + 3, node])
        if gap > 0.0:
            total += gap * gap
    return total


@kernel
def nearest_places(ground: Ground, tree: Tree, count: int) -> IntArray:
    """For each place its `count` nearest others, nearest first; ties by number. There must be that many."""
    size = len(ground.places)
    found = np.full((size, count), -1, dtype=np.int64)
    near = np.empty(count)
    stack = np.empty(DEEPEST, dtype=np.int64)
    nodes = tree.ranges.shape[1]
    for k in range(size):
        i = tree.items[k]
        near[:] = np.inf
        best = found[i]
        stack[0], height = 0, 1
        while height > 0:
            height -= 1
            node = stack[height]
            if box_distance(ground, tree, node, i) > near[count - 1]:
                continue
            if 2 * node + 2 < nodes:
                one, two = 2 * node + 1, 2 * node + 2
                if box_distance(ground, tree, one, i) < box_distance(ground, tree, two, i):
                    one, two = two, one
                stack[height], stack[height + 1] = one, two  # the nearer half is looked at first
                height += 2
                continue
            for x in range(tree.ranges[0, node], tree.ranges[1, node]):
                j = tree.items[x]
                if j == i:
                    continue
                apart = square(ground, i, j)
                place = count
                while place > 0 and (
                    apart < near[place - 1] or (apart == near[place - 1] and j < best[place - 1])
                ):  # fmt: skip
                    place -= 1
                if place < count:
                    for y in range(count - 1, place, -1):
                        near[y], best[y] = near[y - 1], best[y - 1]
                    near[place], best[place] = apart, j
    return found


@kernel
def _root(group: IntArray, i: int) -> int:
    while group[i] != i:
        group[i] = group[group[i]]
        i = group[i]
    return i


@kernel
def _closer(apart: float, i: int, j: int, least: float, a: int, b: int) -> bool:
    """Whether the edge i-j comes before a-b: shorter, or as short with smaller numbers. No two edges are equal."""
    if apart != least:
        return apart < least
    if a < 0:
        return True
    if min(i, j) != min(a, b):
        return min(i, j) < min(a, b)
    return max(i, j) < max(a, b)


@kernel
def spanning_edges(ground: Ground, tree: Tree) -> IntArray:
    """Return the edges of a minimum spanning tree by Borůvka's rule: every group takes its shortest edge outwards.

    Ties are broken by number, so that all edges differ and no round closes a cycle.
    """
    size = len(ground.places)
    nodes = tree.ranges.shape[1]
    group = np.arange(size)
    shared = np.empty(nodes, dtype=np.int64)  # the group that a whole node is in, or -1
    edges = np.empty((max(size - 1, 0), 2), dtype=np.int64)
    least = np.empty(size)
    ends = np.empty((2, size), dtype=np.int64)
    stack = np.empty(DEEPEST, dtype=np.int64)
    reach = np.zeros(size)  # no place outside the group is nearer to this one: what earlier rounds found
    count = 0
    while count < size - 1:
        for i in range(size):
            group[i] = _root(group, i)
            least[i] = np.inf
            ends[0, i] = ends[1, i] = -1
        for node in range(nodes - 1, -1, -1):
            if 2 * node + 2 < nodes:
                shared[node] = shared[2 * node + 1] if shared[2 * node + 1] == shared[2 * node + 2] else -1
            else:
                shared[node] = group[tree.items[tree.ranges[0, node]]]
                for x in range(tree.ranges[0, node], tree.ranges[1, node]):
                    if group[tree.items[x]] != shared[node]:
                        shared[node] = -1
        for k in range(size):
            i = tree.items[k]
            own = group[i]
            if reach[i] > least[own]:
                continue
            nearest = np.inf  # to a place outside, as far as this search gets to know
            stack[0], height = 0, 1
            while height > 0:
                height -= 1
                node = stack[height]
                if shared[node] == own:
                    continue
                apart = box_distance(ground, tree, node, i)
                if apart > least[own]:
                    nearest = min(nearest, apart)
                    continue
                if 2 * node + 2 < nodes:
                    one, two = 2 * node + 1, 2 * node + 2
                    if box_distance(ground, tree, one, i) < box_distance(ground, tree, two, i):
                        one, two = two, one
                    stack[height], stack[height + 1] = one, two
                    height += 2
                    continue
                for x in range(tree.ranges[0, node], tree.ranges[1, node]):
                    j = tree.items[x]
                    if group[j] == own:
                        continue
                    apart = square(ground, i, j)
                    nearest = min(nearest, apart)
                    if _closer(apart, i, j, least[own], ends[0, own], ends[1, own]):
                        least[own] = apart
                        ends[0, own], ends[1, own] = i, j
            reach[i] = nearest
        for own in range(size):
            if ends[0, own] >= 0:
                a, b = _root(group, ends[0, own]), _root(group, ends[1, own])
                if a != b:
                    group[a] = b
                    edges[count, 0], edges[count, 1] = ends[0, own], ends[1, own]
                    count += 1
    return edges
