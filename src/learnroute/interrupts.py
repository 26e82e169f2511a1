"""What Ctrl-C does: while modules are imported, end the process; during a plan, end with the best route so far."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def leaving_at_once() -> Iterator[None]:
    """In here, Ctrl-C ends the process: an exception could end anywhere inside of an import, or be swallowed there."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler:  # as where Ctrl-C is to be ignored
        yield
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _leave(*_: Any) -> None:
    os.write(2, b"learnroute: interrupted\n")
    os._exit(130)


@contextlib.contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """In here, the first Ctrl-C sets the event; the next one is an interrupt as usual."""
    stop, usual = threading.Event(), signal.getsignal(signal.SIGINT)

    def ask(*_: Any) -> None:
        signal.signal(signal.SIGINT, usual)
        stop.set()

    if usual is not signal.default_int_handler:
        yield stop
        return
    signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, usual)
