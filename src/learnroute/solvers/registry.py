"""All methods by name, and the solver of each for every kind of objective. A new method is one entry here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.errors import RefusedError
from learnroute.model.fleet_objective import FleetObjective
from learnroute.model.objective import Linear, Objective, Paired
from learnroute.model.validation import as_choice
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers import methods
from learnroute.solvers.construction import baselines
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Answer, Budget, Solver
from learnroute.solvers.exact import pair_methods
from learnroute.solvers.fleets import methods as fleets
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.solvers.visits import methods as visits


@dataclass(frozen=True)
class Method:
    """A solver with its name and one line about it."""

    name: str
    solvers: Mapping[type, Solver]  # by the class of their objectives, or a base class of it
    summary: str
    random: bool = False  # whether its result is one random draw of many
    by_travel: bool = False  # whether it considers travel only, even if the travel rate is 0
    warm: bool = False  # whether it can start from a given order (keyword `initial`)

    def solve(
        self, objective: Objective | VisitObjective | FleetObjective, rng: np.random.Generator, budget: Budget,
        params: SolverParams = DEFAULTS, **options: Any,
    ) -> Answer:  # fmt: skip
        """Call the solver for this kind of objective."""
        solver = next((self.solvers[kind] for kind in type(objective).__mro__ if kind in self.solvers), None)
        if solver is None:
            is_fleet = isinstance(objective, FleetObjective)
            feature = "several vehicles or models (fleet)" if is_fleet else "optional visits (visits)"
            raise RefusedError(f"method {self.name} does not support {feature}; use auto, exact or search")
        return solver(objective, rng, budget, params, **options)


def _by_kind(linear: Solver, paired: Solver, visiting: Solver, fleet: Solver) -> Mapping[type, Solver]:
    return {Linear: linear, Paired: paired, VisitObjective: visiting, FleetObjective: fleet}


_proof = DEFAULTS.proof
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "auto",
            _by_kind(methods.auto, pair_methods.auto, visits.auto, fleets.auto),
            "the proved optimum if it is quick to prove, otherwise the best route found with a lower bound",
            warm=True,
        ),
        Method(
            "exact",
            {
                Linear: methods.exact,
                Paired: pair_methods.exact,
                VisitObjective: visits.exact,
                FleetObjective: fleets.exact,
            },
            f"the proved optimum, for up to {_proof.ng_route.most_regions} regions "
            f"({_proof.branch_and_cut.most_regions} if m < n), as far as time allows",
            warm=True,
        ),
        Method(
            "search",
            {
                Linear: methods.search,
                Paired: pair_methods.search,
                VisitObjective: visits.search,
                FleetObjective: fleets.search,
            },
            "the best route found by local search",
            warm=True,
        ),
        Method(
            "algorithm1",
            {Objective: algorithm1},
            "the paper's approximation algorithm, which ends at the region with the least score",
        ),
        Method(
            "baseline",
            {Linear: baselines.forgetting_only, Paired: pair_methods.forgetting_only},
            "least expected error, ignoring travel",
            random=True,
        ),
        Method("travel", {Objective: methods.travel_only}, "least travel, ignoring the expected error", by_travel=True),
        Method(
            "nearest",
            {Objective: nearest_neighbour},
            "the nearest unvisited region next, from the best start",
            by_travel=True,
        ),
        Method("random", {Objective: baselines.random_order}, "a random order", random=True),
    )
}


def method_by_name(name: str) -> Method:
    """Return the method with this name; reject an unknown name."""
    return METHODS[as_choice("method", name, METHODS)]
