"""Minimum-weight perfect matching on a sparse graph with integer weights: Edmonds' blossom algorithm (1965).

Imported only when a matching is too large to enumerate subsets, because importing it wakes the compiler.

The LP. Minimise the weight of the chosen edges so that every vertex, and every odd set of vertices, is
left by at least one of them. Its dual gives each vertex v a value and each odd set B a value (`lift`) >= 0, such that
no edge costs less than the values of the sets it leaves add up to. `dual` of v holds the sum of the values of all sets
that contain v, so that an edge between different outermost sets has the reduced cost
`slack = weight - dual[u] - dual[v] >= 0`. A perfect matching of tight edges (slack 0) that leaves each lifted set once
is optimal.

One search. From an unmatched root, grow an alternating tree of tight edges in which nodes (vertices, or odd sets shrunk
to one node: *blossoms*) are outer and inner in turn. As the search's clock runs, outer nodes' duals rise and inner
nodes' fall at unit speed, so every event has a known time: an edge from an outer node reaches a free node (grow, or
augment if that one is unmatched), an edge between two outer nodes closes an odd cycle (shrink), an inner blossom's lift
reaches 0 (expand). Duals are brought up to date only when a node's label changes. Weights must be even: then all duals
have one parity along the tight edges of a tree, and every event time is a whole number.

A blossom remembers only through which of its vertices it is matched; the matching inside is settled when it is
expanded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import IntArray
from learnroute.solvers.matching.event_queue import NEVER, EventQueue, Records, clear, event_queue, next_event, schedule

FREE, OUTER, INNER = 0, 1, 2

ARC = np.dtype([("source", "i8"), ("target", "i8"), ("weight", "i8")])
COUNTS = np.dtype([("size", "i8"), ("stamp", "i8"), ("spare", "i8"), ("touched", "i8")])
# Rows of State.node. Records of these would be 144 bytes long, and walks along chains of vertices read one number each:
# with 20,000 vertices that takes 2.5 times as long.
DUAL = 0  # of a vertex: sum over the sets that contain it
LIFT = 1  # of a blossom
LABEL = 2  # of an outermost node
SINCE = 3  # time up to which an outermost node's duals are settled
TOP = 4  # outermost node around a vertex
PARENT = 5  # enclosing blossom, or -1
FOLLOWER, LEAVE, ARRIVE = 6, 7, 8  # next node on the parent's cycle, and the edge to it: vertex here, vertex there
HEAD, TAIL, LINK = 9, 10, 11  # a node's vertices are a chain HEAD … TAIL through LINK
MATCH_IN, MATCH_OUT = 12, 13  # the node's matching edge: vertex inside that it leaves from, or -1, and vertex outside
TREE_IN, TREE_OUT = 14, 15  # the same for an inner node's edge towards the root
MARK = 16  # scratch for finding common ancestors
IS_TOUCHED = 17  # whether it was labelled in this search


class State(NamedTuple):
    """Everything the kernels work on."""

    start: IntArray  # arcs start[v] … start[v+1]-1 leave vertex v
    arc: Records  # each edge once in each direction, sorted by source
    node: IntArray  # named rows; vertices 0 … n-1, then blossoms
    events: EventQueue  # items are arcs, then blossoms
    spare: IntArray  # unused blossom numbers, a stack
    touched: IntArray  # nodes labelled in this search
    counts: Records  # one: vertices, the last mark, entries of `spare` and `touched`


def new_state(size: int, source: IntArray, target: IntArray, weight: IntArray) -> State:
    """Prepare a search on arcs sorted by source (each edge once in each direction)."""
    most = size + size // 2 + 1
    arc, counts = np.zeros(len(source), ARC), np.zeros(1, COUNTS)
    arc["source"], arc["target"], arc["weight"] = source, target, weight
    node = np.zeros((18, most), dtype=np.int64)
    node[[PARENT, FOLLOWER, LEAVE, ARRIVE, LINK, MATCH_IN, MATCH_OUT, TREE_IN, TREE_OUT]] = -1
    node[[TOP, HEAD, TAIL]] = np.arange(most)
    counts["size"], counts["spare"] = size, most - size
    start = np.searchsorted(source, np.arange(size + 1)).astype(np.int64)
    spare = np.arange(most - 1, size - 1, -1, dtype=np.int64)
    return State(start, arc, node, event_queue(len(source) + most), spare, np.zeros(most, dtype=np.int64), counts)


@kernel
def greedy_start(s: State) -> None:
    """Feasible duals, and a matching along tight edges."""
    size = s.counts[0].size
    for v in range(size):
        least = NEVER
        for arc in range(s.start[v], s.start[v + 1]):
            least = min(least, s.arc[arc].weight)
        s.node[DUAL, v] = least // 2
    for v in range(size):
        if s.node[MATCH_IN, v] >= 0:
            continue
        least = NEVER
        for arc in range(s.start[v], s.start[v + 1]):
            least = min(least, s.arc[arc].weight - s.node[DUAL, v] - s.node[DUAL, s.arc[arc].target])
        s.node[DUAL, v] += least
        for arc in range(s.start[v], s.start[v + 1]):
            x = s.arc[arc].target
            if s.node[MATCH_IN, x] < 0 and s.arc[arc].weight == s.node[DUAL, v] + s.node[DUAL, x]:
                s.node[MATCH_IN, v] = s.node[MATCH_OUT, x] = v
                s.node[MATCH_OUT, v] = s.node[MATCH_IN, x] = x
                break


@kernel
def _dual_now(s: State, v: int) -> int:
    node = s.node[TOP, v]
    if s.node[LABEL, node] == OUTER:
        return s.node[DUAL, v] + s.events.clock[0].now - s.node[SINCE, node]
    if s.node[LABEL, node] == INNER:
        return s.node[DUAL, v] - s.events.clock[0].now + s.node[SINCE, node]
    return s.node[DUAL, v]


@kernel
def _settle(s: State, node: int) -> None:
    """Bring an outermost node's duals up to date."""
    moved = s.events.clock[0].now - s.node[SINCE, node]
    s.node[SINCE, node] = s.events.clock[0].now
    if moved == 0 or s.node[LABEL, node] == FREE:
        return
    if s.node[LABEL, node] == INNER:
        moved = -moved
    s.node[LIFT, node] += moved
    v = s.node[HEAD, node]
    while True:
        s.node[DUAL, v] += moved
        if v == s.node[TAIL, node]:
            break
        v = s.node[LINK, v]


