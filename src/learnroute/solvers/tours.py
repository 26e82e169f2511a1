"""The tour search as an improver of routes: k-opt, crossover and iterated local search of orders of stops.

It sees linear objectives only. If errors are coupled, it searches with typical pair terms, as a start for ruin and
recreate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from learnroute.model.ends import Ends
from learnroute.model.instance import Instance
from learnroute.model.linear import Weighted
from learnroute.model.routes import Routes
from learnroute.model.travel import Places
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import SolverParams

GIVEN = "given"  # the method of routes that the caller chose
TIED = 1e-17  # relative to the value; anything smaller cannot be distinguished from 0


class TourSearch:
    """The search for orders in which each region is visited once."""

    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether each region is visited once by one vehicle with one model."""
        return instance.permutation

    def improve(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer:
        """Return the best order found; with few regions and without coupled errors, an optimal one."""
        orders, size = instance.orders, instance.orders.size
        seen = orders.typical
        given = None if answer is None else seen.ends.repair(orders.order(answer.routes))
        if not orders.coupled and size <= params.held_karp.most_regions:
            best = held_karp(seen, rng, budget, params)
            if best.optimal:
                return Answer(orders.routes(best.order), "search", certificate=best.certificate)
        constructed = answer is not None and answer.method != GIVEN
        if answer is not None and constructed and budget.exhausted:
            return self._descend(instance, answer, rng, budget, params)
        begin = given
        if constructed and not seen.only_last_counts:
            begin = None  # if early scores count too: moves do not lead far from the end of a constructed order
        notes: tuple[str, ...] = ()
        effort, part = None, budget
        if orders.coupled and size <= params.ruin.most_orders:  # as a start for ruin and recreate
            part, effort = budget.part(params.tours.typical_share), params.tours.typical_perturbations * size
        elif orders.coupled:
            notes = (
                f"more than {params.ruin.most_orders} regions: the search used typical pair terms; the loss is the "
                "true one",
            )
        found = iterated_local_search(seen, rng, part, effort, initial=begin, params=params)
        candidates = [found, np.argsort(-seen.ranks, kind="stable")]  # the latter is best if travel does not count
        candidates += [] if given is None else [given]
        best_order = min(map(seen.repair, candidates), key=seen)
        basis = "" if answer is None else answer.basis
        return Answer(orders.routes(best_order), "search", complete=not budget.exhausted, notes=notes, basis=basis)

    def _descend(
        self, instance: Instance, answer: Answer, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer:
        """Return a constructed order after one descent if there is no time for more."""
        orders = instance.orders
        if orders.size > params.auto.descent_regions:
            note = f"{budget.end} before a better route than that of {answer.method}"
            return replace(answer, notes=(note, *answer.notes))
        start = orders.order(answer.routes)
        order = iterated_local_search(orders.typical, rng, budget, 1, 1, start, params)  # that takes a moment
        note = f"{budget.end} after {answer.method} and one descent of the search"
        return Answer(orders.routes(order), "search", complete=False, notes=(note, *answer.notes), basis=answer.basis)


def construct_start(
    instance: Instance, rng: np.random.Generator, budget: Budget, params: SolverParams, initial: Routes | None
) -> Answer | None:
    """Return Algorithm 1's route (the nearest neighbours' if travel is asymmetric), or a better given one.

    None if that would take longer than the search, or if errors are coupled.
    """
    orders, most = instance.orders, params.auto.algorithm1_regions
    if orders.coupled:
        return None
    objective = orders.relaxation
    if orders.size > most and isinstance(orders.travel, Places):
        return None
    build, name = (algorithm1, "algorithm1") if orders.travel.symmetric else (nearest_neighbour, "nearest")
    found = build(objective, rng, budget.part(params.auto.start_share), params)
    order, basis = found.order, name if found.complete else ""
    if initial is not None:
        name, order = GIVEN, min(order, objective.repair(orders.order(initial)), key=objective)
    return Answer(orders.routes(order), name, complete=found.complete, notes=found.notes, basis=basis)


def shorten_ties(instance: Instance, routes: Routes, budget: Budget, params: SolverParams) -> Routes:
    """Shorten the part of a route whose scores do not count, if travel is worth nothing."""
    orders = instance.orders
    objective, order = orders.typical, orders.order(routes)
    value = instance(routes)
    counted = np.flatnonzero(objective.weights_of(order) * objective.scores.max() > TIED * abs(value))
    many = int(counted[0]) + 1 if len(counted) else objective.size
    if many < 4:
        return routes
    ways = replace(instance, rate=1.0).orders.travel
    part = order[:many]
    ends = replace(objective.ends, last=int(part[-1]))
    if many < objective.size:
        ends = Ends(int(part[0]), int(part[-1]))
    number = np.zeros(objective.size, dtype=np.int64)
    number[part] = np.arange(many)
    nothing = np.zeros(many)
    alone = Weighted(ways.of(part), nothing, nothing, 0.0, ends.renumber(number))
    rng, start = np.random.default_rng(0), np.arange(many)
    found = iterated_local_search(alone, rng, budget.for_one_job(), initial=start, params=params)
    shorter = np.concatenate([part[found], order[many:]])
    is_shorter = ways.legs(shorter, False).sum() < ways.legs(order, False).sum()
    better = orders.routes(shorter)
    return better if is_shorter and instance(better) <= value else routes
