"""The value of an order in rational numbers, without the rounding of float64. The checker's verdicts are based on it.

Floats are dyadic rationals, and so are their sums and products. The powers of r = 1 - n/m are not: they are rounded
down to `PLACES` binary places, and `Model.error` is the amount by which they may be too small. So every value is known
as an interval with exact ends, and nothing is decided by a tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from learnroute.model.ends import Ends
from learnroute.model.linear import Factored, Linear
from learnroute.model.problem import Problem
from learnroute.model.travel import Places, Travel
from learnroute.model.validation import FloatArray

PLACES = 1100  # binary places of shares and errors: a share of 2^-1022 of a number of 1e100 still has many digits
ONE = 1 << PLACES
MATRIX_REGIONS = 3000  # regions up to which all distances between places are stored
MOST_REGIONS = 20_000  # regions up to which bounds are checked


class Interval(NamedTuple):
    """Two rational numbers that enclose a number."""

    low: Fraction
    high: Fraction

    def plus(self, other: Interval | Fraction) -> Interval:
        """Return the interval of a sum."""
        low, high = (other.low, other.high) if isinstance(other, Interval) else (other, other)
        return Interval(self.low + low, self.high + high)


@dataclass(frozen=True)
class Model:
    """Exact travel and scores of a problem; like `Linear`, with T times the loss as its value.

    Attributes
    ----------
    travel, rate
        Travel costs (or, with very many regions, the places), and the loss per unit of travel.
    scores
        The cost of each region if its share is 1.
    shares
        The share with which a score counts at each position, in units of 2^-PLACES, rounded down; with `factors`, the
        smallest possible share there.
    factors
        If given, the share of a score is the product of the factors of the regions that follow.
    error
        The number of units of 2^-PLACES by which a share may be too small.
    constant
        The part of the value that does not depend on the order.
    """

    travel: FloatArray | Places
    rate: Fraction
    scores: tuple[Fraction, ...]
    shares: tuple[int, ...]
    factors: tuple[Fraction, ...] | None
    error: int
    constant: Interval
    ends: Ends

    @property
    def size(self) -> int:
        """The number of regions T."""
        return len(self.scores)

    @cached_property
    def only_last_counts(self) -> bool:
        """Whether only the score of the last region counts."""
        return self.factors is None and not any(self.shares[:-1])

    @cached_property
    def whole_scores(self) -> tuple[list[int], int]:
        """The scores as whole numbers with a common denominator."""
        below = math.lcm(*(score.denominator for score in self.scores))
        return [score.numerator * (below // score.denominator) for score in self.scores], below

    @cached_property
    def ranked(self) -> list[int]:
        """The regions in the order of lowest score cost: by Smith's rule, or by decreasing score."""
        if self.factors is None:
            return sorted(range(self.size), key=lambda v: -self.scores[v])
        factors = self.factors
        return sorted(range(self.size), key=lambda v: -self.scores[v] / (1 - factors[v]) if self.scores[v] else 0)

    def shares_of(self, stops: Sequence[int]) -> Sequence[int]:
        """Return the share with which the score of each stop counts, rounded down."""
        if self.factors is None:
            return self.shares[: len(stops)]
        return _products_after([self.factors[v] for v in stops])

    def travel_of(self, order: Sequence[int]) -> Fraction:
        """Return the travel of an order, in travel units."""
        origins, goals = (np.array(part, dtype=np.int64) for part in (order[:-1], order[1:]))
        if self.ends.closed:
            origins, goals = np.append(origins, order[-1]), np.append(goals, order[0])
        legs = self.travel.between(origins, goals) if isinstance(self.travel, Places) else self.travel[origins, goals]
        return exact_sum(legs.tolist())

    def score_of(self, order: Sequence[int]) -> Interval:
        """Return the score part of an order."""
        whole, below = self.whole_scores
        total = sum(share * whole[v] for share, v in zip(self.shares_of(order), order, strict=True))
        low = Fraction(total, below * ONE)
        return Interval(low, low + self.rounding_loss)

    @cached_property
    def rounding_loss(self) -> Fraction:
        """The amount by which the score part of an order may be too small because shares are rounded down."""
        whole, below = self.whole_scores
        return Fraction(self.error * sum(whole), below * ONE)

    def value(self, order: Sequence[int]) -> Interval:
        """Return the value of an order without the constant."""
        return self.score_of(order).plus(self.rate * self.travel_of(order))


