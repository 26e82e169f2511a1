"""The expected error in each region after the last visit, by the recursion; nine digits suffice, so in float64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from learnroute.model.problem import Problem


def final_errors(problem: Problem, order: Sequence[int]) -> tuple[list[float], float]:
    """Return the errors in the order of first visits, skipped regions last, and the size of their terms.

    Training in region k turns each error e_j into p₁·e_j - q·e_k + (1 - p₁)·Δ[k, j] + ν; e_j is stored as a_j - b.
    """
    means, common, sizes = np.array(problem.initial_errors), 0.0, float(np.abs(problem.initial_errors).max())
    for t, k in enumerate(order):
        retention, plasticity, coupling, second, noise = (float(table[t, k]) for table in problem.updates.tables)
        common = second * common + coupling * float(means[k]) - noise
        means = retention * means + plasticity * _row(problem, k)
        sizes = max(sizes, abs(common), float(np.abs(means).max()))
    return (means - common)[list(dict.fromkeys([*order, *range(problem.size)]))].tolist(), sizes


def _row(problem: Problem, region: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the dissimilarities of one region to all."""
    if problem.matrix is not None:
        row: np.ndarray[tuple[int], np.dtype[np.float64]] = problem.matrix[region]
        return row
    assert problem.vectors is not None
    return np.asarray(((problem.vectors - problem.vectors[region]) ** 2).sum(axis=1))
