"""A running service for tests."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

from learnroute.web.pool import Pool
from learnroute.web.request_bodies import BodyReader
from learnroute.web.server import Server, listening_socket
from learnroute.web.settings import Settings
from waiting import GUARD, wait_for

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


get = functools.partial(httpx.get, timeout=GUARD)


class Clock:
    """The clock of an event loop, which only moves by `advance` until `go` releases it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop, self.now = loop, loop.time()
        loop.time = lambda: self.now  # type: ignore[method-assign]

    async def advance(self, seconds: float) -> None:
        """Advance the clock, and let the loop run everything that is due."""
        self.now += seconds
        for _ in range(20):  # some of it makes the next step due
            await asyncio.sleep(0)

    def go(self) -> None:
        ahead = self.now - time.monotonic()
        self.loop.time = lambda: time.monotonic() + ahead  # type: ignore[method-assign]


class Service:
    """A service on a free port of 127.0.0.1, in a thread of this process; the clock of its loop may be `still`."""

    def __init__(self, settings: Settings, still: bool = False) -> None:
        self._listener = listening_socket(settings.host, 0)
        self._server = Server(settings, self._listener)
        self.url = self._server.url.rstrip("/")
        state = self._server.config.app.state  # type: ignore[union-attr]
        self.pool: Pool = state.pool
        self.bodies: BodyReader = state.bodies
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]})
        self._thread.start()
        wait_for(lambda: self._server.started)
        self._clock = Clock(self._server.servers[0].get_loop()) if still else None
        headers = {"Authorization": f"Bearer {settings.token}"} if settings.token else {}
        self.client = httpx.Client(base_url=self.url, timeout=GUARD, headers=headers)

    def stop(self) -> None:
        self.client.close()
        if self._clock is not None:
            self._clock.go()
        self._server.should_exit = True
        self._thread.join(GUARD)
        assert not self._thread.is_alive()
        self._listener.close()

    def advance(self, seconds: float) -> None:
        """Advance the clock of the event loop; return when everything due has run."""
        assert self._clock is not None
        asyncio.run_coroutine_threadsafe(self._clock.advance(seconds), self._clock.loop).result(GUARD)

    def post(self, task: str, **members: Any) -> httpx.Response:
        return self.client.post(f"/api/{task}", json=members)

    def submit(self, task: str, **members: Any) -> str:
        answer = self.client.post("/api/jobs", params={"task": task}, json=members)
        assert answer.status_code == 202, answer.text
        return answer.headers["location"]

    def job(self, place: str) -> Any:
        return self.client.get(place).json()


@contextlib.contextmanager
def serving(still: bool = False, **options: Any) -> Iterator[Service]:
    service = Service(Settings(**options), still)
    try:
        yield service
    finally:
        service.stop()


def example(name: str = "warehouse-robot") -> dict[str, Any]:
    data: dict[str, Any] = json.loads((EXAMPLES / f"{name}.json").read_text())
    return data


def districts(kept: Sequence[int] = (0, 1, 2, 3, 4, 5, 6, 8, 11), **changes: Any) -> dict[str, Any]:
    """Return the city survey with only these districts; plans with coupling are quick for nine of them."""
    data = example("city-survey")
    for member in ("regions", "coordinates", "initial", "vectors"):
        data[member] = [data[member][k] for k in kept]
    data["travel"] = [[data["travel"][k][j] for j in kept] for k in kept]
    return {**data, **changes}


def endless_task() -> dict[str, Any]:
    """Members of a trade-off that never ends and reports its progress, in a worker of `stuck_tasks`."""
    return {"problem": {**example(), "title": "endless"}}
