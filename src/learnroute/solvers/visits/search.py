"""Search for sequences of visits: ruin and recreate (`cpp/visit_search.h`), annealed from several starts.

With many visits, the local search for orders of all regions then improves their order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from learnroute import _core
from learnroute.errors import InputError, not_below
from learnroute.model.law import STAY, Updates
from learnroute.model.validation import IntArray
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.solvers.visits.annealing import Annealing
from learnroute.solvers.visits.core_problem import CoreProblem, longest_route
from learnroute.solvers.visits.orders import reorder


def search(
    objective: VisitObjective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> Answer:
    """Return the best sequence of visits found.

    `initial` is an additional order or sequence to start from. It may violate the rules; if it does not, the answer is
    never worse. The same generator state gives the same answer, unless the budget runs out or is to be spent.
    """
    found = find_visits(objective, rng, budget, params, initial)
    if found is None:
        raise infeasible(objective, rng, budget, params)
    return Answer(found, "search", complete=not budget.exhausted)


def infeasible(objective: VisitObjective, rng: np.random.Generator, budget: Budget, params: SolverParams) -> InputError:
    """Return the error for rules that no route satisfies; it states the travel needed if the budget is too small."""
    limit = objective.rules.budget
    shortest = find_visits(travel_alone(objective), rng, budget.for_one_job(), params)
    if shortest is None or limit == np.inf:
        return InputError("no route found that satisfies all of them; relax one", field="visits")
    least = objective.travel_cost(shortest)
    reason = f"no route through the required regions found within this travel; give at least {not_below(least)}"
    return InputError(reason, field=objective.rules.budget_field, found=f"= {limit:g}")


def find_visits(
    objective: VisitObjective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> IntArray | None:
    """Return the best sequence of visits found; None if none was found that satisfies the rules."""
    annealed = _Annealing(objective, rng, params, initial)
    many, share = params.visit_search.reordered, params.visit_search.order_share
    part = budget.part(1 - share) if longest_route(objective.rules) > many else budget
    candidates = annealed.anneal_in_rounds(annealed.starts(initial), part)
    best = min(candidates, key=objective, default=None)
    if best is not None and len(best) > many and len(np.unique(best)) == len(best) and not budget.exhausted:
        candidates.append(reorder(objective, best, rng, budget, params))
    alone = None if objective.first != objective.ends.last else objective.first  # both ends may be one visit
    candidates += [np.asarray(each) for each in (initial, None if alone is None else [alone]) if each is not None]
    return min(filter(objective.allows, candidates), key=objective, default=None)


class _Annealing(Annealing[IntArray]):
    """Annealing of a sequence of visits."""

    def __init__(
        self, objective: VisitObjective, rng: np.random.Generator, solver_params: SolverParams, initial: IntArray | None
    ) -> None:
        params = solver_params.visit_search
        self.objective, self.rng, self.solver_params, self.initial = objective, rng, solver_params, initial
        self.problem = CoreProblem(objective)
        self.regions, size = self.problem.regions, self.problem.size
        super().__init__(objective, size, size * (10 + size * objective.updates.coupled), params)
        self.search: _core.VisitSearch = _core.VisitSearch(
            self.problem.core, self.problem.nearest(params.near), **params.ruin, seed=int(rng.integers(2**63))
        )

    def begin(self, route: IntArray) -> None:
        self.search.start(self.problem.numbers(route))
        self.search.insert(np.empty(0, dtype=np.int64))

    def best(self) -> IntArray | None:
        return self.regions[self.search.best] if len(self.search.best) else None

    def starts(self, initial: IntArray | None) -> list[IntArray]:
        """Return start sequences, the most promising first: `initial` as far as rules allow, and good last visits."""
        problem, rules, objective = self.problem, self.objective.rules, self.objective
        front = [problem.first] if problem.first >= 0 else []
        again = problem.last != problem.first or problem.repeats[problem.last] > 1
        back = [problem.last] if problem.last >= 0 and again else []
        found = [[*front, *back]]
        if back:
            found *= self.params.starts
        else:
            lasts = np.argsort(objective.single_visits()[self.regions], kind="stable")[
                : self.params.starts - 1
            ].tolist()
            found += [[*front, last] for last in lasts if front != [last] or problem.repeats[last] > 1]
        if initial is not None:
            inner = problem.numbers(initial).tolist()
            inner = inner[bool(front) and inner[:1] == front :]
            inner = inner[: len(inner) - (bool(back) and inner[-1:] == back)]
            counts = Counter([*front, *back])
            kept = []
            for region in inner:
                counts[region] += 1
                if counts[region] <= problem.repeats[region]:
                    kept.append(region)
            whole = [*front, *kept, *back]
            if len(whole) > problem.at_most or objective.travel_cost(self.regions[whole]) > rules.budget:
                once = dict.fromkeys(region for region in kept if problem.required[region])
                whole = [*front, *(region for region in once if region not in (*front, *back)), *back]
            found.insert(0, whole)
        needed = set(np.flatnonzero(problem.required).tolist())
        found = [each for each in found if len([*each, *(needed - {*each})]) <= problem.at_most]
        starts = [self.regions[np.array(each, dtype=np.int64)] for each in found]
        return [each for each in starts if objective.travel_cost(each) <= rules.budget]

    def descend(self, start: IntArray | None, budget: Budget) -> IntArray | None:
        """Insert visits that are required or pay, then ruin and recreate briefly; None if the rules cannot be met."""
        search, visits = self.search, np.empty(0, dtype=np.int64) if start is None else self.problem.numbers(start)
        search.start(visits)
        missing = self.rng.permutation(np.setdiff1d(np.arange(self.problem.size), visits))
        missing = missing[np.argsort(~self.problem.required[missing], kind="stable")]
        for first in range(0, max(1, len(missing)), self.iterations_per_call):
            some = missing[first : first + self.iterations_per_call]
            if first > 0 and budget.exhausted and not self.problem.required[some].any():
                break
            if not search.insert(some):
                return None
        if len(search.best):
            self.run(self.params.descent, budget)
        return self.best()

    def repair(self, budget: Budget) -> IntArray | None:
        """Complete a route of little travel, if there is a budget for it."""
        if self.objective.rules.budget == np.inf:
            return None
        alone = travel_alone(self.objective)
        shortest = find_visits(alone, self.rng, budget.for_one_job(), self.solver_params, self.initial)
        starts = [] if shortest is None else self.starts(shortest)
        return self.descend(starts[0], budget) if starts else None


def travel_alone(objective: VisitObjective) -> VisitObjective:
    """Return the same objective with travel as the only cost, and no travel budget."""
    shape = objective.updates.retention.shape
    updates = Updates(*(np.full(shape, number) for number in STAY))
    rules = replace(objective.rules, budget=np.inf)
    return replace(objective, rate=1.0, updates=updates, total=0.0, rules=rules)
