"""Speed-up by threads: the same number of perturbations in one thread and in several. `python benchmarks/threads.py`.

Uniform and clustered regions, with the last score alone and with many. Prints the wall time and the excess over the
best value of the row, as a share of the value minus the lowest score at all positions.
"""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import version

import numpy as np

from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import DEFAULTS
from over import problem

PERTURBATIONS = 20  # per region


def main() -> None:
    many = [1, *range(2, (os.cpu_count() or 1) + 1)]
    print(f"Python {platform.python_version()}, numpy {version('numpy')}; "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    print("| T | map | m | " + " | ".join(f"{k} threads" for k in many) + " | speed-up |")
    print("|---" * (len(many) + 4) + "|")
    for size in (1000, 3000):
        for features in (101, 1000):  # r = 0.01, where little more than the last score counts, and r = 0.9
            for kind in ("uniform", "clustered"):
                objective = problem(size, features, kind == "clustered", True)
                floor = float(objective.weights.sum() * objective.scores.min())
                taken, values = [], []
                for threads in many:
                    params = DEFAULTS._replace(search=DEFAULTS.search._replace(threads=threads))
                    started = time.perf_counter()
                    order = iterated_local_search(
                        objective, np.random.default_rng(0), Budget(), PERTURBATIONS * size, 1, params=params
                    )
                    taken.append(time.perf_counter() - started)
                    values.append(objective(order) - floor)
                cells = [
                    f"{seconds:.1f} s, {100 * (value / min(values) - 1):.2f} %"
                    for seconds, value in zip(taken, values, strict=True)
                ]
                print(
                    f"| {size} | {kind} | {features} | {' | '.join(cells)} | {taken[0] / taken[-1]:.2f} |", flush=True
                )


if __name__ == "__main__":
    main()
