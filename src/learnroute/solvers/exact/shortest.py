"""The shortest order found, ignoring scores; proved to be the shortest if all sets can be enumerated."""

from __future__ import annotations

import numpy as np

from learnroute.model.linear import Linear
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Budget, Order, Proof
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.proof import branching_applies, prove
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import DEFAULTS, SolverParams


def shortest_order(
    objective: Linear, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Order:
    """Return the shortest order found, with a note if it is not proved to be the shortest."""
    blind = objective.travel_alone()
    if objective.size <= params.held_karp.most_regions:
        proof = _prove_shortest(blind, rng, budget, params)
    else:
        proof = Proof(iterated_local_search(blind, rng, budget, params=params), None, False)
    order = proof.order
    if objective.ends.free and objective.travel.symmetric and order[0] > order[-1]:
        order = order[::-1]
    return Order(order, notes=() if proof.optimal else ("shortest path found; not proved to be the shortest",))


def _prove_shortest(blind: Linear, rng: np.random.Generator, budget: Budget, params: SolverParams) -> Proof:
    """Return a shortest order of a few regions; branching is used if it is faster."""
    if blind.size > params.held_karp.shortest and branching_applies(blind, params.proof):
        start = nearest_neighbour(blind, rng, budget.silent().without_limit(), params)
        proof = prove(blind, start.order, budget, params, rng)
        if proof.optimal:
            return proof
    return held_karp(blind, rng, budget, params)
