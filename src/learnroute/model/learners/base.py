"""The base class of learners: their shape, their noise, and the interface of a learning rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from learnroute.errors import InputError
from learnroute.model.law import Step, Updates
from learnroute.model.spectrum import filter_moments
from learnroute.model.validation import FloatArray, IntArray, as_choice, as_count, as_number

Regime = Literal["under", "over", "mixed"]
SHAPE = ("features", "samples", "noise")  # members that do not belong to the learning rule
DEFAULT = "least-squares"


@dataclass(frozen=True)
class Learner:
    """A learner: m features, n fresh samples per region, label noise of standard deviation σ, and a learning rule.

    `Learner(features, samples, noise, rule, …)` creates an instance of the class with this rule, with the members of
    that class: `LeastSquares` (the default), `Proximal`, `Gradient` or `Calibrated`.

    Parameters
    ----------
    features, samples, noise
        m, n and σ.
    rule
        The name of the rule.

    Raises
    ------
    InputError
        If a number is out of range, or the expected error does not exist for this shape.
    """

    features: int = 0
    samples: int = 0
    noise: float = 0.0
    rule: str = ""

    if TYPE_CHECKING:  # the members depend on the rule

        def __init__(self, *shape: Any, **members: Any) -> None: ...
        def __getattr__(self, member: str) -> Any: ...

    hint: ClassVar[str] = ""  # how to specify the members of the rule, for messages
    couples: ClassVar[bool] = True  # whether training in one region changes errors by that region's error (q > 0)

    def __new__(cls, *shape: Any, **members: Any) -> Self:
        """Choose the class by the rule."""
        if cls is not Learner:
            return super().__new__(cls)
        rule = members.get("rule", shape[3] if len(shape) > 3 else DEFAULT)
        classes = {each.rule: each for each in Learner.__subclasses__()}
        chosen = classes[as_choice("learner.rule", rule, sorted(classes, key=lambda name: name != DEFAULT))]
        for name in members:
            if name not in (*SHAPE, "rule", *chosen.members()):
                owner = next((rule for rule, each in classes.items() if name in each.members()), None)
                remedy = (
                    "remove it" if owner is None else f"set learner.rule = {owner!r} (--rule {owner}), or remove it"
                )
                raise InputError(
                    f"the rule {rule} has no {name}; {remedy}", field=f"learner.{name}", value=members[name]
                )  # fmt: skip
        needed = [field.name for field in fields(chosen) if field.default is MISSING]
        for name in needed:
            if members.get(name) is None:
                reason = f"missing; the rule {rule} needs {' and '.join(needed)} ({chosen.hint})"
                raise InputError(reason, field=f"learner.{name}")
        return super().__new__(chosen)  # type: ignore[return-value]

    def __post_init__(self) -> None:
        own = type(self).rule
        if self.rule != own:
            raise InputError(f"expected {own!r}, the rule of this class", field="learner.rule", value=self.rule)
        self._set(**self._check_shape())
        self._set(**self._check_members())
        self.check_shape("learner.samples", self.samples)

    def _set(self, **members: Any) -> None:
        for name, value in members.items():
            object.__setattr__(self, name, value)

    def _check_shape(self) -> dict[str, Any]:
        return {
            "features": as_count("learner.features", self.features, meaning="the number of features m"),
            "samples": as_count("learner.samples", self.samples, meaning="the number of samples n"),
            "noise": as_number("learner.noise", self.noise, least=0.0, meaning="the noise σ"),
        }

    def _check_members(self) -> dict[str, Any]:
        """Return the validated members of the rule."""
        return {}

    @classmethod
    def members(cls) -> tuple[str, ...]:
        """Return the members of the rule: all members of a learner besides its shape."""
        return tuple(field.name for field in fields(cls) if field.name not in (*SHAPE, "rule"))

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the members of the rule."""
        return {}

    def shares(self, eigenvalues: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return P and 1 - P, the retained and the learnt shares of a model, by eigenvalue of the covariance.

        They define a linear, rotation-invariant rule completely: its error law and its simulation.
        """
        raise NotImplementedError

    def step(self, samples: int) -> Step:
        """Return the effect of training on n samples; each entry is one number, or one number per position."""
        return filter_moments(self.features, samples, self.shares).step(self.noise**2)

    def check_shape(self, field: str, n: int) -> None:
        """Reject n samples (given in `field`) for which the expected error does not exist or training diverges."""

    def check_positions(self, positions: int, exactly: bool = True) -> None:
        """Reject members per position with too few entries or, if `exactly`, with any other number of entries."""

    def at(self, position: int) -> Learner:
        """Return the learner that trains at every position as this learner does at the given position."""
        return self

    @property
    def undecided(self) -> bool:
        """Whether members of the rule are to be chosen by planning."""
        return False

    @property
    def by_position(self) -> bool:
        """Whether members of the rule differ by position."""
        return False

    @property
    def has_shape(self) -> bool:
        """Whether the learner has features and samples; a learner with a measured law has neither."""
        return True

    def with_regularization(self, value: float | Sequence[float] | str) -> Learner:
        """Return the proximal learner of the same shape with this λ, or with one λ per position."""
        return Learner(self.features, self.samples, self.noise, rule="proximal", regularization=value)

    @property
    def training(self) -> dict[str, Any]:
        """How the learner trains, as members of a problem file; empty for least squares."""
        given = {name: getattr(self, name) for name in self.members()}
        lists = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
        said = {name: value for name, value in lists.items() if value is not None}
        return {"rule": self.rule, **said} if self.rule != DEFAULT else {}

    def to_dict(self) -> dict[str, Any]:
        """Return the members in the format of a problem file, omitting those that are not needed."""
        shape = {"features": self.features, "samples": self.samples} if self.has_shape else {}
        return {**shape, "noise": self.noise, **self.training}

    @property
    def training_text(self) -> str:
        """How the learner trains, in words; empty for least squares."""
        return self.rule

    def shape_text(self, counts: IntArray | None) -> str:
        """Return m, n and σ in words; n may differ by region."""
        n = str(self.samples) if counts is None else f"{counts.min()} … {counts.max()}"
        return f"m = {self.features}, n = {n}, σ = {self.noise:g}"

    @property
    def doubt(self) -> str:
        """A doubt about the law of errors itself, as a relative clause; empty for a law that is proved."""
        return ""

    @property
    def label_noise(self) -> float:
        """The variance of the label noise, which measured squared errors contain on top of the expected error."""
        return self.noise**2

    @property
    def regime(self) -> Regime:
        """The regime: `under` (m < n: enough samples to fit each region) or `over` (too few samples)."""
        return "under" if self.features < self.samples else "over"

    def updates(self, counts: IntArray, positions: int | None = None) -> Updates:
        """Return the effect of training at each position (one per region if omitted) for the samples per region."""
        many = len(counts) if positions is None else positions
        self.check_positions(many, exactly=positions is None)
        numbers, kinds = np.unique(counts, return_inverse=True)
        steps = [self.step(int(n)) for n in numbers]
        tables: list[FloatArray] = []
        for parts in zip(*steps, strict=True):
            rows = many if self.by_position else 1
            columns = np.array([np.broadcast_to(np.atleast_1d(part)[:many], rows) for part in parts]).T
            columns = columns if len(numbers) == 1 else columns[:, kinds]
            tables.append(np.broadcast_to(columns, (many, len(counts))))
        return Updates(*tables)
