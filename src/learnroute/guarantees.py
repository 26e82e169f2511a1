"""What is proved about Algorithm 1 before it runs, and under which conditions."""

from __future__ import annotations

import math

from learnroute.model.metric import check_metric
from learnroute.model.problem import Problem
from learnroute.model.result import Guarantee

CHRISTOFIDES = 1.5
MOST_CHECKED = 2000  # regions up to which the triangle inequality is checked along with a plan (about 2 s)


def guarantee_of_algorithm1(problem: Problem) -> Guarantee:
    """Return the proved ratio of Algorithm 1's loss to the least one, if its conditions hold for this problem."""
    if problem.size > MOST_CHECKED:
        return Guarantee(None, f"the triangle inequality is not checked for more than {MOST_CHECKED} regions")
    report = check_metric(problem.travel)
    if not report.symmetric:
        return Guarantee(None, "travel costs differ by direction")
    if report.worst is not None:
        i, via, j = (problem.regions[k] for k in report.worst)
        return Guarantee(
            None,
            f"travel costs are not a metric: {i} to {j} is {report.excess:.3g} cheaper by way of {via}; "
            "`learnroute check --repair` makes them one",
        )
    if problem.learner.regime == "under":
        return Guarantee(CHRISTOFIDES, "Proposition 3: metric travel, under regime", CHRISTOFIDES, CHRISTOFIDES)
    paper, sharper = paper_ratio(problem), sharper_ratio(problem)
    known = [ratio for ratio in (paper, sharper) if ratio is not None]
    if not known:
        return Guarantee(None, "over regime with scores of 0: both known ratios are unbounded")
    reason = "the mediant bound" if min(known) == sharper else "Proposition 4"
    return Guarantee(min(known), f"{reason}: metric travel, over regime", paper, sharper)


def paper_ratio(problem: Problem) -> float | None:
    """3/2 + r^(1-T) (Proposition 4); None where that is beyond all numbers."""
    exponent = (1 - problem.size) * math.log(problem.learner.retention)
    return CHRISTOFIDES + math.exp(exponent) if exponent < 700 else None


def sharper_ratio(problem: Problem) -> float | None:
    """max(3/2, 1 + ρ·(S_max/S_min - 1)) with ρ = (r - r^T)/(1 - r^T); None if S_min = 0 < S_max.

    A mediant never exceeds the larger of its two ratios. Algorithm 1's travel is within 3/2 of any route's; its score
    part is at most (1-r)·S_min + (r - r^T)·S_max, and any route's at least (1 - r^T)·S_min.
    """
    least, most = float(problem.scores.min()), float(problem.scores.max())
    if least == most:
        return CHRISTOFIDES
    if least == 0:
        return None
    r, size = problem.learner.retention, problem.size
    share = r * math.expm1((size - 1) * math.log(r)) / math.expm1(size * math.log(r))
    return max(CHRISTOFIDES, 1 + share * (most / least - 1))
