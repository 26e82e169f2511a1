"""Sequences of visits priced by rehearsal, and the search for good ones: simulated annealing (`cpp/rehearsal*.h`)."""

from __future__ import annotations

import numpy as np

from learnroute import _core
from learnroute.model.validation import FloatArray, IntArray
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.contract import Budget
from learnroute.solvers.params import DEFAULTS, RehearsalParams
from learnroute.solvers.visits.core_problem import CoreProblem
from learnroute.solvers.visits.search import search


class Rehearsed:
    """The errors of sequences of visits, draw by draw: affine maps by position and region, and a test (see the core).

    The draw is the last axis of each array.
    """

    def __init__(
        self, maps: FloatArray, constants: FloatArray, start: FloatArray, root: FloatArray, aims: FloatArray,
        rest: FloatArray,
    ) -> None:  # fmt: skip
        positions, regions, width, _, draws = maps.shape
        flat = [np.ascontiguousarray(table).ravel() for table in (maps, constants, start, root, aims, rest)]
        self.core = _core.Rehearsal(regions, positions, draws, *flat)
        self.work = width**2 * draws  # multiplications of a training

    def errors(self, visits: IntArray) -> FloatArray:
        """Return the error of each draw after a sequence of visits."""
        return self.core.errors(np.ascontiguousarray(visits, dtype=np.int64))

    def models(self, visits: IntArray) -> FloatArray:
        """Return the models after a sequence of visits, one column per draw."""
        return self.core.models(np.ascontiguousarray(visits, dtype=np.int64))


def anneal(
    rehearsed: Rehearsed, objective: VisitObjective, start: IntArray, rng: np.random.Generator, budget: Budget,
    params: RehearsalParams = DEFAULTS.rehearsal, share: float = 1.0,
) -> tuple[IntArray, float]:  # fmt: skip
    """Return the best sequence of visits found from one that keeps the rules, and its value.

    The objective's travel and rules count; its error is replaced by the rehearsed one. `share` is that of the usual
    effort to spend.
    """
    problem = CoreProblem(objective, with_forbidden=True)
    found = _core.RehearsalSearch(rehearsed.core, problem.core, int(rng.integers(2**63)))
    found.start(np.ascontiguousarray(start, dtype=np.int64))
    effort = max(1, int(share * params.moves * objective.size))
    step = max(1, min(int(params.work / (rehearsed.work * objective.size)), -(-effort // params.temperatures)))
    found.run(step, 0.0)
    hot, done = params.hot * found.typical_loss, 0
    while done < effort and not budget.exhausted:
        found.run(step, hot * (params.cold / params.hot) ** (done / effort))
        done += step
        budget.progress("rehearse", min(1.0, done / effort))
    return found.best, found.best_value


def first_visits(objective: VisitObjective, rng: np.random.Generator, budget: Budget) -> IntArray:
    """Return a sequence of visits that keeps the rules: at random where all regions are visited, else by the law."""
    rules = objective.rules
    if not rules.required.all() or not np.isinf(rules.budget):
        return search(objective, rng, budget.sparing()).order
    return shuffled(np.arange(objective.size), objective, rng)


def shuffled(visits: IntArray, objective: VisitObjective, rng: np.random.Generator) -> IntArray:
    """Return the same visits in random order; the first and the last one stay where rules fix them."""
    first, last = objective.first, objective.ends.last
    fixed = {first, last} - {None}
    inner = rng.permutation([region for region in visits.tolist() if region not in fixed])
    ends = [[] if end is None else [end] for end in (first, last if last != first else None)]
    return np.array([*ends[0], *inner, *ends[1]], dtype=np.int64)
