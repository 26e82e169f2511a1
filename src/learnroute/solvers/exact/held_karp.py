"""The optimum by dynamic programming over (regions still to come, the first of them): Held–Karp with shares of scores.

Built from the end, because what a score counts is decided by the regions that follow: by how many they are
(position weights), or by the product of their factors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from learnroute.errors import RefusedError
from learnroute.kernels import kernel
from learnroute.model.certificate import exhaustive
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.ends import anchored, within_ends

MOST_REGIONS = 20
SMALL = 12  # up to here the interpreter is quicker than waking the compiler
CHUNK = 1 << 14  # sets a kernel call, between two looks at the clock


def held_karp(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return an order of least value; if the time runs out before that is proved, a quick one that claims nothing.

    Ties go to the smallest index. A closed route with free ends, of which all scores count, is solved once for each
    last region.
    """
    size = objective.size
    if size > MOST_REGIONS:
        states = 2.0**size * size
        raise RefusedError(
            f"{size} regions: Held–Karp keeps 2^T·T values ({states * 8 / 2**30:,.3g} GiB here), so it takes "
            f"at most {MOST_REGIONS} regions; use method exact or auto"
        )
    held = anchored(objective)
    turns = [held.objective]
    if held.objective.closed and not held.tight and objective.first is None and objective.last is None:
        turns = [objective.ending_at(last) for last in range(size)]
    best: IntArray | None = None
    values = np.empty((1 << size, size))
    for turn, each in enumerate(turns):
        done = _fill_all(values, each, budget, turn, len(turns))
        if done < 1:
            quick = nearest_neighbour(objective, rng, Budget())
            order = within_ends(objective, quick.order)
            note = f"the time limit came with {done:.0%} of the proof done; this route is by nearest neighbours"
            return replace(quick, order=order, complete=False, notes=(note,))
        order = _trace(values, each)
        if best is None or objective(order) < objective(best):
            best = order
    assert best is not None
    return Answer(best, "exact", optimal=True, certificate=exhaustive(objective, objective(best)))


def _fill_all(values: FloatArray, objective: Objective, budget: Budget, turn: int, turns: int) -> float:
    """Fill `values[set, first]`: least cost of visiting a set to the end, from `first` on. Return the share done."""
    size = objective.size
    values.fill(np.inf)
    first = -1 if objective.first is None else objective.first
    last = -1 if objective.last is None else objective.last
    ends = objective.weights[-1] * objective.scores + objective.finish
    shares = shares_before(objective)
    fill = _fill.on_size(size, SMALL)
    done = 0.0
    for start in range(1, 1 << size, CHUNK):
        fill(
            values, objective.travel, objective.scores, shares, ends, first, last, start, min(start + CHUNK, 1 << size)
        )
        done = (turn + min(1.0, (start + CHUNK) / (1 << size))) / turns
        budget.progress("exact", done)
        if budget.exhausted and done < 1:
            return done
    return 1.0


def shares_before(objective: Objective) -> FloatArray:
    """Return, for each set of regions, what a score counts whose region is followed by them."""
    size, factors = objective.size, objective.factors
    if factors is None:
        counts = np.zeros(1, dtype=np.int64)
        for _ in range(size):
            counts = np.concatenate([counts, counts + 1])
        return objective.weights[np.maximum(size - 1 - counts, 0)]
    shares = np.ones(1)
    with np.errstate(under="ignore"):
        for v in range(size):
            shares = np.concatenate([shares, shares * factors[v]])
    return shares


@kernel
def _fill(
    values: FloatArray,
    travel: FloatArray,
    scores: FloatArray,
    shares: FloatArray,
    ends: FloatArray,
    first: int,
    last: int,
    start: int,
    end: int,
) -> None:
    """Fill `values` for the sets start … end-1; smaller sets are filled already. A fixed end, if any, is >= 0."""
    size = len(travel)
    everything = (1 << size) - 1
    for visited in range(start, end):
        if last >= 0 and not (visited >> last) & 1:
            continue
        if first >= 0 and (visited >> first) & 1 and visited != everything:
            continue
        for here in range(size):
            if not (visited >> here) & 1:
                continue
            after = visited & ~(1 << here)
            if after == 0:
                values[visited, here] = ends[here]
                continue
            best = np.inf
            for following in range(size):
                if (after >> following) & 1:
                    cost = travel[here, following] + values[after, following]
                    best = min(best, cost)
            values[visited, here] = best + shares[after] * scores[here]


def _trace(values: FloatArray, objective: Objective) -> IntArray:
    """Walk on from the full set through the table of values."""
    size = objective.size
    left = (1 << size) - 1
    order = np.empty(size, dtype=np.int64)
    order[0] = np.argmin(objective.begin + values[left])
    for position in range(1, size):
        here = int(order[position - 1])
        left &= ~(1 << here)
        order[position] = np.argmin(objective.travel[here] + values[left])
    return order
