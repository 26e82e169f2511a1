"""The error of a regularised learner along a tour: what a move changes, by the recursion of `model.pairs`.

Imported only when a search runs, because importing it wakes the compiler.

A move changes the model before every later visit. So it is priced from the first position that it changes to the last
one, O(T) a position; but visits whose share in the model is below TINY are left out, and so are positions from which
nothing reaches the end. What the error is made of before each position of the tour is kept.

The table `pairs` has a row for each region j with the dissimilarities Δ[i, j], then five times a row for each position
with what training does there in each region (`model.learner.Updates`), then one with Δ[j, 0].
"""

from __future__ import annotations

from learnroute.kernels import kernel
from learnroute.solvers.local_search.tour import (
    COMMON,
    COUNTED,
    REACH,
    REGIONS,
    RETAINED,
    SCORE,
    SUMMED,
    TRIED,
    VISITED,
    Tour,
)

TINY = 1e-14


@kernel
def price(tour: Tour, first: int, tried: int) -> float:
    """Return the error of the order whose regions from position `first` on are in route[TRIED] or route[VISITED].

    Of the latter, which is the tour's own, what the error is made of is kept.
    """
    route, sums, pairs, regions = tour.route, tour.sums, tour.pairs, tour.counts[REGIONS]
    row, at = (TRIED, RETAINED + 2) if tried else (VISITED, RETAINED)
    begin = max(first, regions - tour.counts[REACH])
    for t in range(first, regions):
        sums[at, t], sums[at + 1, t] = pairs[regions + t, route[row, t]], pairs[2 * regions + t, route[row, t]]
    summed, common = sums[SUMMED, begin], sums[COMMON, begin]
    for t in range(begin, regions):
        here = route[row, t]
        apart = pairs[here]
        seen, share, s = 0.0, 1.0, t - 1
        while s >= first and abs(share) > TINY:
            seen += share * sums[at + 1, s] * apart[route[row, s]]
            share *= sums[at, s]
            s -= 1
        while s >= 0 and abs(share) > TINY:
            seen += share * sums[RETAINED + 1, s] * apart[route[VISITED, s]]
            share *= sums[RETAINED, s]
            s -= 1
        if s < 0:
            seen += share * pairs[6 * regions, here]
        if not tried:
            sums[SUMMED, t], sums[COMMON, t] = summed, common
        summed = sums[at, t] * summed + sums[at + 1, t] * sums[SCORE, here]
        common = pairs[4 * regions + t, here] * common + pairs[3 * regions + t, here] * seen
        common -= pairs[5 * regions + t, here]
    return summed - tour.numbers[COUNTED] * common
