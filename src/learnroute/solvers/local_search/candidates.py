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

import weakref
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from learnroute._core import put_quadrant_neighbours, relative_neighbours
from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.kd_tree import ground_of, lengths, nearest_places, plane, tree_of
from learnroute.solvers.local_search.alpha_nearness import alpha_lists, edges_between
from learnroute.solvers.params import AlphaParams, KOptParams

PAIRS_A_CALL = 5_000_000  # pairs of regions that are looked at between two looks at Ctrl-C
Lists = tuple[IntArray, IntArray | None]  # of near regions; by α-nearness, if there are any


@dataclass(frozen=True, eq=False)
class _Kept:
    """Candidate lists, and what they were made for: a plan asks for the same ones several times."""

    ways: weakref.ref[FloatArray | Points]
    wanted: tuple[int, AlphaParams]
    lists: Lists
    last: ClassVar[_Kept | None] = None


def _forget(gone: weakref.ref[FloatArray | Points]) -> None:
    """Let go of the lists of travel costs that are gone."""
    if _Kept.last is not None and _Kept.last.ways is gone:
        _Kept.last = None


def candidates_of(objective: Objective, neighbours: int) -> IntArray:
    """Return one candidate list a region; two where travel differs by direction, the ways out first."""
    most = min(neighbours, objective.size - 1)
    points = objective.points
    if points is not None:
        ground = ground_of(points)
        flat = plane(points.places) if points.geographic else ground
        near = nearest_places(ground, tree_of(ground), most)
        put_quadrant_neighbours(flat.places, *tree_of(flat), near)
        return near
    if objective.symmetric:
        size, rows = objective.size, max(1, PAIRS_A_CALL // objective.size)
        starts = range(0, size, rows)
        return np.vstack([relative_neighbours(objective.travel, most, i, min(i + rows, size)) for i in starts])
    others = objective.travel.copy()
    np.fill_diagonal(others, np.inf)
    return np.concatenate([np.argsort(ways, axis=1, kind="stable")[:, :most] for ways in (others, others.T)])


def both_candidates(objective: Objective, params: KOptParams) -> Lists:
    """Return lists of near regions, and lists by α-nearness; those made last are kept for the same travel costs.

    There are none of the second kind where travel differs by direction or regions are too many.
    """
    ways, wanted = objective.ways, (params.neighbours, params.alpha)
    kept = _Kept.last
    if kept is None or kept.ways() is not ways or kept.wanted != wanted:
        kept = _Kept.last = _Kept(weakref.ref(ways, _forget), wanted, _both_candidates(objective, params))
    return kept.lists


def _both_candidates(objective: Objective, params: KOptParams) -> Lists:
    alpha = params.alpha
    if not objective.symmetric or alpha.work < alpha.fewest_steps * objective.size:
        return candidates_of(objective, params.neighbours), None
    wide = candidates_of(objective, max(params.neighbours, alpha.graph_neighbours))
    if objective.points is not None:
        near = candidates_of(objective, params.neighbours)
    else:
        near = np.ascontiguousarray(wide[:, : params.neighbours])  # shorter lists are the beginning of longer ones
    return near, _alpha_candidates(objective, wide, alpha)


def _alpha_candidates(objective: Objective, wide: IntArray, params: AlphaParams) -> IntArray:
    start, source, target = edges_between(wide)
    if objective.points is not None:
        costs = lengths(ground_of(objective.points), source, target)
    else:
        costs = objective.travel[source, target]
    return alpha_lists(start, target, costs, params)
