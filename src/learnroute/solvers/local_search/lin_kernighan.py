"""Lin–Kernighan moves for symmetric travel (Lin and Kernighan 1973), and the double bridge as a perturbation.

Imported only when a search runs, because importing it wakes the compiler.

A move is found as a chain of gains: remove a first edge t1-t2, add t2-t3 to a region of the candidate list of t2,
remove an edge t3-t4, add t4-t5, remove t5-t6, as long as what was removed costs more than what was added; the edge
back to t1 closes the cycle: a 2-opt or pure 3-opt move. Which segments are exchanged or reversed follows from the order
of the edges and from the ends that are joined: `MOVES`. Where no move pays, the best step is made all the same and the
chain goes on from t6, up to DEPTH moves; what does not pay in the end is undone. Vertices whose edges changed are
queued for another look (don't-look bits, Bentley 1992).

The double bridge (Martin, Otto and Felten 1991) is made of short neighbouring segments (Johnson and McGeoch 1997).
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import compile_function
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.local_search.lk_state import (
    BEST,
    BEST_STEP,
    CREDIT,
    CYCLIC,
    DEPTH,
    END_POSITIONS,
    JOURNAL_SIZE,
    LEAST,
    LEFT,
    LONGEST,
    LONGEST_STEP,
    MOVES,
    NEIGHBOURS_3,
    NONE,
    QUEUE_FIRST,
    QUEUE_SIZE,
    RATE,
    REACH,
    REVERSE,
    RIGHT,
    SCORED,
    State,
    apply_move,
    edge_at,
    edge_cost,
    end_of,
    enqueue,
    mend_sums,
    reverse,
    reverse_and_note,
    score_change,
    score_part,
    score_potential,
    travel_cost,
    undo,
)


@compile_function
def _third_edge(
    s: State, a: int, side1: int, x: int, side3: int, y: int, t4: int, taken: float, spare: float, found: IntArray
) -> None:
    """Look for a third edge to remove, where the edges x and y are and `taken` is what has been gained so far."""
    order, position, near, apart, ends, end_candidates = s.order, s.position, s.near, s.apart, s.ends, s.end_candidates
    places, travel, numbers, counts, sums = s.places, s.travel, s.numbers, s.counts, s.sums
    size, cyclic, few = len(order), counts[CYCLIC], end_candidates.shape[1]
    few_near = min(near.shape[1], counts[NEIGHBOURS_3])
    least, best, widest = numbers[LEAST], numbers[BEST], numbers[BEST_STEP]
    side4 = 1 - side3
    m = -1
    while m < few_near + 1:
        m += 1
        other = -1
        if t4 == size:
            if m >= few:
                break
            t5 = end_candidates[side4, m]
            second = ends[side4, t5]
        elif m < few_near:
            t5 = near[t4, m]
            second = apart[t4, m]
        else:
            if cyclic:
                break
            t5 = size
            other = m - few_near
            second = ends[other, t4]
        if taken - second + spare <= least:
            if t4 != size and m < few_near:
                m = few_near - 1
            continue
        for side5 in range(2):
            if other >= 0 and side5 != other:
                continue
            w = edge_at(position, cyclic, t5, side5)
            if w in (x, y):
                continue
            rank_x = (1 if x > y else 0) + (1 if x > w else 0)
            rank_y = (1 if y > x else 0) + (1 if y > w else 0)
            kind = MOVES[rank_x, rank_y, 3 - rank_x - rank_y, side1, side3, side5]
            if kind == NONE:
                continue
            side6 = 1 - side5
            t6 = end_of(order, cyclic, w, side6)
            gain = taken - second + edge_cost(places, travel, numbers, ends, t5, side5, t6, side6)
            p, r = min(x, y, w), max(x, y, w)
            potential = score_potential(sums, counts, numbers, size, r)
            if gain + potential <= best and gain <= widest:
                continue
            if r - p > counts[LONGEST]:
                continue
            q = x + y + w - p - r
            if gain > widest and r - p <= counts[LONGEST_STEP]:
                ahead = gain - score_change(sums, counts, numbers, size, kind, p, q, r)
                if ahead > widest:
                    widest = ahead
                    found[4], found[5], found[6], found[7], found[8] = kind, p, q, r, t6
            gain -= edge_cost(places, travel, numbers, ends, t6, side6, a, side1)
            if gain + potential <= best:
                continue
            gain -= score_change(sums, counts, numbers, size, kind, p, q, r)
            if gain > best:
                best = gain
                found[0], found[1], found[2], found[3] = kind, p, q, r
    numbers[BEST], numbers[BEST_STEP] = best, widest


@compile_function
def best_at(s: State, a: int, side: int, carried: float, found: IntArray) -> bool:
    """Find the best move that takes away an edge of vertex a; whether there is one.

    `side` is the end of the edge that a is at, -1 for both. In a longer chain, that edge was added by the move
    before, and what has been gained without it is `carried`. Besides the best move (found[0 … 3]), the best one to go
    on from is kept (found[4 … 8], with the region that would become the neighbour of a).
    """
    order, position, near, apart, ends, end_candidates = s.order, s.position, s.near, s.apart, s.ends, s.end_candidates
    places, travel, numbers, counts, sums = s.places, s.travel, s.numbers, s.counts, s.sums
    size = len(order)
    cyclic, many, few = counts[CYCLIC], near.shape[1], end_candidates.shape[1]
    least = numbers[LEAST]
    numbers[BEST] = numbers[BEST_STEP] = least
    for side1 in range(2):
        if side >= 0 and side1 != side:
            continue
        side2 = 1 - side1
        x = edge_at(position, cyclic, a, side1)
        t2 = end_of(order, cyclic, x, side2)
        edge = carried if side >= 0 else edge_cost(places, travel, numbers, ends, a, side1, t2, side2)
        tail = counts[SCORED] != 0 and x + counts[REACH] >= size
        spare = score_potential(sums, counts, numbers, size, x)
        if x + counts[END_POSITIONS] < size:
            spare = min(spare, numbers[CREDIT])
        n = -1
        while n < many + 1 + (few if tail else 0):
            n += 1
            only = -1
            if t2 == size:
                if n >= few:
                    break
                t3 = end_candidates[side2, n]
                added = ends[side2, t3]
            elif n < many:
                t3 = near[t2, n]
                added = apart[t2, n]
            elif n < many + 2:
                if cyclic:
                    continue
                t3 = size
                only = n - many
                added = ends[only, t2]
                if added == 0.0:  # free for everyone: enough to look at it as the last edge of a move
                    continue
            else:  # near the end, regions of small score are worth a look wherever they are
                t3 = end_candidates[RIGHT, n - many - 2]
                if t3 == t2:
                    continue
                added = travel_cost(places, travel, numbers, t2, t3)
            if edge - added + spare <= least:
                if t2 != size and n < many:
                    n = many - 1  # no nearer ones are left, but the dummy is
                continue
            for side3 in range(2):
                if only >= 0 and side3 != only:
                    continue
                y = edge_at(position, cyclic, t3, side3)
                if y == x:
                    continue
                side4 = 1 - side3
                t4 = end_of(order, cyclic, y, side4)
                taken = edge - added + edge_cost(places, travel, numbers, ends, t3, side3, t4, side4)
                if side2 == side3:
                    gain = taken - edge_cost(places, travel, numbers, ends, t4, side4, a, side1)
                    p, r = min(x, y), max(x, y)
                    if (
                        gain + score_potential(sums, counts, numbers, size, r) > numbers[BEST]
                        and r - p <= counts[LONGEST]
                    ):
                        gain -= score_change(sums, counts, numbers, size, np.int64(REVERSE), p, r, r)
                        if gain > numbers[BEST]:
                            numbers[BEST] = gain
                            found[0], found[1], found[2], found[3] = REVERSE, p, r, r
                _third_edge(s, a, side1, x, side3, y, t4, taken, spare, found)
    return numbers[BEST] > least


@compile_function
def _improve(s: State, a: int, found: IntArray, touched: IntArray) -> float:
    """Make the best move at a vertex, or a chain of moves that pays in the end; return the gain, 0 if there is none."""
    order, position, counts, cyclic = s.order, s.position, s.counts, s.counts[CYCLIC]
    mark = counts[JOURNAL_SIZE]
    side, carried, many = np.int64(-1), 0.0, 0
    for depth in range(counts[DEPTH]):
        pays = best_at(s, a, side, carried, found)
        if not pays and (depth == counts[DEPTH] - 1 or s.numbers[BEST_STEP] <= s.numbers[LEAST]):
            break
        at = 0 if pays else 4
        kind, p, q, r = found[at], found[at + 1], found[at + 2], found[at + 3]
        for n in range(3):
            edge = p if n == 0 else q if n == 1 else r
            touched[many] = end_of(order, cyclic, edge, np.int64(LEFT))
            touched[many + 1] = end_of(order, cyclic, edge, np.int64(RIGHT))
            many += 2
        apply_move(s, kind, p, q, r)
        if pays:
            for n in range(many):
                enqueue(s.queue, counts, touched[n])
            return s.numbers[BEST]
        carried = s.numbers[BEST_STEP]
        after = end_of(order, cyclic, edge_at(position, cyclic, a, np.int64(LEFT)), np.int64(RIGHT))
        side = np.int64(LEFT if after == found[8] else RIGHT)
    if counts[JOURNAL_SIZE] > mark:
        undo(s, mark)
    return 0.0


@compile_function
def descend(s: State, most: int) -> float:
    """Improve until no queued vertex has a better move, or `most` of them were looked at; return the gain."""
    found = np.zeros(9, dtype=np.int64)
    counts, queue = s.counts, s.queue
    touched = np.empty(6 * counts[DEPTH], dtype=np.int64)
    many = queue.shape[1]
    total = 0.0
    looks = 0
    while counts[QUEUE_SIZE] > 0 and looks < most:
        a = queue[0, counts[QUEUE_FIRST]]
        counts[QUEUE_FIRST] = (counts[QUEUE_FIRST] + 1) % many
        counts[QUEUE_SIZE] -= 1
        queue[1, a] = 0
        if counts[CYCLIC] and a == many - 1:
            continue
        looks += 1
        while counts[JOURNAL_SIZE] + 3 * counts[DEPTH] <= s.journal.shape[1]:
            gain = _improve(s, a, found, touched)
            if gain == 0.0:
                break
            total += gain
    return total


@compile_function
def double_bridge(s: State, p: int, q: int, r: int, t: int) -> float:
    """Rearrange the segments A, B, C between the edges p, q, r, t as C, B, A: no 3-opt move takes that back.

    Returns what it costs; inf if it is not allowed, and then it is not done.
    """
    order, ends, cyclic, sums = s.order, s.ends, s.counts[CYCLIC], s.sums
    places, travel, numbers, counts, size = s.places, s.travel, s.numbers, s.counts, len(s.order)
    before, behind = end_of(order, cyclic, p, np.int64(LEFT)), end_of(order, cyclic, t, np.int64(RIGHT))
    worse = edge_cost(places, travel, numbers, ends, before, LEFT, order[r], RIGHT)
    worse += edge_cost(places, travel, numbers, ends, order[q - 1], LEFT, behind, RIGHT)
    if worse == np.inf:
        return worse
    worse += travel_cost(places, travel, numbers, order[t - 1], order[q])
    worse += travel_cost(places, travel, numbers, order[r - 1], order[p])
    worse -= edge_cost(places, travel, numbers, ends, before, LEFT, order[p], RIGHT)
    worse -= edge_cost(places, travel, numbers, ends, order[t - 1], LEFT, behind, RIGHT)
    worse -= travel_cost(places, travel, numbers, order[q - 1], order[q])
    worse -= travel_cost(places, travel, numbers, order[r - 1], order[r])
    if counts[SCORED]:
        worse += score_part(sums, counts, numbers, size, p, r, t, False)
        worse += score_part(sums, counts, numbers, size, p + t - r, q, r, False)
        worse += score_part(sums, counts, numbers, size, p + t - q, p, q, False)
        worse -= score_part(sums, counts, numbers, size, p, p, t, False)
    for n in range(4):
        edge = p if n == 0 else q if n == 1 else r if n == 2 else t
        enqueue(s.queue, counts, end_of(order, cyclic, edge, np.int64(LEFT)))
        enqueue(s.queue, counts, end_of(order, cyclic, edge, np.int64(RIGHT)))
    reverse_and_note(order, s.position, s.journal, counts, p, t)
    reverse_and_note(order, s.position, s.journal, counts, p, p + t - r)
    reverse_and_note(order, s.position, s.journal, counts, p + t - r, p + t - q)
    reverse_and_note(order, s.position, s.journal, counts, p + t - q, t)
    if counts[SCORED]:
        mend_sums(order, s.scores, sums, numbers[RATE], counts, p, t)
    return worse


@compile_function
def iterate(s: State, best: IntArray, values: FloatArray, draws: FloatArray, wide: int) -> None:
    """Perturb and improve, one row of random numbers each time; undo what made the order worse.

    Rows hold where (a share of the positions), three lengths, and how much worse an accepted order may be. `values`
    holds the value of the current order and of the best one; `best` holds the latter where it is not the current one.
    """
    order, position, journal, counts, queue = s.order, s.position, s.journal, s.counts, s.queue
    size = len(order)
    for row in range(draws.shape[0]):
        counts[JOURNAL_SIZE] = 0
        low = 1 if counts[CYCLIC] else 0
        p = low + int(draws[row, 0] * (size - low - 2))
        q = p + 1 + int(draws[row, 1] * min(wide, size - p - 2))
        r = q + 1 + int(draws[row, 2] * min(wide, size - q - 1))
        t = r + 1 + int(draws[row, 3] * min(wide, size - r))
        worse = double_bridge(s, p, q, r, t)
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
                reverse(order, position, journal[0, k], journal[1, k])
            best[:] = order
            for k in range(counts[JOURNAL_SIZE]):
                reverse(order, position, journal[0, k], journal[1, k])
        values[0] = now
        if now < values[1] - s.numbers[LEAST]:
            values[1] = now
