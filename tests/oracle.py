"""Slow and obvious: the paper's formulas written out, all orders tried. Shares no code with the package."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np


def loss_parts(
    order: Sequence[int], travel: Any, delta: Any, initial: Any, m: int, n: int, sigma: float
) -> dict[str, float]:
    """(e8) for m <= n - 2 and (e14) for m >= n + 2, sum by sum."""
    size = len(order)
    way = sum(float(travel[order[t]][order[t + 1]]) for t in range(size - 1)) / size
    if m < n:
        dissimilarity = sum(float(delta[order[i]][order[-1]]) for i in range(size - 1)) / size
        start, noise = 0.0, m * sigma**2 / (n - m - 1)
    else:
        r = 1 - n / m
        dissimilarity = sum(
            (1 - r) * r ** (size - i) / size * sum(float(delta[order[i - 1]][j]) for j in range(size))
            for i in range(1, size + 1)
        )
        start = r**size / size * sum(float(x) for x in initial)
        noise = (1 - r**size) * m * sigma**2 / (m - n - 1)
    return {
        "total": way + dissimilarity + start + noise,
        "travel": way,
        "dissimilarity": dissimilarity,
        "initial": start,
        "noise": noise,
    }


def squared_distances(vectors: Any) -> list[list[float]]:
    return [[sum((float(a) - float(b)) ** 2 for a, b in zip(u, v, strict=True)) for v in vectors] for u in vectors]


def delta_of(problem: Any) -> Any:
    return problem.dissimilarity if problem.dissimilarity is not None else squared_distances(problem.vectors)


def loss_of(problem: Any, order: Sequence[int]) -> dict[str, float]:
    learner = problem.learner
    return loss_parts(
        order, problem.travel, delta_of(problem), problem.initial, learner.features, learner.samples, learner.noise
    )


def least_loss(problem: Any) -> float:
    """The least total loss over all orders, the terms that depend on the order spread over arrays."""
    size, m, n = len(problem.travel), problem.learner.features, problem.learner.samples
    orders = np.array(list(itertools.permutations(range(size))))
    way = np.zeros(len(orders))
    for t in range(size - 1):
        way += problem.travel[orders[:, t], orders[:, t + 1]]
    delta = np.asarray(delta_of(problem))
    error = np.zeros(len(orders))
    if m < n:
        for i in range(size - 1):
            error += delta[orders[:, i], orders[:, -1]]
    else:
        r = 1 - n / m
        for i in range(size):
            for j in range(size):
                error += (1 - r) * r ** (size - 1 - i) * delta[orders[:, i], j]
    best = orders[int(np.argmin(way + error))]
    return loss_of(problem, [int(i) for i in best])["total"]


def shortest_path(travel: Any) -> float:
    size = len(travel)
    return min(sum(float(travel[o[t]][o[t + 1]]) for t in range(size - 1)) for o in itertools.permutations(range(size)))


def lightest_matching(weights: Any) -> float:
    """The least weight of a perfect matching, all of them tried."""

    def of(left: tuple[int, ...]) -> float:
        if not left:
            return 0.0
        first, rest = left[0], left[1:]
        return min(float(weights[first][v]) + of(tuple(x for x in rest if x != v)) for v in rest)

    return of(tuple(range(len(weights))))
