"""The proved optimum: by Held–Karp for few regions, else by search and proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from learnroute.errors import RefusedError
from learnroute.model.certificate import Certificate
from learnroute.model.objective import Objective
from learnroute.model.validation import IntArray
from learnroute.solvers.bounds import simple_bound
from learnroute.solvers.contract import Answer, Budget, Effort
from learnroute.solvers.ends import within_ends
from learnroute.solvers.exact import held_karp as enumeration
from learnroute.solvers.local_search.iterated import SEARCHING, best_order, search_well

if TYPE_CHECKING:
    from learnroute.solvers.exact.branch_and_cut.solver import TourProver
    from learnroute.solvers.exact.ng_route.solver import Prover

FEW_REGIONS = enumeration.MOST_REGIONS  # up to here all sets are enumerated
MOST_REGIONS = 256  # a proof by walks keeps T³ steps, and its states grow with the gap that is left
MOST_TOURED = 1000  # regions up to which cases are told apart where only the last score counts
MET = 1e-10  # relative; a bound this near to the value of an order is met
KICKS = 20  # a region, between two rounds of proof
BY_CASES = 0.5  # of the time for a proof by cases, where walks may succeed too
MOST_WALKED = 60  # regions up to which walks are tried after cases where only the last score counts
BEST = "this is the best route found"


def exact(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return an order of least value; if time or memory ends first, the best one found and its bound."""
    if objective.size <= FEW_REGIONS:
        return enumeration.held_karp(objective, rng, budget)
    most = MOST_TOURED if by_cases_alone(objective) else MOST_REGIONS
    if objective.size > most:
        raise RefusedError(
            f"exact: {objective.size} regions; proofs are attempted up to {most} regions"
            f"{'' if most == MOST_TOURED else f' (up to {MOST_TOURED} where travel is symmetric and m < n)'}; "
            "use method auto or search, which bound the distance to the optimum"
        )
    return search_and_prove(objective, rng, budget)


def by_cases_alone(objective: Objective) -> bool:
    """Whether telling cases apart is all that a proof will try: only the last score counts."""
    if objective.size <= MOST_WALKED or not objective.only_last_counts:
        return False
    from learnroute.solvers.exact.branch_and_cut.solver import provable

    return provable(objective)


def search_and_prove(
    objective: Objective,
    rng: np.random.Generator,
    budget: Budget,
    first: IntArray | None = None,
    effort: Effort | None = None,
) -> Answer:
    """Search (from `first`, if given), then prove, with no more than some effort."""
    from learnroute.solvers.exact.branch_and_cut.solver import TourProver, provable
    from learnroute.solvers.exact.ng_route.solver import Prover

    order = within_ends(objective, search_well(objective, rng, budget.part(SEARCHING), first))
    if first is not None:
        order = min(order, within_ends(objective, first), key=objective)
    by_scores = within_ends(objective, np.argsort(-objective.ranks, kind="stable"))
    order = min(order, by_scores, key=objective)  # where travel counts for nothing, that is it
    plain = simple_bound(objective)
    if objective(order) * (1 - MET) <= plain:  # as where all ways cost the same
        return Answer(order, "exact", optimal=True, certificate=Certificate("simple", plain))
    tours: TourProver | None = None
    effort = effort or Effort()
    if provable(objective):
        alone = by_cases_alone(objective)
        tours = TourProver(objective, order, budget if alone else budget.part(BY_CASES))
        tours.run(effort)
        if tours.proved or alone or budget.exhausted:
            notes = () if tours.proved else (f"{_stopped(budget)} before the proof was complete; {BEST}",)
            return _answer(tours, tours.certificate(), notes)
        order = tours.order
    prover = Prover(objective, order, budget, effort)
    prover.run(
        lambda best: within_ends(objective, best_order(objective, rng, budget, KICKS * objective.size, first=best))
    )
    cause = "the time limit came" if prover.late else _stopped(budget)
    if prover.overflowed:
        cause = f"tables outgrew the {effort.states:,} states allowed in a layer"
    elif prover.stuck:
        cause = "the bound used for unequal samples, or for a way back between free ends, was reached"
    certificate = prover.certificate()
    if tours is not None:
        certificate = max(certificate, tours.certificate(), key=lambda known: known.bound)
    return _answer(prover, certificate, () if prover.proved else (f"{cause} before the proof was complete; {BEST}",))


def _stopped(budget: Budget) -> str:
    return "the time limit came" if budget.exhausted else "the effort allowed was used up"


def _answer(prover: Prover | TourProver, certificate: Certificate, notes: tuple[str, ...]) -> Answer:
    return Answer(
        prover.order,
        "exact" if prover.proved else "search",
        optimal=prover.proved,
        complete=prover.proved,
        notes=notes,
        certificate=certificate,
    )
