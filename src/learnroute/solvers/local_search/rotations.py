"""Where to cut a cycle: rotations of an order and their score parts."""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Factored, Objective, Paired
from learnroute.model.validation import FloatArray, IntArray

ROTATED = 100  # regions up to which all rotations of a cycle are priced with pair terms


def best_rotation(objective: Objective, order: IntArray) -> IntArray:
    """Return the rotation and direction of a cycle with the lowest score part.

    With pair terms and many regions, the best one by typical pair terms, or the order itself.
    """
    if not objective.ends.cyclic:
        return order
    ways = [order, order[::-1]] if objective.travel.symmetric else [order]
    size = len(order)
    if isinstance(objective, Paired) and size <= ROTATED:
        turns = (np.arange(size)[:, None] + np.arange(size)) % size
        rotated = [way[turns[int(np.argmin(objective.pairs.errors_of(way[turns])))]] for way in ways]
    else:
        rotated = [np.roll(way, -1 - int(np.argmin(score_parts(objective, way)))) for way in ways]
    return np.ascontiguousarray(min([order, *rotated], key=objective))


def best_cut(objective: Objective, order: IntArray) -> IntArray:
    """Join the ends of a path to a cycle and return the best path that cutting the cycle gives."""
    legs = objective.travel.legs(order, closed=True)
    return np.roll(order, -1 - int(np.argmin(score_parts(objective, order) - legs)))


def score_parts(objective: Objective, way: IntArray) -> FloatArray:
    """Return the score part of a cycle for each possible last region."""
    linear = objective.typical
    scores, rate = linear.scores[way], linear.rate
    if isinstance(linear, Factored):
        factors, heaviest = linear.factors[way], 1.0
    elif rate is not None:
        factors, heaviest = np.full(len(way), rate), float(linear.weights[-1])
    else:
        return np.correlate(np.tile(scores, 2), linear.weights, "valid")[1:]
    sums, total = [], 0.0
    for factor, score in zip(np.tile(factors, 2).tolist(), np.tile(scores, 2).tolist(), strict=True):
        total = factor * total + score
        sums.append(total)
    parts: FloatArray = np.array(sums[len(way) :]) - float(np.prod(factors)) * np.array(sums[: len(way)])
    return heaviest * parts
