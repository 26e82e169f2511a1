"""Orders to compare with: each looks at one side of the problem, or at none. All respect fixed ends."""

from __future__ import annotations

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.exact.held_karp import MOST_REGIONS, held_karp
from learnroute.solvers.local_search.iterated import search_well


def forgetting_only(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return an order of least expected final error, travel ignored (the paper's CL baseline).

    Descending scores (e15). Where only the last position counts, that is a random order with the right last region.
    """
    if objective.only_last_counts:
        others = np.delete(np.arange(objective.size), objective.best_last)
        order = _between_ends(objective, rng.permutation(others), objective.best_last)
    else:
        order = _between_ends(objective, np.argsort(-objective.ranks, kind="stable"), objective.last)
    return Answer(order, "baseline")


def travel_only(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return the shortest route found, scores ignored; proved shortest as far as all sets can be enumerated."""
    blind = objective.travel_alone()
    if objective.size <= MOST_REGIONS:
        answer = held_karp(blind, rng, budget)
        order, shortest = answer.order, answer.optimal
    else:
        order, shortest = search_well(blind, rng, budget), False
    either_way = objective.first is None and objective.last is None
    if either_way and objective.symmetric and order[0] > order[-1]:
        order = order[::-1]
    notes = () if shortest else ("shortest path found; not proved to be the shortest",)
    return Answer(order, "travel", notes=notes)


def random_order(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return any order, all equally likely."""
    return Answer(_between_ends(objective, rng.permutation(objective.size), objective.last), "random")


def _between_ends(objective: Objective, order: IntArray, last: int | None) -> IntArray:
    """Return an order with the fixed first region moved to the front and this last one to the end."""
    middle = order[(order != objective.first) & (order != last)]
    front = [] if objective.first is None else [objective.first]
    return np.array([*front, *middle, *([] if last is None else [last])], dtype=np.int64)
