"""Greedy edge (Bentley 1992): repeatedly join the two nearest path ends until one path remains."""

from __future__ import annotations

import numpy as np

from learnroute._core import GreedyPaths
from learnroute.model.linear import Linear
from learnroute.model.validation import IntArray
from learnroute.solvers.core_travel import core_travel_of

FEW = 6  # nearest path ends that are candidates for each path end in one round


def greedy_edge_path(objective: Linear) -> IntArray:
    """Return a path through all regions; travel must be symmetric."""
    travel_data, paths, left = core_travel_of(objective.travel), GreedyPaths(objective.size), objective.size
    while left > 1:
        ends = paths.ends()
        lists = ends[travel_data.nearest_among(ends, min(FEW, len(ends) - 1))]
        one = np.repeat(ends, lists.shape[1])
        two = lists.ravel()
        ways = objective.travel.between(one, two)
        by_length = np.lexsort((two, one, ways))
        left -= paths.join(one[by_length], two[by_length])
    return paths.path()
