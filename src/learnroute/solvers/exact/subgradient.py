"""One subgradient ascent for every Lagrangian relaxation, with momentum (Held, Wolfe and Crowder 1974).

Imported only when a proof is attempted, because importing it wakes the compiler.

A relaxation has one multiplier a vertex. It tells its bound at the multipliers of now and a subgradient there;
`advance` takes a step from them. A step aims at a share of the gap between the bound and a target (Polyak's rule), the
*pace*. Its direction keeps a part of the last one (Camerini, Fratta and Maffioli 1975). After some steps without
progress, the pace falls and the ascent goes on from the best multipliers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray
from learnroute.solvers.params import AscentParams

PROGRESS = np.dtype([("bound", np.float64), ("pace", np.float64), ("stalled", np.int64)])


class Ascent(NamedTuple):
    """An ascent in progress."""

    multipliers: FloatArray  # where the relaxation is to be solved next
    best: FloatArray  # those with the best bound
    direction: FloatArray
    progress: NDArray[np.void]  # one record: the best bound, the pace, steps since the bound rose
    target: float
    momentum: float
    patience: int
    fall: float
    slowest: float
    least_rise: float

    @property
    def bound(self) -> float:
        """The best bound so far."""
        return float(self.progress[0]["bound"])

    @property
    def ended(self) -> bool:
        """Whether nothing is left to gain."""
        return bool(self.progress[0]["pace"] == 0)

    def set_pace(self, pace: float) -> None:
        """Let the next step aim at this share of the gap."""
        self.progress[0]["pace"] = pace

    def forget_bound(self) -> None:
        """Go on where the relaxation has become another one: whatever it gives next is the best so far."""
        self.progress[0]["bound"] = -np.inf


def new_ascent(multipliers: FloatArray, target: float, params: AscentParams) -> Ascent:
    """Prepare an ascent from some multipliers towards a target."""
    progress = np.array([(-np.inf, params.pace, 0)], dtype=PROGRESS)
    return Ascent(
        multipliers.copy(), multipliers.copy(), np.zeros(len(multipliers)), progress, float(target),
        params.momentum, params.patience, params.fall, params.slowest, params.progress,
    )  # fmt: skip


@kernel
def advance(ascent: Ascent, subgradient: FloatArray, bound: float) -> bool:
    """Take a step from multipliers with this bound and subgradient; False (and pace 0) where the ascent ends."""
    now, best, direction, progress = ascent.multipliers, ascent.best, ascent.direction, ascent.progress[0]
    if bound > progress.bound + ascent.least_rise * abs(ascent.target - progress.bound):
        progress.stalled = 0
    else:
        progress.stalled += 1
    if bound > progress.bound:
        progress.bound = bound
        best[:] = now
    if bound >= ascent.target:
        progress.pace = 0.0
        return False
    if progress.stalled >= ascent.patience:
        progress.stalled = 0
        progress.pace *= ascent.fall
        now[:] = best
    square, wrong = 0.0, False
    for v in range(len(now)):
        wrong = wrong or subgradient[v] != 0.0
        direction[v] = subgradient[v] + ascent.momentum * direction[v]
        square += direction[v] * direction[v]
    if not wrong or square == 0.0 or progress.pace < ascent.slowest:
        progress.pace = 0.0
        return False
    step = progress.pace * (ascent.target - bound) / square
    for v in range(len(now)):
        now[v] += step * direction[v]
    return True
