"""Minimum spanning trees of complete graphs: of a matrix by Prim's rule (1957), of places by Borůvka's (1926)."""

from __future__ import annotations

import numpy as np

from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.ground import ground_of
from learnroute.solvers.params import ConstructionParams


def spanning_tree(objective: Objective, params: ConstructionParams, order: IntArray) -> IntArray:
    """Return the T-1 edges of a minimum spanning tree of symmetric travel, one (i, j) row each.

    Ties go to what is first in `order`, an order of all regions.
    """
    if objective.points is not None and objective.size > params.matrix_regions:
        whole = objective.points
        return order[spanning_tree_of_places(Points(whole.places[order], whole.geographic, whole.scale))]
    return minimum_spanning_tree(objective.travel, order)


def spanning_tree_of_places(points: Points) -> IntArray:
    """Return the edges of a minimum spanning tree of places, in linear memory."""
    return ground_of(points).tree().spanning_edges()


def minimum_spanning_tree(costs: FloatArray, order: IntArray | None = None) -> IntArray:
    """Return the T-1 edges of a minimum spanning tree, one (i, j) row each, by Prim's rule in O(T²).

    Ties go to what is first in `order`, or to the smallest index. The matrix is read as symmetric: only rows of visited
    regions are used.
    """
    size = len(costs)
    numbers = np.arange(size) if order is None else order

    def row(k: int) -> FloatArray:
        found: FloatArray = costs[numbers[k]]
        return found if order is None else found[order]

    outside = np.ones(size, dtype=bool)
    outside[0] = False
    nearest = row(0).copy()
    nearest[0] = np.inf
    entry = np.zeros(size, dtype=np.int64)
    edges = np.empty((size - 1, 2), dtype=np.int64)
    for step in range(size - 1):
        joined = int(np.argmin(nearest))
        edges[step] = entry[joined], joined
        outside[joined] = False
        nearest[joined] = np.inf
        ways = row(joined)
        closer = outside & (ways < nearest)
        nearest[closer] = ways[closer]
        entry[closer] = joined
    return numbers[edges]
