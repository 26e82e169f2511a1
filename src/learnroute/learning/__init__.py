"""Stage II: train along a route, simulate it, and get dissimilarities from data.

The learners require scikit-learn; everything else requires only NumPy.
"""

from __future__ import annotations

from typing import Any

from learnroute.errors import install_hint
from learnroute.learning.adapters import TorchLearner
from learnroute.learning.calibration import Calibration, calibrate
from learnroute.learning.data import RegionData, Rows, split
from learnroute.learning.estimation import Estimate, estimate
from learnroute.learning.final_error import FinalError
from learnroute.learning.following import Following, follow
from learnroute.learning.measures import MEASURES, cross_entropy, model_distance, squared_error, zero_one_error
from learnroute.learning.metrics import HIGHER_IS_BETTER, MEANING, Metrics, metrics_of
from learnroute.learning.predictors import Predictors
from learnroute.learning.rehearsal import Rehearsal, rehearse
from learnroute.learning.simulation import SAMPLERS, Simulation, simulate
from learnroute.learning.transfers import Transfer, transfer
from learnroute.learning.truth import Truth, truth_of

LEARNERS = ("GradientRegressor", "ProximalRegressor", "RecursiveRegressor", "RouteRegressor")

__all__ = [
    "HIGHER_IS_BETTER",
    "MEANING",
    "MEASURES",
    "SAMPLERS",
    "Calibration",
    "Estimate",
    "FinalError",
    "Following",
    "GradientRegressor",
    "Metrics",
    "Predictors",
    "ProximalRegressor",
    "RecursiveRegressor",
    "RegionData",
    "Rehearsal",
    "RouteRegressor",
    "Rows",
    "Simulation",
    "TorchLearner",
    "Transfer",
    "Truth",
    "calibrate",
    "cross_entropy",
    "estimate",
    "follow",
    "metrics_of",
    "model_distance",
    "rehearse",
    "simulate",
    "split",
    "squared_error",
    "transfer",
    "truth_of",
    "zero_one_error",
]


def __getattr__(name: str) -> Any:
    """Import the learners, and with them scikit-learn, on first access."""
    if name not in LEARNERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from learnroute.learning import learners
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("sklearn"):
            raise
        raise ImportError(f"the learners need scikit-learn: {install_hint('learning')}") from None
    return getattr(learners, name)
