"""Where routes end: an objective with an end to hold on to, and the least score parts. Apart from the solvers' code."""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.objective import Objective

ROUNDING = 1e-12  # relative to all that a bound adds up: far above what float64 loses


def anchored(objective: Objective) -> tuple[Objective, bool]:
    """Return an objective that bounds this one and has an end to hold on to, and whether the two have the same optimum.

    A closed route whose ends are free is turned to end at the least score if no other counts; else its travel
    and its scores are bounded apart.
    """
    if not objective.closed or objective.first is not None or objective.last is not None:
        return objective, objective.factors is None
    if objective.factors is None and not objective.weights[:-1].any():
        return objective.ending_at(int(np.argmin(objective.scores))), True
    nothing = np.zeros(objective.size)
    apart = objective.constant + min(score_parts(objective)) * (1 - ROUNDING / 10)
    return Objective(objective.travel, nothing, nothing, apart, None, 0, True), False


def score_parts(objective: Objective, ending: tuple[int, ...] = ()) -> list[float]:
    """For each region, the least score part of orders that end there, before an end that is paid apart (if any).

    The other scores are sorted by falling rank. Inf where no order does.
    """
    parts = []
    head = [] if objective.first is None else [objective.first]
    places = objective.size - len(ending)
    ranked = sorted(range(objective.size), key=lambda u: -objective.ranks[u])
    for v in range(objective.size):
        barred = v in ending or (v == objective.first and places > 1)
        if barred or (not ending and objective.last not in (None, v)):
            parts.append(math.inf)
            continue
        others = [u for u in ranked if u != v and u != objective.first and u not in ending]
        stops = [*(head if v != objective.first else []), *others, v]
        shares = objective.weights[:places] if objective.factors is None else objective.shares(stops)
        parts.append(math.fsum(shares * objective.scores[stops]))
    return parts
