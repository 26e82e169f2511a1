from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from typing import Any

import pytest

from learnroute.web import pool
from learnroute.web.settings import Limits
from service import Service, example, long_task, serving, wait_for


def events(service: Service, place: str) -> list[tuple[str, Any]]:
    with service.client.stream("GET", f"{place}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in stream.iter_lines() if line]
    kinds = [line.removeprefix("event: ") for line in lines[::2]]
    return [(kind, json.loads(line.removeprefix("data: "))) for kind, line in zip(kinds, lines[1::2], strict=True)]


def test_submit_follow_fetch(service: Service) -> None:
    place = service.submit("plan", problem=example("city-survey"))
    heard = events(service, place)
    assert [kind for kind, _ in heard][-1] == "end"
    assert {kind for kind, _ in heard[:-1]} <= {"progress"}
    assert heard[-1][1]["state"] == "done"
    assert heard[-1][1]["progress"] == 1
    found = service.client.get(f"{place}/result")
    assert found.json()["loss"] == service.post("plan", problem=example("city-survey")).json()["loss"]
    assert events(service, place) == heard[-1:]  # who comes late hears the end
    assert service.client.delete(place).json()["state"] == "done"


def test_a_job_that_is_refused_says_why(service: Service) -> None:
    place = service.submit("plan", problem={})
    assert events(service, place)[-1][1]["state"] == "failed"
    answer = service.client.get(f"{place}/result")
    assert (answer.status_code, answer.json()["field"]) == (422, "problem.travel")


def test_progress_rises_and_cancelling_frees_the_worker(service: Service) -> None:
    place = service.submit("tradeoff", **long_task())
    wait_for(lambda: service.job(place)["progress"] > 0, 40)
    assert service.client.get(f"{place}/result").status_code == 409
    assert service.client.get("/api/health").json()["busy"] == 1
    assert service.client.delete(place).status_code == 200
    wait_for(lambda: service.job(place)["state"] == "cancelled", 5)
    wait_for(lambda: service.client.get("/api/health").json()["busy"] == 0, 10)
    answer = service.client.get(f"{place}/result")
    assert (answer.status_code, answer.json()["detail"]) == (409, "cancelled")
    assert service.post("plan", problem=example()).status_code == 200


def test_a_client_that_leaves_frees_its_worker(service: Service) -> None:
    host, port = service.url.removeprefix("http://").split(":")
    body = json.dumps(long_task()).encode()
    head = (
        f"POST /api/tradeoff HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    with socket.create_connection((host, int(port))) as line:
        line.sendall(head.encode() + b"\r\n\r\n" + body)
        wait_for(lambda: service.pool.busy == 1)
        time.sleep(0.3)
    wait_for(lambda: service.pool.busy == 0, 10)  # the task itself takes longer
    assert service.post("plan", problem=example()).status_code == 200


def test_a_full_queue_is_answered_with_429_and_a_queued_job_can_be_cancelled() -> None:
    with serving(workers=1, queue=2) as busy:
        first = busy.submit("tradeoff", **long_task())
        wait_for(lambda: busy.job(first)["state"] == "running")
        second, third = (busy.submit("plan", problem=example()) for _ in range(2))
        answer = busy.post("plan", problem=example())
        assert (answer.status_code, answer.headers["content-type"]) == (429, "application/problem+json")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        busy.client.delete(second)
        wait_for(lambda: busy.job(second)["state"] == "cancelled", 2)
        busy.client.delete(first)
        wait_for(lambda: busy.job(third)["state"] == "done")


def test_a_killed_worker_is_replaced_and_its_job_told(service: Service) -> None:
    place = service.submit("tradeoff", **long_task())
    wait_for(lambda: service.job(place)["state"] == "running")
    (victim,) = service.pool.processes.values()
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: service.job(place)["state"] == "failed", 10)
    assert service.client.get(f"{place}/result").status_code == 503
    assert service.post("plan", problem=example()).status_code == 200
    assert service.pool.processes[0] != victim
    os.kill(service.pool.processes[0], signal.SIGKILL)  # while idle: nobody notices
    time.sleep(0.2)
    assert service.post("plan", problem=example()).status_code == 200


def test_a_stuck_worker_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "GRACE", 1.0)
    with serving(workers=1, limits=Limits(seconds=2)) as service:
        assert service.post("plan", problem=example()).status_code == 200
        os.kill(service.pool.processes[0], signal.SIGSTOP)
        answer = service.post("plan", problem=example())
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "did not keep its time limit" in answer.json()["detail"]
        assert service.post("plan", problem=example()).status_code == 200


def test_jobs_that_nobody_asks_about_are_given_up_and_results_forgotten() -> None:
    with serving(workers=1, patience=1.0, keep=0.5) as service:
        assert service.post("plan", problem=example()).status_code == 200
        service.submit("tradeoff", **long_task())
        wait_for(lambda: service.pool.busy == 1)
        wait_for(lambda: service.pool.busy == 0, 10)  # nobody asked
        followed = service.submit("tradeoff", **long_task())
        with service.client.stream("GET", f"{followed}/events") as stream:
            wait_for(lambda: service.pool.busy == 1)
            time.sleep(2.0)
            assert service.pool.busy == 1  # a follower keeps it going
            assert stream.status_code == 200
        wait_for(lambda: service.pool.busy == 0, 20)
        done = service.submit("plan", problem=example())
        wait_for(lambda: service.job(done)["state"] == "done")
        time.sleep(1.6)
        assert service.client.get(done).status_code == 404


def test_many_clients_at_once_all_get_their_own_answer(service: Service) -> None:
    wrong: list[Any] = []

    def ask(k: int) -> None:
        for seed in range(5):
            data = service.post("plan", problem=example(), method="random", seed=100 * k + seed).json()
            if data.get("seed") != 100 * k + seed:
                wrong.append(data)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_shutting_down_does_not_wait_for_long_jobs() -> None:
    with serving(workers=1) as service:
        service.submit("tradeoff", **long_task())
        wait_for(lambda: service.pool.busy == 1)
    assert service.pool.busy == 0
