"""Certificates of lower bounds: the numbers from which anyone can recompute a bound.

There is one module per kind, with its class, its conversion to and from JSON, and the schema of that JSON.
`learnroute.verification` has the checker of each kind; docs/bounds.md explains why each bound holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from learnroute.errors import InputError
from learnroute.model.certificates.base import Certificate
from learnroute.model.certificates.branch_and_bound import BranchAndBound, Node
from learnroute.model.certificates.held_karp import HeldKarp
from learnroute.model.certificates.ng_route import NgRelaxation, NgRoutes, Rows, grow
from learnroute.model.certificates.one_tree import OneTree
from learnroute.model.certificates.simple import Simple
from learnroute.model.certificates.visit_routes import VisitRoutes
from learnroute.model.validation import as_choice, as_number

__all__ = [
    "KINDS",
    "BranchAndBound",
    "Certificate",
    "HeldKarp",
    "NgRelaxation",
    "NgRoutes",
    "Node",
    "OneTree",
    "Rows",
    "Simple",
    "VisitRoutes",
    "certificate_schema",
    "grow",
    "read_certificate",
]

KINDS: dict[str, type[Certificate]] = {
    each.kind: each for each in (Simple, OneTree, HeldKarp, NgRoutes, BranchAndBound, VisitRoutes)
}


def read_certificate(data: Any, size: int, regions: int | None = None) -> Certificate:
    """Read the output of `Certificate.to_dict` for `size` stops, or reject it; `regions` does not count the depot."""
    if not isinstance(data, Mapping):
        raise InputError(f"expected an object with kind {', '.join(KINDS)}", field="certificate", value=data)
    chosen = KINDS[as_choice("certificate.kind", data.get("kind"), KINDS)]
    known = {"kind", "bound", *chosen.members}
    for member in data:
        if member not in known:
            reason = f"unknown member; members of kind {chosen.kind} are {', '.join(sorted(known))}"
            raise InputError(reason, field=f"certificate.{member}")
    bound = as_number("certificate.bound", data.get("bound"), meaning="bounds", derived=True)
    return chosen.read(bound * (size if regions is None else regions), data, size)


def certificate_schema() -> dict[str, Any]:
    """Return the JSON schema of a certificate, with one alternative per kind."""
    return {
        "description": "Proof of the lower bound; see docs/bounds.md",
        "oneOf": [each.schema() for each in KINDS.values()],
    }
