"""Raise a lower bound until it meets the best known order: multipliers, memories, elimination.

The relaxation is that of `walks`: the cheapest walk through T positions. Four things close its distance to the best
order.

*Multipliers*: each visit of a region is refunded its multiplier, and all multipliers are paid once. No order
notices; a walk that returns to some regions and leaves others out does. Subgradient steps find good ones.
*Memories*: where the cheapest walk returns to a region, the regions in between learn to remember it.
*Elimination*: a step at a position is forbidden once every walk through it costs as much as the best known
order. That stays true whatever the multipliers and memories are later.
*Meeting*: a forward table is pruned by a backward one and the other way round, with ever larger memories, until no walk
is left below the best known order, or the cheapest one is an order.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from learnroute.model.certificate import Certificate, Walks
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import LOST, NEAR, Budget, Effort
from learnroute.solvers.ends import anchored
from learnroute.solvers.exact.ng_route import labelling as walks
from learnroute.solvers.exact.ng_route.labelling import ByteArray, Layers, MaskArray, Table

NEAREST = 4  # regions that a memory starts with
SIMPLE_STEPS = 400  # subgradient steps without memory
FIRST_STEPS = 20  # ... with the first memories, before steps are eliminated
SMALL_STEPS = 30  # ... and after that, a turn
TURNS = 6
ENOUGH = 0.95  # of the gap left after a turn: no more turns
JOINED_STEPS = 40  # ... with larger ones, a round
HEAVY = 0.7  # of the direction of the steps before
FASTEST = 0.3  # share of the gap that a step aims at ...
FALL = 0.1  # ... falling to this much of it over a round
LEARNING = 2  # steps between two looks at where the cheapest walk returns
PATIENCE = 5  # steps without progress, after which they get shorter ...
SLOWER = 0.7  # ... by this factor ...
SLOWEST = 0.05  # ... down to this share of the gap
SPREAD = 6  # positions to either side of a detour at which it is remembered ...
SHORT_SPREAD = 3  # ... where tables are half full
FEW_STATES = 30_000  # in a table, up to which memories grow during the first round's steps, at least ...
ROOM = 1.3  # ... times those of the first memories ...
MORE = 1.4  # ... and this many times more ...
MOSTLY = 0.7  # ... after a round that used this share
FULL = 2.0  # ... but not this many times as much at once
GROWTH = 4  # a meeting ends where a table has this many times more
MEETING = 0.6  # of the gap at the last meeting: time for another ...
MOST_LEFT = 0.15  # ... unless this share of all steps is left ...
FEW_REGIONS = 80  # ... of more regions than these
IMPROVING = 4  # rounds between two searches for a better order
MOST_CHECKED = 300_000  # states of a table that a certificate asks to fill again
MOST_AT_ONCE = 3  # times that in a table, up to which memories grow
STAGE = 0.7  # of the gap at the last stage: time for another
PACE = 3e8  # units of work a second, until it is measured
AT_ONCE = 20_000_000  # steps of walks a kernel call, between two looks at the clock

Improve = Callable[[IntArray], IntArray]


class TooManyStatesError(Exception):
    """A table would have outgrown the memory allowed."""


class OutOfTimeError(Exception):
    """A table would have taken longer than the time that is left."""


class Prover:
    """A proof in progress; `order`, `value` and `bound` (both without the constant) are valid at any time.

    `stuck` says that the cheapest walk is an order of smaller cost than value: with factors, or with a way back between
    free ends, walks bound the value from below only.
    """

    def __init__(self, objective: Objective, order: IntArray, budget: Budget, effort: Effort | None = None) -> None:
        size = objective.size
        self.objective, self.budget, self.effort = objective, budget, effort or Effort()
        self.held, self.tight = anchored(objective)
        self.order, self.value = order, objective(order) - self.held.constant
        self.bound, self.proved, self.overflowed, self.stuck = -np.inf, False, False, False
        # what costs more than the whole of a known order is in no better one: so no number is larger than its value
        self.stays = np.minimum(costs_of_stays(self.held), self.value)
        self.legs = np.minimum(objective.travel, self.value)
        self.allowed = all_steps(self.held)
        self.multipliers = np.zeros(size)
        self.small = nearest_memory(objective.travel, NEAREST)
        self.memory = self.small.copy()
        self.states, self.few, self.gap_met = 0, FEW_STATES, np.inf
        self.snapshot = (self.multipliers, self.small)
        self.stages: list[tuple[FloatArray, MaskArray]] = []  # earlier snapshots, from which steps are forbidden
        self.gap_staged = np.inf
        self.crowded, self.reached = False, 0  # whether memories grew too much at once, and states after the last round
        self.late, self.pace = False, PACE
        self.plain = np.zeros(size)  # multipliers of walks without memory
        self.checked = Certificate("walks", -np.inf)

    def run(self, improve: Improve | None = None) -> None:
        """Prove until nothing is left to prove, or the budget or the effort is used up."""
        self._ascend_plainly()
        if self._over():
            return
        self._forbid_simply()
        try:
            self._begin()
            for turn in range(self.effort.rounds):
                if self._over():
                    break
                if improve is not None and turn % IMPROVING == 0 and turn:
                    self._take(improve(self.order))
                self._ascend(JOINED_STEPS, joined=True)
                if not self._over() and self._may_meet():
                    self._meet()
                if not self._over():
                    self._check()
                if not self._over():
                    self._strike_out()
                if self.crowded or self.reached > MOSTLY * self.few:
                    self.few = int(MORE * self.few)
                if self.few > MOST_AT_ONCE * self.effort.states:
                    raise TooManyStatesError
                self._tell(turn)
        except TooManyStatesError:
            self.overflowed = True
        except OutOfTimeError:
            self.late = True

    def _begin(self) -> None:
        """Find multipliers for the first memories, on ever fewer steps."""
        self._ascend(FIRST_STEPS, joined=False)
        for _ in range(TURNS):
            before = self.value - self.bound
            if not self._over():
                self._settle(*self._cheapest(self.multipliers, self.small, self.small), self.multipliers)
            if not self._over():
                self._ascend(SMALL_STEPS, joined=False)
            if self._over() or self.value - self.bound > ENOUGH * before:
                break
        self.snapshot = (self.multipliers.copy(), self.small)
        if not self._over():
            self._check()
        self.few = max(FEW_STATES, int(ROOM * self.states))

    def certificate(self) -> Certificate:
        """Return the best bound that follows from a few multipliers and memories alone."""
        if not self.late and not self.budget.exhausted:
            with suppress(OutOfTimeError):
                self._check()
        return max(self._plain_certificate(), self.checked, key=lambda known: known.bound)

    def _check(self) -> None:
        """Keep what the last multipliers and memories prove after the stages before them, if anyone can check it."""
        kept, self.allowed = self.allowed, all_steps(self.held)
        stages = [*self.stages, self.snapshot]
        try:
            for numbers, memory in stages:
                cost, walk = self._cheapest(numbers, memory, stages[0][1])
                if self.states > MOST_CHECKED:
                    return
        except TooManyStatesError:
            return
        finally:
            self.allowed = kept
        multipliers = self.snapshot[0]
        margin = self.margin(multipliers)
        bound = cost + float(multipliers.sum()) if len(walk) else self.goal + margin
        gap = self.value - bound
        bound += self.held.constant - 2 * margin
        if bound > self.checked.bound:
            self.checked = Certificate("walks", bound, walks=tuple(Walks(n, *listed(memory)) for n, memory in stages))
        if gap < STAGE * self.gap_staged:
            self.gap_staged = gap
            self.stages.append(self.snapshot)

    @property
    def goal(self) -> float:
        """What all orders have to reach for a proof."""
        return self.value - NEAR * abs(self.value + self.held.constant)

    def margin(self, multipliers: FloatArray) -> float:
        """Return what rounding can do to the cost of a walk, at most."""
        return rounding_margin(self.legs, self.stays, multipliers)

    def _limit(self, multipliers: FloatArray) -> float:
        """Return the cost from which on a walk is surely as good as the best known order."""
        return self.goal - float(multipliers.sum()) + self.margin(multipliers)

    def _over(self) -> bool:
        return self.proved or self.stuck or self.budget.exhausted

    def _tell(self, turn: int) -> None:
        self.budget.progress("proof", 1.0 if self.proved else 1 - 1 / (turn + 2))

    def _layers(self, multipliers: FloatArray) -> Layers:
        return Layers(self.legs, self.stays - multipliers, self.allowed)

    def _ascend_plainly(self) -> None:
        """Find multipliers for walks without memory."""
        layers = Layers(self.legs, self.stays.copy(), self.allowed)
        vectors, numbers = np.zeros((3, self.objective.size)), np.array([-np.inf, 1.0, 0.0])
        a_call = max(1, AT_ONCE // self.objective.size**3)
        for done in range(0, SIMPLE_STEPS, a_call):
            walks.ascend(layers, vectors, numbers, self.value, min(a_call, SIMPLE_STEPS - done))
            if numbers[1] == 0 or self.budget.exhausted:
                break
        self.multipliers = self.plain = vectors[1]
        self.bound = min(self.value, float(numbers[0]) - self.margin(self.multipliers))

    def _plain_certificate(self) -> Certificate:
        """Return what the multipliers of walks without memory prove: quick, whatever the time."""
        table = walks.simple_table(Layers(self.legs, self.stays - self.plain, all_steps(self.held)))
        bound = float(table[-1].min()) + float(self.plain.sum()) - 2 * self.margin(self.plain)
        alone = Walks(self.plain.copy(), tuple((v,) for v in range(self.objective.size)))
        return Certificate("walks", bound + self.held.constant, walks=(alone,))

    def _forbid_simply(self) -> None:
        layers = self._layers(self.multipliers)
        forward, backward = walks.simple_table(layers), walks.simple_table(turned(layers))
        walks.eliminate(layers, forward, backward, self._limit(self.multipliers))

    def _take(self, order: IntArray) -> None:
        value = self.objective(order) - self.held.constant
        if value < self.value:
            self.order, self.value = order, value

    def _settle(self, cost: float, walk: IntArray, multipliers: FloatArray) -> None:
        """Learn from the cheapest walk at some multipliers (an empty one: none is below the limit)."""
        margin = self.margin(multipliers)
        if len(walk):
            self.bound = max(self.bound, min(self.value, cost + float(multipliers.sum()) - margin))
            if len(np.unique(walk)) == len(walk):
                self._take(walk)
                self.proved = cost + float(multipliers.sum()) - margin >= self.goal
                self.stuck = not self.proved and not self.tight  # no walk says more than this order
        else:
            self.proved = True
        if self.proved:
            self.bound = self.value

    def _sweep(self, layers: Layers, memory: MaskArray, other: Table, limit: float, forward: bool) -> Table:
        """Fill a table one way, and forbid the steps that it did not need."""
        used = np.zeros_like(self.allowed)
        rest = walks.simple_table(turned(layers))
        table = self._filled(
            layers, memory if forward else np.ascontiguousarray(memory[::-1]), rest, other, limit, used
        )
        self.allowed &= used if forward else backwards(used)
        self.states = int(table.start[-1])
        return table

    def _filled(
        self, layers: Layers, memory: MaskArray, rest: FloatArray, other: Table, limit: float, used: ByteArray
    ) -> Table:
        """Fill a table, unless that takes too much memory or, at the pace of tables before, more time than is left."""
        while True:
            started = time.monotonic()
            allowed = int(min(self.pace * max(self.budget.deadline - started, 0.0), 1e17))
            work = np.array([allowed])
            table = walks.sweep(layers, memory, rest, other, limit, self.effort.states, used, work)
            took = time.monotonic() - started
            if took > 0.01:
                self.pace = (allowed - int(work[0])) / took
            if table.start[-1] >= 0:
                return table
            if table.start[-1] == walks.FULL:
                raise TooManyStatesError
            if self.pace * (self.budget.deadline - time.monotonic()) < 2 * allowed:
                raise OutOfTimeError

    def _cheapest(self, multipliers: FloatArray, memory: MaskArray, behind: MaskArray | None) -> tuple[float, IntArray]:
        """Return cost and course of the cheapest walk; a backward table with memories `behind`, if any, prunes it."""
        limit, other = self._limit(multipliers), no_table(memory)
        if behind is not None:
            other = self._sweep(turned(self._layers(multipliers)), behind, other, limit, forward=False)
        table = self._sweep(self._layers(multipliers), memory, other, limit, forward=True)
        return walks.best_walk(table, self.objective.size)

    def _ascend(self, steps: int, joined: bool) -> None:
        """Improve the multipliers by subgradient steps."""
        size = self.objective.size
        now, kept, best = self.multipliers.copy(), self.multipliers.copy(), -np.inf
        before, learning, self.crowded = self.memory, True, False
        heavy = np.zeros(size)
        pace, stalled = 0.5, 0
        for step in range(steps):
            try:
                cost, walk = self._cheapest(now, *((self.memory, self.small) if joined else (self.small, None)))
            except TooManyStatesError:
                if self.memory is before:
                    raise
                self.memory, learning, self.crowded = before, False, True
                continue
            self._settle(cost, walk, now)
            if self._over():
                break
            bound = cost + float(now.sum())
            stalled = stalled + 1 if bound <= best + 1e-3 * (self.value - best) else 0
            if bound > best:
                best, kept = bound, now.copy()
            slope = 1.0 - np.bincount(walk, minlength=size)
            if not slope.any():
                continue  # an order better than the best known one: the target has moved
            if joined:
                pace = FASTEST * FALL ** (step / steps)
            elif stalled >= PATIENCE:
                stalled = 0
                pace *= SLOWER
                now = kept.copy()
                if pace < SLOWEST:
                    break
            if joined and self.states > FULL * self.few:
                self.memory, learning, self.crowded = before, False, True  # too much at once
            elif joined and learning and step % LEARNING == LEARNING - 1 and self.states < self.few:
                before = self.memory.copy()
                remember(self.memory, walk, SPREAD if 2 * self.states < self.few else SHORT_SPREAD)
                best = -np.inf
            heavy = slope + HEAVY * heavy
            now = now + pace * (self.value - bound) / float(heavy @ heavy) * heavy
        self.multipliers, self.reached = kept, self.states
        if joined:
            self.snapshot = (kept.copy(), self.memory.copy())

    def _strike_out(self) -> None:
        """Forbid the steps that the memories of both directions together rule out."""
        with suppress(TooManyStatesError):
            self._settle(*self._cheapest(self.multipliers, self.memory, self.memory), self.multipliers)

    def _may_meet(self) -> bool:
        """Whether so few steps are left, or regions, that a meeting may succeed, and the gap is less than last time."""
        size, gap = self.objective.size, self.value - self.bound
        if gap >= MEETING * self.gap_met or (size > FEW_REGIONS and self.allowed.mean() > MOST_LEFT):
            return False
        self.gap_met = gap
        return True

    def _meet(self) -> None:
        """Sweep forward and backward in turn, each pruned by the one before, memories growing."""
        multipliers, other, memory = self.multipliers, no_table(self.memory), self.memory.copy()
        forward, first = True, True
        while not self._over():
            layers = self._layers(multipliers)
            sets, limit = self.small if first else memory, self._limit(multipliers)
            try:
                table = self._sweep(layers if forward else turned(layers), sets, other, limit, forward)
            except TooManyStatesError:
                return
            cost, walk = walks.best_walk(table, self.objective.size)
            walk = walk if forward else walk[::-1]
            self._settle(cost, walk, multipliers)
            if self.proved:
                self.snapshot = (multipliers, memory)
            if self.states > GROWTH * self.few:
                return
            remember(memory, walk)
            other, forward, first = table, not forward, False


def rounding_margin(legs: FloatArray, stays: FloatArray, multipliers: FloatArray) -> float:
    """Return more than float64 rounding can add to or take from the cost of any walk, multipliers paid."""
    stayed = np.abs(stays - multipliers).max(axis=1).sum()
    return LOST * len(legs) * float(stayed + len(legs) * legs.max() + np.abs(multipliers).sum())


def costs_of_stays(objective: Objective) -> FloatArray:
    """Return what each region costs at each position, beginning and ending there included (0 where forbidden)."""
    stays = objective.weights[:, None] * objective.scores[None, :]
    for position, ends in ((0, objective.begin), (-1, objective.finish)):
        stays[position] += np.where(np.isfinite(ends), ends, 0.0)
    return stays


def all_steps(objective: Objective) -> ByteArray:
    """Return all steps but those from a region to itself, and those that fixed ends forbid."""
    size = objective.size
    allowed = np.ones((size - 1, size, size), dtype=np.uint8)
    allowed[:, np.arange(size), np.arange(size)] = 0
    allowed[0, ~np.isfinite(objective.begin)] = 0
    allowed[-1, :, ~np.isfinite(objective.finish)] = 0
    if objective.first is not None:
        allowed[1:, objective.first] = 0
        allowed[:, :, objective.first] = 0
    if objective.last is not None:
        allowed[:-1, :, objective.last] = 0
        allowed[:, objective.last] = 0
    return allowed


def turned(layers: Layers) -> Layers:
    """Return the problem turned round: last position first."""
    return Layers(
        np.ascontiguousarray(layers.legs.T), np.ascontiguousarray(layers.stays[::-1]), backwards(layers.allowed)
    )


def backwards(steps: ByteArray) -> ByteArray:
    """Return steps as they are in the problem turned round."""
    return np.ascontiguousarray(steps[::-1].transpose(0, 2, 1))


def no_table(memory: MaskArray) -> Table:
    """Return a table without states."""
    _, size, words = memory.shape
    return Table(np.zeros(size * size + 1, dtype=np.int64), np.zeros((0, words), dtype=np.uint64), np.zeros(0),
                 np.zeros(0, dtype=np.int64))  # fmt: skip


def nearest_memory(travel: FloatArray, nearest: int) -> MaskArray:
    """Return memory sets of each region and those nearest to it, the same at all positions."""
    size = len(travel)
    memory = np.zeros((size, size, (size + 63) // 64), dtype=np.uint64)
    others = np.minimum(travel, travel.T) + np.diag(np.full(size, -1.0))
    for v, row in enumerate(np.argsort(others, axis=1, kind="stable")[:, : nearest + 1].tolist()):
        for u in row:
            memory[:, v, u >> 6] |= np.uint64(1 << (u & 63))
    return memory


def listed(memory: MaskArray) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """Return what is remembered at each region at all positions, and what at some of them besides."""
    always = np.bitwise_and.reduce(memory, axis=0)
    more = memory & ~always
    places = np.argwhere(more.any(axis=2)).tolist()
    return tuple(map(_members, always)), tuple((t, v, *_members(more[t, v])) for t, v in places)


def _members(words: MaskArray) -> tuple[int, ...]:
    return tuple(64 * x + u for x, word in enumerate(words.tolist()) for u in range(64) if word >> u & 1)


def remember(memory: MaskArray, walk: IntArray, spread: int = SPREAD) -> None:
    """Let the regions between two visits of a region remember it, for the shortest such detours of a walk.

    They do so at the positions of the detour and as far as `spread` positions from it.
    """
    size = len(walk)
    seen: dict[int, int] = {}
    detours = []
    for t, v in enumerate(walk.tolist()):
        if v in seen:
            detours.append((t - seen[v], seen[v], v))
        seen[v] = t
    shortest = min(detours)[0] if detours else 0
    for length, t, v in detours:
        if length <= 1.5 * shortest + 1:
            for k in range(t + 1, t + length):
                memory[max(0, k - spread) : min(size, k + spread + 1), walk[k], v >> 6] |= np.uint64(1 << (v & 63))
