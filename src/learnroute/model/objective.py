"""What a solver sees: travel, plus the expected error of an order. No regimes, names or files.

One class per kind of error: `Weighted` (a score counts by its position), `Factored` (by the regions that follow),
`Paired` (pairs of regions are coupled, as for regularised learners). The first two are linear in the scores.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from learnroute.model.ends import Ends
from learnroute.model.law import products_after
from learnroute.model.rounding import PRINTED
from learnroute.model.travel import Travel, TravelMatrix
from learnroute.model.validation import FloatArray, IntArray, freeze

if TYPE_CHECKING:
    from learnroute.model.pairs import Pairs

ANYWHERE = Ends()


class Objective(ABC):
    """The value of an order, to be minimised; T times the paper's loss.

    Parameters
    ----------
    travel
        What it costs to go from region to region, in units of the value.
    scores
        One non-negative score per region.
    constant
        What no order changes.
    ends
        Where orders must begin and end, and whether the way back is paid.
    """

    def __init__(self, travel: Travel, scores: FloatArray, constant: float = 0.0, ends: Ends = ANYWHERE) -> None:
        self.travel, self.scores, self.constant, self.ends = travel, scores, constant, ends

    # The kind of error

    @abstractmethod
    def error_terms(self, order: IntArray) -> list[float]:
        """Return the terms of the error of an order, the constant included, to be added up at once."""

    @abstractmethod
    def weights_of(self, order: ArrayLike) -> FloatArray:
        """Return what the score at each position of an order counts."""

    @property
    @abstractmethod
    def weights(self) -> FloatArray:
        """What the score at each position counts at least; never decreasing."""

    @property
    def rate(self) -> float | None:
        """r where each weight is r times the next one whatever the order is (0: only the last counts), else None."""
        return None

    @property
    def only_last_counts(self) -> bool:
        """Whether no score but the last region's counts."""
        return False

    @property
    def ranks(self) -> FloatArray:
        """What regions are sorted by to forget least, largest first."""
        return self.scores

    @property
    def relaxation(self) -> Linear:
        """A linear objective that is nowhere above this one."""
        raise NotImplementedError

    @property
    def typical(self) -> Linear:
        """A linear objective that is near this one: what searches may go by."""
        raise NotImplementedError

    def __call__(self, order: ArrayLike) -> float:
        """Return the value of an order, correctly rounded."""
        stops = np.asarray(order)
        return math.fsum([*self.legs(stops), *self.error_terms(stops)])

    def magnitude(self, order: ArrayLike) -> float:
        """Return the sum of the sizes of all terms of an order's value: what its rounding is relative to."""
        stops = np.asarray(order)
        return math.fsum(np.abs([*self.legs(stops), *self.error_terms(stops)]))

    @property
    def size(self) -> int:
        """The number of regions T."""
        return len(self.scores)

    @cached_property
    def best_last(self) -> int:
        """The region to end at if only scores count, the first of them if tied: the paper's v'."""
        return int(np.argmin(np.where(self.ends.may_end(self.size), self.ranks, np.inf)))

    def repair(self, order: IntArray) -> IntArray:
        """Return an order that begins and ends where it must; cycles are cut behind the only score that counts."""
        if self.ends.cyclic and self.only_last_counts:
            return np.roll(order, len(order) - 1 - int(np.flatnonzero(order == self.best_last)[0]))
        return self.ends.repair(order)

    # Travel

    def legs(self, order: ArrayLike) -> FloatArray:
        """Return the travel cost of each step of an order, the way back last where it is closed."""
        return self.travel.legs(order, self.ends.closed)

    @cached_property
    def begin(self) -> FloatArray:
        """What it costs to begin at each region, besides its score: inf where that is not allowed."""
        ends, costs = self.ends, np.zeros(self.size)
        if ends.closed and ends.first is None and ends.last is not None:
            costs = self.travel.between(ends.last, np.arange(self.size))
        return freeze(np.where(ends.may_begin(self.size), costs, np.inf))

    @cached_property
    def finish(self) -> FloatArray:
        """What it costs to end at each region, besides its score: inf where that is not allowed.

        Where orders are cycles, the way back is in neither `begin` nor `finish`.
        """
        ends, costs = self.ends, np.zeros(self.size)
        if ends.closed and ends.first is not None:
            costs = self.travel.between(np.arange(self.size), ends.first)
        return freeze(np.where(ends.may_end(self.size), costs, np.inf))

    # Others like it

    def travel_alone(self) -> Weighted:
        """Return the same ways and ends with no scores."""
        nothing = np.zeros(self.size)
        return Weighted(self.travel, nothing, nothing, 0.0, self.ends)

    def error_alone(self) -> Self:
        """Return the same scores and ends where travel costs nothing."""
        return self._like(travel=TravelMatrix(np.zeros((self.size, self.size))))

    def ending_at(self, last: int) -> Self:
        """Return the same with the last region fixed."""
        return self._like(ends=self.ends.ending_at(last))

    def _like(self, **changes: object) -> Self:
        """Return a copy with other travel or ends; what follows from these is made anew."""
        other = copy(self)
        for derived in ("begin", "finish", "best_last", "typical", "relaxation"):
            other.__dict__.pop(derived, None)
        other.__dict__.update(changes)
        return other


