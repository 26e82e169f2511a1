"""The ratios of Algorithm 1 that are proved in advance, and the largest loss for dissimilarities within their bounds.

Both are recomputed in exact arithmetic from the problem's numbers; docs/bounds.md has the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from learnroute.model.problem import Problem
from learnroute.model.rounding import SAME
from learnroute.verification.exact import ONE, PLACES, Losses, losses_of
from learnroute.verification.pairs import PairLosses

MOST_REGIONS = 2000  # regions up to which the triangle inequality is checked: about ten seconds
BEYOND = Fraction(10) ** 305  # larger ratios are not stated


class Ratios(NamedTuple):
    """Ratios of Algorithm 1's loss to the lowest one: the paper's and the sharper one; None if not proved."""

    paper: Fraction | None = None
    sharper: Fraction | None = None

    @property
    def least(self) -> Fraction | None:
        """The smaller of the known ratios."""
        return min((ratio for ratio in self if ratio is not None), default=None)


def ratios_of_algorithm1(problem: Problem) -> Ratios:
    """Return the ratios that are proved for this problem; these need metric travel and suitable sample sizes."""
    learner = problem.learner
    if learner.couples or not is_metric(problem):
        return Ratios()
    counts = [learner.samples] if problem.samples is None else [int(n) for n in problem.samples]
    ends, travel = _travel_ratio(problem)
    if all(n > learner.features for n in counts):
        return Ratios(None if ends else travel, travel)
    if problem.samples is not None:
        return Ratios()
    losses = losses_of(problem)
    retained = Fraction(learner.features - learner.samples, learner.features)
    power = retained ** (problem.size - 1)
    paper = None if ends else Fraction(3, 2) + 1 / power
    return Ratios(paper if paper is None or paper < BEYOND else None, _sharper(problem, losses, travel, retained))


def _travel_ratio(problem: Problem) -> tuple[bool, Fraction]:
    """Return whether the ends differ from the paper's, and the proved ratio to the shortest travel."""
    first, last = problem.ends.first, problem.ends.last
    special = first is not None or last is not None or problem.closed or problem.travel_rate == 0
    if problem.travel_rate == 0:
        return special, Fraction(1)
    if first is None:
        return special, Fraction(3, 2)
    return special, Fraction(2) if last is None else Fraction(5, 3)


def _sharper(problem: Problem, losses: Losses, travel: Fraction, retained: Fraction) -> Fraction | None:
    """Return max(travel, largest score part / smallest score part) for routes that end at the lowest allowed score."""
    scores, first, last = list(losses.model.scores[: problem.size]), problem.ends.first, problem.ends.last
    share = (retained - retained**problem.size) / (1 - retained**problem.size)
    if last is not None:
        end, before = scores[last], scores[:last] + scores[last + 1 :]
    else:
        end, before = min(score for v, score in enumerate(scores) if v != first), scores
    least, most = min(before), max(before)
    if least == most:
        return travel
    floor = (1 - share) * end + share * least
    return max(travel, 1 + share * (most - least) / floor) if floor > 0 else None


def is_metric(problem: Problem) -> bool:
    """Whether travel is symmetric and no detour is shorter, up to rounding; always true for distances of places."""
    if problem.ways.is_metric:
        return True
    travel = problem.ways.matrix
    size = len(travel)
    if size > MOST_REGIONS or not (travel == travel.T).all():
        return False
    slack = SAME * float(travel.max())
    return not any(
        bool((travel[i, i + 1 :] > (travel[i][:, None] + travel[:, i + 1 :]).min(axis=0) + slack).any())
        for i in range(size - 1)
    )


def largest_total(problem: Problem, order: Sequence[int]) -> tuple[Fraction, Fraction] | None:
    """Return the largest loss per region of an order of stops, with dissimilarities between their bounds.

    The second number is the sum of the absolute values of its terms.
    The loss is linear in each of them; if one counts negatively, its lower bound is used (0 for the initial model).
    Return None if one counts negatively and the problem has no lower bounds. Unbiased estimates are ignored.
    """
    problem = problem.with_upper_bounds()
    if not problem.learner.couples and problem.visits_all_once:
        total = losses_of(problem).parts(order)["total"]
        return total, total
    total, size_of_terms = (parts["total"] for parts in PairLosses(problem).parts_and_sizes(order))
    updates, size = problem.updates, problem.size
    if not updates.coupling.any():
        return total, size_of_terms
    high, low = problem.dissimilarity, problem.dissimilarity_low
    if high is None or low is None:
        return None
    regions = [v for v in order if v < size]
    laws = [[Fraction(float(table[t, k])) for table in updates.tables] for t, k in enumerate(regions)]
    weights = [Fraction(w) for w in problem.region_weights.tolist()]
    shares, counts, first = _slopes(regions, laws, weights)
    for i in range(size):
        total -= min(Fraction(0), first[i]) * Fraction(float(problem.initial[i])) / (size * ONE)
        for j in np.flatnonzero(high[i, :i] != low[i, :i]).tolist():
            slope = weights[j] * shares[i] + weights[i] * shares[j] + counts[i][j]
            if slope < 0:
                width = Fraction(float(high[i, j])) - Fraction(float(low[i, j]))
                total -= slope * width / (size * ONE)
    return total, 2 * size_of_terms


def _slopes(
    regions: Sequence[int], laws: Sequence[Sequence[Fraction]], weights: Sequence[Fraction]
) -> tuple[list[int], list[list[int]], list[Fraction]]:
    """Return how T times the error depends on scores, on pairs and on the initial model, in units of 2^-PLACES.

    `pairs[i][j]`, i > j, is the slope of the pair terms of both regions; scores have a slope for all regions.
    """
    later_second, later, size = ONE, ONE, len(weights)
    paired, learned = [0] * len(regions), [0] * len(regions)
    for t in range(len(regions) - 1, -1, -1):
        retention, plasticity, coupling, second, _ = laws[t]
        paired[t], learned[t] = int(size * later_second * coupling), int(later * plasticity)
        later_second, later = int(later_second * second), int(later * retention)
    shares, first = [0] * size, [later * weight for weight in weights]
    pairs = [[0] * size for _ in range(size)]
    held: dict[int, int] = {}
    left = ONE
    for t, k in enumerate(regions):
        shares[k] += learned[t]
        retention, plasticity = laws[t][0], laws[t][1]
        for i, share in held.items():
            a, b = max(i, k), min(i, k)
            pairs[a][b] -= paired[t] * share >> PLACES
        first[k] -= paired[t] * left >> PLACES
        held = {i: int(share * retention) for i, share in held.items()}
        held[k] = held.get(k, 0) + int(ONE * plasticity)
        left = int(left * retention)
    return shares, pairs, first
