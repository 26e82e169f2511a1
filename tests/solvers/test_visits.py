"""Routes of one vehicle with one model: rungs and search against all routes, and insertion values against values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learnroute import _core
from learnroute.errors import InputError, RefusedError
from learnroute.model.instance import Instance
from learnroute.model.routes import Routes
from learnroute.model.validation import IntArray
from learnroute.solvers import solve as pipeline
from learnroute.solvers.contract import Answer, Budget, Rung
from learnroute.solvers.core_instance import CoreInstance
from learnroute.solvers.exact.enumeration import Enumeration, count_routes, sequences_by_length
from learnroute.solvers.exact.visit_labelling import VisitLabelling, count_multisets
from learnroute.solvers.methods import METHODS
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.solvers.ruin_and_recreate import Annealing
from oracle import law_of_instance
from samples import random_instance

RULES: dict[str, dict[str, Any]] = {
    "optional": {"size": 5},
    "repeats": {"size": 3, "repeat": 3, "at_most": 5},
    "required": {"size": 5, "required": [1, 3]},
    "forbidden": {"size": 5, "forbidden": [0, 2]},
    "few": {"size": 5, "at_most": 2},
    "budget": {"size": 4, "budget": 0.9, "required": [2]},
    "budget of cycles": {"size": 4, "budget": 1.2, "closed": True},
    "budget and repeats": {"size": 3, "budget": 1.1, "repeat": 2, "origin": True, "closed": True},
    "cycles": {"size": 4, "closed": True, "required": [0]},
    "origin": {"size": 4, "origin": True, "required": [0, 1]},
    "origin and back": {"size": 4, "origin": True, "closed": True},
    "start": {"size": 4, "first": 2},
    "start and back": {"size": 4, "first": 2, "closed": True, "required": [0]},
    "end": {"size": 4, "last": 1},
    "end of cycles": {"size": 4, "last": 1, "closed": True, "forbidden": [3]},
    "start and end": {"size": 4, "first": 0, "last": 3, "at_most": 3},
    "one end": {"size": 3, "first": 0, "last": 0, "repeat": 2, "at_most": 4},
    "one visit": {"size": 3, "first": 0, "last": 0},
}
LAWS: dict[str, dict[str, Any]] = {
    "coupled": {},
    "by position": {"by_position": True},
    "unequal": {"unequal": True},
    "least squares": {"coupled": False, "under": True},
    "not coupled": {"coupled": False, "unequal": True},
    "calibrated": {"coupled": False, "own_second": True},
    "symmetric": {"symmetric": True, "vectors": True},
}


def case(rules: str, law: str, seed: int, rate: float = 0.3) -> Instance:
    return random_instance(np.random.default_rng(seed), rate=rate, **RULES[rules], **LAWS[law])


def solve(
    instance: Instance, method: str, initial: Routes | None = None, seed: int = 0, budget: Budget | None = None,
    params: SolverParams = DEFAULTS,
) -> Answer:  # fmt: skip
    rng = np.random.default_rng(seed)
    answer = pipeline.solve(instance, METHODS[method], rng, budget or Budget(), params, initial, bounds=False)
    assert instance.allows(answer.routes)
    return answer


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rules", RULES)
def test_exact_and_search_find_the_best_of_all_routes(rules: str, law: str) -> None:
    for seed, rate in enumerate((0.02, 0.3)):
        instance = case(rules, law, seed, rate)
        by_law = law_of_instance(instance)
        least, best = by_law.best()
        if best is None:
            for method in ("exact", "search"):
                with pytest.raises(InputError):
                    solve(instance, method)
            continue
        proved = solve(instance, "exact")
        assert proved.optimal
        assert by_law.value(proved.routes) == pytest.approx(least, rel=1e-12)
        found = solve(instance, "search")
        assert not found.optimal
        assert by_law.value(found.routes) == pytest.approx(least, rel=1e-12)


def error(instance: Instance, visits: IntArray) -> float:
    return math.fsum(instance.parts(Routes.of_order(visits)).terms())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rules", RULES)
def test_insertion_values_are_values_of_longer_routes(rules: str, law: str) -> None:
    rng = np.random.default_rng(5)
    instance = case(rules, law, 5)
    problem = CoreInstance(instance)
    fleet, training = _core.Fleet(problem.core), _core.Training(problem.core)
    front, back = ([end] if end >= 0 else [] for end in (problem.first, problem.last))
    for _ in range(20):
        length = int(rng.integers(max(1, problem.at_most - len(front) - len(back))))
        visits = np.array([*front, *rng.integers(problem.size, size=length), *back], dtype=np.int64)
        if not len(visits) or len(visits) >= problem.at_most:
            continue
        routes = Routes.of_order(problem.regions[visits])
        fleet.assign([visits.tolist()], [[0] * len(visits)], [1.0], [])
        training.assign(visits)
        assert fleet.value == pytest.approx(instance(routes), rel=1e-13)
        over = instance.paid_travel(routes) - instance.visits.budget
        assert fleet.excess == pytest.approx(max(0.0, over), rel=1e-12)
        assert training.value == pytest.approx(error(instance, problem.regions[visits]), rel=1e-13)
        for region in range(problem.size):
            longer = [problem.regions[np.insert(visits, place, region)] for place in range(len(visits) + 1)]
            errors = [error(instance, each) for each in longer]
            assert training.insertion_values(region) == pytest.approx(errors, rel=1e-12)
            values = [instance(Routes.of_order(each)) for each in longer]
            inner = values[len(front) : len(values) - len(back)]  # travel beyond limits has no price yet
            value, vehicle, place, model = fleet.best_insertion(region)
            assert (vehicle, model) == ((-1, -1) if value == math.inf else (0, 0))
            assert value == pytest.approx(min(inner, default=math.inf), rel=1e-12)
            assert value == math.inf or value == pytest.approx(values[place], rel=1e-12)


@pytest.mark.parametrize("law", ["coupled", "by position", "unequal"])
def test_insertion_values_omit_negligible_terms(law: str) -> None:
    rng = np.random.default_rng(2)
    instance = random_instance(rng, 90, rate=0.01, **LAWS[law])
    assert instance.updates.retention.max() ** 80 < 1e-3
    training = _core.Training(CoreInstance(instance).core)
    visits = rng.permutation(90)[:80]
    for length in (80, 30, 79, 50, 80):  # what is kept of the one before was far from its end
        visits = np.concatenate([visits[: length // 2], rng.permutation(90)])[:length]
        training.assign(visits)
        assert training.value == pytest.approx(error(instance, visits), rel=1e-7)
        values = training.insertion_values(7)
        for place in range(0, length, 9):
            assert values[place] == pytest.approx(error(instance, np.insert(visits, place, 7)), rel=1e-7)


def test_initial_routes_are_improved_and_repaired() -> None:
    for law in LAWS:
        instance = case("budget", law, 7)
        least, best = law_of_instance(instance).best()
        assert best is not None
        for start in (best, Routes.of_order([3, 2, 1, 0])):
            assert instance(solve(instance, "search", start).routes) <= least * (1 + 1e-12)


@pytest.mark.parametrize("coupled", [False, True])
def test_the_same_seed_gives_the_same_answer(coupled: bool) -> None:
    rng = np.random.default_rng(8)
    instance = random_instance(rng, 25, coupled=coupled, rate=0.05, repeat=2, budget=6.0, required=[3, 4])
    one, two = (solve(instance, "search", seed=3) for _ in range(2))
    assert one.routes == two.routes


@pytest.mark.parametrize("seed", range(4))
def test_search_finds_what_tables_prove(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, 12, coupled=False, unequal=True, rate=0.2, required=[0, 5], symmetric=True)
    found, proved = (solve(instance, method, seed=1) for method in ("search", "exact"))
    assert proved.optimal
    assert instance(found.routes) == pytest.approx(instance(proved.routes), rel=1e-12)
    budget = 0.8 * instance.paid_travel(proved.routes)
    tight = replace(instance, visits=replace(instance.visits, budget=budget))
    within, best = (solve(tight, method, seed=1) for method in ("search", "exact"))
    assert best.optimal
    assert instance(proved.routes) < tight(best.routes) <= tight(within.routes) * (1 + 1e-12)


def test_rungs_agree_if_several_apply() -> None:
    by_labels = DEFAULTS._replace(held_karp=DEFAULTS.held_karp._replace(most_regions=0))
    rungs: dict[str, tuple[Rung, SolverParams]] = {
        "by sets": (VisitLabelling(), DEFAULTS),
        "by labels": (VisitLabelling(), by_labels),
        "by enumeration": (Enumeration("routes"), DEFAULTS),
    }
    for seed in range(5):
        rng = np.random.default_rng(seed)
        instance = random_instance(rng, 6, coupled=False, own_second=True, rate=0.2, required=[1])
        start, values = Answer(Routes.of_order(range(6)), "given"), []
        for name, (rung, params) in rungs.items():
            assert rung.supports(instance, params), name
            answer = rung.prove(instance, start, rng, Budget(), params)
            assert answer.optimal, name
            values.append(instance(answer.routes))
        assert max(values) == pytest.approx(min(values), rel=1e-13)


def test_counts() -> None:
    instance = random_instance(np.random.default_rng(0), 3, repeat=2, at_most=4)
    everything = law_of_instance(instance).orders()
    assert sum(sequences_by_length(np.array([2, 2, 2]), 4)) == count_routes(instance) == len(everything)
    assert count_multisets(np.array([2, 2, 2]), 4) == len({tuple(sorted(visits)) for visits in everything})
    assert sum(sequences_by_length(np.full(1000, 3), 3000)) == math.inf
    assert count_multisets(np.full(8, 10), 10) == math.comb(18, 8) - 1


def test_limits_of_proofs() -> None:
    def rungs(size: int, **settings: Any) -> list[bool]:
        instance = random_instance(np.random.default_rng(0), size, **settings)
        return [rung.supports(instance, DEFAULTS) for rung in (VisitLabelling(), Enumeration("routes"))]

    assert rungs(20, coupled=False) == [True, False]
    assert rungs(14, coupled=False, budget=3.0) == [True, False]
    assert rungs(8, coupled=False, repeat=10, at_most=10) == [True, False]
    assert rungs(10) == [False, True]
    assert rungs(5, repeat=6, at_most=6) == [False, True]
    with pytest.raises(RefusedError, match="too many sequences"):
        solve(random_instance(np.random.default_rng(0), 21), "exact")


def test_proof_that_runs_out_of_time_claims_nothing() -> None:
    for coupled in (False, True):
        instance = random_instance(np.random.default_rng(1), 10 if coupled else 20, coupled=coupled, rate=0.1)
        answer = solve(instance, "exact", budget=Budget(deadline=0.0))
        assert not answer.optimal
        assert not answer.complete


def test_required_regions_are_inserted_in_several_calls() -> None:
    instance = random_instance(np.random.default_rng(2), 40, rate=5.0, required=range(40))
    params = DEFAULTS._replace(ruin=DEFAULTS.ruin._replace(work=1.0, iterations=1, descent=1))
    annealing = Annealing(instance, np.random.default_rng(0), params)
    assert annealing.iterations_per_call == 1
    found = annealing.descend(None, Budget())
    assert found is not None
    assert sorted(found.regions) == list(range(40))


def test_minimum_number_of_visits_is_reached_in_several_calls() -> None:
    instance = random_instance(np.random.default_rng(2), 12, coupled=False, under=True, rate=5.0)
    instance = replace(instance, visits=replace(instance.visits, at_least=7))
    params = DEFAULTS._replace(ruin=DEFAULTS.ruin._replace(work=1.0, iterations=100))
    answer = solve(instance, "search", params=params)
    assert len(answer.routes.regions) == 7
