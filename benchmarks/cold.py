"""What a user waits for: plans with an empty cache of machine code and with a full one. `python benchmarks/cold.py`.

Wall time of whole commands, on an otherwise idle machine. The second table gives one second to `auto`, counted from the
start of the program, and compares its route with that of ten seconds: the excess is of what routes change, the loss
less what no route avoids (noise, and the least score everywhere).
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

from learnroute import Learner, objective_of, write_problem
from learnroute.precompile import LOCK
from learnroute.study.families import random_problem

LIMITS = (1.0, 10.0)


def run(cache: Path, *arguments: str) -> tuple[float, dict[str, object]]:
    """Run a command; return its wall time and what it prints as JSON."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "learnroute", *arguments, "--json"],
        env={**os.environ, "LEARNROUTE_CACHE_DIR": str(cache)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return time.perf_counter() - started, json.loads(done.stdout)


def wait(folder: Path) -> None:
    """Print how long first and later plans take."""
    print("| command | m | first run | later run |\n|---|---|---|---|")
    for size, method in ((10, "auto"), (25, "auto"), (50, "auto"), (100, "auto"), (1000, "algorithm1")):
        for features in (80, 120, 1000):
            file = folder / "problem.json"
            write_problem(random_problem("euclidean", size, Learner(features, 100, 0.1), 1), file)
            cache = folder / f"{size}-{features}"
            times = [run(cache, "plan", str(file), "--method", method)[0] for _ in range(2)]
            print(f"| {method}, {size} regions | {features} | {times[0]:.2f} s | {times[1]:.2f} s |", flush=True)


def limited(folder: Path) -> None:
    """Print what a second is worth, cold and warm."""
    print("\n| regions | m | warm: excess | warm: wall | cold: excess | cold: wall |\n|---|---|---|---|---|---|")
    warm = folder / "warm"
    for size in (50, 100, 200, 300):
        for features in (80, 120, 1000):
            file = folder / "problem.json"
            problem = random_problem("euclidean", size, Learner(features, 100, 0.1), 1)
            write_problem(problem, file)
            objective = objective_of(problem)
            floor = (objective.constant + float(objective.weights.sum() * objective.scores.min())) / size

            def asked(cache: Path, limit: float, file: Path = file) -> tuple[float, float]:
                seconds, found = run(cache, "plan", str(file), "--time-limit", str(limit), "--threads", "1")
                loss = found["loss"]
                assert isinstance(loss, dict)
                return seconds, float(loss["total"])

            _, best = asked(warm, LIMITS[1])
            cells = []
            for cache in (warm, folder / f"cold-{size}-{features}"):
                seconds, total = asked(cache, LIMITS[0])
                while any(cache.rglob(LOCK)):  # it is compiled in the background
                    time.sleep(0.1)
                cells.append(f"{100 * (total - best) / (best - floor):.2f} % | {seconds:.2f} s")
            print(f"| {size} | {features} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    print(f"Python {platform.python_version()}, numpy {version('numpy')}, llvmlite {version('llvmlite')}; "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        wait(Path(folder))
        limited(Path(folder))


if __name__ == "__main__":
    main()
