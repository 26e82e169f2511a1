"""Linear objectives of orders: travel plus an expected error that is linear in scores.

The tour search and the proofs see nothing else. A score counts by its position (`Weighted`) or by the regions that
follow (`Factored`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from learnroute.model.ends import Ends
from learnroute.model.law import products_after
from learnroute.model.rounding import PRINTED
from learnroute.model.travel import Travel, TravelMatrix
from learnroute.model.validation import FloatArray, IntArray, freeze

ANYWHERE = Ends()


class Linear(ABC):
    """The value of an order, to be minimised; T times the paper's loss.

    Parameters
    ----------
    travel
        Travel costs between regions, in units of the value.
    scores
        One non-negative score per region.
    constant
        The part of the value that does not depend on the order.
    ends
        Where orders must begin and end, and whether the return trip counts.
    """

    def __init__(self, travel: Travel, scores: FloatArray, constant: float = 0.0, ends: Ends = ANYWHERE) -> None:
        self.travel, self.scores, self.constant, self.ends = travel, scores, constant, ends

    # The kind of error

    def error_terms(self, order: IntArray) -> list[float]:
        """Return each score times its weight, and the constant, to be summed with a single rounding."""
        return [*(self.weights_of(order) * self.scores[order]), self.constant]

    @abstractmethod
    def weights_of(self, order: ArrayLike) -> FloatArray:
        """Return the weight of the score at each position of an order."""

    @property
    @abstractmethod
    def weights(self) -> FloatArray:
        """Lower bounds on the weight of the score at each position; non-decreasing."""

    @property
    def rate(self) -> float | None:
        """r if each weight is r times the next one for every order (0: only the last counts), otherwise None."""
        return None

    @property
    def only_last_counts(self) -> bool:
        """Whether only the score of the last region counts."""
        return False

    @property
    def ranks(self) -> FloatArray:
        """The sort keys of regions for the least forgetting, largest first."""
        return self.scores

    def __call__(self, order: ArrayLike) -> float:
        """Return the value of an order, correctly rounded."""
        stops = np.asarray(order)
        return math.fsum([*self.legs(stops), *self.error_terms(stops)])

    def magnitude(self, order: ArrayLike) -> float:
        """Return the sum of the absolute values of all terms of an order's value: the scale of its rounding error."""
        stops = np.asarray(order)
        return math.fsum(np.abs([*self.legs(stops), *self.error_terms(stops)]))

    @property
    def size(self) -> int:
        """The number of regions T."""
        return len(self.scores)

    @cached_property
    def best_last(self) -> int:
        """The region to end at if only scores count, the first one in case of ties: the paper's v'."""
        allowed = np.flatnonzero(self.ends.may_end(self.size))
        return int(allowed[np.argmin(self.ranks[allowed])])  # ranks are infinite if nothing is forgotten

    def repair(self, order: IntArray) -> IntArray:
        """Return an order with the required ends; cycles are cut after the only region whose score counts."""
        if self.ends.cyclic and self.only_last_counts:
            return np.roll(order, len(order) - 1 - int(np.flatnonzero(order == self.best_last)[0]))
        return self.ends.repair(order)

    # Travel

    def legs(self, order: ArrayLike) -> FloatArray:
        """Return the travel cost of each leg of an order, followed by the return trip if the order is closed."""
        return self.travel.legs(order, self.ends.closed)

    @cached_property
    def begin(self) -> FloatArray:
        """The cost of beginning at each region, besides its score; inf if that is not allowed."""
        ends, costs = self.ends, np.zeros(self.size)
        if ends.closed and ends.first is None and ends.last is not None:
            costs = self.travel.between(ends.last, np.arange(self.size))
        return freeze(np.where(ends.may_begin(self.size), costs, np.inf))

    @cached_property
    def finish(self) -> FloatArray:
        """The cost of ending at each region, besides its score; inf if that is not allowed.

        If orders are cycles, neither `begin` nor `finish` contains the return trip.
        """
        ends, costs = self.ends, np.zeros(self.size)
        if ends.closed and ends.first is not None:
            costs = self.travel.between(np.arange(self.size), ends.first)
        return freeze(np.where(ends.may_end(self.size), costs, np.inf))

    # Variants

    def travel_alone(self) -> Weighted:
        """Return the objective with the same travel and ends, but without scores."""
        nothing = np.zeros(self.size)
        return Weighted(self.travel, nothing, nothing, 0.0, self.ends)

    def error_alone(self) -> Self:
        """Return the objective with the same scores and ends, but without travel costs."""
        return self._copy_with(travel=TravelMatrix(np.zeros((self.size, self.size))))

    def ending_at(self, last: int) -> Self:
        """Return the same objective with the last region fixed."""
        return self._copy_with(ends=self.ends.ending_at(last))

    def _copy_with(self, **changes: object) -> Self:
        """Return a copy with other travel or ends; cached values that depend on these are recomputed."""
        other = copy(self)
        for derived in ("begin", "finish", "best_last"):
            other.__dict__.pop(derived, None)
        other.__dict__.update(changes)
        return other


class Weighted(Linear):
    """Scores count by their position: the paper's objectives.

    `weights` has one non-negative weight per position, first to last, non-decreasing. In the under regime, only the
    last one is not 0; in the over regime, each is r times the next one.
    """

    def __init__(
        self,
        travel: Travel,
        scores: FloatArray,
        weights: FloatArray,
        constant: float = 0.0,
        ends: Ends = ANYWHERE,
    ) -> None:
        super().__init__(travel, scores, constant, ends)
        self._weights = weights

    @property
    def weights(self) -> FloatArray:
        """The weight of the score at each position."""
        return self._weights

    def weights_of(self, order: ArrayLike) -> FloatArray:
        """Return the weights, which do not depend on the order."""
        return self._weights

    @cached_property
    def rate(self) -> float | None:
        """r if each weight is r times the next one (0 if only the last counts), otherwise None."""
        weights, last = self._weights, float(self._weights[-1])
        if last == 0:
            return None if weights.any() else 0.0
        rate = float(weights[-2]) / last
        with np.errstate(under="ignore"):
            ideal = last * rate ** np.arange(len(weights) - 1, -1, -1.0)
        return rate if bool(np.all(np.abs(weights - ideal) <= PRINTED * last)) else None

    @cached_property
    def only_last_counts(self) -> bool:
        """Whether only the score of the last region counts."""
        return not self._weights[:-1].any()


class Factored(Linear):
    """A score counts by the regions that follow: the product of their factors, each between 0 and 1."""

    def __init__(
        self,
        travel: Travel,
        scores: FloatArray,
        factors: FloatArray,
        constant: float = 0.0,
        ends: Ends = ANYWHERE,
    ) -> None:
        super().__init__(travel, scores, constant, ends)
        self.factors = factors

    @cached_property
    def weights(self) -> FloatArray:
        """For each position, the minimum over all orders of the product of the factors after it."""
        return freeze(products_after(np.sort(self.factors)[::-1]))

    def weights_of(self, order: ArrayLike) -> FloatArray:
        """Return the product of the factors after each position."""
        return products_after(self.factors[np.asarray(order)])

    @cached_property
    def ranks(self) -> FloatArray:
        """score / (1 - factor): by an exchange argument, the larger of two neighbours comes first."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return freeze(np.where(self.scores > 0, self.scores / (1 - self.factors), 0.0))
