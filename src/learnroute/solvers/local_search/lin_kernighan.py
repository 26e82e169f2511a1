"""Improving moves for symmetric travel: cut an order at two or three places, and join the pieces anew.

Imported only when a search runs, because importing it wakes the compiler.

An order is a ring: its regions and a vertex `out` that stands before the first and behind the last one. What it costs
to begin or to end somewhere are the costs of its two edges. (A closed order without fixed ends needs no `out`.)
Cut p lies in front of position p: its *left* side is the region before it, its *right* side the one at p; cut 0 and
cut T have `out` on their outer side. A move is found as a chain of gains: take away the edge at a first cut, join one
of its ends to a near region, take away an edge of that one, join its other end to a near region, as long as what was
taken away costs more than what was joined (Lin and Kernighan); two or three joints close the ring. Which pieces are
exchanged or turned round follows from the order of the cuts and from the sides that are joined: `TYPES`.

Where all that scores count is in the edge to `out` (only the last position counts), that is all. Where weights fall by
the factor r from each position to the one before, two tables of running sums give the score part of a move in O(1). A
sum forgets what is REACH positions away, and so do the tables: they are mended around a move, not along the order.

Everything that a perturbation changes is undone by turning the same stretches back, so its cost does not grow with T.
"""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from learnroute.kernels import compile_function
from learnroute.model.validation import FloatArray, IntArray

LEFT, RIGHT = 0, 1
WIDEST = 200  # positions that a perturbation spans, at most
END = 8  # positions from the end where any loss of travel is tried for the sake of scores
# Kinds of moves. With A and B the stretches between the cuts, in this order, and ' for turned round:
NONE, TURN, SWAP, SWAP_TURN_B, SWAP_TURN_A, TURN_BOTH = 0, 1, 2, 3, 4, 5  # -, A', BA, B'A, BA', A'B'
# Places in State.numbers
BEST, LEAST, SPARE, HEAVIEST, RATE, UNIT, ROUND, CREDIT, OPEN, SWING = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
# Places in State.counts
RING, NARROW, SCORED, REACH, LONGEST, QUEUE_FIRST, QUEUE_SIZE, JOURNAL_SIZE = 0, 1, 2, 3, 4, 5, 6, 7
DEEPEST, SHORT = 8, 9
# Rows of State.sums
FORWARD = 0  # of the first k regions, the last of them at full weight
BACKWARD = 1  # of the regions from k on, region k at full weight
POWER = 2  # r^k


class State(NamedTuple):
    """An order under improvement. Kernels take its arrays one by one: handing the whole on would count references."""

    order: IntArray
    position: IntArray
    places: FloatArray  # T x 3, where travel follows from them
    travel: FloatArray  # and a matrix, where it does not
    near: IntArray  # for each region the nearest others, nearest first
    apart: FloatArray  # and how far they are
    ends: FloatArray  # 2 x T: what it costs to begin (LEFT of the first) and to end (RIGHT of the last) at a region
    doors: IntArray  # 2 x few: the cheapest regions to begin and to end at
    scores: FloatArray
    sums: FloatArray
    queue: IntArray  # 2 x (T + 1): a ring of vertices to look at, and whether one is in it
    journal: IntArray  # 2 x many: stretches turned since the last accepted order
    numbers: FloatArray
    counts: IntArray


def _types() -> IntArray:
    """For each order of three cuts (which comes first, second, third) and sides of t1, t3, t5: the kind of move."""
    table = np.zeros((3, 3, 3, 2, 2, 2), dtype=np.int64)
    known = {(3, 2): SWAP, (3, 1): SWAP_TURN_A, (4, 2): SWAP_TURN_B, (2, 3): TURN_BOTH}
    for ranks in permutations(range(3)):
        for sides in product((LEFT, RIGHT), repeat=3):
            t1, t3, t5 = (2 * rank + side for rank, side in zip(ranks, sides, strict=True))
            t2, t4, t6 = t1 ^ 1, t3 ^ 1, t5 ^ 1
            joined = {t2: t3, t3: t2, t4: t5, t5: t4, t6: t1, t1: t6}
            table[(*ranks, *sides)] = known.get((joined[0], joined[5]), NONE)
    return table


TYPES = _types()


@compile_function
def _length(places: FloatArray, travel: FloatArray, numbers: FloatArray, a: int, b: int) -> float:
    """Return the cost of going between two regions."""
    if len(places) == 0:
        return travel[a, b]
    x = places[a, 0] - places[b, 0]
    y = places[a, 1] - places[b, 1]
    z = places[a, 2] - places[b, 2]
    straight = math.sqrt(x * x + y * y + z * z)
    if numbers[ROUND] == 0.0:
        return numbers[UNIT] * straight
    return numbers[UNIT] * 2.0 * math.asin(min(1.0, 0.5 * straight))


