"""Each number of a plan is checked at its own scale, whatever the size of the others, and true is not 1."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from attacks import attack_members
from forgeries import at
from learnroute import Problem, evaluate, plan, verify
from learnroute.study.families import random_problem
from oracle import law_of
from samples import OVER, UNDER

FORGOTTEN: dict[str, Any] = {
    "travel": [[0, 4, 3], [4, 0, 5], [3, 5, 0]], "vectors": [[0], [0.02], [0.05]], "initial": [1e7, 1e7, 1e7],
    "learner": {"features": 5, "samples": 50, "noise": 0.02}, "travel_rate": 1e-5,
}  # fmt: skip
FAR: dict[str, Any] = {
    "travel": [[0, 4e5, 3e5], [4e5, 0, 5e5], [3e5, 5e5, 0]], "vectors": [[0], [0.02], [0.05]],
    "initial": [0.01, 0.02, 0.03], "learner": {"features": 5, "samples": 50, "noise": 0.02},
    "fleet": {"vehicles": 2, "serve": "own"},
}  # fmt: skip
CANCELLING: dict[str, Any] = {
    "travel": [[0, 1e-9, 2e-9], [1e-9, 0, 3e-9], [2e-9, 3e-9, 0]],
    "learner": {"rule": "calibrated", "retention": 0.5, "coupling": 0.25, "noise": 1e-9},
    "vectors": [[0], [1], [3]], "initial": [1e-9, 1, 2], "importance": [1, 2, 3],
}  # fmt: skip
FLAT: dict[str, Any] = {
    "travel": [[0, 0.11, 0.79], [0.19, 0, 0.81], [0.02, 0.73, 0]], "travel_rate": 0.01,
    "learner": {"rule": "calibrated", "retention": 0.999999988441206, "coupling": 0, "noise": 0},
    "vectors": [[-1.11], [0.28], [0.51]], "initial": [4.84, 4.42, 2.1],
    "fleet": {"vehicles": 2, "serve": "merged"}, "visits": {"at_most": 2},
}  # fmt: skip
MIXED: dict[str, Any] = {
    "travel": [[0, 1e-90], [1e-90, 0]], "dissimilarity": [[0, 1e60], [1e60, 0]], "initial": [1e-80, 2e-80],
    "learner": {"rule": "calibrated", "retention": 1, "coupling": 0.5, "noise": 1e-95},
}  # fmt: skip
PROBLEMS = {"forgotten": FORGOTTEN, "far": FAR, "cancelling": CANCELLING, "flat": FLAT, "mixed": MIXED}


def planned(data: dict[str, Any], method: str = "auto") -> tuple[Problem, dict[str, Any]]:
    problem = Problem.from_dict(data)
    found: dict[str, Any] = json.loads(json.dumps(plan(problem, method).to_dict()))
    return problem, found


def refuted(problem: Problem, data: dict[str, Any]) -> set[str]:
    return {check.what for check in verify(problem, data) if check.verdict == "refuted"}


@pytest.mark.parametrize("name", PROBLEMS)
def test_small_numbers_are_checked_beside_large_ones(name: str) -> None:
    """Each error and each part of the loss is changed by a thousandth of a per cent."""
    problem, honest = planned(PROBLEMS[name])
    assert verify(problem, honest).holds, [check for check in verify(problem, honest) if not check.holds]
    places = [("expected_errors", k) for k in range(problem.size)]
    places += [("loss", part) for part in honest["loss"]]
    places += [("travels", k) for k in range(len(honest.get("travels", [])))]
    for place in places:
        data = copy.deepcopy(honest)
        if old := at(data, place):
            at(data, place[:-1])[place[-1]] = old * (1 + 1e-5)
            assert place[0] in refuted(problem, data), place


def test_errors_of_a_forgotten_model_are_nothing() -> None:
    problem, honest = planned(FORGOTTEN)
    assert refuted(problem, {**honest, "expected_errors": [0, 0.009, -0.009]}) == {"expected_errors"}


def test_travel_does_not_hide_who_serves_a_region() -> None:
    problem, honest = planned(FAR)
    scaled = [1.1 * error for error in honest["expected_errors"]]
    assert refuted(problem, {**honest, "expected_errors": scaled}) == {"expected_errors"}
    for name, model in honest["served_by"].items():
        others = {None, 0, 1} - {model}
        for other in others:
            assert refuted(problem, {**honest, "served_by": {**honest["served_by"], name: other}}), (name, other)


@pytest.mark.parametrize("batch", range(3))
def test_false_changes_of_single_members_are_refuted(batch: int) -> None:
    for seed in range(15 * batch, 15 * batch + 15):
        attack_members(seed)


@pytest.mark.parametrize("learner", [UNDER, OVER])
def test_a_bound_above_the_plans_own_loss_is_refuted(learner: Any) -> None:
    """Too many regions to enumerate: the plan's own route is below the bound."""
    problem = random_problem("euclidean", 24, learner, 3)
    data = json.loads(json.dumps(plan(problem, "nearest").to_dict()))
    total, bound = data["loss"]["total"], data["lower_bound"]
    assert bound < total
    for optimal in (True, False):
        for raised in (2 * total, total * (1 + 1e-6)):
            forged = {**data, "optimal": optimal, "lower_bound": raised, "gap": None, "certified_ratio": None}
            assert "bound" in refuted(problem, forged)
            forged["certificate"] = {**data["certificate"], "bound": raised}
            assert refuted(problem, forged) >= {"bound", "certificate"}


