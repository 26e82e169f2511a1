"""Check a plan against its problem, member by member. docs/bounds.md explains what a confirmed claim means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from learnroute.errors import InputError, check_type, list_names, show
from learnroute.model.learners import LeastSquares
from learnroute.model.plan_rules import rule_differences
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.verification.checks import CONFIRMED, REFUTED, Check, Verification
from learnroute.verification.claims import PlanClaims, is_same
from learnroute.verification.fleets import FleetClaims, check_routes
from learnroute.verification.pairs import PairLosses
from learnroute.verification.visits import VisitChecker, violated_rule

CLAIMS = (
    "route", "routes", "order", "models", "weights", "served_by", "travels", "loss", "true_loss", "travel_cost",
    "travel_rate", "loss_in_travel_units", "closed", "constraints", "regime", "lower_bound", "optimal", "certificate",
    "gap", "certified_ratio", "guarantee", "guarantee_paper", "guarantee_sharper", "learner", "loss_at_most", "depot",
    "dissimilarities", "features", "samples", "features_scaling", "expected_errors", "importance", "label_noise",
    "skipped", "untrained", "contributions", "rules",
)  # fmt: skip


def verify(problem: Problem, plan: Plan | Mapping[str, Any]) -> Verification:
    """Verify the claims of a plan (or its JSON object) about a route of this problem.

    Confirmed claims are true for the numbers of the problem, in exact arithmetic; docs/bounds.md explains in what
    sense. `Verification.holds` is True only if every claim is confirmed.

    Parameters
    ----------
    problem
        The problem that was planned.
    plan
        The plan, or the object that `read_plan` returns.

    Returns
    -------
    Verification
        One check per claim: confirmed, refuted or not checked.

    Raises
    ------
    InputError
        If the plan is neither a `Plan` nor an object with route, order and loss (for a fleet: routes and loss).
    """
    check_type("problem", problem, Problem)
    data = plan.to_dict() if isinstance(plan, Plan) else plan
    if not isinstance(data, Mapping):
        raise InputError("expected a Plan or its JSON object; read_plan reads a file", field="plan", value=plan)
    differences = rule_differences(problem, data)
    needed = ("route", "order", "loss") if problem.fleet_rules.single else ("routes", "loss")
    if not set(needed) <= set(data):
        missing = next(name for name in needed if name not in data)
        if differences and "loss" in data:
            raise InputError(differences)
        raise InputError(f"expected a plan, with {list_names(needed)}", field="plan", found=f"has no {missing}")
    remarks = tuple(str(member) for member in data if member not in CLAIMS)
    return Verification(tuple(_checks(problem, data)), remarks, differences)


def _checks(problem: Problem, data: Mapping[str, Any]) -> Iterator[Check]:
    """Yield the verdicts on all claims; only the first one if nothing can be said about the others."""
    try:
        problem = problem.with_dissimilarities(data.get("dissimilarities", problem.dissimilarity_kind))
    except InputError as error:
        yield Check("dissimilarities", REFUTED, str(error))
        return
    learner = _learner(problem, data)
    if learner.verdict == REFUTED:
        yield learner
        return
    if problem.learner.undecided:
        problem = problem.with_regularization(data["learner"]["regularization"])
    if problem.fleet_rules.single:
        route, claims = _route(problem, data), PlanClaims
    else:
        route, claims = check_routes(problem, data), FleetClaims
    yield route
    if route.verdict != REFUTED:
        yield learner
        yield from claims(problem, data).checks()


def _learner(problem: Problem, plan: Mapping[str, Any]) -> Check:
    """Check that the learner trains as the problem says or, if the problem leaves λ open, with a valid λ."""
    claimed = plan.get("learner", {"rule": LeastSquares.rule})
    own = problem.learner
    if not isinstance(claimed, Mapping):
        raise InputError("expected an object with rule", field="learner", value=claimed)
    said = {name: value for name, value in claimed.items() if name not in ("chosen", "range")}
    if not own.undecided:
        wanted = {"rule": own.rule, **own.training}
        if is_same(said, wanted):
            return Check("learner", CONFIRMED, f"{own.rule}, as the problem says")
        return Check("learner", REFUTED, f"the problem says {show(wanted)}; the plan says {show(said)}")
    chosen: Any = said.get("regularization")
    numbers = chosen if isinstance(chosen, list) else [chosen]
    right = set(said) == {"rule", "regularization"} and said["rule"] == own.rule
    if not right or any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        return Check("learner", REFUTED, f"the problem leaves λ open; the plan says {show(said)}")
    try:
        problem.with_regularization(chosen)
    except InputError as error:
        return Check("learner", REFUTED, str(error))
    return Check(
        "learner", CONFIRMED, "λ is given: all other claims are checked for it, but not whether another λ is better"
    )


def _route(problem: Problem, plan: Mapping[str, Any]) -> Check:
    order, regions = plan["order"], problem.regions
    if not isinstance(order, list) or not all(type(i) is int for i in order):
        return Check("route", REFUTED, "order: a list of region indices is needed")
    outside = [i for i in order if not 0 <= i < problem.size]
    if outside:
        return Check("route", REFUTED, f"there is no region {outside[0]}; indices go from 0 to {problem.size - 1}")
    visits = Counter(order)
    wrong = next((v for v in range(problem.size) if visits[v] != 1), None)
    if not problem.visits_all_once:
        if why := violated_rule(problem, problem.visit_rules, order):
            return Check("route", REFUTED, why)
    elif wrong is not None:
        said = f"visited {visits[wrong]} times" if visits[wrong] else "missing"
        return Check("route", REFUTED, f"region {regions[wrong]!r} is {said}; visit each region once")
    if not isinstance(plan["route"], list) or plan["route"] != [regions[i] for i in order]:
        return Check("route", REFUTED, "names and indices disagree, or belong to another problem")
    if plan.get("routes", [plan["route"]]) != [plan["route"]]:
        return Check("route", REFUTED, "routes are not the one route of the plan")
    try:
        problem.constraints.check(plan["route"])
    except InputError as error:
        return Check("route", REFUTED, str(error))
    if problem.visits_all_once:
        return Check("route", CONFIRMED, f"visits each of {problem.size} regions once")
    if not VisitChecker(PairLosses(problem), problem.visit_rules).is_within_budget(order):
        return Check("route", REFUTED, f"travels farther than its budget, {problem.visit_rules.budget:g}")
    return Check("route", CONFIRMED, f"{len(order)} visits, all allowed")
