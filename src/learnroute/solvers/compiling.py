"""What a time limit leaves time for: kernels that are not at hand take seconds to compile.

A kernel is named that is compiled last: where it is at hand, so are the others that are needed with it.
"""

from __future__ import annotations

from learnroute import kernels
from learnroute.model.objective import Objective
from learnroute.solvers.contract import Budget
from learnroute.solvers.params import SolverParams

BUILDING = ("match_next",)  # Algorithm 1
CROSSING = ("cross_pairs",)  # populations
PROVING = ("label", "minimum_cuts")
LATER = "python -m learnroute.precompile compiles for later plans (after `learnroute plan` it is done by itself)"


def searching(objective: Objective) -> tuple[str, ...]:
    """Return what a search needs."""
    places = ("nearest_places",) if objective.points is not None else ()
    pairs = ("scan",) if objective.pairs is not None else ()
    return ("iterate", *places, *pairs)


def too_late_to_search(objective: Objective, budget: Budget, params: SolverParams) -> bool:
    """Whether compiling what a search needs would outlast the time limit, and a search can do without."""
    few = objective.size <= params.search.interpreted_regions
    return few and _too_late(budget, params.search.compiling, searching(objective))


def too_late_for(needed: tuple[str, ...], budget: Budget, params: SolverParams) -> bool:
    """Whether compiling these kernels, which a search does without, would outlast the time limit."""
    return _too_late(budget, params.search.compiling_rest, needed)


def _too_late(budget: Budget, seconds: float, needed: tuple[str, ...]) -> bool:
    left = budget.seconds_left
    return left is not None and left <= seconds and not kernels.at_hand(*needed)
