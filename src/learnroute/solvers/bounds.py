"""Lower bounds on the value of every order."""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.objective import Objective
from learnroute.solvers.spanning import minimum_spanning_tree

ROUNDING = 1e-13  # relative; far above what one correctly rounded sum of float64 products can be off


def simple_bound(objective: Objective) -> float:
    """Cheap and always valid: no order travels less than `path_bound`, none has a lower score part than the best."""
    bound = math.fsum([path_bound(objective), score_bound(objective), objective.constant])
    return bound * (1 - ROUNDING)


def path_bound(objective: Objective) -> float:
    """Return a lower bound on the travel of any order, symmetric travel or not.

    A path is a spanning tree; and all regions but one are entered, and all but one are left, at their cheapest.
    """
    travel = objective.travel
    tree = minimum_spanning_tree(travel if objective.symmetric else np.minimum(travel, travel.T))
    spanned = math.fsum(np.minimum(travel, travel.T)[tree[:, 0], tree[:, 1]])
    others = travel + np.diag(np.full(objective.size, np.inf))
    entered, left = np.sort(others.min(axis=0)), np.sort(others.min(axis=1))
    return max(spanned, math.fsum(entered[:-1]), math.fsum(left[:-1]))


def score_bound(objective: Objective) -> float:
    """Return the least score part of any order: the largest weights on the smallest scores (rearrangement)."""
    return math.fsum(np.sort(objective.weights)[::-1] * np.sort(objective.scores))