@compile_function
def _joint(
    places: FloatArray,
    travel: FloatArray,
    numbers: FloatArray,
    ends: FloatArray,
    a: int,
    side_a: int,
    b: int,
    side_b: int,
) -> float:
    """Return the cost of joining two ends; that of `out` depends on its side."""
    if a == ends.shape[1]:
        return ends[side_a, b]
    if b == ends.shape[1]:
        return ends[side_b, a]
    return _length(places, travel, numbers, a, b)


@compile_function
def _end(order: IntArray, ring: int, cut: int, side: int) -> int:
    """Return the region on one side of a cut."""
    size = len(order)
    if side == LEFT:
        return order[cut - 1] if cut > 0 else size
    if cut < size:
        return order[cut]
    return order[0] if ring else size


@compile_function
def _cut(position: IntArray, ring: int, a: int, side: int) -> int:
    """Return the cut that has a region on a given side."""
    size = len(position)
    if a == size:
        return 0 if side == LEFT else size
    p = position[a]
    if side == LEFT:
        return p + 1
    return size if p == 0 and ring else p


@compile_function
def _part(
    sums: FloatArray, counts: IntArray, numbers: FloatArray, size: int, first: int, i: int, j: int, turned: bool
) -> float:
    """Return the score part of order[i … j-1] if it stood at the positions from `first` on."""
    many = j - i
    behind = size - first - many  # positions behind it
    if many <= 0 or behind > counts[REACH]:
        return 0.0
    if turned:
        total = sums[BACKWARD, i] - sums[POWER, many] * sums[BACKWARD, j]
    else:
        total = sums[FORWARD, j] - sums[POWER, many] * sums[FORWARD, i]
    return numbers[HEAVIEST] * sums[POWER, behind] * total


@compile_function
def _score_change(
    sums: FloatArray, counts: IntArray, numbers: FloatArray, size: int, kind: int, p: int, q: int, r: int
) -> float:
    """Return what the score part of the order changes by in a move with cuts p < q < r (q = r for a turn)."""
    if counts[SCORED] == 0 or r + counts[REACH] < size:
        return 0.0
    now = _part(sums, counts, numbers, size, p, p, r, False)
    if kind == TURN:
        return _part(sums, counts, numbers, size, p, p, r, True) - now
    if kind == TURN_BOTH:
        after = _part(sums, counts, numbers, size, p, p, q, True)
        return after + _part(sums, counts, numbers, size, q, q, r, True) - now
    after = _part(sums, counts, numbers, size, p, q, r, kind == SWAP_TURN_B)
    return after + _part(sums, counts, numbers, size, p + r - q, p, q, kind == SWAP_TURN_A) - now


@compile_function
def _potential(sums: FloatArray, counts: IntArray, numbers: FloatArray, size: int, r: int) -> float:
    """Return what scores can become less by, at most, if no region behind position r moves."""
    if counts[SCORED] == 0 or r + counts[REACH] < size:
        return 0.0
    return min(numbers[SPARE], numbers[SWING] * sums[POWER, size - r])


@compile_function
def mend(order: IntArray, scores: FloatArray, sums: FloatArray, rate: float, counts: IntArray, i: int, j: int) -> None:
    """Bring the running sums up to date after a change of order[i … j-1], as far as they reach and are ever needed.

    They are needed where moves begin that come near enough to the end for scores to count.
    """
    size, reach = len(order), counts[REACH]
    first = size - reach - counts[LONGEST] - WIDEST
    if j + reach < first:
        return
    for k in range(max(i, first - reach), min(size, j + reach)):
        sums[FORWARD, k + 1] = rate * sums[FORWARD, k] + scores[order[k]]
    for k in range(j - 1, max(-1, i - reach - 1, first - 1), -1):
        sums[BACKWARD, k] = rate * sums[BACKWARD, k + 1] + scores[order[k]]


@compile_function
def _turn(order: IntArray, position: IntArray, i: int, j: int) -> None:
    """Turn order[i … j-1] round."""
    j -= 1
    while i < j:
        a, b = order[i], order[j]
        order[i], order[j] = b, a
        position[b], position[a] = i, j
        i += 1
        j -= 1


@compile_function
def _note(order: IntArray, position: IntArray, journal: IntArray, counts: IntArray, i: int, j: int) -> None:
    """Turn order[i … j-1] round and note it down."""
    _turn(order, position, i, j)
    at = counts[JOURNAL_SIZE]
    journal[0, at], journal[1, at] = i, j
    counts[JOURNAL_SIZE] = at + 1


