"""The learner, and how training moves the expected errors: the one place where a rule of learning is compiled away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from learnroute.errors import InputError, did_you_mean
from learnroute.model.spectrum import Moments, gradient_moments, largest_rate, proximal_moments
from learnroute.model.validation import (
    LARGEST_VALUE,
    FloatArray,
    IntArray,
    as_count,
    as_number,
    as_vector,
    frozen,
)

Regime = Literal["under", "over", "mixed"]
Rule = Literal["least-squares", "proximal", "gradient", "calibrated"]

LEAST_SQUARES: Rule = "least-squares"
PROXIMAL: Rule = "proximal"
GRADIENT: Rule = "gradient"
CALIBRATED: Rule = "calibrated"
RULES: dict[Rule, tuple[str, ...]] = {
    LEAST_SQUARES: (),
    PROXIMAL: ("regularization",),
    GRADIENT: ("steps", "rate"),
    CALIBRATED: ("retention", "coupling", "common_retention"),
}
OPTIONAL = ("common_retention",)  # of a rule's members, those that may be left out
# of MEMBERS, how a learner trains
TRAINING = ("rule", "regularization", "steps", "rate", "retention", "coupling", "common_retention")
MEMBERS = ("features", "samples", "noise", *TRAINING)
AUTO, SCHEDULE = "auto", "schedule"
UNKNOWN = 0  # m and n of a calibrated learner
CHOSEN = (AUTO, SCHEDULE)  # what a plan chooses: one λ, or one for each position


@dataclass(frozen=True, eq=False)
class Updates:
    """What training does to the expected errors, by position (row) and region (column).

    Training in region i turns the error e_j on each region j into

        retention·e_j - coupling·e_i + plasticity·Δ[i, j] + noise,

    where e_i is the error on i just before. Retention p₁ and plasticity add up to 1. The coupling is q = p₁ - p₂, and
    `second` is p₂. Least squares has q = 0: with n_i > m the old model is forgotten (retention 0), else retention is
    1 - n_i/m. Along an order, the arrays have one entry a stop.

    Of a calibrated learner with a common retention, `second` is that one, and the errors are a_j - b with
    a_j ← retention·a_j + plasticity·Δ[i, j] and b ← second·b + coupling·a_i - noise: the same where it is p₂.
    """

    retention: FloatArray
    plasticity: FloatArray
    coupling: FloatArray
    second: FloatArray
    noise: FloatArray

    def along(self, stops: Sequence[int] | IntArray, first: int = 0) -> Updates:
        """Return what training does at each stop of an order, or of a part of it that begins at position `first`."""
        at = np.arange(first, first + len(stops)), np.asarray(stops, dtype=np.int64)
        return Updates(*(frozen(table[at]) for table in self.tables))

    @property
    def tables(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Retention, plasticity, coupling, second moment and noise."""
        return self.retention, self.plasticity, self.coupling, self.second, self.noise

    @property
    def coupled(self) -> bool:
        """Whether errors are coupled: whether any q > 0."""
        return bool(self.coupling.any())


