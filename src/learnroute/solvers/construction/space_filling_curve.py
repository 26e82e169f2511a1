"""Space-filling curves: a tour of many places in O(T log T) (Bartholdi and Platzman 1982), along Hilbert's (1891)."""

from __future__ import annotations

import numpy as np

from learnroute.model.travel import Places
from learnroute.model.validation import IntArray

LEVELS = 20  # of the curve: places are told apart to a millionth of the side of the square around them


def hilbert_order(travel: Places) -> IntArray:
    """Order places along Hilbert's curve, which leaves no part of a square before it has visited all of it."""
    low, high = travel.places.min(axis=0), travel.places.max(axis=0)
    side = float((high - low).max())
    with np.errstate(invalid="ignore"):
        cells = (travel.places - low) / side if side > 0 else np.zeros_like(travel.places)
    whole = (1 << LEVELS) - 1
    x, y = np.minimum(cells * (whole + 1), whole).astype(np.int64).T
    where = np.zeros(travel.size, dtype=np.int64)
    for level in range(LEVELS - 1, -1, -1):
        right, up = (x >> level) & 1, (y >> level) & 1
        where = 4 * where + ((3 * right) ^ up)
        turned = np.where(right == 1, whole - x, x), np.where(right == 1, whole - y, y)
        x, y = np.where(up == 0, turned[1], x), np.where(up == 0, turned[0], y)
    return np.argsort(where, kind="stable")
