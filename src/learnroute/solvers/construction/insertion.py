"""Cheapest insertion (Rosenkrantz, Stearns and Lewis 1977): complete an order that lacks some regions."""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import IntArray


def completed(objective: Objective, order: IntArray) -> IntArray:
    """Return the order with each missing region put where that costs least travel, ends as they must be."""
    missing = np.setdiff1d(np.arange(objective.size), order).tolist()
    found = order.tolist() or missing[:1]
    for region in missing[0 if len(order) else 1 :]:
        there, back = objective.travel_to(region)[found], objective.travel_from(region)[found]
        stops = np.array(found)
        around = there[:-1] + back[1:] - objective.between(stops[:-1], stops[1:])
        costs = np.concatenate([back[:1], around, there[-1:]])
        if objective.ends.closed:
            costs[0] = costs[-1] = there[-1] + back[0] - float(objective.between(found[-1], found[0]))
        found.insert(int(np.argmin(costs)), region)
    return objective.ends.repair(np.array(found, dtype=np.int64))
