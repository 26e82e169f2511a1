"""Bounds never exceed the optimum, proofs find it: 240 problems of all families and learners, and asymmetric travel."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from learnroute import InputError, Learner, Problem, plan, verify
from learnroute.model.certificates import NgRelaxation, NgRoutes, read_certificate
from learnroute.model.linear import Linear, Weighted
from learnroute.model.travel import TravelMatrix
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.bounds import least_score_parts, simple_bound
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.ng_route.ng_sets import augment, nearest_ng_sets, relaxation
from learnroute.solvers.exact.ng_route.solver import NgRouteProof
from learnroute.solvers.exact.one_tree import one_tree_bound
from learnroute.solvers.exact.proof import lower_bound
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import AscentParams, NgRouteParams, OneTreeParams, ProofParams, SolverParams
from learnroute.study.families import random_problem
from recomputed import recomputed_bound
from samples import ALL_FAMILIES, LEARNERS, OVER, UNDER, asymmetric, linear_of

RNG = np.random.default_rng


def optimum(objective: Linear) -> float:
    return objective(held_karp(objective, RNG(0), Budget()).order)


def proof_of(objective: Linear, order: IntArray, params: NgRouteParams | None = None) -> NgRouteProof:
    """The proof of an order by ng-routes alone, complete or not."""
    proof = NgRouteProof(
        Incumbent(objective, order),
        RNG(0),
        Budget(),
        SolverParams(proof=ProofParams(ng_route=params or NgRouteParams())),
    )
    proof.run()
    return proof


def problems(learner: str, count: int) -> list[Problem]:
    kinds = [*ALL_FAMILIES, "asymmetric"]
    found = []
    for k in range(count):
        kind, size = kinds[k % len(kinds)], 4 + k % 11
        draw = asymmetric(size, LEARNERS[learner], k) if kind == "asymmetric" else None
        found.append(draw or random_problem(kind, size, LEARNERS[learner], k))
    return found


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.slow
def test_proofs_end_at_the_optimum_and_bounds_stay_below_it(learner: str) -> None:
    for k, problem in enumerate(problems(learner, 60)):
        objective = linear_of(problem)
        least = optimum(objective)
        poor = RNG(k).permutation(problem.size)  # a proof must not need a good order to begin with
        proof = proof_of(objective, poor)
        assert proof.proved
        assert objective(proof.incumbent.order) == pytest.approx(least, rel=1e-10)
        tree = one_tree_bound(objective, least, Budget(), OneTreeParams(AscentParams(100)))
        for certificate in (proof.certificate(), tree):
            assert certificate.bound <= least
            assert recomputed_bound(objective, certificate, certificate.bound) >= certificate.bound
        assert not objective.travel.symmetric or tree.bound >= simple_bound(objective) * 0.9
        assert simple_bound(objective) <= least


def test_bounds_are_close_if_the_optimum_is_known() -> None:
    for features, family in ((80, "closure"), (120, "euclidean"), (1000, "vectors")):
        problem = random_problem(family, 16, Learner(features, 100, 0.1), 3)
        objective = linear_of(problem)
        least = optimum(objective)
        order = RNG(0).permutation(16)
        assert 0.995 * least <= lower_bound(objective, order, Budget()).bound <= least


def test_exact_proves_thirty_regions_and_repeats_itself() -> None:
    problem = random_problem("euclidean", 30, OVER, 1)
    first, second = plan(problem, "exact", seed=4), plan(problem, "exact", seed=4)
    assert first.optimal
    assert first.order == second.order
    assert first.loss.total <= plan(problem, "search", seed=1).loss.total * (1 + 1e-12)


def test_little_effort_leaves_a_gap_and_reports_it() -> None:
    problem = random_problem("closure", 40, OVER, 2)
    objective = linear_of(problem)
    order = iterated_local_search(objective, RNG(0), Budget(), 200)
    proof = proof_of(objective, order, NgRouteParams(labels=20))
    assert proof.overflowed
    assert not proof.proved
    assert proof.bound < proof.incumbent.value


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
    parts = least_score_parts(Weighted(TravelMatrix(np.zeros((4, 4))), scores, weights))
    for v in range(4):
        found = [float(weights @ scores[list(o)]) for o in permutations(range(4)) if o[-1] == v]
        assert parts[v] == pytest.approx(min(found), rel=1e-14)


def test_the_one_tree_bound_is_tight_for_hundreds_of_points() -> None:
    objective = linear_of(random_problem("euclidean", 300, UNDER, 1))
    order = iterated_local_search(objective, RNG(0), Budget(), 2000)
    params = OneTreeParams(AscentParams(300))
    assert one_tree_bound(objective, objective(order), Budget(), params).bound > 0.99 * objective(order)


def test_ng_sets_grow_along_the_shortest_cycles() -> None:
    ng_sets = nearest_ng_sets(np.ones((10, 10)) - np.eye(10), 0)
    augment(ng_sets, np.array([0, 1, 0, 2, 3, 4, 5, 3, 4, 2]), spread=0)
    listed = relaxation(np.zeros(10), ng_sets)
    assert listed.ng_sets == tuple((v,) for v in range(10))
    assert listed.ng_sets_at == ((1, 1, 0), (5, 4, 3), (6, 5, 3, 4), (7, 3, 4))


def test_ng_sets_reach_a_few_positions_further() -> None:
    ng_sets = nearest_ng_sets(np.ones((10, 10)) - np.eye(10), 0)
    augment(ng_sets, np.array([0, 1, 0, 2, 3, 4, 5, 6, 7, 8]), spread=2)
    assert relaxation(np.zeros(10), ng_sets).ng_sets_at == tuple((t, 1, 0) for t in range(4))
    augment(ng_sets, np.array([0, 1, 0, 2, 3, 4, 5, 6, 7, 8]), spread=9)
    assert relaxation(np.zeros(10), ng_sets)[1:] == (((0,), (0, 1), *((v,) for v in range(2, 10))), ())


def test_certificates_list_the_ng_sets_of_the_labels() -> None:
    travel = random_problem("euclidean", 70, UNDER, 0).travel
    ng_sets = nearest_ng_sets(travel, 3)
    rng = RNG(0)
    for _ in range(20):
        augment(ng_sets, rng.integers(70, size=70), spread=6)
    masks = relaxation(np.zeros(70), ng_sets).masks()
    assert masks == [[int(low) | int(high) << 64 for low, high in row] for row in ng_sets]


@pytest.mark.parametrize("family", ALL_FAMILIES)
@pytest.mark.slow
def test_stages_of_reduced_cost_fixing_never_prove_too_much(family: str) -> None:
    """For any multipliers and ng-sets of the stages and turns."""
    for seed, learner in enumerate(LEARNERS.values()):
        objective = linear_of(random_problem(family, 8, learner, seed))
        least, rng = optimum(objective), RNG(seed)
        stages = []
        for _ in range(3):
            ng_sets = nearest_ng_sets(objective.travel.matrix, 2)
            augment(ng_sets, rng.integers(8, size=8), spread=1)
            stages.append(relaxation(rng.normal(0, 3, 8), ng_sets))
        turns = [tuple(tuple(map(int, rng.integers(8, size=4))) for _ in range(30)) for _ in range(4)]
        for ceiling in (0.9 * least, least, 1.5 * least):
            for given in ((), tuple(turns[:1]), tuple(turns)):
                found = recomputed_bound(objective, NgRoutes(ceiling, tuple(stages), given), ceiling)
                assert found <= least


def test_stages_prove_more_than_the_first_one_alone() -> None:
    objective = linear_of(random_problem("vectors", 30, Learner(1000, 100, 0.1), 0))
    order = iterated_local_search(objective, RNG(0), Budget(), 600)
    certificate = proof_of(objective, order, NgRouteParams(rounds=2)).certificate()
    assert len(certificate.stages) > 1
    assert any(stage.ng_sets_at for stage in certificate.stages)
    whole = recomputed_bound(objective, certificate, certificate.bound)
    assert whole == pytest.approx(certificate.bound, rel=1e-9)
    alone = NgRoutes(certificate.bound, certificate.stages[:1])
    assert recomputed_bound(objective, alone, certificate.bound) < whole
    data = certificate.to_dict(30)
    again = read_certificate(data, 30)
    assert again.to_dict(30) == data
    assert recomputed_bound(objective, again, certificate.bound) == whole


@pytest.mark.slow
def test_an_optimum_is_proved_again_in_turns() -> None:
    """Starting from all arcs, in a few labellings; without the turns, the same relaxations prove less."""
    problem = random_problem("vectors", 40, Learner(1000, 100, 0.1), 1)
    found = plan(problem, "exact")
    certificate = found.certificate
    assert found.optimal
    assert isinstance(certificate, NgRoutes)
    assert certificate.turns
    assert verify(problem, found).holds
    objective = linear_of(problem)
    assert recomputed_bound(objective, certificate, certificate.bound) == certificate.bound
    fewer = replace(certificate, turns=())
    assert recomputed_bound(objective, fewer, certificate.bound) < certificate.bound
    again = read_certificate(json.loads(json.dumps(certificate.to_dict(40))), 40)
    assert again.to_dict(40) == certificate.to_dict(40)


def test_turns_that_are_no_lists_of_rows_are_rejected() -> None:
    alone = {"kind": "ng-routes", "bound": 1, "multipliers": [0, 0], "ng_sets": [[0], [1]]}
    for turns, field in ((3, "turns"), ([3], "turns[0]"), ([[[0]]], "turns[0][0]"), ([[[0, 1, 2]]], "turns[0][0]")):
        with pytest.raises(InputError) as refusal:
            read_certificate({**alone, "turns": turns}, 2)
        assert refusal.value.field == f"certificate.{field}"


def cheapest_by_hand(objective: Linear, multipliers: FloatArray, masks: list[list[int]]) -> float:
    """The cost of the cheapest ng-route, multipliers included, by enumeration from the definition."""
    size = objective.size
    partial = [(v, 1 << v, objective.weights[0] * objective.scores[v] - multipliers[v]) for v in range(size)]
    for t in range(1, size):
        partial = [
            (w, forbidden & masks[t][w] | 1 << w, cost + objective.travel.matrix[v, w] + scored)
            for v, forbidden, cost in partial
            for w in range(size)
            if not forbidden >> w & 1
            for scored in [objective.weights[t] * objective.scores[w] - multipliers[w]]
        ]
    best = min(cost for _, _, cost in partial)
    return float(best + multipliers.sum())


def test_the_checker_finds_the_cheapest_ng_route() -> None:
    """Dominance and completion bounds lose no route, and forbidden sets are correct."""
    for seed in range(40):
        rng = RNG(seed)
        size = int(rng.integers(3, 7))
        travel = rng.uniform(1, 9, (size, size)) if seed % 2 else rng.integers(1, 4, (size, size)).astype(float)
        np.fill_diagonal(travel, 0)
        objective = Weighted(TravelMatrix(travel), rng.uniform(0, 5, size), np.sort(rng.uniform(0, 1, size)))
        rows = tuple(tuple(map(int, rng.integers(size, size=3))) for _ in range(size))
        stage = NgRelaxation(rng.normal(0, 2, size), tuple((v,) for v in range(size)), rows)
        least = cheapest_by_hand(objective, stage.multipliers, stage.masks())
        found = recomputed_bound(objective, NgRoutes(0.0, (stage,)), 1000.0)
        # costs are rounded down to a grid that is fine beside the ceiling
        assert found == pytest.approx(least, rel=1e-12, abs=1e-12)
