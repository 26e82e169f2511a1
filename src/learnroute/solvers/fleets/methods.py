"""Methods for several vehicles and several models."""

from __future__ import annotations

import numpy as np

from learnroute.model.fleet_objective import FleetObjective, FleetRoutes
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.fleets.exact import exact, is_small
from learnroute.solvers.fleets.search import search
from learnroute.solvers.params import DEFAULTS, SolverParams

__all__ = ["auto", "exact", "search"]


def auto(
    objective: FleetObjective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: FleetRoutes | None = None,
) -> Answer:
    """Return the proved optimum if there are few enough routes, otherwise the best routes found."""
    solve = exact if is_small(objective, params) else search
    return solve(objective, rng, budget, params, initial)
