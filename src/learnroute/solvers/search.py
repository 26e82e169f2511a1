"""Local search for the full objective: descend by moves, perturb, descend again."""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Answer, Budget

NEIGHBOURS = 8
WINDOW = 50  # positions within which a perturbation happens
KICKS_A_CALL = 500  # between two looks at the clock
WARMTH = 0.3  # of the mean nearest-neighbour leg: how much worse an accepted order may be at first
SAME = 1e-9  # relative to the last weight; weights this near to a geometric sequence are one


def search(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return the best order that a few restarts find."""
    order = best_order(objective, rng, budget, kicks=20 * objective.size + 500, starts=3)
    return Answer(order, "search", complete=not budget.exhausted)


def best_order(
    objective: Objective,
    rng: np.random.Generator,
    budget: Budget,
    kicks: int,
    starts: int = 1,
    first: IntArray | None = None,
) -> IntArray:
    """Search from `first` (or a greedy path) and from random orders; same generator state and kicks: same order."""
    from learnroute.solvers import moves

    size = objective.size
    if size <= 3:
        return _of_few(objective)
    state = _new_state(objective)
    kept, least = np.arange(size), np.inf
    others = state.travel + np.diag(np.full(size, np.inf))
    warmth = WARMTH * float(others.min(axis=1).mean())
    for start in range(starts):
        order = _greedy(objective.travel, int(rng.integers(size))) if first is None else first
        if start:
            order = rng.permutation(size)
        state.route[moves.ORDER, :size] = order
        moves.refresh(state)
        for k in range(size):
            moves.enqueue(state, k)
        moves.descend(state)
        best = state.route[moves.ORDER, :size].copy()
        values = np.full(2, moves.value(state))
        done = 0
        while done < kicks and not budget.exhausted:
            count = min(KICKS_A_CALL, kicks - done)
            moves.wander(state, best, values, rng.random((count, 5)), WINDOW, warmth)
            done += count
            budget.progress("search", (start + done / kicks) / starts)
        exact = objective(best)
        if exact < least:
            kept, least = best, exact
        if budget.exhausted:
            break
    return kept


def geometric_rate(weights: FloatArray) -> float | None:
    """Return r where each weight is r times the next one (0 where only the last counts), else None."""
    last = float(weights[-1])
    if last == 0:
        return 0.0 if not weights.any() else None
    rate = float(weights[-2]) / last
    with np.errstate(under="ignore"):
        ideal = last * rate ** np.arange(len(weights) - 1, -1, -1, dtype=np.float64)
    return rate if bool(np.all(np.abs(weights - ideal) <= SAME * last)) else None


def _new_state(objective: Objective):  # type: ignore[no-untyped-def]
    from learnroute.solvers import moves

    size = objective.size
    rate = geometric_rate(objective.weights)
    table = np.zeros((3, size + 2))
    with np.errstate(under="ignore"):
        table[moves.POWER] = (rate or 0.0) ** np.arange(size + 2, dtype=np.float64)
    return moves.State(
        travel=np.array(objective.travel),
        scored=np.array([objective.scores, objective.weights]),
        near=nearest_regions(objective.travel, NEIGHBOURS),
        table=table,
        route=np.zeros((5, size + 2), dtype=np.int64),
        flags=np.array([objective.symmetric, rate is not None], dtype=np.int64),
        least=1e-11 * max(float(objective.travel.max()), float((objective.weights * objective.scores.max()).max())),
    )


def nearest_regions(travel: FloatArray, most: int) -> IntArray:
    """For each region, the nearest others by the cost of going there, nearest first; ties by number."""
    others = travel + np.diag(np.full(len(travel), np.inf))
    return np.ascontiguousarray(np.argsort(others, axis=1, kind="stable")[:, : min(most, len(travel) - 1)])


def _greedy(travel: FloatArray, start: int) -> IntArray:
    size = len(travel)
    left = np.ones(size, dtype=bool)
    order = np.empty(size, dtype=np.int64)
    order[0] = start
    for k in range(1, size):
        left[order[k - 1]] = False
        order[k] = np.argmin(np.where(left, travel[order[k - 1]], np.inf))
    return order


def _of_few(objective: Objective) -> IntArray:
    from itertools import permutations

    return np.array(min(permutations(range(objective.size)), key=objective), dtype=np.int64)
