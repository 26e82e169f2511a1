"""Methods for optional and repeated visits."""

from __future__ import annotations

import numpy as np

from learnroute.model.validation import IntArray
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.solvers.visits.exact import exact, prover
from learnroute.solvers.visits.search import search

__all__ = ["auto", "exact", "search"]


def auto(
    objective: VisitObjective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> Answer:
    """Return the proved optimum if there are few enough sequences of visits, otherwise the best one found."""
    solve = search if prover(objective, params) is None else exact
    return solve(objective, rng, budget, params, initial)
