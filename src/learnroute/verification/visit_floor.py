"""Check the floor of visits: the error of the mean model for any number of visits, and a spanning tree for travel.

docs/bounds.md has the proof. Sums are exact, or rounded to the side that counts against a claim.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from learnroute.model.problem import Problem
from learnroute.model.rules import VisitRules
from learnroute.model.validation import FloatArray
from learnroute.verification.exact import ONE
from learnroute.verification.law import Effect, laws_at, times
from learnroute.verification.pair_relaxations import has_points, spread_of
from learnroute.verification.pair_terms import Terms
from learnroute.verification.simple import tree_edges

HUGE = Fraction(10) ** 150
BITS = 58  # bits of the longest travel in whole units: the sum of two does not overflow


def least_total(problem: Problem, rules: VisitRules, terms: Terms) -> Fraction | None:
    """Return a lower bound on T times the loss of all sequences; None if there is no floor."""
    if not has_points(terms) or problem.updates.second.min() < 0:
        return None
    return _least_error(problem, rules, terms) + Fraction(problem.travel_rate) * least_travel(problem, rules)


class _Lengths(NamedTuple):
    """The worst-case effects of a number of visits, each rounded against the bound.

    Attributes
    ----------
    noise, kept
        The minimum noise in an error, and the minimum share of the initial model's scatter that remains.
    beyond, first, other
        Losses from these: as a factor of the largest distance, as a factor of the initial model's misfit, and absolute.
    learnt, left, unlearnt
        The maximum shares of regions and of the initial model, and how far the sum of all shares is from 1.
    """

    noise: Fraction = Fraction(0)
    kept: Fraction = Fraction(1)
    beyond: Fraction = Fraction(0)
    first: Fraction = Fraction(0)
    other: Fraction = Fraction(0)
    learnt: Fraction = Fraction(0)
    left: Fraction = Fraction(1)
    unlearnt: Fraction = Fraction(0)


def _least_error(problem: Problem, rules: VisitRules, terms: Terms) -> Fraction:
    size, weights = problem.size, problem.region_weights
    floor, radii, uneven, below, above, lowest = spread_of(terms, weights)
    farthest = 4 * max(radii)
    laws = laws_at(problem)
    convex = all(0 <= law.retention <= 1 and law.coupling >= 0 for some in laws for law in some)
    if not convex:
        below, above = below + (size + uneven) * above, above + lowest
    lengths, now = [], _Lengths()
    for t, some in enumerate(laws, 1):
        now = _train(now, some, convex, above, farthest)
        if t >= rules.at_least:
            lengths.append(now)
    away = [Fraction(float(x)) - radius for x, radius in zip(problem.initial_errors, radii, strict=True)]
    scatter = _best_scatter(lengths, away, weights, farthest, below, convex)
    rest = [x - scatter if convex else abs(x - scatter) for x in away]
    given = map(Fraction, weights.tolist())
    missed = sum((w * (max(-x, Fraction(0)) if convex else x) for w, x in zip(given, rest, strict=True)), Fraction(0))
    worst = max(max(rest), Fraction(0))
    return floor + min(
        size * (one.noise + one.kept * scatter - one.beyond * (farthest + scatter) - one.first * worst)
        - size * one.other
        - (size + uneven) * one.unlearnt * farthest
        - uneven * max(Fraction(1), one.learnt + one.left) ** 2 * (farthest + scatter)
        - one.learnt * below
        - one.left * missed
        for one in lengths
    )


def _best_scatter(
    lengths: list[_Lengths],
    away: list[Fraction],
    weights: FloatArray,
    farthest: Fraction,
    below: Fraction,
    convex: bool,
) -> Fraction:
    """Return the scatter of the initial model with the best bound, computed in floats: any number >= 0 is valid."""
    scale = max(*map(abs, away), farthest) or Fraction(1)
    size, first = len(away), np.array([float(x / scale) for x in away])
    scatter = np.maximum(first, 0.0)
    rest = first - scatter[:, None]
    missed = np.maximum(-rest if convex else np.abs(rest), 0.0) @ weights
    worst = np.maximum(rest if convex else np.abs(rest), 0.0).max(axis=1)
    bounds = np.full(size, np.inf)
    for one in lengths:
        fixed = one.noise - one.other - (one.beyond + one.unlearnt) * farthest - one.learnt * below / size
        gained = _float(fixed / scale) + _float(one.kept - one.beyond) * scatter - _float(one.first) * worst
        bounds = np.minimum(bounds, size * gained - _float(one.left) * missed)
    return max(away[int(np.argmax(bounds))], Fraction(0))


def _float(number: Fraction) -> float:
    return float(max(min(number, HUGE), -HUGE))


def _train(now: _Lengths, laws: set[Effect], convex: bool, above: Fraction, farthest: Fraction) -> _Lengths:
    """Return the effects after another visit, by the worst law of any region."""
    retains = max(abs(p) for p, *_ in laws)
    learns = max(abs(plasticity) for _, plasticity, *_ in laws)
    paired = max(abs(q) for _, _, q, _, _ in laws)
    low, high = min(rho for *_, rho, _ in laws), max(rho for *_, rho, _ in laws)
    spread = max(max(Fraction(0), q - p * plasticity) for p, plasticity, q, _, _ in laws)
    if convex:
        lacking = max(spread, *(rho - p + q for p, _, q, rho, _ in laws))
    else:
        reach = max(Fraction(1), now.learnt + now.left)
        lacking = reach * ((1 + reach) * max(abs(rho - p + q) for p, _, q, rho, _ in laws) + reach * spread)
    learnt = retains * now.learnt + learns
    further = _Lengths(
        -((low if now.noise >= 0 else high) * now.noise + min(noise for *_, noise in laws)),
        -low * now.kept,
        high * now.beyond + lacking,
        high * now.first + paired * now.left,
        high * now.other + paired * (now.learnt * above + now.unlearnt * farthest),
        min(learnt, Fraction(1)) if convex else learnt,
        retains * now.left,
        retains * now.unlearnt + max(abs(p + plasticity - 1) for p, plasticity, *_ in laws),
    )
    up = _Lengths(*(Fraction(-times(-ONE, x), ONE) for x in further))
    return up._replace(noise=-up.noise, kept=-up.kept)


def least_travel(problem: Problem, rules: VisitRules, trees: int = 1) -> Fraction:
    """Return a lower bound on travel: a spanning forest of all stops that routes must visit, by shortest paths."""
    depot = problem.from_depot([]).tolist()
    stops = [*np.flatnonzero(rules.allowed).tolist(), *depot]
    required = [k for k, stop in enumerate(stops) if stop in depot or rules.required[stop]]
    ways = problem.ways.matrix[np.ix_(stops, stops)]
    if len(required) < 2 or not problem.travel_rate:
        return Fraction(0)
    most = float(ways[np.ix_(required, required)].max())  # no shortest path between two of them is longer
    if not most:
        return Fraction(0)
    longest = Fraction(most)
    unit = Fraction(2) ** (longest.numerator.bit_length() - longest.denominator.bit_length() + 1 - BITS)
    whole = np.array(
        [[int(Fraction(way) / unit) for way in row] for row in np.minimum(ways, most).tolist()], dtype=np.int64
    )
    whole = np.minimum(whole, whole.T)
    for via in range(len(stops)):
        whole = np.minimum(whole, whole[:, [via]] + whole[[via], :])
    between = whole[np.ix_(required, required)]
    edges = tree_edges(len(required), lambda v: between[v])
    assert edges is not None
    return sum(sorted(edges)[: max(0, len(edges) - trees + 1)]) * unit
