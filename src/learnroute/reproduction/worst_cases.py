"""Search for instances on which Algorithm 1 is far from the optimum, by hill climbing from random instances."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from learnroute.guarantees import CHRISTOFIDES, sharper_ratio
from learnroute.model.learners import Learner
from learnroute.model.linear import Weighted
from learnroute.model.metric import metric_closure
from learnroute.model.problem import Problem
from learnroute.model.travel import TravelMatrix
from learnroute.model.validation import FloatArray
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.held_karp import held_karp

Space = Literal["metric", "metric-in-range", "raw-in-range"]
SPACES: dict[Space, str] = {
    "metric": "any metric, any dissimilarities",
    "metric-in-range": "metric, all entries in [1, 10]",
    "raw-in-range": "no metric, all entries in [1, 10], as the paper draws them",
}
RANGE = (1.0, 10.0)
WIDEST = (1e-4, 1e4)  # range of entries in the space without a given range


@dataclass(frozen=True)
class Search:
    """Settings of a search: a space of instances, a size, a learner, and the effort."""

    space: Space
    regions: int
    learner: Learner
    starts: int
    steps: int
    seed: int


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The worst instance of a search. Ratios are Algorithm 1's loss over the optimum, without noise and initial model.

    Attributes
    ----------
    random, climbed
        The worst ratio among the random starts, and the worst found by climbing from them.
    paper
        The paper's bound: 3/2, or 3/2 + r^(1-T) in the over regime.
    sharper
        max(3/2, 1 + ρ(S_max/S_min - 1)) of the worst instance (3/2 in the under regime).
    flat
        max(3/2, r^(1-T)), since weights differ by a factor of at most r^(1-T), and a mediant is at most the larger of
        its two ratios.
    """

    search: Search
    problem: Problem
    random: float
    climbed: float
    paper: float
    sharper: float | None
    flat: float

    @property
    def name(self) -> str:
        """The name of the instance's file."""
        return f"{self.search.space}-m{self.search.learner.features}-T{self.search.regions}"


def find_worst(search: Search) -> WorstCase:
    """Climb from several random instances: change an entry or the balance, unless that lowers the ratio."""
    rng = np.random.default_rng(np.random.SeedSequence(search.seed))
    r = search.learner.step(search.learner.samples).retention
    weights = (1 - r) * r ** np.arange(search.regions - 1, -1, -1.0)
    best: tuple[float, FloatArray, FloatArray] | None = None
    at_random = 0.0
    for _ in range(search.starts):
        travel = _make_metric(_symmetric(rng, search.regions), search.space)
        delta = _symmetric(rng, search.regions)
        ratio = ratio_of(travel, delta, weights)
        at_random = max(at_random, ratio)
        for _ in range(search.steps):
            new_travel, new_delta = _neighbour(rng, travel, delta, search.space)
            new = ratio_of(new_travel, new_delta, weights)
            if new >= ratio:
                ratio, travel, delta = new, new_travel, new_delta
        if best is None or ratio > best[0]:
            best = ratio, travel, delta
    assert best is not None
    ratio, travel, delta = best
    title = f"worst instance found: {search.regions} regions, {SPACES[search.space]}"
    problem = Problem(travel, replace(search.learner, noise=0.0), delta, title=title)
    return WorstCase(search, problem, at_random, ratio, *bounds_of(problem))


def bounds_of(problem: Problem) -> tuple[float, float | None, float]:
    """Return the paper's bound, the sharper one and the flat one for a problem."""
    if problem.learner.regime == "under":
        return CHRISTOFIDES, CHRISTOFIDES, CHRISTOFIDES
    exponent = (1 - problem.size) * math.log(problem.updates.retention[0, 0])
    spread = math.exp(exponent) if exponent < 700 else math.inf
    return CHRISTOFIDES + spread, sharper_ratio(problem), max(CHRISTOFIDES, spread)


def ratio_of(travel: FloatArray, delta: FloatArray, weights: FloatArray) -> float:
    """Return Algorithm 1's value divided by the optimum, without the constant common to both."""
    objective = Weighted(TravelMatrix(travel), delta.sum(axis=1), weights)
    rng, budget = np.random.default_rng(0), Budget()
    return objective(algorithm1(objective, rng, budget).order) / objective(held_karp(objective, rng, budget).order)


def _symmetric(rng: np.random.Generator, size: int) -> FloatArray:
    upper = np.triu(rng.uniform(*RANGE, (size, size)), 1)
    return upper + upper.T


def _make_metric(travel: FloatArray, space: Space) -> FloatArray:
    return travel if space == "raw-in-range" else metric_closure(travel)[0]


def _neighbour(
    rng: np.random.Generator, travel: FloatArray, delta: FloatArray, space: Space
) -> tuple[FloatArray, FloatArray]:
    """Change one entry of travel or of Δ (or, if there is no range, the scale of all Δ)."""
    kind = rng.integers(5)
    if kind == 4 and space == "metric":
        return travel, np.clip(delta * math.exp(rng.normal(0, 1)), *WIDEST) * (delta > 0)
    if kind % 2:
        return travel, _mutate(rng, delta, space)
    return _make_metric(_mutate(rng, travel, space), space), delta


def _mutate(rng: np.random.Generator, matrix: FloatArray, space: Space) -> FloatArray:
    """Change the value of one pair: slightly or strongly up or down, to another pair's, or to an end of the range."""
    i, j = rng.choice(len(matrix), 2, replace=False)
    k, other = rng.choice(len(matrix), 2, replace=False)
    low, high = WIDEST if space == "metric" else RANGE
    way = rng.integers(4)
    if way == 0:
        value = float(matrix[k, other])
    elif way == 1 and space != "metric":
        value = low if rng.random() < 0.5 else high
    else:
        value = float(matrix[i, j]) * math.exp(rng.normal(0, 1.0 if way == 2 else 0.1))
    changed = matrix.copy()
    changed[i, j] = changed[j, i] = min(max(value, low), high)
    return changed
