"""Methods for objectives with pair terms: search on the true value, and the optimum where labels are few enough."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice, permutations

import numpy as np

from learnroute.errors import RefusedError
from learnroute.model.objective import Objective
from learnroute.model.rounding import PROOF, margin
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.suffix_labelling import CANCELLED, Optimum, label_suffixes
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import SolverParams

ORDERS_AT_ONCE = 20_000


def search_with_pairs(
    objective: Objective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams,
    initial: IntArray | None = None,
) -> Answer:
    """Return the best order found: first with typical pair terms, then with the true ones as far as regions are few."""
    size, limits = objective.size, params.pair_search
    if size <= params.held_karp.few_regions:
        return Answer(_best_of_few(objective, rng, params, initial), "search")
    if size > limits.most_regions:
        order = iterated_local_search(objective.typical, rng, budget, initial=initial, params=params)
        note = (
            f"more than {limits.most_regions} regions: the search went by typical pair terms; the loss is the true one"
        )
        return Answer(objective.repaired(order), "search", complete=not budget.exhausted, notes=(note,))
    part, effort = budget.part(limits.typical_share), limits.typical_perturbations * size
    start = objective.repaired(iterated_local_search(objective.typical, rng, part, effort, 1, initial, params))
    if initial is not None:
        start = min(start, initial, key=objective)
    if budget.exhausted:
        return Answer(start, "search", complete=False)
    fewer = min(1.0, (limits.many_regions / size) ** 2) if budget.seconds_left is None else 1.0
    effort = math.ceil(limits.perturbations * size * fewer)
    order = iterated_local_search(objective, rng, budget, effort, 1, start, params)
    return Answer(order, "search", complete=not budget.exhausted)


def _best_of_few(
    objective: Objective, rng: np.random.Generator, params: SolverParams, initial: IntArray | None
) -> IntArray:
    """Return the best order that moves lead to, from the optimum with typical pair terms and from random orders."""
    found = held_karp(objective.typical, rng, Budget(), params).order
    drawn = [rng.permutation(objective.size) for _ in range(params.pair_search.few_starts)]
    starts = [objective.repaired(order) for order in (found, found[::-1].copy(), *drawn)]
    tried = starts if initial is None else [*starts, initial]
    return min((_polished(objective, start) for start in tried), key=objective)


def prove_with_pairs(
    objective: Objective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams,
    most: int,
    initial: IntArray | None = None,
) -> Answer:
    """Return an order of least value, as far as labels of up to `most` regions can tell; else the best one found."""
    found = search_with_pairs(objective, rng, budget.part(params.search.search_share), params, initial)
    if objective.size > most:
        return found
    assert objective.pairs is not None
    few = objective.size <= params.suffix_labelling.enumerated
    if objective.pairs.convex:
        proof = label_suffixes(objective, found.order, budget, params.suffix_labelling)
        if not proof.proved and few and not budget.exhausted:
            proof = _best_of_all(objective, budget)
    elif few:
        proof = _best_of_all(objective, budget)
    else:
        most = params.suffix_labelling.enumerated
        note = f"with steps so long that P has negative eigenvalues, optima are proved up to {most} regions"
        return replace(found, notes=(note,))
    order = min(proof.order, found.order, key=objective)
    if proof.proved:
        return Answer(order, "exact", optimal=True)
    note = f"{proof.cause} before the proof was complete; this is the best route found"
    return Answer(order, "search", complete=False, notes=(note,))


def exact_with_pairs(
    objective: Objective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams,
    initial: IntArray | None = None,
) -> Answer:
    """Return an order of least value; refuse where there are too many regions."""
    most = params.suffix_labelling.most_regions
    if objective.size > most:
        raise RefusedError(
            f"exact: {objective.size} regions; with a regularised learner, proofs are attempted up to {most} regions; "
            "use method auto or search, which bound the distance to the optimum"
        )
    return prove_with_pairs(objective, rng, budget, params, most, initial)


def _best_of_all(objective: Objective, budget: Budget) -> Optimum:
    """Return the best of all orders, by looking at each; not proved where rounding hides which one that is."""
    assert objective.pairs is not None
    best, low, relative = None, math.inf, margin(16 * objective.size, 1.0)
    everyone = permutations(range(objective.size))
    while some := list(islice(everyone, ORDERS_AT_ONCE)):
        orders = np.array(some, dtype=np.int64)
        orders = orders[[objective.ends.allows(order) for order in orders]] if objective.ends.fixed else orders
        if len(orders):
            legs = _legs(objective, orders)
            values = legs + objective.pairs.errors_of(orders)
            low = min(low, float((values - relative * (legs + objective.pairs.sizes.errors_of(orders))).min()))
            found = orders[int(np.argmin(values))]
            best = found if best is None else min(best, found, key=objective)
        if budget.exhausted and best is not None:
            return Optimum(best, False, "the time limit came")
    assert best is not None
    value = objective(best)
    proved = value + relative * objective.magnitude(best) - low <= PROOF * abs(value)
    return Optimum(best, proved, "" if proved else CANCELLED)


def _polished(objective: Objective, order: IntArray) -> IntArray:
    """Return a local optimum of exchanges, reversals and moves of one region, all priced at once."""
    value = objective(order)
    while True:
        around = _neighbours(order)
        around = around[[objective.ends.allows(each) for each in around]]
        if not len(around):
            return order
        best = around[int(np.argmin(_values(objective, around)))]
        if not objective(best) < value:  # each order at most once: the value falls
            return order
        order, value = best, objective(best)


def _values(objective: Objective, orders: IntArray) -> FloatArray:
    assert objective.pairs is not None
    return _legs(objective, orders) + objective.pairs.errors_of(orders)


def _legs(objective: Objective, orders: IntArray) -> FloatArray:
    """Return the travel of many orders at once."""
    legs = np.asarray(objective.travel[orders[:, :-1], orders[:, 1:]].sum(axis=1))
    return legs + objective.travel[orders[:, -1], orders[:, 0]] if objective.ends.closed else legs


def _neighbours(order: IntArray) -> IntArray:
    size, found = len(order), []
    for i in range(size):
        for j in range(size):
            if i == j:
                continue
            found.append(np.insert(np.delete(order, i), j, order[i]))
            if i < j:
                found.append(np.concatenate([order[:i], order[i : j + 1][::-1], order[j + 1 :]]))
                swapped = order.copy()
                swapped[[i, j]] = swapped[[j, i]]
                found.append(swapped)
    return np.array(found)
