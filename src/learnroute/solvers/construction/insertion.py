"""Cheapest insertion (Rosenkrantz, Stearns and Lewis 1977): complete an order that lacks some regions."""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import IntArray


def complete(objective: Objective, order: IntArray) -> IntArray:
    """Insert each missing region where it adds the least travel; fixed ends are respected."""
    missing = np.setdiff1d(np.arange(objective.size), order).tolist()
    found, travel = order.tolist() or missing[:1], objective.travel
    for region in missing[0 if len(order) else 1 :]:
        stops = np.array(found)
        there, back = travel.between(stops, region), travel.between(region, stops)
        around = there[:-1] + back[1:] - travel.legs(stops, closed=False)
        costs = np.concatenate([back[:1], around, there[-1:]])
        if objective.ends.closed:
            costs[0] = costs[-1] = there[-1] + back[0] - float(travel.between(found[-1], found[0]))
        found.insert(int(np.argmin(costs)), region)
    return objective.ends.repair(np.array(found, dtype=np.int64))
