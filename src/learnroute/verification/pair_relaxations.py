"""Linear models below the loss of a regularised learner; docs/bounds.md has the arguments.

Sums are exact, or rounded to the side that counts against a claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from learnroute.model.problem import Problem
from learnroute.model.rounding import UNIT
from learnroute.model.validation import FloatArray
from learnroute.verification.exact import ONE, distance_sums, exact_sum
from learnroute.verification.pair_terms import Terms

PARTS = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1))  # of pair terms, moved to scores
SORTED_REGIONS = 400  # regions up to which relaxations sort dissimilarities, and fit points to them
TINY = 1e-290  # upper bound on the error of products below the smallest float64


class RelaxedModel(NamedTuple):
    """A linear model below the loss, with the attributes of `Model`."""

    scores: tuple[Fraction, ...]
    shares: tuple[int, ...]
    factors: tuple[Fraction, ...] | None
    constant: Fraction


def relaxations_of(problem: Problem, terms: Terms) -> Iterator[RelaxedModel]:
    """Return scores, shares, factors and constant of linear models below the loss."""
    retention, _, coupling, second, _ = problem.updates.tables
    convex = bool(retention.min() >= 0 and retention.max() <= 1 and coupling.min() >= 0 and second.max() <= 1)
    yield from _rearrange(problem, terms) if convex else (_worst_case(problem, terms),)
    if has_points(terms):
        yield _floor(problem, terms, convex)


def _rearrange(problem: Problem, terms: Terms) -> Iterator[RelaxedModel]:
    """Return relaxations with each pair term at its minimum."""
    tables = problem.updates.tables
    if all(bool((table == table[:, -1:]).all()) for table in tables):
        yield from _by_position(problem, terms)
    elif all(bool((table == table[:1]).all()) for table in tables):
        yield _by_region(problem, terms)
    else:
        yield _by_both(problem, terms)


def _by_position(problem: Problem, terms: Terms) -> Iterator[RelaxedModel]:
    """Return relaxations if training depends on the position only.

    Part of the pair terms is subtracted from scores, the rest is rearranged. Any part gives a valid relaxation. Those
    that a planner is likely to choose come first.
    """
    size = problem.size
    retention, plasticity, coupling, second, _ = (table[:, -1] for table in problem.updates.tables)
    weights, paired = _low(_after(retention) * plasticity, size), _high(_after(second) * coupling, size)
    counted = np.minimum.accumulate(weights[::-1])[::-1]
    most = _rationals(_high(_largest_means(problem, terms), size))
    used = counted > 0
    top = Fraction(float((paired[used] / counted[used]).max(initial=0.0)))
    found = [_move_to_scores(problem, terms, weights, counted, paired, most, top * part) for part in PARTS]
    return iter(sorted(found, key=_least_error, reverse=True))


def _least_error(relaxed: RelaxedModel) -> Fraction:
    """Return the minimum error of any order by the rearrangement inequality."""
    scores = sorted(relaxed.scores, reverse=True)
    return relaxed.constant + sum((s * w for s, w in zip(scores, relaxed.shares, strict=True)), Fraction(0)) / ONE


def _move_to_scores(
    problem: Problem, terms: Terms, weights: FloatArray, counted: FloatArray, paired: FloatArray,
    most: list[Fraction], ratio: Fraction,
) -> RelaxedModel:  # fmt: skip
    """Return the relaxation that subtracts `ratio` times the largest pair term of each region from its score."""
    size = problem.size
    retention, _, _, second, noise = (table[:, -1] for table in problem.updates.tables)
    lowered = [score - size * ratio * mean for score, mean in zip(terms.scores, most, strict=True)]
    shift = max(Fraction(0), -min(lowered))
    pairs = zip(_rationals(counted), _rationals(paired), strict=True)
    swapped = sorted(size * (ratio * weight - pair) for weight, pair in pairs)
    above = sorted((w - c for w, c in zip(_rationals(weights), _rationals(counted), strict=True)), reverse=True)
    first = Fraction(float(_low(np.array([np.prod(retention)]), size)[0]))
    constant = (
        sum((x * score for x, score in zip(above, sorted(terms.scores), strict=True)), Fraction(0))
        + sum((x * mean for x, mean in zip(swapped, sorted(most, reverse=True), strict=True)), Fraction(0))
        - shift * exact_sum(counted.tolist())
        + first * terms.total
        + size * exact_sum(_lowest(_after(second) * noise, size).tolist())
    )
    return RelaxedModel(tuple(score + shift for score in lowered), _shares(counted), None, constant)


def _by_region(problem: Problem, terms: Terms) -> RelaxedModel:
    """Return a relaxation if training depends on the region only; Smith's rule minimises the non-linear part."""
    size = problem.size
    retention, plasticity, coupling, second, noise = (_rationals(table[0]) for table in problem.updates.tables)
    most = _rationals(_high(np.maximum(terms.floats.max(axis=0), problem.initial_errors), size))
    costs = [size * (n - q * mean) for n, q, mean in zip(noise, coupling, most, strict=True)]
    order = sorted(range(size), key=lambda i: -costs[i] / max(1 - second[i], Fraction(1, ONE)))
    share, constant = Fraction(1), Fraction(0)
    for i in reversed(order):
        constant += share * costs[i]
        share *= second[i]
    survives = terms.total
    for factor in retention:
        survives *= factor
    behind = [ONE]
    for factor in sorted(retention)[:-1]:
        behind.append(behind[-1] * factor.numerator // factor.denominator)
    scores = tuple(share * score for share, score in zip(plasticity, terms.scores, strict=True))
    return RelaxedModel(scores, tuple(reversed(behind)), tuple(retention), constant + survives)


def _by_both(problem: Problem, terms: Terms) -> RelaxedModel:
    """Return a relaxation if training depends on both; every position has the region of lowest cost there."""
    size = problem.size
    retention, plasticity, coupling, second, noise = problem.updates.tables
    low = _rationals(_low(_after(second.min(axis=1)), size))
    high = _rationals(_high(_after(second.max(axis=1)), size))
    counted = np.minimum.accumulate(_low(_after(retention.min(axis=1)) * plasticity.min(axis=1), size)[::-1])[::-1]
    most = _rationals(_high(np.maximum(terms.floats.max(axis=0), problem.initial_errors), size))
    constant = Fraction(float(_low(np.array([np.prod(retention.min(axis=1))]), size)[0]))
    constant *= terms.total
    for t in range(size):
        here = zip(_rationals(noise[t]), _rationals(coupling[t]), most, strict=True)
        constant += size * min(n * (high if n < 0 else low)[t] - q * mean * high[t] for n, q, mean in here)
    return RelaxedModel(terms.scores, _shares(counted), None, constant)


def _rationals(numbers: FloatArray) -> list[Fraction]:
    return [Fraction(x) for x in numbers.tolist()]


def _shares(weights: FloatArray) -> tuple[int, ...]:
    return tuple(int(weight * ONE) for weight in _rationals(weights))


def _floor(problem: Problem, terms: Terms, convex: bool) -> RelaxedModel:
    """Return the error of the weighted mean of all models plus noise; misfits of the points count at their worst.

    It is the floor for weights with sum T. Those of the problem have this sum up to rounding, `uneven`.
    """
    size, updates, weights = problem.size, problem.updates, problem.region_weights
    retention, plasticity, coupling, second, _ = updates.tables
    given = _rationals(weights)
    everything = sum(given, Fraction(0))
    floor, radii, uneven, below, above, lowest = spread_of(terms, weights)
    farthest = 4 * max(radii)  # no squared distance between two of the points is larger
    first = [radius - Fraction(float(x)) for radius, x in zip(radii, problem.initial_errors, strict=True)]
    later = _rationals(_high(size * _after(second.max(axis=1)), size))
    paired = [share * q for share, q in zip(later, _rationals(np.abs(coupling).max(axis=1)), strict=True)]
    before, survives = _shares_before(problem, convex)
    if not convex:
        below, above = below + size * above, above + lowest
    missed = [w * (max(x, Fraction(0)) if convex else abs(x)) for w, x in zip(given, first, strict=True)]
    largest = max(Fraction(float(terms.floats.max())), Fraction(float(problem.initial_errors.max())))
    worst = max(Fraction(0), -min(first)) if convex else max(map(abs, first))
    beyond, unlearnt = Fraction(0), Fraction(0)
    for t in range(size):
        rows = [[Fraction(x) for x in table[t].tolist()] for table in (retention, plasticity, coupling, second)]
        laws = list(zip(*rows, strict=True))
        unlearnt += max(abs(p + learnt - 1) for p, learnt, _, _ in laws)
        spread = max(max(Fraction(0), q - p * learnt) for p, learnt, q, _ in laws)
        if convex:
            beyond += later[t] * max(spread, *(rho - p + q for p, _, q, rho in laws))
        else:
            reach = before[t] + survives[t]
            scatter = max(abs(rho - p + q) for p, _, q, rho in laws)
            beyond += later[t] * reach * ((1 + reach) * scatter + reach * spread)
    constant = (
        floor
        + size * exact_sum(_lowest(_least_noise(problem), size).tolist())
        - farthest * (beyond + unlearnt * (size + sum(paired)))
        - before[-1] * below
        - _products(paired, before) * above
        - survives[-1] * sum(missed, Fraction(0)) * size / everything
        - _products(paired, survives) * worst
        - uneven * (before[-1] + survives[-1]) * largest
    )
    return RelaxedModel((Fraction(0),) * size, (0,) * size, None, constant)


class Spread(NamedTuple):
    """Points for the dissimilarities: the floor, squared distances to the weighted mean, and misfits.

    `uneven` is the distance of the sum of the weights from T. `below` is how far dissimilarities are below squared
    distances, as a weighted sum over a row; `above` and `lowest` are how far single ones are above and below.
    """

    floor: Fraction
    radii: list[Fraction]
    uneven: Fraction
    below: Fraction
    above: Fraction
    lowest: Fraction


def has_points(terms: Terms) -> bool:
    """Whether dissimilarities are squared distances, or can be fitted by them."""
    return terms.points is not None or (len(terms.scores) <= SORTED_REGIONS and _symmetric(terms.floats))


def spread_of(terms: Terms, weights: FloatArray) -> Spread:
    """Return the spread of points whose squared distances equal or approximate the dissimilarities."""
    size = len(terms.scores)
    points = _fit_points(terms.floats) if terms.points is None else terms.points
    scores, given = distance_sums(points, weights), _rationals(weights)
    everything = sum(given, Fraction(0))
    spread = sum((w * score for w, score in zip(given, scores, strict=True)), Fraction(0)) / (2 * everything)
    radii = [(score - spread) / everything for score in scores]
    below, above, lowest = Fraction(0), Fraction(0), Fraction(0)
    if terms.points is None:
        apart = np.array([((points - point) ** 2).sum(axis=1) for point in points])
        slack = 64 * (points.shape[1] + 8) * UNIT * apart
        under, over = np.maximum(apart + slack - terms.floats, 0.0), np.maximum(terms.floats - apart + slack, 0.0)
        if under.any():
            below = Fraction(float(_high((under * weights).sum(axis=1), size).max()))
        above, lowest = Fraction(float(over.max())), Fraction(float(under.max()))
    return Spread(spread * size / everything, radii, abs(everything - size), below, above, lowest)


def _worst_case(problem: Problem, terms: Terms) -> RelaxedModel:
    """Return a relaxation with every term at its worst: shares in the model may have either sign."""
    size = problem.size
    retention, plasticity, coupling, second, _ = (np.abs(table).max(axis=1) for table in problem.updates.tables)
    before, survives = _shares_before(problem, False)
    paired = _rationals(_high(size * _after(second) * coupling, size))
    largest = max(Fraction(float(terms.floats.max())), Fraction(float(problem.initial_errors.max())))
    constant = (
        size * exact_sum(_lowest(_least_noise(problem), size).tolist())
        - exact_sum(_high(_after(retention) * plasticity, size).tolist()) * max(terms.scores)
        - survives[-1] * terms.total
        - (_products(paired, before) + _products(paired, survives)) * largest
    )
    return RelaxedModel((Fraction(0),) * size, (0,) * size, None, constant)


def _shares_before(problem: Problem, convex: bool) -> tuple[list[Fraction], list[Fraction]]:
    """Return the maximum shares of visits and of the initial model in the model before each visit and at the end.

    Shares of either sign count by their absolute values.
    """
    size = problem.size
    retained, learned = (np.abs(table).max(axis=1) for table in problem.updates.tables[:2])
    before, survives = np.zeros(size + 1), np.ones(size + 1)
    for t in range(size):
        before[t + 1] = retained[t] * before[t] + learned[t]
        survives[t + 1] = retained[t] * survives[t]
    before, survives = _high(before, size), _high(survives, size)
    return _rationals(np.minimum(before, 1.0) if convex else before), _rationals(survives)


def _least_noise(problem: Problem) -> FloatArray:
    """Return the minimum that the noise of each visit adds to the final error."""
    _, _, _, second, noise = problem.updates.tables
    least = noise.min(axis=1)
    found: FloatArray = np.where(least < 0, _after(second.max(axis=1)), _after(second.min(axis=1))) * least
    return found


def _products(paired: list[Fraction], shares: list[Fraction]) -> Fraction:
    return sum((pair * share for pair, share in zip(paired, shares, strict=False)), Fraction(0))


def _fit_points(delta: FloatArray) -> FloatArray:
    """Return points whose squared distances approximate Δ, by classical scaling."""
    size = len(delta)
    centre = np.eye(size) - 1.0 / size
    values, axes = np.linalg.eigh(-0.5 * centre @ delta @ centre)
    return np.asarray(axes * np.sqrt(np.maximum(values, 0.0)))


def _largest_means(problem: Problem, terms: Terms) -> FloatArray:
    """Return the maximum of a weighted mean of dissimilarities before a visit to each region."""
    size = problem.size
    if size > SORTED_REGIONS:
        return np.asarray(np.maximum(terms.floats.max(axis=0), problem.initial_errors))
    retention, plasticity = problem.updates.retention[:, -1], problem.updates.plasticity[:, -1]
    falling = np.sort(terms.floats.T, axis=1)[:, ::-1]
    initial = problem.initial_errors
    most, held, first = np.array(initial), np.empty(0), 1.0
    for t in range(size - 1):
        held, first = np.append(held * retention[t], plasticity[t]), first * retention[t]
        most = np.maximum(most, (falling[:, : t + 1] * np.sort(held)[::-1]).sum(axis=1) + first * initial)
    return most


def _after(factors: FloatArray) -> FloatArray:
    found = np.ones(len(factors))
    for t in range(len(factors) - 2, -1, -1):
        found[t] = found[t + 1] * factors[t + 1]
    return found


def _low(numbers: FloatArray, size: int) -> FloatArray:
    """Return lower bounds on the exact values of numbers >= 0 that result from fewer than T + 8 roundings."""
    return np.asarray(np.maximum(0.0, numbers * (1 - 4 * (size + 8) * UNIT) - TINY))


def _lowest(numbers: FloatArray, size: int) -> FloatArray:
    """Return the same for any sign: a calibrated learner's noise is negative if that of its matrix is larger."""
    return np.where(numbers < 0, -_high(-numbers, size), _low(numbers, size))


def _symmetric(matrix: FloatArray) -> bool:
    return bool((matrix == matrix.T).all() and not matrix.diagonal().any())


def _high(numbers: FloatArray, size: int) -> FloatArray:
    return np.asarray(numbers * (1 + 4 * (size + 8) * UNIT) + TINY)
