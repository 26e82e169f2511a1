"""Errors along orders that begin at a depot: one more stop, which comes first and changes no error.

At the first position, and only there, training retains everything and learns nothing (p₁ = p₂ = 1, q = ν = 0), and all
other positions are one further. So the price of an order is that of its regions, and so is everything that bounds it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from learnroute.model.dissimilarities import Dissimilarities
from learnroute.model.law import STAY, Updates, products_after
from learnroute.model.pairs import LinearError, Pairs
from learnroute.model.validation import FloatArray, frozen


def from_depot(linear: LinearError) -> LinearError:
    """Return a linear error with the depot as the last stop: its score is 0, it has the first position's weight."""
    scores, weights, constant, factors = linear
    scores = frozen(np.append(scores, 0.0))
    if factors is not None:
        factors = frozen(np.append(factors, 1.0))
        return LinearError(scores, frozen(products_after(np.sort(factors)[::-1])), constant, factors)
    further = weights[0] * (weights[0] / weights[1]) if weights[1] > 0 else 0.0
    return LinearError(scores, frozen(np.append(further, weights)), constant)


class DissimilaritiesFromDepot(Dissimilarities):
    """The dissimilarities of the regions, and a depot: what is learnt there is the first model."""

    def __init__(self, regions: Dissimilarities) -> None:
        vectors = regions.vectors
        padded = None if vectors is None else frozen(np.vstack([vectors, np.zeros(vectors.shape[1])]))
        initial, scores = (frozen(np.append(numbers, 0.0)) for numbers in (regions.initial, regions.scores))
        super().__init__(None, padded, initial, scores)
        self.regions = regions

    @cached_property
    def matrix(self) -> FloatArray:
        """Δ as a matrix; the depot's row is the first model's, its column means nothing."""
        size = self.regions.size
        found = np.zeros((size + 1, size + 1))
        found[:size, :size], found[size, :size] = self.regions.matrix, self.regions.initial
        return frozen(found)

    def largest(self) -> FloatArray:
        """Return an upper bound of a_k for each region."""
        return np.append(self.regions.largest(), 0.0)


class PairsFromDepot(Pairs):
    """The pair term of orders that begin at a depot, the last stop."""

    def __init__(self, regions: Pairs) -> None:
        size = regions.dissimilarities.size
        tables = []
        for table, now in zip(regions.updates.tables, STAY, strict=True):
            wide = np.empty((size + 1, size + 1))
            wide[0], wide[1:, :size], wide[1:, size] = now, table, table[:, -1]  # the depot is nowhere else
            tables.append(frozen(wide))
        given = DissimilaritiesFromDepot(regions.dissimilarities)
        super().__init__(given, Updates(*tables), regions.total, regions.count)
        self.regions = regions

    @cached_property
    def same_samples(self) -> bool:
        """Whether training depends on the position alone."""
        return self.regions.same_samples

    @cached_property
    def same_positions(self) -> bool:
        """Whether training depends on the region alone; the first position does not count."""
        return self.regions.same_positions

    @cached_property
    def convex(self) -> bool:
        """Whether all p₁ are shares and all q >= 0."""
        return self.regions.convex

    @cached_property
    def typical(self) -> LinearError:
        """The error if each pair term were that of a region with its mean dissimilarity."""
        return from_depot(self.regions.typical)

    @cached_property
    def ratio(self) -> float:
        """How much of a region's largest pair term its score is made smaller by, in `relaxation`."""
        return self.regions.ratio

    @cached_property
    def rearrangement(self) -> LinearError:
        """The error with each pair term at its least."""
        return from_depot(self.regions.rearrangement)

    @cached_property
    def floor(self) -> LinearError:
        """The error of the mean of all models, and noise."""
        return from_depot(self.regions.floor)
