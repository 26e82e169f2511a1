"""Speed of Algorithm 1, matching and exact plans next to peers: `make benchmark`, or `python benchmarks/foundation.py`.

Prints a Markdown table, shown in docs/appendix/benchmarks.md. Peers: networkx (christofides, max_weight_matching).
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version

import networkx
import numpy as np

from learnroute import Learner, minimum_matching, objective_of, plan
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.contract import Budget
from learnroute.study.families import random_problem

UNDER, OVER = Learner(80, 100, 0.1), Learner(120, 100, 0.1)


def seconds(job: Callable[[], object], times: int = 1) -> float:
    """Return the lowest wall time of a job over some repetitions."""
    best = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        job()
        best = min(best, time.perf_counter() - started)
    return best


def algorithm1_beside_networkx(size: int) -> list[str]:
    problem = random_problem("euclidean", size, UNDER, 1)
    objective = objective_of(problem)
    rng = np.random.default_rng(0)
    ours = seconds(lambda: algorithm1(objective, rng, Budget()), 5)
    whole = seconds(lambda: plan(problem, "algorithm1"), 3)
    graph = networkx.from_numpy_array(problem.travel)
    theirs = seconds(lambda: networkx.approximation.christofides(graph))
    return [
        f"| Algorithm 1, T = {size} | {ours:.4f} s | networkx christofides {theirs:.2f} s | {theirs / ours:.0f} × |",
        f"| plan() with Algorithm 1, bound and metric check, T = {size} | {whole:.4f} s | as above "
        f"| {theirs / whole:.0f} × |",
    ]


def matching_beside_networkx(size: int) -> str:
    rng = np.random.default_rng(1)
    points = rng.uniform(0, 1, (size, 2))
    weights = np.hypot(*(points[:, None] - points[None]).T)
    ours = seconds(lambda: minimum_matching(weights), 3)
    graph = networkx.from_numpy_array(2 - weights)
    theirs = seconds(lambda: networkx.max_weight_matching(graph, maxcardinality=True))
    return f"| minimum matching, {size} points | {ours:.4f} s | networkx {theirs:.2f} s | {theirs / ours:.0f} × |"


def matching_alone(size: int) -> str:
    rng = np.random.default_rng(1)
    points = rng.uniform(0, 1, (size, 2))
    weights = np.hypot(*(points[:, None] - points[None]).T)
    return f"| minimum matching, {size} points | {seconds(lambda: minimum_matching(weights), 2):.3f} s | – | – |"


def held_karp(size: int) -> str:
    problem = random_problem("uniform", size, OVER, 1)
    return f"| exact, T = {size} | {seconds(lambda: plan(problem, 'exact')):.2f} s | – | – |"


def main() -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in ("learnroute", "numpy", "networkx"))
    print(f"Python {platform.python_version()}, {packages}; {os.cpu_count()} cores, {platform.machine()}\n")
    print("| job | learnroute | peer | peer / learnroute |\n|---|---|---|---|")
    for size in (200, 500):
        print("\n".join(algorithm1_beside_networkx(size)), flush=True)
    print(matching_beside_networkx(300), flush=True)
    for size in (1000, 2000):
        print(matching_alone(size), flush=True)
    for size in (16, 18, 20):
        print(held_karp(size), flush=True)


if __name__ == "__main__":
    main()
