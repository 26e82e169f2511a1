"""What a solver sees: `travel + sum_t weights[t]·scores[order[t]] + constant`. No regimes, names or files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from learnroute.model.validation import FloatArray


@dataclass(frozen=True, eq=False)
class Objective:
    """The value of an order, to be minimised; T times the paper's loss.

    Parameters
    ----------
    travel
        T x T travel costs.
    scores
        One non-negative score a region.
    weights
        One non-negative weight a position, first to last, never decreasing.
    constant
        What no order changes.
    """

    travel: FloatArray
    scores: FloatArray
    weights: FloatArray
    constant: float = 0.0

    @property
    def size(self) -> int:
        """The number of regions T."""
        return len(self.scores)

    @cached_property
    def symmetric(self) -> bool:
        """Whether every way costs the same in both directions."""
        return bool(np.array_equal(self.travel, self.travel.T))

    @cached_property
    def best_last(self) -> int:
        """The region with the least score, the first of them if tied: the paper's v'."""
        return int(np.argmin(self.scores))

    def legs(self, order: ArrayLike) -> FloatArray:
        """Return the travel cost of each step of an order."""
        stops = np.asarray(order)
        costs: FloatArray = self.travel[stops[:-1], stops[1:]]
        return costs

    def __call__(self, order: ArrayLike) -> float:
        """Return the value of an order, correctly rounded."""
        stops = np.asarray(order)
        return math.fsum([*self.legs(stops), *(self.weights * self.scores[stops]), self.constant])
