"""One subgradient ascent for every Lagrangian relaxation, with momentum (Held, Wolfe and Crowder 1974).

A relaxation has one multiplier per vertex. It computes its bound and a subgradient at the current multipliers, and the
ascent takes a step (`SubgradientAscent.advance`). The step length is a share of the gap between the bound and a target
(Polyak's rule), the *pace*. The direction keeps a part of the previous one (Camerini, Fratta and Maffioli 1975).
After some steps without progress, the pace is reduced and the ascent restarts from the best multipliers.
"""

from __future__ import annotations

from learnroute._core import SubgradientAscent
from learnroute.model.validation import FloatArray
from learnroute.solvers.params import AscentParams


def new_ascent(multipliers: FloatArray, target: float, params: AscentParams) -> SubgradientAscent:
    """Return an ascent from the given multipliers towards a target."""
    return SubgradientAscent(
        multipliers, target, pace=params.pace, momentum=params.momentum, patience=params.patience, fall=params.fall,
        slowest=params.slowest, progress=params.progress,
    )  # fmt: skip