@kernel
def _set_label(s: State, node: int, label: int) -> None:
    s.node[LABEL, node], s.node[SINCE, node] = label, s.events.clock[0].now
    if s.node[IS_TOUCHED, node] == 0:
        s.node[IS_TOUCHED, node] = 1
        s.touched[s.counts[0].touched] = node
        s.counts[0].touched += 1
    if label == INNER and node >= s.counts[0].size:
        schedule(s.events, s.events.clock[0].now + s.node[LIFT, node], len(s.arc) + node - s.counts[0].size)


@kernel
def _scan_outer(s: State, node: int) -> None:
    """Schedule the edges of all vertices of a node that has just become outer (or is now inside an outer one)."""
    now, limit = s.events.clock[0].now, s.events.clock[0].limit
    v = s.node[HEAD, node]
    own = s.node[TOP, v]
    while True:
        reach = _dual_now(s, v) - now
        for arc in range(s.start[v], s.start[v + 1]):
            x = s.arc[arc].target
            other = s.node[TOP, x]
            label = s.node[LABEL, other]
            if other == own or label == INNER:
                continue
            time = s.arc[arc].weight - reach - s.node[DUAL, x]  # when the edge is tight if x stands still
            if label == OUTER:
                time -= now - s.node[SINCE, other]
                time = now + (time - now) // 2
            elif s.node[MATCH_IN, other] < 0 and time < limit:
                limit = time  # the search ends no later than by reaching this node
                s.events.clock[0].limit = limit
            if time <= limit:
                schedule(s.events, time, arc)
        if v == s.node[TAIL, node]:
            break
        v = s.node[LINK, v]


