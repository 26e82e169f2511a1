"""Machine code for plans, compiled before it is asked for: `python -m learnroute.precompile`.

It is kept for later processes. The command line has that done in the background after a plan whose time limit left no
time for it, and while the service starts.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

LOCK = "compiling"  # the file that says that some process is at it ...
LASTS = 60.0  # ... unless it is older than so many seconds
DONE = "everything"  # the file that says that all of it was compiled
DETACHED = 0x00000008 | 0x00004000  # on Windows: a process without this console, of low priority


def precompile(progress: Callable[[str, float], None] | None = None, lock: Path | None = None) -> None:
    """Run each method once on problems that are too large for the interpreter: searches first, then proofs.

    The lock, if there is one, is renewed meanwhile.
    """
    from learnroute.kernels.machine_code import kernel_folder
    from learnroute.model.learner import Learner
    from learnroute.planner import plan
    from learnroute.solvers.params import DEFAULTS
    from learnroute.study.families import random_problem

    under, over, far = (Learner(features, 100, 0.1) for features in (80, 120, 1000))
    proximal = Learner(120, 100, 0.1, rule="proximal", regularization=1.0)
    little, more = (
        replace(DEFAULTS, search=replace(DEFAULTS.search, perturbations=2, many_perturbations=many, starts=1))
        for many in (1, 8)
    )  # more are enough for a population
    for family, size, learner, method, params in (
        ("euclidean", 50, over, "search", little), ("euclidean", 120, over, "search", more),
        ("euclidean", 50, under, "exact", DEFAULTS),
        ("euclidean", 30, far, "exact", DEFAULTS), ("euclidean", 50, over, "algorithm1", little),
        ("places", 400, under, "search", little), ("euclidean", 13, over, "exact", DEFAULTS),
        ("euclidean", 50, under, "nearest", little), ("euclidean", 30, proximal, "search", little),
    ):  # fmt: skip
        plan(random_problem(family, size, learner, 0), method, progress=progress, params=params)
        if lock is not None:
            with contextlib.suppress(OSError):
                os.utime(lock)
    folder = kernel_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / DONE).touch()


def going_on() -> bool:
    """Whether some process is at it."""
    from learnroute.kernels.machine_code import kernel_folder

    folder = kernel_folder()
    try:
        return folder is not None and time.time() - (folder / LOCK).stat().st_mtime <= LASTS
    except OSError:
        return False


def in_background(priority: int = 19) -> None:
    """Have another process do it, one that outlives this one, if it was not done; `priority` is its niceness.

    Not if some process is at it already, or there is no folder to keep machine code in.
    """
    from learnroute.kernels import at_hand
    from learnroute.kernels.machine_code import kernel_folder

    folder = kernel_folder()
    if folder is None or not sys.executable or at_hand(DONE) or going_on():
        return
    lock = folder.resolve() / LOCK
    # Ctrl-C is not meant for it; in the session of this process its low priority counts
    apart: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {"creationflags": DETACHED}
    try:
        lock.unlink(missing_ok=True)  # of a process that died
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(lock), str(priority)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **apart,
        )  # fmt: skip
    except OSError:
        with contextlib.suppress(OSError):
            lock.unlink(missing_ok=True)
        return
    threading.Thread(target=process.wait, daemon=True).start()  # where this process goes on, none is left defunct


def main(arguments: list[str]) -> None:
    """Compile; a process in the background is given the lock and what to add to the niceness."""
    from learnroute.kernels.machine_code import kernel_folder

    folder, lock = kernel_folder(), None
    if arguments:  # of no other file than the lock: it is removed at the end
        if folder is None or len(arguments) != 2 or arguments[0] != str(folder.resolve() / LOCK):
            sys.stderr.write(f"learnroute: {arguments[0]!r}: precompile takes no arguments; leave them out\n")
            sys.exit(2)
        lock = Path(arguments[0])
        if hasattr(os, "nice"):
            os.nice(int(arguments[1]))
    try:
        precompile(lock=lock)
    finally:
        if lock is not None:
            with contextlib.suppress(OSError):
                lock.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
