"""Lower bounds on the value of every order."""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.certificate import Certificate
from learnroute.model.objective import Objective
from learnroute.model.validation import IntArray
from learnroute.solvers.construction.spanning_tree import minimum_spanning_tree
from learnroute.solvers.contract import Budget, Effort
from learnroute.solvers.ends import ROUNDING, anchored, score_bound, within_ends
from learnroute.solvers.exact.held_karp import MOST_REGIONS, SMALL, held_karp
from learnroute.solvers.exact.one_tree import tree_bound
from learnroute.solvers.local_search.iterated import best_order
from learnroute.solvers.wide_bounds import MOST_SQUARED, wide_bound

MOST_WALKED = 60  # regions up to which walks with memory are tried on any order
SOME = Effort(rounds=1, states=100_000, cases=100)  # on any order
KICKS = 10  # a region, for a value to aim at


def best_bound(objective: Objective, order: IntArray, budget: Budget) -> Certificate:
    """Return the best lower bound that a moment's work gives; `order` is one whose value it should come near to.

    Anytime: when the budget is used up, the best so far is returned.
    """
    size = objective.size
    if objective.points is not None and size > MOST_SQUARED:
        return Certificate("simple", wide_bound(objective))
    if size <= MOST_REGIONS:
        least = held_karp(objective, np.random.default_rng(0), budget if size > SMALL else Budget())
        if least.certificate is not None:
            return least.certificate
    best = Certificate("simple", simple_bound(objective))
    if budget.exhausted:
        return best
    best = max(best, tree_bound(objective, objective(order), budget), key=_bound)
    if size <= MOST_WALKED and not budget.exhausted:
        from learnroute.solvers.exact.branch_and_cut.solver import TourProver, provable
        from learnroute.solvers.exact.ng_route.solver import Prover

        order = within_ends(objective, order)
        found = within_ends(
            objective, best_order(objective, np.random.default_rng(0), budget, KICKS * size, first=order)
        )
        order = min(order, found, key=objective)
        if provable(objective):
            tours = TourProver(objective, order, budget)
            tours.run(SOME)
            best = max(best, tours.certificate(), key=_bound)
            if tours.proved or budget.exhausted:
                return best
        prover = Prover(objective, order, budget, SOME)
        prover.run()
        best = max(best, prover.certificate(), key=_bound)
    return best


def _bound(certificate: Certificate) -> float:
    return certificate.bound


def simple_bound(objective: Objective) -> float:
    """Cheap and always valid: no order travels less than `path_bound`, none has a lower score part than the best."""
    held = anchored(objective).objective
    bound = math.fsum([path_bound(held), score_bound(held), held.constant])
    return bound - ROUNDING * abs(bound)


def path_bound(objective: Objective) -> float:
    """Return a lower bound on the travel of any order, its ends included, symmetric travel or not.

    A path is a spanning tree with two ends; and all regions but the first are entered, and all but the last are left,
    at their cheapest.
    """
    travel, begin, finish = objective.travel, objective.begin, objective.finish
    either = travel if objective.symmetric else np.minimum(travel, travel.T)
    tree = minimum_spanning_tree(either)
    spanned = math.fsum([*either[tree[:, 0], tree[:, 1]], begin.min(), finish.min()])
    others = travel + np.diag(np.full(objective.size, np.inf))
    entered, left = others.min(axis=0), others.min(axis=1)
    return max(
        spanned,
        math.fsum([*entered, (begin - entered).min(), finish.min()]),
        math.fsum([*left, (finish - left).min(), begin.min()]),
    )
