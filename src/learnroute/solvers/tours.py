"""Prove an order optimal by branching over 1-trees, where travel is symmetric and only the last score counts.

The 1-tree of `trees` with good multipliers costs nearly as much as the best order. Edges that would push it beyond the
best known order are struck out, edges that it cannot do without are needed, and what that implies for degrees is
followed. Where a vertex still has too many edges, cases are told apart: without its edge a; with a but not with b; with
both.
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
from learnroute.solvers.ends import anchored

ROOT_STEPS = 300  # subgradient steps a call at the root
ROOT_CALLS = 6
STEPS = 30  # subgradient steps of each case
PACE = 0.1
MOST_CASES = 200_000
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
        self.exits = self.held.weights[-1] * self.held.scores + self.held.finish
        self.multipliers = np.zeros(size + 1)
        self.stored: list[Listed] = []
        finite = [entries[np.isfinite(entries)] for entries in (self.costs, self.exits)]
        self.largest = float(finite[0].max())
        self.scale = self.largest * size + float(finite[1].max())
        self.places = DIGITS - round(np.log10(self.largest)) if self.largest > 0 else DIGITS

    def run(self) -> None:
        """Prove until nothing is left to prove, or the budget is used up."""
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
            if self.budget.exhausted or self.cases >= MOST_CASES:
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
        if self.stored:
            multipliers = multipliers.copy()
            aim = self.value + 1e-9 * self.scale
            branching.climb(self.costs, self.exits, kinds, leaving, multipliers, self.value, aim, STEPS, PACE)
            multipliers = np.round(multipliers, self.places)
        tour = self._tour(kinds, leaving, multipliers)
        if tour is not None:
            self._take(tour)
        limit = self.value - self.margin(multipliers)
        bound, choice = branching.fix(self.costs, self.exits, kinds, leaving, multipliers, limit)
        if bound == np.inf or not branching.imply(kinds, leaving):
            return self._close(multipliers)
        v, a, b = choice.tolist()
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

    def _tour(self, kinds: ByteArray, leaving: ByteArray, multipliers: FloatArray) -> IntArray | None:
        """Return the order that the cheapest 1-tree is, if it is one."""
        parent, joined, degree = np.empty((3, len(kinds)), dtype=np.int64)
        total, _ = branching.one_tree(self.costs, self.exits, kinds, leaving, multipliers, parent, joined, degree)
        return joined[1:].copy() if total < np.inf and (degree == 2).all() else None

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


def provable(objective: Objective) -> bool:
    """Whether branching over 1-trees can prove an order of this objective optimal."""
    held, tight = anchored(objective)
    return tight and held.only_last_counts and held.symmetric and held.size > 2
