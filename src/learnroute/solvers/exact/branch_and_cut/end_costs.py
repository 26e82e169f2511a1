"""Edge costs for orders with a known ending, which represent scores other than the last one in tours.

In the tour graph, the edge from a region to `out` costs the minimum score part of orders that end there. Once the last
regions are known, this can be sharpened: the edge to `out` costs their exact scores, and the edges at the earliest of
them cost the score of the next region and the minimum of the other scores.
"""

from __future__ import annotations

import numpy as np

from learnroute._core import FIXED_TO_1
from learnroute.model.ends import Ends
from learnroute.model.linear import Linear, Weighted
from learnroute.model.travel import TravelMatrix
from learnroute.model.validation import FloatArray
from learnroute.solvers.bounds import least_score_parts
from learnroute.solvers.exact.one_tree import StatusArray

Ending = tuple[int, ...]  # the last regions, the last one first


class EndCosts:
    """Costs of the tour graph by ending, with a cache of recently used ones."""

    def __init__(self, objective: Linear, costs: FloatArray, most_kept: int) -> None:
        self.objective, self.costs, self.most_kept = objective, costs, most_kept
        self.scored = not objective.only_last_counts
        self._known: dict[Ending, tuple[FloatArray, float]] = {}

    def of(self, ending: Ending) -> tuple[FloatArray, float]:
        """Return the edge costs for orders with this ending, and a bound on the looseness of their score part."""
        if not self.scored:
            return self.costs, 0.0
        if ending not in self._known:
            if len(self._known) > self.most_kept:
                self._known.clear()
            self._known[ending] = self._compute(ending)
        return self._known[ending]

    def _compute(self, ending: Ending) -> tuple[FloatArray, float]:
        objective, size, out = self.objective, self.objective.size, self.objective.size + 1
        weights, scores, first = objective.weights, objective.scores, objective.ends.first
        left = np.array([v for v in range(size) if v not in ending], dtype=np.int64)
        least, looseness, extra = 0.0, 0.0, np.zeros(size)
        if len(left):
            among = None if first is None or len(left) == 1 else int(np.flatnonzero(left == first)[0])
            before = Weighted(TravelMatrix(np.zeros((0, 0))), scores[left], weights[: len(left)], 0.0, Ends(among))
            parts = least_score_parts(before)
            least = float(parts.min())
            extra[left] = np.where(np.isfinite(parts), parts - least, 0.0)
            looseness = float(before.weights.sum() * scores[left].mean()) - least
        if not ending:
            return self.costs, looseness
        costs, earliest, last = self.costs.copy(), ending[-1], ending[0]
        costs[:size, earliest] += extra
        costs[earliest, :size] += extra
        costs[out, :size] = costs[:size, out] = np.inf
        paid = float(weights[::-1][: len(ending)] @ scores[list(ending)])
        costs[out, last] = costs[last, out] = paid + least + objective.finish[last]
        return costs, looseness


def known_ending(status: StatusArray) -> Ending:
    """Return the regions that all tours certainly end with."""
    out = len(status) - 1
    ending = [int(v) for v in np.flatnonzero(status[out, : out - 1] == FIXED_TO_1)]
    if not ending:
        return ()
    while True:
        onward = [int(u) for u in np.flatnonzero(status[ending[-1], :out] == FIXED_TO_1) if u not in ending]
        if not onward or onward[0] == out - 1:
            return tuple(ending)
        ending.append(onward[0])
