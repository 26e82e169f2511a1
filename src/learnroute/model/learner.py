"""The learner, and how training moves the expected errors: the one place where a rule of learning is compiled away."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from learnroute.errors import InputError
from learnroute.model.validation import FloatArray, IntArray, as_count, as_number, frozen

Regime = Literal["under", "over", "mixed"]


@dataclass(frozen=True, eq=False)
class Steps:
    """What training in each region does to the expected error: it retains a share, learns one, and adds noise.

    Training in region i turns an error e_j on region j into retention_i·e_j + plasticity_i·Δ[i, j] + noise_i. With
    n_i > m the old model is forgotten (retention 0, plasticity 1); else retention_i = 1 - n_i/m and plasticity_i =
    n_i/m. So the share of region τ_t in the final model is its plasticity times the later ones' retentions.
    """

    retention: FloatArray
    plasticity: FloatArray
    noise: FloatArray


@dataclass(frozen=True)
class Learner:
    """The shape of the learner: m features, n fresh samples in each region, noise of standard deviation σ."""

    features: int
    samples: int
    noise: float = 0.0

    def __post_init__(self) -> None:
        m = as_count("learner.features", self.features, meaning="the number of features m")
        n = as_count("learner.samples", self.samples, meaning="the number of samples n")
        sigma = as_number("learner.noise", self.noise, least=0.0, meaning="the noise σ")
        check_shape("learner.samples", m, n)
        object.__setattr__(self, "features", m)
        object.__setattr__(self, "samples", n)
        object.__setattr__(self, "noise", sigma)

    @property
    def regime(self) -> Regime:
        """`under` (m <= n - 2: each region is fitted from scratch) or `over` (m >= n + 2: the model is carried on)."""
        return "under" if self.features < self.samples else "over"

    @property
    def retention(self) -> float:
        """The paper's r = 1 - n/m, the share of the old model that training in a region retains; 0 where n > m."""
        m, n = self.features, self.samples
        return (m - n) / m if m > n else 0.0

    def steps(self, counts: IntArray) -> Steps:
        """Return what training does in regions with these numbers of samples."""
        m, variance = self.features, self.noise**2
        under = counts > m
        retention = np.maximum(0, m - counts) / m
        noise = np.where(under, m, counts) * variance / (np.abs(counts - m) - 1)
        return Steps(frozen(retention), frozen(np.where(under, 1.0, counts / m)), frozen(noise))

    def position_weights(self, size: int) -> FloatArray:
        """w[t] = (1-r)·r^(T-t): what each position gives to the final model; 0, …, 0, 1 in the under regime."""
        if self.regime == "under":
            return frozen(np.append(np.zeros(size - 1), 1.0))
        after = np.arange(size - 1, -1, -1, dtype=np.float64)
        return frozen((self.samples / self.features) * self.retention**after)

    def retained(self, size: int) -> float:
        """r^T, the share of the first model that survives the whole route."""
        return self.retention**size

    def noise_error(self, size: int) -> float:
        """Return the part of the expected final error that comes from noise, whatever the order."""
        m, n, variance = self.features, self.samples, self.noise**2
        if self.regime == "under":
            return m * variance / (n - m - 1)
        # log r without the rounding of 1 - n/m: exact for m just above n and for m far above n alike
        log_retention = math.log1p(-n / m) if 2 * n < m else math.log((m - n) / m)
        return -math.expm1(size * log_retention) * (m * variance / (m - n - 1))


def check_shape(field: str, m: int, n: int) -> None:
    """Refuse m features with n samples (given in `field`) where the expected error does not exist."""
    if abs(m - n) <= 1:
        below = f"<= {n - 2} or " if n > 2 else ""
        raise InputError(
            "the expected error does not exist for m in {n-1, n, n+1} (the mean of an inverse Wishart matrix is "
            f"infinite there); use features {below}>= {n + 2}",
            field="learner.features",
            found=f"= {m} with {field} = {n}",
        )
