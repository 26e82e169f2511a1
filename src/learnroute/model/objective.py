"""What a solver sees: travel, plus what each region's score counts at its place. No regimes, names or files."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from learnroute.model.distances import Points
from learnroute.model.validation import FloatArray, frozen


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
    first, last
        The region that every order begins, ends with; None where that is free.
    closed
        Whether the way from the last region back to the first is paid too.
    factors
        Where given, what a score counts depends on the regions that follow: the product of their factors, each between
        0 and 1. `weights` are then lower bounds of it, position by position.
    """

    def __init__(
        self,
        travel: FloatArray | Points,
        scores: FloatArray,
        weights: FloatArray,
        constant: float = 0.0,
        first: int | None = None,
        last: int | None = None,
        closed: bool = False,
        factors: FloatArray | None = None,
    ) -> None:
        self.points = travel if isinstance(travel, Points) else None
        if not isinstance(travel, Points):
            self.__dict__["travel"] = travel
        self.scores, self.weights, self.constant = scores, weights, constant
        self.first, self.last, self.closed, self.factors = first, last, closed, factors

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
        return self.points is not None or bool(np.array_equal(self.travel, self.travel.T))

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
        if self.last is not None:
            return self.last
        ranks = np.array(self.ranks)
        if self.first is not None:
            ranks[self.first] = np.inf
        return int(np.argmin(ranks))

    @cached_property
    def only_last_counts(self) -> bool:
        """Whether no score but the last region's counts."""
        return self.factors is None and not self.weights[:-1].any()

    @cached_property
    def begin(self) -> FloatArray:
        """What it costs to begin at each region, besides its score: inf where that is not allowed."""
        costs = np.zeros(self.size)
        if self.closed and self.first is None and self.last is not None:
            costs = self.travel_from(self.last)
        return frozen(_only(self.first, self.last, costs))

    @cached_property
    def finish(self) -> FloatArray:
        """What it costs to end at each region, besides its score: inf where that is not allowed.

        Where the route is closed and neither end is fixed, the way back is in neither `begin` nor `finish`.
        """
        costs = np.zeros(self.size)
        if self.closed and self.first is not None:
            costs = self.travel_to(self.first)
        return frozen(_only(self.last, self.first, costs))

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
        return self.between(stops, np.roll(stops, -1)) if self.closed else self.between(stops[:-1], stops[1:])

    def shares(self, order: ArrayLike) -> FloatArray:
        """Return what the score of each stop counts."""
        if self.factors is None:
            return self.weights
        return products_after(self.factors[np.asarray(order)])

    def allows(self, order: ArrayLike) -> bool:
        """Whether an order begins and ends where it must."""
        stops = np.asarray(order)
        return self.first in (None, stops[0]) and self.last in (None, stops[-1])

    def __call__(self, order: ArrayLike) -> float:
        """Return the value of an order, correctly rounded."""
        stops = np.asarray(order)
        return math.fsum([*self.legs(stops), *(self.shares(stops) * self.scores[stops]), self.constant])

    def travel_alone(self) -> Objective:
        """Return the same ways and ends with no scores."""
        ways = self.travel if self.points is None else self.points
        nothing = np.zeros(self.size)
        return Objective(ways, nothing, nothing, 0.0, self.first, self.last, self.closed)

    def ending_at(self, last: int) -> Objective:
        """Return the same with the last region fixed."""
        ways = self.travel if self.points is None else self.points
        return Objective(
            ways, self.scores, self.weights, self.constant, self.first, last, self.closed, self.factors
        )  # fmt: skip


def products_after(factors: FloatArray) -> FloatArray:
    """For each place in a row of factors, the product of those behind it."""
    found = np.ones(len(factors))
    with np.errstate(under="ignore"):
        found[:-1] = np.cumprod(factors[:0:-1])[::-1]
    return found


def least_products(factors: FloatArray) -> FloatArray:
    """For each position, the least product that the factors behind it can have, whatever the order."""
    return frozen(products_after(np.sort(factors)[::-1]))


def _only(fixed: int | None, other: int | None, costs: FloatArray) -> FloatArray:
    """Forbid all regions but the fixed one, or the one fixed at the other end."""
    if fixed is not None:
        costs = np.where(np.arange(len(costs)) == fixed, costs, np.inf)
    elif other is not None:
        costs = np.where(np.arange(len(costs)) == other, np.inf, costs)
    return costs
