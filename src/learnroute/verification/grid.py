"""Costs as whole numbers: every one rounded down to a grid, so that all sums of a bound are exact.

To show that no order is below a goal, costs may be made smaller, but never larger. So each cost becomes the whole
number of grid units below it. Whatever then follows by exact integer arithmetic holds for the costs themselves. The
grid is fine beside the goal (2^-57 of it), and a cost that reaches the goal alone is in no order below it: so neither
huge nor tiny numbers do harm. Multipliers are free to choose, hence rounded to the grid too.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from learnroute.model.travel import Places
from learnroute.model.validation import FloatArray
from learnroute.verification.exact import ONE, Model, least_score_parts, path_relaxation

IntMatrix = NDArray[np.int64]

BITS = 57  # of the goal in grid units: a cost and two multipliers, or twice as much, stay below 2^63
LAST_DIGITS = 2.0**-44  # of a distance on the globe: more than two ways to compute it can differ by
LARGEST = 1 << 61  # more than any cost: for what is not allowed


class Grid:
    """A grid whose unit is `rate` times a power of two; `goal` is the least whole number of units not below the goal.

    An order whose value is below the goal has whole costs that add up to less than `goal`.
    """

    def __init__(self, rate: Fraction, goal: Fraction, bits: int = BITS) -> None:
        assert goal > 0
        scale = rate or Fraction(1)
        share = goal / scale
        self.exponent = share.numerator.bit_length() - share.denominator.bit_length() - bits
        power = Fraction(2) ** self.exponent
        self.unit = scale * power
        self.goal = math.ceil(goal / self.unit)
        self._mantissa, exponent = math.frexp(float(_scale(scale)))
        self._scaling = exponent + _exponent(scale)

    def below(self, cost: Fraction) -> int:
        """Return the whole units in a cost that is not negative, as far as the goal."""
        return min(self.goal, cost.numerator * self.unit.denominator // (cost.denominator * self.unit.numerator))

    def of_travel(self, travel: FloatArray) -> IntMatrix:
        """Return the whole units in travel costs, as far as the goal. Scaling by a power of two is exact."""
        with np.errstate(over="ignore", under="ignore"):
            scaled = np.floor(np.ldexp(travel, -self.exponent))
        whole = np.where(scaled < 2.0 * self.goal, scaled, 0.0).astype(np.int64)
        return np.where(scaled < 2.0 * self.goal, np.minimum(whole, self.goal), self.goal)

    def nearest(self, numbers: FloatArray, most: int | None = None, shift: int = 0) -> IntMatrix:
        """Return multipliers in units 2^shift times as large, near enough: any would do. They are cut at `most`."""
        most = self.goal if most is None else most
        with np.errstate(over="ignore", under="ignore"):
            scaled = self._scale(numbers, shift)
        found: IntMatrix = np.rint(np.clip(scaled, -float(most), float(most))).astype(np.int64)
        return found

    def excess(self, numbers: FloatArray, most: int) -> int:
        """Return by how many bits some multiplier is larger than the goal, as far as `most`."""
        with np.errstate(over="ignore", under="ignore"):
            largest = float(np.abs(self._scale(numbers, 0)).max(initial=0.0))
        return most if not math.isfinite(largest) else min(most, max(0, math.frexp(largest / self.goal)[1]))

    def _scale(self, numbers: FloatArray, shift: int) -> FloatArray:
        found: FloatArray = np.ldexp(
            np.asarray(numbers, dtype=np.float64) / self._mantissa, -self.exponent - self._scaling - shift
        )
        return found


def _exponent(number: Fraction) -> int:
    return number.numerator.bit_length() - number.denominator.bit_length()


def _scale(number: Fraction) -> Fraction:
    """Return a number near 1: it without its power of two."""
    return number / Fraction(2) ** _exponent(number)


class Costs:
    """The costs of orders below a goal as whole numbers; over paths, where orders are cycles (`path_relaxation`).

    Whatever costs as much as the goal, or is not allowed, has the cost `grid.goal`: no order below the goal takes it.
    """

    def __init__(self, model: Model, goal: Fraction, bits: int = BITS) -> None:
        self.model, added, self.tight = path_relaxation(model)
        self.reached = goal - added <= 0  # by all orders, since no cost is negative
        self.grid = Grid(model.rate, Fraction(1) if self.reached else goal - added, bits)
        self.size, self.goal, self.added = model.size, self.grid.goal, added

    @cached_property
    def travel(self) -> IntMatrix:
        """What it costs to go from region to region."""
        assert not isinstance(self.model.travel, Places)
        if not self.model.rate:
            return np.zeros((self.size, self.size), dtype=np.int64)
        return self.grid.of_travel(self.model.travel)

    def arcs_at(self, v: int) -> tuple[IntMatrix, IntMatrix]:
        """Return what it costs to go from a region to each, and from each to it: of places, without a matrix."""
        ways = self.model.travel
        if not isinstance(ways, Places):
            return self.travel[v], self.travel[:, v]
        if not self.model.rate:
            return np.zeros(self.size, dtype=np.int64), np.zeros(self.size, dtype=np.int64)
        lengths = ways.between(v, np.arange(self.size))
        if ways.geographic:  # the last digits of a sine may depend on where it stands in an array
            lengths = lengths * (1 - LAST_DIGITS)
        both = self.grid.of_travel(lengths)
        return both, both

    @cached_property
    def begin(self) -> IntMatrix:
        """What it costs to begin at each region."""
        ends, costs = self.model.ends, np.zeros(self.size, dtype=np.int64)
        if ends.closed and ends.first is None and ends.last is not None:
            costs = self.arcs_at(ends.last)[0]
        return np.where(ends.may_begin(self.size), costs, self.goal)

    @cached_property
    def finish(self) -> IntMatrix:
        """What it costs to end at each region, besides its score."""
        ends, costs = self.model.ends, np.zeros(self.size, dtype=np.int64)
        if ends.closed and ends.first is not None:
            costs = self.arcs_at(ends.first)[1]
        return np.where(ends.may_end(self.size), costs, self.goal)

    @cached_property
    def nodes(self) -> IntMatrix:
        """What the score of each region (column) costs at each position (row)."""
        whole, below = self.model.whole_scores
        above, below = self.grid.unit.denominator, below * ONE * self.grid.unit.numerator
        rows = [
            [min(self.goal, share * score * above // below) for score in whole] if share else [0] * self.size
            for share in self.model.shares
        ]
        return np.array(rows, dtype=np.int64)

    def score_parts(self, ending: tuple[int, ...] = ()) -> IntMatrix:
        """Return the least score part of orders that end at each region, before an ending that is paid apart."""
        parts = least_score_parts(self.model, ending)
        return np.array([self.goal if part is None else self.grid.below(part) for part in parts], dtype=np.int64)

    def value(self, whole: int) -> Fraction:
        """Return what so many units are worth, in the value of an order without its constant."""
        return whole * self.grid.unit + self.added


def exact_total(numbers: IntMatrix) -> int:
    """Return the sum of whole numbers below 2^62, however many: in two halves, neither of which overflows."""
    return (int((numbers >> 31).sum()) << 31) + int((numbers & 0x7FFFFFFF).sum())
