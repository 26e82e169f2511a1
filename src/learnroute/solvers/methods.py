"""Methods that combine several components: exact, auto, search, travel. Each has the signature of a solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from learnroute.errors import RefusedError
from learnroute.model.objective import Linear, Objective
from learnroute.model.travel import Places
from learnroute.model.validation import IntArray
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.proof import branching_alone, branching_applies, prove
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import DEFAULTS, ProofParams, SolverParams


def exact(
    objective: Linear,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> Answer:
    """Return an optimal order; if time or memory runs out first, the best order found, with its bound."""
    if objective.size <= params.held_karp.most_regions:
        return held_karp(objective, rng, budget, params)
    proof = params.proof
    alone = branching_alone(objective, proof)
    most = proof.branch_and_cut.most_regions if alone else proof.ng_route.most_regions
    if objective.size > most:
        more = f" (up to {proof.branch_and_cut.most_regions} where travel is symmetric and m < n)"
        raise RefusedError(
            f"exact: {objective.size} regions; proofs are attempted up to {most} regions{'' if alone else more}; "
            "use method auto or search, which bound the distance to the optimum"
        )
    return search_and_prove(objective, rng, budget, params, initial)


def _search_budget(objective: Linear, budget: Budget, params: SolverParams) -> Budget:
    """Return the search's part of the time. A bound gets the rest, which is smaller if time is short."""
    limits, left, size = params.search, budget.seconds_left, objective.size
    if left is None or size <= limits.several_starts_regions:
        return budget.part(limits.search_share)
    tree = params.bound.seconds_per_pair * size**2
    quick = isinstance(objective.travel, Places) and (1 - limits.search_share) * left < tree
    return budget.part(limits.short_share if quick or left <= limits.short else limits.search_share)


def search_and_prove(
    objective: Linear,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams,
    initial: IntArray | None = None,
) -> Answer:
    """Search (from `initial`, if given), then prove, with no more effort than `params.proof`."""
    part = _search_budget(objective, budget, params)
    usual = replace(part, spend_all=False)  # the proof may not need the rest
    candidates = [iterated_local_search(objective, rng, usual, initial=initial, params=params)]
    if initial is not None:
        candidates.append(initial)
    candidates.append(np.argsort(-objective.ranks, kind="stable"))  # optimal if travel does not count
    incumbent = min(map(objective.repair, candidates), key=objective)
    proof = prove(objective, incumbent, budget, params, rng)
    order = proof.order
    if proof.optimal:
        return Answer(order, "exact", optimal=True, certificate=proof.certificate)
    if budget.spend_all and not budget.exhausted:
        order = iterated_local_search(objective, rng, budget, initial=order, params=params)
    return Answer.unproved(order, proof.cause, proof.certificate)


def search(
    objective: Linear,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> Answer:
    """Return the best order found from a few starts or from `initial`; with few regions, an optimal order."""
    if objective.size <= params.held_karp.most_regions:  # a bound needs the same table
        best = held_karp(objective, rng, budget.part(params.search.search_share), params)
        if best.optimal:
            return replace(best, method="search")
    part = _search_budget(objective, budget, params)
    order = iterated_local_search(objective, rng, part, initial=initial, params=params)
    return Answer(order, "search", complete=not budget.exhausted)


def travel_only(
    objective: Objective, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS
) -> Answer:
    """Return the shortest route found, ignoring scores; proved to be shortest if all sets can be enumerated."""
    blind = objective.travel_alone()
    notes: tuple[str, ...] = ("shortest path found; not proved to be the shortest",)
    if objective.size <= params.held_karp.most_regions:
        order, proved = _shortest(blind, rng, budget, params)
        notes = () if proved else notes
    else:
        order = iterated_local_search(blind, rng, budget, params=params)
    if objective.ends.free and objective.travel.symmetric and order[0] > order[-1]:
        order = order[::-1]
    return Answer(order, "travel", notes=notes)


def _shortest(blind: Linear, rng: np.random.Generator, budget: Budget, params: SolverParams) -> tuple[IntArray, bool]:
    """Return a shortest order of a few regions, and whether it is proved; branching is used if it is faster."""
    if blind.size > params.held_karp.shortest and branching_applies(blind, params.proof):
        start = nearest_neighbour(blind, rng, budget.silent().without_limit(), params)
        proof = prove(blind, start.order, budget, params, rng)
        if proof.optimal:
            return proof.order, True
    answer = held_karp(blind, rng, budget, params)
    return answer.order, answer.optimal


def auto(
    objective: Linear,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> Answer:
    """Return the proved optimum if that is quick, otherwise the best route found.

    The route is never worse than Algorithm 1's, or than `initial`. With very many regions, Algorithm 1 would take
    longer than the search and is skipped.
    """
    size, most = objective.size, params.auto.algorithm1_regions
    if size <= params.held_karp.most_regions:
        return exact(objective, rng, budget, params)
    effort = _effort(objective, params)
    if size > most and isinstance(objective.travel, Places):
        part = _search_budget(objective, budget, params)
        order = iterated_local_search(objective, rng, part, initial=initial, params=params)
        note = f"more than {most:,} regions: the search did not start from Algorithm 1, so no ratio is guaranteed"
        return Answer(order, "search", complete=not budget.exhausted, notes=(note,))
    build = algorithm1 if objective.travel.symmetric else nearest_neighbour
    start = build(objective, rng, budget.part(params.auto.start_share), params)
    if initial is not None:
        start = replace(start, order=min(start.order, objective.repair(initial), key=objective))
    basis = start.method if start.complete else ""
    if budget.exhausted:
        if size > params.auto.descent_regions:
            note = f"{budget.end} before a better route than that of {start.method}"
            return replace(start, notes=(note, *start.notes))
        order = iterated_local_search(objective, rng, budget, 1, 1, start.order, params)  # that takes a moment
        note = f"{budget.end} after {start.method} and one descent of the search"
        return Answer(order, "search", complete=False, notes=(note, *start.notes), basis=basis)
    if effort is not None:
        found = search_and_prove(objective, rng, budget, params._replace(proof=effort), start.order)
        return replace(found, basis=basis)
    # if early scores count too, the search constructs its own start: moves do not lead far from Algorithm 1's tail
    begin = start.order if initial is not None or objective.only_last_counts else None
    part = _search_budget(objective, budget, params)
    order = iterated_local_search(objective, rng, part, initial=begin, params=params)
    return Answer(min(order, start.order, key=objective), "search", basis=basis)


def _effort(objective: Linear, params: SolverParams) -> ProofParams | None:
    """Return the effort that `auto` spends on a proof; None if it does not attempt one."""
    for most, effort in params.auto.efforts:
        if objective.size <= most:
            return effort
    few = objective.size <= params.auto.beyond.branch_and_cut.most_regions
    return params.auto.beyond if few and branching_alone(objective, params.auto.beyond) else None
