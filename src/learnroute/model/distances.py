"""Places and the distances between them, without a T x T matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import RefusedError
from learnroute.model.validation import MOST_MATRIX_REGIONS, FloatArray, frozen

EARTH_RADIUS = 6371.0088  # km, the mean radius of the Earth
BLUR = 2.0**-47  # of the radius: what rounded places on the globe can do to the comparison of two chords


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
        longitude, latitude = np.radians(np.fmod(self.places[:, 0], 360.0)), np.radians(self.places[:, 1])
        around = np.cos(latitude)
        return frozen(np.column_stack([around * np.cos(longitude), around * np.sin(longitude), np.sin(latitude)]))

    @cached_property
    def _around(self) -> FloatArray:
        """The radius of each place's circle of latitude, on the unit sphere."""
        return frozen(np.cos(np.radians(self.places[:, 1])))

    def between(self, origins: ArrayLike, goals: ArrayLike) -> FloatArray:
        """Return the cost of going from each origin to its goal (indices, broadcast against each other).

        On the globe, the half angle between two places is the arctangent of the two haversine sums, to the goal and to
        its antipode. Neither sum cancels, and differences are taken in degrees, where they are exact: the distance is
        off by a few of its last digits, or a nanometre, be the places neighbours or antipodes.
        """
        origins, goals = np.asarray(origins), np.asarray(goals)
        if not self.geographic:
            apart = self.places[origins] - self.places[goals]
            return np.asarray(self.scale * np.hypot(apart[..., 0], apart[..., 1]))
        here, there = self.places[origins], self.places[goals]
        turn = np.abs(np.fmod(here[..., 0] - there[..., 0], 360.0))
        turn = np.radians(np.minimum(turn, 360.0 - turn) / 2)  # a place has many longitudes, 360 degrees apart
        rise = np.radians(np.abs(here[..., 1] - there[..., 1]) / 2)
        sum_ = np.radians((here[..., 1] + there[..., 1]) / 2)
        around = self._around[origins] * self._around[goals]
        near = np.sin(rise) ** 2 + around * np.sin(turn) ** 2
        far = np.sin(sum_) ** 2 + around * np.cos(turn) ** 2
        return np.asarray(self.scale * 2 * EARTH_RADIUS * np.arctan2(np.sqrt(near), np.sqrt(far)))

    def misplaced(self, lengths: FloatArray) -> FloatArray:
        """Return by how much ways of these lengths can be longer than others that `embedded` puts no nearer.

        Its coordinates are rounded. On the globe this moves a place by up to 2⁻⁴⁹ of the radius, and two chords compare
        as they are but for `BLUR`; the nearer the antipode, the less a chord says. In the plane nothing is rounded.
        """
        if not self.geographic:
            return np.zeros_like(lengths)
        unit = self.scale * EARTH_RADIUS
        if unit == 0.0:
            return np.zeros_like(lengths)
        return np.asarray(unit * BLUR / np.maximum(np.cos(lengths / (2 * unit)), math.sqrt(BLUR) / 2))

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
