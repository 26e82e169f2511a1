"""Proofs by cases: they end at the optimum, and are gone through again by other code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from learnroute import Learner, Objective, objective_of
from learnroute.model.certificate import Case, Certificate
from learnroute.solvers.contract import Budget, Effort
from learnroute.solvers.ends import anchored, within_ends
from learnroute.solvers.exact.branch_and_cut.solver import TourProver, provable
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.ng_route.solver import Prover
from learnroute.solvers.exact.one_tree import tree_bound
from learnroute.solvers.local_search.iterated import best_order
from learnroute.solvers.methods import search_and_prove
from learnroute.study.families import random_problem
from learnroute.verification import recomputed_bound
from samples import ALL_FAMILIES, UNDER, asymmetric

RNG = np.random.default_rng


def with_ends(objective: Objective, seed: int) -> Objective:
    """The same with other ends: free, or one or both fixed, open or closed."""
    first, last = ((None, None), (1, None), (None, 2), (3, 0))[seed % 4]
    return Objective(
        objective.travel, objective.scores, objective.weights, objective.constant, first, last, seed % 3 == 0
    )


@pytest.mark.parametrize("family", ALL_FAMILIES)
@pytest.mark.parametrize("features", [80, 102, 120, 200])
def test_ends_at_the_optimum_and_is_confirmed(family: str, features: int) -> None:
    for seed in range(8):
        learner = Learner(features, 100, 0.1)
        objective = with_ends(objective_of(random_problem(family, 4 + seed % 9, learner, seed)), seed)
        if not anchored(objective).tight:
            continue
        assert provable(objective)
        least = objective(held_karp(objective, RNG(0), Budget()).order)
        prover = TourProver(objective, within_ends(objective, RNG(seed).permutation(objective.size)), Budget())
        prover.run()
        assert prover.proved
        assert objective.allows(prover.order)
        assert objective(prover.order) == pytest.approx(least, rel=1e-10)
        certificate = prover.certificate()
        assert certificate.kind == "cases"
        assert certificate.bound <= least + 1e-12
        assert recomputed_bound(objective, certificate, least) >= certificate.bound
        again = Certificate.from_dict(certificate.to_dict(objective.size), objective.size)
        assert recomputed_bound(objective, again, least) >= certificate.bound * (1 - 1e-12)


def test_agrees_with_walks() -> None:
    for seed, (family, features) in enumerate((("euclidean", 80), ("vectors", 120), ("closure", 200))):
        objective = objective_of(random_problem(family, 26, Learner(features, 100, 0.1), seed))
        found = search_and_prove(objective, RNG(0), Budget())
        walks = Prover(objective, found.order, Budget())
        walks.run()
        assert walks.proved
        assert found.optimal
        assert objective(found.order) == pytest.approx(objective(walks.order), rel=1e-11)


@pytest.mark.parametrize(("features", "size"), [(80, 80), (120, 70)])
def test_claims_beyond_the_proof_are_not_confirmed(features: int, size: int) -> None:
    objective = objective_of(random_problem("vectors", size, Learner(features, 100, 0.1), 3))
    prover = TourProver(objective, best_order(objective, RNG(0), Budget(), 500), Budget())
    prover.run()
    good = prover.certificate()
    assert len(good.cases) > 5
    assert good.combs
    assert recomputed_bound(objective, good, np.inf) == good.bound
    again = Certificate.from_dict(good.to_dict(size), size)
    assert recomputed_bound(objective, again, np.inf) == again.bound == pytest.approx(good.bound)
    higher = replace(good, bound=good.bound * (1 + 1e-6))
    fewer = replace(good, cases=good.cases[:-1])
    more = replace(good, cases=(*good.cases, Case((), ())))
    empty = replace(good, cases=(Case((), ()),))
    trivial = replace(good, cases=tuple(Case(case.split, ()) for case in good.cases))
    without = replace(good, cases=tuple(case._replace(combs=()) for case in good.cases))
    stronger = replace(good, cases=tuple(_with_prices(case, 1e3) for case in good.cases))
    negative = replace(good, cases=tuple(_with_prices(case, -1) for case in good.cases))
    no_combs = replace(good, combs=tuple((*comb[:-1], comb[-2]) for comb in good.combs))
    for bad in (higher, fewer, more, empty, trivial, without, stronger, negative, no_combs):
        assert recomputed_bound(objective, bad, np.inf) < bad.bound


def _with_prices(case: Case, factor: float) -> Case:
    return case._replace(combs=tuple((comb, factor * price) for comb, price in case.combs))


@pytest.mark.parametrize("family", ["euclidean", "vectors"])
def test_without_cases_the_programme_gives_a_better_bound_than_trees(family: str) -> None:
    objective = objective_of(random_problem(family, 120, UNDER, 1))
    order = best_order(objective, RNG(0), Budget(), 2000)
    prover = TourProver(objective, order, Budget())
    prover.run(Effort(cases=1))
    assert not prover.proved
    certificate = prover.certificate()
    assert certificate.kind == "cases"
    assert len(certificate.cases) == 2
    plain = tree_bound(objective, objective(order), Budget())
    assert objective(order) - certificate.bound < 0.9 * (objective(order) - plain.bound)
    assert recomputed_bound(objective, certificate, np.inf) == certificate.bound
    assert recomputed_bound(objective, replace(certificate, bound=certificate.bound * (1 + 1e-6)), np.inf) < objective(
        order
    )
    prover.run()
    assert prover.proved
    assert certificate.bound < objective(prover.order)


@pytest.mark.parametrize("heavy", [1e3, 1e13, 1e60])
def test_ways_that_cost_far_too_much_do_not_blur_a_proof(heavy: float) -> None:
    for seed in range(6):
        rng = RNG(seed)
        travel = rng.uniform(1, 10, (11, 11))
        travel[rng.random((11, 11)) < 0.4] = heavy
        travel = np.triu(travel, 1) + np.triu(travel, 1).T
        scores = rng.uniform(1, 10, 11)
        scores[seed] *= heavy if seed % 2 else 1.0
        rate = (0.0, 1 / 6)[seed % 2]
        objective = Objective(travel, scores, (1 - rate) * rate ** np.arange(10, -1, -1.0))
        least = objective(held_karp(objective, RNG(0), Budget()).order)
        start = best_order(objective, RNG(0), Budget(), 100, 2)
        for prover in (TourProver(objective, start, Budget()), Prover(objective, start, Budget())):
            prover.run()
            if prover.proved:
                assert objective(prover.order) == pytest.approx(least, rel=1.1e-10)
            assert prover.certificate().bound <= least
            assert recomputed_bound(objective, prover.certificate(), least) >= prover.certificate().bound
        if heavy == 1e3:
            assert prover.proved


@pytest.mark.parametrize("unit", [1e-60, 1e-6, 1e6, 1e60])
@pytest.mark.parametrize("heavy", [1e-30, 1.0, 1e30])
def test_units_do_not_matter(unit: float, heavy: float) -> None:
    places = RNG(70).uniform(-1, 1, (70, 2))
    travel = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    objective = Objective(unit * travel, heavy * unit * RNG(1).uniform(0, 1, 70), np.append(np.zeros(69), 1.0))
    prover = TourProver(objective, best_order(objective, RNG(0), Budget(), 1000), Budget.of(60))
    prover.run()
    assert prover.proved
    assert prover.cases < 300
    certificate = prover.certificate()
    assert certificate.bound <= objective(prover.order)
    assert certificate.bound == pytest.approx(objective(prover.order), rel=1e-9)
    again = Certificate.from_dict(certificate.to_dict(70), 70)
    assert recomputed_bound(objective, again, np.inf) >= certificate.bound * (1 - 1e-12)


def test_is_for_symmetric_travel_and_few_scores_only() -> None:
    assert not provable(objective_of(random_problem("euclidean", 8, Learner(1000, 100, 0.1), 0)))
    assert not provable(objective_of(asymmetric(8, UNDER, 0)))


def test_too_many_cases_or_no_time_leave_a_valid_bound() -> None:
    objective = objective_of(random_problem("vectors", 60, UNDER, 0))
    prover = TourProver(objective, RNG(0).permutation(60), Budget(deadline=0.0))
    prover.run()
    assert not prover.proved
    certificate = prover.certificate()
    assert certificate.kind == "tree"
    assert certificate.bound < objective(prover.order)
    assert recomputed_bound(objective, certificate, np.inf) >= certificate.bound
