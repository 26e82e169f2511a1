"""Interrupted work, and searches that use their whole time limit: checked by counts, not by seconds."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calls import call
from learnroute import Learner, Plan, Problem, Proximal, guarantees, plan, write_problem
from learnroute.cli import planning
from learnroute.errors import InputError
from learnroute.model.travel import Places
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.study.families import random_problem
from samples import OVER, UNDER, linear_of

PROXIMAL = Proximal(120, 100, 0.1, regularization=0.5)


def problem_of(size: int, learner: Learner) -> Problem:
    return random_problem("euclidean", size, learner, 1)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("learner", [UNDER, OVER, PROXIMAL])
@pytest.mark.parametrize(
    ("size", "method"), [(16, "exact"), (30, "auto"), (120, "auto"), (250, "search"), (250, "travel")]
)
def test_stop_gives_the_best_route_so_far(size: int, method: str, learner: Learner, threads: int) -> None:
    problem, stop, later = problem_of(size, learner), threading.Event(), 0

    def watch(_stage: str, _share: float) -> None:
        nonlocal later
        later += stop.is_set()
        stop.set()

    found = plan(problem, method, progress=watch, stop=stop, threads=threads)
    assert sorted(found.route) == sorted(problem.regions)
    assert found.lower_bound is not None
    assert found.lower_bound <= found.loss.total
    assert later < 40  # an uninterrupted plan tells of progress hundreds of times


@pytest.mark.parametrize("method", ["auto", "search", "algorithm1"])
@pytest.mark.parametrize("learner", [UNDER, OVER])
def test_after_stop_places_are_bounded_without_a_matrix(
    learner: Learner, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, stop = random_problem("places", 400, learner, 1), threading.Event()
    monkeypatch.delattr(Places, "matrix")
    found = plan(problem, method, progress=lambda _stage, _share: stop.set(), stop=stop)
    assert len(found.route) == 400
    assert found.lower_bound is not None


@pytest.mark.parametrize("method", ["auto", "algorithm1"])
@pytest.mark.parametrize("learner", [UNDER, OVER])
def test_after_stop_the_triangle_inequality_is_not_checked(
    learner: Learner, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, stop = problem_of(400, learner), threading.Event()
    monkeypatch.delattr(guarantees, "metric_report")

    def watch(stage: str, _share: float) -> None:
        if stage in ("search", "bound"):  # Algorithm 1 has ended
            stop.set()

    found = plan(problem, method, progress=watch, stop=stop)
    assert "no time was left to check the triangle inequality" in found.guarantee.reason


def test_stop_must_be_an_event() -> None:
    with pytest.raises(InputError, match="stop"):
        plan(problem_of(5, UNDER), stop=True)  # type: ignore[arg-type]


def test_ctrl_c_writes_the_best_route_so_far(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_problem(problem_of(200, OVER), tmp_path / "p.json")

    def interrupted(problem: Problem, method: str, seed: int, limit: None, _progress: Any, *rest: Any) -> Plan:
        pressed = threading.Event()

        def press(_stage: str, _share: float) -> None:
            if not pressed.is_set():
                pressed.set()
                os.kill(os.getpid(), signal.SIGINT)

        return plan(problem, method, seed, limit, press, *rest)

    monkeypatch.setattr(planning, "plan", interrupted)
    code, out, err = call(capsys, "plan", str(tmp_path / "p.json"), "-o", str(tmp_path / "plan.json"))
    assert code == 130
    assert "interrupted: this is the best route found so far" in err
    assert "loss" in out
    assert len(json.loads((tmp_path / "plan.json").read_text())["route"]) == 200
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("learner", [UNDER, OVER])
@pytest.mark.parametrize("most_regions", [0, 12_000])
def test_a_search_with_a_time_limit_uses_it(learner: Learner, most_regions: int) -> None:
    """Only the clock ends it: here after ten times the progress reports of a search with default effort."""
    from learnroute.solvers.params import IteratedLocalSearchParams, PopulationParams, SolverParams

    few = IteratedLocalSearchParams(
        many_perturbations=2, most_perturbations=0, population=PopulationParams(most_regions=most_regions)
    )
    params, objective, stop, told = (
        SolverParams(search=few),
        linear_of(problem_of(60, learner)),
        threading.Event(),
        0,
    )

    def count(_stage: str, share: float) -> None:
        nonlocal told
        told += 1
        assert 0 <= share <= 1
        if told == most:
            stop.set()

    most = 10**6
    iterated_local_search(objective, np.random.default_rng(0), Budget.of(1e6, count, stop), params=params)
    assert not stop.is_set()
    most, told = 10 * told, 0
    whole = Budget.of(1e6, count, stop, spend_all=True)
    order = iterated_local_search(objective, np.random.default_rng(0), whole, params=params)
    assert told >= most
    assert sorted(order) == list(range(60))
