"""Cycles cut open, and the least score parts of orders: what several checkers need. Apart from the solvers' code."""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.ends import Ends
from learnroute.model.objective import Objective
from learnroute.model.rounding import margin


def path_relaxation(objective: Objective) -> tuple[Objective, bool]:
    """Return an objective over paths that bounds this one from below, and whether the two have the same optimum.

    A cycle is cut open behind the least score if no other counts; else its travel and its scores are bounded apart.
    """
    ends = objective.ends
    if not ends.closed or ends.first is not None or ends.last is not None:
        return objective, objective.factors is None
    if objective.factors is None and not objective.weights[:-1].any():
        return objective.ending_at(int(np.argmin(objective.scores))), True
    nothing = np.zeros(objective.size)
    scored = min(score_parts(objective))
    apart = objective.constant + scored - margin(objective.size, scored)
    return Objective(objective.travel, nothing, nothing, apart, Ends(last=0, closed=True)), False


def score_parts(objective: Objective, ending: tuple[int, ...] = ()) -> list[float]:
    """For each region, the least score part of orders that end there, before an end that is paid apart (if any).

    The other scores are sorted by falling rank. Inf where no order does.
    """
    parts = []
    head = [] if objective.ends.first is None else [objective.ends.first]
    places = objective.size - len(ending)
    ranked = sorted(range(objective.size), key=lambda u: -objective.ranks[u])
    for v in range(objective.size):
        barred = v in ending or (v == objective.ends.first and places > 1)
        if barred or (not ending and objective.ends.last not in (None, v)):
            parts.append(math.inf)
            continue
        others = [u for u in ranked if u != v and u != objective.ends.first and u not in ending]
        stops = [*(head if v != objective.ends.first else []), *others, v]
        shares = objective.weights[:places] if objective.factors is None else objective.weights_of(stops)
        parts.append(math.fsum(shares * objective.scores[stops]))
    return parts
