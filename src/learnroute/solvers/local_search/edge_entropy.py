"""How many tours of a population have each edge, in a hash table, and the entropy of that (Nagata and Kobayashi 2013).

Imported only when a search runs, because importing it wakes the compiler.
"""

from __future__ import annotations

from learnroute.kernels import kernel
from learnroute.model.validation import IntArray
from learnroute.solvers.local_search.ab_cycles import NEW, OLD, VERTEX, Scratch

KEY, COUNT = 0, 1  # rows of `edges`, a hash table; behind its last place, how many edges are in it


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
