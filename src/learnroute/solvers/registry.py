"""All methods by name. A new one is one line here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnroute.errors import InputError
from learnroute.model.objective import Objective
from learnroute.solvers import baselines
from learnroute.solvers import exact as held_karp
from learnroute.solvers.algorithm1 import algorithm1
from learnroute.solvers.contract import Answer, Budget, Solver
from learnroute.solvers.nearest import nearest_neighbour


@dataclass(frozen=True)
class Method:
    """A solver with its name and one line about it."""

    name: str
    solve: Solver
    summary: str
    random: bool = False  # whether its result is one draw of many


def auto(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Prove the optimum where that is quick, else Algorithm 1, else (asymmetric travel) the nearest neighbour."""
    if objective.size <= held_karp.MOST_REGIONS:
        return held_karp.exact(objective, rng, budget)
    if objective.symmetric:
        return algorithm1(objective, rng, budget)
    return nearest_neighbour(objective, rng, budget)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("auto", auto, "the proved optimum where that is quick, else Algorithm 1"),
        Method("exact", held_karp.exact, f"the proved optimum, up to {held_karp.MOST_REGIONS} regions"),
        Method("algorithm1", algorithm1, "the paper's approximation algorithm, ends at the region of least score"),
        Method("baseline", baselines.forgetting_only, "least expected error, travel ignored", random=True),
        Method("travel", baselines.travel_only, "least travel, expected error ignored"),
        Method("nearest", nearest_neighbour, "always to the nearest region left, from the best start"),
        Method("random", baselines.random_order, "any order", random=True),
    )
}


def method_named(name: str) -> Method:
    """Return a method, or refuse an unknown name."""
    try:
        return METHODS[name]
    except (KeyError, TypeError):
        raise InputError(f"method = {name!r}: unknown; known are {', '.join(METHODS)}") from None
