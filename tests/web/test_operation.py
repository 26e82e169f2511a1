"""Features for operators: health, metrics, reverse proxies, containers."""

from __future__ import annotations

import os
import re
import shlex
import signal
from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from learnroute.web import pool
from learnroute.web.app import make_app
from learnroute.web.settings import Settings
from proxy import proxy
from service import ROOT, Service, example, get, serving
from waiting import GUARD, wait_for

PUBLIC = "plan.example"


@pytest.fixture(scope="module")
def backend() -> Iterator[Service]:
    """A service configured for a proxy."""
    with serving(
        workers=1, token="secret", root_path="/learnroute", names=(PUBLIC,), proxies=("127.0.0.1",)
    ) as running:
        wait_for(lambda: running.client.get("/health").status_code == 200)
        yield running


@pytest.mark.parametrize("strip", [True, False], ids=["prefix taken off", "prefix left"])
def test_page_and_api_work_under_a_path(backend: Service, strip: bool) -> None:
    with proxy(backend, strip=strip) as front, httpx.Client(headers=backend.client.headers, timeout=GUARD) as client:
        page = client.get(f"{front.url}/")
        for address in re.findall(r'(?:href|src)="([^"#]+)"', page.text):
            assert client.get(httpx.URL(f"{front.url}/").join(address)).status_code == 200, address
        assert client.post(f"{front.url}/api/plan", json={"problem": example()}).status_code == 200
        submitted = client.post(f"{front.url}/api/jobs?task=plan", json={"problem": example()})
        place = submitted.headers["location"]
        assert place.startswith("/learnroute/api/jobs/")
        followed = client.get(httpx.URL(front.url).join(f"{place}/events"))
        assert followed.text.rpartition("event: ")[2].startswith("end")
        assert followed.headers["x-accel-buffering"] == "no"
        assert client.get(httpx.URL(front.url).join(f"{place}/result")).status_code == 200
        assert client.get(f"{front.url}/openapi.json").json()["servers"] == [{"url": "/learnroute"}]


def test_token_is_required_for_every_path(backend: Service) -> None:
    for path in ("/api/formats", "/learnroute/api/formats", "/learnroute//api/formats", "//api/formats", "/metrics",
                 "/learnroute/metrics", "/learnroute/learnroute/api/formats", "/api/../api/formats",
                 "/docs/../api/formats", "/%61pi/formats", "/learnroute/%61pi/formats", "/api/formats/",
                 "/API/formats"):  # fmt: skip
        answer = get(httpx.URL(backend.url).copy_with(raw_path=path.encode()))
        assert answer.status_code == 401, path
    assert get(f"{backend.url}/learnroute/health").json() == {"status": "ok"}
    moved = get(f"{backend.url}/learnroute")
    assert (moved.status_code, moved.headers["location"]) == (308, "/learnroute/")
    assert get(f"{backend.url}/learnrouter").status_code == 401


def test_nothing_redirects_to_a_name_or_path_that_a_caller_made_up(backend: Service) -> None:
    for path in ("/api/formats/", "/learnroute/api/formats/", "/docs/", "/health/"):
        answer = backend.client.get(path, headers={"host": f"{PUBLIC}:1"})
        assert (answer.status_code, answer.headers.get("location")) == (404, None)


def test_public_names_and_origins(backend: Service) -> None:
    def ask(**headers: str) -> int:
        return backend.client.get("/api/formats", headers=headers).status_code

    assert ask(host=PUBLIC, origin=f"https://{PUBLIC}") == 200
    assert ask(host=PUBLIC) == ask(host="localhost") == ask(host=f"{PUBLIC.upper()}:443") == 200
    assert ask(origin=f"https://{PUBLIC}") == 200  # a proxy that sends its own Host
    assert ask(host="evil.example") == ask(host=f"evil.{PUBLIC}") == 421
    assert ask(host=PUBLIC, origin="https://evil.example") == 403
    assert ask(host=PUBLIC, origin=f"https://{PUBLIC}:8443") == 403
    for scheme, status in (("https", 403), ("http", 200)):  # a trusted proxy says how it was asked
        headers = {"host": PUBLIC, "origin": f"http://{PUBLIC}", "x-forwarded-proto": scheme}
        assert backend.client.get("/api/formats", headers=headers).status_code == status


def test_forwarded_headers_count_from_trusted_proxies_alone() -> None:
    asked = {"origin": "https://localhost", "host": "localhost", "x-forwarded-proto": "https"}
    for proxies, status in (((), 403), (("10.0.0.0/8",), 403), (("127.0.0.0/8",), 200)):
        with serving(workers=1, proxies=proxies) as service:
            assert service.client.get("/api/formats", headers=asked).status_code == status


