"""Orders that the literature recommends, from a transfer matrix D alone: to compare a planned order with.

Dissimilarity of two regions is here what a model of one gets wrong in the other, the mean of both directions.
"""

from __future__ import annotations

import numpy as np

from learnroute import Learner, Problem, plan


def dissimilarity(errors: np.ndarray) -> np.ndarray:
    """The mean of both directions; 0 between a region and itself."""
    both = (errors + errors.T) / 2
    np.fill_diagonal(both, 0.0)
    return both


def periphery_to_core(errors: np.ndarray) -> list[int]:
    """Least typical regions first, the most typical one last (Li and Hiratani, ICML 2025)."""
    return [int(k) for k in np.argsort(-dissimilarity(errors).sum(axis=1), kind="stable")]


def longest_path(errors: np.ndarray) -> list[int]:
    """The path along which neighbours differ most, ending at its more typical end (Li and Hiratani, ICML 2025)."""
    apart = dissimilarity(errors)
    lengths = apart.max() - apart
    np.fill_diagonal(lengths, 0.0)
    found = list(plan(Problem(lengths, Learner(1, 10), vectors=np.zeros((len(apart), 1))), "travel").order)
    scores = apart.sum(axis=1)
    return found if scores[found[-1]] <= scores[found[0]] else found[::-1]


def most_dissimilar_next(errors: np.ndarray) -> list[int]:
    """From the least typical region, always to the region left that differs most (Tsipory et al. 2025, greedy)."""
    apart = dissimilarity(errors)
    order = [int(np.argmax(apart.sum(axis=1)))]
    while len(order) < len(apart):
        left = [k for k in range(len(apart)) if k not in order]
        order.append(max(left, key=lambda k: float(apart[order[-1], k])))
    return order


LITERATURE = {
    "periphery to core": periphery_to_core,
    "longest path": longest_path,
    "most dissimilar next": most_dissimilar_next,
}
