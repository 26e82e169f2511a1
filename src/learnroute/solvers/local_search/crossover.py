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

from typing import NamedTuple

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.local_search.tour import (
    CREDIT,
    ENDS,
    FACTOR,
    FLOOR,
    GENERAL,
    HEAVIEST,
    LEAST,
    POWER,
    REACH,
    ROUNDING,
    SCORE,
    SCORED,
    SIZE,
    SWING,
    WEIGHT,
    cost,
)

# Rows of `table`, an entry a vertex: neighbours in the first tour, the position there; neighbours in the second tour;
# edges of each tour that are in no AB-cycle yet, and how many; at which even or odd step the path is at a vertex
BEFORE, AFTER, PLACE, OTHER_BEFORE, OTHER_AFTER = 0, 1, 2, 3, 4
LEFT_A, LEFT_B, MANY_A, MANY_B, EVEN, ODD = 5, 7, 9, 10, 11, 12
# ... an entry an edge removed, by rank along the tour: the position of its left end; what its left and its right end
# are joined to; the subtour of the segment behind it. By number in the AB-cycle: its rank. By rank or position: its
# number. An entry a subtour: its size. And an entry an AB-cycle: those that were not tried yet
CUTS, JOINS, LABEL, RANKS, NUMBERS, TOTAL, UNTRIED = 13, 14, 16, 17, 18, 19, 20
ROWS = 21
# Rows of `changes`: which neighbour of which vertex, what it was and what it is now
ROW, VERTEX, OLD, NEW = 0, 1, 2, 3
KEY, COUNT = 0, 1  # rows of `edges`, a hash table; behind its last place, how many edges are in it
ALIKE = 1e-9  # a loss of entropy that is less is taken for this


class Ways(NamedTuple):
    """What tours are about: candidate lists, costs of edges, scores, fixed edges, as a `TourSearch` has them."""

    near: IntArray
    ways: FloatArray
    sums: FloatArray
    numbers: FloatArray
    counts: IntArray
    fixed: IntArray


class Scratch(NamedTuple):
    """Room to work in; how many tours have each edge, and the entropy of an edge by that number."""

    table: IntArray
    path: IntArray
    cycles: IntArray
    starts: IntArray
    changes: IntArray
    best: IntArray
    edges: IntArray
    entropy: FloatArray


def room_for(vertices: int) -> Scratch:
    """Make room to work in, but for what depends on the population."""
    return Scratch(
        table=np.zeros((ROWS, vertices + 1), dtype=np.int64),
        path=np.zeros(2 * vertices + 2, dtype=np.int64),
        cycles=np.zeros(2 * vertices + 2, dtype=np.int64),
        starts=np.zeros(vertices + 2, dtype=np.int64),
        changes=np.zeros((4, 6 * vertices), dtype=np.int64),
        best=np.zeros((4, 6 * vertices), dtype=np.int64),
        edges=np.zeros((2, 2), dtype=np.int64),
        entropy=np.zeros(2),
    )


@kernel
def random_bits(bits: int) -> int:
    """Return the next state of a linear congruential generator."""
    return (bits * 1103515245 + 12345) & 0x7FFFFFFF


@kernel
def link(tour: IntArray, table: IntArray, before: int) -> None:
    """Fill in the neighbours of vertices in a tour."""
    size = len(tour)
    last = tour[size - 1]
    for place in range(size):
        here = tour[place]
        table[before, here] = last
        table[before + 1, last] = here
        last = here


@kernel
def use_edge(table: IntArray, left: int, many: int, v: int, w: int) -> None:
    """Take the edge to w from those of v that are in no AB-cycle yet."""
    if table[left, v] == w:
        table[left, v] = table[left + 1, v]
    table[many, v] -= 1


