"""Bounds never exceed the optimum, proofs find it: 240 problems of all families and learners, and asymmetric travel."""

from __future__ import annotations

import numpy as np
import pytest

from learnroute import Learner, Objective, Problem, objective_of, plan
from learnroute.model.certificate import Certificate, Walks
from learnroute.solvers.bounds import best_bound, simple_bound
from learnroute.solvers.contract import Budget, Effort
from learnroute.solvers.ends import least_score_parts
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.ng_route.solver import Prover, listed, nearest_memory, remember
from learnroute.solvers.exact.one_tree import tree_bound
from learnroute.solvers.local_search.iterated import best_order
from learnroute.study.families import random_problem
from learnroute.verification import recomputed_bound
from samples import ALL_FAMILIES, LEARNERS, OVER, UNDER, asymmetric

RNG = np.random.default_rng


def optimum(objective: Objective) -> float:
    return objective(held_karp(objective, RNG(0), Budget()).order)


def problems(learner: str, count: int) -> list[Problem]:
    kinds = [*ALL_FAMILIES, "asymmetric"]
    found = []
    for k in range(count):
        kind, size = kinds[k % len(kinds)], 4 + k % 11
        draw = asymmetric(size, LEARNERS[learner], k) if kind == "asymmetric" else None
        found.append(draw or random_problem(kind, size, LEARNERS[learner], k))
    return found


@pytest.mark.parametrize("learner", LEARNERS)
def test_proofs_end_at_the_optimum_and_bounds_stay_below_it(learner: str) -> None:
    for k, problem in enumerate(problems(learner, 60)):
        objective = objective_of(problem)
        least = optimum(objective)
        poor = RNG(k).permutation(problem.size)  # a proof must not need a good order to begin with
        prover = Prover(objective, poor, Budget())
        prover.run()
        assert prover.proved
        assert objective(prover.order) == pytest.approx(least, rel=1e-10)
        tree = tree_bound(objective, least, Budget(), steps=100)
        for certificate in (prover.certificate(), tree):
            assert certificate.bound <= least
            assert recomputed_bound(objective, certificate, certificate.bound) >= certificate.bound
        assert not objective.symmetric or tree.bound >= simple_bound(objective) * 0.9
        assert simple_bound(objective) <= least


def test_bounds_are_close_where_the_optimum_is_known() -> None:
    for features, family in ((80, "closure"), (120, "euclidean"), (1000, "vectors")):
        problem = random_problem(family, 16, Learner(features, 100, 0.1), 3)
        objective = objective_of(problem)
        least = optimum(objective)
        order = RNG(0).permutation(16)
        assert 0.995 * least <= best_bound(objective, order, Budget()).bound <= least


def test_exact_proves_thirty_regions_and_repeats_itself() -> None:
    problem = random_problem("euclidean", 30, OVER, 1)
    first, second = plan(problem, "exact", seed=4), plan(problem, "exact", seed=4)
    assert first.optimal
    assert first.order == second.order
    assert first.loss.total <= plan(problem, "search", seed=1).loss.total * (1 + 1e-12)


def test_little_effort_leaves_a_gap_and_says_so() -> None:
    problem = random_problem("closure", 40, OVER, 2)
    objective = objective_of(problem)
    order = best_order(objective, RNG(0), Budget(), 200)
    prover = Prover(objective, order, Budget(), Effort(rounds=60, states=20))
    prover.run()
    assert prover.overflowed
    assert not prover.proved
    assert prover.bound < prover.value


def test_no_time_at_all_still_gives_a_route_and_a_valid_bound() -> None:
    problem = random_problem("uniform", 30, UNDER, 2)
    found = plan(problem, "exact", time_limit=1e-9)
    assert not found.optimal
    assert sorted(found.order) == list(range(30))
    assert found.lower_bound is not None
    assert found.lower_bound <= plan(problem, "exact").loss.total
    assert any("time limit" in note for note in found.notes)


