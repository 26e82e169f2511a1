"""The checker confirms true claims and refutes false ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import oracle
from learnroute import Check, Constraints, InputError, Problem, evaluate, plan, verify, write_plan, write_problem
from learnroute.cli import run
from learnroute.study.families import random_problem
from samples import LEARNERS, OVER, UNDER, asymmetric


def claims(problem: Problem, method: str, **options: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(plan(problem, method, **options).to_dict()))
    return data


def verdicts(checks: Iterable[Check]) -> dict[str, bool | None]:
    return {check.what: check.holds for check in checks}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("method", ["exact", "nearest", "random"])
def test_true_plans_are_confirmed(learner: str, method: str) -> None:
    problems = [random_problem("closure", 7, LEARNERS[learner], 1), asymmetric(14, LEARNERS[learner], 2)]
    for problem in [*problems, random_problem("euclidean", 18, LEARNERS[learner], 3)]:
        found = verdicts(verify(problem, claims(problem, method)))
        assert all(holds is True for holds in found.values()), found
        assert set(found) >= {"route", "loss", "bound"}


@pytest.mark.parametrize("learner", LEARNERS)
def test_both_ends_are_considered(learner: str) -> None:
    free = random_problem("uniform", 8, LEARNERS[learner], 4)
    names = free.regions
    for ends in (Constraints(start=names[2]), Constraints(end=names[5], returns=True), Constraints(returns=True)):
        problem = Problem(
            free.travel, free.learner, dissimilarity=free.dissimilarity, initial=free.initial, constraints=ends
        )
        data = claims(problem, "exact")
        found = verdicts(verify(problem, data))
        assert all(holds is True for holds in found.values()), found
        if ends.start or ends.end:
            route = data["route"][::-1]
            turned = {**data, "order": data["order"][::-1], "route": route, "routes": [route]}
            assert [(check.what, check.holds) for check in verify(problem, turned)] == [("route", False)]


def test_bounds_of_all_kinds_are_confirmed() -> None:
    large, middle = random_problem("euclidean", 150, UNDER, 1), random_problem("vectors", 40, OVER, 1)
    oneway = asymmetric(30, OVER, 1)
    hasty = claims(large, "nearest", time_limit=1e-9)
    for problem, data, kind in (
        (large, claims(large, "nearest"), "one-tree"),
        (large, hasty, "simple"),
        (middle, claims(middle, "nearest"), "branch-and-bound"),
        (oneway, claims(oneway, "nearest"), "ng-routes"),
    ):
        assert data["certificate"]["kind"] == kind
        found = verdicts(verify(problem, data))
        assert all(holds is True for holds in found.values()), found
        assert set(found) >= {"route", "loss", "bound", "certificate"}


def test_large_multipliers_do_not_make_up_for_a_proof() -> None:
    problem = random_problem("euclidean", 24, UNDER, 3)
    data = claims(problem, "nearest")
    total = data["loss"]["total"]
    assert total > 1.05 * plan(problem, "exact").loss.total
    nothing, huge = [0.0] * 26, [1e13] * 25
    forged: list[dict[str, Any]] = [
        {"kind": "branch-and-bound", "multipliers": [1e100] * 26, "nodes": [{"multipliers": nothing[1:]}]},
        {"kind": "branch-and-bound", "multipliers": nothing, "nodes": [{"multipliers": huge}]},
        {"kind": "branch-and-bound", "multipliers": nothing, "nodes": [{"multipliers": [-1e100] * 25}]},
        {"kind": "branch-and-bound", "multipliers": nothing,
         "nodes": [{"multipliers": nothing[1:], "combs": [[0, 1e13]]}],
         "combs": [[[0, 1, 2], [0, 3], [1, 4], [2, 5]]]},
        {"kind": "ng-routes", "multipliers": [1e14] * 24, "ng_sets": [[]] * 24},
        {"kind": "one-tree", "multipliers": [1e14] * 26},
    ]  # fmt: skip
    for certificate in forged:
        for optimal, bound in ((True, total), (False, 0.9999 * total)):
            ratio = total / bound
            changed = {
                **data, "optimal": optimal, "lower_bound": bound, "gap": ratio - 1, "certified_ratio": ratio,
                "certificate": {**certificate, "bound": bound},
            }  # fmt: skip
            found = verdicts(verify(problem, changed))
            assert found["optimum" if optimal else "bound"] is not True, certificate


def test_false_claims_are_refuted() -> None:
    problem = random_problem("uniform", 8, UNDER, 4)
    best = claims(problem, "exact")
    worse = json.loads(json.dumps(evaluate(problem, list(range(8))).to_dict()))

    def refuted(data: dict[str, Any], **changes: Any) -> str:
        changed = {**copy.deepcopy(data), **changes}
        return next((check.what for check in verify(problem, changed) if check.holds is False), "nothing")

    assert refuted(best) == "nothing"
    assert refuted(best, order=[0, *best["order"][1:]]) == "route"
    assert refuted(best, route=best["route"][::-1]) == "route"
    assert refuted(best, routes=[best["route"][::-1]]) == "route"
    assert refuted(best, loss={**best["loss"], "travel": best["loss"]["travel"] * 1.001}) == "loss"
    assert refuted(worse, optimal=True, lower_bound=worse["loss"]["total"]) == "optimum"
    assert refuted(worse, lower_bound=oracle.least_loss(problem) * 1.0001) == "bound"
    least = worse["certificate"]["bound"]
    forgetful = {"kind": "ng-routes", "bound": least, "multipliers": [0.0] * 8, "ng_sets": [[v] for v in range(8)]}
    assert refuted(worse, certificate=forgetful) == "nothing"  # so few regions are enumerated: the bound is true
    absurd = {**forgetful, "multipliers": [100.0 * v for v in range(8)]}
    assert refuted(worse, certificate={**absurd, "bound": 1.0001 * least}) == "certificate"
    other = random_problem("uniform", 8, UNDER, 5)
    assert verdicts(verify(other, best))["loss"] is False


FORGETFUL = {"kind": "ng-routes", "bound": 1.0, "multipliers": [0] * 8, "ng_sets": [[v] for v in range(8)]}
PRUNED = {"kind": "branch-and-bound", "bound": 1.0, "multipliers": [0] * 10, "nodes": [{"multipliers": [0] * 9}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"certificate": {"kind": "ng-routes", "bound": 1.0}}, "certificate.multipliers"),
        ({"certificate": {"kind": "ng-routes", "bound": 1.0, "multipliers": [0] * 8}}, "certificate.ng_sets"),
        ({"certificate": {**FORGETFUL, "ng_sets": [[9]] * 8}}, "ng_sets[0]"),
        (
            {"certificate": {**FORGETFUL, "ng_sets": [[1]] * 7}},
            "certificate.ng_sets has 7 lists: expected one for each",
        ),
        (
            {"certificate": {**FORGETFUL, "ng_sets_at": [[1]]}},
            "ng_sets_at[0] = [1]: expected a position and a region",
        ),
        ({"certificate": {**FORGETFUL, "ng_sets_at": [[8, 1, 2]]}}, "certificate.ng_sets_at[0]"),
        ({"certificate": {**FORGETFUL, "fixing": 3}}, "certificate.fixing = 3: expected a list"),
        ({"certificate": {**FORGETFUL, "fixing": [3]}}, "certificate.fixing[0] = 3: expected an object"),
        (
            {"certificate": {**PRUNED, "nodes": [[]]}},
            "certificate.nodes[0] = []: expected an object with branch, multipliers",
        ),
        (
            {"certificate": {**PRUNED, "nodes": [{"multipliers": 0}]}},
            "certificate.nodes[0].multipliers = 0: expected a list",
        ),
        (
            {"certificate": {**PRUNED, "nodes": [{"multipliers": [0] * 7}]}},
            "multipliers has 7 entries: expected 9",
        ),
        ({"certificate": {**PRUNED, "nodes": [{"branch": [1]}]}}, "nodes[0].branch = [1]: no or three vertices"),
        (
            {"certificate": {**PRUNED, "nodes": [{"combs": [[5, 1]]}]}},
            "nodes[0].combs[0] = [5, 1]: expected a comb below 0",
        ),
        ({"certificate": {**PRUNED, "combs": "x"}}, "certificate.combs = 'x': expected a list of combs"),
        (
            {"certificate": {**PRUNED, "combs": [[[0, 10]]]}},
            "certificate.combs[0][0] = [0, 10]: expected a list of 0-based",
        ),
        ({"certificate": {"kind": "proof", "bound": 1.0}}, "certificate.kind = 'proof': unknown; known are simple"),
        ({"certificate": {**PRUNED, "colour": 1}}, "certificate.colour: unknown member"),
    ],
)
def test_broken_certificates_are_rejected(changes: dict[str, Any], message: str) -> None:
    problem = random_problem("uniform", 8, UNDER, 4)
    with pytest.raises(InputError) as refusal:
        verify(problem, {**claims(problem, "exact"), **changes})
    assert message in str(refusal.value)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    problem = random_problem("euclidean", 9, OVER, 1)
    file, good, bad = tmp_path / "p.json", tmp_path / "good.json", tmp_path / "bad.json"
    write_problem(problem, file)
    found = plan(problem)
    write_plan(found, good)
    assert run(["verify", str(good), str(file)]) == 0
    assert "no route is better" in capsys.readouterr().out
    bad.write_text(json.dumps({**found.to_dict(), "order": list(found.order)[::-1]}))
    assert run(["verify", str(bad), str(file)]) == 1
    assert "REFUTED" in capsys.readouterr().out
    assert run(["verify", str(good), str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["holds"] is True
    for wrong in ("missing.json", "plan.csv"):
        assert run(["verify", str(tmp_path / wrong), str(file)]) == 2
    bad.write_text("[1, 2]")
    assert run(["verify", str(bad), str(file)]) == 2
