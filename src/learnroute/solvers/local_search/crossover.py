"""Edge assembly crossover (Nagata and Kobayashi 2013): of two tours, make one that is better than the first.

Imported only when a search runs, because importing it wakes the compiler.

Edges that only one of two tours has make up cycles in which edges of the first and of the second take turns
(AB-cycles). Along one of them, the first tour gives up its edges for those of the second. That may leave subtours; the
smallest one is joined to another by the best exchange of two edges, until one tour is left. Of several children made
in that way, the one that gains most for each bit of entropy that the edges of the population lose takes the place of
the first tour: gains that make all tours alike are dear, and a population that stays diverse goes further.

Making a child takes time for what changes, not for the whole tour: segments between removed edges are what subtours
are made of. Scores are added up from the end of a tour as far back as they reach, and only if something changed there.
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.local_search.ab_cycles import (
    AFTER,
    BEFORE,
    CUTS,
    NEW,
    OLD,
    OTHER_BEFORE,
    PLACE,
    ROW,
    UNTRIED,
    VERTEX,
    Scratch,
    ab_cycles,
    link,
    random_bits,
)
from learnroute.solvers.local_search.edge_entropy import count_edge, entropy_lost
from learnroute.solvers.local_search.pair_sums import price
from learnroute.solvers.local_search.subtours import cut, find_subtours, join_subtours, replace
from learnroute.solvers.local_search.tour import (
    CREDIT,
    ENDS,
    FACTOR,
    FIXED,
    FLOOR,
    GENERAL,
    HEAVIEST,
    LEAST,
    PAIRED,
    POWER,
    REACH,
    REGIONS,
    ROUNDING,
    SCORE,
    SCORED,
    SIZE,
    SWING,
    TRIED,
    WEIGHT,
    Tour,
    cost,
)

ALIKE = 1e-9  # a loss of entropy that is less is taken for this


@kernel
def error_back(to: Tour, table: IntArray, before: int, here: int) -> float:
    """Return the error of a tour with pair terms, whose last vertex is given, and the vertex behind it."""
    regions = to.counts[REGIONS]
    t = regions - 1
    while t >= 0:
        if here < regions:
            to.route[TRIED, t] = here
            t -= 1
        after = table[BEFORE, here]
        if after == before:
            after = table[AFTER, here]
        before, here = here, after
    return price(to, 0, 1)


@kernel
def score_back(to: Tour, table: IntArray, before: int, here: int, place: int) -> float:
    """Return the score part of a tour, from a vertex at a position as far back as scores reach."""
    if to.counts[SCORED] == PAIRED:
        return error_back(to, table, before, here)
    general, total, weight = to.counts[SCORED] == GENERAL, 0.0, to.numbers[HEAVIEST]
    for _ in range(min(place + 1, to.counts[REACH] + 1)):
        if general:
            weight = to.sums[WEIGHT, place]
        total += weight * to.sums[SCORE, here]
        if not general:
            weight *= to.sums[FACTOR, here]
        after = table[BEFORE, here]
        if after == before:
            after = table[AFTER, here]
        before, here = here, after
        place -= 1
    return total


@kernel
def score_part(to: Tour, table: IntArray, last: int) -> tuple[float, int]:
    """Return the score part of the tour in the table, and the vertex behind `last`, its last one.

    Where orders are cycles, that is the better one of the two.
    """
    size, best, behind = to.counts[SIZE], np.inf, -1
    for side in range(2):
        before = table[BEFORE + side, last]
        if to.counts[ENDS]:  # from `end`, behind which `start` is
            if before == to.route[FIXED, last]:
                here = table[AFTER - side, last]
                return score_back(to, table, last, here, size - 2), before
        elif before != to.route[FIXED, last]:
            score = score_back(to, table, before, last, size - 1)
            if score < best:
                best, behind = score, before
    return best, behind


@kernel
def child_of(tour: IntArray, to: Tour, room: Scratch, c: int, score: float) -> tuple[int, float]:
    """Change the tour in the table along an AB-cycle and join its subtours.

    Returns how many changes there are, and what they gain: -inf where it came to nothing.
    """
    table, cycles, numbers, counts = room.table, room.cycles, to.numbers, to.counts
    size, begin = counts[SIZE], room.starts[c]
    k = (room.starts[c + 1] - begin) >> 1
    gain, removed = 0.0, 0.0
    for i in range(k):
        y = cycles[begin + 2 * i + 1]
        old = cost(to, cycles[begin + 2 * i], y)
        gain += old - cost(to, y, cycles[begin + 2 * i + 2 if i + 1 < k else begin])
        removed += old
    if not cut(room, begin, k, size):
        return 0, -np.inf
    latest = table[CUTS, k - 1]
    scored = counts[SCORED] != 0
    cyclic = counts[ENDS] == 0  # then a child may go the other way round
    hope = 0.0
    if scored and cyclic:
        hope = score - numbers[FLOOR]
    elif scored and latest + 1 + counts[REACH] >= size:  # what lies behind the last cut stays as it is
        hope = min(score - numbers[FLOOR], numbers[SWING] * to.sums[POWER, max(0, size - 2 - latest)])
    hope = min(hope, numbers[CREDIT])
    least = numbers[LEAST] + ROUNDING * removed
    if not gain + hope > least:
        return 0, -np.inf
    subtours = find_subtours(table, k, size)
    many = 0
    for i in range(k):
        x, y = cycles[begin + 2 * i], cycles[begin + 2 * i + 1]
        many = replace(room, many, x, y, cycles[begin + 2 * i - 1 if i > 0 else begin + 2 * k - 1])
        many = replace(room, many, y, x, cycles[begin + 2 * i + 2 if i + 1 < k else begin])
    if subtours > 1:
        many, joined = join_subtours(tour, to, room, many, k, subtours, least - gain - hope)
        gain += joined
    if scored and gain + hope > least:
        for i in range(2 * k, many):
            latest = max(latest, table[PLACE, room.changes[VERTEX, i]])
        if cyclic or latest + 1 + counts[REACH] >= size:
            now, _ = score_part(to, table, tour[size - 1])
            gain += score - now
    return many, gain if gain > least else -np.inf


@kernel
def rewrite(tour: IntArray, to: Tour, table: IntArray) -> None:
    """Write the tour that is in the table, with the same last vertex."""
    last, size = tour[len(tour) - 1], len(tour)
    before = table[BEFORE, last]
    if to.counts[SCORED]:
        _, before = score_part(to, table, last)
    here = before
    before = last
    for place in range(size):
        tour[place] = here
        after = table[BEFORE, here]
        if after == before:
            after = table[AFTER, here]
        before, here = here, after
    for place in range(size):
        table[PLACE, tour[place]] = place


@kernel
def cross(tour: IntArray, other: IntArray, to: Tour, room: Scratch, children: int, batches: int, bits: int) -> float:
    """Put the best of the children of two tours in the place of the first, if it is better; return the gain.

    That is repeated with AB-cycles that are left, so many times.
    """
    table, size, scored, total = room.table, to.counts[SIZE], to.counts[SCORED] != 0, 0.0
    link(tour, table, BEFORE)
    link(other, table, OTHER_BEFORE)
    for place in range(size):
        table[PLACE, tour[place]] = place
    found = ab_cycles(room, size, bits)
    for c in range(found):
        table[UNTRIED, c] = c
    tried = 0
    for _ in range(batches):
        score = 0.0
        if scored and to.counts[ENDS]:
            score, _ = score_part(to, table, tour[size - 1])
        elif scored:
            score = score_back(to, table, tour[0], tour[size - 1], size - 1)
        most, gained, kept = 0.0, 0.0, 0
        for _ in range(min(children, found - tried)):
            bits = random_bits(bits)
            pick = tried + (bits >> 8) % (found - tried)
            c = table[UNTRIED, pick]
            table[UNTRIED, pick] = table[UNTRIED, tried]
            tried += 1
            many, gain = child_of(tour, to, room, c, score)
            if gain > 0.0:
                worth = gain / max(entropy_lost(room, size, many), ALIKE)
                if worth > most:
                    most, gained, kept = worth, gain, many
                    for i in range(many):
                        for row in range(4):
                            room.best[row, i] = room.changes[row, i]
            for i in range(many - 1, -1, -1):
                table[room.changes[ROW, i], room.changes[VERTEX, i]] = room.changes[OLD, i]
        if kept == 0:
            break
        total += gained
        for i in range(kept):
            v, old, new = room.best[VERTEX, i], room.best[OLD, i], room.best[NEW, i]
            table[room.best[ROW, i], v] = new
            if v < old:
                count_edge(room.edges, size, v, old, -1)
            if v < new:
                count_edge(room.edges, size, v, new, 1)
        rewrite(tour, to, table)
    return total


@kernel
def cross_pairs(
    tours: IntArray, pairs: IntArray, to: Tour, room: Scratch, children: int, batches: int, gains: FloatArray
) -> None:
    """Cross pairs of tours, one after the other; a pair's third number is its random state."""
    for i in range(pairs.shape[0]):
        gains[i] = cross(tours[pairs[i, 0]], tours[pairs[i, 1]], to, room, children, batches, pairs[i, 2])
