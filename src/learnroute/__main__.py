"""`learnroute` and `python -m learnroute`: the command line, interrupted in one line from the very beginning."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any


def main() -> None:
    """Run the command line and leave with its exit code."""
    began = time.monotonic()
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # not where Ctrl-C is to be ignored
        signal.signal(signal.SIGINT, _leave)
    from learnroute.cli import run

    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, usual)
    sys.exit(run(began=began))


def _leave(*_: Any) -> None:
    """Leave at once: an exception could end anywhere inside of an import, or be swallowed there."""
    os.write(2, b"learnroute: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
