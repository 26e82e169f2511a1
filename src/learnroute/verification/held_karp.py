"""Enumeration: the minimum cost over all sets of regions, from the end (Held and Karp 1962), in whole numbers.

Costs are whole numbers of grid units in one or more *limbs*: the first has 57 bits before the point, and each further
one has 57 bits after it. One limb decides all but contrived problems.
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

MOST_REGIONS = 20  # regions up to which all sets are enumerated
MOST_BYTES = 1 << 30  # memory for finer grids: 4 limbs with 20 regions, 64 with up to 16
BLOCK = 4096  # sets at a time, so that they stay in the cache
LIMB = 57  # bits of the lower limbs
ABOVE = 1 << 61  # more than any cost in the highest limb

Limbs = list[NDArray[np.int64]]  # arrays of the same shape, the highest limb first


class Least(NamedTuple):
    """An order of minimum whole cost; no order costs less than `low` (without the constant)."""

    low: Fraction
    order: list[int]


def least_order(model: Model, goal: Fraction, limbs: int = 1) -> Least:
    """Return an order of minimum cost, with costs rounded down to a grid that is fine compared with the goal."""
    ends = model.ends
    enumeration = _Enumeration(model, goal, limbs)
    if not ends.cyclic:
        return enumeration.least(ends.first, ends.last, ends.first)
    if model.only_last_counts:
        return enumeration.least(None, path_relaxation(model).model.ends.last, None)
    return _least_cycle(model, enumeration, goal, limbs)


def _least_cycle(model: Model, enumeration: _Enumeration, goal: Fraction, limbs: int) -> Least:
    """Return the cheapest cyclic order, over all regions after which the cycle may be cut.

    A cycle costs at least the shortest tour plus the minimum score part of orders that end at the cut. Most regions are
    skipped for that reason.
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


class VisitCosts(NamedTuple):
    """The rules of visits, and the costs that do not depend on their order.

    Attributes
    ----------
    allowed, required
        Regions that may and that must be visited.
    at_least, at_most
        The minimum and maximum number of visits.
    constants
        The remaining error of the initial model plus noise, by the number of visits; with `retained`, without noise.
    retained
        If sample sizes differ, the share of the model that a visit to each region retains.
    """

    allowed: list[int]
    required: list[int]
    at_least: int
    at_most: int
    constants: list[Fraction]
    retained: list[Fraction] | None


def least_visits(model: Model, kept: VisitCosts, goal: Fraction, limbs: int) -> Least | None:
    """Return a sequence of visits of minimum cost, constants included; None if no visits are allowed."""
    ends, enumeration = model.ends, _Enumeration(model, goal, limbs)
    lasts = kept.allowed if ends.cyclic else [ends.last]
    found = (enumeration.least_visits(ends.first, last, ends.first, kept) for last in lasts)
    return min((one for one in found if one is not None), key=lambda one: one.low, default=None)


