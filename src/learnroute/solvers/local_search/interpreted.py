"""A short local search without machine code: for time limits that compiling would outlast.

2-opt (Croes 1958) and Or-opt (Or 1976) of up to three regions, the best move of all at a time, priced side by side in
arrays of T² numbers; perturbed and improved again for as long as there is time. Moves see travel, and what beginning
and ending somewhere cost with the score of the last region; of all orders on the way, the one of least value is
returned.
"""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour_paths
from learnroute.solvers.contract import Budget

LONGEST = 3  # regions that Or-opt moves together
FEWEST_GAIN = 1e-9  # relative to the longest way: a smaller gain is taken for rounding
SPAN = 50  # positions within which a perturbation cuts
STARTS = 16  # nearest-neighbour paths, of which the best one is improved


def interpreted_search(
    objective: Objective, rng: np.random.Generator, budget: Budget, initial: IntArray | None = None
) -> IntArray:
    """Return the best order found when the time is up, no worse than `initial`; without a limit, a local optimum."""
    ends, size = objective.ends, objective.size
    starts = np.array([ends.first]) if ends.first is not None else rng.choice(size, min(STARTS, size), replace=False)
    known = [] if initial is None else [ends.repair(initial)]
    known.append(ends.repair(np.argsort(-objective.ranks, kind="stable")))
    for path in nearest_neighbour_paths(objective.travel, starts):
        known += [ends.repair(way) for way in ([path, path[::-1]] if objective.symmetric else [path])]
    best = _improved(objective, min(known, key=objective), budget)
    while budget.seconds_left is not None and not budget.exhausted:
        found = _improved(objective, ends.repair(_double_bridge(best, rng)), budget)
        best = min(best, found, key=objective)
    return best


def _improved(objective: Objective, order: IntArray, budget: Budget) -> IntArray:
    """Return the best order on the way from one to where no move helps."""
    best = order
    while not budget.exhausted:
        moved = _best_move(objective, order)
        if moved is None:
            break
        order = moved
        best = min(best, order, key=objective)
    return best


def _double_bridge(order: IntArray, rng: np.random.Generator) -> IntArray:
    """Put three neighbouring stretches of the order in reverse sequence (Martin, Otto and Felten 1991)."""
    size = len(order)
    span = min(size, SPAN)
    first = int(rng.integers(size - span + 1))
    a, b, c, d = np.sort(rng.choice(span + 1, 4, replace=False)) + first
    return np.concatenate([order[:a], order[c:d], order[b:c], order[a:b], order[d:]])


def _best_move(objective: Objective, order: IntArray) -> IntArray | None:
    """Return the order after the move that gains most, None if none gains."""
    ways = _ways(objective, order)
    size, least = objective.size, -FEWEST_GAIN * float(objective.travel.max(initial=0.0))
    stops = np.concatenate([[size], order, [size + 1]])  # `start` and `end` around the order
    edges = ways[stops[:-1], stops[1:]]
    best: IntArray | None = None
    if objective.symmetric:
        i, j, gain = _two_opt(ways[np.ix_(stops, stops)], edges)
        if gain < least:
            least, best = gain, np.concatenate([order[:i], order[i : j + 1][::-1], order[j + 1 :]])
    for length in range(1, min(LONGEST, size - 1) + 1):
        for turned in (False, True) if objective.symmetric and length > 1 else (False,):
            i, j, gain = _or_opt(ways, stops, edges, length, turned)
            if gain < least:
                segment = order[i : i + length]
                rest = np.concatenate([order[:i], order[i + length :]])
                at = j if j <= i else j - length
                least = gain
                best = np.concatenate([rest[:at], segment[::-1] if turned else segment, rest[at:]])
    return best


def _ways(objective: Objective, order: IntArray) -> FloatArray:
    """Return travel with two more rows: from `start` (T) to each region, and from each to `end` (T + 1)."""
    size = objective.size
    ways = np.full((size + 2, size + 2), np.inf)
    ways[:size, :size] = objective.travel
    last = objective.weights[-1] * objective.scores if objective.factors is None else np.zeros(size)
    ways[size, :size], ways[:size, size + 1] = objective.begin, objective.finish + last
    if objective.ends.cyclic:  # cut where it begins
        ways[size, :size] = np.where(np.arange(size) == order[0], 0.0, np.inf)
        ways[:size, size + 1] += objective.travel_to(int(order[0]))
    return ways


def _two_opt(apart: FloatArray, edges: FloatArray) -> tuple[int, int, float]:
    """Return the stretch i … j of the order whose reversal changes the length most, and by how much."""
    size = len(apart) - 2
    change = apart[:size, 1 : size + 1] + apart[1 : size + 1, 2:] - edges[:size, None] - edges[None, 1 : size + 1]
    change[np.tril_indices(size)] = np.inf
    i, j = divmod(int(np.argmin(np.where(np.isnan(change), np.inf, change))), size)
    return i, j, float(change[i, j])


def _or_opt(ways: FloatArray, stops: IntArray, edges: FloatArray, length: int, turned: bool) -> tuple[int, int, float]:
    """Return which segment gains most by a move, before which position it goes, and what the length changes by."""
    size = len(stops) - 2
    many = size - length + 1
    first, last = stops[1 : 1 + many], stops[length : length + many]
    before, behind = stops[:many], stops[length + 1 : length + 1 + many]
    joined = ways[before, behind] - edges[:many] - edges[length : length + many]
    head, tail = (last, first) if turned else (first, last)
    put = ways[np.ix_(stops[:-1], head)].T + ways[np.ix_(tail, stops[1:])] - edges[None, :]
    change = joined[:, None] + put
    for offset in range(length + 1):  # beside or inside of the segment itself
        change[np.arange(many), np.arange(many) + offset] = np.inf
    change = np.where(np.isnan(change), np.inf, change)
    i, j = divmod(int(np.argmin(change)), size + 1)
    return i, j, float(change[i, j])
