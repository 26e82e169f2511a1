"""Check the 1-tree bound: a spanning tree of the regions and `home`, the edge home-out, the cheapest edge to `out`."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from learnroute.model.certificates import BranchAndBound, OneTree
from learnroute.verification.grid import BITS, LARGEST, Costs, IntMatrix, exact_total
from learnroute.verification.simple import spanning_tree

MOST = 1 << 58  # grid units at which multipliers are clipped
SPARE_BITS = 17  # maximum number of bits by which the grid is coarser to avoid that


def bound(costs: Costs, certificate: OneTree | BranchAndBound) -> int:
    """Return the cost of the minimum 1-tree at the multipliers of a certificate, in grid units.

    Edges that cost as much as the goal are omitted: no order below it uses them. If no tree remains, no order does.
    """
    size = costs.size
    multipliers = costs.grid.nearest(certificate.multipliers[: size + 1], MOST)
    begin = np.append(costs.begin, costs.goal)  # no edge from home to itself

    def reduced_costs(v: int) -> IntMatrix:
        edges = begin if v == size else np.append(np.minimum(*costs.arcs_at(v)), begin[v])
        return np.where(edges < costs.goal, edges - multipliers[v] - multipliers, LARGEST)

    exits = costs.score_parts() + costs.finish
    exits = np.where(exits < costs.goal, exits - multipliers[:size], LARGEST)
    tree = spanning_tree(size + 1, reduced_costs)
    if tree is None or exits.min() == LARGEST:
        return costs.goal
    return tree + int(exits.min()) - int(multipliers[size]) + 2 * exact_total(multipliers)


def bits_for(certificate: OneTree, goal: Fraction) -> int:
    """Return the number of bits of the goal on the finest grid that does not cut the multipliers of a certificate."""
    largest = Fraction(float(np.abs(certificate.multipliers).max()))
    return BITS - min(SPARE_BITS, max(0, math.ceil(largest / goal).bit_length()))
