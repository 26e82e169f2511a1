"""Does the order matter, by the law? A quick plan by error alone, beside random orders."""

from __future__ import annotations

import numpy as np

from learnroute.model.losses import objective_of
from learnroute.model.order_effect import MOST_REGIONS, OrderEffect, expected_order_effect
from learnroute.model.problem import Problem
from learnroute.solvers.contract import Budget
from learnroute.solvers.registry import METHODS

SECONDS = 1.0  # for the plan, at most


def law_effect(problem: Problem) -> OrderEffect | None:
    """Return the error of a planned order of all regions beside random ones, travel aside; None for many regions."""
    if problem.size > MOST_REGIONS or problem.learner.undecided:
        return None
    free = problem.replace(travel_rate=0.0, visits=None, fleet=None)
    answer = METHODS["search"].solve(objective_of(free), np.random.default_rng(0), Budget.of(SECONDS))
    return expected_order_effect(free, free.regions_of(answer.order).tolist())
