"""Time of `verify`, and whether it confirms every plan that `plan` writes: all kinds, ends and extremes.

Run it as `python benchmarks/verification.py --sizes 20 30 50 100 200 --limit 60`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from learnroute import Constraints, Learner, Problem, plan, verify
from learnroute.study.families import random_problem

UNDER, OVER, FAR = Learner(80, 100, 0.1), Learner(120, 100, 0.1), Learner(1000, 100, 0.1)


def problems(size: int) -> Iterator[tuple[str, Problem]]:
    """Yield problems of one size, by name."""
    names = [f"R{i + 1}" for i in range(size)]
    rng = np.random.default_rng(size)
    euclidean = random_problem("euclidean", size, UNDER, 1)
    yield "under, euclidean", euclidean
    yield "under, places", random_problem("places", size, UNDER, 2)
    yield "under, a way back", euclidean.replace(constraints=Constraints(returns=True))
    yield "over, m = 1.2 n", random_problem("vectors", size, OVER, 3)
    yield (
        "over, both ends fixed",
        random_problem("vectors", size, OVER, 3).replace(constraints=Constraints(start=names[0], end=names[1])),
    )
    yield "over, a way back", random_problem("vectors", size, OVER, 3).replace(constraints=Constraints(returns=True))
    yield "over, m = 10 n", random_problem("vectors", size, FAR, 4)
    oneway = rng.uniform(1, 10, (size, size))
    np.fill_diagonal(oneway, 0)
    yield "over, one-way", random_problem("uniform", size, OVER, 5).replace(travel=oneway)
    yield "unequal samples", euclidean.replace(samples=rng.choice([20, 60, 150], size))
    yield "travel of no worth", random_problem("vectors", size, OVER, 6).replace(travel_rate=0)
    wide = 10.0 ** rng.uniform(-9, 9, (size, size))
    wide = np.maximum(wide, wide.T)
    np.fill_diagonal(wide, 0)
    yield "costs from 1e-9 to 1e9", random_problem("uniform", size, OVER, 7).replace(travel=wide)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 30, 50, 100, 200])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each plan")
    options = parser.parse_args()
    print("| T | problem | method | certificate | optimal | plan s | verify s | verdict | not confirmed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for size in options.sizes:
        for name, problem in problems(size):
            for method in ("auto", "nearest"):
                found = plan(problem, method, time_limit=options.limit)
                started = time.monotonic()
                verification = verify(problem, found)
                took = time.monotonic() - started
                kind = found.certificate.kind if found.certificate else "–"
                rest = "; ".join(f"{check.what}: {check.detail}" for check in verification if not check.holds)
                print(
                    f"| {size} | {name} | {method} | {kind} | {found.optimal} | {found.seconds:.1f} | {took:.1f} "
                    f"| {verification.verdict} | {rest} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
