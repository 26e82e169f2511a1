"""The nearest-neighbour rule (Rosenkrantz, Stearns and Lewis 1977): always go to the nearest unvisited region."""

from __future__ import annotations

import numpy as np

from learnroute.model.linear import Linear
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget, Order
from learnroute.solvers.params import DEFAULTS, SolverParams


def nearest_neighbour(
    objective: Linear, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Order:
    """Return the best nearest-neighbour path over all starts, or over a sample of them if there are many."""
    size, limits = objective.size, params.construction
    starts = np.arange(size)
    if objective.ends.first is not None:
        starts = np.array([objective.ends.first])
    elif size > limits.all_starts:
        starts = np.sort(rng.choice(size, limits.sampled_starts, replace=False))
    together = max(1, limits.entries_at_once // size**2)
    best, least = objective.ends.repair(np.arange(size)), np.inf
    for first in range(0, len(starts), together):
        for way in nearest_neighbour_paths(objective.travel.matrix, starts[first : first + together]):
            path = objective.ends.repair(way)
            value = objective(path)
            if value < least:
                best, least = path, value
            if budget.exhausted:
                break
        budget.progress("nearest", min(1.0, (first + together) / len(starts)))
        if budget.exhausted:
            break
    return Order(best)


def nearest_neighbour_paths(travel: FloatArray, starts: IntArray) -> IntArray:
    """Return one path per start, all built in parallel; ties go to the smallest index."""
    count, size = len(starts), len(travel)
    rows = np.arange(count)
    visited = np.zeros((count, size), dtype=bool)
    paths = np.empty((count, size), dtype=np.int64)
    paths[:, 0] = starts
    for step in range(1, size):
        visited[rows, paths[:, step - 1]] = True
        paths[:, step] = np.argmin(np.where(visited, np.inf, travel[paths[:, step - 1]]), axis=1)
    return paths