@kernel
def _scan_free(s: State, node: int) -> None:
    """Schedule the edges from outer vertices to a node that has just become free."""
    now = s.events.clock[0].now
    v = s.node[HEAD, node]
    while True:
        for arc in range(s.start[v], s.start[v + 1]):
            x = s.arc[arc].target
            if s.node[LABEL, s.node[TOP, x]] == OUTER:
                schedule(s.events, now + s.arc[arc].weight - _dual_now(s, v) - _dual_now(s, x), arc)
        if v == s.node[TAIL, node]:
            break
        v = s.node[LINK, v]


@kernel
def _grow(s: State, inside: int, outside: int) -> None:
    """Hang a matched free node, and its mate, on the tree."""
    inner = s.node[TOP, outside]
    s.node[TREE_IN, inner], s.node[TREE_OUT, inner] = outside, inside
    _set_label(s, inner, INNER)
    outer = s.node[TOP, s.node[MATCH_OUT, inner]]
    _set_label(s, outer, OUTER)
    _scan_outer(s, outer)


@kernel
def _outer_above(s: State, outer: int) -> int:
    """Return the next outer node towards the root, or -1 at the root."""
    if s.node[MATCH_IN, outer] < 0:
        return -1
    return s.node[TOP, s.node[TREE_OUT, s.node[TOP, s.node[MATCH_OUT, outer]]]]


@kernel
def _common_ancestor(s: State, a: int, b: int) -> int:
    """Return the nearest common ancestor of two outer nodes of a tree."""
    stamp = s.counts[0].stamp = s.counts[0].stamp + 1
    while True:
        if a >= 0:
            if s.node[MARK, a] == stamp:
                return a
            s.node[MARK, a] = stamp
            a = _outer_above(s, a)
        a, b = b, a


@kernel
def _follow(s: State, node: int, follower: int, leave: int, arrive: int) -> None:
    """Put one node after another on a cycle, joined by the edge leave-arrive."""
    s.node[FOLLOWER, node], s.node[LEAVE, node], s.node[ARRIVE, node] = follower, leave, arrive


@kernel
def _shrink(s: State, u: int, v: int) -> None:
    """Make one outer node of the odd cycle that the edge u-v closes."""
    a, b = s.node[TOP, u], s.node[TOP, v]
    base = _common_ancestor(s, a, b)
    s.counts[0].spare -= 1
    blossom = s.spare[s.counts[0].spare]
    # one side, from a up to the base: the cycle runs downwards, so edges are reversed
    node, follower, leave, arrive = a, b, u, v
    while True:
        _follow(s, node, follower, leave, arrive)
        if node == base:
            break
        inner = s.node[TOP, s.node[MATCH_OUT, node]]
        _follow(s, inner, node, s.node[MATCH_OUT, node], s.node[MATCH_IN, node])
        follower, leave, arrive = inner, s.node[TREE_OUT, inner], s.node[TREE_IN, inner]
        node = s.node[TOP, s.node[TREE_OUT, inner]]
    # the other side, from b up to the base
    node = b
    while node != base:
        inner = s.node[TOP, s.node[MATCH_OUT, node]]
        _follow(s, node, inner, s.node[MATCH_IN, node], s.node[MATCH_OUT, node])
        above = s.node[TOP, s.node[TREE_OUT, inner]]
        _follow(s, inner, above, s.node[TREE_IN, inner], s.node[TREE_OUT, inner])
        node = above
    # adopt the nodes of the cycle and join their chains of vertices
    s.node[HEAD, blossom] = s.node[HEAD, base]
    end = s.node[TAIL, base]
    former_inner = np.empty(s.counts[0].touched, dtype=np.int64)
    count = 0
    node = base
    while True:
        _settle(s, node)
        if s.node[LABEL, node] == INNER:
            former_inner[count] = node
            count += 1
        s.node[LABEL, node] = FREE
        s.node[PARENT, node] = blossom
        if node != base:
            s.node[LINK, end] = s.node[HEAD, node]
            end = s.node[TAIL, node]
        node = s.node[FOLLOWER, node]
        if node == base:
            break
    s.node[TAIL, blossom] = end
    _set_top(s, blossom)
    s.node[PARENT, blossom], s.node[LIFT, blossom] = -1, 0
    s.node[MATCH_IN, blossom], s.node[MATCH_OUT, blossom] = s.node[MATCH_IN, base], s.node[MATCH_OUT, base]
    _set_label(s, blossom, OUTER)
    for i in range(count):
        _scan_outer(s, former_inner[i])


