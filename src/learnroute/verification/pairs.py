"""Check plans of regularised learners: the loss by its recursion in whole numbers, and bounds by linear relaxations.

The recursion is e_j ← p₁·e_j - q·e_k + (1 - p₁)·Δ[k, j] + ν, with the numbers of `law`. Nothing is decided by a
tolerance: sums are exact, or rounded to the side that counts against the claim.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, permutations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from learnroute.model.problem import Problem
from learnroute.model.validation import FloatArray
from learnroute.verification.bounds import Checker, Outcome
from learnroute.verification.exact import ONE, Interval, Model, costs_of
from learnroute.verification.law import law_of, times
from learnroute.verification.pair_relaxations import relaxations_of
from learnroute.verification.pair_terms import terms_of

ENUMERATED = 9  # regions up to which all orders are tried
AT_ONCE = 20_000


class PairLosses:
    """The loss of a regularised learner. `plain` has its travel and ends; `relaxations` are linear models below it."""

    def __init__(self, problem: Problem, true: bool = False) -> None:
        self.problem, self.terms, self.size = problem, terms_of(problem, true), problem.size
        self.law = law_of(problem)
        nothing = Interval(Fraction(0), Fraction(0))
        travel, rate = costs_of(problem.ways), Fraction(problem.travel_rate)
        self.ahead = len(problem.stops) - self.size  # stops that are not visits: the depot, if there is one
        scores = (*self.terms.scores, *[Fraction(0)] * self.ahead)
        self.plain = Model(travel, rate, scores, (0,) * len(scores), None, 0, nothing, problem.ends)

    def parts(self, order: Sequence[int]) -> dict[str, Fraction]:
        """Return the parts of the loss of an order of stops, per region; a depot comes first and changes no error."""
        size, terms, scores = self.size, self.terms, self.terms.scores
        means = terms.initial.copy()
        scored, noisy, paired, first = 0, 0, 0, ONE
        for t, k in enumerate(order[self.ahead :]):
            retention, plasticity, coupling, second, noise = self.law(t, k)
            paired = times(paired, second) + times(int(means[k]), coupling)
            noisy = times(noisy, second) + times(ONE, noise)
            scored = times(scored, retention) + times(ONE, plasticity * scores[k])
            first = times(first, retention)
            means = times(means, retention) + times(terms.row(k), plasticity)
        parts = {
            "travel": self.plain.rate * self.plain.travel_of(order) / size,
            "dissimilarity": Fraction(scored, size * ONE),
            "initial": first * terms.total / (size * ONE),
            "noise": Fraction(noisy, ONE),
            "pairs": Fraction(-paired, ONE),
        }
        return {"total": sum(parts.values(), Fraction(0)), **parts}

    def parts_and_sizes(self, order: Sequence[int]) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
        """Return the parts, and the sums of the absolute values of the terms of each, the scale of rounding errors."""
        parts = self.parts(order)
        return parts, parts if self._all_positive else self._of_sizes.parts(order)

    @cached_property
    def _all_positive(self) -> bool:
        *factors, noise = self.problem.updates.tables
        return not self.problem.updates.coupled and min(float(table.min()) for table in (*factors, noise)) >= 0

    @cached_property
    def _of_sizes(self) -> Self:
        found, law = copy(self), self.law
        found.law = lambda position, region: law(position, region).of_sizes
        return found

    def total(self, order: Sequence[int]) -> Interval:
        """Return T times the loss as an interval: each step of the recursion may be off by a few units."""
        value = self.parts(order)["total"] * self.size
        off = (8 * self.size * (self.size + len(order) + 2) ** 2 + len(order) * self.terms.total) / ONE
        return Interval(value - off, value + off)

    def relaxations(self) -> Iterator[Model]:
        """Return linear models, with constants, that are nowhere above the loss."""
        for scores, shares, factors, constant in relaxations_of(self.problem, self.terms):
            scores, shares = (*scores, *[Fraction(0)] * self.ahead), (*[0] * self.ahead, *shares)
            factors = None if factors is None else (*factors, *[Fraction(1)] * self.ahead)
            yield replace(
                self.plain, scores=scores, shares=shares, factors=factors, error=self.size + 1,
                constant=Interval(constant, constant),
            )  # fmt: skip


class PairChecker:
    """Checker of whether any order is below a goal (T times a loss), by trying all orders or by relaxations."""

    def __init__(self, losses: PairLosses, certificate: Any) -> None:
        self.losses, self.certificate = losses, certificate

    @cached_property
    def checkers(self) -> list[Checker]:
        """The checkers of linear models below the loss."""
        return [Checker(model, self.certificate) for model in self.losses.relaxations()]

    @property
    def known(self) -> Fraction:
        """The best lower bound on all orders that has been shown so far."""
        return max(checker.known + checker.model.constant.low for checker in self.checkers)

    def decide(self, goal: Fraction, optimum: bool = False) -> Outcome:
        """Decide whether no order is below a goal."""
        why = "with a regularised learner, optima are checked only if all orders can be tried"
        if self.losses.size <= ENUMERATED:
            if self._least.low >= goal:
                return Outcome(proved=True)
            if self._least.high < goal:
                return Outcome(better=goal - self._least.high)
            why = "the optimum is too close to the claimed bound to decide"
        follows: list[Fraction] = []
        for checker in self.checkers:
            constant = checker.model.constant.low
            found = checker.decide(goal - constant)
            if found.proved:
                return Outcome(proved=True)
            if found.better is not None:
                follows.append(goal - found.better)
            elif found.follows is not None:
                follows.append(found.follows + constant)
            else:
                why = found.why
        if self.losses.size <= ENUMERATED:
            return Outcome(why=why)
        return Outcome(follows=max(follows, default=None) if not optimum else None, why=why)

    @cached_property
    def _least(self) -> Interval:
        """The least loss of all orders: found in floats, and computed exactly for those near it."""
        losses = self.losses
        everyone = permutations(range(losses.size))
        may = losses.problem.ends.positions(losses.size + losses.ahead)
        near, below = [], math.inf
        while some := list(islice(everyone, AT_ONCE)):
            visits = np.array(some, dtype=np.int64)
            depot = np.tile(np.arange(losses.size, losses.size + losses.ahead), (len(visits), 1))
            orders = np.concatenate([depot, visits], axis=1)
            orders = orders[may[np.arange(orders.shape[1]), orders].all(axis=1)]
            values, sizes = _floats(losses, orders)
            below = min(below, float((values + 1e-12 * sizes).min(initial=math.inf)))
            near.append((orders, values - 1e-12 * sizes))
        totals = [losses.total(order) for orders, lows in near for order in orders[~(lows > below)].tolist()]
        return Interval(min(total.low for total in totals), min(total.high for total in totals))


def _floats(losses: PairLosses, orders: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Return values of many orders in float64, and the sizes of their terms."""
    problem, updates = losses.problem, losses.problem.updates
    rows = np.arange(len(orders))
    delta, scores = losses.terms.floats, np.array([float(s) for s in losses.terms.scores])
    means = np.tile(problem.initial_errors, (len(orders), 1))
    summed = np.full(len(orders), float(losses.terms.total))
    common, sizes = np.zeros(len(orders)), np.zeros(len(orders))
    for t, here in enumerate(orders.T[losses.ahead :]):
        retention, plasticity, coupling, second, noise = (table[t, here] for table in updates.tables)
        sizes = sizes + np.abs(coupling * means[rows, here]) + np.abs(noise)
        common = second * common + coupling * means[rows, here] - noise
        summed = retention * summed + plasticity * scores[here]
        means = retention[:, None] * means + plasticity[:, None] * delta[here]
    travel = problem.travel_rate * problem.ways.matrix
    legs = travel[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    if problem.ends.closed:
        legs = legs + travel[orders[:, -1], orders[:, 0]]
    return legs + summed - problem.size * common, legs + np.abs(summed) + problem.size * sizes + float(scores.sum())
