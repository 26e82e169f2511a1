"""Errors along orders that begin at an origin: a stop that comes first and trains nothing.

Examples are a depot and the agent's current place during a journey. At the first position, and only there, training
retains everything and learns nothing (p₁ = p₂ = 1, q = ν = 0), and all other positions move back by one. So the error
of an order is that of its regions, and the same holds for all bounds.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from learnroute.model.dissimilarities import Dissimilarities
from learnroute.model.ends import Ends
from learnroute.model.law import STAY, Updates, products_after
from learnroute.model.objective import Objective, Paired
from learnroute.model.pairs import LinearError, Pairs
from learnroute.model.travel import Travel
from learnroute.model.validation import FloatArray, freeze


def order_objective(travel: Travel, error: Pairs, ends: Ends, origin: bool, coupled: bool, equal: bool) -> Objective:
    """Return the objective of orders with this error; with `origin`, they begin at the last stop of `travel`.

    If errors are not `coupled`, training is assumed to be the same at every position and, if `equal`, in every region.
    """
    if coupled:
        return Paired(travel, PairsFromOrigin(error) if origin else error, ends)
    known, count = error.dissimilarities, error.count
    retention, plasticity, _, _, noise = (freeze(table[0]) for table in error.updates.tables)
    constant = float(np.prod(retention)) * error.total
    if equal:
        constant = math.fsum([constant, *(count * products_after(retention) * noise)])
        with np.errstate(under="ignore"):
            weights = float(plasticity[0]) * float(retention[0]) ** np.arange(known.size - 1, -1, -1.0)
        linear = LinearError(known.scores, freeze(weights), constant)
    else:
        scores = freeze(plasticity * known.scores + count * noise)
        factors = retention if retention.any() else None  # if nothing is retained, only the last region counts
        linear = LinearError(scores, freeze(np.append(np.zeros(known.size - 1), 1.0)), constant, factors)
    return (from_origin(linear) if origin else linear).objective(travel, ends)


def from_origin(linear: LinearError) -> LinearError:
    """Return a linear error with the origin as the last stop, with a score of 0 and the first position's weight."""
    scores, weights, constant, factors = linear
    scores = freeze(np.append(scores, 0.0))
    if factors is not None:
        factors = freeze(np.append(factors, 1.0))
        return LinearError(scores, freeze(products_after(np.sort(factors)[::-1])), constant, factors)
    further = weights[0] * (weights[0] / weights[1]) if weights[1] > 0 else 0.0
    return LinearError(scores, freeze(np.append(further, weights)), constant)


class DissimilaritiesFromOrigin(Dissimilarities):
    """The dissimilarities of the regions and an origin, whose model is the initial model."""

    def __init__(self, regions: Dissimilarities) -> None:
        vectors = regions.vectors
        padded = None if vectors is None else freeze(np.vstack([vectors, np.zeros(vectors.shape[1])]))
        initial, scores = (freeze(np.append(numbers, 0.0)) for numbers in (regions.initial, regions.scores))
        super().__init__(None, padded, initial, scores)
        self.regions = regions

    @cached_property
    def matrix(self) -> FloatArray:
        """Δ as a matrix; the origin's row is that of the initial model, and its column has no meaning."""
        size = self.regions.size
        found = np.zeros((size + 1, size + 1))
        found[:size, :size], found[size, :size] = self.regions.matrix, self.regions.initial
        return freeze(found)

    @cached_property
    def symmetric(self) -> bool:
        """Whether the matrix of the regions can consist of squared distances."""
        return self.regions.symmetric

    @cached_property
    def radii(self) -> FloatArray:
        """The squared distances of the regions' points to their weighted mean; the origin is at that mean."""
        return freeze(np.append(self.regions.radii, 0.0))

    @cached_property
    def misfit(self) -> tuple[float, float]:
        """Maximum amounts by which dissimilarities of regions are below and above distances of points."""
        return self.regions.misfit

    def largest(self) -> FloatArray:
        """Return an upper bound on a_k for each region."""
        return np.append(self.regions.largest(), 0.0)


class PairsFromOrigin(Pairs):
    """The pair term of orders that begin at an origin, the last stop."""

    def __init__(self, regions: Pairs) -> None:
        size = regions.dissimilarities.size
        tables = []
        for table, now in zip(regions.updates.tables, STAY, strict=True):
            wide = np.empty((size + 1, size + 1))
            wide[0], wide[1:, :size], wide[1:, size] = now, table, table[:, -1]  # the origin has no other position
            tables.append(freeze(wide))
        given = DissimilaritiesFromOrigin(regions.dissimilarities)
        super().__init__(given, Updates(*tables), regions.total, regions.count)
        # The effect of training does not depend on the origin
        self.same_samples, self.same_positions = regions.same_samples, regions.same_positions
        self.convex = regions.convex
        self.regions = regions

    @cached_property
    def typical(self) -> LinearError:
        """The error with the pair term of a region with mean dissimilarity."""
        return from_origin(self.regions.typical)

    @cached_property
    def rearrangement(self) -> LinearError:
        """The error with a lower bound on each pair term."""
        return from_origin(self.regions.rearrangement)

    @cached_property
    def floor(self) -> LinearError:
        """The error of the mean of all models, and the noise."""
        return from_origin(self.regions.floor)
