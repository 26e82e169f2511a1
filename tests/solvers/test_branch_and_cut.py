"""Branch and cut finds the optimum, and independent code repeats its tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from learnroute import Learner
from learnroute.model.certificates import BranchAndBound, Node, OneTree, read_certificate
from learnroute.model.ends import Ends
from learnroute.model.linear import Linear, Weighted
from learnroute.model.travel import TravelMatrix
from learnroute.model.validation import IntArray
from learnroute.solvers.bounds import path_relaxation
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.branch_and_cut.solver import BranchAndCut
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.ng_route.solver import NgRouteProof
from learnroute.solvers.exact.one_tree import one_tree_bound
from learnroute.solvers.exact.proof import branching_applies, prove
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import DEFAULTS, BranchAndCutParams, OneTreeParams, ProofParams
from learnroute.study.families import random_problem
from recomputed import recomputed_bound
from samples import ALL_FAMILIES, UNDER, asymmetric, linear_of

RNG = np.random.default_rng


def with_ends(objective: Linear, seed: int) -> Linear:
    """The same with other ends: free, or one or both fixed, open or closed."""
    first, last = ((None, None), (1, None), (None, 2), (3, 0))[seed % 4]
    ends = Ends(first, last, seed % 3 == 0)
    return Weighted(objective.travel, objective.scores, objective.weights, objective.constant, ends)


def tree_of(
    objective: Linear, order: IntArray, nodes: int = 20_000, budget: Budget | None = None
) -> BranchAndCut:  # fmt: skip
    """The branch-and-bound tree of an order, complete or not."""
    tree = BranchAndCut(Incumbent(objective, order), budget or Budget(), BranchAndCutParams(nodes=nodes))
    tree.run()
    return tree


@pytest.mark.parametrize("family", ALL_FAMILIES)
@pytest.mark.parametrize("features", [80, 102, 120, 200])
def test_bound_reaches_the_optimum_and_is_confirmed(family: str, features: int) -> None:
    for seed in range(8):
        learner = Learner(features, 100, 0.1)
        objective = with_ends(linear_of(random_problem(family, 4 + seed % 9, learner, seed)), seed)
        if not path_relaxation(objective).tight:
            continue
        assert branching_applies(objective, ProofParams())
        least = objective(held_karp(objective, RNG(0), Budget()).order)
        tree = tree_of(objective, objective.repair(RNG(seed).permutation(objective.size)))
        assert tree.proved
        assert objective.ends.allows(tree.incumbent.order)
        assert objective(tree.incumbent.order) == pytest.approx(least, rel=1e-10)
        certificate = tree.certificate()
        assert isinstance(certificate, BranchAndBound)
        assert certificate.bound <= least + 1e-12
        assert recomputed_bound(objective, certificate, least) >= certificate.bound
        again = read_certificate(certificate.to_dict(objective.size), objective.size)
        assert recomputed_bound(objective, again, least) >= certificate.bound * (1 - 1e-12)


def test_agrees_with_ng_routes() -> None:
    for seed, (family, features) in enumerate((("euclidean", 80), ("vectors", 120), ("closure", 200))):
        objective = linear_of(random_problem(family, 26, Learner(features, 100, 0.1), seed))
        start = iterated_local_search(objective, RNG(0), Budget())
        found = prove(objective, start, Budget(), DEFAULTS, RNG(0))
        routes = NgRouteProof(Incumbent(objective, found.order), RNG(0), Budget(), DEFAULTS)
        routes.run()
        assert routes.proved
        assert found.optimal
        assert objective(found.order) == pytest.approx(objective(routes.incumbent.order), rel=1e-11)


@pytest.mark.parametrize(("features", "size"), [(80, 80), (120, 70)])
@pytest.mark.slow
def test_claims_beyond_the_proof_are_not_confirmed(features: int, size: int) -> None:
    objective = linear_of(random_problem("vectors", size, Learner(features, 100, 0.1), 3))
    good = tree_of(objective, iterated_local_search(objective, RNG(0), Budget(), 500)).certificate()
    assert isinstance(good, BranchAndBound)
    assert len(good.nodes) > 5
    assert good.combs
    assert recomputed_bound(objective, good, np.inf) == good.bound
    again = read_certificate(good.to_dict(size), size)
    assert recomputed_bound(objective, again, np.inf) == again.bound == pytest.approx(good.bound)
    higher = replace(good, bound=good.bound * (1 + 1e-6))
    fewer = replace(good, nodes=good.nodes[:-1])
    more = replace(good, nodes=(*good.nodes, Node((), ())))
    empty = replace(good, nodes=(Node((), ()),))
    trivial = replace(good, nodes=tuple(Node(node.branch, ()) for node in good.nodes))
    without = replace(good, nodes=tuple(node._replace(combs=()) for node in good.nodes))
    stronger = replace(good, nodes=tuple(_with_duals(node, 1e3) for node in good.nodes))
    negative = replace(good, nodes=tuple(_with_duals(node, -1) for node in good.nodes))
    no_combs = replace(good, combs=tuple((*comb[:-1], comb[-2]) for comb in good.combs))
    for bad in (higher, fewer, more, empty, trivial, without, stronger, negative, no_combs):
        assert recomputed_bound(objective, bad, np.inf) < bad.bound


def _with_duals(node: Node, factor: float) -> Node:
    return node._replace(combs=tuple((comb, factor * dual) for comb, dual in node.combs))


@pytest.mark.parametrize("family", ["euclidean", "vectors"])
@pytest.mark.slow
def test_without_branching_the_lp_gives_a_better_bound_than_one_trees(family: str) -> None:
    objective = linear_of(random_problem(family, 120, UNDER, 1))
    order = iterated_local_search(objective, RNG(0), Budget(), 2000)
    tree = tree_of(objective, order, nodes=1)
    assert not tree.proved
    certificate = tree.certificate()
    assert isinstance(certificate, BranchAndBound)
    assert len(certificate.nodes) == 2
    plain = one_tree_bound(objective, objective(order), Budget(), OneTreeParams())
    assert objective(order) - certificate.bound < 0.9 * (objective(order) - plain.bound)
    assert recomputed_bound(objective, certificate, np.inf) == certificate.bound
    assert recomputed_bound(objective, replace(certificate, bound=certificate.bound * (1 + 1e-6)), np.inf) < objective(
        order
    )
    whole = tree_of(objective, order)
    assert whole.proved
    assert certificate.bound < objective(whole.incumbent.order)


@pytest.mark.parametrize("heavy", [1e3, 1e13, 1e60])
def test_huge_travel_costs_do_not_weaken_a_proof(heavy: float) -> None:
    for seed in range(6):
        rng = RNG(seed)
        travel = rng.uniform(1, 10, (11, 11))
        travel[rng.random((11, 11)) < 0.4] = heavy
        travel = np.triu(travel, 1) + np.triu(travel, 1).T
        scores = rng.uniform(1, 10, 11)
        scores[seed] *= heavy if seed % 2 else 1.0
        rate = (0.0, 1 / 6)[seed % 2]
        objective = Weighted(TravelMatrix(travel), scores, (1 - rate) * rate ** np.arange(10, -1, -1.0))
        least = objective(held_karp(objective, RNG(0), Budget()).order)
        start = iterated_local_search(objective, RNG(0), Budget(), 100, 2)
        proofs = (
            BranchAndCut(Incumbent(objective, start), Budget(), BranchAndCutParams()),
            NgRouteProof(Incumbent(objective, start), RNG(0), Budget(), DEFAULTS),
        )
        for proof in proofs:
            proof.run()
            if proof.proved:
                assert objective(proof.incumbent.order) == pytest.approx(least, rel=1.1e-10)
            assert proof.certificate().bound <= least
            assert recomputed_bound(objective, proof.certificate(), least) >= proof.certificate().bound
        if heavy == 1e3:
            assert proofs[1].proved


@pytest.mark.parametrize("unit", [1e-60, 1e-6, 1e6, 1e60])
@pytest.mark.parametrize("heavy", [1e-30, 1.0, 1e30])
def test_units_do_not_matter(unit: float, heavy: float) -> None:
    places = RNG(70).uniform(-1, 1, (70, 2))
    travel = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    objective = Weighted(
        TravelMatrix(unit * travel), heavy * unit * RNG(1).uniform(0, 1, 70), np.append(np.zeros(69), 1.0)
    )
    tree = tree_of(objective, iterated_local_search(objective, RNG(0), Budget(), 1000), budget=Budget())
    assert tree.proved
    assert tree.nodes < 300
    certificate = tree.certificate()
    assert certificate.bound <= objective(tree.incumbent.order)
    assert certificate.bound == pytest.approx(objective(tree.incumbent.order), rel=1e-9)
    again = read_certificate(certificate.to_dict(70), 70)
    assert recomputed_bound(objective, again, np.inf) >= certificate.bound * (1 - 1e-12)


def test_is_for_symmetric_travel_and_few_scores_only() -> None:
    many = linear_of(random_problem("euclidean", 8, Learner(1000, 100, 0.1), 0))
    assert not branching_applies(many, ProofParams())
    assert not branching_applies(linear_of(asymmetric(8, UNDER, 0)), ProofParams())


def test_no_time_leaves_a_valid_bound() -> None:
    objective = linear_of(random_problem("vectors", 60, UNDER, 0))
    tree = tree_of(objective, RNG(0).permutation(60), budget=Budget(deadline=0.0))
    assert not tree.proved
    certificate = tree.certificate()
    assert isinstance(certificate, OneTree)
    assert certificate.bound < objective(tree.incumbent.order)
    assert recomputed_bound(objective, certificate, np.inf) >= certificate.bound
