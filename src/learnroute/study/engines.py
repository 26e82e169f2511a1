"""Where batches of work run: in this process, on this machine's cores (joblib), or on a Dask cluster.

An engine takes a function and an iterator of arguments, and yields results as they are ready, in any order. It asks the
iterator for little more than it can run at once, so neither tasks nor results pile up.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from learnroute.errors import InputError, install

A = TypeVar("A")
R = TypeVar("R")
Engine = Callable[[Callable[[A], R], Iterable[A]], Iterator[R]]

AHEAD = 2  # batches in flight for each worker: one at work, one waiting
WATCH = "learnroute-watch"  # the thread of a worker that looks after its parent
CONNECT = 10.0  # seconds to wait for a scheduler, and for its first worker


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def engine(workers: int | None = None, dask: str | None = None) -> Iterator[tuple[Engine[Any, Any], int]]:
    """Give an engine and the number of its workers: `dask` is a scheduler's address or `local`; else joblib."""
    if workers is not None and workers < 1:
        raise InputError("at least 1 is needed", field="workers", value=workers)
    if dask is None:
        count = workers or cores()
        yield (_serial if count == 1 else _on_cores(count)), count
        return
    with _dask_client(dask, workers) as client:
        count = sum(client.nthreads().values())
        yield _on_cluster(client, count), count


def _serial(function: Callable[[A], R], tasks: Iterable[A]) -> Iterator[R]:
    return map(function, tasks)


def _on_cores(workers: int) -> Engine[Any, Any]:
    try:
        import joblib
    except ImportError:
        raise InputError(f"several workers need joblib (or say --workers 1): {install('study')}") from None

    def run(function: Callable[[A], R], tasks: Iterable[A]) -> Iterator[R]:
        _let_go_of_a_dead_pool()
        pool = joblib.Parallel(
            n_jobs=workers, batch_size=1, pre_dispatch=AHEAD * workers, return_as="generator_unordered"
        )
        parent = os.getpid()
        results: Generator[R, None, None] = pool(joblib.delayed(_as_worker)(function, task, parent) for task in tasks)
        said = threading.excepthook
        threading.excepthook = _unless_abandoned
        try:
            for result in results:  # noqa: UP028  `yield from` closes them outside of `finally`
                yield result
        except joblib.externals.loky.process_executor.TerminatedWorkerError:
            raise InputError(
                "a worker process died (out of memory, or killed): what was solved is stored; --resume continues, "
                "with fewer --workers if memory was short"
            ) from None
        finally:
            with warnings.catch_warnings(action="ignore"):  # joblib's, where results are left unused
                results.close()
            threading.excepthook = said

    return run


def _let_go_of_a_dead_pool() -> None:
    """Have joblib make a new pool if the thread that manages the last one has died, as where work was taken away.

    Work given to such a pool would be waited for without end.
    """
    from joblib.externals.loky import reusable_executor

    thread = getattr(reusable_executor._executor, "_executor_manager_thread", None)
    if thread is not None and not thread.is_alive():
        reusable_executor._executor = None


def _unless_abandoned(failure: threading.ExceptHookArgs) -> None:
    """Tell of a thread's failure, but not of joblib's looking for work that was taken away because it is not wanted."""
    name = "" if failure.thread is None else failure.thread.name
    if not (failure.exc_type is KeyError and name.startswith("ExecutorManagerThread")):
        threading.__excepthook__(failure)


def _as_worker(function: Callable[[A], R], task: A, parent: int) -> R:
    _belong_to(parent)
    return function(task)


def _belong_to(parent: int) -> None:
    """Leave Ctrl-C to the parent, and leave the stage when the parent has died."""
    if os.getpid() == parent or any(thread.name == WATCH for thread in threading.enumerate()):
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, name=WATCH, daemon=True).start()


@contextlib.contextmanager
def _children_ignore_ctrl_c() -> Iterator[None]:
    """Processes started in here leave Ctrl-C to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _on_cluster(client: Any, workers: int) -> Engine[Any, Any]:
    import distributed

    cluster: Any = distributed

    def run(function: Callable[[A], R], tasks: Iterable[A]) -> Iterator[R]:
        waiting = iter(tasks)
        flight = cluster.as_completed(with_results=True)
        for _ in range(AHEAD * workers):
            _launch(client, flight, function, waiting)
        try:
            for future, result in flight:
                if isinstance(result, BaseException):  # a future that was cancelled comes back like that
                    raise result
                future.release()
                _launch(client, flight, function, waiting)
                yield result
        except (cluster.KilledWorker, OSError, CancelledError) as failure:
            raise InputError(
                f"the Dask cluster failed ({type(failure).__name__}): what was solved is stored; --resume continues"
            ) from None

    return run


def _launch(client: Any, flight: Any, function: Callable[[A], R], waiting: Iterator[A]) -> None:
    for task in waiting:
        flight.add(client.submit(function, task, pure=False))
        return


@contextlib.contextmanager
def _dask_client(address: str, workers: int | None) -> Iterator[Any]:
    try:
        import distributed
    except ImportError:
        raise InputError(install("dask"), field="--dask", found="needs Dask") from None
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
            raise InputError(f"a cluster at {address} has its own; leave --workers out", field="workers", value=workers)
        try:
            client = stack.enter_context(library.Client(address, timeout=CONNECT))
            client.wait_for_workers(1, timeout=CONNECT)
        except (OSError, ValueError, TimeoutError) as error:
            raise InputError(
                f"no scheduler with workers answers there ({error}); give tcp://HOST:PORT, or local",
                field="dask",
                value=address,
            ) from None
        yield client
