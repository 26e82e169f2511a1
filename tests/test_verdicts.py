"""Verdicts are confirmed, refuted or not checked; honest plans are confirmed; what is confirmed is exactly true."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnroute import (
    Constraints,
    InputError,
    Learner,
    Plan,
    Problem,
    Proximal,
    Verification,
    evaluate,
    plan,
    verify,
    write_plan,
    write_problem,
)
from learnroute.cli import run
from learnroute.model.ends import Ends
from learnroute.model.validation import FloatArray
from learnroute.study.families import random_problem
from learnroute.verification import held_karp
from learnroute.verification.exact import ONE, Interval, Model, exact_sum, losses_of
from learnroute.verification.grid import Grid, exact_total
from learnroute.verification.held_karp import better_order, least_order
from samples import OVER, UNDER, asymmetric

FAR = Learner(1000, 100, 0.1)


def as_json(found: Plan) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(found.to_dict()))
    return data


def forge_plan(problem: Problem, order: list[int], certificate: dict[str, Any]) -> dict[str, Any]:
    """A plan that claims a route to be optimal."""
    data = as_json(evaluate(problem, order))
    total = data["loss"]["total"]
    return {
        **data, "optimal": True, "lower_bound": total, "gap": 0.0, "certified_ratio": 1.0,
        "certificate": {"bound": total, **certificate},
    }  # fmt: skip


def verdicts(found: Verification) -> dict[str, str]:
    return {check.what: check.verdict for check in found}


def unconfirmed_claims(found: Verification) -> dict[str, str]:
    return {check.what: f"{check.verdict}: {check.detail}" for check in found if not check.holds}


def test_rounding_of_huge_numbers_proves_no_optimum() -> None:
    travel = [[0, 0.55, 0.95], [1e16, 0, 0.55], [1e16, 0.95, 0]]
    problem = Problem(travel, Learner(80, 100), [[0.0] * 3] * 3)
    found = verify(problem, forge_plan(problem, [0, 2, 1], {"kind": "simple"}))
    assert found.verdict == "refuted"
    assert verdicts(found)["optimum"] == "refuted"
    assert verify(problem, forge_plan(problem, [0, 1, 2], {"kind": "simple", "bound": 0.3})).holds
    for kind in ({"kind": "one-tree", "multipliers": [1e16, -1e16, 0.5, 0, 0]}, {"kind": "held-karp"}):
        assert verify(problem, forge_plan(problem, [0, 2, 1], kind)).verdict == "refuted"


@pytest.mark.parametrize("kind", ["simple", "one-tree", "held-karp"])
def test_unchecked_claims_do_not_hold(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = random_problem("euclidean", 24, UNDER, 3)
    certificate = {"kind": kind, "bound": 0.0, **({"multipliers": [0.0] * 26} if kind == "one-tree" else {})}
    data = forge_plan(problem, list(plan(problem, "nearest").order), certificate)
    found = verify(problem, data)
    assert verdicts(found)["optimum"] == "not checked"
    assert found.verdict == "not checked"
    assert not found.holds
    file, forgery = tmp_path / "problem.json", tmp_path / "plan.json"
    write_problem(problem, file)
    forgery.write_text(json.dumps(data))
    assert run(["verify", str(forgery), str(file)]) == 3
    assert "not checked" in capsys.readouterr().out
    assert run(["verify", str(forgery), str(file), "--json"]) == 3
    said = json.loads(capsys.readouterr().out)
    assert (said["holds"], said["verdict"]) == (False, "not checked")
    assert {"what": "route", "verdict": "confirmed", "detail": "visits each of 24 regions once"} in said["checks"]
    assert "method" in said["not_judged"]


def test_a_few_regions_are_never_left_unchecked() -> None:
    problem = random_problem("euclidean", 12, OVER, 3)
    best, worse = plan(problem), plan(problem, "baseline")
    weak: dict[str, Any] = {"kind": "one-tree", "bound": 0.0, "multipliers": [0.0] * 14}
    assert verify(problem, forge_plan(problem, list(best.order), weak)).holds
    assert verdicts(verify(problem, forge_plan(problem, list(worse.order), weak)))["optimum"] == "refuted"
    without = {key: value for key, value in as_json(best).items() if key != "certificate"}
    assert verify(problem, without).holds


def test_zero_loss_is_confirmed() -> None:
    nothing = [[0.0] * 4] * 4
    for learner in (UNDER, OVER, Learner(80, 100)):
        quiet = Learner(learner.features, learner.samples)
        problem = Problem(nothing, quiet, nothing)
        for method in ("exact", "nearest", "random", "algorithm1"):
            assert unconfirmed_claims(verify(problem, plan(problem, method))) == {}


def test_optimality_is_decided_exactly() -> None:
    """A total of 10^10 is optimal beside one of 10^10 - 1, and not beside 10^10 - 2."""
    for less, holds in ((1, True), (2, False)):
        way = 10**10 - less
        problem = Problem([[0, 10**10], [way, 0]], Learner(80, 100), [[0.0] * 2] * 2)
        assert verify(problem, forge_plan(problem, [0, 1], {"kind": "simple", "bound": 0.0})).holds is holds
    problem = Problem([[0, 1.5], [1.5, 0]], Learner(80, 100), [[0.0] * 2] * 2)
    data = as_json(evaluate(problem, [0, 1]))
    stated = {**data, "optimal": False, "gap": None, "certified_ratio": None, "guarantee": None, "certificate": None}
    assert verify(problem, {**stated, "lower_bound": 0.75}).holds
    above = float(np.nextafter(0.75, 1))
    assert verdicts(verify(problem, {**stated, "lower_bound": above}))["bound"] == "refuted"


def test_cycles_with_one_score_that_counts_are_enumerated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut after the region with the lowest score; if all scores count, after each that may be best."""
    least_with, cuts = held_karp._Enumeration.least, []

    def noted(self: Any, first: int | None, last: int | None, back: int | None) -> held_karp.Least:
        cuts.append(last)
        return least_with(self, first, last, back)

    monkeypatch.setattr(held_karp._Enumeration, "least", noted)
    for learner, seed in itertools.product((UNDER, OVER, FAR), range(8)):
        problem = random_problem("uniform", 6, learner, seed).replace(constraints=Constraints(returns=True))
        model = losses_of(problem).model
        cuts.clear()
        found = least_order(model, Fraction(100))
        assert len(cuts) == 1 if learner is UNDER else 2 <= len(cuts) <= 7
        least = min(model.value(order).low for order in itertools.permutations(range(6)))
        assert least * (1 - Fraction(1, 10**12)) <= found.low <= least


