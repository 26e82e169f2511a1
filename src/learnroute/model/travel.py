"""Travel between stops, given as a matrix of costs or by the places of the stops."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import RefusedError
from learnroute.model.validation import MOST_MATRIX_REGIONS, FloatArray, IntArray, freeze, is_symmetric

EARTH_RADIUS = 6371.0088  # km, the mean radius of the Earth
BLUR = 2.0**-47  # in radii: how much rounded places on the globe can affect the comparison of two chords


class Travel(ABC):
    """Travel costs between stops, in any unit."""

    is_metric: ClassVar[bool]  # whether the triangle inequality holds by construction

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of stops."""

    @property
    @abstractmethod
    def matrix(self) -> FloatArray:
        """The matrix of all costs; from places, it is computed on first use and rejected if it is too large."""

    @property
    def has_matrix(self) -> bool:
        """Whether the matrix was given or has been computed."""
        return True

    @property
    @abstractmethod
    def symmetric(self) -> bool:
        """Whether travel costs the same in both directions."""

    @property
    def unit(self) -> str:
        """The unit of the costs, if it is known."""
        return ""

    @property
    @abstractmethod
    def locations(self) -> IntArray:
        """One number per stop; stops at the same location have the same number."""

    @abstractmethod
    def between(self, origins: ArrayLike, goals: ArrayLike) -> FloatArray:
        """Return the travel cost from each origin to its goal (indices, broadcast against each other)."""

    def legs(self, order: ArrayLike, closed: bool) -> FloatArray:
        """Return the cost of each leg of an order, followed by the return trip if the order is closed."""
        stops = np.asarray(order)
        return self.between(stops, np.roll(stops, -1)) if closed else self.between(stops[:-1], stops[1:])

    @abstractmethod
    def of(self, stops: ArrayLike) -> Travel:
        """Return the travel between some of the stops, numbered in this order."""

    @abstractmethod
    def scale_by(self, rate: float) -> Travel:
        """Return the same travel with all costs multiplied by `rate`."""


@dataclass(frozen=True, eq=False)
class TravelMatrix(Travel):
    """Travel costs given as a matrix: `costs[i, j]` from stop i to stop j."""

    is_metric = False

    costs: FloatArray

    @property
    def size(self) -> int:
        """The number of stops."""
        return len(self.costs)

    @property
    def matrix(self) -> FloatArray:
        """The costs."""
        return self.costs

    @cached_property
    def symmetric(self) -> bool:
        """Whether the matrix equals its transpose."""
        return is_symmetric(self.costs)

    @property
    def locations(self) -> IntArray:
        """One number per stop; stops with equal rows have the same number."""
        if np.count_nonzero(self.costs) >= self.size * (self.size - 1):  # no two are at distance 0
            return np.arange(self.size)
        rows: dict[bytes, int] = {}
        return np.array([rows.setdefault(row.tobytes(), len(rows)) for row in self.costs])

    def between(self, origins: ArrayLike, goals: ArrayLike) -> FloatArray:
        """Return the travel cost from each origin to its goal (indices, broadcast against each other)."""
        return np.array(self.costs[np.asarray(origins), np.asarray(goals)])

    def of(self, stops: ArrayLike) -> TravelMatrix:
        """Return the travel between some of the stops, numbered in this order."""
        some = np.asarray(stops)
        return TravelMatrix(self.costs[np.ix_(some, some)])

    def scale_by(self, rate: float) -> TravelMatrix:
        """Return the same travel with all costs multiplied by `rate`."""
        return self if rate == 1 else TravelMatrix(self.costs * rate)


