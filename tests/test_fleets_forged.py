"""Plans of fleets are confirmed, and forged ones are refuted."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forgeries import EXTREME, at, lists_in, numbers_in
from learnroute import (
    Calibrated,
    Depot,
    Fleet,
    Gradient,
    InputError,
    Learner,
    Problem,
    Proximal,
    Visits,
    evaluate,
    plan,
    verify,
)
from learnroute.solvers.params import DEFAULTS
from learnroute.verification import fleet_routes
from learnroute.verification.fleet_losses import FleetLosses

Data = dict[str, Any]
QUICK = DEFAULTS._replace(ruin_fleet=DEFAULTS.ruin_fleet._replace(starts=2, iterations=100))


def problem_of(fleet: Fleet, size: int = 5, seed: int = 3, **fields: Any) -> Problem:
    """Regions of three clusters."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((size, 3)) + 4 * (np.arange(size) % 3 == np.arange(3)[:, None]).T
    known: Data = {
        "learner": Proximal(30, 60, 0.3, regularization=1.0), "vectors": vectors, "initial": (vectors**2).sum(axis=1),
        "coordinates": 10 * rng.random((size, 2)), "travel_rate": 0.1, "fleet": fleet, "visits": Visits(["R1"]),
    }  # fmt: skip
    return Problem(**{**known, **fields})


FLEETS = {
    "merged": Fleet(vehicles=2),
    "equal": Fleet(vehicles=2, weights="equal", travel="longest"),
    "own vehicles": Fleet(vehicles=2, serve="own", limit=20.0),
    "models": Fleet(models=2),
    "merged models": Fleet(models=2, serve="merged"),
}


def planned(problem: Problem, method: str = "auto") -> Data:
    found: Data = json.loads(json.dumps(plan(problem, method, params=QUICK).to_dict()))
    return found


def refuted(problem: Problem, data: Data) -> set[str]:
    return {check.what for check in verify(problem, data) if check.verdict == "refuted"}


@pytest.mark.parametrize("name", FLEETS)
@pytest.mark.parametrize("method", ["auto", "search"])
def test_honest_plans_are_confirmed(name: str, method: str) -> None:
    there: Data = {"depot": Depot("Base", (5.0, 5.0)), "visits": None, "importance": [1, 0, 2, 1]}
    for fields in ({}, there):
        problem = problem_of(FLEETS[name], 4, **fields)
        report = verify(problem, planned(problem, method))
        assert report.holds, [check for check in report if not check.holds]


def change_service(data: Data, problem: Problem) -> None:
    """Let another model serve a region."""
    first = next(name for name, one in data["served_by"].items() if one is not None)
    data["served_by"][first] = None if data["served_by"][first] == 0 else 0


def change_weights(data: Data, problem: Problem) -> None:
    weights = data["weights"]
    data["weights"] = [weights[0] / 2, weights[1] + weights[0] / 2] if weights[0] else [0.5, 0.5]


def unnormalised(data: Data, problem: Problem) -> None:
    data["weights"] = [1.1 * w for w in data["weights"]]


def negative(data: Data, problem: Problem) -> None:
    data["weights"] = [1.5, -0.5]


def add_vehicle(data: Data, problem: Problem) -> None:
    """One vehicle too many."""
    data["routes"].append([problem.regions[-1]])


def cheaper(data: Data, problem: Problem) -> None:
    data["loss"]["total"] *= 0.999


def increase_gain(data: Data, problem: Problem) -> None:
    """Claim a larger gain from averaging."""
    data["loss"]["pairs"] -= 0.01
    data["loss"]["total"] -= 0.01


def nearer(data: Data, problem: Problem) -> None:
    data["travels"][0] += 0.5


def raise_bound(data: Data, problem: Problem) -> None:
    total = data["loss"]["total"]
    data["certificate"] = {"kind": "simple", "bound": 0.999 * total}
    data |= {"optimal": False, "lower_bound": 1.001 * total, "gap": None, "certified_ratio": None, "guarantee": None}


def change_depot(data: Data, problem: Problem) -> None:
    data["expected_errors"][0] += 0.01


def without(data: Data, problem: Problem) -> None:
    data["contributions"][-1] += 0.01


def omit_region(data: Data, problem: Problem) -> None:
    data["skipped"] = [*data["skipped"], "R1"]


def unknown(data: Data, problem: Problem) -> None:
    data["routes"][0].append("nowhere")


def missing(data: Data, problem: Problem) -> None:
    """Omit the required region."""
    data["routes"] = [[name for name in route if name != "R1"] for route in data["routes"]]
    for member in ("route", "order", "models"):
        data.pop(member, None)


def ratio(data: Data, problem: Problem) -> None:
    data["guarantee_paper"] = 2.0


def change_mode(data: Data, problem: Problem) -> None:
    """Claim the service of the other mode."""
    if "weights" in data:
        data["served_by"] = dict.fromkeys(problem.regions, 0)
    else:
        data["weights"] = [0.5, 0.5]


