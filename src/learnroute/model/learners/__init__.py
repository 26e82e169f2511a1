"""Learners, one class per rule of learning: what training does to the expected errors, its members in files."""

from learnroute.model.learners.base import SHAPE, Learner, Regime
from learnroute.model.learners.calibrated import Calibrated
from learnroute.model.learners.gradient import Gradient
from learnroute.model.learners.least_squares import LeastSquares
from learnroute.model.learners.proximal import AUTO, CHOSEN, SCHEDULE, Proximal

RULES: tuple[type[Learner], ...] = (LeastSquares, Proximal, Gradient, Calibrated)
# how a learner trains, as members of a problem file
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
