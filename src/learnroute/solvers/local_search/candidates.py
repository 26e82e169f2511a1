"""Candidate lists: for each region, the few others that a move may join it to.

Imported only when a search runs, because importing it wakes the compiler.

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

from learnroute.kernels import kernel
from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.construction.greedy_edge import nearest_in_row
from learnroute.solvers.kd_tree import (
    Ground,
    Tree,
    box_distance,
    ground_of,
    lengths,
    nearest_places,
    plane,
    square,
    tree_of,
)
from learnroute.solvers.params import AlphaParams, KOptParams

LOOKED_AT = 32  # nearest regions among which relative neighbours are looked for first; more than are in any list
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
        _put_quadrants(flat, Tree(*tree_of(flat)), near)
        return near
    if objective.symmetric:
        lists = np.empty((objective.size, most), dtype=np.int64)
        _relative_neighbours(objective.travel, most, lists)
        return lists
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
    from learnroute.solvers.local_search.alpha_nearness import Graph, alpha_lists, edges_between

    start, source, target = edges_between(wide)
    if objective.points is not None:
        costs = lengths(ground_of(objective.points), source, target)
    else:
        costs = objective.travel[source, target]
    return alpha_lists(Graph(start, target, costs), params)


@kernel
def _put_quadrants(ground: Ground, tree: Tree, lists: IntArray) -> None:
    """Put the two nearest places of each quadrant into each list, in the place of the farthest others."""
    size, most = lists.shape
    nodes = tree.ranges.shape[1]
    stack = np.empty(64, dtype=np.int64)
    chosen = np.empty(8, dtype=np.int64)
    near = np.empty(2)
    for i in range(size):
        x, y = ground.places[i, 0], ground.places[i, 1]
        filled = 0
        for quadrant in range(4):
            right, up = quadrant & 1, quadrant >> 1
            near[:] = np.inf
            chosen[filled] = chosen[filled + 1] = -1
            stack[0], height = 0, 1
            while height > 0:
                height -= 1
                node = stack[height]
                beside = tree.boxes[3, node] < x if right else tree.boxes[0, node] >= x
                below = tree.boxes[4, node] < y if up else tree.boxes[1, node] >= y
                if beside or below or box_distance(ground, tree, node, i) >= near[1]:
                    continue
                if 2 * node + 2 < nodes:
                    one, two = 2 * node + 1, 2 * node + 2
                    if box_distance(ground, tree, one, i) < box_distance(ground, tree, two, i):
                        one, two = two, one
                    stack[height], stack[height + 1] = one, two
                    height += 2
                    continue
                for k in range(tree.ranges[0, node], tree.ranges[1, node]):
                    j = tree.items[k]
                    if j == i or (ground.places[j, 0] >= x) != right or (ground.places[j, 1] >= y) != up:
                        continue
                    apart = square(ground, i, j)
                    if apart < near[0]:
                        near[1], chosen[filled + 1] = near[0], chosen[filled]
                        near[0], chosen[filled] = apart, j
                    elif apart < near[1]:
                        near[1], chosen[filled + 1] = apart, j
            filled += (1 if near[0] < np.inf else 0) + (1 if near[1] < np.inf else 0)
        kept = most - 1  # from the farthest entry on, put in what is missing
        for n in range(min(filled, most)):
            missing = True
            for k in range(most):
                missing = missing and lists[i, k] != chosen[n]
            while missing and kept >= 0:
                needed = False
                for m in range(filled):
                    needed = needed or lists[i, kept] == chosen[m]
                kept -= 1
                if not needed:
                    lists[i, kept + 1] = chosen[n]
                    break


@kernel
def _relative_neighbours(travel: FloatArray, most: int, lists: IntArray) -> None:
    """Fill lists with the nearest regions that at most one nearer entry is nearer to; then with the nearest ones."""
    size = len(travel)
    near = np.empty((1, min(LOOKED_AT, size - 1)), dtype=np.int64)
    taken = np.zeros(size, dtype=np.int64)
    farther = np.empty(size, dtype=np.int64)
    everywhere = np.arange(size)
    for i in range(size):
        nearest_in_row(travel, i, everywhere, near, 0)
        filled = 0
        for k in range(near.shape[1]):
            if filled < most and _few_nearer(travel, lists, i, filled, near[0, k]):
                lists[i, filled] = near[0, k]
                filled += 1
        taken[i] = 1
        for k in range(near.shape[1]):
            taken[near[0, k]] = 1
        count = 0
        if filled < most:  # farther regions, out of a cluster
            for j in range(size):
                if not taken[j] and _few_nearer(travel, lists, i, filled, j):
                    farther[count] = j
                    count += 1
        while filled < most:
            best, found = np.inf, -1
            for k in range(count):
                j = farther[k]
                if travel[i, j] < best and not taken[j] and _few_nearer(travel, lists, i, filled, j):
                    best, found = travel[i, j], j
            if found < 0:
                break
            lists[i, filled] = found
            taken[found] = 1
            filled += 1
        taken[:] = 0
        for n in range(filled):
            taken[lists[i, n]] = 1
        for k in range(near.shape[1]):
            if filled < most and not taken[near[0, k]]:
                lists[i, filled] = near[0, k]
                filled += 1
        taken[:] = 0


@kernel
def _few_nearer(travel: FloatArray, lists: IntArray, i: int, filled: int, j: int) -> bool:
    """Whether at most one entry of a list is nearer to region j than the owner i of the list is."""
    nearer = 0
    for n in range(filled):
        if travel[lists[i, n], j] < travel[i, j]:
            nearer += 1
            if nearer == 2:
                return False
    return True