@kernel
def ab_cycles(room: Scratch, size: int, bits: int) -> int:
    """Find AB-cycles at random, by alternating paths; return how many.

    Cycle c is at starts[c] … starts[c+1] of `cycles`, from a vertex that it leaves by an edge of the first tour.
    """
    table, path, cycles, starts = room.table, room.path, room.cycles, room.starts
    for v in range(size):
        many_a, many_b = 0, 0
        for side in range(2):
            w = table[BEFORE + side, v]
            if w != table[OTHER_BEFORE, v] and w != table[OTHER_AFTER, v]:
                table[LEFT_A + many_a, v] = w
                many_a += 1
            w = table[OTHER_BEFORE + side, v]
            if w != table[BEFORE, v] and w != table[AFTER, v]:
                table[LEFT_B + many_b, v] = w
                many_b += 1
        table[MANY_A, v], table[MANY_B, v] = many_a, many_b
        table[EVEN, v] = table[ODD, v] = -1
    found, filled = 0, 0
    starts[0] = 0
    bits = random_bits(bits)
    shift = (bits >> 8) % size
    for k in range(size):
        start = k + shift if k + shift < size else k + shift - size
        length = 0
        path[0] = start
        while table[MANY_A, start] > 0 or length > 0:
            if length == 0:
                table[EVEN, start] = 0
            v, odd = path[length], length & 1
            left, many = (LEFT_B, MANY_B) if odd else (LEFT_A, MANY_A)
            bits = random_bits(bits)
            w = table[left + ((bits >> 16) & 1 if table[many, v] == 2 else 0), v]
            use_edge(table, left, many, v, w)
            use_edge(table, left, many, w, v)
            length += 1
            path[length] = w
            first = table[ODD if length & 1 else EVEN, w]
            if first < 0:
                table[ODD if length & 1 else EVEN, w] = length
                continue
            for j in range(first + (first & 1), length + (first & 1)):  # an even number of steps: an AB-cycle
                cycles[filled] = path[j]
                filled += 1
            for j in range(first + 1, length):
                table[ODD if j & 1 else EVEN, path[j]] = -1
            length = first
            found += 1
            starts[found] = filled
        table[EVEN, start] = -1
    return found


@kernel
def left_end(table: IntArray, size: int, x: int, y: int) -> int:
    """Return the position of the left end of an edge of the first tour; -1 if it is none."""
    p, q = table[PLACE, x], table[PLACE, y]
    if q == (p + 1 if p + 1 < size else 0):
        return int(p)
    return int(q) if p == (q + 1 if q + 1 < size else 0) else -1


@kernel
def cut(room: Scratch, begin: int, k: int, size: int) -> bool:
    """Sort the edges that an AB-cycle removes along the tour, and say which of their ends are joined.

    False if the cycle is out of date, because the first tour has changed.
    """
    table, cycles = room.table, room.cycles
    few = k * k < 4 * size
    if not few:
        for place in range(size):
            table[NUMBERS, place] = -1
    for i in range(k):
        y = cycles[begin + 2 * i + 1]
        added = cycles[begin + 2 * i + 2 if i + 1 < k else begin]
        position = left_end(table, size, cycles[begin + 2 * i], y)
        if position < 0 or left_end(table, size, y, added) >= 0:
            return False
        if not few:
            table[NUMBERS, position] = i
            continue
        place = i
        while place > 0 and table[CUTS, place - 1] > position:
            table[CUTS, place], table[NUMBERS, place] = table[CUTS, place - 1], table[NUMBERS, place - 1]
            place -= 1
        table[CUTS, place], table[NUMBERS, place] = position, i
    rank = 0
    for place in range(k if few else size):
        i = table[NUMBERS, place]
        if i >= 0:
            if not few:
                table[CUTS, rank] = place
            table[RANKS, i] = rank
            rank += 1
    for i in range(k):
        j = i + 1 if i + 1 < k else 0
        one, two = table[RANKS, i], table[RANKS, j]
        right_one = 0 if table[PLACE, cycles[begin + 2 * i + 1]] == table[CUTS, one] else 1
        right_two = 0 if table[PLACE, cycles[begin + 2 * j]] == table[CUTS, two] else 1
        table[JOINS + right_one, one] = 2 * two + right_two
        table[JOINS + right_two, two] = 2 * one + right_one
    return True


@kernel
def length_of(table: IntArray, segment: int, k: int, size: int) -> int:
    """Return how many vertices are in the segment behind a removed edge."""
    if segment + 1 < k:
        return int(table[CUTS, segment + 1] - table[CUTS, segment])
    return int(table[CUTS, 0] - table[CUTS, segment]) + size


