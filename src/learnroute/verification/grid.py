"""Costs as whole numbers, rounded down to a grid, so that all sums of a bound are exact.

To show that no order is below a goal, costs may be made smaller, but never larger. So each cost becomes the whole
number of grid units below it. Bounds that then follow by exact integer arithmetic hold for the costs themselves. The
grid is fine compared with the goal (2^-57 of it), and no order below the goal contains a cost that reaches the goal by
itself, so neither huge nor tiny numbers do harm. Multipliers can be chosen freely, hence they are rounded to the grid,
too.
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

BITS = 57  # bits of the goal in grid units: a cost and two multipliers, or twice as much, stay below 2^63
LAST_DIGITS = 2.0**-44  # relative difference of two computations of a distance on the globe is less than this
LARGEST = 1 << 61  # more than any cost; the cost of forbidden arcs


class Grid:
    """A grid whose unit is `rate` times a power of two; `goal` is the goal in units, rounded up.

    An order whose value is below the goal has whole costs with a sum of less than `goal`.
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
        """Return a non-negative cost in whole units, rounded down, up to the goal."""
        return min(self.goal, cost.numerator * self.unit.denominator // (cost.denominator * self.unit.numerator))

    def of_travel(self, travel: FloatArray) -> IntMatrix:
        """Return travel costs in whole units, rounded down, up to the goal. Scaling by a power of two is exact."""
        with np.errstate(over="ignore", under="ignore"):
            scaled = np.floor(np.ldexp(travel, -self.exponent))
        whole = np.where(scaled < 2.0 * self.goal, scaled, 0.0).astype(np.int64)
        return np.where(scaled < 2.0 * self.goal, np.minimum(whole, self.goal), self.goal)

    def nearest(self, numbers: FloatArray, most: int | None = None, shift: int = 0) -> IntMatrix:
        """Return multipliers in units 2^shift times as large, rounded, since any are valid, and cut at `most`."""
        most = self.goal if most is None else most
        with np.errstate(over="ignore", under="ignore"):
            scaled = self._scale(numbers, shift)
        found: IntMatrix = np.rint(np.clip(scaled, -float(most), float(most))).astype(np.int64)
        return found

    def excess(self, numbers: FloatArray, most: int) -> int:
        """Return the number of bits by which the largest multiplier exceeds the goal, up to `most`."""
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
    """Return a number divided by its power of two, so that it is near 1."""
    return number / Fraction(2) ** _exponent(number)


class Costs:
    """The costs of orders below a goal as whole numbers; over paths if orders are cycles (`path_relaxation`).

    Arcs and ends that cost as much as the goal, or are not allowed, have the cost `grid.goal`: no order below the goal
    uses them.
    """

    def __init__(self, model: Model, goal: Fraction, bits: int = BITS) -> None:
        self.model, added, self.tight = path_relaxation(model)
        self.reached = goal - added <= 0  # whether all orders reach the goal, since no cost is negative
        self.grid = Grid(model.rate, Fraction(1) if self.reached else goal - added, bits)
        self.size, self.goal, self.added = model.size, self.grid.goal, added

    @cached_property
    def travel(self) -> IntMatrix:
        """The costs of travel from region to region."""
        assert not isinstance(self.model.travel, Places)
        if not self.model.rate:
            return np.zeros((self.size, self.size), dtype=np.int64)
        return self.grid.of_travel(self.model.travel)

    def arcs_at(self, v: int) -> tuple[IntMatrix, IntMatrix]:
        """Return the costs of travel from a region to each, and from each to it; for places, without a matrix."""
        ways = self.model.travel
        if not isinstance(ways, Places):
            return self.travel[v], self.travel[:, v]
        if not self.model.rate:
            return np.zeros(self.size, dtype=np.int64), np.zeros(self.size, dtype=np.int64)
        lengths = ways.between(v, np.arange(self.size))
        if ways.geographic:  # the last digits of a sine may depend on its position in an array
            lengths = lengths * (1 - LAST_DIGITS)
        both = self.grid.of_travel(lengths)
        return both, both

    @cached_property
    def begin(self) -> IntMatrix:
        """The cost of beginning at each region."""
        ends, costs = self.model.ends, np.zeros(self.size, dtype=np.int64)
        if ends.closed and ends.first is None and ends.last is not None:
            costs = self.arcs_at(ends.last)[0]
        return np.where(ends.may_begin(self.size), costs, self.goal)

    @cached_property
    def finish(self) -> IntMatrix:
        """The cost of ending at each region, without its score."""
        ends, costs = self.model.ends, np.zeros(self.size, dtype=np.int64)
        if ends.closed and ends.first is not None:
            costs = self.arcs_at(ends.first)[1]
        return np.where(ends.may_end(self.size), costs, self.goal)

    @cached_property
    def nodes(self) -> IntMatrix:
        """The cost of the score of each region (column) at each position (row)."""
        whole, below = self.model.whole_scores
        above, below = self.grid.unit.denominator, below * ONE * self.grid.unit.numerator
        rows = [
            [min(self.goal, share * score * above // below) for score in whole] if share else [0] * self.size
            for share in self.model.shares
        ]
        return np.array(rows, dtype=np.int64)

    def score_parts(self, ending: tuple[int, ...] = ()) -> IntMatrix:
        """Return the minimum score part of orders that end at each region, before a separately paid ending."""
        parts = least_score_parts(self.model, ending)
        return np.array([self.goal if part is None else self.grid.below(part) for part in parts], dtype=np.int64)

    def value(self, whole: int) -> Fraction:
        """Return the value of a number of units, as a value of orders without the constant."""
        return whole * self.grid.unit + self.added


def exact_total(numbers: IntMatrix) -> int:
    """Return the sum of any number of whole numbers below 2^62, in two halves, neither of which overflows."""
    return (int((numbers >> 31).sum()) << 31) + int((numbers & 0x7FFFFFFF).sum())
