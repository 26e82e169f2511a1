"""Distances of models from noisy estimates of them: point estimates and upper confidence bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnroute.errors import InputError
from learnroute.model.validation import FloatArray

POWER_STEPS = 30


@dataclass(frozen=True, eq=False)
class Fit:
    """One region's least-squares model and the distribution of its error.

    The error is normal with covariance `variance`·LL', where L is `root`; `variance` is estimated with `degrees`
    degrees of freedom.
    """

    model: FloatArray
    root: FloatArray
    variance: float
    degrees: int

    @property
    def covariance(self) -> FloatArray:
        """The estimated covariance of the model."""
        matrix: FloatArray = self.variance * (self.root @ self.root.T)
        return matrix

    @property
    def inflation(self) -> float:
        """σ²·tr(X'X)^-1, the average increase by noise of the model's squared distance to any fixed model."""
        return self.variance * float(np.sum(self.root**2))


def fit(features: FloatArray, targets: FloatArray) -> Fit:
    """Fit one region by least squares, using a singular value decomposition after scaling columns to equal length."""
    samples, width = features.shape
    lengths = np.linalg.norm(features, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)
    left, singular, right = np.linalg.svd(features / scale, full_matrices=False)
    rank = int(np.sum(singular > singular[0] * max(samples, width) * np.finfo(float).eps))
    if rank < width:
        raise InputError(f"the {width} features have rank {rank} in {samples} samples; drop dependent columns")
    root = (right.T / singular) / scale[:, None]
    model = root @ (left.T @ targets)
    residual = targets - features @ model
    degrees = samples - width
    return Fit(model, root, float(residual @ residual) / degrees, degrees)


def error_draws(fit: Fit, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw possible errors of a model, one row per draw, including the uncertainty of the noise level."""
    noise = np.sqrt(fit.variance * fit.degrees / rng.chisquare(fit.degrees, draws))
    errors: FloatArray = noise[:, None] * (rng.standard_normal((draws, fit.root.shape[1])) @ fit.root.T)
    return errors


def upper_bound(squared: float, errors: FloatArray, worst: FloatArray, level: float) -> float:
    """Return a bound that the true squared distance exceeds with probability at most 1 - level.

    `squared` is the estimated squared distance, and `errors` are draws of its vector's error e. If the true vector
    were √D·v, an estimate this short would require an e with |√D·v + e|² <= squared, that is,
    √D <= -v·e + sqrt((v·e)² + squared - |e|²). The bound is the largest D for which this has probability
    1 - level. A long vector is hardest to detect in the direction of most noise, so v is that direction.
    """
    along = errors @ worst
    square = along**2 + squared - np.sum(errors**2, axis=1)
    length = np.where(square >= 0, np.sqrt(np.maximum(square, 0)) - along, 0.0)
    return float(np.quantile(np.maximum(length, 0.0), level, method="higher")) ** 2


def noisiest_direction(covariance: FloatArray) -> FloatArray:
    """Return an approximation of the direction of most noise, by power iteration from the noisiest coordinate."""
    direction: FloatArray = covariance[:, int(np.argmax(np.diagonal(covariance)))]
    for _ in range(POWER_STEPS):
        length = float(np.linalg.norm(direction))
        if length == 0:  # without noise, any direction will do
            return np.append(1.0, np.zeros(len(covariance) - 1))
        direction = covariance @ (direction / length)
    unit: FloatArray = direction / max(float(np.linalg.norm(direction)), 1e-300)
    return unit
