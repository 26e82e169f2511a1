"""A worker whose task never ends for problems with certain titles; `work` stands in for the pool's own."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from learnroute.formats import write_plan
from learnroute.solvers.contract import Progress
from learnroute.web import tasks, worker


def _in_python() -> None:
    while True:
        pass


def _in_c() -> None:
    """Block forever without letting another thread run."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def _outside_of_python() -> None:
    """Block forever without Python's lock, like the compiled core."""
    time.sleep(1e6)


HANGS = {"python": _in_python, "c": _in_c, "core": _outside_of_python}


def _report_for_ever(progress: Progress) -> None:
    """Report progress until stopped."""
    while True:
        progress("endless", 0.5)
        time.sleep(0.01)


def work(line: Connection) -> None:
    """Run a worker in which tasks get stuck if the title of the problem requests it."""
    tasks.write_plan = _hang_on_writing(write_plan)  # type: ignore[attr-defined]
    for name, kind in list(tasks.TASKS.items()):
        tasks.TASKS[name] = replace(kind, run=_stuck(kind.run))
    worker.work(line)


def _hang_on_writing(write: Any) -> Any:
    """Return a writer of plans that never ends for problems titled `writing`."""

    def write_or_hang(plan: Any, path: Path, problem: Any) -> Any:
        written = write(plan, path, problem)
        return _in_c() if problem.title == "writing" else written

    return write_or_hang


def _stuck(run: Any) -> Any:
    def run_or_hang(asked: Any, *others: Any) -> Any:
        title = asked.problem.title if hasattr(asked, "problem") else asked.files[0].name.partition(".")[0]
        if title == "endless" and hasattr(asked, "time_limit") and getattr(asked, "method", "auto") == "auto":
            _report_for_ever(others[-1])
        HANGS.get(title, lambda: None)()
        return run(asked, *others)

    return run_or_hang
