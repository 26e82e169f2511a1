"""Minimum-weight perfect matching of a complete graph, with its proof.

Edmonds' algorithm (`cpp/blossom.h`) runs on few light edges; every other edge is priced (`cpp/pricing.h`), and those of
negative reduced cost are added until there are none (Cook and Rohe 1999). A few vertices are matched by dynamic
programming.
"""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from learnroute._core import MinimumWeightMatching, Pricing
from learnroute.errors import InputError, check_type
from learnroute.model.distances import Points
from learnroute.model.labels import aligned_square
from learnroute.model.validation import LARGEST_VALUE, FloatArray, IntArray, as_matrix
from learnroute.solvers.contract import Budget
from learnroute.solvers.kd_tree import ground_of, plane
from learnroute.solvers.matching.weights import MatrixWeights, PairWeights, PlaceWeights
from learnroute.solvers.params import MatchingParams

DEFAULTS = MatchingParams()
RESOLUTION_BITS = 48  # weights are told apart to 2^-48 of the largest one


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


def minimum_matching(
    weights: ArrayLike | None = None,
    budget: Budget | None = None,
    *,
    points: ArrayLike | Points | None = None,
    extra: bool = False,
    params: MatchingParams = DEFAULTS,
) -> Matching:
    """Pair all vertices of a complete graph so that the weights of the pairs add up to as little as possible.

    Parameters
    ----------
    weights
        k x k symmetric finite matrix, k even; the diagonal is ignored. Not necessarily a metric; may be negative.
    budget
        Where its time runs out, the vertices still unmatched are paired greedily.
    points
        Instead of `weights`: one place a vertex, in up to three dimensions. Weights are distances, and memory grows
        linearly with the number of places.
    extra
        With `points`: one more vertex, numbered last, at distance 0 from all places.
    params
        What can be tuned; the pairs are as light whatever it is.

    Returns
    -------
    Matching
        The pairs, whether they are proved to be lightest, and the dual numbers that prove it.

    Raises
    ------
    InputError
        Where the number of vertices is odd, weights are not symmetric and finite, or both of `weights` and `points` are
        given.

    Notes
    -----
    Weights are rounded to 1/2^48 of the largest one, about what a float64 sum of them loses anyway, and matched
    exactly in integers; so there are no tolerances inside. Ties are broken by vertex number: same weights, same
    pairs.
    """
    check_type("params", params, MatchingParams)
    check_type("extra", extra, bool)
    if budget is not None:
        check_type("budget", budget, Budget)
    if (weights is None) == (points is None):
        raise InputError(f"weights and points: {'neither' if points is None else 'both'} given; give one of the two")
    paired: PairWeights
    if points is None:
        weights = _weights(weights)
        size, given = len(weights), "weights"
        if 0 < size <= params.enumerated and size % 2 == 0:
            return Matching(by_subsets(weights), True)
        paired = MatrixWeights(weights)
    else:
        places = points.places if isinstance(points, Points) else _places(points)
        size, given = len(places) + extra, "points"
        if size <= params.enumerated and size % 2 == 0:
            return Matching(by_subsets(_distances(points, places, extra)), True)
        paired = PlaceWeights(ground_of(points) if isinstance(points, Points) else plane(places), extra)
    if size % 2:
        rows = size - extra if given == "points" else size
        raise InputError(f"{given} has {rows} rows: an even number of vertices is needed to pair them all")
    if not size:
        return Matching(np.empty((0, 2), dtype=np.int64), True)
    return by_blossoms(paired, budget or Budget(), params)


def _weights(weights: ArrayLike | None) -> FloatArray:
    """Check weights that were given as a matrix; its columns are brought into the order of its rows."""
    table = aligned_square("weights", weights)
    size = len(table) if isinstance(table, Sized) else None
    return as_matrix("weights", table, size, size, least=-LARGEST_VALUE, meaning="weights")


def _places(points: ArrayLike) -> FloatArray:
    """Check places that were given as an array."""
    places = as_matrix("points", points, None, None, least=-LARGEST_VALUE, meaning="coordinates")
    if len(places) and not 1 <= places.shape[1] <= 3:
        raise InputError(f"points has {places.shape[1]} columns: 1, 2 or 3 are needed")
    return places


