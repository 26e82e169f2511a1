"""α-nearness (Helsgaun 2000): candidate lists of the edges that are nearly in a minimum 1-tree.

Imported only when a search runs, because it loads compiled code.

A 1-tree has about three quarters of its edges in common with a shortest tour, more if multipliers at its vertices make
all degrees about 2: a short subgradient ascent finds such multipliers (Held and Karp 1971). The α-value of an edge is
what the tree costs more if it must contain the edge: its own cost less that of the dearest edge on the way through the
tree between its ends. Lists of the five least α-values hold more edges of shortest tours than twice as many nearest
neighbours. All of this happens on a sparse graph, in which each vertex is joined to its candidates of another kind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.params import AlphaParams


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


def alpha_lists(graph: Graph, params: AlphaParams) -> IntArray:
    """Return for each vertex the others of least α-value; the last one fills up where a vertex has too few edges."""
    size = len(graph.start) - 1
    multipliers, best = np.zeros(size), np.zeros(size)
    steps = min(params.steps, params.work // size)
    ascend_sparse(graph, multipliers, best, steps, params.first_step * float(graph.cost.mean()))
    lists = np.empty((size, min(params.neighbours, size - 1)), dtype=np.int64)
    _least_alpha(graph, best, lists)
    return lists


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


@kernel
def _second_edge(graph: Graph, multipliers: FloatArray, tree: Forest) -> tuple[float, int]:
    """Return the cost of the edge that makes the tree a 1-tree, and the leaf it is joined to: the dearest such edge."""
    extra, leaf = -np.inf, -1
    for v in range(len(multipliers)):
        if tree.degree[v] != 1:
            continue
        second = np.inf
        for e in range(graph.start[v], graph.start[v + 1]):
            u = graph.target[e]
            if tree.parent[v] != u and tree.parent[u] != v:
                second = min(second, graph.cost[e] + multipliers[u] + multipliers[v])
        if extra < second < np.inf:
            extra, leaf = second, v
    return (extra, leaf) if leaf >= 0 else (0.0, -1)


@kernel
def ascend_sparse(graph: Graph, multipliers: FloatArray, best: FloatArray, most: int, first_step: float) -> float:
    """Raise the 1-tree bound of a sparse graph by at most so many subgradient steps; return it.

    Steps are as long as in Helsgaun's ascent: doubled as long as the first ones raise the bound, then halved after
    periods that get shorter, with three tenths of the last direction in each. `best` gets the best multipliers.
    """
    size = len(multipliers)
    tree = new_forest(size)
    last = np.zeros(size)
    step, period = first_step, min(100, max(size // 2, 20))
    bound, done, beginning = -np.inf, 0, True
    while done < most and period > 0 and step > 0.0:
        p = 0
        while p < period and done < most:
            p += 1
            done += 1
            total = span(graph, multipliers, tree)
            extra, leaf = _second_edge(graph, multipliers, tree)
            if leaf >= 0:
                tree.degree[leaf] += 1
            total += extra
            wrong = 0
            for v in range(size):
                total -= 2.0 * multipliers[v]
                wrong += abs(tree.degree[v] - 2)
            if total > bound:
                if beginning and bound > -np.inf:
                    step *= 2.0
                bound = total
                best[:] = multipliers
                if p == period:
                    period *= 2
            elif beginning and p > period // 2:
                beginning, p = False, 0
                step *= 0.75
            if wrong == 0:
                return bound
            for v in range(size):
                direction = tree.degree[v] - 2.0
                multipliers[v] += step * (0.7 * direction + 0.3 * last[v])
                last[v] = direction
        period //= 2
        step *= 0.5
        beginning = False
    return bound


@kernel
def _least_alpha(graph: Graph, multipliers: FloatArray, lists: IntArray) -> None:
    """Fill each vertex's list with its edges of least α-value, the shorter one first where they are equal."""
    size, most = lists.shape
    tree = new_forest(size)
    span(graph, multipliers, tree)
    depth = np.zeros(size, dtype=np.int64)
    for k in range(size):
        v = tree.joined[k]
        depth[v] = depth[tree.parent[v]] + 1 if tree.parent[v] >= 0 else 0
    alpha, costs = np.empty(most), np.empty(most)
    for v in range(size):
        count = 0
        for e in range(graph.start[v], graph.start[v + 1]):
            a, b, dearest = v, graph.target[e], -np.inf
            while a != b and a >= 0 and b >= 0:
                if depth[a] < depth[b]:
                    a, b = b, a
                dearest = max(dearest, tree.key[a])
                a = tree.parent[a]
            cost = graph.cost[e]
            value = max(0.0, cost + multipliers[v] + multipliers[graph.target[e]] - dearest) if a == b else np.inf
            place = count if count < most else most
            while place > 0 and (
                value < alpha[place - 1] or (value == alpha[place - 1] and cost < costs[place - 1])
            ):  # fmt: skip
                place -= 1
            if place == most:
                continue
            count = min(count + 1, most)
            for x in range(count - 1, place, -1):
                alpha[x], costs[x], lists[v, x] = alpha[x - 1], costs[x - 1], lists[v, x - 1]
            alpha[place], costs[place], lists[v, place] = value, cost, graph.target[e]
        for x in range(count, most):
            lists[v, x] = lists[v, count - 1]
