"""Robustness of the service: slow, large, many and malformed requests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stuck_tasks
from learnroute import InputError
from learnroute.web import pool, request_bodies, requests
from learnroute.web.jobs import Job
from learnroute.web.pool import Ticket
from learnroute.web.refusals import Refusal
from learnroute.web.server import MOST_HEAD
from learnroute.web.settings import Limits, Settings
from service import Service, endless_task, example, get, serving
from waiting import GUARD, wait_for

ROOT = Path(__file__).parents[2]
HEAD = "POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@contextlib.contextmanager
def line_to(service: Service, *parts: str | bytes) -> Iterator[socket.socket]:
    """Open a connection and send text over it."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=GUARD) as line:
        for part in parts:
            line.sendall(part.encode() if isinstance(part, str) else part)
        yield line


def receive_all(line: socket.socket) -> str:
    """Return everything received until the service closes the connection."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while part := line.recv(65536):
            found += part
    return found.decode()


def document(answer: str) -> dict[str, Any]:
    head, _, body = answer.partition("\r\n\r\n")
    assert "application/problem+json" in head
    found: dict[str, Any] = json.loads(body[body.index("{") : body.rindex("}") + 1])
    return found


@pytest.mark.parametrize(
    ("task", "member", "text"),
    [
        ("compare", "draws", "3e5"),
        ("compare", "draws", "1001.0"),
        ("compare", "draws", "1e400"),
        ("compare", "draws", "999.5"),
        ("tradeoff", "points", "1e9"),
        ("tradeoff", "points", "1.0"),
        ("plan", "seed", "1e300"),
        ("plan", "seed", "-1.0"),
        ("plan", "time_limit", "1e3"),
        ("plan", "time_limit", "1e-400"),
        ("plan", "time_limit", "1" + "0" * 400),
        ("plan", "travel_rate", "1e101"),
        ("plan", "travel_rate", "-1e-9"),
    ],
)
def test_limits_hold_whatever_a_number_is_written_as(service: Service, task: str, member: str, text: str) -> None:
    body = f'{{"problem": {json.dumps(example())}, "{member}": {text}}}'
    answer = service.client.post(f"/api/{task}", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["field"]) == (422, member)


def test_settings_store_validated_values() -> None:
    made = Settings(workers=2.0, queue=5.0, requests=7.0, limits=Limits(body=1e6, regions=9.0))  # type: ignore[arg-type]
    for value in (made.workers, made.queue, made.requests, made.limits.body, made.limits.regions):
        assert type(value) is int
    for wrong in (
        {"requests": 0}, {"receive": 0}, {"receive": float("inf")}, {"root_path": "learnroute"},
        {"root_path": "/.."}, {"root_path": "/api"}, {"names": ("a b",), "token": "x"}, {"names": ("plan.example",)},
        {"proxies": ("*",)},
    ):  # fmt: skip
        with pytest.raises(InputError):
            Settings(**wrong)


def is_open(line: socket.socket) -> bool:
    """Whether a connection is open and has received nothing."""
    line.setblocking(False)
    try:
        line.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    finally:
        line.settimeout(GUARD)
    return False


def test_a_body_that_never_ends_is_answered_in_time() -> None:
    with serving(still=True, workers=1) as service:
        with line_to(service, HEAD, "Content-Length: 1000\r\n\r\n", "{") as line:
            wait_for(lambda: service.bodies.held == 1)
            service.advance(50)
            assert is_open(line)
            service.advance(11)
            answer = receive_all(line)
        assert answer.startswith("HTTP/1.1 408 ")
        assert "within 60 seconds" in document(answer)["detail"]
        assert service.post("plan", problem=example()).status_code == 200


@pytest.mark.parametrize(("above", "status"), [(-4, 200), (1, 400)])
def test_headers_without_an_end_are_rejected_above_their_limit(service: Service, above: int, status: int) -> None:
    start, end = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: ", b"\r\n\r\n"
    with line_to(service, start + b"a" * (MOST_HEAD + above - len(start))) as line:
        if status == 200:  # an end in time: the connection was still open
            assert is_open(line)
            line.sendall(end)
        assert receive_all(line).startswith(f"HTTP/1.1 {status} ")
    assert f"more than {MOST_HEAD >> 10} KiB" in (ROOT / "docs" / "operating.md").read_text()


def test_bodies_share_a_bound_on_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_bodies, "MOST_HELD", 1_000_000)
    with serving(workers=1, limits=Limits(body=600_000)) as small, contextlib.ExitStack() as stack:
        part = b" " * 450_000
        for _ in range(2):
            stack.enter_context(line_to(small, HEAD, "Content-Length: 500000\r\n\r\n", part))
        wait_for(lambda: small.bodies.held == 900_000)
        answer = small.client.post("/api/plan", content=part, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert small.post("plan", problem=example()).status_code == 200  # a small one still fits
        stack.close()
        wait_for(lambda: send(small, part) == 400)  # given back: white space alone is not JSON


def send(service: Service, body: bytes) -> int:
    return service.client.post("/api/plan", content=body, headers={"content-type": "application/json"}).status_code


def test_requests_that_wait_share_a_bound_on_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MOST_HELD", 100_000)
    monkeypatch.setattr(pool, "work", stuck_tasks.work)
    with serving(workers=1) as busy:
        first = busy.submit("tradeoff", **endless_task())
        wait_for(lambda: busy.job(first)["state"] == "running")
        padding = {"problem": {**example(), "title": "x" * 60_000}}
        assert [busy.client.post("/api/jobs?task=plan", json=padding).status_code for _ in range(3)] == [202, 202, 503]
        busy.client.delete(first)


def test_a_finished_job_does_not_keep_its_request() -> None:
    async def finish() -> Job:
        job = Job("plan")
        job.ticket = Ticket("plan", b"x" * 1000, job.receive)
        job.receive(Refusal(422, "wrong"))
        return job

    assert asyncio.run(finish()).ticket is None


def test_an_aborted_upload_leaves_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    with serving(workers=1) as quiet:
        for head in ("Content-Length: 1000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n5\r\n{"):
            with line_to(quiet, HEAD, head):
                wait_for(lambda: quiet.bodies.held == 1)
        wait_for(lambda: metric(quiet, 'method="POST",route="/api/plan"') >= 2)
    assert [record.getMessage() for record in caplog.records if record.levelno >= 30] == []


def metric(service: Service, labels: str) -> float:
    lines = service.client.get("/metrics").text.splitlines()
    count = "learnroute_requests_total"
    return sum(float(line.split()[-1]) for line in lines if line.startswith(count) and labels in line)


def test_two_lengths_of_one_body_are_rejected(service: Service) -> None:
    """Content-Length and Transfer-Encoding: what one reader takes for a body, another takes for a request."""
    for lengths in (
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n",
    ):
        with line_to(service, HEAD, lengths, "0\r\n\r\nGET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n") as line:
            answer = receive_all(line)
        assert answer.startswith("HTTP/1.1 400 ")
        assert answer.count("HTTP/1.1") == 1  # what follows is not taken for a request
        assert document(answer)["field"] == "Transfer-Encoding"


def test_origins_are_compared_with_the_address_asked(service: Service) -> None:
    own = service.url
    port = own.rpartition(":")[2]
    body = {"problem": example()}
    for origin in (own, own.upper().replace("HTTP", "http")):
        assert service.client.post("/api/plan", json=body, headers={"origin": origin}).status_code == 200
    other = {"host": f"localhost:{port}", "origin": f"http://localhost:{port}"}
    assert service.client.post("/api/plan", json=body, headers=other).status_code == 200
    for origin in (
        "http://evil.example", "null", "", f"https://127.0.0.1:{port}", "http://127.0.0.1", "http://127.0.0.1:1",
        f"http://localhost:{port}", f"{own}.evil.example", f"{own}/", f"http://evil@127.0.0.1:{port}", "file://",
    ):  # fmt: skip
        for method, path in (
            ("POST", "/api/plan"),
            ("GET", "/api/formats"),
            ("DELETE", "/api/jobs/x"),
            ("GET", "/metrics"),
        ):
            answer = service.client.request(method, path, headers={"origin": origin})
            assert (answer.status_code, answer.json()["field"]) == (403, "Origin"), origin
    twice = [("origin", own), ("origin", "http://evil.example")]
    assert service.client.get("/api/formats", headers=twice).status_code == 403
    assert service.client.get("/", headers={"origin": "http://evil.example"}).status_code == 200  # a link leads here


def test_malformed_host_names_are_rejected(service: Service) -> None:
    for host in ("evil@localhost", "localhost:x", "localhost/", "127.0.0.1.evil.example", "localhost:80:80", "[::1"):
        assert service.client.get("/api/health", headers={"host": host}).status_code == 421, host
    assert service.client.get("/api/health", headers={"host": "[::1]:80"}).status_code == 200


def test_of_a_million_unknown_members_one_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    def count(error: Any, known: str) -> Refusal:
        told.append(error.error_count())  # each takes its time
        return Refusal(422, "wrong")

    monkeypatch.setattr(requests, "_refusal", count)
    with pytest.raises(Refusal):
        requests.PlanRequest.of({"problem": example(), **{f"a{k}": 1 for k in range(1000)}}, Limits())
    assert told == [1]


def test_drops_do_not_prolong_a_body() -> None:
    with (
        serving(still=True, workers=1) as service,
        line_to(service, HEAD, "Content-Length: 1000\r\n\r\n", "{") as line,
    ):
        for held in range(1, 10):
            wait_for(lambda held=held: service.bodies.held == held)  # type: ignore[misc]
            service.advance(6)
            assert is_open(line)
            line.sendall(b"a")
        service.advance(12)
        assert document(receive_all(line))["status"] == 408


def test_too_many_requests_are_rejected_and_monitoring_continues() -> None:
    with serving(workers=1, requests=3, token="secret") as small, contextlib.ExitStack() as stack:
        wait_for(lambda: small.client.get("/health").status_code == 200)
        begun = HEAD + "Authorization: Bearer secret\r\nContent-Length: 1000\r\n\r\n{"
        for count in range(1, 4):
            stack.enter_context(line_to(small, begun))
            wait_for(lambda count=count: small.bodies.held == count)  # type: ignore[misc]
        refused = get(f"{small.url}/api/health")
        assert (refused.status_code, refused.headers["content-type"]) == (503, "application/problem+json")
        assert refused.headers["retry-after"] == "2"
        assert refused.headers["connection"] == "close"
        assert get(f"{small.url}/").status_code == 503
        assert get(f"{small.url}/health").status_code == 200
        assert get(f"{small.url}/metrics", headers=small.client.headers).status_code == 200
        stack.close()
        wait_for(lambda: get(f"{small.url}/api/health").status_code == 200)
        assert small.post("plan", problem=example()).status_code == 200


def test_invalid_http_is_rejected_and_not_logged(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    chunked = f"{HEAD}Transfer-Encoding: chunked\r\n\r\n"
    for wrong in ("\0" * 100, "GET / HTTP/9\r\n\r\n", f"GET / HTTP/1.1\r\nX: {'a' * 100_000}", f"{chunked}-1\r\n"):
        with line_to(service, wrong) as line:
            assert receive_all(line).startswith("HTTP/1.1 400 ")
    with line_to(service, HEAD.replace("1.1", "1.0"), "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n") as line:
        assert document(receive_all(line))["field"] == "Transfer-Encoding"
    with line_to(service, "GET ? HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") as line:
        assert document(receive_all(line))["status"] == 404
    upgrade = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    with line_to(service, upgrade) as line:
        assert b" 200 " in line.recv(4096)
    assert [record.getMessage() for record in caplog.records if record.levelno >= 30] == []
