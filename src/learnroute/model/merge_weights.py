"""The weights that minimise the error of an average of models: a small quadratic programme."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from learnroute.model.validation import FloatArray

FEW = 8  # models up to which all faces of the simplex are tried
STEPS = 20_000  # maximum number of descent steps beyond
SETTLED = 1e-14  # relative to the largest term of a slope: slopes that differ by less count as equal
NEGLIGIBLE = 1e-13  # relative to the terms of the value: a larger face must gain more than this


def merge_weights(linear: FloatArray, quadratic: FloatArray) -> FloatArray:
    """Return the weights α >= 0 of sum 1 that minimise c·α - α'Qα/2.

    Parameters
    ----------
    linear
        c: the summed error of each model.
    quadratic
        Q: the squared distances between models, times the number of regions. The programme is convex if these are
        squared distances. Otherwise, the best weights are found for up to 8 models, and a local minimum for more.
    """
    linear = linear - linear.min()  # what is common to all models would hide how little they differ
    found: FloatArray = np.eye(len(linear))[np.argmin(linear)]
    if len(linear) > FEW:
        return _descend(linear, quadratic, found)
    least = _value(linear, quadratic, found)
    for count in range(2, len(linear) + 1):  # smaller faces first, to give weight to as few models as possible
        for face in combinations(range(len(linear)), count):
            weights = _stationary(linear, quadratic, list(face))
            if weights is None:
                continue
            reached = _value(linear, quadratic, weights)
            if reached < least - NEGLIGIBLE * _value(linear, -np.abs(quadratic), weights):
                found, least = weights, reached
    return found


def _value(linear: FloatArray, quadratic: FloatArray, weights: FloatArray) -> float:
    return float(linear @ weights - 0.5 * weights @ quadratic @ weights)


def _stationary(linear: FloatArray, quadratic: FloatArray, face: list[int]) -> FloatArray | None:
    """Return the stationary point on a face of the simplex, if there is one with all weights positive.

    It exists only if errors differ less than the model's distances allow. However flat the face is, the value at the
    point found is accurate: the point solves a system with slightly different distances (backward stability).
    """
    count, apart = len(face), quadratic[np.ix_(face, face)]
    scale = float(np.abs(apart).max())
    if scale == 0 or float(np.ptp(linear[face])) > 2 * scale:
        return None
    system = np.ones((count + 1, count + 1))
    system[:count, :count], system[count, count] = apart / scale, 0.0
    try:
        found = np.linalg.solve(system, np.append(linear[face] / scale, 1.0))[:count]
    except np.linalg.LinAlgError:
        return None
    if not found.min() > 0:
        return None
    weights = np.zeros(len(linear))
    weights[face] = found / found.sum()
    return weights


def _descend(linear: FloatArray, quadratic: FloatArray, weights: FloatArray) -> FloatArray:
    """Shift weight between the two models whose slopes differ most, until all slopes are equal."""
    weights = weights.copy()
    for _ in range(STEPS):
        pulls = quadratic @ weights
        slopes = linear - pulls
        to, away = int(np.argmin(slopes)), int(np.argmax(np.where(weights > 0, slopes, -np.inf)))
        gain = slopes[away] - slopes[to]
        if gain <= SETTLED * max(linear.max(), np.abs(pulls).max()):
            break
        curve = 2 * quadratic[to, away]  # of the value in this direction
        step = min(weights[away], gain / curve) if curve > 0 else weights[away]
        weights[to], weights[away] = weights[to] + step, weights[away] - step
    return weights
