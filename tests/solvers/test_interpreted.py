"""The search without machine code."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from learnroute import Objective, plan
from learnroute.kernels import machine_code
from learnroute.model.distances import Points
from learnroute.model.ends import Ends
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search import interpreted
from learnroute.study.families import random_problem
from samples import OVER, UNDER

ENDS = [Ends(first, last, closed) for first in (None, 2) for last in (None, 3) for closed in (False, True)]


def problem(size: int, ends: Ends, seed: int, symmetric: bool) -> Objective:
    rng = np.random.default_rng(seed)
    travel = Points(rng.uniform(0, 1, (size, 2))).matrix() if symmetric else rng.uniform(0.1, 1, (size, size))
    if not symmetric:
        travel = travel - np.diag(np.diag(travel))
    weights = np.zeros(size)
    weights[-1] = 1.0
    return Objective(travel, rng.uniform(0, 0.3, size), weights, 0.5, ends)


@pytest.mark.parametrize("ends", ENDS, ids=str)
@pytest.mark.parametrize("symmetric", [True, False])
def test_no_single_move_is_left_that_helps(ends: Ends, symmetric: bool) -> None:
    """By trying all of them: every reversal, every move of up to three regions."""
    objective = problem(9, ends, 4, symmetric)
    found = interpreted.interpreted_search(objective, np.random.default_rng(0), Budget())
    assert sorted(found.tolist()) == list(range(9))
    assert ends.allows(found.tolist())
    least = objective(found)
    beside = []
    for i, j in itertools.combinations(range(10), 2):
        if symmetric:
            beside.append([*found[:i], *found[i:j][::-1], *found[j:]])
        if j - i <= interpreted.LONGEST:
            rest = [*found[:i], *found[j:]]
            beside += [[*rest[:k], *found[i:j], *rest[k:]] for k in range(len(rest) + 1)]
    if not ends.cyclic:  # a cycle's moves keep where it begins
        assert all(objective(np.array(order)) >= least - 1e-9 for order in beside if ends.allows(order))


@pytest.mark.parametrize("over", [False, True])
def test_a_short_limit_compiles_nothing_where_nothing_is_at_hand(
    over: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = random_problem("euclidean", 60, OVER if over else UNDER, 1)
    best = plan(asked, "search").loss.total
    monkeypatch.setattr(machine_code, "known_kernels", set)
    monkeypatch.setattr(machine_code, "_machine_code", lambda text: pytest.fail("something was compiled"))
    found = plan(asked, time_limit=2.0)
    assert any("compiling" in note for note in found.notes)
    assert best <= found.loss.total <= 1.5 * best
    assert found.lower_bound is not None
    assert found.lower_bound <= best
