"""Choose a predictor to plan by: compare predictions of law and rehearsal with errors on held-out samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.learning.affine_maps import Draws, LinearTrainings
from learnroute.learning.data import RegionData
from learnroute.learning.planned_training import make_learner
from learnroute.model.losses import expected_loss
from learnroute.model.problem import Problem
from learnroute.model.validation import FloatArray
from learnroute.solvers.rehearsal import RehearsalModel

LAW, REHEARSAL, NEITHER = "law", "rehearsal", "neither"
AHEAD = 0.1  # required lead of the rehearsal's rank correlation, as only the law gives bounds
WEAK = 0.2  # a predictor with a lower rank correlation is useless


@dataclass(frozen=True)
class Predictors:
    """How well the final errors of random orders are predicted.

    Attributes
    ----------
    law, rehearsal
        The rank correlation (Spearman) of predicted errors with those measured on the held-out samples.
    orders
        Number of random orders that were compared.
    better
        `law`, `rehearsal`, or `neither` if both correlations are below 0.2.
    """

    law: float
    rehearsal: float
    orders: int
    better: str

    @property
    def text(self) -> str:
        """The recommended predictor, in one line."""
        advice = {
            LAW: "use the law (learnroute plan)",
            REHEARSAL: "use rehearsal (learnroute rehearse)",
            NEITHER: "neither predicts well; try a few orders",
        }
        return f"correlation with errors: law {self.law:.2f}, rehearsal {self.rehearsal:.2f}; {advice[self.better]}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"law": self.law, "rehearsal": self.rehearsal, "orders": self.orders, "better": self.better}


def compare(
    problem: Problem, planning: Mapping[str, RegionData], kept: Mapping[str, RegionData], orders: int, draws: int,
    seed: int,
) -> Predictors:  # fmt: skip
    """Compare predictions from the problem and the planning samples with errors on the held-out samples."""
    names, rng = problem.regions, np.random.default_rng(seed)
    learner = make_learner(problem.learner, fit_intercept=False)  # features have a constant already
    tried = [rng.permutation(problem.size) for _ in range(orders)]

    def errors(samples: Mapping[str, RegionData]) -> FloatArray:
        dealt = Draws([samples[name] for name in names], draws, seed)
        trainings = LinearTrainings(learner, dealt, problem.region_weights, names)
        trainings.check()
        found = trainings.maps(problem.size)
        priced = RehearsalModel(found.maps, found.constants, found.start, found.root, found.aims, found.rest)
        return np.array([priced.errors(order).mean() for order in tried])

    measured = errors(kept)
    by_law = rank_correlation(np.array([expected_loss(problem, order).error for order in tried]), measured)
    by_rehearsal = rank_correlation(errors(planning), measured)
    better = REHEARSAL if by_rehearsal > by_law + AHEAD else LAW
    return Predictors(by_law, by_rehearsal, orders, NEITHER if max(by_law, by_rehearsal) < WEAK else better)


def rank_correlation(first: FloatArray, second: FloatArray) -> float:
    """Return Spearman's rank correlation with mean ranks for ties; 0 if all numbers of one side are equal."""
    one, other = _ranks(first), _ranks(second)
    return float(np.corrcoef(one, other)[0, 1]) if one.std() > 0 and other.std() > 0 else 0.0


def _ranks(numbers: FloatArray) -> FloatArray:
    below = (numbers[None, :] < numbers[:, None]).sum(axis=1)
    return np.asarray((below + (numbers[None, :] <= numbers[:, None]).sum(axis=1) - 1) / 2)
