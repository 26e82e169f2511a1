"""All methods by name. A new one is one line here."""

from __future__ import annotations

from dataclasses import dataclass

from learnroute.errors import InputError, did_you_mean
from learnroute.solvers import methods
from learnroute.solvers.construction import baselines
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Solver
from learnroute.solvers.params import DEFAULTS


@dataclass(frozen=True)
class Method:
    """A solver with its name and one line about it."""

    name: str
    solve: Solver
    summary: str
    random: bool = False  # whether its result is one draw of many
    by_travel: bool = False  # whether it goes by travel alone, even where travel is worth nothing
    warm: bool = False  # whether it can start from a given order (keyword `initial`)


_proof = DEFAULTS.proof
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "auto",
            methods.auto,
            "the proved optimum where that is quick, else the best route found and how good it is",
            warm=True,
        ),
        Method(
            "exact",
            methods.exact,
            f"the proved optimum, up to {_proof.ng_route.most_regions} regions "
            f"({_proof.branch_and_cut.most_regions} if m < n), as far as time allows",
            warm=True,
        ),
        Method("search", methods.search, "the best route that local search finds", warm=True),
        Method("algorithm1", algorithm1, "the paper's approximation algorithm, ends at the region of least score"),
        Method("baseline", methods.forgetting_only, "least expected error, travel ignored", random=True),
        Method("travel", methods.travel_only, "least travel, expected error ignored", by_travel=True),
        Method("nearest", nearest_neighbour, "always to the nearest region left, from the best start", by_travel=True),
        Method("random", baselines.random_order, "any order", random=True),
    )
}


def method_named(name: str) -> Method:
    """Return a method, or refuse an unknown name."""
    try:
        return METHODS[name]
    except (KeyError, TypeError):
        raise InputError(f"unknown; {did_you_mean(name, METHODS)}", field="method", value=name) from None
