"""Values of many routes of a fleet at once, in float64, which the checker computes before the exact ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray
from learnroute.verification.fleet_losses import FEW, FleetLosses

WELL = 1e-6  # determinant of a scaled system above which it is solved directly
FLAT = 1e-10  # curvature that is ignored, relative to the largest distance between models
SLACK = 1e-9  # maximum effect of ignoring it, in the same unit
EXACT = 1e-12  # maximum rounding error, relative to the sizes of all terms


class _Model(NamedTuple):
    """A model as the result of its trainings; the last entry of rows is for the initial model."""

    own: FloatArray
    shares: FloatArray  # shares of regions and of the initial model: `own` is the mean of their rows
    common: float
    size: float  # size of all terms


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
        return _Model(self.initial, shares, 0.0, float(np.abs(self.initial[:-1]) @ self.weights))

    def _model(self, regions: tuple[int, ...]) -> _Model:
        if regions not in self.models:
            before, k, size = self._model(regions[:-1]), regions[-1], self.losses.size
            tables = self.losses.problem.updates.tables
            retention, plasticity, coupling, second, noise = (float(x[len(regions) - 1, k]) for x in tables)
            shares = retention * before.shares
            shares[k] += plasticity
            here = float(before.own[k])
            row = self.delta[k]
            self.models[regions] = _Model(
                retention * before.own + plasticity * row,
                shares,
                second * before.common - coupling * here + noise,
                before.size + float(np.abs(row[:-1]) @ self.weights) + size * (abs(coupling * here) + abs(noise)),
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
        """Return the values, and the amount by which each may be too large; None if there are too many models."""
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
        own = np.array([[model.own for model in row] for row in rows])
        common = np.array([[model.common for model in row] for row in rows])
        slack = EXACT * np.array([2 * sum(model.size for model in row) for row in rows])
        errors, size = own + common[..., None], self.losses.size
        if not self.losses.rules.merged:
            least = np.minimum(errors[..., :-1].min(axis=1), self.initial[:-1])
            return least @ self.weights, slack
        shares = np.array([[model.shares for model in row] for row in rows])
        linear = own[..., :-1] @ self.weights + size * common
        apart = size * (np.einsum("mak,mbk->mab", shares, errors) + common[..., None])
        apart = (apart + apart.transpose(0, 2, 1)) / 2
        apart[:, range(apart.shape[1]), range(apart.shape[1])] = 0.0
        slack = slack + EXACT * np.abs(apart).max(axis=(1, 2))
        if self.losses.rules.equal:
            return linear[:, :trained].mean(axis=1) - apart[:, :trained, :trained].mean(axis=(1, 2)) / 2, slack
        found, flat = _least_averages(linear, apart)
        return found, slack + flat


def _least_averages(linear: FloatArray, apart: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the minimum of c·α - α'Qα/2 for many programmes at once, and how far flat ones may be below it."""
    best, flat = linear.min(axis=1), np.zeros(len(linear))
    for many in range(2, linear.shape[1] + 1):
        for face in map(list, combinations(range(linear.shape[1]), many)):
            quadratic = apart[:, face][:, :, face]
            scale = np.maximum(np.abs(quadratic).max(axis=(1, 2)), 1e-300)
            system = np.ones((len(linear), many + 1, many + 1))
            system[:, :many, :many], system[:, many, many] = quadratic / scale[:, None, None], 0.0
            right = np.column_stack([linear[:, face] / scale[:, None], np.ones(len(linear))])[..., None]
            well = np.abs(np.linalg.det(system)) > WELL
            weights = np.zeros((len(linear), many))
            weights[well] = np.linalg.solve(system[well], right[well])[:, :many, 0]
            weights[~well] = (np.linalg.pinv(system[~well], rcond=FLAT) @ right[~well])[:, :many, 0]
            inside: NDArray[np.bool_] = weights.min(axis=1) > -SLACK
            weights = np.maximum(weights[inside], 0.0)
            weights /= weights.sum(axis=1, keepdims=True)
            pairs = np.einsum("ma,mab,mb->m", weights, quadratic[inside], weights)
            best[inside] = np.minimum(best[inside], (linear[inside][:, face] * weights).sum(axis=1) - pairs / 2)
            flat = np.maximum(flat, np.where(well, 0.0, SLACK * scale))
    return best, flat
