"""Orders to compare with: one looks at scores alone, one at nothing. Both respect fixed ends."""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Objective
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.params import DEFAULTS, SolverParams


def forgetting_only(
    objective: Objective, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Answer:
    """Return an order of least expected final error, travel ignored (the paper's CL baseline).

    Descending scores (e15). Where only the last position counts, that is a random order with the right last region.
    """
    if objective.only_last_counts:
        last = objective.best_last
        others = rng.permutation(np.delete(np.arange(objective.size), last))
        return Answer(objective.ending_at(last).repaired(np.append(others, last)), "baseline")
    return Answer(objective.repaired(np.argsort(-objective.ranks, kind="stable")), "baseline")


def random_order(
    objective: Objective, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Answer:
    """Return any order that is allowed, all equally likely."""
    return Answer(objective.ends.repair(rng.permutation(objective.size)), "random")
