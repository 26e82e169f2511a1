"""Monte Carlo checks of Lemmas 1 and 2: train region after region on fresh data and compare with the closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from learnroute.model.learners import Learner
from learnroute.model.losses import true_loss
from learnroute.model.problem import Problem
from learnroute.model.validation import FloatArray

TOGETHER = 4_000_000  # numbers drawn at once


@dataclass(frozen=True)
class LemmaCheck:
    """The mean final error of many trainings along one route, and its value according to the lemma."""

    lemma: int
    regions: int
    features: int
    samples: int
    noise: float
    runs: int
    closed_form: float
    simulated: float
    standard_error: float

    @property
    def deviation(self) -> float:
        """The simulated mean minus the lemma's value, in standard errors."""
        return (self.simulated - self.closed_form) / self.standard_error


def check_lemma(learner: Learner, regions: int, runs: int, seed: np.random.SeedSequence) -> LemmaCheck:
    """Draw true models, train `runs` times from the zero model along one route, and compare the mean (e2)."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1 / math.sqrt(learner.features), (regions, learner.features))
    none = np.zeros((regions, regions))
    problem = Problem(none, learner, none, truth=truth)
    closed_form = true_loss(problem, np.arange(regions)).error
    share = max(1, TOGETHER // (learner.features * learner.samples))
    parts = [min(share, runs - first) for first in range(0, runs, share)]
    error = np.concatenate([_final_errors(truth, learner, part, rng) for part in parts])
    spread = float(error.std(ddof=1)) / math.sqrt(runs)
    lemma = 1 if learner.regime == "under" else 2
    return LemmaCheck(
        lemma, regions, learner.features, learner.samples, learner.noise, runs, closed_form, float(error.mean()), spread
    )


def _final_errors(truth: FloatArray, learner: Learner, runs: int, rng: np.random.Generator) -> FloatArray:
    """Return (e2) of each run, drawing all x and z and solving (e5) or (e11) in every region."""
    w = np.zeros((runs, learner.features, 1))
    for target in truth:
        x = rng.standard_normal((runs, learner.features, learner.samples))
        turned = np.swapaxes(x, 1, 2)
        y = turned @ target[:, None] + learner.noise * rng.standard_normal((runs, learner.samples, 1))
        if learner.regime == "under":
            w = np.linalg.solve(x @ turned, x @ y)
        else:
            w = w + x @ np.linalg.solve(turned @ x, y - turned @ w)
    distances = ((w[:, None, :, 0] - truth[None]) ** 2).sum(axis=2)
    mean: FloatArray = distances.mean(axis=1)
    return mean
