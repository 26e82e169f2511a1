"""Train along a route, and test everywhere after every stop."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.errors import InputError, check_callable, check_type, did_you_mean, shown
from learnroute.formats.csv_files import report_text
from learnroute.formats.files import write_text
from learnroute.learning.data import FeatureMap, RegionData, as_batch, check_samples, columns_of, fitted_map
from learnroute.learning.metrics import MEANING, Metrics, metrics_of
from learnroute.model.labels import aligned
from learnroute.model.validation import FloatArray, frozen
from learnroute.solvers.contract import Progress

Error = Callable[[Any, RegionData], float]  # (model, region) -> error there


@dataclass(frozen=True, eq=False)
class Following:
    """What came of following a route.

    Attributes
    ----------
    route
        The regions in the order of their visits; rows and columns of `errors` are in this order.
    errors
        T x T: errors[i, j] after training on the i-th region, tested on the j-th.
    before
        The error in each region before any training, where the learner could tell; else None.
    model
        The learner as the last region left it.
    metrics
        What the errors say; `learnroute.learning.MEANING` explains each.
    """

    route: tuple[str, ...]
    errors: FloatArray
    before: FloatArray | None
    model: Any
    metrics: Metrics

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as plain JSON values."""
        return {
            "route": list(self.route),
            "errors": self.errors.tolist(),
            "before": None if self.before is None else self.before.tolist(),
            "metrics": self.metrics.to_dict(),
            "meaning": dict(MEANING),
        }

    def write(self, path: str | Path) -> None:
        """Write the errors: `.csv` (the matrix, one row a stop) or `.json` (with the metrics)."""
        path = Path(path)
        if path.suffix.lower() == ".csv":
            rows = ([name, *row] for name, row in zip(self.route, self.errors.tolist(), strict=True))
            write_text(path, report_text([["after training on", *self.route], *rows]))
        elif path.suffix.lower() == ".json":
            write_text(path, json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        else:
            raise InputError(f"unknown format {path.suffix!r}; known are .csv, .json", where=path)


def squared_error(model: Any, region: RegionData) -> float:
    """Mean squared error of the predictions on a region's test samples.

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
        Where the model has no `predict`, or the region is no `RegionData`.
    """
    _check_learner("model", model, "predict")
    check_type("region", region, RegionData)
    inputs, outputs = region.test
    return float(np.mean((np.asarray(model.predict(inputs)) - outputs) ** 2))


def model_distance(model: Any, region: RegionData) -> float:
    """Squared distance between the model and the region's true one: the terms of the paper's F_T (e2).

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
        Where the model has no `coef_`, or the region no true model.
    """
    _check_learner("model", model, "coef_")
    check_type("region", region, RegionData)
    if region.truth is None:
        raise InputError("missing; model_distance needs every region's true model", field="truth")
    return float(np.sum((model.coef_ - region.truth) ** 2))


def follow(
    route: Sequence[str],
    data: Mapping[str, Any],
    learner: Any,
    error: Error = squared_error,
    features: FeatureMap | None = None,
    progress: Progress | None = None,
) -> Following:
    """Train a copy of the learner through the regions in order, testing on all of them after each.

    Parameters
    ----------
    route
        Names of regions, each at most once; those of `data` that it leaves out are not visited nor tested.
    data
        Each region's samples: a `RegionData`, or (features, targets, test features, test targets).
    learner
        Anything with `partial_fit` and `predict`. It goes on from the model it has; it is not changed.
    error
        How a model is judged in a region; by default the mean squared error on its test samples.
    features
        A map in front of the learner: a callable or a transformer. One that is not fitted yet is fitted on the
        first region's training samples, the only ones known when the route begins.
    progress
        Called after every stop.

    Returns
    -------
    Following
        The errors after each stop, the metrics, and the model as the last region left it.

    Raises
    ------
    InputError
        Where a region has no data, is visited twice, or cannot be learnt; says which.
    """
    check_samples("data", data)
    _check_learner("learner", learner, "partial_fit", "predict")
    if error is None:
        raise InputError("a function of a model and a region is needed", field="error", value=error)
    check_callable("error", error)
    check_callable("progress", progress)
    stops = _stops(route, data)
    columns = _columns(data[stops[0]])
    regions = [_checked(name, data[name], columns) for name in stops]
    mapped = fitted_map(features, regions[0].train[0])
    if mapped is not None:
        regions = [_through(mapped, region) for region in regions]
    model = copy.deepcopy(learner)
    before = _errors(model, regions, error) if hasattr(model, "coef_") else None
    errors = np.empty((len(stops), len(stops)))
    for i, (name, region) in enumerate(zip(stops, regions, strict=True)):
        try:
            model.partial_fit(*region.train)
        except InputError as refusal:
            raise refusal.within(f"region {name!r}") from None
        errors[i] = _errors(model, regions, error)
        if progress is not None:
            progress("follow", (i + 1) / len(stops))
    return Following(stops, frozen(errors), before, model, metrics_of(errors))


def _errors(model: Any, regions: Sequence[RegionData], error: Error) -> FloatArray:
    found = [error(model, region) for region in regions]
    wrong = next((one for one in found if not isinstance(one, Real) or isinstance(one, bool)), None)
    if wrong is not None:
        raise InputError("the error in a region must be a number", field="error", found=f"gave {shown(wrong)}")
    return frozen(np.array(found, dtype=np.float64))


def _check_learner(field: str, model: Any, *needed: str) -> None:
    """Refuse what lacks something that a learner has; a class is no learner yet."""
    if isinstance(model, type):
        raise InputError(f"is a class; give a learner, {model.__name__}()", field=field, value=model)
    for name in needed:
        if not hasattr(model, name):
            use = "; RouteRegressor, ProximalRegressor and SGDRegressor have it" if name == "partial_fit" else ""
            raise InputError(f"has no {name}, which a learner needs here{use}", field=field, value=model)


def _stops(route: Sequence[str], data: Mapping[str, Any]) -> tuple[str, ...]:
    listed = isinstance(route, Iterable) and not isinstance(route, str | type)
    stops = tuple(route) if listed else ()
    if len(stops) < 2 or not all(isinstance(name, str) for name in stops):
        raise InputError("a list of at least 2 region names is needed", field="route", value=route)
    for name in stops:
        if name not in data:
            hint = did_you_mean(name, data, "there is for")
            raise InputError(f"there is no data for region {name!r}; {hint}", field="route")
        if stops.count(name) > 1:
            raise InputError(
                f"region {name!r} is visited {stops.count(name)} times; visit each region once", field="route"
            )
    return stops


def _columns(given: Any) -> tuple[str, ...] | None:
    """Return the names of the features, where the first region has some."""
    if isinstance(given, RegionData):
        given = given.train
    return columns_of(given[0]) if isinstance(given, tuple) and given else None


def _checked(name: str, given: Any, columns: tuple[str, ...] | None) -> RegionData:
    parts = {}
    region = given
    if isinstance(given, tuple) and len(given) == 4:
        region = RegionData(given[:2], given[2:])
    if not isinstance(region, RegionData):
        raise InputError(
            "a RegionData, or (features, targets, test features, test targets), is needed; test samples must not be "
            "those trained on",
            field=f"region {name!r}",
        )
    for part, what in ((region.train, "training"), (region.test, "test")):
        inputs, outputs = as_batch(name, *part, columns)
        wrong = ~(np.isfinite(inputs).all(axis=1) & np.isfinite(outputs))
        if wrong.any():
            raise InputError(
                f"{what} sample {int(np.argmax(wrong))} is not finite; fill in or drop missing values",
                field=f"region {name!r}",
            )
        if not len(outputs):
            raise InputError(f"there are no {what} samples; at least 1 is needed", field=f"region {name!r}")
        parts[what] = (inputs, outputs)
    return RegionData(parts["training"], parts["test"], aligned("truth", region.truth, columns))


def _through(mapped: Callable[[FloatArray], FloatArray], region: RegionData) -> RegionData:
    (inputs, outputs), (test_inputs, test_outputs) = region.train, region.test
    return RegionData((mapped(inputs), outputs), (mapped(test_inputs), test_outputs), region.truth)
