"""When replanning along the route beats the initial plan: a table with confidence intervals.

True models are Gaussian vectors. At the start, only upper bounds on their dissimilarities are known, each too large by
a random share of up to `spread`. One agent follows the plan made for these bounds. The other learns the true
dissimilarities of each region when it visits it, and replans the rest of the route. Both routes are evaluated by the
true expected loss.

python benchmarks/adapting.py [--draws 200] [--regions 8]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from learnroute import Journey, Learner, Problem, expected_loss, plan
from learnroute.study.families import random_problem

SPREADS = (0.0, 0.5, 1.0, 2.0, 4.0)
LEARNERS = (Learner(80, 100, 0.1), Learner(120, 100, 0.1), Learner(200, 100, 0.1))


@dataclass(frozen=True)
class Gain:
    """Savings by replanning over all draws, in percent of the fixed plan's true loss.

    `known` is the saving of a plan that knows the true dissimilarities from the start.
    """

    regime: str
    regions: int
    spread: float
    draws: int
    mean: float
    standard_error: float
    better: float
    worse: float
    known: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the mean."""
        return self.mean - 1.96 * self.standard_error, self.mean + 1.96 * self.standard_error


def adapting_gain(learner: Learner, regions: int, spread: float, draws: int, seed: int = 0) -> Gain:
    """Return the mean saving by replanning."""
    saved, known = np.array(list(_pairs(learner, regions, spread, draws, seed))).T
    return Gain(
        learner.regime,
        regions,
        spread,
        draws,
        math.fsum(saved) / draws,
        float(saved.std(ddof=1)) / math.sqrt(draws),
        float(np.mean(saved > 1e-9)),
        float(np.mean(saved < -1e-9)),
        math.fsum(known) / draws,
    )


def _pairs(learner: Learner, regions: int, spread: float, draws: int, seed: int) -> Iterator[tuple[float, float]]:
    """Yield for each draw the savings (in %) of the adapting agent and of the knowing one over the fixed plan."""
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        true = _with_matrix(random_problem("vectors", regions, learner, int(rng.integers(1 << 31))))
        assert true.dissimilarity is not None
        share = np.triu(rng.random((regions, regions)), 1)
        guessed = true.replace(dissimilarity=true.dissimilarity * (1 + spread * (share + share.T)))
        fixed = expected_loss(true, plan(guessed).order).total
        journey = Journey(guessed)
        while journey.next is not None:
            row = true.dissimilarity[true.regions.index(journey.next)]
            journey.visit(
                dissimilarity={n: float(x) for n, x in zip(true.regions, row, strict=True) if n != journey.next}
            )
        adapted = expected_loss(true, journey.order).total
        yield 100 * (1 - adapted / fixed), 100 * (1 - plan(true).loss.total / fixed)


def _with_matrix(problem: Problem) -> Problem:
    delta = np.array([problem.dissimilarities_to(i) for i in range(problem.size)])
    return problem.replace(dissimilarity=(delta + delta.T) / 2, vectors=None)


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
