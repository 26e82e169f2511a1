"""Places as the compiled core sees them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnroute import _core
from learnroute.model.distances import EARTH_RADIUS, Points
from learnroute.model.validation import FloatArray, IntArray


class Ground(NamedTuple):
    """Places in three dimensions, none further than 1 from the origin along any axis."""

    places: FloatArray
    unit: float  # what a unit of distance costs
    globe: bool  # whether places are on a sphere and distances along great circles; else distances are straight

    def lengths(self, origins: IntArray, goals: IntArray) -> FloatArray:
        """Return what it costs to go from each origin to its goal."""
        return _core.lengths(self.places, self.unit, self.globe, origins, goals)

    def tree(self) -> _core.KdTree:
        """Return the k-d tree over the places."""
        return _core.KdTree(self.places)


def ground_of(points: Points) -> Ground:
    """Return places as the core sees them; scaled by a power of two, so that nothing is lost."""
    if points.geographic:
        return Ground(np.array(points.embedded), points.scale * EARTH_RADIUS, True)
    return plane(points.places, points.scale)


def plane(places: FloatArray, scale: float = 1.0) -> Ground:
    """Return places of up to three coordinates with straight distances."""
    largest = float(np.abs(places).max(initial=0.0))
    unit = 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0
    padded = np.zeros((len(places), 3))
    padded[:, : places.shape[1]] = places / unit
    return Ground(padded, scale * unit, False)
