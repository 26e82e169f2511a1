"""Every request has a deadline of its own: a worker that is stuck is replaced, and the client gets an answer."""

from __future__ import annotations

import json
import os
import signal
import threading
from typing import Any

import pytest

import stuck_tasks
from learnroute.web import pool
from learnroute.web.requests import CompareRequest, EvaluateRequest, ExportRequest, PlanRequest, ReadRequest
from learnroute.web.settings import Limits
from service import Service, example, serving, wait_for

FOREVER = 1e6  # seconds that the service would give to a calculation: no test waits for them
LIMITS = Limits(seconds=60)


@pytest.fixture(autouse=True)
def _hanging_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "GRACE", 1.0)
    monkeypatch.setattr(pool, "work", stuck_tasks.work)


def hanging(where: str, task: str) -> dict[str, Any]:
    """The members of a request that never ends; with a time limit, where the task takes one."""
    if task == "read":
        return {"files": [{"name": f"{where}.json", "text": json.dumps(example())}]}
    members: dict[str, Any] = {"problem": {**example(), "title": where}}
    if task in ("evaluate", "error_history"):
        return {**members, "route": members["problem"]["regions"]}
    return {**members, "time_limit": 0.5}


def alive(service: Service) -> None:
    assert service.post("plan", problem=example(), time_limit=5).status_code == 200


@pytest.mark.parametrize("where", stuck_tasks.HANGS)
def test_the_deadline_is_that_of_the_request(where: str) -> None:
    with serving(workers=1, limits=Limits(seconds=FOREVER)) as service:
        alive(service)
        before = service.pool.processes[0]
        answer = service.post("plan", **hanging(where, "plan"))
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert "did not keep its time limit" in answer.json()["detail"]
        assert service.pool.processes[0] != before
        alive(service)
        assert service.pool.restarts["stuck"] == 1


@pytest.mark.parametrize("task", ["compare", "tradeoff", "learners", "export"])
def test_so_is_that_of_all_tasks_with_a_limit(task: str) -> None:
    with serving(workers=1, limits=Limits(seconds=FOREVER)) as service:
        answer = service.post(task, **hanging("core", task))
        assert (answer.status_code, "time limit" in answer.json()["detail"]) == (503, True)
        alive(service)


@pytest.mark.parametrize("task", ["evaluate", "error_history", "read"])
def test_tasks_without_a_limit_have_that_of_the_service(task: str) -> None:
    with serving(workers=1, limits=Limits(seconds=5)) as service:
        answer = service.post(task, **hanging("python", task))
        assert (answer.status_code, "time limit" in answer.json()["detail"]) == (503, True)
        alive(service)


def test_a_job_is_told_too() -> None:
    with serving(workers=1, limits=Limits(seconds=FOREVER)) as service:
        place = service.submit("plan", **hanging("c", "plan"))
        wait_for(lambda: service.job(place)["state"] == "failed")
        assert "did not keep its time limit" in service.job(place)["error"]
        assert service.client.get(f"{place}/result").status_code == 503
        alive(service)


def test_requests_that_never_end_block_no_worker_for_good() -> None:
    with serving(workers=2, limits=Limits(seconds=FOREVER)) as service:
        statuses: list[int] = []

        def ask() -> None:
            statuses.append(service.post("plan", **hanging("python", "plan")).status_code)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        wait_for(lambda: service.pool.busy == 2)
        alive(service)
        for thread in threads:
            thread.join(60)
        assert statuses == [503, 503]


def test_a_worker_that_takes_in_no_more_than_a_pipe_holds_is_replaced() -> None:
    """A frozen process and a large request: even handing it over does not come to an end."""
    with serving(workers=1, limits=Limits(seconds=5)) as service:
        alive(service)
        os.kill(service.pool.processes[0], signal.SIGSTOP)
        body = json.dumps({"problem": example()}).encode() + b" " * (4 << 20)
        answer = service.client.post("/api/plan", content=body, headers={"content-type": "application/json"})
        assert (answer.status_code, "time limit" in answer.json()["detail"]) == (503, True)
        alive(service)


@pytest.mark.parametrize(
    ("kind", "members", "seconds"),
    [
        (PlanRequest, {"time_limit": 2.0}, 2.0),
        (PlanRequest, {}, 60.0),
        (CompareRequest, {"time_limit": 2.0, "methods": ["travel", "nearest"]}, 8.0),  # and λ, and the bound
        (ExportRequest, {"time_limit": 2.0}, 2.0),
        (ExportRequest, {"time_limit": 2.0, "what": "problem"}, 60.0),
    ],
)
def test_what_requests_are_allowed(kind: Any, members: dict[str, Any], seconds: float) -> None:
    few = kind.of({"problem": example(), **members}, LIMITS)
    assert few.allowance(LIMITS) == pytest.approx(seconds, abs=0.1)  # pricing eight regions takes no time


def test_what_takes_no_limit_is_allowed_the_longest() -> None:
    route = {"problem": example(), "route": example()["regions"]}
    assert EvaluateRequest.of(route, LIMITS).allowance(LIMITS) == 60.0
    assert ReadRequest.of(hanging("x", "read"), LIMITS).allowance(LIMITS) == 60.0
