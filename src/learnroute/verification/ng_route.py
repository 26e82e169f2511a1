"""Check an ng-route bound: which ng-routes may be better orders? docs/bounds.md explains it. Costs are integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from learnroute.model.certificates import NgRelaxation, NgRoutes, grow
from learnroute.model.validation import FloatArray
from learnroute.verification.exact import Model
from learnroute.verification.grid import Costs, IntMatrix
from learnroute.verification.ng_labelling import Effort, Network, as_words, cheapest

MOST_REGIONS = 400  # regions up to which bounds are checked: T³ arcs are stored, one byte each
BITS = 56  # maximum number of bits of the goal in grid units
ROOM = 1 << 58  # upper limit on sums of costs and multipliers along a route
CUT = 16  # multipliers are clipped at this multiple of the goal


class RemainingRoutes:
    """The cost of the cheapest remaining route below a goal, in grid units; None if there is none."""

    def __init__(self, costs: Costs, cheapest: int | None) -> None:
        self.costs, self.cheapest = costs, cheapest

    @property
    def bound(self) -> int:
        """The minimum cost of a route in grid units, up to the goal."""
        return self.costs.goal if self.cheapest is None else min(self.cheapest, self.costs.goal)


def routes_left(model: Model, certificate: NgRoutes, goal: Fraction, all_orders: bool = False) -> RemainingRoutes:
    """Return the routes that remain after the last stage and may be orders below the goal.

    Each stage retains only the arcs of routes that cost less than the goal. Backward labels have the ng-sets of the
    first stage. The turns of the certificate follow, in alternating directions, with ever larger ng-sets, each pruned
    by the labels of the one before. With `all_orders`, the ng-sets of the last stage contain all regions instead, so
    that routes are orders.
    """
    stages = certificate.stages
    costs, multipliers = _fine_costs(model, stages, goal)
    if costs.reached:
        return RemainingRoutes(costs, None)
    network = Network(costs, Effort())
    masks = stages[0].masks()
    backward_sets, least = as_words(masks), None
    for k, stage in enumerate(stages):
        last = k == len(stages) - 1
        masks = stage.masks()
        ng_sets = ~np.zeros_like(backward_sets) if last and all_orders else as_words(masks)
        behind = network.labels(multipliers[k], backward_sets, backward=True)
        labels = network.labels(multipliers[k], ng_sets, behind)
        least = cheapest(labels)
    for k, rows in enumerate(() if all_orders else certificate.turns):
        if least is None:
            break
        grow(masks, rows)
        labels = network.labels(multipliers[-1], as_words(masks), labels, backward=k % 2 == 0)
        least = cheapest(labels)
    return RemainingRoutes(costs, None if least is None else least + int(multipliers[-1].sum()))


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
    """Return an upper bound on the sum of the multipliers and the costs along any route."""
    free = costs.travel < costs.goal
    arcs = int(costs.travel[free].max(initial=0))
    nodes = int(costs.nodes.max(axis=1).astype(object).sum()) + 2 * costs.goal
    return nodes + costs.size * arcs + 3 * int(np.abs(multipliers).astype(object).sum()) + (
        costs.size * int(np.abs(multipliers).max())
    )  # fmt: skip
