"""Weights of a matching, from a matrix or from places, and the pairs that are candidates from the start."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from learnroute._core import Pricing
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.core_travel import PlaceTravel


class PairWeights(Protocol):
    """Symmetric weights between vertices 0 … size-1."""

    @property
    def size(self) -> int:
        """The number of vertices."""
        ...

    def of(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return the weights of given pairs."""
        ...

    def largest(self) -> float:
        """Return an upper bound on the absolute value of all weights, of the same order as the largest."""
        ...

    def light_pairs(self, count: int) -> IntArray:
        """Return the pairs of every vertex with about `count` of its lightest partners, one pair per row."""
        ...

    def negative_pairs(self, pricing: Pricing, scale: float, first: int, last: int, most: int) -> IntArray:
        """Return pairs (i, j), i from `first` to `last` - 1, of negative reduced cost, at most `most` per i."""
        ...


class MatrixWeights:
    """Weights read from a symmetric matrix; the diagonal is ignored."""

    def __init__(self, matrix: FloatArray) -> None:
        self.matrix = np.array(matrix, dtype=np.float64, order="C")
        np.fill_diagonal(self.matrix, 0.0)

    @property
    def size(self) -> int:
        """The number of vertices."""
        return len(self.matrix)

    def of(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return the weights of given pairs."""
        found: FloatArray = self.matrix[i, j]
        return found

    def largest(self) -> float:
        """Return the largest absolute value of a weight."""
        return float(max(self.matrix.max(initial=0.0), -self.matrix.min(initial=0.0)))

    def light_pairs(self, count: int) -> IntArray:
        """Return the pairs of every vertex with `count` of its lightest partners, one pair per row."""
        count = min(count, self.size - 1)
        others = self.matrix.copy()
        np.fill_diagonal(others, np.inf)
        nearest = np.argpartition(others, count - 1, axis=1)[:, :count]
        return np.column_stack([np.repeat(np.arange(self.size), count), nearest.ravel()])

    def negative_pairs(self, pricing: Pricing, scale: float, first: int, last: int, most: int) -> IntArray:
        """Return pairs (i, j), i from `first` to `last` - 1, of negative reduced cost, at most `most` per i."""
        return pricing.negative_pairs(self.matrix, scale, first, last, most)


class PlaceWeights:
    """Distances between places, never stored as a matrix; with `extra`, another vertex at distance 0 from all.

    The pairs of the extra vertex are all candidates from the start, so their reduced costs are never negative.
    """

    def __init__(self, travel_data: PlaceTravel, extra: bool = False) -> None:
        self.travel_data, self.extra = travel_data, extra

    @property
    def size(self) -> int:
        """The number of vertices."""
        return len(self.travel_data.places) + self.extra

    def of(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return the weights of given pairs."""
        most = len(self.travel_data.places) - 1
        found = self.travel_data.lengths(np.minimum(i, most), np.minimum(j, most))
        return np.where(np.maximum(i, j) <= most, found, 0.0)

    def largest(self) -> float:
        """Return the diagonal of the bounding box of the places, or half the circumference of the sphere."""
        spread = np.ptp(self.travel_data.places, axis=0)
        return self.travel_data.unit * (math.pi if self.travel_data.globe else float(np.sqrt((spread**2).sum())))

    def light_pairs(self, count: int) -> IntArray:
        """Return the pairs of every place with its nearest ones and all pairs of the extra vertex, one per row."""
        size = len(self.travel_data.places)
        count = min(count, size - 1)
        nearest = self.travel_data.tree().nearest(count)
        pairs = np.column_stack([np.repeat(np.arange(size), count), nearest.ravel()])
        if self.extra:
            pairs = np.vstack([pairs, np.column_stack([np.arange(size), np.full(size, size)])])
        return pairs

    def negative_pairs(self, pricing: Pricing, scale: float, first: int, last: int, most: int) -> IntArray:
        """Return pairs (i, j), i from `first` to `last` - 1, of negative reduced cost, at most `most` per i."""
        places, unit, globe, _ = self.travel_data
        return pricing.negative_pairs_of_places(places, unit, globe, scale, first, last, most)
