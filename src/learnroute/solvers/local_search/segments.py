"""A k-opt move as segments: the tour that it makes, writing it, and taking it back.

Imported only when a search runs, because importing it wakes the compiler.

A move removes k edges, which leaves k segments, and joins their ends anew. One segment is not moved, the others
are written anew beside it; what stood there goes into the journal, and is copied back if the move is undone. Without
scores the longest segment is the unmoved one. With scores the tour is *anchored*: it is the segment at its two ends, so
that the positions of the array are those of the order.
"""

from __future__ import annotations

from learnroute.kernels import kernel
from learnroute.solvers.local_search.score_sums import mend_sums
from learnroute.solvers.local_search.tour import (
    ANCHORED,
    BEGIN,
    BY_RANK,
    CUT,
    DEEPEST,
    FIRST,
    JOINED,
    JOURNAL_SIZE,
    LENGTH,
    ORDER,
    POSITION,
    RANK,
    REVERSED,
    RIGHT,
    SCORED,
    SIZE,
    Tour,
)


@kernel
def trace(tour: Tour, k: int) -> int:
    """Follow the tour that a move makes, segment by segment, from the unmoved one.

    Returns how many positions are written anew, 0 if this is no tour; counts[FIRST] says from where on.
    """
    move, counts = tour.move, tour.counts
    size = counts[SIZE]
    for i in range(k):
        place = i
        while place > 0 and move[CUT, move[BY_RANK, place - 1]] > move[CUT, i]:
            move[BY_RANK, place] = move[BY_RANK, place - 1]
            place -= 1
        move[BY_RANK, place] = i
    unmoved, longest = k - 1, 0
    for rank in range(k):
        edge = move[BY_RANK, rank]
        move[RANK, edge] = rank
        move[LENGTH, DEEPEST + rank] = move[CUT, move[BY_RANK, rank + 1 if rank + 1 < k else 0]] - move[CUT, edge]
        if rank == k - 1:
            move[LENGTH, DEEPEST + rank] += size
        if not counts[ANCHORED] and move[LENGTH, DEEPEST + rank] > longest:
            unmoved, longest = rank, move[LENGTH, DEEPEST + rank]
    for i in range(k):  # ends are numbered along the tour: two for each edge, the left one first
        j = 2 * i - 1 if i > 0 else 2 * k - 1
        one = 2 * move[RANK, i] + move[RIGHT, 2 * i]
        two = 2 * move[RANK, j >> 1] + move[RIGHT, j]
        move[JOINED, one], move[JOINED, two] = two, one
    first = unmoved + 1 if unmoved + 1 < k else 0
    end, many = 2 * first, 0
    while True:
        end = move[JOINED, end]
        rank = end >> 1
        backwards = 1 - (end & 1)
        segment = rank if backwards == 0 else (rank - 1 if rank > 0 else k - 1)  # the one behind the edge of this rank
        if segment == unmoved:
            break
        move[BEGIN, many] = move[CUT, move[BY_RANK, segment]] + 1
        move[LENGTH, many] = move[LENGTH, DEEPEST + segment]
        move[REVERSED, many] = backwards
        many += 1
        end = 2 * segment + 1 if backwards else 2 * (segment + 1 if segment + 1 < k else 0)
    if many < k - 1:
        return 0
    counts[FIRST] = move[CUT, move[BY_RANK, first]] + 1
    return size - move[LENGTH, DEEPEST + unmoved]


@kernel
def rearrange(tour: Tour, k: int) -> None:
    """Write the segments behind the unmoved one, and note down what stood there."""
    route, journal, counts, move = tour.route, tour.journal, tour.counts, tour.move
    size, at = counts[SIZE], counts[JOURNAL_SIZE]
    first = counts[FIRST] if counts[FIRST] < size else 0
    many = 0
    for i in range(k - 1):
        many += move[LENGTH, i]
    x = first
    for i in range(at, at + many):
        journal[i] = route[ORDER, x]
        x = x + 1 if x + 1 < size else 0
    x = first
    for i in range(k - 1):
        begin = move[BEGIN, i] - first
        if begin < 0:
            begin += size
        elif begin >= size:
            begin -= size
        low = at + begin
        high = low + move[LENGTH, i] - 1
        for y in range(move[LENGTH, i]):
            vertex = journal[high - y] if move[REVERSED, i] else journal[low + y]
            route[ORDER, x] = vertex
            route[POSITION, vertex] = x
            x = x + 1 if x + 1 < size else 0
    journal[at + many], journal[at + many + 1] = first, many
    counts[JOURNAL_SIZE] = at + many + 2
    if counts[SCORED]:
        mend_sums(tour, first, first + many)


@kernel
def undo(tour: Tour) -> None:
    """Copy everything back that was noted down."""
    route, journal, counts = tour.route, tour.journal, tour.counts
    size = counts[SIZE]
    while counts[JOURNAL_SIZE] > 0:
        at = counts[JOURNAL_SIZE] - 2
        first, many = journal[at], journal[at + 1]
        x = first
        for i in range(at - many, at):
            route[ORDER, x] = journal[i]
            route[POSITION, journal[i]] = x
            x = x + 1 if x + 1 < size else 0
        counts[JOURNAL_SIZE] = at - many
        if counts[SCORED]:
            mend_sums(tour, first, first + many)
