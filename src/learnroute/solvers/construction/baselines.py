"""Baselines: an order by scores alone, and a random order. Both respect fixed ends."""

from __future__ import annotations

import numpy as np

from learnroute.model.linear import Linear
from learnroute.solvers.contract import Budget, Order
from learnroute.solvers.params import DEFAULTS, SolverParams


def forgetting_only(
    objective: Linear, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Order:
    """Return an order with the lowest expected final error, ignoring travel (the paper's CL baseline).

    Scores in decreasing order (e15). If only the last position counts, a random order with the best last region.
    """
    if objective.only_last_counts:
        last = objective.best_last
        others = rng.permutation(np.delete(np.arange(objective.size), last))
        return Order(objective.ending_at(last).repair(np.append(others, last)))
    return Order(objective.repair(np.argsort(-objective.ranks, kind="stable")))


def random_order(objective: Linear, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS) -> Order:
    """Return a permitted order, drawn uniformly at random."""
    return Order(objective.ends.repair(rng.permutation(objective.size)))
