"""Time to compute the whole Pareto front of travel and error.

python benchmarks/tradeoff.py
"""

from __future__ import annotations

import time

from learnroute import Learner, tradeoff
from learnroute.study.families import random_problem

LEARNERS = {m: Learner(m, 100, 0.1) for m in (80, 102, 120, 200, 1000)}


def main() -> None:
    print("| T | family | m (n = 100) | routes | seconds |\n|---|---|---|---|---|")
    for size, families in (
        (10, ("uniform", "euclidean", "vectors")),
        (12, ("uniform", "euclidean", "vectors")),
        (14, ("vectors",)),
    ):
        for family in families:
            for m, learner in LEARNERS.items():
                started = time.perf_counter()
                found = tradeoff(random_problem(family, size, learner, 1))
                assert found.complete
                print(
                    f"| {size} | {family} | {m} | {len(found.points)} | {time.perf_counter() - started:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
