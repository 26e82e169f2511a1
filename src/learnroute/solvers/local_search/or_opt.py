"""2-opt, Or-opt and or-3opt moves along an order, each weighed in O(1) where position weights are geometric.

Imported only when a search runs, because importing it wakes the compiler.

Two moves are enough: a *reversal* of order[i … j] (2-opt; symmetric travel only), and an *exchange* of the neighbouring
segments order[i … j-1] and order[j … k], each reversed or not (or-3opt; with a short segment, segment insertion: Or
1976). Of the moves that bring a region beside one of its candidate list, or to an end, the best is made; regions whose
neighbours changed are queued for another look (don't-look bits, Bentley 1992). A perturbation exchanges two segments.

A segment's share of the score part depends on where it lands. With weights that fall by the factor r from each position
to the one before, it is the weight of its last position times `sum_k r^(length-k)·score[k]`, which two prefix tables
give at once, for the segment and for its reverse; other weights are added up one by one. Where each region has a factor
of its own, r^length becomes the product of the segment's factors, which sums of logarithms give (and a count of zeros).

`lin_kernighan` is faster for symmetric travel; this is for what it leaves out: travel that differs by direction,
factors, weights that are not geometric, and few regions.

Plain 0, 1 and -1 are handed on as np.int64: numba would compile a function anew for each constant that it is given.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnroute.kernels import compile_function
from learnroute.model.validation import FloatArray, IntArray

# Places in State.flags
SYMMETRIC, GEOMETRIC, FACTORED, CYCLIC, SEGMENT = 0, 1, 2, 3, 4
# Rows of State.table
FORWARD = 0  # FORWARD[k] = sum over the first k regions, the last of them at full weight
BACKWARD = 1  # BACKWARD[k] = sum over the regions from k on, region k at full weight
POWER = 2  # r^k
BEST = 3  # the best change found; and the least one that is more than rounding
LOGS = 4  # sum of the logarithms of the first k regions' factors ...
ZEROS = 5  # ... and the number of zeros among them
# Rows of State.scored
SCORE, WEIGHT, BEGIN, FINISH, FACTOR = 0, 1, 2, 3, 4
# Rows of State.route
ORDER, PLACE, QUEUE, QUEUED, COPY = 0, 1, 2, 3, 4


class State(NamedTuple):
    """An order under improvement; tables with named rows, because each further array costs compile time."""

    travel: FloatArray
    scored: FloatArray  # 5 x T: scores, weights of positions, what it costs to begin and to end, factors
    near: IntArray  # for each region the nearest others, nearest first
    table: FloatArray
    route: IntArray
    flags: IntArray


@compile_function
def refresh(s: State) -> None:
    """Bring places and prefix tables up to date with the order."""
    size = s.travel.shape[0]
    for k in range(size):
        a = s.route[ORDER, k]
        s.route[PLACE, a] = k
        f = s.scored[FACTOR, a]
        s.table[FORWARD, k + 1] = f * s.table[FORWARD, k] + s.scored[SCORE, a]
        if s.flags[FACTORED]:
            s.table[LOGS, k + 1] = s.table[LOGS, k] + (np.log(f) if f > 0.0 else 0.0)
            s.table[ZEROS, k + 1] = s.table[ZEROS, k] + (0.0 if f > 0.0 else 1.0)
    for k in range(size - 1, -1, -1):
        a = s.route[ORDER, k]
        s.table[BACKWARD, k] = s.scored[FACTOR, a] * s.table[BACKWARD, k + 1] + s.scored[SCORE, a]


@compile_function
def value(s: State) -> float:
    """Return travel and score part of the order."""
    size = s.travel.shape[0]
    total = _ends(s, s.route[ORDER, 0], s.route[ORDER, size - 1])
    share = 1.0
    for k in range(size - 1, -1, -1):
        a = s.route[ORDER, k]
        total += (share if s.flags[FACTORED] else s.scored[WEIGHT, k]) * s.scored[SCORE, a]
        share *= s.scored[FACTOR, a]
        if k > 0:
            total += s.travel[s.route[ORDER, k - 1], a]
    return total


@compile_function
def _retention(s: State, i: int, j: int) -> float:
    """Return the product of the factors of order[i … j]."""
    if s.flags[FACTORED] == 0:
        return s.table[POWER, j - i + 1]
    if s.table[ZEROS, j + 1] > s.table[ZEROS, i]:
        return 0.0
    return np.exp(s.table[LOGS, j + 1] - s.table[LOGS, i])


@compile_function
def _score(s: State, first: int, i: int, j: int, backwards: int, behind: float) -> float:
    """Return the score part of order[i … j] if it stood at the positions from `first` on.

    `behind` is the product of the factors of all that would stand behind it, where regions have factors.
    """
    length = j - i + 1
    if length <= 0:
        return 0.0
    if s.flags[GEOMETRIC] or s.flags[FACTORED]:
        if backwards:
            part = s.table[BACKWARD, i] - _retention(s, i, j) * s.table[BACKWARD, j + 1]
        else:
            part = s.table[FORWARD, j + 1] - _retention(s, i, j) * s.table[FORWARD, i]
        return (behind if s.flags[FACTORED] else s.scored[WEIGHT, first + length - 1]) * part
    total = 0.0
    for k in range(length):
        region = s.route[ORDER, j - k] if backwards else s.route[ORDER, i + k]
        total += s.scored[WEIGHT, first + k] * s.scored[SCORE, region]
    return total


@compile_function
def _ends(s: State, first: int, last: int) -> float:
    """Return what it costs to begin and to end at two regions, the way back included."""
    total = s.scored[BEGIN, first] + s.scored[FINISH, last]
    return total + s.travel[last, first] if s.flags[CYCLIC] else total


@compile_function
def _legs(s: State, i: int, a: int, b: int, k: int) -> float:
    """Return what changes by beginning the segment at the positions i … k with region a and ending it with b."""
    size = s.travel.shape[0]
    change = 0.0
    if i > 0:
        before = s.route[ORDER, i - 1]
        change += s.travel[before, a] - s.travel[before, s.route[ORDER, i]]
    if k < size - 1:
        after = s.route[ORDER, k + 1]
        change += s.travel[b, after] - s.travel[s.route[ORDER, k], after]
    if i == 0 or k == size - 1:
        first, last = s.route[ORDER, 0], s.route[ORDER, size - 1]
        change += _ends(s, a if i == 0 else first, b if k == size - 1 else last) - _ends(s, first, last)
    return change


@compile_function
def reversal(s: State, i: int, j: int) -> float:
    """Return what the value changes by if order[i … j] is reversed."""
    change = _legs(s, i, s.route[ORDER, j], s.route[ORDER, i], j)
    behind = _retention(s, j + 1, s.travel.shape[0] - 1)
    return change + _score(s, i, i, j, np.int64(1), behind) - _score(s, i, i, j, np.int64(0), behind)


@compile_function
def exchange(s: State, i: int, j: int, k: int, first_reversed: int, second_reversed: int) -> float:
    """Return what the value changes by if order[i … j-1] and order[j … k] change places."""
    a, b = s.route[ORDER, i], s.route[ORDER, j - 1]
    c, d = s.route[ORDER, j], s.route[ORDER, k]
    change = -s.travel[b, c]
    if first_reversed:
        a, b = b, a
    if second_reversed:
        c, d = d, c
    change += s.travel[d, a] + _legs(s, i, c, b, k)
    behind = _retention(s, k + 1, s.travel.shape[0] - 1)
    change += _score(s, i, j, k, second_reversed, behind * _retention(s, i, j - 1))
    change += _score(s, i + k - j + 1, i, j - 1, first_reversed, behind)
    return change - _score(s, i, i, k, np.int64(0), behind)


@compile_function
def _reverse(s: State, i: int, j: int) -> None:
    while i < j:
        s.route[ORDER, i], s.route[ORDER, j] = s.route[ORDER, j], s.route[ORDER, i]
        i += 1
        j -= 1


@compile_function
def apply(s: State, i: int, j: int, k: int, first_reversed: int, second_reversed: int) -> None:
    """Make the move (a reversal of order[i … k] where j < 0) and queue the regions at its ends."""
    size = s.travel.shape[0]
    if j < 0:
        _reverse(s, i, k)
    else:
        for x in range(i, k + 1):
            s.route[COPY, x] = s.route[ORDER, x]
        length = k - j + 1
        for x in range(length):
            s.route[ORDER, i + x] = s.route[COPY, k - x] if second_reversed else s.route[COPY, j + x]
        for x in range(j - i):
            s.route[ORDER, i + length + x] = s.route[COPY, j - 1 - x] if first_reversed else s.route[COPY, i + x]
        enqueue(s, i + length - 1)
        enqueue(s, i + length)
    refresh(s)
    for x in (i - 1, i, k, k + 1):
        if 0 <= x < size:
            enqueue(s, x)


@compile_function
def enqueue(s: State, k: int) -> None:
    """Queue the region at position k for another look. The queue is circular; its two ends are kept behind it."""
    size = s.travel.shape[0]
    a = s.route[ORDER, k]
    if not s.route[QUEUED, a]:
        s.route[QUEUED, a] = 1
        s.route[QUEUE, (s.route[QUEUE, size] + s.route[QUEUE, size + 1]) % size] = a
        s.route[QUEUE, size + 1] += 1


@compile_function
def _consider(s: State, found: IntArray, i: int, j: int, k: int, backwards: int) -> None:
    """Weigh one more move: keep it in `found` if it is the best so far.

    `backwards` says which segment of an exchange is reversed: 0 none, 1 the first, 2 the second. A reversal has j < 0.
    """
    change = reversal(s, i, k) if j < 0 else exchange(s, i, j, k, np.int64(backwards == 1), np.int64(backwards == 2))
    if change < s.table[BEST, 0]:
        s.table[BEST, 0] = change
        found[0], found[1], found[2], found[3] = i, j, k, backwards


@compile_function
def _segment_insertions(s: State, found: IntArray, p: int, q: int) -> None:
    """Weigh the moves of a segment that has the region at p at one end, to either side of the region at q."""
    size = s.travel.shape[0]
    for length in range(1, s.flags[SEGMENT] + 1):
        for side in range(2):  # the region at the left end of the segment, or at the right one
            i = p if side == 0 else p - length + 1
            j = i + length - 1
            if i < 0 or j >= size or i <= q <= j:
                continue
            for after in range(
                2
            ):  # in front of q, or behind it: the two must touch, so the segment may have to be reversed
                flip = (after == 1) != (side == 0)
                if flip and not s.flags[SYMMETRIC]:
                    continue
                if q > j and q + after - 1 > j:
                    _consider(s, found, i, j + 1, q + after - 1, 1 if flip else 0)
                elif q < i and q + after < i:
                    _consider(s, found, q + after, i, j, 2 if flip else 0)


@compile_function
def _or_3opt(s: State, found: IntArray, p: int, q: int) -> None:
    """Weigh the exchanges of two segments of any length that bring the region at q right behind the one at p."""
    size = s.travel.shape[0]
    if p < q - 1:
        before = s.route[ORDER, q - 1]
        for x in range(s.near.shape[1] + 1):
            k = s.route[PLACE, s.near[before, x]] - 1 if x < s.near.shape[1] else size - 1
            if k >= q:
                _consider(s, found, p + 1, q, k, np.int64(0))
    elif q < p:
        beside = s.route[ORDER, q - 1] if q > 0 else s.route[ORDER, min(p + 1, size - 1)]
        for x in range(s.near.shape[1]):
            j = s.route[PLACE, s.near[beside, x]] + (0 if q > 0 else 1)
            if q < j <= p:
                _consider(s, found, q, j, p, np.int64(0))


@compile_function
def _end_moves(s: State, found: IntArray, p: int) -> None:
    """Weigh the moves that change which region is first or last."""
    size = s.travel.shape[0]
    symmetric = s.flags[SYMMETRIC] != 0
    if symmetric:
        for side in range(4):
            i = 0 if side < 2 else p + side - 2
            k = p - side if side < 2 else size - 1
            if i < k:
                _consider(s, found, np.int64(i), np.int64(-1), k, np.int64(0))
    if p > 0:
        _consider(s, found, np.int64(0), p, size - 1, np.int64(0))
    for length in range(1, s.flags[SEGMENT] + 1):
        for flip in range(2 if symmetric else 1):
            if p + length < size:
                _consider(s, found, p, p + length, size - 1, flip)
            if p > 0 and p + length <= size:
                _consider(s, found, np.int64(0), p, p + length - 1, 2 * flip)


@compile_function
def _best_at(s: State, a: int, found: IntArray) -> bool:
    """Find the best move that gives region a a new neighbour, or the order a new end; whether there is one."""
    s.table[BEST, 0] = -s.table[BEST, 1]
    p = s.route[PLACE, a]
    for n in range(s.near.shape[1]):
        q = s.route[PLACE, s.near[a, n]]
        low, high = min(p, q), max(p, q)
        if s.flags[SYMMETRIC] and high - low > 1:
            for shift in range(2):  # the segment between them reversed, with one of the two
                _consider(s, found, low + 1 - shift, np.int64(-1), high - shift, np.int64(0))
        _segment_insertions(s, found, p, q)
        _or_3opt(s, found, p, q)
    _end_moves(s, found, p)
    return s.table[BEST, 0] < -s.table[BEST, 1]


@compile_function
def descend(s: State) -> None:
    """Improve until no queued region has a better move."""
    size = s.travel.shape[0]
    found = np.zeros(4, dtype=np.int64)
    while s.route[QUEUE, size + 1] > 0:
        a = s.route[QUEUE, s.route[QUEUE, size]]
        s.route[QUEUE, size] = (s.route[QUEUE, size] + 1) % size
        s.route[QUEUE, size + 1] -= 1
        s.route[QUEUED, a] = 0
        while _best_at(s, a, found):
            apply(s, found[0], found[1], found[2], np.int64(found[3] == 1), np.int64(found[3] == 2))


@compile_function
def _forbidden(s: State, i: int, j: int, k: int) -> bool:
    """Whether an exchange of order[i … j-1] and order[j … k] would begin or end the order where it must not."""
    return exchange(s, i, j, k, np.int64(0), np.int64(0)) == np.inf


@compile_function
def iterate(s: State, best: IntArray, values: FloatArray, draws: FloatArray, window: int) -> None:
    """Perturb and improve, one row of random numbers each time; keep the best order in `best`.

    `values` holds the value of the current order and of the best one. A worse order is accepted where it is
    within the last number of the row of the current one.
    """
    size = s.travel.shape[0]
    current = s.route[ORDER, :size].copy()
    for row in range(draws.shape[0]):
        wide = min(window, size)
        start = int(draws[row, 0] * (size - wide + 1))
        i = int(draws[row, 1] * (wide + 1))
        j = int(draws[row, 2] * (wide + 1))
        k = int(draws[row, 3] * (wide + 1))
        if i > j:
            i, j = j, i
        if j > k:
            j, k = k, j
        if i > j:
            i, j = j, i
        if i == j or j == k or _forbidden(s, start + i, start + j, start + k - 1):
            continue
        apply(s, start + i, start + j, start + k - 1, np.int64(0), np.int64(0))
        descend(s)
        now = value(s)
        if now <= values[0] + draws[row, 4]:
            values[0] = now
            current[:] = s.route[ORDER, :size]
            if now < values[1] - s.table[BEST, 1]:
                values[1] = now
                best[:] = current
        else:
            s.route[ORDER, :size] = current
            refresh(s)
