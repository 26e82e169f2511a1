"""A running service for tests."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from learnroute import Learner
from learnroute.formats.json_files import problem_to_dict
from learnroute.study.families import random_problem
from learnroute.web.pool import Pool
from learnroute.web.server import Server, bound
from learnroute.web.settings import Settings

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


class Service:
    """A service on a free port of 127.0.0.1, in a thread of this process."""

    def __init__(self, settings: Settings) -> None:
        self._listener = bound(settings.host, 0)
        self._server = Server(settings, self._listener)
        self.url = self._server.url.rstrip("/")
        self.pool: Pool = self._server.config.app.state.pool  # type: ignore[union-attr]
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]})
        self._thread.start()
        wait_for(lambda: self._server.started)
        headers = {"Authorization": f"Bearer {settings.token}"} if settings.token else {}
        self.client = httpx.Client(base_url=self.url, timeout=60, headers=headers)

    def stop(self) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()
        self._listener.close()

    def post(self, task: str, **members: Any) -> httpx.Response:
        return self.client.post(f"/api/{task}", json=members)

    def submit(self, task: str, **members: Any) -> str:
        answer = self.client.post("/api/jobs", params={"task": task}, json=members)
        assert answer.status_code == 202, answer.text
        return answer.headers["location"]

    def job(self, place: str) -> Any:
        return self.client.get(place).json()


@contextlib.contextmanager
def serving(**options: Any) -> Iterator[Service]:
    service = Service(Settings(**options))
    try:
        yield service
    finally:
        service.stop()


PATIENCE = 4  # machines are busy at times; what never comes fails all the same


def wait_for(reached: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + PATIENCE * seconds
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def example(name: str = "warehouse-robot") -> dict[str, Any]:
    data: dict[str, Any] = json.loads((EXAMPLES / f"{name}.json").read_text())
    return data


def long_task() -> dict[str, Any]:
    """Members of a trade-off that takes many seconds and reports its progress."""
    problem = random_problem("uniform", 20, Learner(300, 100, 0.1), 1)
    return {"problem": problem_to_dict(problem), "points": 100}
