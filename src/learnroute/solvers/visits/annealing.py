"""Simulated annealing from several starts, whose number is halved in rounds.

Annealing hardly changes which clusters of regions are visited last, or by which vehicle. Therefore all starts are
annealed briefly, and the time is divided by successive halving: in each further round, the better half of the routes is
annealed again, twice as long.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from learnroute import _core
from learnroute.solvers.contract import Budget
from learnroute.solvers.params import VisitSearchParams

Route = TypeVar("Route")


class Annealing(ABC, Generic[Route]):
    """A search of the core, and its cooling schedule."""

    search: _core.RuinAndRecreate

    def __init__(self, price: Callable[[Route], float], size: int, work: int, params: VisitSearchParams) -> None:
        """Prepare the annealing of routes through `size` regions; `work` is that of an iteration."""
        self.price, self.size, self.params = price, size, params
        self.iterations_per_call = max(1, int(params.work / work))

    @abstractmethod
    def begin(self, route: Route) -> None:
        """Start the core's search from a route."""

    @abstractmethod
    def best(self) -> Route | None:
        """Return the best route of the core's search that satisfies the rules; None if there is none."""

    @abstractmethod
    def descend(self, start: Route | None, budget: Budget) -> Route | None:
        """Complete a start and improve it briefly; None if the rules cannot be met."""

    @abstractmethod
    def repair(self, budget: Budget) -> Route | None:
        """Return a route that satisfies the rules, although no start could be completed; None if none was found."""

    def anneal_in_rounds(self, starts: Sequence[Route | None], budget: Budget) -> list[Route]:
        """Return the routes of the last round; none if no route was found that satisfies the rules."""
        rounds = max(1, len(starts).bit_length())
        first = budget.portion(0, rounds)
        found = self._anneal_each((self.descend(start, first) for start in starts), len(starts), first, 1 / rounds)
        found = found or [route for route in [self.repair(budget)] if route is not None]
        for number in range(1, rounds):
            if budget.exhausted:
                break
            better = sorted(found, key=self.price)[: (len(found) + 1) // 2]
            found = self._anneal_each(better, len(better), budget.portion(number, rounds), 1 / rounds) or better
        return found

    def _anneal_each(self, starts: Iterable[Route | None], count: int, budget: Budget, effort: float) -> list[Route]:
        """Return the results of annealing from as many starts as time allows, at least one."""
        found: list[Route] = []
        for number, start in enumerate(starts):
            route = None if start is None else self.anneal(start, budget.portion(number, count), effort / count)
            if route is not None:
                found.append(route)
            if budget.exhausted and found:
                break
        return found

    def anneal(self, start: Route, budget: Budget, effort: float) -> Route | None:
        """Ruin and recreate at decreasing temperature, for a share of the usual effort or until the deadline."""
        search, params, begun = self.search, self.params, time.monotonic()
        self.begin(start)
        iterations = max(1, int(effort * min(params.iterations * self.size, params.most_iterations)))
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
        return self.best()

    def run(self, iterations: int, budget: Budget) -> None:
        """Ruin and recreate at temperature 0, until the deadline at most."""
        while iterations > 0 and not budget.exhausted:
            self.search.run(min(iterations, self.iterations_per_call), 0.0)
            iterations -= self.iterations_per_call
