"""Updates of a model by one region's batch: the paper's two updates, and regularised ones.

Features are `samples x features` here (the paper's x, transposed). All updates use a singular value decomposition or a
QR decomposition, without normal equations or inverses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnroute.errors import InputError
from learnroute.model.spectrum import gradient_shares
from learnroute.model.validation import FloatArray


def train(features: FloatArray, targets: FloatArray, previous: FloatArray) -> FloatArray:
    """Return the model after one region, by (e5) or (e11) depending on the shape of the batch."""
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


def may_be_dependent(batches: FloatArray) -> NDArray[np.bool_]:
    """Return for many batches whether `train` may reject them; those at the limit are included."""
    samples, width = batches.shape[1:]
    if abs(width - samples) <= 1:
        return np.ones(len(batches), dtype=np.bool_)
    lengths = np.linalg.norm(batches, axis=1 if width < samples else 2, keepdims=True)
    singular = np.linalg.svd(batches / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    return np.asarray(singular[:, -1] <= 100 * max(samples, width) * np.finfo(np.float64).eps * singular[:, 0])


def least_squares(features: FloatArray, targets: FloatArray) -> FloatArray:
    """Return the least-squares model of the batch (e5), which does not depend on the previous model.

    Columns are first scaled to equal length, so that the rank does not depend on units.
    """
    scale = _lengths(features, axis=0)
    return _solve(features / scale, targets, "features") / scale


def least_change(features: FloatArray, targets: FloatArray, previous: FloatArray) -> FloatArray:
    """Return the model nearest to the previous one among all models that fit the batch exactly (e11)."""
    scale = _lengths(features, axis=1)
    missing = (targets - features @ previous) / scale
    return previous + _solve(features / scale[:, None], missing, "samples")


def proximal(features: FloatArray, targets: FloatArray, previous: FloatArray, strength: float) -> FloatArray:
    """Return argmin_w |Xw - y|²/n + strength·|w - previous|², for a batch of any shape and rank."""
    left, singular, right = np.linalg.svd(features, full_matrices=False)
    shrunk = singular / (singular**2 + len(targets) * strength)
    step: FloatArray = right.T @ (shrunk * (left.T @ (targets - features @ previous)))
    return previous + step


def gradient(
    features: FloatArray, targets: FloatArray, previous: FloatArray, steps: int, rate: float | None
) -> FloatArray:
    """Return the model after several steps w ← w - rate·X'(Xw - y)/n, computed at once in the singular directions.

    The default rate is one over the largest eigenvalue of X'X/n. A rate for which the steps diverge is rejected.
    """
    left, singular, right = np.linalg.svd(features, full_matrices=False)
    values = singular**2 / len(targets)
    if not values.max(initial=0.0) > 0:
        return previous.copy()
    if rate is None:
        rate = 1 / values[0]
    elif rate * values[0] >= 2:
        raise InputError(
            f"gradient steps diverge on this batch; use a rate below 2/{values[0]:.6g} = {2 / values[0]:.6g} (2 over "
            "the largest eigenvalue of X'X/n), or scale the features",
            field="rate",
            value=rate,
        )
    learnt = gradient_shares(rate * values, steps)[1]
    shrunk = np.divide(learnt, singular, out=np.zeros_like(learnt), where=singular > 0)
    step: FloatArray = right.T @ (shrunk * (left.T @ (targets - features @ previous)))
    return previous + step


def recursive(
    features: FloatArray, targets: FloatArray, factor: FloatArray, initial: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the model that best fits all batches so far, and the factor that summarises them.

    `factor` is the triangular R of [X, y - X·initial] over all samples and the prior; R'R are their second moments.
    """
    batch = np.column_stack([features, targets - features @ initial])
    updated: FloatArray = np.linalg.qr(np.vstack([factor, batch]))[1]
    width = len(initial)
    step = np.linalg.solve(updated[:width, :width], updated[:width, width])
    return np.asarray(initial + step, dtype=np.float64), updated


def _lengths(features: FloatArray, axis: int) -> FloatArray:
    lengths: FloatArray = np.linalg.norm(features, axis=axis)
    return np.where(lengths > 0, lengths, 1.0)


def _solve(features: FloatArray, targets: FloatArray, what: str) -> FloatArray:
    """Return the minimum-norm least-squares solution; reject a batch whose `what` are linearly dependent."""
    solution, _, rank, _ = np.linalg.lstsq(features, targets, rcond=None)
    if rank < min(features.shape):
        raise InputError(
            f"its {what} are not independent; drop constant or repeated {what}, or use a ProximalRegressor",
            field="a batch",
            found=f"of {features.shape[0]} samples with {features.shape[1]} features has rank {rank}",
        )
    return np.asarray(solution, dtype=np.float64)
