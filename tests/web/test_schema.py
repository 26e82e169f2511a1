"""The OpenAPI document against the service: generated requests, answers checked against what is promised."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from learnroute.web.app import make_app
from service import Service

# Schemas cannot say that a matrix is square or a route complete: that is refused with 422, in words.
LEFT_OUT: list[Any] = [positive_data_acceptance]


schema = schemathesis.openapi.from_dict(make_app().openapi())


@schema.parametrize()
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_generated_requests(case: schemathesis.Case[Any], service: Service) -> None:
    case.call_and_validate(base_url=service.url, excluded_checks=LEFT_OUT)


def test_every_task_and_every_refusal_is_documented() -> None:
    document = make_app().openapi()
    for path in ("plan", "evaluate", "compare", "tradeoff", "error_history", "read", "export"):
        operation = document["paths"][f"/api/{path}"]["post"]
        assert {"200", "400", "413", "415", "422", "429", "503"} <= set(operation["responses"])
        assert operation["requestBody"]["required"]
    assert {"/api/health", "/api/formats", "/api/examples", "/api/jobs", "/api/jobs/{id}"} <= set(document["paths"])
