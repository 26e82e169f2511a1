"""The optimum by dynamic programming over (set of regions still to come, the first of them).

Held and Karp 1962, Bellman 1962; with position-weighted scores. Built from the end, because what a score counts is
decided by the regions that follow: by how many they are (position weights), or by the product of their factors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from learnroute.errors import RefusedError
from learnroute.kernels import kernel
from learnroute.model.certificates import HeldKarp
from learnroute.model.ends import BoolArray
from learnroute.model.objective import Objective
from learnroute.model.rounding import margin
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.bounds import path_relaxation
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.params import DEFAULTS, HeldKarpParams, SolverParams


def held_karp(
    objective: Objective, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Answer:
    """Return an order of least value; if the time runs out before that is proved, a quick one that claims nothing.

    Ties go to the smallest index. Cycles of which all scores count are solved once for each last region.
    """
    size, most = objective.size, params.held_karp.most_regions
    if size > most:
        states = 2.0**size * size
        raise RefusedError(
            f"{size} regions: Held–Karp keeps 2^T·T values ({states * 8 / 2**30:,.3g} GiB here), so it takes "
            f"at most {most} regions; use method exact or auto"
        )
    path, tight = path_relaxation(objective)
    turns = [path]
    if objective.ends.cyclic and not tight:
        turns = [objective.ending_at(last) for last in range(size)]
    best: IntArray | None = None
    values = np.empty((1 << size, size))
    for turn, each in enumerate(turns):
        done = _fill_all(values, each, budget, params.held_karp, turn, len(turns))
        if done < 1:
            quick = nearest_neighbour(objective, rng, Budget(), params)
            note = f"the time limit came with {done:.0%} of the proof done; this route is by nearest neighbours"
            return replace(quick, order=objective.repaired(quick.order), complete=False, notes=(note,))
        order = _trace(values, each)
        if best is None or objective(order) < objective(best):
            best = order
    assert best is not None
    value = objective(best)
    bound = value - margin(4 * size, abs(value) + abs(objective.constant))
    return Answer(best, "exact", optimal=True, certificate=HeldKarp(bound))


def _fill_all(
    values: FloatArray, objective: Objective, budget: Budget, params: HeldKarpParams, turn: int, turns: int
) -> float:
    """Fill `values[set, first]`: least cost of visiting a set to the end, from `first` on. Return the share done."""
    size = objective.size
    values.fill(np.inf)
    positions = objective.ends.positions(size)
    last_costs = objective.weights[-1] * objective.scores + objective.finish
    weights = weights_before(objective)
    fill = _fill.on_size(size, params.interpreted)
    done = 0.0
    for start in range(1, 1 << size, params.sets_a_call):
        end = min(start + params.sets_a_call, 1 << size)
        fill(values, objective.travel, objective.scores, weights, last_costs, positions, start, end)
        done = (turn + end / (1 << size)) / turns
        budget.progress("exact", done)
        if budget.exhausted and done < 1:
            return done
    return 1.0


def weights_before(objective: Objective) -> FloatArray:
    """Return, for each set of regions, what a score counts whose region is followed by them."""
    size, factors = objective.size, objective.factors
    if factors is None:
        counts = np.zeros(1, dtype=np.int64)
        for _ in range(size):
            counts = np.concatenate([counts, counts + 1])
        return objective.weights[np.maximum(size - 1 - counts, 0)]
    weights = np.ones(1)
    with np.errstate(under="ignore"):
        for v in range(size):
            weights = np.concatenate([weights, weights * factors[v]])
    return weights


@kernel
def _fill(
    values: FloatArray,
    travel: FloatArray,
    scores: FloatArray,
    weights: FloatArray,
    last_costs: FloatArray,
    positions: BoolArray,
    start: int,
    end: int,
) -> None:
    """Fill `values` for the sets start … end-1; smaller sets are filled already."""
    size = len(travel)
    for left in range(start, end):
        position = size
        for v in range(size):
            position -= (left >> v) & 1
        for here in range(size):
            if not (left >> here) & 1 or not positions[position, here]:
                continue
            after = left & ~(1 << here)
            if after == 0:
                values[left, here] = last_costs[here]
                continue
            best = np.inf
            for following in range(size):
                if (after >> following) & 1:
                    cost = travel[here, following] + values[after, following]
                    best = min(best, cost)
            values[left, here] = best + weights[after] * scores[here]


def _trace(values: FloatArray, objective: Objective) -> IntArray:
    """Trace the best order through the table of values, from the full set on."""
    size = objective.size
    left = (1 << size) - 1
    order = np.empty(size, dtype=np.int64)
    order[0] = np.argmin(objective.begin + values[left])
    for position in range(1, size):
        here = int(order[position - 1])
        left &= ~(1 << here)
        order[position] = np.argmin(objective.travel[here] + values[left])
    return order
