"""An order as Lin–Kernighan moves see it: an array with positions, running sums, a queue, and a journal for undoing.

Imported only when a search runs, because importing it wakes the compiler.

An order is a cycle: its regions and a dummy vertex, numbered T, that stands before the first and behind the last one.
What it costs to begin or to end somewhere are the costs of its two edges. (A cyclic order needs no dummy.) Edge p is
the one in front of position p: its *left* end is the region before it, its *right* end the one at p; edges 0 and T have
the dummy as their outer end.

Where only the last position counts, its score is in the edge to the dummy, and that is all. Where weights fall by the
factor r from each position to the one before, two tables of running sums give the score part of a move in O(1). A sum
forgets what is REACH positions away, and so do the tables: they are mended around a move, not along the order.

Everything that a perturbation changes is undone by reversing the same segments again, so its cost does not grow with T.
"""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from learnroute.kernels import compile_function
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.kd_tree import NEAR

LEFT, RIGHT = 0, 1
# Kinds of moves. With A and B the segments between the edges removed, in this order, and ' for reversed:
# -, A' (2-opt), BA (or-3opt), B'A, BA', A'B' (the other pure 3-opt moves)
NONE, REVERSE, EXCHANGE, EXCHANGE_REVERSE_B, EXCHANGE_REVERSE_A, REVERSE_BOTH = 0, 1, 2, 3, 4, 5
# Places in State.numbers
BEST, LEAST, SPARE, HEAVIEST, RATE, UNIT, ROUND, CREDIT, BEST_STEP, SWING = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
# Places in State.counts
CYCLIC, NEIGHBOURS_3, SCORED, REACH, LONGEST, QUEUE_FIRST, QUEUE_SIZE, JOURNAL_SIZE = 0, 1, 2, 3, 4, 5, 6, 7
DEPTH, LONGEST_STEP, END_POSITIONS, SPAN = 8, 9, 10, 11
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
    end_candidates: IntArray  # 2 x few: endpoint candidates, the cheapest regions to begin and to end at
    scores: FloatArray
    sums: FloatArray
    queue: IntArray  # 2 x (T + 1): vertices to look at, in a circle, and whether one is in it (don't-look bits)
    journal: IntArray  # 2 x many: segments reversed since the last accepted order
    numbers: FloatArray
    counts: IntArray


def _moves() -> IntArray:
    """Return the kind of move by the ranks of three edges along the order and by their ends t1, t3, t5."""
    table = np.zeros((3, 3, 3, 2, 2, 2), dtype=np.int64)
    known = {(3, 2): EXCHANGE, (3, 1): EXCHANGE_REVERSE_A, (4, 2): EXCHANGE_REVERSE_B, (2, 3): REVERSE_BOTH}
    for ranks in permutations(range(3)):
        for sides in product((LEFT, RIGHT), repeat=3):
            t1, t3, t5 = (2 * rank + side for rank, side in zip(ranks, sides, strict=True))
            t2, t4, t6 = t1 ^ 1, t3 ^ 1, t5 ^ 1
            joined = {t2: t3, t3: t2, t4: t5, t5: t4, t6: t1, t1: t6}
            table[(*ranks, *sides)] = known.get((joined[0], joined[5]), NONE)
    return table


MOVES = _moves()


@compile_function
def travel_cost(places: FloatArray, travel: FloatArray, numbers: FloatArray, a: int, b: int) -> float:
    """Return the cost of going between two regions."""
    if len(places) == 0:
        return travel[a, b]
    x = places[a, 0] - places[b, 0]
    y = places[a, 1] - places[b, 1]
    z = places[a, 2] - places[b, 2]
    straight = math.sqrt(x * x + y * y + z * z)
    if numbers[ROUND] == 0.0:
        return numbers[UNIT] * straight
    if straight < NEAR:
        return numbers[UNIT] * 2.0 * math.asin(0.5 * straight)
    x = places[a, 0] + places[b, 0]
    y = places[a, 1] + places[b, 1]
    z = places[a, 2] + places[b, 2]
    return numbers[UNIT] * (math.pi - 2.0 * math.asin(0.5 * math.sqrt(x * x + y * y + z * z)))


@compile_function
def edge_cost(
    places: FloatArray, travel: FloatArray, numbers: FloatArray, ends: FloatArray, a: int, side: int, b: int, other: int
) -> float:
    """Return the cost of an edge; that of the dummy depends on its side."""
    if a == ends.shape[1]:
        return ends[side, b]
    if b == ends.shape[1]:
        return ends[other, a]
    return travel_cost(places, travel, numbers, a, b)


@compile_function
def end_of(order: IntArray, cyclic: int, edge: int, side: int) -> int:
    """Return the vertex at one end of an edge."""
    size = len(order)
    if side == LEFT:
        return order[edge - 1] if edge > 0 else size
    if edge < size:
        return order[edge]
    return order[0] if cyclic else size


@compile_function
def edge_at(position: IntArray, cyclic: int, a: int, side: int) -> int:
    """Return the edge that has a vertex at a given end."""
    size = len(position)
    if a == size:
        return 0 if side == LEFT else size
    p = position[a]
    if side == LEFT:
        return p + 1
    return size if p == 0 and cyclic else p


