"""Claims of plans are true for the exact numbers of the problem, and `verify` agrees."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from claims import SMALLEST, TOLERANCE, false_claims, random_fleet, random_problem
from learnroute import InputError, Learner, Problem, Proximal, RefusedError, evaluate, plan, verify
from learnroute.cli import run
from learnroute.verification import branch_and_bound
from oracle import law_of

FALSE_FLOOR: dict[str, Any] = {
    "travel": [[0, 0, 0]] * 3, "vectors": [[0], [1], [3]],
    "learner": {"rule": "calibrated", "retention": 0.9, "coupling": 0.7, "noise": 0.5},
}  # fmt: skip
LONG_STEPS: dict[str, Any] = {
    "travel": [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]],
    "transfer": [[0.1, 1, 2, 3], [2, 0.1, 4, 5], [3, 4, 0.2, 1], [1, 2, 3, 0.1]], "initial": [1, 1, 1, 1],
    "learner": {"rule": "gradient", "steps": 1, "rate": 1.5, "features": 2, "samples": 2000, "noise": 0.1},
}  # fmt: skip
CHOSEN = {
    "travel": [[0, 1, 2], [1, 0, 1], [2, 1, 0]], "vectors": [[0], [1], [3]], "initial": [1, 2, 3],
    "learner": {"features": 20, "samples": 100, "noise": 0.1, "rule": "proximal", "regularization": "auto"},
}  # fmt: skip


@pytest.mark.parametrize("batch", range(10))
def test_no_claim_is_false_and_no_honest_plan_is_refuted(batch: int) -> None:
    for seed in range(16 * batch, 16 * batch + 16):
        problem = random_problem(seed)
        if problem is None:
            continue
        exact = law_of(problem)
        least = exact.least()
        for method in ("auto", "search", "nearest", "algorithm1"):
            try:
                found = plan(problem, method)
            except RefusedError:  # as Algorithm 1 does where travel differs by direction
                continue
            assert false_claims(exact, least, found) == [], (seed, method)
            json.dumps(found.to_dict(), allow_nan=False)
            refuted = [check for check in verify(problem, found) if check.verdict == "refuted"]
            assert refuted == [], (seed, method)


@pytest.mark.parametrize("batch", range(3))
def test_no_claim_about_fleets_is_false_and_no_honest_plan_is_refuted(batch: int) -> None:
    """All splits of all sequences are evaluated; `search` may find no routes if travel is not a metric."""
    verdicts = []
    for seed in range(20 * batch, 20 * batch + 20):
        problem = random_fleet(seed, 5 if seed % 20 == 0 else 4)
        if problem is None or problem.fleet_rules.single:
            continue
        exact = law_of(problem)
        least = exact.least()
        for method in ("auto", "search"):
            try:
                found = plan(problem, method)
            except InputError:
                assert least == math.inf or method == "search", seed
                continue
            assert false_claims(exact, least, found) == [], (seed, method)
            report = verify(problem, json.loads(json.dumps(found.to_dict(), allow_nan=False)))
            assert [check for check in report if check.verdict == "refuted"] == [], (seed, method)
            verdicts.append(report.verdict)
    assert verdicts.count("confirmed") >= 0.9 * len(verdicts) > 5


@pytest.mark.parametrize("seed", range(12))
def test_routes_of_fleets_below_a_forged_optimum_are_found(seed: int) -> None:
    """Some routes are claimed to be optimal; the verdict is correct."""
    problem = random_fleet(3000 + seed, 3)
    if problem is None or problem.fleet_rules.single:
        return
    exact = law_of(problem)
    totals = [(exact.total(routes), routes) for routes in exact.routes()]
    least = min((total for total, _ in totals), default=math.inf)
    for total, routes in totals[:: 1 + len(totals) // 8]:
        named = [[problem.regions[i] for i in route] for route in routes.vehicles]
        one = problem.fleet_rules.vehicles == 1
        data = evaluate(problem, named[0] if one else named, models=routes.models[0] if one else None).to_dict()
        value = data["loss"]["total"]
        data |= {"optimal": True, "lower_bound": value, "gap": 0.0, "certified_ratio": 1.0, "certificate": None}
        found = {check.what: check.verdict for check in verify(problem, data)}
        right = total - least <= max(TOLERANCE * abs(total), SMALLEST)
        assert found["optimum"] in ("not checked" if total == 0 else "", "confirmed" if right else "refuted"), seed


@pytest.mark.parametrize("seed", range(24))
def test_routes_below_a_forged_optimum_are_found(seed: int) -> None:
    """Each order is claimed to be optimal in turn; the verdict is correct."""
    problem = random_problem(1000 + seed, 4)
    if problem is None:
        return
    exact = law_of(problem)
    least = exact.least()
    for order in exact.orders():
        data = evaluate(problem, list(order)).to_dict()
        total = data["loss"]["total"]
        data |= {"optimal": True, "lower_bound": total, "gap": 0.0, "certified_ratio": 1.0, "certificate": None}
        found = {check.what: check.verdict for check in verify(problem, data)}
        right = exact.total(order) - least <= max(TOLERANCE * abs(exact.total(order)), SMALLEST)
        assert found["optimum"] == ("confirmed" if right else "refuted"), (seed, order)


def test_the_floor_does_not_hold_for_laws_that_no_model_obeys() -> None:
    problem = Problem.from_dict(FALSE_FLOOR)
    exact = law_of(problem)
    best = min(exact.orders(), key=exact.total)
    assert best != (2, 0, 1)
    for method in ("auto", "nearest", "search", "baseline", "random"):
        found = plan(problem, method)
        assert not found.optimal or exact.total(found.order) == exact.least()
        assert verify(problem, found).holds
    worse = evaluate(problem, [2, 0, 1])
    assert not worse.optimal
    forged = {**worse.to_dict(), "optimal": True, "lower_bound": worse.loss.total, "gap": 0.0, "certified_ratio": 1.0}
    assert verify(problem, forged).verdict == "refuted"


def test_steps_so_long_that_shares_are_negative_have_a_finite_bound(tmp_path: Path) -> None:
    problem = Problem.from_dict(LONG_STEPS)
    exact = law_of(problem)
    for method in ("nearest", "auto", "search", "algorithm1", "random"):
        found = plan(problem, method)
        json.dumps(found.to_dict(), allow_nan=False)
        assert false_claims(exact, exact.least(), found) == []
        assert verify(problem, found).holds
    file, out = tmp_path / "p.json", tmp_path / "plan.json"
    file.write_text(json.dumps(LONG_STEPS))
    assert run(["plan", str(file), "--method", "nearest", "-o", str(out)]) == 0
    assert run(["verify", str(out), str(file)]) == 0
    assert run(["compare", str(file)]) == 0


HONEST: dict[str, dict[str, Any]] = {
    "parts that cancel": {
        "travel": [[0, 0.1], [0.1, 0]], "dissimilarity": [[0, 1], [1, 0]],
        "learner": {"rule": "calibrated", "retention": 0.3, "coupling": 0.1, "noise": -0.3625},
    },
    "the smallest pair losses": {
        "travel": [[0, 0, 0]] * 3, "dissimilarity": [[0, 1e-100, 2e-100], [1e-100, 0, 1e-100], [2e-100, 1e-100, 0]],
        "initial": [1e-100, 2e-100, 3e-100],
        "learner": {"rule": "calibrated", "retention": 0.5, "coupling": 0.2, "noise": 0},
    },
    "travel worth next to nothing": {
        "travel": [[0, 1, 2], [1, 0, 3], [2, 3, 0]], "travel_rate": 1e-100,
        "dissimilarity": [[0, 0, 0]] * 3, "learner": {"features": 20, "samples": 100},
    },
    "nothing at all": {
        "travel": [[0, 0]] * 2, "dissimilarity": [[0, 0]] * 2,
        "learner": {"rule": "gradient", "steps": 2, "rate": 0.1, "features": 5, "samples": 20},
    },
}  # fmt: skip


@pytest.mark.parametrize("data", HONEST.values(), ids=HONEST)
def test_honest_plans_are_confirmed(data: dict[str, Any]) -> None:
    problem = Problem.from_dict(data)
    exact = law_of(problem)
    for method in ("auto", "nearest", "search"):
        found = plan(problem, method)
        assert false_claims(exact, exact.least(), found) == []
        checks = verify(problem, found)
        assert checks.holds, [check for check in checks if not check.holds]


@pytest.mark.parametrize("given", [["x"], {"a": 1}, 10**400, True, None, [[1.0]], [1.0, "auto"], "auto", -1.0, [1.0]])
def test_regularisation_that_is_not_a_number_is_refuted(
    given: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "p.json", tmp_path / "plan.json"
    file.write_text(json.dumps(CHOSEN))
    assert run(["plan", str(file), "-o", str(out)]) == 0
    assert run(["verify", str(out), str(file)]) == 0
    data = json.loads(out.read_text())
    data["learner"]["regularization"] = given
    out.write_text(json.dumps(data))
    capsys.readouterr()
    assert run(["verify", str(out), str(file)]) in (1, 2)
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err
    assert "learner" in said.out + said.err


def test_a_tree_that_takes_too_much_work_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes without multipliers are cheap to write and take work to repeat."""
    size = 30
    problem = Problem(
        [[abs(i - j) ** 1.5 for j in range(size)] for i in range(size)], Learner(20, 100, 0.1),
        [[float(i != j) for j in range(size)] for i in range(size)],
    )  # fmt: skip
    found = plan(problem, "nearest").to_dict()
    nodes = [{"multipliers": [], "branch": [-1, -1, -1]}] * 2000
    tree = {"kind": "branch-and-bound", "bound": 0.99 * found["loss"]["total"], "multipliers": [0.0] * (size + 2),
            "nodes": nodes}  # fmt: skip
    data = {**found, "certificate": tree, "lower_bound": None, "gap": None, "certified_ratio": None, "optimal": False}
    monkeypatch.setattr(branch_and_bound, "MOST_WORK", 10**6)
    try:
        checks = {check.what: check for check in verify(problem, data)}
    except InputError as error:  # the form of the tree has changed
        pytest.fail(str(error))
    assert checks["certificate"].verdict == "not checked"
    assert "too large to repeat" in checks["certificate"].detail


@pytest.mark.parametrize("member", ["expected_errors", "label_noise", "features", "samples", "loss_at_most"])
def test_members_used_by_follow_are_checked(member: str) -> None:
    for learner in (Learner(20, 100, 0.3), Learner(120, 100, 0.3), Proximal(20, 100, 0.3, regularization=0.7)):
        problem = Problem([[0, 1, 2], [1, 0, 1], [2, 1, 0]], learner, vectors=[[0.0], [1.0], [3.0]], initial=[1, 2, 3])
        data = plan(problem).to_dict()
        assert verify(problem, data).holds
        if data[member] is None:
            continue
        value = data[member]
        data[member] = [value[0] * 1.001, *value[1:]] if isinstance(value, list) else value * 2
        assert {check.what for check in verify(problem, data) if check.verdict == "refuted"} == {member}
