"""Local search for the full objective: improve by moves, perturb, improve again."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.held_karp import SMALL, held_karp

if TYPE_CHECKING:
    from learnroute.solvers.moves import State

NEIGHBOURS = 8
WINDOW = 50  # positions within which a perturbation happens
KICKS_A_CALL = 500  # between two looks at the clock
WARMTH = 0.3  # of the mean cheapest leg: how much worse an accepted order may be at first
SAME = 1e-9  # relative to the last weight; weights this near to a geometric sequence are one
FEW = 3  # regions up to which all orders are tried
SOME = 30  # regions up to which half the perturbations do
MANY = 100  # regions beyond which one start is enough
MOST_KICKS = 20_000
SEARCHING = 0.6  # of the time; the rest is for the bound


def search(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return the best order found from a few starts; where there are few orders, the best of all."""
    if objective.size <= SMALL:
        return replace(held_karp(objective, rng, budget), method="search")
    return Answer(search_well(objective, rng, budget.part(SEARCHING)), "search", complete=not budget.exhausted)


def search_well(
    objective: Objective, rng: np.random.Generator, budget: Budget, first: IntArray | None = None
) -> IntArray:
    """Search as long as is usually enough for the optimum up to 100 regions."""
    size = objective.size
    kicks = min((10 if size <= SOME else 20) * size, MOST_KICKS)
    return best_order(objective, rng, budget, kicks, 4 if size <= MANY else 1, first)


def best_order(
    objective: Objective,
    rng: np.random.Generator,
    budget: Budget,
    kicks: int,
    starts: int = 1,
    first: IntArray | None = None,
) -> IntArray:
    """Search from `first` (or a greedy path), then from random orders; never worse than `first`.

    The same generator state and kicks give the same order, unless the budget runs out.
    """
    size = objective.size
    if size <= FEW:
        return np.array(min(permutations(range(size)), key=objective), dtype=np.int64)
    from learnroute.solvers import moves

    state = new_state(objective)
    others = objective.travel + np.diag(np.full(size, np.inf))
    warmth = WARMTH * float(others.min(axis=1).mean())
    kept = first if first is not None else _greedy(objective.travel, int(rng.integers(size)))
    least = objective(kept)
    for start in range(starts):
        state.route[moves.ORDER, :size] = rng.permutation(size) if start else kept
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
        value = objective(best)
        if value < least:
            kept, least = best, value
        if budget.exhausted:
            break
    return kept


def geometric_rate(weights: FloatArray) -> float | None:
    """Return r where each weight is r times the next one (0 where only the last counts), else None."""
    last = float(weights[-1])
    if last == 0:
        return None if weights.any() else 0.0
    rate = float(weights[-2]) / last
    ideal = last * powers(rate, len(weights))[::-1]
    return rate if bool(np.all(np.abs(weights - ideal) <= SAME * last)) else None


def powers(rate: float, count: int) -> FloatArray:
    """Return the first powers of r, from 1 on."""
    with np.errstate(under="ignore"):
        found: FloatArray = rate ** np.arange(count, dtype=np.float64)
    return found


def new_state(objective: Objective) -> State:
    """Prepare the tables that the moves work on."""
    from learnroute.solvers import moves

    size = objective.size
    rate = geometric_rate(objective.weights)
    table = np.zeros((4, size + 2))
    table[moves.POWER] = powers(rate or 0.0, size + 2)
    scored = float(objective.weights.max() * objective.scores.max())
    table[moves.BEST, 1] = 1e-11 * max(float(objective.travel.max()), scored)
    return moves.State(
        travel=np.array(objective.travel),
        scored=np.array([objective.scores, objective.weights]),
        near=nearest_regions(objective.travel, NEIGHBOURS),
        table=table,
        route=np.zeros((5, size + 2), dtype=np.int64),
        flags=np.array([objective.symmetric, rate is not None], dtype=np.int64),
    )


def nearest_regions(travel: FloatArray, most: int) -> IntArray:
    """For each region, the nearest others by the cost of going there, nearest first; ties by number."""
    others = travel + np.diag(np.full(len(travel), np.inf))
    return np.ascontiguousarray(np.argsort(others, axis=1, kind="stable")[:, : min(most, len(travel) - 1)])


def _greedy(travel: FloatArray, start: int) -> IntArray:
    """Go to the nearest region left."""
    size = len(travel)
    left = np.ones(size, dtype=bool)
    order = np.empty(size, dtype=np.int64)
    order[0] = start
    for k in range(1, size):
        left[order[k - 1]] = False
        order[k] = np.argmin(np.where(left, travel[order[k - 1]], np.inf))
    return order
