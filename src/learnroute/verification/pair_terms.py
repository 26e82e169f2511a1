"""Dissimilarities of a regularised learner's problem in whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.model.problem import Problem
from learnroute.model.rounding import UNIT
from learnroute.model.validation import FloatArray
from learnroute.verification.exact import PLACES, distance_sums, distances_from_start, initial_sum, weighted_sums


class Terms(NamedTuple):
    """Dissimilarities for the checker: the rows of Δ, Δ_i0, and the scores."""

    row: Callable[[int], NDArray[Any]]  # row of Δ, in whole numbers of 2^-PLACES, rounded down
    initial: NDArray[Any]
    total: Fraction  # weighted sum of Δ_i0
    scores: tuple[Fraction, ...]
    floats: FloatArray  # upper bounds on Δ
    points: FloatArray | None  # vectors whose squared distances are Δ


ROWS = 128  # rows of Δ that are kept


def whole(numbers: FloatArray | NDArray[np.object_], places: int = PLACES) -> NDArray[Any]:
    """Return numbers as whole numbers of 2^-places, rounded down."""
    flat = [x.as_integer_ratio() for x in np.ravel(numbers).tolist()]
    found = np.empty(len(flat), dtype=object)
    found[:] = [(above << places) // below for above, below in flat]
    return found.reshape(np.shape(numbers))


def terms_of(problem: Problem, true: bool = False) -> Terms:
    """Return the dissimilarities of a problem; with `true`, those of the true models."""
    vectors = problem.truth if true else problem.vectors if problem.matrix is None else None
    weights, initial, total = problem.region_weights, whole(problem.initial_errors), initial_sum(problem)
    if vectors is None:
        delta = problem.matrix
        assert delta is not None
        of_matrix = lru_cache(ROWS)(lambda k: whole(delta[k]))
        return Terms(of_matrix, initial, total, weighted_sums(delta, weights), delta, None)
    floats = np.array([(1 + 64 * (vectors.shape[1] + 4) * UNIT) * ((vectors - v) ** 2).sum(axis=1) for v in vectors])
    digits = max(below.bit_length() - 1 for _, below in (x.as_integer_ratio() for x in vectors.ravel().tolist()))
    points = whole(vectors, digits)  # exact

    def of_vectors(k: int) -> NDArray[Any]:
        return np.asarray(((points - points[k]) ** 2).sum(axis=1) << PLACES) >> 2 * digits

    if true:
        away = distances_from_start(problem)
        initial = whole(np.array(away))
        total = sum((Fraction(w) * x for w, x in zip(weights.tolist(), away, strict=True)), Fraction(0))
    return Terms(lru_cache(ROWS)(of_vectors), initial, total, distance_sums(vectors, weights), floats, vectors)