def better_order(model: Model, goal: Fraction) -> tuple[bool, list[int]]:
    """Return whether an order is below the goal, and one of minimum cost; grids are refined until it is decided."""
    a_limb = 8 * model.size << model.size
    for limbs in (1, 2, 4, 8, 16, 32, 64):
        if limbs > 1 and limbs * a_limb > MOST_BYTES:
            break
        least = least_order(model, goal, limbs)
        if least.low >= goal:
            return False, least.order
        if model.value(least.order).high < goal:
            return True, least.order
    raise ArithmeticError("the optimum is too close to the claimed bound to decide")


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
        """Return the cost of the score of a region for each of these shares."""
        whole, below = self.model.whole_scores
        above = whole[v] * self.grid.unit.denominator
        below = below * ONE * self.grid.unit.numerator
        return self._split(np.minimum(np.asarray(shares, dtype=object) * above // below, self.grid.goal))

    def least(self, first: int | None, last: int | None, back: int | None) -> Least:
        """Return the cheapest order with these ends; a closed route returns to `back`, or to its first if unknown."""
        inner = [v for v in range(self.model.size) if v not in (first, last)]
        if not inner:
            order = [v for v in (first, last) if v is not None]
            return Least(self.model.value(order).low, order)
        best = self._fill(inner, first, last, back)
        tail = [] if last is None else [last]
        full = self._with_begin([limb[-1:] for limb in best], first, last, inner, np.array([(1 << len(inner)) - 1]))
        totals = _join([limb[0] for limb in full])
        k = min(range(len(inner)), key=lambda k: totals[k])
        order = self._trace(best, (1 << len(inner)) - 1, k, inner)
        return Least(totals[k] * self.grid.unit, [*([] if first is None else [first]), *order, *tail])

    def least_visits(self, first: int | None, last: int | None, back: int | None, kept: VisitCosts) -> Least | None:
        """Return the cheapest sequence of visits with these ends over all allowed sets; None if there is none.

        `first` may be a depot, which does not count as a visit.
        """
        inner = [v for v in kept.allowed if v not in (first, last)]
        ahead, tail = [] if first is None else [first], [] if last is None else [last]
        visited = [v for v in (*ahead, *tail) if v in kept.allowed]
        needed = sum(1 << k for k, v in enumerate(inner) if v in kept.required)
        found: Least | None = None
        if not needed and kept.at_least <= len(visited) and visited:  # only the two ends
            alone = self._constants(kept, visited, [], np.array([0]))[0] * self.grid.unit
            found = Least(self._value_of([*ahead, *tail]) + alone, [*ahead, *tail])
        sets = np.arange(1, 1 << len(inner))
        visits = _bits(sets, len(inner)) + len(visited)
        sets = sets[((sets & needed) == needed) & (kept.at_least <= visits) & (visits <= kept.at_most)]
        if not len(sets):
            return found
        best = self._fill(inner, first, last, back)
        costs = self._with_begin([limb[sets] for limb in best], first, last, inner, sets)
        constants = self._split(self._constants(kept, visited, inner, sets))
        costs = _add(costs, [limb[:, None] for limb in constants])
        least = _join(_least([limb.copy() for limb in costs]))
        row = min(range(len(sets)), key=lambda i: least[i])
        low = least[row] * self.grid.unit
        if found is not None and found.low <= low:
            return found
        here = _join([limb[row] for limb in costs])
        k = min(range(len(inner)), key=lambda k: here[k])
        return Least(low, [*ahead, *self._trace(best, int(sets[row]), k, inner), *tail])

    def _constants(
        self, kept: VisitCosts, visited: list[int], inner: list[int], sets: NDArray[np.int64]
    ) -> NDArray[np.object_]:
        """Return the remaining error of the initial model plus noise after the visits of each set, rounded down."""
        if kept.retained is None:
            by_count = np.array([self.grid.below(constant) for constant in kept.constants], dtype=object)
            found: NDArray[np.object_] = by_count[_bits(sets, len(inner)) + len(visited)]
            return np.asarray(np.minimum(found, self.grid.goal))
        shares = np.array([self.grid.below(kept.constants[0])], dtype=object)
        for v in visited:
            shares = shares * kept.retained[v].numerator // kept.retained[v].denominator
        for v in inner:
            shares = np.concatenate([shares, shares * kept.retained[v].numerator // kept.retained[v].denominator])
        return np.asarray(np.minimum(shares[sets], self.grid.goal))

    def _value_of(self, order: list[int]) -> Fraction:
        """Return the lower end of the value of an order of some of the stops."""
        shares = self.model.shares_of(order) if self.model.factors is not None else self.model.shares[-len(order) :]
        whole, below = self.model.whole_scores
        scored = sum(share * whole[v] for share, v in zip(shares, order, strict=True))
        return Fraction(scored, below * ONE) + self.model.rate * self.model.travel_of(order)

    def _fill(self, inner: list[int], first: int | None, last: int | None, back: int | None) -> Limbs:
        """Return the minimum cost from each inner region through each set of them to the end."""
        model = self.model
        tail = [] if last is None else [last]
        sets = np.arange(1 << len(inner))
        counts = _bits(sets, len(inner))
        scored = [self._position_costs(v, inner, tail) for v in inner]
        seen = counts if model.factors is None else sets  # index of the share of a score before each set
        rows = np.array(inner, dtype=np.int64)
        best = [np.full((len(sets), len(inner)), ABOVE) for _ in range(self.limbs)]
        for k, v in enumerate(inner):
            if last is None and not self.allowed[-1, v]:
                continue
            here = [limb[[0]] for limb in scored[k]]
            if last is not None:
                here = _add(here, [limb[v, [last]] for limb in self.travel])
                here = _add(here, self._score_costs([ONE if model.factors is not None else model.shares[-1]], last))
            if model.ends.closed and back is not None:
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
        return best

    def _with_begin(
        self, costs: Limbs, first: int | None, last: int | None, inner: list[int], sets: NDArray[np.int64]
    ) -> Limbs:
        """Add the cost of the route's beginning, for each set of inner regions (row) and the first one visited."""
        if first is None:
            closes = self.model.ends.closed and last is not None
            return _add(costs, [limb[last, inner][None, :] for limb in self.travel]) if closes else costs
        tail = [] if last is None else [last]
        if self.model.factors is None:
            behind = _bits(sets, len(inner)) + len(tail)
            shares = np.array([self.model.shares[self.model.size - 1 - int(k)] for k in behind], dtype=object)
        else:
            shares = self._shares(inner, tail)[sets]
        ways = [limb[first, inner][None, :] for limb in self.travel]
        return _add(costs, _add([limb[:, None] for limb in self._score_costs(shares, first)], ways))

    def _shares(self, inner: list[int], tail: list[int]) -> NDArray[np.object_]:
        """Return the share of a score before each set of inner regions and the tail, from the factors."""
        factors = self.model.factors
        assert factors is not None
        shares = np.array([ONE], dtype=object)
        for v in tail:
            shares = shares * factors[v].numerator // factors[v].denominator
        for v in inner:
            shares = np.concatenate([shares, shares * factors[v].numerator // factors[v].denominator])
        return shares

    def _position_costs(self, v: int, inner: list[int], tail: list[int]) -> Limbs:
        """Return the cost of a score before each number of inner regions; with factors, before each set of them."""
        if self.model.factors is not None:
            return self._score_costs(self._shares(inner, tail), v)
        size = self.model.size
        return self._score_costs([self.model.shares[size - 1 - k - len(tail)] for k in range(len(inner))], v)

    def _trace(self, best: Limbs, left: int, k: int, inner: list[int]) -> list[int]:
        """Return the best order of a set from the first of its regions."""
        order = [inner[k]]
        while left ^ (1 << k):
            left ^= 1 << k
            onward = _join(_add([limb[left] for limb in best], [limb[order[-1], inner] for limb in self.travel]))
            k = min((j for j in range(len(inner)) if left >> j & 1), key=lambda j: onward[j])
            order.append(inner[k])
        return order


def _bits(sets: NDArray[np.int64], many: int) -> NDArray[np.int64]:
    """Return the number of regions in each set."""
    return sum(((sets >> k) & 1 for k in range(many)), start=np.zeros(len(sets), dtype=np.int64))


def _add(some: Limbs, others: Limbs) -> Limbs:
    """Add numbers limb by limb, carries included."""
    sums = [a + b for a, b in zip(some, others, strict=True)]
    for k in range(len(sums) - 1, 0, -1):
        sums[k - 1] = sums[k - 1] + (sums[k] >> LIMB)
        sums[k] = sums[k] & ((1 << LIMB) - 1)
    return sums


def _least(numbers: Limbs) -> Limbs:
    """Return the minimum of each row."""
    found = [numbers[0].min(axis=1)]
    for before, limb in pairwise(numbers):
        numbers_tied = before == found[-1][:, None]  # only ties need their lower limbs compared
        limb[~numbers_tied] = ABOVE
        found.append(limb.min(axis=1))
    return found


def _join(numbers: Limbs) -> list[int]:
    """Return a row of limbs as whole numbers."""
    return [sum(int(limb[k]) << LIMB * (len(numbers) - 1 - j) for j, limb in enumerate(numbers)) for k in range(
        len(numbers[0])
    )]  # fmt: skip
