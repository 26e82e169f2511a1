"""Compare a quick plan that ignores travel with random orders, by the expected errors of the law."""

from __future__ import annotations

import numpy as np

from learnroute.model.order_effect import MOST_REGIONS, OrderEffect, expected_order_effect
from learnroute.model.problem import Problem
from learnroute.solvers.contract import Budget
from learnroute.solvers.methods import METHODS
from learnroute.solvers.solve import solve

SECONDS = 1.0  # time limit of the plan


def law_effect(problem: Problem) -> OrderEffect | None:
    """Compare a planned order of all regions with random orders, ignoring travel; None if there are many regions."""
    if problem.size > MOST_REGIONS or problem.learner.undecided:
        return None
    free = problem.replace(travel_rate=0.0, visits=None, fleet=None)
    found = solve(free.instance, METHODS["search"], np.random.default_rng(0), Budget.of(SECONDS), bounds=False)
    return expected_order_effect(free, found.routes.regions)
