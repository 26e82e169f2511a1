"""Prove an order optimal by telling cases apart, where travel is symmetric.

The 1-tree of `trees` with good prices costs nearly as much as the best order. Edges that would push it beyond the best
known order are struck out, edges that it cannot do without are needed, and what that implies for degrees is followed.
What is left is a small linear programme (`programme`), which finds better prices; where these are not enough, cases are
told apart by whether an edge is used.

Scores other than the last one are met by telling apart how orders end. Once the last regions are decided, the edges of
the region before them carry what the next score counts, and the least that the others can.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnroute.model.certificate import Case as Listed
from learnroute.model.certificate import Certificate
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import LOST, NEAR, Budget, Effort
from learnroute.solvers.ends import anchored, least_score_parts
from learnroute.solvers.exact.branch_and_cut import branching
from learnroute.solvers.exact.branch_and_cut.branching import FREE, GONE, NEEDED, ByteArray
from learnroute.solvers.exact.branch_and_cut.lp_relaxation import Prices, Programme, Solution, least_crossings
from learnroute.solvers.exact.branch_and_cut.separation import BoolArray

ROOT_STEPS = 300  # subgradient steps a call at the root
ROOT_CALLS = 6
MANY = 300  # regions from which a call is cut into shorter ones, so that time limits hold
CALLS_IF_MANY = 6
PROMISING = 6.0  # edges a region left without splits: with no more, telling cases apart is quick
STEPS = 30  # subgradient steps of cases that are told apart by their end
PACE = 0.1
BEYOND = 1.1  # times the gap: how far prices go where the programme has no solution
UNSPLIT = (-1, -1, -1)  # decided further, but not told apart
MOST_PRICED = 500  # ends of orders whose costs are kept
WORTHWHILE = 0.1  # cases are told apart by their end while its looseness is more than this share of the gap
FEW_SCORES = 3.0  # scores before the last may count this much of it, all together
MOST_STORED = 1_000_000  # numbers that a certificate lists, of all cases
MOST_EDGES = 250.0  # edges a region left by the first 1-tree: with more, and many regions, the programme takes too long
DIGITS = 9  # of multipliers, so that certificates stay short
MOST_PLACES = 300  # behind the point: what float64 can round to


class Case(NamedTuple):
    """Kinds of edges and of exits, and what is known from the case that it is part of."""

    kinds: ByteArray
    leaving: ByteArray
    prices: Prices
    programme: Programme
    decided: int = 0  # regions that its orders were known to end with

    def bound(self, costs: FloatArray, exits: FloatArray, prices: Prices) -> float:
        """Return the bound that some prices give."""
        costs, exits, back = self.programme.priced(costs, exits, prices.combs)
        return cheapest_tree(costs, exits, self.kinds, self.leaving, prices.multipliers).total + back

    def split(self, v: int, a: int, b: int) -> list[Case]:
        """Tell apart whether the edge v-a is used; with b, whether it is and v-b is too; nothing if v is -1."""
        if v < 0:  # but some edges are decided now
            return [self]
        without = self._decided(v, a, GONE)
        half = self._decided(v, a, NEEDED)
        if b < 0:
            return [half, without]
        return [without, half._decided(v, b, GONE), half._decided(v, b, NEEDED)]

    def _decided(self, v: int, u: int, kind: int) -> Case:
        kinds, leaving = self.kinds.copy(), self.leaving.copy()
        decide(kinds, leaving, v, u, kind)
        return self._replace(kinds=kinds, leaving=leaving)


class TourProver:
    """A proof in progress; `order`, `value` and `bound` (both without the constant) are valid at any time."""

    def __init__(self, objective: Objective, order: IntArray, budget: Budget) -> None:
        self.objective, self.budget = objective, budget
        self.held, _ = anchored(objective)
        self.order, self.value = order, objective(order) - self.held.constant
        self.bound, self.proved, self.cases = -np.inf, False, 0
        self.without_cases = -np.inf  # the bound of the first 1-tree alone
        size = objective.size
        self.costs = np.zeros((size + 1, size + 1))
        self.costs[:size, :size] = objective.travel
        self.costs[size, :size] = self.costs[:size, size] = self.held.begin
        self.exits = least_score_parts(self.held) + self.held.finish
        # what costs more than the whole of a known order is in no better one: so no number is larger than its value
        self.most = max(self.value, 0.0)
        for entries in (self.costs, self.exits):
            np.minimum(entries, self.most, out=entries, where=np.isfinite(entries))
        self.scored = not self.held.only_last_counts
        self.priced: dict[tuple[int, ...], tuple[FloatArray, FloatArray, float]] = {}
        self.multipliers = np.zeros(size + 1)
        self.combs: list[BoolArray] = []
        self.stored: list[Listed] = []
        self.root: tuple[float, list[Listed]] = (-np.inf, [])  # the bound without splits, and what it follows from
        self.kept, self.hopeless = 0, False  # numbers stored; whether rounding alone keeps a case open
        leg = (self.value - float(self.exits.min())) / size
        self.unit = 2.0 ** math.frexp(leg)[1] if leg > 0 else 1.0
        self.places = min(DIGITS - round(math.log10(self.unit)), MOST_PLACES)

    @property
    def goal(self) -> float:
        """What all orders have to reach for a proof."""
        return self.value - NEAR * abs(self.value + self.held.constant)

    def run(self, effort: Effort | None = None) -> None:
        """Prove until nothing is left to prove, or the budget or the effort is used up."""
        effort = effort or Effort()
        self.cases, self.stored, self.kept = 0, [], 0
        size = self.objective.size
        kinds = np.where(self.costs < self.most, FREE, GONE).astype(np.int8)
        np.fill_diagonal(kinds, GONE)
        leaving = np.where(self.exits < self.most, FREE, GONE).astype(np.int8)
        multipliers = np.zeros(size + 1)
        calls = 1 if size <= MANY else CALLS_IF_MANY
        for call in range(ROOT_CALLS * calls):
            steps, pace = ROOT_STEPS // calls, 1.0 / (1 + call // calls)
            found = branching.climb(
                self.costs, self.exits, kinds, leaving, multipliers, self.value, np.inf, steps, pace
            )
            if self.budget.exhausted or found >= self.value:
                break
        start = Prices(multipliers, {}).rounded(self.places)
        self.multipliers = multipliers = start.multipliers
        tree = cheapest_tree(self.costs, self.exits, kinds, leaving, multipliers)
        margin = self.margin(start, tree)
        self.bound = self.without_cases = min(tree.total, self.value) - 2 * margin
        if self.budget.exhausted:
            return
        bound, _ = branching.fix(self.costs, self.exits, kinds, leaving, multipliers, self.goal + margin)
        if bound == np.inf or not branching.imply(kinds, leaving):
            self._close(start)
            self.proved, self.bound = True, self.value
            return
        if (kinds == FREE).sum() > 2 * MOST_EDGES * size and size > MANY:
            return
        self._store(UNSPLIT, start)
        open_cases = [Case(kinds, leaving, start, Programme(kinds, leaving, self.combs, self.unit))]
        while open_cases:
            if self.budget.exhausted or self.cases >= effort.cases:
                return
            open_cases.extend(reversed(self._case(open_cases.pop())))
            if self.hopeless:
                return
            if self.cases == 1 and effort.only_if_promising and (kinds == FREE).sum() > 2 * PROMISING * size:
                return
            self.budget.progress("proof", 1 - 1 / (1 + self.cases / 100))
        self.proved, self.bound = True, self.value

    def certificate(self) -> Certificate:
        """Return what was proved: all cases if they are not too many, else the best bound without splits."""
        if self.proved and self.kept <= MOST_STORED:
            return self._certificate(self.value - 2 * NEAR * abs(self.value + self.held.constant), self.stored)
        if self.root[0] > self.without_cases:
            return self._certificate(*self.root)
        return Certificate("tree", self.without_cases + self.held.constant, np.append(self.multipliers, 0.0))

    def _certificate(self, bound: float, cases: list[Listed]) -> Certificate:
        """Return a certificate with the combs that its cases use, renumbered."""
        used = sorted({comb for case in cases for comb, _ in case.combs})
        number = {comb: k for k, comb in enumerate(used)}
        combs = tuple(tuple(tuple(np.flatnonzero(row).tolist()) for row in self.combs[comb]) for comb in used)
        listed = tuple(
            case._replace(combs=tuple((number[comb], price) for comb, price in case.combs)) for case in cases
        )
        multipliers = np.append(self.multipliers, 0.0)
        return Certificate("cases", bound + self.held.constant, multipliers, cases=listed, combs=combs)

    def margin(self, prices: Prices, tree: Tree) -> float:
        """Return what rounding can do to the cost of a 1-tree at some prices, at most."""
        count = len(self.costs) + 1
        total = 2 * self.most + 2 * float((tree.degree + 2) @ np.abs(prices.multipliers))
        for comb, price in prices.combs.items():
            sets = len(self.combs[comb])
            total += price * (2 * count * sets + least_crossings(sets))
        return LOST * count * total

    def _case(self, case: Case) -> list[Case]:
        """Close a case, or tell apart the cases that it consists of."""
        kinds, leaving = case.kinds, case.leaving
        self.cases += 1
        if not branching.imply(kinds, leaving):
            return self._close(None)
        open_edges = (kinds == FREE).sum() + (leaving == FREE).sum()
        ending = decided_end(kinds, leaving) if self.scored else ()
        costs, exits, slack = self._prices(ending)
        case, solution = self._repriced(case, ending, costs, exits, slack)
        prices = case.prices
        costs, exits, back = case.programme.priced(costs, exits, prices.combs)
        tree = cheapest_tree(costs, exits, kinds, leaving, prices.multipliers)
        tour = tree.order is not None or (solution is not None and solution.whole)
        self._take(tree.order)
        margin = self.margin(prices, tree)
        if self.cases == 1:
            self.bound = max(self.bound, min(tree.total + back, self.value) - 2 * margin)
            self.root = self.bound, [*self.stored, _listed((), prices)]
        limit = self.goal + margin - back
        bound, choice = branching.fix(costs, exits, kinds, leaving, prices.multipliers, limit)
        if bound == np.inf or not branching.imply(kinds, leaving):
            return self._close(prices)
        v, a, b = choice.tolist()
        if self.scored and (tour or slack > WORTHWHILE * (limit - bound)):
            v, a, b = _before(ending, kinds, leaving, costs, exits, prices.multipliers) or (v, a, b)
        elif solution is not None and np.isfinite(solution.value):
            edge = case.programme.split(solution, kinds, leaving, limit + back, self.budget)
            v, a, b = (v, a, b) if edge is None else (*edge, -1)
        if v < 0 and (kinds == FREE).sum() + (leaving == FREE).sum() == open_edges:
            v, a, b = any_open(kinds, leaving)
            self.hopeless = v < 0
        self._store((v, a, b), prices)
        return case.split(v, a, b)

    def _repriced(
        self, case: Case, ending: tuple[int, ...], costs: FloatArray, exits: FloatArray, slack: float
    ) -> tuple[Case, Solution | None]:
        """Return the case with better prices, by a few steps where these may do, else by its linear programme."""
        same_end = len(ending) == case.decided
        case = case._replace(decided=len(ending))
        aim = self.goal
        if self.scored and self.cases > 1:
            climbed, bound = self._climbed(case, costs, exits, aim)
            if bound >= aim or (same_end and slack > WORTHWHILE * (aim - bound)):
                return case._replace(prices=climbed), None
        case = case._replace(programme=case.programme.smaller(case.kinds, case.leaving))
        solution = case.programme.solve(
            costs, exits, case.kinds, case.leaving, aim, self.budget, worth=slack / WORTHWHILE
        )
        if solution.whole:
            self._take(case.programme.order(solution.shares))
        return case._replace(prices=self._improved(case, solution, costs, exits)), solution

    def _climbed(self, case: Case, costs: FloatArray, exits: FloatArray, aim: float) -> tuple[Prices, float]:
        """Take a few subgradient steps from the prices of the case that this one is part of."""
        costs, exits, back = case.programme.priced(costs, exits, case.prices.combs)
        multipliers = case.prices.multipliers.copy()
        target = aim - back + 1e-9 * self.most
        found = branching.climb(costs, exits, case.kinds, case.leaving, multipliers, target, target, STEPS, PACE)
        return Prices(multipliers, case.prices.combs).rounded(self.places), found + back

    def _improved(self, case: Case, solution: Solution, costs: FloatArray, exits: FloatArray) -> Prices:
        """Return the prices that a solution of the programme gives; without one, go as far as its direction needs."""
        if solution.prices is None:
            return case.prices
        if np.isfinite(solution.value):
            return solution.prices.rounded(self.places)
        rise = case.bound(np.zeros_like(costs), np.zeros_like(exits), solution.prices)
        now = case.bound(costs, exits, case.prices)
        if not rise > 0 or not np.isfinite(now):
            return case.prices
        return case.prices.plus(solution.prices, BEYOND * max(self.value - now, 0.0) / rise).rounded(self.places)

    def _close(self, prices: Prices | None) -> list[Case]:
        self._store((), prices)
        return []

    def _store(self, split: tuple[int, ...], prices: Prices | None) -> None:
        if self.kept <= MOST_STORED:
            self.stored.append(_listed(split, prices))
            self.kept += 3 if prices is None else len(prices.multipliers) + 2 * len(prices.combs)

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

    def _take(self, order: IntArray | None) -> None:
        if order is None:
            return
        value = self.objective(order) - self.held.constant
        if value < self.value and self.objective.allows(order):
            self.order, self.value = order, value


class Tree(NamedTuple):
    """The cheapest 1-tree at some multipliers: its cost, the degree of each vertex, and its order, if it is a tour."""

    total: float
    degree: IntArray
    order: IntArray | None


def cheapest_tree(
    costs: FloatArray, exits: FloatArray, kinds: ByteArray, leaving: ByteArray, multipliers: FloatArray
) -> Tree:
    """Return the cheapest 1-tree at some multipliers."""
    parent, joined, degree = np.zeros((3, len(costs)), dtype=np.int64)
    total, _ = branching.one_tree(costs, exits, kinds, leaving, multipliers, parent, joined, degree)
    tour = total < np.inf and bool((degree == 2).all())
    return Tree(float(total), degree, joined[1:].copy() if tour else None)


def any_open(kinds: ByteArray, leaving: ByteArray) -> tuple[int, int, int]:
    """Return any edge that is not decided, as a split: v, a and -1; -1 for v if there is none."""
    edges, exits = np.argwhere(kinds == FREE), np.flatnonzero(leaving == FREE)
    if len(edges):
        return int(edges[0, 0]), int(edges[0, 1]), -1
    return (int(exits[0]), len(kinds), -1) if len(exits) else UNSPLIT


def _before(
    ending: tuple[int, ...],
    kinds: ByteArray,
    leaving: ByteArray,
    costs: FloatArray,
    exits: FloatArray,
    multipliers: FloatArray,
) -> tuple[int, int, int] | None:
    """Return the cheapest open edge before the decided end: v, a and -1."""
    size = len(leaving)
    if not ending:
        reduced = np.where(leaving == FREE, exits - multipliers[:size], np.inf)
        last = int(np.argmin(reduced))
        return (last, size + 1, -1) if reduced[last] < np.inf else None
    reduced = np.where(kinds[ending[-1]] == FREE, costs[ending[-1]] - multipliers, np.inf)
    before = int(np.argmin(reduced))
    return (ending[-1], before, -1) if reduced[before] < np.inf else None


def _listed(split: tuple[int, ...], prices: Prices | None) -> Listed:
    if prices is None:
        return Listed(split, ())
    return Listed(split, tuple(prices.multipliers.tolist()), tuple(prices.combs.items()))


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
