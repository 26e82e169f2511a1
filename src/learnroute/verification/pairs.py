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
PARTS = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1))  # of pair terms, taken from scores
SORTED_REGIONS = 400  # regions up to which relaxations sort dissimilarities, and fit points to them
AT_ONCE = 20_000
BEYOND = Fraction(2) ** 1023  # goals of this size are those of forged bounds: float64 ends here
TINY = 1e-290  # more than products below the smallest float64 can lose


class Terms(NamedTuple):
    """Dissimilarities as the checker sees them: the rows of Δ, Δ_i0, and the scores."""

    places: int  # binary places of what follows: PLACES, and more where all dissimilarities are tiny
    row: Callable[[int], NDArray[Any]]  # of Δ, in whole numbers of 2^-places, rounded down
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


def whole(numbers: FloatArray, places: int) -> NDArray[Any]:
    """Return floats as whole numbers of 2^-places, rounded down."""
    flat = [Fraction(x) for x in np.asarray(numbers, dtype=np.float64).ravel().tolist()]
    found = np.empty(len(flat), dtype=object)
    found[:] = [(x.numerator << places) // x.denominator for x in flat]
    return found.reshape(np.shape(numbers))


def _places(*numbers: FloatArray) -> int:
    """Return binary places that leave the largest of some numbers PLACES significant ones."""
    largest = max(float(np.abs(part).max(initial=0.0)) for part in numbers)
    return PLACES + (max(0, -math.frexp(largest)[1]) if largest else 1074)


def terms_of(problem: Problem, true: bool = False) -> Terms:
    """Return the dissimilarities of a problem; `true`: those of the true models."""
    vectors = problem.truth if true else problem.vectors
    noise = problem.updates.noise
    if vectors is None:
        assert problem.matrix is not None
        delta = problem.matrix
        places = _places(delta, problem.initial, noise)
        scores = tuple(exact_sum(row) for row in delta.tolist())
        return Terms(places, lambda k: whole(delta[k], places), whole(problem.initial, places), scores, delta, None)
    exact = [[Fraction(float(x)) for x in row] for row in vectors]
    floats = np.array([(1 + 64 * (len(exact[0]) + 4) * UNIT) * ((vectors - v) ** 2).sum(axis=1) for v in vectors])
    places = 2 * _places(np.sqrt(floats), np.sqrt(problem.initial), np.sqrt(np.abs(noise)))
    points = whole(vectors, places)

    def row(k: int) -> NDArray[Any]:
        return np.asarray(((points - points[k]) ** 2).sum(axis=1)) >> places

    initial = whole(problem.initial, places)
    if true:
        assert problem.initial_model is not None
        start = [Fraction(float(x)) for x in problem.initial_model]
        away = [sum(((x - y) ** 2 for x, y in zip(row, start, strict=True)), Fraction(0)) for row in exact]
        initial = np.array([(x.numerator << places) // x.denominator for x in away], dtype=object)
    return Terms(places, row, initial, distance_sums(vectors), floats, vectors)


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
        means, unit = terms.initial.copy(), 1 << terms.places
        scored, noisy, paired, first = 0, 0, 0, ONE
        whole_scores = [(s.numerator << terms.places) // s.denominator for s in terms.scores]
        updates = self.problem.updates
        for t, k in enumerate(order[1:] if self.depot else order):
            retention, plasticity, coupling, second, noise = (_dyadic(float(table[t, k])) for table in updates.tables)
            paired = _times(paired, second) + _times(int(means[k]), coupling)
            noisy = _times(noisy, second) + _times(unit, noise)
            scored = _times(scored, retention) + _times(whole_scores[k], plasticity)
            first = _times(first, retention)
            means = ((means * retention[0]) >> retention[1]) + ((terms.row(k) * plasticity[0]) >> plasticity[1])
        initial = sum(terms.initial.tolist()) * first >> PLACES
        parts = {
            "travel": self.plain.rate * self.plain.travelled(order) / size,
            "dissimilarity": Fraction(scored, size * unit),
            "initial": Fraction(initial, size * unit),
            "noise": Fraction(noisy, unit),
            "pairs": Fraction(-paired, unit),
        }
        return {"total": sum(parts.values(), Fraction(0)), **parts}

    def total(self, order: Sequence[int]) -> Interval:
        """Return T times the loss, between two numbers: each of the recursion's steps may be off by a few units."""
        value = self.parts(order)["total"] * self.size
        off = Fraction(8 * self.size * (self.size + 2) ** 2, 1 << self.terms.places)
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
    means = np.tile(problem.initial, (len(orders), 1))
    summed, common, sizes = np.full(len(orders), problem.initial.sum()), np.zeros(len(orders)), np.zeros(len(orders))
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
    convex = bool(retention.min() >= 0 and retention.max() <= 1 and coupling.min() >= 0 and second.max() <= 1)
    yield from _rearranged(problem, terms) if convex else (_worst_case(problem, terms),)
    if terms.points is not None or (size <= SORTED_REGIONS and _symmetric(terms.floats)):
        yield _floor(problem, terms, convex)


def _rearranged(problem: Problem, terms: Terms) -> Iterator[Relaxed]:
    """Return relaxations in which each pair term is at its least."""
    tables = problem.updates.tables
    if all(bool((table == table[:, -1:]).all()) for table in tables):
        yield from _by_position(problem, terms)
    elif all(bool((table == table[:1]).all()) for table in tables):
        yield _by_region(problem, terms)
    else:
        yield _by_both(problem, terms)


def _by_position(problem: Problem, terms: Terms) -> Iterator[Relaxed]:
    """Training depends on the position alone: part of the pair terms is taken from scores, the rest is rearranged.

    Any part gives a valid relaxation. Those that a planner is likely to choose come first.
    """
    size = problem.size
    retention, plasticity, coupling, second, _ = (table[:, -1] for table in problem.updates.tables)
    weights, paired = _low(_after(retention) * plasticity, size), _high(_after(second) * coupling, size)
    counted = np.minimum.accumulate(weights[::-1])[::-1]
    most = _rationals(_high(_largest_means(problem, terms), size))
    used = counted > 0
    top = Fraction(float((paired[used] / counted[used]).max(initial=0.0)))
    found = [_moved(problem, terms, weights, counted, paired, most, top * part) for part in PARTS]
    return iter(sorted(found, key=_least_error, reverse=True))


def _least_error(relaxed: Relaxed) -> Fraction:
    """Return the least error of any order by the rearrangement inequality."""
    scores = sorted(relaxed.scores, reverse=True)
    return relaxed.constant + sum((s * w for s, w in zip(scores, relaxed.shares, strict=True)), Fraction(0)) / ONE


def _moved(
    problem: Problem, terms: Terms, weights: FloatArray, counted: FloatArray, paired: FloatArray,
    most: list[Fraction], ratio: Fraction,
) -> Relaxed:  # fmt: skip
    """Return the relaxation that takes `ratio` times the largest pair term of each region from its score."""
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
        + first * exact_sum(problem.initial.tolist())
        + size * exact_sum(_lowest(_after(second) * noise, size).tolist())
    )
    return Relaxed(tuple(score + shift for score in lowered), _shares(counted), None, constant)


def _by_region(problem: Problem, terms: Terms) -> Relaxed:
    """Training depends on the region alone: what is besides the linear part is least by Smith's rule."""
    size = problem.size
    retention, plasticity, coupling, second, noise = (_rationals(table[0]) for table in problem.updates.tables)
    most = _rationals(_high(np.maximum(terms.floats.max(axis=0), problem.initial), size))
    costs = [size * (n - q * mean) for n, q, mean in zip(noise, coupling, most, strict=True)]
    order = sorted(range(size), key=lambda i: -costs[i] / max(1 - second[i], Fraction(1, ONE)))
    share, constant = Fraction(1), Fraction(0)
    for i in reversed(order):
        constant += share * costs[i]
        share *= second[i]
    survives = exact_sum(problem.initial.tolist())
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
    most = _rationals(_high(np.maximum(terms.floats.max(axis=0), problem.initial), size))
    constant = Fraction(float(_low(np.array([np.prod(retention.min(axis=1))]), size)[0]))
    constant *= exact_sum(problem.initial.tolist())
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
    retention, plasticity, coupling, second, _ = updates.tables
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
    farthest = 4 * max(radii)  # no squared distance between two of the points is larger
    first = [radius - Fraction(float(x)) for radius, x in zip(radii, problem.initial, strict=True)]
    later = _rationals(_high(size * _after(second.max(axis=1)), size))
    paired = [share * q for share, q in zip(later, _rationals(np.abs(coupling).max(axis=1)), strict=True)]
    before, survives = _shares_before(problem, convex)
    if not convex:
        below, above = below + size * above, above + below
    missed = [max(x, Fraction(0)) if convex else abs(x) for x in first]
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
        - survives[-1] * sum(missed, Fraction(0))
        - _products(paired, survives) * worst
    )
    return Relaxed((Fraction(0),) * size, (0,) * size, None, constant)


def _worst_case(problem: Problem, terms: Terms) -> Relaxed:
    """Return every term at its worst: shares in the model may have either sign."""
    size = problem.size
    retention, plasticity, coupling, second, _ = (np.abs(table).max(axis=1) for table in problem.updates.tables)
    before, survives = _shares_before(problem, False)
    paired = _rationals(_high(size * _after(second) * coupling, size))
    largest = max(Fraction(float(terms.floats.max())), Fraction(float(problem.initial.max())))
    constant = (
        size * exact_sum(_lowest(_least_noise(problem), size).tolist())
        - exact_sum(_high(_after(retention) * plasticity, size).tolist()) * max(terms.scores)
        - survives[-1] * exact_sum(problem.initial.tolist())
        - (_products(paired, before) + _products(paired, survives)) * largest
    )
    return Relaxed((Fraction(0),) * size, (0,) * size, None, constant)


def _shares_before(problem: Problem, convex: bool) -> tuple[list[Fraction], list[Fraction]]:
    """Return the most that visits, and the first model, have as shares of the model before each visit and at the end.

    Shares of either sign count by their sizes.
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
    """Return the least that the noise of each visit adds to the final error."""
    _, _, _, second, noise = problem.updates.tables
    least = noise.min(axis=1)
    found: FloatArray = np.where(least < 0, _after(second.max(axis=1)), _after(second.min(axis=1))) * least
    return found


def _products(paired: list[Fraction], shares: list[Fraction]) -> Fraction:
    return sum((pair * share for pair, share in zip(paired, shares, strict=False)), Fraction(0))


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
        return np.asarray(np.maximum(terms.floats.max(axis=0), problem.initial))
    retention, plasticity = problem.updates.retention[:, -1], problem.updates.plasticity[:, -1]
    falling = np.sort(terms.floats.T, axis=1)[:, ::-1]
    most, held, first = np.array(problem.initial), np.empty(0), 1.0
    for t in range(size - 1):
        held, first = np.append(held * retention[t], plasticity[t]), first * retention[t]
        most = np.maximum(most, (falling[:, : t + 1] * np.sort(held)[::-1]).sum(axis=1) + first * problem.initial)
    return most


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
