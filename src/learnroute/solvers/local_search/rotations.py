"""Where to cut a cycle: rotations of an order and their score parts."""

from __future__ import annotations

import numpy as np

from learnroute.model.linear import Factored, Linear
from learnroute.model.validation import FloatArray, IntArray


def best_rotation(objective: Linear, order: IntArray) -> IntArray:
    """Return the rotation and direction of a cycle with the lowest score part."""
    if not objective.ends.cyclic:
        return order
    ways = [order, order[::-1]] if objective.travel.symmetric else [order]
    rotated = [np.roll(way, -1 - int(np.argmin(score_parts(objective, way)))) for way in ways]
    return np.ascontiguousarray(min([order, *rotated], key=objective))


def best_cut(objective: Linear, order: IntArray) -> IntArray:
    """Join the ends of a path to a cycle and return the best path that cutting the cycle gives."""
    legs = objective.travel.legs(order, closed=True)
    return np.roll(order, -1 - int(np.argmin(score_parts(objective, order) - legs)))


def score_parts(objective: Linear, way: IntArray) -> FloatArray:
    """Return the score part of a cycle for each possible last region."""
    scores, rate = objective.scores[way], objective.rate
    if isinstance(objective, Factored):
        factors, heaviest = objective.factors[way], 1.0
    elif rate is not None:
        factors, heaviest = np.full(len(way), rate), float(objective.weights[-1])
    else:
        return np.correlate(np.tile(scores, 2), objective.weights, "valid")[1:]
    sums, total = [], 0.0
    for factor, score in zip(np.tile(factors, 2).tolist(), np.tile(scores, 2).tolist(), strict=True):
        total = factor * total + score
        sums.append(total)
    parts: FloatArray = np.array(sums[len(way) :]) - float(np.prod(factors)) * np.array(sums[: len(way)])
    return heaviest * parts
