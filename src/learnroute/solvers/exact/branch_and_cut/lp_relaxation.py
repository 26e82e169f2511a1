"""The linear programme of tours: two edges a vertex, and cuts that every tour obeys. HiGHS solves it.

Vertices are those of `branching`: the regions, `home`, and `out` as the last one. A variable for each edge that is not
struck out says which share of it is used. A tour leaves every set of vertices twice at least. And take a *comb*: a
handle H and an odd number t >= 3 of disjoint teeth, each with vertices inside and outside of H. A tour crosses their
boundaries 3t + 1 times at least, all together (Grötschel and Padberg 1979).

What a solution leaves behind are prices: one for each vertex and one for each comb. At these prices the cheapest 1-tree
costs as much as the programme, so its bound can be recomputed without any linear programme: sets need no price, because
a tree leaves all of them.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import highspy
import numpy as np
from numpy.typing import NDArray

from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.branch_and_cut.branching import FREE, GONE, NEEDED, ByteArray
from learnroute.solvers.exact.branch_and_cut.separation import (
    WHOLE,
    BoolArray,
    combs_crossed_too_little,
    sets_left_too_little,
)

N = TypeVar("N", np.int8, np.float64)

ROUNDS = 60  # of solving and cutting, for one case
RISE = 0.005  # of the gap: combs that raise the bound less are not worth another round
IDLE = 10  # looks after which a cut that has no price is dropped
MANY_IDLE = 20  # cuts that are worth dropping
SMALLER = 0.5  # of the edges: if no more are left, a new programme is worth while
TRIED = 8  # edges that are tried before cases are told apart
STEPS_TRIED = 30  # steps of the simplex method for each
TINY = 1e-9  # a price that is none
DEAREST = 1e12  # units: what costs more is not told apart by HiGHS
TOLERANCE = 1e-9  # of HiGHS


class Prices(NamedTuple):
    """What is taken off edges: one number a vertex but `out`, and what combs (by number) take off edges that cross."""

    multipliers: FloatArray
    combs: dict[int, float]

    def plus(self, other: Prices, times: float) -> Prices:
        """Return the sum with a multiple of others."""
        numbers = dict(self.combs)
        for comb, price in other.combs.items():
            numbers[comb] = numbers.get(comb, 0.0) + times * price
        return Prices(self.multipliers + times * other.multipliers, numbers)

    def rounded(self, places: int) -> Prices:
        """Return them with so many places: any prices give a bound, and short ones are stored in less space."""
        numbers = {comb: round(price, places) for comb, price in self.combs.items()}
        multipliers = np.round(self.multipliers, places) + 0.0  # no -0.0
        return Prices(multipliers, {comb: price for comb, price in numbers.items() if price > 0})


class Solution(NamedTuple):
    """Of the programme: its value (inf where there is none), the shares of edges, and prices.

    Where there is no solution, `prices` are a direction in which bounds grow without end.
    """

    value: float
    shares: FloatArray
    prices: Prices | None

    @property
    def whole(self) -> bool:
        """Whether no edge is used in part: then it is a tour, if no set is left too little."""
        return bool(self.shares.any() and np.all(np.minimum(self.shares, 1 - self.shares) <= WHOLE))


class _Cut(NamedTuple):
    sets: BoolArray  # one row each
    comb: int  # its number, or -1 for one set alone


class Programme:
    """The programme for the edges that are left, with all cuts found so far."""

    def __init__(self, kinds: ByteArray, leaving: ByteArray, combs: list[BoolArray], unit: float = 1.0) -> None:
        home = len(kinds) - 1
        self.unit = unit  # what HiGHS takes for 1: its tolerances, and its infinity, are absolute
        self.out = home + 1
        inner = np.argwhere(np.tril(kinds != GONE, -1))
        last = np.flatnonzero(leaving != GONE)
        self.ends: IntArray = np.concatenate(
            [inner, np.column_stack([np.full(len(last), self.out), last]), [[self.out, home]]]
        ).astype(np.int64)
        self.combs = combs  # handle and teeth, one row each; the same list for all programmes of a proof
        self._cuts: list[_Cut] = []
        self._idle: list[int] = []
        self._highs = highspy.Highs()
        for option, value in (
            ("output_flag", False), ("threads", 1), ("presolve", "off"), ("simplex_strategy", 1),
            ("primal_feasibility_tolerance", TOLERANCE), ("dual_feasibility_tolerance", TOLERANCE),
        ):  # fmt: skip
            self._highs.setOptionValue(option, value)
        many = len(self.ends)
        nothing = np.zeros(0, dtype=np.int32)
        self._highs.addCols(
            many, np.zeros(many), np.zeros(many), np.ones(many), 0, np.zeros(many, np.int32), nothing, np.zeros(0)
        )
        sides = self.ends.ravel()
        edges = (np.argsort(sides, kind="stable") // 2).astype(np.int32)  # of each vertex, one after the other
        starts = np.searchsorted(np.sort(sides), np.arange(self.out + 1)).astype(np.int32)
        two = np.full(self.out + 1, 2.0)
        self._highs.addRows(len(two), two, two, len(edges), starts, edges, np.ones(len(edges)))

    def solve(
        self,
        costs: FloatArray,
        exits: FloatArray,
        kinds: ByteArray,
        leaving: ByteArray,
        limit: float,
        budget: Budget,
        worth: float = 0.0,
    ) -> Solution:
        """Solve and cut until nothing is violated, the value reaches `limit`, or little is gained.

        Combs are looked for only while the gap to `limit` is at least `worth`.
        """
        now = self._kinds(kinds, leaving)
        numbers = np.arange(len(now), dtype=np.int32)
        prices = np.minimum(self._of_edges(costs, exits, 0.0) / self.unit, DEAREST)
        self._highs.changeColsCost(len(now), numbers, np.where(now != GONE, prices, 0.0))
        self._highs.changeColsBounds(len(now), numbers, (now == NEEDED).astype(float), (now != GONE).astype(float))
        before, value, shares = -np.inf, -np.inf, np.zeros(len(now))
        for _ in range(ROUNDS):
            value = self._run(budget)
            if value >= limit or budget.exhausted:
                break
            shares = np.array(self._highs.getSolution().col_value)
            square = self._square(shares)
            if self._cut_sets(square):
                continue
            if limit - value < worth or value - before < RISE * (limit - value) or not self._cut_combs(square):
                break
            before = value
        if value == np.inf:
            return Solution(value, shares, self._direction())
        if not np.isfinite(value):
            return Solution(value, shares, None)
        duals = np.array(self._highs.getSolution().row_dual)
        found = self._prices(duals)
        self._drop_idle(duals)
        return Solution(value, shares, found)

    def priced(
        self, costs: FloatArray, exits: FloatArray, numbers: dict[int, float]
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return the costs of edges and exits with what combs take off, and what is paid back for that at once."""
        if not numbers:
            return costs, exits, 0.0
        off = np.zeros(len(self.ends))
        back = 0.0
        for comb, price in numbers.items():
            off += price * self._crossings(self.combs[comb])
            back += price * least_crossings(len(self.combs[comb]))
        costs, exits = costs.copy(), exits.copy()
        within = int(np.searchsorted(self.ends[:, 0], self.out))
        a, b = self.ends[:within].T
        costs[a, b] -= off[:within]
        costs[b, a] = costs[a, b]
        exits[self.ends[within:-1, 1]] -= off[within:-1]
        return costs, exits, back - float(off[-1])

    def split(
        self, solution: Solution, kinds: ByteArray, leaving: ByteArray, limit: float, budget: Budget
    ) -> tuple[int, int] | None:
        """Return the edge whose use or not raises the value most, by a few steps for both; None if all are decided."""
        now = self._kinds(kinds, leaving)
        apart = np.where(now == FREE, np.abs(solution.shares - 0.5), 1.0)
        tried = np.argsort(apart, kind="stable")[:TRIED]
        tried = tried[apart[tried] < 0.5 - WHOLE]
        if len(tried) == 0:
            return None
        basis = self._highs.getBasis()
        self._highs.setOptionValue("simplex_iteration_limit", STEPS_TRIED)
        best, chosen = -np.inf, -1
        for edge in tried.tolist():
            rises = []
            for share in (0.0, 1.0):
                self._highs.changeColBounds(edge, share, share)
                rise = (self._run(budget) - solution.value) / self.unit
                rises.append(min(max(rise, TINY), (limit - solution.value) / self.unit + TINY))
                self._highs.changeColBounds(edge, 0.0, 1.0)
                self._highs.setBasis(basis)
            worth = rises[0] * rises[1]
            if worth > best:
                best, chosen = worth, edge
        self._highs.setOptionValue("simplex_iteration_limit", highspy.kHighsIInf)
        a, b = self.ends[chosen].tolist()
        return (b, a) if a == self.out else (a, b)

    def smaller(self, kinds: ByteArray, leaving: ByteArray) -> Programme:
        """Return a programme without edges that are struck out and cuts without a price, if it is much smaller."""
        if int((self._kinds(kinds, leaving) != GONE).sum()) >= SMALLER * len(self.ends):
            return self
        found = Programme(kinds, leaving, self.combs, self.unit)
        for cut, idle in zip(self._cuts, self._idle, strict=True):
            if not idle:
                found._add(*cut)
        return found

    def order(self, shares: FloatArray) -> IntArray | None:
        """Return the order of a solution in whole shares; None if it is not one tour."""
        beside: list[list[int]] = [[] for _ in range(self.out + 1)]
        for a, b in self.ends[shares > 0.5].tolist():
            beside[a].append(b)
            beside[b].append(a)
        found = [self.out, self.out - 1]
        while len(found) <= self.out:
            onward = [v for v in beside[found[-1]] if v != found[-2]]
            if len(onward) != 1:
                return None
            found.append(onward[0])
        order = np.array(found[2:], dtype=np.int64)
        return order if len(np.unique(order)) == len(order) and order.max() < self.out - 1 else None

    def _run(self, budget: Budget) -> float:
        """Solve; return the value, inf where there is no solution, -inf where the solver gave up."""
        left = budget.seconds_left
        if left is not None:
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)  # it counts all runs
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return np.inf
        if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kIterationLimit):
            return -np.inf
        return self.unit * float(self._highs.getInfo().objective_function_value)

    def _of_edges(self, inner: NDArray[N], last: NDArray[N], between: float) -> NDArray[N]:
        """Return the entries of a matrix, of the exits and of the edge between home and out, edge by edge."""
        a, b = self.ends.T
        within = int(np.searchsorted(a, self.out))  # edges of `out` come last, that to home behind the others
        return np.concatenate([inner[a[:within], b[:within]], last[b[within:-1]], np.array([between], inner.dtype)])

    def _kinds(self, kinds: ByteArray, leaving: ByteArray) -> ByteArray:
        return self._of_edges(kinds, leaving, NEEDED)

    def _crossings(self, sets: BoolArray) -> FloatArray:
        """How many of the sets each edge leaves."""
        counted: FloatArray = (sets[:, self.ends[:, 0]] != sets[:, self.ends[:, 1]]).sum(axis=0).astype(np.float64)
        return counted

    def _square(self, shares: FloatArray) -> FloatArray:
        found = np.zeros((self.out + 1, self.out + 1))
        a, b = self.ends.T
        found[a, b] = found[b, a] = shares
        return found

    def _cut_sets(self, square: FloatArray) -> bool:
        """Add sets that are left too little; whether there are any."""
        found = sets_left_too_little(square)
        for members in found:
            self._add(members[None, :], -1)
        return bool(found)

    def _cut_combs(self, square: FloatArray) -> bool:
        """Add combs that are crossed too little; whether there are any."""
        found = combs_crossed_too_little(square)
        for comb in found:
            self.combs.append(np.array(comb))
            self._add(self.combs[-1], len(self.combs) - 1)
        return bool(found)

    def _add(self, sets: BoolArray, comb: int) -> None:
        crossings = self._crossings(sets)
        own = np.flatnonzero(crossings).astype(np.int32)
        least = 2.0 if comb < 0 else least_crossings(len(sets))
        self._highs.addRow(least, highspy.kHighsInf, len(own), own, crossings[own])
        self._cuts.append(_Cut(sets, comb))
        self._idle.append(0)

    def _drop_idle(self, duals: FloatArray) -> None:
        """Drop cuts that have had no price for long."""
        first = self.out + 1
        self._idle = [0 if dual > TINY else idle + 1 for idle, dual in zip(self._idle, duals[first:], strict=True)]
        idle = [k for k, looks in enumerate(self._idle) if looks >= IDLE]
        if len(idle) >= MANY_IDLE:
            self._highs.deleteRows(len(idle), np.array(idle, dtype=np.int32) + first)
            dropped = set(idle)
            self._cuts = [cut for k, cut in enumerate(self._cuts) if k not in dropped]
            self._idle = [looks for k, looks in enumerate(self._idle) if k not in dropped]

    def _prices(self, duals: FloatArray) -> Prices:
        multipliers = self.unit * duals[: self.out]
        numbers: dict[int, float] = {}
        for cut, dual in zip(self._cuts, duals[self.out + 1 :].tolist(), strict=True):
            if dual <= TINY:
                continue
            if cut.comb < 0:  # |edges within a set| <= |set| - 1 is what a tree obeys: the rest is the vertices'
                multipliers[cut.sets[0, :-1]] += self.unit * dual
            else:
                numbers[cut.comb] = self.unit * dual
        return Prices(multipliers, numbers)

    def _direction(self) -> Prices | None:
        """Return prices along which the bound of an impossible programme grows without end."""
        _, known, ray = self._highs.getDualRay()
        return self._prices(np.array(ray)) if known else None


def least_crossings(sets: int) -> float:
    """How often a tour crosses the boundaries of a comb of so many sets (a handle and teeth), at least."""
    return 3.0 * (sets - 1) + 1.0
