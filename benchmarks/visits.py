"""Search for visits: 2 s against the best of longer restarts; and the time of proofs of optimal visits.

`python benchmarks/visits.py`. The excess is a share of the value minus the error of the mean model, which is a lower
bound for every sequence of visits. If learners retain almost nothing, few visits pay, so some rows require regions.
`--sizes`, `--learners`, `--maps` and `--rows` select rows; `--seconds`, `--long` and `--restarts` set the effort. Times
are processor seconds in one thread.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from dataclasses import replace

import numpy as np

from learnroute import Learner, Problem
from learnroute.model.ends import Ends
from learnroute.model.instance import Instance
from learnroute.model.linear import ANYWHERE
from learnroute.model.rules import VisitRules
from learnroute.solvers.contract import Budget
from learnroute.solvers.methods import METHODS
from learnroute.solvers.solve import solve

SAMPLES, NOISE = 100, 0.5
LEARNERS: dict[str, tuple[int, float | None]] = {
    "m = 80": (80, None),
    "m = 120": (120, None),
    "m = 1000": (1000, None),
    "λ = 0.5": (120, 0.5),
    "λ = 5": (120, 5.0),
}
# cost of crossing the map, in errors of the initial model over all regions; and the share of required regions
ROWS = ((1e-5, 0.0), (1e-3, 0.0), (0.03, 0.0), (0.03, 0.5), (0.03, 1.0))


def visits_of(problem: Problem, rate: float, rules: VisitRules, ends: Ends = ANYWHERE) -> Instance:
    """Return the instance of visits to the regions of a problem."""
    return replace(problem.instance, rate=rate, ends=ends, visits=rules)


def drawn(size: int, learner: str, clustered: bool, seed: int = 0) -> Problem:
    """Return regions in a square, uniform or in clusters; neighbours have somewhat similar models."""
    rng = np.random.default_rng([size, seed, clustered])
    places = rng.random((size, 2))
    if clustered:
        centres = rng.random((max(4, size // 25), 2))
        places = centres[rng.integers(len(centres), size=size)] + rng.normal(0, 0.02, (size, 2))
    vectors = rng.standard_normal((size, 5)) + 2 * np.sin(places @ rng.uniform(-6, 6, (2, 5)))
    features, strength = LEARNERS[learner]
    problem = Problem(coordinates=places, vectors=vectors, initial=(vectors**2).sum(axis=1) + 2.0,
                      learner=Learner(features, SAMPLES, NOISE))  # fmt: skip
    return problem if strength is None else problem.with_regularization(strength)


def row_of(size: int, learner: str, clustered: bool, rate: float, share: float) -> Instance:
    """Return the instance of a row."""
    problem = drawn(size, learner, clustered)
    required = np.isin(np.arange(size), np.random.default_rng(size).permutation(size)[: int(share * size)])
    rules = VisitRules(required, np.ones(size, dtype=np.int64), size)
    return visits_of(problem, rate * math.fsum(problem.dissimilarities.initial), rules)


def floor(instance: Instance) -> float:
    """Return the error of the mean model, a lower bound for every sequence."""
    vectors = instance.known.points
    return float(((vectors - vectors.mean(axis=0)) ** 2).sum())


def best_value(instance: Instance, seconds: float, seed: int) -> tuple[float, int]:
    """Return the value found in the given number of seconds, and the number of visits."""
    budget = Budget.of(seconds, spend_all=True)
    found = solve(instance, METHODS["search"], np.random.default_rng(seed), budget, bounds=False).routes
    assert instance.allows(found)
    return instance(found), len(found.regions)


def proofs() -> None:
    """Print the times of proofs at their size limits."""
    print("| proof | T | visits at most | visits | processor seconds |\n|---|---|---|---|---|")
    cases = {
        "sets": (20, "m = 1000", 1, 20, math.inf, False),
        "sets, cycles": (20, "m = 1000", 1, 20, math.inf, True),
        "labels, budget": (14, "m = 1000", 1, 14, 2.0, False),
        "labels, budget, cycles": (14, "m = 1000", 1, 14, 2.0, True),
        "labels, repeats": (8, "m = 1000", 10, 10, math.inf, False),
        "sequences": (10, "λ = 0.5", 1, 10, math.inf, False),
        "sequences, repeats": (5, "λ = 0.5", 6, 6, math.inf, False),
    }
    for name, (size, learner, repeat, most, budget, closed) in cases.items():
        problem = drawn(size, learner, False)
        rules = VisitRules(np.zeros(size, dtype=bool), np.full(size, repeat), most, budget)
        instance = visits_of(problem, 0.003 * math.fsum(problem.dissimilarities.initial), rules, Ends(closed=closed))
        tables = (np.broadcast_to(table[0], (most, size)) for table in instance.updates.tables)
        instance = replace(instance, updates=type(instance.updates)(*tables))
        started = time.process_time()
        answer = solve(instance, METHODS["exact"], np.random.default_rng(0), Budget())
        assert answer.optimal
        print(
            f"| {name} | {size} | {most} | {len(answer.routes.regions)} | {time.process_time() - started:.2f} |",
            flush=True,
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200])
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    parser.add_argument("--maps", nargs="+", default=["uniform", "clustered"], choices=["uniform", "clustered"])
    parser.add_argument("--rows", type=int, nargs="+", default=list(range(len(ROWS))), help="of rates and shares")
    parser.add_argument("--seconds", type=float, default=2.0, help="of the search that is judged")
    parser.add_argument("--long", type=float, default=20.0, help="seconds of each restart that it is compared with")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=1, help="searches that are judged, of which the mean is shown")
    options = parser.parse_args()
    time.monotonic = time.process_time
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    proofs()
    print(f"\n| T | map | learner | rate | required | visits | excess after {options.seconds:g} s |")
    print("|---|---|---|---|---|---|---|")
    for size in options.sizes:
        for learner in options.learners:
            for kind in options.maps:
                for rate, share in (ROWS[row] for row in options.rows):
                    instance = row_of(size, learner, kind == "clustered", rate, share)
                    longer = [best_value(instance, options.long, 100 + seed) for seed in range(options.restarts)]
                    quick = [best_value(instance, options.seconds, seed) for seed in range(options.seeds)]
                    best, visits = min([*longer, *quick])
                    excess = 100 * (float(np.mean([value for value, _ in quick])) - best) / (best - floor(instance))
                    row = f"{size} | {kind} | {learner} | {rate:g} | {share:.0%} | {visits} | {excess:.2f} %"
                    print(f"| {row} |", flush=True)


if __name__ == "__main__":
    main()
