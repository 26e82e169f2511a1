"""Search for sequences of visits: ruin and recreate (`cpp/visit_search.h`), annealed from the best of a few starts.

With many visits, the local search for orders of all regions then improves their order.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import numpy as np

from learnroute import _core
from learnroute.errors import InputError
from learnroute.model.law import STAY, Updates
from learnroute.model.validation import IntArray
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.params import DEFAULTS, SolverParams, VisitSearchParams
from learnroute.solvers.visits.core_problem import CoreProblem
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
        raise refusal(objective, rng, budget, params)
    return Answer(found, "search", complete=not budget.exhausted)


def refusal(objective: VisitObjective, rng: np.random.Generator, budget: Budget, params: SolverParams) -> InputError:
    """Return the error for rules that no route satisfies; it states the travel needed if the budget is too small."""
    limit = objective.rules.budget
    shortest = find_visits(_travel_alone(objective), rng, budget.sparing(), params)
    if shortest is None or limit == np.inf:
        return InputError("no route found that satisfies all of them; relax one", field="visits")
    least = objective.travel_cost(shortest)
    reason = f"no route through the required regions found within this travel; give at least {least:.6g}"
    return InputError(reason, field="visits.budget", found=f"= {limit:g}")


def find_visits(
    objective: VisitObjective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> IntArray | None:
    """Return the best sequence of visits found; None if none was found that satisfies the rules."""
    annealed = _Annealing(objective, rng, params.visit_search)
    candidates = annealed.descents(annealed.starts(initial), budget)
    if not candidates and objective.rules.budget < np.inf:
        shortest = find_visits(_travel_alone(objective), rng, budget.sparing(), params, initial)
        candidates = [] if shortest is None else annealed.descents(annealed.starts(shortest)[-1:], budget)
    if candidates:
        candidates = [min(candidates, key=objective)]
        best = annealed.problem.numbers(candidates[0])
        many, share = params.visit_search.reordered, params.visit_search.order_share
        part = budget.part(1 - share) if len(best) > many else budget
        best = annealed.regions[annealed.anneal(best, part)]
        candidates.append(best)
        if len(best) > many and len(np.unique(best)) == len(best) and not budget.exhausted:
            candidates.append(reorder(objective, best, rng, budget, params))
    alone = None if objective.first != objective.ends.last else objective.first  # both ends may be one visit
    candidates += [np.asarray(each) for each in (initial, None if alone is None else [alone]) if each is not None]
    return min(filter(objective.allows, candidates), key=objective, default=None)


class _Annealing:
    """A search of the core, and its cooling schedule."""

    def __init__(self, objective: VisitObjective, rng: np.random.Generator, params: VisitSearchParams) -> None:
        self.objective, self.problem, self.rng, self.params = objective, CoreProblem(objective), rng, params
        self.regions = self.problem.regions
        near, size = self.problem.nearest(params.near), self.problem.size
        self.search = _core.VisitSearch(
            self.problem.core, near, rearranged=params.rearranged, removed=params.removed,
            string=params.string, added=params.added, blink=params.blink, contrary=params.contrary,
            seed=int(rng.integers(2**63)),
        )  # fmt: skip
        work = size * (10 + size * objective.updates.coupled)  # per iteration
        self.iterations_a_call = max(1, int(params.work / work))

    def starts(self, initial: IntArray | None) -> list[IntArray]:
        """Return start sequences, the most promising last: good last visits, and `initial` as far as rules allow."""
        problem, rules, objective = self.problem, self.objective.rules, self.objective
        front = [problem.first] if problem.first >= 0 else []
        again = problem.last != problem.first or problem.repeats[problem.last] > 1
        back = [problem.last] if problem.last >= 0 and again else []
        found = [[*front, *back]]
        if not back:
            lasts = np.argsort(objective.single_visits()[self.regions], kind="stable")[: self.params.starts].tolist()
            found = [[*front, last] for last in reversed(lasts) if front != [last] or problem.repeats[last] > 1]
            found.append(front)
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
            found.append(whole)
        needed = set(np.flatnonzero(problem.required).tolist())
        starts = [
            np.array(each, dtype=np.int64) for each in found if len([*each, *(needed - {*each})]) <= problem.at_most
        ]
        return [each for each in starts if objective.travel_cost(self.regions[each]) <= rules.budget]

    def descents(self, starts: list[IntArray], budget: Budget) -> list[IntArray]:
        """Return the results of descents from as many starts as time allows, beginning with the last start."""
        part, found = budget.part(self.params.descent_share), []
        for start in reversed(starts):
            visits = self.descend(start, part)
            if len(visits):
                found.append(self.regions[visits])
            if part.exhausted and found:
                break
        return found

    def descend(self, start: IntArray, budget: Budget) -> IntArray:
        """Insert visits that are required or pay, then ruin and recreate briefly; empty if the rules cannot be met."""
        search = self.search
        search.start(start)
        missing = self.rng.permutation(np.setdiff1d(np.arange(self.problem.size), start))
        missing = missing[np.argsort(~self.problem.required[missing], kind="stable")]
        for first in range(0, max(1, len(missing)), self.iterations_a_call):
            some = missing[first : first + self.iterations_a_call]
            if first > 0 and budget.exhausted and not self.problem.required[some].any():
                break
            if not search.insert(some):
                return start[:0]
        left = self.params.descent
        while left > 0 and len(search.best) and not budget.exhausted:
            search.run(min(left, self.iterations_a_call), 0.0)
            left -= self.iterations_a_call
        return search.best

    def anneal(self, start: IntArray, budget: Budget) -> IntArray:
        """Ruin and recreate in several coolings, for the usual effort or until the deadline."""
        search, params, begun = self.search, self.params, time.monotonic()
        search.start(start)
        search.insert(start[:0])
        effort = min(params.iterations * self.problem.size, params.most_iterations)
        step = min(self.iterations_a_call, -(-effort // params.temperatures))
        search.run(step, 0.0)
        hot, fall = params.hot * search.typical_loss, params.cold / params.hot
        done, share = 0, 0.0
        while share < 1 and not budget.exhausted:
            temperature = hot * fall ** (share * params.coolings % 1)
            search.run(step, temperature)
            done += step
            share = done / effort
            if budget.spend_all:
                share = (time.monotonic() - begun) / (budget.deadline - begun)
            budget.progress("search", min(1.0, share))
        return search.best


def _travel_alone(objective: VisitObjective) -> VisitObjective:
    """Return the same objective with travel as the only cost, and no travel budget."""
    shape = objective.updates.retention.shape
    updates = Updates(*(np.full(shape, number) for number in STAY))
    rules = replace(objective.rules, budget=np.inf)
    return replace(objective, rate=1.0, updates=updates, total=0.0, rules=rules)
