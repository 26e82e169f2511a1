"""Check a plan against its problem: route, loss and bound. Slow and plain on purpose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from learnroute.errors import InputError, check_type, shown
from learnroute.model.certificates import (
    BranchAndBound,
    Certificate,
    HeldKarp,
    NgRoutes,
    OneTree,
    Simple,
    read_certificate,
)  # fmt: skip
from learnroute.model.losses import as_order, expected_loss, objective_of, travel_cost
from learnroute.model.objective import Objective
from learnroute.model.problem import Problem
from learnroute.model.rounding import OPTIMALITY, PRINTED, SAME
from learnroute.model.validation import IntArray, as_number
from learnroute.verification import branch_and_bound, held_karp, ng_route, one_tree, simple
from learnroute.verification.checks import Check, TooManyLabelsError, not_repeated

CHECKERS: dict[type[Certificate], ModuleType] = {
    Simple: simple,
    OneTree: one_tree,
    HeldKarp: held_karp,
    NgRoutes: ng_route,
    BranchAndBound: branch_and_bound,
}


def verify(problem: Problem, plan: Mapping[str, Any]) -> tuple[Check, ...]:
    """Recompute what a plan (as its JSON object) claims about a route of this problem."""
    check_type("problem", problem, Problem)
    if not isinstance(plan, Mapping) or not {"route", "order", "loss"} <= set(plan):
        raise InputError("an object with route, order and loss is needed", field="plan", value=plan)
    checks = [_route(problem, plan)]
    if not checks[0].holds:
        return tuple(checks)
    order = as_order(plan["order"], problem.size)
    loss = expected_loss(problem, order)
    checks.append(_loss(loss.to_dict(), plan["loss"]))
    rest = _rest(problem, order, loss.total, plan)
    objective = objective_of(problem)
    claimed = plan.get("lower_bound")
    if claimed is None:
        if plan.get("optimal"):
            checks.append(Check("optimum", False, "claimed without a lower bound"))
        return (*checks, *rest)
    claimed = as_number("lower_bound", claimed, meaning="bounds", most=math.inf, least=-math.inf)
    certificate = read_certificate(plan.get("certificate"), problem.size)
    if plan.get("optimal"):
        same = math.isclose(claimed, loss.total, rel_tol=PRINTED)
        checks.append(Check("bound", same, f"{claimed:.9g}, the loss itself" if same else "not the loss of the route"))
        checks.append(_optimum(objective, certificate, objective(order)))
    else:
        checks.append(_bound(objective, certificate, claimed * problem.size))
    return (*checks, *rest)


def _rest(problem: Problem, order: IntArray, total: float, plan: Mapping[str, Any]) -> list[Check]:
    """Check what else follows from route and problem, where the plan says it."""
    bound = plan.get("lower_bound")
    gap = total / bound - 1 if isinstance(bound, int | float) and bound > 0 else None
    wanted: dict[str, Any] = {
        "travel_cost": travel_cost(problem, order),
        "travel_rate": problem.travel_rate,
        "closed": problem.constraints.returns,
        "regime": problem.regime,
        "constraints": problem.constraints.to_dict(),
        "gap": gap,
        "certified_ratio": None if gap is None else 1 + gap,
    }
    wrong = []
    for member, value in wanted.items():
        given = plan.get(member, value)
        if isinstance(value, float) and isinstance(given, int | float) and not isinstance(given, bool):
            same = math.isclose(given, value, rel_tol=PRINTED, abs_tol=PRINTED)
        else:
            same = given == value
        if not same:
            wrong.append(Check(member, False, f"is {value!r}; the plan says {shown(given)}"))
    return wrong


def _route(problem: Problem, plan: Mapping[str, Any]) -> Check:
    try:
        order = as_order(plan["order"], problem.size, problem.regions)
    except InputError as error:
        return Check("route", False, str(error))
    if not isinstance(plan["route"], list) or plan["route"] != [problem.regions[i] for i in order]:
        return Check("route", False, "names and indices disagree, or belong to another problem")
    try:
        problem.constraints.check(plan["route"])
    except InputError as error:
        return Check("route", False, str(error))
    return Check("route", True, f"visits each of {problem.size} regions once")


def _loss(found: Mapping[str, float], claimed: Any) -> Check:
    scale = abs(found["total"])
    for part, value in found.items():
        given = claimed.get(part) if isinstance(claimed, Mapping) else None
        if not isinstance(given, int | float) or abs(given - value) > PRINTED * scale:
            return Check("loss", False, f"{part} is {value:.9g}; the plan says {shown(given)}")
    return Check("loss", True, f"{found['total']:.9g} per region, all parts as claimed")


def _bound(objective: Objective, certificate: Certificate, claimed: float) -> Check:
    try:
        found = recomputed_bound(objective, certificate, claimed)
    except TooManyLabelsError:
        return Check("bound", None, f"more than {ng_route.MOST_LABELS:,} labels are needed to recompute it")
    per_region = found / objective.size
    holds = claimed <= found + SAME * abs(found)
    relation = "is confirmed" if holds else f"does not follow; what follows is {per_region:.9g}"
    return Check("bound", holds, f"{claimed / objective.size:.9g} ({certificate.kind}) {relation}")


def _optimum(objective: Objective, certificate: Certificate, value: float) -> Check:
    """Repeat the proof of an optimum; where that is not possible, say how good the route is at least."""
    checker = CHECKERS[type(certificate)]
    if hasattr(checker, "optimum"):
        check: Check = checker.optimum(objective, certificate, value)
    elif value - OPTIMALITY * abs(value) <= recomputed_bound(objective, certificate, value):
        return Check("optimum", True, "the bound meets the loss")
    else:
        check = not_repeated("the plan holds no proof, only a bound below the loss")
    if check.holds is not None:
        return check
    try:
        found = recomputed_bound(objective, certificate, certificate.bound)
    except TooManyLabelsError:
        return check
    gap = max(0.0, value / found - 1) if found > 0 else math.inf
    return not_repeated(f"{check.detail}; confirmed is that the route is at most {100 * gap:.3g} % above the best")


def recomputed_bound(objective: Objective, certificate: Certificate, ceiling: float) -> float:
    """Return what a certificate proves, as far as `ceiling`, with rounding taken off."""
    found: float = CHECKERS[type(certificate)].bound(objective, certificate, ceiling)
    return found
