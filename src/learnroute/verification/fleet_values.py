"""Values of many routes of a fleet at once, in float64, which the checker computes before the exact ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray
from learnroute.verification.fleet_losses import FEW, FleetLosses

EXACT = 1e-12  # maximum rounding error, relative to the sizes of all terms


class _Model(NamedTuple):
    """A model as the result of its trainings; the last entry of rows is for the initial model."""

    own: FloatArray
    shares: FloatArray  # shares of regions and of the initial model: `own` is the mean of their rows
    common: float
    own_sizes: FloatArray  # sums of the absolute values of the terms of `own` and of `common`
    common_size: float


class FleetValues:
    """T times the loss of routes with the best service, and the amount by which it may be too large."""

    def __init__(self, losses: FleetLosses) -> None:
        self.losses, problem = losses, losses.problem
        self.initial = np.append(problem.initial_errors, 0.0)
        self.delta = np.column_stack([losses.terms.floats, problem.initial_errors])
        self.weights = problem.region_weights
        self.models: dict[tuple[int, ...], _Model] = {(): self._untrained_model()}
        self.ways: dict[tuple[int, ...], float] = {(): 0.0}

    def _untrained_model(self) -> _Model:
        shares = np.zeros(self.losses.size + 1)
        shares[-1] = 1.0
        return _Model(self.initial, shares, 0.0, self.initial, 0.0)

    def _model(self, regions: tuple[int, ...]) -> _Model:
        if regions not in self.models:
            before, k = self._model(regions[:-1]), regions[-1]
            tables = self.losses.problem.updates.tables
            retention, plasticity, coupling, second, noise = (float(x[len(regions) - 1, k]) for x in tables)
            shares = retention * before.shares
            shares[k] += plasticity
            row = self.delta[k]
            self.models[regions] = _Model(
                retention * before.own + plasticity * row,
                shares,
                second * before.common - coupling * float(before.own[k]) + noise,
                abs(retention) * before.own_sizes + abs(plasticity) * row,
                abs(second) * before.common_size + abs(coupling) * float(before.own_sizes[k]) + abs(noise),
            )
        return self.models[regions]

    def travel(self, route: tuple[int, ...]) -> float:
        """Return the travel of a vehicle."""
        if route not in self.ways:
            problem = self.losses.problem
            stops = problem.from_depot(np.array(route, dtype=np.int64))
            stops = np.append(stops, stops[:1]) if problem.closed else stops
            self.ways[route] = float(problem.ways.matrix[stops[:-1], stops[1:]].sum())
        return self.ways[route]

    def of(self, fleets: Sequence[Routes]) -> tuple[FloatArray, FloatArray] | None:
        """Return the values, and a bound on the rounding error of each; None if there are too many models."""
        rules, rate = self.losses.rules, self.losses.problem.travel_rate
        groups: dict[int, list[tuple[int, list[_Model], float]]] = {}
        for place, routes in enumerate(fleets):
            models = [self._model(tuple(regions)) for regions in routes.trainings(rules.size) if regions]
            travels = [self.travel(route) for route in routes.vehicles]
            paid = rate * (max(travels) if rules.longest else sum(travels))
            groups.setdefault(len(models), []).append((place, models, paid))
        values, slacks = np.empty(len(fleets)), np.empty(len(fleets))
        for trained, group in groups.items():
            unused = [] if trained == rules.size else [self.models[()]]
            if rules.merged and not rules.equal and trained + len(unused) > FEW:
                return None
            places = [place for place, _, _ in group]
            paths = np.array([paid for _, _, paid in group])
            errors, slack = self._serve([[*models, *unused] for _, models, _ in group], trained or 1)
            values[places], slacks[places] = paths + errors, EXACT * np.abs(paths) + slack
        return values, slacks

    def _serve(self, rows: list[list[_Model]], trained: int) -> tuple[FloatArray, FloatArray]:
        """Return the summed errors of fleets with equal numbers of models, the untrained one last."""
        own, shares, common, own_sizes, common_sizes = (np.array(part) for part in _parts(rows))
        errors, sizes = own + common[..., None], own_sizes + common_sizes[..., None]
        if not self.losses.rules.merged:
            errors, off = errors[..., :-1], EXACT * sizes[..., :-1]
            least, lowest = (np.minimum(some.min(axis=1), self.initial[:-1]) for some in (errors, errors - off))
            return least @ self.weights, (least - lowest) @ self.weights + EXACT * (least @ self.weights)
        linear, apart = self._programme(own, shares, errors, common)
        off, off_apart = (EXACT * x for x in self._programme(own_sizes, np.abs(shares), sizes, common_sizes))
        if self.losses.rules.equal:
            some = np.s_[:, :trained, :trained]
            off = off[:, :trained].mean(axis=1) + off_apart[some].mean(axis=(1, 2)) / 2
            return linear[:, :trained].mean(axis=1) - apart[some].mean(axis=(1, 2)) / 2, off
        found = _least_averages(linear, apart)
        return found, found - _least_averages(linear - off, apart + off_apart)

    def _programme(
        self, own: FloatArray, shares: FloatArray, errors: FloatArray, common: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the summed errors of models, and T times the distances between them."""
        size = self.losses.size
        apart = size * (np.einsum("mak,mbk->mab", shares, errors) + common[..., None])
        apart = (apart + apart.transpose(0, 2, 1)) / 2
        apart[:, range(apart.shape[1]), range(apart.shape[1])] = 0.0
        return own[..., :-1] @ self.weights + size * common, apart


