"""A canonical order of the regions, independent of their numbering, to break ties in the same way.

Places are sorted by a hash of their coordinates, because matching is slower if neighbours follow each other.
A travel matrix needs colour refinement (Weisfeiler and Leman 1968): two regions get different colours if their scores
differ or if their travel costs to the regions of some colour differ. If several regions still share a colour, one of
them gets a new colour and refinement continues, as in canonical labelling of graphs (McKay 1981) but without
backtracking.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnroute.model.linear import Linear
from learnroute.model.travel import Places
from learnroute.model.validation import FloatArray, IntArray

MOST_LOOKS = 2 * 10**7  # matrix entries to read; regions with equal colours after that keep their numbering
AT_ONCE = 1 << 20  # entries
ODD = tuple(np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))  # of SplitMix64

Words = NDArray[np.uint64]


def best_last(objective: Linear) -> int:
    """Return the best last region by scores alone, the paper's v'; ties do not depend on the numbering."""
    allowed = np.flatnonzero(objective.ends.may_end(objective.size))
    ranks = objective.ranks[allowed]
    tied = allowed[ranks == ranks.min()]
    if len(tied) == 1:
        return int(tied[0])
    order = canonical_order(objective, None)
    return int(order[np.isin(order, tied)][0])


def canonical_order(objective: Linear, last: int | None) -> IntArray:
    """Return the regions in canonical order; `last` and a fixed first region are distinguished from all others.

    Identical regions, and those that a limited effort cannot distinguish, stay in the order of their numbers.
    """
    size = objective.size
    special = np.zeros(size, dtype=np.int64)
    if last is not None:
        special[last] = 1
    if objective.ends.first is not None:
        special[objective.ends.first] += 2
    keys: list[FloatArray | IntArray] = [special, objective.scores, objective.ranks]
    travel = objective.travel
    if isinstance(travel, Places):
        x, y = (axis.copy() + 0.0 for axis in travel.places.T)  # + 0: -0 is 0
        return np.lexsort([*keys, x, y, _mix(x.view(np.uint64) ^ _mix(y.view(np.uint64)))])
    colours = _dense(*keys)
    left = MOST_LOOKS
    while True:
        counts = np.bincount(colours, minlength=size)
        alike = np.flatnonzero(counts[colours] > 1)
        if not alike.size or left <= 0:
            return np.lexsort((np.arange(size), colours))
        left -= alike.size * size
        words = np.zeros(size, dtype=np.uint64)
        words[alike] = _words(travel.matrix, alike, colours)
        finer = _dense(words, colours)
        if finer.max() == colours.max():  # no refinement: give one region a new colour
            one = alike[np.argmin(colours[alike])]
            finer = 2 * finer
            finer[one] -= 1
            finer = _dense(finer)
        colours = finer


def _dense(*keys: FloatArray | IntArray | Words) -> IntArray:
    """Return the dense rank of each entry by several keys, the last key first; equal entries share a rank."""
    order = np.lexsort(keys)
    new = np.zeros(len(order), dtype=bool)
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(new)
    return ranks


def _words(travel: FloatArray, regions: IntArray, colours: IntArray) -> Words:
    """Return, for each given region, a hash of its travel costs to regions by colour, independent of their order."""
    size = len(travel)
    tint = colours.astype(np.uint64) * ODD[0]
    found = np.empty(len(regions), dtype=np.uint64)
    step = max(1, AT_ONCE // size)
    for first in range(0, len(regions), step):
        words = (travel[regions[first : first + step]] + 0.0).view(np.uint64)
        found[first : first + step] = _mix(_mix(words) ^ tint).sum(axis=1, dtype=np.uint64)
    return found


def _mix(words: Words) -> Words:
    """Return SplitMix64's finalizer of each word."""
    words = words ^ (words >> np.uint64(30))
    words *= ODD[1]
    words ^= words >> np.uint64(27)
    words *= ODD[2]
    words ^= words >> np.uint64(31)
    return words
