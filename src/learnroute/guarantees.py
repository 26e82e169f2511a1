"""Approximation guarantees of Algorithm 1, which are proved before it runs, and their conditions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from learnroute.model.learners import LeastSquares
from learnroute.model.metric import MetricReport, metric_report
from learnroute.model.problem import Problem
from learnroute.model.result import Guarantee

CHRISTOFIDES = 1.5
HOOGEVEEN = 5 / 3
MOST_CHECKED = 2000  # regions up to which the triangle inequality is checked along with a plan (about 3 s)


def guarantee_of_algorithm1(
    problem: Problem, report: MetricReport | None = None, stop: Callable[[], bool] = lambda: False
) -> Guarantee:
    """Return the proved ratio of Algorithm 1's loss to the optimum, if its conditions hold for this problem.

    `report` is the result of `check_metric`, if it is known already; otherwise `stop` may end that check early.
    """
    if problem.learner.couples:
        return Guarantee(None, f"no ratio is known for the rule {problem.learner.rule}")
    if not problem.ways.is_metric:
        refusal = _non_metric_reason(problem, report, stop)
        if refusal:
            return Guarantee(None, refusal)
    travel, ends = travel_ratio(problem)
    if problem.travel_rate == 0:
        travel, ends = 1.0, "travel rate 0"
    if problem.regime == "under":
        reason = f"Proposition 3: metric travel, under regime{ends and ', ' + ends}"
        return Guarantee(travel, reason, None if ends else travel, travel)
    if problem.samples is not None:
        return Guarantee(None, f"no ratio is known for unequal samples in the {problem.regime} regime")
    paper, sharper = None if ends else paper_ratio(problem), sharper_ratio(problem, travel)
    known = [ratio for ratio in (paper, sharper) if ratio is not None]
    if not known:
        return Guarantee(None, "no finite ratio is known for scores of 0 in the over regime")
    reason = "mediant bound" if min(known) == sharper else "Proposition 4"
    return Guarantee(min(known), f"{reason}: metric travel, over regime{ends and ', ' + ends}", paper, sharper)


def travel_ratio(problem: Problem) -> tuple[float, str]:
    """Return a bound on the ratio of Algorithm 1's travel to that of any allowed route, and the ends it applies to.

    Let O be the travel of any allowed route; the spanning tree costs at most O. With a free start, the ratio is the
    paper's 3/2 for open routes, and Christofides' 3/2 for closed ones, since a tour can be cut anywhere. With a fixed
    start s, the route is a path from s to v', and its matching J costs no more than any join of the vertices of wrong
    degree. If both ends are fixed, J <= 2/3·O (Hoogeveen 1991), and a return trip of constant cost does no harm. If the
    end is free, an open route from s contains such a join, so J <= O. A closed route consists of two of them, so
    J <= O/2, and the return trip from v' to s costs at most O/2.
    """
    if problem.ends.first is None:
        said = ["a closed route"] if problem.closed else []
        said += ["the last region fixed"] if problem.ends.last is not None else []
        return CHRISTOFIDES, ", ".join(said)
    start = "the first region fixed" if problem.depot is None else "a depot"
    if problem.ends.last is not None:
        return HOOGEVEEN, f"{start}, the last region fixed"
    return 2.0, start + (", a closed route" if problem.closed else "")


def _non_metric_reason(problem: Problem, report: MetricReport | None, stop: Callable[[], bool]) -> str:
    """Return the reason why travel is not a metric, or is not known to be one; an empty text if it is a metric."""
    if report is None:
        if problem.size > MOST_CHECKED:
            return f"the triangle inequality is not checked for more than {MOST_CHECKED} regions"
        report = None if stop() else metric_report(problem.ways.matrix, stop)
    if report is None:
        return "no time was left to check the triangle inequality"
    if not report.symmetric:
        return "travel costs differ by direction"
    if report.worst is None:
        return ""
    i, via, j = (problem.stops[k] for k in report.worst)
    return (
        f"travel costs are not a metric: {i} to {j} is {report.excess:.3g} cheaper via {via}; "
        "shortest paths would be one"
    )


def _retention(problem: Problem) -> float:
    """Return the paper's r = 1 - n/m."""
    assert isinstance(problem.learner, LeastSquares)
    return problem.learner.retention


def paper_ratio(problem: Problem) -> float | None:
    """Return 3/2 + r^(1-T) (Proposition 4); None if that overflows."""
    exponent = (1 - problem.size) * math.log(_retention(problem))
    return CHRISTOFIDES + math.exp(exponent) if exponent < 700 else None


def sharper_ratio(problem: Problem, travel: float = CHRISTOFIDES) -> float | None:
    """Return max(3/2, 1 + ρ·(S_max/S_min - 1)) with ρ = (r - r^T)/(1 - r^T); None if S_min = 0 < S_max.

    A mediant never exceeds the larger of its two ratios. The travel of Algorithm 1 is within 3/2 (`travel`) of any
    route's. Its score part is at most (1-r)·S_end + (r - r^T)·S_max, and any route's is at least
    (1-r)·S_end + (r - r^T)·S_min, where S_end is the smallest score of a region at which routes may end, and S_min and
    S_max are the smallest and largest scores of the regions that may come before it.
    """
    r, size, scores = _retention(problem), problem.size, problem.scores
    share = r * math.expm1((size - 1) * math.log(r)) / math.expm1(size * math.log(r))
    if problem.ends.last is not None:
        end, before = float(scores[problem.ends.last]), np.delete(scores, problem.ends.last)
    else:
        end, before = float(scores[np.arange(size) != problem.ends.first].min()), scores
    least, most = float(before.min()), float(before.max())
    floor = (1 - share) * end + share * least
    if least == most:
        return travel
    return max(travel, 1 + share * (most - least) / floor) if floor > 0 else None
