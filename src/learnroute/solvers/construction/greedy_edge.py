"""Greedy edges (Bentley 1992): join the two nearest ends of paths, again and again, until one path is left."""

from __future__ import annotations

import numpy as np

from learnroute._core import GreedyPaths, nearest_among
from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import IntArray
from learnroute.solvers.ground import ground_of

FEW = 6  # nearest ends of other paths that each end of a path may be joined to in one round


def greedy_edge_path(objective: Objective) -> IntArray:
    """Return a path through all regions; travel must be symmetric."""
    paths, left = GreedyPaths(objective.size), objective.size
    while left > 1:
        ends = paths.ends()
        lists = ends[_nearest(objective, ends)]
        one = np.repeat(ends, lists.shape[1])
        two = lists.ravel()
        ways = objective.between(one, two)
        by_length = np.lexsort((two, one, ways))
        left -= paths.join(one[by_length], two[by_length])
    return paths.path()


def _nearest(objective: Objective, ends: IntArray) -> IntArray:
    """Return for each end the nearest other ones, as places in the row of ends."""
    few = min(FEW, len(ends) - 1)
    points = objective.points
    if points is None:
        return nearest_among(objective.travel, ends, few)
    return ground_of(Points(points.places[ends], points.geographic, points.scale)).tree().nearest(few)
