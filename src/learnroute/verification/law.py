"""The effect of training on expected errors in rational numbers, visit by visit.

For least squares, it follows exactly from m, n and σ. For other rules, it is that of the model's float64 numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from learnroute.model.learners import LeastSquares
from learnroute.model.problem import Problem


class Effect(NamedTuple):
    """The effect of one training: e_j becomes p₁·e_j - q·e_k + (1 - p₁)·Δ[k, j] + ν, with ρ for the common part."""

    retention: Fraction
    plasticity: Fraction
    coupling: Fraction
    second: Fraction
    noise: Fraction

    @property
    def of_sizes(self) -> Effect:
        """The effect on the sums of the absolute values of all terms."""
        retention, plasticity, coupling, second, noise = map(abs, self)
        return Effect(retention, plasticity, -coupling, second, noise)


Law = Callable[[int, int], Effect]  # the effect of a visit, by position and region


def law_of(problem: Problem) -> Law:
    """Return the law of a problem's learner."""
    learner, known = problem.learner, dict[tuple[float, ...], Effect]()
    if isinstance(learner, LeastSquares):
        counts = np.full(problem.size, learner.samples) if problem.samples is None else problem.samples
        by_count = {n: _least_squares(learner.features, n, Fraction(learner.noise)) for n in set(counts.tolist())}
        return lambda _, region: by_count[int(counts[region])]
    tables = problem.updates.tables

    def effect(position: int, region: int) -> Effect:
        numbers = tuple(float(table[position, region]) for table in tables)
        if numbers not in known:
            known[numbers] = Effect(*map(Fraction, numbers))
        return known[numbers]

    return effect


def _least_squares(m: int, n: int, deviation: Fraction) -> Effect:
    retention = Fraction(max(0, m - n), m)
    return Effect(retention, 1 - retention, Fraction(0), retention, min(n, m) * deviation**2 / (abs(n - m) - 1))


def laws_at(problem: Problem) -> list[set[Effect]]:
    """Return the different effects of a visit at each position, over all regions that may be visited."""
    rules, law = problem.visit_rules, law_of(problem)
    allowed = np.flatnonzero(rules.allowed).tolist()
    positions = range(1 if problem.updates.same_positions else rules.at_most)
    found = [{law(position, region) for region in allowed} for position in positions]
    return found * (rules.at_most // len(positions))


def times(amount: Any, factor: Fraction) -> Any:
    """Return whole numbers times a factor, rounded down."""
    return amount * factor.numerator // factor.denominator
