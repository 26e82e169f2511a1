"""Check plans of regularised learners: the loss by its recursion in whole numbers, and bounds by linear relaxations.

The recursion is e_j ← p₁·e_j - q·e_k + (1 - p₁)·Δ[k, j] + ν. What p₁, q and ν are follows from the learner; the numbers
of the problem's `updates` are taken as they are. From there on, nothing is decided by a tolerance: sums are exact, or
rounded to the side that counts against the claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.model.problem import Problem
from learnroute.model.rounding import UNIT
from learnroute.model.validation import FloatArray
from learnroute.verification.bounds import Checker, Outcome
from learnroute.verification.exact import ONE, PLACES, Interval, Model, distance_sums, exact_sum, stop_travel_of

ENUMERATED = 9  # regions up to which all orders are tried
MODEL_ROUNDING = 1e-9  # by how much p₂ may be above p₁ - q where a model has the errors
SORTED_REGIONS = 400  # regions up to which relaxations sort dissimilarities, and fit points to them
AT_ONCE = 20_000
BEYOND = Fraction(2) ** 1023  # goals of this size are those of forged bounds: float64 ends here
TINY = 1e-290  # more than products below the smallest float64 can lose


class Terms(NamedTuple):
    """Dissimilarities as the checker sees them: the rows of Δ, Δ_i0, and the scores."""

    row: Callable[[int], NDArray[Any]]  # of Δ, in whole numbers of 2^-PLACES, rounded down
    initial: NDArray[Any]
    scores: tuple[Fraction, ...]
    floats: FloatArray  # upper bounds of Δ
    points: FloatArray | None  # vectors whose squared distances Δ is


class Relaxed(NamedTuple):
    """A linear model below the loss, as `Model` has it."""

    scores: tuple[Fraction, ...]
    shares: tuple[int, ...]
    factors: tuple[Fraction, ...] | None
    constant: Fraction


def whole(numbers: FloatArray) -> NDArray[Any]:
    """Return floats as whole numbers of 2^-PLACES, rounded down."""
    flat = [Fraction(x) for x in np.asarray(numbers, dtype=np.float64).ravel().tolist()]
    found = np.empty(len(flat), dtype=object)
    found[:] = [(x.numerator << PLACES) // x.denominator for x in flat]
    return found.reshape(np.shape(numbers))


def terms_of(problem: Problem, true: bool = False) -> Terms:
    """Return the dissimilarities of a problem; `true`: those of the true models."""
    vectors = problem.truth if true else problem.vectors if problem.matrix is None else None
    if vectors is None:
        assert problem.matrix is not None
        delta = problem.matrix
        scores = tuple(exact_sum(row) for row in delta.tolist())
        return Terms(lambda k: whole(delta[k]), whole(problem.initial_errors), scores, delta, None)
    exact = [[Fraction(float(x)) for x in row] for row in vectors]
    points = whole(vectors)

    def row(k: int) -> NDArray[Any]:
        return np.asarray(((points - points[k]) ** 2).sum(axis=1)) >> PLACES

    initial = whole(problem.initial_errors)
    if true:
        assert problem.initial_model is not None
        start = [Fraction(float(x)) for x in problem.initial_model]
        away = [sum(((x - y) ** 2 for x, y in zip(row, start, strict=True)), Fraction(0)) for row in exact]
        initial = np.array([(x.numerator << PLACES) // x.denominator for x in away], dtype=object)
    floats = np.array([(1 + 64 * (len(exact[0]) + 4) * UNIT) * ((vectors - v) ** 2).sum(axis=1) for v in vectors])
    return Terms(row, initial, distance_sums(vectors), floats, vectors)


class PairLosses:
    """The loss of a regularised learner; `plain` is its travel and ends, `relaxations` are linear models below it."""

    def __init__(self, problem: Problem, true: bool = False) -> None:
        self.problem, self.terms, self.size = problem, terms_of(problem, true), problem.size
        nothing = Interval(Fraction(0), Fraction(0))
        travel, rate = stop_travel_of(problem), Fraction(problem.travel_rate)
        self.depot = problem.depot is not None
        scores = (*self.terms.scores, Fraction(0)) if self.depot else self.terms.scores
        self.plain = Model(travel, rate, scores, (0,) * len(scores), None, 0, nothing, problem.ends)

    def parts(self, order: Sequence[int]) -> dict[str, Fraction]:
        """Return the parts of the loss of an order of stops, per region; a depot comes first and changes no error."""
        size, terms = self.size, self.terms
        means = terms.initial.copy()
        scored, noisy, paired, first = 0, 0, 0, ONE
        whole_scores = [(s.numerator << PLACES) // s.denominator for s in terms.scores]
        updates = self.problem.updates
        for t, k in enumerate(order[1:] if self.depot else order):
            retention, plasticity, coupling, second, noise = (_dyadic(float(table[t, k])) for table in updates.tables)
            paired = _times(paired, second) + _times(int(means[k]), coupling)
            noisy = _times(noisy, second) + _times(ONE, noise)
            scored = _times(scored, retention) + _times(whole_scores[k], plasticity)
            first = _times(first, retention)
            means = ((means * retention[0]) >> retention[1]) + ((terms.row(k) * plasticity[0]) >> plasticity[1])
        initial = sum(terms.initial.tolist()) * first >> PLACES
        parts = {
            "travel": self.plain.rate * self.plain.travelled(order) / size,
            "dissimilarity": Fraction(scored, size * ONE),
            "initial": Fraction(initial, size * ONE),
            "noise": Fraction(noisy, ONE),
            "pairs": Fraction(-paired, ONE),
        }
        return {"total": sum(parts.values(), Fraction(0)), **parts}

    def total(self, order: Sequence[int]) -> Interval:
        """Return T times the loss, between two numbers: each of the recursion's steps may be off by a few units."""
        value = self.parts(order)["total"] * self.size
        off = Fraction(8 * self.size * (self.size + 2) ** 2, ONE)
        return Interval(value - off, value + off)

    def relaxations(self) -> Iterator[Model]:
        """Return linear models that are nowhere above the loss; with constants."""
        for scores, shares, factors, constant in _relaxed(self.problem, self.terms):
            if self.depot:
                scores, shares = (*scores, Fraction(0)), (0, *shares)
                factors = None if factors is None else (*factors, Fraction(1))
            yield replace(
                self.plain, scores=scores, shares=shares, factors=factors, error=self.size + 1,
                constant=Interval(constant, constant),
            )  # fmt: skip


