"""Ctrl-C while modules are imported: one line, at once."""

from __future__ import annotations

import contextlib
import os
import signal
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
