"""Proximal training: the mean squared residual plus λ times the squared distance to the previous model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from learnroute.errors import InputError
from learnroute.model.law import Step
from learnroute.model.learners.base import Learner
from learnroute.model.learners.least_squares import LeastSquares, check_inverse
from learnroute.model.spectrum import proximal_moments
from learnroute.model.validation import LARGEST_VALUE, as_number, as_vector

AUTO, SCHEDULE = "auto", "schedule"
CHOSEN = (AUTO, SCHEDULE)  # chosen by planning: one λ, or one λ per position


@dataclass(frozen=True)
class Proximal(Learner):
    """A learner that is regularised towards its previous model: it minimises ``|X'w - y|²/n + λ·|w - previous|²``.

    Parameters
    ----------
    features, samples, noise
        m, n and σ.
    regularization
        λ: a number, one number per position, or "auto" (one λ, chosen with the route) or "schedule" (one per position,
        chosen with the route). λ = 0 is least squares.
    """

    rule: str = "proximal"
    regularization: float | tuple[float, ...] | str = field(kw_only=True)
    hint: ClassVar[str] = "a number, or --regularization auto to choose it with the route"

    def _check_members(self) -> dict[str, Any]:
        name, given = "learner.regularization", self.regularization
        if isinstance(given, str):
            if given not in CHOSEN:
                reason = 'expected a number >= 0, a list of numbers (one per position), "auto" or "schedule"'
                raise InputError(reason, field=name, value=given)
            return {}
        if isinstance(given, int | float | np.number):
            return {"regularization": as_number(name, given, least=0.0, meaning="the regularisation λ")}
        values = as_vector(name, given, None, least=0.0, meaning="the regularisation λ")
        return {"regularization": tuple(values.tolist())}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of λ."""
        number = {"type": "number", "minimum": 0, "maximum": LARGEST_VALUE}
        kinds = [number, {"type": "array", "minItems": 2, "items": number}, {"enum": list(CHOSEN)}]
        text = "Regularisation strength λ, for the rule proximal: a number, one per position, or auto or schedule"
        return {"regularization": {"anyOf": kinds, "description": text}}

    def step(self, samples: int) -> Step:
        """Return the moments of P = λ(C + λI)⁻¹."""
        given = self.regularization
        if isinstance(given, str):
            raise InputError(
                "is chosen by `plan` together with the route; give a number here",
                field="learner.regularization",
                value=given,
            )
        return proximal_moments(self.features, samples, given).step(self.noise**2)

    def check_shape(self, field: str, n: int) -> None:
        """Reject m in {n-1, n, n+1} if λ is 0."""
        if 0 in self.fixed_regularization:
            check_inverse(self.features, field, n, "a regularization > 0")

    def check_positions(self, positions: int, exactly: bool = True) -> None:
        """Reject a list of λ without one entry per position."""
        given = len(self.regularization) if isinstance(self.regularization, tuple) else positions
        if given < positions or (exactly and given > positions):
            raise InputError(
                f"expected {positions}, one per position of the route",
                field="learner.regularization",
                found=f"has {given} entries",
            )

    def at(self, position: int) -> Learner:
        """Return the learner with the λ of a position; for λ = 0, least squares."""
        given = self.fixed_regularization
        value = given[position] if len(given) > 1 else given[0]
        if value == 0:
            return LeastSquares(self.features, self.samples, self.noise)
        return replace(self, regularization=value)

    @property
    def undecided(self) -> bool:
        """Whether λ is to be chosen by planning."""
        return isinstance(self.regularization, str)

    @property
    def by_position(self) -> bool:
        """Whether there is one λ per position."""
        return isinstance(self.regularization, tuple)

    @property
    def fixed_regularization(self) -> tuple[float, ...]:
        """The given values of λ; empty if they are to be chosen by planning."""
        given = self.regularization
        if isinstance(given, str):
            return ()
        return given if isinstance(given, tuple) else (given,)

    @property
    def training_text(self) -> str:
        """The rule and λ."""
        given = self.fixed_regularization
        if not given:
            return f"proximal, λ = {self.regularization}"
        if len(given) > 1:
            return f"proximal, λ = {min(given):.4g} … {max(given):.4g} by position"
        return f"proximal, λ = {given[0]:.4g}"
