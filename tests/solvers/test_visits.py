"""Sequences of visits: exact methods and search against all sequences, and insertion values against values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learnroute import _core
from learnroute.errors import InputError, RefusedError
from learnroute.model.validation import IntArray
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.params import DEFAULTS
from learnroute.solvers.visits.core_problem import CoreProblem
from learnroute.solvers.visits.exact import exact, multisets, prover, sequences
from learnroute.solvers.visits.search import search
from visiting import all_sequences, law_value, least_value, sample

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


def case(rules: str, law: str, seed: int, rate: float = 0.3) -> VisitObjective:
    return sample(np.random.default_rng(seed), rate=rate, **RULES[rules], **LAWS[law])


def solve(method: Any, objective: VisitObjective, initial: IntArray | None = None) -> Answer:
    answer: Answer = method(objective, np.random.default_rng(0), Budget(), DEFAULTS, initial)
    assert objective.allows(answer.order)
    return answer


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rules", RULES)
def test_exact_and_search_find_the_best_of_all_sequences(rules: str, law: str) -> None:
    for seed, rate in enumerate((0.02, 0.3)):
        objective = case(rules, law, seed, rate)
        least = least_value(objective)
        if least == math.inf:
            with pytest.raises(InputError):
                exact(objective, np.random.default_rng(0), Budget())
            with pytest.raises(RefusedError):
                search(objective, np.random.default_rng(0), Budget())
            continue
        proved = solve(exact, objective)
        assert proved.optimal
        assert law_value(objective, proved.order.tolist()) == pytest.approx(least, rel=1e-12)
        found = solve(search, objective)
        assert not found.optimal
        assert law_value(objective, found.order.tolist()) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rules", RULES)
def test_insertion_values_are_values_of_longer_sequences(rules: str, law: str) -> None:
    rng = np.random.default_rng(5)
    objective = case(rules, law, 5)
    problem = CoreProblem(objective)
    fleet, training = _core.Fleet(problem.core), _core.Training(problem.core)
    front, back = ([end] if end >= 0 else [] for end in (problem.first, problem.last))
    for _ in range(20):
        length = int(rng.integers(max(1, problem.at_most - len(front) - len(back))))
        visits = np.array([*front, *rng.integers(problem.size, size=length), *back], dtype=np.int64)
        if not len(visits) or len(visits) >= problem.at_most:
            continue
        fleet.assign([visits.tolist()], [[0] * len(visits)], [1.0], [])
        training.assign(visits)
        assert fleet.value == pytest.approx(objective(problem.regions[visits]), rel=1e-13)
        over = objective.travel_cost(problem.regions[visits]) - objective.rules.budget
        assert fleet.excess == pytest.approx(max(0.0, over), rel=1e-12)
        assert training.value == pytest.approx(objective.error(problem.regions[visits]), rel=1e-13)
        for region in range(problem.size):
            longer = [problem.regions[np.insert(visits, place, region)] for place in range(len(visits) + 1)]
            assert training.insertion_values(region) == pytest.approx([*map(objective.error, longer)], rel=1e-12)
            inner = longer[len(front) : len(longer) - len(back)]  # travel beyond limits has no price yet
            value, vehicle, place, model = fleet.best_insertion(region)
            assert (vehicle, model) == ((-1, -1) if value == math.inf else (0, 0))
            assert value == pytest.approx(min(map(objective, inner), default=math.inf), rel=1e-12)
            assert value == math.inf or value == pytest.approx(objective(longer[place]), rel=1e-12)


@pytest.mark.parametrize("law", ["coupled", "by position", "unequal"])
def test_insertion_values_omit_negligible_terms(law: str) -> None:
    rng = np.random.default_rng(2)
    objective = sample(rng, 90, rate=0.01, **LAWS[law])
    assert objective.updates.retention.max() ** 80 < 1e-3
    training = _core.Training(CoreProblem(objective).core)
    visits = rng.permutation(90)[:80]
    for length in (80, 30, 79, 50, 80):  # what is kept of the one before was far from its end
        visits = np.concatenate([visits[: length // 2], rng.permutation(90)])[:length]
        training.assign(visits)
        assert training.value == pytest.approx(objective.error(visits), rel=1e-7)
        values = training.insertion_values(7)
        for place in range(0, length, 9):
            assert values[place] == pytest.approx(objective.error(np.insert(visits, place, 7)), rel=1e-7)


def test_initial_sequences_are_improved_and_repaired() -> None:
    for law in LAWS:
        objective = case("budget", law, 7)
        best = min(all_sequences(objective), key=lambda visits: law_value(objective, visits))
        for start in ([*best], [3, 2, 1, 0]):
            answer = solve(search, objective, np.array(start))
            assert objective(answer.order) <= objective(best) * (1 + 1e-12)


@pytest.mark.parametrize("coupled", [False, True])
def test_the_same_seed_gives_the_same_answer(coupled: bool) -> None:
    objective = sample(np.random.default_rng(8), 25, coupled=coupled, rate=0.05, repeat=2, budget=6.0, required=[3, 4])
    one, two = (search(objective, np.random.default_rng(3), Budget()) for _ in range(2))
    assert one.order.tolist() == two.order.tolist()
    assert objective.allows(one.order)


@pytest.mark.parametrize("seed", range(4))
def test_search_finds_what_tables_prove(seed: int) -> None:
    rng = np.random.default_rng(seed)
    objective = sample(rng, 12, coupled=False, unequal=True, rate=0.2, required=[0, 5], symmetric=True)
    found, proved = (method(objective, np.random.default_rng(1), Budget()) for method in (search, exact))
    assert proved.optimal
    assert objective(found.order) == pytest.approx(objective(proved.order), rel=1e-12)
    tight = replace(objective, rules=replace(objective.rules, budget=0.8 * objective.travel_cost(proved.order)))
    within, best = (method(tight, np.random.default_rng(1), Budget()) for method in (search, exact))
    assert best.optimal
    assert tight.allows(within.order)
    assert objective(proved.order) < tight(best.order) <= tight(within.order) * (1 + 1e-12)


def test_methods_agree_if_several_apply() -> None:
    for seed in range(5):
        objective = sample(np.random.default_rng(seed), 6, coupled=False, own_second=True, rate=0.2, required=[1])
        answers = {}
        for name, limits in {
            "_by_sets": DEFAULTS,
            "_by_labels": DEFAULTS._replace(held_karp=DEFAULTS.held_karp._replace(most_regions=0)),
            "_by_sequences": DEFAULTS._replace(
                held_karp=DEFAULTS.held_karp._replace(most_regions=0),
                visit_proof=DEFAULTS.visit_proof._replace(multisets=0),
            ),
        }.items():
            chosen = prover(objective, limits)
            assert chosen is not None
            assert chosen.__name__ == name
            visits = chosen(objective, None, Budget(), limits).visits
            assert visits is not None
            answers[name] = objective(visits)
        assert max(answers.values()) == pytest.approx(min(answers.values()), rel=1e-13)


def test_counts() -> None:
    objective = sample(np.random.default_rng(0), 3, repeat=2, at_most=4)
    everything = list(all_sequences(objective))
    assert sequences(np.array([2, 2, 2]), 4) == len(everything)
    assert multisets(np.array([2, 2, 2]), 4) == len({tuple(sorted(visits)) for visits in everything})
    assert sequences(np.full(1000, 3), 3000) == math.inf
    assert multisets(np.full(8, 10), 10) == math.comb(18, 8) - 1


def test_limits_of_proofs() -> None:
    assert prover(sample(np.random.default_rng(0), 20, coupled=False)) is not None
    assert prover(sample(np.random.default_rng(0), 14, coupled=False, budget=3.0)) is not None
    assert prover(sample(np.random.default_rng(0), 8, coupled=False, repeat=10, at_most=10)) is not None
    assert prover(sample(np.random.default_rng(0), 10)) is not None
    assert prover(sample(np.random.default_rng(0), 5, repeat=6, at_most=6)) is not None
    with pytest.raises(RefusedError, match="too many sequences"):
        exact(sample(np.random.default_rng(0), 21), np.random.default_rng(0), Budget())


def test_proof_that_runs_out_of_time_claims_nothing() -> None:
    for coupled in (False, True):
        objective = sample(np.random.default_rng(1), 10 if coupled else 20, coupled=coupled, rate=0.1)
        answer = exact(objective, np.random.default_rng(0), Budget(deadline=0.0))
        assert objective.allows(answer.order)
        assert not answer.optimal
        assert not answer.complete


def test_required_regions_are_inserted_in_several_calls() -> None:
    objective = sample(np.random.default_rng(2), 40, coupled=False, rate=5.0, required=range(40))
    params = DEFAULTS._replace(visit_search=DEFAULTS.visit_search._replace(work=1.0, iterations=1, descent=1))
    answer = search(objective, np.random.default_rng(0), Budget(), params)
    assert sorted(answer.order.tolist()) == list(range(40))


def test_minimum_number_of_visits_is_reached_in_several_calls() -> None:
    objective = sample(np.random.default_rng(2), 12, coupled=False, under=True, rate=5.0)
    objective = replace(objective, rules=replace(objective.rules, at_least=7))
    params = DEFAULTS._replace(visit_search=DEFAULTS.visit_search._replace(work=1.0, iterations=100))
    answer = search(objective, np.random.default_rng(0), Budget(), params)
    assert objective.allows(answer.order)
    assert len(answer.order) == 7
