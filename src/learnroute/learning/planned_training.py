"""The training and the expected errors of a plan: everything that `follow` needs from a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.learning.data import Batch, RegionData, uneven_moments
from learnroute.learning.measures import squared_error
from learnroute.learning.serving import PlannedFleet
from learnroute.model.features_scaling import FeaturesScaling
from learnroute.model.fields import as_importance
from learnroute.model.learners import TRAINING, Calibrated, Gradient, Learner, LeastSquares, Proximal
from learnroute.model.order_effect import as_rehearsal
from learnroute.model.result import Plan
from learnroute.model.validation import (
    FloatArray,
    IntArray,
    as_count,
    as_members,
    as_number,
    as_vector,
    freeze,
)

SERVICE = ("weights", "served_by")  # how models serve: by the law or, in the member `rehearsal`, by rehearsal
LEARNERS = "learnroute.learning.learners"  # the module of the learners that plans are made for
MANY = 10**9  # enough samples to make every rate and every rule valid; the plan's number is kept separately


@dataclass(frozen=True, eq=False)
class PlannedTraining:
    """The route of a plan, how its learner trains, and the errors that it expects.

    Attributes
    ----------
    learner
        How to train; only the numbers of its rule are meaningful here.
    features, samples
        m, and the number of samples per visit; None if the plan does not contain them.
    scaling
        The scaling from raw features to the learner's.
    errors, label_noise
        Expected errors per region of `regions` without label noise, and the variance of that noise.
    skipped
        The regions that are not visited.
    importance
        How much the error in each region of `regions` counts in the mean; None if all count equally.
    fleet
        The model that each visit of `route` trains, and how the models serve; None if there is one model.
    is_rehearsed
        Whether the errors come from a rehearsal, which makes no assumptions about the features.
    """

    route: tuple[str, ...]
    learner: Learner
    features: int | None = None
    samples: IntArray | None = None
    scaling: FeaturesScaling | None = None
    errors: FloatArray | None = None
    label_noise: float | None = None
    skipped: tuple[str, ...] = ()
    importance: FloatArray | None = None
    fleet: PlannedFleet | None = None
    is_rehearsed: bool = False

    @classmethod
    def of(cls, plan: Plan | Mapping[str, Any]) -> PlannedTraining:
        """Return the planned training of a plan or of its JSON object."""
        data = plan.training() if isinstance(plan, Plan) else plan
        rehearsal = data.get("rehearsal")
        served = {name: rehearsal[name] for name in SERVICE if name in rehearsal} if rehearsal else {}
        fleet = PlannedFleet.of({**data, **served})
        route = data.get("route") if fleet is None else [name for one in fleet.routes for name in one]
        if not isinstance(route, list) or not all(isinstance(name, str) for name in route):
            raise InputError("missing; expected a plan, as `learnroute plan -o plan.json` writes it", field="route")
        skipped = data.get("skipped", [])
        if not isinstance(skipped, list) or not all(isinstance(name, str) for name in skipped):
            raise InputError("expected a list of region names", field="skipped", value=skipped)
        size, regions = len(route), len({*route, *skipped})
        learner = _training(data.get("learner", {}), size if fleet is None else fleet.most_trainings)
        features, samples, errors = data.get("features"), data.get("samples"), data.get("expected_errors")
        noise, scaling = data.get("label_noise"), data.get("features_scaling")
        rehearsed = as_rehearsal(rehearsal, regions)
        if rehearsed is not None:  # measured errors, which contain the label noise
            errors, noise = rehearsed["errors"], 0.0
        if samples is not None:
            listed = samples if isinstance(samples, list) else [samples] * size
            counts = as_vector("samples", listed, size, least=1.0, meaning="numbers of samples")
            samples = freeze(counts.astype(np.int64))
        if noise is not None:
            noise = as_number("label_noise", noise, least=0.0, meaning="the label noise", derived=True)
        if errors is not None:
            errors = as_vector("expected_errors", errors, regions, meaning="errors", derived=True)
        return cls(
            tuple(route),
            learner,
            None if features is None else as_count("features", features, meaning="the number of features m"),
            samples,
            None if scaling is None else FeaturesScaling.from_dict(scaling),
            errors,
            noise,
            tuple(skipped),
            as_importance(data.get("importance"), regions),
            fleet,
            rehearsed is not None,
        )

    @property
    def regions(self) -> tuple[str, ...]:
        """All regions, in order of first visit, then the skipped ones."""
        return tuple(dict.fromkeys([*self.route, *self.skipped]))

    def importance_in(self, regions: Sequence[str]) -> FloatArray | None:
        """Return how much the error in each of the given regions counts; None if all count equally."""
        if self.importance is None:
            return None
        return as_importance(self.importance[[self.regions.index(name) for name in regions]], len(regions))

    @property
    def is_calibrated(self) -> bool:
        """Whether the plan was made for a calibrated learner, which cannot be rebuilt from the plan."""
        return isinstance(self.learner, Calibrated)

    @property
    def measure(self) -> str:
        """The error measure that the plan predicts; empty if it is unknown."""
        return (self.learner.measure or "") if isinstance(self.learner, Calibrated) else squared_error.__name__

    def fits_intercept(self, width: int) -> bool:
        """Return whether samples with `width` (scaled) features need a constant to have the plan's features."""
        return needs_intercept(width, self.features, self.scaling)

    def make_learner(self, width: int) -> Any:
        """Return the learner of the plan, for samples with this many (scaled) features."""
        if self.is_calibrated:
            raise InputError(
                "missing; a plan for a calibrated learner does not define how to train; give the learner (--learner)",
                field="learner",
            )
        return make_learner(self.learner, self.fits_intercept(width))

    def remarks(self, regions: Sequence[RegionData], batches: Sequence[Batch], model: Any) -> tuple[str, ...]:
        """Return one sentence per difference between samples or learner and those that the plan assumes."""
        found = []
        width = regions[0].train[0].shape[1]
        counts = np.array([len(targets) for _, targets in batches])
        if self.samples is not None and not np.array_equal(self.samples, counts):
            found.append(
                f"the plan assumes {_range(self.samples)} training samples per visit; training on {_range(counts)}"
            )
        own = width + bool(getattr(model, "fit_intercept", False))
        if self.features is not None and own != self.features:
            found.append(f"the plan was made for {self.features} features; these samples have {own}")
        if not self.is_calibrated and not self.is_rehearsed and self.errors is not None:
            pooled = np.concatenate([region.train[0] for region in regions])
            uneven = uneven_moments(pooled[:, np.ptp(pooled, axis=0) > 0])
            if uneven is not None:
                found.append(
                    f"the features' second moments go from {uneven[0]:.2g} to {uneven[1]:.2g} by direction, but the "
                    "prediction assumes 1; plan with features that `estimate` scaled"
                )
        return tuple(found)

    def difference(self, model: Any) -> str | None:
        """Say how the training of a learner differs from the plan; None if it does not, or if that is unknown."""
        if self.is_calibrated:
            return None
        own, other = _rule_of(self.learner), rule_of_model(model)
        if own == other:
            return None
        return f"the plan was made for {describe(own)}, so there is no prediction for {describe(other)}"


