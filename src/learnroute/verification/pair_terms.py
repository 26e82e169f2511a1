"""Dissimilarities of a regularised learner's problem in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.model.problem import Problem
from learnroute.model.rounding import UNIT
from learnroute.model.validation import FloatArray
from learnroute.verification.exact import PLACES, distance_sums, distances_from_start, initial_sum, weighted_sums


class Terms(NamedTuple):
    """Dissimilarities for the checker: the rows of Δ, Δ_i0, and the scores."""

    places: int  # binary places of these numbers: PLACES, and more if all dissimilarities are tiny
    row: Callable[[int], NDArray[Any]]  # row of Δ, in whole numbers of 2^-places, rounded down
    initial: NDArray[Any]
    total: Fraction  # weighted sum of Δ_i0
    scores: tuple[Fraction, ...]
    floats: FloatArray  # upper bounds on Δ
    points: FloatArray | None  # vectors whose squared distances are Δ


def whole(numbers: FloatArray, places: int) -> NDArray[Any]:
    """Return floats as whole numbers of 2^-places, rounded down."""
    flat = [Fraction(x) for x in np.asarray(numbers, dtype=np.float64).ravel().tolist()]
    found = np.empty(len(flat), dtype=object)
    found[:] = [(x.numerator << places) // x.denominator for x in flat]
    return found.reshape(np.shape(numbers))


def _places(*numbers: FloatArray) -> int:
    """Return the binary places with which the largest number has PLACES significant ones."""
    largest = max(float(np.abs(part).max(initial=0.0)) for part in numbers)
    return PLACES + (max(0, -math.frexp(largest)[1]) if largest else 1074)


def terms_of(problem: Problem, true: bool = False) -> Terms:
    """Return the dissimilarities of a problem; with `true`, those of the true models."""
    vectors = problem.truth if true else problem.vectors if problem.matrix is None else None
    noise, weights = problem.updates.noise, problem.region_weights
    if vectors is None:
        assert problem.matrix is not None
        delta = problem.matrix
        places = _places(delta, problem.initial_errors, noise)
        scores, total = weighted_sums(delta, weights), initial_sum(problem)
        initial = whole(problem.initial_errors, places)
        return Terms(places, lambda k: whole(delta[k], places), initial, total, scores, delta, None)
    floats = np.array([(1 + 64 * (vectors.shape[1] + 4) * UNIT) * ((vectors - v) ** 2).sum(axis=1) for v in vectors])
    places = 2 * _places(np.sqrt(floats), np.sqrt(problem.initial_errors), np.sqrt(np.abs(noise)))
    points = whole(vectors, places)

    def row(k: int) -> NDArray[Any]:
        return np.asarray(((points - points[k]) ** 2).sum(axis=1)) >> places

    initial, total = whole(problem.initial_errors, places), initial_sum(problem)
    if true:
        away = distances_from_start(problem)
        initial = np.array([(x.numerator << places) // x.denominator for x in away], dtype=object)
        total = sum((Fraction(w) * x for w, x in zip(weights.tolist(), away, strict=True)), Fraction(0))
    return Terms(places, row, initial, total, distance_sums(vectors, weights), floats, vectors)
