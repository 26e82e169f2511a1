"""Lower bounds on the value of the routes of a fleet; docs/bounds.md has the proofs."""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.certificates import Simple
from learnroute.model.dissimilarities import centred
from learnroute.model.fleet_objective import FleetObjective
from learnroute.model.pairs import SORTED_REGIONS
from learnroute.model.rounding import UNIT, margin
from learnroute.solvers.visits.floor import travel_edges

NO_FLEET_BOUND = "no lower bound is known for these routes"


def fleet_bound(objective: FleetObjective) -> Simple | None:
    """Return the error of the mean model plus the least travel, where models are averaged; else None.

    The average is one model, and no model has a smaller mean error than the mean of all regions' models. That needs a
    law that models obey: shares from 0 to 1, and noise that is not negative.
    """
    known, updates = objective.visits.known, objective.visits.updates
    fitted = known.vectors is not None or objective.size <= SORTED_REGIONS
    obeyed = updates.retention.min() >= 0 and updates.retention.max() <= 1 and updates.coupling.min() >= 0
    if not objective.rules.merged or not fitted or not obeyed or updates.noise.min() < 0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        terms = [_least_error(objective), objective.visits.rate * _least_travel(objective)]
    bound = math.fsum(terms) - margin(objective.size + 2, math.fsum(map(abs, terms)))
    return Simple(bound) if math.isfinite(bound) else None


def _least_error(objective: FleetObjective) -> float:
    """Return what T times the error of no average is below.

    The first model is at the mean of all regions' models but for a scatter s >= 0. What dissimilarities are off from
    squared distances counts at its worst: above, by the share of the first model in the average.
    """
    known, size = objective.visits.known, objective.size
    weights = known.region_weights
    apart = centred(known.points, weights)
    radii = np.einsum("ij,ij->i", apart, apart)
    below, above = known.misfit
    away = known.initial - radii
    scatter = np.unique(np.maximum(away, 0.0))
    rest = away[None, :] - scatter[:, None]
    slope = np.maximum(-rest, 0.0) @ weights + size * np.maximum(rest, 0.0).max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(slope > 0, np.minimum(1.0, slope / (2 * size * scatter)), 0.0)
    lost = slope * share - size * scatter * share**2
    sizes = math.fsum(weights * radii) + float((slope + size * scatter).max()) + below + size * above
    uneven = (abs(math.fsum([*weights, -size])) + size * UNIT) * 4 * (float(radii.max()) + float(scatter.max()))
    terms = 64 * (size + objective.visits.rules.at_most) + known.points.shape[1]
    return math.fsum([*(weights * radii), -float(lost.min()), -below, -size * above, -uneven]) - margin(terms, sizes)


def _least_travel(objective: FleetObjective) -> float:
    """Return a lower bound on the travel that is paid for.

    All routes together are a forest of the stops that must be visited: with an origin one tree, else as many as there
    are vehicles.
    """
    visits, rules = objective.visits, objective.rules
    edges = np.sort(travel_edges(visits))
    cut = 0 if visits.origin is not None else rules.vehicles - 1
    least = math.fsum(edges[: max(0, len(edges) - cut)])
    least = max(0.0, least - margin(visits.size + 1, math.fsum(edges) + float(visits.travel.max()) / 8))
    return least / rules.vehicles if rules.longest else least