def needs_intercept(width: int, features: int | None, scaling: FeaturesScaling | None) -> bool:
    """Return whether a learner fits a constant: not if samples have all m features or the scaling adds a constant."""
    return width != features and not (scaling is not None and scaling.intercept)


def make_learner(learner: Learner, fit_intercept: bool) -> Any:
    """Return an estimator that trains like a learner of a problem."""
    from learnroute import learning

    learners: Any = learning  # scikit-learn is imported when the first of them is made
    if isinstance(learner, Gradient):
        return learners.GradientRegressor(learner.steps, learner.rate, fit_intercept=fit_intercept)
    if isinstance(learner, Proximal) and learner.regularization != 0:
        given = learner.regularization
        strength = list(given) if isinstance(given, tuple) else given
        return learners.ProximalRegressor(strength, fit_intercept=fit_intercept)
    if isinstance(learner, LeastSquares | Proximal):
        return learners.RouteRegressor(fit_intercept=fit_intercept)
    raise InputError(
        "nothing trains by this rule; give the learner (--learner)", field="learner.rule", value=learner.rule
    )


Rule = tuple[str, tuple[float | None, ...]]  # a rule of learning (or the class of another learner), and its numbers


def rule_of_model(model: Any) -> Rule:
    """Return the learning rule of a model and its numbers."""
    name = type(model).__name__
    if type(model).__module__ != LEARNERS:
        return name, ()
    if name == "ProximalRegressor":
        return _proximal(np.atleast_1d(np.asarray(model.strength, dtype=np.float64)).tolist())
    if name == "GradientRegressor":
        return Gradient.rule, (model.steps, model.rate)
    return (LeastSquares.rule if name == "RouteRegressor" else name), ()


def _rule_of(learner: Learner) -> Rule:
    if isinstance(learner, Proximal):
        return _proximal(learner.fixed_regularization)
    return learner.rule, (learner.steps, learner.rate) if isinstance(learner, Gradient) else ()


def _proximal(strengths: Sequence[float]) -> Rule:
    """Return the rule of these λ: one number if all are the same, and least squares if all are 0."""
    different = set(strengths)
    if different == {0.0}:
        return LeastSquares.rule, ()
    return Proximal.rule, tuple(different) if len(different) == 1 else tuple(strengths)


def describe(rule: Rule) -> str:
    """Say in a few words how a learner trains."""
    name, numbers = rule
    if name == Gradient.rule:
        return f"{name}, {numbers[0]} steps" + ("" if numbers[1] is None else f" of {numbers[1]:g}")
    given = [number for number in numbers if number is not None]
    if not given:
        return name
    said = f"{given[0]:.6g}" if len(given) == 1 else f"{min(given):.4g} … {max(given):.4g} by position"
    return f"{name}, λ = {said}"


def _training(given: Any, size: int) -> Learner:
    """Return the learner of a plan, validated like the learner of a problem."""
    known = (*TRAINING, "chosen", "range")
    members = {name: value for name, value in as_members("learner.", given, known).items() if name in TRAINING}
    shape: dict[str, Any] = {} if members.get("rule") == Calibrated.rule else {"features": 1, "samples": MANY}
    learner = Learner(**{**shape, **members})
    if learner.undecided:
        raise InputError("expected numbers", field="learner.regularization", value=members["regularization"])
    learner.check_positions(size, exactly=False)
    return learner


def _range(counts: IntArray) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} … {high}"
