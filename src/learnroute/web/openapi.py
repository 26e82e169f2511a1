"""The OpenAPI document: what FastAPI sees of the routes, with the schemas of bodies and answers put in."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from learnroute.formats import ONE_FILE, PLAN_WRITERS
from learnroute.solvers.registry import METHODS
from learnroute.tradeoffs import MOST_POINTS
from learnroute.web.assets import examples
from learnroute.web.refusals import PROBLEM_JSON
from learnroute.web.settings import Settings
from learnroute.web.tasks import MEDIA, MOST_DRAWS, TASKS

DESCRIPTION = """Problems and plans are the same JSON as in files. Short calculations are answered at once by
`POST /api/TASK`; a client that leaves frees the worker. Long ones are submitted to `POST /api/jobs?task=TASK` with the
same body, followed as server-sent events, cancelled and fetched. Every refusal is a problem document (RFC 9457) whose
`field` names what is wrong."""

JOB_STATES = ["queued", "running", "done", "failed", "cancelled"]
REFUSED = {
    400: "The body is not JSON",
    401: "The bearer token is missing or wrong",
    403: "Called from a page of another origin",
    404: "There is no such thing",
    405: "Not with this HTTP method",
    409: "There is no result: not yet, or cancelled",
    413: "The body is too large",
    415: "The body is not application/json",
    421: "Called by a name that is not this machine's",
    422: "Something in the request is wrong; `field` names it",
    429: "Too many calculations are waiting; Retry-After says when to come again",
    500: "An error of the service",
    503: "The worker was lost or did not keep its time limit, or the service is shutting down",
}
ALWAYS = (401, 403, 421)
TASK_REFUSALS = (400, 409, 413, 415, 422, 429, 500, 503)


def describe(app: FastAPI, settings: Settings) -> None:
    """Make the application give this document."""

    @functools.cache
    def document() -> dict[str, Any]:
        made = get_openapi(
            title=app.title, version=app.version, summary=app.summary, description=app.description, routes=app.routes
        )
        made["components"] = {"schemas": _schemas(settings)}
        if settings.token is not None:
            made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            made["security"] = [{"token": []}]
        for (method, path), operation in _operations().items():
            made["paths"][path][method].update(operation)
        if settings.token is not None:
            made["paths"]["/api/health"]["get"]["security"] = []
        return made

    app.openapi = document  # type: ignore[method-assign]


def _operations() -> dict[tuple[str, str], dict[str, Any]]:
    answers: dict[str, Any] = {
        "plan": _ref("Plan"), "evaluate": _ref("Plan"), "compare": _ref("Comparison"), "tradeoff": _ref("Tradeoff"),
        "journey": _ref("Journey"), "read": _ref("ReadProblem"),
    }  # fmt: skip
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for task, kind in TASKS.items():
        content = _json(answers[task]) if task in answers else _file_content()
        found["post", f"/api/{task}"] = {
            "summary": kind.summary,
            "requestBody": {"required": True, "content": _json(_ref(f"{task.capitalize()}Request"))},
            "responses": _responses({200: {"description": kind.summary, "content": content}}, TASK_REFUSALS),
        }
    any_request = {"description": "As for POST /api/TASK; what is wrong with it is told by the job's result"}
    job = {"description": "The job", "content": _json(_ref("Job"))}
    submitted = {**job, "headers": {"Location": {"schema": {"type": "string"}, "description": "The job's address"}}}
    found["post", "/api/jobs"] = {
        "summary": "Submit a long calculation",
        "parameters": [{"name": "task", "in": "query", "required": True,
                        "schema": {"type": "string", "enum": list(TASKS)}}],
        "requestBody": {"required": True, "content": _json(any_request)},
        "responses": _responses({202: submitted}, (400, 413, 415, 422, 429)),
    }  # fmt: skip
    stream = {"text/event-stream": {"schema": {"type": "string"}}}
    result = {**_json({}), **_file_content()}
    for verb, path, summary, responses in (
        ("get", "/api/jobs/{id}", "Where a job is", _responses({200: job}, (404,))),
        ("delete", "/api/jobs/{id}", "Cancel a job", _responses({200: job}, (404,))),
        ("get", "/api/jobs/{id}/events", "Follow a job: events `progress`, then one `end`",
         _responses({200: {"description": "Server-sent events with the job as data", "content": stream}}, (404,))),
        ("get", "/api/jobs/{id}/result", "Fetch what a job calculated",
         _responses({200: {"description": "As the task's own answer", "content": result}},
                    (400, 404, 409, 422, 500, 503))),
        ("get", "/api/health", "Whether the service is up, and its limits",
         _responses({200: {"description": "It is", "content": _json(_ref("Health"))}}, ())),
        ("get", "/api/formats", "Methods, and formats read and written",
         _responses({200: {"description": "Names and suffixes", "content": _json(_ref("Formats"))}}, ())),
        ("get", "/api/examples", "The examples that come with the service",
         _responses({200: {"description": "Names and titles", "content": _json(_ref("Examples"))}}, ())),
        ("get", "/api/examples/{name}", "One of them, as a problem",
         _responses({200: {"description": "A problem", "content": _json(_ref("Problem"))}}, (404,))),
    ):  # fmt: skip
        found[verb, path] = {"summary": summary, "responses": responses}
    return found


def _responses(good: dict[int, Any], refused: tuple[int, ...]) -> dict[str, Any]:
    made = {str(status): answer for status, answer in good.items()}
    for status in sorted((*refused, *ALWAYS)):
        made[str(status)] = {"description": REFUSED[status], "content": {PROBLEM_JSON: {"schema": _ref("Refusal")}}}
        if status == 429:
            made["429"]["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "Seconds"}}
    return made


def _schemas(settings: Settings) -> dict[str, Any]:
    """Return the schemas of the files, made references of this document, and those of requests and answers."""
    problem, problem_parts = _file_schema("problem", "Problem")
    plan, plan_parts = _file_schema("plan", "Plan")
    problem.pop("oneOf")  # either dissimilarity or vectors: refused in words
    for name, schema in problem["properties"].items():
        if name not in problem["required"]:
            problem["properties"][name] = _or_null(schema)
    noise = problem["properties"]["learner"]["properties"]["noise"]
    problem["properties"]["learner"]["properties"]["noise"] = _or_null(noise)
    problem["example"] = json.loads(examples()["warehouse-robot"][1])
    requests = {f"{task.capitalize()}Request": _request(task, settings) for task in TASKS}
    loss = plan["properties"]["loss"]["$ref"]
    return {"Problem": problem, **problem_parts, "Plan": plan, **plan_parts, **requests, **_answers(loss)}


def _request(task: str, settings: Settings) -> dict[str, Any]:
    route = {"type": "array", "items": {"type": ["string", "integer"]}, "description": "Names, or 0-based indices"}
    known: dict[str, Any] = {
        "problem": _ref("Problem"),
        "travel_rate": {"type": "number", "minimum": 0, "maximum": 1e100, "default": 1,
                        "description": "Loss that one unit of travel is worth"},
        "seed": {"type": "integer", "minimum": 0, "maximum": 10**15, "default": 0},
        "time_limit": {"type": "number", "exclusiveMinimum": 0, "maximum": settings.limits.seconds,
                       "description": "Seconds (for each method of a comparison)"},
        "method": {"type": "string", "enum": list(METHODS), "default": "auto"},
        "methods": {"type": "array", "minItems": 1, "uniqueItems": True,
                    "items": {"type": "string", "enum": list(METHODS)}},
        "draws": {"type": "integer", "minimum": 1, "maximum": MOST_DRAWS, "default": 100,
                  "description": "Routes that random methods are averaged over"},
        "points": {"type": "integer", "minimum": 2, "maximum": MOST_POINTS, "default": 20},
        "route": route,
        "what": {"type": "string", "enum": ["plan", "problem"], "default": "plan"},
        "format": {"type": "string", "enum": sorted({*PLAN_WRITERS, *ONE_FILE}), "default": ".json"},
        "files": {"type": "array", "minItems": 1, "maxItems": 20, "items": {
            "type": "object", "required": ["name", "text"], "additionalProperties": False,
            "properties": {"name": {"type": "string", "minLength": 1}, "text": {"type": "string"}}}},
    }  # fmt: skip
    needed = [name for name in ("problem", "files", "route") if name in TASKS[task].members and task != "export"]
    needed = ["problem"] if task == "export" else needed
    properties = {
        name: known[name] if name in needed else _or_null(known[name]) for name in TASKS[task].members
    }  # fmt: skip
    made = {"type": "object", "required": needed, "additionalProperties": False, "properties": properties}
    example = json.loads(examples()["warehouse-robot"][1])
    if "route" in needed:
        made["example"] = {"problem": example, "route": example["regions"]}
    elif "problem" in needed:
        made["example"] = {"problem": example}
    else:
        made["example"] = {"files": [{"name": "problem.json", "text": json.dumps(example)}]}
    return made


def _answers(loss: str) -> dict[str, Any]:
    number, text, flag = {"type": "number"}, {"type": "string"}, {"type": "boolean"}
    count = {"type": "integer", "minimum": 0}
    maybe = {"type": ["number", "null"]}
    point = _object(
        travel_cost=number, error=number, rates={"anyOf": [_list(maybe), {"type": "null"}]}, order=_list(count),
        route=_list(text),
    )  # fmt: skip
    row = _object(
        method=text, loss={"anyOf": [{"$ref": loss}, {"type": "null"}]}, ratio=maybe, seconds=number, draws=count,
        refused={"type": ["string", "null"]}, plan={"anyOf": [_ref("Plan"), {"type": "null"}]},
    )  # fmt: skip
    limits = _object(body=count, regions=count, seconds=number, queue=count)
    suffixes = _list(text)
    return {
        "Comparison": _object(lower_bound=number, bound_is_optimum=flag, rows=_list(row)),
        "Tradeoff": _object(
            points=_list(point), complete=flag, rate=number, chosen=count,
            marks={"type": "object", "additionalProperties": point},
        ),
        "Journey": _object(
            order=_list(count), route=_list(text), regime={"enum": ["under", "over", "mixed"]},
            retentions=_list(number), weights=_list(number), scores=_list(number), errors=_list(_list(number)),
        ),
        "ReadProblem": _object(problem=_ref("Problem"), places=_list(_list(number)), places_made_up=flag),
        "Job": _object(id=text, task=text, state={"enum": JOB_STATES}, stage=text, progress=number,
                       error={"type": ["string", "null"]}),
        "Health": _object(status=text, version=text, workers=count, busy=count, waiting=count, limits=limits),
        "Formats": _object(methods=_list(_object(name=text, summary=text)),
                           problem=_object(read=suffixes, write=suffixes), plan=_object(write=suffixes)),
        "Examples": _object(examples=_list(_object(name=text, title=text))),
        "Refusal": {
            "type": "object", "required": ["type", "title", "status", "detail"],
            "properties": {"type": text, "title": text, "status": count, "detail": text, "field": text},
        },
    }  # fmt: skip


def _file_schema(file: str, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of a file format and its parts, under names of this document."""
    text = (resources.files("learnroute.formats") / f"{file}.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text.replace('"#/$defs/', f'"#/components/schemas/{name}_'))
    del schema["$schema"]
    return schema, {f"{name}_{part}": body for part, body in schema.pop("$defs").items()}


def _file_content() -> dict[str, Any]:
    kinds = {media.partition(";")[0] for media in MEDIA.values()}
    return {kind: {"schema": {} if "json" in kind else {"type": "string"}} for kind in sorted(kinds)}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}