FORGERIES: list[tuple[Callable[[Data, Problem], None], str, set[str]]] = [
    (change_service, "served_by", {"own vehicles", "models"}),
    (change_weights, "weights", {"merged", "equal", "merged models"}),
    (unnormalised, "weights", {"merged", "equal", "merged models"}),
    (negative, "weights", {"merged", "equal"}),
    (add_vehicle, "routes", set(FLEETS)),
    (cheaper, "loss", set(FLEETS)),
    (increase_gain, "loss", {"merged", "merged models"}),
    (nearer, "travels", set(FLEETS)),
    (raise_bound, "bound", {"merged", "models"}),
    (change_depot, "expected_errors", set(FLEETS)),
    (without, "contributions", set(FLEETS)),
    (omit_region, "skipped", {"merged", "models"}),
    (unknown, "routes", {"merged", "models"}),
    (missing, "routes", {"merged", "models"}),
    (ratio, "guarantee_paper", {"merged"}),
    (change_mode, "", set(FLEETS)),
]


@pytest.mark.parametrize("name", FLEETS)
def test_forgeries_are_refuted(name: str) -> None:
    problem = problem_of(FLEETS[name], 4)
    honest = planned(problem)
    assert verify(problem, honest).holds
    for forge, what, names in FORGERIES:
        if name in names:
            data = copy.deepcopy(honest)
            forge(data, problem)
            assert what in refuted(problem, data) or (not what and refuted(problem, data)), forge.__name__


def test_models_of_one_vehicle_are_numbers_of_models() -> None:
    problem = problem_of(FLEETS["models"], 4)
    honest = planned(problem)
    for models in ([2] * len(honest["route"]), honest["models"][1:], None, "ab", [True] * len(honest["route"])):
        assert refuted(problem, {**honest, "models": models}) == {"routes"}
    swapped = [1 - one for one in honest["models"]]
    assert "served_by" in refuted(problem, {**honest, "models": swapped})
    assert refuted(problem, {**honest, "order": honest["order"][::-1]}) == {"routes"}


def test_broken_limits_are_refuted() -> None:
    """A plan for a longer limit or a larger budget is invalid for a smaller one, as is its bound."""
    free = problem_of(Fleet(vehicles=2, serve="own"), visits=None)
    data = planned(free)
    limit, budget = 0.99 * max(data["travels"]), 0.99 * sum(data["travels"])
    assert refuted(free.replace(fleet=Fleet(vehicles=2, serve="own", limit=limit)), data) == {"routes"}
    assert refuted(free.replace(visits=Visits("all", budget=budget)), data) == {"routes"}
    assert refuted(free.replace(fleet=Fleet(vehicles=1, models=2)), data) == {"routes"}


def test_plans_of_one_route_say_nothing_of_models() -> None:
    problem = problem_of(Fleet())
    data = planned(problem)
    assert verify(problem, data).holds
    for member, value in (("weights", [1.0]), ("served_by", {}), ("travels", [0.0]), ("models", [0])):
        assert refuted(problem, {**data, member: value}) == {member}


@pytest.mark.parametrize("data", [{}, {"routes": []}, {"route": [], "order": [], "loss": {}}])
def test_invalid_fleet_plans_are_rejected_in_one_line(data: Data) -> None:
    with pytest.raises(InputError, match="routes") as error:
        verify(problem_of(FLEETS["merged"]), data)
    assert "\n" not in str(error.value)


LEARNERS = [
    Learner(20, 60, 0.3),
    Learner(60, 30, 0.3),
    Proximal(30, 60, 0.3, regularization=1.0),
    Gradient(30, 60, 0.3, steps=3, rate=0.3),
    Calibrated(noise=0.05, retention=0.5, coupling=0.2),
    Calibrated(noise=-0.05, retention=0.9, coupling=0.7),  # more coupling than any model has
]


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_floor_of_an_average_is_confirmed_and_refuted_if_raised(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_routes, "MOST_ROUTES", 0)
    there: Data = {"depot": Depot("Base", (5.0, 5.0)), "importance": np.arange(8.0)}
    for fleet, fields in (
        (Fleet(vehicles=3, travel="longest"), {}),
        (Fleet(vehicles=3), there),
        (Fleet(models=2, serve="merged"), {}),
    ):
        problem = problem_of(fleet, 8, learner=learner, visits=Visits(["R1", "R2", "R5", "R7"]), **fields)
        data = routes_data(problem, [[f"R{1 + i}" for i in range(k, 8, fleet.vehicles)] for k in range(fleet.vehicles)])
        assert data["certificate"]["kind"] == "simple"
        report = verify(problem, data)
        assert report.holds, [check for check in report if not check.holds]
        data["certificate"]["bound"] += 1e-7 * abs(data["certificate"]["bound"])
        assert refuted(problem, data) == {"certificate"}


