"""Computing time and benefit of the pair term of a regularised learner.

    python benchmarks/pairs.py

Prints two tables: the time of a plan with the pair term and without it (the paper's learner), and by how much routes
planned with the pair term are better than routes planned without it, at fixed and tuned λ.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from learnroute import Learner, Plan, Problem, expected_loss, plan
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.tuning import tune_for

SIZES = (10, 30, 100, 1000)
STRENGTHS = (0.1, 0.3, 1.0, 3.0)


def drawn(size: int, seed: int) -> Problem:
    """Return regions in the unit square with models in 5 dimensions, in the over regime."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((size, 5))
    return Problem(coordinates=rng.random((size, 2)), vectors=vectors, initial=(vectors**2).sum(axis=1),
                   learner=Learner(120, 100, 0.5), travel_rate=size**0.5)  # fmt: skip


def timed(problem: Problem, limit: float) -> tuple[Plan, float]:
    """Return a plan and its computing time in seconds."""
    started = time.perf_counter()
    return plan(problem, time_limit=limit), time.perf_counter() - started


def worth(size: int, seeds: int) -> list[str]:
    """Return, for fixed and tuned λ, the mean and largest excess of routes planned without the pair term."""
    rows = []
    for strength in (*STRENGTHS, None):
        excess = []
        for seed in range(seeds):
            problem = drawn(size, seed)
            asked = problem.with_regularization(strength) if strength else tuned(problem)
            orders = asked.instance.orders
            blind = orders.error._relax(0.0).objective(orders.travel, orders.ends)
            route = held_karp(blind, np.random.default_rng(0), Budget()).order
            best = plan(asked, "exact").loss.total
            excess.append(100 * (expected_loss(asked, route).total / best - 1))
        label = f"λ = {strength:g}" if strength else "tuned λ"
        rows.append(f"| {label} | {np.mean(excess):.2f} % | {max(excess):.2f} % |")
    return rows


def tuned(problem: Problem) -> Problem:
    """Return the problem with the best λ for its shortest route."""
    shortest = plan(problem, "travel").visits
    return problem.with_regularization(
        tune_for(problem.with_regularization(1.0), shortest, "auto", Budget()).regularization
    )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each plan")
    parser.add_argument("--seeds", type=int, default=10, help="problems for each row of the second table")
    options = parser.parse_args()
    print("| T | without pairs, s | with pairs, s | gap without | gap with |\n|---|---|---|---|---|")
    for size in SIZES:
        problem = drawn(size, 0)
        (plain, plain_seconds), (paired, paired_seconds) = (
            timed(each, options.limit) for each in (problem, problem.with_regularization(3.0))
        )
        gaps = [f"{100 * one.gap:.2f} %" if one.gap is not None else "–" for one in (plain, paired)]
        print(f"| {size} | {plain_seconds:.2f} | {paired_seconds:.2f} | {gaps[0]} | {gaps[1]} |", flush=True)
    print("\n| T = 9 | mean excess without the pair term | largest |\n|---|---|---|")
    print("\n".join(worth(9, options.seeds)))


if __name__ == "__main__":
    main()
