"""Mutated plans and the truth about them: the exact losses of all orders of a problem in rational numbers."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from learnroute import Calibrated, Constraints, InputError, Learner, Problem, evaluate, verify
from learnroute.model.certificates import Certificate, HeldKarp, Simple
from learnroute.solvers.bounds import simple_bound
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.branch_and_cut.solver import BranchAndCut
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.ng_route.solver import NgRouteProof
from learnroute.solvers.exact.one_tree import one_tree_bound
from learnroute.solvers.params import DEFAULTS, AscentParams, BranchAndCutParams, OneTreeParams
from oracle import law_of
from samples import linear_of

EXOTIC = 10  # number of ordinary problems, before those with numbers that are hard for float64
TOLERANCE = Fraction(1, 10**10)
EXTREME = [0, -0.0, 5e-324, -1e-300, 1e-9, 1.0, 1e9, 1e16, 1e100, -1e100, 1e308, float("nan"), float("inf"), 10**400]


@dataclass
class Case:
    """A problem with the totals of all its routes."""

    problem: Problem
    totals: dict[tuple[int, ...], Fraction]

    @cached_property
    def least(self) -> Fraction:
        return min(self.totals.values())

    def certificates(self) -> dict[str, Certificate]:
        """Return one certificate of each kind, made by the solvers for the best order."""
        objective = linear_of(self.problem)
        best = min(self.totals, key=lambda order: self.totals[order])
        order = np.array(best)
        value = objective(order)
        routes = NgRouteProof(Incumbent(objective, order), np.random.default_rng(0), Budget(), DEFAULTS)
        routes.run()
        found: dict[str, Certificate] = {
            "simple": Simple(simple_bound(objective)),
            "one-tree": one_tree_bound(objective, value, Budget(), OneTreeParams(AscentParams(60))),
            "held-karp": HeldKarp(value * (1 - 1e-13)),
            "ng-routes": routes.certificate(),
        }
        tree = BranchAndCut(Incumbent(objective, order), Budget(), BranchAndCutParams())
        if objective.travel.symmetric and tree.incumbent.tight:
            tree.run()
            found["branch-and-bound"] = tree.certificate()
        return found


def case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 7))
    travel = rng.uniform(1, 10, (size, size)) if seed % 3 else 10.0 ** rng.uniform(-9, 9, (size, size))
    if seed >= EXOTIC:
        travel = rng.choice([[0, 1e-90, 1e-9, 1, 1e16], [1, 1 + 2.0**-52, 2, 1, 1], [1e10, 1e10 - 1, 1e10 - 2, 0, 1]][
            seed % 3
        ], (size, size))  # fmt: skip
    if seed % 2:
        travel = np.maximum(travel, travel.T)
    np.fill_diagonal(travel, 0)
    delta = rng.uniform(0, 10, (size, size)) * (seed % 5 > 0)
    delta = np.maximum(delta, delta.T)
    np.fill_diagonal(delta, 0)
    names = [f"R{i + 1}" for i in range(size)]
    ends = [
        Constraints(),
        Constraints(start=names[1]),
        Constraints(end=names[0], returns=True),
        Constraints(returns=True),
    ]
    problem = Problem(
        travel, [Learner(80, 100, 0.1), Learner(120, 100, 0.1), Learner(1000, 100)][seed % 3], delta,
        initial=rng.uniform(0, 3, size), constraints=ends[seed % 4], travel_rate=[1.0, 0.3, 1e-8][seed // 2 % 3],
        samples=rng.choice([20, 60, 150], size) if seed % 6 == 4 else None,
        importance=[*rng.choice([0.0, 1.0, 0.3, 7.0], size - 1).tolist(), 1.0] if seed % 4 in (1, 2) else None,
    )  # fmt: skip
    return case_of(problem)


def case_of(problem: Problem) -> Case:
    exact = law_of(problem)
    return Case(problem, {order: exact.total(order) for order in exact.orders()})


def case_below_zero(seed: int) -> Case:
    """Return a case of measured errors with more noise than error, so that some or all routes have negative losses."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 6))
    problem = Problem(
        rng.uniform(0, 1, (size, size)) * (1 - np.eye(size)),
        Calibrated(retention=0.5, coupling=[0.25, 0.0][seed % 2], noise=[-0.375, -4.0, -1e6][seed % 3]),
        transfer=rng.uniform(0, 1, (size, size)), initial=rng.uniform(0, 1, size), travel_rate=0.25,
        constraints=Constraints(returns=seed % 4 == 3),
        importance=[1.0, 3.0, 0.5, 0.0, 2.0][:size] if seed > 2 else None,
    )  # fmt: skip
    return case_of(problem)


