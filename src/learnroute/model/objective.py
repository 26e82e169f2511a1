"""What a solver sees: travel, plus what each region's score counts at its place. No regimes, names or files."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from learnroute.model.distances import Points
from learnroute.model.ends import Ends
from learnroute.model.law import products_after
from learnroute.model.validation import FloatArray, IntArray, frozen, is_symmetric

if TYPE_CHECKING:
    from learnroute.model.pairs import Pairs

ANYWHERE = Ends()


class Objective:
    """The value of an order, to be minimised; T times the paper's loss.

    Parameters
    ----------
    travel
        T x T travel costs, or places from which they follow.
    scores
        One non-negative score a region.
    weights
        One non-negative weight a position, first to last, never decreasing: what the score there counts.
    constant
        What no order changes.
    ends
        Where orders must begin and end, and whether the way back is paid.
    factors
        Where given, what a score counts depends on the regions that follow: the product of their factors, each between
        0 and 1. `weights` are then lower bounds of it, position by position.
    pairs
        Where given, the error of a regularised learner, which couples pairs of regions. It prices orders; scores,
        weights and factors are then about the same in linear form, which searches may go by.
    """

    def __init__(
        self,
        travel: FloatArray | Points,
        scores: FloatArray,
        weights: FloatArray,
        constant: float = 0.0,
        ends: Ends = ANYWHERE,
        factors: FloatArray | None = None,
        pairs: Pairs | None = None,
    ) -> None:
        self.points = travel if isinstance(travel, Points) else None
        if not isinstance(travel, Points):
            self.__dict__["travel"] = travel
        self.scores, self.weights, self.constant = scores, weights, constant
        self.ends, self.factors, self.pairs = ends, factors, pairs

    @property
    def size(self) -> int:
        """The number of regions T."""
        return len(self.scores)

    @cached_property
    def travel(self) -> FloatArray:
        """The T x T travel costs, made from the places where those were given; refused where there are too many."""
        assert self.points is not None
        return self.points.matrix()

    @cached_property
    def symmetric(self) -> bool:
        """Whether every way costs the same in both directions."""
        return self.points is not None or is_symmetric(self.travel)

    @cached_property
    def ranks(self) -> FloatArray:
        """What regions are sorted by to forget least, largest first: their scores, if all factors are the same.

        Of two neighbours the one with the larger score / (1 - factor) comes first: exchange them and compare.
        """
        if self.factors is None:
            return self.scores
        with np.errstate(divide="ignore", invalid="ignore"):
            return frozen(np.where(self.scores > 0, self.scores / (1 - self.factors), 0.0))

    @cached_property
    def best_last(self) -> int:
        """The region to end at if only scores count, the first of them if tied: the paper's v'."""
        return int(np.argmin(np.where(self.ends.may_end(self.size), self.ranks, np.inf)))

    @cached_property
    def only_last_counts(self) -> bool:
        """Whether no score but the last region's counts."""
        return self.factors is None and self.pairs is None and not self.weights[:-1].any()

    @cached_property
    def begin(self) -> FloatArray:
        """What it costs to begin at each region, besides its score: inf where that is not allowed."""
        ends, costs = self.ends, np.zeros(self.size)
        if ends.closed and ends.first is None and ends.last is not None:
            costs = self.travel_from(ends.last)
        return frozen(np.where(ends.may_begin(self.size), costs, np.inf))

    @cached_property
    def finish(self) -> FloatArray:
        """What it costs to end at each region, besides its score: inf where that is not allowed.

        Where orders are cycles, the way back is in neither `begin` nor `finish`.
        """
        ends, costs = self.ends, np.zeros(self.size)
        if ends.closed and ends.first is not None:
            costs = self.travel_to(ends.first)
        return frozen(np.where(ends.may_end(self.size), costs, np.inf))

    def travel_from(self, region: int) -> FloatArray:
        """Return the cost of going from one region to each."""
        return self.between(region, np.arange(self.size))

    def travel_to(self, region: int) -> FloatArray:
        """Return the cost of going from each region to one."""
        return self.between(np.arange(self.size), region)

    def between(self, origins: ArrayLike, goals: ArrayLike) -> FloatArray:
        """Return the cost of going from each origin to its goal."""
        if self.points is not None and "travel" not in self.__dict__:
            return self.points.between(origins, goals)
        return np.array(self.travel[np.asarray(origins), np.asarray(goals)])

    def legs(self, order: ArrayLike) -> FloatArray:
        """Return the travel cost of each step of an order, the way back last where it is closed."""
        stops = np.asarray(order)
        return self.between(stops, np.roll(stops, -1)) if self.ends.closed else self.between(stops[:-1], stops[1:])

    def weights_of(self, order: ArrayLike) -> FloatArray:
        """Return what the score of each stop counts."""
        if self.factors is None:
            return self.weights
        return products_after(self.factors[np.asarray(order)])

    def repaired(self, order: IntArray) -> IntArray:
        """Return an order that begins and ends where it must; cycles are cut behind the only score that counts."""
        if self.ends.cyclic and self.only_last_counts:
            return np.roll(order, len(order) - 1 - int(np.flatnonzero(order == self.best_last)[0]))
        return self.ends.repair(order)

    def __call__(self, order: ArrayLike) -> float:
        """Return the value of an order, correctly rounded."""
        stops = np.asarray(order)
        if self.pairs is not None:
            return math.fsum([*self.legs(stops), *self.pairs.parts(stops).terms()])
        return math.fsum([*self.legs(stops), *(self.weights_of(stops) * self.scores[stops]), self.constant])

    def magnitude(self, order: ArrayLike) -> float:
        """Return the sum of the sizes of all terms of an order's value: what its rounding is relative to."""
        stops = np.asarray(order)
        if self.pairs is None:
            return self(stops)
        return math.fsum(np.abs([*self.legs(stops), *self.pairs.parts(stops).terms()]))

    @property
    def ways(self) -> FloatArray | Points:
        """Travel as it was given: places, or a matrix."""
        return self.travel if self.points is None else self.points

    def travel_alone(self) -> Objective:
        """Return the same ways and ends with no scores."""
        nothing = np.zeros(self.size)
        return Objective(self.ways, nothing, nothing, 0.0, self.ends)

    def error_alone(self) -> Objective:
        """Return the same scores and ends where travel costs nothing."""
        nothing = frozen(np.zeros((self.size, self.size)))
        return Objective(nothing, self.scores, self.weights, self.constant, self.ends, self.factors, self.pairs)

    def ending_at(self, last: int) -> Objective:
        """Return the same with the last region fixed."""
        ends = self.ends.ending_at(last)
        return Objective(self.ways, self.scores, self.weights, self.constant, ends, self.factors, self.pairs)

    @cached_property
    def linear(self) -> Objective:
        """A linear objective that is nowhere above this one: pairs at their least. Without pairs, this one."""
        if self.pairs is None:
            return self
        scores, weights, constant, factors = self.pairs.relaxation
        return Objective(self.ways, scores, weights, constant, self.ends, factors)

    @cached_property
    def typical(self) -> Objective:
        """A linear objective that is near this one: pairs as if all regions were alike. Without pairs, this one."""
        if self.pairs is None:
            return self
        return Objective(self.ways, self.scores, self.weights, self.constant, self.ends, self.factors)


def least_products(factors: FloatArray) -> FloatArray:
    """For each position, the least product that the factors behind it can have, whatever the order."""
    return frozen(products_after(np.sort(factors)[::-1]))
