"""Orders of given visits to different regions: a problem of one visit per region, which local search solves well."""

from __future__ import annotations

import numpy as np

from learnroute.model.ends import Ends
from learnroute.model.objective import Paired
from learnroute.model.origin import order_objective
from learnroute.model.pairs import Pairs
from learnroute.model.travel import TravelMatrix
from learnroute.model.validation import IntArray
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.pair_methods import search_pairs
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import DEFAULTS, SolverParams


def reorder(
    objective: VisitObjective,
    visits: IntArray,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
) -> IntArray:
    """Return the same visits in the best order found. Its value is not larger, but its travel may be."""
    regions = np.sort(visits)
    number = np.full(objective.size, -1)
    number[regions] = np.arange(len(regions))
    origin = objective.origin is not None
    stops = regions if objective.origin is None else np.append(regions, objective.origin)
    first, last = (None if end is None else int(number[end]) for end in (objective.first, objective.ends.last))
    ends = Ends(len(regions) if origin else first, last, objective.ends.closed)
    travel = TravelMatrix(objective.rate * objective.travel[np.ix_(stops, stops)])
    some = regions.tolist()
    known, updates = objective.known.of(some, objective.known.initial), objective.updates.of(some, 0)
    error = Pairs(known, updates, objective.total, objective.count)
    coupled = updates.coupled or not error.same_positions
    orders = order_objective(travel, error, ends, origin, coupled, error.same_samples)
    start = np.append(len(regions), number[visits]) if origin else number[visits]
    if isinstance(orders, Paired):  # with the usual effort, this takes a hundred times as long as the search for visits
        found = search_pairs(orders, rng, budget, params, start).order
    else:
        found = iterated_local_search(orders, rng, budget, initial=start, params=params)
    return np.asarray(regions[found[1:] if origin else found])
