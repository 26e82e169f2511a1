"""Every request has its own deadline: a stuck worker is replaced, and the client gets an answer."""

from __future__ import annotations

import functools
import json
import math
import os
import signal
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import stuck_tasks
from learnroute.web import pool
from learnroute.web.requests import CompareRequest, EvaluateRequest, ExportRequest, PlanRequest, ReadRequest
from learnroute.web.settings import Limits
from service import Service, example, serving
from waiting import GUARD, has_ended, wait_for

FOREVER = 1e6  # seconds that the service would give to a calculation
LIMITS = Limits(seconds=60)


class Clock:
    """A clock that moves only when advanced, and counts how often it is read."""

    def __init__(self) -> None:
        self.now, self.readings = 0.0, 0

    def __call__(self) -> float:
        self.readings += 1
        return self.now

    def advance(self, seconds: float) -> None:
        """Advance the clock, and wait until the workers have been checked."""
        self.now += seconds
        before = self.readings
        wait_for(lambda: self.readings >= before + 10)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the pool, whose workers get stuck."""
    standing = Clock()
    monkeypatch.setattr(pool, "monotonic", standing)
    monkeypatch.setattr(pool, "work", stuck_tasks.work)
    return standing


@pytest.fixture
def allowances(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that workers were given, one after another."""
    found: list[float] = []
    expect = pool._Worker.expect

    def record_allowance(self: pool._Worker, seconds: float) -> None:
        expect(self, seconds)
        found.append(seconds)

    monkeypatch.setattr(pool._Worker, "expect", record_allowance)
    return found


def endless_request(where: str, task: str) -> dict[str, Any]:
    """The members of a request that never ends, with a time limit if the task has one."""
    if task == "read":
        return {"files": [{"name": f"{where}.json", "text": json.dumps(example())}]}
    members: dict[str, Any] = {"problem": {**example(), "title": where}}
    if task in ("evaluate", "error_history"):
        return {**members, "route": members["problem"]["regions"]}
    return {**members, "time_limit": 0.5}


def alive(service: Service) -> None:
    assert service.post("plan", problem=example(), time_limit=5).status_code == 200


def time_out(
    service: Service, clock: Clock, allowances: list[float], ask: Callable[[], httpx.Response], turns: int = 2
) -> float:
    """Send a request that never ends, and let its time pass; return its allowance. The worker is ready before.

    `turns` is how often its time is set: when the request is handed over, and when it has been read.
    """
    alive(service)
    before, restarts = service.pool.processes[0], service.pool.restarts["stuck"]
    wait_for(lambda: allowances[-1] == math.inf)  # until something is asked for
    allowances.clear()
    with ThreadPoolExecutor(1) as client:
        answer = client.submit(ask)
        wait_for(lambda: len(allowances) == turns)
        clock.advance(allowances[-1])
        assert service.pool.restarts["stuck"] == restarts
        assert not has_ended(before)
        seconds = allowances[-1]
        clock.advance(0.1)
        found = answer.result(GUARD)
    assert (found.status_code, found.headers["content-type"]) == (503, "application/problem+json")
    assert "exceeded its time limit" in found.json()["detail"]
    assert found.headers["retry-after"] == "1"
    assert service.pool.processes[0] != before
    assert service.pool.restarts["stuck"] == restarts + 1
    alive(service)
    return seconds - pool.GRACE


@pytest.mark.parametrize("where", stuck_tasks.HANGS)
def test_the_deadline_is_that_of_the_request(where: str, clock: Clock, allowances: list[float]) -> None:
    with serving(workers=1, limits=Limits(seconds=FOREVER)) as service:
        seconds = time_out(service, clock, allowances, lambda: service.post("plan", **endless_request(where, "plan")))
        assert seconds == pytest.approx(0.5, abs=0.1)


