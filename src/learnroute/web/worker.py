"""A process that calculates, one task after another, and stops when told to or when its parent is gone."""

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

SPOKEN = 0.05  # seconds between two reports of progress


@dataclass(frozen=True)
class Order:
    """What to do."""

    task: str
    body: bytes
    limits: Limits


@dataclass(frozen=True)
class Ready:
    """The worker has started."""


@dataclass(frozen=True)
class Stop:
    """No longer wanted."""


@dataclass(frozen=True)
class Progressed:
    """How far the task is."""

    stage: str
    share: float


@dataclass(frozen=True)
class Begun:
    """The request is read; the task has this many seconds."""

    seconds: float


@dataclass(frozen=True)
class Broken:
    """The task ended in a way it should not have; `trace` is for the log alone."""

    trace: str


Message = Ready | Begun | Progressed | Result | Refusal | Stop | Broken


class Stopped(BaseException):
    """Raised inside a task that is no longer wanted; not an Exception, so that no handler swallows it."""


def work(line: Connection) -> None:
    """Take orders from a connection until it closes."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to leave
    try:
        line.send(Ready())
    except OSError:
        return
    while True:
        try:
            order = line.recv()
        except (EOFError, OSError):
            return
        if isinstance(order, Stop):  # it came too late: that task is done
            continue
        try:
            line.send(_carry_out(order, line))
        except (BrokenPipeError, OSError):
            return


def _carry_out(order: Order, line: Connection) -> Message:
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
        return run_task(order.task, order.body, order.limits, progress, lambda seconds: line.send(Begun(seconds)))
    except Stopped:
        return Stop()
    except Refusal as refusal:
        return refusal
    except Exception:
        return Broken(traceback.format_exc())
