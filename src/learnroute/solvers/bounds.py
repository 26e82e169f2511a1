"""Lower bounds that need no search: spanning trees and cheapest arcs for travel, rearrangement for scores.

Better bounds are in `exact`: `exact.proof` climbs from here to 1-trees, branch and cut, and ng-routes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnroute.model.ends import Ends
from learnroute.model.law import products_after
from learnroute.model.linear import Factored, Linear, Weighted
from learnroute.model.rounding import margin
from learnroute.model.travel import Places
from learnroute.model.validation import FloatArray, IntArray, freeze
from learnroute.solvers.core_travel import place_travel
from learnroute.solvers.spanning_tree import minimum_spanning_tree


class PathRelaxation(NamedTuple):
    """An objective over paths whose minimum is a lower bound on another objective; ends include the return trip.

    `tight`: both have the same minimum and use the same weights, so an order that is optimal for this objective is
    optimal for the other one too.
    """

    objective: Linear
    tight: bool


def path_relaxation(objective: Linear) -> PathRelaxation:
    """Return the objective itself or, if its orders are cycles, a relaxation over paths.

    If only the last score counts, a cycle can be cut after the region with the lowest score. Otherwise, travel and
    scores are bounded separately: by the shortest tour, cut anywhere, and by the lowest score part.
    """
    if not objective.ends.cyclic:
        return PathRelaxation(objective, isinstance(objective, Weighted))
    if objective.only_last_counts:
        return PathRelaxation(objective.ending_at(objective.best_last), True)
    nothing = np.zeros(objective.size)
    scored = score_bound(objective)
    constant = objective.constant + scored - margin(objective.size, scored)
    ends = Ends(last=0, closed=True)
    return PathRelaxation(Weighted(objective.travel, nothing, nothing, constant, ends), False)


def simple_bound(objective: Linear) -> float:
    """Return a cheap lower bound: the bound on travel plus the lowest score part of any order."""
    path = path_relaxation(objective).objective
    parts = [path_bound(path), score_bound(path), path.constant]
    return math.fsum(parts) - margin(path.size + 2, math.fsum(map(abs, parts)))


def path_bound(objective: Linear) -> float:
    """Return a lower bound on the travel of any order, its ends included, symmetric travel or not.

    The larger of two bounds: the minimum spanning tree, since a path is a spanning tree, and the sum of the cheapest
    arcs into each region but the first or out of each region but the last.
    """
    travel, begin, finish = objective.travel.matrix, objective.begin, objective.finish
    either = travel if objective.travel.symmetric else np.minimum(travel, travel.T)
    tree = minimum_spanning_tree(either)
    spanned = math.fsum([*either[tree[:, 0], tree[:, 1]], begin.min(), finish.min()])
    others = travel + np.diag(np.full(objective.size, np.inf))
    entered, left = others.min(axis=0), others.min(axis=1)
    return max(
        spanned, _sum_but_one(entered, begin) + float(finish.min()), _sum_but_one(left, finish) + float(begin.min())
    )


def _sum_but_one(cheapest: FloatArray, instead: FloatArray) -> float:
    """Return the smallest sum in which one number is replaced, less an allowance for cancellation."""
    change = float((instead - cheapest).min())
    return math.fsum([*cheapest, change]) - margin(2, abs(change))


def sparse_bound(objective: Linear, travel: Places) -> float:
    """Return a lower bound for many places in linear memory: least travel plus the rearranged scores.

    The shortest edges are found among rounded coordinates, but their lengths are exact. The bound is reduced by the
    error that this rounding can cause (`Places.embedding_error`).
    """
    tree = place_travel(travel).tree()
    edges = tree.spanning_edges()
    ways = travel.between(edges[:, 0], edges[:, 1])
    spanned = math.fsum(ways) - math.fsum(travel.embedding_error(ways))
    near = tree.nearest(min(2, travel.size - 1))
    parts = [
        max(spanned, _half_nearest_sum(travel, near, objective.ends.closed)),
        math.fsum(np.sort(objective.weights)[::-1] * np.sort(objective.scores)),
        objective.constant,
    ]
    return math.fsum(parts) - margin(objective.size, math.fsum(map(abs, parts)))


def _half_nearest_sum(travel: Places, near: IntArray, closed: bool) -> float:
    """Return half of the two nearest distances summed over all regions; the two end regions have one edge each."""
    everyone = np.arange(travel.size)
    edges: list[FloatArray] = [travel.between(everyone, near[:, k]) for k in range(near.shape[1])]
    if len(edges) < 2:
        return 0.0
    missed = sum(math.fsum(travel.embedding_error(edge)) for edge in edges)
    spare = 0.0 if closed else math.fsum(np.sort(edges[1])[-2:])
    return 0.5 * (math.fsum(edges[0]) + math.fsum(edges[1]) - spare) - missed


def score_bound(objective: Linear) -> float:
    """Return the lowest score part of any order that satisfies the constraints on its ends."""
    return float(np.where(np.isfinite(objective.finish), least_score_parts(objective), np.inf).min())


def least_score_parts(objective: Linear) -> FloatArray:
    """Return, for each region v, the lowest score part of any order that ends at v and starts at a permitted region.

    By the rearrangement inequality, the other scores count least with the largest weights on the smallest scores;
    with factors, in order of decreasing score / (1 - factor).
    """
    if objective.size == 1:
        return objective.weights * objective.scores
    start = objective.ends.first
    inner = np.flatnonzero(np.arange(objective.size) != (-1 if start is None else start))
    ranked = inner[np.argsort(-objective.ranks[inner], kind="stable")]
    scores = objective.scores[ranked]
    parts = np.full(objective.size, np.inf)
    if not isinstance(objective, Factored):
        weights = objective.weights if start is None else objective.weights[1:]
        head = 0.0 if start is None else float(objective.weights[0] * objective.scores[start])
        # the region of rank k is last: regions of lower rank keep their positions, the others move up by one
        before = np.concatenate([[0.0], np.cumsum(weights[:-1] * scores[:-1])])
        behind = np.concatenate([np.cumsum((weights[:-1] * scores[1:])[::-1])[::-1], [0.0]])
        parts[ranked] = head + before + behind + weights[-1] * scores
        return freeze(parts)
    factors = objective.factors[ranked]
    head = 0.0 if start is None else float(np.prod(factors) * objective.scores[start])
    with np.errstate(under="ignore"):
        after = products_after(factors)
        behind = np.concatenate([np.cumsum((after * scores)[::-1])[::-1][1:], [0.0]])
        before = np.zeros(len(ranked))
        for k in range(1, len(ranked)):
            before[k] = factors[k - 1] * before[k - 1] + scores[k - 1]
        # `before`: score part of the regions of lower rank
        parts[ranked] = head + factors * (before * after + behind) + scores
    return freeze(parts)
