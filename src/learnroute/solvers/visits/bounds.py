"""Lower bounds on the value of sequences of visits, if there are too many sequences to try all."""

from __future__ import annotations

from learnroute.model.certificates import Certificate
from learnroute.model.validation import IntArray
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.contract import Budget
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.solvers.visits.exact import is_separable
from learnroute.solvers.visits.floor import floor_bound
from learnroute.solvers.visits.ng_routes import ng_route_bound

NO_BOUND = (
    "optional visits with a regularised learner have a known lower bound only if dissimilarities are squared distances"
)


def visits_bound(
    objective: VisitObjective, visits: IntArray, budget: Budget, params: SolverParams = DEFAULTS
) -> Certificate | None:
    """Return the best lower bound that can be computed quickly; None if none is known.

    `visits` is a sequence whose value the bound should approach. If the budget runs out, the best bound so far is
    returned.
    """
    found: Certificate | None = None
    if is_separable(objective):
        found = ng_route_bound(objective, objective(visits), budget, params.visit_bound)
    return found or floor_bound(objective)
