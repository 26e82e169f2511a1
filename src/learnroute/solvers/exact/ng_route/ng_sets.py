"""Ng-sets: which regions stay in a forbidden set, by position and region, one bit each; dynamic ng-set augmentation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnroute.model.certificates import NgRelaxation, Rows
from learnroute.model.validation import FloatArray, IntArray

MaskArray = NDArray[np.uint64]


def nearest_ng_sets(travel: FloatArray, nearest: int) -> MaskArray:
    """Return ng-sets of each region and its nearest regions, the same at all positions."""
    size = len(travel)
    ng_sets = np.zeros((size, size, (size + 63) // 64), dtype=np.uint64)
    others = np.minimum(travel, travel.T) + np.diag(np.full(size, -1.0))
    for v, row in enumerate(np.argsort(others, axis=1, kind="stable")[:, : nearest + 1].tolist()):
        for u in row:
            ng_sets[:, v, u >> 6] |= np.uint64(1 << (u & 63))
    return ng_sets


def augment(ng_sets: MaskArray, route: IntArray, spread: int) -> None:
    """Break the shortest cycles of a route: a region visited twice is added to the ng-sets of the regions in between.

    It is added at the positions of the cycle and up to `spread` positions from it (dynamic ng-route relaxation, Roberti
    and Mingozzi 2014).
    """
    size = len(route)
    seen: dict[int, int] = {}
    cycles = []
    for t, v in enumerate(route.tolist()):
        if v in seen:
            cycles.append((t - seen[v], seen[v], v))
        seen[v] = t
    shortest = min(cycles)[0] if cycles else 0
    for length, t, v in cycles:
        if length <= 1.5 * shortest + 1:
            for k in range(t + 1, t + length):
                ng_sets[max(0, k - spread) : min(size, k + spread + 1), route[k], v >> 6] |= np.uint64(1 << (v & 63))


def relaxation(multipliers: FloatArray, ng_sets: MaskArray) -> NgRelaxation:
    """Return multipliers and ng-sets as a certificate lists them: the sets common to all positions, and additions."""
    everywhere = np.bitwise_and.reduce(ng_sets, axis=0)
    return NgRelaxation(multipliers, tuple(map(_members, everywhere)), augmentations(everywhere[None], ng_sets))


def augmentations(before: MaskArray, after: MaskArray) -> Rows:
    """Return the additions to ng-sets, each as a position, a region and the added regions."""
    more = after & ~before
    at = np.argwhere(more.any(axis=2)).tolist()
    return tuple((t, v, *_members(more[t, v])) for t, v in at)


def _members(words: MaskArray) -> tuple[int, ...]:
    return tuple(64 * x + u for x, word in enumerate(words.tolist()) for u in range(64) if word >> u & 1)
