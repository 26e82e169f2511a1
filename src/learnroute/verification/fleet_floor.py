"""Check the floor of a fleet whose models are averaged: the error of the mean model, and a spanning forest for travel.

docs/bounds.md has the proof. Sums are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from learnroute.model.problem import Problem
from learnroute.model.rules import FleetRules
from learnroute.model.validation import FloatArray
from learnroute.verification.exact import ONE
from learnroute.verification.law import Effect, laws_at, times
from learnroute.verification.pair_relaxations import has_points, spread_of
from learnroute.verification.pair_terms import Terms
from learnroute.verification.visit_floor import least_travel


def least_total(problem: Problem, rules: FleetRules, terms: Terms) -> Fraction | None:
    """Return a lower bound on T times the loss of all routes; None if there is no floor."""
    laws = laws_at(problem)
    obeyed = all(0 <= p <= 1 and 0 <= q <= p for some in laws for p, _, q, _, _ in some)
    if not rules.merged or not obeyed or not has_points(terms):
        return None
    trees = rules.vehicles if len(problem.stops) == problem.size else 1  # from a depot, all routes form one tree
    travel = least_travel(problem, problem.visit_rules, trees) / (rules.vehicles if rules.longest else 1)
    return _least_error(problem, terms, laws) + Fraction(problem.travel_rate) * travel


def _least_error(problem: Problem, terms: Terms, laws: list[set[Effect]]) -> Fraction:
    size, weights = problem.size, problem.region_weights
    _, radii, uneven, below, above, _ = spread_of(terms, weights)
    given, farthest = [Fraction(w) for w in weights.tolist()], 4 * max(radii)
    excess, negative, noise = (_accumulate(laws, kind) for kind in (_excess, _negative, _noise))
    away = [Fraction(float(x)) - radius for x, radius in zip(problem.initial_errors, radii, strict=True)]
    scatter = _best_scatter(away, weights, excess)
    rest = [x - scatter for x in away]
    least, most = size - uneven, size + uneven  # bounds on the sum of the weights
    slope = sum((w * max(-x, Fraction(0)) for w, x in zip(given, rest, strict=True)), most * max(*rest, Fraction(0)))
    share = min(Fraction(1), slope / (2 * least * scatter)) if scatter else Fraction(1)
    largest = max(Fraction(float(terms.floats.max())), Fraction(float(problem.initial_errors.max())))
    sizes = 2 * largest + noise
    unlearnt = max(abs(p + plasticity - 1) for some in laws for p, plasticity, *_ in some)
    return (
        sum((w * radius for w, radius in zip(given, radii, strict=True)), Fraction(0))
        - (slope * share - least * scatter * share**2)
        - below
        - most * above
        - most * (excess * (farthest + scatter) + negative)
        - 2 * uneven * sizes
        - 4 * most * len(laws) * unlearnt * sizes
    )


def _excess(law: Effect) -> Fraction:
    """Return by how much q exceeds the coupling of any model."""
    p = law.retention
    return max(Fraction(0), law.coupling - p * (1 - p))


def _negative(law: Effect) -> Fraction:
    return max(Fraction(0), -law.noise)


def _noise(law: Effect) -> Fraction:
    return abs(law.noise)


def _accumulate(laws: list[set[Effect]], kind: Callable[[Effect], Fraction]) -> Fraction:
    """Return the maximum of an accumulated effect after any number of trainings; each retains the share p₂ of it."""
    found = most = Fraction(0)
    for some in laws:
        found = max(p - q for p, _, q, _, _ in some) * found + max(map(kind, some))
        found = Fraction(-times(-ONE, found), ONE)
        most = max(most, found)
    return most


def _best_scatter(away: list[Fraction], weights: FloatArray, excess: Fraction) -> Fraction:
    """Return the scatter of the initial model with the best bound, computed in floats: any number >= 0 is valid."""
    scale = max(map(abs, away)) or Fraction(1)
    size, first = len(away), np.array([float(x / scale) for x in away])
    scatter = np.unique(np.maximum(first, 0.0))
    lost = []
    for one in scatter.tolist():
        slope = float(np.maximum(one - first, 0.0) @ weights + size * max(float(first.max()) - one, 0.0))
        share = min(1.0, slope / (2 * size * one)) if one else 1.0
        lost.append(slope * share - size * one * share**2 + size * float(min(excess, Fraction(10**9))) * one)
    best = float(scatter[int(np.argmin(lost))])
    return min((max(x, Fraction(0)) for x in away), key=lambda x: abs(float(x / scale) - best))
