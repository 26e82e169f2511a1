"""Running sums of scores along a tour: what the score part of a move is, in O(1) a segment.

Imported only when a search runs, because importing it wakes the compiler.

Where only the last position counts, its score is in the edge to `end`. Where weights fall by the factor r from each
position to the one before, two tables of running sums price a segment anywhere in O(1); where each region has a factor
of its own, r^length becomes a product of factors, which sums of logarithms give (and a count of zeros). Other weights
are added up one by one, and pair terms are priced by `pair_sums`. Scores that are more than REACH positions away from
the end count for nothing.
"""

from __future__ import annotations

import math

from learnroute.kernels import kernel
from learnroute.solvers.local_search.pair_sums import error_change, mend_prices
from learnroute.solvers.local_search.tour import (
    BACKWARD,
    BEGIN,
    FACTOR,
    FACTORED,
    FIRST,
    FORWARD,
    GENERAL,
    GEOMETRIC,
    HEAVIEST,
    LENGTH,
    LOGS,
    ORDER,
    PAIRED,
    POWER,
    REACH,
    REGIONS,
    REVERSED,
    ROUNDING,
    SCORE,
    SCORED,
    SIZE,
    WEIGHT,
    ZEROS,
    Tour,
)


@kernel
def mend_geometric_sums(tour: Tour, i: int, j: int) -> None:
    """Do the same where weights fall by one factor: what changes outside of these positions falls by its powers.

    Sums of `start`, `end` and what is beyond them are not used.
    """
    route, sums, counts = tour.route, tour.sums, tour.counts
    size = counts[SIZE]
    old = sums[FORWARD, j]
    for k in range(i, j):
        vertex = route[ORDER, k]
        sums[FORWARD, k + 1] = sums[FACTOR, vertex] * sums[FORWARD, k] + sums[SCORE, vertex]
    change = sums[FORWARD, j] - old
    for k in range(1, min(size - j, counts[REACH]) + 1):
        sums[FORWARD, j + k] += sums[POWER, k] * change
    old = sums[BACKWARD, i]
    for k in range(j - 1, i - 1, -1):
        vertex = route[ORDER, k]
        sums[BACKWARD, k] = sums[FACTOR, vertex] * sums[BACKWARD, k + 1] + sums[SCORE, vertex]
    change = sums[BACKWARD, i] - old
    for k in range(1, min(i, counts[REACH]) + 1):
        sums[BACKWARD, i - k] += sums[POWER, k] * change


@kernel
def mend_sums(tour: Tour, i: int, j: int) -> None:
    """Bring the running sums up to date after a change at the positions i … j-1, until it is forgotten."""
    route, sums, counts = tour.route, tour.sums, tour.counts
    size = counts[SIZE]
    if counts[SCORED] == GENERAL:
        return
    if counts[SCORED] == PAIRED:
        mend_prices(tour, i)
        return
    if counts[SCORED] == GEOMETRIC:
        mend_geometric_sums(tour, i, j)
        return
    for k in range(i, size):
        vertex = route[ORDER, k]
        factor = sums[FACTOR, vertex]
        total = factor * sums[FORWARD, k] + sums[SCORE, vertex]
        if k >= j and abs(total - sums[FORWARD, k + 1]) <= ROUNDING * total:
            break
        sums[FORWARD, k + 1] = total
    for k in range(j - 1, -1, -1):
        vertex = route[ORDER, k]
        total = sums[FACTOR, vertex] * sums[BACKWARD, k + 1] + sums[SCORE, vertex]
        if k < i and abs(total - sums[BACKWARD, k]) <= ROUNDING * total:
            break
        sums[BACKWARD, k] = total
    if counts[SCORED] == FACTORED:
        for k in range(i, j):
            factor = sums[FACTOR, route[ORDER, k]]
            sums[LOGS, k + 1] = sums[LOGS, k] + (math.log(factor) if factor > 0.0 else 0.0)
            sums[ZEROS, k + 1] = sums[ZEROS, k] + (0.0 if factor > 0.0 else 1.0)


@kernel
def retention(tour: Tour, i: int, j: int) -> float:
    """Return the product of the factors at the positions i … j-1."""
    sums = tour.sums
    if tour.counts[SCORED] == GEOMETRIC:
        return sums[POWER, j - i]
    if sums[ZEROS, j] > sums[ZEROS, i]:
        return 0.0
    return math.exp(sums[LOGS, j] - sums[LOGS, i])


@kernel
def score_change(tour: Tour, k: int, many: int) -> float:
    """Return what the score part changes by if the segments behind the unmoved one are written at counts[FIRST]."""
    route, sums, counts, move = tour.route, tour.sums, tour.counts, tour.move
    size, first = counts[SIZE], counts[FIRST]
    last = first + many
    if last + counts[REACH] < size:
        return 0.0
    if counts[SCORED] == PAIRED:
        return error_change(tour, k)
    if counts[SCORED] == GENERAL:
        change, x = 0.0, first
        for i in range(k - 1):
            low, high = move[BEGIN, i], move[BEGIN, i] + move[LENGTH, i] - 1
            for y in range(move[LENGTH, i]):
                vertex = route[ORDER, high - y if move[REVERSED, i] else low + y]
                change += sums[WEIGHT, x] * (sums[SCORE, vertex] - sums[SCORE, route[ORDER, x]])
                x += 1
        return change
    total = sums[FORWARD, first]
    for i in range(k - 1):
        low, high = move[BEGIN, i], move[BEGIN, i] + move[LENGTH, i]
        kept = retention(tour, low, high)
        if move[REVERSED, i]:
            total = kept * total + (sums[BACKWARD, low] - kept * sums[BACKWARD, high])
        else:
            total = kept * total + (sums[FORWARD, high] - kept * sums[FORWARD, low])
    behind = size if size == counts[REGIONS] or size == 2 * counts[REGIONS] else size - 1  # `end` forgets nothing
    return tour.numbers[HEAVIEST] * retention(tour, last, behind) * (total - sums[FORWARD, last])
