"""Check the bound of ng-routes of any length: one dynamic programme in whole numbers; docs/bounds.md has the proof.

Every cost is rounded down to a whole number of units, and cut at an amount that no route below the goal can contain.
Multipliers may be any numbers, so they are rounded, too. The unit is so large that no sum overflows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from learnroute.model.certificates import VisitRoutes
from learnroute.model.problem import Problem
from learnroute.model.rules import VisitRules
from learnroute.verification.checks import EffortExceededError
from learnroute.verification.exact import ONE
from learnroute.verification.law import law_of
from learnroute.verification.pair_terms import Terms

MOST_ARCS = 2_000_000_000  # arcs processed in all layers
MOST_KEPT = 20_000_000  # arcs between two layers
BITS = 58  # bits of the largest sum along a route
TOP = 1 << 60  # more than any such sum; the cost of forbidden visits and ends

Whole = NDArray[np.int64]


def applies(problem: Problem, scores: Sequence[Fraction]) -> bool:
    """Whether training has the same effect at every position, without coupling, and no term of a loss is negative."""
    retention, plasticity, coupling, second, noise = problem.updates.tables
    steady = all(bool((table == table[:1]).all()) for table in problem.updates.tables)
    least = min(float(table.min()) for table in (retention, plasticity, second, noise, problem.initial_errors))
    return steady and not coupling.any() and least >= 0 and min(scores) >= 0


class RouteCosts:
    """The exact costs of sequences of visits with multipliers.

    Parameters
    ----------
    problem, rules
        The problem, and the rules of visits.
    terms
        The exact sums of dissimilarities and of the initial model's errors.
    certificate
        Multipliers and ng-sets.
    room
        Factor of a travel budget, which may be exceeded by rounding.
    """

    def __init__(
        self, problem: Problem, rules: VisitRules, terms: Terms, certificate: VisitRoutes, room: Fraction
    ) -> None:
        self.problem, self.rules, self.certificate = problem, rules, certificate
        self.regions: list[int] = np.flatnonzero(rules.allowed).tolist()
        self.repeats: list[int] = np.minimum(rules.repeats, rules.at_most)[self.regions].tolist()
        self.price = Fraction(0) if math.isinf(rules.budget) else Fraction(certificate.budget_multiplier)
        self.spared = self.price * Fraction(rules.budget) * room if self.price else Fraction(0)
        self.rate = Fraction(problem.travel_rate) + self.price
        self.multipliers = [Fraction(float(certificate.multipliers[i])) for i in self.regions]
        law = law_of(problem)
        retention, plasticity, _, second, noise = zip(*(law(0, i) for i in self.regions), strict=True)
        self.retained, self.kept = self._least_products(retention), self._least_products(second)
        self.scored = [share * terms.scores[i] for share, i in zip(plasticity, self.regions, strict=True)]
        self.noise = [problem.size * each for each in noise]
        self.total = terms.total
        self._begin_and_finish()

    def _least_products(self, factors: Sequence[Fraction]) -> list[Fraction]:
        """Return the smallest products of 0, 1, 2 … factors, rounded down; each region's up to its allowed visits."""
        some = sorted(factor for factor, many in zip(factors, self.repeats, strict=True) for _ in range(many))
        found = [ONE]
        for factor in some[: self.rules.at_most]:
            found.append(found[-1] * factor.numerator // factor.denominator)
        return [Fraction(share, ONE) for share in found]

    def _begin_and_finish(self) -> None:
        """Set the costs of beginning and of ending in each region; None if that is not allowed.

        If routes are cycles that may be cut anywhere, the return is omitted: its cost is not negative.
        """
        problem, ends = self.problem, self.problem.ends
        ways = problem.ways.matrix
        self.first = ends.first if ends.first in self.regions else None
        self.begin: list[Fraction | None] = []
        self.finish: list[Fraction | None] = []
        for i in self.regions:
            come, back = Fraction(0), Fraction(0)
            if ends.first is not None:
                come = Fraction(float(ways[ends.first, i]))
            elif ends.closed and ends.last is not None:
                come = Fraction(float(ways[ends.last, i]))
            if ends.closed and ends.first is not None:
                back = Fraction(float(ways[i, ends.first]))
            self.begin.append(self.rate * come if self.first in (None, i) else None)
            self.finish.append(self.rate * back if ends.last in (None, i) else None)

    def least(self, goal: Fraction) -> Fraction:
        """Return a lower bound on the cost of all sequences, up to the goal; more than it if all of them cost more."""
        rules, regions = self.rules, self.regions
        most = max(map(abs, self.multipliers))
        highest = abs(goal) + self.spared + (rules.at_most + sum(self.repeats)) * most
        self.highest = 2 * highest or Fraction(1)  # no single cost of a route below the goal is as large
        largest = (4 * rules.at_most + 4) * self.highest
        self.unit = Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length() + 1 - BITS)
        refunds = [round(each / self.unit) for each in self.multipliers]
        fewest = [int(rules.required[i]) for i in regions]
        paid = sum(min(x * low, x * high) for x, low, high in zip(refunds, fewest, self.repeats, strict=True))
        routes = _Routes(self._ng_sets(), self._arcs(), rules.repeat > 1, self._start(), rules.at_most)
        nodes = np.array([self._nodes(k, refunds) for k in range(rules.at_most)], dtype=np.int64)
        if rules.repeat == 1 and self.problem.ends.last is not None:  # visited last only
            nodes[1:, regions.index(self.problem.ends.last)] = TOP
        begin, finish = (np.array([self._whole(x) for x in some]) for some in (self.begin, self.finish))
        cheapest = TOP
        for k, here in enumerate(routes.layers(nodes, finish)):
            if k + 1 >= rules.at_least:
                left = self._whole(self.retained[k + 1] * self.total)
                cheapest = min(cheapest, int((here + begin).min()) + left)
        return (cheapest + paid) * self.unit - self.spared

    def _whole(self, cost: Fraction | None) -> int:
        """Return a cost in whole units, rounded down."""
        return TOP if cost is None else math.floor(min(cost, self.highest) / self.unit)

    def _nodes(self, k: int, refunds: list[int]) -> list[int]:
        """Return the cost of a visit to each region with k visits after it."""
        retained, kept = self.retained[k], self.kept[k]
        costs = zip(self.scored, self.noise, refunds, strict=True)
        return [self._whole(retained * scored + kept * noise) - refund for scored, noise, refund in costs]

    def _arcs(self) -> Whole:
        """Return the cost of travel from each region (row) to each, in whole units."""
        ways = self.problem.ways.matrix
        rows = [[self._whole(self.rate * Fraction(float(ways[i, j]))) for j in self.regions] for i in self.regions]
        return np.array(rows, dtype=np.int64)

    def _ng_sets(self) -> list[list[int]]:
        """Return the ng-sets by index in the list of regions."""
        if self.rules.repeat > 1:
            return [[] for _ in self.regions]
        place = {region: k for k, region in enumerate(self.regions)}
        rows = (self.certificate.ng_sets[i] for i in self.regions)
        return [sorted({place[j] for j in row if j in place} - {k}) for k, row in enumerate(rows)]

    def _start(self) -> int:
        """Return the index of the region that must be visited first; -1 if there is none."""
        return -1 if self.first is None or self.rules.repeat > 1 else self.regions.index(self.first)


