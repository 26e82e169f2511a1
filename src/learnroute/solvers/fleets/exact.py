"""Proved optimal routes of a fleet, by trying all of them (`cpp/fleet_enumeration.h`)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from learnroute import _core
from learnroute.errors import RefusedError
from learnroute.model.fleet_objective import FleetObjective, FleetRoutes
from learnroute.model.merge_weights import FEW
from learnroute.model.rounding import PROOF, margin
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.exact.suffix_labelling import CANCELLED
from learnroute.solvers.fleets.core_problem import core_problem, routes_from
from learnroute.solvers.fleets.search import find_routes, infeasible
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.solvers.visits.exact import sequences_by_length


def exact(
    objective: FleetObjective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: FleetRoutes | None = None,
) -> Answer:
    """Return optimal routes; if time runs out before the proof is complete, the best ones found.

    Problems with too many routes are rejected.
    """
    if not is_small(objective, params):
        count = f"{objective.rules.size} {'vehicles' if objective.rules.vehicles > 1 else 'models'}"
        raise RefusedError(f"exact: too many routes of {count}; use method auto or search")
    best = find_routes(objective, rng, replace(budget, spend_all=False), params.fleet_search, initial)
    terms = 64 * (objective.visits.rules.at_most + objective.size)
    everything = _core.FleetEnumeration(core_problem(objective), margin(terms, 1.0))
    while not everything.advance(params.visit_proof.nodes_per_call):
        if budget.exhausted:
            if best is None:
                raise infeasible(objective, budget, params)
            note = f"{budget.end} before the proof was complete; these are the best routes found"
            return Answer.of_fleet(best, "search", complete=False, notes=(note,))
    found = routes_from(everything.best)
    if found is None or (best is not None and objective(best) < objective(found)):
        found = best
    if found is None:
        raise infeasible(objective, budget, params)
    value = objective(found)
    if value + margin(terms, objective.magnitude(found)) - everything.low > PROOF * abs(value):
        return Answer.of_fleet(found, "search", notes=(CANCELLED,))
    return Answer.of_fleet(found, "exact", optimal=True)


def is_small(objective: FleetObjective, params: SolverParams = DEFAULTS) -> bool:
    """Whether all routes can be tried."""
    rules, visits = objective.rules, objective.visits.rules
    if rules.merged and not rules.equal and min(rules.size, visits.at_most) > FEW:
        return False  # the best weights of this many models are not known for certain
    repeats = np.minimum(visits.repeats[visits.allowed], visits.at_most)
    ways = _splits if rules.vehicles > 1 else _labellings
    total, most = 0.0, params.visit_proof.fleet_routes
    for length, many in enumerate(sequences_by_length(repeats, visits.at_most, most), 1):
        total += many * ways(length, rules.size)
        if total > most:
            return False
    return True


def _splits(length: int, vehicles: int) -> float:
    """Return the number of ways to split a sequence into routes, if the order of vehicles does not matter."""
    parts = range(1, min(length, vehicles) + 1)
    return math.fsum(math.comb(length - 1, count - 1) / math.factorial(count) for count in parts)


def _labellings(length: int, models: int) -> float:
    """Return the number of ways to assign models to a sequence of visits, if their numbers do not matter."""
    counts = [1.0] + [0.0] * models  # Stirling numbers of the second kind
    for _ in range(length):
        counts = [0.0, *(k * counts[k] + counts[k - 1] for k in range(1, models + 1))]
    return math.fsum(counts)
