"""Rebuild plans from the members of a file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from learnroute.errors import InputError
from learnroute.model.certificates import read_certificate
from learnroute.model.given_routes import as_order, as_routes
from learnroute.model.order_effect import as_rehearsal
from learnroute.model.plan_rules import rule_differences
from learnroute.model.problem import Problem
from learnroute.model.result import Guarantee, Plan
from learnroute.model.rounding import PRINTED, SAME
from learnroute.model.routes import Routes
from learnroute.model.validation import as_count, as_number, as_vector


def plan_from(data: Any, problem: Problem) -> Plan:
    """Return the plan that was written as JSON; reject plans of another problem.

    Route and loss are recomputed from the problem. Bound, certificate and guarantee are taken from the file unchecked;
    `verify` checks them.
    """
    data = with_routes(data)
    if differences := rule_differences(problem, data):
        raise InputError(differences)
    if problem.fleet_rules.single and "order" not in data:
        raise InputError("missing; give the order of visits", field="order")
    problem = problem.with_dissimilarities(data.get("dissimilarities", problem.dissimilarity_kind))
    trained = data.get("learner")
    if problem.learner.undecided and isinstance(trained, Mapping) and "regularization" in trained:
        problem = problem.with_regularization(trained["regularization"])
    found = Plan.of(problem, _routes(data, problem))
    if data.get("route", []) != ([] if found.several else list(found.route)) or data["routes"] != _lists(found.routes):
        raise InputError(
            "its regions are not those of this problem; give the problem that the plan was made for", field="route"
        )
    loss = found.loss
    total = data["loss"].get("total") if isinstance(data["loss"], Mapping) else None
    claimed = as_number("loss.total", total, meaning="losses", derived=True)
    if not math.isclose(claimed, loss.total, rel_tol=PRINTED, abs_tol=SAME * loss.magnitude):
        reason = f"{loss.total:.9g} on this problem; give the problem that it was made for, with the same options"
        raise InputError(reason, field="loss.total", value=claimed)
    bound, certificate = data.get("lower_bound"), data.get("certificate")
    return replace(
        found,
        lower_bound=None if bound is None else as_number("lower_bound", bound, meaning="bounds", derived=True),
        optimal=data.get("optimal") is True,
        guarantee=Guarantee(
            _number(data, "guarantee"), _text(data, "guarantee_reason"), _number(data, "guarantee_paper"),
            _number(data, "guarantee_sharper"),
        ),
        method=_text(data, "method"),
        requested=_text(data, "requested"),
        seconds=_number(data, "seconds") or 0.0,
        seed=as_count("seed", data.get("seed", 0), least=0, meaning="the seed"),
        notes=_notes(data),
        certificate=None if certificate is None else read_certificate(certificate, len(problem.stops), problem.size),
        chosen=str(trained.get("chosen", "")) if isinstance(trained, Mapping) else "",
        regularization_range=_range(trained),
        rehearsal=as_rehearsal(data.get("rehearsal"), problem.size),
    )  # fmt: skip


def with_routes(data: Any) -> Mapping[str, Any]:
    """Return the members of a plan, with `routes` added if it has only `route`; reject anything but a plan."""
    if isinstance(data, Mapping) and "route" in data and "routes" not in data:
        data = {**data, "routes": [data["route"]]}
    if not isinstance(data, Mapping) or not {"routes", "loss"} <= set(data):
        raise InputError("expected an object with route, order and loss", field="plan", value=data)
    return data


def _routes(data: Mapping[str, Any], problem: Problem) -> Routes:
    """Return the routes of a plan, from the names of their regions if there are several vehicles or models."""
    if problem.fleet_rules.single:
        return Routes.of_order(as_order(problem, data["order"]))
    index = {name: i for i, name in enumerate(problem.regions)}
    given = data["routes"]
    lists = isinstance(given, list) and all(isinstance(route, list) for route in given)
    if not lists or not all(isinstance(name, str) and name in index for route in given for name in route):
        raise InputError("expected a list of the problem's region names per vehicle", field="routes", value=given)
    return as_routes(problem, [[index[name] for name in route] for route in given], data.get("models"))


def _lists(routes: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    return [list(route) for route in routes]


def _range(trained: Any) -> tuple[float, float] | None:
    ends = trained.get("range") if isinstance(trained, Mapping) else None
    if ends is None:
        return None
    low, high = as_vector("learner.range", ends, 2, least=0.0, meaning="the ends of a range").tolist()
    return low, high


def _number(data: Mapping[str, Any], member: str) -> float | None:
    value = data.get(member)
    return None if value is None else as_number(member, value, meaning="numbers", derived=True)


def _text(data: Mapping[str, Any], member: str) -> str:
    value = data.get(member, "")
    if not isinstance(value, str):
        raise InputError("expected text", field=member, value=value)
    return value


def _notes(data: Mapping[str, Any]) -> tuple[str, ...]:
    notes = data.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise InputError("expected a list of sentences", field="notes", value=notes)
    return tuple(notes)