class PairChecker:
    """Settles whether any order is below a goal (T times a loss), by a certificate of a relaxation or by trying all."""

    def __init__(self, losses: PairLosses, certificate: Any) -> None:
        self.losses = losses
        self.checkers = [Checker(model, certificate) for model in losses.relaxations()]

    @property
    def known(self) -> Fraction:
        """What no order is below, as far as that was shown."""
        return max(checker.known + checker.model.constant.low for checker in self.checkers)

    def settle(self, goal: Fraction, optimum: bool = False) -> Outcome:
        """Say whether no order is below a goal."""
        follows: list[Fraction] = []
        why = "with a regularised learner, optima are checked only as far as all orders can be tried"
        for checker in self.checkers:
            constant = checker.model.constant.low
            found = checker.settle(goal - constant)
            if found.proved:
                return Outcome(proved=True)
            if found.better is not None:
                follows.append(goal - found.better)
            elif found.follows is not None:
                follows.append(found.follows + constant)
            else:
                why = found.why
        if self.losses.size <= ENUMERATED:
            return self._enumerated(goal)
        return Outcome(follows=max(follows, default=None) if not optimum else None, why=why)

    def _enumerated(self, goal: Fraction) -> Outcome:
        """Try all orders: by floats, and those near the goal exactly."""
        problem, losses = self.losses.problem, self.losses
        everyone = permutations(range(problem.size))
        least: Fraction | None = None
        near_to = math.inf if goal >= BEYOND else float(max(goal, -BEYOND))  # never less
        while some := list(islice(everyone, AT_ONCE)):
            stops = (problem.from_depot(order) for order in some)
            orders = np.array([order for order in stops if problem.ends.allows(order)], dtype=np.int64)
            if not len(orders):
                continue
            values, sizes = _floats(losses, orders)
            near = orders[values - 1e-12 * sizes < near_to]
            for order in near.tolist():
                total = losses.total(order)
                if total.high < goal:
                    least = total.high if least is None else min(least, total.high)
                elif total.low < goal:
                    return Outcome(why="the optimum is too near to the goal to tell")
        return Outcome(proved=True) if least is None else Outcome(better=goal - least)


def _dyadic(number: float) -> tuple[int, int]:
    """Return a float as a whole number and the power of two that it is divided by."""
    above, below = float(number).as_integer_ratio()
    return above, below.bit_length() - 1


def _times(amount: int, factor: tuple[int, int]) -> int:
    return (amount * factor[0]) >> factor[1]


