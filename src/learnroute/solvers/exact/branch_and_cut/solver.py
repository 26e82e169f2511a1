"""Branch and cut: prove an order optimal if travel is symmetric and few scores count.

Branch and bound with cuts, as in the textbook (Padberg and Rinaldi 1991; Applegate, Bixby, Chvátal and Cook 2006):
solve a relaxation at a node, fix edges by their reduced costs, propagate, prune if the bound reaches the incumbent,
otherwise branch on an edge. There are two differences. The bound of a node is never the LP's own but the minimum 1-tree
at the dual values of the LP, which can be recomputed without an LP. And the root is a Lagrangian ascent, which fixes
most edges before the first LP is built.

Fixing (`reduced_costs.h`), propagation (`propagation.h`) and 1-trees (`one_tree.h`) are in the compiled core.

Scores other than the last one are handled by branching on the ending of orders (`end_costs`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from learnroute._core import FIXED_TO_0, FIXED_TO_1, FREE, ascend_one_trees, fix_by_reduced_cost, propagate
from learnroute.model.certificates import BranchAndBound, Certificate, OneTree
from learnroute.model.certificates import Node as Listed
from learnroute.model.ends import BoolArray
from learnroute.model.rounding import PROOF, margin
from learnroute.model.validation import FloatArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.branch_and_cut.duals import Duals
from learnroute.solvers.exact.branch_and_cut.end_costs import EndCosts, Ending, known_ending
from learnroute.solvers.exact.branch_and_cut.separation import least_crossings
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.one_tree import StatusArray, Tree, all_free, minimum_one_tree, tour_graph
from learnroute.solvers.exact.subgradient import new_ascent
from learnroute.solvers.params import BranchAndCutParams

if TYPE_CHECKING:
    from learnroute.solvers.exact.branch_and_cut.lp_relaxation import LpRelaxation, Solution

Branch = tuple[int, int, int]  # a vertex and the other ends of one or two of its edges, -1 for none
NO_BRANCH: Branch = (-1, -1, -1)  # edges were fixed; the node is processed again
MOST_PLACES = 300  # decimal places that float64 can be rounded to


class Node(NamedTuple):
    """A node of the tree: the status of edges, and the results of its parent."""

    status: StatusArray
    duals: Duals
    lp: LpRelaxation
    ending: int = 0  # number of regions in the known ending of its orders

    def bound(self, costs: FloatArray, duals: Duals) -> float:
        """Return the bound at given dual values."""
        costs, back = self.lp.reduced_costs(costs, duals.combs)
        return minimum_one_tree(costs, self.status, duals.multipliers).total + back

    def children(self, branch: Branch) -> list[Node]:
        """Branch on whether the edge v-a is used; with b, on whether both v-a and v-b are."""
        v, a, b = branch
        if v < 0:
            return [self]
        without, half = self._fix(v, a, FIXED_TO_0), self._fix(v, a, FIXED_TO_1)
        if b < 0:
            return [half, without]
        return [without, half._fix(v, b, FIXED_TO_0), half._fix(v, b, FIXED_TO_1)]

    def _fix(self, v: int, u: int, kind: int) -> Node:
        status = self.status.copy()
        if status[v, u] in (FREE, kind):
            status[v, u] = status[u, v] = kind
        else:
            status[v] = FIXED_TO_0  # it was fixed the other way: no tour remains
        return self._replace(status=status)


class BranchAndCut:
    """A proof in progress; `incumbent` and `bound` (without the constant) are valid at any time."""

    def __init__(self, incumbent: Incumbent, budget: Budget, params: BranchAndCutParams) -> None:
        self.incumbent, self.budget, self.params = incumbent, budget, params
        self.bound, self.proved, self.nodes = -np.inf, False, 0
        path = incumbent.path
        self.costs = tour_graph(path)
        # an edge that costs more than a known order is in no better one, so no number exceeds the value of that order
        self.most = max(incumbent.value, 0.0)
        np.minimum(self.costs, self.most, out=self.costs, where=np.isfinite(self.costs))
        self.ends = EndCosts(path, self.costs, params.priced_ends)
        self.combs: list[BoolArray] = []
        self.stored: list[Listed] = []
        self.numbers, self.hopeless = 0, False  # numbers stored; whether a node stays open only because of rounding
        self.one_tree = OneTree(-np.inf, np.zeros(len(self.costs)))  # the root without LP
        self.root: tuple[float, list[Listed]] = (-np.inf, [])  # the root's bound, and the nodes that prove it
        typical = (incumbent.value - float(self.costs[-1, :-2].min())) / path.size
        self.unit = 2.0 ** math.frexp(typical)[1] if typical > 0 else 1.0
        self.places = min(params.digits - round(math.log10(self.unit)), MOST_PLACES)

    def run(self) -> None:
        """Process nodes until the proof is complete, or the budget or the number of nodes is exhausted."""
        self.nodes, self.stored, self.numbers = 0, [], 0
        status = np.where(self.costs < self.most, all_free(self.costs), FIXED_TO_0).astype(np.int8)
        status[-1, -2] = status[-2, -1] = FIXED_TO_1
        root = self._root(status)
        if root is None:
            return
        open_nodes = [root]
        while open_nodes:
            if self.budget.exhausted or self.nodes >= self.params.nodes:
                return
            open_nodes.extend(reversed(self._solve(open_nodes.pop())))
            unpromising = (status == FREE).sum() > 2 * self.params.promising_edges * len(self.incumbent.order)
            if self.hopeless or (self.nodes == 1 and self.params.only_if_promising and unpromising):
                return
            self.budget.progress("proof", 1 - 1 / (1 + self.nodes / 100))
        self._finish()

    def certificate(self) -> Certificate:
        """Return a certificate of the proved bound: the whole tree if it is not too large, else the root's bound."""
        value, constant = self.incumbent.value, self.incumbent.path.constant
        if self.proved and self.numbers <= self.params.stored_numbers:
            return self._certificate(value - 2 * PROOF * abs(value + constant), self.stored)
        if self.root[0] + constant > self.one_tree.bound:
            return self._certificate(*self.root)
        return self.one_tree

    def _finish(self) -> None:
        self.proved, self.bound = True, self.incumbent.value

    def _root(self, status: StatusArray) -> Node | None:
        """Find multipliers for the root's 1-tree and fix edges; return None if no tour or too many edges remain."""
        params, size, value = self.params, len(self.incumbent.order), self.incumbent.value
        multipliers = np.zeros(len(self.costs))
        calls = 1 if size <= params.many_regions else params.root_calls
        for call in range(params.root_calls * calls):
            ascent = new_ascent(multipliers, value, params.root_ascent)
            ascent.set_pace(params.root_ascent.pace / (1 + call // calls))
            ascend_one_trees(self.costs, status, ascent, params.root_ascent.steps // calls)
            multipliers = ascent.best
            if self.budget.exhausted or ascent.bound >= value:
                break
        duals = Duals(multipliers, {}).round_multipliers(self.places)
        tree = minimum_one_tree(self.costs, status, duals.multipliers)
        lost = self._margin(self.costs, duals, tree)
        self.bound = min(tree.total, value) - 2 * lost
        self.one_tree = OneTree(self.incumbent.with_constant(self.bound), duals.multipliers)
        if self.budget.exhausted:
            return None
        bound, _ = fix_by_reduced_cost(self.costs, status, duals.multipliers, self.incumbent.goal + lost)
        if bound == np.inf or not propagate(status):
            self._store((), duals)
            self._finish()
            return None
        if (status == FREE).sum() > 2 * params.lp_edges * size and size > params.many_regions:
            return None
        self._store(NO_BRANCH, duals)
        from learnroute.solvers.exact.branch_and_cut.lp_relaxation import LpRelaxation  # loads HiGHS

        return Node(status, duals, LpRelaxation(status, self.combs, self.unit, params.lp))

    def _solve(self, node: Node) -> list[Node]:
        """Prune a node, or return its children."""
        status = node.status
        self.nodes += 1
        if not propagate(status):
            return self._prune(None)
        free = int((status == FREE).sum())
        ending = known_ending(status) if self.ends.scored else ()
        end_costs, looseness = self.ends.of(ending)
        node, solution = self._reprice(node, ending, end_costs, looseness)
        duals = node.duals
        costs, back = node.lp.reduced_costs(end_costs, duals.combs)
        tree = minimum_one_tree(costs, status, duals.multipliers)
        self.incumbent.offer(tree.order)
        lost = self._margin(costs, duals, tree)
        if self.nodes == 1:
            self.bound = max(self.bound, min(tree.total + back, self.incumbent.value) - 2 * lost)
            self.root = self.bound, [*self.stored, _node_record((), duals)]
        limit = self.incumbent.goal + lost - back
        bound, choice = fix_by_reduced_cost(costs, status, duals.multipliers, limit)
        if bound == np.inf or not propagate(status):
            return self._prune(duals)
        v, a, b = choice
        tour = tree.order is not None or (solution is not None and solution.integral)
        if self.ends.scored and (tour or looseness > self.params.end_looseness * (limit - bound)):
            v, a, b = _cheapest_edge(ending, status, costs, duals.multipliers) or (v, a, b)
        elif solution is not None and np.isfinite(solution.value):
            edge = node.lp.strong_branching(solution, status, limit + back, self.budget)
            v, a, b = (v, a, b) if edge is None else (*edge, -1)
        if v < 0 and int((status == FREE).sum()) == free:
            v, a, b = _any_free(status)
            self.hopeless = v < 0
        self._store((v, a, b), duals)
        return node.children((v, a, b))

    def _reprice(self, node: Node, ending: Ending, costs: FloatArray, looseness: float) -> tuple[Node, Solution | None]:
        """Return the node with better dual values, from a short ascent if that may suffice, otherwise from its LP."""
        same_ending = len(ending) == node.ending
        node = node._replace(ending=len(ending))
        goal, share = self.incumbent.goal, self.params.end_looseness
        if self.ends.scored and self.nodes > 1:
            duals, bound = self._ascend(node, costs, goal)
            if bound >= goal or (same_ending and looseness > share * (goal - bound)):
                return node._replace(duals=duals), None
        node = node._replace(lp=node.lp.smaller(node.status))
        solution = node.lp.solve(costs, node.status, goal, self.budget, worth=looseness / share)
        if solution.integral:
            self.incumbent.offer(node.lp.order(solution.x))
        return node._replace(duals=self._solve_lp(node, solution, costs)), solution

    def _ascend(self, node: Node, costs: FloatArray, goal: float) -> tuple[Duals, float]:
        """Take a few subgradient steps from the multipliers of the parent."""
        costs, back = node.lp.reduced_costs(costs, node.duals.combs)
        ascent = new_ascent(node.duals.multipliers, goal - back + 1e-9 * self.most, self.params.node_ascent)
        ascend_one_trees(costs, node.status, ascent, self.params.node_ascent.steps)
        return Duals(ascent.best, node.duals.combs).round_multipliers(self.places), ascent.bound + back

    def _solve_lp(self, node: Node, solution: Solution, costs: FloatArray) -> Duals:
        """Return the dual values of an LP; if it is infeasible, move along its dual ray as far as needed."""
        if solution.duals is None:
            return node.duals
        if np.isfinite(solution.value):
            return solution.duals.round_multipliers(self.places)
        rise = node.bound(np.where(np.isfinite(costs), 0.0, costs), solution.duals)
        now = node.bound(costs, node.duals)
        if not rise > 0 or not np.isfinite(now):
            return node.duals
        gap = max(self.incumbent.value - now, 0.0)
        return node.duals.plus(solution.duals, self.params.ray_length * gap / rise).round_multipliers(self.places)

    def _margin(self, costs: FloatArray, duals: Duals, tree: Tree) -> float:
        """Return an upper bound on the rounding error of the bound of a 1-tree at given dual values."""
        crossed = 0.0
        for comb, dual in duals.combs.items():
            sets = len(self.combs[comb])
            crossed += dual * (2 * len(costs) * sets + least_crossings(sets))
        return tree.margin(costs, duals.multipliers) + margin(len(costs), 2 * self.most + crossed)

    def _prune(self, duals: Duals | None) -> list[Node]:
        self._store((), duals)
        return []

    def _store(self, branch: tuple[int, ...], duals: Duals | None) -> None:
        if self.numbers <= self.params.stored_numbers:
            self.stored.append(_node_record(branch, duals))
            self.numbers += 3 if duals is None else len(duals.multipliers) + 2 * len(duals.combs)

    def _certificate(self, bound: float, nodes: list[Listed]) -> BranchAndBound:
        """Return a certificate with the combs that its nodes use, renumbered."""
        used = sorted({comb for node in nodes for comb, _ in node.combs})
        number = {comb: k for k, comb in enumerate(used)}
        combs = tuple(tuple(tuple(np.flatnonzero(row).tolist()) for row in self.combs[comb]) for comb in used)
        listed = tuple(node._replace(combs=tuple((number[comb], dual) for comb, dual in node.combs)) for node in nodes)
        return BranchAndBound(self.incumbent.with_constant(bound), self.one_tree.multipliers, listed, combs)


def _node_record(branch: tuple[int, ...], duals: Duals | None) -> Listed:
    if duals is None:
        return Listed(branch, ())
    return Listed(branch, tuple(duals.multipliers[:-1].tolist()), tuple(duals.combs.items()))


def _any_free(status: StatusArray) -> Branch:
    """Return any edge that is not fixed; NO_BRANCH if there is none."""
    free = np.argwhere(status == FREE)
    return (int(free[0, 0]), int(free[0, 1]), -1) if len(free) else NO_BRANCH


def _cheapest_edge(ending: Ending, status: StatusArray, costs: FloatArray, multipliers: FloatArray) -> Branch | None:
    """Return the cheapest free edge before the known ending; None if there is none."""
    out = len(status) - 1
    at = ending[-1] if ending else out
    reduced = np.where(status[at] == FREE, costs[at] - multipliers, np.inf)
    before = int(np.argmin(reduced))
    if reduced[before] == np.inf:
        return None
    return (before, out, -1) if at == out else (at, before, -1)
