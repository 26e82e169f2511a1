"""Check an ng-route bound: which ng-routes may be better orders? docs/bounds.md explains it.

Labels are kept in dictionaries, one region after the other, apart from the solver's code. Costs are whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from learnroute.model.certificates import NgRelaxation, NgRoutes
from learnroute.model.ends import BoolArray
from learnroute.model.validation import FloatArray
from learnroute.verification.checks import TooManyLabelsError
from learnroute.verification.exact import Model
from learnroute.verification.grid import LARGEST, Costs, IntMatrix

MOST_LABELS = 400_000  # kept at once
COMPARED = 50  # cheaper labels that each one is compared with for dominance
BITS = 56  # of the goal in grid units, at most
ROOM = 1 << 58  # what no sum of costs and multipliers along a route may exceed
CUT = 16  # times the goal: multipliers are cut there

Layer = dict[int, list[tuple[int, int]]]  # region: (cost, forbidden set, one bit a region), cheapest first


class Left:
    """What is left of the routes below a goal: the cheapest one, in grid units; None where there is none."""

    def __init__(self, costs: Costs, cheapest: int | None) -> None:
        self.costs, self.cheapest = costs, cheapest

    @property
    def bound(self) -> int:
        """The least cost of a route in grid units, as far as the goal."""
        return self.costs.goal if self.cheapest is None else min(self.cheapest, self.costs.goal)


def routes_left(model: Model, stages: tuple[NgRelaxation, ...], goal: Fraction, all_orders: bool = False) -> Left:
    """Return what is left at the last stage of the routes that may be orders below the goal.

    Each stage leaves only the arcs of routes that cost less than that. Backward labels have the ng-sets of the first
    stage. With `all_orders`, the ng-sets of the last stage hold all regions: then routes are orders.
    """
    costs, multipliers = _fine_costs(model, stages, goal)
    if costs.reached:
        return Left(costs, None)
    free, backward_sets = None, stages[0].masks()[::-1]
    size = costs.size
    cheapest = None
    for k, stage in enumerate(stages):
        last = k == len(stages) - 1
        network = Network(costs, multipliers[k], free)
        backward = network.reversed().labels(backward_sets)
        sets = [[-1] * size] * size if last and all_orders else stage.masks()
        left = network.labels(sets, backward)
        free = network.taken[:-1]
        cheapest = min((group[0][0] for group in left[-1].values()), default=None)
    return Left(costs, None if cheapest is None else cheapest + int(multipliers[-1].sum()))


def bound(model: Model, certificate: NgRoutes, goal: Fraction) -> Left:
    """Return what the stages of a certificate leave of the ng-routes below a goal."""
    return routes_left(model, certificate.stages, goal)


def _fine_costs(model: Model, stages: tuple[NgRelaxation, ...], goal: Fraction) -> tuple[Costs, list[IntMatrix]]:
    """Return costs and multipliers on the finest grid on which no sum along a route can overflow."""
    bits = BITS
    while True:
        costs = Costs(model, goal, bits)
        multipliers = [costs.grid.nearest(stage.multipliers, CUT * costs.goal) for stage in stages]
        largest = max(_largest(costs, each) for each in multipliers)
        if largest < ROOM:
            return costs, multipliers
        bits -= max(1, largest.bit_length() - ROOM.bit_length() + 1)


def _largest(costs: Costs, multipliers: FloatArray | IntMatrix) -> int:
    """Return more than the costs along any route and the multipliers can add up to."""
    free = costs.travel < costs.goal
    arcs = int(costs.travel[free].max(initial=0))
    nodes = int(costs.nodes.max(axis=1).astype(object).sum()) + 2 * costs.goal
    return nodes + costs.size * arcs + 3 * int(np.abs(multipliers).astype(object).sum()) + (
        costs.size * int(np.abs(multipliers).max())
    )  # fmt: skip


def _undominated(labels: dict[int, int]) -> list[tuple[int, int]]:
    """Sort labels by cost, without those that a cheaper one which forbids less dominates."""
    kept: list[tuple[int, int]] = []
    for cost, mask in sorted((cost, mask) for mask, cost in labels.items()):
        if not any(fewer & ~mask == 0 for _, fewer in kept[:COMPARED]):
            kept.append((cost, mask))
    return kept


def _completed(group: list[tuple[int, int]], most: int, known: int) -> bool:
    """Whether a label of the group, cheapest first, costs less than `most` and forbids no region that is known."""
    for cost, mask in group:
        if cost >= most:
            return False
        if not mask & known:
            return True
    return False


class Network:
    """The layered network with multipliers, as docs/bounds.md defines it; `LARGEST` where something is not allowed."""

    def __init__(
        self, costs: Costs, multipliers: IntMatrix, free: BoolArray | None = None, backward: bool = False
    ) -> None:
        nodes = costs.nodes.copy()
        nodes[0] += costs.begin
        nodes[-1] += costs.finish
        open_to = (nodes < costs.goal) & costs.model.ends.positions(costs.size)
        nodes = np.where(open_to, nodes - multipliers, LARGEST)
        arcs = np.where(costs.travel < costs.goal, costs.travel, LARGEST)
        self._costs, self._multipliers = costs, multipliers
        self.arc_costs = arcs.T if backward else arcs
        self.node_costs = nodes[::-1] if backward else nodes
        self.size = costs.size
        self.limit = costs.goal - int(multipliers.sum())  # from which on a route is no order below the goal
        self.free = free  # arcs that a route may take: position, from, to; None for all
        self.taken = np.zeros((self.size, self.size, self.size), dtype=bool)

    def reversed(self) -> Network:
        """Return the same network from its end."""
        free = None if self.free is None else self.free[::-1].transpose(0, 2, 1)
        return Network(self._costs, self._multipliers, free, True)

    def labels(self, ng_sets: list[list[int]], backward: list[Layer] | None = None) -> list[Layer]:
        """Return all labels that may lead to a route cheaper than the limit, position by position.

        `backward` are the labels of the reversed network: a label is dropped where none of them at the same place,
        which forbids no region that this one forbids, completes it below the limit. The arcs of the labels that
        are left are marked as taken.
        """
        completion = self._completion()
        layers: list[Layer] = []
        kept = 0
        for t in range(self.size):
            found: dict[int, dict[int, int]] = {}
            here = np.where(self.node_costs[t] < LARGEST, self.node_costs[t], 0)
            for v, mask, costs in self._arrivals(layers, t):
                for w in np.flatnonzero(costs - here + completion[t] < self.limit).tolist():
                    if w == v or mask >> w & 1:
                        continue
                    known = mask & ng_sets[t][w]
                    cost = int(costs[w])
                    if backward is not None:
                        most = self.limit - cost + int(self.node_costs[t, w])
                        group = backward[self.size - 1 - t].get(w, [])
                        if not _completed(group, most, known):
                            continue
                    self.taken[t - 1, v, w] = True  # at position 0 no arc is taken: the last row is not used
                    labels = found.setdefault(w, {})
                    forbidden = known | 1 << w
                    if cost < labels.get(forbidden, LARGEST):
                        kept += forbidden not in labels
                        labels[forbidden] = cost
                        if kept > MOST_LABELS:
                            raise TooManyLabelsError
            layers.append({w: _undominated(labels) for w, labels in found.items()})
            kept += sum(map(len, layers[-1].values())) - sum(map(len, found.values()))
        return layers

    def _arrivals(self, layers: list[Layer], t: int) -> Iterator[tuple[int, int, IntMatrix]]:
        """Yield each label before position t with the costs of going on to every region."""
        if t == 0:
            yield -1, 0, self.node_costs[0]
            return
        for v, group in layers[-1].items():
            onward = self.arc_costs[v] + self.node_costs[t]
            if self.free is not None:
                onward = np.where(self.free[t - 1, v], onward, LARGEST)
            for cost, mask in group:
                yield v, mask, cost + onward

    def _completion(self) -> IntMatrix:
        """Return the cost of the cheapest completion, nothing forbidden, from each position and region on."""
        completion = self.node_costs.copy()
        for t in range(self.size - 2, -1, -1):
            onward = self.arc_costs + completion[t + 1][None, :]
            if self.free is not None:
                onward = np.where(self.free[t], onward, LARGEST)
            completion[t] = np.minimum(completion[t] + onward.min(axis=1), LARGEST)
        return completion
