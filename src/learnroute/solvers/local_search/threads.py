"""Threads that work on parts of one search; the core releases the GIL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Self, TypeVar

from learnroute.solvers.contract import Budget

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

AWAKE = 0.1  # seconds between two checks for signals while threads work
R = TypeVar("R")


class Threads:
    """A context manager for a number of threads; a single one is the calling thread."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None
        if count > 1:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(count)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Shut the threads down."""
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, part: Callable[[int, Budget], R], budget: Budget) -> list[R]:
        """Run part(k, budget) in each thread; the first one reports progress.

        After Ctrl-C or a failure in one thread, the budgets of all others are exhausted.
        """
        if self._pool is None:
            return [part(0, budget)]
        from concurrent.futures import FIRST_EXCEPTION, wait

        stop = budget.stop or threading.Event()
        telling = replace(budget, stop=stop)
        try:
            tasks = [self._pool.submit(part, k, telling.silent() if k else telling) for k in range(self.count)]
            running = set(tasks)
            while running:  # an unlimited wait misses signals on some systems
                finished, running = wait(running, AWAKE, FIRST_EXCEPTION)
                for each in finished:
                    each.result()
        except BaseException:
            stop.set()
            raise
        return [task.result() for task in tasks]
