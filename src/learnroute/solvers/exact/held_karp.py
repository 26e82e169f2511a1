"""The optimum by dynamic programming over sets of remaining regions and the first region of each set.

Held and Karp 1962, Bellman 1962, extended to position-weighted scores. It works backwards from the end, because the
weight of a score depends on the regions that follow: on their number (position weights) or the product of their
factors.
"""

from __future__ import annotations

import numpy as np

from learnroute import _core
from learnroute.errors import RefusedError, percent
from learnroute.model import certificates
from learnroute.model.instance import Instance
from learnroute.model.linear import Factored, Linear
from learnroute.model.rounding import margin
from learnroute.model.validation import IntArray
from learnroute.solvers.bounds import path_relaxation
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Answer, Budget, Proof, Rung
from learnroute.solvers.params import DEFAULTS, SolverParams


class HeldKarp(Rung):
    """The rung of dynamic programming over sets of regions, for orders. It needs no incumbent."""

    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether each region is visited once, errors are not coupled, and there are few enough regions."""
        orders = instance.permutation and not instance.coupled and instance.visits.allowed.all()
        return bool(orders) and instance.orders.size <= params.held_karp.most_regions

    def is_alone(self, instance: Instance) -> bool:
        """Whether no search comes first: always."""
        return True

    def prove(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer:
        """Return the optimum; if time runs out, a route by nearest neighbours."""
        proof = held_karp(instance.orders.relaxation, rng, budget, params)
        routes = instance.orders.routes(proof.order)
        if proof.optimal:
            return Answer(routes, "exact", optimal=True, certificate=proof.certificate)
        return Answer(routes, "nearest", complete=False, notes=(proof.cause,))


def held_karp(objective: Linear, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS) -> Proof:
    """Return an optimal order or, if time runs out, a nearest-neighbour order without claims.

    Ties go to the smallest index. If all scores count, cycles are solved once per last region.
    """
    size, limits = objective.size, params.held_karp
    if size > limits.most_regions:
        states = 2.0 ** (size - 1) * size
        raise RefusedError(
            f"{size} regions: Held–Karp keeps 2^(T-1)·T values ({states * 8 / 2**30:,.3g} GiB here), so it takes "
            f"at most {limits.most_regions} regions; use method exact or auto"
        )
    turns = [objective]
    if objective.ends.cyclic:
        path, tight = path_relaxation(objective)
        turns = [path] if tight else [objective.ending_at(last) for last in range(size)]
    best: IntArray | None = None
    for turn, each in enumerate(turns):
        last_costs = each.weights[-1] * each.scores + each.finish
        positions = each.ends.positions(size)
        factors = each.factors if isinstance(each, Factored) else None
        table = _core.HeldKarp(each.travel.matrix, each.scores, each.weights, factors, last_costs, positions)
        done = 0.0
        while done < 1:
            if done > 0 and budget.exhausted:
                share = (turn + done) / len(turns)
                quick = nearest_neighbour(objective, rng, budget.silent(), params)
                cause = f"{budget.end} with {percent(share)} of the proof done; this route is by nearest neighbours"
                return Proof(objective.repair(quick.order), None, False, cause)
            done = table.fill(limits.sets_per_call)
            budget.progress("exact", (turn + done) / len(turns))
        order = table.order(each.begin)
        if best is None or objective(order) < objective(best):
            best = order
    assert best is not None
    value = objective(best)
    bound = value - margin(4 * size, abs(value) + abs(objective.constant))
    return Proof(best, certificates.HeldKarp(bound), True)
