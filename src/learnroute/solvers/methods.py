"""All methods by name. A new method is one entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from learnroute.model.instance import Instance
from learnroute.model.linear import Linear
from learnroute.model.validation import as_choice
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.construction.baselines import forgetting_only, random_order
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour
from learnroute.solvers.contract import Construction, Rung
from learnroute.solvers.exact.enumeration import Enumeration
from learnroute.solvers.exact.floor import Floor
from learnroute.solvers.exact.held_karp import HeldKarp
from learnroute.solvers.exact.proof import Ladder, branching_alone
from learnroute.solvers.exact.shortest import shortest_order
from learnroute.solvers.exact.suffix_labelling import SuffixLabelling
from learnroute.solvers.exact.visit_labelling import VisitLabelling
from learnroute.solvers.exact.visit_ng_routes import VisitNgRoutes
from learnroute.solvers.params import DEFAULTS, ProofParams, SolverParams

BOUNDS: tuple[Rung, ...] = (Ladder(), VisitNgRoutes(), Floor())


def _effort_of_auto(objective: Linear, params: SolverParams) -> ProofParams | None:
    """Return the effort that `auto` spends on a proof; None if it does not attempt one."""
    for most, effort in params.auto.efforts:
        if objective.size <= most:
            return effort
    few = objective.size <= params.auto.beyond.branch_and_cut.most_regions
    return params.auto.beyond if few and branching_alone(objective, params.auto.beyond) else None


def _effort_of_exact(objective: Linear, params: SolverParams) -> ProofParams | None:
    """Return the effort that `exact` spends on a proof; None if there are too many regions."""
    proof = params.proof
    most = (proof.branch_and_cut if branching_alone(objective, proof) else proof.ng_route).most_regions
    return proof if objective.size <= most else None


def exact_rungs(effort: Callable[[Linear, SolverParams], ProofParams | None], quick: bool) -> tuple[Rung, ...]:
    """Return the rungs that prove optima, quick ones first; with `quick`, some give up sooner."""
    return (
        HeldKarp(), Enumeration("few"), VisitLabelling(), SuffixLabelling(quick), Enumeration("routes"),
        Ladder(effort),
    )  # fmt: skip


@dataclass(frozen=True)
class Method:
    """A method with its name and one line about it.

    Attributes
    ----------
    construct
        How it constructs an order; None if it searches.
    rungs
        What it proves, in turn.
    starts_from_algorithm1
        Whether its search starts from Algorithm 1, so that it is never worse.
    must_prove
        Whether problems for which no optimum can be proved are rejected.
    random, by_travel
        Whether its result is one random draw of many; whether it considers travel only, even if the travel rate is 0.
    """

    name: str
    summary: str
    construct: Construction | None = None
    rungs: tuple[Rung, ...] = BOUNDS
    starts_from_algorithm1: bool = False
    must_prove: bool = False
    random: bool = False
    by_travel: bool = False

    @property
    def warm(self) -> bool:
        """Whether it can start from given routes."""
        return self.construct is None

    def supports(self, instance: Instance) -> bool:
        """Whether it can solve an instance: constructions need each region to be visited once."""
        return self.warm or instance.permutation


_proof = DEFAULTS.proof
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "auto",
            "the proved optimum if it is quick to prove, otherwise the best route found with a lower bound",
            rungs=(*exact_rungs(_effort_of_auto, quick=True), *BOUNDS),
            starts_from_algorithm1=True,
        ),
        Method(
            "exact",
            f"the proved optimum, for up to {_proof.ng_route.most_regions} regions "
            f"({_proof.branch_and_cut.most_regions} if m < n), as far as time allows",
            rungs=(*exact_rungs(_effort_of_exact, quick=False), *BOUNDS),
            must_prove=True,
        ),
        Method("search", "the best route found by local search"),
        Method(
            "algorithm1",
            "the paper's approximation algorithm, which ends at the region with the least score",
            algorithm1,
        ),
        Method("baseline", "least expected error, ignoring travel", forgetting_only, random=True),
        Method("travel", "least travel, ignoring the expected error", shortest_order, by_travel=True),
        Method("nearest", "the nearest unvisited region next, from the best start", nearest_neighbour, by_travel=True),
        Method("random", "a random order", random_order, random=True),
    )
}


def method_by_name(name: str) -> Method:
    """Return the method with this name; reject an unknown name."""
    return METHODS[as_choice("method", name, METHODS)]
