"""Decide whether any order is below a goal: by the certificate of a plan, and by enumeration if that is possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from types import ModuleType

from learnroute.model.certificates import BranchAndBound, Certificate, HeldKarp, NgRoutes, OneTree, Simple, VisitRoutes
from learnroute.verification import branch_and_bound, held_karp, ng_route, one_tree, simple
from learnroute.verification.checks import EffortExceededError
from learnroute.verification.exact import MATRIX_REGIONS, MOST_REGIONS, Model
from learnroute.verification.grid import BITS, Costs

ON_A_GRID: dict[type[Certificate], ModuleType] = {
    Simple: simple,
    OneTree: one_tree,
    BranchAndBound: branch_and_bound,
}
NEARLY = Fraction(999, 1000)  # share of a goal with too large a proof beyond which other goals are not tried either


@dataclass(frozen=True)
class Outcome:
    """The result of checking a goal.

    Attributes
    ----------
    proved
        Whether it was shown that no order is below the goal.
    better
        How far an order is below the goal, if one is.
    follows
        The bound that the certificate proves instead (without the constant), if it was recomputed and is too low.
    why
        The reason why neither was shown.
    """

    proved: bool = False
    better: Fraction | None = None
    follows: Fraction | None = None
    why: str = ""


class Checker:
    """The orders of a model and a certificate about them. Goals and bounds are without the constant."""

    def __init__(self, model: Model, certificate: Certificate | None) -> None:
        self.model, self.certificate = model, certificate
        self.known = Fraction(0)  # no order is below this, since no cost is negative
        self.too_large: Fraction | None = None  # the goal of a proof that was too large to repeat
        self._settled: dict[tuple[Fraction, bool], Outcome] = {}

    def decide(self, goal: Fraction, optimum: bool = False) -> Outcome:
        """Decide whether no order is below a goal; with `optimum`, consider all orders if ng-routes allow it."""
        if goal <= self.known:
            return Outcome(proved=True)
        key = goal, optimum
        if key not in self._settled:
            found = self._by_certificate(goal, optimum)
            if not found.proved and found.better is None and self.model.size <= held_karp.MOST_REGIONS:
                found = self._by_enumeration(goal, found)
            self._settled[key] = found
            if found.proved:
                self.known = max(self.known, goal)
            elif found.follows is not None:
                self.known = max(self.known, found.follows)
        return self._settled[key]

    def _by_certificate(self, goal: Fraction, optimum: bool) -> Outcome:
        certificate, size = self.certificate, self.model.size
        if certificate is None:
            return Outcome(why="the plan has no certificate")
        if size > MOST_REGIONS:
            return Outcome(why=f"more than {MOST_REGIONS:,} regions are too many to recompute it")
        if size > MATRIX_REGIONS and not isinstance(certificate, Simple | OneTree):
            return Outcome(why=f"more than {MATRIX_REGIONS:,} regions are too many to repeat this kind of proof")
        if isinstance(certificate, HeldKarp):
            return Outcome(why=f"more than {held_karp.MOST_REGIONS} regions cannot be enumerated")
        if isinstance(certificate, VisitRoutes):
            return Outcome(why=f"a certificate of kind {certificate.kind} is for optional visits")
        if isinstance(certificate, NgRoutes):
            if size > ng_route.MOST_REGIONS:
                return Outcome(why=f"more than {ng_route.MOST_REGIONS} regions are too many to repeat it by ng-routes")
            return self._by_ng_routes(certificate, goal, optimum)
        bits = one_tree.bits_for(certificate, goal) if isinstance(certificate, OneTree) else BITS
        costs = Costs(self.model, goal, bits)
        try:
            found = costs.goal if costs.reached else ON_A_GRID[type(certificate)].bound(costs, certificate)
        except EffortExceededError:
            return Outcome(why="the tree is too large to repeat")
        if found >= costs.goal:
            return Outcome(proved=True)
        return Outcome(follows=costs.value(found), why="the certificate proves a lower bound only")

    def _by_ng_routes(self, certificate: NgRoutes, goal: Fraction, optimum: bool) -> Outcome:
        found = self._check_routes_left(certificate, goal, False)
        if found.proved or not optimum or (self.too_large is not None and goal > NEARLY * self.too_large):
            return found
        further = self._check_routes_left(certificate, goal, True)
        if further.proved or further.better is not None:
            return further
        if further.follows is None:
            self.too_large = goal
        return replace(found, why=further.why)

    def _check_routes_left(self, certificate: NgRoutes, goal: Fraction, all_orders: bool) -> Outcome:
        try:
            left = ng_route.routes_left(self.model, certificate, goal, all_orders)
        except EffortExceededError:
            return Outcome(why="repeating it needs too many labels")
        if left.cheapest is None or left.bound >= left.costs.goal:
            return Outcome(proved=True)
        # an upper bound on the value of this order: its cost, plus more than costs and shares were rounded down by
        lost = left.costs.value(left.cheapest + 2 * self.model.size + 2) + self.model.rounding_loss
        if all_orders and left.costs.tight and lost < goal:
            return Outcome(better=goal - lost)
        return Outcome(follows=left.costs.value(left.bound), why="the certificate proves a lower bound only")

    def _by_enumeration(self, goal: Fraction, found: Outcome) -> Outcome:
        try:
            below, order = held_karp.better_order(self.model, goal)
        except ArithmeticError as error:
            return Outcome(follows=found.follows, why=str(error))
        return Outcome(better=goal - self.model.value(order).high) if below else Outcome(proved=True)
