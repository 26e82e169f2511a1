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
    Depot,
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
from learnroute.learning import RouteRegressor, rehearse, simulate
from learnroute.model.learners import Proximal
from learnroute.model.visits import Visits
from learnroute.study.families import random_problem

FEATURES, SAMPLES, NOISE = 120, 100, 0.1


def _proximal(problem: Problem, regularization: str | float) -> Problem:
    return problem.replace(learner=Proximal(FEATURES, SAMPLES, NOISE, regularization=regularization))


def _with_fleet(problem: Problem, **members: Any) -> Problem:
    return problem.replace(fleet=Fleet(**members), initial=np.ones(problem.size))


PROBLEMS: dict[str, Callable[[Problem], Problem]] = {
    "": lambda problem: problem,
    "depot": lambda problem: problem.replace(depot=Depot(coordinates=(0.5, 0.5), travel=np.ones(problem.size))),
    "λ = 1": lambda problem: _proximal(problem, 1.0),
    "λ auto": lambda problem: _proximal(problem, "auto"),
    "λ schedule": lambda problem: _proximal(problem, "schedule"),
    "visits": lambda problem: problem.replace(visits=Visits()),
    "all required": lambda problem: problem.replace(visits=Visits("all", repeat=2)),
    "visits, λ auto": lambda problem: _proximal(problem, "auto").replace(visits=Visits()),
    "visits, λ schedule": lambda problem: _proximal(problem, "schedule").replace(visits=Visits()),
    "fleet": lambda problem: _with_fleet(problem, vehicles=3),
    "fleet, λ auto": lambda problem: _with_fleet(_proximal(problem, "auto"), vehicles=3),
    "own models": lambda problem: _with_fleet(problem, vehicles=3, serve="own"),
    "models": lambda problem: _with_fleet(problem, models=3),
}


def _started(problem: Problem, limit: float) -> Journey:
    trip = Journey(problem, "nearest", time_limit=limit)
    clock(limit)
    return trip


def _rehearse(problem: Problem, limit: float) -> Any:
    rng = np.random.default_rng(1)
    shapes = ((30, 10), (30,), (15, 10), (15,))
    samples = {name: tuple(rng.normal(size=shape) for shape in shapes) for name in problem.regions}
    clock(limit)
    return rehearse(samples, RouteRegressor(), visits=problem.visits, fleet=problem.fleet, time_limit=limit)


def _route(problem: Problem) -> dict[str, Any]:
    """Return a route through all regions: dealt to the vehicles, or to the models of one vehicle."""
    regions, rules = range(problem.size), problem.fleet_rules
    if rules is None or rules.vehicles == 1:
        return {"route": regions, "models": None if rules is None else [k % rules.models for k in regions]}
    return {"route": [regions[vehicle :: rules.vehicles] for vehicle in range(rules.vehicles)]}


def _simulate(problem: Problem, limit: float) -> Any:
    models = np.random.default_rng(1).normal(size=(problem.size, FEATURES))
    known = problem.replace(truth=models, initial_model=np.zeros(FEATURES))
    clock(limit)
    return simulate(known, **_route(known), time_limit=limit)


CALLS: dict[str, Callable[[Problem, float], Any]] = {
    "plan": lambda problem, limit: plan(problem, time_limit=limit),
    "evaluate": lambda problem, limit: evaluate(problem, **_route(problem), time_limit=limit),
    "compare": lambda problem, limit: compare(problem, time_limit=limit),
    "compare_learners": lambda problem, limit: compare_learners(problem, time_limit=limit),
    "tradeoff": lambda problem, limit: tradeoff(problem, time_limit=limit),
    "robustness": lambda problem, limit: robustness(problem, 0.2, time_limit=limit),
    "simulate": _simulate,
    "Journey": lambda problem, limit: Journey(problem, time_limit=limit),
    "Journey.visit": lambda problem, limit: _started(problem, limit).visit(time_limit=limit),
    "Journey.drop": lambda problem, limit: _started(problem, limit).drop(problem.regions[-1], time_limit=limit),
    "visit_curve": lambda problem, limit: visit_curve(problem, time_limit=limit),
    "compare_fleets": lambda problem, limit: compare_fleets(problem, time_limit=limit),
    "rehearse": _rehearse,
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
    call, _, kind = name.partition(", ")
    problem = PROBLEMS[kind](read_problem(file))
    if processor_clock:
        time.monotonic = time.perf_counter = time.process_time
    clock(limit)
    try:
        CALLS[call](problem, limit)
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
    parser.add_argument("--calls", nargs="+", help="such as plan, or of one kind of problem: 'plan, λ auto'")
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
        kinds = [f", {kind}" if kind else "" for kind in PROBLEMS]
        all_calls = {call: [f"{call}{kind}" for kind in kinds] for call in CALLS}
        wanted = given.calls or list(COMMANDS if given.commands else CALLS)
        for name in wanted if given.commands else [one for call in wanted for one in all_calls.get(call, [call])]:
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