@compile_function
def _enqueue(queue: IntArray, counts: IntArray, a: int) -> None:
    """Queue a vertex for another look."""
    if not queue[1, a]:
        queue[1, a] = 1
        queue[0, (counts[QUEUE_FIRST] + counts[QUEUE_SIZE]) % queue.shape[1]] = a
        counts[QUEUE_SIZE] += 1


@compile_function
def make(s: State, kind: int, p: int, q: int, r: int) -> None:
    """Make a move with cuts p < q < r (q = r for a turn)."""
    order, position, journal, counts = s.order, s.position, s.journal, s.counts
    middle = p + r - q
    if kind == TURN_BOTH:
        _note(order, position, journal, counts, p, q)
        _note(order, position, journal, counts, q, r)
    else:
        _note(order, position, journal, counts, p, r)
        if kind in (SWAP, SWAP_TURN_A):
            _note(order, position, journal, counts, p, middle)
        if kind in (SWAP, SWAP_TURN_B):
            _note(order, position, journal, counts, middle, r)
    if counts[SCORED]:
        mend(order, s.scores, s.sums, s.numbers[RATE], counts, p, r)


@compile_function
def undo(s: State, first: int) -> None:
    """Turn everything back that was noted down, from a place in the journal on."""
    order, position, journal, counts = s.order, s.position, s.journal, s.counts
    for k in range(counts[JOURNAL_SIZE] - 1, first - 1, -1):
        _turn(order, position, journal[0, k], journal[1, k])
    if counts[SCORED]:
        for k in range(counts[JOURNAL_SIZE] - 1, first - 1, -1):
            mend(order, s.scores, s.sums, s.numbers[RATE], counts, journal[0, k], journal[1, k])
    counts[JOURNAL_SIZE] = first


@compile_function
def best_at(s: State, a: int, side: int, carried: float, found: IntArray) -> bool:
    """Find the best move that takes away an edge of vertex a; whether there is one.

    `side` is the side of the cut that a is on, -1 for both. In a longer chain, that edge was joined by the move
    before, and what has been gained without it is `carried`. Besides the best move (found[0 … 3]), the best one to go
    on from is kept (found[4 … 8], with the region that would become the neighbour of a).
    """
    order, position, near, apart, ends, doors = s.order, s.position, s.near, s.apart, s.ends, s.doors
    places, travel, numbers, counts, sums = s.places, s.travel, s.numbers, s.counts, s.sums
    size = len(order)
    ring, many, few = counts[RING], near.shape[1], doors.shape[1]
    narrow = min(many, counts[NARROW])
    least = numbers[LEAST]
    best, widest = least, least
    for side1 in range(2):
        if side >= 0 and side1 != side:
            continue
        side2 = 1 - side1
        x = _cut(position, ring, a, side1)
        t2 = _end(order, ring, x, side2)
        edge = carried if side >= 0 else _joint(places, travel, numbers, ends, a, side1, t2, side2)
        tail = counts[SCORED] != 0 and x + counts[REACH] >= size
        spare = _potential(sums, counts, numbers, size, x)
        if x + END < size:
            spare = min(spare, numbers[CREDIT])
        n = -1
        while n < many + 1 + (few if tail else 0):
            n += 1
            only = -1
            if t2 == size:
                if n >= few:
                    break
                t3 = doors[side2, n]
                joint = ends[side2, t3]
            elif n < many:
                t3 = near[t2, n]
                joint = apart[t2, n]
            elif n < many + 2:
                if ring:
                    continue
                t3 = size
                only = n - many
                joint = ends[only, t2]
                if joint == 0.0:  # free for everyone: enough to look at it as the last joint of a move
                    continue
            else:  # near the end, regions of small score are worth a look wherever they are
                t3 = doors[RIGHT, n - many - 2]
                if t3 == t2:
                    continue
                joint = _length(places, travel, numbers, t2, t3)
            if edge - joint + spare <= least:
                if t2 != size and n < many:
                    n = many - 1  # no nearer ones are left, but `out` is
                continue
            for side3 in range(2):
                if only >= 0 and side3 != only:
                    continue
                y = _cut(position, ring, t3, side3)
                if y == x:
                    continue
                side4 = 1 - side3
                t4 = _end(order, ring, y, side4)
                taken = edge - joint + _joint(places, travel, numbers, ends, t3, side3, t4, side4)
                if side2 == side3:
                    gain = taken - _joint(places, travel, numbers, ends, t4, side4, a, side1)
                    p, r = min(x, y), max(x, y)
                    if gain + _potential(sums, counts, numbers, size, r) > best and r - p <= counts[LONGEST]:
                        gain -= _score_change(sums, counts, numbers, size, np.int64(TURN), p, r, r)
                        if gain > best:
                            best = gain
                            found[0], found[1], found[2], found[3] = TURN, p, r, r
                # a third cut
                m = -1
                while m < narrow + 1:
                    m += 1
                    other = -1
                    if t4 == size:
                        if m >= few:
                            break
                        t5 = doors[side4, m]
                        second = ends[side4, t5]
                    elif m < narrow:
                        t5 = near[t4, m]
                        second = apart[t4, m]
                    else:
                        if ring:
                            break
                        t5 = size
                        other = m - narrow
                        second = ends[other, t4]
                    if taken - second + spare <= least:
                        if t4 != size and m < narrow:
                            m = narrow - 1
                        continue
                    for side5 in range(2):
                        if other >= 0 and side5 != other:
                            continue
                        w = _cut(position, ring, t5, side5)
                        if w in (x, y):
                            continue
                        rank_x = (1 if x > y else 0) + (1 if x > w else 0)
                        rank_y = (1 if y > x else 0) + (1 if y > w else 0)
                        kind = TYPES[rank_x, rank_y, 3 - rank_x - rank_y, side1, side3, side5]
                        if kind == NONE:
                            continue
                        side6 = 1 - side5
                        t6 = _end(order, ring, w, side6)
                        gain = taken - second + _joint(places, travel, numbers, ends, t5, side5, t6, side6)
                        p, r = min(x, y, w), max(x, y, w)
                        potential = _potential(sums, counts, numbers, size, r)
                        if gain + potential <= best and gain <= widest:
                            continue
                        if r - p > counts[LONGEST]:
                            continue
                        q = x + y + w - p - r
                        if gain > widest and r - p <= counts[SHORT]:
                            ahead = gain - _score_change(sums, counts, numbers, size, kind, p, q, r)
                            if ahead > widest:
                                widest = ahead
                                found[4], found[5], found[6], found[7], found[8] = kind, p, q, r, t6
                        gain -= _joint(places, travel, numbers, ends, t6, side6, a, side1)
                        if gain + potential <= best:
                            continue
                        gain -= _score_change(sums, counts, numbers, size, kind, p, q, r)
                        if gain > best:
                            best = gain
                            found[0], found[1], found[2], found[3] = kind, p, q, r
    numbers[OPEN] = widest
    numbers[BEST] = best
    return best > least