@pytest.mark.parametrize("part", [2.0**-60, 2.0**-110, -(2.0**-60)])
def test_finer_grids_decide_what_one_limb_cannot(part: float) -> None:
    """Costs that do not fit a common grid of 57 bits: many thirds, and a goal missed by very little."""
    size, third = 5, Fraction(1, 3)
    rng = np.random.default_rng(0)
    scores = tuple(Fraction(int(n), 3) for n in rng.integers(1, 4, size))
    shares = tuple(ONE * (t + 1) for t in range(size))
    travel: FloatArray = rng.integers(1, 4, (size, size)).astype(float)
    zero = Interval(Fraction(0), Fraction(0))
    model = Model(travel, third, scores, shares, None, 0, zero, Ends())
    least = min(model.value(order).low for order in itertools.permutations(range(size)))
    goal = least + Fraction(part)
    below, order = better_order(model, goal)
    assert below is (part > 0)
    assert model.value(order).low == least
    for limbs in (1, 2, 3):
        assert least_order(model, goal, limbs).low <= least


def test_costs_are_rounded_down_to_the_grid_and_sums_are_exact() -> None:
    rng = np.random.default_rng(1)
    numbers = 10.0 ** rng.uniform(-12, 12, 300)
    for rate, goal in ((Fraction(1), Fraction(7)), (Fraction(1e-9), Fraction(0.1)), (Fraction(1e100), Fraction(3e99))):
        grid = Grid(rate, goal)
        units = grid.of_travel(numbers)
        for number, unit in zip(numbers.tolist(), units.tolist(), strict=True):
            exact = rate * Fraction(number) / grid.unit
            assert unit == min(grid.goal, exact.numerator // exact.denominator)
        assert (grid.goal - 1) * grid.unit < goal <= grid.goal * grid.unit
    many = rng.integers(-(2**61), 2**61, 1000)
    assert exact_total(many) == sum(map(int, many))
    spread = [1e16, 1.0, -1e16, 1e-300, 3.0, 1e300, -1e300]
    assert exact_sum(spread) == sum(map(Fraction, spread))


def test_losses_are_those_of_the_package() -> None:
    rng = np.random.default_rng(2)
    base = random_problem("vectors", 9, OVER, 1)
    models = rng.normal(0, 1, (9, 3))
    for problem in (
        base,
        base.replace(samples=rng.choice([20, 60, 150], 9), truth=models, constraints=Constraints(returns=True)),
        random_problem("uniform", 9, UNDER, 1).replace(truth=models, travel_rate=0.3),
    ):
        order = rng.permutation(9).tolist()
        found = evaluate(problem, order)
        parts = losses_of(problem).parts(order)
        assert {k: pytest.approx(float(v), rel=1e-13, abs=1e-13) for k, v in parts.items()} == found.loss.to_dict()
        if found.true_loss is not None:
            parts = losses_of(problem, true=True).parts(order)
            assert {k: pytest.approx(float(v), rel=1e-13) for k, v in parts.items()} == found.true_loss.to_dict()
        assert unconfirmed_claims(verify(problem, found)) == {}


def variants(size: int, seed: int) -> dict[str, Problem]:
    """Problems of all kinds: ends, directions, samples, rates, and numbers of very different size."""
    rng = np.random.default_rng([size, seed])
    learner = [UNDER, OVER, FAR][seed % 3]
    base = random_problem("vectors", size, learner, seed)
    names = base.regions
    wide = 10.0 ** rng.uniform(-9, 9, (size, size))
    wide = np.maximum(wide, wide.T)
    np.fill_diagonal(wide, 0)
    huge = np.array(base.travel)
    huge[rng.random((size, size)) < 0.2] = 1e16
    np.fill_diagonal(huge, 0)
    delta = random_problem("uniform", size, learner, seed).dissimilarity
    return {
        "plain": base,
        "start": base.replace(constraints=Constraints(start=names[1])),
        "both ends": base.replace(constraints=Constraints(start=names[1], end=names[0])),
        "end and back": base.replace(constraints=Constraints(end=names[0], returns=True)),
        "back": base.replace(constraints=Constraints(returns=True)),
        "one-way": asymmetric(size, learner, seed),
        "samples": base.replace(samples=rng.choice([20, 60, 1200], size)),
        "no travel": base.replace(travel_rate=0.0),
        "little travel": base.replace(travel_rate=1e-11),
        "much noise": base.replace(learner=Learner(learner.features, learner.samples, 1e5)),
        "wide": base.replace(travel=wide, dissimilarity=delta, vectors=None),
        "huge": base.replace(travel=huge, dissimilarity=delta, vectors=None),
        "tiny": base.replace(travel=base.travel * 1e-90, vectors=np.asarray(base.vectors) * 1e-45),
        "places": random_problem("places", size, learner, seed),
        "all alike": base.replace(travel=np.ones((size, size)) - np.eye(size), vectors=np.zeros((size, 2))),
    }


@pytest.mark.parametrize(
    ("size", "method"), [(2, "auto"), (5, "auto"), (7, "algorithm1"), (9, "nearest"), (11, "auto")]
)
def test_honest_plans_of_a_few_regions_are_confirmed(size: int, method: str) -> None:
    for seed in range(3):
        for name, problem in variants(size, seed).items():
            if method == "algorithm1" and name in ("one-way", "huge"):
                continue
            found = plan(problem, method, seed=seed)
            assert unconfirmed_claims(verify(problem, found)) == {}, (name, seed)
            assert unconfirmed_claims(verify(problem, as_json(found))) == {}, (name, seed)


@pytest.mark.parametrize(("size", "method", "seed"), [(22, "nearest", 0), (23, "nearest", 1), (60, "random", 1)])
def test_honest_plans_of_more_regions_are_confirmed(size: int, method: str, seed: int) -> None:
    for name, problem in variants(size, seed).items():
        found = plan(problem, method, seed=seed, time_limit=1e-3 if size > 30 else 2.0)
        assert unconfirmed_claims(verify(problem, found)) == {}, name


def test_honest_optima_are_confirmed() -> None:
    for problem in (
        random_problem("euclidean", 40, UNDER, 1),
        random_problem("vectors", 30, OVER, 1),
        random_problem("vectors", 22, FAR, 2),
        asymmetric(22, OVER, 3),
    ):
        found = plan(problem, "exact")
        assert found.optimal
        assert unconfirmed_claims(verify(problem, found)) == {}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"guarantee": 1.0, "guarantee_reason": "optimal (proved)"}, "guarantee"),
        ({"guarantee": 1.01}, "guarantee"),
        ({"guarantee": 0}, "guarantee"),
        ({"guarantee_paper": 1.1}, "guarantee_paper"),
        ({"guarantee_sharper": 1.1}, "guarantee_sharper"),
        ({"loss_in_travel_units": {"total": 1.0}}, "loss_in_travel_units"),
        ({"true_loss": {"total": 1.0}}, "true_loss"),
        ({"travel_cost": float("nan")}, "travel_cost"),
        ({"closed": 0}, "closed"),
        ({"gap": 0.0}, "gap"),
        ({"certified_ratio": 1.0}, "certified_ratio"),
    ],
)
def test_forged_members_are_refuted(changes: dict[str, Any], what: str) -> None:
    problem = random_problem("euclidean", 10, OVER, 3)
    data = as_json(plan(problem, "baseline"))
    assert data["certified_ratio"] > 1.05
    assert verdicts(verify(problem, {**data, **changes}))[what] == "refuted"
    large = random_problem("euclidean", 30, UNDER, 3)
    data = as_json(plan(large, "nearest"))
    assert data["certified_ratio"] > 1.04
    assert verdicts(verify(large, {**data, **changes}))[what] != "confirmed"


