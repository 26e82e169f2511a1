"""Proved optimal routes by trying all of them (`cpp/enumeration.h`)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from learnroute import _core
from learnroute.model.instance import Instance
from learnroute.model.merge_weights import FEW
from learnroute.model.rounding import PROOF, margin
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Answer, Budget, Rung
from learnroute.solvers.core_instance import CoreInstance
from learnroute.solvers.params import SolverParams

CANCELLED = "terms cancel, so rounding errors are too large for a proof"


class Enumeration(Rung):
    """The rung that tries all routes; `limit` is the parameter with the largest number of them."""

    def __init__(self, limit: str) -> None:
        self.limit = limit

    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether there are few enough routes."""
        fleet, visits = instance.fleet, instance.visits
        if fleet.merged and not fleet.equal and min(fleet.size, visits.at_most) > FEW:
            return False  # the best weights of this many models are not known for certain
        limits = params.enumeration
        most: int = min(getattr(limits, self.limit), limits.routes if instance.single else limits.fleets)
        return count_routes(instance, most) <= most

    def is_alone(self, instance: Instance) -> bool:
        """Whether all rules can be met for certain."""
        return instance.permutation

    def prove(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer:
        """Return the optimum; not proved if rounding hides which routes are the best."""
        problem = CoreInstance(instance)
        terms = 64 * (instance.visits.at_most + instance.size)
        everything = _core.Enumeration(problem.core, margin(terms, 1.0))
        while not everything.advance(params.enumeration.nodes_per_call):
            if budget.exhausted and answer is not None:
                return unproved(answer, budget.end)
            if budget.exhausted and (found := problem.routes(everything.best)) is not None:
                return unproved(Answer(found, "search"), budget.end)
        known = [None if answer is None else answer.routes, problem.routes(everything.best)]
        best = min((routes for routes in known if routes is not None), key=instance)
        value = instance(best)
        if value + margin(terms, instance.magnitude(best)) - everything.low > PROOF * abs(value):
            return unproved(Answer(best, "search"), CANCELLED)
        return Answer(best, "exact", optimal=True)


def unproved(answer: Answer, cause: str) -> Answer:
    """Return an answer with a note on why a proof is not complete."""
    note = f"{cause} before the proof was complete; this is the best route found"
    if len(answer.routes.vehicles) > 1:
        note = note.replace("this is the best route", "these are the best routes")
    return replace(answer, complete=False, notes=(*answer.notes, note))


def count_routes(instance: Instance, most: float = math.inf) -> float:
    """Return the number of routes, interchangeable vehicles and models counted once; counting ends above `most`."""
    visits, fleet = instance.visits, instance.fleet
    repeats = np.minimum(visits.repeats[visits.allowed], visits.at_most)
    ways, total = _splits if fleet.vehicles > 1 else _labellings, 0.0
    for length, many in enumerate(sequences_by_length(repeats, visits.at_most, most), 1):
        total += many * ways(length, fleet.size)
        if total > most:
            break
    return total


def sequences_by_length(repeats: IntArray, at_most: int, most: float = math.inf) -> FloatArray:
    """Return the numbers of sequences of 1, 2, … visits, by exponential generating functions.

    Counting ends when their sum exceeds `most`.
    """
    with np.errstate(over="ignore", under="ignore"):
        factorials = np.cumprod([1.0, *range(1, at_most + 1)])
        return multiply_series(repeats, 1 / factorials, factorials, most)


def multiply_series(repeats: IntArray, series: FloatArray, times: FloatArray, most: float) -> FloatArray:
    """Return the coefficients of x, x², … in the product of one series per region, up to its repeats, times numbers.

    The product ends when their sum exceeds `most`.
    """
    product = found = np.ones(1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for repeat in repeats.tolist():
            product = np.convolve(product, series[: repeat + 1])[: len(times)]
            found = np.nan_to_num(product * times[: len(product)], nan=np.inf, posinf=np.inf)[1:]
            if found.sum() > most:
                break
    return found


def _splits(length: int, vehicles: int) -> float:
    """Return the number of ways to split a sequence into routes, if the order of vehicles does not matter."""
    parts = range(1, min(length, vehicles) + 1)
    return math.fsum(math.comb(length - 1, count - 1) / math.factorial(count) for count in parts)


def _labellings(length: int, models: int) -> float:
    """Return the number of ways to assign models to a sequence of visits, if their numbers do not matter."""
    counts = [1.0] + [0.0] * models  # Stirling numbers of the second kind
    for _ in range(length):
        counts = [0.0, *(k * counts[k] + counts[k - 1] for k in range(1, models + 1))]
    return math.fsum(counts)
