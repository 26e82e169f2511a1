"""Raise a lower bound until it meets the best known order: multipliers, elimination, growing memories.

The relaxation is that of `walks`: a cheapest walk through T positions. Four things close the distance to the best order.

Multipliers. Each region's visit is paid for with its multiplier, and all multipliers are given back once: no order notices, but
a walk that returns to a region pays twice. Subgradient steps raise them for regions left out and lower them for
regions visited twice.

Memories. Where the cheapest walk returns to a region, the regions in between learn to remember it.

Elimination. A step from i to j at a position is forbidden once every walk through it costs at least as much as the best order
known. That stays true whatever the multipliers and memories are later.

Meeting in the middle. A forward table is pruned by a backward one and the other way round, each with larger
memories than the one before, until no walk is left below the best order known, or the cheapest one is an order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers import walks
from learnroute.solvers.contract import Budget
from learnroute.solvers.walks import ByteArray, Layers, MaskArray, Table

NEAREST = 4  # regions that a memory starts with
FIRST_STEPS = 400  # subgradient steps without memory
STEPS = 60  # ... with the first memories
MOST_STATES = 4_000_000  # in one layer of a table
ROUNDING = 1e-11  # relative to all that a walk adds up


@dataclass
class Prover:
    """A proof in progress. `bound` and `order` are valid at any time."""

    objective: Objective
    order: IntArray
    budget: Budget
    log: object = None
    bound: float = -np.inf
    value: float = np.inf
    multipliers: FloatArray = field(init=False)
    memory: MaskArray = field(init=False)
    allowed: ByteArray = field(init=False)
    proved: bool = False

    def __post_init__(self) -> None:
        ob, size = self.objective, self.objective.size
        self.value = ob(self.order) - ob.constant
        self.stays = ob.weights[:, None] * ob.scores[None, :]
        self.legs = np.array(ob.travel)
        self.allowed = np.ones((size - 1, size, size), dtype=np.uint8)
        self.allowed[:, np.arange(size), np.arange(size)] = 0
        self.multipliers = np.zeros(size)
        self.small = first_memory(ob.travel, NEAREST)
        self.memory = self.small.copy()
        words = self.memory.shape[1]
        self.nothing = Table(
            np.zeros(size * size + 1, dtype=np.int64), np.zeros((0, words), dtype=np.uint64), np.zeros(0),
            np.zeros(0, dtype=np.int64),
        )  # fmt: skip
        self.states = 0

    def margin(self, multipliers: FloatArray) -> float:
        return ROUNDING * float(abs(self.value) + np.abs(multipliers).sum())

    def layers(self, multipliers: FloatArray) -> Layers:
        return Layers(self.legs, self.stays - multipliers, self.allowed)

    def say(self, *a):
        if self.log:
            self.log(*a)

    # -- phases
    def run(self) -> None:
        size = self.objective.size
        layers = Layers(self.legs, self.stays.copy(), self.allowed)
        self.bound, self.multipliers = walks.ascend(layers, self.multipliers, self.value, FIRST_STEPS, 1.0)
        self.eliminate_simple()
        self.say("simple", self.value - self.bound, int(self.allowed.sum()))
        self.ascend(STEPS, joined=False)
        self.say("small", self.value - self.bound, int(self.allowed.sum()), self.states)
        rounds = 0
        self.soft = 30_000
        while not self.proved and not self.budget.exhausted and rounds < 50:
            gap = self.value - self.bound
            if self.states > 10 * self.soft:
                self.memory = self.small.copy()
            self.ascend(30, joined=True)
            self.say("joined", self.value - self.bound, int(self.allowed.sum()), self.states)
            if self.proved or self.budget.exhausted:
                break
            self.meet(200)
            self.say("met", self.value - self.bound, int(self.allowed.sum()), self.states)
            rounds += 1
            self.soft *= 2

    def eliminate_simple(self) -> None:
        layers = self.layers(self.multipliers)
        limit = self.limit(self.multipliers)
        forward = walks.simple_table(layers)
        backward = walks.simple_table(turned(layers))
        walks.eliminate(layers, forward, backward, limit)

    def limit(self, multipliers):
        return self.value - float(multipliers.sum()) - self.margin(multipliers)

    def settle(self, walk, cost, multipliers) -> bool:
        """Take in the cheapest walk at some multipliers; whether the search is over."""
        if not len(walk):
            self.proved = True
            self.bound = self.value
            return True
        bound = cost + float(multipliers.sum()) - self.margin(multipliers)
        if bound > self.bound:
            self.bound = bound
        if len(np.unique(walk)) == len(walk):
            value = self.objective(walk) - self.objective.constant
            if value < self.value:
                self.order, self.value = walk, value
                self.say("better order", value)
        return False

    def evaluate(self, multipliers, joined):
        """Return cost and walk of the cheapest walk at these multipliers; forbid steps on the way."""
        layers = self.layers(multipliers)
        limit = self.limit(multipliers)
        back = turned(layers)
        rest = walks.simple_table(back)
        if joined:
            used = np.zeros_like(self.allowed)
            other = walks.sweep(back, self.small, walks.simple_table(layers), self.nothing, limit, MOST_STATES, used)
            if other.start[-1] < 0:
                return None
            self.allowed &= unturned(used)
            layers = self.layers(multipliers)
            used = np.zeros_like(self.allowed)
            table = walks.sweep(layers, self.memory, rest, other, limit, MOST_STATES, used)
        else:
            used = np.zeros_like(self.allowed)
            table = walks.sweep(layers, self.small, rest, self.nothing, limit, MOST_STATES, used)
        if table.start[-1] < 0:
            return None
        self.allowed &= used
        self.states = int(table.start[-1])
        return walks.best_walk(table, self.objective.size)

    def ascend(self, steps, joined) -> None:
        size = self.objective.size
        now, kept = self.multipliers.copy(), self.multipliers.copy()
        heavy = np.zeros(size)
        pace, stalled, best = 0.5 if not joined else 0.3, 0, -np.inf
        for step in range(steps):
            found = self.evaluate(now, joined)
            if found is None:
                self.say("overflow in ascend")
                break
            cost, walk = found
            if self.settle(walk, cost, now) or self.budget.exhausted:
                break
            bound = cost + float(now.sum())
            slope = 1.0 - np.bincount(walk, minlength=size)
            stalled = 0 if bound > best + 1e-3 * (self.value - best) else stalled + 1
            if bound > best:
                best, kept = bound, now.copy()
            if not slope.any():
                if self.value <= bound + self.margin(now):
                    self.proved = True
                    break
                continue
            if stalled >= 4:
                stalled = 0
                pace *= 0.6
                now = kept.copy()
                if pace < 0.02:
                    break
            if joined and step % 3 == 2 and self.states < self.soft:
                remember(self.memory, walk)
            heavy = slope + 0.5 * heavy
            now = now + pace * (self.value - bound) / float(heavy @ heavy) * heavy
        self.multipliers = kept

    def meet(self, rounds) -> None:
        size = self.objective.size
        multipliers = self.multipliers
        other = self.nothing
        first = None
        for turn in range(rounds):
            forward = turn % 2 == 0
            layers = self.layers(multipliers)
            if not forward:
                layers = turned(layers)
            used = np.zeros_like(self.allowed)
            memory = self.memory if turn else self.small
            table = walks.sweep(
                layers, memory, walks.simple_table(turned(layers)), other, self.limit(multipliers), MOST_STATES, used
            )
            if table.start[-1] < 0:
                self.say("overflow in meet")
                return
            self.allowed &= used if forward else unturned(used)
            self.states = int(table.start[-1])
            cost, walk = walks.best_walk(table, size)
            if not forward:
                walk = walk[::-1]
            if self.settle(walk, cost, multipliers) or self.budget.exhausted:
                return
            if self.states > 10 * self.soft:
                return
            if len(np.unique(walk)) == size:
                if self.value <= cost + float(multipliers.sum()) + self.margin(multipliers):
                    self.proved = True
                    return
            remember(self.memory, walk)
            other = table


def turned(layers: Layers) -> Layers:
    return Layers(
        np.ascontiguousarray(layers.legs.T), np.ascontiguousarray(layers.stays[::-1]), unturned(layers.allowed)
    )


def unturned(steps: ByteArray) -> ByteArray:
    return np.ascontiguousarray(steps[::-1].transpose(0, 2, 1))


def first_memory(travel: FloatArray, nearest: int) -> MaskArray:
    size = len(travel)
    memory = np.zeros((size, (size + 63) // 64), dtype=np.uint64)
    near = np.argsort(np.minimum(travel, travel.T) + np.diag(np.full(size, -1.0)), axis=1, kind="stable")
    for v in range(size):
        for u in near[v, : nearest + 1].tolist():
            memory[v, u >> 6] |= np.uint64(1 << (u & 63))
    return memory


def remember(memory: MaskArray, walk: IntArray) -> None:
    """Let the regions between two visits of a region remember it, for the shortest such detours of a walk."""
    seen: dict[int, int] = {}
    detours = []
    for t, v in enumerate(walk.tolist()):
        if v in seen:
            detours.append((t - seen[v], seen[v], v))
        seen[v] = t
    shortest = min(detours)[0] if detours else 0
    for length, t, v in detours:
        if length <= 1.5 * shortest + 1:
            for u in walk[t + 1 : t + length].tolist():
                memory[u, v >> 6] |= np.uint64(1 << (v & 63))
