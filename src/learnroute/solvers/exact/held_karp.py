"""The optimum by dynamic programming over (set of regions still to come, the first of them).

Held and Karp 1962, Bellman 1962; with position-weighted scores. Built from the end, because what a score counts is
decided by the regions that follow: by how many they are (position weights), or by the product of their factors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from learnroute.errors import RefusedError
from learnroute.kernels import always_compiling, kernel
from learnroute.model.certificates import HeldKarp
from learnroute.model.ends import BoolArray
from learnroute.model.objective import Objective
from learnroute.model.rounding import margin
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.bounds import path_relaxation
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.params import DEFAULTS, HeldKarpParams, SolverParams


class Table(NamedTuple):
    """Values of sets: `values[first[set] + k]` is the least cost of visiting the set to the end, from its k-th region.

    Sets are numbers, a bit a region.
    """

    values: FloatArray
    first: IntArray


def held_karp(
    objective: Objective, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Answer:
    """Return an order of least value; if the time runs out before that is proved, a quick one that claims nothing.

    Ties go to the smallest index. Cycles of which all scores count are solved once for each last region.
    """
    size, limits = objective.size, params.held_karp
    if size > limits.most_regions:
        states = 2.0 ** (size - 1) * size
        raise RefusedError(
            f"{size} regions: Held–Karp keeps 2^(T-1)·T values ({states * 8 / 2**30:,.3g} GiB here), so it takes "
            f"at most {limits.most_regions} regions; use method exact or auto"
        )
    path, tight = path_relaxation(objective)
    turns = [path]
    if objective.ends.cyclic and not tight:
        turns = [objective.ending_at(last) for last in range(size)]
    counts = _sizes(size)
    table = Table(np.empty(size << (size - 1)), np.cumsum(counts) - counts)
    best: IntArray | None = None
    for turn, each in enumerate(turns):
        done = _fill_all(table, each, budget, limits, turn, len(turns))
        if done < 1:
            quick = nearest_neighbour(objective, rng, Budget(), params)
            note = f"the time limit came with {done:.0%} of the proof done; this route is by nearest neighbours"
            return replace(quick, order=objective.repaired(quick.order), complete=False, notes=(note,))
        order = _traced(table, each)
        if best is None or objective(order) < objective(best):
            best = order
    assert best is not None
    value = objective(best)
    bound = value - margin(4 * size, abs(value) + abs(objective.constant))
    return Answer(best, "exact", optimal=True, certificate=HeldKarp(bound))


def _sizes(regions: int) -> IntArray:
    """Return how many regions are in each set."""
    counts = np.zeros(1, dtype=np.int64)
    for _ in range(regions):
        counts = np.concatenate([counts, counts + 1])
    return counts


def _fill_all(
    table: Table, objective: Objective, budget: Budget, params: HeldKarpParams, turn: int, turns: int
) -> float:
    """Fill the table for an objective; return the share done."""
    size = objective.size
    everything = (1 << size) - 1
    positions = objective.ends.positions(size)
    last_costs = objective.weights[-1] * objective.scores + objective.finish
    weights = weights_before(objective)
    if size <= params.interpreted and not always_compiling():
        table.values[:] = _filled_by_size(objective, weights, last_costs, positions)
        budget.progress("exact", (turn + 1) / turns)
        return 1.0
    travel_to = np.ascontiguousarray(objective.travel.T)
    done = 0.0
    for start in range(0, everything, params.sets_a_call):
        end = min(start + params.sets_a_call, everything)
        _fill(table, travel_to, objective.scores, weights, last_costs, positions, start, end)
        done = (turn + end / everything) / turns
        budget.progress("exact", done)
        if budget.exhausted and done < 1:
            return done
    return 1.0


def _filled_by_size(
    objective: Objective, weights: FloatArray, last_costs: FloatArray, positions: BoolArray
) -> FloatArray:
    """Return all values, for all sets of one size at a time: with few regions that is quicker than loading a kernel."""
    regions = np.arange(objective.size)
    sets, counts = np.arange(1 << objective.size), _sizes(objective.size)
    within = (sets[:, None] >> regions) & 1
    values = np.full(within.shape, np.inf)
    values[1 << regions, regions] = np.where(positions[-1], last_costs, np.inf)
    for count in range(1, objective.size):
        after = sets[counts == count]
        costs = (values[after][:, None, :] + objective.travel).min(axis=2) + weights[after][:, None] * objective.scores
        costs[:, ~positions[-1 - count]] = np.inf
        number, here = np.nonzero(within[after] == 0)
        values[after[number] | (1 << here), here] = costs[number, here]
    found: FloatArray = values[within == 1]
    return found


def weights_before(objective: Objective) -> FloatArray:
    """Return, for each set of regions, what a score counts whose region is followed by them."""
    size, factors = objective.size, objective.factors
    if factors is None:
        return objective.weights[np.maximum(size - 1 - _sizes(size), 0)]
    weights = np.ones(1)
    with np.errstate(under="ignore"):
        for v in range(size):
            weights = np.concatenate([weights, weights * factors[v]])
    return weights


@kernel
def _fill(
    table: Table,
    travel_to: FloatArray,
    scores: FloatArray,
    weights: FloatArray,
    last_costs: FloatArray,
    positions: BoolArray,
    start: int,
    end: int,
) -> None:
    """Put one region before each of the sets start … end-1; `travel_to` has a row for each region gone to.

    Sets are made of lesser numbers, so that these are filled already.
    """
    size, values, first = len(travel_to), table.values, table.first
    best = np.empty(size)
    others = np.empty(size, dtype=np.int64)
    for after in range(start, end):
        place = first[after]
        many = 0  # regions that are not in the set
        for here in range(size):
            others[many] = here
            best[many] = np.inf if after > 0 else last_costs[here]
            many += 1 - ((after >> here) & 1)
        for following in range(size):
            if (after >> following) & 1:
                rest, ways = values[place], travel_to[following]
                place += 1
                for k in range(many):
                    best[k] = min(best[k], ways[others[k]] + rest)
        weight = weights[after] if after > 0 else 0.0
        for k in range(many):
            here = others[k]
            cost = best[k] + weight * scores[here] if positions[many - 1, here] else np.inf
            values[first[after | (1 << here)] + here - k] = cost


def _members(left: int) -> list[int]:
    return [v for v in range(left.bit_length()) if (left >> v) & 1]


def _traced(table: Table, objective: Objective) -> IntArray:
    """Trace the best order through the table, from the full set on."""
    left = (1 << objective.size) - 1
    costs = objective.begin + table.values[-objective.size :]
    order = [int(np.argmin(costs))]
    while left := left & ~(1 << order[-1]):
        among, place = _members(left), table.first[left]
        costs = objective.travel[order[-1], among] + table.values[place : place + len(among)]
        order.append(among[int(np.argmin(costs))])
    return np.array(order, dtype=np.int64)
