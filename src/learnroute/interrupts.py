"""Handling of Ctrl-C: end the process during imports; return the best route so far during planning."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process in this context: an exception could be raised or swallowed anywhere in an import."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler:  # for example if Ctrl-C is ignored
        yield
        return
    signal.signal(signal.SIGINT, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _exit(*_: Any) -> None:
    os.write(2, b"learnroute: interrupted\n")
    os._exit(130)


@contextlib.contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """Let the first Ctrl-C in this context set the event; the next one raises KeyboardInterrupt as usual."""
    stop, usual = threading.Event(), signal.getsignal(signal.SIGINT)

    def set_stop(*_: Any) -> None:
        signal.signal(signal.SIGINT, usual)
        stop.set()

    if usual is not signal.default_int_handler:
        yield stop
        return
    signal.signal(signal.SIGINT, set_stop)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, usual)
