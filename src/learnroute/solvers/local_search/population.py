"""A population of tours: local optima from random orders, crossed until converged, perturbed and crossed again.

A genetic algorithm with local search (a memetic algorithm) around edge assembly crossover (`crossover`). Every tour has
its own random stream, so the result does not depend on the number of threads.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from learnroute.model.linear import ANYWHERE
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search.crossover import edge_assembly
from learnroute.solvers.local_search.rotations import best_cut
from learnroute.solvers.local_search.threads import Threads
from learnroute.solvers.local_search.tour_search import TourSearch
from learnroute.solvers.params import PopulationParams


class Population:
    """Tours as cycles of vertices, in the numbers of a `TourSearch`; the first one is the given order."""

    def __init__(self, search: TourSearch, order: IntArray, threads: Threads, params: PopulationParams) -> None:
        self.search, self.params, self._threads = search, params, threads
        self._searches = [search, *(search.twin() for _ in range(threads.count - 1))]
        self._blind = [each.without_scores() for each in self._searches]
        search.set_order(order)
        self._start = order
        self.tours = search.tour()[None, :]
        self.values = np.array([search.value(order)])
        self._first = self._first_perturbations(search.far_legs(search.objective.legs(order)) is not None)
        self._pace = 200.0  # pairs crossed per second

    def _first_perturbations(self, clustered: bool) -> int:
        """Return the number of perturbations of a new tour; clusters and scores need more than a descent."""
        params, terms = self.params, self.search.terms
        each = params.clustered if clustered else 0.0
        if terms is not None:
            each = max(each, params.scored * (terms.reach / self.search.vertices) ** 2)
        return math.ceil(each * self.search.objective.size) if each >= params.fewest_perturbations else 0

    @property
    def best(self) -> IntArray:
        """The best order, in the numbering of the objective."""
        self.search.set_tour(self.tours[int(np.argmin(self.values))])
        return self.search.order()

    def create(self, members: int, temperature: float, rng: np.random.Generator, budget: Budget) -> None:
        """Create up to `members` tours, as time allows."""

        def make(search: TourSearch, i: int, stream: np.random.Generator, budget: Budget) -> None:
            self._make(search, i, temperature, stream, budget)

        self._run_for_each(make, list(range(len(self.tours), members)), rng, budget)

    def _make(
        self, search: TourSearch, i: int, temperature: float, stream: np.random.Generator, budget: Budget
    ) -> None:
        """Return a new tour, a local optimum."""
        params, size = self.params, search.objective.size
        order = stream.permutation(size)
        if size > params.near_regions:
            order = self._start[np.argsort(np.arange(size) + stream.normal(0.0, params.near_positions, size))]
        order = search.objective.ends.repair(order)
        if search.terms is not None:  # travel alone first, which is faster
            blind = self._blind[self._searches.index(search)]
            blind.use_candidates(i % search.kinds)
            blind.set_order(order)
            blind.descend(budget)
            order = self._better_direction(blind.order())
        search.use_candidates(i % search.kinds)
        search.set_order(order)
        search.descend(budget)
        if self._first:
            search.perturb(stream, self._first, temperature, budget)

    def _better_direction(self, order: IntArray) -> IntArray:
        """Return an order or its reverse, if permitted and better; with a tail, the best rotation."""
        objective = self.search.objective
        back = np.ascontiguousarray(order[::-1])
        if not objective.travel.symmetric or not objective.ends.allows(back):
            return order
        ways = [order, back]
        if objective.ends == ANYWHERE and self.search.tail(order) is not None:
            ways += [best_cut(objective, way) for way in ways]
        return min(ways, key=self.search.value)

    @property
    def cost(self) -> float:
        """The cost of creating a tour, in perturbations per region."""
        return self.params.descent + self._first / self.search.objective.size

    @property
    def least_seconds(self) -> float:
        """The least time for perturbing a new tour."""
        return self._first / self.params.fastest

    def perturb(self, temperature: float, renewed: float, rng: np.random.Generator, budget: Budget) -> float:
        """Perturb and improve all tours but the best; return the cost, in perturbations per region.

        A share of them, `renewed`, is replaced by new tours.
        """
        size, best = self.search.objective.size, int(np.argmin(self.values))
        count = math.ceil(self.params.perturbations * size)
        turn = int(rng.integers(self.search.kinds))
        new = rng.random(len(self.tours)) < renewed

        def change(search: TourSearch, i: int, stream: np.random.Generator, budget: Budget) -> None:
            if new[i]:
                self._make(search, i, temperature, stream, budget)
                return
            search.use_candidates((i + turn) % search.kinds)
            search.set_tour(self.tours[i])
            search.perturb(stream, count, temperature, budget)

        done = self._run_for_each(change, [i for i in range(len(self.tours)) if i != best], rng, budget)
        return sum(self.cost if new[i] else count / size for i in done)

    def polish(self, temperature: float, rng: np.random.Generator, budget: Budget) -> float:
        """Perturb the tail of the best tour, if it has one; return the cost, in perturbations per region."""
        search, best = self.search, int(np.argmin(self.values))
        search.use_candidates(0)
        search.set_tour(self.tours[best])
        order = search.order()
        tail = search.tail(order)
        if tail is None or budget.exhausted:
            return 0.0
        done = search.perturb(rng, self.params.tail_perturbations * len(tail), temperature, budget, tail)
        found = search.order()
        found = min(order, found, search.merge(order, found, budget), key=search.value)
        search.set_order(found)
        self.tours[best], self.values[best] = search.tour(), search.value(found)
        return done / search.objective.size

    def _run_for_each(
        self,
        work: Callable[[TourSearch, int, np.random.Generator, Budget], None],
        members: list[int],
        rng: np.random.Generator,
        budget: Budget,
    ) -> list[int]:
        """Run a function for each of these members in all threads; return the members that were done in time."""
        streams = rng.spawn(len(members))
        found: dict[int, tuple[IntArray, float]] = {}

        def part(k: int, budget: Budget) -> None:
            search = self._searches[k]
            silent = budget.silent()
            for j in range(k, len(members), len(self._searches)):
                if budget.exhausted:
                    break
                work(search, members[j], streams[j], silent)
                found[members[j]] = search.tour(), search.value(search.order())
                budget.progress("search", (j + 1) / len(members))

        self._threads.run(part, budget)
        more = sorted(i for i in found if i >= len(self.tours))
        for i in found.keys() - set(more):
            self.tours[i], self.values[i] = found[i]
        if more:
            self.tours = np.concatenate([self.tours, [found[i][0] for i in more]])
            self.values = np.append(self.values, [found[i][1] for i in more])
        return sorted(found)

    def evolve(self, rng: np.random.Generator, budget: Budget) -> None:
        """Cross tours, generation by generation, until the population has converged."""
        params, size = self.params, len(self.tours)
        batches = -(-self.search.objective.size // params.batch_regions)
        assembly = edge_assembly(self.search, self.tours, params.joining)
        best, idle = float(self.values.min()), 0
        while idle < params.stagnation and not budget.exhausted:
            ring = rng.permutation(size)
            pairs = np.column_stack([ring, np.roll(ring, -1), rng.integers(1 << 30, size=size)])
            gains = np.zeros(size)
            at = 0
            while at < size and not budget.exhausted:
                some = slice(at, min(size, at + max(1, int(self._pace * self.search.params.pause))))
                started = time.monotonic()
                gains[some] = assembly.cross(self.tours, pairs[some], params.children, batches)
                at = some.stop
                self._pace = (at - some.start) / max(time.monotonic() - started, 1e-6)
            self.values[ring] -= gains
            budget.progress("search", 0.0)
            if not gains.any():
                break
            idle = 0 if self.values.min() < best else idle + 1
            best = min(best, float(self.values.min()))
