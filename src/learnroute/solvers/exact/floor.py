"""The floor of visits: no model has a smaller mean error than the mean of all regions' models (docs/bounds.md).

It holds for squared distances between points and for laws that models obey. Deviations of the dissimilarities and laws
from that are bounded by their worst case, as in `model.relaxation`, here for any number of visits.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from learnroute.model.certificates import Simple
from learnroute.model.dissimilarities import subtract_mean
from learnroute.model.instance import Instance
from learnroute.model.relaxation import SORTED_REGIONS
from learnroute.model.rounding import UNIT, margin
from learnroute.model.validation import FloatArray
from learnroute.solvers.contract import Answer, Budget, Rung
from learnroute.solvers.params import SolverParams
from learnroute.solvers.spanning_tree import minimum_spanning_tree


class Floor(Rung):
    """The rung of the floor of the mean model, which takes almost no time."""

    exact = False

    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether one model serves all regions, dissimilarities are near squared distances, and laws are obeyed.

        A visit must not reverse what all regions gained in common; models that are averaged need shares from 0 to 1.
        """
        known, (retention, _, coupling, second, _) = instance.known, instance.updates.tables
        fitted = known.vectors is not None or instance.size <= SORTED_REGIONS
        if not instance.fleet.merged or not fitted or instance.permutation or second.min() < 0:
            return False
        if instance.single:
            return known.symmetric
        return min(float(retention.min()), float(coupling.min())) >= 0 and float(retention.max()) <= 1

    def prove(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer:
        """Return the answer with the floor of the error, plus a lower bound on travel, unless it has a better bound."""
        assert answer is not None
        if answer.certificate is not None:
            return answer
        return replace(answer, certificate=floor_bound(instance))


def floor_bound(instance: Instance) -> Simple:
    """Return the floor of the error, plus a lower bound on travel through all regions that must be visited."""
    error = _least_error(instance) if instance.single else _least_average_error(instance)
    terms = [error, instance.rate * least_travel(instance)]
    return Simple(math.fsum(terms) - margin(instance.size + 2, math.fsum(map(abs, terms))))


def _least_error(instance: Instance) -> float:
    """Return a lower bound on T times the error of all allowed sequences."""
    known, rules, size = instance.known, instance.visits, instance.size
    weights = known.region_weights
    apart = subtract_mean(known.points, weights)
    radii = np.einsum("ij,ij->i", apart, apart)
    farthest = 4 * float(radii.max())  # no squared distance between two of the points is larger
    below, above = known.misfit
    law = instance.updates.compact(np.flatnonzero(rules.allowed), rules.at_most)
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


def _least_average_error(instance: Instance) -> float:
    """Return a lower bound on T times the error of any average of models.

    The initial model is at the mean of all regions' models, up to a scatter s >= 0. Deviations of the dissimilarities
    from squared distances are bounded by their worst case, those above by the initial model's share in the average. The
    same holds for parts of laws that no model has: negative noise, and more coupling than p₁(1 - p₁).
    """
    known, rules, size = instance.known, instance.visits, instance.size
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
    excess, negative, noise = _accumulate(instance)
    lost = slope * share - size * scatter * share**2 + size * excess * (4 * float(radii.max()) + scatter)
    largest = 2 * max(float(known.matrix.max()), float(known.initial.max())) + noise
    uneven = 4 * (abs(math.fsum([*weights, -size])) + size * UNIT) * (largest + float(scatter.max()))
    unlearnt = 16 * UNIT * rules.at_most * size * largest
    sizes = math.fsum(weights * radii) + float((slope + lost + size * scatter).max()) + below + size * above
    off = [-float(lost.min()), -below, -size * above, -size * negative, -uneven, -unlearnt]
    return math.fsum([*(weights * radii), *off]) - margin(64 * size + known.points.shape[1], sizes)


def _accumulate(instance: Instance) -> tuple[float, float, float]:
    """Return the maximum after any trainings of the coupling that no model has, of negative noise and of noise."""
    rules, most, now = instance.visits, np.zeros(3), np.zeros(3)
    law = instance.updates.compact(np.flatnonzero(rules.allowed), rules.at_most)
    excess = (law.coupling - law.retention * (1 - law.retention)).max(axis=1) + 8 * UNIT
    added = np.maximum(np.column_stack([excess, -law.noise.min(axis=1), np.abs(law.noise).max(axis=1)]), 0.0)
    retained = (law.retention - law.coupling).max(axis=1)
    for t in range(rules.at_most):
        row = min(t, len(added) - 1)
        now = (retained[row] * now + added[row]) * (1 + 4 * UNIT)
        most = np.maximum(most, now)
    return float(most[0]), float(most[1]), float(most[2])


def least_travel(instance: Instance) -> float:
    """Return a lower bound on the travel that counts: a forest of all stops that must be visited, by shortest paths.

    It is one tree if there is an origin, otherwise as many trees as vehicles.
    """
    fleet, edges = instance.fleet, np.sort(travel_edges(instance))
    cut = 0 if instance.origin is not None else fleet.vehicles - 1
    least = math.fsum(edges[: max(0, len(edges) - cut)])
    largest = float(instance.travel.matrix.max())  # the checker's grid is as coarse
    least = max(0.0, least - margin(instance.size + 1, math.fsum(edges) + largest / 8))
    return least / fleet.vehicles if fleet.longest else least


def travel_edges(instance: Instance) -> FloatArray:
    """Return the edge lengths of a minimum spanning tree of all stops that must be visited, by shortest paths.

    Mehlhorn (1988): it is enough to consider paths of one edge whose ends are extended to their nearest required stops.
    """
    stops = np.flatnonzero(instance.visits.allowed)
    required = instance.visits.required[stops]
    if instance.origin is not None:
        stops, required = np.append(stops, instance.origin), np.append(required, True)
    if required.sum() < 2 or not instance.rate:
        return np.empty(0)
    ways: FloatArray = instance.travel.matrix[np.ix_(stops, stops)]
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
