"""The rest of a journey, from the agent's current place.

Lemma 2 holds for any starting model. If the current model has errors e_j, a route through the k remaining regions ends
with an error of r^k·e_j + sum_t (1-r)·r^(k-t)·Δ[τ_t, j] + noise in region j. So the rest is a planning problem again:
the scores of the remaining regions are still sums over all regions, visited or not, the current errors are those of
the new initial model, and the route begins at the agent's place. A regularised learner continues by its own recursion
(docs/theory.md) in the same way: its errors are e_j = a_j + c, where c is common to all regions and decays at its own
rate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from learnroute.errors import InputError, RefusedError
from learnroute.model.instance import Instance
from learnroute.model.law import ModelErrors, follow
from learnroute.model.problem import Problem
from learnroute.model.rounding import SAME, is_less
from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.methods import METHODS, Method
from learnroute.solvers.solve import solve


@dataclass(frozen=True, eq=False)
class RemainingJourney:
    """The remaining visits of a journey and their effect.

    Attributes
    ----------
    problem
        The problem as known now.
    visited
        The indices of the regions visited so far, in order.
    errors, common
        The errors of the current model, and the part of them that is common to all regions.
    """

    problem: Problem
    visited: list[int]
    errors: FloatArray
    common: float

    @property
    def left(self) -> tuple[str, ...]:
        """The regions that can still be visited, in the order of the problem."""
        made, rules = Counter(self.visited), self.problem.visit_rules
        if len(self.visited) >= rules.at_most:
            return ()
        return tuple(name for i, name in enumerate(self.problem.regions) if made[i] < rules.repeats[i])

    @property
    def _instance(self) -> Instance:
        """What is left to plan."""
        return self.problem.instance.after(self.visited, ModelErrors(self.errors - self.common, self.common))

    def errors_after(self, stops: Sequence[int]) -> ModelErrors:
        """Return the expected errors after more visits.

        Planning need not separate the common part, because the best route does not depend on it.
        """
        errors = ModelErrors(self.errors - self.common, self.common)
        along = self.problem.updates.along(stops, len(self.visited))
        for after in follow(errors, stops, along, self.problem.dissimilarities):
            errors = after
        return errors

    def plan(
        self, method: Method, seed: int, budget: Budget, rest: Sequence[str], dropped: Mapping[str, str]
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return the further visits (none if ending here is better) and the reasons for dropped visits.

        `rest` are the previously planned visits, and `dropped` the previously dropped ones.
        """
        problem, visited, left, place = self.problem, self.visited, self.left, self.problem.regions.index
        instance = self._instance
        best, value = Routes.of_order([]), self._ending_value(instance)
        initial = [name for name in rest if name in left]
        if left:
            rng, start = np.random.default_rng([seed, len(visited)]), Routes.of_order([*map(place, initial)])
            try:
                found = _solve(instance, method, rng, budget, start if visited and not instance.permutation else None)
                if instance(found) < value:
                    best, value = found, instance(found)
            except InputError:  # no routes satisfy the rules
                if not visited:
                    raise
        planned = tuple(problem.regions[i] for i in best.regions)
        missing = Counter(initial)
        missing.subtract(problem.regions[i] for i in visited[-1:])
        why = {name: reason for name, reason in dropped.items() if name in left and name not in planned}
        for name in missing - Counter(planned):
            why[name] = _reason_to_drop(instance, best, value, name, place(name))
        return planned, why

    def _ending_value(self, instance: Instance) -> float:
        """Return the value of ending without further visits, return trip included; inf if that violates a rule."""
        problem, visited = self.problem, self.visited
        if not visited or instance.visits.required.any() or len(visited) < problem.visit_rules.at_least:
            return math.inf
        home = float(problem.ways.matrix[visited[-1], problem.from_depot(visited)[0]]) if problem.closed else 0.0
        if instance.ends.last not in (None, visited[-1]) or is_less(instance.visits.budget, home, SAME):
            return math.inf
        return problem.travel_rate * home + math.fsum(problem.region_weights * self.errors)


def _solve(
    instance: Instance, method: Method, rng: np.random.Generator, budget: Budget, initial: Routes | None
) -> Routes:
    """Return further visits; if the method cannot solve the problem, use `auto`."""
    try:
        return solve(instance, method, rng, budget, initial=initial, bounds=False).routes
    except RefusedError:  # for example, travel from the current place may be asymmetric
        return solve(instance, METHODS["auto"], rng, budget, initial=initial, bounds=False).routes


def _reason_to_drop(instance: Instance, rest: Routes, value: float, name: str, region: int) -> str:
    """Return how a visit, at its best position in the rest, would change the loss per region."""
    visits = rest.regions
    tried = (Routes.of_order([*visits[:k], region, *visits[k:]]) for k in range(len(visits) + 1))
    losses = [instance(routes) for routes in tried if instance.allows(routes)]
    if not losses:
        return f"{name} is dropped: the rules (visits) allow no more visits"
    return f"{name} is dropped: a visit would add {(min(losses) - value) / instance.size:.3g} to the expected loss"
