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

from learnroute.model.objective import Objective
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.ground import ground_of
from learnroute.solvers.local_search.alpha_nearness import alpha_lists, edges_between
from learnroute.solvers.params import KOptParams

Lists = tuple[IntArray, IntArray | None]  # of near regions; by α-nearness, if there are any


def candidates_of(objective: Objective, neighbours: int) -> IntArray:
    """Return one candidate list per region; two where travel differs by direction, the ways out first."""
    return ground_of(objective.travel).candidates(neighbours)[0]


def both_candidates(objective: Objective, params: KOptParams, budget: Budget) -> Lists:
    """Return lists of near regions, and lists by α-nearness.

    There are none of the second kind where travel differs by direction or regions are too many.
    """
    alpha = params.alpha
    if not objective.travel.symmetric or alpha.work < alpha.fewest_steps * objective.size:
        return candidates_of(objective, params.neighbours), None
    ground = ground_of(objective.travel)
    near, wide = ground.candidates(params.neighbours, max(params.neighbours, alpha.graph_neighbours))
    start, source, target = edges_between(wide)
    return near, alpha_lists(start, target, ground.lengths(source, target), alpha, budget)
