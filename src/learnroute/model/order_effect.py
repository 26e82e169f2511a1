"""Whether the order matters: the error of an order compared with those of random orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.model.losses import expected_loss
from learnroute.model.problem import Problem
from learnroute.model.validation import as_members, as_number, as_vector

# Members in files; the last two only for fleets
REHEARSED = ("error", "standard_error", "errors", "random", "order_matters", "draws", "weights", "served_by")
ORDERS = 50  # number of random orders that are compared
MOST_REGIONS = 60  # up to this number, the comparison is fast
LITTLE = 0.01  # the share of the error that an order must save to matter, if errors are expected and not measured
ANY_ORDER = "any order will do"
MUCH = 0.1  # the share of the error above which a gain that may be chance is not dismissed


@dataclass(frozen=True)
class OrderEffect:
    """The error of an order beside those of random orders, and whether the order matters.

    Attributes
    ----------
    planned
        The error of the given order.
    mean, least, most
        The mean, minimum and maximum error of random orders.
    matters
        Whether a good order is better than a random one: by more than chance if errors are measured, by more than 1 %
        if they are expected.
    """

    planned: float
    mean: float
    least: float
    most: float
    matters: bool

    @property
    def text(self) -> str:
        """The comparison in one line."""
        advice = " (take the shortest route)" if self.verdict == ANY_ORDER else ""
        return f"{self.errors}: {self.verdict}{advice}"

    @property
    def errors(self) -> str:
        """The errors that are compared."""
        return f"error {self.planned:.4g}, random orders {self.least:.4g} … {self.most:.4g}"

    @property
    def verdict(self) -> str:
        """Whether the order matters, in a few words.

        "Any order will do" requires that random orders have nearly the same error on average.
        """
        if self.matters:
            better = self.planned < self.mean
            return "the order matters" if better else "the order matters, and random orders are better on average"
        if self.mean - self.planned > MUCH * abs(self.mean):
            return "the order may matter (more samples would tell)"
        return ANY_ORDER

    def to_dict(self) -> dict[str, Any]:
        """Return the errors of random orders, as plain JSON values."""
        return {"mean": self.mean, "least": self.least, "most": self.most}


def expected_order_effect(problem: Problem, order: Sequence[int]) -> OrderEffect | None:
    """Compare an order with random orders of the same visits, by their expected errors.

    Return None if there are too many regions for a fast comparison, or too few visits to have an order.
    """
    if problem.size > MOST_REGIONS or len(order) < 2:
        return None
    first, last = problem.constraints.start, problem.constraints.end
    names = [problem.regions[i] for i in order]
    begin, end = int(names[0] == first), len(order) - int(names[-1] == last)
    visits, rng = np.array(order), np.random.default_rng(0)
    errors = []
    for _ in range(ORDERS):
        trial = visits.copy()
        trial[begin:end] = rng.permutation(visits[begin:end])
        errors.append(expected_loss(problem, trial).error)
    mean, planned = math.fsum(errors) / ORDERS, expected_loss(problem, visits).error
    matters = min(planned, *errors) < mean - LITTLE * abs(mean)  # whatever the quality of the given order
    return OrderEffect(planned, mean, min(errors), max(errors), matters)


def as_rehearsal(given: Any, size: int) -> dict[str, Any] | None:
    """Validate the rehearsal in the file of a plan with this number of regions."""
    if given is None:
        return None
    members = as_members("rehearsal.", given, REHEARSED)
    errors = as_vector("rehearsal.errors", members.get("errors"), size, meaning="errors", derived=True)
    needed = ("error", "standard_error")
    numbers = {
        name: as_number(f"rehearsal.{name}", members.get(name), meaning="errors", derived=True) for name in needed
    }
    return {**members, **numbers, "errors": errors.tolist()}
