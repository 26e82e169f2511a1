"""Check the 1-tree bound: a spanning tree of the regions and `home`, the edge home-out, the cheapest edge to `out`."""

from __future__ import annotations

import numpy as np

from learnroute.model.certificates import BranchAndBound, OneTree
from learnroute.verification.grid import Costs, exact_total
from learnroute.verification.simple import spanning_tree


def bound(costs: Costs, certificate: OneTree | BranchAndBound) -> int:
    """Return the cost of the minimum 1-tree at the multipliers of a certificate, in grid units."""
    size = costs.size
    multipliers = costs.grid.nearest(certificate.multipliers[: size + 1])
    edges = np.zeros((size + 1, size + 1), dtype=np.int64)
    edges[:size, :size] = np.minimum(costs.travel, costs.travel.T)
    edges[:size, size] = edges[size, :size] = costs.begin
    reduced = edges - multipliers[:, None] - multipliers[None, :]
    exits = costs.score_parts() + costs.finish - multipliers[:size]
    return spanning_tree(reduced) + int(exits.min()) - int(multipliers[size]) + 2 * exact_total(multipliers)
