"""Thousands of mutated plans: verdicts are compared with all orders in rational numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from forgeries import EXOTIC, TOLERANCE, case, case_below_zero, check_verdicts, mutate
from learnroute import Calibrated, Problem, evaluate, plan, verify

MUTANTS = 90  # of each problem and kind


@pytest.mark.parametrize("seed", range(EXOTIC + 3))
def test_no_forgery_is_confirmed_and_nothing_true_refuted(seed: int) -> None:
    forged = case(seed)
    rng = np.random.default_rng(seed)
    size = forged.problem.size
    honest = json.loads(json.dumps(plan(forged.problem, "random", seed=seed).to_dict()))
    verdicts = 0
    for certificate in forged.certificates().values():
        bound = certificate.bound / size
        ratio = honest["loss"]["total"] / bound if bound > 0 else None
        data = {
            **honest, "certificate": certificate.to_dict(size), "lower_bound": bound, "optimal": False,
            "gap": None if ratio is None else ratio - 1, "certified_ratio": ratio,
        }  # fmt: skip
        data = json.loads(json.dumps(data))
        assert verify(forged.problem, data).holds, [check for check in verify(forged.problem, data) if not check.holds]
        for _ in range(MUTANTS // len(forged.problem.regions)):
            verdicts += check_verdicts(forged, mutate(forged, data, rng))
    assert verdicts > 100


@pytest.mark.parametrize("seed", range(12))
def test_losses_below_zero_are_judged_like_all_others(seed: int) -> None:
    forged = case_below_zero(seed)
    assert forged.least < 0
    rng = np.random.default_rng(seed)
    verdicts = 0
    for method in ("exact", "search", "random"):
        data = json.loads(json.dumps(plan(forged.problem, method, seed=seed).to_dict()))
        found = verify(forged.problem, data)
        assert found.holds, [check for check in found if not check.holds]
        for _ in range(20):
            verdicts += check_verdicts(forged, mutate(forged, data, rng))
    assert verdicts > 100


def test_a_route_slightly_above_a_negative_optimum_is_refuted() -> None:
    """Two routes, a few tolerances apart: the tolerance of a negative total is subtracted, never added."""
    for excess, optimal in ((0.5, True), (2.0, False)):
        apart = excess * float(TOLERANCE) * 6  # T times the loss is -6
        law = Calibrated(retention=0.0, coupling=0.0, noise=-4.0)
        problem = Problem([[0.0, apart], [0.0, 0.0]], law, transfer=np.ones((2, 2)), initial=[1, 1])
        best, other = evaluate(problem, [1, 0]), evaluate(problem, [0, 1])
        assert best.loss.total == -3.0
        assert verify(problem, {**best.to_dict(), "optimal": True, "lower_bound": -3.0, "guarantee": 1.0}).holds
        total = other.loss.total
        claims = {"optimal": True, "lower_bound": total, "gap": 0.0, "certified_ratio": 1.0, "guarantee": 1.0}
        found = verify(problem, {**other.to_dict(), **claims})
        assert found.holds is optimal
        if not optimal:
            refuted = {check.what for check in found if check.verdict == "refuted"}
            assert refuted == {"optimum", "bound", "gap", "certified_ratio", "guarantee"}
