"""The floor of visits: no model has a smaller mean error than the mean of all regions' models (docs/bounds.md).

It holds for squared distances between points and for laws that models obey. Deviations of the dissimilarities and laws
from that are bounded by their worst case, as in `model.pairs`, here for any number of visits.
"""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.certificates import Simple
from learnroute.model.dissimilarities import subtract_mean
from learnroute.model.pairs import SORTED_REGIONS
from learnroute.model.rounding import UNIT, margin
from learnroute.model.validation import FloatArray
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.spanning_tree import minimum_spanning_tree


def floor_bound(objective: VisitObjective) -> Simple | None:
    """Return the floor of the error, plus a lower bound on travel through all regions that must be visited.

    Return None if the dissimilarities are asymmetric, or if a visit reverses what all regions gained in common.
    """
    known = objective.known
    fitted = known.vectors is not None or objective.size <= SORTED_REGIONS
    if not known.symmetric or not fitted or objective.updates.second.min() < 0:
        return None
    terms = [_least_error(objective), objective.rate * least_travel(objective)]
    return Simple(math.fsum(terms) - margin(objective.size + 2, math.fsum(map(abs, terms))))


def _least_error(objective: VisitObjective) -> float:
    """Return a lower bound on T times the error of all allowed sequences."""
    known, rules, size = objective.known, objective.rules, objective.size
    weights = known.region_weights
    apart = subtract_mean(known.points, weights)
    radii = np.einsum("ij,ij->i", apart, apart)
    farthest = 4 * float(radii.max())  # no squared distance between two of the points is larger
    below, above = known.misfit
    law = objective.updates.compact(np.flatnonzero(rules.allowed), rules.at_most)
    retention, plasticity, coupling, second, noise = law
    convex = bool(retention.min() >= 0 and retention.max() <= 1 and coupling.min() >= 0)
    if not convex:
        below, above = below + size * above, above + below
    # the initial model is as far from all regions as their mean, plus a scatter; any scatter >= 0 gives a valid bound
    first = known.initial - radii
    scatter = np.unique(np.maximum(first, 0.0))
    rest = first[None, :] - scatter[:, None]
    missed = np.maximum(-rest if convex else np.abs(rest), 0.0) @ weights
    uneven = abs(math.fsum([*weights, -size])) + size * UNIT  # difference between the sum of the weights and T
    worst = np.maximum(rest if convex else np.abs(rest), 0.0).max(axis=1)

    excess = second - retention + coupling
    worst_cases = (
        (excess if convex else np.abs(excess)).max(axis=1) + 8 * UNIT,
        np.maximum(coupling - retention * plasticity, 0.0).max(axis=1) + 8 * UNIT,
        np.abs(coupling).max(axis=1), second.min(axis=1), second.max(axis=1), noise.min(axis=1),
        np.abs(retention).max(axis=1), np.abs(plasticity).max(axis=1), np.abs(plasticity - (1 - retention)).max(axis=1),
    )  # fmt: skip
    by_position = np.broadcast_to(np.column_stack(worst_cases), (rules.at_most, len(worst_cases))).tolist()

    lost, noisy, kept = np.zeros(len(scatter)), 0.0, 1.0
    learnt, left, unlearnt, best = 0.0, 1.0, 0.0, np.full(len(scatter), np.inf)
    sizes = math.fsum(weights * radii)
    for t, (beside, beyond, couples, low, high, least, retains, learns, unshared) in enumerate(by_position):
        if convex:
            lacking = max(beside, beyond)
        else:  # shares of either sign: the model may lie outside of the points
            reach = max(1.0, learnt + left)
            lacking = reach * ((1 + reach) * beside + reach * beyond)
        paired = couples * (learnt * above + left * worst + unlearnt * farthest)
        lost = high * lost + lacking * (farthest + scatter) + paired
        noisy, kept = (low if noisy >= 0 else high) * noisy + least, low * kept
        learnt, left = retains * learnt + learns, retains * left
        learnt = min(learnt, 1.0) if convex else learnt
        unlearnt = retains * unlearnt + unshared + UNIT
        if t + 1 < rules.at_least:
            continue
        parts = [size * noisy, size * kept * scatter, -size * lost, -learnt * below, -left * missed]
        reach = max(1.0, learnt + left)
        parts += [-size * unlearnt * farthest, -uneven * reach**2 * (farthest + scatter)]
        best = np.minimum(best, sum(parts))
        sizes = max(sizes, float(np.max(sum(map(np.abs, parts)))))
    columns = known.points.shape[1]
    return math.fsum(weights * radii) + float(best.max()) - margin(64 * (size + rules.at_most) + columns, sizes)


def least_travel(objective: VisitObjective) -> float:
    """Return a lower bound on travel: a spanning tree of all stops that a route must visit, by shortest paths."""
    edges = travel_edges(objective)
    total = math.fsum(edges)
    rounding = margin(objective.size + 1, total + float(objective.travel.max()) / 8)  # the checker's grid is as coarse
    return max(0.0, total - rounding)


def travel_edges(objective: VisitObjective) -> FloatArray:
    """Return the edge lengths of a minimum spanning tree of all stops that must be visited, by shortest paths.

    Mehlhorn (1988): it is enough to consider paths of one edge whose ends are extended to their nearest required stops.
    """
    stops = np.flatnonzero(objective.rules.allowed)
    required = objective.rules.required[stops]
    if objective.origin is not None:
        stops, required = np.append(stops, objective.origin), np.append(required, True)
    if required.sum() < 2 or not objective.rate:
        return np.empty(0)
    ways: FloatArray = objective.travel[np.ix_(stops, stops)]
    ways = np.minimum(ways, ways.T)
    nearest, owner = np.where(required, 0.0, np.inf), np.cumsum(required) - 1
    left = nearest.copy()
    for _ in range(len(stops)):  # Dijkstra's algorithm, from all required stops
        here = int(np.argmin(left))
        left[here] = np.inf
        through = nearest[here] + ways[here]
        closer = through < nearest
        nearest[closer] = left[closer] = through[closer]
        owner[closer] = owner[here]
    joined = np.full((int(required.sum()),) * 2, np.inf)
    np.minimum.at(joined, (owner[:, None], owner), nearest[:, None] + ways + nearest)
    tree = minimum_spanning_tree(joined)
    found: FloatArray = joined[tree[:, 0], tree[:, 1]]
    return found