@kernel
def find_subtours(table: IntArray, k: int, size: int) -> int:
    """Number the subtours that segments make up, and add up their sizes; return how many there are."""
    for segment in range(k):
        table[LABEL, segment] = -1
    found = 0
    for first in range(k):
        if table[LABEL, first] >= 0:
            continue
        table[TOTAL, found] = 0
        segment, backwards = first, 0
        while True:
            table[LABEL, segment] = found
            table[TOTAL, found] += length_of(table, segment, k, size)
            end = table[JOINS + 1, segment] if backwards else table[JOINS, segment + 1 if segment + 1 < k else 0]
            backwards, segment = 1 - (end & 1), end >> 1
            if backwards:
                segment = segment - 1 if segment > 0 else k - 1
            if segment == first:
                break
        found += 1
    return found


@kernel
def subtour_of(table: IntArray, k: int, v: int) -> int:
    """Return the subtour of a vertex: that of the segment behind the last removed edge before it."""
    low, high, place = 0, k, table[PLACE, v]
    while low < high:
        middle = (low + high) >> 1
        if table[CUTS, middle] < place:
            low = middle + 1
        else:
            high = middle
    return int(table[LABEL, low - 1 if low > 0 else k - 1])


@kernel
def replace(room: Scratch, many: int, v: int, old: int, new: int) -> int:
    """Replace a neighbour of a vertex and note that down; return how many changes there are."""
    row = BEFORE if room.table[BEFORE, v] == old else AFTER
    room.table[row, v] = new
    room.changes[ROW, many], room.changes[VERTEX, many] = row, v
    room.changes[OLD, many], room.changes[NEW, many] = old, new
    return many + 1


@kernel
def join_subtours(
    tour: IntArray, to: Ways, room: Scratch, many: int, k: int, subtours: int, least: float
) -> tuple[int, float]:
    """Join the smallest subtour to another by an exchange of two edges, until one tour is left.

    Returns how many changes there are now, and what it gains: -inf where it is given up, because no candidate leads out
    of a subtour, or because it would gain less than `least`.
    """
    table, ways, counts, numbers = room.table, to.ways, to.counts, to.numbers
    size, gain = counts[SIZE], 0.0
    for _ in range(subtours - 1):
        one, other = 0, -1
        for subtour in range(subtours):
            if table[TOTAL, subtour] > 0 and (table[TOTAL, one] == 0 or table[TOTAL, subtour] < table[TOTAL, one]):
                one = subtour
        most, u, u2, v, v2 = -np.inf, -1, -1, -1, -1
        for segment in range(k):
            if table[LABEL, segment] != one:
                continue
            place = table[CUTS, segment]
            for _ in range(length_of(table, segment, k, size)):
                place = place + 1 if place + 1 < size else 0
                a = tour[place]
                for n in range(to.near.shape[1]):
                    b = to.near[a, n]
                    subtour = subtour_of(table, k, b)
                    if subtour == one:
                        continue
                    added = cost(ways, counts, numbers, a, b)
                    for side in range(4):
                        a2, b2 = table[BEFORE + (side & 1), a], table[BEFORE + (side >> 1), b]
                        if to.fixed[a] == a2 or to.fixed[b] == b2:
                            continue
                        removed = cost(ways, counts, numbers, a, a2) + cost(ways, counts, numbers, b, b2)
                        better = removed - added - cost(ways, counts, numbers, a2, b2)
                        if better > most:
                            most, other, u, u2, v, v2 = better, subtour, a, a2, b, b2
        gain += most
        if not gain > least:
            return many, -np.inf
        many = replace(room, many, u, u2, v)
        many = replace(room, many, u2, u, v2)
        many = replace(room, many, v, v2, u)
        many = replace(room, many, v2, v, u2)
        for segment in range(k):
            if table[LABEL, segment] == one:
                table[LABEL, segment] = other
        table[TOTAL, other] += table[TOTAL, one]
        table[TOTAL, one] = 0
    return many, gain


