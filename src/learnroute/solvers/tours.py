"""Prove an order optimal by branching over 1-trees, where travel is symmetric.

The 1-tree of `trees` with good multipliers costs nearly as much as the best order. Edges that would push it beyond the
best known order are struck out, edges that it cannot do without are needed, and what that implies for degrees is
followed. Where a vertex still has too many edges, cases are told apart: without its edge a; with a but not with b; with
both.

Scores other than the last one are met by telling apart how orders end. Once the last regions are decided, the edges of
the region before them carry what the next score counts, and the least that the others can.
"""

from __future__ import annotations

import numpy as np

from learnroute.model.certificate import Case as Listed
from learnroute.model.certificate import Certificate
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers import branching
from learnroute.solvers.branching import FREE, GONE, NEEDED, ByteArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.ends import anchored, least_score_parts

ROOT_STEPS = 300  # subgradient steps a call at the root
ROOT_CALLS = 6
STEPS = 30  # subgradient steps of each case
PACE = 0.1
MOST_CASES = 200_000
FEW_CASES = 15_000  # some seconds
MOST_PRICED = 500  # ends of orders whose costs are kept
WORTHWHILE = 0.1  # cases are told apart by their end while its looseness is more than this share of the gap
FEW_SCORES = 3.0  # scores before the last may count this much of it, all together
MOST_STORED = 3_000  # cases that a certificate lists
ROUNDING = 4e-12  # relative to all that a 1-tree adds up: far above what float64 loses
DIGITS = 7  # of multipliers, so that certificates stay short

Case = tuple[ByteArray, ByteArray, FloatArray]


