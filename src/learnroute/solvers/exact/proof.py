"""The proof ladder: from the simple bound to 1-trees, branch and cut, and ng-routes, until the incumbent is proved.

The value of the incumbent is the upper bound; each rung raises the lower bound towards it.

One ladder serves everyone: the method `exact`, the method `auto` with less effort, and the lower bound of any route.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from learnroute.model.certificates import Certificate, Simple
from learnroute.model.instance import Instance
from learnroute.model.linear import Linear
from learnroute.model.rounding import OPTIMALITY
from learnroute.model.travel import Places
from learnroute.model.validation import IntArray
from learnroute.solvers.bounds import path_relaxation, simple_bound, sparse_bound
from learnroute.solvers.contract import Answer, Budget, Proof, Rung
from learnroute.solvers.exact.branch_and_cut.solver import BranchAndCut
from learnroute.solvers.exact.enumeration import unproved
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.ng_route.solver import NgRouteProof
from learnroute.solvers.exact.one_tree import one_tree_bound
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import DEFAULTS, ProofParams, SolverParams


class Ladder(Rung):
    """The rung of all proofs about orders: a bound for any route, and the optimum with enough effort.

    `effort` returns the effort of a proof, or None for a bound alone. If errors are coupled, only a linear relaxation
    is bounded.
    """

    def __init__(self, effort: Callable[[Linear, SolverParams], ProofParams | None] | None = None) -> None:
        self.effort, self.exact = effort, effort is not None

    def _effort(self, instance: Instance, params: SolverParams) -> ProofParams | None:
        exact = instance.orders.exact
        return None if exact is None or self.effort is None else self.effort(exact, params)

    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether each region is visited once."""
        if not instance.permutation or not instance.visits.allowed.all():
            return False
        return not self.exact or self._effort(instance, params) is not None

    def search_share(self, instance: Instance, budget: Budget, params: SolverParams) -> float:
        """Leave most of the time to the search, and even more if time is short."""
        limits, left, size = params.search, budget.seconds_left, instance.orders.size
        if left is None or size <= limits.several_starts_regions or instance.coupled:
            return limits.search_share
        tree = params.bound.seconds_per_pair * size**2
        quick = isinstance(instance.travel, Places) and (1 - limits.search_share) * left < tree
        return limits.short_share if quick or left <= limits.short else limits.search_share

    def prove(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer:
        """Return the answer with its bound, or the optimum; the incumbent may improve on the way."""
        assert answer is not None
        orders = instance.orders
        order = orders.order(answer.routes)
        effort = self._effort(instance, params)
        if effort is None or orders.exact is None or budget.exhausted:
            few = params.held_karp.few_regions if orders.coupled else params.held_karp.most_regions
            quick = params._replace(held_karp=params.held_karp._replace(most_regions=few))
            bounded = replace(answer, certificate=lower_bound(orders.relaxation, order, budget, quick))
            return bounded if effort is None else unproved(bounded, budget.end)
        proof = prove(orders.exact, order, budget, params._replace(proof=effort), rng)
        routes = orders.routes(proof.order)
        if proof.optimal:
            return Answer(routes, "exact", optimal=True, certificate=proof.certificate, basis=answer.basis)
        return replace(unproved(replace(answer, routes=routes), proof.cause), certificate=proof.certificate)


def prove(objective: Linear, order: IntArray, budget: Budget, params: SolverParams, rng: np.random.Generator) -> Proof:
    """Climb the ladder with an incumbent, as far as `params.proof` and the budget go."""
    best: Certificate = Simple(simple_bound(objective))
    value = objective(order)
    if value - OPTIMALITY * abs(value) <= best.bound:  # for example if all travel costs are equal
        return Proof(order, best, True)
    if budget.exhausted:
        return Proof(order, best, False, _stop_reason(budget))
    effort = params.proof
    if effort.one_tree is not None:
        best = max(best, one_tree_bound(objective, value, budget, effort.one_tree), key=_bound)
    if budget.exhausted or objective.size > _most_regions(objective, effort):
        return Proof(order, best, False, _stop_reason(budget))
    incumbent = Incumbent(objective, objective.repair(order))
    if branching_applies(objective, effort):
        alone = branching_alone(objective, effort)
        search = BranchAndCut(
            incumbent, budget if alone else budget.part(effort.branching_share), effort.branch_and_cut
        )
        search.run()
        best = max(best, search.certificate(), key=_bound)
        if search.proved:
            return Proof(incumbent.order, search.certificate(), True)
        if alone or budget.exhausted:
            return Proof(incumbent.order, best, False, _stop_reason(budget))
    routes = NgRouteProof(incumbent, rng, budget, params)
    routes.run()
    best = max(best, routes.certificate(), key=_bound)
    cause = budget.end if routes.late else _stop_reason(budget)
    if routes.overflowed:
        cause = f"the limit of {effort.ng_route.labels:,} labels per layer was reached"
    elif routes.stuck:
        cause = "no better bound is known for unequal samples, or for a return trip between free ends"
    return Proof(incumbent.order, best, routes.proved, "" if routes.proved else cause)


def lower_bound(linear: Linear, order: IntArray, budget: Budget, params: SolverParams = DEFAULTS) -> Certificate:
    """Return the best lower bound that a short effort gives; the value of `order` is the target.

    Anytime: when the budget is exhausted, the best bound so far is returned.
    """
    few = params.held_karp.most_regions
    size, bound = linear.size, params.bound
    short = budget.stopped or (budget.seconds_left or math.inf) < bound.seconds_per_pair * size**2
    travel = linear.travel
    if isinstance(travel, Places) and (size > bound.one_tree.most_regions or (short and size > few)):
        return Simple(sparse_bound(linear, travel))
    rng = np.random.default_rng(0)
    if size <= few:
        # very few regions are enumerated even after the time limit
        enough = budget if size > params.held_karp.few_regions else budget.silent().without_limit()
        found = held_karp(linear, rng, enough, params)
        if found.certificate is not None:
            return found.certificate
    if size <= bound.most_regions and not budget.exhausted:
        better = iterated_local_search(linear, rng, budget, bound.perturbations * size, 1, order, params)
        order = min(order, better, key=linear)
    most = bound.most_regions
    effort = bound.proof._replace(
        one_tree=bound.one_tree,
        branch_and_cut=bound.proof.branch_and_cut._replace(most_regions=most),
        ng_route=bound.proof.ng_route._replace(most_regions=most),
    )
    certificate = prove(linear, order, budget, params._replace(proof=effort), rng).certificate
    assert certificate is not None
    return certificate


def branching_alone(objective: Linear, params: ProofParams) -> bool:
    """Whether branch and cut is the only proof method to try: only the last score counts."""
    many = objective.size > params.both_regions
    return many and objective.only_last_counts and branching_applies(objective, params)


def branching_applies(objective: Linear, params: ProofParams) -> bool:
    """Whether branch and cut can prove an order optimal, and is likely to: few scores count."""
    path, tight = path_relaxation(objective)
    few = float(path.weights[:-1].sum()) <= params.branch_and_cut.few_scores * float(path.weights[-1])
    return tight and few and path.travel.symmetric and path.size > 2


def _most_regions(objective: Linear, params: ProofParams) -> int:
    """Return the number of regions up to which more than 1-trees are tried."""
    alone = branching_alone(objective, params)
    return params.branch_and_cut.most_regions if alone else params.ng_route.most_regions


def _stop_reason(budget: Budget) -> str:
    return budget.end if budget.exhausted else "the effort limit was reached"


def _bound(certificate: Certificate) -> float:
    return certificate.bound
