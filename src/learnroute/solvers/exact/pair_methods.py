"""Methods for objectives with pair terms: search on the true value, and suffix labelling for the optimum."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice, permutations

import numpy as np

from learnroute.errors import RefusedError
from learnroute.model.objective import Paired
from learnroute.model.rounding import PROOF, margin
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.construction import baselines
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.exact.suffix_labelling import CANCELLED, Optimum, label_suffixes
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import DEFAULTS, SolverParams

ORDERS_AT_ONCE = 20_000


def search(
    objective: Paired,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> Answer:
    """Return the best order found; the rest of the time is left for a bound."""
    return search_pairs(objective, rng, budget.part(params.search.search_share), params, initial)


def search_pairs(
    objective: Paired,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams,
    initial: IntArray | None = None,
) -> Answer:
    """Return the best order found: first with typical pair terms, then, up to a size, with the true ones."""
    size, limits = objective.size, params.pair_search
    if size > limits.most_regions:
        order = iterated_local_search(objective.typical, rng, budget, initial=initial, params=params)
        note = f"more than {limits.most_regions} regions: the search used typical pair terms; the loss is the true one"
        return Answer(objective.repair(order), "search", complete=not budget.exhausted, notes=(note,))
    part, effort = budget.part(limits.typical_share), limits.typical_perturbations * size
    start = objective.repair(iterated_local_search(objective.typical, rng, part, effort, 1, initial, params))
    if initial is not None:
        start = min(start, initial, key=objective)
    if budget.exhausted:
        return Answer(start, "search", complete=False)
    fewer = min(1.0, (limits.many_regions / size) ** 2) if budget.seconds_left is None else 1.0
    effort = math.ceil(limits.perturbations * size * fewer)
    starts = limits.few_starts if size <= limits.few_regions else 1
    order = iterated_local_search(objective, rng, budget, effort, starts, start, params)
    return Answer(order, "search", complete=not budget.exhausted)


def auto(
    objective: Paired,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> Answer:
    """Prove the optimum if that is quick, otherwise return the best route found."""
    effort = params.suffix_labelling
    less = effort._replace(most_regions=effort.auto_regions, labels=min(effort.labels, effort.auto_labels))
    return _prove(objective, rng, budget, params._replace(suffix_labelling=less), initial)


def _prove(
    objective: Paired, rng: np.random.Generator, budget: Budget, params: SolverParams, initial: IntArray | None
) -> Answer:
    """Prove the optimum by labelling if there are few regions; otherwise return the best order found.

    All orders of very few regions are tried, which is quicker.
    """
    effort = params.suffix_labelling
    if objective.size <= effort.fewest:
        proof = _best_of_all(objective, budget)
        if proof.proved:
            return Answer(proof.order, "exact", optimal=True)
    found = search(objective, rng, budget, params, initial)
    if objective.size > effort.most_regions:
        return found
    few = objective.size <= effort.enumerated
    if objective.pairs.convex:
        proof = label_suffixes(objective, found.order, budget, effort)
        if not proof.proved and few and not budget.exhausted:
            proof = _best_of_all(objective, budget)
    elif few:
        proof = _best_of_all(objective, budget)
    else:
        most = effort.enumerated
        note = f"with steps so long that P has negative eigenvalues, optima are proved up to {most} regions"
        return replace(found, notes=(note,))
    order = min(proof.order, found.order, key=objective)
    return Answer(order, "exact", optimal=True) if proof.proved else Answer.unproved(order, proof.cause)


def exact(
    objective: Paired,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> Answer:
    """Return an optimal order; problems with too many regions are rejected."""
    most = params.suffix_labelling.most_regions
    if objective.size > most:
        raise RefusedError(
            f"exact: {objective.size} regions; with a regularised learner, proofs are attempted up to {most} regions; "
            "use method auto or search, which bound the distance to the optimum"
        )
    return _prove(objective, rng, budget, params, initial)


def forgetting_only(
    objective: Paired, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Answer:
    """Return the order with the lowest expected final error found, ignoring travel."""
    if objective.size > params.pair_search.most_regions:
        return baselines.forgetting_only(objective, rng, budget, params)
    found = search_pairs(objective.error_alone(), rng, budget, params)
    return replace(found, method="baseline", notes=("least error found; not proved to be the least",))


def _best_of_all(objective: Paired, budget: Budget) -> Optimum:
    """Return the best of all orders by enumeration; not proved if rounding hides which order is best."""
    best, low, relative = None, math.inf, margin(16 * objective.size, 1.0)
    everyone = permutations(range(objective.size))
    positions, may = np.arange(objective.size), objective.ends.positions(objective.size)
    while some := list(islice(everyone, ORDERS_AT_ONCE)):
        if budget.exhausted and best is not None:
            return Optimum(best, False, budget.end)
        orders = np.array(some, dtype=np.int64)
        orders = orders[may[positions, orders].all(axis=1)]
        if len(orders):
            legs = _legs(objective, orders)
            values = legs + objective.pairs.errors_of(orders)
            low = min(low, float((values - relative * (legs + objective.pairs.sizes.errors_of(orders))).min()))
            found = orders[int(np.argmin(values))]
            best = found if best is None else min(best, found, key=objective)
    assert best is not None
    value = objective(best)
    proved = value + relative * objective.magnitude(best) - low <= PROOF * abs(value)
    return Optimum(best, proved, "" if proved else CANCELLED)


def _legs(objective: Paired, orders: IntArray) -> FloatArray:
    """Return the travel of many orders at once."""
    travel = objective.travel.matrix
    legs = np.asarray(travel[orders[:, :-1], orders[:, 1:]].sum(axis=1))
    return legs + travel[orders[:, -1], orders[:, 0]] if objective.ends.closed else legs