class TourProver:
    """A proof in progress; `order`, `value` and `bound` (both without the constant) are valid at any time."""

    def __init__(self, objective: Objective, order: IntArray, budget: Budget) -> None:
        self.objective, self.budget = objective, budget
        self.held, _ = anchored(objective)
        self.order, self.value = order, objective(order) - self.held.constant
        self.bound, self.proved, self.cases = -np.inf, False, 0
        self.without_cases = -np.inf
        size = objective.size
        self.costs = np.zeros((size + 1, size + 1))
        self.costs[:size, :size] = objective.travel
        self.costs[size, :size] = self.costs[:size, size] = self.held.begin
        self.exits = least_score_parts(self.held) + self.held.finish
        self.scored = not self.held.only_last_counts
        self.priced: dict[tuple[int, ...], tuple[FloatArray, FloatArray, float]] = {}
        self.multipliers = np.zeros(size + 1)
        self.stored: list[Listed] = []
        finite = [entries[np.isfinite(entries)] for entries in (self.costs, self.exits)]
        self.largest = float(finite[0].max())
        self.scale = self.largest * size + float(finite[1].max())
        self.places = DIGITS - round(np.log10(self.largest)) if self.largest > 0 else DIGITS

    def run(self, most: int = MOST_CASES) -> None:
        """Prove until nothing is left to prove, or the budget or the number of cases is used up."""
        size = self.objective.size
        kinds = np.where(np.isfinite(self.costs), FREE, GONE).astype(np.int8)
        np.fill_diagonal(kinds, GONE)
        leaving = np.where(np.isfinite(self.exits), FREE, GONE).astype(np.int8)
        multipliers = np.zeros(size + 1)
        for turn in range(ROOT_CALLS):
            target = self.value
            found = branching.climb(
                self.costs, self.exits, kinds, leaving, multipliers, target, np.inf, ROOT_STEPS, 1.0 / (1 + turn)
            )
            if self.budget.exhausted or found >= self.value:
                break
        self.multipliers = np.round(multipliers, self.places)
        self.bound = self.without_cases = self._bound(kinds, leaving, self.multipliers) - self.margin(self.multipliers)
        known = np.inf
        open_cases: list[Case] = []
        while open_cases or self.value < known:
            if self.budget.exhausted or self.cases >= most:
                return
            if self.value < known:  # a better order strikes out more edges: start again
                known, self.stored = self.value, []
                open_cases = [(kinds.copy(), leaving.copy(), self.multipliers)]
            open_cases.extend(reversed(self._case(open_cases.pop())))
            if self.cases % 50 == 0:
                self.budget.progress("proof", 1 - 1 / (1 + self.cases / 100))
        self.proved, self.bound = True, self.value

    def certificate(self) -> Certificate:
        """Return what was proved: all cases where there are few, else the bound of the 1-tree without any."""
        stored = np.append(self.multipliers, 0.0)
        if self.proved and len(self.stored) <= MOST_STORED:
            bound = self.value + self.held.constant - self.margin(self.multipliers)
            return Certificate("cases", bound, stored, cases=tuple(self.stored))
        return Certificate("tree", self.without_cases + self.held.constant, stored)

    def margin(self, multipliers: FloatArray) -> float:
        """Return what rounding can do to the cost of a 1-tree, at most."""
        return ROUNDING * (self.scale + 4 * float(np.abs(multipliers).sum()) + 4 * self.largest)

    def _bound(self, kinds: ByteArray, leaving: ByteArray, multipliers: FloatArray) -> float:
        parts = np.empty((3, len(kinds)), dtype=np.int64)
        total, _ = branching.one_tree(self.costs, self.exits, kinds, leaving, multipliers, *parts)
        return float(total)

    def _case(self, case: Case) -> list[Case]:
        """Close a case, or tell apart the cases that it consists of."""
        kinds, leaving, multipliers = case
        self.cases += 1
        if not branching.imply(kinds, leaving):
            return self._close(None)
        ending = decided_end(kinds, leaving) if self.scored else ()
        costs, exits, slack = self._prices(ending)
        if self.stored:
            multipliers = multipliers.copy()
            aim = self.value + 1e-9 * self.scale
            branching.climb(costs, exits, kinds, leaving, multipliers, self.value, aim, STEPS, PACE)
            multipliers = np.round(multipliers, self.places)
        parent, joined, degree = np.empty((3, len(kinds)), dtype=np.int64)
        total, last = branching.one_tree(costs, exits, kinds, leaving, multipliers, parent, joined, degree)
        tour = total < np.inf and bool((degree == 2).all())
        if tour:
            self._take(joined[1:].copy())
        limit = self.value - self.margin(multipliers)
        bound, choice = branching.fix(costs, exits, kinds, leaving, multipliers, limit)
        if bound == np.inf or not branching.imply(kinds, leaving):
            return self._close(multipliers)
        v, a, b = choice.tolist()
        if self.scored and (tour or slack > WORTHWHILE * (limit - bound)):
            v, a, b = self._before(ending, last, parent, kinds, leaving, costs, multipliers) or (v, a, b)
        self._store((v, a, b), multipliers)
        if v < 0:  # nothing to tell apart yet, but some edges are decided now
            return [(kinds, leaving, multipliers)]
        without, half = (kinds.copy(), leaving.copy()), (kinds.copy(), leaving.copy())
        decide(*without, v, a, GONE)
        decide(*half, v, a, NEEDED)
        if b < 0:
            return [(*half, multipliers), (*without, multipliers)]
        both = (half[0].copy(), half[1].copy())
        decide(*half, v, b, GONE)
        decide(*both, v, b, NEEDED)
        return [(*without, multipliers), (*half, multipliers), (*both, multipliers)]

    def _close(self, multipliers: FloatArray | None) -> list[Case]:
        self._store((), multipliers)
        return []

    def _store(self, split: tuple[int, ...], multipliers: FloatArray | None) -> None:
        if len(self.stored) <= MOST_STORED:
            self.stored.append(Listed(split, () if multipliers is None else tuple(multipliers.tolist())))

    def _prices(self, ending: tuple[int, ...]) -> tuple[FloatArray, FloatArray, float]:
        """Return the costs of edges and exits of orders with this end (last region first), and how loose they may be.

        Scores of the end are paid exactly, at the exit. The edges of its earliest region carry what the score of the
        region at their other end counts, and the least that the others can, beyond the least of all.
        """
        if not self.scored or ending in self.priced:
            return self.priced.get(ending, (self.costs, self.exits, 0.0))
        size = self.objective.size
        left = np.array([v for v in range(size) if v not in ending], dtype=np.int64)
        weights, scores = self.held.weights[: len(left)], self.held.scores
        least, slack, extra = 0.0, 0.0, np.zeros(size)
        if len(left):
            start = self.held.first
            among = None if start is None or len(left) == 1 else int(np.flatnonzero(left == start)[0])
            parts = least_score_parts(Objective(np.zeros((0, 0)), scores[left], weights, 0.0, among))
            least = float(parts.min())
            extra[left] = np.where(np.isfinite(parts), parts - least, 0.0)
            slack = float(weights.sum() * scores[left].mean()) - least
        costs, exits = self.costs, self.exits
        if ending:
            costs, exits = costs.copy(), np.full(size, np.inf)
            costs[:size, ending[-1]] += extra
            costs[ending[-1], :size] += extra
            shares = self.held.weights[::-1][: len(ending)]
            exits[ending[0]] = float(shares @ scores[list(ending)]) + least + self.held.finish[ending[0]]
        if len(self.priced) > MOST_PRICED:
            self.priced.clear()
        self.priced[ending] = (costs, exits, slack)
        return self.priced[ending]

    def _before(
        self,
        ending: tuple[int, ...],
        last: int,
        parent: IntArray,
        kinds: ByteArray,
        leaving: ByteArray,
        costs: FloatArray,
        multipliers: FloatArray,
    ) -> tuple[int, int, int] | None:
        """Return the edge by which the 1-tree goes on before the decided end, if that is open: v, a and -1."""
        if not ending:
            return (last, len(kinds), -1) if leaving[last] == FREE else None
        here = ending[-1]
        beside = [u for u in range(len(kinds)) if (parent[u] == here or parent[here] == u) and kinds[here, u] == FREE]
        if not beside:
            return None
        return here, min(beside, key=lambda u: float(costs[here, u] - multipliers[u])), -1

    def _take(self, order: IntArray) -> None:
        value = self.objective(order) - self.held.constant
        if value < self.value and self.objective.allows(order):
            self.order, self.value = order, value


def decide(kinds: ByteArray, leaving: ByteArray, v: int, u: int, kind: int) -> None:
    """Set the kind of an edge (`out` is the vertex behind the last); where it is decided otherwise, leave no way."""
    if u == len(kinds):
        known = int(leaving[v])
        leaving[v] = kind
    else:
        known = int(kinds[v, u])
        kinds[v, u] = kinds[u, v] = kind
    if known not in (FREE, kind):
        leaving[:] = GONE


def decided_end(kinds: ByteArray, leaving: ByteArray) -> tuple[int, ...]:
    """Return the regions that orders certainly end with, the last one first."""
    last = np.flatnonzero(leaving == NEEDED)
    if len(last) == 0:
        return ()
    ending = [int(last[0])]
    while True:
        onward = [int(u) for u in np.flatnonzero(kinds[ending[-1]] == NEEDED) if u not in ending]
        if not onward or onward[0] == len(kinds) - 1:
            return tuple(ending)
        ending.append(onward[0])


def provable(objective: Objective) -> bool:
    """Whether branching over 1-trees can prove an order optimal, and is likely to: few scores count."""
    held, tight = anchored(objective)
    few = float(held.weights[:-1].sum()) <= FEW_SCORES * float(held.weights[-1])
    return tight and few and held.symmetric and held.size > 2