def test_guarantees_are_confirmed_by_the_bound_or_named() -> None:
    problem = random_problem("euclidean", 30, UNDER, 3)
    found = plan(problem, "algorithm1")
    assert found.guarantee.value == 1.5
    assert verdicts(verify(problem, found))["guarantee"] == "confirmed"
    weak = {**as_json(found), "lower_bound": None, "gap": None, "certified_ratio": None, "certificate": None}
    assert unconfirmed_claims(verify(problem, weak)).keys() == {"guarantee"}
    assert verify(problem, weak).verdict == "not checked"


def test_no_route_is_better_than_the_least() -> None:
    problem = random_problem("euclidean", 8, UNDER, 3)
    best = as_json(plan(problem))
    for ratio in (0.5, 0.999, 1 - 1e-9, 1e-300):
        assert verdicts(verify(problem, {**best, "guarantee": ratio}))["guarantee"] == "refuted"
    assert verify(problem, {**best, "guarantee": np.float32(1.5)}).holds
    more = {**best, "loss": {**best["loss"], "saved": 1.0}}
    assert verdicts(verify(problem, more))["loss"] == "refuted"


def test_remarks_are_named_and_not_judged() -> None:
    problem = random_problem("euclidean", 8, OVER, 3)
    found = verify(problem, {**as_json(plan(problem)), "method": "magic", "comment": "mine"})
    assert found.holds
    remarks = {"method", "requested", "seconds", "seed", "notes", "guarantee_reason", "rehearsal", "comment"}
    assert set(found.remarks) == remarks


