"""Orders to compare with: each looks at one side of the problem, or at none."""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.held_karp import MOST_REGIONS, held_karp
from learnroute.solvers.nearest import nearest_neighbour

SMALL = 40  # regions up to which the interpreter improves a path


def forgetting_only(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return an order of least expected final error, travel ignored (the paper's CL baseline).

    Descending scores (e15). Where only the last position counts, that is a random order with the right last region.
    """
    if objective.weights[:-1].any():
        order = np.argsort(-objective.scores, kind="stable")
    else:
        last = objective.best_last
        order = np.append(rng.permutation(np.delete(np.arange(objective.size), last)), last)
    return Answer(order, "baseline")


def travel_only(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return the shortest path found, scores and ends ignored; proved shortest as far as `exact` goes."""
    blind = objective.travel_alone()
    if objective.size <= MOST_REGIONS:
        answer = held_karp(blind, rng, budget)
        order, shortest = answer.order, answer.optimal
    else:
        order, shortest = shorter_path(blind, nearest_neighbour(blind, rng, budget).order, budget), False
    if objective.symmetric and order[0] > order[-1]:
        order = order[::-1]
    notes = () if shortest else ("shortest path found; not proved to be the shortest",)
    return Answer(order, "travel", notes=notes)


def random_order(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return any order, all equally likely."""
    return Answer(rng.permutation(objective.size), "random")


def shorter_path(objective: Objective, order: IntArray, budget: Budget) -> IntArray:
    """Shorten a path by moving up to three regions elsewhere and, where travel is symmetric, by reversing stretches."""
    path = order.copy()
    improve = _improve.on_size(objective.size, SMALL)
    while improve(path, objective.travel, objective.symmetric) and not budget.exhausted:
        pass
    return path


@kernel
def _improve(path: IntArray, travel: FloatArray, symmetric: bool) -> bool:
    """One sweep of improving moves along a path, in place; whether any was found."""
    size = len(path)
    least = 1e-12 * travel.max()
    found = False
    if symmetric:  # reverse path[i … j]
        for i in range(size - 1):
            for j in range(i + 1, size):
                gain = 0.0
                if i > 0:
                    gain += travel[path[i - 1], path[i]] - travel[path[i - 1], path[j]]
                if j < size - 1:
                    gain += travel[path[j], path[j + 1]] - travel[path[i], path[j + 1]]
                if gain > least:
                    a, b = i, j
                    while a < b:
                        path[a], path[b] = path[b], path[a]
                        a += 1
                        b -= 1
                    found = True
    for length in range(1, 4):  # move path[i … i+length-1] between others
        i = 0
        while i + length <= size:
            end = i + length - 1
            freed = 0.0
            if i > 0:
                freed += travel[path[i - 1], path[i]]
            if end < size - 1:
                freed += travel[path[end], path[end + 1]]
            if i > 0 and end < size - 1:
                freed -= travel[path[i - 1], path[end + 1]]
            best, where = least, -1
            for before in range(size + 1):  # the stretch is put in front of path[before]
                if i <= before <= end + 1:
                    continue
                paid = 0.0
                if before > 0:
                    paid += travel[path[before - 1], path[i]]
                if before < size:
                    paid += travel[path[end], path[before]]
                if 0 < before < size:
                    paid -= travel[path[before - 1], path[before]]
                if freed - paid > best:
                    best, where = freed - paid, before
            if where >= 0:
                stretch = path[i : end + 1].copy()
                if where > end:
                    path[i : where - length] = path[end + 1 : where].copy()
                    path[where - length : where] = stretch
                else:
                    path[where + length : end + 1] = path[where:i].copy()
                    path[where : where + length] = stretch
                found = True
            i += 1
    return found
