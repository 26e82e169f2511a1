"""Places and the distances between them, without a T x T matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import RefusedError
from learnroute.model.validation import MOST_MATRIX_REGIONS, FloatArray, frozen

EARTH_RADIUS = 6371.0088  # km, the mean radius of the Earth


@dataclass(frozen=True, eq=False)
class Points:
    """One place a region, and what it costs to go straight from one to another.

    Parameters
    ----------
    places
        T x 2: x and y in the plane, or longitude and latitude in degrees.
    geographic
        Whether they are longitudes and latitudes: distances are then great circles, in kilometres.
    scale
        What one unit of distance costs.
    """

    places: FloatArray
    geographic: bool = False
    scale: float = 1.0

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def embedded(self) -> FloatArray:
        """The places in a space where straight lines order distances alike: the plane, or the unit sphere's space."""
        if not self.geographic:
            return self.places
        longitude, latitude = self._radians
        around = np.cos(latitude)
        return frozen(np.column_stack([around * np.cos(longitude), around * np.sin(longitude), np.sin(latitude)]))

    @cached_property
    def _radians(self) -> FloatArray:
        return np.ascontiguousarray(np.radians(self.places).T)

    def between(self, origins: ArrayLike, goals: ArrayLike) -> FloatArray:
        """Return the cost of going from each origin to its goal (indices, broadcast against each other)."""
        origins, goals = np.asarray(origins), np.asarray(goals)
        if not self.geographic:
            apart = self.places[origins] - self.places[goals]
            return np.asarray(self.scale * np.hypot(apart[..., 0], apart[..., 1]))
        longitude, latitude = self._radians
        rise = np.sin((latitude[goals] - latitude[origins]) / 2) ** 2
        turn = np.sin((longitude[goals] - longitude[origins]) / 2) ** 2
        haversine = rise + np.cos(latitude[origins]) * np.cos(latitude[goals]) * turn
        return np.asarray(self.scale * 2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(haversine, 1.0))))

    def matrix(self) -> FloatArray:
        """Return all distances as a matrix; refused where it would be too large."""
        size = len(self)
        if size > MOST_MATRIX_REGIONS:
            raise RefusedError(
                f"{size:,} regions: all distances at once need {8 * size**2 / 2**30:,.0f} GiB; this is limited to "
                f"{MOST_MATRIX_REGIONS:,} regions; use method search or algorithm1, which work from the places"
            )
        everyone = np.arange(size)
        distances = np.empty((size, size))
        for i in range(size):
            distances[i] = self.between(i, everyone)
        # the same bits in both directions, whatever the last digit of a sine says
        return frozen(np.maximum(distances, distances.T))

    def scaled(self, rate: float) -> Points:
        """Return the same places with travel that costs `rate` times as much."""
        return Points(self.places, self.geographic, self.scale * rate)
