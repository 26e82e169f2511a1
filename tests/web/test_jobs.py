from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import stuck_tasks
from learnroute.web import pool
from learnroute.web.jobs import Jobs
from learnroute.web.pool import Pool, Ticket
from learnroute.web.refusals import Refusal
from learnroute.web.settings import Settings
from learnroute.web.tasks import Result
from service import Clock, Service, endless_task, example, serving
from waiting import GUARD, has_ended, wait_for


@pytest.fixture(autouse=True)
def _endless_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "work", stuck_tasks.work)


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "work", stuck_tasks.work)
        with serving(workers=1) as running:
            yield running


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


def test_a_job_that_is_rejected_says_why(service: Service) -> None:
    place = service.submit("plan", problem={})
    assert events(service, place)[-1][1]["state"] == "failed"
    answer = service.client.get(f"{place}/result")
    assert (answer.status_code, answer.json()["field"]) == (422, "problem.travel")


def test_progress_rises_and_cancelling_frees_the_worker(service: Service) -> None:
    place = service.submit("tradeoff", **endless_task())
    wait_for(lambda: service.job(place)["progress"] > 0)
    assert service.client.get(f"{place}/result").status_code == 409
    assert service.client.get("/api/health").json()["busy"] == 1
    assert service.client.delete(place).status_code == 200
    wait_for(lambda: service.job(place)["state"] == "cancelled")
    wait_for(lambda: service.client.get("/api/health").json()["busy"] == 0)
    answer = service.client.get(f"{place}/result")
    assert (answer.status_code, answer.json()["detail"]) == (409, "cancelled")
    assert service.post("plan", problem=example()).status_code == 200


def test_a_client_that_leaves_frees_its_worker(service: Service) -> None:
    host, port = service.url.removeprefix("http://").split(":")
    body = json.dumps(endless_task()).encode()
    head = (
        f"POST /api/tradeoff HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    with socket.create_connection((host, int(port))) as line:
        line.sendall(head.encode() + b"\r\n\r\n" + body)
        wait_for(lambda: service.pool.busy == 1)
    wait_for(lambda: service.pool.busy == 0)  # the task itself never ends
    assert service.post("plan", problem=example()).status_code == 200


def test_a_full_queue_is_answered_with_503_and_a_queued_job_can_be_cancelled() -> None:
    with serving(workers=1, queue=2) as busy:
        first = busy.submit("tradeoff", **endless_task())
        wait_for(lambda: busy.job(first)["state"] == "running")
        second, third = (busy.submit("plan", problem=example()) for _ in range(2))
        answer = busy.post("plan", problem=example())
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        busy.client.delete(second)
        wait_for(lambda: busy.job(second)["state"] == "cancelled")
        busy.client.delete(first)
        wait_for(lambda: busy.job(third)["state"] == "done")


def test_a_killed_worker_is_replaced_and_its_job_told(service: Service) -> None:
    place = service.submit("tradeoff", **endless_task())
    wait_for(lambda: service.job(place)["state"] == "running")
    (victim,) = service.pool.processes.values()
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: service.job(place)["state"] == "failed")
    assert service.client.get(f"{place}/result").status_code == 503
    assert service.post("plan", problem=example()).status_code == 200
    assert service.pool.processes[0] != victim
    idle = service.pool.processes[0]
    os.kill(idle, signal.SIGKILL)  # nobody notices
    wait_for(lambda: has_ended(idle))
    assert service.post("plan", problem=example()).status_code == 200


class Queue(Pool):
    """A pool without workers that records withdrawn tickets."""

    def __init__(self) -> None:
        super().__init__(Settings())
        self.withdrawn: list[Ticket] = []

    def withdraw(self, ticket: Ticket) -> None:
        self.withdrawn.append(ticket)
        ticket.listener(Refusal(409, "cancelled"))


def test_jobs_that_nobody_asks_about_are_given_up_and_results_forgotten() -> None:
    async def scenario() -> None:
        clock, queue = Clock(asyncio.get_running_loop()), Queue()
        jobs = Jobs(queue, Settings(patience=30, keep=600))
        jobs.start()
        await clock.advance(0)
        alone, asked, followed = (jobs.submit("plan", b"") for _ in range(3))
        tickets = [job.ticket for job in (alone, asked, followed)]
        events = jobs.follow(followed)
        assert (await anext(events)).startswith(b"event: progress")
        await clock.advance(29)
        assert queue.withdrawn == []
        jobs.get(asked.id)
        await clock.advance(2)
        assert queue.withdrawn == tickets[:1]
        await clock.advance(29)
        assert queue.withdrawn == tickets[:2]  # a follower keeps its job going
        await events.aclose()  # type: ignore[attr-defined]
        await clock.advance(29)
        assert queue.withdrawn == tickets[:2]
        await clock.advance(2)
        assert queue.withdrawn == tickets
        assert [job.state for job in (alone, asked, followed)] == ["cancelled"] * 3
        done = jobs.submit("plan", b"")
        done.receive(Result(b"found"))
        await clock.advance(599)
        assert jobs.get(done.id).result().content == b"found"  # and is kept for as long again
        await clock.advance(599)
        assert jobs.states()["done"] == 1
        await clock.advance(2)
        with pytest.raises(Refusal) as refused:
            jobs.get(done.id)
        assert refused.value.status == 404
        await jobs.close()

    asyncio.run(scenario())


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
        thread.join(GUARD)
    assert wrong == []


def test_shutting_down_does_not_wait_for_long_jobs() -> None:
    with serving(workers=1) as service:
        service.submit("tradeoff", **endless_task())
        wait_for(lambda: service.pool.busy == 1)
    assert service.pool.busy == 0
