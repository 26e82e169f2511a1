"""Iterated local search (Martin, Otto and Felten 1991; Johnson and McGeoch 1997) for the full objective.

Improve an order by moves until none helps, perturb it, improve again, and keep what is better or, at first, not much
worse (an acceptance threshold that falls to nothing). Two engines find the moves: `or_opt` weighs 2-opt, Or-opt and
or-3opt moves for any objective; `lin_kernighan` chains 3-opt moves where travel is symmetric and weights are
geometric.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.rounding import PRINTED
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour_paths
from learnroute.solvers.construction.space_filling_curve import hilbert_order
from learnroute.solvers.contract import Budget, Progress
from learnroute.solvers.local_search.coincident import clusters_of
from learnroute.solvers.params import DEFAULTS, OrOptParams, SolverParams

if TYPE_CHECKING:
    from learnroute.solvers.local_search.or_opt import State


def iterated_local_search(
    objective: Objective,
    rng: np.random.Generator,
    budget: Budget,
    perturbations: int | None = None,
    starts: int | None = None,
    initial: IntArray | None = None,
    params: SolverParams = DEFAULTS,
) -> IntArray:
    """Return the best order found from `initial` (or a quick start), then from random orders.

    Never worse than `initial`, which need not begin and end where it must. `perturbations` are those of one start, None
    for what is usually enough (`search_effort`); so are `starts`, but 1 where perturbations are given. The same
    generator state and effort give the same order, unless the budget runs out.
    """
    size = objective.size
    if size <= params.search.enumerated:
        allowed = (order for order in permutations(range(size)) if objective.ends.allows(order))
        return np.array(min(allowed, key=objective), dtype=np.int64)
    if perturbations is None:
        perturbations, usual = search_effort(objective, params)
        starts = usual if starts is None else starts
    starts = 1 if starts is None else starts
    rate = _lin_kernighan_rate(objective, params)
    best = objective.ends.repair(initial if initial is not None else _quick_start(objective, rng, params))
    clusters = None if rate is None else clusters_of(objective, rate)
    searches = starts if clusters is None else 1 + starts
    if clusters is not None:
        part = budget
        if not clusters.suffice:
            part = replace(budget.part(params.search.cluster_share), progress=_part_of(budget.progress, 0, searches))
        most = min(perturbations, params.search.local_perturbations * clusters.objective.size)
        found = iterated_local_search(clusters.objective, rng, part, most, 1, clusters.locations(best), params)
        best = min(best, best_rotation(objective, clusters.regions(found)), key=objective)
        if clusters.suffice:
            return best
    least = objective(best)
    for start in range(starts):
        order = objective.ends.repair(rng.permutation(size)) if start else best
        part = replace(budget, progress=_part_of(budget.progress, searches - starts + start, searches))
        if rate is None:
            found = _by_or_opt(objective, order, rng, part, perturbations, params.search.or_opt)
        else:
            from learnroute.solvers.local_search.lk_search import LinKernighanSearch

            search = LinKernighanSearch(objective, order, rate, params.search.lin_kernighan)
            found = search.run(rng, perturbations, part)
        found = best_rotation(objective, found)
        if clusters is not None:
            found = clusters.sorted_within(found)
        value = objective(found)
        if value < least:
            best, least = found, value
        if budget.exhausted:
            break
    return best


def search_effort(objective: Objective, params: SolverParams = DEFAULTS) -> tuple[int, int]:
    """Return perturbations and starts: usually enough for the optimum up to 100 regions, and worth it beyond."""
    size, fast, usual = objective.size, uses_lin_kernighan(objective, params), params.search
    if size <= usual.several_starts_regions:
        each = usual.few_perturbations if size <= usual.few_regions else usual.perturbations
        return each * size, usual.lin_kernighan_starts if fast else usual.or_opt_starts
    if not fast:
        return min(usual.perturbations * size, usual.most_perturbations), 1
    return min(usual.local_perturbations * size, max(usual.most_local_perturbations, size)), 1


def uses_lin_kernighan(objective: Objective, params: SolverParams = DEFAULTS) -> bool:
    """Whether Lin–Kernighan moves are used: then a perturbation takes about the same time whatever T is."""
    return _lin_kernighan_rate(objective, params) is not None


def _lin_kernighan_rate(objective: Objective, params: SolverParams) -> float | None:
    """Return the rate of geometric weights where `lin_kernighan` is the better engine, else None.

    It needs symmetric travel and the same factor for all regions. Its moves go on from near regions, and weigh what
    scores may gain by a bound: that pays where there are many regions, or few scores count.
    """
    size, limits = objective.size, params.search
    if objective.factors is not None or not objective.symmetric or size <= limits.or_opt_regions:
        return None
    rate = geometric_rate(objective.weights)
    return rate if rate is None or rate <= limits.slow_rate or size > limits.several_starts_regions else None


def _part_of(progress: Progress, start: int, starts: int) -> Progress:
    return lambda what, share: progress(what, (start + share) / starts)


def _quick_start(objective: Objective, rng: np.random.Generator, params: SolverParams) -> IntArray:
    """Return an order to start from: a space-filling curve through many places, else a nearest-neighbour path."""
    if objective.points is not None and objective.size > params.construction.matrix_regions:
        return hilbert_order(objective.points)
    start = int(rng.integers(objective.size))
    path: IntArray = nearest_neighbour_paths(objective.travel, np.array([start]))[0]
    return path


def _by_or_opt(
    objective: Objective,
    order: IntArray,
    rng: np.random.Generator,
    budget: Budget,
    perturbations: int,
    params: OrOptParams,
) -> IntArray:
    from learnroute.solvers.local_search import or_opt

    size = objective.size
    state = or_opt_state(objective, params)
    others = objective.travel + np.diag(np.full(size, np.inf))
    threshold = params.threshold * float(others.min(axis=1).mean())
    state.route[or_opt.ORDER, :size] = order
    or_opt.refresh(state)
    for k in range(size):
        or_opt.enqueue(state, k)
    or_opt.descend(state)
    best = state.route[or_opt.ORDER, :size].copy()
    values = np.full(2, or_opt.value(state))
    done = 0
    while done < perturbations and not budget.exhausted:
        count = min(params.wave, perturbations - done)
        draws = rng.random((count, 5))
        draws[:, 4] *= threshold * (1 - np.arange(count) / count)
        for first in range(0, count, params.perturbations_a_call):
            or_opt.iterate(state, best, values, draws[first : first + params.perturbations_a_call], params.window)
            if budget.exhausted:
                break
        done += count
        budget.progress("search", done / perturbations)
    return best


def best_rotation(objective: Objective, order: IntArray) -> IntArray:
    """Where orders are cycles, return the rotation and direction in which scores count least."""
    rate = geometric_rate(objective.weights) if objective.factors is None else None
    if not objective.ends.cyclic or rate is None:
        return order
    best, least = order, objective(order)
    for way in [order, order[::-1]] if objective.symmetric else [order]:
        # the sum that ends at each region, all around: twice round, so that it has forgotten where it began
        sums = np.empty(len(way))
        total = 0.0
        for _ in range(2):
            for k, score in enumerate(objective.scores[way].tolist()):
                total = rate * total + score
                sums[k] = total
        rotated = np.roll(way, -1 - int(np.argmin(sums)))
        value = objective(rotated)
        if value < least:
            best, least = rotated, value
    return np.ascontiguousarray(best)


def geometric_rate(weights: FloatArray) -> float | None:
    """Return r where each weight is r times the next one (0 where only the last counts), else None."""
    last = float(weights[-1])
    if last == 0:
        return None if weights.any() else 0.0
    rate = float(weights[-2]) / last
    ideal = last * _powers(rate, len(weights))[::-1]
    return rate if bool(np.all(np.abs(weights - ideal) <= PRINTED * last)) else None


def _powers(rate: float, count: int) -> FloatArray:
    with np.errstate(under="ignore"):
        found: FloatArray = rate ** np.arange(count, dtype=np.float64)
    return found


def or_opt_state(objective: Objective, params: OrOptParams) -> State:
    """Prepare the tables that the moves of `or_opt` work on."""
    from learnroute.solvers.local_search import or_opt

    size = objective.size
    rate = geometric_rate(objective.weights) if objective.factors is None else None
    table = np.zeros((6, size + 2))
    table[or_opt.POWER] = _powers(rate or 0.0, size + 2)
    factors = np.full(size, rate or 0.0) if objective.factors is None else objective.factors
    heaviest = 1.0 if objective.factors is not None else float(objective.weights.max())
    largest = max(float(objective.travel.max()), heaviest * float(objective.scores.max()))
    table[or_opt.BEST, 1] = params.least_gain * largest
    others = objective.travel + np.diag(np.full(size, np.inf))
    near = np.argsort(others, axis=1, kind="stable")[:, : min(params.neighbours, size - 1)]
    flags = (
        objective.symmetric,
        rate is not None,
        objective.factors is not None,
        objective.ends.cyclic,
        params.segment,
    )
    return or_opt.State(
        travel=np.array(objective.travel),
        scored=np.array([objective.scores, objective.weights, objective.begin, objective.finish, factors]),
        near=np.ascontiguousarray(near),
        table=table,
        route=np.zeros((5, size + 2), dtype=np.int64),
        flags=np.array(flags, dtype=np.int64),
    )
