"""Learners that go through the regions one batch at a time, by scikit-learn's conventions.

They keep the model and nothing else: no sample outlives the call that brought it.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnroute.errors import InputError
from learnroute.learning.steps import proximal, train
from learnroute.model.validation import LARGEST_VALUE, FloatArray, as_number, as_vector


class _RegionByRegion(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What all learners share: `fit` starts anew from w_0, `partial_fit` goes on from the model at hand."""

    initial_model: ArrayLike | None
    fit_intercept: bool
    coef_: FloatArray
    intercept_: float
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

    def _learn(self, X: ArrayLike, y: ArrayLike, first: bool) -> Self:  # noqa: N803
        features, targets = validate_data(self, X, y, reset=first, dtype=np.float64, y_numeric=True)
        targets = targets.astype(np.float64)
        width = features.shape[1]
        previous = self._first_model(width) if first else np.append(self.coef_, self.intercept_)
        if self.fit_intercept:
            model = self._step(np.column_stack([features, np.ones(len(features))]), targets, previous)
        else:
            model = np.append(self._step(features, targets, previous[:width]), 0.0)
        self.coef_, self.intercept_ = model[:width], float(model[width])
        return self

    def _first_model(self, width: int) -> FloatArray:
        if self.initial_model is None:
            return np.zeros(width + 1)
        model = as_vector("initial_model", self.initial_model, width, least=-LARGEST_VALUE, meaning="model parameters")
        return np.append(model, 0.0)

    def _step(self, features: FloatArray, targets: FloatArray, previous: FloatArray) -> FloatArray:
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
    """

    def __init__(self, initial_model: ArrayLike | None = None, fit_intercept: bool = False) -> None:
        self.initial_model = initial_model
        self.fit_intercept = fit_intercept

    def _step(self, features: FloatArray, targets: FloatArray, previous: FloatArray) -> FloatArray:
        return train(features, targets, previous)


class ProximalRegressor(_RegionByRegion):
    """The regularised alternative: min |Xw - y|²/n + strength·|w - previous model|², for batches of any shape.

    On one batch from w_0 = 0 it is ridge regression. A large strength keeps what was learnt before, a small
    one comes near to what `RouteRegressor` does.

    Parameters
    ----------
    strength
        How dear a change of the model is; > 0.
    initial_model
        The initial model w_0; zeros if omitted.
    fit_intercept
        Whether a constant goes along. It is one more feature, starts at 0 and is held back like the others.

    Attributes
    ----------
    coef_, intercept_
        The model.
    """

    def __init__(
        self, strength: float = 1.0, initial_model: ArrayLike | None = None, fit_intercept: bool = False
    ) -> None:
        self.strength = strength
        self.initial_model = initial_model
        self.fit_intercept = fit_intercept

    def _step(self, features: FloatArray, targets: FloatArray, previous: FloatArray) -> FloatArray:
        strength = as_number("strength", self.strength, meaning="the strength")
        if strength <= 0:
            raise InputError(
                "the strength must be > 0; for none, use a RouteRegressor", field="strength", value=strength
            )
        return proximal(features, targets, previous, strength)