def routes_data(problem: Problem, routes: list[list[str]]) -> Data:
    one = len(routes) == 1
    found = evaluate(
        problem, routes[0] if one else routes, models=[i % 2 for i in range(len(routes[0]))] if one else None
    )
    data: Data = json.loads(json.dumps(found.to_dict()))
    return data


def test_the_bound_of_another_problem_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer vehicles, or more required regions, give a larger bound."""
    monkeypatch.setattr(fleet_routes, "MOST_ROUTES", 0)
    base = Fleet(vehicles=2)
    problem = problem_of(base, 12, visits=Visits([f"R{i}" for i in range(1, 10)]))
    routes = [[f"R{i}" for i in range(1, 6)], [f"R{i}" for i in range(6, 10)]]
    data = routes_data(problem, routes)
    for other in (
        problem.replace(fleet=Fleet(vehicles=5)),
        problem.replace(visits=Visits(["R1"])),
        problem.replace(fleet=Fleet(vehicles=2, travel="longest")),
    ):
        forged = {**routes_data(other, routes), "certificate": data["certificate"]}
        assert refuted(other, forged) == {"certificate"}
    assert "bound" in refuted(problem, {**data, "lower_bound": data["loss"]["total"]})


def test_many_models_are_checked_by_their_slopes() -> None:
    problem = problem_of(Fleet(vehicles=10), 12, visits=Visits("all"))
    routes = [[f"R{1 + i}" for i in range(k, 12, 10)] for k in range(10)]
    data = routes_data(problem, routes)
    assert not refuted(problem, data)
    assert {check.what: check.verdict for check in verify(problem, data)}["weights"] == "confirmed"
    data["weights"] = [0.1] * 10
    assert "weights" in refuted(problem, data)


def test_exact_losses_are_those_of_the_model() -> None:
    for name, fleet in FLEETS.items():
        problem = problem_of(fleet, 5)
        found = plan(problem)
        assert found.fleet is not None
        losses = FleetLosses(problem, problem.fleet_rules)
        total = losses.total(found.fleet, losses.best_service(found.fleet))
        assert total.low < total.high
        assert float(total.low) == pytest.approx(problem.instance(found.fleet), rel=1e-12), name
        assert total.high - total.low < Fraction(1, 10**100)


def test_true_losses_are_those_of_the_planned_service() -> None:
    rng = np.random.default_rng(1)
    truth = rng.standard_normal((4, 3))
    apart = ((truth[:, None] - truth) ** 2).sum(axis=2) * rng.uniform(1, 3)
    for fleet in (Fleet(vehicles=2), Fleet(models=2)):
        problem = Problem(
            rng.random((4, 4)) * (1 - np.eye(4)), Learner(60, 30, 0.3), apart, initial=(truth**2).sum(axis=1) + 2,
            truth=truth, initial_model=[0.0, 0.0, 0.0], fleet=fleet,
        )  # fmt: skip
        data = planned(problem)
        assert data["true_loss"] is not None
        assert verify(problem, data).holds
        data["true_loss"]["total"] *= 1.001
        assert refuted(problem, data) == {"true_loss"}


def change_numbers(data: Data, rng: np.random.Generator) -> Data:
    """A plan with one to three of its numbers or lists changed."""
    found = copy.deepcopy(data)
    for _ in range(int(rng.integers(1, 4))):
        if rng.random() < 0.7:
            places = numbers_in(found)
            path = places[int(rng.integers(len(places)))]
            old = at(found, path)
            factor = float(rng.choice([0.5, 1 + 1e-11, 1 + 1e-6, 1.001, 2, -1, 1e14]))
            new = EXTREME[int(rng.integers(len(EXTREME)))] if rng.random() < 0.3 else old * factor
            at(found, path[:-1])[path[-1]] = int(rng.integers(-1, 5)) if isinstance(old, int) else new
        else:
            places = lists_in(found)
            row = at(found, places[int(rng.integers(len(places)))])
            rng.shuffle(row)
            del row[: int(rng.integers(0, 2))]
            row.extend(copy.deepcopy(row[: int(rng.integers(0, 2))]))
    return found


@pytest.mark.parametrize("name", FLEETS)
def test_confirmed_claims_of_changed_plans_are_true(name: str) -> None:
    problem, rng, confirmed = problem_of(FLEETS[name], 4), np.random.default_rng(len(name)), 0
    best = plan(problem)
    for method in ("auto", "search"):
        honest = planned(problem, method)
        for _ in range(12):
            data = change_numbers(honest, rng)
            try:
                report = verify(problem, data)
            except InputError:
                continue
            if not report.holds:
                continue
            confirmed += 1
            assert data["loss"]["total"] == pytest.approx(honest["loss"]["total"], rel=1e-8) or not data.get("optimal")
            assert data["lower_bound"] is None or data["lower_bound"] <= best.loss.total * (1 + 1e-9)
    assert confirmed < 20
