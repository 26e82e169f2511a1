"""Every kind of certificate gives a verdict on every kind of problem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnroute import (
    Calibrated,
    Constraints,
    Depot,
    Fleet,
    Learner,
    Problem,
    Proximal,
    Visits,
    plan,
    verify,
    write_problem,
)
from learnroute.cli import run
from learnroute.model.certificates import KINDS
from oracle import law_of

FIELDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "cycle": {"constraints": Constraints(returns=True)},
    "samples": {"samples": 5},
    "depot": {"depot": Depot("Base", (5.0, 5.0))},
    "proximal": {"learner": Proximal(30, 60, 0.3, regularization=1.0)},
    "calibrated": {"learner": Calibrated(noise=-0.1, retention=0.5, coupling=0.5, common_retention=0.9)},
    "visits": {"visits": Visits(["R1"])},
    "repeated visits": {"visits": Visits(["R1"], repeat=2, at_most=6, budget=30.0)},
    "coupled visits": {"visits": Visits(["R1"]), "learner": Proximal(30, 60, 0.3, regularization=1.0)},
    "vehicles": {"fleet": Fleet(vehicles=2)},
    "models": {"fleet": Fleet(models=2)},
}


def problem_of(name: str, size: int) -> Problem:
    rng = np.random.default_rng(size)
    vectors = rng.standard_normal((size, 2))
    fields = {**FIELDS[name]}
    if "samples" in fields:
        fields["samples"] = 20 + 5 * (np.arange(size) % 3)
    known: dict[str, Any] = {
        "learner": Learner(60, 30, 0.3), "vectors": vectors, "initial": (vectors**2).sum(axis=1) + 1,
        "coordinates": 10 * rng.random((size, 2)),
    }  # fmt: skip
    return Problem(**{**known, **fields})


def certificate(kind: str, stops: int, bound: float, multiplier: float = 0.0) -> dict[str, Any]:
    vertices = [multiplier] * (stops + 2)
    rows: dict[str, dict[str, Any]] = {
        "one-tree": {"multipliers": vertices},
        "branch-and-bound": {"multipliers": vertices, "nodes": [{"multipliers": vertices[1:]}]},
        "ng-routes": {"multipliers": vertices[2:], "ng_sets": [[0]] * stops},
        "visit-routes": {"multipliers": vertices[2:], "ng_sets": [[0]] * stops, "budget_multiplier": abs(multiplier)},
    }
    return {"kind": kind, "bound": bound, **rows.get(kind, {})}


def least_of(problem: Problem) -> float:
    return float(law_of(problem).least())


@pytest.mark.parametrize("name", FIELDS)
def test_all_kinds_on_few_regions_are_decided(name: str) -> None:
    """All routes are tried, so that a bound is confirmed or refuted whatever certificate comes with it."""
    problem = problem_of(name, 4)
    data = json.loads(json.dumps(plan(problem).to_dict()))
    least = least_of(problem)
    below, above = least - 1e-6 * abs(least), least + 1e-6 * abs(least)
    for kind in KINDS:
        for multiplier in (0.0, -3.0, 1e100, -1.7e308):
            for bound, holds in ((below, True), (above, False), (-1e300, True), (1e300, False)):
                claims = {"optimal": False, "lower_bound": bound, "gap": None, "certified_ratio": None}
                forged = {**data, **claims, "certificate": certificate(kind, len(problem.stops), bound, multiplier)}
                found = {check.what: check.holds for check in verify(problem, forged)}
                assert found["bound"] is found["certificate"] is holds, (kind, multiplier, bound)


@pytest.mark.parametrize("name", FIELDS)
def test_all_kinds_on_many_regions_have_a_verdict(name: str) -> None:
    """Nothing is proved by a certificate of the wrong kind, and nothing fails."""
    problem = problem_of(name, 24)
    method = "search" if problem.fleet_rules is not None or problem.rules is not None else "random"
    data = json.loads(json.dumps(plan(problem, method, time_limit=0.2).to_dict()))
    total = data["loss"]["total"]
    for kind in KINDS:
        for optimal, bound in ((False, 0.999 * total), (True, total), (False, 1.001 * total)):
            claims = {"optimal": optimal, "lower_bound": bound, "gap": None, "certified_ratio": None, "guarantee": None}
            forged = {**data, **claims, "certificate": certificate(kind, len(problem.stops), bound)}
            found = {check.what: check.holds for check in verify(problem, forged)}
            assert found["bound"] is not True, kind
            assert found["certificate"] is not True, kind
            assert found["bound"] is False or bound <= total, kind


def test_a_certificate_for_visits_on_a_plain_problem_is_not_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = problem_of("plain", 24)
    file, out = tmp_path / "p.json", tmp_path / "plan.json"
    write_problem(problem, file)
    assert run(["plan", str(file), "--method", "nearest", "-o", str(out)]) == 0
    data = json.loads(out.read_text())
    claims = {"optimal": False, "lower_bound": None, "gap": None, "certified_ratio": None, "guarantee": None}
    out.write_text(
        json.dumps({**data, **claims, "certificate": certificate("visit-routes", 24, 0.9 * data["loss"]["total"])})
    )
    capsys.readouterr()
    assert run(["verify", str(out), str(file)]) == 3
    said = capsys.readouterr()
    assert "is for optional visits" in said.out
    assert "Traceback" not in said.err
