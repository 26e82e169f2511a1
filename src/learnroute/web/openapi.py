"""The OpenAPI document: FastAPI's own, completed with the request models of tasks and the schemas of files."""

from __future__ import annotations

import functools
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from learnroute.web import answers
from learnroute.web.guard import HEALTH
from learnroute.web.refusals import PROBLEM_JSON
from learnroute.web.settings import Settings
from learnroute.web.tasks import MEDIA, TASKS

DESCRIPTION = """Problems and plans are the same JSON as in files. `POST /api/TASK` answers short calculations
directly; they are cancelled if the client disconnects. Submit long ones with the same body to
`POST /api/jobs?task=TASK`, follow them as server-sent events, and fetch the result or cancel them. Errors are problem
documents (RFC 9457) whose `field` names the member at fault."""

REFUSED = {
    400: "The body is not JSON, or its length is given twice",
    401: "The bearer token is missing or wrong",
    403: "The request comes from a page of another origin",
    404: "Unknown path, example or job",
    409: "The calculation is not finished, or was cancelled",
    408: "The body did not arrive in time",
    413: "The body is too large",
    415: "The body is not application/json",
    421: "The Host header does not name this service",
    422: "The request is invalid; `field` names the member at fault",
    500: "Internal error of the service",
    503: "Too many requests or waiting calculations; or the worker is not ready, failed or exceeded its time limit",
}
ALWAYS = (400, 401, 403, 421, 503)
TASK_REFUSALS = (408, 409, 413, 415, 422, 500)
REFERENCE = "#/components/schemas/{model}"


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return FastAPI's `responses` for the refusals of a route."""
    content = {PROBLEM_JSON: {"schema": {"$ref": REFERENCE.format(model="Refusal")}}}
    found: dict[int | str, dict[str, Any]] = {
        status: {"description": REFUSED[status], "content": content} for status in sorted({*statuses, *ALWAYS})
    }
    found[503]["headers"] = {
        "Retry-After": {"schema": {"type": "string"}, "description": "Seconds until the next attempt"}
    }
    return found


def body(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI description of a body that workers, not FastAPI, parse."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def files() -> dict[str, Any]:
    """Return the media types of files with their schemas."""
    kinds = sorted({media.partition(";")[0] for media in MEDIA.values()})
    parsed = ("json", "yaml")
    return {kind: {"schema": {} if kind.endswith(parsed) else {"type": "string"}} for kind in kinds}


def describe(app: FastAPI, settings: Settings) -> None:
    """Make the application return this OpenAPI document."""

    @functools.cache
    def document() -> dict[str, Any]:
        made = get_openapi(
            title=app.title, version=app.version, summary=app.summary, description=app.description, routes=app.routes
        )
        models: list[type[BaseModel]] = [
            *(kind.request for kind in TASKS.values()),
            answers.Refusal,
            answers.Plan,
            answers.Problem,
        ]
        _, extra = models_json_schema([(model, "validation") for model in models], ref_template=REFERENCE)
        components = made.setdefault("components", {})
        components["schemas"] = {**components.get("schemas", {}), **extra["$defs"], **answers.document_schemas()}
        if settings.token is not None:
            components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            made["security"] = [{"token": []}]
            for path in HEALTH:
                made["paths"][path]["get"]["security"] = []
        if settings.root_path:
            made["servers"] = [{"url": settings.root_path}]
        return made

    app.openapi = document  # type: ignore[method-assign]
