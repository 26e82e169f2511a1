"""Coincident regions: those that share a location are visited as one cluster, which makes a smaller problem.

Where more regions coincide than a candidate list has room for, the lists lead nowhere else, and a search among the
regions is blind. A search among the locations is not. It prices a cluster as if it came last; where scores count
further back, a search among the regions goes on from there.
"""

from __future__ import annotations

import numpy as np

from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray


class Clusters:
    """The locations of a problem, and at each its regions, largest score first: so a cluster forgets least.

    `objective` is the problem of the locations. `suffice` tells that no order is better than the best one in clusters:
    the distances are a metric and only the last score counts, so that a region can join others at its location for
    nothing.
    """

    def __init__(self, objective: Objective, location_of: IntArray, rate: float) -> None:
        self.location_of = location_of
        self.suffice = objective.points is not None and objective.only_last_counts
        by_score = np.argsort(-objective.scores, kind="stable")
        self._regions = by_score[np.argsort(location_of[by_score], kind="stable")]  # location by location
        self._counts = np.bincount(location_of)
        self._past = np.cumsum(self._counts)
        only_last = np.zeros(len(self._counts))
        only_last[-1] = objective.weights[-1]
        ways = _ways_between(objective, self._regions[self._past - 1])
        scores = self._scores(objective.scores, rate)
        self.objective = Objective(ways, scores, only_last, 0.0, objective.ends.renumbered(location_of))

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
        found = np.empty_like(order)
        found[np.argsort(self.location_of[order], kind="stable")] = self._regions
        return found


def clusters_of(objective: Objective, rate: float) -> Clusters | None:
    """Return the clusters of a problem with symmetric travel and weights that fall by `rate`; None if none coincide.

    A region whose position is fixed is a location of its own.
    """
    if objective.points is not None:
        x, y = objective.points.places.T
        _, location_of = np.unique(x + 1j * y, return_inverse=True)
    else:
        rows: dict[bytes, int] = {}
        location_of = np.array([rows.setdefault(row.tobytes(), len(rows)) for row in objective.travel])
    for region in objective.ends.fixed:
        location_of[region] = location_of.max() + 1
    kept, location_of = np.unique(location_of, return_inverse=True)  # a fixed region may leave no one behind
    return None if len(kept) == objective.size else Clusters(objective, location_of, rate)


def _ways_between(objective: Objective, regions: IntArray) -> FloatArray | Points:
    whole = objective.points
    if whole is not None:
        return Points(np.ascontiguousarray(whole.places[regions]), whole.geographic, whole.scale)
    return np.ascontiguousarray(objective.travel[np.ix_(regions, regions)])
