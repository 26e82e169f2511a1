"""A slow and obvious oracle: the paper's formulas written out, all orders tried. Shares no code with the package."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np


def loss_parts(
    order: Sequence[int], travel: Any, delta: Any, initial: Any, m: int, n: int, sigma: float
) -> dict[str, float]:
    """Return the parts of the loss by (e8) for m <= n - 2 and (e14) for m >= n + 2, sum by sum."""
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
        "pairs": 0.0,
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


def errors_over_time(problem: Any, order: Sequence[int]) -> list[list[float]]:
    """Return the errors of all regions after each visit by Lemma 2, as one sum over the visits so far."""
    m, n, sigma = problem.learner.features, problem.learner.samples, problem.learner.noise
    delta, size, r = delta_of(problem), len(order), 1 - n / m
    rows = [[float(x) for x in problem.initial]]
    for t in range(1, size + 1):
        if m < n:
            rows.append([float(delta[order[t - 1]][i]) + m * sigma**2 / (n - m - 1) for i in range(size)])
            continue
        noise = (1 - r**t) * m * sigma**2 / (m - n - 1)
        rows.append([
            sum((1 - r) * r ** (t - k) * float(delta[order[k - 1]][i]) for k in range(1, t + 1))
            + r**t * float(problem.initial[i]) + noise
            for i in range(size)
        ])  # fmt: skip
    return rows


@functools.cache
def all_orders(size: int) -> np.ndarray:
    return np.array(list(itertools.permutations(range(size))))


def least_loss(problem: Any) -> float:
    """Return the lowest total loss of all orders, with order-dependent terms computed as arrays."""
    size, m, n = len(problem.travel), problem.learner.features, problem.learner.samples
    orders = all_orders(size)
    way = np.zeros(len(orders))
    for t in range(size - 1):
        way += problem.travel[orders[:, t], orders[:, t + 1]]
    delta = np.asarray(delta_of(problem))
    error = np.zeros(len(orders))
    if m < n:
        for i in range(size - 1):
            error += delta[orders[:, i], orders[:, -1]]
    else:
        r, sums = 1 - n / m, delta.sum(axis=1)
        for i in range(size):
            error += (1 - r) * r ** (size - 1 - i) * sums[orders[:, i]]
    best = orders[int(np.argmin(way + error))]
    return loss_of(problem, [int(i) for i in best])["total"]


def corners(problem: Any) -> list[tuple[float, float]]:
    """Return travel and error of the routes that are best at some travel rate: the lower convex hull of all orders."""
    points = set()
    for order in itertools.permutations(range(len(problem.travel))):
        parts = loss_of(problem, order)
        points.add((round(parts["travel"], 12), round(parts["total"] - parts["travel"], 12)))
    hull: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if hull and y >= hull[-1][1]:
            continue
        while len(hull) > 1:
            (ax, ay), (bx, by) = hull[-2:]
            if (by - ay) * (x - bx) < (y - by) * (bx - ax) - 1e-12:
                break
            hull.pop()
        hull.append((x, y))
    return hull


def shortest_path(travel: Any) -> float:
    size = len(travel)
    return min(sum(float(travel[o[t]][o[t + 1]]) for t in range(size - 1)) for o in itertools.permutations(range(size)))


def lightest_matching(weights: Any) -> float:
    """Return the lowest weight of all perfect matchings."""

    def of(left: tuple[int, ...]) -> float:
        if not left:
            return 0.0
        first, rest = left[0], left[1:]
        return min(float(weights[first][v]) + of(tuple(x for x in rest if x != v)) for v in rest)

    return of(tuple(range(len(weights))))


def journey_loss(problem: Any, order: Sequence[int], delta: Any = None, initial: Any = None) -> dict[str, float]:
    """Return the loss of a route visit by visit, including unequal samples, the return leg and the travel rate.

    A visit of region i with n_i > m samples leaves the error Δ_ij + mσ²/(n_i - m - 1) in region j, whatever it was
    before. A visit with n_i < m leaves (1 - n_i/m) of the previous error, plus n_i/m of Δ_ij, plus n_iσ²/(m - n_i - 1).
    """
    m, variance, size = problem.learner.features, problem.learner.noise**2, len(order)
    counts = [problem.learner.samples] * size if problem.samples is None else [int(n) for n in problem.samples]
    delta = delta_of(problem) if delta is None else delta
    errors = [float(x) for x in (problem.initial if initial is None else initial)]
    for i in order:
        n = counts[i]
        for j in range(size):
            if n > m:
                errors[j] = float(delta[i][j]) + m * variance / (n - m - 1)
            else:
                errors[j] = (1 - n / m) * errors[j] + n / m * float(delta[i][j]) + n * variance / (m - n - 1)
    way = sum(float(problem.travel[order[t]][order[t + 1]]) for t in range(size - 1))
    if problem.constraints.returns:
        way += float(problem.travel[order[-1]][order[0]])
    error = sum(errors) / size
    return {"total": problem.travel_rate * way / size + error, "error": error, "travel_cost": way}


def true_error(problem: Any, order: Sequence[int]) -> float:
    """Return the expected final error if the true models are known."""
    delta = squared_distances(problem.truth)
    initial = [
        sum((float(a) - float(b)) ** 2 for a, b in zip(w, problem.initial_model, strict=True)) for w in problem.truth
    ]
    return journey_loss(problem, order, delta, initial)["error"]


def allowed_orders(problem: Any) -> list[tuple[int, ...]]:
    """Return all orders with the required ends."""
    start, end, names = problem.constraints.start, problem.constraints.end, list(problem.regions)
    return [
        order for order in itertools.permutations(range(len(names)))
        if start in (None, names[order[0]]) and end in (None, names[order[-1]])
    ]  # fmt: skip


def values(
    travel: Any, scores: Any, weights: Any, factors: Any, first: int | None, last: int | None, closed: bool
) -> dict[tuple[int, ...], float]:
    """Return the value of every order with the required ends, without the constant."""
    size = len(scores)
    found = {}
    for order in itertools.permutations(range(size)):
        if (first is not None and order[0] != first) or (last is not None and order[-1] != last):
            continue
        value = sum(float(travel[order[t]][order[t + 1]]) for t in range(size - 1))
        if closed:
            value += float(travel[order[-1]][order[0]])
        for t, region in enumerate(order):
            share = float(weights[t])
            if factors is not None:
                share = 1.0
                for later in order[t + 1 :]:
                    share *= float(factors[later])
            value += share * float(scores[region])
        found[order] = value
    return found


def regularised_loss(problem: Any, order: Sequence[int], laws: Sequence[Sequence[float]], delta: Any = None) -> float:
    """Return the total loss by the recursion e_j <- p1·e_j - (p1 - p2)·e_k + (1 - p1)·Δ[k][j] + ν, region by region.

    `laws[t]` are p1, p2 and ν of visit t.
    """
    size = len(order)
    delta = delta_of(problem) if delta is None else delta
    errors = [float(x) for x in problem.initial]
    for (kept, second, noise), k in zip(laws, order, strict=True):
        before = errors[k]
        errors = [
            kept * errors[j] - (kept - second) * before + (1 - kept) * float(delta[k][j]) + noise for j in range(size)
        ]
    way = sum(float(problem.travel[order[t]][order[t + 1]]) for t in range(size - 1))
    if problem.constraints.returns:
        way += float(problem.travel[order[-1]][order[0]])
    return float(problem.travel_rate * way / size + sum(errors) / size)
