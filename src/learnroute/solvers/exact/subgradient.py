"""One subgradient ascent for every Lagrangian relaxation, with momentum (Held, Wolfe and Crowder 1974).

A relaxation has one multiplier a vertex. It tells its bound at the multipliers of now and a subgradient there; the
ascent takes a step from them (`SubgradientAscent.advance`). A step aims at a share of the gap between the bound and a
target (Polyak's rule), the *pace*. Its direction keeps a part of the last one (Camerini, Fratta and Maffioli 1975).
After some steps without progress, the pace falls and the ascent goes on from the best multipliers.
"""

from __future__ import annotations

from learnroute._core import SubgradientAscent
from learnroute.model.validation import FloatArray
from learnroute.solvers.params import AscentParams


def new_ascent(multipliers: FloatArray, target: float, params: AscentParams) -> SubgradientAscent:
    """Prepare an ascent from some multipliers towards a target."""
    return SubgradientAscent(
        multipliers, target, pace=params.pace, momentum=params.momentum, patience=params.patience, fall=params.fall,
        slowest=params.slowest, progress=params.progress,
    )  # fmt: skip
