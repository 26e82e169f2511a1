"""What an operator watches: counts and times of requests, in the text format of Prometheus."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from learnroute.web.assets import page_files

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)  # seconds, upper ends of the buckets of latencies
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
LEFT = 499  # the client was gone before an answer was begun

Labels = Mapping[str, str]
Sample = tuple[str, Labels, float]


class Metrics:
    """Requests by route, method and status, and how long they took. Used on the event loop alone."""

    def __init__(self) -> None:
        self.started = time.time()
        self.connections: Collection[object] = ()  # of the server, where there is one
        self._counts: dict[tuple[str, str, int], int] = {}
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Take in one answered request."""
        key = route, method, status
        self._counts[key] = self._counts.get(key, 0) + 1
        buckets = self._buckets.setdefault(route, [0] * (len(BOUNDS) + 1))
        buckets[sum(seconds > bound for bound in BOUNDS)] += 1
        self._seconds[route] = self._seconds.get(route, 0.0) + seconds

    def requests(self) -> list[Sample]:
        """Return how many requests were answered."""
        return [
            ("", {"route": route, "method": method, "status": str(status)}, count)
            for (route, method, status), count in sorted(self._counts.items())
        ]

    def latencies(self) -> list[Sample]:
        """Return a histogram for each route."""
        samples: list[Sample] = []
        for route, buckets in sorted(self._buckets.items()):
            below = 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
                below += count
                samples.append(("_bucket", {"route": route, "le": bound}, below))
            samples += [("_sum", {"route": route}, self._seconds[route]), ("_count", {"route": route}, below)]
        return samples


class Observer:
    """Count every request, refused ones too."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note what came of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = LEFT
        began = time.perf_counter()

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        except Exception:
            status = 500
            raise
        finally:
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._metrics.count(_route(scope), method, status, time.perf_counter() - began)


def _route(scope: Scope) -> str:
    """Return a name for the address: callers cannot make up new ones."""
    if scope["path"] in page_files() or scope["path"] == "/openapi.json":
        return "page"
    return str(getattr(scope.get("route"), "path", "other"))


def exposition(families: Iterable[tuple[str, str, str, Iterable[Sample]]]) -> str:
    """Return families (name, kind, help, samples) as text; a sample is a suffix of the name, labels and a value."""
    lines = []
    for name, kind, about, samples in families:
        lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
        for suffix, labels, value in samples:
            inner = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
            lines.append(f"{name}{suffix}{{{inner}}} {value:.15g}" if inner else f"{name}{suffix} {value:.15g}")
    return "\n".join(lines) + "\n"


def one(value: float) -> list[Sample]:
    """Return the samples of a family that has one value."""
    return [("", {}, value)]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
