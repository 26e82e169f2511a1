"""Growth of the running time of Algorithm 1 with the number of regions."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from learnroute.model.learners import Learner
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.contract import Budget
from learnroute.study.families import random_problem


@dataclass(frozen=True)
class Timing:
    """The minimum time of Algorithm 1 over several runs on one problem."""

    family: str
    regions: int
    seconds: float


def time_algorithm1(family: str, regions: int, repeats: int) -> Timing:
    """Time Algorithm 1 alone, without the planner around it."""
    objective = random_problem(family, regions, Learner(80, 100), 0).instance.orders.typical
    least = math.inf
    for _ in range(repeats):
        started = time.perf_counter()
        algorithm1(objective, np.random.default_rng(0), Budget())
        least = min(least, time.perf_counter() - started)
    return Timing(family, regions, least)


def exponent(timings: Sequence[Timing]) -> float:
    """Return the slope of log time over log T, by least squares over the upper half of the sizes."""
    largest = sorted(timings, key=lambda timing: timing.regions)[len(timings) // 2 :]
    x = np.log([timing.regions for timing in largest])
    y = np.log([timing.seconds for timing in largest])
    return float(np.polyfit(x, y, 1)[0])
