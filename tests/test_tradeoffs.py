from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import oracle
from learnroute import Constraints, InputError, Learner, Problem, Visits, evaluate, plan
from learnroute.cli import commands
from learnroute.model.routes import Routes
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.pareto import pareto_front_orders
from learnroute.study.families import random_problem
from learnroute.tradeoffs import Tradeoff, _Routes, tradeoff
from samples import OVER, UNDER, asymmetric, linear_of


def pareto_front_of(problem: Problem) -> list[tuple[float, float]]:
    """Travel and error of every allowed order, and those of them that no other one beats."""
    sides = sorted(
        (parts["travel_cost"], parts["error"])
        for parts in (oracle.journey_loss(problem, order) for order in oracle.allowed_orders(problem))
    )
    front: list[tuple[float, float]] = []
    for travel, error in sides:
        if front and error >= front[-1][1] * (1 - 1e-11):
            continue
        if front and travel <= front[-1][0] * (1 + 1e-11):
            front.pop()
        front.append((travel, error))
    return front


ENDS: dict[str, dict[str, Any]] = {
    "free": {},
    "start": {"start": "R2"},
    "end": {"end": "R3"},
    "both": {"start": "R2", "end": "R3"},
    "tour": {"returns": True},
    "tour from": {"start": "R4", "returns": True},
    "tour to": {"end": "R1", "returns": True},
}


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("learner", [UNDER, OVER, Learner(1000, 100)], ids=["under", "over", "flat"])
@pytest.mark.parametrize("kind", ["symmetric", "asymmetric", "samples"])
def test_the_whole_pareto_front_is_found(kind: str, learner: Learner, ends: dict[str, Any]) -> None:
    for seed in range(3):
        problem = asymmetric(6, learner, seed) if kind == "asymmetric" else random_problem("uniform", 6, learner, seed)
        samples = [90, 250, 60, 150, 30, 40] if kind == "samples" else None
        problem = problem.replace(constraints=Constraints(**ends), samples=samples)
        objective = linear_of(problem)
        orders = pareto_front_orders(objective, Budget())
        assert orders is not None
        assert all(objective.ends.allows(order) for order in orders)
        found = [oracle.journey_loss(problem, order.tolist()) for order in orders]
        wanted = np.array(pareto_front_of(problem))
        assert np.array([(f["travel_cost"], f["error"]) for f in found]) == pytest.approx(wanted, rel=1e-11)


def test_the_curve_says_which_rates_make_a_route_best() -> None:
    problem = random_problem("euclidean", 7, OVER, 4)
    found = tradeoff(problem)
    assert found.complete
    for point in found.points:
        if point.rates is None:
            continue
        low, high = point.rates
        rate = min(2 * low + 1, (low + min(high, 1e6)) / 2)
        best = plan(problem.replace(travel_rate=rate), "exact")
        assert point.loss(rate) == pytest.approx(best.loss.total, rel=1e-9)
    ranges = [point.rates for point in found.points if point.rates]
    assert ranges[0][1] == float("inf")
    assert ranges[-1][0] == 0
    assert all(a[0] == b[1] for a, b in itertools.pairwise(ranges))
    chosen = found.points[found.chosen]
    assert chosen.loss(1.0) == pytest.approx(plan(problem, "exact").loss.total, rel=1e-12)
    assert found.marks["travel"].travel_cost == pytest.approx(found.points[0].travel_cost, rel=1e-12)
    assert found.marks["baseline"].error == pytest.approx(found.points[-1].error, rel=1e-12)


def test_a_route_is_picked_by_budget_or_ceiling() -> None:
    found = tradeoff(random_problem("euclidean", 7, OVER, 4))
    for point in found.points:
        assert found.within(point.travel_cost) is point
        assert found.below(point.error) is point
    with pytest.raises(InputError, match="budget = nan: expected a number"):
        found.within(float("nan"))
    with pytest.raises(InputError, match="ceiling = nan: expected a number"):
        found.below(float("nan"))
    with pytest.raises(InputError, match=r"budget = 0\.1: no route is that short; the shortest one travels"):
        found.within(0.1)
    with pytest.raises(InputError, match="ceiling = 0: no route has an error that small; the least error is"):
        found.below(0.0)


def is_pareto_front(found: Tradeoff) -> bool:
    return all(
        a.travel_cost < b.travel_cost and a.error > b.error for a, b in itertools.pairwise(found.points)
    )  # fmt: skip


@pytest.mark.parametrize("learner", [UNDER, OVER], ids=["under", "over"])
def test_beyond_the_exact_size_the_best_found_are_returned(learner: Learner) -> None:
    problem = random_problem("euclidean", 16, learner, 2)
    found = tradeoff(problem, points=30)
    assert is_pareto_front(found)
    assert found.points[found.chosen].loss(1.0) <= plan(problem, "exact").loss.total * (1 + 1e-9)
    if learner.regime == "under":  # the shortest way to each end, proved
        assert found.complete
        assert len({point.order[-1] for point in found.points}) == len(found.points)
    again = tradeoff(problem, points=30)
    assert again.points == found.points


def test_a_time_limit_is_kept_and_points_are_counted() -> None:
    problem = random_problem("uniform", 14, OVER, 1)
    found = tradeoff(problem, points=3, time_limit=1e-9)
    assert not found.complete
    assert is_pareto_front(found)
    with pytest.raises(InputError, match="points = 2000: must be <= 1000"):
        tradeoff(problem, points=2000)
    with pytest.raises(InputError, match="time_limit = 0: seconds must be > 0"):
        tradeoff(problem, time_limit=0)


def test_a_worse_plan_without_travel_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem("euclidean", 12, OVER, 2).replace(visits=Visits())
    errors = [evaluate(problem, [region]).loss.error for region in range(12)]
    best, worst = int(np.argmin(errors)), int(np.argmax(errors))
    plans = iter([[worst], list(range(12)), [best]])

    def made(routes: _Routes, _problem: Problem, _left: int) -> Any:
        return routes.add(Routes.of_order(next(plans, [best]))), False

    monkeypatch.setattr(_Routes, "plan", made)
    found = tradeoff(problem)
    assert is_pareto_front(found)
    assert found.points[0].order == (best,)


def test_the_command_prints_picks_and_writes(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        result = CliRunner().invoke(
            commands, ["tradeoff", "examples/north-sea.json", *arguments], catch_exceptions=False
        )
        assert result.exit_code == 0
        return result.output

    text = run("--budget", "40")
    assert "all Pareto-optimal routes" in text
    assert "route      Bergen" in text
    assert "chosen" not in text
    output = run("--json", "--ceiling", "18.7", "-o", str(tmp_path / "curve.csv"), "--plot", str(tmp_path / "c.png"))
    data = json.loads(output[output.index("{") :])
    assert data["picked"]["error"] <= 18.7
    assert data["complete"]
    rows = (tmp_path / "curve.csv").read_text().splitlines()
    assert len(rows) == 1 + len(data["points"]) + len(data["marks"])
    assert np.all(np.diff([point["travel_cost"] for point in data["points"]]) > 0)
    assert (tmp_path / "c.png").stat().st_size > 10_000
