"""The nearest-neighbour rule."""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.construction.space_filling_curve import arranged
from learnroute.solvers.contract import Answer, Budget

ALL_STARTS = 300  # regions up to which every start is tried
SAMPLED_STARTS = 32
SIDE_BY_SIDE = 100_000  # entries of the table of paths grown at once


def nearest_neighbour(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Go to the nearest region left; of the paths from all starts (of a sample of them if many), return the best."""
    size = objective.size
    if objective.first is not None:
        starts = np.array([objective.first])
    elif size <= ALL_STARTS:
        starts = np.arange(size)
    else:
        starts = np.sort(rng.choice(size, SAMPLED_STARTS, replace=False))
    together = max(1, SIDE_BY_SIDE // size)
    best, least = arranged(objective, np.arange(size)), np.inf
    for first in range(0, len(starts), together):
        for way in _nearest_paths(objective.travel, starts[first : first + together]):
            path = arranged(objective, way)
            value = objective(path)
            if value < least:
                best, least = path, value
        budget.progress("nearest", min(1.0, (first + together) / len(starts)))
        if budget.exhausted:
            break
    return Answer(best, "nearest")


def _nearest_paths(travel: FloatArray, starts: IntArray) -> IntArray:
    """One nearest-neighbour path a start, all grown side by side; ties go to the smallest index."""
    count, size = len(starts), len(travel)
    rows = np.arange(count)
    visited = np.zeros((count, size), dtype=bool)
    paths = np.empty((count, size), dtype=np.int64)
    paths[:, 0] = starts
    for step in range(1, size):
        visited[rows, paths[:, step - 1]] = True
        paths[:, step] = np.argmin(np.where(visited, np.inf, travel[paths[:, step - 1]]), axis=1)
    return paths
