"""The expected error in each region after the last visit, by the recursion; nine digits suffice, so in float64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from learnroute.model.problem import Problem
from learnroute.model.validation import FloatArray


def final_errors(problem: Problem, order: Sequence[int]) -> tuple[list[float], list[float]]:
    """Return the errors in the order of first visits, skipped regions last, and the sizes of the terms of each.

    Training in region k turns each error e_j into p₁·e_j - q·e_k + (1 - p₁)·Δ[k, j] + ν; e_j is stored as a_j - b. The
    sizes obey the same recursion with the absolute values of all terms.
    """
    means, common = np.array(problem.initial_errors), 0.0
    sizes, size = means, 0.0
    for t, k in enumerate(order):
        retention, plasticity, coupling, second, noise = (float(table[t, k]) for table in problem.updates.tables)
        row = _row(problem, k)
        common = second * common + coupling * float(means[k]) - noise
        size = abs(second) * size + abs(coupling) * float(sizes[k]) + abs(noise)
        means, sizes = retention * means + plasticity * row, abs(retention) * sizes + abs(plasticity) * row
    places = list(dict.fromkeys([*order, *range(problem.size)]))
    return (means - common)[places].tolist(), (sizes + size)[places].tolist()


def _row(problem: Problem, region: int) -> FloatArray:
    """Return the dissimilarities of one region to all."""
    if problem.matrix is not None:
        row: FloatArray = problem.matrix[region]
        return row
    assert problem.vectors is not None
    return np.asarray(((problem.vectors - problem.vectors[region]) ** 2).sum(axis=1))
