"""Where orders begin and end, and what the least score part of an order with given ends is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnroute.model.objective import Objective, products_after
from learnroute.model.validation import FloatArray, IntArray, frozen

ROUNDING = 1e-12  # relative; far above what a sum of a few thousand products loses in float64


class Anchored(NamedTuple):
    """An objective whose `begin` and `finish` hold the way back, and whose least value bounds another's from below.

    `tight` says that the two have the same least value and that weights are what scores count: then an order that is
    optimal here is optimal there.
    """

    objective: Objective
    tight: bool


def anchored(objective: Objective) -> Anchored:
    """Return an objective with ends to hold on to: the same one, unless it is closed and both its ends are free.

    Where only the last score counts, a closed route may be turned until it ends at the least score. Else travel
    and scores are bounded apart: the shortest tour, through any region, and the least score part.
    """
    if not objective.closed or objective.first is not None or objective.last is not None:
        return Anchored(objective, objective.factors is None)
    if objective.only_last_counts:
        return Anchored(objective.ending_at(objective.best_last), True)
    tour = objective.travel_alone()
    constant = objective.constant + score_bound(objective) * (1 - ROUNDING)
    ways = tour.travel if tour.points is None else tour.points
    return Anchored(Objective(ways, tour.scores, tour.weights, constant, None, 0, True), False)


def within_ends(objective: Objective, order: IntArray) -> IntArray:
    """Return an order that begins and ends where it must: the regions in question are moved, the others keep theirs.

    A closed order with free ends is turned to end at the least score, where no other counts.
    """
    if objective.closed and objective.first is None and objective.last is None and objective.only_last_counts:
        place = int(np.flatnonzero(order == objective.best_last)[0])
        return np.roll(order, len(order) - 1 - place)
    if objective.allows(order):
        return order
    inner = [v for v in order.tolist() if v not in (objective.first, objective.last)]
    ends = ([] if objective.first is None else [objective.first], [] if objective.last is None else [objective.last])
    return np.array([*ends[0], *inner, *ends[1]], dtype=np.int64)


def score_bound(objective: Objective) -> float:
    """Return the least score part of any order with the right ends."""
    return float(np.where(np.isfinite(objective.finish), least_score_parts(objective), np.inf).min())


def least_score_parts(objective: Objective) -> FloatArray:
    """For each region v, the least score part of any order that ends at v and begins where it must.

    The other scores are at their least when rearranged: the largest weights on the smallest scores; with
    factors, by falling score / (1 - factor).
    """
    if objective.size == 1:
        return objective.weights * objective.scores
    start = objective.first
    inner = np.flatnonzero(np.arange(objective.size) != (-1 if start is None else start))
    ranked = inner[np.argsort(-objective.ranks[inner], kind="stable")]
    scores = objective.scores[ranked]
    parts = np.full(objective.size, np.inf)
    if objective.factors is None:
        weights = objective.weights if start is None else objective.weights[1:]
        head = 0.0 if start is None else float(objective.weights[0] * objective.scores[start])
        # the region of rank k at the end: those before it keep their place, those behind it move up by one
        before = np.concatenate([[0.0], np.cumsum(weights[:-1] * scores[:-1])])
        behind = np.concatenate([np.cumsum((weights[:-1] * scores[1:])[::-1])[::-1], [0.0]])
        parts[ranked] = head + before + behind + weights[-1] * scores
        return frozen(parts)
    factors = objective.factors[ranked]
    head = 0.0 if start is None else float(np.prod(factors) * objective.scores[start])
    with np.errstate(under="ignore"):
        after = products_after(factors)
        behind = np.concatenate([np.cumsum((after * scores)[::-1])[::-1][1:], [0.0]])
        before = np.zeros(len(ranked))
        for k in range(1, len(ranked)):
            before[k] = factors[k - 1] * before[k - 1] + scores[k - 1]
        # `before`: what the regions of lower rank count beside each other
        parts[ranked] = head + factors * (before * after + behind) + scores
    return frozen(parts)
