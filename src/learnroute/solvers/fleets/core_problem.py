"""A problem of a fleet for the compiled core."""

from __future__ import annotations

from learnroute import _core
from learnroute.model.fleet_objective import FleetObjective, FleetRoutes
from learnroute.solvers.visits.core_problem import CoreProblem

Rows = tuple[list[list[int]], list[list[int]]]


def core_problem(objective: FleetObjective) -> _core.Instance:
    """Return the core's problem, with the same numbers of regions."""
    return CoreProblem(objective.visits, objective.rules, with_forbidden=True).core


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
