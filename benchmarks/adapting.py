"""When planning again on the way beats the plan made at the start: a table with confidence intervals.

python benchmarks/adapting.py [--draws 200] [--regions 8]
"""

from __future__ import annotations

import argparse

from learnroute import Learner
from learnroute.study.adapting import adapting_gain

SPREADS = (0.0, 0.5, 1.0, 2.0, 4.0)
LEARNERS = (Learner(80, 100, 0.1), Learner(120, 100, 0.1), Learner(200, 100, 0.1))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--draws", type=int, default=200)
    options.add_argument("--regions", type=int, default=8)
    asked = options.parse_args()
    print(f"{asked.regions} regions, {asked.draws} draws a row, saved in % of the fixed plan's true loss\n")
    print("| m (n = 100) | bounds too large by | adapting saves (95 % interval) | better, worse in | knowing saves |")
    print("|---|---|---|---|---|")
    for learner in LEARNERS:
        for spread in SPREADS:
            gain = adapting_gain(learner, asked.regions, spread, asked.draws)
            low, high = gain.interval
            print(
                f"| {learner.features} | {spread:.0%} | {gain.mean:.2f} ({low:.2f} … {high:.2f}) | "
                f"{gain.better:.0%} / {gain.worse:.0%} | {gain.known:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
