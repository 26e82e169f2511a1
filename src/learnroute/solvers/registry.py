"""All methods by name. A new one is one line here."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from learnroute.errors import InputError
from learnroute.model.objective import Objective
from learnroute.solvers.construction import baselines
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Answer, Budget, Effort, Solver
from learnroute.solvers.local_search.iterated import MOST_SEARCHED, SEARCHING, cut_rate, search, search_well
from learnroute.solvers.methods import FEW_REGIONS, MOST_REGIONS, MOST_TOURED, by_cases_alone, exact, search_and_prove


@dataclass(frozen=True)
class Method:
    """A solver with its name and one line about it."""

    name: str
    solve: Solver
    summary: str
    random: bool = False  # whether its result is one draw of many
    by_travel: bool = False  # whether it goes by travel alone, even where travel is worth nothing


# What `auto` spends on a proof, up to so many regions: not time, so that the same seed gives the same route.
AUTO_EFFORT = ((50, Effort(12, 300_000, 300)), (75, Effort(2, 200_000, 300)), (100, Effort(1, 100_000, 300)))
AUTO_TOURED = Effort(cases=100, only_if_promising=True)  # beyond, where telling cases apart is all that would be tried
MOST_PAIRED = 10_000  # regions up to which a search starts from Algorithm 1
STARTING = 0.5  # of the time, at most, for what a search starts from


def auto(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Prove the optimum where that is quick, else return the best route found; never worse than Algorithm 1's.

    From MOST_PAIRED regions on, Algorithm 1 would take longer than the search, and is left out.
    """
    size = objective.size
    if size <= FEW_REGIONS:
        return exact(objective, rng, budget)
    if size > MOST_PAIRED and objective.points is not None:
        note = (
            f"more than {MOST_PAIRED:,} regions: the search did not start from Algorithm 1, so no ratio is guaranteed"
        )
        order = search_well(objective, rng, budget.part(SEARCHING))
        return Answer(order, "search", complete=not budget.exhausted, notes=(note,))
    part = budget.part(STARTING)
    start = algorithm1(objective, rng, part) if objective.symmetric else nearest_neighbour(objective, rng, part)
    if budget.exhausted:
        return replace(start, notes=(f"the time limit came before anything better than {start.method}", *start.notes))
    if size > MOST_SEARCHED and cut_rate(objective) is None:
        return start
    basis = start.method if start.complete else ""
    effort = next((effort for most, effort in AUTO_EFFORT if size <= most), None)
    if effort is None and size <= MOST_TOURED and by_cases_alone(objective):
        effort = AUTO_TOURED
    if effort is not None:
        return replace(search_and_prove(objective, rng, budget, start.order, effort), basis=basis)
    return Answer(search_well(objective, rng, budget.part(SEARCHING), start.order), "search", basis=basis)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("auto", auto, "the proved optimum where that is quick, else the best route found and how good it is"),
        Method(
            "exact",
            exact,
            f"the proved optimum, up to {MOST_REGIONS} regions ({MOST_TOURED} if m < n), as far as time allows",
        ),
        Method("search", search, "the best route that local search finds"),
        Method("algorithm1", algorithm1, "the paper's approximation algorithm, ends at the region of least score"),
        Method("baseline", baselines.forgetting_only, "least expected error, travel ignored", random=True),
        Method("travel", baselines.travel_only, "least travel, expected error ignored", by_travel=True),
        Method("nearest", nearest_neighbour, "always to the nearest region left, from the best start", by_travel=True),
        Method("random", baselines.random_order, "any order", random=True),
    )
}


def method_named(name: str) -> Method:
    """Return a method, or refuse an unknown name."""
    try:
        return METHODS[name]
    except (KeyError, TypeError):
        raise InputError(f"method = {name!r}: unknown; known are {', '.join(METHODS)}") from None
