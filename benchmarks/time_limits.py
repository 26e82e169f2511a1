"""How much calls with a time limit exceed it. `python benchmarks/time_limits.py [--sizes 10 100] [--calls plan]`.

Each call is made in a fresh process, so that imports and one-time computations count. The problem is read before. A
cell shows the seconds of wall time beyond the limit and, in brackets, the processor time used after the limit, which
does not depend on other work on the machine. Calls that end before the limit have a dash.
With `--commands`, whole commands are timed, from the start of the program, on a problem in an .npz file; the time in
brackets is the processor time of the whole command.
With `--processor`, limits and cells are in processor time (with one thread of BLAS), so that other work on the machine
does not change how late a call is.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from learnroute import (
    Fleet,
    Journey,
    Learner,
    Problem,
    compare,
    compare_fleets,
    compare_learners,
    evaluate,
    plan,
    read_problem,
    robustness,
    tradeoff,
    visit_curve,
    write_problem,
)
from learnroute.errors import InputError
from learnroute.learning import RouteRegressor, rehearse
from learnroute.model.learners import Proximal
from learnroute.model.visits import Visits
from learnroute.study.families import random_problem

FEATURES, SAMPLES, NOISE = 120, 100, 0.1


def _proximal(problem: Problem, regularization: str | float) -> Problem:
    return problem.replace(learner=Proximal(FEATURES, SAMPLES, NOISE, regularization=regularization))


def _visit(problem: Problem, limit: float) -> Any:
    trip = Journey(problem, "nearest")
    clock(limit)
    return trip.visit(time_limit=limit)


def _with_fleet(problem: Problem) -> Problem:
    return problem.replace(fleet=Fleet(vehicles=3), initial=np.ones(problem.size))


def _rehearse(problem: Problem, limit: float) -> Any:
    rng = np.random.default_rng(1)
    shapes = ((30, 10), (30,), (15, 10), (15,))
    samples = {name: tuple(rng.normal(size=shape) for shape in shapes) for name in problem.regions}
    clock(limit)
    return rehearse(samples, RouteRegressor(), time_limit=limit)


CALLS: dict[str, Callable[[Problem, float], Any]] = {
    "plan": lambda problem, limit: plan(problem, time_limit=limit),
    "plan, λ auto": lambda problem, limit: plan(_proximal(problem, "auto"), time_limit=limit),
    "plan, λ schedule": lambda problem, limit: plan(_proximal(problem, "schedule"), time_limit=limit),
    "evaluate": lambda problem, limit: evaluate(problem, range(problem.size), time_limit=limit),
    "evaluate, λ auto": lambda problem, limit: evaluate(
        _proximal(problem, "auto"), range(problem.size), time_limit=limit
    ),
    "evaluate, λ schedule": lambda problem, limit: evaluate(
        _proximal(problem, "schedule"), range(problem.size), time_limit=limit
    ),
    "compare": lambda problem, limit: compare(problem, time_limit=limit),
    "compare, λ = 1": lambda problem, limit: compare(_proximal(problem, 1.0), time_limit=limit),
    "compare_learners": lambda problem, limit: compare_learners(problem, time_limit=limit),
    "tradeoff": lambda problem, limit: tradeoff(problem, time_limit=limit),
    "tradeoff, λ = 1": lambda problem, limit: tradeoff(_proximal(problem, 1.0), time_limit=limit),
    "robustness": lambda problem, limit: robustness(problem, 0.2, time_limit=limit),
    "robustness, λ = 1": lambda problem, limit: robustness(_proximal(problem, 1.0), 0.2, time_limit=limit),
    "Journey": lambda problem, limit: Journey(problem, time_limit=limit),
    "Journey, λ auto": lambda problem, limit: Journey(_proximal(problem, "auto"), time_limit=limit),
    "visit": _visit,
    "visits": lambda problem, limit: plan(problem.replace(visits=Visits()), time_limit=limit),
    "visits, λ auto": lambda problem, limit: plan(
        _proximal(problem, "auto").replace(visits=Visits()), time_limit=limit
    ),
    "visit_curve": lambda problem, limit: visit_curve(problem, time_limit=limit),
    "fleet": lambda problem, limit: plan(_with_fleet(problem), time_limit=limit),
    "compare_fleets": lambda problem, limit: compare_fleets(_with_fleet(problem), time_limit=limit),
    "rehearse": _rehearse,
    "visit, λ = 1": lambda problem, limit: _visit(_proximal(problem, 1.0), limit),
}
COMMANDS = {
    "plan": ("plan",),
    "plan, λ auto": ("plan", "--rule", "proximal", "--regularization", "auto"),
    "plan, λ schedule": ("plan", "--rule", "proximal", "--regularization", "schedule"),
    "compare": ("compare",),
    "learners": ("learners",),
    "tradeoff": ("tradeoff",),
    "robustness": ("robustness", "--within", "0.2"),
    "visits": ("visits",),
}
BY_PROCESSOR = "import time; time.monotonic = time.process_time; import learnroute.__main__ as program; program.main()"
ONE_THREAD = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
started = 0.0
at_limit: list[float] = []  # the processor time at the limit


def clock(limit: float) -> None:
    """Start the clock."""
    global started
    started = time.perf_counter()
    timer = threading.Timer(limit, lambda: at_limit.append(time.process_time()))
    timer.daemon = True
    timer.start()


def timed_call(name: str, file: str, limit: float, processor_clock: bool) -> None:
    """Make one call and print its wall and processor time."""
    problem = read_problem(file)
    if processor_clock:
        time.monotonic = time.perf_counter = time.process_time
    clock(limit)
    try:
        CALLS[name](problem, limit)
    except InputError as refusal:
        print(refusal, file=sys.stderr)
    wall, processor = time.perf_counter() - started, time.process_time()
    print(wall - limit, processor - at_limit[-1] if at_limit else 0.0)


def call_in_process(name: str, file: Path, limit: float, by_processor: bool) -> tuple[float, float, bool]:
    """Return by how much a call in a separate process is late, and whether it was refused."""
    asked = [sys.executable, __file__, "--call", name, str(file), str(limit), *["--processor"][: int(by_processor)]]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, env=ONE_THREAD if by_processor else None)
    over, processor = map(float, done.stdout.split())
    return over, processor, bool(done.stderr)


def run_command(name: str, file: Path, limit: float, by_processor: bool) -> tuple[float, float, bool]:
    """Return by how much a whole command is late, and whether it was refused."""
    first, *rest = COMMANDS[name]
    program = ["-c", BY_PROCESSOR] if by_processor else ["-m", "learnroute"]
    asked = [sys.executable, *program, first, str(file), *rest, "--time-limit", str(limit), "--json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(asked, capture_output=True, check=False, env=ONE_THREAD if by_processor else None)
    over, after = time.perf_counter() - began - limit, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor - limit if by_processor else over, processor, bool(done.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 400, 1100, 2000])
    parser.add_argument("--limits", type=float, nargs="+", default=[1.0, 3.0, 5.0])
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--calls", nargs="+")
    parser.add_argument("--call", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.call:
        timed_call(given.call[0], given.call[1], float(given.call[2]), given.processor)
        return
    print(f"Python {platform.python_version()}, numpy {version('numpy')}; "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    print(
        f"| {'command' if given.commands else 'call'} | limit | {' | '.join(f'T = {size}' for size in given.sizes)} |"
    )
    print(f"|---|---|{'---|' * len(given.sizes)}")
    with tempfile.TemporaryDirectory() as folder:
        for size in given.sizes:
            write_problem(
                random_problem("euclidean", size, Learner(FEATURES, SAMPLES, NOISE), 1), Path(folder) / f"{size}.npz"
            )
        for name in given.calls or (COMMANDS if given.commands else CALLS):
            for limit in given.limits:
                cells = []
                for size in given.sizes:
                    measure = run_command if given.commands else call_in_process
                    over, processor, refused = measure(name, Path(folder) / f"{size}.npz", limit, given.processor)
                    used = "" if given.processor else f" ({processor:.2f})"
                    cell = f"{over:.2f}{used}" if over > 0 else "–"
                    cells.append(f"refused, {cell}" if refused else cell)
                print(f"| {name} | {limit:g} s | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
