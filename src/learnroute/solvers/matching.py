"""Minimum-weight perfect matching of a complete graph, with its proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from learnroute.errors import InputError
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget

if TYPE_CHECKING:
    from learnroute.solvers.blossom import State

SMALL = 12  # vertices up to which subsets are enumerated instead of waking the compiler
RESOLUTION_BITS = 48  # weights are told apart to 2^-48 of the largest one
SEARCHES = 64  # between two looks at the clock


@dataclass(frozen=True, eq=False)
class Matching:
    """Pairs that cover every vertex once, and why none are lighter.

    Attributes
    ----------
    pairs
        One row (i, j), i < j, for each pair, sorted.
    optimal
        False where the time ran out: the rest was paired greedily.
    duals
        A number for each vertex (its own, without the sets'), and ...
    sets
        ... the odd sets with theirs, none negative. Every edge's weight is at least the sum of the numbers of its
        two ends and of all sets that it leaves, so all numbers together are a lower bound on any perfect matching,
        which the pairs attain. None where the matching was found by enumeration.
    """

    pairs: IntArray
    optimal: bool
    duals: FloatArray | None = None
    sets: tuple[tuple[IntArray, float], ...] = ()

    @property
    def bound(self) -> float | None:
        """Return what the duals prove: no perfect matching is lighter, up to rounding."""
        if self.duals is None or not self.optimal:
            return None
        return math.fsum([*self.duals, *(number for _, number in self.sets)])


def minimum_matching(weights: FloatArray, budget: Budget | None = None) -> Matching:
    """Pair all vertices of a complete graph so that the weights of the pairs add up to as little as possible.

    Parameters
    ----------
    weights
        k x k symmetric finite matrix, k even; the diagonal is ignored. Not necessarily a metric; may be negative.
    budget
        Where its time runs out, the vertices still unmatched are paired greedily.

    Notes
    -----
    Weights are rounded to 1/2^48 of the largest one, about what a float64 sum of them loses anyway, and matched
    exactly in integers; so there are no tolerances inside. Ties are broken by vertex number: same weights, same
    pairs.
    """
    size = len(weights)
    if size % 2:
        raise InputError(f"weights has {size} rows: an even number of vertices is needed to pair them all")
    if size <= SMALL:
        return Matching(by_subsets(weights), True)
    return by_blossoms(weights, budget or Budget())


def by_subsets(weights: FloatArray) -> IntArray:
    """Match by dynamic programming over sets: the first vertex left is paired with each other one."""
    costs = weights.tolist()
    best: dict[int, tuple[float, int]] = {0: (0.0, -1)}

    def solve(left: int) -> float:
        if left in best:
            return best[left][0]
        i = (left & -left).bit_length() - 1
        rest = left & ~(1 << i)
        found, mate, others = math.inf, -1, rest
        while others:
            j = (others & -others).bit_length() - 1
            others &= others - 1
            cost = costs[i][j] + solve(rest & ~(1 << j))
            if cost < found:
                found, mate = cost, j
        best[left] = found, mate
        return found

    left = (1 << len(costs)) - 1
    solve(left)
    pairs = []
    while left:
        i = (left & -left).bit_length() - 1
        j = best[left][1]
        pairs.append((i, j))
        left &= ~((1 << i) | (1 << j))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def by_blossoms(weights: FloatArray, budget: Budget) -> Matching:
    """Match by Edmonds' algorithm on all edges of the complete graph."""
    from learnroute.solvers import blossom

    size = len(weights)
    source, target = np.nonzero(~np.eye(size, dtype=bool))
    entries = weights[source, target]
    scale = _scale(entries)
    state = blossom.new_state(size, source, target, 2 * np.rint(entries * scale).astype(np.int64))
    blossom.greedy_start(state)
    first = 0
    while 0 <= first < size and not budget.exhausted:
        first = blossom.match_next(state, first, SEARCHES)
        budget.progress("matching", first / size)
    optimal = first == size
    duals, sets = _proof(state, 2 * scale)
    mate = blossom.unfold(state)
    if not optimal:
        _pair_greedily(mate, weights)
    i = np.flatnonzero(np.arange(size) < mate)
    return Matching(np.column_stack([i, mate[i]]), optimal, duals, sets)


def _scale(entries: FloatArray) -> float:
    """Return the power of two that brings the largest weight near the resolution; exact to multiply by."""
    largest = float(np.abs(entries).max())
    return 2.0 ** (RESOLUTION_BITS - math.frexp(largest)[1]) if largest > 0 else 1.0


def _proof(state: State, scale: float) -> tuple[FloatArray, tuple[tuple[IntArray, float], ...]]:
    """Read the dual solution off the blossoms: each vertex's own number, and the lifted sets."""
    from learnroute.solvers import blossom

    node = state.node
    own = node[blossom.DUAL, : state.scalars[blossom.SIZE]].copy()
    sets = []
    for b in np.unique(node[blossom.PARENT][node[blossom.PARENT] >= 0]):
        members = [int(node[blossom.HEAD, b])]
        while members[-1] != node[blossom.TAIL, b]:
            members.append(int(node[blossom.LINK, members[-1]]))
        own[members] -= node[blossom.LIFT, b]
        if node[blossom.LIFT, b]:
            sets.append((np.array(sorted(members), dtype=np.int64), float(node[blossom.LIFT, b] / scale)))
    return own / scale, tuple(sets)


def _pair_greedily(mate: IntArray, weights: FloatArray) -> None:
    """Pair the unmatched vertices, each with the nearest one left."""
    left = [int(v) for v in np.flatnonzero(mate < 0)]
    while left:
        v = left.pop(0)
        nearest = min(left, key=lambda x: (weights[v, x], x))
        left.remove(nearest)
        mate[v], mate[nearest] = nearest, v