def test_score_parts_by_last_region_are_the_least() -> None:
    from itertools import permutations

    weights, scores = np.array([0.1, 0.2, 0.3, 0.9]), np.array([3.0, 1.0, 7.0, 2.0])
    parts = least_score_parts(Objective(np.zeros((4, 4)), scores, weights))
    for v in range(4):
        found = [float(weights @ scores[list(o)]) for o in permutations(range(4)) if o[-1] == v]
        assert parts[v] == pytest.approx(min(found), rel=1e-14)


def test_the_tree_bound_is_tight_for_hundreds_of_points() -> None:
    objective = objective_of(random_problem("euclidean", 300, UNDER, 1))
    order = best_order(objective, RNG(0), Budget(), 2000)
    assert tree_bound(objective, objective(order), Budget(), 300).bound > 0.99 * objective(order)


def test_memories_grow_along_the_shortest_detours() -> None:
    memory = nearest_memory(np.ones((10, 10)) - np.eye(10), 0)
    remember(memory, np.array([0, 1, 0, 2, 3, 4, 5, 3, 4, 2]), spread=0)
    always, places = listed(memory)
    assert always == tuple((v,) for v in range(10))
    assert places == ((1, 1, 0), (5, 4, 3), (6, 5, 3, 4), (7, 3, 4))


def test_memories_reach_a_few_positions_further() -> None:
    memory = nearest_memory(np.ones((10, 10)) - np.eye(10), 0)
    remember(memory, np.array([0, 1, 0, 2, 3, 4, 5, 6, 7, 8]), spread=2)
    assert listed(memory)[1] == tuple((t, 1, 0) for t in range(4))
    remember(memory, np.array([0, 1, 0, 2, 3, 4, 5, 6, 7, 8]), spread=9)
    assert listed(memory) == (((0,), (0, 1), *((v,) for v in range(2, 10))), ())


def test_what_is_listed_is_what_is_remembered() -> None:
    travel = random_problem("euclidean", 70, UNDER, 0).travel
    memory = nearest_memory(travel, 3)
    rng = RNG(0)
    for _ in range(20):
        remember(memory, rng.integers(70, size=70))
    masks = Walks(np.zeros(70), *listed(memory)).masks()
    assert masks == [[int(low) | int(high) << 64 for low, high in row] for row in memory]


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_stages_that_strike_steps_out_never_prove_too_much(family: str) -> None:
    """Whatever the multipliers and memories of the stages are."""
    for seed, learner in enumerate(LEARNERS.values()):
        objective = objective_of(random_problem(family, 8, learner, seed))
        least, rng = optimum(objective), RNG(seed)
        stages = []
        for _ in range(3):
            memory = nearest_memory(objective.travel, 2)
            remember(memory, rng.integers(8, size=8), spread=1)
            stages.append(Walks(rng.normal(0, 3, 8), *listed(memory)))
        for ceiling in (0.9 * least, least, 1.5 * least):
            found = recomputed_bound(objective, Certificate("walks", ceiling, walks=tuple(stages)), ceiling)
            assert found <= least


def test_stages_prove_more_than_the_first_one_alone() -> None:
    objective = objective_of(random_problem("vectors", 30, Learner(1000, 100, 0.1), 0))
    prover = Prover(objective, best_order(objective, RNG(0), Budget(), 600), Budget(), Effort(rounds=2))
    prover.run()
    certificate = prover.certificate()
    assert len(certificate.walks) > 1
    assert any(walks.places for walks in certificate.walks)
    whole = recomputed_bound(objective, certificate, certificate.bound)
    assert whole == pytest.approx(certificate.bound, rel=1e-9)
    alone = Certificate("walks", certificate.bound, walks=certificate.walks[:1])
    assert recomputed_bound(objective, alone, certificate.bound) < whole
    data = certificate.to_dict(30)
    again = Certificate.from_dict(data, 30)
    assert again.to_dict(30) == data
    assert recomputed_bound(objective, again, certificate.bound) == whole
