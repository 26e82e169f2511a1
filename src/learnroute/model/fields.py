"""Validation of the fields of a problem: each is checked once, and rejected with a message of one line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError
from learnroute.model.labelled_tables import Labelled, names_of
from learnroute.model.learners import Learner
from learnroute.model.rounding import PRINTED, SAME
from learnroute.model.validation import (
    FloatArray,
    IntArray,
    as_count,
    as_flag,
    as_matrix,
    as_square,
    as_vector,
    freeze,
)


def check_one_kind(dissimilarity: Any, vectors: Any, transfer: Any) -> None:
    """Require exactly one of the fields that define how regions differ."""
    if transfer is None:
        if (dissimilarity is None) == (vectors is None):
            given = "neither" if vectors is None else "both"
            raise InputError(f"{given} given; give exactly one of them", field="dissimilarity", found="and vectors")
        return
    for field, other in (("dissimilarity", dissimilarity), ("vectors", vectors)):
        if other is not None:
            raise InputError("both given; give exactly one of them", field="transfer", found=f"and {field}")


def parameter_names(truth: Any, vectors: Any) -> tuple[str, ...] | None:
    """Return the column names of the true models, or without them of the vectors, if they have names."""
    field, given = ("vectors", vectors) if truth is None else ("truth", truth)
    columns = Labelled.of(given).columns or []
    return names_of(field, columns, "column") if all(isinstance(name, str) for name in columns) else None


def as_samples(learner: Learner, samples: ArrayLike, size: int | None) -> IntArray:
    """Validate the numbers of samples per region."""
    if not learner.has_shape:
        raise InputError("a calibrated learner has no samples; remove them", field="samples")
    entries = as_vector("samples", samples, size, least=1.0, meaning="numbers of samples")
    counts = [as_count(f"samples[{i}]", n, meaning="the number of samples") for i, n in enumerate(entries.tolist())]
    if not counts:
        raise InputError("expected one per region", field="samples", found="has 0 entries")
    for i, n in enumerate(counts):
        learner.check_shape(f"samples[{i}]", n)
    return freeze(np.array(counts, dtype=np.int64))


def as_importance(importance: ArrayLike | None, size: int) -> FloatArray | None:
    """Validate the importance of the regions, if it is given."""
    if importance is None:
        return None
    entries = as_vector("importance", importance, size, least=0.0, meaning="importances")
    if not entries.any():
        raise InputError("is 0 for all regions; at least one must be > 0", field="importance")
    return entries


def weights_by(importance: FloatArray | None, size: int) -> FloatArray:
    """Return how much the error in each region counts: the importance, scaled to a mean of 1."""
    return freeze(np.ones(size) if importance is None else size * importance / math.fsum(importance))


def as_lower_bounds(low: ArrayLike | None, delta: FloatArray | None) -> FloatArray | None:
    """Validate lower bounds on the dissimilarities against the upper bounds."""
    if low is None:
        return None
    if delta is None:
        raise InputError("given without dissimilarity; lower bounds need upper bounds", field="dissimilarity_low")
    bounds = as_dissimilarities("dissimilarity_low", low, len(delta))
    i, j = divmod(int(np.argmax(bounds - delta)), len(delta))
    if bounds[i, j] > delta[i, j]:
        raise InputError(
            f"above dissimilarity[{i}, {j}] = {delta[i, j]:g}; a lower bound must not exceed the upper bound",
            field=f"dissimilarity_low[{i}, {j}]",
            found=f"= {bounds[i, j]:g}",
        )
    return bounds


def as_estimates(given: ArrayLike | None, size: int) -> FloatArray | None:
    """Validate unbiased estimates of the dissimilarities; entries below 0, which occur by chance, become 0."""
    if given is None:
        return None
    field = "dissimilarity_estimate"
    matrix = as_matrix(field, given, size, size, meaning="dissimilarities")
    return as_dissimilarities(field, np.maximum(matrix, 0.0), size)


def check_geographic(geographic: Any, places: FloatArray | None) -> None:
    """Reject invalid longitudes and latitudes."""
    if not as_flag("geographic", geographic):
        return
    if places is None:
        raise InputError(
            "there are no coordinates; give a longitude and a latitude for each region",
            field="geographic",
            found="= true",
        )
    for column, (most, what) in enumerate(((360.0, "longitudes"), (90.0, "latitudes"))):
        wrong = np.flatnonzero(np.abs(places[:, column]) > most)
        if wrong.size:
            i = int(wrong[0])
            raise InputError(
                f"{what} go from -{most:g} to {most:g} degrees; coordinates are [longitude, latitude]",
                field=f"coordinates[{i}, {column}]",
                found=f"= {places[i, column]:g}",
            )


def as_rows(field: str, value: ArrayLike | None, size: int, width: int | None, meaning: str) -> FloatArray | None:
    """Validate a field with one row per region, if it is given."""
    if value is None:
        return None
    rows = as_matrix(field, value, size, width, meaning=meaning)
    if rows.shape[1] == 0:
        raise InputError("expected at least 1", field=f"{field}[0]", found="has 0 entries")
    return rows


def as_initial_model(
    learner: Learner, truth: FloatArray | None, vectors: FloatArray | None, given: ArrayLike | None
) -> FloatArray | None:
    """Validate the initial model against the true models, or without them against the vectors."""
    models = vectors if truth is None else truth
    if models is None or (truth is None and given is None):
        if given is not None:
            reason = "given without truth and vectors; give one of them, or initial instead"
            raise InputError(reason, field="initial_model")
        return None
    width = models.shape[1]
    if truth is not None and width > learner.features and learner.has_shape:
        raise InputError(
            f"a learner with learner.features = {learner.features} has models of at most {learner.features}",
            field="truth[0]",
            found=f"has {width} entries",
        )
    model = np.zeros(width) if given is None else given
    return as_vector("initial_model", model, width, meaning="model parameters")


def as_initial(initial: ArrayLike | None, models: FloatArray | None, model: FloatArray | None, size: int) -> FloatArray:
    """Validate the initial errors; if they are not given, derive them from an initial model, or assume 0."""
    entries: ArrayLike = np.zeros(size) if initial is None else initial
    if initial is None and models is not None and model is not None:
        entries = ((models - model) ** 2).sum(axis=1)
    return as_vector("initial", entries, size, least=0.0, meaning="initial dissimilarities")


def remove_rounding_asymmetry(travel: FloatArray) -> FloatArray:
    """Return travel costs made exactly symmetric if the two directions only differ by rounding."""
    other = travel.T
    if np.array_equal(travel, other) or bool((np.abs(travel - other) > SAME * np.maximum(travel, other)).any()):
        return travel
    return freeze(np.maximum(travel, other))


def as_dissimilarities(field: str, value: ArrayLike, size: int) -> FloatArray:
    """Return a matrix made exactly symmetric; reject asymmetry beyond rounding."""
    matrix = as_square(field, value, size, meaning="dissimilarities")
    if np.array_equal(matrix, matrix.T):
        return matrix
    difference = np.abs(matrix - matrix.T)
    excess = difference - PRINTED * np.maximum(matrix, matrix.T)
    i, j = divmod(int(np.argmax(excess)), len(matrix))
    if excess[i, j] > 0:
        raise InputError(
            "dissimilarities must be symmetric; give the larger of the two in both places",
            field=f"{field}[{i}, {j}]",
            found=f"= {matrix[i, j]:g} but {field}[{j}, {i}] = {matrix[j, i]:g}",
        )
    return freeze((matrix + matrix.T) / 2)
