"""Time of the low-dimensional sampler, compared with direct sampling and as m grows: `python benchmarks/simulation.py`.

Prints Markdown tables, shown in docs/appendix/simulation.md. Both samplers run in one process, in turn.
"""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import version

import numpy as np

from learnroute import Gradient, Learner, Proximal
from learnroute.learning.krylov import dimension, trainings_of
from learnroute.learning.samplers import Sampler, direct, low_dimensional
from learnroute.model.spectrum import largest_rate

REGIONS = 10


def time_per_run(sampler: Sampler, learner: Learner, runs: int, times: int) -> float:
    """Return the lowest wall time per run over some repetitions."""
    models = np.random.default_rng(0).standard_normal((REGIONS, REGIONS))
    best = float("inf")
    for seed in range(times):
        rng = np.random.default_rng(seed)
        started = time.perf_counter()
        samples, weights = np.full(REGIONS, learner.samples), np.ones(REGIONS)
        sampler(models, np.arange(REGIONS), learner, samples, runs, rng, weights)
        best = min(best, time.perf_counter() - started)
    return best / runs


def main() -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in ("learnroute", "numpy"))
    print(f"Python {platform.python_version()}, {packages}; {os.cpu_count()} cores, {platform.machine()}\n")
    learner = Learner(1200, 1000, 0.5)
    slow = time_per_run(direct, learner, 1, 3)
    print("| m = 1200, n = 1000, T = 10 | per run | direct / low-dimensional |\n|---|---|---|")
    print(f"| direct, single run | {1e3 * slow:.0f} ms | 1 × |")
    for runs in (1, 1000):
        quick = time_per_run(low_dimensional, learner, runs, 5)
        name = "single run" if runs == 1 else f"{runs} runs at once"
        print(f"| low-dimensional, {name} | {1e3 * quick:.3f} ms | {slow / quick:,.0f} × |", flush=True)
    print("\n| low-dimensional, T = 10, n = 5m/6, 1000 runs at once | per run | to m = 120 |\n|---|---|---|")
    sizes = (120, 1200, 12_000, 120_000, 1_000_000)
    taken = dict.fromkeys(sizes, float("inf"))
    for _ in range(10):  # in turns, so that other work on the machine affects all equally
        for m in sizes:
            taken[m] = min(taken[m], time_per_run(low_dimensional, Learner(m, m * 5 // 6, 0.5), 1000, 3))
    for m, time_taken in taken.items():
        print(f"| m = {m:,} | {1e6 * time_taken:.2f} µs | {time_taken / taken[120]:.2f} |")
    regularised()


def regularised() -> None:
    """Print the same for regularised learners, for several λ and numbers of steps."""
    rate = largest_rate(1200, 1000) / 2
    learners: dict[str, Learner] = {
        f"proximal, λ = {x:g}": Proximal(1200, 1000, 0.5, regularization=x) for x in (0.01, 0.1, 1.0, 10.0)
    }
    for steps in (1, 10, 100):
        learners[f"gradient, steps = {steps}"] = Gradient(1200, 1000, 0.5, steps=steps, rate=rate)
    heads = (
        "m = 1200, n = 1000, T = 10",
        "axes",
        "direct, per run",
        "single run",
        "200 runs at once, per run",
        "times faster",
    )
    print(f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name, learner in learners.items():
        axes = dimension(trainings_of(learner, 1)[0], 1200, 1000)
        slow = time_per_run(direct, learner, 1, 2)
        single, many = time_per_run(low_dimensional, learner, 1, 5), time_per_run(low_dimensional, learner, 200, 3)
        print(
            f"| {name} | {axes} | {1e3 * slow:.0f} ms | {1e3 * single:.2f} ms | {1e3 * many:.3f} ms "
            f"| {slow / single:,.0f} × and {slow / many:,.0f} × |",
            flush=True,
        )
    print("\n| low-dimensional, λ = 1, T = 10, n = 5m/6, 200 runs at once | axes | per run |\n|---|---|---|")
    for m in (120, 1200, 12_000, 120_000, 1_000_000):
        learner = Proximal(m, m * 5 // 6, 0.5, regularization=1.0)
        taken = time_per_run(low_dimensional, learner, 200, 3)
        print(f"| m = {m:,} | {dimension(learner, m, m * 5 // 6)} | {1e6 * taken:.0f} µs |")


if __name__ == "__main__":
    main()
