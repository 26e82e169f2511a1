"""Search for the routes of a fleet: ruin and recreate (`cpp/fleet_search.h`), annealed from the best of some starts."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from learnroute import _core
from learnroute.errors import InputError
from learnroute.model.fleet_objective import UNTRAINED, FleetObjective, FleetRoutes, Service
from learnroute.model.law import STAY, Updates
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.fleets.core_problem import core_problem, routes_from
from learnroute.solvers.params import DEFAULTS, SolverParams, VisitSearchParams


def search(
    objective: FleetObjective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: FleetRoutes | None = None,
) -> Answer:
    """Return the best routes found.

    `initial` are additional routes to start from. They may violate the rules; if they do not, the answer is never
    worse. The same generator state gives the same answer, unless the budget runs out or is to be spent.
    """
    found = find_routes(objective, rng, budget, params.fleet_search, initial)
    if found is None:
        raise refusal(objective, rng, budget, params)
    return Answer.of_fleet(found, "search", complete=not budget.exhausted)


def refusal(objective: FleetObjective, rng: np.random.Generator, budget: Budget, params: SolverParams) -> InputError:
    """Return the error for rules that no routes satisfy; it states the travel needed if the budget is too small."""
    rules, visits = objective.rules, objective.visits
    free = _travel_alone(objective)
    shortest = find_routes(free, rng, budget.sparing(), params.fleet_search)
    if shortest is not None and visits.rules.budget < np.inf:
        least = sum(objective.travels(shortest))
        if least > visits.rules.budget:
            reason = f"no routes through the required regions found within this travel; give at least {least:.6g}"
            return InputError(reason, field="visits.budget", found=f"= {visits.rules.budget:g}")
    if rules.limit < np.inf:
        reason = "no routes through the required regions found within this limit; raise it, or add vehicles"
        return InputError(reason, field="fleet.limit", found=f"= {rules.limit:g}")
    return InputError("no routes found that satisfy all of them; relax one", field="visits")


def find_routes(
    objective: FleetObjective,
    rng: np.random.Generator,
    budget: Budget,
    params: VisitSearchParams,
    initial: FleetRoutes | None = None,
) -> FleetRoutes | None:
    """Return the best routes found; None if none were found that satisfy the rules."""
    annealed = _Annealing(objective, rng, params)
    best = min(filter(objective.allows, annealed.starts(initial, budget)), key=objective, default=None)
    if best is None:
        best = annealed.repair(budget)
    found = [] if best is None else [best, annealed.anneal(best, budget, 1 - params.descent_share)]
    if initial is not None:
        found.append(initial)
    return min(filter(objective.allows, found), key=objective, default=None)


class _Annealing:
    """A search of the core, and its cooling schedule."""

    def __init__(self, objective: FleetObjective, rng: np.random.Generator, params: VisitSearchParams) -> None:
        self.objective, self.rng, self.params = objective, rng, params
        visits, size = objective.visits, objective.size
        travel = visits.travel[:size, :size]
        apart = travel + travel.T
        np.fill_diagonal(apart, -1.0)  # each region is nearest to itself
        near = np.argsort(apart, axis=1, kind="stable")[:, 1 : 1 + params.near]
        self.search = _core.FleetSearch(
            core_problem(objective), np.ascontiguousarray(near), rearranged=params.rearranged, removed=params.removed,
            string=params.string, added=params.added, blink=params.blink, contrary=params.contrary,
            seed=int(rng.integers(2**63)),
        )  # fmt: skip
        work = size * (10 + objective.rules.size + size * visits.updates.coupled)  # per iteration
        self.iterations_a_call = max(1, int(params.work / work))

    def starts(self, initial: FleetRoutes | None, budget: Budget) -> list[FleetRoutes]:
        """Return routes from as many starts as time allows, each annealed briefly.

        The number of vehicles used and the clusters that each of them visits hardly change afterwards.
        """
        part, found = budget.silent().part(self.params.descent_share), []
        numbers = range(-1 if initial is not None else 0, self.params.starts)
        for number in numbers:
            share = 1 / (numbers.stop - number)
            routes = self.descend(initial if number < 0 else None, part)
            if routes is not None:
                found.append(self.anneal(routes, part.part(share), self.params.descent_share / len(numbers)))
            if part.exhausted and found:
                break
        return found

    def descend(self, initial: FleetRoutes | None, budget: Budget) -> FleetRoutes | None:
        """Insert visits that are required or pay, then ruin and recreate briefly; None if the rules cannot be met."""
        search, objective = self.search, self.objective
        routes = self._ends() if initial is None or not objective.allows(initial) else initial
        self._start(routes, objective.service(routes) if routes is initial else None)
        missing = self.rng.permutation(np.setdiff1d(np.arange(objective.size), routes.regions))
        missing = missing[objective.visits.rules.allowed[missing]]
        missing = missing[np.argsort(~objective.visits.rules.required[missing], kind="stable")]
        for first in range(0, max(1, len(missing)), self.iterations_a_call):
            search.insert(missing[first : first + self.iterations_a_call])
        left = self.params.descent
        while left > 0 and not budget.exhausted:
            search.run(min(left, self.iterations_a_call), 0.0)
            left -= self.iterations_a_call
        return routes_from(search.best)

    def _start(self, routes: FleetRoutes, service: Service | None = None) -> None:
        """Start the core's search from routes and a service, by default equal weights or clusters of regions."""
        rules = self.objective.rules
        weights = np.full(rules.size, 1 / rules.size) if service is None else service.weights
        served = self._clusters() if service is None and not rules.merged else service and service.served_by
        self.search.start(
            [list(route) for route in routes.routes], [list(row) for row in routes.models],
            [] if weights is None else weights.tolist(), [] if served is None else served.tolist(),
        )  # fmt: skip

    def _ends(self) -> FleetRoutes:
        """Return routes with only the visits that every route has."""
        visits, rules = self.objective.visits, self.objective.rules
        ends = [end for end in dict.fromkeys((visits.first, visits.ends.last)) if end is not None]
        if rules.vehicles > 1:
            return FleetRoutes.of_vehicles([[]] * rules.vehicles)
        return FleetRoutes.of_models(ends, self.rng.integers(rules.models, size=len(ends)))

    def _clusters(self) -> IntArray:
        """Return the model that serves each region: regions are clustered around centres far from each other."""
        known, models = self.objective.visits.known, self.objective.rules.size
        nearest = known.initial.astype(np.float64)
        served = np.full(self.objective.size, UNTRAINED)
        for model in range(models):  # k-means++
            chances = nearest * known.region_weights
            total = chances.sum()
            centre = int(self.rng.choice(len(chances), p=chances / total) if total > 0 else 0)
            closer = known[centre] < nearest
            served[closer], nearest = model, np.where(closer, known[centre], nearest)
        return served

    def repair(self, budget: Budget) -> FleetRoutes | None:
        """Ruin and recreate until routes satisfy all limits."""
        left = self.params.repair
        while left > 0 and not budget.exhausted:
            self.search.run(min(left, self.iterations_a_call), 0.0)
            left -= self.iterations_a_call
            if (found := routes_from(self.search.best)) is not None:
                return found
        return None

    def anneal(self, start: FleetRoutes, budget: Budget, part: float) -> FleetRoutes:
        """Ruin and recreate at decreasing temperature, for a part of the usual effort or until the deadline."""
        search, params, begun = self.search, self.params, time.monotonic()
        self._start(start, self.objective.service(start))
        search.insert(np.empty(0, dtype=np.int64))
        effort = max(1, int(part * min(params.iterations * self.objective.size, params.most_iterations)))
        step = min(self.iterations_a_call, -(-effort // params.temperatures))
        search.run(step, 0.0)
        hot, fall = params.hot * search.typical_loss, params.cold / params.hot
        done, share = 0, 0.0
        while share < 1 and not budget.exhausted:
            search.run(step, hot * fall**share)
            done += step
            share = done / effort
            if budget.spend_all:
                share = (time.monotonic() - begun) / (budget.deadline - begun)
            budget.progress("search", min(1.0, share))
        return routes_from(search.best) or start


def _travel_alone(objective: FleetObjective) -> FleetObjective:
    """Return the same objective with travel as the only cost, and no limits on it."""
    visits = objective.visits
    updates = Updates(*(np.full(visits.updates.retention.shape, number) for number in STAY))
    free = replace(visits, rate=1.0, updates=updates, total=0.0, rules=replace(visits.rules, budget=np.inf))
    return replace(objective, visits=free, rules=replace(objective.rules, limit=np.inf, longest=False))