@kernel
def score_back(to: Ways, table: IntArray, before: int, here: int, place: int) -> float:
    """Return the score part of a tour, from a vertex at a position as far back as scores reach."""
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
def score_part(to: Ways, table: IntArray, last: int) -> tuple[float, int]:
    """Return the score part of the tour in the table, and the vertex behind `last`, its last one.

    Where orders are cycles, that is the better one of the two.
    """
    size, best, behind = to.counts[SIZE], np.inf, -1
    for side in range(2):
        before = table[BEFORE + side, last]
        if to.counts[ENDS]:  # from `end`, behind which `start` is
            if before == to.fixed[last]:
                here = table[AFTER - side, last]
                return score_back(to, table, last, here, size - 2), before
        elif before != to.fixed[last]:
            score = score_back(to, table, before, last, size - 1)
            if score < best:
                best, behind = score, before
    return best, behind


@kernel
def slot_of(edges: IntArray, size: int, v: int, w: int) -> int:
    """Return where an edge is in the hash table, or the free place where it would be."""
    key = v * size + w + 1 if v < w else w * size + v + 1
    mask = edges.shape[1] - 2
    place = ((key * 0x9E3779B1) >> 7) & mask
    while edges[KEY, place] != 0 and edges[KEY, place] != key:
        place = (place + 1) & mask
    return int(place)


@kernel
def count_edge(edges: IntArray, size: int, v: int, w: int, change: int) -> None:
    """Count an edge of the population more or less often. A new one is left out where the hash table is full."""
    place, room = slot_of(edges, size, v, w), edges.shape[1] - 1
    if edges[KEY, place] == 0:
        if change < 0 or 4 * edges[COUNT, room] > 3 * room:
            return
        edges[KEY, place] = v * size + w + 1 if v < w else w * size + v + 1
        edges[COUNT, place] = 0
        edges[COUNT, room] += 1
    edges[COUNT, place] += change


@kernel
def count_edges(tours: IntArray, edges: IntArray) -> None:
    """Count how many tours each edge is in."""
    edges[KEY, :] = 0
    edges[COUNT, edges.shape[1] - 1] = 0
    size = tours.shape[1]
    for i in range(tours.shape[0]):
        last = tours[i, size - 1]
        for place in range(size):
            count_edge(edges, size, last, tours[i, place], 1)
            last = tours[i, place]


@kernel
def entropy_lost(room: Scratch, size: int, many: int) -> float:
    """Return what the entropy of the population's edges falls by, if these changes are made.

    Each is noted down at both ends of an edge; an edge is looked at from its lesser end.
    """
    lost, entropy = 0.0, room.entropy
    for i in range(many):
        v = room.changes[VERTEX, i]
        if v < room.changes[OLD, i]:
            place = slot_of(room.edges, size, v, room.changes[OLD, i])
            count = room.edges[COUNT, place] if room.edges[KEY, place] != 0 else 0
            lost += entropy[count] - entropy[max(count - 1, 0)]
        if v < room.changes[NEW, i]:
            place = slot_of(room.edges, size, v, room.changes[NEW, i])
            count = room.edges[COUNT, place] if room.edges[KEY, place] != 0 else 0
            lost += entropy[count] - entropy[count + 1]
    return lost


@kernel
def child_of(tour: IntArray, to: Ways, room: Scratch, c: int, score: float) -> tuple[int, float]:
    """Change the tour in the table along an AB-cycle and join its subtours.

    Returns how many changes there are, and what they gain: -inf where it came to nothing.
    """
    table, cycles, numbers, counts, ways = room.table, room.cycles, to.numbers, to.counts, to.ways
    size, begin = counts[SIZE], room.starts[c]
    k = (room.starts[c + 1] - begin) >> 1
    gain, removed = 0.0, 0.0
    for i in range(k):
        y = cycles[begin + 2 * i + 1]
        old = cost(ways, counts, numbers, cycles[begin + 2 * i], y)
        gain += old - cost(ways, counts, numbers, y, cycles[begin + 2 * i + 2 if i + 1 < k else begin])
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
def rewrite(tour: IntArray, to: Ways, table: IntArray) -> None:
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
def cross(tour: IntArray, other: IntArray, to: Ways, room: Scratch, children: int, batches: int, bits: int) -> float:
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
    tours: IntArray, pairs: IntArray, to: Ways, room: Scratch, children: int, batches: int, gains: FloatArray
) -> None:
    """Cross pairs of tours, one after the other; a pair's third number is its random state."""
    for i in range(pairs.shape[0]):
        gains[i] = cross(tours[pairs[i, 0]], tours[pairs[i, 1]], to, room, children, batches, pairs[i, 2])
