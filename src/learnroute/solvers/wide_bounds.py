"""A lower bound for many places, in linear memory."""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray

MOST_SQUARED = 3000  # places up to which other bounds make a T x T matrix of them
ROUNDING = 1e-11  # relative: far above what the distances and their sum lose


def wide_bound(objective: Objective) -> float:
    """Return a lower bound on the value of any order: least travel, plus scores rearranged."""
    assert objective.points is not None
    from learnroute.solvers.kd_tree import ground_of, nearest_places, spanning_edges, tree_of

    ground = ground_of(objective.points)
    tree = tree_of(ground)
    edges = spanning_edges(ground, tree)
    travel = objective.between(edges[:, 0], edges[:, 1])
    near = nearest_places(ground, tree, min(2, objective.size - 1))
    bound = max(math.fsum(travel), _half_of_the_nearest(objective, near))
    scores = math.fsum(np.sort(objective.weights)[::-1] * np.sort(objective.scores))
    return math.fsum([bound * (1 - ROUNDING), scores * (1 - ROUNDING), objective.constant])


def _half_of_the_nearest(objective: Objective, near: IntArray) -> float:
    """Every region has two legs, each as long as one to its nearest others at least; the two at the ends have one."""
    everyone = np.arange(objective.size)
    legs: list[FloatArray] = [objective.between(everyone, near[:, k]) for k in range(near.shape[1])]
    if len(legs) < 2:
        return 0.0
    spare = 0.0 if objective.closed else math.fsum(np.sort(legs[1])[-2:])
    return 0.5 * (math.fsum(legs[0]) + math.fsum(legs[1]) - spare)
