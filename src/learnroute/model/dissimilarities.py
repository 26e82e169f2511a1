"""Dissimilarities of the regions' models, from a matrix, from vectors, or from measured errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import cached_property

import numpy as np

from learnroute.model.law import Updates, products_after
from learnroute.model.rounding import UNIT
from learnroute.model.validation import FloatArray, IntArray, freeze, is_symmetric

BLOCK = 64  # number of stops evaluated together
MATRIX_REGIONS = 3000  # up to this number, the matrix of dissimilarities of vectors is built for the bound


class Dissimilarities:
    """Δ between regions, from a matrix or from vectors, and Δ_i0 to the model that training starts from.

    Measured errors D may take the place of Δ: row k contains the errors after training in region k, and may differ from
    column k. Scores are sums over regions weighted by `region_weights`, which are 1 on average; all regions count
    equally if these are omitted.
    """

    def __init__(
        self, matrix: FloatArray | None, vectors: FloatArray | None, initial: FloatArray, scores: FloatArray,
        region_weights: FloatArray | None = None,
    ) -> None:  # fmt: skip
        self.vectors, self.initial, self.scores = vectors, initial, scores
        self.region_weights = freeze(np.ones(len(initial))) if region_weights is None else region_weights
        if matrix is not None:
            self.__dict__["matrix"] = matrix

    @property
    def size(self) -> int:
        """The number of regions."""
        return len(self.initial)

    @cached_property
    def matrix(self) -> FloatArray:
        """Δ as a matrix."""
        assert self.vectors is not None
        return freeze(np.array([self[i] for i in range(self.size)]))

    def __getitem__(self, region: int) -> FloatArray:
        """Return a row of Δ (or D): the error of this region's true model in each region."""
        if self.vectors is None or "matrix" in self.__dict__:
            row: FloatArray = self.matrix[region]
            return row
        apart = self.vectors - self.vectors[region]
        return freeze(np.einsum("ij,ij->i", apart, apart))

    def of(self, regions: Sequence[int] | IntArray) -> Dissimilarities:
        """Return the dissimilarities of some of the regions.

        Scores remain sums over all regions, because errors count in all of them.
        """
        some = np.asarray(regions)
        if np.array_equal(some, np.arange(self.size)):
            return self
        matrix = self.matrix[np.ix_(some, some)] if self.vectors is None else None
        vectors = None if self.vectors is None else self.vectors[some]
        initial, scores, weights = (freeze(row[some]) for row in (self.initial, self.scores, self.region_weights))
        return Dissimilarities(matrix, vectors, initial, scores, weights)

    def with_initial(self, errors: FloatArray) -> Dissimilarities:
        """Return the same dissimilarities with another initial model, which has these errors."""
        found = copy(self)
        found.initial = freeze(errors)
        return found

    @cached_property
    def symmetric(self) -> bool:
        """Whether the matrix can consist of squared distances: symmetric, with a zero diagonal."""
        if self.vectors is not None:
            return True
        return is_symmetric(self.matrix) and not np.diagonal(self.matrix).any()

    @cached_property
    def points(self) -> FloatArray:
        """Points whose squared distances are close to the dissimilarities: the vectors, or from classical scaling."""
        if self.vectors is not None:
            return self.vectors
        centred = self.matrix - self.matrix.mean(axis=0)
        values, axes = np.linalg.eigh(-0.5 * (centred - centred.mean(axis=1)[:, None]))
        return freeze(axes * np.sqrt(np.maximum(values, 0.0)))

    @cached_property
    def radii(self) -> FloatArray:
        """The squared distances of `points` to their weighted mean."""
        apart = subtract_mean(self.points, self.region_weights)
        return freeze(np.einsum("ij,ij->i", apart, apart))

    @cached_property
    def misfit(self) -> tuple[float, float]:
        """Maximum amounts by which dissimilarities are below (summed over a row) and above distances of `points`.

        Distances are squared, and rounding is added. In the sum, regions count by their weights, and by at least 1, so
        that it is not below any of its terms.
        """
        if self.vectors is not None:
            return 0.0, 0.0
        apart = Dissimilarities(None, self.points, self.initial, self.scores).matrix
        over = np.maximum(self.matrix - apart, 0.0)
        under = np.maximum(apart - self.matrix, 0.0)
        rounding = 64 * (self.size + 8) * UNIT * float(apart.max(initial=0.0))
        weights = np.maximum(self.region_weights, 1.0)
        below = float((under * weights).sum(axis=1).max()) + math.fsum(weights) * rounding
        return below, float(over.max()) + rounding

    def sum_of_rows(self, order: IntArray, shares: FloatArray) -> FloatArray:
        """Return the sum of the rows of Δ of an order of stops, each times its share.

        For vectors, it takes O(T·m): the rows' scatter about their mean, plus the distances from it. No region's error
        loses digits because others are larger.
        """
        if not shares.any():
            return np.zeros(self.size)
        total = math.fsum(shares)
        if self.vectors is None or "matrix" in self.__dict__ or total == 0:
            return np.asarray(shares @ self.matrix[order])
        by_region = np.zeros(self.size)
        np.add.at(by_region, order, shares)
        apart = _squares(subtract_mean(self.vectors, by_region))
        return np.asarray(float(shares @ apart[order]) + total * apart)

    def errors_before(self, order: IntArray, along: Updates) -> FloatArray:
        """Return a_k just before the visit to each stop k of an order: its mean dissimilarity to the current model.

        With one row of `along` per learner, there is one row per learner. Stops are processed in blocks: a block
        updates the errors of its own stops visit by visit, and those of all later stops at once.
        """
        if self.vectors is not None and "matrix" not in self.__dict__:
            return self._errors_by_vectors(order, along)
        found = np.tile(self.initial[order], (*along.retention.shape[:-1], 1))
        with np.errstate(under="ignore"):
            for begin in range(0, len(order), BLOCK):
                block, later = slice(begin, begin + BLOCK), slice(begin + BLOCK, None)
                kept, added = along.retention[..., block], along.plasticity[..., block]
                rows = self.matrix[order[block]][:, order[begin:]]
                found[..., block] = _errors_in_block(found[..., block], rows[:, :BLOCK], kept, added)
                after = products_after(kept)
                found[..., later] *= (after[..., 0] * kept[..., 0])[..., None]
                # No matmul here: its threads wait for each other if other programs keep the cores busy
                found[..., later] += np.einsum("...b,bj->...j", after * added, rows[:, BLOCK:])
        return found

    @cached_property
    def _vectors_about_mean(self) -> FloatArray:
        """The vectors minus their mean, so that their common part does not cost precision."""
        assert self.vectors is not None
        return freeze(subtract_mean(self.vectors, self.region_weights))

    def _errors_by_vectors(self, order: IntArray, along: Updates) -> FloatArray:
        """Return the same in O(T·d), from the weighted mean of the vectors learnt and the scatter about it."""
        vectors = self._vectors_about_mean
        found = np.empty(along.retention.shape)
        shape = found.shape[:-1]
        centre, scatter = np.zeros((*shape, vectors.shape[1])), np.zeros(shape)
        weight, first = np.zeros(shape), np.ones(shape)
        with np.errstate(under="ignore"):
            for begin in range(0, len(order), BLOCK):
                block = slice(begin, begin + BLOCK)
                kept, added = along.retention[..., block], along.plasticity[..., block]
                points = vectors[order[block]]
                away = _squares(points - centre[..., None, :])
                own = weight[..., None] * away + scatter[..., None] + first[..., None] * self.initial[order[block]]
                found[..., block] = _errors_in_block(own, _squares(points[:, None] - points), kept, added)
                after = products_after(kept)
                left, shares = after[..., 0] * kept[..., 0], after * added
                weight, scatter, first = left * weight, left * scatter, left * first
                total = weight + shares.sum(axis=-1)
                before, some = centre, np.where(total == 0, 1.0, total)
                moved = np.einsum("...b,...bd->...d", shares, points - before[..., None, :])
                centre = before + moved / some[..., None]
                scatter = scatter + weight * _squares(before - centre)
                scatter = scatter + np.einsum("...b,...b->...", shares, _squares(points - centre[..., None, :]))
                weight = total
        return found

    def largest(self) -> FloatArray:
        """Return an upper bound on a_k for each region: the largest dissimilarity to a region or the initial model."""
        if self.vectors is None or self.size <= MATRIX_REGIONS:
            return np.asarray(np.maximum(self.matrix.max(axis=0), self.initial))
        apart = self.vectors - self.vectors.mean(axis=0)
        radii = np.sqrt(np.einsum("ij,ij->i", apart, apart))
        return np.asarray(np.maximum((1 + 64 * UNIT) * (radii + radii.max()) ** 2, self.initial))


