"""Orders to start a search from."""

from __future__ import annotations

import numpy as np

from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray

LEVELS = 20  # of the curve: places are told apart to a millionth of the side of the square around them


def along_a_curve(points: Points) -> IntArray:
    """Order places along Hilbert's curve, which visits a square without leaving a part of it before it is done."""
    low, high = points.places.min(axis=0), points.places.max(axis=0)
    side = float((high - low).max())
    with np.errstate(invalid="ignore"):
        cells = (points.places - low) / side if side > 0 else np.zeros_like(points.places)
    whole = (1 << LEVELS) - 1
    x, y = np.minimum(cells * (whole + 1), whole).astype(np.int64).T
    where = np.zeros(len(points), dtype=np.int64)
    for level in range(LEVELS - 1, -1, -1):
        right, up = (x >> level) & 1, (y >> level) & 1
        where = 4 * where + ((3 * right) ^ up)
        turned = np.where(right == 1, whole - x, x), np.where(right == 1, whole - y, y)
        x, y = np.where(up == 0, turned[1], x), np.where(up == 0, turned[0], y)
    return np.argsort(where, kind="stable")


def greedy(travel: FloatArray, start: int) -> IntArray:
    """Go to the nearest region left."""
    size = len(travel)
    left = np.ones(size, dtype=bool)
    order = np.empty(size, dtype=np.int64)
    order[0] = start
    for k in range(1, size):
        left[order[k - 1]] = False
        order[k] = np.argmin(np.where(left, travel[order[k - 1]], np.inf))
    return order


def arranged(objective: Objective, order: IntArray) -> IntArray:
    """Return an order that begins and ends where it must, the others as they were."""
    if objective.allows(order):
        return order
    ends = [end for end in (objective.first, objective.last) if end is not None]
    parts = [order[~np.isin(order, ends)]]
    if objective.first is not None:
        parts.insert(0, np.array([objective.first]))
    if objective.last is not None:
        parts.append(np.array([objective.last]))
    return np.concatenate(parts).astype(np.int64)
