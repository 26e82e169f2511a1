"""Worker processes and their queue. A thread per worker passes it tasks, monitors it and replaces it."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import secrets
import shutil
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from multiprocessing import connection
from pathlib import Path
from time import monotonic, sleep

from learnroute.web.refusals import Refusal
from learnroute.web.settings import Settings
from learnroute.web.tasks import Result
from learnroute.web.worker import Crashed, Message, Order, Progressed, Ready, RequestRead, Stop, work

log = logging.getLogger("learnroute.web")

LOOK = 0.1  # seconds between checks whether a task was withdrawn
OBEY = 1.0  # seconds that a worker has to stop by itself before it is killed
GRACE = 10.0  # seconds beyond a request's allowance after which its worker counts as stuck
START = 60.0  # seconds that a worker has to start
STAGGER = 0.5  # seconds between the starts of two workers, unless both are needed
IDLE = 1.0  # seconds between checks whether an idle worker is alive and has started
MOST_HELD = 256 << 20  # maximum total bytes of waiting requests

Outcome = Result | Refusal


class Started:
    """A report that a worker has started the task."""


Listener = Callable[["Started | Progressed | Outcome"], None]


class Ticket:
    """A task that is waiting or being processed. Its listener is called from another thread."""

    def __init__(self, task: str, body: bytes, listener: Listener) -> None:
        self.task = task
        self.body = body
        self.listener = listener
        self.unwanted = threading.Event()


class _Worker:
    """A worker process and the connection to it.

    If it has not answered by its `deadline`, `Pool._watch` kills it, whatever it and its thread are doing.
    """

    def __init__(self) -> None:
        self.deadline, self.stuck, self._lock = float("inf"), False, threading.Lock()
        context = multiprocessing.get_context("spawn")
        self.line, theirs = context.Pipe()
        name = f"learnroute-{secrets.token_hex(8)}"
        self.process = context.Process(target=work, args=(theirs,), name=name, daemon=True)
        self.process.start()
        theirs.close()
        self.ready = False

    def expect(self, seconds: float) -> None:
        """Set the deadline to the given number of seconds from now."""
        with self._lock:
            self.deadline = monotonic() + seconds

    def kill_if_late(self) -> None:
        """Kill the process if its deadline has passed; its connection then closes, which ends waiting for it."""
        with self._lock:
            if monotonic() > self.deadline:
                self.deadline, self.stuck = float("inf"), True
                self.process.kill()

    def end(self) -> None:
        """Kill the process and remove its temporary folders."""
        with self._lock:
            self.deadline = float("inf")
            self.process.kill()
        self.process.join(5)
        with contextlib.suppress(OSError):  # there may be no temporary directory
            for folder in Path(tempfile.gettempdir()).glob(f"{self.process.name}-*"):
                shutil.rmtree(folder, ignore_errors=True)
        if self.process.exitcode is not None:  # otherwise the system has not ended it yet
            self.process.close()
        self.line.close()


class Pool:
    """A pool of workers that answers each ticket with exactly one outcome, whatever happens to the workers."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._waiting: deque[Ticket] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._busy = 0
        self._typical = 0.05  # recent duration of a task in seconds
        self._threads: list[threading.Thread] = []
        self._workers: dict[int, _Worker] = {}
        self._ready: set[int] = set()
        self.restarts = dict.fromkeys(("lost", "stuck", "cancelled"), 0)  # workers replaced, by cause
        self.processes: dict[int, int] = {}  # worker number -> process id, for tests

    def start(self) -> None:
        """Start the threads, which start the workers."""
        for number in range(self._settings.workers):
            thread = threading.Thread(target=self._serve, args=(number,), name=f"worker-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()
        threading.Thread(target=self._watch, name="worker-watch", daemon=True).start()

    def _watch(self) -> None:
        """Kill late workers until the pool closes; their own threads may be blocked and cannot check the time."""
        while not self._closed:
            sleep(LOOK)
            for worker in list(self._workers.values()):
                worker.kill_if_late()

    def close(self) -> None:
        """End all workers, and reject all waiting and running tickets."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for number, thread in enumerate(self._threads):
            thread.join(10)
            if thread.is_alive():  # it is blocked by a worker that does not respond
                with contextlib.suppress(KeyError, ValueError):
                    self._workers[number].process.kill()
        for ticket in self._waiting:
            ticket.listener(Refusal(503, "the service is shutting down"))

    @property
    def busy(self) -> int:
        """Number of workers that are calculating."""
        return self._busy

    @property
    def waiting(self) -> int:
        """Number of tickets that no worker has started."""
        return len(self._waiting)

    @property
    def ready(self) -> int:
        """Number of workers that have reported since they were started."""
        return len(self._ready)

    def submit(self, ticket: Ticket) -> None:
        """Queue a ticket, or reject it with status 503 if the queue is full."""
        with self._changed:
            held = sum(len(waiting.body) for waiting in self._waiting)
            if len(self._waiting) >= self._settings.queue or held > MOST_HELD:
                pause = self._typical * len(self._waiting) / self._settings.workers
                detail = f"{len(self._waiting)} calculations are waiting already; try again later"
                raise Refusal(503, detail, retry=min(60, max(1, round(pause))))
            self._waiting.append(ticket)
            self._changed.notify_all()

    def withdraw(self, ticket: Ticket) -> None:
        """Withdraw a ticket: remove it from the queue, or free its worker."""
        ticket.unwanted.set()
        with self._changed:
            if ticket not in self._waiting:
                return
            self._waiting.remove(ticket)
        ticket.listener(_job_cancelled())

    def _serve(self, number: int) -> None:
        """Pass tickets to one worker until the pool closes."""
        with self._changed:  # the first worker starts at once, the others later so as not to slow it down
            self._changed.wait_for(lambda: number == 0 or self._closed or bool(self._waiting), STAGGER * number)
        worker = self._start_worker(number)
        while True:
            ticket = self._next(IDLE)
            if self._closed:
                worker.end()
                if ticket is not None:
                    ticket.listener(Refusal(503, "the service is shutting down"))
                return
            if not worker.process.is_alive():
                worker = self._replace(number, worker, "lost")
            if ticket is None:
                if not worker.ready and worker.line.poll():
                    self._receive_ready(number, worker)
                continue
            started = monotonic()
            self._count(1)
            try:
                worker = self._run(number, worker, ticket)
            finally:
                self._count(-1)
            self._typical += 0.1 * (monotonic() - started - self._typical)

    def _count(self, more: int) -> None:
        with self._changed:
            self._busy += more

    def _next(self, patience: float) -> Ticket | None:
        with self._changed:
            if not self._waiting and not self._closed:
                self._changed.wait(patience)
            return self._waiting.popleft() if self._waiting else None

    def _replace(self, number: int, old: _Worker, cause: str) -> _Worker:
        self._ready.discard(number)
        with self._changed:
            self.restarts[cause] += 1
        if cause != "cancelled" and not self._closed:
            log.warning("worker %d was %s%s and is replaced", number, cause, "" if old.ready else " while it started")
        old.end()
        return self._start_worker(number)

    def _start_worker(self, number: int) -> _Worker:
        worker = self._workers[number] = _Worker()
        self.processes[number] = worker.process.pid or 0
        return worker

    def _run(self, number: int, worker: _Worker, ticket: Ticket) -> _Worker:
        """Have a worker process a ticket; return the worker, or its replacement."""
        outcome = self._follow(number, worker, ticket)
        worker.expect(float("inf"))
        if outcome is None:
            cause = "stuck" if worker.stuck else "cancelled" if ticket.unwanted.is_set() else "lost"
            worker = self._replace(number, worker, cause)
            outcome = {"stuck": _late, "cancelled": _job_cancelled, "lost": _worker_lost}[cause]()
        ticket.listener(outcome)
        return worker

    def _receive_ready(self, number: int, worker: _Worker) -> None:
        """Receive the first message of a worker; a lost worker is detected later."""
        with contextlib.suppress(EOFError, OSError):
            worker.ready = isinstance(worker.line.recv(), Ready)
        if worker.ready:
            self._ready.add(number)

    def _follow(self, number: int, worker: _Worker, ticket: Ticket) -> Outcome | None:
        """Pass a ticket to a worker and return its outcome; None if the worker was lost, or was late and killed."""
        longest = self._settings.limits.seconds + GRACE  # including the time to read the request
        worker.expect(longest if worker.ready else START)
        stopped = float("inf")
        try:
            worker.line.send(Order(ticket.task, ticket.body, self._settings.limits))
            ticket.listener(Started())
            while True:
                ready = connection.wait([worker.line, worker.process.sentinel], LOOK)
                if worker.line in ready:
                    message: Message = worker.line.recv()
                    if isinstance(message, Ready):
                        worker.ready = True
                        self._ready.add(number)
                        worker.expect(longest)
                    elif isinstance(message, RequestRead):
                        worker.expect(message.seconds + GRACE)
                    elif isinstance(message, Progressed):
                        ticket.listener(message)
                    else:
                        return _outcome(message, ticket)
                elif ready:
                    return None
                now = monotonic()
                if (ticket.unwanted.is_set() or self._closed) and stopped == float("inf"):
                    worker.line.send(Stop())
                    stopped = now
                if now - stopped > OBEY:
                    return None
        except (EOFError, OSError):
            return None


def _late() -> Refusal:
    return Refusal(
        503, "the calculation exceeded its time limit and was stopped; reduce the problem or the time limit", retry=1
    )


def _worker_lost() -> Refusal:
    return Refusal(503, "the worker ended; try again", retry=1)


def _job_cancelled() -> Refusal:
    return Refusal(409, "cancelled")


def _outcome(message: Result | Refusal | Stop | Crashed, ticket: Ticket) -> Outcome:
    if isinstance(message, Stop):
        return _job_cancelled()
    if isinstance(message, Crashed):
        log.error("task %s failed:\n%s", ticket.task, message.trace)
        return Refusal(500, "internal error of the service, not of the request; see its log")
    return message