class _Routes:
    """States of routes: a region, and which regions of its ng-set are visited after it (one bit each)."""

    def __init__(self, ng_sets: list[list[int]], travel: Whole, again: bool, start: int, layers: int) -> None:
        size = len(ng_sets)
        arcs = sum(size << min(len(row), 40) for row in ng_sets)
        if arcs > MOST_KEPT or arcs * layers > MOST_ARCS:
            raise EffortExceededError
        self.counts = [1 << len(row) for row in ng_sets]
        self.starts = np.cumsum([0, *self.counts[:-1]])
        region = np.repeat(np.arange(size), self.counts)
        behind = np.zeros((len(region), size), dtype=np.bool_)
        for j, row in enumerate(ng_sets):
            for mask in range(self.counts[j]):
                behind[self.starts[j] + mask, [other for bit, other in enumerate(row) if mask >> bit & 1]] = True
        if not again:
            behind[np.arange(len(region)), region] = True
        self.steps = []  # for each region: the states before which it may be visited, the new states, and the travel
        for i, row in enumerate(ng_sets):
            before = np.flatnonzero(~behind[:, i] & (region != start))
            made = np.zeros(len(before), dtype=np.int64)
            for bit, other in enumerate(row):
                made |= behind[before, other].astype(np.int64) << bit
            self.steps.append((before, made, travel[i, region[before]]))

    def layers(self, nodes: Whole, finish: Whole) -> Iterator[Whole]:
        """Yield the minimum cost from each region to the end of a route, with 0, 1, 2 … visits after it."""
        here = np.full(sum(self.counts), TOP)
        here[self.starts] = np.minimum(nodes[0] + finish, TOP)
        yield np.minimum.reduceat(here, self.starts)
        for row in nodes[1:]:
            parts = []
            for count, cost, (before, made, way) in zip(self.counts, row.tolist(), self.steps, strict=True):
                part = np.full(count, TOP)
                np.minimum.at(part, made, here[before] + way)
                parts.append(np.minimum(part + cost, TOP))
            here = np.concatenate(parts)
            yield np.minimum.reduceat(here, self.starts)
