"""Certificates of every kind: round trips and schemas."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import pytest

from learnroute import Learner, Plan, Visits, plan
from learnroute.formats.schemas import plan_schema
from learnroute.model.certificates import KINDS, BranchAndBound, NgRoutes, read_certificate
from learnroute.study.families import random_problem
from samples import OVER, UNDER, asymmetric


@cache
def plan_of(kind: str) -> Plan:
    """A real plan whose certificate is of this kind."""
    if kind == "held-karp":
        return plan(random_problem("uniform", 6, UNDER, 1))
    if kind == "simple":
        return plan(random_problem("euclidean", 60, UNDER, 1), "nearest", time_limit=1e-9)
    if kind == "one-tree":
        return plan(random_problem("euclidean", 90, UNDER, 1), "nearest")
    if kind == "ng-routes":
        return plan(random_problem("vectors", 30, Learner(1000, 100, 0.1), 4), "exact")
    if kind == "visit-routes":
        return plan(random_problem("vectors", 9, UNDER, 1).replace(visits=Visits("all", budget=1e6)), "search")
    return plan(random_problem("vectors", 80, Learner(80, 100, 0.1), 3), "exact")


@pytest.mark.parametrize("kind", KINDS)
def test_plans_of_every_kind_keep_the_schema_and_come_back_the_same(kind: str) -> None:
    found = plan_of(kind)
    data = json.loads(json.dumps(found.to_dict()))
    assert data["certificate"]["kind"] == kind
    jsonschema.validate(data, plan_schema())
    again = read_certificate(data["certificate"], len(found.order))
    assert type(again) is KINDS[kind]
    assert again.to_dict(len(found.order)) == data["certificate"]


def test_larger_certificates_have_all_members() -> None:
    routes, tree = plan_of("ng-routes").certificate, plan_of("branch-and-bound").certificate
    assert isinstance(routes, NgRoutes)
    assert isinstance(tree, BranchAndBound)
    assert len(routes.stages) > 1
    assert routes.turns
    assert tree.combs
    assert any(node.branch for node in tree.nodes)
    assert any(node.combs for node in tree.nodes)


@pytest.mark.parametrize("kind", KINDS)
def test_other_members_and_kinds_do_not_keep_the_schema(kind: str) -> None:
    data = json.loads(json.dumps(plan_of(kind).to_dict()))
    changes: list[dict[str, Any]] = [{"memory": []}, {"kind": "walks"}, {"bound": "3"}]
    for change in changes:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**data, "certificate": {**data["certificate"], **change}}, plan_schema())


def test_asymmetric_plans_keep_the_schema() -> None:
    jsonschema.validate(plan(asymmetric(22, OVER, 1), "nearest").to_dict(), plan_schema())
