"""Enumerate: the least cost over all sets of regions, from the end (Held and Karp 1962), in whole numbers.

Costs are whole numbers of grid units, in one or more *limbs*: of each cost, 57 bits before the point and 57 more behind
it a limb. One limb decides all but contrived problems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.model.travel import Places
from learnroute.verification.exact import ONE, Model, least_score_parts, path_relaxation
from learnroute.verification.grid import Grid

MOST_REGIONS = 20  # up to which all sets are enumerated
MOST_BYTES = 1 << 30  # for finer grids: 4 limbs at 20 regions, 64 up to 16
BLOCK = 4096  # sets at a time, so that they stay in the cache
LIMB = 57  # bits of the lower limbs
ABOVE = 1 << 61  # more than any cost in the highest limb

Limbs = list[NDArray[np.int64]]  # of the same shape, the highest first


class Least(NamedTuple):
    """An order of least whole cost: no order costs less than `low` (without the constant)."""

    low: Fraction
    order: list[int]


def least_order(model: Model, goal: Fraction, limbs: int = 1) -> Least:
    """Return an order of least cost, with costs rounded down to a grid that is fine beside the goal."""
    ends = model.ends
    enumeration = _Enumeration(model, goal, limbs)
    if not ends.cyclic:
        return enumeration.least(ends.first, ends.last, ends.first)
    if model.only_last_counts:
        return enumeration.least(None, path_relaxation(model).model.ends.last, None)
    return _least_cycle(model, enumeration, goal, limbs)


def _least_cycle(model: Model, enumeration: _Enumeration, goal: Fraction, limbs: int) -> Least:
    """Return the least order of those that are cycles: for each region behind which the cycle may be cut.

    None costs less than the shortest tour and the least score part of orders that end there: most are left out by that.
    """
    nothing, alone = (Fraction(0),) * model.size, (0,) * model.size
    tours = replace(model, scores=nothing, shares=alone, factors=None)
    shortest = _Enumeration(tours, goal, limbs).least(None, 0, None).low
    best: Least | None = None
    parts = {v: part for v, part in enumerate(least_score_parts(model)) if part is not None}
    for cut in sorted(parts, key=lambda v: parts[v]):
        if best is None or shortest + parts[cut] < best.low:
            found = enumeration.least(None, cut, None)
            best = found if best is None or found.low < best.low else best
    assert best is not None
    return best


def better_order(model: Model, goal: Fraction) -> tuple[bool, list[int]]:
    """Say whether an order is below the goal, and return one of least cost; finer grids are used while it is unsure."""
    a_limb = 8 * model.size << model.size
    for limbs in (1, 2, 4, 8, 16, 32, 64):
        if limbs > 1 and limbs * a_limb > MOST_BYTES:
            break
        least = least_order(model, goal, limbs)
        if least.low >= goal:
            return False, least.order
        if model.value(least.order).high < goal:
            return True, least.order
    raise ArithmeticError("the optimum is too near to the goal to tell")


class _Enumeration:
    """The costs of a model in limbs."""

    def __init__(self, model: Model, goal: Fraction, limbs: int) -> None:
        self.model, self.limbs = model, limbs
        self.grid = Grid(model.rate, goal, 55 + LIMB * (limbs - 1))
        assert not isinstance(model.travel, Places)
        costs = [[self.grid.below(model.rate * Fraction(x)) for x in row] for row in model.travel.tolist()]
        self.travel = self._split(np.array(costs, dtype=object))
        self.allowed = model.ends.positions(model.size)

    def _split(self, numbers: NDArray[np.object_]) -> Limbs:
        """Split whole numbers into limbs."""
        lower = [(numbers >> LIMB * k) & ((1 << LIMB) - 1) for k in range(self.limbs - 1)]
        highest = numbers >> LIMB * (self.limbs - 1)
        return [np.asarray(part, dtype=np.int64) for part in (highest, *reversed(lower))]

    def _score_costs(self, shares: Sequence[int] | NDArray[np.object_], v: int) -> Limbs:
        """Return what the score of a region costs where it counts each of these shares."""
        whole, below = self.model.whole_scores
        above = whole[v] * self.grid.unit.denominator
        below = below * ONE * self.grid.unit.numerator
        return self._split(np.minimum(np.asarray(shares, dtype=object) * above // below, self.grid.goal))

    def least(self, first: int | None, last: int | None, back: int | None) -> Least:
        """Return the least order with these ends; the way back leads to `back`, or to the first if unknown."""
        model, size = self.model, self.model.size
        inner = [v for v in range(size) if v not in (first, last)]
        if not inner:
            order = [v for v in (first, last) if v is not None]
            return Least(model.value(order).low, order)
        tail = [] if last is None else [last]
        sets = np.arange(1 << len(inner))
        counts = sum(((sets >> k) & 1 for k in range(len(inner))), start=np.zeros(len(sets), dtype=np.int64))
        scored = [self._scored(v, inner, tail) for v in inner]
        seen = counts if model.factors is None else sets  # what decides the share of a score before a set
        rows = np.array(inner, dtype=np.int64)
        best = [np.full((len(sets), len(inner)), ABOVE) for _ in range(self.limbs)]
        closed = model.ends.closed
        for k, v in enumerate(inner):
            if last is None and not self.allowed[-1, v]:
                continue
            here = [limb[[0]] for limb in scored[k]]
            if last is not None:
                here = _add(here, [limb[v, [last]] for limb in self.travel])
                here = _add(here, self._score_costs([ONE if model.factors is not None else model.shares[-1]], last))
            if closed and back is not None:
                here = _add(here, [limb[[v if last is None else last], back] for limb in self.travel])
            for limb, part in zip(best, here, strict=True):
                limb[1 << k, k] = part[0]
        for count in range(2, len(inner) + 1):
            layer = sets[counts == count]
            for k, v in enumerate(inner):
                if first is None and count == len(inner) and not self.allowed[0, v]:
                    continue
                onward = [limb[v, rows] for limb in self.travel]
                with_v = layer[(layer >> k) & 1 == 1]
                for at in range(0, len(with_v), BLOCK):
                    here = with_v[at : at + BLOCK]
                    rest = here ^ (1 << k)
                    found = _least(_add([limb[rest] for limb in best], onward))
                    found = _add(found, [limb[seen[rest]] for limb in scored[k]])
                    for limb, part in zip(best, found, strict=True):
                        limb[here, k] = np.minimum(part, ABOVE)
        full = [limb[-1] for limb in best]
        if first is not None:
            full = _add(full, [limb[first, rows] for limb in self.travel])
            full = _add(full, self._first_score(first, inner, tail))
        elif closed and last is not None:
            full = _add(full, [limb[last, rows] for limb in self.travel])
        totals = _joined(full)
        k = min(range(len(inner)), key=lambda k: totals[k])
        order = self._traced(best, k, inner, rows)
        return Least(totals[k] * self.grid.unit, [*([] if first is None else [first]), *order, *tail])

    def _shares(self, inner: list[int], tail: list[int]) -> NDArray[np.object_]:
        """Return what a score counts before each set of inner regions and the tail, where factors say so."""
        factors = self.model.factors
        assert factors is not None
        shares = np.array([ONE], dtype=object)
        for v in tail:
            shares = shares * factors[v].numerator // factors[v].denominator
        for v in inner:
            shares = np.concatenate([shares, shares * factors[v].numerator // factors[v].denominator])
        return shares

    def _scored(self, v: int, inner: list[int], tail: list[int]) -> Limbs:
        """Return what a score costs before each number of inner regions; with factors, before each set of them."""
        if self.model.factors is not None:
            return self._score_costs(self._shares(inner, tail), v)
        size = self.model.size
        return self._score_costs([self.model.shares[size - 1 - k - len(tail)] for k in range(len(inner))], v)

    def _first_score(self, first: int, inner: list[int], tail: list[int]) -> Limbs:
        share = self.model.shares[0] if self.model.factors is None else self._shares(inner, tail)[-1]
        return self._score_costs([share], first)

    def _traced(self, best: Limbs, k: int, inner: list[int], rows: NDArray[np.int64]) -> list[int]:
        """Trace the order back from the full set."""
        left, order = (1 << len(inner)) - 1, [inner[k]]
        while left ^ (1 << k):
            left ^= 1 << k
            onward = _joined(_add([limb[left] for limb in best], [limb[order[-1], rows] for limb in self.travel]))
            k = min((j for j in range(len(inner)) if left >> j & 1), key=lambda j: onward[j])
            order.append(inner[k])
        return order


def _add(some: Limbs, others: Limbs) -> Limbs:
    """Add numbers limb by limb, carries included."""
    sums = [a + b for a, b in zip(some, others, strict=True)]
    for k in range(len(sums) - 1, 0, -1):
        sums[k - 1] = sums[k - 1] + (sums[k] >> LIMB)
        sums[k] = sums[k] & ((1 << LIMB) - 1)
    return sums


def _least(numbers: Limbs) -> Limbs:
    """Return the least number of each row."""
    found = [numbers[0].min(axis=1)]
    for before, limb in pairwise(numbers):
        numbers_tied = before == found[-1][:, None]  # those that are not have no lower limbs to compare
        limb[~numbers_tied] = ABOVE
        found.append(limb.min(axis=1))
    return found


def _joined(numbers: Limbs) -> list[int]:
    """Return a row of limbs as whole numbers."""
    return [sum(int(limb[k]) << LIMB * (len(numbers) - 1 - j) for j, limb in enumerate(numbers)) for k in range(
        len(numbers[0])
    )]  # fmt: skip
