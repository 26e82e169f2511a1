"""Helpers that wait for other threads and processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

GUARD = 300  # seconds after which a test that waits in vain fails; busy machines take long


def wait_for(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + GUARD
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def has_ended(process: int) -> bool:
    """Whether a process has ended with all of its threads, so that its parent can be told."""
    folder = Path(f"/proc/{process}")
    try:
        ended = (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        return ended and len(list((folder / "task").iterdir())) == 1
    except OSError:
        return True