def test_all_tasks_with_a_limit_use_it(clock: Clock, allowances: list[float]) -> None:
    with serving(workers=1, limits=Limits(seconds=FOREVER)) as service:
        for task, most in (("compare", 20), ("tradeoff", 1), ("learners", 1), ("visits", 1), ("export", 1)):
            ask = functools.partial(service.post, task, **endless_request("core", task))
            assert time_out(service, clock, allowances, ask) < most, task


def test_tasks_without_a_limit_use_that_of_the_service(clock: Clock, allowances: list[float]) -> None:
    with serving(workers=1, limits=LIMITS) as service:
        for task in ("evaluate", "error_history", "read"):
            ask = functools.partial(service.post, task, **endless_request("python", task))
            assert time_out(service, clock, allowances, ask) == 60, task


def test_errors_of_jobs_are_reported(clock: Clock, allowances: list[float]) -> None:
    with serving(workers=1, limits=Limits(seconds=FOREVER)) as service:

        def ask() -> httpx.Response:
            place = service.submit("plan", **endless_request("c", "plan"))
            wait_for(lambda: service.job(place)["state"] == "failed")
            assert "exceeded its time limit" in service.job(place)["error"]
            return service.client.get(f"{place}/result")

        time_out(service, clock, allowances, ask)


def test_requests_that_never_end_block_no_worker_for_good(clock: Clock, allowances: list[float]) -> None:
    with serving(workers=2, limits=Limits(seconds=FOREVER)) as service, ThreadPoolExecutor(3) as clients:
        stuck = [clients.submit(service.post, "plan", **endless_request("python", "plan")) for _ in range(2)]
        wait_for(lambda: service.pool.busy == 2)
        another = clients.submit(alive, service)
        wait_for(lambda: sum(seconds < 20 for seconds in allowances) == 2)  # both have begun
        clock.advance(20)
        assert [answer.result(GUARD).status_code for answer in stuck] == [503, 503]
        another.result(GUARD)


def test_killed_workers_leave_no_temporary_folder(
    clock: Clock, allowances: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with serving(workers=1, limits=Limits(seconds=FOREVER)) as service, ThreadPoolExecutor(1) as client:
        alive(service)
        answer = client.submit(service.post, "export", **endless_request("writing", "export"))
        wait_for(lambda: any(tmp_path.glob("*/plan.json")))
        wait_for(lambda: allowances[-1] < 20)  # the request has been read
        clock.advance(20)
        assert answer.result(GUARD).status_code == 503
        assert not list(tmp_path.iterdir())


def test_worker_that_stops_reading_is_replaced(clock: Clock, allowances: list[float]) -> None:
    """With a frozen process and a large request, even sending the request blocks."""
    with serving(workers=1, limits=LIMITS) as service:
        body = json.dumps({"problem": example()}).encode() + b" " * (4 << 20)

        def ask() -> httpx.Response:
            os.kill(service.pool.processes[0], signal.SIGSTOP)
            return service.client.post("/api/plan", content=body, headers={"content-type": "application/json"})

        assert time_out(service, clock, allowances, ask, turns=1) == 60


@pytest.mark.parametrize(
    ("kind", "members", "seconds"),
    [
        (PlanRequest, {"time_limit": 2.0}, 2.0),
        (PlanRequest, {}, 60.0),
        (CompareRequest, {"time_limit": 2.0, "methods": ["travel", "nearest"]}, 2.0),
        (ExportRequest, {"time_limit": 2.0}, 2.0),
        (ExportRequest, {"time_limit": 2.0, "what": "problem"}, 60.0),
    ],
)
def test_time_allowances_of_requests(kind: Any, members: dict[str, Any], seconds: float) -> None:
    few = kind.of({"problem": example(), **members}, LIMITS)
    assert few.allowance(LIMITS) == pytest.approx(seconds, abs=0.1)  # pricing eight regions takes no time


def test_tasks_without_a_time_limit_get_the_maximum() -> None:
    route = {"problem": example(), "route": example()["regions"]}
    assert EvaluateRequest.of(route, LIMITS).allowance(LIMITS) == 60.0
    assert ReadRequest.of(endless_request("x", "read"), LIMITS).allowance(LIMITS) == 60.0
