"""How often simulated regularised learners are within 2 standard errors: `python benchmarks/agreement.py`.

Over a grid of m, n, λ, steps and σ, the mean final error of the low-dimensional sampler is compared with the
closed form and with direct sampling. Prints a Markdown table, shown in docs/appendix/simulation.md. Takes some minutes.
"""

from __future__ import annotations

import itertools

import numpy as np

from learnroute import Gradient, Learner, Problem, Proximal
from learnroute.learning import simulate
from learnroute.model.spectrum import largest_rate
from learnroute.model.validation import FloatArray

SHAPES = ((1, 1), (3, 1), (1, 4), (2, 2), (3, 9), (9, 3), (10, 10), (11, 10), (10, 11), (40, 25), (20, 60))
REGIONS, RUNS, DIRECT_RUNS = 4, 20_000, 4000
MOST_DIRECT_STEPS = 100


def learners() -> list[Learner]:
    found: list[Learner] = []
    for (m, n), noise in itertools.product(SHAPES, (0.0, 0.8)):
        found += [Proximal(m, n, noise, regularization=strength) for strength in (0.02, 0.5, 8.0)]
        for steps, share in ((1, 0.33), (6, 0.5), (60, 0.95), (1000, 0.125)):
            found.append(Gradient(m, n, noise, steps=steps, rate=share * largest_rate(m, n)))
    return found


def row(name: str, deviations: FloatArray) -> str:
    sizes = np.abs(deviations)
    root = np.sqrt(np.mean(sizes**2))
    return f"| {name} | {len(sizes)} | {np.mean(sizes < 2):.1%} | {sizes.max():.2f} | {root:.2f} |"


def main() -> None:
    closed, direct = [], []
    for k, learner in enumerate(learners()):
        truth = np.random.default_rng(k).standard_normal((REGIONS, min(learner.features, 3)))
        problem = Problem(1 - np.eye(REGIONS), learner, vectors=truth, truth=truth)
        quick = simulate(problem, range(REGIONS), RUNS, seed=k)
        closed.append((quick.mean - quick.expected) / quick.standard_error)
        if (learner.steps or 0) <= MOST_DIRECT_STEPS:
            slow = simulate(problem, range(REGIONS), DIRECT_RUNS, seed=k + 10**6, sampler="direct")
            direct.append((quick.mean - slow.mean) / np.hypot(quick.standard_error, slow.standard_error))
    print("| compared with | cells | within 2 s.e. | largest | root mean square |\n|---|---|---|---|---|")
    print(row("the closed form", np.array(closed)))
    print(row("direct sampling", np.array(direct)))


if __name__ == "__main__":
    main()
