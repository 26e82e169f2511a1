"""The optimum by dynamic programming over (visited set, last region): Held–Karp with position weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from learnroute.errors import RefusedError
from learnroute.kernels import kernel
from learnroute.model.certificate import exhaustive
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.nearest import nearest_neighbour

MOST_REGIONS = 20
SMALL = 12  # up to here the interpreter is quicker than waking the compiler
CHUNK = 1 << 14  # sets a kernel call, between two looks at the clock


def held_karp(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return an order of least value; if the time runs out before that is proved, a quick one that claims nothing.

    A set of k regions is visited at positions 1 … k whatever its order, so the position weights fit the
    classic recursion unchanged. Ties go to the smallest index.
    """
    size = objective.size
    if size > MOST_REGIONS:
        states = 2.0**size * size
        raise RefusedError(
            f"{size} regions: Held–Karp keeps 2^T·T values ({states * 8 / 2**30:,.3g} GiB here), so it takes "
            f"at most {MOST_REGIONS} regions; use method exact or auto"
        )
    scored = objective.weights[:, None] * objective.scores[None, :]
    values = np.full((1 << size, size), np.inf)
    fill = _fill.on_size(size, SMALL)
    for first in range(1, 1 << size, CHUNK):
        fill(values, objective.travel, scored, first, min(first + CHUNK, 1 << size))
        done = min(1.0, (first + CHUNK) / (1 << size))
        budget.progress("exact", done)
        if budget.exhausted and done < 1:
            quick = nearest_neighbour(objective, rng, Budget())
            note = f"the time limit came with {done:.0%} of the proof done; this route is by nearest neighbours"
            return replace(quick, complete=False, notes=(note,))
    order = _trace(values, objective.travel)
    return Answer(order, "exact", optimal=True, certificate=exhaustive(objective, objective(order)))


@kernel
def _fill(values: FloatArray, travel: FloatArray, scored: FloatArray, first: int, end: int) -> None:
    """Fill `values[set, last]` for the sets first … end-1; smaller sets are filled already."""
    size = len(travel)
    for visited in range(first, end):
        position = -1
        rest = visited
        while rest:
            rest &= rest - 1
            position += 1
        for last in range(size):
            if not (visited >> last) & 1:
                continue
            before = visited & ~(1 << last)
            if before == 0:
                values[visited, last] = scored[0, last]
                continue
            best = np.inf
            for previous in range(size):
                if (before >> previous) & 1:
                    cost = values[before, previous] + travel[previous, last]
                    best = min(best, cost)
            values[visited, last] = best + scored[position, last]


def _trace(values: FloatArray, travel: FloatArray) -> IntArray:
    """Walk back from the full set through the table of values."""
    size = len(travel)
    visited = (1 << size) - 1
    order = np.empty(size, dtype=np.int64)
    order[-1] = np.argmin(values[visited])
    for position in range(size - 1, 0, -1):
        last = int(order[position])
        visited &= ~(1 << last)
        order[position - 1] = np.argmin(values[visited] + travel[:, last])
    return order
