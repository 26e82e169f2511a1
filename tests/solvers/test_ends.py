"""Fixed ends, the return trip and unequal samples: all orders against proofs and bounds of every kind."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import oracle
from learnroute import SolverParams
from learnroute.model.certificates import Simple
from learnroute.model.ends import Ends
from learnroute.model.linear import Linear, Weighted
from learnroute.model.relaxation import LinearError
from learnroute.model.travel import TravelMatrix
from learnroute.model.validation import IntArray
from learnroute.solvers.bounds import least_score_parts, score_bound, simple_bound
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact import proof as ladder
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.ng_route.solver import NgRouteProof
from learnroute.solvers.exact.one_tree import one_tree_bound
from learnroute.solvers.exact.proof import lower_bound
from learnroute.solvers.params import DEFAULTS, AscentParams, NgRouteParams, OneTreeParams, ProofParams
from learnroute.verification.exact import model_of
from learnroute.verification.held_karp import least_order
from recomputed import recomputed_bound
from samples import factors_of

RNG = np.random.default_rng
ENDS = {"free": (None, None), "first": (2, None), "last": (None, 0), "both": (1, 3)}
SHARES = ("under", "over", "flat", "factors", "mixed")


def random_objective(size: int, seed: int, symmetric: bool, shares: str, ends: str, closed: bool) -> Linear:
    rng = RNG([seed, size])
    travel = rng.uniform(1, 10, (size, size))
    if symmetric:
        travel = np.maximum(travel, travel.T)
    np.fill_diagonal(travel, 0)
    scores = rng.uniform(0, 30, size)
    factors = None
    weights = np.zeros(size)
    weights[-1] = 1.0
    if shares == "over":
        weights = 5 / 6 * (1 / 6) ** np.arange(size - 1, -1, -1.0)
    elif shares == "flat":
        weights = 0.1 * 0.9 ** np.arange(size - 1, -1, -1.0)
    elif shares == "factors":
        factors = rng.uniform(0.05, 0.95, size)
    elif shares == "mixed":
        factors = np.where(rng.random(size) < 0.4, 0.0, rng.uniform(0.2, 0.9, size))
        factors[0] = 0.5
    return LinearError(scores, weights, 1.5, factors).objective(TravelMatrix(travel), Ends(*ENDS[ends], closed))


def all_values(objective: Linear) -> dict[tuple[int, ...], float]:
    found = oracle.values(
        objective.travel.matrix, objective.scores, objective.weights, factors_of(objective), objective.ends.first,
        objective.ends.last, objective.ends.closed,
    )  # fmt: skip
    return {order: value + objective.constant for order, value in found.items()}


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_optimum_and_bounds_of_every_kind(shares: str, ends: str, closed: bool) -> None:
    for size, symmetric in itertools.product((4, 5, 6), (False, True)):
        objective = random_objective(size, 7, symmetric, shares, ends, closed)
        least = min(all_values(objective).values())
        found = held_karp(objective, RNG(0), Budget())
        assert found.optimal
        assert objective.ends.allows(found.order)
        assert objective(found.order) == pytest.approx(least, rel=1e-12)
        again = least_order(model_of(objective), Fraction(least)).order
        assert objective.ends.allows(again)
        assert objective(again) == pytest.approx(least, rel=1e-12)
        start = objective.repair(RNG(1).permutation(size))
        assert objective.ends.allows(start)
        proof = NgRouteProof(Incumbent(objective, start), RNG(0), Budget(), DEFAULTS)
        proof.run()
        assert objective.ends.allows(proof.incumbent.order)
        if proof.incumbent.tight:
            assert proof.proved
        if proof.proved:
            assert objective(proof.incumbent.order) == pytest.approx(least, rel=1e-10)
        certificates = [
            found.certificate,
            proof.certificate(),
            one_tree_bound(objective, least, Budget(), OneTreeParams(AscentParams(100))),
            Simple(simple_bound(objective)),
            lower_bound(objective, start, Budget()),
        ]
        for certificate in certificates:
            assert certificate is not None
            assert np.isfinite(certificate.bound)
            assert certificate.bound <= least
            found_again = recomputed_bound(objective, certificate, certificate.bound)
            assert found_again >= certificate.bound - 1e-12 * abs(certificate.bound)
            assert found_again <= least + 1e-12 * least


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("ends", ENDS)
def test_score_parts_by_last_region_are_the_least(shares: str, ends: str) -> None:
    objective = random_objective(6, 3, True, shares, ends, False)
    still = objective.error_alone()
    still.constant = 0.0
    every = all_values(still)
    parts = least_score_parts(still)
    for last in range(6):
        of_last = [value for order, value in every.items() if order[-1] == last]
        if of_last:
            assert parts[last] == pytest.approx(min(of_last), rel=1e-12)
    assert score_bound(still) == pytest.approx(min(every.values()), rel=1e-12)


def beam(objective: Linear, kept: int = 300) -> IntArray:
    """Return a good order by beam search from its end, independent of the package."""
    size, travel, positions = objective.size, objective.travel.matrix.tolist(), objective.ends.positions(objective.size)
    finish = objective.finish + objective.weights[-1] * objective.scores
    partial: list[tuple[float, tuple[int, ...]]] = [
        (float(finish[v]), (v,)) for v in range(size) if np.isfinite(finish[v])
    ]
    for t in range(size - 2, -1, -1):
        longer: dict[tuple[frozenset[int], int], tuple[float, tuple[int, ...]]] = {}
        allowed, scores = set(np.flatnonzero(positions[t]).tolist()), (objective.weights[t] * objective.scores).tolist()
        for value, stops in partial:
            visited = frozenset(stops)
            for v in allowed - visited:
                cost, key = value + travel[v][stops[0]] + scores[v], (visited, v)
                if cost < longer.get(key, (np.inf, ()))[0]:
                    longer[key] = (cost, (v, *stops))
        partial = sorted(longer.values())[:kept]
    least = min((stops for _, stops in partial if np.isfinite(objective.begin[stops[0]])), key=objective)
    return objective.repair(np.array(least))


def prove(objective: Linear) -> NgRouteProof:
    proof = NgRouteProof(Incumbent(objective, beam(objective)), RNG(0), Budget(), DEFAULTS)
    proof.run()
    return proof


@pytest.mark.parametrize(("ends", "closed", "shares"), [
    ("last", True, "under"), ("both", False, "over"), ("both", True, "flat"), ("first", True, "under"),
    ("first", False, "over"), ("free", True, "under"),
])  # fmt: skip
@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "asymmetric"])
@pytest.mark.slow
def test_proofs_beyond_enumeration(ends: str, closed: bool, shares: str, symmetric: bool) -> None:
    objective = random_objective(21, 5, symmetric, shares, ends, closed)
    found = prove(objective)
    assert found.proved
    assert objective.ends.allows(found.incumbent.order)
    value, certificate = objective(found.incumbent.order), found.certificate()
    assert certificate.bound <= value
    assert recomputed_bound(objective, certificate, value) >= certificate.bound - 1e-11 * value


@pytest.mark.slow
def test_same_problem_with_one_more_region() -> None:
    """Adding a region at no cost turns an enumerated problem of 20 regions into a proved one of 21."""
    for ends, closed, shares in (("first", False, "over"), ("both", True, "under"), ("last", False, "flat")):
        small = random_objective(20, 11, False, shares, ends, closed)
        least = small(held_karp(small, RNG(0), Budget()).order)
        size = 21
        travel = np.full((size, size), 1000.0)
        travel[:20, :20] = small.travel.matrix
        travel[20, 20] = 0.0
        begin = small.begin
        # the new region goes first, and from there to where an order may begin
        travel[20, :20] = np.where(np.isfinite(begin), begin if small.ends.first is None else 0.0, 1000.0)
        if closed:
            assert small.ends.first is not None
            travel[:20, 20] = small.travel.matrix[:, small.ends.first]
        weights = np.concatenate([[0.0], small.weights])
        ends_there = Ends(20, small.ends.last, closed)
        larger = Weighted(TravelMatrix(travel), np.append(small.scores, 0.0), weights, small.constant, ends_there)
        found = prove(larger)
        assert found.proved
        assert larger(found.incumbent.order) == pytest.approx(least, rel=1e-10)


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.slow
def test_unequal_samples_beyond_enumeration_claim_no_more_than_is_proved(ends: str, closed: bool) -> None:
    objective = random_objective(22, 2, True, "factors", ends, closed)
    params = SolverParams(proof=ProofParams(ng_route=NgRouteParams(rounds=1, labels=20_000)))
    found = ladder.prove(objective, beam(objective, 100), Budget(), params, RNG(0))
    assert objective.ends.allows(found.order)
    certificate = found.certificate
    assert certificate is not None
    value = objective(found.order)
    assert 0 < certificate.bound <= value
    assert recomputed_bound(objective, certificate, value) >= certificate.bound - 1e-11 * value
    if not found.optimal:
        assert found.cause


def test_orders_are_brought_within_their_ends() -> None:
    rng = RNG(0)
    order = np.array([4, 2, 0, 3, 1])

    def argument_list(**ends: Any) -> list[int]:
        objective = Weighted(
            TravelMatrix(rng.uniform(1, 2, (5, 5))), np.array([3.0, 1, 2, 5, 4]), np.eye(5)[4], 0.0, Ends(**ends)
        )
        return [int(v) for v in objective.repair(order)]

    assert argument_list() == [4, 2, 0, 3, 1]
    assert argument_list(first=0) == [0, 4, 2, 3, 1]
    assert argument_list(last=2) == [4, 0, 3, 1, 2]
    assert argument_list(first=3, last=4) == [3, 2, 0, 1, 4]
    assert argument_list(closed=True) == [4, 2, 0, 3, 1]
