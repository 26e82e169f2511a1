"""The paper's learner: least squares if n > m, otherwise the exact fit that is nearest to the previous model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from learnroute.errors import InputError
from learnroute.model.law import Step
from learnroute.model.learners.base import DEFAULT, Learner


@dataclass(frozen=True)
class LeastSquares(Learner):
    """The paper's learner. With n > m samples it forgets its model (e5), otherwise takes the nearest exact fit (e11).

    Parameters
    ----------
    features, samples, noise
        m, n and σ.
    """

    rule: str = DEFAULT
    couples: ClassVar[bool] = False

    def step(self, samples: int) -> Step:
        """Return p₁ = p₂ = max(0, 1 - n/m), and the noise of the mean of an inverse Wishart matrix."""
        m, n, variance = self.features, samples, self.noise**2
        retention = max(0, m - n) / m
        return Step(retention, min(n, m) / m, 0.0, retention, min(n, m) * variance / (abs(n - m) - 1))

    def check_shape(self, field: str, n: int) -> None:
        """Reject m in {n-1, n, n+1}."""
        check_inverse(self.features, field, n, "the rule proximal")

    @property
    def training_text(self) -> str:
        """Empty: least squares is the default."""
        return ""

    @property
    def retention(self) -> float:
        """The paper's r = 1 - n/m, the share of the old model that training in a region retains; 0 if n > m."""
        return max(0, self.features - self.samples) / self.features


def check_inverse(m: int, field: str, n: int, instead: str) -> None:
    """Reject a shape for which the mean of an inverse Wishart matrix is infinite."""
    if abs(m - n) <= 1:
        below = f"<= {n - 2} or " if n > 2 else ""
        raise InputError(
            "the expected error does not exist for m in {n-1, n, n+1} (the mean of an inverse Wishart matrix is "
            f"infinite there); use features {below}>= {n + 2}, or {instead}",
            field="learner.features",
            found=f"= {m} with {field} = {n}",
        )
