"""Labelling: the cheapest ng-routes through the layered network, by dynamic programming over labels.

Imported only when a proof is attempted, because importing it wakes the compiler.

An *ng-route* (Baldacci, Mingozzi and Roberti 2011) takes one region a position. It may return to a region unless
that one is in its *forbidden set*: arriving at w at position t, this keeps the regions in the ng-set N[t, w], and takes
in w. A *label* is a position, a region, a forbidden set, and a cost. Every order is an ng-route, so the cheapest
ng-route costs no more than the best order; Lagrangian multipliers and larger ng-sets make it cost nearly as much.
Without ng-sets it is a *q-route*; with all regions in all ng-sets, the ng-routes are the orders.

Everything runs in either direction: backward labels are the forward labels of the reversed network.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.exact.ng_route.network import ByteArray, Network
from learnroute.solvers.exact.ng_route.ng_sets import MaskArray
from learnroute.solvers.exact.subgradient import Ascent, advance

MOST_COMPARED = 100  # cheaper labels that a new one is compared with for dominance
LAYERS = 12  # all layers together hold at most so many times the labels allowed in one
LOOK_UP = 20  # units of work for a label that is looked up, beside 1 for an arc that is fixed to 0
FULL, LATE = -1, -2  # why labels are incomplete


class Labels(NamedTuple):
    """All labels that were kept, ordered by position, region and cost."""

    start: IntArray  # T·T + 1: labels of (position t, region v) are start[t·T + v] … start[t·T + v + 1] - 1
    mask: MaskArray  # labels x words: the forbidden set
    cost: FloatArray
    parent: IntArray


def no_labels(ng_sets: MaskArray) -> Labels:
    """Return no labels at all."""
    _, size, words = ng_sets.shape
    nothing = np.zeros(0, dtype=np.int64)
    return Labels(
        np.zeros(size * size + 1, dtype=np.int64), np.zeros((0, words), dtype=np.uint64), np.zeros(0), nothing
    )


@kernel
def q_route_costs(network: Network) -> FloatArray:
    """Return, for each position and region, the cost of the cheapest q-route up to it."""
    size = network.arc_costs.shape[0]
    costs = np.full((size, size), np.inf)
    costs[0] = network.node_costs[0]
    for t in range(size - 1):
        for i in range(size):
            here = costs[t, i]
            if here == np.inf:
                continue
            for j in range(size):
                if network.free[t, i, j]:
                    cost = here + network.arc_costs[i, j]
                    if cost < costs[t + 1, j]:
                        costs[t + 1, j] = cost
        for j in range(size):
            costs[t + 1, j] += network.node_costs[t + 1, j]
    return costs


@kernel
def cheapest_q_route(network: Network, costs: FloatArray) -> IntArray:
    """Trace the cheapest q-route back."""
    size = network.arc_costs.shape[0]
    route = np.empty(size, dtype=np.int64)
    for v in range(size - 1, -1, -1):
        if v == size - 1 or costs[size - 1, v] <= costs[size - 1, route[size - 1]]:
            route[size - 1] = v
    for t in range(size - 1, 0, -1):
        j = route[t]
        best = np.inf
        for i in range(size):
            if network.free[t - 1, i, j] and costs[t - 1, i] + network.arc_costs[i, j] < best:
                best = costs[t - 1, i] + network.arc_costs[i, j]
                route[t - 1] = i
    return route


@kernel
def fix_arcs(network: Network, forward: FloatArray, backward: FloatArray, limit: float) -> int:
    """Fix the arcs to 0 that no q-route cheaper than `limit` takes; return how many are left."""
    size = network.arc_costs.shape[0]
    left = 0
    for t in range(size - 1):
        for i in range(size):
            for j in range(size):
                if network.free[t, i, j]:
                    if forward[t, i] + network.arc_costs[i, j] + backward[size - 2 - t, j] >= limit:
                        network.free[t, i, j] = 0
                    else:
                        left += 1
    return left


@kernel
def ascend_q_routes(network: Network, ascent: Ascent, steps: int) -> None:
    """Take subgradient steps: a multiplier rises where a region is left out, and falls where it is visited twice."""
    size = network.arc_costs.shape[0]
    reduced = np.empty((size, size))
    for _ in range(steps):
        for t in range(size):
            for v in range(size):
                reduced[t, v] = network.node_costs[t, v] - ascent.multipliers[v]
        priced = Network(network.arc_costs, reduced, network.free)
        costs = q_route_costs(priced)
        route = cheapest_q_route(priced, costs)
        subgradient = np.ones(size)
        bound = costs[size - 1, route[size - 1]]
        for t in range(size):
            subgradient[route[t]] -= 1.0
            bound += ascent.multipliers[t]
        if not advance(ascent, subgradient, bound):
            return


@kernel
def _completes(fresh: MaskArray, other: Labels, cell: int, limit: float, work: IntArray) -> bool:
    """Whether a label of the other direction, cheaper than `limit`, has a disjoint forbidden set."""
    for y in range(other.start[cell], other.start[cell + 1]):
        work[0] -= 1
        if other.cost[y] >= limit:
            return False
        common = np.uint64(0)
        for x in range(len(fresh)):
            common |= fresh[x] & other.mask[y, x]
        if common == 0:
            return True
    return False


@kernel
def _slot(region: int, mask: MaskArray, slots: int) -> int:
    """Return where in a hash table of 2^k slots a label is looked for first."""
    mixed = np.uint64(region) * np.uint64(0x9E3779B97F4A7C15)
    for x in range(len(mask)):
        mixed = (mixed ^ mask[x]) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
    return np.int64(mixed & np.uint64(slots - 1))  # type: ignore[return-value]


@kernel
def label(
    network: Network,
    ng_sets: MaskArray,
    completion: FloatArray,
    other: Labels,
    limit: float,
    most: int,
    used: ByteArray,
    work: IntArray,
) -> Labels:
    """Extend all labels position by position, dropping those that no completion brings below `limit`.

    The completion bound of a label is the larger of two: `completion` (q-route costs of the reversed network), and the
    cheapest label of `other` (of the reversed network, or none) at the same position and region whose forbidden set
    shares none but the common region. Arcs taken are marked in `used`. Stops with incomplete labels where a layer
    would have more than `most`, or all of them LAYERS times that (start[-1] = FULL), or where the `work` allowed is
    used up (start[-1] = LATE).
    """
    size, words = network.arc_costs.shape[0], ng_sets.shape[2]
    bidirectional = len(other.cost) > 0
    room = 1024
    mask = np.zeros((room, words), dtype=np.uint64)
    value = np.empty(room)
    parent = np.full(room, -1, dtype=np.int64)
    last = np.empty(room, dtype=np.int64)
    start = np.zeros(size * size + 1, dtype=np.int64)
    slots = 1 << 12
    table = np.full(slots, -1, dtype=np.int64)
    fresh = np.zeros(words, dtype=np.uint64)
    one = np.uint64(1)
    low, end = 0, 0  # the layer being built is low … end-1
    for t in range(size):
        low = end
        table[:] = -1
        first, behind = (0, 1) if t == 0 else (start[(t - 1) * size], start[t * size])
        for s in range(first, behind):
            work[0] -= size
            if work[0] < 0:
                start[-1] = LATE
                return Labels(start, mask[:1], value[:1], parent[:1])
            v = last[s] if t > 0 else -1
            for w in range(size):
                at = network.node_costs[t, w]
                if t > 0:
                    if not network.free[t - 1, v, w] or (mask[s, w >> 6] >> np.uint64(w & 63)) & one:
                        continue
                    cost = value[s] + network.arc_costs[v, w] + at
                else:
                    cost = at
                if cost - at + completion[size - 1 - t, w] >= limit:
                    continue
                work[0] -= LOOK_UP
                for x in range(words):
                    fresh[x] = mask[s, x] & ng_sets[t, w, x] if t > 0 else np.uint64(0)
                if bidirectional and not _completes(
                    fresh, other, (size - 1 - t) * size + w, limit - (cost - at), work
                ):  # fmt: skip
                    continue
                fresh[w >> 6] |= one << np.uint64(w & 63)
                if t > 0:
                    used[t - 1, v, w] = 1
                slot = _slot(w, fresh, slots)
                while True:
                    y = table[slot]
                    if y < 0:
                        break
                    same = last[y] == w
                    for x in range(words):
                        same = same and mask[y, x] == fresh[x]
                    if same:
                        break
                    slot = (slot + 1) & (slots - 1)
                if y >= 0:
                    if cost < value[y]:
                        value[y] = cost
                        parent[y] = s
                    continue
                if end - low >= most or end >= LAYERS * most:
                    start[-1] = FULL
                    return Labels(start, mask[:1], value[:1], parent[:1])
                if end == room:
                    room *= 2
                    longer_mask, longer_value = np.empty((room, words), dtype=np.uint64), np.empty(room)
                    longer_parent, longer_last = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
                    longer_mask[:end], longer_value[:end] = mask, value
                    longer_parent[:end], longer_last[:end] = parent, last
                    mask, value, parent, last = longer_mask, longer_value, longer_parent, longer_last
                table[slot] = end
                mask[end] = fresh
                value[end], parent[end], last[end] = cost, s, w
                end += 1
                if 2 * (end - low) > slots:
                    slots *= 4
                    table = _hashed(mask, last, low, end, slots)
        end = _dominance(t, size, low, end, start, mask, value, parent, last)
    return Labels(start, mask[:end].copy(), value[:end].copy(), parent[:end].copy())


@kernel
def _hashed(mask: MaskArray, last: IntArray, low: int, end: int, slots: int) -> IntArray:
    """Return a hash table of the labels low … end-1."""
    table = np.full(slots, -1, dtype=np.int64)
    for y in range(low, end):
        slot = _slot(last[y], mask[y], slots)
        while table[slot] >= 0:
            slot = (slot + 1) & (slots - 1)
        table[slot] = y
    return table


@kernel
def _dominance(
    t: int,
    size: int,
    low: int,
    end: int,
    start: IntArray,
    mask: MaskArray,
    value: FloatArray,
    parent: IntArray,
    last: IntArray,
) -> int:
    """Sort a layer by region and cost, and drop each label that a cheaper one dominates: one that forbids less."""
    words = mask.shape[1]
    count = np.zeros(size + 1, dtype=np.int64)
    for s in range(low, end):
        count[last[s] + 1] += 1
    for v in range(size):
        count[v + 1] += count[v]
    by_region, spare = np.empty(end - low, dtype=np.int64), np.empty(end - low, dtype=np.int64)
    fill = count.copy()
    for s in range(low, end):
        by_region[fill[last[s]]] = s - low
        fill[last[s]] += 1
    old_mask, old_value, old_parent = mask[low:end].copy(), value[low:end].copy(), parent[low:end].copy()
    write = low
    for v in range(size):
        start[t * size + v] = write
        group = by_region[count[v] : count[v + 1]]
        _sort_by_cost(group, old_value, spare[: len(group)])
        begin = write
        for k in range(len(group)):
            s = group[k]
            dominated = False
            for y in range(begin, min(write, begin + MOST_COMPARED)):
                inside = True
                for x in range(words):
                    if mask[y, x] & ~old_mask[s, x]:
                        inside = False
                        break
                if inside:
                    dominated = True
                    break
            if dominated:
                continue
            for x in range(words):
                mask[write, x] = old_mask[s, x]
            value[write], parent[write], last[write] = old_value[s], old_parent[s], v
            write += 1
    start[(t + 1) * size] = write
    return write


@kernel
def _sort_by_cost(items: IntArray, costs: FloatArray, other: IntArray) -> None:
    """Sort items by cost, equal ones as they stand (merge sort from below); `other` is as long and gets overwritten."""
    count, width = len(items), 1
    while width < count:
        end = 0
        while end < count:
            low, middle = end, min(end + width, count)
            end = min(low + 2 * width, count)
            one, two = low, middle
            for place in range(low, end):
                if one < middle and (two >= end or costs[items[one]] <= costs[items[two]]):
                    other[place] = items[one]
                    one += 1
                else:
                    other[place] = items[two]
                    two += 1
        items[:] = other
        width *= 2


def cheapest_route(labels: Labels, size: int) -> tuple[float, IntArray]:
    """Return cost and course of the cheapest route of complete labels (inf where none is left)."""
    first, end = int(labels.start[(size - 1) * size]), int(labels.start[-1])
    if first == end:
        return np.inf, np.empty(0, dtype=np.int64)
    s = first + int(np.argmin(labels.cost[first:end]))
    cost = float(labels.cost[s])
    route = np.empty(size, dtype=np.int64)
    for t in range(size - 1, -1, -1):
        route[t] = np.searchsorted(labels.start[t * size : (t + 1) * size + 1], s, side="right") - 1
        s = int(labels.parent[s])
    return cost, route