def _errors_in_block(own: FloatArray, apart: FloatArray, kept: FloatArray, added: FloatArray) -> FloatArray:
    """Return the errors of a block's stops, each just before its own visit, from the errors before the first visit."""
    found = np.empty_like(own)
    for t in range(len(apart)):
        found[..., t] = own[..., t]
        own = kept[..., t, None] * own + added[..., t, None] * apart[t]
    return found


def _squares(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...d,...d->...", vectors, vectors))


def row_sums(matrix: FloatArray, weights: FloatArray) -> FloatArray:
    """Return correctly rounded weighted row sums; they do not depend on the numbering of regions, so ties stay ties."""
    return freeze(np.array([math.fsum((row * weights).tolist()) for row in matrix], dtype=np.float64))


def distance_sums(vectors: FloatArray, weights: FloatArray) -> FloatArray:
    """Return, for each vector, the weighted sum of its squared distances to all vectors, in O(T·m).

    After subtracting the weighted mean, the cross term vanishes: S[i] = Σw·|v_i|² + sum_j w_j·|v_j|². Nothing cancels,
    so the relative error of S[i] is below (m + 8·√T)·2⁻⁵².
    """
    apart = subtract_mean(vectors, weights)
    squares = np.einsum("ij,ij->i", apart, apart)
    return freeze(math.fsum(weights) * squares + math.fsum(weights * squares))


def subtract_mean(vectors: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the vectors minus their weighted mean, so that their common part does not cost precision.

    The mean is subtracted twice. Far from the origin it is not a float64 number itself, but each difference to the
    rounded mean loses no more than one rounding of the difference, so the second mean is practically exact.
    """
    for _ in range(2):
        vectors = vectors - np.array([math.fsum(column * weights) for column in vectors.T]) / math.fsum(weights)
    return vectors
