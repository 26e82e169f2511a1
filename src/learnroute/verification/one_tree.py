"""Check the 1-tree bound: a spanning tree of the regions and `home`, the edge home-out, the cheapest edge to `out`."""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.certificates import BranchAndBound, OneTree
from learnroute.model.objective import Objective
from learnroute.model.rounding import margin
from learnroute.verification.relaxation import path_relaxation, score_parts
from learnroute.verification.simple import spanning_tree


def bound(objective: Objective, certificate: OneTree | BranchAndBound, ceiling: float) -> float:
    """Return the cost of the minimum 1-tree at the multipliers of a certificate, as far as `ceiling`."""
    multipliers = certificate.multipliers
    path, _ = path_relaxation(objective)
    size = path.size
    at, home = multipliers[:size], multipliers[size]
    costs = np.zeros((size + 1, size + 1))
    costs[:size, :size] = np.minimum(path.travel, path.travel.T)
    costs[:size, size] = costs[size, :size] = path.begin
    most = max(ceiling - path.constant, 0.0)  # no order below the ceiling pays more for anything
    costs = np.where(costs <= most, costs, np.inf)
    reduced = costs - multipliers[: size + 1, None] - multipliers[None, : size + 1]
    exits = [float(part) for part in np.array(score_parts(path)) + path.finish - at]
    total = math.fsum([spanning_tree(reduced), min(exits), -home, *(2 * multipliers[: size + 1]), path.constant])
    largest = min(path.travel.max(), most) + 4 * np.abs(multipliers).max()
    lost = margin(1, float(largest * (size + 2) + abs(min(exits)) + abs(path.constant)))
    return min(ceiling, float(total - lost))
