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
from learnroute.model.law import ModelErrors, follow
from learnroute.model.losses import further_visits, remaining_objective
from learnroute.model.problem import Problem
from learnroute.model.rounding import SAME, is_less
from learnroute.model.validation import FloatArray, IntArray
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.contract import Budget
from learnroute.solvers.registry import Method, method_by_name


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
        made, regions, rules = Counter(self.visited), self.problem.regions, self.problem.rules
        if rules is None:
            return tuple(name for i, name in enumerate(regions) if not made[i])
        if len(self.visited) >= rules.at_most:
            return ()
        return tuple(name for i, name in enumerate(regions) if made[i] < rules.repeats[i])

    def errors_after(self, stops: Sequence[int]) -> ModelErrors:
        """Return the expected errors after more visits.

        Planning need not separate the common part, because the best route does not depend on it.
        """
        errors = ModelErrors(self.errors - self.common, self.common)
        along = self.problem.updates.along(stops, len(self.visited))
        for after in follow(errors, stops, along, self.problem.dissimilarities):
            errors = after
        return errors

    def plan(self, method: Method, seed: int, budget: Budget) -> tuple[str, ...]:
        """Return the remaining regions in the best order found."""
        left = self.left
        if len(left) <= 1:
            return left
        objective = remaining_objective(self.problem, self.visited, self.errors)
        rng = np.random.default_rng([seed, len(self.visited)])
        try:
            answer = method.solve(objective, rng, budget)
        except RefusedError:  # travel from the current place may be asymmetric
            answer = method_by_name("auto").solve(objective, rng, budget)
        assert objective.ends.allows(answer.order), answer.method
        return tuple(left[k] for k in answer.order.tolist() if k < len(left))

    def plan_visits(
        self, method: Method, seed: int, budget: Budget, rest: Sequence[str], dropped: Mapping[str, str]
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return the further visits (none if ending here is better) and the reasons for dropped visits.

        `rest` are the previously planned visits, and `dropped` the previously dropped ones.
        """
        problem, visited, left, place = self.problem, self.visited, self.left, self.problem.regions.index
        objective = further_visits(problem, visited, self.errors, self.common)
        best, value = np.empty(0, dtype=np.int64), self._ending_value(objective)
        initial = [name for name in rest if name in left]
        if left:
            rng, start = np.random.default_rng([seed, len(visited)]), np.array([*map(place, initial)], dtype=np.int64)
            try:
                found = _solve(objective, method, rng, budget, start if visited else None)
                if objective(found) < value:
                    best, value = found, objective(found)
            except InputError:  # no sequence satisfies the rules
                if not visited:
                    raise
        planned = tuple(problem.regions[i] for i in best.tolist())
        missing = Counter(initial)
        missing.subtract(problem.regions[i] for i in visited[-1:])
        why = {name: reason for name, reason in dropped.items() if name in left and name not in planned}
        for name in missing - Counter(planned):
            why[name] = _reason_to_drop(objective, best, value, name, place(name))
        return planned, why

    def _ending_value(self, objective: VisitObjective) -> float:
        """Return the value of ending without further visits, return trip included; inf if that violates a rule."""
        problem, rules, visited = self.problem, self.problem.rules, self.visited
        assert rules is not None
        if not visited or objective.rules.required.any() or len(visited) < rules.at_least:
            return math.inf
        home = float(problem.ways.matrix[visited[-1], problem.from_depot(visited)[0]]) if problem.closed else 0.0
        if objective.ends.last not in (None, visited[-1]) or is_less(objective.rules.budget, home, SAME):
            return math.inf
        return problem.travel_rate * home + math.fsum(problem.region_weights * self.errors)


def _solve(
    objective: VisitObjective, method: Method, rng: np.random.Generator, budget: Budget, initial: IntArray | None
) -> IntArray:
    """Return further visits; if `initial` is given and the method cannot solve the problem, use `auto`."""
    if initial is None:
        return method.solve(objective, rng, budget).order
    try:
        return method.solve(objective, rng, budget, initial=initial).order
    except RefusedError:
        return method_by_name("auto").solve(objective, rng, budget, initial=initial).order


def _reason_to_drop(objective: VisitObjective, rest: IntArray, value: float, name: str, region: int) -> str:
    """Return how a visit, at its best position in the rest, would change the loss per region."""
    tried = (np.insert(rest, k, region) for k in range(len(rest) + 1))
    losses = [objective(visits) for visits in tried if objective.allows(visits)]
    if not losses:
        return f"{name} is dropped: the rules (visits) allow no more visits"
    return f"{name} is dropped: a visit would add {(min(losses) - value) / objective.count:.3g} to the expected loss"
