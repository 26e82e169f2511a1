"""learnroute plans the order in which a moving learner visits its regions.

>>> from learnroute import Learner, Problem, plan
>>> problem = Problem(
...     travel=[[0, 2, 3], [2, 0, 1], [3, 1, 0]],
...     dissimilarity=[[0, 1, 4], [1, 0, 1], [4, 1, 0]],
...     learner=Learner(features=80, samples=100, noise=0.1),
... )
>>> plan(problem).route
('R1', 'R3', 'R2')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from learnroute.comparison.of_learners import LearnerTable, compare_learners
    from learnroute.comparison.of_methods import Comparison, compare
    from learnroute.errors import InputError, RefusedError
    from learnroute.fleet_tables import FleetTable, compare_fleets
    from learnroute.formats import read_plan, read_problem, write_plan, write_problem
    from learnroute.journeys import Journey
    from learnroute.model.certificates import Certificate
    from learnroute.model.constraints import Constraints
    from learnroute.model.depot import Depot
    from learnroute.model.features_scaling import FeaturesScaling
    from learnroute.model.fleet import Fleet
    from learnroute.model.instance import Instance
    from learnroute.model.learners import Calibrated, Gradient, Learner, LeastSquares, Proximal
    from learnroute.model.losses import error_over_time, expected_loss, true_loss
    from learnroute.model.metric import MetricReport, check_metric, metric_closure
    from learnroute.model.problem import Problem
    from learnroute.model.result import Guarantee, Plan
    from learnroute.model.subsets import with_depot
    from learnroute.model.value import Loss
    from learnroute.model.visits import Visits
    from learnroute.planner import evaluate, plan
    from learnroute.robust import Robustness, robustness
    from learnroute.solvers.matching.perfect_matching import Matching, minimum_matching
    from learnroute.solvers.methods import METHODS
    from learnroute.solvers.params import SolverParams
    from learnroute.tradeoffs import Tradeoff, tradeoff
    from learnroute.verification import Check, Verification, verify
    from learnroute.visit_curves import VisitCurve, visit_curve

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "Calibrated",
    "Certificate",
    "Check",
    "Comparison",
    "Constraints",
    "Depot",
    "FeaturesScaling",
    "Fleet",
    "FleetTable",
    "Gradient",
    "Guarantee",
    "InputError",
    "Instance",
    "Journey",
    "Learner",
    "LearnerTable",
    "LeastSquares",
    "Loss",
    "Matching",
    "MetricReport",
    "Plan",
    "Problem",
    "Proximal",
    "RefusedError",
    "Robustness",
    "SolverParams",
    "Tradeoff",
    "Verification",
    "VisitCurve",
    "Visits",
    "check_metric",
    "compare",
    "compare_fleets",
    "compare_learners",
    "error_over_time",
    "evaluate",
    "expected_loss",
    "metric_closure",
    "minimum_matching",
    "plan",
    "read_plan",
    "read_problem",
    "robustness",
    "tradeoff",
    "true_loss",
    "verify",
    "visit_curve",
    "with_depot",
    "write_plan",
    "write_problem",
]

# Imports are lazy, so that a command that is interrupted right after its start can report that in one line.
_HOMES = {
    "learnroute.errors": ("InputError", "RefusedError"),
    "learnroute.formats": ("read_plan", "read_problem", "write_plan", "write_problem"),
    "learnroute.journeys": ("Journey",),
    "learnroute.model.certificates": ("Certificate",),
    "learnroute.model.constraints": ("Constraints",),
    "learnroute.model.depot": ("Depot",),
    "learnroute.model.features_scaling": ("FeaturesScaling",),
    "learnroute.model.learners": ("Calibrated", "Gradient", "Learner", "LeastSquares", "Proximal"),
    "learnroute.model.losses": ("error_over_time", "expected_loss", "true_loss"),
    "learnroute.model.value": ("Loss",),
    "learnroute.model.metric": ("MetricReport", "check_metric", "metric_closure"),
    "learnroute.model.instance": ("Instance",),
    "learnroute.model.problem": ("Problem",),
    "learnroute.model.result": ("Guarantee", "Plan"),
    "learnroute.model.subsets": ("with_depot",),
    "learnroute.model.visits": ("Visits",),
    "learnroute.comparison.of_methods": ("Comparison", "compare"),
    "learnroute.planner": ("evaluate", "plan"),
    "learnroute.robust": ("Robustness", "robustness"),
    "learnroute.solvers.matching.perfect_matching": ("Matching", "minimum_matching"),
    "learnroute.solvers.params": ("SolverParams",),
    "learnroute.solvers.methods": ("METHODS",),
    "learnroute.tradeoffs": ("Tradeoff", "tradeoff"),
    "learnroute.verification": ("Check", "Verification", "verify"),
    "learnroute.fleet_tables": ("FleetTable", "compare_fleets"),
    "learnroute.model.fleet": ("Fleet",),
    "learnroute.visit_curves": ("VisitCurve", "visit_curve"),
    "learnroute.comparison.of_learners": ("LearnerTable", "compare_learners"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
