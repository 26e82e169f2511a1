"""Check the simple bound: a path is a spanning tree, and enters all regions but one; scores are rearranged."""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.certificates import Simple
from learnroute.model.objective import Objective
from learnroute.model.rounding import UNIT
from learnroute.model.validation import FloatArray
from learnroute.verification.relaxation import path_relaxation, score_parts


def bound(objective: Objective, certificate: Simple, ceiling: float) -> float:
    """Return the simple bound of a problem, rounding taken off."""
    path, _ = path_relaxation(objective)
    begin, finish = path.begin, path.finish
    either = np.minimum(path.travel, path.travel.T)
    others = path.travel + np.diag(np.full(path.size, np.inf))
    into, out = others.min(axis=0), others.min(axis=1)
    travel = max(
        spanning_tree(either) + begin.min() + finish.min(),
        _all_but_one(into, begin) + finish.min(),
        _all_but_one(out, finish) + begin.min(),
    )
    parts = [float(travel), min(score_parts(path)), path.constant]
    return math.fsum(parts) - 4 * UNIT * math.fsum(map(abs, parts))


def _all_but_one(cheapest: FloatArray, instead: FloatArray) -> float:
    """Return the least sum of all numbers but one, which is replaced; what rounding does to the change is taken off."""
    change = float((instead - cheapest).min())
    return math.fsum([*cheapest, change]) - UNIT * abs(change)


def spanning_tree(costs: FloatArray) -> float:
    """Return the cost of a minimum spanning tree."""
    near = costs[0].copy()
    outside = np.ones(len(costs), dtype=bool)
    outside[0] = False
    legs = []
    while outside.any():
        v = int(np.argmin(np.where(outside, near, np.inf)))
        legs.append(near[v])
        outside[v] = False
        near = np.minimum(near, costs[v])
    return math.fsum(legs)
