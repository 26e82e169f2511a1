"""Check an ng-route bound: which ng-routes may be better orders? docs/bounds.md explains it.

Labels are kept in dictionaries, one region after the other, apart from the solver's code.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from learnroute.model.certificates import NgRelaxation, NgRoutes
from learnroute.model.ends import BoolArray
from learnroute.model.objective import Objective
from learnroute.model.rounding import OPTIMALITY, margin
from learnroute.model.validation import FloatArray
from learnroute.verification.checks import Check, TooManyLabelsError, no_better, not_repeated, refuted_by
from learnroute.verification.relaxation import path_relaxation

MOST_LABELS = 400_000  # kept at once
COMPARED = 50  # cheaper labels that each one is compared with for dominance
CLAIM = 1.01 * OPTIMALITY  # relative: what a claim of optimality leaves open, and how it is written in decimal

Layer = dict[int, list[tuple[float, int]]]  # region: (cost, regions remembered, one bit each), cheapest first


def bound(objective: Objective, certificate: NgRoutes, ceiling: float) -> float:
    """Return the cost of the cheapest ng-route, as far as `ceiling`, rounding taken off."""
    multipliers = certificate.stages[-1].multipliers
    network = Network(objective, multipliers, most=ceiling)
    left = routes_left(objective, certificate.stages, ceiling)
    cheapest = min((group[0][0] for group in left.values()), default=math.inf)
    return min(ceiling, cheapest + network.constant + float(multipliers.sum()) - network.margin)


def optimum(objective: Objective, certificate: NgRoutes, value: float) -> Check:
    """Show that no order is better, with the multipliers and ng-sets of the certificate as a guide only."""
    claimed = value - CLAIM * abs(value)
    multipliers = certificate.stages[-1].multipliers
    network = Network(objective, multipliers, most=value)
    everything = [[-1] * objective.size] * objective.size
    try:
        left = routes_left(objective, certificate.stages, claimed, everything)
    except TooManyLabelsError:
        return not_repeated(f"more than {MOST_LABELS:,} labels are needed to repeat the proof")
    better = min((group[0][0] for group in left.values()), default=math.inf)
    if better == math.inf:
        return no_better("all of them considered anew")
    if not network.tight:
        return Check("optimum", False, "it does not follow from the certificate")
    better += network.constant + float(multipliers.sum())
    if better >= claimed - network.margin:
        return not_repeated("its numbers differ too much in size to tell")
    return refuted_by((value - better) / objective.size)


def routes_left(
    objective: Objective, stages: tuple[NgRelaxation, ...], value: float, ng_sets: list[list[int]] | None = None
) -> Layer:
    """Return the last labels of the routes, at the last stage, that may be orders of less than `value`.

    Each stage leaves only the arcs of routes that cost less than that. Backward labels have the ng-sets of the first
    stage. `ng_sets`, for a claim of optimality, replace those of the last one. Rounding counts against the claim.
    """
    free, backward_sets = None, stages[0].masks()[::-1]
    for k, stage in enumerate(stages):
        network = Network(objective, stage.multipliers, free, most=value)
        limit = network.limit(value)
        backward = network.reversed().labels(backward_sets, limit)
        sets = stage.masks() if ng_sets is None or k < len(stages) - 1 else ng_sets
        left = network.labels(sets, limit, backward)
        free = network.taken[:-1]
    return left[-1]


def _undominated(labels: dict[int, float]) -> list[tuple[float, int]]:
    """Sort labels by cost, without those that a cheaper one which remembers less dominates."""
    kept: list[tuple[float, int]] = []
    for cost, mask in sorted((cost, mask) for mask, cost in labels.items()):
        if not any(fewer & ~mask == 0 for _, fewer in kept[:COMPARED]):
            kept.append((cost, mask))
    return kept


def _completed(group: list[tuple[float, int]], most: float, known: int) -> bool:
    """Whether a label of the group, cheapest first, costs less than `most` and remembers no region that is known."""
    for cost, mask in group:
        if cost >= most:
            return False
        if not mask & known:
            return True
    return False


class Network:
    """The layered network with multipliers, as docs/bounds.md defines it."""

    def __init__(
        self,
        objective: Objective,
        multipliers: FloatArray,
        free: BoolArray | None = None,
        backward: bool = False,
        most: float = math.inf,
    ) -> None:
        """Prepare it; no order of a value below `most` pays more for anything: what costs more is left out."""
        path, self.tight = path_relaxation(objective)
        nodes = path.weights[:, None] * path.scores[None, :]
        nodes[0] += path.begin
        nodes[-1] += path.finish
        most = max(most - path.constant, 0.0)
        nodes = np.where(nodes <= most, nodes, np.inf) - multipliers
        if path.ends.first is not None:
            nodes[1:, path.ends.first] = np.inf
        if path.ends.last is not None:
            nodes[:-1, path.ends.last] = np.inf
        self._objective, self._multipliers, self.constant = objective, multipliers, path.constant
        self._most = most + path.constant
        arcs = np.where(path.travel <= most, path.travel, np.inf)
        self.arc_costs = arcs.T if backward else arcs
        self.node_costs = nodes[::-1] if backward else nodes
        self.size = path.size
        self.free = free  # arcs that a route may take: position, from, to; None for all
        self.taken = np.zeros((self.size, self.size, self.size), dtype=bool)
        finite = np.where(np.isfinite(nodes), np.abs(nodes), 0.0)
        dearest = arcs[np.isfinite(arcs)].max()
        largest = finite.max(axis=1).sum() + self.size * dearest + np.abs(multipliers).sum()
        self.margin = margin(self.size, float(largest))

    def reversed(self) -> Network:
        """Return the same network from its end."""
        free = None if self.free is None else self.free[::-1].transpose(0, 2, 1)
        return Network(self._objective, self._multipliers, free, True, self._most)

    def limit(self, value: float) -> float:
        """Return the cost from which on a route is surely no better than an order of this value."""
        return value - self.constant - float(self._multipliers.sum()) + self.margin

    def labels(self, ng_sets: list[list[int]], limit: float, backward: list[Layer] | None = None) -> list[Layer]:
        """Return all labels that may lead to a route cheaper than `limit`, position by position.

        `backward` are the labels of the reversed network: a label is dropped where none of them at the same place,
        which remembers no region that this one remembers, completes it below the limit. The arcs of the labels that
        are left are marked as taken.
        """
        completion = self._completion()
        layers: list[Layer] = []
        kept = 0
        for t in range(self.size):
            found: dict[int, dict[int, float]] = {}
            here = np.where(
                np.isfinite(self.node_costs[t]), self.node_costs[t], 0.0
            )  # inf, where forbidden, is in `completion` too
            for v, mask, costs in self._arrivals(layers, t):
                for w in np.flatnonzero(costs - here + completion[t] < limit).tolist():
                    if w == v or mask >> w & 1:
                        continue
                    known = mask & ng_sets[t][w]
                    cost = float(costs[w])
                    if backward is not None:
                        most = limit - cost + float(self.node_costs[t, w])
                        group = backward[self.size - 1 - t].get(w, [])
                        if not _completed(group, most, known):
                            continue
                    self.taken[t - 1, v, w] = True  # at position 0 no arc is taken: the last row is not used
                    labels = found.setdefault(w, {})
                    remembered = known | 1 << w
                    if cost < labels.get(remembered, math.inf):
                        kept += remembered not in labels
                        labels[remembered] = cost
                        if kept > MOST_LABELS:
                            raise TooManyLabelsError
            layers.append({w: _undominated(labels) for w, labels in found.items()})
            kept += sum(map(len, layers[-1].values())) - sum(map(len, found.values()))
        return layers

    def _arrivals(self, layers: list[Layer], t: int) -> Any:
        """Yield each label before position t with the costs of going on to every region."""
        if t == 0:
            yield -1, 0, self.node_costs[0]
            return
        for v, group in layers[-1].items():
            for cost, mask in group:
                costs = cost + self.arc_costs[v] + self.node_costs[t]
                yield v, mask, costs if self.free is None else np.where(self.free[t - 1, v], costs, np.inf)

    def _completion(self) -> FloatArray:
        """Return the cost of the cheapest completion, nothing remembered, from each position and region on."""
        completion = self.node_costs.copy()
        for t in range(self.size - 2, -1, -1):
            onward = self.arc_costs + completion[t + 1][None, :]
            completion[t] += (onward if self.free is None else np.where(self.free[t], onward, np.inf)).min(axis=1)
        return completion
