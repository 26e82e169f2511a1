"""Sequential k-opt moves on candidate lists (Lin and Kernighan 1973; Helsgaun 2000), and the double bridge.

Imported only when a search runs, because importing it wakes the compiler.

A move is found edge by edge (Lin–Kernighan moves): remove t1-t2, add t2-t3 to a vertex of the candidate list of t2,
remove an edge t3-t4 at either side of t3, add t4-t5, and so on, as long as what was removed costs more than what was
added (the gain criterion), in depth-first order. The edge back to t1 closes the tour. The first move that gains and
makes one tour is made: 2-opt (Croes 1958), 3-opt with Or-opt (Or 1976), or more edges. Where scores count, a move may
lose as much on the way as they may bring in. Vertices whose edges changed are queued for another look (don't-look bits,
Bentley 1992).

The perturbation is a double bridge (Martin, Otto and Felten 1991) of edges that are near each other: its vertices are
found by short random walks through the candidate lists (Applegate, Cook and Rohe 2003), or a few positions further
along the tour (Johnson and McGeoch 1997).
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.local_search.score_sums import score_change
from learnroute.solvers.local_search.segments import rearrange, trace, undo
from learnroute.solvers.local_search.tour import (
    ANCHORED,
    BEGIN,
    BREADTH,
    BRIDGE,
    CREDIT,
    CUT,
    DEPTH,
    END_POSITIONS,
    ENDS,
    FAR_BRIDGE,
    FIRST,
    FIXED,
    FOUND,
    GAIN,
    JOURNAL_SIZE,
    KIND,
    LEAST,
    LENGTH,
    LONGEST,
    MATRIX,
    MERGING,
    MOST,
    NEXT,
    ORDER,
    POSITION,
    POWER,
    QUEUE,
    QUEUE_FIRST,
    QUEUE_SIZE,
    QUEUED,
    REACH,
    REGIONS,
    REVERSED,
    RIGHT,
    ROUNDING,
    SCORED,
    SEGMENT,
    SIZE,
    SPARE,
    SWING,
    VERTEX,
    WALK,
    Tour,
    cost,
)

MOST_MOVES = 1000  # at one look at a vertex; it is queued again after each, so that nothing is lost


@kernel
def potential(tour: Tour, last: int) -> float:
    """Return what scores can become less by, at most, if nothing behind this position moves."""
    counts, numbers = tour.counts, tour.numbers
    if counts[SCORED] == 0 or last + 1 + counts[REACH] < counts[SIZE]:
        return 0.0
    return min(numbers[SPARE], numbers[SWING] * tour.sums[POWER, max(0, counts[SIZE] - 2 - last)])


@kernel
def find_move(tour: Tour, t1: int) -> int:
    """Find a move that gains and removes an edge of vertex t1; return how many edges it removes, 0 if there is none.

    The gain is left in numbers[FOUND].
    """
    route, near, apart, ways = tour.route, tour.near, tour.apart, tour.ways
    numbers, counts, move = tour.numbers, tour.counts, tour.move
    size, depth = counts[SIZE], counts[DEPTH]
    order, position = route[ORDER], route[POSITION]
    scored, matrix, fixed = counts[SCORED] != 0, counts[KIND] == MATRIX, size != counts[REGIONS]
    least = numbers[LEAST]
    ends = counts[ENDS]
    for side in range(2):  # t1 is the left end of the first edge, or the right one
        p = position[t1]
        q = (p + 1 if p + 1 < size else 0) if side == 0 else (p - 1 if p > 0 else size - 1)
        t2 = order[q]
        if route[FIXED, t1] == t2:
            continue
        move[VERTEX, 0], move[VERTEX, 1] = t1, t2
        move[RIGHT, 0], move[RIGHT, 1] = side, 1 - side
        move[CUT, 0] = p if side == 0 else q
        spare, tail = 0.0, False
        if scored:
            spare = potential(tour, move[CUT, 0])
            tail = move[CUT, 0] + counts[END_POSITIONS] >= size
            if not tail:
                spare = min(spare, numbers[CREDIT])
            tail = tail and fixed
        k = 1  # edges removed so far
        move[NEXT, 1] = 0
        numbers[GAIN + 1] = cost(tour, t1, t2)
        while k > 0:
            x = move[NEXT, k]
            move[NEXT, k] = x + 1
            n, other = x >> 1, x & 1
            a = move[VERTEX, 2 * k - 1]
            extra = n - counts[BREADTH + k]
            if extra < 0:
                b, added = near[a, n], apart[a, n]
            elif k == 1 and extra < ends:  # the order may begin or end anywhere
                b = size - 1 - extra
                added = cost(tour, a, b) if a < size - 2 else np.inf
            elif k == 1 and tail and extra - ends < near.shape[1]:  # regions of small score, wherever they are
                b = near[size - 1, extra - ends]
                added = cost(tour, a, b)
            else:
                k -= 1
                continue
            if numbers[GAIN + k] - added + spare <= least:
                if extra >= 0:
                    continue
                if k == 1 and (tail or ends):
                    move[NEXT, 1] = 2 * counts[BREADTH + 1]
                else:
                    k -= 1  # candidates are sorted: no nearer one is left
                continue
            if b == a:
                continue
            p = position[b]
            after, before = p + 1 if p + 1 < size else 0, p - 1 if p > 0 else size - 1
            if order[after] == a or order[before] == a:
                move[NEXT, k] = 2 * n + 2
                continue
            cut, c = (p, order[after]) if other == 0 else (before, order[before])
            known = fixed and route[FIXED, b] == c
            for i in range(k):
                if move[CUT, i] == cut:
                    known = True
            if known:
                continue
            edge = ways[b, c] if matrix else cost(tour, b, c)
            gain = numbers[GAIN + k] - added + edge
            move[VERTEX, 2 * k], move[VERTEX, 2 * k + 1] = b, c
            move[RIGHT, 2 * k], move[RIGHT, 2 * k + 1] = other, 1 - other
            move[CUT, k] = cut
            if c != t1:
                closed = gain - (ways[t1, c] if matrix else cost(tour, c, t1))
                hope = 0.0
                if scored:
                    last = cut
                    for i in range(k):
                        last = max(last, move[CUT, i])
                    hope = potential(tour, last)
                if counts[MERGING] and near[c, 0] != t1 and near[c, 1] != t1:
                    closed = -np.inf
                if closed + hope > least:
                    many = trace(tour, k + 1)
                    if 0 < many <= counts[LONGEST]:
                        removed = 0.0
                        for i in range(k + 1):
                            removed += cost(tour, move[VERTEX, 2 * i], move[VERTEX, 2 * i + 1])
                        if scored:
                            closed -= score_change(tour, k + 1, many)
                        if closed > least + ROUNDING * removed:
                            numbers[FOUND] = closed
                            return k + 1
            if k + 1 < depth:
                k += 1
                numbers[GAIN + k] = gain
                move[NEXT, k] = 0
    return 0


@kernel
def enqueue(tour: Tour, vertex: int) -> None:
    """Queue a vertex for another look. The queue is circular."""
    route, counts = tour.route, tour.counts
    if not route[QUEUED, vertex]:
        route[QUEUED, vertex] = 1
        place = counts[QUEUE_FIRST] + counts[QUEUE_SIZE]
        route[QUEUE, place if place < counts[SIZE] else place - counts[SIZE]] = vertex
        counts[QUEUE_SIZE] += 1


@kernel
def descend(tour: Tour, most: int, noted: int) -> float:
    """Improve until no queued vertex has a move, or `most` of them were looked at; return the gain.

    Where it is not to be `noted`, what was changed cannot be undone.
    """
    route, counts = tour.route, tour.counts
    total = 0.0
    looks = 0
    while counts[QUEUE_SIZE] > 0 and looks < most:
        looks += 1
        vertex = route[QUEUE, counts[QUEUE_FIRST]]
        counts[QUEUE_FIRST] = counts[QUEUE_FIRST] + 1 if counts[QUEUE_FIRST] + 1 < counts[SIZE] else 0
        counts[QUEUE_SIZE] -= 1
        route[QUEUED, vertex] = 0
        moves = 0
        while moves < MOST_MOVES and counts[JOURNAL_SIZE] + counts[LONGEST] + 2 <= len(tour.journal):
            moves += 1
            k = find_move(tour, vertex)
            if k == 0:
                break
            total += tour.numbers[FOUND]
            if not noted:
                counts[JOURNAL_SIZE] = 0
            rearrange(tour, k)
            for i in range(2 * k):
                enqueue(tour, tour.move[VERTEX, i])
    return total


@kernel
def double_bridge(tour: Tour, vertex: int, bits: int, chosen: IntArray) -> float:
    """Join four segments A, B, C, D anew as A, D, C, B: no sequential move of three edges takes that back.

    They are cut at a vertex and at three others, found along the tour or by random walks from it, as `bits` decide; or
    at four `chosen` ones, if the first of these is not negative.
    Returns what it costs; inf if it is not allowed, and then it is not done.
    """
    route, near, counts, move = tour.route, tour.near, tour.counts, tour.move
    size, few = counts[SIZE], min(near.shape[1], 5)
    along = (bits >> 20) & 1
    span = min(counts[SEGMENT], size // 4)
    ahead = 0
    for i in range(4):
        here = vertex
        if chosen[0] >= 0:
            here = chosen[i]
        elif i > 0 and along:
            bits = (bits * 1103515245 + 12345) & 0x7FFFFFFF
            ahead += 1 + (bits >> 8) % span
            p = route[POSITION, vertex] + ahead
            if p >= size:
                if counts[ANCHORED]:
                    return np.inf
                p -= size
            here = route[ORDER, p]
        elif i > 0:
            for _ in range(counts[WALK]):
                bits = (bits * 1103515245 + 12345) & 0x7FFFFFFF
                here = near[here, (bits >> 12) % few]
        p = route[POSITION, here]
        if route[FIXED, here] == route[ORDER, p + 1 if p + 1 < size else 0]:
            p = p - 1 if p > 0 else size - 1
        place = i
        while place > 0 and move[CUT, place - 1] > p:
            move[CUT, place] = move[CUT, place - 1]
            place -= 1
        move[CUT, place] = p
    unmoved, longest = 3, 0
    for i in range(4):
        move[LENGTH, 4 + i] = move[CUT, (i + 1) & 3] - move[CUT, i] + (size if i == 3 else 0)
        if i < 3 and move[LENGTH, 4 + i] == 0:
            return np.inf
        if not counts[ANCHORED] and move[LENGTH, 4 + i] > longest:
            unmoved, longest = i, move[LENGTH, 4 + i]
    if size - move[LENGTH, 4 + unmoved] > counts[BRIDGE if chosen[0] < 0 else FAR_BRIDGE]:
        return np.inf
    worse = 0.0
    for i in range(4):
        cut, behind = move[CUT, i], move[CUT, (i + 2) & 3]  # the segment before cut i is followed by the one before it
        left = route[ORDER, cut]
        worse += cost(tour, left, route[ORDER, behind + 1 if behind + 1 < size else 0])
        worse -= cost(tour, left, route[ORDER, cut + 1 if cut + 1 < size else 0])
    if not worse < tour.numbers[MOST]:
        return np.inf
    for i in range(3):
        segment = (unmoved + 3 - i) & 3
        move[BEGIN, i] = move[CUT, segment] + 1
        move[LENGTH, i], move[REVERSED, i] = move[LENGTH, 4 + segment], 0
    counts[FIRST] = move[CUT, (unmoved + 1) & 3] + 1
    if counts[SCORED]:
        worse += score_change(tour, 4, move[LENGTH, 0] + move[LENGTH, 1] + move[LENGTH, 2])
    for i in range(4):
        cut = move[CUT, i]
        enqueue(tour, route[ORDER, cut])
        enqueue(tour, route[ORDER, cut + 1 if cut + 1 < size else 0])
    rearrange(tour, 4)
    return worse


@kernel
def iterate(tour: Tour, looks: int, draws: FloatArray, chosen: IntArray) -> None:
    """Improve, with so many looks at queued vertices; then perturb and improve, one row of random numbers each time.

    Rows of `draws` hold where, how the walks go, and how much worse an accepted order may be: what is worse is undone.
    Rows of `chosen` say where to cut, if they are not negative.
    """
    route, counts = tour.route, tour.counts
    counts[JOURNAL_SIZE] = 0
    descend(tour, looks, 0)
    for row in range(draws.shape[0]):
        counts[JOURNAL_SIZE] = 0
        vertex = int(draws[row, 0] * counts[SIZE])
        bits = int(draws[row, 1] * 0x7FFFFFFF)
        worse = double_bridge(tour, vertex, bits, chosen[row])
        if worse == np.inf:
            continue
        worse -= descend(tour, 1 << 62, 1)
        if counts[QUEUE_SIZE] > 0 or worse > draws[row, 2]:
            while counts[QUEUE_SIZE] > 0:
                route[QUEUED, route[QUEUE, counts[QUEUE_FIRST]]] = 0
                counts[QUEUE_FIRST] = counts[QUEUE_FIRST] + 1 if counts[QUEUE_FIRST] + 1 < counts[SIZE] else 0
                counts[QUEUE_SIZE] -= 1
            undo(tour)


@kernel
def distances(tour: Tour, lists: IntArray, found: FloatArray) -> None:
    """Fill in the cost of the edge from each vertex to those of its list."""
    for a in range(lists.shape[0]):
        for n in range(lists.shape[1]):
            found[a, n] = cost(tour, a, lists[a, n])


@kernel
def renumber(travel: FloatArray, order: IntArray, ways: FloatArray) -> None:
    """Fill in what the ways between regions cost, numbered along an order."""
    for i in range(len(order)):
        for j in range(len(order)):
            ways[i, j] = travel[order[i], order[j]]
