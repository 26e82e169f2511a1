"""Baselines: an order by scores alone, and a random order. Both respect fixed ends."""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Objective
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.params import DEFAULTS, SolverParams


def forgetting_only(
    objective: Objective, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Answer:
    """Return an order with the lowest expected final error, ignoring travel (the paper's CL baseline).

    Scores in decreasing order (e15). If only the last position counts, a random order with the best last region.
    """
    if objective.only_last_counts:
        last = objective.best_last
        others = rng.permutation(np.delete(np.arange(objective.size), last))
        return Answer(objective.ending_at(last).repair(np.append(others, last)), "baseline")
    return Answer(objective.repair(np.argsort(-objective.ranks, kind="stable")), "baseline")


def random_order(
    objective: Objective, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Answer:
    """Return a permitted order, drawn uniformly at random."""
    return Answer(objective.ends.repair(rng.permutation(objective.size)), "random")
