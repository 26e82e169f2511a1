"""The incumbent of a proof."""

from __future__ import annotations

from learnroute.model.linear import Linear
from learnroute.model.rounding import PROOF, margin
from learnroute.model.validation import IntArray
from learnroute.solvers.bounds import path_relaxation


class Incumbent:
    """The best known order and its value, without the constant of the relaxation that the proof uses.

    `path` is this relaxation: the objective itself or a lower bound over paths. `tight`: an order that is optimal for
    the relaxation is optimal for the objective.
    """

    def __init__(self, objective: Linear, order: IntArray) -> None:
        self.objective = objective
        self.path, self.tight = path_relaxation(objective)
        self.order = order
        self.value = objective(order) - self.path.constant

    @property
    def goal(self) -> float:
        """The lower bound that proves the incumbent optimal."""
        return self.value - PROOF * abs(self.value + self.path.constant)

    def with_constant(self, bound: float) -> float:
        """Return a bound plus the constant of the relaxation, less the rounding error of the sum."""
        constant = self.path.constant
        return bound + constant - margin(self.path.size + 2, abs(bound) + abs(constant))

    def offer(self, order: IntArray | None) -> None:
        """Replace the incumbent by a permitted order with a smaller value."""
        if order is not None and self.objective.ends.allows(order):
            value = self.objective(order) - self.path.constant
            if value < self.value:
                self.order, self.value = order, value