@compile_function
def _improve(s: State, a: int, found: IntArray, touched: IntArray) -> float:
    """Make the best move at a vertex, or a chain of moves that pays in the end; return the gain, 0 if there is none."""
    order, position, counts, ring = s.order, s.position, s.counts, s.counts[RING]
    mark = counts[JOURNAL_SIZE]
    side, carried, many = np.int64(-1), 0.0, 0
    for depth in range(counts[DEEPEST]):
        pays = best_at(s, a, side, carried, found)
        if not pays and (depth == counts[DEEPEST] - 1 or s.numbers[OPEN] <= s.numbers[LEAST]):
            break
        at = 0 if pays else 4
        kind, p, q, r = found[at], found[at + 1], found[at + 2], found[at + 3]
        for n in range(3):
            cut = p if n == 0 else q if n == 1 else r
            touched[many] = _end(order, ring, cut, np.int64(LEFT))
            touched[many + 1] = _end(order, ring, cut, np.int64(RIGHT))
            many += 2
        make(s, kind, p, q, r)
        if pays:
            for n in range(many):
                _enqueue(s.queue, counts, touched[n])
            return s.numbers[BEST]
        carried = s.numbers[OPEN]
        after = _end(order, ring, _cut(position, ring, a, np.int64(LEFT)), np.int64(RIGHT))
        side = np.int64(LEFT if after == found[8] else RIGHT)
    if counts[JOURNAL_SIZE] > mark:
        undo(s, mark)
    return 0.0


@compile_function
def descend(s: State, most: int) -> float:
    """Improve until no queued vertex has a better move, or `most` of them were looked at; return the gain."""
    found = np.zeros(9, dtype=np.int64)
    counts, queue = s.counts, s.queue
    touched = np.empty(6 * counts[DEEPEST], dtype=np.int64)
    many = queue.shape[1]
    total = 0.0
    looks = 0
    while counts[QUEUE_SIZE] > 0 and looks < most:
        a = queue[0, counts[QUEUE_FIRST]]
        counts[QUEUE_FIRST] = (counts[QUEUE_FIRST] + 1) % many
        counts[QUEUE_SIZE] -= 1
        queue[1, a] = 0
        if counts[RING] and a == many - 1:
            continue
        looks += 1
        while counts[JOURNAL_SIZE] + 3 * counts[DEEPEST] <= s.journal.shape[1]:
            gain = _improve(s, a, found, touched)
            if gain == 0.0:
                break
            total += gain
    return total


