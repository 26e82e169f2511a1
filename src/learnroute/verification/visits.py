"""Check plans with optional or repeated visits: all sequences of visits are tried, unless there are too many.

Without coupling, the share of a score depends only on the visits that follow, and sets of regions are enumerated
(`held_karp.least_visits`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.model.certificates import Certificate, Simple, VisitRoutes
from learnroute.model.problem import Problem
from learnroute.model.rounding import SAME
from learnroute.model.rules import VisitRules
from learnroute.model.validation import FloatArray
from learnroute.verification import held_karp, visit_floor, visit_routes
from learnroute.verification.bounds import Outcome
from learnroute.verification.checks import EffortExceededError
from learnroute.verification.exact import Interval, as_float, initial_sum, losses_of
from learnroute.verification.pairs import PairLosses

MOST_SEQUENCES = 1_000_000  # maximum number of sequences of visits that are tried one by one
ROOM = 1 + Fraction(str(SAME))  # factor of a travel budget, which may be exceeded by rounding
BELOW_ALL = -(Fraction(2) ** 1100)


def violated_rule(problem: Problem, rules: VisitRules, order: Sequence[int]) -> str:
    """Return which rule a sequence of visits violates, in words; an empty string if it satisfies all."""
    visits = Counter(order)
    if not rules.at_least <= len(order) <= rules.at_most:
        return f"{len(order)} visits; {rules.at_least} … {rules.at_most} are possible"
    for i, name in enumerate(problem.regions):
        if rules.required[i] and not visits[i]:
            return f"region {name!r} must be visited, but is missing"
        if visits[i] > (most := rules.repeats[i]):
            return f"region {name!r} is visited {visits[i]} times; {most} are allowed"
    return ""


class _Layer(NamedTuple):
    """All sequences with the same number of visits, and the terms of their values; one row per sequence."""

    stops: NDArray[np.int64]  # the depot, if there is one, and the visits
    counts: NDArray[np.int64]  # number of visits to each region
    means: FloatArray  # a_j
    summed: FloatArray
    common: FloatArray
    sizes: FloatArray
    travel: FloatArray


class RouteChecker(ABC):
    """Checker of whether any routes are below a goal (T times a loss)."""

    known = BELOW_ALL  # no routes are below this

    def decide(self, goal: Fraction, optimum: bool = False) -> Outcome:
        """Decide whether no routes are below a goal, by the certificate or else by trying all."""
        if goal <= self.known:
            return Outcome(proved=True)
        found = self._by_certificate(goal)
        if found.follows is not None:
            self.known = max(self.known, found.follows)
        if not found.proved:
            found = self._by_trying(goal) or found
        if found.proved:
            self.known = max(self.known, goal)
        return found

    @abstractmethod
    def _by_certificate(self, goal: Fraction) -> Outcome:
        """Recompute the bound that the certificate proves."""

    @abstractmethod
    def _by_trying(self, goal: Fraction) -> Outcome | None:
        """Try all routes; None if there are too many."""


def compare_totals(totals: Iterable[Interval], goal: Fraction) -> Outcome:
    """Compare exact totals with a goal, until one of them may be below it."""
    for total in totals:
        if total.high < goal:
            return Outcome(better=goal - total.high)
        if total.low < goal:
            return Outcome(why="the optimum is too close to the claimed bound to decide")
    return Outcome(proved=True)


class VisitChecker(RouteChecker):
    """Checker of whether any sequence of visits is below a goal (T times a loss)."""

    def __init__(self, losses: PairLosses, rules: VisitRules, certificate: Certificate | None = None) -> None:
        self.losses, self.rules, self.problem, self.certificate = losses, rules, losses.problem, certificate

    def _by_certificate(self, goal: Fraction) -> Outcome:
        certificate, problem = self.certificate, self.problem
        if isinstance(certificate, VisitRoutes) and visit_routes.applies(problem, self.losses.terms.scores):
            if goal <= 0:  # no cost is negative
                return Outcome(proved=True)
            costs = visit_routes.RouteCosts(problem, self.rules, self.losses.terms, certificate, ROOM)
            try:
                least = costs.least(goal)
            except EffortExceededError:
                return Outcome(why="its ng-sets are too large to repeat the proof")
        elif isinstance(certificate, Simple) and self._floor is not None:
            least = self._floor
        else:
            return Outcome(why="there are too many sequences of visits to try them all")
        if least >= goal:
            return Outcome(proved=True)
        return Outcome(follows=least, why="the certificate proves a lower bound only")

    @cached_property
    def _floor(self) -> Fraction | None:
        return visit_floor.least_total(self.problem, self.rules, self.losses.terms)

    def is_within_budget(self, order: Sequence[int]) -> bool:
        """Whether a sequence travels no farther than its budget, up to rounding."""
        if math.isinf(self.rules.budget):
            return True
        stops = self.problem.from_depot(order).tolist()
        return self.losses.plain.travel_of(stops) <= Fraction(self.rules.budget) * ROOM

    def _by_trying(self, goal: Fraction) -> Outcome | None:
        problem, rules = self.problem, self.rules
        if _sequences(rules) <= MOST_SEQUENCES:
            return compare_totals(self._totals_near(goal), goal)
        sets = not problem.learner.couples and rules.repeat == 1 and math.isinf(rules.budget)
        return self._by_sets(goal) if sets and problem.size <= held_karp.MOST_REGIONS else None

    def _totals_near(self, goal: Fraction) -> Iterator[Interval]:
        """Yield the totals of all sequences near the goal or below, in increasing order for each length."""
        for visits, values, sizes in self._values():
            near = np.flatnonzero(values - 1e-12 * sizes < as_float(goal))
            for order in visits[near[np.argsort(values[near], kind="stable")]].tolist():
                if self.is_within_budget(order):
                    yield self.losses.total(self.problem.from_depot(order).tolist())

    def _values(self) -> Iterator[tuple[NDArray[np.int64], FloatArray, FloatArray]]:
        """Yield the sequences of each length with their values and the sizes of the terms of these."""
        problem, rules, ends = self.problem, self.rules, self.problem.ends
        size, travel = problem.size, problem.travel_rate * problem.ways.matrix
        scores = np.array([float(score) for score in self.losses.terms.scores])
        first = ends.first if ends.first is not None and ends.first < size else None
        layer = self._start()
        for t in range(rules.at_most):
            grown = [
                self._train(layer, t, k, scores, travel)
                for k in np.flatnonzero(rules.allowed).tolist()
                if t > 0 or first in (None, k)
            ]
            layer = _Layer(*(np.concatenate(parts) for parts in zip(*grown, strict=True)))
            last = layer.stops[:, -1]
            whole = (layer.counts[:, rules.required] > 0).all(axis=1)
            whole &= last == ends.last if ends.last is not None else True
            whole &= t + 1 >= rules.at_least
            legs = layer.travel
            if ends.closed:
                legs = legs + travel[last, layer.stops[:, 0]]
            values = legs + layer.summed - size * layer.common
            sizes = legs + np.abs(layer.summed) + size * layer.sizes + float(np.abs(scores).sum())
            yield layer.stops[whole, -t - 1 :], values[whole], sizes[whole]

    def _start(self) -> _Layer:
        """Return the one sequence without visits."""
        problem, nothing = self.problem, np.zeros(1)
        initial = problem.initial_errors
        return _Layer(
            problem.from_depot([])[None, :], np.zeros((1, problem.size), dtype=np.int64), initial[None, :],
            np.array([float(self.losses.terms.total)]), nothing, nothing, nothing,
        )  # fmt: skip

    def _train(self, layer: _Layer, t: int, k: int, scores: FloatArray, travel: FloatArray) -> _Layer:
        """Return the sequences of a layer with another visit to a region."""
        problem = self.problem
        some = layer.counts[:, k] < self.rules.repeats[k]
        stops, counts = layer.stops[some], layer.counts[some]
        means, summed, common, sizes, way = (part[some] for part in layer[2:])
        retention, plasticity, coupling, second, noise = (float(table[t, k]) for table in problem.updates.tables)
        if stops.shape[1]:
            way = way + travel[stops[:, -1], k]
        counts = counts.copy()
        counts[:, k] += 1
        return _Layer(
            np.column_stack([stops, np.full(len(stops), k)]),
            counts,
            retention * means + plasticity * self.losses.terms.floats[k],
            retention * summed + plasticity * scores[k],
            second * common + coupling * means[:, k] - noise,
            sizes + np.abs(coupling * means[:, k]) + abs(noise),
            way,
        )

    def _by_sets(self, goal: Fraction) -> Outcome:
        """Enumerate sets of regions, for learners whose errors are not coupled; refine grids until it is decided."""
        if goal <= 0:  # no cost is negative
            return Outcome(proved=True)
        model, kept = losses_of(self.problem).model, self._retention()
        for limbs in (1, 2, 4):
            least = held_karp.least_visits(model, kept, goal, limbs)
            if least is None or least.low >= goal:
                return Outcome(proved=True)
            if (value := self.losses.total(least.order).high) < goal:
                return Outcome(better=goal - value)
        return Outcome(why="the optimum is too close to the claimed bound to decide")

    def _retention(self) -> held_karp.VisitCosts:
        problem, rules, learner = self.problem, self.rules, self.problem.learner
        initial, m = initial_sum(problem), problem.learner.features
        counts = [learner.samples] * problem.size if problem.samples is None else problem.samples.tolist()
        retained = [Fraction(max(0, m - n), m) for n in counts]
        constants = [initial]
        if problem.samples is None:
            noise = problem.size * m * Fraction(learner.noise) ** 2 / (abs(m - learner.samples) - 1)
            left = [retained[0] ** visits for visits in range(rules.at_most + 1)]
            constants = [initial * share + noise * (1 - share) for share in left]
        allowed, required = (np.flatnonzero(some).tolist() for some in (rules.allowed, rules.required))
        return held_karp.VisitCosts(
            allowed, required, rules.at_least, rules.at_most, constants, None if problem.samples is None else retained
        )


def _sequences(rules: VisitRules) -> int:
    """Return an upper bound on the number of sequences of visits, or a number above `MOST_SEQUENCES`."""
    regions, total, of_length = int(rules.allowed.sum()), 0, 1
    for t in range(rules.at_most):
        of_length *= regions if rules.repeat > 1 else regions - t
        total += of_length
        if total > MOST_SEQUENCES:
            break
    return total
