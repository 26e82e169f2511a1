"""Learners that train on one batch per region, following scikit-learn's conventions.

No learner stores samples between calls. All but `RecursiveRegressor` keep only the model.
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
from learnroute.model.validation import FloatArray, as_count, as_number, as_vector


class _RegionByRegion(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of all learners: `fit` restarts from w_0, `partial_fit` continues from the current model."""

    initial_model: ArrayLike | None
    fit_intercept: bool
    coef_: FloatArray
    intercept_: float
    batches_: int
    n_features_in_: int

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Reset to the initial model and train on one batch."""
        return self._learn(X, y, first=True)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Train on one region's batch from the current model (initially w_0)."""
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
        model.n_features_in_, first = features, self._initial_parameters(features)
        model.coef_, model.intercept_, model.batches_ = first[:features], 0.0, 0
        return model

    def _learn(self, X: ArrayLike, y: ArrayLike, first: bool) -> Self:  # noqa: N803
        features, targets = validate_data(self, X, y, reset=first, dtype=np.float64, y_numeric=True)
        targets = targets.astype(np.float64)
        width = features.shape[1]
        previous = self._initial_parameters(width) if first else np.append(self.coef_, self.intercept_)
        learnt = 0 if first else self.batches_
        if self.fit_intercept:
            model = self._step(np.column_stack([features, np.ones(len(features))]), targets, previous, learnt)
        else:
            model = np.append(self._step(features, targets, previous[:width], learnt), 0.0)
        self.coef_, self.intercept_, self.batches_ = model[:width], float(model[width]), learnt + 1
        return self

    def _initial_parameters(self, width: int) -> FloatArray:
        if self.initial_model is None:
            return np.zeros(width + 1)
        model = as_vector("initial_model", self.initial_model, width, meaning="model parameters")
        return np.append(model, 0.0)

    def _step(self, features: FloatArray, targets: FloatArray, previous: FloatArray, learnt: int) -> FloatArray:
        """Return the model after a batch, given the number of batches `learnt` before it."""
        raise NotImplementedError


class RouteRegressor(_RegionByRegion):
    """The paper's learner, whose update depends on the shape of each batch.

    With at least two more samples than features, the update is least squares (e5), which replaces the model. With
    at least two more features than samples, it is the exact fit nearest to the previous model (e11). In between, the
    expected error does not exist, and for a rank-deficient batch the update is not defined. Both are rejected.

    Parameters
    ----------
    initial_model
        The initial model w_0; zeros if omitted.
    fit_intercept
        Whether to add a constant feature. It counts in the batch's shape, and its coefficient starts at 0.

    Attributes
    ----------
    coef_, intercept_
        The model.
    batches_
        Number of batches that the model was trained on.

    Raises
    ------
    InputError
        From `fit` and `partial_fit`, if a batch cannot be learnt or a parameter is out of range.
    """

    def __init__(self, initial_model: ArrayLike | None = None, fit_intercept: bool = False) -> None:
        self.initial_model = initial_model
        self.fit_intercept = fit_intercept

    def _step(self, features: FloatArray, targets: FloatArray, previous: FloatArray, learnt: int) -> FloatArray:
        return train(features, targets, previous)


class ProximalRegressor(_RegionByRegion):
    """A regularised learner for batches of any shape: min `|Xw - y|²/n + strength·|w - previous model|²`.

    On one batch from w_0 = 0 this is ridge regression. A large strength keeps the model close to the previous one; a
    small strength approaches the update of `RouteRegressor`.

    Parameters
    ----------
    strength
        The penalty λ for changing the model: a number > 0, or a list with one number per batch. In a list, 0 gives
        `RouteRegressor`'s update. With strengths 0, 1, 2, … and many samples, the model is the mean of all fits.
    initial_model
        The initial model w_0; zeros if omitted.
    fit_intercept
        Whether to add a constant feature. Its coefficient starts at 0 and is regularised like the others.

    Attributes
    ----------
    coef_, intercept_
        The model.
    batches_
        Number of batches that the model was trained on.

    Raises
    ------
    InputError
        From `fit` and `partial_fit`, if a batch cannot be learnt or a parameter is out of range.
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

    Each step is w ← w - rate·X'(Xw - y)/n, gradient descent on half the mean squared error. A few small steps keep the
    model close to the previous one; many steps approach the update of `RouteRegressor`. Batches may have any shape.

    Parameters
    ----------
    steps
        Number of gradient steps per batch.
    rate
        The step size. Steps diverge unless it is below 2 over the largest eigenvalue of X'X/n; other batches are
        rejected. Default: 1 over that eigenvalue, computed for each batch.
    initial_model
        The initial model w_0; zeros if omitted.
    fit_intercept
        Whether to add a constant feature. Its coefficient starts at 0 and is trained like the others.

    Attributes
    ----------
    coef_, intercept_
        The model.
    batches_
        Number of batches that the model was trained on.

    Raises
    ------
    InputError
        From `fit` and `partial_fit`, if a batch cannot be learnt or a parameter is out of range.
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

    It stores no samples, only an m x m triangular matrix, the root of the features' second moments. It never forgets:
    the model does not depend on the order of the batches and equals ridge regression on all of them together.

    Parameters
    ----------
    prior
        Weight of w_0 in samples, > 0: the `alpha` of scikit-learn's `Ridge`.
    initial_model
        The initial model w_0; zeros if omitted.
    fit_intercept
        Whether to add a constant feature. Its coefficient starts at 0 and is regularised like the others.

    Attributes
    ----------
    coef_, intercept_
        The model.
    batches_
        Number of batches that the model was trained on.
    factor_
        The triangular matrix, with one more column for the targets.

    Raises
    ------
    InputError
        From `fit` and `partial_fit`, if a batch cannot be learnt or a parameter is out of range.
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
        initial = self._initial_parameters(self.n_features_in_)[:width]
        factor = self.factor_ if learnt else np.sqrt(prior) * np.eye(width, width + 1)
        model, self.factor_ = recursive(features, targets, factor, initial)
        return model
