"""A tour as k-opt moves see it: an array with positions, what edges cost, running sums of scores, a journal.

Imported only when a search runs, because importing it wakes the compiler.

Every order is a cycle of vertices with symmetric costs. Unless orders are cycles themselves, two vertices stand between
the last region and the first: `end` and `start`, joined by an edge that no move may remove (a *fixed* edge). What it
costs to begin or to end somewhere is the cost of an edge to them. Where travel differs by direction, a region is two
vertices, one to enter and one to leave by, joined by a fixed edge (Jonker and Volgenant 1983).

A move removes k edges, which leaves k segments, and joins their ends anew. One segment is not moved, the others
are written anew beside it; what stood there goes into the journal, and is copied back if the move is undone. Without
scores the longest segment is the unmoved one. With scores the tour is *anchored*: it is the segment at its two ends, so
that the positions of the array are those of the order.

Where only the last position counts, its score is in the edge to `end`. Where weights fall by the factor r from each
position to the one before, two tables of running sums price a segment anywhere in O(1); where each region has a factor
of its own, r^length becomes a product of factors, which sums of logarithms give (and a count of zeros). Other weights
are added up one by one. Scores that are more than REACH positions away from the end count for nothing.

Tables have named rows, because each further array costs compile time.
"""

from __future__ import annotations

import math

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.kd_tree import NEAR

# Rows of `route`: vertices by position, positions by vertex, the queue of vertices to look at and whether one is in it
# (don't-look bits), and the other end of a vertex's fixed edge, or -1
ORDER, POSITION, QUEUE, QUEUED, FIXED = 0, 1, 2, 3, 4
# Rows of `move`: the ends t1, t2, … of the edges removed; whether they are right ends; the positions of the edges' left
# ends; the next candidate to look at; edges by rank along the tour; the end that each end is joined to; edges' ranks
VERTEX, RIGHT, CUT, NEXT, BY_RANK, JOINED, RANK = 0, 1, 2, 3, 4, 5, 6
# ... and the segments behind the unmoved one: where they begin, how long they are, whether they are reversed
BEGIN, LENGTH, REVERSED = 7, 8, 9
DEEPEST = 10  # edges that a move may remove
# Places in `counts`
SIZE, REGIONS, KIND, ANCHORED, SCORED, REACH, LONGEST, DEPTH, END_POSITIONS, WALK = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
QUEUE_FIRST, QUEUE_SIZE, JOURNAL_SIZE, FIRST, SEGMENT, BRIDGE, BREADTH = 10, 11, 12, 13, 14, 15, 16
ENDS = 30  # `start` and `end`, the last two vertices, where there are any: candidates of all regions
FAR_BRIDGE = 31
MATRIX, DIRECTED, PLANE, GLOBE = 0, 1, 2, 3  # kinds of `ways`
NOT_SCORED, GEOMETRIC, FACTORED, GENERAL = 0, 1, 2, 3  # kinds of scores
# Places in `numbers`
LEAST, UNIT, HEAVIEST, SPARE, SWING, CREDIT, FOUND, MOST, FLOOR, GAIN = 0, 1, 2, 3, 4, 5, 6, 7, 8, 16
# Rows of `sums`: of the first k vertices, the last at full weight; of those from k on, vertex k at full weight; r^k;
# logarithms of the first k factors, and the zeros among them; scores and factors of vertices; weights of positions
FORWARD, BACKWARD, POWER, LOGS, ZEROS, SCORE, FACTOR, WEIGHT = 0, 1, 2, 3, 4, 5, 6, 7
ROUNDING = 1e-15  # what is smaller than this share of a sum may be rounding


