"""Subtours that an AB-cycle leaves of a tour: found by segments between removed edges, joined by exchanging two edges.

Imported only when a search runs, because importing it wakes the compiler.
"""

from __future__ import annotations

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import IntArray
from learnroute.solvers.local_search.ab_cycles import (
    AFTER,
    BEFORE,
    CUTS,
    JOINS,
    LABEL,
    NEW,
    NUMBERS,
    OLD,
    PLACE,
    RANKS,
    ROW,
    TOTAL,
    VERTEX,
    Scratch,
)
from learnroute.solvers.local_search.tour import FIXED, SIZE, Tour, cost


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
    tour: IntArray, to: Tour, room: Scratch, many: int, k: int, subtours: int, least: float
) -> tuple[int, float]:
    """Join the smallest subtour to another by an exchange of two edges, until one tour is left.

    Returns how many changes there are now, and what it gains: -inf where it is given up, because no candidate leads out
    of a subtour, or because it would gain less than `least`.
    """
    table, fixed = room.table, to.route[FIXED]
    size, gain = to.counts[SIZE], 0.0
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
                    added = cost(to, a, b)
                    for side in range(4):
                        a2, b2 = table[BEFORE + (side & 1), a], table[BEFORE + (side >> 1), b]
                        if fixed[a] == a2 or fixed[b] == b2:
                            continue
                        removed = cost(to, a, a2) + cost(to, b, b2)
                        better = removed - added - cost(to, a2, b2)
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
