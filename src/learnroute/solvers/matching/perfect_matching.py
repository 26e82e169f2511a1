"""Minimum-weight perfect matching of a complete graph, with its proof.

Edmonds' algorithm (`cpp/blossom.h`) runs on few light edges; every other edge is priced (`cpp/pricing.h`), and those of
negative reduced cost are added until there are none (Cook and Rohe 1999).
"""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from learnroute._core import MinimumWeightMatching, Pricing
from learnroute.errors import InputError, check_type
from learnroute.model.labelled_tables import align_square
from learnroute.model.validation import FloatArray, IntArray, as_matrix
from learnroute.solvers.contract import Budget
from learnroute.solvers.core_travel import plane
from learnroute.solvers.matching.weights import MatrixWeights, PairWeights, PlaceWeights
from learnroute.solvers.params import MatchingParams, check_params

DEFAULTS = MatchingParams()
RESOLUTION_BITS = 48  # weights are rounded to 2^-48 of the largest one


@dataclass(frozen=True, eq=False)
class Matching:
    """A perfect matching and its optimality proof.

    Attributes
    ----------
    pairs
        One row (i, j), i < j, for each pair, sorted.
    optimal
        False if the time ran out; the remaining vertices were paired greedily.
    duals
        The dual value of each vertex.
    sets
        The odd sets with their dual values >= 0. The weight of every edge is at least the sum of the dual values of
        its two ends and of all sets that it leaves. So the sum of all dual values is a lower bound on any perfect
        matching, and the pairs attain it.
    """

    pairs: IntArray
    optimal: bool
    duals: FloatArray
    sets: tuple[tuple[IntArray, float], ...] = ()

    @property
    def bound(self) -> float | None:
        """Return the lower bound that the dual values prove, up to rounding."""
        return math.fsum([*self.duals, *(number for _, number in self.sets)]) if self.optimal else None


def minimum_matching(
    weights: ArrayLike | None = None,
    budget: Budget | None = None,
    *,
    points: ArrayLike | None = None,
    extra: bool = False,
    params: MatchingParams = DEFAULTS,
) -> Matching:
    """Return a minimum-weight perfect matching of a complete graph.

    Parameters
    ----------
    weights
        k x k symmetric finite matrix, k even; the diagonal is ignored. Need not be a metric; may be negative.
    budget
        If its time runs out, unmatched vertices are paired greedily.
    points
        Instead of `weights`: one place per vertex, in up to three dimensions. Weights are distances, and memory grows
        linearly with the number of places.
    extra
        With `points`: one more vertex, numbered last, at distance 0 from all places.
    params
        Tuning parameters; they do not change the weight of the matching.

    Returns
    -------
    Matching
        The pairs, whether they are proved optimal, and the dual values.

    Raises
    ------
    InputError
        If the number of vertices is odd, weights are not symmetric and finite, or both `weights` and `points` are
        given.

    Notes
    -----
    Weights are rounded to 2^-48 of the largest one, about the rounding error of a float64 sum, and matched exactly in
    integers, without tolerances. Ties are broken by vertex number, so the same weights give the same pairs.
    """
    check_type("params", params, MatchingParams)
    check_params(params)
    check_type("extra", extra, bool)
    if budget is not None:
        check_type("budget", budget, Budget)
    if (weights is None) == (points is None):
        raise InputError(f"weights and points: {'neither' if points is None else 'both'} given; give one of the two")
    paired: PairWeights
    if points is None:
        weights = _weights(weights)
        size, given = len(weights), "weights"
        paired = MatrixWeights(weights)
    else:
        places = _places(points)
        size, given = len(places) + extra, "points"
        paired = PlaceWeights(plane(places), extra)
    if size % 2:
        rows = size - extra if given == "points" else size
        raise InputError(f"{given} has {rows} rows: an even number of vertices is needed to pair them all")
    return match_by_blossoms(paired, budget or Budget(), params)


def _weights(weights: ArrayLike | None) -> FloatArray:
    """Validate a weight matrix; labelled columns are put in the order of its rows."""
    table = align_square("weights", weights)
    size = len(table) if isinstance(table, Sized) else None
    return as_matrix("weights", table, size, size, meaning="weights")


def _places(points: ArrayLike) -> FloatArray:
    """Validate an array of places."""
    places = as_matrix("points", points, None, None, meaning="coordinates")
    if places.shape != (0, 0) and not 1 <= places.shape[1] <= 3:
        raise InputError(f"points has {places.shape[1]} columns: 1, 2 or 3 are needed")
    return places


def match_by_blossoms(weights: PairWeights, budget: Budget, params: MatchingParams = DEFAULTS) -> Matching:
    """Match by Edmonds' algorithm on few light edges, adding edges of negative reduced cost until there are none.

    If no edge of the complete graph has negative reduced cost, the matching is optimal for the complete graph.
    """
    size = weights.size
    if not size:
        return Matching(np.empty((0, 2), dtype=np.int64), True, np.empty(0))
    scale = _scale(weights.largest())
    edges = _first_edges(weights, params)
    rounds = 0
    while True:
        source, target = np.divmod(edges, size)
        rounded = 2 * np.rint(weights.of(source, target) * scale).astype(np.int64)
        matching = MinimumWeightMatching(size, source, target, rounded)
        first = matching.match_next(0, params.searches_per_call)
        while 0 <= first < size and not budget.exhausted:
            budget.progress("matching", 1 - (1 - first / size) / 2**rounds)
            first = matching.match_next(first, params.searches_per_call)
        complete = first == size
        missing = _negative_edges(weights, matching, scale, budget, params) if complete else None
        if missing is None or not len(missing):
            break
        before, edges = len(edges), np.union1d(edges, missing)
        rounds += 1
        if len(edges) == before:  # no new edges: rounding prevents a proof
            missing = None
            break
    duals, odd_sets = matching.dual_solution()
    sets = tuple((members, dual / (2 * scale)) for members, dual in odd_sets)
    mate = matching.unfold()
    if not complete:
        _pair_greedily(mate, weights)
    i = np.flatnonzero(np.arange(size) < mate)
    return Matching(np.column_stack([i, mate[i]]), missing is not None, duals / (2 * scale), sets)


def _first_edges(weights: PairWeights, params: MatchingParams) -> IntArray:
    """Return candidate edges in both directions, sorted, as i·size + j; they contain a perfect matching."""
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
    """Return edges of negative reduced cost in both directions; None if the time runs out."""
    size = weights.size
    if size <= params.dense:
        return np.empty(0, dtype=np.int64)
    pricing = Pricing(matching)
    found = []
    rows = max(1, params.pairs_per_call // size)
    for first in range(0, size, rows):
        if budget.exhausted:
            return None
        found.append(weights.negative_pairs(pricing, scale, first, first + rows, params.priced_in))
    pairs = np.vstack(found)
    return np.concatenate([pairs[:, 0] * size + pairs[:, 1], pairs[:, 1] * size + pairs[:, 0]])


def _scale(largest: float) -> float:
    """Return the power of two that scales the largest weight to the resolution; multiplying by it is exact."""
    return math.ldexp(1.0, RESOLUTION_BITS - math.frexp(largest)[1]) if largest > 0 else 1.0


def _pair_greedily(mate: IntArray, weights: PairWeights) -> None:
    """Pair each unmatched vertex with the nearest unmatched one."""
    left = np.flatnonzero(mate < 0)
    while len(left):
        v, left = left[0], left[1:]
        nearest = int(np.argmin(weights.of(np.full(len(left), v), left)))
        mate[v], mate[left[nearest]] = left[nearest], v
        left = np.delete(left, nearest)
