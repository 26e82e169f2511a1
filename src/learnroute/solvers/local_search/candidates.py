"""Candidate lists: for each region, the few others that a move may join it to.

The nearest regions alone mislead where regions lie in clusters: no list leads out of a cluster. Among places, a list
holds the two nearest in each quadrant (Johnson and McGeoch 1997), and the nearest ones. In a matrix it holds
relative neighbours (Toussaint 1980): near regions that at most one nearer entry is nearer to; for a region at the edge
of a cluster, some are in other clusters. Where travel differs by direction, there are two lists, the nearest regions to
go to and to come from.

A search begins with shorter lists that are made of these, by α-nearness, and changes from one kind to the other from
round to round: the one is better where regions are spread, the other where they are clustered.
"""

from __future__ import annotations

import numpy as np

from learnroute._core import put_quadrant_neighbours, relative_neighbours
from learnroute.model.objective import Objective
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.ground import ground_of, plane
from learnroute.solvers.local_search.alpha_nearness import alpha_lists, edges_between
from learnroute.solvers.params import AlphaParams, KOptParams

PAIRS_A_CALL = 5_000_000  # pairs of regions that are looked at between two looks at Ctrl-C
Lists = tuple[IntArray, IntArray | None]  # of near regions; by α-nearness, if there are any


def candidates_of(objective: Objective, neighbours: int) -> IntArray:
    """Return one candidate list a region; two where travel differs by direction, the ways out first."""
    most = min(neighbours, objective.size - 1)
    points = objective.points
    if points is not None:
        ground = ground_of(points)
        flat = plane(points.places) if points.geographic else ground
        near = ground.tree().nearest(most)
        put_quadrant_neighbours(flat.tree(), near)
        return near
    if objective.symmetric:
        size, rows = objective.size, max(1, PAIRS_A_CALL // objective.size)
        starts = range(0, size, rows)
        return np.vstack([relative_neighbours(objective.travel, most, i, min(i + rows, size)) for i in starts])
    others = objective.travel.copy()
    np.fill_diagonal(others, np.inf)
    return np.concatenate([np.argsort(ways, axis=1, kind="stable")[:, :most] for ways in (others, others.T)])


def both_candidates(objective: Objective, params: KOptParams, budget: Budget) -> Lists:
    """Return lists of near regions, and lists by α-nearness.

    There are none of the second kind where travel differs by direction or regions are too many.
    """
    alpha = params.alpha
    if not objective.symmetric or alpha.work < alpha.fewest_steps * objective.size:
        return candidates_of(objective, params.neighbours), None
    wide = candidates_of(objective, max(params.neighbours, alpha.graph_neighbours))
    if objective.points is not None:
        near = candidates_of(objective, params.neighbours)
    else:
        near = np.ascontiguousarray(wide[:, : params.neighbours])  # shorter lists are the beginning of longer ones
    return near, _alpha_candidates(objective, wide, alpha, budget)


def _alpha_candidates(objective: Objective, wide: IntArray, params: AlphaParams, budget: Budget) -> IntArray:
    start, source, target = edges_between(wide)
    if objective.points is not None:
        costs = ground_of(objective.points).lengths(source, target)
    else:
        costs = objective.travel[source, target]
    return alpha_lists(start, target, costs, params, budget)
