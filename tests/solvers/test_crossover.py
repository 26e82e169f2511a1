"""Edge assembly crossover: gains of children agree with the objective, for any ends."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from test_k_opt import ENDS, KINDS, objective_of_kind, running

import oracle
from learnroute._core import EdgeCounts, ab_cycles
from learnroute.model.ends import Ends
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search.crossover import edge_assembly, edge_entropies
from learnroute.solvers.local_search.population import Population
from learnroute.solvers.local_search.threads import Threads
from learnroute.solvers.local_search.tour_search import TourSearch
from learnroute.solvers.params import PopulationParams
from samples import factors_of

RNG = np.random.default_rng


def population_of(search: TourSearch, orders: list[Any]) -> Population:
    population = Population(search, orders[0], Threads(1), PopulationParams())
    tours, values = [], []
    for order in orders:
        search.set_order(order)
        tours.append(search.tour())
        values.append(search.value(search.order()))
    population.tours, population.values = np.array(tours), np.array(values)
    return population


def orders_of(population: Population) -> list[Any]:
    found = []
    for each in population.tours:
        population.search.set_tour(each)
        found.append(population.search.order())
    return found


def edges_of(cycle: Any) -> Counter[tuple[int, int]]:
    return Counter((min(a, b), max(a, b)) for a, b in zip(cycle, np.roll(cycle, -1), strict=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ends", ENDS)
def test_values_are_what_the_objective_says_after_crossing(kind: str, ends: Ends) -> None:
    gained = 0
    for seed, size in enumerate((6, 13, 40)):
        objective = objective_of_kind(kind, size, ends, seed)
        rng = RNG(seed)
        search = running(objective, ends.repair(rng.permutation(size)))
        population = population_of(search, [ends.repair(rng.permutation(size)) for _ in range(12)])
        before = population.values.copy()
        population.evolve(rng, Budget())
        gained += int((population.values < before - 1e-9).sum())
        for order, value in zip(orders_of(population), population.values, strict=True):
            assert sorted(order.tolist()) == list(range(size))
            assert ends.allows(order)
            assert search.value(order) == pytest.approx(value, abs=1e-9)
            assert objective(order) == pytest.approx(value, abs=1e-9)
        assert (population.values <= before + 1e-9).all()
    assert gained > 6  # of 36


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ends", ENDS)
def test_edges_and_scores_of_a_tour_add_up_to_the_value_of_its_order(kind: str, ends: Ends) -> None:
    for seed in range(2):
        objective = objective_of_kind(kind, 5, ends, seed)
        search = running(objective, ends.repair(np.arange(5)))
        scores, weights, factors = objective.scores, objective.weights, factors_of(objective)
        least = 0.0 if factors is not None else scores.min() * weights.sum()  # scores count above the least one
        wanted = oracle.values(objective.travel.matrix, scores, weights, factors, ends.first, ends.last, ends.closed)
        for order, value in wanted.items():
            search.set_order(np.array(order))
            tour = search.tour()
            found = sum(itertools.starmap(search.costs, itertools.pairwise(tour.tolist())))
            if ends.cyclic:
                found += search.costs(tour[-1], tour[0])
            if search.terms is not None:
                found += search.terms.value(tour)
            assert found + least == pytest.approx(value, rel=1e-12)


def test_cycles_take_turns_between_the_tours_and_have_all_edges_that_differ() -> None:
    for seed, size in enumerate((8, 30, 200)):
        rng = RNG(seed)
        one, two = rng.permutation(size), rng.permutation(size)
        two = np.roll(np.concatenate([one[: size // 2], two[~np.isin(two, one[: size // 2])]]), 3)  # half in common
        first: Counter[tuple[int, int]] = Counter()
        second: Counter[tuple[int, int]] = Counter()
        for cycle in ab_cycles(one, two, 7):
            assert len(cycle) % 2 == 0
            edges = [(min(a, b), max(a, b)) for a, b in zip(cycle, np.roll(cycle, -1), strict=True)]
            first.update(edges[::2])
            second.update(edges[1::2])
        assert first == edges_of(one) - edges_of(two)
        assert second == edges_of(two) - edges_of(one)


def test_entropy_is_that_of_the_edges() -> None:
    size, members = 40, 9
    rng = RNG(1)
    objective = objective_of_kind("last score", size, Ends(closed=True), 0)
    search = running(objective, rng.permutation(size))
    population = population_of(search, [rng.permutation(size) for _ in range(members)])

    def entropy(tours: Any) -> float:
        counts = sum((edges_of(each) for each in tours), Counter())
        return float(-sum(n / members * np.log(n / members) for n in counts.values()))

    compared = 0
    for bits in range(40):
        tours = population.tours.copy()
        assembly = edge_assembly(search, tours, 5)
        assembly.cross(tours, np.array([[0, 1, bits]]), 1, 1)
        counts = sum((edges_of(each) for each in tours), Counter())
        for v, w in itertools.combinations(range(size), 2):
            assert assembly.counts.count(v, w) == assembly.counts.count(w, v) == counts[v, w]
        changes = assembly.kept
        old, new = ({(v, w) for v, w in changes[:, [0, column]].tolist()} for column in (1, 2))
        if not changes.size or old & new:  # an edge that is added and removed again is not netted
            continue
        compared += 1
        lost = EdgeCounts(population.tours, edge_entropies(members)).entropy_lost(changes)
        assert lost == pytest.approx(entropy(population.tours) - entropy(tours))
    assert compared > 3


@pytest.mark.parametrize("kind", ["last score", "geometric", "factors and direction"])
def test_tours_do_not_depend_on_the_number_of_threads(kind: str) -> None:
    size = 60
    found = []
    for count in (1, 3):
        objective = objective_of_kind(kind, size, Ends(), 0)
        search = running(objective, np.arange(size))
        with Threads(count) as threads:
            population = Population(search, np.arange(size), threads, PopulationParams())
            rng = RNG(5)
            population.create(12, 0.5, rng, Budget())
            population.evolve(rng, Budget())
            population.perturb(0.5, 0.3, rng, Budget())
            population.evolve(rng, Budget())
        found.append((population.tours, population.values))
    assert (found[0][0] == found[1][0]).all()
    assert (found[0][1] == found[1][1]).all()


def test_edges_that_must_stay_are_in_every_tour() -> None:
    objective = objective_of_kind("direction", 40, Ends(), 3)
    rng = RNG(3)
    search = running(objective, rng.permutation(40))
    population = population_of(search, [rng.permutation(40) for _ in range(20)])
    population.evolve(rng, Budget())
    start, end = search.vertices - 2, search.vertices - 1
    fixed = {(v, v + 40) for v in range(40)} | {(start, end)}  # a region is entered and left; `start` is behind `end`
    for each in population.tours:
        assert fixed <= edges_of(each).keys()
