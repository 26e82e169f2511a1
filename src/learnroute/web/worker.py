"""A worker process: it runs one task after another and stops on request or when its parent has ended."""

from __future__ import annotations

import contextlib
import signal
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection

from learnroute.web.refusals import Refusal
from learnroute.web.settings import Limits
from learnroute.web.tasks import Result, run_task

SPOKEN = 0.05  # seconds between progress reports


@dataclass(frozen=True)
class Order:
    """An order to run a task."""

    task: str
    body: bytes
    limits: Limits


@dataclass(frozen=True)
class Ready:
    """A report that the worker has started."""


@dataclass(frozen=True)
class Stop:
    """An order to stop the current task."""


@dataclass(frozen=True)
class Progressed:
    """A report of the task's progress."""

    stage: str
    share: float


@dataclass(frozen=True)
class RequestRead:
    """A report that the request was read and how many seconds the task may take."""

    seconds: float


@dataclass(frozen=True)
class Crashed:
    """A report that the task failed unexpectedly; `trace` is only logged."""

    trace: str


Message = Ready | RequestRead | Progressed | Result | Refusal | Stop | Crashed


class Stopped(BaseException):
    """Raised inside a task that was withdrawn; not an Exception, so that no handler catches it by accident."""


def work(line: Connection) -> None:
    """Process the orders from a connection until it closes."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    try:
        line.send(Ready())
    except OSError:
        return
    while True:
        try:
            order = line.recv()
        except (EOFError, OSError):
            return
        if isinstance(order, Stop):  # too late: the task is done
            continue
        try:
            line.send(_execute(order, line))
        except (BrokenPipeError, OSError):
            return


def _execute(order: Order, line: Connection) -> Message:
    spoken = time.monotonic()

    def progress(stage: str, share: float) -> None:
        nonlocal spoken
        if line.poll():
            line.recv()
            raise Stopped
        if time.monotonic() - spoken >= SPOKEN:
            spoken = time.monotonic()
            line.send(Progressed(stage, min(max(float(share), 0.0), 1.0)))

    try:
        return run_task(order.task, order.body, order.limits, progress, lambda seconds: line.send(RequestRead(seconds)))
    except Stopped:
        return Stop()
    except Refusal as refusal:
        return refusal
    except Exception:
        return Crashed(traceback.format_exc())