@pytest.mark.parametrize("value", [10**400, -(10**400), float("nan"), float("inf"), "1", True, [], {}])
@pytest.mark.parametrize("member", ["lower_bound", "gap", "guarantee", "loss", "part", "order", "bound", "multiplier"])
def test_invalid_numbers_are_rejected_in_one_line_or_refuted(member: str, value: Any) -> None:
    problem = random_problem("euclidean", 6, OVER, 3)
    data = as_json(plan(problem, "nearest"))
    if member == "part":
        data["loss"]["noise"] = value
    elif member == "order":
        data["order"][0] = value
    elif member in ("bound", "multiplier"):
        numbers = [0.0] * 8 if member == "bound" else [value, *([0.0] * 7)]
        data["certificate"] = {"kind": "one-tree", "bound": 0.0 if member != "bound" else value, "multipliers": numbers}
    else:
        data[member] = value
    try:
        found = verify(problem, data)
    except InputError as error:
        refusal = str(error)
    else:
        refusal = ""
        assert found.verdict == "refuted"
    assert "\n" not in refusal


def test_bounds_beyond_float64_are_refuted_whatever_the_learner() -> None:
    """T times a bound is more than the largest float64; all orders are tried for a learner whose errors are coupled."""
    law = Proximal(features=80, samples=100, noise=0.1, regularization=0.5)
    for problem in (random_problem("euclidean", 6, learner, 3) for learner in (law, OVER)):
        data = as_json(plan(problem, "nearest"))
        assert verdicts(verify(problem, {**data, "lower_bound": 1e308}))["bound"] == "refuted"
        assert verdicts(verify(problem, {**data, "lower_bound": -1e308}))["bound"] == "confirmed"


def test_plans_and_their_objects_are_taken_and_nothing_else(tmp_path: Path) -> None:
    problem = random_problem("euclidean", 6, OVER, 3)
    found = plan(problem)
    assert verify(problem, found).checks == verify(problem, as_json(found)).checks
    file = tmp_path / "plan.json"
    write_plan(found, file)
    for wrong in (file, str(file), [found], None):
        with pytest.raises(InputError, match="expected a Plan or its JSON object; read_plan reads a file"):
            verify(problem, wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected a Problem"):
        verify(found, found)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="optimal = 'yes': expected true or false"):
        verify(problem, {**as_json(found), "optimal": "yes"})
