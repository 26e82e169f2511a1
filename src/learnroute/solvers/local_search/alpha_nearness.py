"""Candidate lists of the edges that are nearly in a minimum 1-tree: α-nearness (Helsgaun 2000; `cpp/alpha_nearness.h`).

Lists of the five least α-values hold more edges of shortest tours than twice as many nearest neighbours. They are
chosen from a sparse graph, in which each vertex is joined to its candidates of another kind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnroute._core import AlphaNearness
from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.params import AlphaParams

WORK_A_CALL = 100_000  # steps times vertices of the ascent between two looks at Ctrl-C


class Graph(NamedTuple):
    """A sparse graph: the edges of vertex v are start[v] … start[v+1]-1, each edge once in each direction."""

    start: IntArray
    target: IntArray
    cost: FloatArray


class Forest(NamedTuple):
    """A spanning tree, and what Prim's rule needs to find it."""

    parent: IntArray
    joined: IntArray  # vertices in the order in which they join the tree
    degree: IntArray
    key: FloatArray  # reduced cost of the edge to the parent
    heap: IntArray  # vertices beside the tree, a binary heap by key
    place: IntArray  # where in the heap a vertex stands; OUTSIDE of it, or JOINED already


OUTSIDE, JOINED = -1, -2


def edges_between(near: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the edges of all candidate lists in both directions: where each vertex's begin, sources, targets."""
    size = len(near)
    source, target = np.repeat(np.arange(size), near.shape[1]), near.ravel()
    codes = np.unique(np.concatenate([source * size + target, target * size + source]))
    source, target = codes // size, codes % size
    return np.searchsorted(source, np.arange(size + 1)).astype(np.int64), source, target


def alpha_lists(start: IntArray, target: IntArray, costs: FloatArray, params: AlphaParams) -> IntArray:
    """Return for each vertex the others of least α-value; the last one fills up where a vertex has too few edges.

    The edges of vertex v are start[v] … start[v + 1] - 1, each edge once in each direction.
    """
    size = len(start) - 1
    nearness = AlphaNearness(start, target, costs, params.first_step * float(costs.mean()))
    left, some = min(params.steps, params.work // size), max(1, WORK_A_CALL // size)
    while left > 0 and not nearness.ascend(min(some, left)):
        left -= some
    return nearness.candidate_lists(nearness.multipliers, min(params.neighbours, size - 1))


@kernel
def _rise(tree: Forest, i: int, v: int) -> None:
    """Put a vertex into the heap, from place i upwards."""
    while i > 0:
        above = (i - 1) >> 1
        if tree.key[tree.heap[above]] <= tree.key[v]:
            break
        tree.heap[i] = tree.heap[above]
        tree.place[tree.heap[i]] = i
        i = above
    tree.heap[i] = v
    tree.place[v] = i


@kernel
def _sink(tree: Forest, filled: int, v: int) -> None:
    """Put a vertex into the heap, from the top downwards."""
    i = 0
    while True:
        below = 2 * i + 1
        if below >= filled:
            break
        if below + 1 < filled and tree.key[tree.heap[below + 1]] < tree.key[tree.heap[below]]:
            below += 1
        if tree.key[v] <= tree.key[tree.heap[below]]:
            break
        tree.heap[i] = tree.heap[below]
        tree.place[tree.heap[i]] = i
        i = below
    tree.heap[i] = v
    tree.place[v] = i


@kernel
def new_forest(size: int) -> Forest:
    """Make room for a spanning tree."""
    return Forest(
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
    )


@kernel
def span(graph: Graph, multipliers: FloatArray, tree: Forest) -> float:
    """Find a minimum spanning forest at some multipliers (Prim's rule with a heap); return its reduced cost."""
    size = len(multipliers)
    for v in range(size):
        tree.key[v] = np.inf
        tree.parent[v], tree.place[v], tree.degree[v] = -1, OUTSIDE, 0
    total, count, root = 0.0, 0, 0
    while count < size:
        while tree.place[root] == JOINED:  # where the graph is not connected, the next tree begins
            root += 1
        tree.heap[0], tree.place[root], tree.key[root], filled = root, 0, 0.0, 1
        while filled > 0:
            v = tree.heap[0]
            filled -= 1
            if filled > 0:
                _sink(tree, filled, tree.heap[filled])
            tree.place[v], tree.joined[count] = JOINED, v
            count += 1
            total += tree.key[v]
            if tree.parent[v] >= 0:
                tree.degree[v] += 1
                tree.degree[tree.parent[v]] += 1
            for e in range(graph.start[v], graph.start[v + 1]):
                u = graph.target[e]
                cost = graph.cost[e] + multipliers[u] + multipliers[v]
                if tree.place[u] != JOINED and cost < tree.key[u]:
                    tree.key[u], tree.parent[u] = cost, v
                    if tree.place[u] == OUTSIDE:
                        tree.place[u] = filled
                        filled += 1
                    _rise(tree, tree.place[u], u)
    return total
