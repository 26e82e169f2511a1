"""Where to cut a cycle: rotations of an order, priced by where their scores then stand."""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.rounding import PRINTED
from learnroute.model.validation import FloatArray, IntArray

ROTATED = 100  # regions up to which all rotations of a cycle are priced with pair terms


def best_rotation(objective: Objective, order: IntArray) -> IntArray:
    """Where orders are cycles, return the rotation and direction in which scores count least.

    With pair terms and many regions, that is the one of typical ones, or the order itself.
    """
    if not objective.ends.cyclic:
        return order
    ways = [order, order[::-1]] if objective.symmetric else [order]
    pairs, size = objective.pairs, len(order)
    if pairs is not None and size <= ROTATED:
        turns = (np.arange(size)[:, None] + np.arange(size)) % size
        rotated = [way[turns[int(np.argmin(pairs.errors_of(way[turns])))]] for way in ways]
    else:
        rotated = [np.roll(way, -1 - int(np.argmin(score_parts(objective, way)))) for way in ways]
    return np.ascontiguousarray(min([order, *rotated], key=objective))


def best_cut(objective: Objective, order: IntArray) -> IntArray:
    """Join the two ends of a path, cut the cycle where that is best, and return the path that this gives."""
    legs = np.append(objective.legs(order), objective.between(order[-1], order[0]))
    return np.roll(order, -1 - int(np.argmin(score_parts(objective, order) - legs)))


def score_parts(objective: Objective, way: IntArray) -> FloatArray:
    """Return the score part of a cycle for each place where it may end."""
    scores = objective.scores[way]
    rate = geometric_rate(objective.weights)
    if objective.factors is None and rate is None:
        return np.correlate(np.tile(scores, 2), objective.weights, "valid")[1:]
    factors = np.full(len(way), rate) if objective.factors is None else objective.factors[way]
    sums, total = [], 0.0
    for factor, score in zip(np.tile(factors, 2).tolist(), np.tile(scores, 2).tolist(), strict=True):
        total = factor * total + score
        sums.append(total)
    parts = np.array(sums[len(way) :]) - float(np.prod(factors)) * np.array(sums[: len(way)])
    return parts if objective.factors is not None else float(objective.weights[-1]) * parts


def geometric_rate(weights: FloatArray) -> float | None:
    """Return r where each weight is r times the next one (0 where only the last counts), else None."""
    last = float(weights[-1])
    if last == 0:
        return None if weights.any() else 0.0
    rate = float(weights[-2]) / last
    ideal = last * _powers(rate, len(weights))[::-1]
    return rate if bool(np.all(np.abs(weights - ideal) <= PRINTED * last)) else None


def _powers(rate: float, count: int) -> FloatArray:
    with np.errstate(under="ignore"):
        found: FloatArray = rate ** np.arange(count, dtype=np.float64)
    return found