@kernel
def _set_top(s: State, node: int) -> None:
    """Make a node the outermost one of its vertices."""
    v = s.node[HEAD, node]
    while True:
        s.node[TOP, v] = node
        if v == s.node[TAIL, node]:
            break
        v = s.node[LINK, v]


@kernel
def _child_with(s: State, blossom: int, v: int) -> int:
    """Return the node on a blossom's cycle that contains a vertex."""
    node = v
    while s.node[PARENT, node] != blossom:
        node = s.node[PARENT, node]
    return node


@kernel
def _settle_inside(s: State, blossom: int) -> int:
    """Match the nodes of a blossom's cycle, given how the blossom is matched; return the one matched outwards."""
    outward = _child_with(s, blossom, s.node[MATCH_IN, blossom])
    for row in (MATCH_IN, MATCH_OUT):
        s.node[row, outward] = s.node[row, blossom]
    node = s.node[FOLLOWER, outward]
    while node != outward:
        mate = s.node[FOLLOWER, node]
        s.node[MATCH_IN, node] = s.node[MATCH_OUT, mate] = s.node[LEAVE, node]
        s.node[MATCH_OUT, node] = s.node[MATCH_IN, mate] = s.node[ARRIVE, node]
        node = s.node[FOLLOWER, mate]
    return outward


@kernel
def _expand(s: State, blossom: int) -> None:
    """Replace an inner blossom by the nodes of its cycle: half of the cycle stays in the tree."""
    _settle(s, blossom)
    entry = _child_with(s, blossom, s.node[TREE_IN, blossom])
    outward = _settle_inside(s, blossom)
    node, count, position = outward, 0, 0
    cycle = np.empty(s.counts[0].touched + s.counts[0].size, dtype=np.int64)
    while True:  # the cycle as a list that starts at the node matched outwards
        if node == entry:
            position = count
        cycle[count] = node
        count += 1
        s.node[PARENT, node] = -1
        s.node[LABEL, node] = FREE
        _set_top(s, node)
        node = s.node[FOLLOWER, node]
        if node == outward:
            break
    s.node[LABEL, blossom] = FREE
    s.spare[s.counts[0].spare] = blossom
    s.counts[0].spare += 1
    # the way of even length from the entry to the outward node: inner, outer, …, inner
    s.node[TREE_IN, entry], s.node[TREE_OUT, entry] = s.node[TREE_IN, blossom], s.node[TREE_OUT, blossom]
    backwards = position % 2 == 0
    length = position if backwards else count - position
    for step in range(1, length, 2):
        if backwards:
            outer, inner = cycle[position - step], cycle[position - step - 1]
            s.node[TREE_IN, inner], s.node[TREE_OUT, inner] = s.node[LEAVE, inner], s.node[ARRIVE, inner]
        else:
            outer, inner = cycle[position + step], cycle[(position + step + 1) % count]
            s.node[TREE_IN, inner], s.node[TREE_OUT, inner] = s.node[ARRIVE, outer], s.node[LEAVE, outer]
        _set_label(s, outer, OUTER)
    for step in range(0, length + 1, 2):
        _set_label(s, cycle[position - step] if backwards else cycle[(position + step) % count], INNER)
    for i in range(count):
        if s.node[LABEL, cycle[i]] == OUTER:
            _scan_outer(s, cycle[i])
        elif s.node[LABEL, cycle[i]] == FREE:
            _scan_free(s, cycle[i])


