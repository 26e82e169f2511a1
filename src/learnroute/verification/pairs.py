"""Check plans of regularised learners: the loss by its recursion in whole numbers, and bounds by linear relaxations.

The recursion is e_j ← p₁·e_j - q·e_k + (1 - p₁)·Δ[k, j] + ν. The learner determines p₁, q and ν; the numbers in the
problem's `updates` are used unchanged. From there on, nothing is decided by a tolerance: sums are exact, or rounded to
the side that counts against the claim.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnroute.model.problem import Problem
from learnroute.model.validation import FloatArray
from learnroute.verification.bounds import Checker, Outcome
from learnroute.verification.exact import ONE, PLACES, Interval, Model, costs_of
from learnroute.verification.pair_relaxations import relaxations_of
from learnroute.verification.pair_terms import terms_of

ENUMERATED = 9  # regions up to which all orders are tried
AT_ONCE = 20_000
BEYOND = Fraction(2) ** 1023  # only forged bounds have larger goals, since float64 ends here


class PairLosses:
    """The loss of a regularised learner. `plain` has its travel and ends; `relaxations` are linear models below it."""

    def __init__(self, problem: Problem, true: bool = False) -> None:
        self.problem, self.terms, self.size = problem, terms_of(problem, true), problem.size
        nothing = Interval(Fraction(0), Fraction(0))
        travel, rate = costs_of(problem.ways), Fraction(problem.travel_rate)
        self.ahead = len(problem.stops) - self.size  # stops that are not visits: the depot, if there is one
        scores = (*self.terms.scores, *[Fraction(0)] * self.ahead)
        self.plain = Model(travel, rate, scores, (0,) * len(scores), None, 0, nothing, problem.ends)

    def parts(self, order: Sequence[int]) -> dict[str, Fraction]:
        """Return the parts of the loss of an order of stops, per region; a depot comes first and changes no error."""
        size, terms = self.size, self.terms
        means, unit = terms.initial.copy(), 1 << terms.places
        scored, noisy, paired, first = 0, 0, 0, ONE
        whole_scores = [(s.numerator << terms.places) // s.denominator for s in terms.scores]
        updates = self.problem.updates
        for t, k in enumerate(order[self.ahead :]):
            retention, plasticity, coupling, second, noise = (_dyadic(float(table[t, k])) for table in updates.tables)
            paired = _times(paired, second) + _times(int(means[k]), coupling)
            noisy = _times(noisy, second) + _times(unit, noise)
            scored = _times(scored, retention) + _times(whole_scores[k], plasticity)
            first = _times(first, retention)
            means = ((means * retention[0]) >> retention[1]) + ((terms.row(k) * plasticity[0]) >> plasticity[1])
        initial = ((terms.total.numerator << terms.places) // terms.total.denominator) * first >> PLACES
        parts = {
            "travel": self.plain.rate * self.plain.travel_of(order) / size,
            "dissimilarity": Fraction(scored, size * unit),
            "initial": Fraction(initial, size * unit),
            "noise": Fraction(noisy, unit),
            "pairs": Fraction(-paired, unit),
        }
        return {"total": sum(parts.values(), Fraction(0)), **parts}

    def total(self, order: Sequence[int]) -> Interval:
        """Return T times the loss as an interval: each step of the recursion may be off by a few units."""
        value = self.parts(order)["total"] * self.size
        off = Fraction(8 * self.size * (self.size + 2) ** 2, 1 << self.terms.places)
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


def _dyadic(number: float) -> tuple[int, int]:
    """Return a float as a whole number and the exponent of two that it is divided by."""
    above, below = float(number).as_integer_ratio()
    return above, below.bit_length() - 1


def _times(amount: int, factor: tuple[int, int]) -> int:
    return (amount * factor[0]) >> factor[1]


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
