"""Error measures: functions of a model and a region, evaluated on the region's test samples; lower is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from learnroute.errors import InputError, check_callable, check_type
from learnroute.learning.data import RegionData
from learnroute.model.validation import FloatArray, as_choice

Error = Callable[[Any, RegionData], float]  # (model, region) -> error there
LEAST_PROBABILITY = 1e-12  # keeps the cost of a sample with predicted probability 0 finite


def squared_error(model: Any, region: RegionData) -> float:
    """Return the mean squared error of the predictions on a region's test samples.

    Parameters
    ----------
    model
        Anything with `predict`.
    region
        The samples to test on.

    Returns
    -------
    float
        The mean squared error.

    Raises
    ------
    InputError
        If the model has no `predict`, or the region is not a `RegionData`.
    """
    check_learner("model", model, "predict")
    check_type("region", region, RegionData)
    return float(np.mean(_squares(model, region)))


def _squares(model: Any, region: RegionData) -> FloatArray:
    inputs, outputs = region.test
    return np.asarray((np.asarray(model.predict(inputs)) - outputs) ** 2, dtype=np.float64)


def zero_one_error(model: Any, region: RegionData) -> float:
    """Return the share of a region's test samples whose class is predicted incorrectly.

    Parameters
    ----------
    model
        Anything with `predict`.
    region
        The samples to test on.

    Returns
    -------
    float
        The share, from 0 to 1.

    Raises
    ------
    InputError
        If the model has no `predict`, or the region is not a `RegionData`.
    """
    check_learner("model", model, "predict")
    check_type("region", region, RegionData)
    return float(np.mean(_zero_one_losses(model, region)))


def _zero_one_losses(model: Any, region: RegionData) -> FloatArray:
    inputs, outputs = region.test
    return np.asarray(np.asarray(model.predict(inputs)) != outputs, dtype=np.float64)


def cross_entropy(model: Any, region: RegionData) -> float:
    """Return the mean of -log of the predicted probability of the true class, over a region's test samples.

    Parameters
    ----------
    model
        Anything with `predict_proba` and `classes_`.
    region
        The samples to test on.

    Returns
    -------
    float
        The mean, in nats.

    Raises
    ------
    InputError
        If the model has no `predict_proba`, or the region is not a `RegionData`.
    """
    check_learner("model", model, "predict_proba", "classes_")
    check_type("region", region, RegionData)
    return float(np.mean(_log_losses(model, region)))


def _log_losses(model: Any, region: RegionData) -> FloatArray:
    inputs, outputs = region.test
    shares, classes = np.asarray(model.predict_proba(inputs)), np.asarray(model.classes_)
    given = (shares * (outputs[:, None] == classes[None, :])).sum(axis=1)  # 0 for a class that the model does not know
    return np.asarray(-np.log(np.maximum(given, LEAST_PROBABILITY)), dtype=np.float64)


def model_distance(model: Any, region: RegionData) -> float:
    """Return the squared distance between the model and the region's true model, a term of the paper's F_T (e2).

    Parameters
    ----------
    model
        Anything with `coef_`.
    region
        A region with `truth`.

    Returns
    -------
    float
        The squared distance.

    Raises
    ------
    InputError
        If the model has no `coef_`, or the region has no true model.
    """
    check_learner("model", model, "coef_")
    check_type("region", region, RegionData)
    if region.truth is None:
        raise InputError("missing; model_distance needs every region's true model", field="truth")
    return float(np.sum((model.coef_ - region.truth) ** 2))


MEASURES: Mapping[str, Error] = MappingProxyType(
    {"squared": squared_error, "zero-one": zero_one_error, "cross-entropy": cross_entropy}
)

_BY_SAMPLE = ((squared_error, _squares), (zero_one_error, _zero_one_losses), (cross_entropy, _log_losses))


def standard_error_of(error: Error, model: Any, region: RegionData) -> float | None:
    """Return the standard error of a region's error if it is a mean over its test samples; else None."""
    by_sample = next((each for known, each in _BY_SAMPLE if known is error), None)
    if by_sample is None or len(region.test[1]) < 2:
        return None
    errors = by_sample(model, region)
    return float(errors.std(ddof=1) / np.sqrt(len(errors)))


def measure_of(error: str | Error | None, classifies: bool = False) -> Error:
    """Return an error measure given by its name or as a function; by default, that of the kind of learner."""
    if error is None:
        return zero_one_error if classifies else squared_error
    if isinstance(error, str):
        return MEASURES[as_choice("error", error, MEASURES)]
    check_callable("error", error)
    return error


def name_of(measure: Error) -> str:
    """Return the name of an error measure in results and files."""
    return str(getattr(measure, "__name__", type(measure).__name__))


def check_learner(field: str, model: Any, *needed: str) -> None:
    """Reject objects that lack a method of a learner, and classes instead of instances."""
    if isinstance(model, type):
        raise InputError(f"is a class; give an instance, {model.__name__}()", field=field, value=model)
    for name in needed:
        if not hasattr(model, name):
            use = "; RouteRegressor, ProximalRegressor and SGDRegressor have it" if name == "partial_fit" else ""
            raise InputError(f"has no method {name}, which a learner needs{use}", field=field, value=model)
