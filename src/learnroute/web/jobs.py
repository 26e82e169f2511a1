"""Long calculations: submitted, followed, cancelled, fetched. Everything here runs on the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Coroutine
from typing import Any, get_args

from learnroute.web import answers
from learnroute.web.pool import Outcome, Pool, Started, Ticket
from learnroute.web.refusals import Refusal
from learnroute.web.settings import Settings
from learnroute.web.tasks import Result
from learnroute.web.worker import Progressed

MOST_HELD = 256 << 20  # bytes of results kept at once
HEARTBEAT = 5.0  # seconds between heartbeats to a follower, by which disconnected followers are noticed


def _now() -> float:
    """Return the time of the event loop in seconds."""
    return asyncio.get_running_loop().time()


class Job:
    """One calculation with its state and outcome."""

    def __init__(self, task: str) -> None:
        self.id = secrets.token_urlsafe(12)
        self.task = task
        self.state: answers.State = "queued"
        self.stage = ""
        self.share = 0.0
        self.outcome: Outcome | None = None
        self.ticket: Ticket | None = None
        self.followers = 0
        self.seen = _now()
        self.changed = asyncio.Event()  # replaced after each change

    @property
    def is_over(self) -> bool:
        """Whether the job is done, has failed or was cancelled."""
        return self.outcome is not None

    def receive(self, report: Started | Progressed | Outcome) -> None:
        """Update the job with a report of the pool."""
        if self.is_over:
            return
        if isinstance(report, Started):
            self.state = "running"
        elif isinstance(report, Progressed):
            self.stage, self.share = report.stage, report.share
        else:
            self.outcome = report
            self.ticket = None  # frees the request, which is no longer needed
            self.seen = _now()
            if isinstance(report, Result):
                self.state, self.share = "done", 1.0
            else:
                self.state = "cancelled" if report.status == 409 else "failed"
        self.changed.set()
        self.changed = asyncio.Event()

    def to_dict(self) -> answers.Job:
        """Return the job as the API shows it."""
        wrong = self.outcome if isinstance(self.outcome, Refusal) else None
        return answers.Job(
            id=self.id, task=self.task, state=self.state, stage=self.stage, progress=self.share,
            error=wrong.detail if wrong else None,
        )  # fmt: skip

    def result(self) -> Result:
        """Return the result; raise a Refusal if the job is unfinished, has failed or was cancelled."""
        if self.outcome is None:
            raise Refusal(409, f"the job is {self.state}: there is no result yet", retry=1)
        if isinstance(self.outcome, Refusal):
            raise self.outcome
        return self.outcome


class Jobs:
    """All jobs of the service."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._pool = pool
        self._settings = settings
        self._jobs: dict[str, Job] = {}
        self._janitor: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the periodic cleanup of abandoned jobs and old results."""
        self._janitor = asyncio.get_running_loop().create_task(self._clean_up())

    async def close(self) -> None:
        """Stop the periodic cleanup."""
        if self._janitor is not None:
            self._janitor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._janitor

    def submit(self, task: str, body: bytes) -> Job:
        """Queue a calculation."""
        unfinished = sum(not job.is_over for job in self._jobs.values())
        if unfinished >= self._settings.kept_jobs:
            raise Refusal(503, f"{unfinished} jobs are unfinished already; try again later", retry=5)
        job = Job(task)
        job.ticket = self._ticket(job, body)
        self._pool.submit(job.ticket)
        self._jobs[job.id] = job
        return job

    async def run(self, task: str, body: bytes, departure: Coroutine[Any, Any, None]) -> Result:
        """Calculate while a client waits; if `departure` ends first, free the worker."""
        leaving = asyncio.ensure_future(departure)
        job = Job(task)
        ticket = self._ticket(job, body)
        try:
            self._pool.submit(ticket)
            while not job.is_over and not leaving.done():
                change = asyncio.ensure_future(job.changed.wait())
                await asyncio.wait({change, leaving}, return_when=asyncio.FIRST_COMPLETED)
                change.cancel()
            return job.result()
        finally:
            leaving.cancel()
            if not job.is_over:
                self._pool.withdraw(ticket)

    def get(self, name: str) -> Job:
        """Return a job by name; raise a Refusal if there is none."""
        job = self._jobs.get(name)
        if job is None:
            raise Refusal(404, "there is no such job; results are kept for a while only", "id")
        job.seen = _now()
        return job

    def states(self) -> dict[str, int]:
        """Return the number of jobs in each state."""
        found = dict.fromkeys(get_args(answers.State), 0)
        for job in self._jobs.values():
            found[job.state] += 1
        return found

    def cancel(self, job: Job) -> None:
        """Free the job's worker, or its place in the queue."""
        if not job.is_over and job.ticket is not None:
            self._pool.withdraw(job.ticket)

    async def follow(self, job: Job) -> AsyncIterator[bytes]:
        """Yield server-sent events until the job is over: `progress` events, then one `end` event."""
        job.followers += 1
        try:
            while True:
                changed = job.changed
                yield _event("end" if job.is_over else "progress", job)
                if job.is_over and job.changed is changed:
                    return
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), HEARTBEAT)
        finally:
            job.followers -= 1
            job.seen = _now()

    def _ticket(self, job: Job, body: bytes) -> Ticket:
        loop = asyncio.get_running_loop()

        def receive(report: Started | Progressed | Outcome) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed, so there are no followers
                loop.call_soon_threadsafe(job.receive, report)

        return Ticket(job.task, body, receive)

    async def _clean_up(self) -> None:
        """Cancel jobs that are not polled, and delete old results."""
        while True:
            await asyncio.sleep(min(1.0, self._settings.patience / 4 + 0.05))
            now = _now()
            for job in list(self._jobs.values()):
                unseen = 0.0 if job.followers else now - job.seen
                if not job.is_over and unseen > self._settings.patience:
                    self.cancel(job)
                elif job.is_over and unseen > self._settings.keep:
                    del self._jobs[job.id]
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Delete the oldest results until their number and total size are within the limits."""
        finished = [job for job in self._jobs.values() if job.is_over]
        held = sum(len(job.outcome.content) for job in finished if isinstance(job.outcome, Result))
        for job in finished:
            if len(self._jobs) <= self._settings.kept_jobs and held <= MOST_HELD:
                return
            held -= len(job.outcome.content) if isinstance(job.outcome, Result) else 0
            del self._jobs[job.id]


def _event(kind: str, job: Job) -> bytes:
    return f"event: {kind}\ndata: {job.to_dict().model_dump_json()}\n\n".encode()
