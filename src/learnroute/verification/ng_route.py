"""Walks through T positions again: which of them may be better orders? docs/bounds.md explains it.

Dictionaries of states, one region after the other, apart from the solver's code.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnroute.model.certificate import Walks
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray
from learnroute.verification.branch_and_bound import LOST
from learnroute.verification.ends import anchored

MOST_STATES = 400_000  # kept by one table of the checker
COMPARED = 50  # cheaper states that each one is compared with

StepArray = NDArray[np.bool_]
Layer = dict[int, list[tuple[float, int]]]  # region: (cost, regions remembered, one bit each), cheapest first


class TooManyStatesError(Exception):
    """The checker's own limit, not an error of the plan."""


def ends_left(
    objective: Objective, stages: tuple[Walks, ...], value: float, memory: list[list[int]] | None = None
) -> Layer:
    """Return the ends of the walks, at the last stage, that may be orders of less than `value`.

    Each stage leaves only the steps of walks that cost less than that. Walks turned round remember what the first stage
    says. `memory`, for a claim of optimality, replaces that of the last stage. Rounding counts against the claim.
    """
    steps, turned = None, stages[0].masks()[::-1]
    for k, stage in enumerate(stages):
        walk = Walker(objective, stage.multipliers, steps, most=value)
        limit = walk.limit(value)
        behind = walk.turned().table(turned, limit)
        left = walk.table(stage.masks() if memory is None or k < len(stages) - 1 else memory, limit, behind)
        steps = walk.taken[:-1]
    return left[-1]


def _needed(states: dict[int, float]) -> list[tuple[float, int]]:
    """Sort states by cost, without those that a cheaper one with fewer memories makes needless."""
    needed: list[tuple[float, int]] = []
    for cost, mask in sorted((cost, mask) for mask, cost in states.items()):
        if not any(fewer & ~mask == 0 for _, fewer in needed[:COMPARED]):
            needed.append((cost, mask))
    return needed


def _completed(group: list[tuple[float, int]], most: float, known: int) -> bool:
    """Whether a state of the group, cheapest first, costs less than `most` and remembers no region that is known."""
    for cost, mask in group:
        if cost >= most:
            return False
        if not mask & known:
            return True
    return False


class Walker:
    """Walks through T positions with multipliers, as docs/bounds.md defines them."""

    def __init__(
        self,
        objective: Objective,
        multipliers: FloatArray,
        steps: StepArray | None = None,
        backward: bool = False,
        most: float = math.inf,
    ) -> None:
        """Prepare walks; no order of a value below `most` pays more than that for anything, so no number is larger."""
        held, self.tight = anchored(objective)
        stays = held.weights[:, None] * held.scores[None, :]
        stays[0] += held.begin
        stays[-1] += held.finish
        most = max(most - held.constant, 0.0)
        stays = np.where(np.isfinite(stays), np.minimum(stays, most), np.inf) - multipliers
        if held.first is not None:
            stays[1:, held.first] = np.inf
        if held.last is not None:
            stays[:-1, held.last] = np.inf
        self._objective, self._multipliers, self.constant = objective, multipliers, held.constant
        self._most = most + held.constant
        legs = np.minimum(held.travel, most)
        self.legs = legs.T if backward else legs
        self.stays = stays[::-1] if backward else stays
        self.size = held.size
        self.steps = steps  # those that a walk may take: position, from, to; None for all
        self.taken = np.zeros((self.size, self.size, self.size), dtype=bool)
        finite = np.where(np.isfinite(stays), np.abs(stays), 0.0)
        largest = finite.max(axis=1).sum() + self.size * self.legs.max() + np.abs(multipliers).sum()
        self.margin = LOST * self.size * float(largest)

    def turned(self) -> Walker:
        """Return the same walks from their end."""
        steps = None if self.steps is None else self.steps[::-1].transpose(0, 2, 1)
        return Walker(self._objective, self._multipliers, steps, True, self._most)

    def limit(self, value: float) -> float:
        """Return the cost from which on a walk is surely no better than an order of this value."""
        return value - self.constant - float(self._multipliers.sum()) + self.margin

    def table(self, memory: list[list[int]], limit: float, behind: list[Layer] | None = None) -> list[Layer]:
        """Return all states that may lead to a walk cheaper than `limit`, position by position.

        `behind` is a table of the walks turned round: a state is dropped where none of its states at
        the same place, which remembers no region that this one remembers, completes it below the limit. The steps
        of the states that are left are marked as taken.
        """
        rest = self._rest()
        layers: list[Layer] = []
        kept = 0
        for t in range(self.size):
            found: dict[int, dict[int, float]] = {}
            here = np.where(np.isfinite(self.stays[t]), self.stays[t], 0.0)  # inf, where forbidden, is in `rest` too
            for v, mask, costs in self._arrivals(layers, t):
                for w in np.flatnonzero(costs - here + rest[t] < limit).tolist():
                    if w == v or mask >> w & 1:
                        continue
                    known = mask & memory[t][w]
                    cost = float(costs[w])
                    if behind is not None:
                        most = limit - cost + float(self.stays[t, w])
                        group = behind[self.size - 1 - t].get(w, [])
                        if not _completed(group, most, known):
                            continue
                    self.taken[t - 1, v, w] = True  # at position 0 no step is taken: the last row is not used
                    states = found.setdefault(w, {})
                    state = known | 1 << w
                    if cost < states.get(state, math.inf):
                        kept += state not in states
                        states[state] = cost
                        if kept > MOST_STATES:
                            raise TooManyStatesError
            layers.append({w: _needed(states) for w, states in found.items()})
            kept += sum(map(len, layers[-1].values())) - sum(map(len, found.values()))
        return layers

    def _arrivals(self, layers: list[Layer], t: int) -> Any:
        """Yield each state before position t with the costs of going on to every region."""
        if t == 0:
            yield -1, 0, self.stays[0]
            return
        for v, group in layers[-1].items():
            for cost, mask in group:
                costs = cost + self.legs[v] + self.stays[t]
                yield v, mask, costs if self.steps is None else np.where(self.steps[t - 1, v], costs, np.inf)

    def _rest(self) -> FloatArray:
        """Return the cost of the cheapest completion, nothing remembered, from each position and region on."""
        rest = self.stays.copy()
        for t in range(self.size - 2, -1, -1):
            onward = self.legs + rest[t + 1][None, :]
            rest[t] += (onward if self.steps is None else np.where(self.steps[t], onward, np.inf)).min(axis=1)
        return rest
