"""The LP relaxation of tours: two edges per vertex, subtour elimination and combs. HiGHS solves it.

This is the classic cutting-plane method (Dantzig, Fulkerson and Johnson 1954). Vertices are those of `one_tree`. Each
edge that is not fixed to 0 has a variable x_e, the part of it that is used. Every tour leaves a set of vertices at
least twice. A *comb* consists of a handle H and an odd number t >= 3 of disjoint teeth, each with vertices inside and
outside of H. A tour crosses their boundaries at least 3t + 1 times in total (Grötschel and Padberg 1979).

A solution provides dual values, one per vertex and one per comb. At these, the minimum 1-tree costs as much as the LP,
so its bound can be recomputed without any LP. Subtour constraints need no dual value, because a tree leaves every set.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import highspy
import numpy as np
from numpy.typing import NDArray

from learnroute._core import FIXED_TO_0, FIXED_TO_1, FREE
from learnroute.model.ends import BoolArray
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.branch_and_cut.duals import Duals
from learnroute.solvers.exact.branch_and_cut.separation import (
    INTEGRAL,
    least_crossings,
    violated_combs,
    violated_subtours,
)
from learnroute.solvers.exact.one_tree import StatusArray
from learnroute.solvers.params import LpParams

N = TypeVar("N", np.int8, np.float64)

TINY = 1e-9  # dual values up to this count as 0
DEAREST = 1e12  # units; HiGHS does not distinguish larger costs


class Solution(NamedTuple):
    """Solution of the LP: its value (inf if it is infeasible), x_e of each edge, and dual values.

    If the LP is infeasible, `duals` are a dual ray, a direction in which bounds grow without limit.
    """

    value: float
    x: FloatArray
    duals: Duals | None

    @property
    def integral(self) -> bool:
        """Whether no edge is used in part; the solution is then a tour if no subtour constraint is violated."""
        return bool(self.x.any() and np.all(np.minimum(self.x, 1 - self.x) <= INTEGRAL))


class _Cut(NamedTuple):
    sets: BoolArray  # one row each
    comb: int  # its number, or -1 for a subtour constraint


class LpRelaxation:
    """The LP over the edges that are not fixed to 0, with all cuts found so far."""

    def __init__(self, status: StatusArray, combs: list[BoolArray], unit: float, params: LpParams) -> None:
        self.unit = unit  # costs are scaled by it, since the tolerances and the infinity of HiGHS are absolute
        self.params = params
        self.edges: IntArray = np.argwhere(np.tril(status != FIXED_TO_0, -1)).astype(np.int64)
        self.combs = combs  # handle and teeth, one row each; the same list for all relaxations of a proof
        self._vertices = len(status)
        self._cuts: list[_Cut] = []
        self._idle: list[int] = []
        self._highs = highspy.Highs()
        for option, value in (
            ("output_flag", False), ("threads", 1), ("presolve", "off"), ("simplex_strategy", 1),
            ("primal_feasibility_tolerance", params.tolerance), ("dual_feasibility_tolerance", params.tolerance),
        ):  # fmt: skip
            self._highs.setOptionValue(option, value)
        many = len(self.edges)
        nothing = np.zeros(0, dtype=np.int32)
        self._highs.addCols(
            many, np.zeros(many), np.zeros(many), np.ones(many), 0, np.zeros(many, np.int32), nothing, np.zeros(0)
        )
        sides = self.edges.ravel()
        edges = (np.argsort(sides, kind="stable") // 2).astype(np.int32)  # edges of each vertex, vertex by vertex
        starts = np.searchsorted(np.sort(sides), np.arange(self._vertices)).astype(np.int32)
        two = np.full(self._vertices, 2.0)
        self._highs.addRows(len(two), two, two, len(edges), starts, edges, np.ones(len(edges)))

    def solve(
        self, costs: FloatArray, status: StatusArray, limit: float, budget: Budget, worth: float = 0.0
    ) -> Solution:
        """Solve the LP for the edges that are still free, adding cuts while they help or until it reaches `limit`.

        If the gap is less than `worth`, no combs are separated.
        """
        now = self._edge_entries(status)
        numbers = np.arange(len(now), dtype=np.int32)
        prices = np.minimum(self._edge_entries(costs) / self.unit, DEAREST)
        self._highs.changeColsCost(len(now), numbers, np.where(now != FIXED_TO_0, prices, 0.0))
        self._highs.changeColsBounds(
            len(now), numbers, (now == FIXED_TO_1).astype(float), (now != FIXED_TO_0).astype(float)
        )
        before, value, x = -np.inf, -np.inf, np.zeros(len(now))
        for _ in range(self.params.rounds):
            value = self._run(budget)
            if value >= limit or budget.exhausted:
                break
            x = np.array(self._highs.getSolution().col_value)
            square = self._square(x)
            if self._cut_subtours(square):
                continue
            slow = value - before < self.params.comb_gain * (limit - value)
            if limit - value < worth or slow or not self._cut_combs(square):
                break
            before = value
        if value == np.inf:
            return Solution(value, x, self._dual_ray())
        if not np.isfinite(value):
            return Solution(value, x, None)
        duals = np.array(self._highs.getSolution().row_dual)
        found = self._duals(duals)
        self._drop_idle(duals)
        return Solution(value, x, found)

    def reduced_costs(self, costs: FloatArray, duals: dict[int, float]) -> tuple[FloatArray, float]:
        """Return the edge costs less the dual values of combs, and the constant that compensates for them."""
        if not duals:
            return costs, 0.0
        off = np.zeros(len(self.edges))
        back = 0.0
        for comb, dual in duals.items():
            off += dual * self._crossings(self.combs[comb])
            back += dual * least_crossings(len(self.combs[comb]))
        costs = costs.copy()
        a, b = self.edges.T
        costs[a, b] -= off
        costs[b, a] = costs[a, b]
        return costs, back

    def strong_branching(
        self, solution: Solution, status: StatusArray, limit: float, budget: Budget
    ) -> tuple[int, int] | None:
        """Return the edge whose fixing raises the value most, by a few simplex iterations for both branches.

        Return None if all edges are fixed or integral.
        """
        now = self._edge_entries(status)
        apart = np.where(now == FREE, np.abs(solution.x - 0.5), 1.0)
        candidates = np.argsort(apart, kind="stable")[: self.params.strong_candidates]
        candidates = candidates[apart[candidates] < 0.5 - INTEGRAL]
        if len(candidates) == 0:
            return None
        basis = self._highs.getBasis()
        self._highs.setOptionValue("simplex_iteration_limit", self.params.strong_iterations)
        best, chosen = -np.inf, -1
        for edge in candidates.tolist():
            rises = []
            for side in (0.0, 1.0):
                self._highs.changeColBounds(edge, side, side)
                rise = (self._run(budget) - solution.value) / self.unit
                rises.append(min(max(rise, TINY), (limit - solution.value) / self.unit + TINY))
                self._highs.changeColBounds(edge, 0.0, 1.0)
                self._highs.setBasis(basis)
            worth = rises[0] * rises[1]
            if worth > best:
                best, chosen = worth, edge
        self._highs.setOptionValue("simplex_iteration_limit", highspy.kHighsIInf)
        a, b = self.edges[chosen].tolist()
        return (b, a) if a == self._vertices - 1 else (a, b)

    def smaller(self, status: StatusArray) -> LpRelaxation:
        """Return a relaxation without idle cuts and edges that are fixed to 0, if it is much smaller."""
        if int((self._edge_entries(status) != FIXED_TO_0).sum()) >= self.params.shrink * len(self.edges):
            return self
        found = LpRelaxation(status, self.combs, self.unit, self.params)
        for cut, idle in zip(self._cuts, self._idle, strict=True):
            if not idle:
                found._add(*cut)
        return found

    def order(self, x: FloatArray) -> IntArray | None:
        """Return the order of an integral solution; None if it is not one tour."""
        out = self._vertices - 1
        beside: list[list[int]] = [[] for _ in range(self._vertices)]
        for a, b in self.edges[x > 0.5].tolist():
            beside[a].append(b)
            beside[b].append(a)
        found = [out, out - 1]
        while len(found) <= out:
            onward = [v for v in beside[found[-1]] if v != found[-2]]
            if len(onward) != 1:
                return None
            found.append(onward[0])
        order = np.array(found[2:], dtype=np.int64)
        return order if len(set(found)) == len(found) and order.max() < out - 1 else None

    def _run(self, budget: Budget) -> float:
        """Solve the LP; return its value, inf if it is infeasible, -inf if HiGHS gave up or the budget ran out."""
        self._highs.setCallback(_interrupt, budget)
        self._highs.startCallback(highspy.cb.HighsCallbackType.kCallbackSimplexInterrupt)
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return np.inf
        if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kIterationLimit):
            return -np.inf
        return self.unit * float(self._highs.getInfo().objective_function_value)

    def _edge_entries(self, matrix: NDArray[N]) -> NDArray[N]:
        """Return the entries of a matrix by edge."""
        return matrix[self.edges[:, 0], self.edges[:, 1]]

    def _crossings(self, sets: BoolArray) -> FloatArray:
        """Return how many of the sets each edge leaves."""
        counted: FloatArray = (sets[:, self.edges[:, 0]] != sets[:, self.edges[:, 1]]).sum(axis=0).astype(np.float64)
        return counted

    def _square(self, x: FloatArray) -> FloatArray:
        found = np.zeros((self._vertices, self._vertices))
        a, b = self.edges.T
        found[a, b] = found[b, a] = x
        return found

    def _cut_subtours(self, square: FloatArray) -> bool:
        """Add violated subtour constraints; return whether there are any."""
        found = violated_subtours(square)
        for members in found:
            self._add(members[None, :], -1)
        return bool(found)

    def _cut_combs(self, square: FloatArray) -> bool:
        """Add violated combs; return whether there are any."""
        found = violated_combs(square)
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
        """Drop cuts whose dual value has been 0 for many solutions."""
        first = self._vertices
        self._idle = [0 if dual > TINY else idle + 1 for idle, dual in zip(self._idle, duals[first:], strict=True)]
        idle = [k for k, looks in enumerate(self._idle) if looks >= self.params.idle_rounds]
        if len(idle) >= self.params.idle_cuts:
            self._highs.deleteRows(len(idle), np.array(idle, dtype=np.int32) + first)
            dropped = set(idle)
            self._cuts = [cut for k, cut in enumerate(self._cuts) if k not in dropped]
            self._idle = [looks for k, looks in enumerate(self._idle) if k not in dropped]

    def _duals(self, rows: FloatArray) -> Duals:
        multipliers = self.unit * rows[: self._vertices]
        multipliers[-1] = 0.0  # a 1-tree has two edges at `out` in any case
        combs: dict[int, float] = {}
        for cut, dual in zip(self._cuts, rows[self._vertices :].tolist(), strict=True):
            if dual <= TINY:
                continue
            if cut.comb < 0:  # a tree satisfies |edges within a set| <= |set| - 1; the rest goes to the vertices
                multipliers[cut.sets[0]] += self.unit * dual
            else:
                combs[cut.comb] = self.unit * dual
        return Duals(multipliers, combs)

    def _dual_ray(self) -> Duals | None:
        """Return dual values along which the bound of an infeasible LP grows without limit."""
        _, known, ray = self._highs.getDualRay()
        return self._duals(np.array(ray)) if known else None


def _interrupt(_kind: int, _message: str, _state: object, answer: Any, budget: Budget) -> None:
    """Stop HiGHS, which calls this between simplex iterations, when the budget is exhausted."""
    answer.user_interrupt = budget.exhausted