def _floats(losses: PairLosses, orders: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Return values of many orders in float64, and the sizes of what was added up."""
    problem, updates = losses.problem, losses.problem.updates
    rows = np.arange(len(orders))
    delta, scores = losses.terms.floats, np.array([float(s) for s in losses.terms.scores])
    means = np.tile(problem.initial_errors, (len(orders), 1))
    summed = np.full(len(orders), problem.initial_errors.sum())
    common, sizes = np.zeros(len(orders)), np.zeros(len(orders))
    for t, here in enumerate(orders.T[1:] if losses.depot else orders.T):
        retention, plasticity, coupling, second, noise = (table[t, here] for table in updates.tables)
        sizes = sizes + np.abs(coupling * means[rows, here]) + np.abs(noise)
        common = second * common + coupling * means[rows, here] - noise
        summed = retention * summed + plasticity * scores[here]
        means = retention[:, None] * means + plasticity[:, None] * delta[here]
    travel = problem.travel_rate * problem.stop_travel
    legs = travel[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    if problem.ends.closed:
        legs = legs + travel[orders[:, -1], orders[:, 0]]
    return legs + summed - problem.size * common, legs + np.abs(summed) + problem.size * sizes + float(scores.sum())


# Relaxations: docs/bounds.md has the argument


def _relaxed(problem: Problem, terms: Terms) -> Iterator[Relaxed]:
    """Return scores, shares, factors and constant of linear models below the loss."""
    updates, size = problem.updates, problem.size
    retention, _, coupling, second, _ = updates.tables
    convex = retention.min() >= 0 and retention.max() <= 1 and coupling.min() >= 0 and second.max() <= 1
    if convex:
        yield _rearranged(problem, terms)
    modelled = bool((second <= retention - coupling + MODEL_ROUNDING).all())  # else no model has these errors
    if modelled and (terms.points is not None or (size <= SORTED_REGIONS and _symmetric(terms.floats))):
        yield _floor(problem, terms, bool(convex))


def _rearranged(problem: Problem, terms: Terms) -> Relaxed:
    """Return the relaxation in which each pair term is at its least."""
    tables = problem.updates.tables
    if all(bool((table == table[:, -1:]).all()) for table in tables):
        return _by_position(problem, terms)
    if all(bool((table == table[:1]).all()) for table in tables):
        return _by_region(problem, terms)
    return _by_both(problem, terms)


def _by_position(problem: Problem, terms: Terms) -> Relaxed:
    """Training depends on the position alone: pair terms are taken from scores, and the rest is rearranged."""
    size = problem.size
    retention, plasticity, coupling, second, noise = (table[:, -1] for table in problem.updates.tables)
    weights, paired = _low(_after(retention) * plasticity, size), _high(_after(second) * coupling, size)
    counted = np.minimum.accumulate(weights[::-1])[::-1]
    most, ratio = _rationals(_high(_largest_means(problem, terms), size)), Fraction(_ratio(problem))
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
        + first * exact_sum(problem.initial_errors.tolist())
        + size * exact_sum(_lowest(_after(second) * noise, size).tolist())
    )
    return Relaxed(tuple(score + shift for score in lowered), _shares(counted), None, constant)


def _by_region(problem: Problem, terms: Terms) -> Relaxed:
    """Training depends on the region alone: what is besides the linear part is least by Smith's rule."""
    size = problem.size
    retention, plasticity, coupling, second, noise = (_rationals(table[0]) for table in problem.updates.tables)
    most = _rationals(np.maximum(terms.floats.max(axis=0), problem.initial_errors))
    costs = [size * (n - q * mean) for n, q, mean in zip(noise, coupling, most, strict=True)]
    order = sorted(range(size), key=lambda i: -costs[i] / max(1 - second[i], Fraction(1, ONE)))
    share, constant = Fraction(1), Fraction(0)
    for i in reversed(order):
        constant += share * costs[i]
        share *= second[i]
    survives = exact_sum(problem.initial_errors.tolist())
    for factor in retention:
        survives *= factor
    behind = [ONE]
    for factor in sorted(retention)[:-1]:
        behind.append(behind[-1] * factor.numerator // factor.denominator)
    scores = tuple(share * score for share, score in zip(plasticity, terms.scores, strict=True))
    return Relaxed(scores, tuple(reversed(behind)), tuple(retention), constant + survives)


def _by_both(problem: Problem, terms: Terms) -> Relaxed:
    """Training depends on both: every position has the region that costs least there."""
    size = problem.size
    retention, plasticity, coupling, second, noise = problem.updates.tables
    low = _rationals(_low(_after(second.min(axis=1)), size))
    high = _rationals(_high(_after(second.max(axis=1)), size))
    counted = np.minimum.accumulate(_low(_after(retention.min(axis=1)) * plasticity.min(axis=1), size)[::-1])[::-1]
    most = _rationals(np.maximum(terms.floats.max(axis=0), problem.initial_errors))
    constant = Fraction(float(_low(np.array([np.prod(retention.min(axis=1))]), size)[0]))
    constant *= exact_sum(problem.initial_errors.tolist())
    for t in range(size):
        here = zip(_rationals(noise[t]), _rationals(coupling[t]), most, strict=True)
        constant += size * min(n * (high if n < 0 else low)[t] - q * mean * high[t] for n, q, mean in here)
    return Relaxed(terms.scores, _shares(counted), None, constant)


def _rationals(numbers: FloatArray) -> list[Fraction]:
    return [Fraction(x) for x in numbers.tolist()]


def _shares(weights: FloatArray) -> tuple[int, ...]:
    return tuple(int(weight * ONE) for weight in _rationals(weights))


def _floor(problem: Problem, terms: Terms, convex: bool) -> Relaxed:
    """Return the error of the mean of all models, and noise: any points will do, what they miss counts at its worst."""
    size, updates = problem.size, problem.updates
    retention, plasticity, coupling, second, noise = updates.tables
    points = _fitted(terms.floats) if terms.points is None else terms.points
    scores = distance_sums(points)
    everything = sum(scores, Fraction(0))
    floor = everything / (2 * size)
    radii = [(2 * size * score - everything) / (2 * size * size) for score in scores]
    below, above = Fraction(0), Fraction(0)
    if terms.points is None:
        apart = np.array([((points - point) ** 2).sum(axis=1) for point in points])
        slack = 64 * (points.shape[1] + 8) * UNIT * apart
        under, over = np.maximum(apart + slack - terms.floats, 0.0), np.maximum(terms.floats - apart + slack, 0.0)
        below, above = Fraction(float(_high(under.sum(axis=1), size).max())), Fraction(float(over.max()))
    first = [radius - Fraction(float(x)) for radius, x in zip(radii, problem.initial_errors, strict=True)]
    paired = _high(size * _after(second.max(axis=1)) * np.abs(coupling).max(axis=1), size)
    most_retained, most_learned = np.abs(retention).max(axis=1), np.abs(plasticity).max(axis=1)
    before, survives = np.zeros(size + 1), np.ones(size + 1)
    for t in range(size):
        before[t + 1] = most_retained[t] * before[t] + most_learned[t]
        survives[t + 1] = most_retained[t] * survives[t]
    before, survives = _high(before, size), _high(survives, size)
    if convex:
        before = np.minimum(before, 1.0)
    else:
        below, above = below + size * above, above + below
    missed = [max(x, Fraction(0)) if convex else abs(x) for x in first]
    worst = max(Fraction(0), -min(first)) if convex else max(map(abs, first))
    least = noise.min(axis=1)
    noisy = np.where(least < 0, _after(second.max(axis=1)), _after(second.min(axis=1))) * least
    constant = (
        floor
        + size * exact_sum(_lowest(noisy, size).tolist())
        - Fraction(float(before[-1])) * below
        - exact_sum(_high(paired * before[:-1], size).tolist()) * above
        - Fraction(float(survives[-1])) * sum(missed, Fraction(0))
        - exact_sum(_high(paired * survives[:-1], size).tolist()) * worst
    )
    return Relaxed((Fraction(0),) * size, (0,) * size, None, constant)


def _fitted(delta: FloatArray) -> FloatArray:
    """Return points whose squared distances are near Δ: classical scaling."""
    size = len(delta)
    centre = np.eye(size) - 1.0 / size
    values, axes = np.linalg.eigh(-0.5 * centre @ delta @ centre)
    return np.asarray(axes * np.sqrt(np.maximum(values, 0.0)))


def _largest_means(problem: Problem, terms: Terms) -> FloatArray:
    """Return the most that a weighted mean of dissimilarities can be before a visit to each region."""
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


def _ratio(problem: Problem) -> float:
    """Return how much of the pair terms scores are made smaller by: any number would do; this is the planner's."""
    from learnroute.model.losses import objective_of

    pairs = objective_of(problem).pairs
    return 0.0 if pairs is None else pairs.ratio


def _after(factors: FloatArray) -> FloatArray:
    found = np.ones(len(factors))
    for t in range(len(factors) - 2, -1, -1):
        found[t] = found[t + 1] * factors[t + 1]
    return found


def _low(numbers: FloatArray, size: int) -> FloatArray:
    """Return numbers below what these would be without rounding: none is negative, or the result of T + 8 roundings."""
    return np.asarray(np.maximum(0.0, numbers * (1 - 4 * (size + 8) * UNIT) - TINY))


def _lowest(numbers: FloatArray, size: int) -> FloatArray:
    """The same where some may be negative: the noise of a calibrated learner is, if that of its matrix is larger."""
    return np.where(numbers < 0, -_high(-numbers, size), _low(numbers, size))


def _symmetric(matrix: FloatArray) -> bool:
    return bool((matrix == matrix.T).all() and not matrix.diagonal().any())


def _high(numbers: FloatArray, size: int) -> FloatArray:
    return np.asarray(numbers * (1 + 4 * (size + 8) * UNIT) + TINY)
