"""Fixed ends, the way back and unequal samples: all orders tried beside proofs and bounds of every kind."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import oracle
from learnroute import Objective
from learnroute.model.certificate import Certificate
from learnroute.model.objective import least_products
from learnroute.model.validation import IntArray
from learnroute.solvers.bounds import best_bound, simple_bound
from learnroute.solvers.contract import Budget, Effort
from learnroute.solvers.ends import least_score_parts, score_bound, within_ends
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.ng_route.solver import Prover
from learnroute.solvers.exact.one_tree import tree_bound
from learnroute.solvers.methods import exact, search_and_prove
from learnroute.verification import least_by_enumeration, recomputed_bound

RNG = np.random.default_rng
ENDS = {"free": (None, None), "first": (2, None), "last": (None, 0), "both": (1, 3)}
SHARES = ("under", "over", "flat", "factors", "mixed")


def drawn(size: int, seed: int, symmetric: bool, shares: str, ends: str, closed: bool) -> Objective:
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
    if factors is not None:
        weights = least_products(factors)
    first, last = ENDS[ends]
    return Objective(travel, scores, weights, 1.5, first, last, closed, factors)


def all_values(objective: Objective) -> dict[tuple[int, ...], float]:
    found = oracle.values(
        objective.travel, objective.scores, objective.weights, objective.factors, objective.first, objective.last,
        objective.closed,
    )  # fmt: skip
    return {order: value + objective.constant for order, value in found.items()}


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_optimum_and_bounds_of_every_kind(shares: str, ends: str, closed: bool) -> None:
    for size, symmetric in itertools.product((4, 5, 6), (False, True)):
        objective = drawn(size, 7, symmetric, shares, ends, closed)
        least = min(all_values(objective).values())
        found = exact(objective, RNG(0), Budget())
        assert found.optimal
        assert objective.allows(found.order)
        assert objective(found.order) == pytest.approx(least, rel=1e-12)
        assert least_by_enumeration(objective) == pytest.approx(least, rel=1e-12)
        start = within_ends(objective, RNG(1).permutation(size))
        assert objective.allows(start)
        prover = Prover(objective, start, Budget())
        prover.run()
        assert objective.allows(prover.order)
        if prover.tight:
            assert prover.proved
        if prover.proved:
            assert objective(prover.order) == pytest.approx(least, rel=1e-10)
        certificates = [
            found.certificate,
            prover.certificate(),
            tree_bound(objective, least, Budget(), 100),
            Certificate("simple", simple_bound(objective)),
            best_bound(objective, start, Budget()),
        ]
        for certificate in certificates:
            assert certificate is not None
            assert np.isfinite(certificate.bound)
            assert certificate.bound <= least
            again = recomputed_bound(objective, certificate, certificate.bound)
            assert again >= certificate.bound - 1e-12 * abs(certificate.bound)
            assert again <= least + 1e-12 * least


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("ends", ENDS)
def test_score_parts_by_last_region_are_the_least(shares: str, ends: str) -> None:
    objective = drawn(6, 3, True, shares, ends, False)
    still = Objective(
        np.zeros((6, 6)), objective.scores, objective.weights, 0.0, objective.first, objective.last, False,
        objective.factors,
    )  # fmt: skip
    every = all_values(still)
    parts = least_score_parts(still)
    for last in range(6):
        of_last = [value for order, value in every.items() if order[-1] == last]
        if of_last:
            assert parts[last] == pytest.approx(min(of_last), rel=1e-12)
    assert score_bound(still) == pytest.approx(min(every.values()), rel=1e-12)


def beam(objective: Objective, kept: int = 1_000) -> IntArray:
    """Return a good order, found from its end: only the cheapest partial orders go on. Needs no search of ours."""
    size = objective.size
    finish = objective.finish + objective.weights[-1] * objective.scores
    partial: list[tuple[float, tuple[int, ...]]] = [
        (float(finish[v]), (v,)) for v in range(size) if np.isfinite(finish[v])
    ]
    for t in range(size - 2, -1, -1):
        longer: dict[tuple[frozenset[int], int], tuple[float, tuple[int, ...]]] = {}
        for value, stops in partial:
            for v in set(range(size)) - set(stops):
                cost = value + float(objective.travel[v, stops[0]] + objective.weights[t] * objective.scores[v])
                key = (frozenset(stops), v)
                if (v != objective.first or t == 0) and cost < longer.get(key, (np.inf, ()))[0]:
                    longer[key] = (cost, (v, *stops))
        partial = sorted(longer.values())[:kept]
    least = min((stops for _, stops in partial if np.isfinite(objective.begin[stops[0]])), key=objective)
    return within_ends(objective, np.array(least))


def proved(objective: Objective) -> Prover:
    prover = Prover(objective, beam(objective), Budget())
    prover.run()
    return prover


@pytest.mark.parametrize(("ends", "closed", "shares"), [
    ("last", True, "under"), ("both", False, "over"), ("both", True, "flat"), ("first", True, "under"),
    ("first", False, "over"), ("free", True, "under"),
])  # fmt: skip
@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "asymmetric"])
def test_proofs_beyond_enumeration(ends: str, closed: bool, shares: str, symmetric: bool) -> None:
    objective = drawn(21, 5, symmetric, shares, ends, closed)
    found = proved(objective)
    assert found.proved
    assert objective.allows(found.order)
    value, certificate = objective(found.order), found.certificate()
    assert certificate.bound <= value
    assert recomputed_bound(objective, certificate, value) >= certificate.bound - 1e-11 * value


def test_the_same_problem_one_region_larger() -> None:
    """A region that costs nothing to add turns twenty regions, enumerated, into twenty-one, proved."""
    for ends, closed, shares in (("first", False, "over"), ("both", True, "under"), ("last", False, "flat")):
        small = drawn(20, 11, False, shares, ends, closed)
        least = small(held_karp(small, RNG(0), Budget()).order)
        size = 21
        travel = np.full((size, size), 1000.0)
        travel[:20, :20] = small.travel
        travel[20, 20] = 0.0
        begin = small.begin
        # the new region goes first, and from there to where an order may begin
        travel[20, :20] = np.where(np.isfinite(begin), begin if small.first is None else 0.0, 1000.0)
        if closed:
            assert small.first is not None
            travel[:20, 20] = small.travel[:, small.first]
        weights = np.concatenate([[0.0], small.weights])
        larger = Objective(travel, np.append(small.scores, 0.0), weights, small.constant, 20, small.last, closed)
        found = proved(larger)
        assert found.proved
        assert larger(found.order) == pytest.approx(least, rel=1e-10)


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_unequal_samples_beyond_enumeration_claim_no_more_than_is_proved(ends: str, closed: bool) -> None:
    objective = drawn(22, 2, True, "factors", ends, closed)
    found = search_and_prove(objective, RNG(0), Budget(), beam(objective, 100), Effort(rounds=1, states=20_000))
    assert objective.allows(found.order)
    certificate = found.certificate
    assert certificate is not None
    value = objective(found.order)
    assert 0 < certificate.bound <= value
    assert recomputed_bound(objective, certificate, value) >= certificate.bound - 1e-11 * value
    if not found.optimal:
        assert found.notes


def test_orders_are_brought_within_their_ends() -> None:
    rng = RNG(0)
    order = np.array([4, 2, 0, 3, 1])

    def asked(**ends: Any) -> list[int]:
        objective = Objective(rng.uniform(1, 2, (5, 5)), np.array([3.0, 1, 2, 5, 4]), np.eye(5)[4], **ends)
        return [int(v) for v in within_ends(objective, order)]

    assert asked() == [4, 2, 0, 3, 1]
    assert asked(first=0) == [0, 4, 2, 3, 1]
    assert asked(last=2) == [4, 0, 3, 1, 2]
    assert asked(first=3, last=4) == [3, 2, 0, 1, 4]
    assert asked(closed=True) == [4, 2, 0, 3, 1]
