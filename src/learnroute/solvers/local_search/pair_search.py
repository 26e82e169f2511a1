"""Local search on the true value of an objective with pair terms: 2-opt, Or-opt and exchanges, first improvement.

A move changes the model before every later visit, so each is priced from the first position that it changes, by
the recursion of `model.pairs`. That is dear, O(T²) at worst, and enough for a few hundred regions.
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.params import PairSearchParams


def pair_search(
    objective: Objective, order: IntArray, rng: np.random.Generator, budget: Budget, params: PairSearchParams
) -> IntArray:
    """Return an order that is no worse than the given one: iterated local search with segment exchanges."""
    assert objective.pairs is not None
    size, pairs = objective.size, objective.pairs
    given = pairs.dissimilarities
    # rows: score, dissimilarity to the first model, what it costs to begin there, and to end there
    regions = np.array([given.scores, given.initial, objective.begin, objective.finish])
    tables = np.array([np.ascontiguousarray(table) for table in pairs.updates.tables])
    numbers = np.array([float(objective.ends.cyclic), pairs.total, pairs.count, params.segment])
    near = _candidates(objective, params)
    a_call = max(1, params.positions_a_call // size)

    def improved(start: IntArray) -> IntArray:
        current = np.array(start)
        least = params.least_gain * abs(objective(current))
        idle, place = 0, 0
        while idle < size and not budget.exhausted:
            gains = _scan(current, objective.travel, given.matrix, regions, tables, near, numbers, place, a_call, least)
            idle, place = 0 if gains else idle + a_call, (place + a_call) % size
        return current

    best = improved(order)
    perturbations = round(params.perturbations * min(1.0, (params.many_regions / size) ** 2))
    for turn in range(perturbations):
        if budget.exhausted:
            break
        a, b, c = np.sort(rng.choice(np.arange(size + 1), 3, replace=False)).tolist()
        perturbed = np.concatenate([best[:a], best[b:c], best[a:b], best[c:]])
        found = improved(objective.ends.repair(perturbed))
        if objective(found) < objective(best):
            best = found
        budget.progress("search", (turn + 1) / perturbations)
    return min(best, order, key=objective)


def _candidates(objective: Objective, params: PairSearchParams) -> IntArray:
    """Return the regions beside which each may be moved: all, or the nearest."""
    size = objective.size
    if size <= params.all_positions:
        return np.tile(np.arange(size), (size, 1))
    either = np.minimum(objective.travel, objective.travel.T) + np.diag(np.full(size, np.inf))
    return np.ascontiguousarray(np.argsort(either, axis=1, kind="stable")[:, : params.neighbours])


@kernel
def _scan(
    order: IntArray,
    travel: FloatArray,
    delta: FloatArray,
    regions: FloatArray,
    tables: FloatArray,
    near: IntArray,
    numbers: FloatArray,
    start: int,
    count: int,
    least_gain: float,
) -> int:
    """Try the moves of the regions at `count` positions from `start` on; make those that pay. Return how many did."""
    size, segment, width = len(order), int(numbers[3]), near.shape[1]
    kinds = 2 + 2 * segment
    trial, place = order.copy(), np.empty(size, dtype=np.int64)
    # by position, of the order and of the trial: p1, 1 - p1; and before it: travel, the sum of all a_j, b
    states, tried = np.zeros((5, size + 1)), np.zeros((5, size + 1))
    made, best = 0, np.inf
    for turn in range(-1, count * width * kinds):  # turn -1 prices the order itself
        changed = 0 if turn < 0 else size
        if turn >= 0:
            i, kind = (start + turn // (width * kinds)) % size, turn % kinds
            j = place[near[order[i], (turn // kinds) % width]]
            if kind == 0 and i != j:  # exchange two regions
                changed = min(i, j)
                trial[i], trial[j] = order[j], order[i]
            elif kind == 1 and i != j:  # 2-opt: reverse all between
                changed, behind = min(i, j), max(i, j)
                for t in range(changed, behind + 1):
                    trial[t] = order[changed + behind - t]
            elif kind >= 2:  # Or-opt: put a segment behind a region, as it is or reversed
                length, turned = 1 + (kind - 2) // 2, (kind - 2) % 2 == 1
                if i + length <= size and not i <= j < i + length and not (length == 1 and turned):
                    changed, to = min(i, j + 1), 0
                    for t in range(size):
                        if i <= t < i + length:
                            continue
                        trial[to] = order[t]
                        to += 1
                        if t == j:
                            for k in range(length):
                                trial[to] = order[i + length - 1 - k] if turned else order[i + k]
                                to += 1
        if changed == size:
            continue
        for t in range(changed, size):  # the recursion, from the first position that changed
            here = trial[t]
            step = travel[trial[t - 1], here] if t > 0 else regions[2, here]
            seen, share, s = 0.0, 1.0, t - 1
            while s >= 0 and share > 1e-15:
                seen += share * tried[1, s] * delta[trial[s], here]
                share *= tried[0, s]
                s -= 1
            if s < 0:
                seen += share * regions[1, here]
            tried[0, t], tried[1, t] = tables[0, t, here], tables[1, t, here]
            if t == 0:
                tried[2, 0], tried[3, 0], tried[4, 0] = 0.0, numbers[1], 0.0
            tried[2, t + 1] = tried[2, t] + step
            tried[3, t + 1] = tried[0, t] * tried[3, t] + tried[1, t] * regions[0, here]
            tried[4, t + 1] = tables[3, t, here] * tried[4, t] + tables[2, t, here] * seen - tables[4, t, here]
        value = tried[2, size] + tried[3, size] - numbers[2] * tried[4, size] + regions[3, trial[size - 1]]
        if numbers[0] > 0:
            value += travel[trial[size - 1], trial[0]]
        if turn < 0 or value < best - least_gain:
            best = value
            made += 1 if turn >= 0 else 0
            order[changed:] = trial[changed:]
            for row in range(len(states)):
                states[row, changed:] = tried[row, changed:]
            for t in range(changed, size):
                place[trial[t]] = t
        else:
            trial[changed:] = order[changed:]
            for row in range(len(states)):
                tried[row, changed:] = states[row, changed:]
    return made
