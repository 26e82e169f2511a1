"""Bounds of very many places are checked row by row, and agree with the matrix of all distances."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from learnroute import Constraints, Learner, Problem, plan, verify
from learnroute.model.certificates import OneTree, Simple
from learnroute.model.travel import Places
from learnroute.solvers.params import BoundParams, OneTreeParams, SolverParams
from learnroute.verification import bounds, exact
from recomputed import recomputed_bound
from samples import OVER, UNDER, linear_of

CONSTRAINTS = {
    "free": Constraints(),
    "fixed": Constraints(start="R2", end="R5"),
    "return trip": Constraints(returns=True),
    "return trip, fixed end": Constraints(end="R3", returns=True),
}


def places(size: int, learner: Learner, geographic: bool, **options: Any) -> Problem:
    rng = np.random.default_rng(size)
    found = np.column_stack([rng.uniform(-170, 170, size), rng.uniform(-80, 80, size)])
    return Problem(
        learner=learner, coordinates=found, geographic=geographic, vectors=rng.normal(0, 2, (size, 2)), **options
    )


@pytest.mark.parametrize("geographic", [False, True], ids=["plane", "globe"])
@pytest.mark.parametrize("ends", CONSTRAINTS)
def test_rows_say_what_the_matrix_says(ends: str, geographic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for learner in (UNDER, OVER):
        objective = linear_of(places(40, learner, geographic, constraints=CONSTRAINTS[ends]))
        assert isinstance(objective.travel, Places)
        rng = np.random.default_rng(1)
        for certificate in (Simple(1e9), OneTree(1e9, np.zeros(42)), OneTree(1e9, rng.normal(0, 9, 42))):
            monkeypatch.setattr(exact, "MATRIX_REGIONS", 3000)
            whole = recomputed_bound(objective, certificate, 1e9)
            monkeypatch.setattr(exact, "MATRIX_REGIONS", 10)
            assert isinstance(exact.model_of(objective).travel, Places)
            by_rows = recomputed_bound(objective, certificate, 1e9)
            assert by_rows == (pytest.approx(whole, rel=1e-12) if geographic else whole)


@pytest.mark.parametrize("geographic", [False, True], ids=["plane", "globe"])
@pytest.mark.parametrize("ends", CONSTRAINTS)
def test_bounds_of_many_places_are_confirmed_and_raised_ones_refuted(
    ends: str, geographic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With lower thresholds, so that few places are treated like more than 3000."""
    size = 3100 if ends == "free" and not geographic else 300
    rng = np.random.default_rng(0)
    samples = rng.choice([20, 60, 150], size) if ends == "fixed" else None
    problem = places(size, OVER, geographic, constraints=CONSTRAINTS[ends], samples=samples)
    if size < 3000:
        monkeypatch.setattr(exact, "MATRIX_REGIONS", 10)
        monkeypatch.setattr(bounds, "MATRIX_REGIONS", 10)
    params = SolverParams(bound=BoundParams(one_tree=OneTreeParams(most_regions=min(size - 1, 3000))))
    found = plan(problem, "random", params=params)
    assert isinstance(found.certificate, Simple)
    assert verify(problem, found).holds
    data = json.loads(json.dumps(found.to_dict()))
    raised = 0.5 * data["loss"]["total"]
    data |= {"lower_bound": raised, "certificate": {**data["certificate"], "bound": raised}}
    verdicts = {check.what: check.verdict for check in verify(problem, data)}
    assert verdicts["bound"] == verdicts["certificate"] == "refuted"


def test_the_bound_of_nearest_legs_holds_for_every_order() -> None:
    """Half of the two cheapest legs at each region: compared with all orders of a few places."""
    from itertools import permutations

    for seed in range(30):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 7))
        travel = rng.integers(1, 9, (size, size)).astype(float)
        np.fill_diagonal(travel, 0)
        for ends in (None, *CONSTRAINTS.values()) if size > 4 else (None, CONSTRAINTS["return trip"]):
            problem = Problem(travel, UNDER, 1 - np.eye(size), constraints=ends or Constraints())
            objective = linear_of(problem)
            orders = [list(order) for order in permutations(range(size)) if objective.ends.allows(order)]
            least = min(map(objective, orders))
            assert recomputed_bound(objective, Simple(1e9), 1e9) <= least


def test_more_failed_regions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = places(30, UNDER, False)
    found = plan(problem, "nearest", time_limit=1e-9)
    monkeypatch.setattr(bounds, "MOST_REGIONS", 29)
    verdicts = {check.what: check for check in verify(problem, found)}
    assert verdicts["bound"].verdict == "not checked"
    assert "more than 29 regions are too many" in verdicts["bound"].detail
