"""Proved optimal sequences of visits: over sets, over multisets, or by trying every sequence.

If errors are not coupled and training has the same effect at every position, the cost of a visit depends only on the
visits that follow. This allows dynamic programming from the end, as by Held and Karp, over states (visits to come, the
first of them): over all sets of regions if each is visited once and there is no budget, otherwise by labels
(`cpp/visit_labelling.h`). If errors are coupled, all sequences are tried (`cpp/visit_enumeration.h`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from learnroute import _core
from learnroute.errors import RefusedError
from learnroute.model.rounding import PROOF, margin
from learnroute.model.validation import FloatArray, IntArray
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.exact.suffix_labelling import CANCELLED
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.solvers.visits.core_problem import CoreProblem
from learnroute.solvers.visits.search import find_visits, infeasible


class Proof(NamedTuple):
    """The best sequence if it is better than the incumbent, else None; and the reason if that is not proved."""

    visits: IntArray | None
    cause: str = ""


Prover = Callable[[VisitObjective, IntArray | None, Budget, SolverParams], Proof]


def exact(
    objective: VisitObjective,
    rng: np.random.Generator,
    budget: Budget,
    params: SolverParams = DEFAULTS,
    initial: IntArray | None = None,
) -> Answer:
    """Return an optimal sequence; if time or memory runs out before the proof is complete, the best one found.

    Problems with too many sequences are rejected.
    """
    prove = prover(objective, params)
    if prove is None:
        most, regions = objective.rules.at_most, int(objective.rules.allowed.sum())
        raise RefusedError(
            f"exact: too many sequences of up to {most} visits to {regions} regions; use method auto or search"
        )
    best = find_visits(objective, rng, replace(budget, spend_all=False), params, initial)
    for turn in _cyclic_cases(objective):
        found, cause = prove(turn, best, budget, params)
        if found is not None and (best is None or objective(found) < objective(best)):
            best = found
        if cause:
            break
    if best is None:
        raise infeasible(objective, rng, budget, params)
    return Answer.unproved(best, cause) if cause else Answer(best, "exact", optimal=True)


def prover(objective: VisitObjective, params: SolverParams = DEFAULTS) -> Prover | None:
    """Return the function that proves optima of this objective; None if there are too many sequences."""
    rules, limits = objective.rules, params.visit_proof
    regions = int(rules.allowed.sum())
    repeats = np.minimum(rules.repeats[rules.allowed], rules.at_most)
    if is_separable(objective):
        if rules.repeat == 1 and rules.budget == math.inf and regions <= params.held_karp.most_regions:
            return _by_sets
        few = multisets(repeats, rules.at_most, limits.multisets) <= limits.multisets
        if few and regions * int(repeats.max()).bit_length() <= 64:
            return _by_labels
    return _by_sequences if sequences(repeats, rules.at_most, limits.sequences) <= limits.sequences else None


def multisets(repeats: IntArray, at_most: int, most: float = math.inf) -> float:
    """Return the number of multisets of up to `at_most` visits, with at most `repeats` visits to each region.

    Counting ends at a number above `most`.
    """
    return float(_by_length(repeats, np.ones(at_most + 1), np.ones(at_most + 1), most).sum())


def all_visits(objective: VisitObjective) -> Iterator[tuple[int, ...]]:
    """Yield all sequences that satisfy the rules."""

    def longer(visits: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if visits and objective.allows(visits):
            yield visits
        if len(visits) < objective.rules.at_most:
            for region in np.flatnonzero(objective.rules.repeats).tolist():
                if visits.count(region) < objective.rules.repeats[region]:
                    yield from longer((*visits, region))

    return longer(())


def sequences(repeats: IntArray, at_most: int, most: float = math.inf) -> float:
    """Return the number of sequences of up to `at_most` visits. Counting ends at a number above `most`."""
    return float(sequences_by_length(repeats, at_most, most).sum())


def sequences_by_length(repeats: IntArray, at_most: int, most: float = math.inf) -> FloatArray:
    """Return the numbers of sequences of 1, 2, … visits, by exponential generating functions.

    Counting ends when their sum exceeds `most`.
    """
    with np.errstate(over="ignore", under="ignore"):
        factorials = np.cumprod([1.0, *range(1, at_most + 1)])
        return _by_length(repeats, 1 / factorials, factorials, most)


def _by_length(repeats: IntArray, series: FloatArray, times: FloatArray, most: float) -> FloatArray:
    product = found = np.ones(1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for repeat in repeats.tolist():
            product = np.convolve(product, series[: repeat + 1])[: len(times)]
            found = np.nan_to_num(product * times[: len(product)], nan=np.inf, posinf=np.inf)[1:]
            if found.sum() > most:
                break
    return found


def is_separable(objective: VisitObjective) -> bool:
    """Whether the cost of a visit depends only on the visits that follow, and no term of a value is negative."""
    retention, plasticity, _, second, noise = (table.min() for table in objective.updates.tables)
    least = min(retention, plasticity, second, noise, objective.known.scores.min(), objective.total)
    return bool(objective.steady and not objective.updates.coupled and least >= 0)


def _cyclic_cases(objective: VisitObjective) -> list[VisitObjective]:
    """Return the objective, or, if routes are cycles that may be cut anywhere, one objective per last visit."""
    ends, regions = objective.ends, np.flatnonzero(objective.rules.allowed).tolist()
    return [replace(objective, ends=ends.ending_at(last)) for last in regions] if ends.cyclic else [objective]


def _by_sets(objective: VisitObjective, incumbent: IntArray | None, budget: Budget, params: SolverParams) -> Proof:
    """Prove by dynamic programming over all sets of regions."""
    problem, rate = CoreProblem(objective), objective.rate
    retention, plasticity, _, second, noise = (table[0] for table in problem.tables)
    scores, noises = plasticity * problem.scores, objective.count * noise
    begin = np.where(problem.may_begin, rate * problem.travel[-1, :-1], np.inf)
    finish = np.where(problem.may_end, rate * problem.travel[:-1, -1], np.inf)
    table = _core.HeldKarp(
        rate * problem.travel[:-1, :-1], scores, np.zeros(problem.size), retention, finish + scores + noises,
        np.ones((problem.size, problem.size), dtype=np.bool_), noises, second,
    )  # fmt: skip
    while (done := table.fill(params.held_karp.sets_per_call)) < 1:
        budget.progress("exact", done)
        if budget.exhausted:
            return Proof(None, budget.end)
    required = sum(1 << int(number) for number in np.flatnonzero(problem.required))
    members = table.best_set(begin, required, objective.rules.at_least, problem.at_most, objective.total)
    return Proof(problem.regions[table.order(begin, members)] if members else None)


def _by_labels(objective: VisitObjective, incumbent: IntArray | None, budget: Budget, params: SolverParams) -> Proof:
    """Prove by labels of multisets of visits, with travel as a resource if there is a budget."""
    problem, limits = CoreProblem(objective), params.visit_proof
    bound = math.inf
    if incumbent is not None:
        bound = objective(incumbent) + margin(16 * problem.at_most, objective.magnitude(incumbent))
    labelling = _core.VisitLabelling(problem.core, bound, limits.labels)
    while not labelling.advance(limits.nodes_per_call):
        budget.progress("exact", labelling.done)
        if budget.exhausted:
            return Proof(None, budget.end)
    found = problem.regions[labelling.best] if len(labelling.best) else None
    return Proof(found, "the limit of labels was reached" if labelling.full else "")


def _by_sequences(objective: VisitObjective, incumbent: IntArray | None, budget: Budget, params: SolverParams) -> Proof:
    """Prove by trying all sequences; not proved if rounding hides which one is the best."""
    problem = CoreProblem(objective)
    relative = margin(16 * problem.at_most, 1.0)
    everything = _core.VisitEnumeration(problem.core, relative)
    while not everything.advance(params.visit_proof.nodes_per_call):
        if budget.exhausted:
            return Proof(None, budget.end)
    best = problem.regions[everything.best] if len(everything.best) else None
    if best is None:
        return Proof(None)
    value = objective(best)
    proved = value + relative * objective.magnitude(best) - everything.low <= PROOF * abs(value)
    return Proof(best, "" if proved else CANCELLED)
