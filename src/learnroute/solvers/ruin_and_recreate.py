"""Ruin and recreate of routes (`cpp/ruin_and_recreate.h`), annealed from several starts; fewer in each round.

Annealing hardly changes which clusters of regions are visited last, or by which vehicle. Therefore all starts are
annealed briefly, and the time is divided by successive halving: in each further round, the better half of the routes is
annealed again, twice as long.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from learnroute import _core
from learnroute.errors import InputError, not_below
from learnroute.model.instance import Instance, Service
from learnroute.model.rounding import SAME, is_less
from learnroute.model.routes import UNTRAINED, Routes
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.core_instance import CoreInstance
from learnroute.solvers.params import SolverParams


class RuinAndRecreate:
    """The search for everything but orders with a linear error, for which the tour search is better."""

    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether the tour search does not see the whole value of routes, and there are not too many regions."""
        if instance.permutation:
            return instance.coupled and instance.travel.size <= params.ruin.most_orders
        return True

    def improve(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer | None:
        """Return the best routes found; never worse than the given ones if these satisfy the rules."""
        initial = None if answer is None else answer.routes
        if answer is not None and budget.exhausted and instance.allows(answer.routes):
            return replace(answer, complete=False)
        found = find_routes(instance, rng, budget, params, initial)
        return None if found is None else Answer(found, "search", complete=not budget.exhausted)


def find_routes(
    instance: Instance, rng: np.random.Generator, budget: Budget, params: SolverParams, initial: Routes | None = None
) -> Routes | None:
    """Return the best routes found; None if none were found that satisfy the rules.

    `initial` are additional routes to start from, which may violate the rules. The same generator state gives the same
    answer, unless the budget runs out or is to be spent.
    """
    annealing = Annealing(instance, rng, params)
    found = annealing.anneal_in_rounds(annealing.starts(initial), budget)
    alone = instance.first if instance.first == instance.ends.last else None  # both ends may be one visit
    found += [] if alone is None else [Routes.of_order([alone])]
    found += [] if initial is None else [initial]
    return min(filter(instance.allows, found), key=instance, default=None)


def infeasible(instance: Instance, budget: Budget, params: SolverParams) -> InputError:
    """Return the error for rules that no routes satisfy; it states the travel needed if a limit is too small."""
    rules, fleet = instance.visits, instance.fleet
    several = not instance.single
    for field, most, travel, instead in (
        (rules.budget_field, rules.budget, math.fsum, ""),
        ("fleet.limit", fleet.limit, max, ", or add vehicles" if fleet.models == 1 else ""),
    ):
        shortest = None if math.isinf(most) else shortest_routes(instance, travel is max, budget, params)
        least = -math.inf if shortest is None else travel(instance.travels(shortest))
        if is_less(most, least, SAME):
            reason = f"no route{'s' * several} through the required regions found within this travel; give at least "
            return InputError(f"{reason}{not_below(least)}{instead}", field=field, found=f"= {most:g}")
    return InputError(f"no route{'s' * several} found that satisfy all of them; relax one", field="visits")


def shortest_routes(instance: Instance, longest: bool, budget: Budget, params: SolverParams) -> Routes | None:
    """Return routes of little travel, total or longest, whatever its limits; the same ones for all limits."""
    alone = instance.travel_alone(longest)
    return find_routes(alone, np.random.default_rng(0), budget.for_one_job(), params)


class Annealing:
    """A search of the core, its start routes and its cooling schedule."""

    def __init__(self, instance: Instance, rng: np.random.Generator, params: SolverParams) -> None:
        self.instance, self.rng, self.all_params = instance, rng, params
        self.params = params.ruin if instance.single else params.ruin_fleet
        self.problem = CoreInstance(instance)
        size = self.problem.size
        work = size * (10 + instance.fleet.size + size * instance.updates.coupled)
        self.iterations_per_call = max(1, int(self.params.work / work))
        self.search = _core.RuinAndRecreate(
            self.problem.core,
            self.problem.nearest(self.params.near),
            **self.params.moves,
            seed=int(rng.integers(2**63)),
        )

    @property
    def best(self) -> Routes | None:
        """The best routes since the last start that satisfy the rules; None if there are none."""
        found = self.problem.routes(self.search.best)
        return found if found is not None and self.instance.allows(found) else None

    def starts(self, initial: Routes | None) -> list[Routes | None]:
        """Return routes to start from, the most promising ones first: `initial`, and for one model good last visits.

        None stands for routes without optional visits.
        """
        instance, starts = self.instance, self.params.starts
        found: list[Routes | None] = [None] * starts
        if instance.single and instance.ends.last is None and instance.visits.at_most > 1:
            regions, front = instance.visits.regions, [] if instance.first is None else [instance.first]
            values = instance.single_visits()[regions]
            lasts = regions[np.argsort(values, kind="stable")][: starts - 1].tolist()
            found[1:] = [
                Routes.of_order([*front, last])
                for last in lasts
                if front != [last] or instance.visits.repeats[last] > 1
            ]
        return found if initial is None else [self._admit(initial), *found]

    def _admit(self, given: Routes) -> Routes:
        """Return given routes without the visits that violate a rule about ends or about numbers of visits."""
        instance, rules = self.instance, self.instance.visits
        if instance.allows(given):
            return given
        front, back = self._fixed
        counts, kept, models = Counter([*front, *back]), [], []
        for route, row in zip(given.vehicles, given.models, strict=True):
            visits = []
            for region, model in zip(route, row, strict=True):
                if region not in (*front, *back) and counts[region] < rules.repeats[region]:
                    counts[region] += 1
                    visits.append((region, model))
            kept.append([region for region, _ in visits])
            models.append([model for _, model in visits])
        if sum(counts.values()) > rules.at_most:
            return self._ends()
        if instance.fleet.vehicles > 1:
            return Routes.of_vehicles(kept)
        whole = [*front, *kept[0], *back]
        return Routes.of_models(whole, [*[0] * len(front), *models[0], *[0] * len(back)])

    @property
    def _fixed(self) -> tuple[list[int], list[int]]:
        """The first and the last visit, if they are fixed; without the last one if only one visit is allowed there."""
        first, last, rules = self.instance.first, self.instance.ends.last, self.instance.visits
        once = last == first and (rules.at_most < 2 or rules.repeats[last] < 2)
        return [] if first is None else [first], [] if last is None or once else [last]

    def _ends(self) -> Routes:
        """Return routes with only the visits that every route has."""
        instance, vehicles = self.instance, self.instance.fleet.vehicles
        ends = [*self._fixed[0], *self._fixed[1]]
        if vehicles > 1:
            return Routes.of_vehicles([[]] * vehicles)
        return Routes.of_models(ends, self.rng.integers(instance.fleet.size, size=len(ends)))

    def begin(self, routes: Routes, service: Service | None) -> None:
        """Start the core's search from routes and a service, by default equal weights or clusters of regions."""
        fleet = self.instance.fleet
        weights = np.full(fleet.size, 1 / fleet.size) if service is None else service.weights
        served = self._clusters() if service is None and not fleet.merged else service and service.served_by
        self.search.start(
            *self.problem.rows(routes), [] if weights is None else weights.tolist(),
            [] if served is None else served.tolist(),
        )  # fmt: skip

    def _clusters(self) -> IntArray:
        """Return the model that serves each region: clusters around regions (k-medoids)."""
        known, models = self.instance.known, self.instance.fleet.size
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

    def descend(self, start: Routes | None, budget: Budget) -> Routes | None:
        """Insert visits that are required or pay, then ruin and recreate briefly; None if the rules cannot be met."""
        search, rules = self.search, self.instance.visits
        routes = self._ends() if start is None else start
        known = start is not None and bool(start.regions)
        self.begin(routes, self.instance.service(routes) if known else None)
        missing = self.rng.permutation(np.setdiff1d(rules.regions, routes.regions))
        missing = missing[np.argsort(~rules.required[missing], kind="stable")]
        numbers = np.array(self.problem.numbers(missing), dtype=np.int64)
        for first in range(0, max(1, len(missing)), self.iterations_per_call):
            some = slice(first, first + self.iterations_per_call)
            if first > 0 and budget.exhausted and not rules.required[missing[some]].any():
                break
            search.insert(numbers[some])
        self.run(self.params.descent, budget)
        return self.best

    def repair(self, budget: Budget) -> Routes | None:
        """Ruin and recreate until routes satisfy all limits; None if that does not succeed."""
        left = self.params.repair
        while left > 0 and not budget.exhausted:
            self.search.run(min(left, self.iterations_per_call), 0.0)
            left -= self.iterations_per_call
            if (found := self.best) is not None:
                return found
        if math.isinf(self.instance.visits.budget) and math.isinf(self.instance.fleet.limit):
            return None
        shortest = shortest_routes(self.instance, self.instance.fleet.limit < math.inf, budget, self.all_params)
        return shortest if shortest is not None and self.instance.allows(shortest) else None

    def anneal_in_rounds(self, starts: Sequence[Routes | None], budget: Budget) -> list[Routes]:
        """Return the routes of the last round; none if no route was found that satisfies the rules."""
        rounds = max(1, len(starts).bit_length())
        first = budget.portion(0, rounds)
        found = self._anneal_each((self.descend(start, first) for start in starts), len(starts), first, 1 / rounds)
        found = found or [route for route in [self.repair(budget)] if route is not None]
        for number in range(1, rounds):
            if budget.exhausted:
                break
            better = sorted(found, key=self.instance)[: (len(found) + 1) // 2]
            found = self._anneal_each(better, len(better), budget.portion(number, rounds), 1 / rounds) or better
        return found

    def _anneal_each(self, starts: Iterable[Routes | None], count: int, budget: Budget, effort: float) -> list[Routes]:
        """Return the results of annealing from as many starts as time allows, at least one."""
        found: list[Routes] = []
        for number, start in enumerate(starts):
            route = None if start is None else self.anneal(start, budget.portion(number, count), effort / count)
            if route is not None:
                found.append(route)
            if budget.exhausted and found:
                break
        return found

    def anneal(self, start: Routes, budget: Budget, effort: float) -> Routes | None:
        """Ruin and recreate at decreasing temperature, for a share of the usual effort or until the deadline."""
        search, params, begun = self.search, self.params, time.monotonic()
        self.begin(start, self.instance.service(start))
        search.insert(np.empty(0, dtype=np.int64))
        iterations = max(1, int(effort * min(params.iterations * self.problem.size, params.most_iterations)))
        step = min(self.iterations_per_call, -(-iterations // params.temperatures))
        search.run(step, 0.0)
        hot, fall = params.hot * search.typical_loss, params.cold / params.hot
        done, share = 0, 0.0
        while share < 1 and not budget.exhausted:
            search.run(step, hot * fall**share)
            done += step
            share = done / iterations
            if budget.spend_all:
                share = (time.monotonic() - begun) / (budget.deadline - begun)
            budget.progress("search", min(1.0, share))
        return self.best

    def run(self, iterations: int, budget: Budget) -> None:
        """Ruin and recreate at temperature 0, until the deadline at most."""
        while iterations > 0 and not budget.exhausted:
            self.search.run(min(iterations, self.iterations_per_call), 0.0)
            iterations -= self.iterations_per_call
