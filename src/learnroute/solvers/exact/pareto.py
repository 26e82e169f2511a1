"""The Pareto front of travel and score part: bi-objective labelling over sets (after Martins 1984).

Orders are built from the end. The travel and the score part of a set of final regions depend on the regions before it
only through the first region of the set. So of two paths through the same set from the same region, one that is worse
in both is dominated.
"""

from __future__ import annotations

import math
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from learnroute.model.instance import Instance
from learnroute.model.law import ModelErrors, Step, train
from learnroute.model.linear import Factored, Linear
from learnroute.model.relaxation import Orders
from learnroute.model.rounding import SAME, is_less
from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.params import DEFAULTS, SolverParams


class Labels(NamedTuple):
    """The Pareto-optimal paths through one set from one region, least travel first."""

    travel: FloatArray
    scored: FloatArray
    follower: IntArray  # the second region
    label: IntArray  # the label of the path from it


def pareto_front_routes(instance: Instance, budget: Budget, params: SolverParams = DEFAULTS) -> list[Routes] | None:
    """Return one route per Pareto-optimal pair of travel and error; None if time or memory runs out.

    Pair terms are not additive along an order, so all orders are enumerated; None if there are too many regions.
    """
    orders, found = instance.orders, None
    if orders.exact is not None:
        found = pareto_front_orders(orders.exact, budget, params)
    elif orders.size <= params.pareto.enumerated:
        found = _best_of_all(orders)
    return None if found is None else [orders.routes(order) for order in found]


def pareto_front_orders(objective: Linear, budget: Budget, params: SolverParams = DEFAULTS) -> list[IntArray] | None:
    """Return one order per Pareto-optimal pair of travel and score part; None if time or memory runs out."""
    size = objective.size
    if objective.ends.cyclic:
        found: list[IntArray] = []
        for last in range(size):  # the return trip depends on the last region only
            orders = pareto_front_orders(objective.ending_at(last), budget, params)
            if orders is None:
                return None
            found += orders
        return _best_of(objective, found)
    layers: list[dict[tuple[int, int], Labels]] = [_last_regions(objective)]
    made, positions = size, objective.ends.positions(size)
    for count in range(2, size + 1):
        layer: dict[tuple[int, int], Labels] = {}
        for group in combinations(range(size), count):
            members = sum(1 << v for v in group)
            for v in group:
                allowed = positions[size - count, v]
                ways = _extend_paths(objective, layers[-1], members & ~(1 << v), v, group) if allowed else None
                if ways is not None:
                    layer[members, v] = ways
                    made += len(ways.travel)
            if budget.exhausted or made > params.pareto.labels:
                return None
        layers.append(layer)
        budget.progress("trade-off", count / size)
    return _best_of(objective, _trace(objective, layers))


def _last_regions(objective: Linear) -> dict[tuple[int, int], Labels]:
    nobody = np.array([-1])
    return {
        (1 << v, v): Labels(
            objective.finish[v : v + 1], objective.weights[-1] * objective.scores[v : v + 1], nobody, nobody
        )
        for v in range(objective.size)
        if objective.finish[v] < np.inf
    }


def _extend_paths(
    objective: Linear, behind: dict[tuple[int, int], Labels], later: int, v: int, group: tuple[int, ...]
) -> Labels | None:
    """Return the Pareto-optimal paths from v through a set of later regions."""
    parts = [(u, behind[later, u]) for u in group if (later, u) in behind]
    if not parts:
        return None
    if isinstance(objective, Factored):
        share = np.prod([objective.factors[u] for u in group if u != v])
    else:
        share = objective.weights[objective.size - len(group)]
    travel = np.concatenate([ways.travel + objective.travel.matrix[v, u] for u, ways in parts])
    scored = np.concatenate([ways.scored for _, ways in parts])
    kept = pareto_front(travel, scored)
    follower = np.repeat([u for u, _ in parts], [len(ways.travel) for _, ways in parts])
    label = np.concatenate([np.arange(len(ways.travel)) for _, ways in parts])
    return Labels(travel[kept], scored[kept] + share * objective.scores[v], follower[kept], label[kept])


def pareto_front(first: FloatArray, second: FloatArray, sizes: FloatArray | float = 0.0) -> IntArray:
    """Return the indices of the Pareto-optimal pairs, smallest first; one of several equal pairs.

    Values may have any sign. If the second values are sums whose terms cancel, `sizes` are the sizes of their terms.
    """
    rank = np.lexsort((second, first))
    ranked, sizes = second[rank], np.broadcast_to(sizes, second.shape)[rank]
    better = np.ones(len(rank), dtype=bool)
    better[1:] = is_less(ranked[1:], np.minimum.accumulate(ranked)[:-1], SAME, sizes[1:])
    kept: IntArray = rank[better]
    last = np.append(is_less(first[kept][:-1], first[kept][1:], SAME), True)  # of those with the same first, the best
    return np.asarray(kept[last])


def _trace(objective: Linear, layers: list[dict[tuple[int, int], Labels]]) -> list[IntArray]:
    """Return the orders of all labels of the whole set."""
    orders = []
    everyone = (1 << objective.size) - 1
    for (_, v), ways in layers[-1].items():
        if objective.begin[v] == np.inf:
            continue
        for k in range(len(ways.travel)):
            order, members, region, label = [v], everyone, v, k
            for layer in reversed(layers[1:]):
                here = layer[members, region]
                members &= ~(1 << region)
                region, label = int(here.follower[label]), int(here.label[label])
                order.append(region)
            orders.append(np.array(order, dtype=np.int64))
    return orders


def _best_of_all(orders: Orders) -> list[IntArray]:
    """Return the Pareto-optimal orders by enumerating all orders."""
    everyone = np.array([each for each in permutations(range(orders.size)) if orders.ends.allows(each)])
    travel = np.array([math.fsum(orders.typical.legs(order)) for order in everyone])
    given, updates, visits = orders.error.dissimilarities, orders.error.updates, everyone[:, int(orders.has_origin) :]
    errors = ModelErrors(np.tile(given.initial, (len(visits), 1)), np.zeros(len(visits)))
    summed = np.full(len(visits), orders.error.total)  # over all regions that count, not only these
    for t, here in enumerate(visits.T):
        step = Step(*(table[t, here] for table in updates.tables))
        summed = step.retention * summed + step.plasticity * given.scores[here]
        errors = train(errors, here, step, given.matrix[here])
    return [everyone[k] for k in pareto_front(travel, summed + orders.error.count * errors.common)]


def _best_of(objective: Linear, orders: list[IntArray]) -> list[IntArray]:
    """Keep the orders that are not dominated, least travel first."""
    travel = np.array([float(objective.legs(order).sum()) for order in orders])
    scored = np.array([float((objective.weights_of(order) * objective.scores[order]).sum()) for order in orders])
    return [orders[k] for k in pareto_front(travel, scored)]
