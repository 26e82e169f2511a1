"""Wall time of whole commands, and the quality of plans after one second. `python benchmarks/commands.py`.

Times are wall times on an otherwise idle machine. The second table gives `auto` one second, counted from the start of
the program, and compares its route with the route after ten seconds. The excess is relative to the part of the loss
that depends on the route: the loss minus noise and minus the lowest score at all positions.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from learnroute import Learner, objective_of, write_problem
from learnroute.study.families import random_problem

FEATURES = (80, 120, 1000)


def run(*arguments: str) -> tuple[float, dict[str, Any]]:
    """Run a command; return its wall time and its JSON output."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "learnroute", *arguments, "--json"], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - started, json.loads(done.stdout)


def wall_times(file: Path) -> None:
    """Print how long plans take."""
    print("| command | m = 80 | m = 120 | m = 1000 |\n|---|---|---|---|")
    for size, method in ((10, "auto"), (25, "auto"), (50, "auto"), (100, "auto"), (1000, "algorithm1")):
        cells = []
        for features in FEATURES:
            write_problem(random_problem("euclidean", size, Learner(features, 100, 0.1), 1), file)
            cells.append(f"{run('plan', str(file), '--method', method)[0]:.2f} s")
        print(f"| {method}, {size} regions | {' | '.join(cells)} |", flush=True)


def one_second(file: Path) -> None:
    """Print the excess of plans after one second."""
    print("\n| regions | m | excess | wall time |\n|---|---|---|---|")
    for size in (50, 100, 200, 300):
        for features in FEATURES:
            problem = random_problem("euclidean", size, Learner(features, 100, 0.1), 1)
            write_problem(problem, file)
            objective = objective_of(problem)
            floor = (objective.constant + float(objective.weights.sum() * objective.scores.min())) / size
            (taken, short), (_, long) = (
                run("plan", str(file), "--time-limit", limit, "--threads", "1") for limit in ("1", "10")
            )
            total, best = short["loss"]["total"], long["loss"]["total"]
            print(
                f"| {size} | {features} | {100 * (total - best) / (best - floor):.2f} % | {taken:.2f} s |", flush=True
            )


def main() -> None:
    print(f"Python {platform.python_version()}, numpy {version('numpy')}; "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        wall_times(Path(folder) / "problem.json")
        one_second(Path(folder) / "problem.json")


if __name__ == "__main__":
    main()
