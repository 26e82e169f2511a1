"""Learners that go through the regions one batch at a time, by scikit-learn's conventions.

No sample outlives the call that brought it. All but `RecursiveRegressor` keep the model and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from learnroute.errors import InputError
from learnroute.learning.steps import gradient, proximal, recursive, train
from learnroute.model.validation import LARGEST_VALUE, FloatArray, as_count, as_number, as_vector


class _RegionByRegion(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What all learners share: `fit` starts anew from w_0, `partial_fit` goes on from the model at hand."""

    initial_model: ArrayLike | None
    fit_intercept: bool
    coef_: FloatArray
    intercept_: float
    batches_: int
    n_features_in_: int

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Forget everything, and train on one batch from the initial model."""
        return self._learn(X, y, first=True)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Train on one region's batch from the model at hand (the initial model if there is none yet)."""
        return self._learn(X, y, first=not hasattr(self, "coef_"))

    def predict(self, X: ArrayLike) -> FloatArray:  # noqa: N803
        """Predict the target of each sample."""
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, dtype=np.float64)
        predicted: FloatArray = features @ self.coef_ + self.intercept_
        return predicted

    def without_training(self, features: int) -> Self:
        """Return a copy that predicts with the initial model, as if trained on nothing."""
        model: Self = clone(self)
        model.n_features_in_, first = features, self._first_model(features)
        model.coef_, model.intercept_, model.batches_ = first[:features], 0.0, 0
        return model

    def _learn(self, X: ArrayLike, y: ArrayLike, first: bool) -> Self:  # noqa: N803
        features, targets = validate_data(self, X, y, reset=first, dtype=np.float64, y_numeric=True)
        targets = targets.astype(np.float64)
        width = features.shape[1]
        previous = self._first_model(width) if first else np.append(self.coef_, self.intercept_)
        learnt = 0 if first else self.batches_
        if self.fit_intercept:
            model = self._step(np.column_stack([features, np.ones(len(features))]), targets, previous, learnt)
        else:
            model = np.append(self._step(features, targets, previous[:width], learnt), 0.0)
        self.coef_, self.intercept_, self.batches_ = model[:width], float(model[width]), learnt + 1
        return self

    def _first_model(self, width: int) -> FloatArray:
        if self.initial_model is None:
            return np.zeros(width + 1)
        model = as_vector("initial_model", self.initial_model, width, least=-LARGEST_VALUE, meaning="model parameters")
        return np.append(model, 0.0)

    def _step(self, features: FloatArray, targets: FloatArray, previous: FloatArray, learnt: int) -> FloatArray:
        """Return the model after a batch that so many others came before."""
        raise NotImplementedError


class RouteRegressor(_RegionByRegion):
    """The paper's learner. The shape of each batch picks the update.

    With at least two samples more than features, least squares (e5): the region replaces the model. With at
    least two features more than samples, the exact fit nearest to the previous model (e11). In between no
    expected error exists, and a rank-deficient batch has no such model: both are refused.

    Parameters
    ----------
    initial_model
        The initial model w_0; zeros if omitted.
    fit_intercept
        Whether a constant goes along. It is one more feature, starts at 0 and counts in the batch's shape.

    Attributes
    ----------
    coef_, intercept_
        The model.
    batches_
        How many batches it was trained on.

    Raises
    ------
    InputError
        From `fit` and `partial_fit`: where a batch cannot be learnt, or a parameter is out of its range.
    """

    def __init__(self, initial_model: ArrayLike | None = None, fit_intercept: bool = False) -> None:
        self.initial_model = initial_model
        self.fit_intercept = fit_intercept

    def _step(self, features: FloatArray, targets: FloatArray, previous: FloatArray, learnt: int) -> FloatArray:
        return train(features, targets, previous)


