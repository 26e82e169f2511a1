"""The HTTP API and the page, as one ASGI application."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException
from starlette.routing import Route

from learnroute import __version__
from learnroute.formats import ONE_FILE, PLAN_WRITERS, TEXT_READERS
from learnroute.solvers.registry import METHODS
from learnroute.web import openapi
from learnroute.web.assets import examples, page_files
from learnroute.web.guard import Guard
from learnroute.web.jobs import Jobs
from learnroute.web.pool import Pool
from learnroute.web.refusals import PROBLEM_JSON, Refusal
from learnroute.web.settings import Settings
from learnroute.web.tasks import TASKS, Result


def make_app(settings: Settings | None = None) -> FastAPI:
    """Return the application; its workers live as long as its lifespan."""
    settings = settings or Settings()
    pool = Pool(settings)
    jobs = Jobs(pool, settings)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        pool.start()
        jobs.start()
        yield
        await jobs.close()
        pool.close()

    app = FastAPI(
        title="learnroute", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        openapi_url="/api/openapi.json", summary="Plan the order in which a moving learner visits its regions",
        description=openapi.DESCRIPTION, separate_input_output_schemas=False,
    )  # fmt: skip
    app.state.pool = pool
    app.add_middleware(Guard, settings=settings)
    _refuse_with_problem_documents(app)
    _add_facts(app, pool, settings)
    for task in TASKS:
        _add_task(app, task, jobs, settings)
    _add_jobs(app, jobs, settings)
    _add_page(app)
    openapi.describe(app, settings)
    return app


def _add_task(app: FastAPI, task: str, jobs: Jobs, settings: Settings) -> None:
    """Answer POST /api/TASK while the client waits."""

    async def run(request: Request) -> Response:
        body = await read_body(request, settings.limits.body)
        started = time.perf_counter()
        answer = _answer(await jobs.run(task, body, _departure(request)))
        answer.headers["server-timing"] = f"total;dur={1000 * (time.perf_counter() - started):.2f}"
        return answer

    app.post(f"/api/{task}", name=task, operation_id=task, response_model=None)(run)


def _add_jobs(app: FastAPI, jobs: Jobs, settings: Settings) -> None:
    """Submit, look, follow, fetch, cancel."""

    @app.post("/api/jobs", operation_id="submit", response_model=None, status_code=202)
    async def submit(task: str, request: Request, response: Response) -> dict[str, Any]:
        body = await read_body(request, settings.limits.body)
        if task not in TASKS:
            raise Refusal(422, f"task = {task[:60]!r}: unknown; known are {', '.join(TASKS)}", "task")
        job = jobs.submit(task, body)
        response.headers["Location"] = f"/api/jobs/{job.id}"
        return job.to_dict()

    @app.get("/api/jobs/{id}", operation_id="look", response_model=None)
    async def look(id: str) -> dict[str, Any]:
        return jobs.named(id).to_dict()

    @app.get("/api/jobs/{id}/events", operation_id="follow", response_model=None)
    async def follow(id: str) -> Response:
        return StreamingResponse(jobs.follow(jobs.named(id)), media_type="text/event-stream")

    @app.get("/api/jobs/{id}/result", operation_id="fetch", response_model=None)
    async def fetch(id: str) -> Response:
        return _answer(jobs.named(id).result())

    @app.delete("/api/jobs/{id}", operation_id="cancel", response_model=None)
    async def cancel(id: str) -> dict[str, Any]:
        job = jobs.named(id)
        jobs.cancel(job)
        return job.to_dict()


def _add_facts(app: FastAPI, pool: Pool, settings: Settings) -> None:
    """What the service is, takes and knows."""

    @app.get("/api/health", operation_id="health", response_model=None)
    async def health() -> dict[str, Any]:
        limits = settings.limits
        return {
            "status": "ok",
            "version": __version__,
            "workers": settings.workers,
            "busy": pool.busy,
            "waiting": pool.waiting,
            "limits": {
                "body": limits.body, "regions": limits.regions, "seconds": limits.seconds, "queue": settings.queue,
            },
        }  # fmt: skip

    @app.get("/api/formats", operation_id="formats", response_model=None)
    async def formats() -> dict[str, Any]:
        return {
            "methods": [{"name": method.name, "summary": method.summary} for method in METHODS.values()],
            "problem": {"read": list(TEXT_READERS), "write": list(ONE_FILE)},
            "plan": {"write": list(PLAN_WRITERS)},
        }

    @app.get("/api/examples", operation_id="examples", response_model=None)
    async def list_examples() -> dict[str, Any]:
        return {"examples": [{"name": name, "title": title} for name, (title, _) in examples().items()]}

    @app.get("/api/examples/{name}", operation_id="example", response_model=None)
    async def example(name: str) -> Response:
        if name not in examples():
            raise Refusal(404, f"there is no example {name[:60]!r}; known are {', '.join(examples())}", "name")
        return Response(examples()[name][1], media_type="application/json")


def _add_page(app: FastAPI) -> None:
    """Serve the files of the page from memory; no path of a request ever meets a disk."""
    for path, asset in page_files().items():

        async def serve(request: Request, asset: Any = asset) -> Response:
            headers = {"etag": asset.etag, "cache-control": "no-cache"}
            if request.headers.get("if-none-match") == asset.etag:
                return Response(status_code=304, headers=headers)
            return Response(asset.content, media_type=asset.media, headers=headers)

        app.add_route(path, serve, methods=["GET"], include_in_schema=False)


def _refuse_with_problem_documents(app: FastAPI) -> None:
    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return Response(error.document(), error.status, dict(error.headers), PROBLEM_JSON)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        refusal = Refusal(error.status_code, str(error.detail))
        headers = dict(error.headers or {})
        if error.status_code == 405:  # the router names the methods of the first route alone
            headers["Allow"] = ", ".join(sorted(_methods(app, request.url.path)))
        return Response(refusal.document(), error.status_code, headers, PROBLEM_JSON)

    async def unread(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        field = str(first["loc"][-1])
        return await refused(_, Refusal(422, f"{field}: {first['msg'].lower()}", field))

    async def broken(_: Request, error: Exception) -> Response:
        refusal = Refusal(500, "an error of the service, not of the request; its log has the cause")
        return Response(refusal.document(), 500, media_type=PROBLEM_JSON)

    handlers: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        Refusal: refused, HTTPException: http, RequestValidationError: unread, Exception: broken,
    }  # fmt: skip
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _methods(app: FastAPI, path: str) -> set[str]:
    """Return the HTTP methods that an address answers to."""
    found = (route for route in app.routes if isinstance(route, Route) and route.path_regex.match(path))
    return {method for route in found for method in route.methods or ()}


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a JSON request, or refuse it as soon as it is known to be too large."""
    media = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media != "application/json":
        raise Refusal(415, f"{media[:60]!r}: send the request as application/json", "Content-Type")
    declared = request.headers.get("content-length", "0")
    too_large = Refusal(413, f"the body is larger than {most:,} bytes, the most this service takes", "body")
    if declared.isdigit() and int(declared) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
    return bytes(body)


async def _departure(request: Request) -> None:
    """Return when the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _answer(result: Result) -> Response:
    headers = {"content-disposition": f'attachment; filename="{result.name}"'} if result.name else None
    return Response(result.content, media_type=result.media, headers=headers)
