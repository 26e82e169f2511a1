"""Learners, one class per learning rule: the effect of training on expected errors, and the rule's file members."""

from learnroute.model.learners.base import SHAPE, Learner, Regime
from learnroute.model.learners.calibrated import Calibrated
from learnroute.model.learners.gradient import Gradient
from learnroute.model.learners.least_squares import LeastSquares
from learnroute.model.learners.proximal import AUTO, CHOSEN, SCHEDULE, Proximal

RULES: tuple[type[Learner], ...] = (LeastSquares, Proximal, Gradient, Calibrated)
# The members of a problem file that define how a learner trains
TRAINING = ("rule", *(member for each in RULES for member in each.members()))
MEMBERS = (*SHAPE, *TRAINING)

__all__ = [
    "AUTO",
    "CHOSEN",
    "MEMBERS",
    "RULES",
    "SCHEDULE",
    "SHAPE",
    "TRAINING",
    "Calibrated",
    "Gradient",
    "Learner",
    "LeastSquares",
    "Proximal",
    "Regime",
]