class ProximalRegressor(_RegionByRegion):
    """The regularised alternative: min `|Xw - y|²/n + strength·|w - previous model|²`, for batches of any shape.

    On one batch from w_0 = 0 it is ridge regression. A large strength keeps what was learnt before, a small
    one comes near to what `RouteRegressor` does.

    Parameters
    ----------
    strength
        λ, how dear a change of the model is: a number > 0, or a list with one for each batch in turn. In a list, 0 is
        `RouteRegressor`'s update. With strengths 0, 1, 2, … and many samples the model is the mean of all fits.
    initial_model
        The initial model w_0; zeros if omitted.
    fit_intercept
        Whether a constant goes along. It is one more feature, starts at 0 and is held back like the others.

    Attributes
    ----------
    coef_, intercept_
        The model.
    batches_
        How many batches it was trained on.

    Raises
    ------
    InputError
        From `fit` and `partial_fit`: where a batch cannot be learnt, or a parameter is out of its range.
    """

    def __init__(
        self,
        strength: float | Sequence[float] = 1.0,
        initial_model: ArrayLike | None = None,
        fit_intercept: bool = False,
    ) -> None:
        self.strength = strength
        self.initial_model = initial_model
        self.fit_intercept = fit_intercept

    def _step(self, features: FloatArray, targets: FloatArray, previous: FloatArray, learnt: int) -> FloatArray:
        strength = self._strength(learnt)
        return proximal(features, targets, previous, strength) if strength else train(features, targets, previous)

    def _strength(self, learnt: int) -> float:
        if isinstance(self.strength, Sequence | np.ndarray) and not isinstance(self.strength, str):
            strengths = as_vector("strength", self.strength, None, least=0.0, meaning="strengths")
            if learnt >= len(strengths):
                raise InputError(
                    f"none is left for batch {learnt + 1}; give one per batch",
                    field="strength",
                    found=f"has {len(strengths)} entries",
                )
            return float(strengths[learnt])
        strength = as_number("strength", self.strength, meaning="the strength")
        if strength <= 0:
            raise InputError(
                "the strength λ must be > 0; λ = 0 is a RouteRegressor (--learner least-squares)",
                field="strength",
                value=strength,
            )
        return strength


class GradientRegressor(_RegionByRegion):
    """Early stopping: a few gradient steps on each batch, from the previous model.

    Each step is w ← w - rate·X'(Xw - y)/n, down half of the mean squared error. Few small steps keep what was learnt
    before; many come near to what `RouteRegressor` does. Batches of any shape.

    Parameters
    ----------
    steps
        How many on each batch.
    rate
        Their size. It must be below 2 over the largest eigenvalue of X'X/n, or steps diverge: such a batch is
        refused. If omitted, it is 1 over that eigenvalue, on each batch.
    initial_model
        The initial model w_0; zeros if omitted.
    fit_intercept
        Whether a constant goes along. It is one more feature, starts at 0 and is trained like the others.

    Attributes
    ----------
    coef_, intercept_
        The model.
    batches_
        How many batches it was trained on.

    Raises
    ------
    InputError
        From `fit` and `partial_fit`: where a batch cannot be learnt, or a parameter is out of its range.
    """

    def __init__(
        self,
        steps: int = 100,
        rate: float | None = None,
        initial_model: ArrayLike | None = None,
        fit_intercept: bool = False,
    ) -> None:
        self.steps = steps
        self.rate = rate
        self.initial_model = initial_model
        self.fit_intercept = fit_intercept

    def _step(self, features: FloatArray, targets: FloatArray, previous: FloatArray, learnt: int) -> FloatArray:
        steps = as_count("steps", self.steps, meaning="the number of gradient steps")
        rate = None if self.rate is None else as_number("rate", self.rate, meaning="the step size")
        if rate is not None and rate <= 0:
            raise InputError("the step size must be > 0", field="rate", value=rate)
        return gradient(features, targets, previous, steps, rate)


class RecursiveRegressor(_RegionByRegion):
    """Recursive least squares with a ridge prior: min `Σ |Xw - y|² + prior·|w - w_0|²` over all batches so far.

    It keeps no sample but an m x m triangle, the root of the features' second moments, and so it never forgets: the
    model does not depend on the order of the batches, and is that of ridge regression on all of them together.

    Parameters
    ----------
    prior
        How many samples' worth of trust in w_0; > 0. The `alpha` of scikit-learn's `Ridge`.
    initial_model
        The initial model w_0; zeros if omitted.
    fit_intercept
        Whether a constant goes along. It is one more feature, starts at 0 and is held back like the others.

    Attributes
    ----------
    coef_, intercept_
        The model.
    batches_
        How many batches it was trained on.
    factor_
        The triangle, with one more column for the targets.

    Raises
    ------
    InputError
        From `fit` and `partial_fit`: where a batch cannot be learnt, or a parameter is out of its range.
    """

    factor_: FloatArray

    def __init__(self, prior: float = 1.0, initial_model: ArrayLike | None = None, fit_intercept: bool = False) -> None:
        self.prior = prior
        self.initial_model = initial_model
        self.fit_intercept = fit_intercept

    def _step(self, features: FloatArray, targets: FloatArray, previous: FloatArray, learnt: int) -> FloatArray:
        prior = as_number("prior", self.prior, meaning="the prior's strength")
        if prior <= 0:
            raise InputError("the prior's strength must be > 0, such as 1e-6", field="prior", value=prior)
        width = len(previous)
        initial = self._first_model(self.n_features_in_)[:width]
        factor = self.factor_ if learnt else np.sqrt(prior) * np.eye(width, width + 1)
        model, self.factor_ = recursive(features, targets, factor, initial)
        return model
