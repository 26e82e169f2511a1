"""Coincident regions: regions at the same location are visited as one cluster, which gives a smaller problem.

If more regions coincide than a candidate list has entries, the lists lead to no other location and a search over
regions fails. A search over locations does not. It prices each cluster as if it came last; if earlier scores count
too, a search over regions continues from its result.

Regions that nearly coincide form clusters too, if there is a gap between two scales: the edges of a minimum spanning
tree are either short or much longer. Again, a search over regions continues from the result.
"""

from __future__ import annotations

import numpy as np

from learnroute.model.linear import Linear, Weighted
from learnroute.model.travel import Places
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.core_travel import core_travel_of
from learnroute.solvers.params import ConstructionParams

FEWEST, MOST, MOST_IN_MATRIX = 50, 20_000, 2000  # regions for which near coincidence is checked
MEMBERS, LEAST_GROUPS = 8, 4  # least mean size of a group; least number of groups
GAP = 20.0  # least ratio of the shortest edge between groups to the longest edge within groups


class Clusters:
    """The locations of a problem and the regions at each, largest score first, which minimises forgetting.

    `objective` is the problem over locations. `suffice`: no order is better than the best clustered one, because
    distances are a metric and only the last score counts, so a region can move to others at its location at no cost.
    `near`: the regions of a cluster nearly coincide.
    """

    def __init__(self, objective: Linear, location_of: IntArray, near: bool = False) -> None:
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
        self.objective = Weighted(travel, scores, only_last, 0.0, objective.ends.renumber(location_of))

    def _scores(self, scores: FloatArray, rate: float) -> FloatArray:
        """Return the score of each cluster at the end of an order, as a multiple of the last weight."""
        behind = np.repeat(self._past, self._counts) - 1 - np.arange(len(scores))
        with np.errstate(under="ignore"):
            counted = scores[self._regions] * rate ** behind.astype(np.float64)
        totals: FloatArray = np.bincount(self.location_of[self._regions], weights=counted).astype(np.float64)
        return totals

    def locations(self, order: IntArray) -> IntArray:
        """Return the locations in the order of their last visits."""
        found, from_the_end = np.unique(self.location_of[order[::-1]], return_index=True)
        return found[np.argsort(-from_the_end)]

    def regions(self, locations: IntArray) -> IntArray:
        """Return the order of all regions that visits the locations in this order."""
        return np.concatenate([self._regions[self._past[k] - self._counts[k] : self._past[k]] for k in locations])

    def sorted_within(self, order: IntArray) -> IntArray:
        """Sort the regions of each location by decreasing score, without changing the path."""
        if self.near:
            return order
        found = np.empty_like(order)
        found[np.argsort(self.location_of[order], kind="stable")] = self._regions
        return found


def clusters_of(objective: Linear) -> Clusters | None:
    """Return the clusters of a problem with symmetric travel and geometric weights; None if no regions coincide.

    A region with a fixed position is a separate location.
    """
    location_of = objective.travel.locations
    for region in objective.ends.fixed:
        location_of[region] = location_of.max() + 1
    kept, location_of = np.unique(location_of, return_inverse=True)  # a fixed region may have been alone
    if len(kept) < objective.size:
        return Clusters(objective, location_of)
    near_by = _groups(objective)
    return None if near_by is None else Clusters(objective, near_by, near=True)


def _groups(objective: Linear) -> IntArray | None:
    """Return the group of each region if the edges of the spanning tree have a gap, else None."""
    size, travel = objective.size, objective.travel
    if not FEWEST <= size <= (MOST if isinstance(travel, Places) else MOST_IN_MATRIX):
        return None
    tree = core_travel_of(travel, ConstructionParams().matrix_regions).spanning_edges(np.arange(size))
    lengths = travel.between(tree[:, 0], tree[:, 1])
    by_length = np.argsort(lengths, kind="stable")
    lengths = lengths[by_length]
    first, last = size - size // MEMBERS, size - LEAST_GROUPS  # bounds on the number of short edges
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
