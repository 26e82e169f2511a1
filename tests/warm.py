"""Compile the kernels before a parallel test run, so that its processes do not all compile the same ones.

`python tests/warm.py search` and `… proofs` compile one half each; with a full cache they take seconds.
"""

from __future__ import annotations

import sys

from learnroute import Learner, plan
from learnroute.study.families import random_problem


def main(half: str) -> None:
    if half == "search":
        plan(random_problem("euclidean", 25, Learner(80, 100, 0.1), 1))
    else:
        plan(random_problem("euclidean", 22, Learner(1000, 100, 0.1), 1), "exact")
        plan(random_problem("places", 400, Learner(80, 100, 0.1), 1), "algorithm1")
        plan(random_problem("places", 15, Learner(80, 100, 0.1), 1), "exact")


if __name__ == "__main__":
    main(sys.argv[1])
