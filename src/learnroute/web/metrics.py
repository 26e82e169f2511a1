"""Prometheus metrics: counts and times of requests, workers, queue and jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from learnroute import __version__
from learnroute.web.assets import page_files
from learnroute.web.jobs import Jobs
from learnroute.web.pool import Pool
from learnroute.web.settings import Settings

BOUNDS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)  # upper bounds of the latency buckets, in seconds
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
LEFT = 499  # status if the client disconnected before the answer began


class Metrics:
    """A separate metrics registry: requests by route, method and status, and the state of pool, queue and jobs."""

    def __init__(self, pool: Pool, jobs: Jobs, settings: Settings) -> None:
        self.registry = CollectorRegistry()
        self._pool, self._jobs = pool, jobs
        self.requests = Counter(
            "learnroute_requests", "Requests answered.", ["route", "method", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "learnroute_request_duration_seconds", "Until the last byte.", ["route"], registry=self.registry,
            buckets=BOUNDS,
        )  # fmt: skip
        self.open = self._gauge("open_requests", "Requests that are being answered.")
        self._gauge("info", "The version.", "version").labels(__version__).set(1)
        self._gauge("start_time_seconds", "When the service started.").set_to_current_time()
        now: dict[str, tuple[str, Callable[[], float]]] = {
            "open_requests_limit": ("Requests that are answered at once.", lambda: settings.requests),
            "queue_length": ("Calculations that wait for a worker.", lambda: pool.waiting),
            "queue_limit": ("Calculations that may wait.", lambda: settings.queue),
            "workers": ("Workers wanted.", lambda: settings.workers),
            "workers_ready": ("Workers that have started.", lambda: pool.ready),
            "workers_busy": ("Workers that calculate.", lambda: pool.busy),
        }
        for name, (about, value) in now.items():
            self._gauge(name, about).set_function(value)
        self.registry.register(self)

    def _gauge(self, name: str, about: str, *labels: str) -> Gauge:
        return Gauge(f"learnroute_{name}", about, labels, registry=self.registry)

    def collect(self) -> Iterable[Metric]:
        """Yield the labelled metrics that other components count."""
        jobs = GaugeMetricFamily("learnroute_jobs", "Jobs remembered, by state.", labels=["state"])
        for state, count in self._jobs.states().items():
            jobs.add_metric([state], count)
        restarts = CounterMetricFamily("learnroute_worker_restarts", "Workers replaced, by cause.", labels=["cause"])
        for cause, count in self._pool.restarts.items():
            restarts.add_metric([cause], count)
        return jobs, restarts


class Observer:
    """Middleware that counts every request, including rejected ones."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record its status and duration."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = LEFT
        began = time.perf_counter()

        async def send_and_record(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            with self._metrics.open.track_inprogress():
                await self._app(scope, receive, send_and_record)
        except Exception:
            status = 500
            raise
        finally:
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._metrics.requests.labels(_route(scope), method, status).inc()
            self._metrics.seconds.labels(_route(scope)).observe(time.perf_counter() - began)


def _route(scope: Scope) -> str:
    """Return the route as a label from a fixed set, so that callers cannot create new labels."""
    if scope["path"] in page_files() or scope["path"] == "/openapi.json":
        return "page"
    return str(getattr(scope.get("route"), "path", "other"))
