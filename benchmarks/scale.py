"""How time, memory and quality grow with the number of regions: `python benchmarks/scale.py`.

Uniform points in a unit square, scores from 5-dimensional vectors, both regimes; each size in a process of its own,
kernels compiled before. The last column is the route's travel over 0.7124·sqrt(T·A), which the shortest tour of many
random points approaches. Prints tables in Markdown; docs/benchmarks.md shows them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version

import numpy as np

from learnroute import Learner, Objective, Problem, objective_of
from learnroute.model.validation import IntArray
from learnroute.solvers.algorithm1 import algorithm1
from learnroute.solvers.contract import Budget
from learnroute.solvers.search import search_well

LEARNERS = {"under": Learner(80, 100, 0.1), "over": Learner(120, 100, 0.1)}
CONSTANT = 0.7124


def problem_of(size: int, regime: str, seed: int = 1) -> Problem:
    rng = np.random.default_rng(seed)
    places, vectors = rng.uniform(0, 1, (size, 2)), rng.normal(0, 1, (size, 5))
    # scores of a few legs, whatever T is: else the last region alone would decide
    vectors *= math.sqrt(0.05 / size)
    return Problem(learner=LEARNERS[regime], coordinates=places, vectors=vectors / math.sqrt(size))


def solve(method: str, objective: Objective, rng: np.random.Generator) -> IntArray:
    if method == "algorithm1":
        return algorithm1(objective, rng, Budget()).order
    return search_well(objective, rng, Budget())


def measure(method: str, size: int, regime: str) -> dict[str, float]:
    """Run one method once, kernels compiled before."""
    rng = np.random.default_rng(0)
    solve(method, objective_of(problem_of(400, regime)), rng)
    objective = objective_of(problem_of(size, regime))
    started, processor = time.perf_counter(), time.process_time()
    order = solve(method, objective, rng)
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    travel = math.fsum(objective.legs(order))
    return {
        "T": size,
        "seconds": seconds,
        "processor": processor,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "ratio": travel / (CONSTANT * math.sqrt(size)),
    }


def apart(method: str, size: int, regime: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", method, str(size), regime]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 3000, 10_000, 30_000, 100_000])
    parser.add_argument("--regimes", nargs="+", default=list(LEARNERS))
    parser.add_argument("--methods", nargs="+", default=["algorithm1", "search"])
    parser.add_argument("--one", nargs=3)
    given = parser.parse_args()
    if given.one:
        method, size, regime = given.one
        print(json.dumps(measure(method, int(size), regime)))
        return
    print(f"Python {platform.python_version()}, numpy {version('numpy')}, numba {version('numba')}; "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    print(
        "| method | regime | T | seconds | processor | memory | travel / 0.7124·√(T·A) |\n|---|---|---|---|---|---|---|"
    )
    for method in given.methods:
        for regime in given.regimes:
            rows = []
            for size in given.sizes:
                if method == "algorithm1" and (size > 10_000 or regime != "under"):
                    continue
                row = apart(method, size, regime)
                rows.append(row)
                print(f"| {method} | {regime} | {size:,} | {row['seconds']:.1f} | {row['processor']:.1f} "
                      f"| {row['memory']:.2f} GiB | {row['ratio']:.4f} |", flush=True)  # fmt: skip
            if len(rows) > 2:
                slope = np.polyfit(np.log([r["T"] for r in rows]), np.log([r["processor"] for r in rows]), 1)[0]
                print(f"| {method} | {regime} | | processor time grows as T^{slope:.2f} | | | |", flush=True)


if __name__ == "__main__":
    main()
