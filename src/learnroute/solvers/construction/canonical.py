"""Regions in an order that does not depend on how they are numbered: ties are then broken alike, whatever the numbers.

Places are sorted by where they are: by a hash of that, because matching is slower where neighbours follow each other.
Travel given as a matrix needs colour refinement (Weisfeiler and Leman 1968): two
regions get different colours if their scores differ, or what it costs to go from them to regions of some colour. Where
that stops short of telling all regions apart, one of those that look alike is given a colour of its own and the others
are looked at again, as in canonical labelling of graphs (McKay 1981), without going back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnroute.model.objective import Objective
from learnroute.model.travel import Places
from learnroute.model.validation import FloatArray, IntArray

MOST_LOOKS = 2 * 10**7  # entries of the matrix to look at; regions not told apart by then keep the order of numbers
AT_ONCE = 1 << 20  # entries
ODD = tuple(np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))  # of SplitMix64

Words = NDArray[np.uint64]


def best_last(objective: Objective) -> int:
    """Return the region to end at if only scores count: the paper's v', whatever the numbers of regions that tie."""
    ranks = np.where(objective.ends.may_end(objective.size), objective.ranks, np.inf)
    tied = np.flatnonzero(ranks == ranks.min())
    if len(tied) == 1:
        return int(tied[0])
    order = canonical_order(objective, None)
    return int(order[np.isin(order, tied)][0])


def canonical_order(objective: Objective, last: int | None) -> IntArray:
    """Return the regions in the order of their data, `last` and a fixed first region told from all others.

    Regions that differ in nothing, or that a limited effort cannot tell apart, are in the order of their numbers.
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
        return np.lexsort([*keys, x, y, _mixed(x.view(np.uint64) ^ _mixed(y.view(np.uint64)))])
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
        if finer.max() == colours.max():  # all that looked alike still does: tell one of them apart
            one = alike[np.argmin(colours[alike])]
            finer = 2 * finer
            finer[one] -= 1
            finer = _dense(finer)
        colours = finer


def _dense(*keys: FloatArray | IntArray | Words) -> IntArray:
    """Return the rank of each entry by some keys, the last of them first; entries that agree share theirs."""
    order = np.lexsort(keys)
    new = np.zeros(len(order), dtype=bool)
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(new)
    return ranks


def _words(travel: FloatArray, regions: IntArray, colours: IntArray) -> Words:
    """Return for each of some regions a word made of what it costs to go to regions of which colour, in any order."""
    size = len(travel)
    tint = colours.astype(np.uint64) * ODD[0]
    found = np.empty(len(regions), dtype=np.uint64)
    step = max(1, AT_ONCE // size)
    for first in range(0, len(regions), step):
        words = (travel[regions[first : first + step]] + 0.0).view(np.uint64)
        found[first : first + step] = _mixed(_mixed(words) ^ tint).sum(axis=1, dtype=np.uint64)
    return found


def _mixed(words: Words) -> Words:
    """Return other words, one for each, that look drawn at random (SplitMix64's finalizer)."""
    words = words ^ (words >> np.uint64(30))
    words *= ODD[1]
    words ^= words >> np.uint64(27)
    words *= ODD[2]
    words ^= words >> np.uint64(31)
    return words
