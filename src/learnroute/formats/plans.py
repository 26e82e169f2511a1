"""Plans read back from the members that a file has of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from learnroute.errors import InputError
from learnroute.model.certificates import read_certificate
from learnroute.model.problem import Problem
from learnroute.model.result import Guarantee, Plan, as_rehearsal
from learnroute.model.rounding import PRINTED, SAME
from learnroute.model.validation import as_count, as_number, as_vector

NEEDED = ("route", "order", "loss")


def plan_from(data: Any, problem: Problem) -> Plan:
    """Return a plan as it was before it was written as JSON, or refuse one that is not of this problem.

    Route and loss are recomputed from the problem. Bound, certificate and guarantee are those that the file claims;
    `verify` checks them.
    """
    if not isinstance(data, Mapping) or not set(NEEDED) <= set(data):
        raise InputError(f"an object with {', '.join(NEEDED)} is needed", field="plan", value=data)
    problem = problem.with_dissimilarities(data.get("dissimilarities", problem.dissimilarity_kind))
    trained = data.get("learner")
    if problem.learner.undecided and isinstance(trained, Mapping) and "regularization" in trained:
        problem = problem.regularized(trained["regularization"])
    found = Plan.of(problem, data["order"])
    if data["route"] != list(found.route) or data.get("routes", [data["route"]]) != [data["route"]]:
        raise InputError("not the names of order in this problem; give the problem that it was made for", field="route")
    loss = found.loss
    total = data["loss"].get("total") if isinstance(data["loss"], Mapping) else None
    claimed = as_number("loss.total", total, meaning="losses")
    if not math.isclose(claimed, loss.total, rel_tol=PRINTED, abs_tol=SAME * loss.magnitude):
        reason = f"{loss.total:.9g} on this problem; give the problem that it was made for, with the same options"
        raise InputError(reason, field="loss.total", value=claimed)
    bound, certificate = data.get("lower_bound"), data.get("certificate")
    return replace(
        found,
        lower_bound=None if bound is None else as_number("lower_bound", bound, meaning="bounds"),
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


def _range(trained: Any) -> tuple[float, float] | None:
    ends = trained.get("range") if isinstance(trained, Mapping) else None
    if ends is None:
        return None
    low, high = as_vector("learner.range", ends, 2, least=0.0, meaning="the ends of a range").tolist()
    return low, high


def _number(data: Mapping[str, Any], member: str) -> float | None:
    value = data.get(member)
    return None if value is None else as_number(member, value, meaning="numbers")


def _text(data: Mapping[str, Any], member: str) -> str:
    value = data.get(member, "")
    if not isinstance(value, str):
        raise InputError("text is needed", field=member, value=value)
    return value


def _notes(data: Mapping[str, Any]) -> tuple[str, ...]:
    notes = data.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise InputError("a list of sentences is needed", field="notes", value=notes)
    return tuple(notes)