@kernel
def _other_cost(ways: FloatArray, counts: IntArray, numbers: FloatArray, a: int, b: int) -> float:
    """Return the cost of an edge of `start` or `end`, on the globe, or where travel differs by direction."""
    kind, count = counts[KIND], counts[REGIONS]
    if a > b:
        a, b = b, a
    if kind == DIRECTED:  # entered: 0 … T-1, left: T … 2T-1, start: 2T, end: 2T+1
        if a < count:
            return ways[b - count, a] if b >= count else np.inf
        return ways[a - count, count] if b == 2 * count + 1 else np.inf
    if b >= count:
        return ways[a, 3 + b - count] if a < count else 0.0
    x = ways[a, 0] - ways[b, 0]
    y = ways[a, 1] - ways[b, 1]
    z = ways[a, 2] - ways[b, 2]
    straight = math.sqrt(x * x + y * y + z * z)
    if straight < NEAR:
        return numbers[UNIT] * 2.0 * math.asin(0.5 * straight)
    x = ways[a, 0] + ways[b, 0]  # the chord to the antipode, where an arcsine loses no digits
    y = ways[a, 1] + ways[b, 1]
    z = ways[a, 2] + ways[b, 2]
    return numbers[UNIT] * (math.pi - 2.0 * math.asin(0.5 * math.sqrt(x * x + y * y + z * z)))


@kernel
def cost(ways: FloatArray, counts: IntArray, numbers: FloatArray, a: int, b: int) -> float:
    """Return the cost of the edge between two vertices."""
    if counts[KIND] == MATRIX:
        return ways[a, b]
    if counts[KIND] == PLANE and a < counts[REGIONS] and b < counts[REGIONS]:
        x, y = ways[a, 0] - ways[b, 0], ways[a, 1] - ways[b, 1]
        return numbers[UNIT] * math.sqrt(x * x + y * y)
    return _other_cost(ways, counts, numbers, a, b)


@kernel
def trace(move: IntArray, counts: IntArray, k: int) -> int:
    """Follow the tour that a move makes, segment by segment, from the unmoved one.

    Returns how many positions are written anew, 0 if this is no tour; counts[FIRST] says from where on.
    """
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
def rearrange(route: IntArray, journal: IntArray, sums: FloatArray, counts: IntArray, move: IntArray, k: int) -> None:
    """Write the segments behind the unmoved one, and note down what stood there."""
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
        mend_sums(route, sums, counts, first, first + many)


@kernel
def undo(route: IntArray, journal: IntArray, sums: FloatArray, counts: IntArray) -> None:
    """Copy everything back that was noted down."""
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
            mend_sums(route, sums, counts, first, first + many)


@kernel
def mend_geometric_sums(route: IntArray, sums: FloatArray, counts: IntArray, i: int, j: int) -> None:
    """Do the same where weights fall by one factor: what changes outside of these positions falls by its powers.

    Sums of `start`, `end` and what is beyond them are not used.
    """
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
def mend_sums(route: IntArray, sums: FloatArray, counts: IntArray, i: int, j: int) -> None:
    """Bring the running sums up to date after a change at the positions i … j-1, until it is forgotten."""
    size = counts[SIZE]
    if counts[SCORED] == GENERAL:
        return
    if counts[SCORED] == GEOMETRIC:
        mend_geometric_sums(route, sums, counts, i, j)
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
def retention(sums: FloatArray, counts: IntArray, i: int, j: int) -> float:
    """Return the product of the factors at the positions i … j-1."""
    if counts[SCORED] == GEOMETRIC:
        return sums[POWER, j - i]
    if sums[ZEROS, j] > sums[ZEROS, i]:
        return 0.0
    return math.exp(sums[LOGS, j] - sums[LOGS, i])


@kernel
def score_change(
    route: IntArray, sums: FloatArray, counts: IntArray, numbers: FloatArray, move: IntArray, k: int, many: int
) -> float:
    """Return what the score part changes by if the segments behind the unmoved one are written at counts[FIRST]."""
    size, first = counts[SIZE], counts[FIRST]
    last = first + many
    if last + counts[REACH] < size:
        return 0.0
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
        kept = retention(sums, counts, low, high)
        if move[REVERSED, i]:
            total = kept * total + (sums[BACKWARD, low] - kept * sums[BACKWARD, high])
        else:
            total = kept * total + (sums[FORWARD, high] - kept * sums[FORWARD, low])
    behind = size if size == counts[REGIONS] or size == 2 * counts[REGIONS] else size - 1  # `end` forgets nothing
    return numbers[HEAVIEST] * retention(sums, counts, last, behind) * (total - sums[FORWARD, last])