class Linear(Objective):
    """An error that is linear in the scores: each counts by where its region stands."""

    def error_terms(self, order: IntArray) -> list[float]:
        """Return what each score counts, and the constant."""
        return [*(self.weights_of(order) * self.scores[order]), self.constant]

    @property
    def relaxation(self) -> Linear:
        """The objective itself."""
        return self

    @property
    def typical(self) -> Linear:
        """The objective itself."""
        return self


class Weighted(Linear):
    """Scores count by their position: the paper's objectives.

    `weights` has one non-negative weight per position, first to last, never decreasing. In the under regime only the
    last one counts; in the over regime each is r times the next one.
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
        """What the score at each position counts."""
        return self._weights

    def weights_of(self, order: ArrayLike) -> FloatArray:
        """Return the weights, which no order changes."""
        return self._weights

    @cached_property
    def rate(self) -> float | None:
        """r where each weight is r times the next one (0 where only the last counts), else None."""
        weights, last = self._weights, float(self._weights[-1])
        if last == 0:
            return None if weights.any() else 0.0
        rate = float(weights[-2]) / last
        with np.errstate(under="ignore"):
            ideal = last * rate ** np.arange(len(weights) - 1, -1, -1.0)
        return rate if bool(np.all(np.abs(weights - ideal) <= PRINTED * last)) else None

    @cached_property
    def only_last_counts(self) -> bool:
        """Whether no score but the last region's counts."""
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
        """For each position, the least product that the factors behind it can have, whatever the order."""
        return freeze(products_after(np.sort(self.factors)[::-1]))

    def weights_of(self, order: ArrayLike) -> FloatArray:
        """Return the products of the factors behind each position."""
        return products_after(self.factors[np.asarray(order)])

    @cached_property
    def ranks(self) -> FloatArray:
        """Of two neighbours the one with the larger score / (1 - factor) comes first: exchange them and compare."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return freeze(np.where(self.scores > 0, self.scores / (1 - self.factors), 0.0))


class Paired(Objective):
    """The error of a regularised learner, which couples pairs of regions. `typical` is about the same, and linear."""

    def __init__(self, travel: Travel, pairs: Pairs, ends: Ends = ANYWHERE) -> None:
        self.pairs = pairs
        super().__init__(travel, pairs.typical.scores, pairs.typical.constant, ends)

    def error_terms(self, order: IntArray) -> list[float]:
        """Return the terms of the error."""
        return self.pairs.parts(order).terms()

    @cached_property
    def typical(self) -> Linear:
        """The objective with pairs as if all regions were alike."""
        return self.pairs.typical.objective(self.travel, self.ends)

    @cached_property
    def relaxation(self) -> Linear:
        """The objective with pairs at their least: of those known, the one with the best bound."""
        return self.pairs.relaxation.objective(self.travel, self.ends)

    @property
    def weights(self) -> FloatArray:
        """Those of `typical`."""
        return self.typical.weights

    def weights_of(self, order: ArrayLike) -> FloatArray:
        """Return those of `typical`."""
        return self.typical.weights_of(order)

    @property
    def rate(self) -> float | None:
        """That of `typical`."""
        return self.typical.rate

    @property
    def ranks(self) -> FloatArray:
        """Those of `typical`."""
        return self.typical.ranks
