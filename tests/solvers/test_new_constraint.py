"""A new constraint, added as docs/extending.md says: solvers ask `Ends`, and all of them respect it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest

from learnroute.model.ends import BoolArray, Ends
from learnroute.model.linear import Linear, Weighted
from learnroute.model.travel import TravelMatrix
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.branch_and_cut.solver import BranchAndCut
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.ng_route.solver import NgRouteProof
from learnroute.solvers.exact.pareto import pareto_front_orders
from learnroute.solvers.exact.proof import lower_bound
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import DEFAULTS, BranchAndCutParams
from recomputed import recomputed_bound

RNG = np.random.default_rng


@dataclass(frozen=True)
class NotFirst(Ends):
    """Some regions must not come first."""

    barred: tuple[int, ...] = ()

    def may_begin(self, size: int) -> BoolArray:
        return super().may_begin(size) & ~np.isin(np.arange(size), self.barred)

    def allows(self, order: object) -> bool:
        stops = np.asarray(order)
        return super().allows(stops) and int(stops[0]) not in self.barred

    def repair(self, order: IntArray) -> IntArray:
        order = super().repair(order)
        if self.allows(order):
            return order
        first = next(k for k, v in enumerate(order.tolist()) if v not in (*self.barred, self.last))
        return np.concatenate([order[first : first + 1], np.delete(order, first)])


def random_objective(rate: float, seed: int, size: int = 7) -> Linear:
    rng = RNG(seed)
    places = rng.uniform(0, 10, (size, 2))
    travel = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    weights = (1 - rate) * rate ** np.arange(size - 1, -1, -1.0) if rate else np.append(np.zeros(size - 1), 1.0)
    ends = NotFirst(last=2 if seed % 2 else None, barred=(0, 1, 3))
    return Weighted(TravelMatrix(travel), rng.uniform(0, 20, size), weights, 1.0, ends)


@pytest.mark.parametrize("rate", [0.0, 1 / 6, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_all_methods_respect_constraints(rate: float, seed: int) -> None:
    objective = random_objective(rate, seed)
    allowed = [np.array(order) for order in permutations(range(7)) if objective.ends.allows(order)]
    least = min(map(objective, allowed))
    start = objective.repair(np.arange(7))
    assert objective.ends.allows(start)
    assert objective(held_karp(objective, RNG(0), Budget()).order) == pytest.approx(least, rel=1e-12)
    found = iterated_local_search(objective, RNG(0), Budget(), 200)
    assert objective.ends.allows(found)
    assert objective(found) == pytest.approx(least, rel=1e-12)
    routes = NgRouteProof(Incumbent(objective, start), RNG(0), Budget(), DEFAULTS)
    tree = BranchAndCut(Incumbent(objective, start), Budget(), BranchAndCutParams())
    for proof in (routes, tree) if rate < 0.5 else (routes,):
        proof.run()
        assert proof.proved
        assert objective.ends.allows(proof.incumbent.order)
        assert objective(proof.incumbent.order) == pytest.approx(least, rel=1e-10)
        certificate = proof.certificate()
        assert certificate.bound <= least
        assert recomputed_bound(objective, certificate, least) >= certificate.bound
    assert lower_bound(objective, start, Budget()).bound <= least
    front = pareto_front_orders(objective, Budget())
    assert front is not None
    assert all(objective.ends.allows(order) for order in front)
    assert min(map(objective, front)) == pytest.approx(least, rel=1e-12)
