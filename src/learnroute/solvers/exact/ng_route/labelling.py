"""Cheapest walks through T positions that forget: dynamic programming over (position, region, memory).

Imported only when a proof is attempted, because importing it wakes the compiler.

A *walk* takes one region a position. It may return to a region, unless it remembers it: arriving at w at position t it
keeps, of what it remembered, the regions in the memory set N[t, w], and adds w. Every order is such a walk, so the
cheapest walk costs no more than the best order; multipliers and larger memory sets make it cost nearly as much. With
all regions in all memory sets, the walks are the orders.

Everything runs in either direction: a backward table is the forward table of the problem turned round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.kernels import compile_function
from learnroute.model.validation import FloatArray, IntArray

MaskArray = NDArray[np.uint64]
ByteArray = NDArray[np.uint8]

MOST_COMPARED = 100  # cheaper states that a new one is compared with
LAYERS = 12  # a table has at most so many times the states allowed in a layer
WEIGHT = 20  # of a state that is looked up, beside a step that is forbidden
FULL, LATE = -1, -2  # why a table is incomplete


class Layers(NamedTuple):
    """The costs of a walk: position t to t+1 from i to j costs legs[i, j], allowed[t, i, j] permitting it."""

    legs: FloatArray  # T x T
    stays: FloatArray  # T x T: position, region
    allowed: ByteArray  # T-1 x T x T


class Table(NamedTuple):
    """All states that a sweep kept, ordered by position, region and value."""

    start: IntArray  # T·T + 1: states of (position t, region v) are start[t·T + v] … start[t·T + v + 1] - 1
    mask: MaskArray  # states x words
    value: FloatArray
    parent: IntArray


@compile_function
def simple_table(layers: Layers) -> FloatArray:
    """Return, for each position and region, the cost of the cheapest walk up to it that remembers nothing."""
    size = layers.legs.shape[0]
    table = np.full((size, size), np.inf)
    table[0] = layers.stays[0]
    for t in range(size - 1):
        for i in range(size):
            here = table[t, i]
            if here == np.inf:
                continue
            for j in range(size):
                if layers.allowed[t, i, j]:
                    cost = here + layers.legs[i, j]
                    if cost < table[t + 1, j]:
                        table[t + 1, j] = cost
        for j in range(size):
            table[t + 1, j] += layers.stays[t + 1, j]
    return table


@compile_function
def simple_walk(layers: Layers, table: FloatArray) -> IntArray:
    """Return the cheapest walk of a simple table."""
    size = layers.legs.shape[0]
    walk = np.empty(size, dtype=np.int64)
    walk[size - 1] = np.argmin(table[size - 1])
    for t in range(size - 1, 0, -1):
        j = walk[t]
        best = np.inf
        for i in range(size):
            if layers.allowed[t - 1, i, j] and table[t - 1, i] + layers.legs[i, j] < best:
                best = table[t - 1, i] + layers.legs[i, j]
                walk[t - 1] = i
    return walk


@compile_function
def eliminate(layers: Layers, forward: FloatArray, backward: FloatArray, limit: float) -> int:
    """Forbid the steps that no walk cheaper than `limit` takes; return how many are left."""
    size = layers.legs.shape[0]
    left = 0
    for t in range(size - 1):
        for i in range(size):
            for j in range(size):
                if layers.allowed[t, i, j]:
                    if forward[t, i] + layers.legs[i, j] + backward[size - 2 - t, j] >= limit:
                        layers.allowed[t, i, j] = 0
                    else:
                        left += 1
    return left


@compile_function
def ascend(layers: Layers, vectors: FloatArray, numbers: FloatArray, target: float, steps: int) -> None:
    """Raise the bound of walks without memory by subgradient steps; to be continued by further calls.

    `vectors`: multipliers now, the best ones, the direction. `numbers`: the best bound, the pace (0 when nothing is
    left to do), how long it has stalled. `layers.stays` is without multipliers on entry and on return.
    """
    size = layers.legs.shape[0]
    now, kept, previous = vectors[0], vectors[1], vectors[2]
    stays = layers.stays.copy()
    for _ in range(steps):
        for t in range(size):
            for v in range(size):
                layers.stays[t, v] = stays[t, v] - now[v]
        table = simple_table(layers)
        walk = simple_walk(layers, table)
        bound = table[size - 1, walk[size - 1]] + now.sum()
        if bound > numbers[0] + 1e-6 * abs(target - numbers[0]):
            numbers[2] = 0.0
        else:
            numbers[2] += 1.0
        if bound > numbers[0]:
            numbers[0] = bound
            kept[:] = now
        if numbers[2] >= 10.0:
            numbers[2] = 0.0
            numbers[1] *= 0.7
            now[:] = kept
            if numbers[1] < 1e-3:
                numbers[1] = 0.0
                break
        slope = np.ones(size)
        for t in range(size):
            slope[walk[t]] -= 1.0
        square = 0.0
        for v in range(size):
            previous[v] = slope[v] + 0.5 * previous[v]
            square += previous[v] * previous[v]
        if square == 0.0 or numbers[0] >= target:
            numbers[1] = 0.0
            break
        step = numbers[1] * (target - bound) / square
        for v in range(size):
            now[v] += step * previous[v]
    layers.stays[:] = stays


@compile_function
def sweep(
    layers: Layers,
    memory: MaskArray,
    rest: FloatArray,
    other: Table,
    limit: float,
    most: int,
    used: ByteArray,
    work: IntArray,
) -> Table:
    """Extend all states position by position, dropping those that no completion brings below `limit`.

    A state's completion costs at least `rest` (a simple table of the problem turned round), and at least as much
    as the cheapest state of `other` (a table of the problem turned round, or an empty one) at the same position and
    region that remembers none of the same regions but the common one. Steps taken are marked in `used`. Stops with
    an incomplete table where a layer would have more than `most` states, or all of them LAYERS times that
    (start[-1] = FULL), or where the `work` allowed is used up (start[-1] = LATE).
    """
    size, words = layers.legs.shape[0], memory.shape[2]
    joined = len(other.value) > 0
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
                return Table(start, mask[:1], value[:1], parent[:1])
            v = last[s] if t > 0 else -1
            for w in range(size):
                if t > 0:
                    if not layers.allowed[t - 1, v, w]:
                        continue
                    if (mask[s, w >> 6] >> np.uint64(w & 63)) & one:
                        continue
                    cost = value[s] + layers.legs[v, w] + layers.stays[t, w]
                else:
                    cost = layers.stays[0, w]
                stay = layers.stays[t, w]
                if cost - stay + rest[size - 1 - t, w] >= limit:
                    continue
                work[0] -= WEIGHT
                for x in range(words):
                    fresh[x] = mask[s, x] & memory[t, w, x] if t > 0 else np.uint64(0)
                if joined:
                    meets = False
                    cell = (size - 1 - t) * size + w
                    for y in range(other.start[cell], other.start[cell + 1]):
                        work[0] -= 1
                        if cost - stay + other.value[y] >= limit:
                            break
                        common = np.uint64(0)
                        for x in range(words):
                            common |= fresh[x] & other.mask[y, x]
                        if common == 0:
                            meets = True
                            break
                    if not meets:
                        continue
                fresh[w >> 6] |= one << np.uint64(w & 63)
                if t > 0:
                    used[t - 1, v, w] = 1
                mixed = np.uint64(w) * np.uint64(0x9E3779B97F4A7C15)
                for x in range(words):
                    mixed = (mixed ^ fresh[x]) * np.uint64(0xBF58476D1CE4E5B9)
                    mixed ^= mixed >> np.uint64(29)
                slot = np.int64(mixed & np.uint64(slots - 1))
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
                    return Table(start, mask[:1], value[:1], parent[:1])
                if end == room:
                    room *= 2
                    mask = _longer_masks(mask, room)
                    value = _longer(value, room)
                    parent = _longer_ints(parent, room)
                    last = _longer_ints(last, room)
                table[slot] = end
                for x in range(words):
                    mask[end, x] = fresh[x]
                value[end] = cost
                parent[end] = s
                last[end] = w
                end += 1
                if 2 * (end - low) > slots:
                    slots *= 4
                    table = np.full(slots, -1, dtype=np.int64)
                    for y in range(low, end):
                        mixed = np.uint64(last[y]) * np.uint64(0x9E3779B97F4A7C15)
                        for x in range(words):
                            mixed = (mixed ^ mask[y, x]) * np.uint64(0xBF58476D1CE4E5B9)
                            mixed ^= mixed >> np.uint64(29)
                        slot = np.int64(mixed & np.uint64(slots - 1))
                        while table[slot] >= 0:
                            slot = (slot + 1) & (slots - 1)
                        table[slot] = y
        end = _settle(t, size, low, end, start, mask, value, parent, last)
    return Table(start, mask[:end].copy(), value[:end].copy(), parent[:end].copy())


@compile_function
def _settle(
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
    """Sort a layer by region and value, and drop each state that a cheaper one with fewer memories makes needless."""
    words = mask.shape[1]
    count = np.zeros(size + 1, dtype=np.int64)
    for s in range(low, end):
        count[last[s] + 1] += 1
    for v in range(size):
        count[v + 1] += count[v]
    by_region = np.empty(end - low, dtype=np.int64)
    fill = count.copy()
    for s in range(low, end):
        by_region[fill[last[s]]] = s
        fill[last[s]] += 1
    old_mask, old_value, old_parent = mask[low:end].copy(), value[low:end].copy(), parent[low:end].copy()
    write = low
    for v in range(size):
        start[t * size + v] = write
        group = by_region[count[v] : count[v + 1]] - low
        ranked = group[np.argsort(old_value[group], kind="mergesort")]
        begin = write
        for s in ranked:
            needless = False
            for y in range(begin, min(write, begin + MOST_COMPARED)):
                inside = True
                for x in range(words):
                    if mask[y, x] & ~old_mask[s, x]:
                        inside = False
                        break
                if inside:
                    needless = True
                    break
            if needless:
                continue
            for x in range(words):
                mask[write, x] = old_mask[s, x]
            value[write] = old_value[s]
            parent[write] = old_parent[s]
            last[write] = v
            write += 1
    start[(t + 1) * size] = write
    return write


@compile_function
def _longer(array: FloatArray, room: int) -> FloatArray:
    wider = np.empty(room)
    wider[: len(array)] = array
    return wider


@compile_function
def _longer_ints(array: IntArray, room: int) -> IntArray:
    wider = np.empty(room, dtype=np.int64)
    wider[: len(array)] = array
    return wider


@compile_function
def _longer_masks(array: MaskArray, room: int) -> MaskArray:
    wider = np.zeros((room, array.shape[1]), dtype=np.uint64)
    wider[: len(array)] = array
    return wider


def best_walk(table: Table, size: int) -> tuple[float, IntArray]:
    """Return the cheapest walk of a complete table and its cost (inf where no state is left)."""
    first, end = int(table.start[(size - 1) * size]), int(table.start[-1])
    if first == end:
        return np.inf, np.empty(0, dtype=np.int64)
    s = first + int(np.argmin(table.value[first:end]))
    cost = float(table.value[s])
    walk = np.empty(size, dtype=np.int64)
    for t in range(size - 1, -1, -1):
        walk[t] = np.searchsorted(table.start[t * size : (t + 1) * size + 1], s, side="right") - 1
        s = int(table.parent[s])
    return cost, walk
