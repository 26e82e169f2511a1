"""The OpenAPI document against the service: generated requests, and answers checked against their schemas."""

from __future__ import annotations

from typing import Any

import httpx
import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from learnroute import METHODS, Learner
from learnroute.formats.json_files import problem_to_dict
from learnroute.study.families import random_problem
from learnroute.web.app import make_app
from learnroute.web.assets import examples
from learnroute.web.tasks import TASKS
from service import Service, example
from waiting import GUARD, wait_for

# Schemas cannot say that a matrix is square or a route complete: that is refused with 422, in words.
LEFT_OUT: list[Any] = [positive_data_acceptance]


def narrowed_document() -> dict[str, Any]:
    """Return the document with all kinds of problems for plan only, as all tasks read them by the same code."""
    document = make_app().openapi()
    problem = problem_to_dict(random_problem("euclidean", 2, Learner(80, 100, 0.1), 0))
    for task, kind in TASKS.items():
        asked = document["components"]["schemas"][kind.request.__name__]
        if task != "plan" and "problem" in asked["properties"]:
            asked["properties"]["problem"] = {"enum": [problem]}
    return document


schema = schemathesis.openapi.from_dict(narrowed_document())


@schema.parametrize()
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_generated_requests(case: schemathesis.Case[Any], service: Service) -> None:
    if case.path == "/health":  # a worker may just be starting
        wait_for(lambda: service.client.get("/health").status_code == 200)
    case.call_and_validate(base_url=service.url, excluded_checks=LEFT_OUT, timeout=GUARD)


def test_every_task_and_every_refusal_is_documented(document: dict[str, Any]) -> None:
    for path in TASKS:
        operation = document["paths"][f"/api/{path}"]["post"]
        assert {"200", "400", "413", "415", "422", "503"} <= set(operation["responses"])
        assert operation["requestBody"]["required"]
    assert {"/api/health", "/api/formats", "/api/examples", "/api/jobs", "/api/jobs/{id}"} <= set(document["paths"])


@pytest.fixture(scope="module")
def document(service: Service) -> dict[str, Any]:
    answer = service.client.get("/openapi.json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def check_answer(document: dict[str, Any], answer: httpx.Response, method: str, path: str, status: int = 200) -> Any:
    """Check an answer against the document's schema for a call; return its content."""
    assert answer.status_code == status, answer.text
    promised = document["paths"][path][method]["responses"][str(status)]["content"]
    media = answer.headers["content-type"].partition(";")[0]
    jsonschema.validate(answer.json(), {**promised[media]["schema"], "components": document["components"]})
    return answer.json()


@pytest.mark.parametrize("task", [task for task in TASKS if task != "export"])
def test_the_example_of_each_task_is_answered_as_promised(
    service: Service, document: dict[str, Any], task: str
) -> None:
    body = document["paths"][f"/api/{task}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    asked = document["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    jsonschema.validate(asked["example"], {**body, "components": document["components"]})
    check_answer(document, service.post(task, **asked["example"]), "post", f"/api/{task}")
    check_answer(document, service.post(task, wings=2), "post", f"/api/{task}", 422)


def test_plans_keep_their_claims_for_every_proof_method(service: Service, document: dict[str, Any]) -> None:
    kinds = set()
    for regions, features, limit in ((8, 80, 60), (8, 120, 60), (20, 120, 1e-9), (30, 80, 60), (40, 120, 60)):
        problem = problem_to_dict(random_problem("euclidean", regions, Learner(features, 100, 0.1), 0))
        for method in METHODS:
            answer = service.post("plan", problem=problem, method=method, time_limit=limit)
            kinds.add(check_answer(document, answer, "post", "/api/plan")["certificate"]["kind"])
    assert len(kinds) >= 3  # ng-routes, branch and bound, and what is left without time


def test_facts_and_jobs_are_answered_as_promised(service: Service, document: dict[str, Any]) -> None:
    for path in ("health", "formats", "examples"):
        check_answer(document, service.client.get(f"/api/{path}"), "get", f"/api/{path}")
    for name in examples():
        check_answer(document, service.client.get(f"/api/examples/{name}"), "get", "/api/examples/{name}")
    check_answer(document, service.client.get("/api/examples/none"), "get", "/api/examples/{name}", 404)
    submitted = service.client.post("/api/jobs", params={"task": "plan"}, json={"problem": example()})
    place = submitted.headers["location"]
    check_answer(document, submitted, "post", "/api/jobs", 202)
    wait_for(lambda: service.job(place)["state"] == "done")
    check_answer(document, service.client.get(place), "get", "/api/jobs/{id}")
    check_answer(document, service.client.get(f"{place}/result"), "get", "/api/jobs/{id}/result")
    check_answer(document, service.client.delete(place), "delete", "/api/jobs/{id}")
    check_answer(document, service.client.post("/api/jobs", json={}), "post", "/api/jobs", 422)


def test_an_unknown_task_is_rejected_by_name(service: Service) -> None:
    answer = service.client.post("/api/jobs", params={"task": "journey"}, json={})
    assert (answer.status_code, answer.json()["field"]) == (422, "task")
    assert answer.json()["detail"].startswith("task = 'journey': unknown; known are plan, ")
