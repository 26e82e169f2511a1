"""Entry point of `learnroute` and `python -m learnroute`; from the start, Ctrl-C prints one line, not a traceback."""

from __future__ import annotations

import sys
import time

from learnroute.interrupts import exit_on_interrupt


def main() -> None:
    """Run the command line and exit with its exit code."""
    began = time.monotonic()
    with exit_on_interrupt():
        from learnroute.cli import run
    sys.exit(run(began=began))


if __name__ == "__main__":
    main()