@dataclass(frozen=True, eq=False)
class Places(Travel):
    """One place per stop; the travel cost is the distance between two places.

    Parameters
    ----------
    places
        T x 2: x and y in the plane, or longitude and latitude in degrees.
    geographic
        Whether places are longitudes and latitudes; distances are then great-circle distances in kilometres.
    scale
        The cost of one unit of distance.
    """

    is_metric = True

    places: FloatArray
    geographic: bool = False
    scale: float = 1.0

    @property
    def size(self) -> int:
        """The number of places."""
        return len(self.places)

    @property
    def has_matrix(self) -> bool:
        """Whether the matrix has been computed."""
        return "matrix" in self.__dict__

    @property
    def symmetric(self) -> bool:
        """Whether travel costs the same in both directions: always."""
        return True

    @property
    def unit(self) -> str:
        """The unit of the costs: kilometres for great-circle distances, otherwise unknown."""
        return "km" if self.geographic else ""

    @property
    def locations(self) -> IntArray:
        """One number per stop; stops with the same coordinates have the same number."""
        x, y = self.places.T
        return np.unique(x + 1j * y, return_inverse=True)[1]

    @cached_property
    def matrix(self) -> FloatArray:
        """The matrix of all distances; rejected if it would be too large."""
        size = self.size
        if size > MOST_MATRIX_REGIONS:
            raise RefusedError(
                f"{size:,} regions: all distances at once need {8 * size**2 / 2**30:,.0f} GiB; this is limited to "
                f"{MOST_MATRIX_REGIONS:,} regions; use method search or algorithm1, which work from the places"
            )
        everyone = np.arange(size)
        distances = np.empty((size, size))
        for i in range(size):
            distances[i] = self.between(i, everyone)
        # Make both directions equal to the last bit, regardless of rounding in sines
        return freeze(np.maximum(distances, distances.T))

    @cached_property
    def embedded(self) -> FloatArray:
        """Coordinates whose Euclidean distances have the same order: in the plane, or of the unit sphere in space."""
        if not self.geographic:
            return self.places
        longitude, latitude = np.radians(np.fmod(self.places[:, 0], 360.0)), np.radians(self.places[:, 1])
        around = np.cos(latitude)
        return freeze(np.column_stack([around * np.cos(longitude), around * np.sin(longitude), np.sin(latitude)]))

    @cached_property
    def _around(self) -> FloatArray:
        """The radius of each place's circle of latitude, on the unit sphere."""
        return freeze(np.cos(np.radians(self.places[:, 1])))

    def between(self, origins: ArrayLike, goals: ArrayLike) -> FloatArray:
        """Return the travel cost from each origin to its goal (indices, broadcast against each other).

        On the globe, the half angle between two places is the arctangent of the two haversine sums, to the goal and to
        its antipode. Neither sum cancels, and differences are taken in degrees, where they are exact. So the error of
        the distance is a few of its last digits, or a nanometre, for neighbours as well as for antipodes.
        """
        origins, goals = np.asarray(origins), np.asarray(goals)
        if self.has_matrix:
            return np.array(self.matrix[origins, goals])
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

    def embedding_error(self, lengths: FloatArray) -> FloatArray:
        """Return by how much distances of these lengths can exceed others that are no shorter in `embedded`.

        Its coordinates are rounded. On the globe this moves a place by up to 2⁻⁴⁹ of the radius, and comparisons of two
        chords have an error of up to `BLUR`; near the antipode, chords distinguish distances less. In the plane nothing
        is rounded.
        """
        if not self.geographic:
            return np.zeros_like(lengths)
        unit = self.scale * EARTH_RADIUS
        if unit == 0.0:
            return np.zeros_like(lengths)
        return np.asarray(unit * BLUR / np.maximum(np.cos(lengths / (2 * unit)), math.sqrt(BLUR) / 2))

    def of(self, stops: ArrayLike) -> Places:
        """Return the travel between some of the places, numbered in this order."""
        return Places(self.places[np.asarray(stops)], self.geographic, self.scale)

    def scale_by(self, rate: float) -> Places:
        """Return the same places with travel that costs `rate` times as much."""
        return Places(self.places, self.geographic, self.scale * rate)
