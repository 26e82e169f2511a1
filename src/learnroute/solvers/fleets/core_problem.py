"""A problem of a fleet for the compiled core."""

from __future__ import annotations

import numpy as np

from learnroute import _core
from learnroute.model.fleet_objective import FleetObjective, FleetRoutes
from learnroute.model.rounding import SAME
from learnroute.solvers.visits.core_problem import CoreProblem

Rows = tuple[list[list[int]], list[list[int]]]


def core_problem(objective: FleetObjective, visits: CoreProblem | None = None) -> _core.FleetProblem:
    """Return the core's problem, with the same numbers of regions; `visits` may be given if it is known."""
    rules = objective.rules
    return _core.FleetProblem(
        (visits or CoreProblem(objective.visits, with_forbidden=True)).core,
        np.ascontiguousarray(objective.visits.known.region_weights),
        vehicles=rules.vehicles, models=rules.size, merged=rules.merged, equal=rules.equal, longest=rules.longest,
        limit=rules.limit * (1 + SAME / 2),
    )  # fmt: skip


def routes_from(rows: Rows) -> FleetRoutes | None:
    """Return routes that the core found; None if there are none.

    Vehicles and models are numbered by the regions that they start with; unused ones come last.
    """
    regions, models = rows
    if not regions:
        return None
    if len(regions) > 1:
        return FleetRoutes.of_vehicles(sorted(regions, key=lambda route: (not route, route[:1])))
    number = {model: k for k, model in enumerate(dict.fromkeys(models[0]))}
    return FleetRoutes.of_models(regions[0], [number[model] for model in models[0]])