def _distances(points: ArrayLike | Points, places: FloatArray, extra: bool) -> FloatArray:
    """Return all distances of a few places, and of the extra vertex."""
    count = len(places)
    weights = np.zeros((count + extra, count + extra))
    if isinstance(points, Points):
        weights[:count, :count] = points.matrix()
    else:
        largest = max(float(np.abs(places).max(initial=0.0)), 1e-300)
        apart = (places[:, None] - places[None]) / largest
        weights[:count, :count] = largest * np.sqrt((apart**2).sum(axis=2))
    return weights


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


def by_blossoms(weights: PairWeights, budget: Budget, params: MatchingParams = DEFAULTS) -> Matching:
    """Match by Edmonds' algorithm on few light edges, adding edges of negative reduced cost until none is left.

    When no edge of the complete graph has one, the matching is optimal there too.
    """
    size = weights.size
    scale = _scale(weights.largest())
    edges = _first_edges(weights, params)
    rounds = 0
    while True:
        source, target = np.divmod(edges, size)
        rounded = 2 * np.rint(weights.of(source, target) * scale).astype(np.int64)
        matching = MinimumWeightMatching(size, source, target, rounded)
        first = 0
        while 0 <= first < size and not budget.exhausted:
            first = matching.match_next(first, params.searches_a_call)
            budget.progress("matching", 1 - (1 - first / size) / 2**rounds)
        complete = first == size
        missing = _negative_edges(weights, matching, scale, budget, params) if complete else None
        if missing is None or not len(missing):
            break
        before, edges = len(edges), np.union1d(edges, missing)
        rounds += 1
        if len(edges) == before:  # nothing new: rounding, so that nothing is proved
            missing = None
            break
    duals, lifted = matching.dual_solution()
    sets = tuple((members, lift / (2 * scale)) for members, lift in lifted)
    mate = matching.unfold()
    if not complete:
        _pair_greedily(mate, weights)
    i = np.flatnonzero(np.arange(size) < mate)
    return Matching(np.column_stack([i, mate[i]]), missing is not None, duals / (2 * scale), sets)


def _first_edges(weights: PairWeights, params: MatchingParams) -> IntArray:
    """Return candidates in both directions, as sorted numbers i·size + j; a perfect matching is among them."""
    size = weights.size
    if size <= params.dense:
        everyone = np.arange(size)
        keys = (everyone[:, None] * size + everyone[None, :])[~np.eye(size, dtype=bool)]
        return keys.astype(np.int64)
    pairs = np.vstack([weights.light_pairs(params.neighbours), np.arange(size).reshape(-1, 2)])
    return np.unique(np.concatenate([pairs[:, 0] * size + pairs[:, 1], pairs[:, 1] * size + pairs[:, 0]]))


def _negative_edges(
    weights: PairWeights, matching: MinimumWeightMatching, scale: float, budget: Budget, params: MatchingParams
) -> IntArray | None:
    """Return edges of negative reduced cost, in both directions; None if the time runs out on the way."""
    size = weights.size
    if size <= params.dense:
        return np.empty(0, dtype=np.int64)
    pricing = Pricing(matching)
    found = []
    rows = max(1, params.pairs_a_call // size)
    for first in range(0, size, rows):
        if budget.exhausted:
            return None
        found.append(weights.negative_pairs(pricing, scale, first, first + rows, params.priced_in))
    pairs = np.vstack(found)
    return np.concatenate([pairs[:, 0] * size + pairs[:, 1], pairs[:, 1] * size + pairs[:, 0]])


def _scale(largest: float) -> float:
    """Return the power of two that brings the largest weight near the resolution; exact to multiply by."""
    return math.ldexp(1.0, min(RESOLUTION_BITS - math.frexp(largest)[1], 1022)) if largest > 0 else 1.0


def _pair_greedily(mate: IntArray, weights: PairWeights) -> None:
    """Pair the unmatched vertices, each with the nearest one left."""
    left = np.flatnonzero(mate < 0)
    while len(left):
        v, left = left[0], left[1:]
        nearest = int(np.argmin(weights.of(np.full(len(left), v), left)))
        mate[v], mate[left[nearest]] = left[nearest], v
        left = np.delete(left, nearest)
