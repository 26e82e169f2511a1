"""Travel as passed to the compiled core: places or a matrix, behind the same methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnroute import _core
from learnroute.model.travel import EARTH_RADIUS, Places, Travel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.spanning_tree import minimum_spanning_tree

PAIRS_PER_CALL = 5_000_000  # pairs of regions per call of the core, between two checks for Ctrl-C


class PlaceTravel(NamedTuple):
    """Places in three dimensions, none further than 1 from the origin along any axis."""

    places: FloatArray
    unit: float  # cost per unit of distance
    globe: bool  # great-circle distances on a sphere instead of straight lines
    map: FloatArray  # the same places in the plane

    def tree(self) -> _core.KdTree:
        """Return the k-d tree over the places."""
        return _core.KdTree(self.places)

    def of(self, regions: IntArray) -> PlaceTravel:
        """Return the travel between some of the places."""
        return PlaceTravel(self.places[regions], self.unit, self.globe, self.map[regions])

    def lengths(self, origins: IntArray, goals: IntArray) -> FloatArray:
        """Return the travel cost from each origin to its goal."""
        return _core.lengths(self.places, self.unit, self.globe, origins, goals)

    def nearest_among(self, regions: IntArray, count: int) -> IntArray:
        """Return, for each of these regions, the nearest others among them, as indices into `regions`."""
        return _core.KdTree(self.places[regions]).nearest(count)

    def spanning_edges(self, order: IntArray) -> IntArray:
        """Return the edges of a minimum spanning tree by Borůvka's rule (1926), in linear memory."""
        return order[_core.KdTree(self.places[order]).spanning_edges()]

    def candidates(self, *lengths: int) -> list[IntArray]:
        """Return candidate lists of the given lengths: the two nearest places per quadrant, then the nearest ones."""
        tree = self.tree()
        around = _core.KdTree(self.map) if self.globe else tree
        found = [tree.nearest(min(length, len(self.places) - 1)) for length in lengths]
        for near in found:
            _core.insert_quadrant_neighbours(around, near)
        return found

    def edge_costs(self, order: IntArray, begin: FloatArray, finish: FloatArray, has_ends: bool) -> _core.Costs:
        """Return the edge costs for a local search that numbers regions along an order."""
        return _core.Costs.from_places(self.places[order], self.unit, self.globe, begin, finish, has_ends)


class MatrixTravel(NamedTuple):
    """Travel costs in a matrix."""

    travel: Travel

    def lengths(self, origins: IntArray, goals: IntArray) -> FloatArray:
        """Return the travel cost from each origin to its goal."""
        found: FloatArray = self.travel.matrix[origins, goals]
        return found

    def nearest_among(self, regions: IntArray, count: int) -> IntArray:
        """Return, for each of these regions, the nearest others among them, as indices into `regions`."""
        return _core.nearest_among(self.travel.matrix, regions, count)

    def spanning_edges(self, order: IntArray) -> IntArray:
        """Return the edges of a minimum spanning tree by Prim's rule (1957)."""
        return minimum_spanning_tree(self.travel.matrix, order)

    def candidates(self, *lengths: int) -> list[IntArray]:
        """Return candidate lists of the given lengths: relative neighbours; if asymmetric, outgoing above incoming."""
        matrix, size = self.travel.matrix, self.travel.size
        most = min(max(lengths), size - 1)
        if self.travel.symmetric:
            rows = max(1, PAIRS_PER_CALL // size)
            parts = [_core.relative_neighbours(matrix, most, i, min(i + rows, size)) for i in range(0, size, rows)]
        else:
            others = matrix.copy()
            np.fill_diagonal(others, np.inf)
            parts = [np.argsort(ways, axis=1, kind="stable")[:, :most] for ways in (others, others.T)]
        longest = np.concatenate(parts)
        return [np.ascontiguousarray(longest[:, :length]) for length in lengths]

    def edge_costs(self, order: IntArray, begin: FloatArray, finish: FloatArray, has_ends: bool) -> _core.Costs:
        """Return the edge costs for a local search that numbers regions along an order."""
        directed = not self.travel.symmetric
        return _core.Costs.from_matrix(self.travel.matrix, order, begin, finish, directed, has_ends)


CoreTravel = PlaceTravel | MatrixTravel


def core_travel_of(travel: Travel, matrix_regions: int = 0) -> CoreTravel:
    """Return travel for the core; up to `matrix_regions` places are turned into the matrix of their distances."""
    if isinstance(travel, Places) and travel.size > matrix_regions:
        return place_travel(travel)
    return MatrixTravel(travel)


def place_travel(travel: Places) -> PlaceTravel:
    """Return places for the core."""
    flat = plane(travel.places, travel.scale)
    if not travel.geographic:
        return flat
    return PlaceTravel(np.array(travel.embedded), travel.scale * EARTH_RADIUS, True, flat.places)


def plane(places: FloatArray, scale: float = 1.0) -> PlaceTravel:
    """Return places in up to three dimensions with Euclidean distances."""
    padded = np.zeros((len(places), 3))
    padded[:, : places.shape[1]] = places
    return PlaceTravel(padded, scale, False, padded)