def as_float(number: Fraction) -> float:
    """Return the nearest float64; inf or -inf beyond its range, where only forged bounds are."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def exact_sum(numbers: Iterable[float]) -> Fraction:
    """Return the sum of floats without rounding, by correctly rounded sums of the remainder until it is 0."""
    left = list(numbers)
    total = Fraction(0)
    while part := math.fsum(left):
        total += Fraction(part)
        left.append(-part)
    return total


def _products_after(factors: Sequence[Fraction]) -> list[int]:
    """Return the product of all later factors for each one, rounded down, in units of 2^-PLACES."""
    behind = accumulate(reversed(factors[1:]), lambda share, f: share * f.numerator // f.denominator, initial=ONE)
    return list(behind)[::-1]


def weighted_sums(rows: FloatArray, weights: FloatArray) -> tuple[Fraction, ...]:
    """Return the weighted sum of each row without rounding; entries of equal weight are added up first."""
    parts = [(Fraction(w), rows[:, weights == w].tolist()) for w in np.unique(weights).tolist()]
    return tuple(sum((w * exact_sum(some[k]) for w, some in parts), Fraction(0)) for k in range(len(rows)))


def initial_sum(problem: Problem) -> Fraction:
    """Return the weighted sum of the errors of the initial model."""
    return weighted_sums(problem.initial_errors[None, :], problem.region_weights)[0]


def distance_sums(rows: FloatArray, weights: FloatArray) -> tuple[Fraction, ...]:
    """Return the weighted sum of the squared distances of each vector to all vectors."""
    whole, below = _whole([[Fraction(float(x)) for x in row] for row in rows])
    (counts,), unit = _whole([[Fraction(w) for w in weights.tolist()]])
    squares = [sum(x * x for x in row) for row in whole]
    centre = [sum(x * count for x, count in zip(column, counts, strict=True)) for column in zip(*whole, strict=True)]
    everything, size = sum(square * count for square, count in zip(squares, counts, strict=True)), sum(counts)
    cross = [sum(x * c for x, c in zip(row, centre, strict=True)) for row in whole]
    return tuple(
        Fraction(size * square + everything - 2 * product, below**2 * unit)
        for square, product in zip(squares, cross, strict=True)
    )


def _whole(rows: list[list[Fraction]]) -> tuple[list[list[int]], int]:
    """Return rational numbers as whole numbers with a common denominator."""
    below = math.lcm(*(x.denominator for row in rows for x in row))
    return [[x.numerator * (below // x.denominator) for x in row] for row in rows], below


def distances_from_start(problem: Problem) -> list[Fraction]:
    """Return the squared distance of each true model to the first one."""
    assert problem.truth is not None
    assert problem.initial_model is not None
    start = [Fraction(float(x)) for x in problem.initial_model]
    return [
        sum(((Fraction(float(x)) - y) ** 2 for x, y in zip(row, start, strict=True)), Fraction(0))
        for row in problem.truth
    ]


class Losses(NamedTuple):
    """A model, and the two parts of its constant: from the initial model and from noise."""

    model: Model
    initial: Interval
    noise: Interval
    unscored: tuple[Fraction, ...]  # the part of each region's score that is noise, if sample sizes differ
    regions: int  # the number T of regions, without the depot

    def parts(self, order: Sequence[int]) -> dict[str, Fraction]:
        """Return the parts of the loss of an order of stops, per region, each at its lower end."""
        size, model = self.regions, self.model
        scored, noise = model.score_of(order).low, self.noise.low
        if any(self.unscored):
            added = replace(model, scores=self.unscored).score_of(order).low
            scored, noise = scored - added, noise + added
        parts = {
            "travel": model.rate * model.travel_of(order) / size,
            "dissimilarity": scored / size,
            "initial": self.initial.low / size,
            "noise": noise / size,
            "pairs": Fraction(0),
        }
        return {"total": sum(parts.values(), Fraction(0)), **parts}

    def parts_and_sizes(self, order: Sequence[int]) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
        """Return the parts, and the sums of the absolute values of their terms: the same, as no term is negative."""
        return (parts := self.parts(order)), parts


def losses_of(problem: Problem, true: bool = False) -> Losses:
    """Return the paper's loss of a problem, (e8) or (e14), or visit by visit; with `true`, for the true models."""
    weights = problem.region_weights
    if true:
        assert problem.truth is not None
        scores = distance_sums(problem.truth, weights)
        away = zip(weights.tolist(), distances_from_start(problem), strict=True)
        initial = sum((Fraction(w) * x for w, x in away), Fraction(0))
    else:
        initial = initial_sum(problem)
        if problem.matrix is not None:
            scores = weighted_sums(problem.matrix, weights)
        else:
            assert problem.vectors is not None
            scores = distance_sums(problem.vectors, weights)
    size, m, variance = problem.size, problem.learner.features, Fraction(problem.learner.noise) ** 2
    counts = [problem.learner.samples] * size if problem.samples is None else [int(n) for n in problem.samples]
    retained = [Fraction(max(0, m - n), m) for n in counts]
    first = _products_after([Fraction(1), *retained])[0]
    survived = Interval(Fraction(first, ONE), Fraction(first + size if first else 0, ONE))
    if first == 0 and all(retained):
        survived = Interval(Fraction(0), Fraction(size, ONE))
    added = [Fraction(0)] * size
    if problem.samples is None:
        n = problem.learner.samples
        over = m > n
        noise = size * m * variance / (abs(m - n) - 1)
        kept = Interval(1 - survived.high, 1 - survived.low)
        noisy = Interval(noise * kept.low, noise * kept.high)
        factors = None
        shares = tuple(share * n // m if over else share for share in _products_after(retained))
    else:
        plasticity = [Fraction(min(n, m), m) for n in counts]
        added = [size * min(n, m) * variance / (abs(n - m) - 1) for n in counts]
        scores = tuple(share * score + more for share, score, more in zip(plasticity, scores, added, strict=True))
        noisy = Interval(Fraction(0), Fraction(0))
        factors = tuple(retained) if any(retained) else None
        shares = tuple(_products_after(sorted(retained, reverse=True)))
    start_part = Interval(initial * survived.low, initial * survived.high)
    offset = len(problem.stops) - size  # a depot comes first and costs nothing, whatever its share
    scores, added = (*scores, *[Fraction(0)] * offset), [*added, *[Fraction(0)] * offset]
    shares = (*[0] * offset, *shares)
    factors = None if factors is None else (*factors, *[Fraction(1)] * offset)
    model = Model(
        costs_of(problem.ways),
        Fraction(problem.travel_rate),
        scores,
        shares,
        factors,
        size + 1 if any(retained) else 0,
        start_part.plus(noisy),
        problem.ends,
    )
    return Losses(model, start_part, noisy, tuple(added), size)


def costs_of(travel: Travel) -> FloatArray | Places:
    """Return travel costs between stops; with very many stops, the places that determine them."""
    return travel if isinstance(travel, Places) and travel.size > MATRIX_REGIONS else travel.matrix


def model_of(objective: Linear) -> Model:
    """Return the exact model of an objective, from its floats."""
    factors = tuple(Fraction(float(f)) for f in objective.factors) if isinstance(objective, Factored) else None
    shares = tuple(int(Fraction(float(w)) * ONE) for w in objective.weights)
    if factors is not None:
        shares = tuple(_products_after(sorted(factors, reverse=True)))
    constant = Fraction(objective.constant)
    return Model(
        costs_of(objective.travel),
        Fraction(1),
        tuple(Fraction(float(s)) for s in objective.scores),
        shares,
        factors,
        len(shares) + 1,
        Interval(constant, constant),
        objective.ends,
    )


class Relaxation(NamedTuple):
    """A model over paths whose values, plus a constant, are lower bounds on those of another model.

    `tight`: both have the same minimum, and shares are exactly those with which scores count.
    """

    model: Model
    added: Fraction
    tight: bool


def path_relaxation(model: Model) -> Relaxation:
    """Return the model itself; if its orders are cycles, a model that cuts them open.

    A cycle is cut after the lowest score if no other counts; otherwise its travel and scores are bounded separately.
    """
    if not model.ends.cyclic:
        return Relaxation(model, Fraction(0), model.factors is None)
    if model.only_last_counts:
        last = min(range(model.size), key=lambda v: model.scores[v])
        return Relaxation(replace(model, ends=model.ends.ending_at(last)), Fraction(0), True)
    scored = min(part for part in least_score_parts(model) if part is not None)
    nothing = (Fraction(0),) * model.size
    alone = replace(model, scores=nothing, shares=(0,) * model.size, factors=None, ends=Ends(last=0, closed=True))
    return Relaxation(alone, scored, False)


def least_score_parts(model: Model, ending: tuple[int, ...] = ()) -> list[Fraction | None]:
    """Return the minimum score part of orders that end at each region, before a separately paid ending (if any).

    The other regions are in the order of lowest score cost. The entry of a region is None if no order ends there.
    """
    whole, below = model.whole_scores
    first, last, places = model.ends.first, model.ends.last, model.size - len(ending)
    first = None if first in ending else first
    if model.factors is not None:
        assert not ending
        if model.size > MATRIX_REGIONS:
            return _rearrangement_bound(model, whole, below)
        return _parts_by_factors(model, whole, below)
    head = 0 if first is None else 1
    inner = [v for v in model.ranked if v != first and v not in ending]
    shares = model.shares[:places]
    start = 0 if first is None else shares[0] * whole[first]
    found: list[Fraction | None] = [None] * model.size
    if not inner:  # only the first region remains
        if first is not None:
            found[first] = Fraction(shares[-1] * whole[first], below * ONE)
        return found
    middle = shares[head:-1]
    # if the region of rank k comes last, those before it keep their position and those after it move up by one
    before = list(accumulate((s * whole[v] for s, v in zip(middle, inner, strict=False)), initial=0))
    moved = [s * whole[v] for s, v in zip(middle, inner[1:], strict=True)]
    behind = list(accumulate(reversed(moved), initial=0))[::-1]
    for k, v in enumerate(inner):
        if ending or last in (None, v):
            found[v] = Fraction(start + before[k] + behind[k] + shares[-1] * whole[v], below * ONE)
    return found


def _parts_by_factors(model: Model, whole: list[int], below: int) -> list[Fraction | None]:
    first, last = model.ends.first, model.ends.last
    head = [] if first is None else [first]
    found: list[Fraction | None] = []
    for v in range(model.size):
        if (v == first and model.size > 1) or last not in (None, v):
            found.append(None)
            continue
        stops = [*(head if v != first else []), *(u for u in model.ranked if u not in (v, first)), v]
        part = sum(share * whole[u] for share, u in zip(model.shares_of(stops), stops, strict=True))
        found.append(Fraction(part, below * ONE))
    return found


def _rearrangement_bound(model: Model, whole: list[int], below: int) -> list[Fraction | None]:
    """Return the same from the smallest share of each position only: the largest shares on the smallest scores."""
    part = sum(share * score for share, score in zip(sorted(model.shares, reverse=True), sorted(whole), strict=True))
    return [Fraction(part, below * ONE)] * model.size
