"""Problems that several tests use."""

from __future__ import annotations

import numpy as np

from learnroute import Learner, Problem, objective_of
from learnroute.model.objective import Factored, Linear, Objective
from learnroute.model.spectrum import Moments, filter_moments, gradient_shares
from learnroute.model.validation import FloatArray
from learnroute.study.families import FAMILIES, random_problem

UNDER = Learner(80, 100, 0.1)
OVER = Learner(120, 100, 0.1)
LEARNERS = {
    "under": UNDER,
    "over": OVER,
    "over, r small": Learner(102, 100, 0.5),
    "over, r near 1": Learner(5000, 3, 1),
}
ALL_FAMILIES = tuple(FAMILIES)
METRIC_FAMILIES = ("closure", "uniform5", "euclidean", "vectors", "places")


def small(learner: Learner = UNDER, **changes: object) -> Problem:
    """Return a problem of four regions with simple numbers."""
    fields = {
        "travel": [[0, 2, 3, 4], [2, 0, 2, 3], [3, 2, 0, 2], [4, 3, 2, 0]],
        "dissimilarity": [[0, 1, 4, 2], [1, 0, 1, 3], [4, 1, 0, 5], [2, 3, 5, 0]],
        "initial": [1, 2, 3, 4],
        "regions": ["A", "B", "C", "D"],
        **changes,
    }
    return Problem(learner=learner, **fields)  # type: ignore[arg-type]


def asymmetric(size: int, learner: Learner, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    travel = rng.uniform(1, 10, (size, size))
    np.fill_diagonal(travel, 0)
    base = random_problem("uniform", size, learner, seed)
    return Problem(travel, learner, dissimilarity=base.dissimilarity, initial=base.initial)


def linear_of(problem: Problem) -> Linear:
    """Return the objective of a problem whose learner does not couple regions."""
    found = objective_of(problem)
    assert isinstance(found, Linear)
    return found


def factors_of(objective: Objective) -> FloatArray | None:
    """Return the share of earlier scores that each region retains; None if it is the same for all regions."""
    return objective.factors if isinstance(objective, Factored) else None


def gradient_moments(features: int, samples: int, steps: int, rate: float) -> Moments:
    """Return the moments of P = (I - rate·C)^steps."""
    return filter_moments(features, samples, lambda values: gradient_shares(rate * values, steps))
