"""Dual values of the LP relaxation: multipliers of vertices and of combs, from which a 1-tree recomputes its bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnroute.model.validation import FloatArray


class Duals(NamedTuple):
    """Amounts subtracted from edge costs: one multiplier per vertex (0 for `out`) and one per comb (by number)."""

    multipliers: FloatArray
    combs: dict[int, float]

    def plus(self, other: Duals, times: float) -> Duals:
        """Return the sum of these and a multiple of other dual values."""
        combs = dict(self.combs)
        for comb, dual in other.combs.items():
            combs[comb] = combs.get(comb, 0.0) + times * dual
        return Duals(self.multipliers + times * other.multipliers, combs)

    def round_multipliers(self, places: int) -> Duals:
        """Return the dual values rounded to this many places: any values give a bound, and short ones save space."""
        combs = {comb: round(dual, places) for comb, dual in self.combs.items()}
        multipliers = np.round(self.multipliers, places) + 0.0  # no -0.0
        return Duals(multipliers, {comb: dual for comb, dual in combs.items() if dual > 0})
