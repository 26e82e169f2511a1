"""The 1-tree bound of Held and Karp, for orders: it scales to thousands of regions.

Add a vertex `out`, joined to each region v at what ending at v costs and the least score part of any order that does; a
vertex `home`, joined to every region at what beginning there costs; and a forced edge between the two. An order is a
tour: home, first region, …, last region, out, home. A tour is a spanning tree of the regions and `home`, and one edge
from `out` to a region, in which every vertex has the right degree; without the degrees it is a *1-tree*, and the
cheapest one is quickly found. One multiplier a vertex, taken off its edges and paid back twice, makes the degrees
nearly right.

Where only the last position counts, the score part is met exactly; with other weights it is bounded by rearrangement.
Where travel differs by direction, the cheaper direction of each pair is used.
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.certificate import Certificate
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.ends import anchored, least_score_parts

STEPS = 1000
STEPS_A_CALL = 50  # between two looks at the clock
ROUNDING = 1e-12  # relative to all that a 1-tree adds up: far above what float64 loses


def tree_bound(objective: Objective, value: float, budget: Budget, steps: int = STEPS) -> Certificate:
    """Raise the 1-tree bound by subgradient steps towards `value`, that of a known order."""
    held, size = anchored(objective).objective, objective.size
    costs = np.zeros((size + 1, size + 1))
    costs[:size, :size] = np.minimum(held.travel, held.travel.T)
    costs[size, :size] = costs[:size, size] = held.begin
    exits = least_score_parts(held) + held.finish
    # places in `numbers`: the best bound, the pace, how long it has stalled, the target
    numbers = np.array([-np.inf, 1.0, 0.0, value - held.constant])
    vectors = np.zeros((3, size + 2))  # multipliers now, the best ones, the direction
    done = 0
    while done < steps and not budget.exhausted and numbers[1] > 1e-3:
        count = min(STEPS_A_CALL, steps - done)
        raise_tree(costs, exits, vectors, numbers, count)
        done += count
        budget.progress("bound", done / steps)
    largest = [float(entries[np.isfinite(entries)].max()) for entries in (costs, exits)]
    margin = ROUNDING * (largest[0] * size + largest[1] + abs(held.constant) + 4 * float(np.abs(vectors[1]).sum()))
    return Certificate("tree", float(numbers[0]) + held.constant - margin, vectors[1].copy())


@kernel
def raise_tree(costs: FloatArray, exits: FloatArray, vectors: FloatArray, numbers: FloatArray, steps: int) -> None:
    """Take subgradient steps from vectors[0]; keep the best bound and its multipliers. `home` is the last row."""
    count = len(costs)  # regions and home
    home = count - 1
    now, kept, heavy = vectors[0], vectors[1], vectors[2]
    nearest = np.empty(count)
    entry = np.empty(count, dtype=np.int64)
    degree = np.empty(count)
    for _ in range(steps):
        # the cheapest exit, the forced edge, and a minimum spanning tree by Prim's rule
        last = 0
        for v in range(home):
            if exits[v] - now[v] < exits[last] - now[last]:
                last = v
        total = exits[last] - now[last] - now[home]
        for v in range(count):
            degree[v] = 0.0
            nearest[v] = costs[home, v] - now[v] - now[home]
            entry[v] = home
        degree[last] += 1.0
        degree[home] += 1.0
        nearest[home] = np.inf
        for _ in range(count - 1):
            joined = 0
            least = np.inf
            for v in range(count):
                if nearest[v] < least:
                    least = nearest[v]
                    joined = v
            total += least
            degree[joined] += 1.0
            degree[entry[joined]] += 1.0
            nearest[joined] = np.inf
            entry[joined] = -1
            for v in range(count):
                if entry[v] >= 0 and v != home:
                    cost = costs[joined, v] - now[joined] - now[v]
                    if cost < nearest[v]:
                        nearest[v] = cost
                        entry[v] = joined
        for v in range(count):
            total += 2.0 * now[v]
        if total > numbers[0] + 1e-4 * abs(numbers[3] - numbers[0]):
            numbers[2] = 0.0
        else:
            numbers[2] += 1.0
        if total > numbers[0]:
            numbers[0] = total
            kept[:] = now
        if numbers[2] >= 15:
            numbers[2] = 0.0
            numbers[1] *= 0.7
            now[:] = kept
        square = 0.0
        for v in range(count):
            heavy[v] = 2.0 - degree[v] + 0.6 * heavy[v]
            square += heavy[v] * heavy[v]
        if square == 0.0 or numbers[1] < 1e-3 or numbers[0] >= numbers[3]:
            numbers[1] = 0.0
            return
        step = numbers[1] * (numbers[3] - total) / square
        for v in range(count):
            now[v] += step * heavy[v]