def numbers_in(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all numbers in a JSON value."""
    if isinstance(data, dict):
        return [found for key, value in data.items() for found in numbers_in(value, (*path, key))]
    if isinstance(data, list):
        return [found for k, value in enumerate(data) for found in numbers_in(value, (*path, k))]
    return [path] if isinstance(data, int | float) and not isinstance(data, bool) else []


def lists_in(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all lists in a JSON value."""
    found = [path] if isinstance(data, list) else []
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return found + [each for key, value in children for each in lists_in(value, (*path, key))]


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def mutate(case: Case | None, data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Return a plan with one to three changes; without a case, its route is not replaced by another one."""
    changed = copy.deepcopy(data)
    orders = [] if case is None else list(case.totals)
    for _ in range(int(rng.integers(1, 4))):
        what = int(rng.integers(case is None, 9))
        if case is not None and what == 0:  # another route, with its loss
            order = orders[int(rng.integers(len(orders)))]
            other = json.loads(json.dumps(evaluate(case.problem, list(order)).to_dict()))
            kept = {"certificate", "lower_bound", "optimal", "gap", "certified_ratio", "guarantee"}
            changed.update({key: value for key, value in other.items() if key not in kept})
        elif what == 1:  # an optimum
            total = changed["loss"]["total"]
            changed.update(optimal=True, lower_bound=total, gap=0.0, certified_ratio=1.0, guarantee=1.0)
        elif what in (2, 3):  # a raised bound
            raised = float(changed.get("lower_bound") or 1.0) * (1 + float(10.0 ** rng.uniform(-16, 0.3)))
            changed["lower_bound"] = raised
            if what == 3 and isinstance(changed.get("certificate"), dict):
                changed["certificate"]["bound"] = raised
        elif what == 4:  # a number
            places = numbers_in(changed)
            path = places[int(rng.integers(len(places)))]
            old = at(changed, path)
            new: Any = EXTREME[int(rng.integers(len(EXTREME)))]
            if rng.random() < 0.6:
                factor = float(rng.choice([0.5, 1 + 1e-11, 1 + 1e-9, 1.001, 2, -1, 1e14]))
                new = int(rng.integers(-1, 9)) if isinstance(old, int) else old * factor
            at(changed, path[:-1])[path[-1]] = new
        elif what == 5 and "certificate" in changed:  # numbers of the certificate
            places = [path for path in numbers_in(changed["certificate"]) if path != ("bound",)]
            for path in places[:: int(rng.integers(1, 5))]:
                old = at(changed["certificate"], path)
                factor = float(10.0 ** rng.integers(-3, 20))
                new = int(rng.integers(0, 8)) if isinstance(old, int) else old * factor + rng.normal()
                at(changed["certificate"], path[:-1])[path[-1]] = new
        elif what == 6:  # a list: shuffled, shortened, doubled
            places = lists_in(changed)
            row = at(changed, places[int(rng.integers(len(places)))])
            turn = int(rng.integers(4))
            if turn == 0:
                rng.shuffle(row)
            elif turn == 1:
                del row[: int(rng.integers(1, 3))]
            elif turn == 2:
                row.extend(copy.deepcopy(row))
            else:
                row.clear()
        elif what == 7:  # a member removed
            changed.pop(str(rng.choice([key for key in changed if key not in ("route", "order", "loss")])), None)
        else:
            member = str(rng.choice(["guarantee", "gap", "certified_ratio"]))
            changed[member] = float(rng.choice([0, 0.01, 0.999, 1, 1.2]))
    return changed


def true(case: Case, data: dict[str, Any], what: str) -> bool | None:
    """Return whether a claim is true; None if it is not about bounds."""
    least, total = case.least, case.totals[tuple(data["order"])]
    optimal = data.get("optimal", False)
    undercut = total - TOLERANCE * abs(total)
    if what == "optimum":
        return undercut <= least
    if what == "bound":
        bound = Fraction(data["lower_bound"])
        return bound - (TOLERANCE * abs(bound) if optimal else 0) <= least
    if what == "certificate":
        return Fraction(case.problem.size * data["certificate"]["bound"]) <= case.problem.size * least  # as it is read
    if what == "guarantee":
        return data["guarantee"] > 0 and undercut <= Fraction(data["guarantee"]) * least
    return None


def check_verdicts(case: Case, data: dict[str, Any]) -> int:
    """Compare all verdicts on a plan with the truth; return the number of verdicts."""
    try:
        found = verify(case.problem, data)
    except InputError:
        return 0
    verdicts = {check.what: check for check in found}
    if not all(check.holds for check in found if check.what in ("learner", "route")):
        return len(verdicts)  # nothing else is checked
    for what, check in verdicts.items():
        truth = true(case, data, what)
        if truth is not None:
            assert check.holds is truth, (check, json.dumps(data, default=str))
    if found.holds:
        total = case.totals[tuple(data["order"])]
        off = Fraction(1, 10**9) * abs(total)
        assert abs(Fraction(data["loss"]["total"]) - total) <= off
        if data.get("gap") is not None:
            assert total - 2 * off <= (1 + Fraction(data["gap"])) * case.least
        if data.get("certified_ratio") is not None:
            assert total - 2 * off <= Fraction(data["certified_ratio"]) * case.least
    return len(verdicts)
