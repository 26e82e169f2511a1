"""How the models of a fleet serve the regions: their average, if they are linear, or one of them in each region."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from learnroute.errors import InputError, list_names
from learnroute.model.table import clip
from learnroute.model.validation import as_vector

COEFFICIENTS = ("coef_", "intercept_")


@dataclass(frozen=True)
class PlannedFleet:
    """The visits that train each model of a fleet, and how the models serve.

    Attributes
    ----------
    routes
        The regions that each vehicle visits, in order.
    models
        The number of the model that each visit trains, from 0, vehicle after vehicle.
    weights
        The weight of each model in the average that serves all regions; None if models serve their own regions.
    served_by
        The number of the model that serves each region (None: the untrained one); None if models are averaged.
    """

    routes: tuple[tuple[str, ...], ...]
    models: tuple[int, ...]
    weights: tuple[float, ...] | None = None
    served_by: dict[str, int | None] | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self | None:
        """Return the fleet described by the members of a plan; None if there is one vehicle with one model."""
        weights, served_by = data.get("weights"), data.get("served_by")
        if weights is None and served_by is None:
            return None
        routes: Any = data.get("routes")
        lists = isinstance(routes, list) and all(isinstance(route, list) for route in routes)
        if not lists or not routes or not all(isinstance(name, str) for route in routes for name in route):
            raise InputError("expected a list of region names per vehicle", field="routes", value=routes)
        visits = [name for route in routes for name in route]
        models: Any = data.get("models")
        if len(routes) > 1:
            models = [vehicle for vehicle, route in enumerate(routes) for _ in route]
        numbers = isinstance(models, list) and all(type(one) is int and one >= 0 for one in models)
        if not numbers or len(models) != len(visits):
            raise InputError("expected one model number (from 0) per visit", field="models", value=models)
        found = cls(tuple(map(tuple, routes)), tuple(models))
        if weights is not None:
            most = max(found.size, len(weights) if isinstance(weights, list) else 0)
            shares = as_vector("weights", weights, most, least=0.0, meaning="weights of models", derived=True)
            if abs(float(shares.sum()) - 1) > 1e-6:
                raise InputError("weights must add up to 1", field="weights", value=weights)
            return replace(found, weights=tuple(shares.tolist()))
        regions = {*visits, *data.get("skipped", [])}
        if not isinstance(served_by, Mapping) or set(served_by) != regions:
            raise InputError("expected one model number (or null) per region", field="served_by")
        for name, model in served_by.items():
            if model is not None and model not in found.models:
                reason = (
                    f"no visit trains this model; {list_names(sorted({str(one) for one in found.models}))} are trained"
                )
                raise InputError(reason, field=f"served_by[{name!r}]", value=model)
        return replace(found, served_by=dict(served_by))

    @property
    def size(self) -> int:
        """Number of models; untrained models count if they belong to a vehicle or have a weight."""
        return max(len(self.routes), len(self.weights or ()), *(model + 1 for model in self.models), 1)

    @property
    def most_trainings(self) -> int:
        """The largest number of visits that train one model."""
        return max((self.models.count(model) for model in set(self.models)), default=0)

    @property
    def kind(self) -> str:
        """The word for the models: `vehicle` if there are several vehicles, with one model each, else `model`."""
        return "vehicle" if len(self.routes) > 1 else "model"

    def lines(self) -> list[tuple[str, str]]:
        """Return the routes, and how the models serve, as printed lines; models are counted from 1."""
        found: list[tuple[str, str]] = []
        for number, route in enumerate(self.routes, 1):
            stops = list(map(clip, route))
            if self.kind == "model":
                stops = [f"{name} (model {model + 1})" for name, model in zip(stops, self.models, strict=True)]
            label = "route" if self.kind == "model" else f"vehicle {number}"
            found.append((label, " > ".join(stops) or "stays at home"))
        if self.weights is not None:
            shares = " + ".join(f"{weight:.3g} · model {k}" for k, weight in enumerate(self.weights, 1) if weight)
            return [*found, ("serves", f"the average {shares}")]
        assert self.served_by is not None
        for model in (*range(self.size), None):
            names = [clip(name) for name, one in self.served_by.items() if one == model]
            called = "initial model" if model is None else f"model {model + 1}"
            found += [(called, f"serves {list_names(names)}")] if names else []
        return found

    def servers(self, regions: Sequence[str]) -> list[str] | None:
        """Return what serves each region, in words; None if it is the average of all models."""
        if self.served_by is None:
            return None
        served = [self.served_by[name] for name in regions]
        return ["untrained" if model is None else f"model {model + 1}" for model in served]

    def serving(self, trained: Sequence[Any], first: Any, regions: Sequence[str]) -> list[Any]:
        """Return the model that serves each region: one of the `trained` learners, or the untrained one (`first`)."""
        models = [learner if k in self.models else first for k, learner in enumerate(trained)]
        if self.weights is not None:
            return [merge_models(models, self.weights)] * len(regions)
        assert self.served_by is not None
        served = [self.served_by[name] for name in regions]
        return [first if model is None else models[model] for model in served]

    def result(self, trained: Sequence[Any], serving: Sequence[Any]) -> Any:
        """Return the result of training: the average, or the models (None: never trained)."""
        if self.weights is not None:
            return _inner(serving[0])
        return tuple(_inner(model) if k in self.models else None for k, model in enumerate(trained))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, in the form of a plan file."""
        routes: dict[str, Any] = {"routes": [list(route) for route in self.routes]}
        if self.kind == "model":
            routes = {"route": list(self.routes[0]), **routes, "models": list(self.models)}
        if self.weights is not None:
            return {**routes, "weights": list(self.weights)}
        return {**routes, "served_by": dict(self.served_by or {})}

    @property
    def serves_untrained(self) -> bool:
        """Whether the initial model serves a region, or has a weight in the average."""
        if self.served_by is not None:
            return None in self.served_by.values()
        return any(weight and model not in self.models for model, weight in enumerate(self.weights or ()))


def check_coefficients(model: Any) -> None:
    """Reject a learner whose models cannot be averaged."""
    if not hasattr(model, "coef_"):
        reason = (
            "has no coefficients (coef_, intercept_) to average; plan models that serve "
            "their own regions (fleet.serve = own)"
        )
        raise InputError(reason, field="learner", value=_inner(model))


def merge_models(models: Sequence[Any], weights: Sequence[float]) -> Any:
    """Return the weighted average of linear models, as a copy of the initial model with averaged coefficients."""
    used = [(weight, model) for weight, model in zip(weights, models, strict=True) if weight]
    for _, model in used:
        check_coefficients(model)
    merged = copy.deepcopy(used[0][1])
    for name in COEFFICIENTS:
        if hasattr(_inner(merged), name):
            value = sum(weight * np.asarray(getattr(_inner(model), name), dtype=np.float64) for weight, model in used)
            setattr(_inner(merged), name, float(value) if np.ndim(value) == 0 else value)
    return merged


def _inner(model: Any) -> Any:
    """Return the model behind an adapter."""
    return getattr(model, "model", model)
