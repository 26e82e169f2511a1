"""Gaps between routes with optional visits and their lower bounds: one row per number of regions and map.

    python benchmarks/visit_bounds.py

A quarter of the regions is required, with and without a travel budget; the larger of the two gaps is shown.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from learnroute import Learner, Problem, Visits, plan
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.visit_ng_routes import ng_route_bound
from learnroute.solvers.params import DEFAULTS

FEATURES = (80, 120)  # with n = 100


def drawn(size: int, features: int, clustered: bool, budget: float | None) -> Problem:
    """Return random regions with vectors; a quarter of them is required."""
    rng = np.random.default_rng(0)
    if clustered:
        centres = rng.random((max(3, size // 8), 2)) * 10
        places = centres[rng.integers(len(centres), size=size)] + rng.normal(0, 0.3, (size, 2))
    else:
        places = rng.random((size, 2)) * 10
    vectors = rng.standard_normal((size, 5))
    required = [f"R{i + 1}" for i in rng.permutation(size)[: size // 4]]
    return Problem(
        coordinates=places, vectors=vectors, learner=Learner(features, 100, 0.2), initial=3 * (vectors**2).sum(axis=1),
        travel_rate=0.5, visits=Visits(required, budget=budget),
    )  # fmt: skip


def gap_of(problem: Problem, seconds: float) -> tuple[float, float]:
    """Return the gap of the route found by search, and the processor seconds of the bound."""
    value = problem.instance(plan(problem, "search", time_limit=seconds).visits)
    began = time.process_time()
    found = ng_route_bound(problem.instance, value, Budget(), DEFAULTS.visit_bound)
    assert found is not None
    return value / found.bound - 1, time.process_time() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 60, 100])
    parser.add_argument("--seconds", type=float, default=2.0, help="of each search")
    asked = parser.parse_args()
    print("| T | places | required | gap, m = 80 | gap, m = 120 | seconds |\n|---|---|---|---|---|---|")
    for size in asked.sizes:
        for clustered in (False, True):
            found = [
                [gap_of(drawn(size, m, clustered, b), asked.seconds) for b in (None, 35.0 if size < 50 else 45.0)]
                for m in FEATURES
            ]
            gaps = " | ".join(f"{100 * max(gap for gap, _ in pair):.2f} %" for pair in found)
            taken = max(spent for pair in found for _, spent in pair)
            print(
                f"| {size} | {'clustered' if clustered else 'uniform'} | {size // 4} | {gaps} | {taken:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
