"""Between driving and forgetting: the routes that are best for some rate between the two."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from learnroute.errors import InputError
from learnroute.model.losses import expected_loss
from learnroute.model.problem import Problem
from learnroute.model.validation import as_count
from learnroute.planner import plan
from learnroute.solvers.contract import Budget, Progress

EXTREME = 1e6  # rates this far from the even one stand for "travel only" and "error only", ties broken by the other
SAME = 1e-9  # relative difference below which two points are one
MOST_POINTS = 100


@dataclass(frozen=True)
class Point:
    """A route and its two sides, per region; `rate` is a travel rate for which it was found best."""

    travel: float
    error: float
    rate: float
    order: tuple[int, ...]
    optimal: bool


def tradeoff(
    problem: Problem, points: int = 20, seed: int = 0, time_limit: float | None = None, progress: Progress | None = None
) -> tuple[tuple[Point, ...], bool]:
    """Return routes from least travel to least error, and whether no more of their kind exist.

    Between two neighbours, the rate at which they tie is planned for; a better route becomes a new
    neighbour. That finds the corners of the convex curve (every route that is best for some rate), not the
    non-dominated routes above it. At most about `points` plans are made.
    """
    points = as_count("points", points, least=2, meaning="the number of points")
    if points > MOST_POINTS:
        raise InputError(f"points = {points}: at most {MOST_POINTS}")
    budget = Budget.of(time_limit, progress)
    even = _even_rate(problem)
    ends = [_best(problem, even * EXTREME, seed, budget), _best(problem, even / EXTREME, seed, budget)]
    planned = 2
    curve = ends[:1] if _same(*ends) else ends
    spans = list(pairwise(curve))
    while spans and planned < points and not budget.exhausted:
        left, right = max(spans, key=lambda span: (span[1].travel - span[0].travel) * (span[0].error - span[1].error))
        spans.remove((left, right))
        rate = (left.error - right.error) / (right.travel - left.travel)
        if not 0 < rate < float("inf"):
            continue
        middle = _best(problem, rate, seed, budget)
        planned += 1
        budget.progress("trade-off", planned / points)
        value = left.error + rate * left.travel
        if middle.error + rate * middle.travel < value - SAME * abs(value):
            curve.append(middle)
            spans += [(left, middle), (middle, right)]
    curve = _undominated(curve)
    return tuple(curve), not spans and all(point.optimal for point in curve)


def _best(problem: Problem, rate: float, seed: int, budget: Budget) -> Point:
    found = plan(with_rate(problem, rate), "auto", seed, progress=budget.progress)
    loss = expected_loss(problem, found.order)
    return Point(loss.travel, loss.error, rate, found.order, found.optimal)


def with_rate(problem: Problem, rate: float) -> Problem:
    """Return the problem with travel costs counted `rate` times."""
    if rate == 1:
        return problem
    return problem.changed(travel_rate=problem.travel_rate * rate)


def _even_rate(problem: Problem) -> float:
    """Return a rate at which travel and score weigh about the same."""
    costs, scores = float(problem.travel.mean()), float(problem.scores.mean()) / problem.size
    return scores / costs if scores > 0 and costs > 0 else 1.0


def _same(a: Point, b: Point) -> bool:
    return abs(a.travel - b.travel) <= SAME * max(a.travel, b.travel, 1e-300)


def _undominated(curve: list[Point]) -> list[Point]:
    kept: list[Point] = []
    for point in sorted(curve, key=lambda p: (p.travel, p.error)):
        if not kept or point.error < kept[-1].error * (1 - SAME):
            kept.append(point)
    return kept
