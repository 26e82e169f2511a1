"""The dual events of one search, earliest first: a binary heap in which every item stands once and can be moved.

Imported only with `blossom`, because importing it wakes the compiler.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.kernels import kernel
from learnroute.model.validation import IntArray

Records = NDArray[Any]  # of a structured dtype: kernels read table[i].field
NEVER = np.int64(2**62)
EVENT = np.dtype([("time", "i8"), ("item", "i8")])
CLOCK = np.dtype([("now", "i8"), ("limit", "i8"), ("size", "i8")])


class EventQueue(NamedTuple):
    """Items with their times, and the clock of the search."""

    heap: Records  # of EVENT
    place: IntArray  # where in the heap an item stands, or -1
    clock: Records  # one CLOCK: the time now, the certain end of the search, events in the heap


def event_queue(items: int) -> EventQueue:
    """Return an empty queue for so many items."""
    queue = EventQueue(np.zeros(items, EVENT), np.full(items, -1), np.zeros(1, CLOCK))
    queue.clock["limit"] = NEVER
    return queue


@kernel
def schedule(q: EventQueue, time: int, item: int) -> None:
    """Put an event into the queue, or move it; events after the search's certain end are left out."""
    if time > q.clock[0].limit:
        return
    i = q.place[item]
    if i < 0:
        i = q.clock[0].size
        q.clock[0].size += 1
    _put(q, i, time, item)
    _rise(q, i)
    _sink(q, q.place[item])


@kernel
def next_event(q: EventQueue) -> int:
    """Take the earliest event out of the queue and advance the clock to it; -1 if there is none."""
    if q.clock[0].size == 0:
        return -1
    item = q.heap[0].item
    q.clock[0].now = max(q.clock[0].now, q.heap[0].time)
    q.place[item] = -1
    last = q.clock[0].size - 1
    q.clock[0].size = last
    if last > 0:
        _put(q, 0, q.heap[last].time, q.heap[last].item)
        _sink(q, 0)
    return item


@kernel
def clear(q: EventQueue) -> None:
    """Empty the queue and set its clock back."""
    for i in range(q.clock[0].size):
        q.place[q.heap[i].item] = -1
    q.clock[0].now, q.clock[0].limit, q.clock[0].size = 0, NEVER, 0


@kernel
def _put(q: EventQueue, i: int, time: int, item: int) -> None:
    q.heap[i].time = time
    q.heap[i].item = item
    q.place[item] = i


@kernel
def _rise(q: EventQueue, i: int) -> None:
    time, item = q.heap[i].time, q.heap[i].item
    while i > 0:
        above = (i - 1) >> 1
        if q.heap[above].time <= time:
            break
        _put(q, i, q.heap[above].time, q.heap[above].item)
        i = above
    _put(q, i, time, item)


@kernel
def _sink(q: EventQueue, i: int) -> None:
    size = q.clock[0].size
    time, item = q.heap[i].time, q.heap[i].item
    while True:
        below = 2 * i + 1
        if below >= size:
            break
        if below + 1 < size and q.heap[below + 1].time < q.heap[below].time:
            below += 1
        if time <= q.heap[below].time:
            break
        _put(q, i, q.heap[below].time, q.heap[below].item)
        i = below
    _put(q, i, time, item)
