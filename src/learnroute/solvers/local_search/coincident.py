"""Coincident regions: those that share a location are visited as one cluster, which makes a smaller problem.

Where more regions coincide than a candidate list has room for, the lists lead nowhere else, and a search among the
regions is blind. A search among the locations is not. It prices a cluster as if it came last; where scores count
further back, a search among the regions goes on from there.

Regions that nearly coincide are clusters too, where there is a gap between two scales: the edges of a minimum spanning
tree, sorted, are either short or much longer. Then too, a search among the regions goes on.
"""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Objective, Weighted
from learnroute.model.travel import Places
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.ground import ground_of
from learnroute.solvers.params import ConstructionParams

FEWEST, MOST, MOST_IN_MATRIX = 50, 20_000, 2000  # regions for which it is worth looking for those that nearly coincide
MEMBERS, LEAST_GROUPS = 8, 4  # in a group on average, at least; groups at least
GAP = 20.0  # times the longest edge within groups: the least one between them


class Clusters:
    """The locations of a problem, and at each its regions, largest score first: so a cluster forgets least.

    `objective` is the problem of the locations. `suffice` tells that no order is better than the best one in clusters:
    the distances are a metric and only the last score counts, so that a region can join others at its location for
    nothing. `near` tells that the regions of a cluster nearly coincide.
    """

    def __init__(self, objective: Objective, location_of: IntArray, near: bool = False) -> None:
        self.location_of, self.near = location_of, near
        self.suffice = objective.travel.is_metric and objective.only_last_counts and not near
        by_score = np.argsort(-objective.scores, kind="stable")
        self._regions = by_score[np.argsort(location_of[by_score], kind="stable")]  # location by location
        self._counts = np.bincount(location_of)
        self._past = np.cumsum(self._counts)
        only_last = np.zeros(len(self._counts))
        only_last[-1] = objective.weights[-1]
        travel = objective.travel.of(self._regions[self._past - 1])
        scores = self._scores(objective.scores, objective.rate or 0.0)
        self.objective = Weighted(travel, scores, only_last, 0.0, objective.ends.renumbered(location_of))

    def _scores(self, scores: FloatArray, rate: float) -> FloatArray:
        """Return what each cluster counts at the end of an order, as a multiple of the last weight."""
        behind = np.repeat(self._past, self._counts) - 1 - np.arange(len(scores))
        with np.errstate(under="ignore"):
            counted = scores[self._regions] * rate ** behind.astype(np.float64)
        totals: FloatArray = np.bincount(self.location_of[self._regions], weights=counted).astype(np.float64)
        return totals

    def locations(self, order: IntArray) -> IntArray:
        """Return the locations in the order of the last visits to them."""
        found, from_the_end = np.unique(self.location_of[order[::-1]], return_index=True)
        return found[np.argsort(-from_the_end)]

    def regions(self, locations: IntArray) -> IntArray:
        """Return the order of all regions that visits the locations in this order."""
        return np.concatenate([self._regions[self._past[k] - self._counts[k] : self._past[k]] for k in locations])

    def sorted_within(self, order: IntArray) -> IntArray:
        """Return the order with the same way that takes larger scores first wherever it visits a location again."""
        if self.near:
            return order
        found = np.empty_like(order)
        found[np.argsort(self.location_of[order], kind="stable")] = self._regions
        return found


def clusters_of(objective: Objective) -> Clusters | None:
    """Return the clusters of a problem with symmetric travel and weights that fall by one rate; None if none coincide.

    A region whose position is fixed is a location of its own.
    """
    location_of = objective.travel.locations
    for region in objective.ends.fixed:
        location_of[region] = location_of.max() + 1
    kept, location_of = np.unique(location_of, return_inverse=True)  # a fixed region may leave no one behind
    if len(kept) < objective.size:
        return Clusters(objective, location_of)
    near_by = _groups(objective)
    return None if near_by is None else Clusters(objective, near_by, near=True)


def _groups(objective: Objective) -> IntArray | None:
    """Return the group of each region, where a gap parts the edges of a spanning tree; None where there is none."""
    size, travel = objective.size, objective.travel
    if not FEWEST <= size <= (MOST if isinstance(travel, Places) else MOST_IN_MATRIX):
        return None
    tree = ground_of(travel, ConstructionParams().matrix_regions).spanning_edges(np.arange(size))
    lengths = travel.between(tree[:, 0], tree[:, 1])
    by_length = np.argsort(lengths, kind="stable")
    lengths = lengths[by_length]
    first, last = size - size // MEMBERS, size - LEAST_GROUPS  # how many edges may be short ones
    wider = lengths[first : last + 1] > GAP * lengths[first - 1 : last]
    if not wider.any():
        return None
    group = np.arange(size)

    def root(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = int(group[i])
        return i

    for a, b in tree[by_length[: first + int(np.argmax(wider))]].tolist():
        group[root(a)] = root(b)
    roots = np.array([root(i) for i in range(size)])
    for region in objective.ends.fixed:
        roots[region] = size + region
    return np.unique(roots, return_inverse=True)[1]
