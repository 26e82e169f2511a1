"""The layered network of ng-routes: one layer per position, one node per region in each layer.

It is also known as the time-expanded network of the time-dependent TSP (Picard and Queyranne 1978). An arc joins two
regions at consecutive positions and costs the travel between them. A node costs the region's score at that position,
plus the cost of starting or ending there.
"""

from __future__ import annotations

import numpy as np

from learnroute._core import LayeredNetwork
from learnroute.model.ends import BoolArray
from learnroute.model.linear import Linear
from learnroute.model.rounding import margin
from learnroute.model.validation import FloatArray


def layered_network(objective: Linear, most: float) -> LayeredNetwork:
    """Return the network of an objective, without its constant, with the arcs that `free_arcs` returns."""
    nodes = _node_costs(objective)
    return LayeredNetwork(
        np.minimum(objective.travel.matrix, most), np.minimum(nodes, most), free_arcs(objective, most)
    )


def free_arcs(objective: Linear, most: float) -> BoolArray:
    """Return which arcs are not fixed to 0, by position, region and next region: all that an order may use.

    An arc that costs more than `most`, the value of a known order, is in no better order.
    """
    size = objective.size
    open_to = objective.ends.positions(size) & (_node_costs(objective) <= most)
    free = np.logical_and(open_to[:-1, :, None], open_to[1:, None, :])
    free &= (objective.travel.matrix <= most) & ~np.eye(size, dtype=np.bool_)
    return free


def rounding_of(network: LayeredNetwork, multipliers: FloatArray) -> float:
    """Return an upper bound on the rounding error of the cost of any route, multipliers included."""
    visits = np.abs(network.node_costs - multipliers).max(axis=1).sum()
    size = len(multipliers)
    return margin(size, float(visits + size * network.arc_costs.max() + np.abs(multipliers).sum()))


def _node_costs(objective: Linear) -> FloatArray:
    """Return the node costs by position and region."""
    nodes = objective.weights[:, None] * objective.scores[None, :]
    for position, costs in ((0, objective.begin), (-1, objective.finish)):
        nodes[position] += np.where(np.isfinite(costs), costs, 0.0)
    return nodes