@kernel
def _augment(s: State, inside: int, outside: int) -> None:
    """Match an unmatched free node to the tree, turning the matching over along the way to the root."""
    node = s.node[TOP, outside]
    s.node[MATCH_IN, node], s.node[MATCH_OUT, node] = outside, inside
    while True:
        outer = s.node[TOP, inside]
        inner_vertex = s.node[MATCH_OUT, outer]
        s.node[MATCH_IN, outer], s.node[MATCH_OUT, outer] = inside, outside
        if inner_vertex < 0:
            return
        inner = s.node[TOP, inner_vertex]
        inside, outside = s.node[TREE_OUT, inner], s.node[TREE_IN, inner]
        s.node[MATCH_IN, inner], s.node[MATCH_OUT, inner] = outside, inside


@kernel
def _end_search(s: State) -> None:
    for i in range(s.counts[0].touched):
        node = s.touched[i]
        s.node[IS_TOUCHED, node] = 0
        if s.node[LABEL, node] != FREE:
            _settle(s, node)
            s.node[LABEL, node] = FREE
    clear(s.events)
    s.counts[0].touched = 0


@kernel
def _search(s: State, root: int) -> bool:
    """Match one unmatched outermost node; False if there is no perfect matching."""
    _set_label(s, root, OUTER)
    _scan_outer(s, root)
    found = False
    while not found:
        item = next_event(s.events)
        if item < 0:
            break
        if item >= len(s.arc):
            blossom = item - len(s.arc) + s.counts[0].size
            if s.node[LABEL, blossom] == INNER:  # else it was swallowed by an outer blossom meanwhile
                _expand(s, blossom)
            continue
        u, v = s.arc[item].source, s.arc[item].target
        if s.node[LABEL, s.node[TOP, u]] != OUTER:
            u, v = v, u
        a, b = s.node[TOP, u], s.node[TOP, v]
        if a == b or s.node[LABEL, a] != OUTER or s.node[LABEL, b] == INNER:
            continue
        slack = s.arc[item].weight - _dual_now(s, u) - _dual_now(s, v)
        if slack != 0:  # labels changed since it was scheduled
            later = slack // 2 if s.node[LABEL, b] == OUTER else slack
            schedule(s.events, s.events.clock[0].now + later, item)
        elif s.node[LABEL, b] == OUTER:
            _shrink(s, u, v)
        elif s.node[MATCH_IN, b] >= 0:
            _grow(s, u, v)
        else:
            _augment(s, u, v)
            found = True
    _end_search(s)
    return found


@kernel
def match_next(s: State, first: int, most: int) -> int:
    """Search from up to `most` unmatched vertices, `first` on; return where to go on (n: done; -1: impossible)."""
    done = 0
    for v in range(first, s.counts[0].size):
        root = s.node[TOP, v]
        if s.node[MATCH_IN, root] >= 0:
            continue
        if done == most:
            return v
        if not _search(s, root):
            return -1
        done += 1
    return s.counts[0].size


@kernel
def unfold(s: State) -> IntArray:
    """Settle the matching inside all blossoms, outermost first; return each vertex's mate (-1 if unmatched)."""
    for v in range(s.counts[0].size):
        while s.node[PARENT, v] >= 0:  # the outermost blossom around v gives way to the next one
            blossom = s.node[TOP, v]
            if s.node[MATCH_IN, blossom] < 0:
                break
            outward = _settle_inside(s, blossom)
            node = outward
            while True:
                s.node[PARENT, node] = -1
                _set_top(s, node)
                node = s.node[FOLLOWER, node]
                if node == outward:
                    break
    return s.node[MATCH_OUT, : s.counts[0].size].copy()
