"""Places as the compiled core sees them, and the k-d tree over them (`cpp/kd_tree.h`)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnroute import _core
from learnroute._core import KdTree
from learnroute.model.distances import EARTH_RADIUS, Points
from learnroute.model.validation import FloatArray, IntArray

NEAR = 1.4  # chords up to which an arcsine of half of them has all its digits
# Places in Ground.metric
UNIT, ROUND = 0, 1


class Ground(NamedTuple):
    """Places as the core sees them: in three dimensions, none further than 1 from the origin along any axis."""

    places: FloatArray
    metric: FloatArray  # what a unit of distance costs; whether places are on a sphere (great circles) or not


def ground_of(points: Points) -> Ground:
    """Return places as the core sees them; scaled by a power of two, so that nothing is lost."""
    if points.geographic:
        return Ground(np.array(points.embedded), np.array([points.scale * EARTH_RADIUS, 1.0]))
    return plane(points.places, points.scale)


def plane(places: FloatArray, scale: float = 1.0) -> Ground:
    """Return places of up to three coordinates with straight distances."""
    largest = float(np.abs(places).max(initial=0.0))
    unit = 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0
    padded = np.zeros((len(places), 3))
    padded[:, : places.shape[1]] = places / unit
    return Ground(padded, np.array([scale * unit, 0.0]))


def lengths(ground: Ground, origins: IntArray, goals: IntArray) -> FloatArray:
    """Return what it costs to go from each origin to its goal."""
    return _core.lengths(ground.places, ground.metric[UNIT], bool(ground.metric[ROUND]), origins, goals)


def tree_of(ground: Ground) -> KdTree:
    """Return the k-d tree over places."""
    return KdTree(ground.places)


def nearest_places(_ground: Ground, tree: KdTree, count: int) -> IntArray:
    """For each place its `count` nearest others, nearest first; ties by number. There must be that many."""
    return tree.nearest(count)