@compile_function
def score_part(
    sums: FloatArray, counts: IntArray, numbers: FloatArray, size: int, first: int, i: int, j: int, backwards: bool
) -> float:
    """Return the score part of order[i … j-1] if it stood at the positions from `first` on."""
    many = j - i
    behind = size - first - many  # positions behind it
    if many <= 0 or behind > counts[REACH]:
        return 0.0
    if backwards:
        total = sums[BACKWARD, i] - sums[POWER, many] * sums[BACKWARD, j]
    else:
        total = sums[FORWARD, j] - sums[POWER, many] * sums[FORWARD, i]
    return numbers[HEAVIEST] * sums[POWER, behind] * total


@compile_function
def score_change(
    sums: FloatArray, counts: IntArray, numbers: FloatArray, size: int, kind: int, p: int, q: int, r: int
) -> float:
    """Return what the score part changes by in a move that removes the edges p < q < r (q = r for 2-opt)."""
    if counts[SCORED] == 0 or r + counts[REACH] < size:
        return 0.0
    now = score_part(sums, counts, numbers, size, p, p, r, False)
    if kind == REVERSE:
        return score_part(sums, counts, numbers, size, p, p, r, True) - now
    if kind == REVERSE_BOTH:
        after = score_part(sums, counts, numbers, size, p, p, q, True)
        return after + score_part(sums, counts, numbers, size, q, q, r, True) - now
    after = score_part(sums, counts, numbers, size, p, q, r, kind == EXCHANGE_REVERSE_B)
    return after + score_part(sums, counts, numbers, size, p + r - q, p, q, kind == EXCHANGE_REVERSE_A) - now


@compile_function
def score_potential(sums: FloatArray, counts: IntArray, numbers: FloatArray, size: int, r: int) -> float:
    """Return what scores can become less by, at most, if no region behind position r moves."""
    if counts[SCORED] == 0 or r + counts[REACH] < size:
        return 0.0
    return min(numbers[SPARE], numbers[SWING] * sums[POWER, size - r])


@compile_function
def mend_sums(
    order: IntArray, scores: FloatArray, sums: FloatArray, rate: float, counts: IntArray, i: int, j: int
) -> None:
    """Bring the running sums up to date after a change of order[i … j-1], as far as they reach and are ever needed.

    They are needed where moves begin that come near enough to the end for scores to count.
    """
    size, reach = len(order), counts[REACH]
    first = size - reach - counts[LONGEST] - counts[SPAN]
    if j + reach < first:
        return
    for k in range(max(i, first - reach), min(size, j + reach)):
        sums[FORWARD, k + 1] = rate * sums[FORWARD, k] + scores[order[k]]
    for k in range(j - 1, max(-1, i - reach - 1, first - 1), -1):
        sums[BACKWARD, k] = rate * sums[BACKWARD, k + 1] + scores[order[k]]


@compile_function
def reverse(order: IntArray, position: IntArray, i: int, j: int) -> None:
    """Reverse order[i … j-1]."""
    j -= 1
    while i < j:
        a, b = order[i], order[j]
        order[i], order[j] = b, a
        position[b], position[a] = i, j
        i += 1
        j -= 1


@compile_function
def reverse_and_note(order: IntArray, position: IntArray, journal: IntArray, counts: IntArray, i: int, j: int) -> None:
    """Reverse order[i … j-1] and note it down."""
    reverse(order, position, i, j)
    at = counts[JOURNAL_SIZE]
    journal[0, at], journal[1, at] = i, j
    counts[JOURNAL_SIZE] = at + 1


@compile_function
def enqueue(queue: IntArray, counts: IntArray, a: int) -> None:
    """Queue a vertex for another look."""
    if not queue[1, a]:
        queue[1, a] = 1
        queue[0, (counts[QUEUE_FIRST] + counts[QUEUE_SIZE]) % queue.shape[1]] = a
        counts[QUEUE_SIZE] += 1


@compile_function
def apply_move(s: State, kind: int, p: int, q: int, r: int) -> None:
    """Make a move that removes the edges p < q < r (q = r for 2-opt)."""
    order, position, journal, counts = s.order, s.position, s.journal, s.counts
    middle = p + r - q
    if kind == REVERSE_BOTH:
        reverse_and_note(order, position, journal, counts, p, q)
        reverse_and_note(order, position, journal, counts, q, r)
    else:
        reverse_and_note(order, position, journal, counts, p, r)
        if kind in (EXCHANGE, EXCHANGE_REVERSE_A):
            reverse_and_note(order, position, journal, counts, p, middle)
        if kind in (EXCHANGE, EXCHANGE_REVERSE_B):
            reverse_and_note(order, position, journal, counts, middle, r)
    if counts[SCORED]:
        mend_sums(order, s.scores, s.sums, s.numbers[RATE], counts, p, r)


@compile_function
def undo(s: State, first: int) -> None:
    """Reverse everything again that was noted down, from a place in the journal on."""
    order, position, journal, counts = s.order, s.position, s.journal, s.counts
    for k in range(counts[JOURNAL_SIZE] - 1, first - 1, -1):
        reverse(order, position, journal[0, k], journal[1, k])
    if counts[SCORED]:
        for k in range(counts[JOURNAL_SIZE] - 1, first - 1, -1):
            mend_sums(order, s.scores, s.sums, s.numbers[RATE], counts, journal[0, k], journal[1, k])
    counts[JOURNAL_SIZE] = first
