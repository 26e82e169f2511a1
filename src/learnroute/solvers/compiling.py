"""What a time limit leaves time for: kernels that are not at hand take a second or two to compile.

A kernel is named that is compiled last: where it is at hand, so are the others that are needed with it.
"""

from __future__ import annotations

from dataclasses import replace

from learnroute import kernels
from learnroute.model.objective import Objective
from learnroute.solvers.contract import Budget
from learnroute.solvers.params import SolverParams

BUILDING: tuple[str, ...] = ()  # Algorithm 1
CROSSING: tuple[str, ...] = ()  # populations
PROVING: tuple[str, ...] = ()  # proofs
LATER = "python -m learnroute.precompile compiles for later plans (after `learnroute plan` it is done by itself)"


def searching(_objective: Objective) -> tuple[str, ...]:
    """Return what a search needs."""
    return ()


def too_late_for(needed: tuple[str, ...], budget: Budget, params: SolverParams) -> bool:
    """Whether some of these kernels are not at hand, and compiling them would take too much of the time left."""
    return hurried(budget, params) and not kernels.at_hand(*needed)


def with_fewer_kernels(params: SolverParams) -> SolverParams:
    """Return the same for a search that goes by near regions alone: α-nearness would have to be compiled."""
    k_opt = params.search.k_opt
    return replace(params, search=replace(params.search, k_opt=replace(k_opt, alpha=replace(k_opt.alpha, work=0))))


def hurried(budget: Budget, params: SolverParams) -> bool:
    """Whether there is so little time that what is not at hand is compiled quickly, or done without."""
    left = budget.seconds_left
    return left is not None and left <= params.search.compiling
