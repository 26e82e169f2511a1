"""Lower bounds on the value of the routes of a fleet; docs/bounds.md has the proofs."""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.certificates import Simple
from learnroute.model.dissimilarities import subtract_mean
from learnroute.model.fleet_objective import FleetObjective
from learnroute.model.pairs import SORTED_REGIONS
from learnroute.model.rounding import UNIT, margin
from learnroute.solvers.visits.floor import travel_edges

NO_FLEET_BOUND = "no lower bound is known for these routes"


def fleet_bound(objective: FleetObjective) -> Simple | None:
    """Return the error of the mean model plus a lower bound on travel if models are averaged, else None.

    The average is one model, and no model has a smaller mean error than the mean of all regions' models. This requires
    a law with shares from 0 to 1.
    """
    known, (retention, _, coupling, second, _) = objective.visits.known, objective.visits.updates.tables
    fitted = known.vectors is not None or objective.size <= SORTED_REGIONS
    obeyed = min(retention.min(), coupling.min(), second.min()) >= 0 and retention.max() <= 1
    if not objective.rules.merged or not fitted or not obeyed:
        return None
    terms = [_least_error(objective), objective.visits.rate * _least_travel(objective)]
    return Simple(math.fsum(terms) - margin(objective.size + 2, math.fsum(map(abs, terms))))


def _least_error(objective: FleetObjective) -> float:
    """Return a lower bound on T times the error of any average of models.

    The initial model is at the mean of all regions' models, up to a scatter s >= 0. Deviations of the dissimilarities
    from squared distances are bounded by their worst case, those above by the initial model's share in the average. The
    same holds for parts of laws that no model has: negative noise, and more coupling than p₁(1 - p₁).
    """
    known, rules, size = objective.visits.known, objective.visits.rules, objective.size
    weights = known.region_weights
    apart = subtract_mean(known.points, weights)
    radii = np.einsum("ij,ij->i", apart, apart)
    below, above = known.misfit
    away = known.initial - radii
    scatter = np.unique(np.maximum(away, 0.0))
    slope = np.array(
        [np.maximum(s - away, 0.0) @ weights + size * max(float(away.max()) - s, 0.0) for s in scatter.tolist()]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(slope > 0, np.minimum(1.0, slope / (2 * size * scatter)), 0.0)
    excess, negative, noise = _accumulate(objective)
    lost = slope * share - size * scatter * share**2 + size * excess * (4 * float(radii.max()) + scatter)
    largest = 2 * max(float(known.matrix.max()), float(known.initial.max())) + noise
    uneven = 4 * (abs(math.fsum([*weights, -size])) + size * UNIT) * (largest + float(scatter.max()))
    unlearnt = 16 * UNIT * rules.at_most * size * largest
    sizes = math.fsum(weights * radii) + float((slope + lost + size * scatter).max()) + below + size * above
    off = [-float(lost.min()), -below, -size * above, -size * negative, -uneven, -unlearnt]
    return math.fsum([*(weights * radii), *off]) - margin(64 * size + known.points.shape[1], sizes)


def _accumulate(objective: FleetObjective) -> tuple[float, float, float]:
    """Return the maximum after any trainings of the coupling that no model has, of negative noise and of noise."""
    rules, most, now = objective.visits.rules, np.zeros(3), np.zeros(3)
    law = objective.visits.updates.compact(np.flatnonzero(rules.allowed), rules.at_most)
    excess = (law.coupling - law.retention * (1 - law.retention)).max(axis=1) + 8 * UNIT
    added = np.maximum(np.column_stack([excess, -law.noise.min(axis=1), np.abs(law.noise).max(axis=1)]), 0.0)
    retained = (law.retention - law.coupling).max(axis=1)
    for t in range(rules.at_most):
        row = min(t, len(added) - 1)
        now = (retained[row] * now + added[row]) * (1 + 4 * UNIT)
        most = np.maximum(most, now)
    return float(most[0]), float(most[1]), float(most[2])


def _least_travel(objective: FleetObjective) -> float:
    """Return a lower bound on the travel that is paid for.

    All routes together form a forest of the stops that must be visited: one tree if there is an origin, otherwise as
    many as vehicles.
    """
    visits, rules = objective.visits, objective.rules
    edges = np.sort(travel_edges(visits))
    cut = 0 if visits.origin is not None else rules.vehicles - 1
    least = math.fsum(edges[: max(0, len(edges) - cut)])
    least = max(0.0, least - margin(visits.size + 1, math.fsum(edges) + float(visits.travel.max()) / 8))
    return least / rules.vehicles if rules.longest else least
