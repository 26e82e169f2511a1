"""Proved optimal visits if errors are not coupled: over sets of regions, or by labels of multisets of visits.

If training has the same effect at every position, the cost of a visit depends only on the visits that follow. This
allows dynamic programming from the end, as by Held and Karp, over states (visits to come, the first of them): over all
sets of regions if each is visited at most once and there is no budget (`cpp/held_karp.h`), otherwise by labels
(`cpp/visit_labelling.h`). Cycles that may be cut anywhere are solved once per last visit.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from learnroute import _core
from learnroute.model.instance import Instance
from learnroute.model.rounding import margin
from learnroute.model.routes import Routes
from learnroute.model.validation import IntArray
from learnroute.solvers.contract import Answer, Budget, Rung
from learnroute.solvers.core_instance import CoreInstance
from learnroute.solvers.exact.enumeration import multiply_series, unproved
from learnroute.solvers.params import SolverParams


class VisitLabelling(Rung):
    """The rung of dynamic programming over sets or multisets of visits."""

    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether errors are not coupled, and there are few enough sets or multisets."""
        if not instance.separable or instance.fleet.limit < math.inf:
            return False
        rules, limits = instance.visits, params.visit_labelling
        repeats = np.minimum(rules.repeats[rules.allowed], rules.at_most)
        if _has_sets(instance) and len(repeats) <= params.held_karp.most_regions:
            return True
        few = count_multisets(repeats, rules.at_most, limits.multisets) <= limits.multisets
        return few and len(repeats) * int(repeats.max()).bit_length() <= 64

    def prove(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer:
        """Return the optimum, or the given answer with the reason why the proof is not complete."""
        assert answer is not None
        sets = _has_sets(instance) and len(instance.visits.regions) <= params.held_karp.most_regions
        best = answer.routes
        for turn in _cyclic_cases(instance):
            found, cause = (_by_sets if sets else _by_labels)(turn, best, budget, params)
            if found is not None:
                best = min(best, found, key=instance)
            if cause:
                return unproved(replace(answer, routes=best), cause)
        return Answer(best, "exact", optimal=True)


def _has_sets(instance: Instance) -> bool:
    """Whether each region is visited at most once, and travel is unlimited."""
    return instance.visits.repeat == 1 and math.isinf(instance.visits.budget)


def count_multisets(repeats: IntArray, at_most: int, most: float = math.inf) -> float:
    """Return the number of multisets of up to `at_most` visits, with at most `repeats` visits to each region.

    Counting ends at a number above `most`.
    """
    return float(multiply_series(repeats, np.ones(at_most + 1), np.ones(at_most + 1), most).sum())


def _cyclic_cases(instance: Instance) -> list[Instance]:
    """Return the instance, or, if routes are cycles that may be cut anywhere, one instance per last visit."""
    ends, regions = instance.ends, instance.visits.regions.tolist()
    return [replace(instance, ends=ends.ending_at(last)) for last in regions] if ends.cyclic else [instance]


def _by_sets(instance: Instance, incumbent: Routes, budget: Budget, params: SolverParams) -> tuple[Routes | None, str]:
    """Return the best routes by dynamic programming over all sets of regions; or None and why it is not complete."""
    problem, rate = CoreInstance(instance), instance.rate
    retention, plasticity, _, second, noise = (table[0] for table in problem.tables)
    scores, noises = plasticity * problem.scores, instance.size * noise
    begin = np.where(problem.may_begin, rate * problem.travel[-1, :-1], np.inf)
    finish = np.where(problem.may_end, rate * problem.travel[:-1, -1], np.inf)
    table = _core.HeldKarp(
        rate * problem.travel[:-1, :-1], scores, np.zeros(problem.size), retention, finish + scores + noises,
        np.ones((problem.size, problem.size), dtype=np.bool_), noises, second,
    )  # fmt: skip
    while (done := table.fill(params.held_karp.sets_per_call)) < 1:
        budget.progress("exact", done)
        if budget.exhausted:
            return None, budget.end
    required = sum(1 << int(number) for number in np.flatnonzero(problem.required))
    members = table.best_set(begin, required, instance.visits.at_least, problem.at_most, instance.total)
    return Routes.of_order(problem.regions[table.order(begin, members)]) if members else None, ""


def _by_labels(
    instance: Instance, incumbent: Routes, budget: Budget, params: SolverParams
) -> tuple[Routes | None, str]:
    """Return routes better than the incumbent by labels of multisets, with travel as a resource if there is a budget.

    None if there are none; the text says why the labelling is not complete.
    """
    problem, limits = CoreInstance(instance), params.visit_labelling
    bound = instance(incumbent) + margin(16 * problem.at_most, instance.magnitude(incumbent))
    labelling = _core.VisitLabelling(problem.core, bound, limits.labels)
    while not labelling.advance(limits.labels_per_call):
        budget.progress("exact", labelling.done)
        if budget.exhausted:
            return None, budget.end
    found = Routes.of_order(problem.regions[labelling.best]) if len(labelling.best) else None
    return found, "the limit of labels was reached" if labelling.full else ""
