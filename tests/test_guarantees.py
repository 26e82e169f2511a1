"""The guarantees of Algorithm 1 hold for any ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import oracle
from learnroute import Constraints, Learner, plan
from learnroute.guarantees import travel_ratio
from learnroute.study.families import random_problem
from samples import OVER, UNDER, asymmetric

ENDS: dict[str, tuple[dict[str, Any], float]] = {
    "free": ({}, 1.5),
    "end": ({"end": "R3"}, 1.5),
    "tour": ({"returns": True}, 1.5),
    "tour to": ({"end": "R1", "returns": True}, 1.5),
    "both": ({"start": "R2", "end": "R3"}, 5 / 3),
    "both, tour": ({"start": "R2", "end": "R3", "returns": True}, 5 / 3),
    "start": ({"start": "R2"}, 2.0),
    "tour from": ({"start": "R4", "returns": True}, 2.0),
}


@pytest.mark.parametrize(("ends", "ratio"), ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("learner", [UNDER, OVER, Learner(1000, 100)], ids=["under", "over", "flat"])
def test_algorithm_1_keeps_its_ratio(learner: Learner, ends: dict[str, Any], ratio: float) -> None:
    for family in ("closure", "euclidean"):
        for seed in range(8):
            problem = random_problem(family, 6, learner, seed).replace(constraints=Constraints(**ends))
            losses = [oracle.journey_loss(problem, order) for order in oracle.allowed_orders(problem)]
            found = plan(problem, "algorithm1")
            assert found.guarantee.value is not None
            assert travel_ratio(problem)[0] == ratio
            if learner.regime == "under":
                assert found.guarantee.value == ratio
            assert found.guarantee.value >= ratio
            assert found.loss.total <= found.guarantee.value * min(loss["total"] for loss in losses) * (1 + 1e-12)
            assert found.travel_cost <= ratio * min(loss["travel_cost"] for loss in losses) * (1 + 1e-12)


def test_scores_that_differ_widely_count_in_the_over_regime() -> None:
    """The guarantee depends on the score part if that is the worse one."""
    problem = random_problem("euclidean", 6, Learner(1000, 100), 3).replace(travel_rate=0.0)
    for ends in (Constraints(), Constraints(end="R5"), Constraints("R1"), Constraints("R1", "R5")):
        steep = problem.replace(
            dissimilarity=np.array(problem.dissimilarity) ** 4, constraints=ends
        )  # fmt: skip
        found = plan(steep, "algorithm1")
        best = min(oracle.journey_loss(steep, order)["total"] for order in oracle.allowed_orders(steep))
        assert found.guarantee.value is not None
        assert found.guarantee.value > 1
        assert found.loss.total <= found.guarantee.value * best * (1 + 1e-12)


def test_no_guarantee_without_its_conditions() -> None:
    problem = random_problem("closure", 5, OVER, 1)
    unequal = plan(problem.replace(samples=[50, 60, 70, 200, 90]), "algorithm1").guarantee
    assert (unequal.value, "unequal samples" in unequal.reason) == (None, True)
    under = plan(problem.replace(samples=[200, 260, 270, 200, 290]), "algorithm1").guarantee
    assert under.value == 1.5
    assert plan(asymmetric(5, UNDER, 1), "nearest").guarantee.value is None
    fixed = plan(problem.replace(learner=UNDER, constraints=Constraints("R1", "R2")), "algorithm1").guarantee
    assert "the first region fixed, the last region fixed" in fixed.reason
    assert fixed.paper is None
