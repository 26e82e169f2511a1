"""Engines that run batches of work: in this process, on this machine's cores (joblib), or on a Dask cluster.

An engine takes a function and an iterator of arguments, and yields results as they are ready, in any order. It requests
little more from the iterator than it can run at once, so neither tasks nor results accumulate.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, wait
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from learnroute.errors import InputError, install_hint

A = TypeVar("A")
R = TypeVar("R")
Engine = Callable[[Callable[[A], R], Iterable[A]], Iterator[R]]

AHEAD = 2  # batches in flight per worker: one running, one waiting
CONNECT = 10.0  # seconds to wait for a scheduler, and for its first worker


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def engine(workers: int | None = None, dask: str | None = None) -> Iterator[tuple[Engine[Any, Any], int]]:
    """Yield an engine and its number of workers; `dask` is a scheduler's address or `local`, otherwise joblib."""
    if workers is not None and workers < 1:
        raise InputError("must be >= 1", field="workers", value=workers)
    if dask is None:
        count = workers or cores()
        with contextlib.nullcontext(map) if count == 1 else _processes(count) as run:
            yield run, count
        return
    with _dask_client(dask, workers) as client:
        import distributed

        cluster: Any = distributed
        count = sum(client.nthreads().values())
        yield _run_on(
            client.get_executor(pure=False), count, (cluster.KilledWorker, OSError, CancelledError),
            lambda failure: f"the Dask cluster failed ({type(failure).__name__})",
        ), count  # fmt: skip


def _run_on(
    executor: Executor, workers: int, failures: tuple[type[BaseException], ...], reason: Callable[[BaseException], str]
) -> Engine[Any, Any]:
    """Keep an executor's workers busy; the given failures of the executor are reported to the user."""

    def run(function: Callable[[A], R], tasks: Iterable[A]) -> Iterator[R]:
        waiting = iter(tasks)
        flight = {executor.submit(function, task) for task in itertools.islice(waiting, AHEAD * workers)}
        try:
            while flight:
                done, flight = wait(flight, return_when=FIRST_COMPLETED)
                for future in done:
                    flight.update(executor.submit(function, task) for task in itertools.islice(waiting, 1))
                    yield future.result()
        except failures as failure:
            raise InputError(f"{reason(failure)}: solved problems are stored; --resume continues") from None

    return run


@contextlib.contextmanager
def _processes(workers: int) -> Iterator[Engine[Any, Any]]:
    """Start worker processes on this machine, which end with this context or with this process."""
    try:
        from joblib.externals import loky
    except ImportError:
        raise InputError(f"several workers need joblib (or use --workers 1): {install_hint('study')}") from None
    threads = str(max(cores() // workers, 1))  # of linear algebra per worker
    theirs, ours = multiprocessing.Pipe(duplex=False)
    with theirs, loky.ProcessPoolExecutor(
        workers, initializer=_end_with_parent, initargs=(theirs,), env={"OMP_NUM_THREADS": threads} | os.environ
    ) as executor, ours:  # fmt: skip
        yield _run_on(
            executor, workers, (BrokenExecutor,),
            lambda _: "a worker process died (out of memory, or killed; fewer --workers need less memory)",
        )  # fmt: skip


def _end_with_parent(parent: Connection) -> None:
    """Leave Ctrl-C to the parent, and end as soon as the other end of this connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        parent.poll(None)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def _children_ignore_ctrl_c() -> Iterator[None]:
    """Let processes started in this context leave Ctrl-C to this process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _dask_client(address: str, workers: int | None) -> Iterator[Any]:
    try:
        import distributed
    except ImportError:
        raise InputError(install_hint("dask"), field="--dask", found="needs Dask") from None
    library: Any = distributed
    with contextlib.ExitStack() as stack:
        if address == "local":
            with _children_ignore_ctrl_c():
                cluster = library.LocalCluster(
                    n_workers=workers or cores(), threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )  # fmt: skip
            address = stack.enter_context(cluster).scheduler_address
        elif workers is not None:
            raise InputError(
                f"the cluster at {address} has its own workers; omit --workers", field="workers", value=workers
            )
        try:
            client = stack.enter_context(library.Client(address, timeout=CONNECT))
            client.wait_for_workers(1, timeout=CONNECT)
        except (OSError, ValueError, TimeoutError) as error:
            raise InputError(
                f"no Dask scheduler with workers answers there ({error}); give tcp://HOST:PORT, or local",
                field="dask",
                value=address,
            ) from None
        yield client
