"""The best order known while a proof is under way."""

from __future__ import annotations

from learnroute.model.objective import Linear
from learnroute.model.rounding import PROOF, margin
from learnroute.model.validation import IntArray
from learnroute.solvers.bounds import path_relaxation


class Incumbent:
    """The incumbent of a proof: an order and its value, without the constant of the relaxation that is proved with.

    `path` is that relaxation: the objective itself, or one over paths that bounds it from below. `tight` says that an
    order that is optimal there is optimal here.
    """

    def __init__(self, objective: Linear, order: IntArray) -> None:
        self.objective = objective
        self.path, self.tight = path_relaxation(objective)
        self.order = order
        self.value = objective(order) - self.path.constant

    @property
    def goal(self) -> float:
        """What a lower bound has to reach to prove the incumbent optimal."""
        return self.value - PROOF * abs(self.value + self.path.constant)

    def with_constant(self, bound: float) -> float:
        """Return a bound with the constant of the relaxation, less what rounding did to that."""
        constant = self.path.constant
        return bound + constant - margin(self.path.size + 2, abs(bound) + abs(constant))

    def offer(self, order: IntArray | None) -> None:
        """Take an order that is allowed and better."""
        if order is not None and self.objective.ends.allows(order):
            value = self.objective(order) - self.path.constant
            if value < self.value:
                self.order, self.value = order, value