def test_bounds_of_visits_have_no_tolerance() -> None:
    """The noise of least squares is a fraction, which float64 rounds: bounds just below and above a loss differ."""
    decided = set()
    for features, samples in ((5, 28), (26, 23), (26, 48), (33, 18), (47, 28)):
        problem = Problem.from_dict({
            "travel": [[0, 1, 2], [1, 0, 1], [2, 1, 0]], "vectors": [[0], [1], [3]], "initial": [1, 2, 3],
            "learner": {"features": features, "samples": samples, "noise": 10.3}, "travel_rate": 0,
            "visits": {"at_most": 1},
        })  # fmt: skip
        least = law_of(problem).least()
        best = json.loads(json.dumps(plan(problem).to_dict()))
        near = float(least)
        for bound in (np.nextafter(near, 0), near, np.nextafter(near, 2 * near)):
            data = {**best, "optimal": False, "lower_bound": float(bound), "gap": None, "certified_ratio": None}
            data |= {"certificate": None, "guarantee": None}
            found = {check.what: check.holds for check in verify(problem, data)}
            assert found["bound"] is (Fraction(float(bound)) <= least)
            decided.add(found["bound"])
    assert decided == {True, False}


@pytest.mark.parametrize(
    ("member", "forged"),
    [
        ("importance", lambda plan: [True, *plan["importance"][1:]]),
        ("constraints", lambda plan: {**plan["constraints"], "return": 1}),
        ("constraints", lambda plan: {**plan["constraints"], "return": 0}),
        ("learner", lambda plan: {**plan["learner"], "regularization": True}),
        ("samples", lambda plan: [True, *plan["samples"][1:]]),
    ],
)
def test_true_is_not_1(member: str, forged: Any) -> None:
    problem = Problem.from_dict({
        "travel": [[0, 1, 2], [1, 0, 1], [2, 1, 0]], "vectors": [[0], [1], [3]], "initial": [1, 2, 3],
        "importance": [1, 1, 2], "samples": [1, 1, 1], "constraints": {"return": True},
        "learner": {"features": 20, "samples": 1, "noise": 0.1, "rule": "proximal", "regularization": 1.0},
    })  # fmt: skip
    honest = json.loads(json.dumps(evaluate(problem, [0, 1, 2]).to_dict()))
    assert verify(problem, honest).holds
    assert refuted(problem, {**honest, member: forged(honest)}) == {member}


def test_true_is_not_a_region_of_a_fleet() -> None:
    problem = Problem.from_dict({**FAR, "fleet": {"models": 2, "serve": "own"}})
    honest = json.loads(json.dumps(plan(problem).to_dict()))
    forged = [bool(one) if one in (0, 1) else one for one in honest["order"]]
    assert refuted(problem, {**honest, "order": forged}) == {"routes"}