def test_healthy_is_a_service_with_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "IDLE", 0.2)
    with serving(workers=1, token="secret") as service:
        first = get(f"{service.url}/health")  # no token
        if first.status_code != 200:
            assert (first.status_code, first.headers["retry-after"]) == (503, "1")
        wait_for(lambda: get(f"{service.url}/health").status_code == 200)
        answer = get(f"{service.url}/health")
        assert answer.json() == {"status": "ok"}
        assert answer.headers["cache-control"] == "no-store"
        wait_for(lambda: "learnroute_workers_ready 1" in service.client.get("/metrics").text)
        os.kill(service.pool.processes[0], signal.SIGKILL)
        wait_for(lambda: get(f"{service.url}/health").status_code == 503)
        wait_for(lambda: get(f"{service.url}/health").status_code == 200)
        assert 'learnroute_worker_restarts_total{cause="lost"} 1' in service.client.get("/metrics").text


def samples(service: Service) -> dict[str, float]:
    """The samples of /metrics by name and labels, as Prometheus reads them."""
    answer = service.client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(answer.text):
        assert family.type in ("counter", "gauge", "histogram")
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sample.labels.items())
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def test_metrics_count_requests_and_jobs() -> None:
    with serving(workers=1, token="secret", queue=7) as service:
        assert get(f"{service.url}/metrics").status_code == 401
        assert service.post("plan", problem=example()).status_code == 200
        assert service.post("plan", problem={}).status_code == 422
        get(f"{service.url}/api/formats")
        for k in range(30):
            service.client.get(f"/made-up/{k}")
            service.client.request(f"MADE{k}", "/api/plan")
            service.client.get(f"/api/jobs/made-up-{k}")
        for path in ("/", "/app.js", "/docs", "/openapi.json"):
            service.client.get(path)
        place = service.submit("plan", problem=example())
        wait_for(lambda: service.job(place)["state"] == "done")
        found = samples(service)
        count = "learnroute_requests_total"
        assert found[f'{count}{{method="POST",route="/api/plan",status="200"}}'] == 1
        assert found[f'{count}{{method="POST",route="/api/plan",status="422"}}'] == 1
        assert found[f'{count}{{method="GET",route="other",status="401"}}'] == 2
        assert found[f'{count}{{method="GET",route="other",status="404"}}'] == 30
        assert found[f'{count}{{method="GET",route="/api/jobs/{{id}}",status="404"}}'] == 30
        assert found[f'{count}{{method="other",route="/api/plan",status="405"}}'] == 30
        assert found[f'{count}{{method="GET",route="page",status="200"}}'] == 4
        assert found["learnroute_queue_length"] == 0
        assert 1 <= found["learnroute_open_requests"] <= found["learnroute_open_requests_limit"] == 200
        assert found["learnroute_queue_limit"] == 7
        assert found['learnroute_jobs{state="done"}'] == 1
        assert found['learnroute_jobs{state="running"}'] == 0
        assert found["learnroute_workers"] == found["learnroute_workers_ready"] == 1
        assert found['learnroute_worker_restarts_total{cause="stuck"}'] == 0
        took = "learnroute_request_duration_seconds"
        buckets = [
            value for key, value in found.items() if key.startswith(f"{took}_bucket{{") and 'route="/api/plan"' in key
        ]
        assert buckets == sorted(buckets)
        assert buckets[-1] == found[f'{took}_count{{route="/api/plan"}}'] == 32
        assert len(found) < 100


def test_routes_and_errors_are_in_the_contract() -> None:
    paths = make_app(Settings(token="secret")).openapi()["paths"]
    assert paths["/health"]["get"]["security"] == []
    assert "security" not in paths["/metrics"]["get"]  # as everything else
    assert "503" in paths["/health"]["get"]["responses"]
    assert "text/plain" in paths["/metrics"]["get"]["responses"]["200"]["content"]


def test_container_copies_existing_files() -> None:
    text = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    for kind, rest in steps:
        if kind == "COPY" and "--from" not in rest:
            *sources, _ = shlex.split(rest)
            assert all((ROOT / source).exists() for source in sources)
    users = [rest for kind, rest in steps if kind == "USER"]
    assert users[-1:] == ["10001"]
    kinds = [kind for kind, _ in steps]
    assert {"FROM", "HEALTHCHECK", "ENTRYPOINT", "EXPOSE"} <= set(kinds)
    assert kinds.index("USER") < kinds.index("ENTRYPOINT")
