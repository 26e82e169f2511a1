"""Early stopping: a few gradient steps from the previous model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from learnroute.errors import InputError
from learnroute.model.learners.base import Learner
from learnroute.model.spectrum import gradient_shares, largest_rate
from learnroute.model.validation import FloatArray, as_count, as_number


@dataclass(frozen=True)
class Gradient(Learner):
    """A learner that takes k gradient descent steps of size η on ``|X'w - y|²/(2n)`` from the previous model.

    Parameters
    ----------
    features, samples, noise
        m, n and σ.
    steps, rate
        k and η.
    """

    rule: str = "gradient"
    steps: int = field(kw_only=True)
    rate: float = field(kw_only=True)
    hint: ClassVar[str] = "--steps and --rate"

    def _check_members(self) -> dict[str, Any]:
        return {
            "steps": as_count("learner.steps", self.steps, meaning="the number of gradient steps"),
            "rate": as_number("learner.rate", self.rate, meaning="the step size"),
        }

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of steps and rate."""
        return {
            "steps": {
                "type": "integer",
                "minimum": 1,
                "description": "Gradient steps per visit, for the rule gradient",
            },
            "rate": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "Step size, for the rule gradient",
            },
        }

    def shares(self, eigenvalues: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return P = (I - ηC)^k and 1 - P."""
        return gradient_shares(self.rate * eigenvalues, self.steps)

    def check_shape(self, field: str, n: int) -> None:
        """Reject steps that diverge."""
        most = largest_rate(self.features, n)
        if not 0 < self.rate < most:
            raise InputError(
                f"gradient steps diverge unless 0 < rate < {most:.4g}, that is 2 / the largest eigenvalue of the "
                f"sample covariance of {field} = {n} samples",
                field="learner.rate",
                value=self.rate,
            )

    @property
    def training_text(self) -> str:
        """The number of steps and their size."""
        return f"{self.steps} gradient step{'' if self.steps == 1 else 's'} of {self.rate:g}"
