"""Successive halving: spend a budget of trainings on the orders that look best so far (Jamieson and Talwalkar 2016)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.learning.adapters import as_learner
from learnroute.learning.affine_maps import Draws
from learnroute.learning.following import errors_in, reseed
from learnroute.learning.measures import Error
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget

USUAL = 8  # candidates, if no budget of trainings is given


def candidates_for(trainings: int | None, visits: int) -> int:
    """Return the number of candidates, a power of 2, for which a number of trainings is sufficient."""
    if trainings is None:
        return USUAL
    found = 1
    while route_count(2 * found) * visits <= trainings:
        found *= 2
    if found < 2:
        raise InputError(
            f"too few for {route_count(2)} routes of {visits} visits; give at least {route_count(2) * visits}",
            field="trainings",
            value=trainings,
        )
    return found


def route_count(candidates: int) -> int:
    """Return the number of routes trained along: in the rungs, for random orders, and for the transfer matrix."""
    return search_count(candidates) + 2 * evaluation_draws(candidates) + 1


def search_count(candidates: int) -> int:
    """Return the number of routes trained along in the rungs, each of which halves candidates and doubles draws."""
    return candidates + candidates // 2 * (candidates.bit_length() - 2)


def evaluation_draws(candidates: int) -> int:
    """Return the number of draws in which the winner is compared with random orders."""
    return max(2, candidates // 2)


@dataclass(frozen=True, eq=False)
class HalvingResult:
    """The winning candidate, compared with random orders in separate draws.

    `errors` (draws x regions) are its final errors, `random` the mean final errors of one random order per draw.
    `ties` are the other candidates of the last rung, with their mean errors in the draws of that rung.
    """

    order: IntArray
    errors: FloatArray
    random: FloatArray
    ties: tuple[tuple[IntArray, float], ...]
    trainings: int
    complete: bool


class Trainer:
    """Trains any learner along orders, and counts the trainings."""

    def __init__(self, learner: Any, classes: FloatArray | None, measure: Error, draws: Draws) -> None:
        self.learner, self.classes, self.measure, self.draws = learner, classes, measure, draws
        self.routes = self.trainings = 0

    def errors(self, order: IntArray, draw: int) -> FloatArray:
        """Return the final error in each region after training along an order, in a draw."""
        dealt = self.draws.divide(draw)
        batches = [iter(self.draws.batches(region)) for region in dealt]
        given = reseed(copy.deepcopy(self.learner), self.draws.seed + draw)
        model = as_learner(given, self.classes)
        for place in order.tolist():
            model.partial_fit(*next(batches[place]))
        self.routes += 1
        self.trainings += len(order)
        return errors_in(model, dealt, self.measure)


def halve(
    trainer: Trainer, candidates: Sequence[IntArray], travel: FloatArray, weights: FloatArray,
    shuffle: Callable[[], IntArray], budget: Budget,
) -> HalvingResult:  # fmt: skip
    """Halve the candidates by error plus travel until one remains, then compare it with random orders.

    All candidates are trained in the same draws, twice as many in each rung. `travel` is the travel cost of each
    candidate, and `shuffle()` returns a random order of the same visits.
    """
    left, found = list(range(len(candidates))), {k: np.empty(0) for k in range(len(candidates))}
    whole = search_count(len(candidates)) + 2 * evaluation_draws(len(candidates))
    ties, draws, complete = left, 1, True

    def value(k: int) -> float:
        return float(found[k].mean() + travel[k]) if len(found[k]) else np.inf

    def train(order: IntArray, draw: int) -> FloatArray:
        errors = trainer.errors(order, draw)
        budget.progress("rehearse", min(1.0, trainer.routes / whole))
        return errors

    while len(left) > 1 and complete:
        for draw, k in ((draw, k) for draw in range(draws) for k in left if len(found[k]) <= draw):
            if budget.exhausted and any(map(len, found.values())):
                complete = False
                break
            found[k] = np.append(found[k], np.mean(weights * train(candidates[k], draw)))
        ties = sorted(left, key=value)
        left, draws = ties[: len(ties) // 2], 2 * draws
    best = min(left, key=value)
    own: list[FloatArray] = []
    random: list[float] = []
    for draw in range(draws, draws + evaluation_draws(len(candidates))):  # not used to choose the winner
        if budget.exhausted and len(own) > 1:
            complete = False
            break
        own.append(train(candidates[best], draw))
        random.append(float(np.mean(weights * train(shuffle(), draw))))
    others = tuple((candidates[k], float(found[k].mean())) for k in ties if k != best and len(found[k]))
    return HalvingResult(candidates[best], np.array(own), np.array(random), others, trainer.trainings, complete)
