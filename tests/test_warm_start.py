"""Plans that start from an older route, and ties broken by travel if the travel rate is 0."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnroute import InputError, plan
from learnroute.cli import main
from learnroute.model.linear import Weighted
from learnroute.model.routes import Routes
from learnroute.solvers.params import IteratedLocalSearchParams, SolverParams
from learnroute.study.families import random_problem
from samples import OVER, UNDER, linear_of, small

RNG = np.random.default_rng
IDLE = SolverParams(search=IteratedLocalSearchParams(few_perturbations=0, perturbations=0, starts=1))


@pytest.mark.parametrize("method", ["search", "auto"])
@pytest.mark.parametrize("learner", [UNDER, OVER])
def test_a_plan_is_never_worse_than_the_route_it_starts_from(method: str, learner: Any) -> None:
    problem = random_problem("euclidean", 40, learner, 3)
    objective = linear_of(problem)
    good = plan(problem, "search").order
    found = plan(problem, method, params=IDLE, initial=good)
    assert objective(found.order) <= objective(good) * (1 + 1e-12)
    names = [problem.regions[stop] for stop in good]
    assert plan(problem, method, params=IDLE, initial=names).order == found.order


def test_missing_regions_go_where_they_cost_least_travel() -> None:
    problem = random_problem("euclidean", 9, UNDER, 1)
    objective, orders = linear_of(problem), problem.instance.orders
    order = RNG(0).permutation(9)
    for gone in range(9):
        kept = order[order != gone]
        travels = [objective.legs(np.insert(kept, place, gone)).sum() for place in range(9)]
        completed = orders.complete(Routes.of_order(kept)).order
        assert objective.legs(completed).sum() == pytest.approx(min(travels), rel=1e-12)
    assert sorted(orders.complete(Routes.of_order([])).regions) == list(range(9))
    found = plan(problem, initial=[int(stop) for stop in order[1:]])
    assert sorted(found.order) == list(range(9))


def test_refusals_are_one_line() -> None:
    problem = small()
    for initial, method, told in (
        (["A", "B"], "algorithm1", "cannot start from a route"),
        (["A", "A"], "auto", "twice"),
        ([7], "auto", "region 7"),
        (["Z"], "auto", "no region 'Z'"),
        ("AB", "auto", "a list of region names"),
    ):
        with pytest.raises(InputError, match=told) as refusal:
            plan(problem, method, initial=initial)
        assert "\n" not in str(refusal.value)


def test_the_command_reads_the_route_of_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = str(Path(__file__).parents[1] / "examples" / "warehouse-robot.json")

    def run(*arguments: str) -> tuple[int, str]:
        try:
            main(["plan", problem, *arguments])
        except SystemExit as done:
            return int(done.code or 0), capsys.readouterr().out
        return 0, capsys.readouterr().out

    old = tmp_path / "old.json"
    old.write_text(run("--json")[1])
    code, again = run("--json", "--initial", str(old))
    assert code == 0
    assert json.loads(again)["route"] == json.loads(old.read_text())["route"]
    old.write_text("[]")
    assert run("--initial", str(old))[0] == 2


@pytest.mark.parametrize("method", ["auto", "exact", "search"])
@pytest.mark.parametrize("size", [7, 30])
def test_travel_breaks_ties_if_it_is_worth_nothing(method: str, size: int) -> None:
    problem = random_problem("euclidean", size, UNDER, 2).replace(travel_rate=0.0)
    ways = linear_of(problem.replace(travel_rate=1.0))
    found = plan(problem, method)
    last = int(np.argmin(problem.scores))
    assert found.order[-1] == last
    assert found.optimal
    alone = Weighted(ways.travel, np.zeros(size), np.zeros(size), ends=ways.ends.ending_at(last))
    if size == 7:
        least = min(alone(order) for order in itertools.permutations(range(7)) if order[-1] == last)
        assert ways.legs(found.order).sum() == pytest.approx(least, rel=1e-12)
    shortest = plan(problem.replace(travel_rate=1e6), "search")
    if shortest.order[-1] == last:
        assert ways.legs(found.order).sum() <= ways.legs(shortest.order).sum() * (1 + 1e-9)
