"""Candidate lists by α-nearness: edges that are nearly in a minimum 1-tree (Helsgaun 2000; `cpp/alpha_nearness.h`).

Lists of the five lowest α-values contain more edges of shortest tours than twice as many nearest neighbours. They are
chosen from a sparse graph, in which each vertex is joined to its nearest candidates.
"""

from __future__ import annotations

import numpy as np

from learnroute._core import AlphaNearness
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.params import AlphaParams

WORK_PER_CALL = 100_000  # steps times vertices of the ascent per call of the core
UNLIMITED = Budget()


def edges_between(near: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the edges of all candidate lists in both directions: offsets per vertex, sources, targets."""
    size = len(near)
    source, target = np.repeat(np.arange(size), near.shape[1]), near.ravel()
    codes = np.sort(np.concatenate([source * size + target, target * size + source]))
    codes = codes[np.diff(codes, prepend=-1) > 0]
    source, target = codes // size, codes % size
    return np.searchsorted(source, np.arange(size + 1)).astype(np.int64), source, target


def alpha_lists(
    start: IntArray, target: IntArray, costs: FloatArray, params: AlphaParams, budget: Budget = UNLIMITED
) -> IntArray:
    """Return, for each vertex, the others with the lowest α-values; short lists are padded with their last entry.

    The edges of vertex v are start[v] … start[v + 1] - 1, each edge once per direction. The ascent ends with the
    budget.
    """
    size = len(start) - 1
    nearness = AlphaNearness(start, target, costs, params.first_step * float(costs.mean()))
    left, some = min(params.steps, params.work // size), max(1, WORK_PER_CALL // size)
    while left > 0 and not budget.exhausted and not nearness.ascend(min(some, left)):
        left -= some
    return nearness.candidate_lists(nearness.multipliers, min(params.neighbours, size - 1))
