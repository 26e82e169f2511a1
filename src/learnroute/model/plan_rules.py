"""The rules that a plan was made under, and how they differ from those of a problem.

A plan repeats the rules for visits and vehicles, because options of the command line may have set them. They only
explain differences: whether a plan is valid follows from the problem alone.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from learnroute.errors import printable
from learnroute.model.fleet import MEMBERS as FLEET_MEMBERS
from learnroute.model.fleet import MERGED, OWN, TOTAL, Fleet
from learnroute.model.problem import Problem
from learnroute.model.validation import as_members
from learnroute.model.visits import ALL, Visits
from learnroute.model.visits import MEMBERS as VISIT_MEMBERS

RULES = {  # by field: what a plan has, and the option for it (once per name)
    "fleet.vehicles": ("{} vehicle{s}", "--vehicles {}"),
    "fleet.models": ("{} model{s}", "--models {}"),
    "fleet.serve": ("{} models", "--serve {}"),
    "fleet.weights": ("{} weights", "fleet.weights = {}"),
    "fleet.travel": ("the {} route as its travel", "--longest"),
    "fleet.limit": ("a travel limit of {} per vehicle", "--limit {}"),
    "visits.required": ("required regions ({})", "--require {}"),
    "visits.forbidden": ("forbidden regions ({})", "--forbid {}"),
    "visits.repeat": ("up to {} visit{s} per region", "--repeat {}"),
    "visits.at_least": ("at least {} visit{s}", "visits.at_least = {}"),
    "visits.at_most": ("at most {} visit{s}", "--at-most {}"),
    "visits.budget": ("a travel budget of {}", "--budget {}"),
    "depot": ("the depot {}", "--depot {}"),
    "constraints.start": ("the start {}", "--start {}"),
    "constraints.end": ("the end {}", "--end {}"),
    "closed": ("the return trip", "--return"),
    "travel_rate": ("a travel rate of {}", "--travel-rate {}"),
    "learner.rule": ("the learner {}", "--rule {}"),
    "learner.regularization": ("λ = {}", "--regularization {}"),
}
EACH_ONCE, ALONE = Visits(ALL), Fleet()  # the rules of a problem without visits or fleet
NOTHING = (None, ALL, TOTAL)  # values for which there is no option


def rules_of(problem: Problem) -> dict[str, Any]:
    """Return the rules for visits and vehicles that a problem has, in the format of a problem file."""
    found = {} if problem.visits in (None, EACH_ONCE) else {"visits": problem.visits.to_dict()}
    return found if problem.fleet in (None, ALONE) else found | {"fleet": problem.fleet.to_dict()}


def rule_differences(problem: Problem, plan: Mapping[str, Any]) -> str:
    """Return how the rules of a plan (its JSON object) differ from those of a problem; empty if they agree.

    Plans of other regions are not compared.
    """
    routes, stops = plan.get("routes", [plan.get("route")]), set(problem.stops)
    if not isinstance(routes, list) or not all(isinstance(route, list) for route in routes):
        return ""
    if not all(isinstance(name, str) and name in stops for route in routes for name in route):
        return ""
    ends, learner = problem.constraints, problem.learner
    own = _fields(problem.visits or EACH_ONCE, problem.fleet or ALONE)
    own |= {"depot": problem.depot and problem.depot.name, "closed": problem.closed}
    own |= {"constraints.start": ends.start, "constraints.end": ends.end, "travel_rate": problem.travel_rate}
    own |= {"learner.rule": learner.rule, "learner.regularization": learner.training.get("regularization")}
    made = own | _fields_of_plan(plan, learner.undecided)
    if made["depot"] not in (None, own["depot"], *problem.regions):
        made["depot"] = "X,Y"  # given by its coordinates
    if any(made[size] != own[size] for size in ("fleet.vehicles", "fleet.models")):
        own["fleet.serve"] = OWN if made["fleet.models"] > 1 else MERGED  # as follows from the options for them
    differing = {field for field in RULES if made[field] != own[field]}
    differing -= {field for field in differing if _follows(field, made, own, differing)}
    lacks = [field for field in RULES if field in differing and made[field] in NOTHING]
    lacks += [field for field in differing & {"visits.forbidden"} if not made[field]]
    has = [field for field in RULES if field in differing and field not in lacks]
    if made["learner.regularization"] is not None and isinstance(trained := plan.get("learner"), Mapping):
        made["learner.regularization"] = trained.get("chosen", made["learner.regularization"])
    said = []
    for verb, remedy, fields, values in (("has", "add", has, made), ("was made without", "omit", lacks, own)):
        if fields:
            texts = [_texts(field, values[field]) for field in fields]
            said.append(f"this plan {verb} {', '.join(what for what, _ in texts)}")
            said.append(f"{remedy} {' '.join(option for _, option in texts)}")
    return printable("; ".join(said))


def _fields(visits: Visits, fleet: Fleet) -> dict[str, Any]:
    found = {f"visits.{name}": getattr(visits, name) for name in VISIT_MEMBERS}
    found |= {f"fleet.{name}": getattr(fleet, name) for name in FLEET_MEMBERS}
    return found | {field: tuple(sorted(value)) for field, value in found.items() if isinstance(value, tuple)}


def _fields_of_plan(plan: Mapping[str, Any], undecided: bool) -> dict[str, Any]:
    """Return what a plan says about its rules; without `rules`, vehicles and models follow from its routes."""
    found: dict[str, Any] = {name: plan[name] for name in ("depot", "closed", "travel_rate") if name in plan}
    if isinstance(ends := plan.get("constraints"), Mapping):
        found |= {f"constraints.{name}": ends.get(name) for name in ("start", "end")}
    if isinstance(learner := plan.get("learner"), Mapping):
        chosen, value = learner.get("chosen"), learner.get("regularization")
        found |= {"learner.rule": learner.get("rule"), "learner.regularization": chosen if undecided else value}
    if plan.get("rules") is not None:
        rules = as_members("rules.", plan["rules"], ("visits", "fleet"))
        visits = Visits.from_dict(rules["visits"]) if "visits" in rules else EACH_ONCE
        return found | _fields(visits, Fleet.from_dict(rules["fleet"]) if "fleet" in rules else ALONE)
    routes, models = plan.get("routes"), plan.get("models")
    if "served_by" in plan or "weights" in plan:
        found["fleet.serve"] = OWN if "served_by" in plan else MERGED
    if isinstance(routes, list) and len(routes) > 1:
        found["fleet.vehicles"] = len(routes)
    elif isinstance(models, list) and models and all(type(one) is int for one in models):
        found["fleet.models"] = max(models) + 1
    return found


def _follows(field: str, made: dict[str, Any], own: dict[str, Any], differing: set[str]) -> bool:
    """Return whether the difference in a field follows from another one, or from the option for that."""
    if field == "visits.required":  # other options for visits make all regions optional
        others = any(other.startswith("visits.") for other in differing - {field})
        return others and {made[field], own[field]} == {(), ALL}
    return {"closed": "depot", "learner.rule": "learner.regularization"}.get(field) in differing


def _texts(field: str, value: Any) -> tuple[str, str]:
    """Return what a plan has, and the option for it."""
    what, option = RULES[field]
    if value == ():
        return "optional visits", "--optional"
    if value is False:
        return "no return trip", "--no-return"
    values = value if isinstance(value, tuple) else (value,)
    texts = [",".join(map(str, one)) if isinstance(one, list) else str(one) for one in values]
    shown = [text.removesuffix(".0") for text in texts]
    options = (option.format(shlex.quote(one)) for one in shown) if "{}" in option else (option,)
    return what.format(", ".join(shown), s="" if value == 1 else "s"), " ".join(options)
