"""AB-cycles (Nagata and Kobayashi 2013): cycles in which edges of two tours take turns; the tables of a crossover.

Imported only when a search runs, because importing it wakes the compiler.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray

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