@dataclass(frozen=True)
class Learner:
    """The learner: m features, n fresh samples in each region, noise of standard deviation σ, and how it trains.

    Parameters
    ----------
    features, samples, noise
        m, n and σ. Of the rule calibrated, the noise is ν itself, what each visit adds to all errors; it may be
        negative, as the errors of a transfer matrix have noise in them.
    rule
        `least-squares`: the paper's learner. Where n > m it forgets what it knew, else it goes to the nearest exact
        fit. `proximal`: it minimises the mean squared residual plus λ times the squared distance to the model so far.
        `gradient`: it takes a few gradient steps from the model so far. `calibrated`: any learner whose law was
        measured (`learnroute.learning.calibrate`); it has neither m nor n.
    regularization
        λ of the proximal rule: a number, one number for each position, or "auto" (one λ, chosen with the route) or
        "schedule" (one for each position, chosen with the route).
    steps, rate
        The number of gradient steps, and their size.
    retention, coupling
        p₁ and q of a calibrated learner, 0 <= q <= p₁ <= 1.
    common_retention
        ρ of a calibrated learner: which share of what all regions gain from a visit a later visit leaves. If omitted,
        it is p₁ - q, as for linear learners; networks often have more. With it, q may be up to 1.

    Raises
    ------
    InputError
        Where a number is out of its range, or the expected error does not exist for this shape.
    """

    features: int = UNKNOWN
    samples: int = UNKNOWN
    noise: float = 0.0
    rule: Rule = LEAST_SQUARES
    regularization: float | tuple[float, ...] | str | None = None
    steps: int | None = None
    rate: float | None = None
    retention: float | None = None
    coupling: float | None = None
    common_retention: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.rule, str) or self.rule not in RULES:
            raise InputError(f"unknown; {did_you_mean(self.rule, RULES)}", field="learner.rule", value=self.rule)
        black_box = self.rule == CALIBRATED
        for name in ("features", "samples") if black_box else ():
            if getattr(self, name) not in (UNKNOWN, None):
                reason = "a calibrated learner has none; leave it out"
                raise InputError(reason, field=f"learner.{name}", value=getattr(self, name))
        m = UNKNOWN if black_box else as_count("learner.features", self.features, meaning="the number of features m")
        n = UNKNOWN if black_box else as_count("learner.samples", self.samples, meaning="the number of samples n")
        least = -LARGEST_VALUE if black_box else 0.0
        sigma = as_number(
            "learner.noise", self.noise, least=least, meaning="the noise ν" if black_box else "the noise σ"
        )
        for name in TRAINING[1:]:
            given, wanted = getattr(self, name), name in RULES[self.rule]
            if wanted and given is None and name not in OPTIONAL:
                needed = " and ".join(member for member in RULES[self.rule] if member not in OPTIONAL)
                raise InputError(f"missing; the rule {self.rule} needs {needed}", field=f"learner.{name}")
            if given is not None and not wanted:
                owner = next(rule for rule, members in RULES.items() if name in members)
                reason = f"the rule {self.rule} has none; give learner.rule = {owner!r}, or leave it out"
                raise InputError(reason, field=f"learner.{name}", value=given)
        checked: dict[str, Any] = {"features": m, "samples": n, "noise": sigma}
        if self.rule == PROXIMAL:
            checked["regularization"] = _regularization(self.regularization)
        elif self.rule == GRADIENT:
            checked["steps"] = as_count("learner.steps", self.steps, meaning="the number of gradient steps")
            checked["rate"] = as_number("learner.rate", self.rate, meaning="the size of a gradient step")
        elif self.rule == CALIBRATED:
            checked["retention"] = _share("learner.retention", self.retention, 1.0, "1")
            tied = self.common_retention is None
            most, limit = (checked["retention"], "the retention") if tied else (1.0, "1")
            checked["coupling"] = _share("learner.coupling", self.coupling, most, limit)
            if not tied:
                checked["common_retention"] = _share("learner.common_retention", self.common_retention, 1.0, "1")
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        self.check_shape("learner.samples", n)

    def check_shape(self, field: str, n: int) -> None:
        """Refuse n samples (given in `field`) where the expected error does not exist, or training diverges."""
        m = self.features
        if self.rule == CALIBRATED:
            return
        if self.rule == GRADIENT:
            assert self.rate is not None
            most = largest_rate(m, n)
            if not 0 < self.rate < most:
                raise InputError(
                    f"gradient steps diverge unless 0 < rate < {most:.4g}, that is 2 / the largest eigenvalue of the "
                    f"sample covariance of {field} = {n} samples",
                    field="learner.rate",
                    value=self.rate,
                )
        elif abs(m - n) <= 1 and (self.rule == LEAST_SQUARES or 0 in self.fixed_regularization):
            below = f"<= {n - 2} or " if n > 2 else ""
            raise InputError(
                "the expected error does not exist for m in {n-1, n, n+1} (the mean of an inverse Wishart matrix is "
                f"infinite there); use features {below}>= {n + 2}"
                + (", or the rule proximal" if self.rule == LEAST_SQUARES else ", or a regularization > 0"),
                field="learner.features",
                found=f"= {m} with {field} = {n}",
            )

    def check_positions(self, size: int) -> None:
        """Refuse a list of λ that has not one for each of T positions."""
        if isinstance(self.regularization, tuple) and len(self.regularization) != size:
            raise InputError(
                f"{size} needed, one for each position of the route",
                field="learner.regularization",
                found=f"has {len(self.regularization)} entries",
            )

    @property
    def undecided(self) -> bool:
        """Whether a plan is to choose the regularisation."""
        return isinstance(self.regularization, str)

    @property
    def fixed_regularization(self) -> tuple[float, ...]:
        """The values of λ that are given; none where a plan chooses them."""
        given = self.regularization
        if given is None or isinstance(given, str):
            return ()
        return given if isinstance(given, tuple) else (given,)

    def regularized(self, value: float | Sequence[float]) -> Learner:
        """Return the same learner with this λ, or one for each position."""
        if self.rule == CALIBRATED:
            raise InputError("a calibrated learner has no λ to choose; calibrate it with another", field="learner.rule")
        given: Any = value  # checked by the constructor
        return replace(self, rule=PROXIMAL, regularization=given, steps=None, rate=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the members of a problem file, without those that say nothing."""
        known: dict[str, Any] = {"features": self.features, "samples": self.samples}
        return {**({} if self.rule == CALIBRATED else known), "noise": self.noise, **self.training}

    @property
    def training(self) -> dict[str, Any]:
        """How the learner trains, as members of a problem file: nothing for least squares."""
        if self.rule == LEAST_SQUARES:
            return {}
        given = self.regularization
        members = {"regularization": list(given) if isinstance(given, tuple) else given, "steps": self.steps,
                   "rate": self.rate, "retention": self.retention, "coupling": self.coupling,
                   "common_retention": self.common_retention}  # fmt: skip
        wanted = [name for name in RULES[self.rule] if members[name] is not None or name not in OPTIONAL]
        return {"rule": self.rule, **{name: members[name] for name in wanted}}

    @property
    def training_text(self) -> str:
        """How the learner trains, in words; nothing for least squares and calibrated learners."""
        if self.rule == GRADIENT:
            return f"{self.steps} gradient step{'' if self.steps == 1 else 's'} of {self.rate:g}"
        if self.rule != PROXIMAL:
            return ""
        given = self.fixed_regularization
        if not given:
            return f"proximal, λ = {self.regularization}"
        if len(given) > 1:
            return f"proximal, λ = {min(given):.4g} … {max(given):.4g} by position"
        return f"proximal, λ = {given[0]:.4g}"

    @property
    def regime(self) -> Regime:
        """`under` (m < n: there are samples enough to fit each region) or `over` (there are not).

        A calibrated learner counts as `under` where it retains nothing.
        """
        if self.rule == CALIBRATED:
            return "over" if self.retention else "under"
        return "under" if self.features < self.samples else "over"

    def updates(self, counts: IntArray) -> Updates:
        """Return what training does at each position in regions with these numbers of samples."""
        size = len(counts)
        if self.undecided:
            raise InputError(
                "to be chosen; `plan` chooses it together with the route, else give a number",
                field="learner.regularization",
                value=self.regularization,
            )
        self.check_positions(size)
        numbers, kinds = np.unique(counts, return_inverse=True)
        by_kind = [self._update(int(n)) for n in numbers]
        tables = []
        for k in range(5):
            columns = np.array([np.broadcast_to(table[k], size if self._by_position else 1) for table in by_kind]).T
            tables.append(np.broadcast_to(columns[:, kinds], (size, size)))
        return Updates(*tables)

    @property
    def _by_position(self) -> bool:
        return isinstance(self.regularization, tuple)

    def _update(self, n: int) -> tuple[Any, Any, Any, Any, Any]:
        """Return what training with n samples does; one number each, or one for each position."""
        if self.rule == CALIBRATED:
            assert self.retention is not None
            assert self.coupling is not None
            tied = self.retention - self.coupling
            second = tied if self.common_retention is None else self.common_retention
            return self.retention, 1 - self.retention, self.coupling, second, self.noise
        m, variance = self.features, self.noise**2
        if self.rule == LEAST_SQUARES:
            retention = max(0, m - n) / m
            return retention, min(n, m) / m, 0.0, retention, min(n, m) * variance / (abs(n - m) - 1)
        if self.rule == PROXIMAL:
            given = self.regularization
            assert given is not None
            found = proximal_moments(m, n, np.array(given) if isinstance(given, tuple) else float(given))
        else:
            assert self.steps is not None
            assert self.rate is not None
            found = gradient_moments(m, n, self.steps, self.rate)
        return updates_from(found, variance)

    # The paper's closed forms, for least squares and equal samples

    @property
    def least_squares_retention(self) -> float:
        """The paper's r = 1 - n/m, the share of the old model that training in a region retains; 0 where n > m."""
        m, n = self.features, self.samples
        return (m - n) / m if m > n else 0.0

    def position_weights(self, size: int) -> FloatArray:
        """w[t] = (1-r)·r^(T-t): what each position gives to the final model; 0, …, 0, 1 in the under regime."""
        if self.regime == "under":
            return frozen(np.append(np.zeros(size - 1), 1.0))
        after = np.arange(size - 1, -1, -1, dtype=np.float64)
        return frozen((self.samples / self.features) * self.least_squares_retention**after)

    def retained(self, size: int) -> float:
        """r^T, the share of the first model that survives the whole route."""
        return self.least_squares_retention**size

    def noise_error(self, size: int) -> float:
        """Return the part of the expected final error that comes from noise, whatever the order."""
        m, n, variance = self.features, self.samples, self.noise**2
        if self.regime == "under":
            return m * variance / (n - m - 1)
        # log r without the rounding of 1 - n/m: exact for m just above n and for m far above n alike
        log_retention = math.log1p(-n / m) if 2 * n < m else math.log((m - n) / m)
        return -math.expm1(size * log_retention) * (m * variance / (m - n - 1))


def updates_from(moments: Moments, variance: float) -> tuple[Any, Any, Any, Any, Any]:
    """Return retention, plasticity, coupling, second moment and noise of a rule with these moments."""
    noise = moments.noise * variance if variance else 0.0 * moments.retention  # without noise, none is amplified
    return moments.retention, moments.plasticity, moments.coupling, moments.second, noise


def _share(field: str, given: Any, most: float, limit: str) -> float:
    share = as_number(field, given, least=0.0, meaning="shares")
    if share > most:
        raise InputError(f"a number from 0 to {limit} is needed", field=field, value=given)
    return share


def _regularization(given: Any) -> float | tuple[float, ...] | str:
    field = "learner.regularization"
    if isinstance(given, str):
        if given not in CHOSEN:
            reason = 'a number >= 0, a list of them (one for each position), "auto" or "schedule" is needed'
            raise InputError(reason, field=field, value=given)
        return given
    if isinstance(given, int | float | np.number):
        return as_number(field, given, least=0.0, meaning="the regularisation λ")
    return tuple(as_vector(field, given, None, least=0.0, meaning="the regularisation λ").tolist())
