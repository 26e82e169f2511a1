"""What one region's batch does to a model: the paper's two updates, and a regularised one.

Features are `samples x features` here (the paper's x, transposed). Everything goes through a singular value
decomposition: no normal equations, no inverse.
"""

from __future__ import annotations

import numpy as np

from learnroute.errors import InputError
from learnroute.model.validation import FloatArray


def train(features: FloatArray, targets: FloatArray, previous: FloatArray) -> FloatArray:
    """Return the model after one region, by (e5) or (e11) as the shape of the batch has it."""
    samples, width = features.shape
    if abs(width - samples) <= 1:
        raise InputError(
            "the expected error does not exist for m in {n-1, n, n+1}; give more samples, fewer samples, or use a "
            "ProximalRegressor",
            field="a batch",
            found=f"of {samples} samples with {width} features",
        )
    if width < samples:
        return least_squares(features, targets)
    return least_change(features, targets, previous)


def least_squares(features: FloatArray, targets: FloatArray) -> FloatArray:
    """(e5): the one model that fits the batch best; whatever was learnt before is gone.

    Columns are brought to one length first, so that units do not decide what counts as rank-deficient.
    """
    scale = _lengths(features, axis=0)
    return _solve(features / scale, targets, "features") / scale


def least_change(features: FloatArray, targets: FloatArray, previous: FloatArray) -> FloatArray:
    """(e11): of all models that fit the batch exactly, the one nearest to the previous model."""
    scale = _lengths(features, axis=1)
    missing = (targets - features @ previous) / scale
    return previous + _solve(features / scale[:, None], missing, "samples")


def proximal(features: FloatArray, targets: FloatArray, previous: FloatArray, strength: float) -> FloatArray:
    """Return argmin_w |Xw - y|²/n + strength·|w - previous|², for a batch of any shape and rank."""
    left, singular, right = np.linalg.svd(features, full_matrices=False)
    shrunk = singular / (singular**2 + len(targets) * strength)
    step: FloatArray = right.T @ (shrunk * (left.T @ (targets - features @ previous)))
    return previous + step


def _lengths(features: FloatArray, axis: int) -> FloatArray:
    lengths: FloatArray = np.linalg.norm(features, axis=axis)
    return np.where(lengths > 0, lengths, 1.0)


def _solve(features: FloatArray, targets: FloatArray, what: str) -> FloatArray:
    """Least squares of least length, refusing a batch whose `what` are not independent."""
    solution, _, rank, _ = np.linalg.lstsq(features, targets, rcond=None)
    if rank < min(features.shape):
        raise InputError(
            f"its {what} are not independent; drop constant or repeated {what}, or use a ProximalRegressor",
            field="a batch",
            found=f"of {features.shape[0]} samples with {features.shape[1]} features has rank {rank}",
        )
    return np.asarray(solution, dtype=np.float64)