@compile_function
def kick(s: State, p: int, q: int, r: int, t: int) -> float:
    """Turn the stretches A, B, C between four cuts into C, B, A: no chain of three cuts takes that back.

    Returns what it costs; inf if it is not allowed, and then it is not done.
    """
    order, ends, ring, sums = s.order, s.ends, s.counts[RING], s.sums
    places, travel, numbers, counts, size = s.places, s.travel, s.numbers, s.counts, len(s.order)
    before, behind = _end(order, ring, p, np.int64(LEFT)), _end(order, ring, t, np.int64(RIGHT))
    worse = _joint(places, travel, numbers, ends, before, LEFT, order[r], RIGHT)
    worse += _joint(places, travel, numbers, ends, order[q - 1], LEFT, behind, RIGHT)
    if worse == np.inf:
        return worse
    worse += _length(places, travel, numbers, order[t - 1], order[q])
    worse += _length(places, travel, numbers, order[r - 1], order[p])
    worse -= _joint(places, travel, numbers, ends, before, LEFT, order[p], RIGHT)
    worse -= _joint(places, travel, numbers, ends, order[t - 1], LEFT, behind, RIGHT)
    worse -= _length(places, travel, numbers, order[q - 1], order[q])
    worse -= _length(places, travel, numbers, order[r - 1], order[r])
    if counts[SCORED]:
        worse += _part(sums, counts, numbers, size, p, r, t, False)
        worse += _part(sums, counts, numbers, size, p + t - r, q, r, False)
        worse += _part(sums, counts, numbers, size, p + t - q, p, q, False)
        worse -= _part(sums, counts, numbers, size, p, p, t, False)
    for n in range(4):
        cut = p if n == 0 else q if n == 1 else r if n == 2 else t
        _enqueue(s.queue, counts, _end(order, ring, cut, np.int64(LEFT)))
        _enqueue(s.queue, counts, _end(order, ring, cut, np.int64(RIGHT)))
    _note(order, s.position, s.journal, counts, p, t)
    _note(order, s.position, s.journal, counts, p, p + t - r)
    _note(order, s.position, s.journal, counts, p + t - r, p + t - q)
    _note(order, s.position, s.journal, counts, p + t - q, t)
    if counts[SCORED]:
        mend(order, s.scores, sums, numbers[RATE], counts, p, t)
    return worse


@compile_function
def wander(s: State, best: IntArray, values: FloatArray, draws: FloatArray, wide: int) -> None:
    """Perturb and improve, one row of random numbers each time; undo what made the order worse.

    Rows hold where (a share of the positions), three lengths, and how much worse an accepted order may be. `values`
    holds the value of the current order and of the best one; `best` holds the latter where it is not the current one.
    """
    order, position, journal, counts, queue = s.order, s.position, s.journal, s.counts, s.queue
    size = len(order)
    for row in range(draws.shape[0]):
        counts[JOURNAL_SIZE] = 0
        low = 1 if counts[RING] else 0
        p = low + int(draws[row, 0] * (size - low - 2))
        q = p + 1 + int(draws[row, 1] * min(wide, size - p - 2))
        r = q + 1 + int(draws[row, 2] * min(wide, size - q - 1))
        t = r + 1 + int(draws[row, 3] * min(wide, size - r))
        worse = kick(s, p, q, r, t)
        if worse == np.inf:
            continue
        now = values[0] + worse - descend(s, np.int64(1 << 62))
        if counts[QUEUE_SIZE] > 0 or now > values[0] + draws[row, 4]:
            while counts[QUEUE_SIZE] > 0:
                queue[1, queue[0, counts[QUEUE_FIRST]]] = 0
                counts[QUEUE_FIRST] = (counts[QUEUE_FIRST] + 1) % (size + 1)
                counts[QUEUE_SIZE] -= 1
            undo(s, np.int64(0))
            continue
        if now > values[1] and values[0] <= values[1]:  # the best one is being left: go back to it for a copy
            for k in range(counts[JOURNAL_SIZE] - 1, -1, -1):
                _turn(order, position, journal[0, k], journal[1, k])
            best[:] = order
            for k in range(counts[JOURNAL_SIZE]):
                _turn(order, position, journal[0, k], journal[1, k])
        values[0] = now
        if now < values[1] - s.numbers[LEAST]:
            values[1] = now
