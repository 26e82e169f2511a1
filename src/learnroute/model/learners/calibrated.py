"""A learner with a measured error law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from learnroute.errors import InputError
from learnroute.model.law import Step
from learnroute.model.learners.base import Learner, Regime
from learnroute.model.validation import IntArray, as_choice, as_number

VERDICTS = SUPPORTED, WEAK, NOT_SUPPORTED = "supported", "weak", "not supported"
DOUBTS = {WEAK: "which the measurements support only weakly", NOT_SUPPORTED: "which the measurements do not support"}


@dataclass(frozen=True)
class Calibrated(Learner):
    """Any learner with a measured error law (`learnroute.learning.calibrate`). It has neither m nor n.

    Parameters
    ----------
    noise
        ν, the error that each visit adds in all regions; it may be negative, because the errors of a transfer matrix
        contain noise.
    retention, coupling
        p₁ and q, 0 <= q <= p₁ <= 1.
    common_retention
        ρ, the share of a gain common to all regions that a later visit retains. If omitted, it is p₁ - q, as for linear
        learners; neural networks often have a larger ρ. If given, q may be up to 1.
    verdict
        Whether the measurements support the law: `supported`, `weak` or `not supported`; None if unknown. No route
        depends on it, but plans say so.
    measure
        The error measure of the law, such as `zero_one_error`; None if unknown.
    """

    rule: str = "calibrated"
    retention: float = field(kw_only=True)
    coupling: float = field(kw_only=True)
    common_retention: float | None = field(default=None, kw_only=True)
    verdict: str | None = field(default=None, kw_only=True)
    measure: str | None = field(default=None, kw_only=True)
    hint: ClassVar[str] = "`learnroute calibrate` measures them"

    def _check_shape(self) -> dict[str, Any]:
        for name in ("features", "samples"):
            if getattr(self, name) not in (0, None):
                reason = f"a calibrated learner has no {name}; remove them"
                raise InputError(reason, field=f"learner.{name}", value=getattr(self, name))
        noise = as_number("learner.noise", self.noise, meaning="the noise ν")
        return {"features": 0, "samples": 0, "noise": noise}

    def _check_members(self) -> dict[str, Any]:
        if self.verdict is not None:
            as_choice("learner.verdict", self.verdict, VERDICTS)
        if self.measure is not None and (not isinstance(self.measure, str) or not self.measure.isprintable()):
            raise InputError("expected the name of an error measure", field="learner.measure", value=self.measure)
        retention = _as_share("learner.retention", self.retention, 1.0, "1")
        if self.common_retention is None:
            coupling = _as_share("learner.coupling", self.coupling, retention, "the retention")
            return {"retention": retention, "coupling": coupling}
        return {
            "retention": retention,
            "coupling": _as_share("learner.coupling", self.coupling, 1.0, "1"),
            "common_retention": _as_share("learner.common_retention", self.common_retention, 1.0, "1"),
        }

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the shares, the verdict and the measure."""
        share = {"type": "number", "minimum": 0, "maximum": 1}
        texts = {
            "retention": "p₁, the share of the previous error that remains after a visit",
            "coupling": "q, the share of the trained region's error by which all errors decrease; at most p₁",
            "common_retention": "ρ, the share of a common gain that remains after a later visit; default p₁ - q",
        }
        kinds: dict[str, dict[str, Any]] = {
            **dict.fromkeys(texts, share),
            "verdict": {"enum": list(VERDICTS)},
            "measure": {"type": "string"},
        }
        texts |= {"verdict": "whether the measurements support the law", "measure": "the error measure of the law"}
        return {
            name: {**kinds[name], "description": f"For the rule calibrated: {text}"} for name, text in texts.items()
        }

    def step(self, samples: int) -> Step:
        """Return the measured step."""
        tied = self.retention - self.coupling
        second = tied if self.common_retention is None else self.common_retention
        return Step(self.retention, 1 - self.retention, self.coupling, second, self.noise)

    @property
    def has_shape(self) -> bool:
        """Whether the learner has features and samples: never."""
        return False

    def with_regularization(self, value: float | Sequence[float] | str) -> Learner:
        """Reject λ, because the measured law contains it already."""
        reason = "a calibrated learner has a fixed λ; to compare values of λ, calibrate the learner with each of them"
        raise InputError(reason, field="learner.rule")

    @property
    def training_text(self) -> str:
        """Empty, because the text of the shape describes it."""
        return ""

    def shape_text(self, counts: IntArray | None) -> str:
        """Return the measured numbers in words."""
        common = "" if self.common_retention is None else f", ρ = {self.common_retention:.4g}"
        verdict = "" if self.verdict is None else f", law {self.verdict}"
        return f"calibrated, p₁ = {self.retention:.4g}, q = {self.coupling:.4g}{common}, ν = {self.noise:.4g}{verdict}"

    @property
    def doubt(self) -> str:
        """A doubt about the law itself, as a relative clause; empty if there is none."""
        return DOUBTS.get(self.verdict or "", "")

    @property
    def label_noise(self) -> float:
        """0, because measured errors contain the label noise."""
        return 0.0

    @property
    def regime(self) -> Regime:
        """The regime: `under` if nothing is retained, otherwise `over`."""
        return "over" if self.retention else "under"


def _as_share(field: str, given: Any, most: float, limit: str) -> float:
    share = as_number(field, given, least=0.0, meaning="shares")
    if share > most:
        raise InputError(f"expected a number from 0 to {limit}", field=field, value=given)
    return share
