"""Forged ng-route proofs of more regions than can be enumerated: what is confirmed is true for the best route known."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forgeries import TOLERANCE, at, numbers_in
from learnroute import InputError, Learner, Plan, Problem, plan, verify
from learnroute.model.losses import expected_loss
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.ng_route.solver import NgRouteProof
from learnroute.solvers.params import DEFAULTS
from learnroute.study.families import random_problem
from learnroute.verification import ng_labelling
from oracle import law_of
from samples import asymmetric, linear_of

MUTANTS = 12
PROBLEMS = {
    "branching says the same": random_problem("uniform", 21, Learner(120, 100, 0.1), 1),
    "in the plane": random_problem("euclidean", 21, Learner(1000, 100, 0.1), 2),
    "one-way": asymmetric(25, Learner(120, 100, 0.1), 3),
    "regions that count more": random_problem("uniform", 21, Learner(120, 100, 0.1), 5).replace(
        importance=np.arange(21) % 5
    ),
    "m far above n": random_problem("closure", 30, Learner(500, 100, 0.1), 4),
}


def prove_optimum(problem: Problem) -> tuple[Plan, dict[str, Any]]:
    """The best route, and a claim of its optimality by ng-routes as JSON."""
    best = plan(problem, "exact")
    assert best.optimal
    size = problem.size
    proof = NgRouteProof(
        Incumbent(linear_of(problem), np.array(best.order)), np.random.default_rng(0), Budget(), DEFAULTS
    )
    proof.run()
    certificate = proof.certificate()
    assert proof.proved
    assert certificate.turns
    data = {**best.to_dict(), "certificate": certificate.to_dict(size)}
    return best, json.loads(json.dumps(data))


def mutate_certificate(certificate: dict[str, Any], size: int, rng: np.random.Generator) -> dict[str, Any]:
    """A certificate with some ng-sets, multipliers, turns or stages changed."""
    changed = copy.deepcopy(certificate)
    for _ in range(int(rng.integers(1, 4))):
        what = int(rng.integers(0, 7))
        if what == 0:  # some multipliers
            for v in rng.integers(size, size=3):
                changed["multipliers"][v] += float(rng.normal(0, 10.0 ** rng.integers(-6, 3)))
        elif what == 1:  # huge ones
            changed["multipliers"][int(rng.integers(size))] = float(rng.choice([1e16, -1e16, 1e100, -1e100]))
        elif what == 2:  # more or fewer regions in ng-sets
            row = changed["ng_sets"][int(rng.integers(size))]
            if rng.random() < 0.5:
                row.clear()
            else:
                row.extend(map(int, rng.integers(size, size=4)))
        elif what == 3 and changed.get("turns"):  # more at some positions
            rows = [list(map(int, rng.integers(size, size=5))) for _ in range(20)]
            changed["turns"][int(rng.integers(len(changed["turns"])))].extend(rows)
        elif what == 4:  # turns that are missing, empty, or in another order
            turns = changed.get("turns", [])
            rng.shuffle(turns)
            del turns[: int(rng.integers(0, 2))]
            turns.append([])
        elif what == 5:  # stages in another order, or the same one again
            stages = changed.setdefault("fixing", [])
            stages.append({key: copy.deepcopy(changed[key]) for key in ("multipliers", "ng_sets")})
            rng.shuffle(stages)
        else:  # any region in any list of regions
            places = [path for path in numbers_in(changed) if "multipliers" not in path and path != ("bound",)]
            path = places[int(rng.integers(len(places)))]
            at(changed, path[:-1])[path[-1]] = int(rng.integers(size))
    return changed


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_forged_proof_by_ng_routes_is_confirmed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = PROBLEMS[name]
    best, honest = prove_optimum(problem)
    assert verify(problem, honest).holds
    monkeypatch.setattr(ng_labelling, "MOST_LABELS", 5_000)  # what explodes is not checked
    least = law_of(problem).total(best.order)
    rng = np.random.default_rng(problem.size)
    seen = {"confirmed": 0, "refuted": 0, "not checked": 0}
    for k in range(MUTANTS):
        data = dict(honest)
        if k % 2:  # another route, said to be optimal
            order = list(best.order)
            i, j = sorted(map(int, rng.choice(problem.size, 2, replace=False)))
            order[i:j] = order[i:j][::-1]
            loss = expected_loss(problem, order).to_dict()
            names = [problem.regions[v] for v in order]
            data = {"route": names, "order": order, "loss": loss, "optimal": True, "lower_bound": loss["total"]}
            data |= {"gap": 0.0, "certified_ratio": 1.0, "guarantee": 1.0}
        certificate = mutate_certificate(honest["certificate"], problem.size, rng)
        certificate["bound"] *= 1 + float(rng.choice([0, 0, 1e-12, 1e-9, 1e-4, 0.1]))
        data["certificate"] = certificate
        total = law_of(problem).total(tuple(data["order"]))
        truth = {
            "optimum": (1 - TOLERANCE) * total <= least,
            "bound": (1 - TOLERANCE) * Fraction(data["lower_bound"]) <= least,
            "certificate": Fraction(certificate["bound"]) <= least,
            "guarantee": (1 - TOLERANCE) * total <= Fraction(data.get("guarantee") or 0) * least,
        }
        try:
            checks = verify(problem, data)
        except InputError:
            continue
        for check in checks:
            if check.what in truth:
                seen[check.verdict] += 1
                assert check.holds is not True or truth[check.what], (check, json.dumps(data))
    assert min(seen["confirmed"], seen["refuted"] + seen["not checked"]) > 5, seen


def test_the_labels_of_all_turns_together_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither many turns nor many stages of a certificate keep the checker busy."""
    problem = PROBLEMS["in the plane"]
    _, honest = prove_optimum(problem)
    monkeypatch.setattr(ng_labelling, "A_LABELLING", ng_labelling.MOST_WORK // 20)
    stage = {key: honest["certificate"][key] for key in ("multipliers", "ng_sets")}
    further: list[dict[str, Any]] = [{"turns": [[]] * 100}, {"fixing": [stage] * 100}]
    for members in further:
        data = {**honest, "optimal": False, "certificate": {**honest["certificate"], **members}}
        found = {check.what: check.verdict for check in verify(problem, data)}
        assert found["certificate"] == "not checked"


def test_no_network_is_made_of_too_many_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take T³ bytes, whatever else the certificate says."""
    problem = random_problem("euclidean", 401, Learner(120, 100, 0.1), 1)
    data = json.loads(json.dumps(plan(problem, "random", time_limit=1e-9).to_dict()))
    data["certificate"] = {
        "kind": "ng-routes", "bound": data["lower_bound"], "multipliers": [0] * 401, "ng_sets": [[]] * 401
    }  # fmt: skip
    monkeypatch.setattr(ng_labelling.Network, "__init__", None)
    found = {check.what: check.verdict for check in verify(problem, data)}
    assert found["bound"] == found["certificate"] == "not checked"
