"""A slow and obvious oracle for fleets: the law of distances event by event in plain Python, all routes tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from learnroute.model.fleet_objective import FleetObjective, FleetRoutes
from visiting import route_length


def distances(objective: FleetObjective, routes: FleetRoutes) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected squared distances of all models to regions and between models: two events, one loop."""
    visits, models = objective.visits, objective.rules.size
    retention, plasticity, coupling, second, noise = visits.updates.tables
    size, delta = objective.size, visits.known.matrix
    own = [list(visits.known.initial) for _ in range(models)]
    common, trained = [0.0] * models, [0] * models
    between = [[0.0] * models for _ in range(models)]
    for route, labels in zip(routes.routes, routes.models, strict=True):
        for k, a in zip(route, labels, strict=True):
            t = trained[a]
            p, learns, q, rho, nu = (float(x[t, k]) for x in (retention, plasticity, coupling, second, noise))
            error = own[a][k] + common[a]
            for b in range(models):
                if b != a:
                    apart = p * between[a][b] - q * error + learns * (own[b][k] + common[b]) + nu
                    between[a][b] = between[b][a] = apart
            common[a] = rho * common[a] - q * own[a][k] + nu
            own[a] = [p * own[a][j] + learns * delta[k, j] for j in range(size)]
            trained[a] += 1
    return np.array(own) + np.array(common)[:, None], np.array(between)


def error(objective: FleetObjective, routes: FleetRoutes) -> float:
    """Return T times the expected error."""
    rows, between = distances(objective, routes)
    known, rules = objective.visits.known, objective.rules
    if not rules.merged:
        return float((np.minimum(rows.min(axis=0), known.initial) * known.region_weights).sum())
    means = rows @ known.region_weights
    if rules.equal:
        out = np.array([a in {m for row in routes.models for m in row} for a in range(rules.size)])
        weights = out / out.sum()
        return merged_error(means, between, objective.size, weights)
    return least_merged(means, between, objective.size)


def merged_error(means: np.ndarray, between: np.ndarray, size: int, weights: np.ndarray) -> float:
    """Return the summed error of an average."""
    return float(weights @ means - 0.5 * size * weights @ between @ weights)


def least_merged(means: np.ndarray, between: np.ndarray, size: int) -> float:
    """Return the lowest error of an average: stationary points of all faces of the simplex, by least squares."""
    best = math.inf
    for count in range(1, len(means) + 1):
        for face in itertools.combinations(range(len(means)), count):
            some = list(face)
            system = np.ones((count + 1, count + 1))
            system[:-1, :-1], system[-1, -1] = size * between[np.ix_(some, some)], 0.0
            weights = np.zeros(len(means))
            weights[some] = np.linalg.lstsq(system, np.append(means[some], 1.0), rcond=None)[0][:-1]
            if weights.min() >= -1e-12 and abs(weights.sum() - 1) < 1e-9:
                weights = np.maximum(weights, 0.0) / np.maximum(weights, 0.0).sum()
                best = min(best, merged_error(means, between, size, weights))
    return best


def value(objective: FleetObjective, routes: FleetRoutes) -> float:
    """Return travel times its rate, plus the error."""
    travels = [route_length(objective.visits, route) if route else 0.0 for route in routes.routes]
    paid = max(travels) if objective.rules.longest else sum(travels)
    return objective.visits.rate * paid + error(objective, routes)


def sequences(objective: FleetObjective) -> Iterator[tuple[int, ...]]:
    """Yield all sequences of visits that may be split among vehicles or models."""
    rules = objective.visits.rules
    regions = [k for k in range(objective.size) for _ in range(rules.repeats[k])]
    required = set(np.flatnonzero(rules.required).tolist())
    for length in range(rules.at_least, rules.at_most + 1):
        for sequence in sorted(set(itertools.permutations(regions, length))):
            if required <= set(sequence):
                yield sequence


def all_routes(objective: FleetObjective) -> Iterator[FleetRoutes]:
    """Yield all feasible routes, with interchangeable vehicles and models in one order only."""
    rules = objective.rules
    for sequence in sequences(objective):
        if rules.vehicles > 1:
            for cuts in itertools.combinations_with_replacement(range(len(sequence) + 1), rules.vehicles - 1):
                ends = [0, *cuts, len(sequence)]
                parts = [sequence[a:b] for a, b in itertools.pairwise(ends)]
                routes = FleetRoutes.of_vehicles(parts)
                if parts == sorted(parts) and objective.allows(routes):
                    yield routes
        else:
            for models in itertools.product(range(rules.models), repeat=len(sequence)):
                routes = FleetRoutes.of_models(sequence, models)
                if models[0] == 0 and objective.allows(routes):
                    yield routes


def best_of_all(objective: FleetObjective) -> tuple[float, FleetRoutes | None]:
    """Return the lowest value of all routes, and the routes that have it."""
    return min(((value(objective, routes), routes) for routes in all_routes(objective)), default=(math.inf, None),
               key=lambda pair: pair[0])  # fmt: skip


def draw_rules(rng: np.random.Generator, size: int) -> dict[str, Any]:
    """Return random settings for `tests.visiting.sample`."""
    regions: Sequence[int] = rng.permutation(size).tolist()
    kind = rng.integers(4)
    return {
        "coupled": bool(rng.random() < 0.5),
        "by_position": bool(rng.random() < 0.3),
        "unequal": bool(rng.random() < 0.3),
        "under": bool(rng.random() < 0.2),
        "required": regions[: int(rng.integers(0, size))] if kind else range(size),
        "forbidden": regions[-1:] if kind == 1 else (),
        "repeat": 2 if kind == 2 else 1,
        "at_most": 3 if kind == 2 else None,
        "origin": bool(rng.random() < 0.4),
        "closed": bool(rng.random() < 0.4),
        "symmetric": bool(rng.random() < 0.5),
        "rate": float(rng.choice([0.0, 0.1, 1.0])),
    }
