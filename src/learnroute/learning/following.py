"""Train along a route, and test everywhere after every stop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.errors import InputError, check_callable, did_you_mean, shown
from learnroute.formats.csv_files import report_text
from learnroute.formats.files import write_text
from learnroute.learning.adapters import as_learner
from learnroute.learning.data import FeatureMap, RegionData, as_batch, check_samples, columns_of, fitted_map
from learnroute.learning.measures import Error, measure_of, squared_error
from learnroute.learning.metrics import MEANING, Metrics, metrics_of
from learnroute.learning.records import learner_record
from learnroute.model.labels import aligned
from learnroute.model.result import Plan
from learnroute.model.validation import FloatArray, frozen
from learnroute.solvers.contract import Progress

MOST_CLASSES = 1000  # more different targets are numbers, not classes


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
    learner
        The class and the parameters of the learner, seeds left out; `calibrate` compares them with the transfer
        matrix's. None where they are unknown.
    """

    route: tuple[str, ...]
    errors: FloatArray
    before: FloatArray | None
    model: Any
    metrics: Metrics
    learner: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as plain JSON values."""
        return {
            "route": list(self.route),
            "errors": self.errors.tolist(),
            "before": None if self.before is None else self.before.tolist(),
            "learner": self.learner,
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


def follow(
    route: Plan | Sequence[str] | Sequence[int],
    data: Mapping[str, Any],
    learner: Any,
    error: str | Error = squared_error,
    features: FeatureMap | None = None,
    progress: Progress | None = None,
) -> Following:
    """Train a copy of the learner through the regions in order, testing on all of them after each.

    Parameters
    ----------
    route
        A plan, or names of regions, each at most once; those of `data` that it leaves out are not visited nor tested.
        Whole numbers are places in `data`, from 0 on.
    data
        Each region's samples: a `RegionData`, or (features, targets, test features, test targets).
    learner
        Anything with `partial_fit` and `predict`, a scikit-learn pipeline whose last step has them, a river model with
        `learn_many`, or a `TorchLearner`. It goes on from the model it has; it is not changed. A classifier is told
        all labels that the regions have.
    error
        How a model is judged in a region, on its test samples: `squared` (the default), `zero-one`, `cross-entropy`, or
        a function of the model and the region.
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
    measure = measure_of(error)
    check_callable("progress", progress)
    stops, regions, classes = regions_of(route, data)
    model = as_learner(learner, classes)
    mapped = fitted_map(features, regions[0].train[0])
    if mapped is not None:
        regions = [_through(mapped, region) for region in regions]
    before = errors_in(model, regions, measure) if hasattr(model, "coef_") else None
    errors = np.empty((len(stops), len(stops)))
    for i, (name, region) in enumerate(zip(stops, regions, strict=True)):
        try:
            model.partial_fit(*region.train)
        except InputError as refusal:
            raise refusal.within(f"region {name!r}") from None
        errors[i] = errors_in(model, regions, measure)
        if progress is not None:
            progress("follow", (i + 1) / len(stops))
    trained = getattr(model, "model", model)
    return Following(stops, frozen(errors), before, trained, metrics_of(errors), learner_record(learner))


def regions_of(route: Any, data: Any) -> tuple[tuple[str, ...], list[RegionData], FloatArray | None]:
    """Return the stops of a route, their checked samples, and all labels there are, where there are few."""
    check_samples("data", data)
    stops = _stops(route, data)
    columns = _columns(data[stops[0]])
    regions = [_checked(name, data[name], columns) for name in stops]
    labels = np.unique(np.concatenate([part[1] for region in regions for part in (region.train, region.test)]))
    return stops, regions, labels if len(labels) <= MOST_CLASSES else None


def seeded(model: Any, seed: int) -> Any:
    """Give a learner, or those of its parts that have one, another random state."""
    if hasattr(model, "get_params") and hasattr(model, "set_params"):
        states = [name for name in model.get_params() if name.rsplit("__", 1)[-1] == "random_state"]
        model.set_params(**dict.fromkeys(states, seed))
    elif hasattr(model, "random_state"):
        model.random_state = seed
    return model


def errors_before(model: Any, regions: Sequence[RegionData], error: Error) -> FloatArray | None:
    """Return the error in each region of a linear learner's first model; None of any other learner."""
    if hasattr(model, "untrained") and not hasattr(model, "coef_"):
        model = model.untrained(regions[0].test[0].shape[1])
    return errors_in(model, regions, error) if hasattr(model, "coef_") else None


def errors_in(model: Any, regions: Sequence[RegionData], error: Error) -> FloatArray:
    """Return the error of a model in each region."""
    found = [error(model, region) for region in regions]
    wrong = next((one for one in found if not isinstance(one, Real) or isinstance(one, bool)), None)
    if wrong is not None:
        raise InputError("the error in a region must be a number", field="error", found=f"gave {shown(wrong)}")
    return frozen(np.array(found, dtype=np.float64))


def _stops(route: Any, data: Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(route, Plan):
        route = route.route
    listed = isinstance(route, Iterable) and not isinstance(route, str | type)
    stops = tuple(route) if listed else ()
    if stops and all(isinstance(place, int | np.integer) and not isinstance(place, bool) for place in stops):
        outside = [place for place in stops if not 0 <= place < len(data)]
        if outside:
            raise InputError(f"there is no region {outside[0]}; places go from 0 to {len(data) - 1}", field="route")
        names = list(data)
        stops = tuple(names[int(place)] for place in stops)
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
