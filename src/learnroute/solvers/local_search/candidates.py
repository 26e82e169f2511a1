"""Candidate lists: for each region, the few others that a move may join it to.

Lists of nearest regions fail for clustered regions, because no list leads out of a cluster. For places, a list has the
two nearest places per quadrant (Johnson and McGeoch 1997), then the nearest ones. For a matrix it has relative
neighbours (Toussaint 1980): regions to which at most one nearer entry is nearer; for a region at the edge of a
cluster, some of them are in other clusters. For asymmetric travel there are two lists per region, outgoing and
incoming.

A search starts with shorter lists chosen from these by α-nearness and alternates between both kinds from round to
round: one is better for spread regions, the other for clustered ones.
"""

from __future__ import annotations

from learnroute.model.linear import Linear
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.core_travel import core_travel_of
from learnroute.solvers.local_search.alpha_nearness import alpha_lists, edges_between
from learnroute.solvers.params import KOptParams

Lists = tuple[IntArray, IntArray | None]  # near regions; by α-nearness, if any


def candidates_of(objective: Linear, neighbours: int) -> IntArray:
    """Return one candidate list per region; for asymmetric travel two, outgoing first."""
    return core_travel_of(objective.travel).candidates(neighbours)[0]


def both_candidates(objective: Linear, params: KOptParams, budget: Budget) -> Lists:
    """Return lists of near regions and lists by α-nearness.

    The latter are None for asymmetric travel or too many regions.
    """
    alpha = params.alpha
    if not objective.travel.symmetric or alpha.work < alpha.fewest_steps * objective.size:
        return candidates_of(objective, params.neighbours), None
    travel_data = core_travel_of(objective.travel)
    near, wide = travel_data.candidates(params.neighbours, max(params.neighbours, alpha.graph_neighbours))
    start, source, target = edges_between(wide)
    return near, alpha_lists(start, target, travel_data.lengths(source, target), alpha, budget)
