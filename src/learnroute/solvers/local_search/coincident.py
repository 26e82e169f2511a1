"""Regions that share a place, visited in one run: a smaller problem, whose orders lead to good orders of all regions.

Where more regions share a place than a list of neighbours has room for, the lists lead nowhere else, and a search
among the regions is blind. A search among the places is not. It prices a run as if it came last; where scores count
further back, a search among the regions goes on from there.
"""

from __future__ import annotations

import numpy as np

from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray


class Runs:
    """The places of a problem, and on each its regions, largest score first: so a run forgets least.

    `objective` is the problem of the places. `suffice` tells that no order is better than the best one in runs: the
    distances are a metric and only the last score counts, so that a region can join others on its place for nothing.
    """

    def __init__(self, objective: Objective, place_of: IntArray, rate: float) -> None:
        self.place_of = place_of
        self.suffice = objective.points is not None and objective.only_last_counts
        by_score = np.argsort(-objective.scores, kind="stable")
        self._regions = by_score[np.argsort(place_of[by_score], kind="stable")]  # place by place
        self._counts = np.bincount(place_of)
        self._past = np.cumsum(self._counts)
        only_last = np.zeros(len(self._counts))
        only_last[-1] = objective.weights[-1]
        self.objective = Objective(
            _ways_between(objective, self._regions[self._past - 1]),
            self._scores(objective.scores, rate),
            only_last,
            0.0,
            None if objective.first is None else int(place_of[objective.first]),
            None if objective.last is None else int(place_of[objective.last]),
            objective.closed,
        )

    def _scores(self, scores: FloatArray, rate: float) -> FloatArray:
        """Return what each run counts at the end of an order, as a multiple of the last weight."""
        behind = np.repeat(self._past, self._counts) - 1 - np.arange(len(scores))
        with np.errstate(under="ignore"):
            counted = scores[self._regions] * rate ** behind.astype(np.float64)
        totals: FloatArray = np.bincount(self.place_of[self._regions], weights=counted).astype(np.float64)
        return totals

    def places(self, order: IntArray) -> IntArray:
        """Return the places in the order of the last visits to them."""
        found, from_the_end = np.unique(self.place_of[order[::-1]], return_index=True)
        return found[np.argsort(-from_the_end)]

    def regions(self, places: IntArray) -> IntArray:
        """Return the order of all regions that visits the places in this order."""
        return np.concatenate([self._regions[self._past[k] - self._counts[k] : self._past[k]] for k in places])

    def forgetting_least(self, order: IntArray) -> IntArray:
        """Return the order with the same way that takes larger scores first wherever it visits a place again."""
        found = np.empty_like(order)
        found[np.argsort(self.place_of[order], kind="stable")] = self._regions
        return found


def runs_of(objective: Objective, rate: float) -> Runs | None:
    """Return the runs of a problem with symmetric travel and weights that fall by `rate`; None if no regions coincide.

    A region where every order must begin or end is a place of its own.
    """
    if objective.points is not None:
        x, y = objective.points.places.T
        _, place_of = np.unique(x + 1j * y, return_inverse=True)
    else:
        rows: dict[bytes, int] = {}
        place_of = np.array([rows.setdefault(row.tobytes(), len(rows)) for row in objective.travel])
    for end in (objective.first, objective.last):
        if end is not None:
            place_of[end] = place_of.max() + 1
    kept, place_of = np.unique(place_of, return_inverse=True)  # a fixed end may leave no one behind
    return None if len(kept) == objective.size else Runs(objective, place_of, rate)


def _ways_between(objective: Objective, regions: IntArray) -> FloatArray | Points:
    whole = objective.points
    if whole is not None:
        return Points(np.ascontiguousarray(whole.places[regions]), whole.geographic, whole.scale)
    return np.ascontiguousarray(objective.travel[np.ix_(regions, regions)])
