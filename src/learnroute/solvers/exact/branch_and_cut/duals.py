"""Dual values of the LP relaxation: multipliers of vertices and of combs, from which a 1-tree recomputes its bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnroute.model.validation import FloatArray


class Duals(NamedTuple):
    """What is taken off edges: one multiplier a vertex (0 for `out`), and for each crossing of a comb (by number)."""

    multipliers: FloatArray
    combs: dict[int, float]

    def plus(self, other: Duals, times: float) -> Duals:
        """Return the sum with a multiple of others."""
        combs = dict(self.combs)
        for comb, dual in other.combs.items():
            combs[comb] = combs.get(comb, 0.0) + times * dual
        return Duals(self.multipliers + times * other.multipliers, combs)

    def round_multipliers(self, places: int) -> Duals:
        """Return them with so many places: any give a bound, and short ones are stored in less space."""
        combs = {comb: round(dual, places) for comb, dual in self.combs.items()}
        multipliers = np.round(self.multipliers, places) + 0.0  # no -0.0
        return Duals(multipliers, {comb: dual for comb, dual in combs.items() if dual > 0})
