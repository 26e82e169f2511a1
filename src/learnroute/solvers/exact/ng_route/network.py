"""The layered network that ng-routes run through: one layer a position, one node in it a region.

Also known as the time-expanded network of the time-dependent TSP (Picard and Queyranne 1978). An arc joins two regions
at neighbouring positions. Its cost is that of travel; the cost of a node is what a score counts at that position, with
what it costs to begin or to end there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.model.objective import Objective
from learnroute.model.rounding import margin
from learnroute.model.validation import FloatArray

ByteArray = NDArray[np.uint8]


class Network(NamedTuple):
    """Costs of arcs and nodes. The arc from region i at position t to region j is there if free[t, i, j]."""

    arc_costs: FloatArray  # T x T
    node_costs: FloatArray  # T x T: position, region
    free: ByteArray  # T-1 x T x T: 0 where an arc is fixed to 0

    def reduced(self, multipliers: FloatArray) -> Network:
        """Return the network with each visit of a region refunded its multiplier."""
        return self._replace(node_costs=self.node_costs - multipliers)

    def reversed(self) -> Network:
        """Return the same network from its end: the last position first."""
        return Network(
            np.ascontiguousarray(self.arc_costs.T),
            np.ascontiguousarray(self.node_costs[::-1]),
            reversed_arcs(self.free),
        )

    def margin(self, multipliers: FloatArray) -> float:
        """Return more than rounding can do to the cost of any route, multipliers paid."""
        visits = np.abs(self.node_costs - multipliers).max(axis=1).sum()
        size = len(self.arc_costs)
        return margin(size, float(visits + size * self.arc_costs.max() + np.abs(multipliers).sum()))


def layered_network(objective: Objective, most: float) -> Network:
    """Return the network of an objective, without its constant.

    What costs more than `most`, the whole of a known order, is in no better one: such arcs are fixed to 0.
    """
    size = objective.size
    nodes = objective.weights[:, None] * objective.scores[None, :]
    for position, costs in ((0, objective.begin), (-1, objective.finish)):
        nodes[position] += np.where(np.isfinite(costs), costs, 0.0)
    open_to = objective.ends.positions(size) & (nodes <= most)
    free = np.logical_and(open_to[:-1, :, None], open_to[1:, None, :])
    free &= (objective.travel <= most) & ~np.eye(size, dtype=np.bool_)
    return Network(np.minimum(objective.travel, most), np.minimum(nodes, most), free.astype(np.uint8))


def reversed_arcs(arcs: ByteArray) -> ByteArray:
    """Return arcs as they are in the reversed network."""
    return np.ascontiguousarray(arcs[::-1].transpose(0, 2, 1))