def _parts(rows: list[list[_Model]]) -> Iterator[list[list[Any]]]:
    """Yield each part of all models."""
    return ([[model[part] for model in row] for row in rows] for part in range(len(_Model._fields)))


def _least_averages(linear: FloatArray, apart: FloatArray) -> FloatArray:
    """Return the minimum of c·α - α'Qα/2 for many programmes at once: the least stationary value of all faces.

    A solution of linear equations in float64 solves slightly different ones, however flat a face is, and the minimum
    changes no more than c and Q do. So the values are accurate, though the weights may not be.
    """
    common = linear.min(axis=1, keepdims=True)
    linear = linear - common  # what is common to all models would hide how little they differ
    best = np.zeros(len(linear))
    for many in range(2, linear.shape[1] + 1):
        for face in map(list, combinations(range(linear.shape[1]), many)):
            scale = np.abs(apart[:, face][:, :, face]).max(axis=(1, 2))
            # no distance makes up for larger differences
            some = np.flatnonzero((scale > 0) & (np.ptp(linear[:, face], axis=1) <= 2 * scale))
            quadratic = apart[some][:, face][:, :, face] / scale[some, None, None]
            errors = linear[some][:, face] / scale[some, None]
            weights = _stationary_points(errors, quadratic)
            inside: NDArray[np.bool_] = weights.min(axis=1, initial=np.inf) > 0
            weights = weights[inside] / weights[inside].sum(axis=1, keepdims=True)
            pairs = np.einsum("ma,mab,mb->m", weights, quadratic[inside], weights)
            values = scale[some][inside] * ((errors[inside] * weights).sum(axis=1) - pairs / 2)
            best[some[inside]] = np.minimum(best[some[inside]], values)
    return np.asarray(best + common[:, 0])


def _stationary_points(linear: FloatArray, quadratic: FloatArray) -> FloatArray:
    """Return the point of sum 1 at which all slopes are equal, for many programmes; zeros if there is no such point."""
    many = linear.shape[1]
    systems = np.ones((len(linear), many + 1, many + 1))
    systems[:, :many, :many], systems[:, many, many] = quadratic, 0.0
    right = np.column_stack([linear, np.ones(len(linear))])[..., None]
    try:
        return np.asarray(np.linalg.solve(systems, right))[:, :many, 0]
    except np.linalg.LinAlgError:
        if len(linear) == 1:
            return np.zeros((1, many))
        half = len(linear) // 2
        return np.concatenate(
            [_stationary_points(linear[some], quadratic[some]) for some in (np.s_[:half], np.s_[half:])]
        )
