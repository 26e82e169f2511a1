"""Search for the routes of a fleet: ruin and recreate (`cpp/fleet_search.h`), annealed from several starts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from learnroute import _core
from learnroute.errors import InputError, not_below
from learnroute.model.fleet_objective import UNTRAINED, FleetObjective, FleetRoutes, Service
from learnroute.model.rounding import SAME, is_less
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.fleets.core_problem import core_problem, routes_from
from learnroute.solvers.params import DEFAULTS, SolverParams, VisitSearchParams
from learnroute.solvers.visits.annealing import Annealing
from learnroute.solvers.visits.core_problem import CoreProblem
from learnroute.solvers.visits.search import travel_alone


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
        raise infeasible(objective, budget, params)
    return Answer.of_fleet(found, "search", complete=not budget.exhausted)


def infeasible(objective: FleetObjective, budget: Budget, params: SolverParams) -> InputError:
    """Return the error for rules that no routes satisfy; it states the travel needed if a limit is too small."""
    rules, visits = objective.rules, objective.visits.rules
    for field, most, travel, instead in (
        (visits.budget_field, visits.budget, math.fsum, ""),
        ("fleet.limit", rules.limit, max, ", or add vehicles" if rules.models == 1 else ""),
    ):
        if most < math.inf:
            shortest = _shortest_routes(objective, travel is max, budget, params.fleet_search)
            least = -math.inf if shortest is None else travel(objective.travels(shortest))
            if is_less(most, least, SAME):
                reason = "no routes through the required regions found within this travel; give at least "
                return InputError(f"{reason}{not_below(least)}{instead}", field=field, found=f"= {most:g}")
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
    starts = [None] * params.starts if initial is None else [initial, *[None] * params.starts]
    found = annealed.anneal_in_rounds(starts, budget)
    if initial is not None:
        found.append(initial)
    return min(filter(objective.allows, found), key=objective, default=None)


class _Annealing(Annealing[FleetRoutes]):
    """Annealing of the routes of a fleet."""

    def __init__(self, objective: FleetObjective, rng: np.random.Generator, params: VisitSearchParams) -> None:
        self.objective, self.rng = objective, rng
        visits, size = CoreProblem(objective.visits, with_forbidden=True), objective.size
        work = size * (10 + objective.rules.size + size * objective.visits.updates.coupled)
        super().__init__(objective, size, work, params)
        self.search: _core.FleetSearch = _core.FleetSearch(
            core_problem(objective, visits), visits.nearest(params.near), **params.ruin, seed=int(rng.integers(2**63))
        )

    def begin(self, route: FleetRoutes) -> None:
        self._start(route, self.objective.service(route))
        self.search.insert(np.empty(0, dtype=np.int64))

    def best(self) -> FleetRoutes | None:
        found = routes_from(self.search.best)
        return found if found is not None and self.objective.allows(found) else None

    def descend(self, start: FleetRoutes | None, budget: Budget) -> FleetRoutes | None:
        """Insert visits that are required or pay, then ruin and recreate briefly; None if the rules cannot be met."""
        search, objective = self.search, self.objective
        routes = self._ends() if start is None or not objective.allows(start) else start
        self._start(routes, objective.service(routes) if routes is start else None)
        missing = self.rng.permutation(np.setdiff1d(np.arange(objective.size), routes.regions))
        missing = missing[objective.visits.rules.allowed[missing]]
        missing = missing[np.argsort(~objective.visits.rules.required[missing], kind="stable")]
        for first in range(0, max(1, len(missing)), self.iterations_per_call):
            search.insert(missing[first : first + self.iterations_per_call])
        self.run(self.params.descent, budget)
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
        """Return the model that serves each region: clusters around regions (k-medoids)."""
        known, models = self.objective.visits.known, self.objective.rules.size
        nearest, centres = known.initial, list[int]()
        for _ in range(models):  # k-means++
            chances = nearest * known.region_weights
            total = chances.sum()
            centres.append(int(self.rng.choice(len(chances), p=chances / total) if total > 0 else 0))
            nearest = np.minimum(nearest, known.matrix[centres[-1]])
        before = np.inf
        while True:
            apart = np.vstack([known.initial, known.matrix[centres]])
            served: IntArray = np.argmin(apart, axis=0) + UNTRAINED
            total = apart.min(axis=0) @ known.region_weights
            if total >= before:
                return served
            before = total
            members = np.where(served[:, None] == np.arange(models), known.region_weights[:, None], 0.0)
            centres = np.argmin(known.matrix @ members, axis=0)

    def repair(self, budget: Budget) -> FleetRoutes | None:
        """Ruin and recreate until routes satisfy all limits."""
        left = self.params.repair
        while left > 0 and not budget.exhausted:
            self.search.run(min(left, self.iterations_per_call), 0.0)
            left -= self.iterations_per_call
            if (found := routes_from(self.search.best)) is not None:
                return found
        if self.objective.rules.limit == math.inf:
            return None
        return _shortest_routes(self.objective, True, budget, self.params)


def _shortest_routes(
    objective: FleetObjective, longest: bool, budget: Budget, params: VisitSearchParams
) -> FleetRoutes | None:
    """Return routes of little travel, total or longest, whatever its limits; the same ones for all limits."""
    rules = replace(objective.rules, limit=math.inf, longest=longest)
    alone = replace(objective, visits=travel_alone(objective.visits), rules=rules)
    return find_routes(alone, np.random.default_rng(0), budget.for_one_job(), params)
