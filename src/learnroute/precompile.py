"""Machine code for plans, compiled before it is asked for: `python -m learnroute.precompile`.

It is kept for later processes. The command line has that done in the background after a plan whose time limit left no
time for it, and while the service starts.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from typing import Any

LOCK = "compiling"  # the file that says that some process is at it ...
LASTS = 60.0  # ... unless it is older than so many seconds
DETACHED = 0x00000008  # on Windows, a process without this console


def precompile() -> None:
    """Run each method once on problems that are too large for the interpreter: searches first, then proofs."""
    from learnroute.model.learner import Learner
    from learnroute.planner import plan
    from learnroute.study.families import random_problem

    under, over, far = (Learner(features, 100, 0.1) for features in (80, 120, 1000))
    proximal = Learner(120, 100, 0.1, rule="proximal", regularization=1.0)
    for family, size, learner, method in (
        ("euclidean", 50, over, "search"), ("euclidean", 50, under, "exact"), ("euclidean", 30, far, "exact"),
        ("euclidean", 50, over, "algorithm1"), ("places", 400, under, "search"), ("euclidean", 13, over, "exact"),
        ("euclidean", 50, under, "nearest"), ("euclidean", 30, proximal, "search"),
    ):  # fmt: skip
        plan(random_problem(family, size, learner, 0), method)


def going_on() -> bool:
    """Whether some process is at it."""
    from learnroute.kernels.machine_code import kernel_folder

    folder = kernel_folder()
    try:
        return folder is not None and time.time() - (folder / LOCK).stat().st_mtime <= LASTS
    except OSError:
        return False


def in_background(size: int, priority: int = 19) -> None:
    """Have another process do it, one that outlives this one, where plans of so many regions need what is not at hand.

    Not if some process is at it already, or there is no folder to keep machine code in. `priority` is what that process
    adds to its niceness.
    """
    from learnroute.kernels import at_hand
    from learnroute.kernels.machine_code import kernel_folder
    from learnroute.solvers.compiling import BUILDING, PROVING, SEARCHING
    from learnroute.solvers.params import DEFAULTS

    if size <= DEFAULTS.held_karp.most_regions or at_hand(*SEARCHING, *BUILDING, *PROVING):
        return
    folder = kernel_folder()
    if folder is None or not sys.executable:
        return
    if going_on():
        return
    lock = folder / LOCK
    try:
        lock.unlink(missing_ok=True)  # of a process that died
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        # Ctrl-C is not meant for it; in the session of this process its low priority counts
        apart: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {"creationflags": DETACHED}
        subprocess.Popen(
            [sys.executable, "-m", __name__, str(lock), str(priority)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **apart,
        )  # fmt: skip
    except OSError:
        return


def main(arguments: list[str]) -> None:
    """Compile; as a process in the background, give the lock and what to add to the niceness."""
    if len(arguments) == 2 and hasattr(os, "nice"):
        os.nice(int(arguments[1]))
    try:
        precompile()
    finally:
        for lock in arguments[:1]:
            with contextlib.suppress(OSError):
                os.unlink(lock)


if __name__ == "__main__":
    main(sys.argv[1:])
