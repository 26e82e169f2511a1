"""The HTTP API and the page, as one ASGI application."""

from __future__ import annotations

import contextlib
import functools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from starlette.exceptions import HTTPException
from starlette.routing import Route

from learnroute import __version__
from learnroute.errors import InputError, list_names, show
from learnroute.formats import DEGREES, METRES, ONE_FILE, PLACES_NEEDED, PLAN_WRITERS, TEXT_READERS
from learnroute.solvers.methods import METHODS
from learnroute.web import answers, openapi
from learnroute.web.assets import Asset, examples, page_files
from learnroute.web.guard import Guard
from learnroute.web.jobs import Jobs
from learnroute.web.metrics import Metrics, Observer
from learnroute.web.pool import Pool
from learnroute.web.refusals import PROBLEM_JSON, Refusal, refusal_of
from learnroute.web.request_bodies import BodyReader
from learnroute.web.settings import Settings
from learnroute.web.tasks import TASKS, Result

TaskName = Annotated[str, Query(json_schema_extra={"enum": list(TASKS)})]


def make_app(settings: Settings | None = None) -> FastAPI:
    """Return the application; its workers live as long as its lifespan."""
    settings = settings or Settings()
    pool = Pool(settings)
    jobs = Jobs(pool, settings)
    bodies = BodyReader(settings)
    metrics = Metrics(pool, jobs, settings)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        pool.start()
        jobs.start()
        yield
        await jobs.close()
        pool.close()

    app = FastAPI(
        title="learnroute", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        openapi_url=None, redirect_slashes=False,
        summary="Plan where a moving learner goes to learn",
        description=openapi.DESCRIPTION, separate_input_output_schemas=False,
    )  # fmt: skip
    app.state.pool = pool
    app.state.bodies = bodies
    app.add_middleware(Guard, settings=settings)
    app.add_middleware(Observer, metrics=metrics)
    _refuse_with_problem_documents(app)
    _add_information(app, pool, settings)
    _add_monitoring(app, pool, metrics)
    for task in TASKS:
        _add_task(app, task, jobs, bodies)
    _add_jobs(app, jobs, bodies, settings)
    _add_page(app)
    openapi.describe(app, settings)
    return app


def _add_task(app: FastAPI, task: str, jobs: Jobs, bodies: BodyReader) -> None:
    """Answer POST /api/TASK while the client waits."""

    async def run(request: Request) -> Response:
        body = await bodies.read(request)
        started = time.perf_counter()
        answer = _answer(await jobs.run(task, body, _wait_for_disconnect(request)))
        answer.headers["server-timing"] = f"total;dur={1000 * (time.perf_counter() - started):.2f}"
        return answer

    kind = TASKS[task]
    response: type[Response] = Response if kind.answer is None else JSONResponse
    good = {"content": openapi.files()} if kind.answer is None else {"model": kind.answer}
    app.post(
        f"/api/{task}", name=task, operation_id=task, summary=kind.summary, response_class=response,
        responses={200: {"description": kind.summary, **good}, **openapi.refusals(*openapi.TASK_REFUSALS)},
        openapi_extra=openapi.body({"$ref": openapi.REFERENCE.format(model=kind.request.__name__)}),
    )(run)  # fmt: skip


def _add_jobs(app: FastAPI, jobs: Jobs, bodies: BodyReader, settings: Settings) -> None:
    """Add the routes that submit, show, follow, fetch and cancel jobs."""
    any_request = {"description": "Body of POST /api/TASK; errors in it are reported by the job's result"}
    location = {"Location": {"schema": {"type": "string"}, "description": "Address of the job"}}

    @app.post(
        "/api/jobs", operation_id="submit", status_code=202, summary="Submit a long calculation",
        responses={202: {"headers": location}, **openapi.refusals(400, 408, 413, 415, 422)},
        openapi_extra=openapi.body(any_request),
    )  # fmt: skip
    async def submit(task: TaskName, request: Request, response: Response) -> answers.Job:
        body = await bodies.read(request)
        if task not in TASKS:
            raise refusal_of(InputError(f"unknown; known are {', '.join(TASKS)}", field="task", value=task))
        job = jobs.submit(task, body)
        response.headers["Location"] = f"{settings.root_path}/api/jobs/{job.id}"
        return job.to_dict()

    @app.get("/api/jobs/{id}", operation_id="look", summary="State of a job", responses=openapi.refusals(404, 422))
    async def look(id: str) -> answers.Job:
        return jobs.get(id).to_dict()

    @app.delete("/api/jobs/{id}", operation_id="cancel", summary="Cancel a job", responses=openapi.refusals(404, 422))
    async def cancel(id: str) -> answers.Job:
        job = jobs.get(id)
        jobs.cancel(job)
        return job.to_dict()

    stream = {
        "description": "Events whose data are the state of the job",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }

    @app.get(
        "/api/jobs/{id}/events", operation_id="follow", summary="Follow a job: events `progress`, then one `end`",
        response_class=StreamingResponse, responses={200: stream, **openapi.refusals(404, 422)},
    )  # fmt: skip
    async def follow(id: str) -> Response:
        unbuffered = {"x-accel-buffering": "no"}  # nginx passes events on at once
        return StreamingResponse(jobs.follow(jobs.get(id)), media_type="text/event-stream", headers=unbuffered)

    result = {"description": "The answer of the task", "content": openapi.files()}

    @app.get(
        "/api/jobs/{id}/result", operation_id="fetch", summary="Fetch the result of a job", response_class=Response,
        responses={200: result, **openapi.refusals(400, 404, 409, 422, 500, 503)},
    )  # fmt: skip
    async def fetch(id: str) -> Response:
        return _answer(jobs.get(id).result())


def _add_information(app: FastAPI, pool: Pool, settings: Settings) -> None:
    """Add the routes that describe the service: health, formats and examples."""
    limits = answers.ServiceLimits(
        body=settings.limits.body, regions=settings.limits.regions, seconds=settings.limits.seconds,
        queue=settings.queue,
    )  # fmt: skip

    @app.get(
        "/api/health", operation_id="health", summary="Status, load and limits of the service",
        responses=openapi.refusals(),
    )  # fmt: skip
    async def health() -> answers.Health:
        return answers.Health(
            status="ok", version=__version__, workers=settings.workers, busy=pool.busy, waiting=pool.waiting,
            limits=limits,
        )  # fmt: skip

    @app.get(
        "/api/formats", operation_id="formats", summary="Methods and file formats",
        responses=openapi.refusals(),
    )  # fmt: skip
    async def formats() -> answers.Formats:
        return answers.Formats(
            methods=[answers.MethodSummary(name=method.name, summary=method.summary) for method in METHODS.values()],
            problem=answers.ProblemFormats(read=list(TEXT_READERS), write=list(ONE_FILE), degrees=[".geojson"]),
            plan=answers.PlanFormats(
                write=list(PLAN_WRITERS),
                degrees=[suffix for suffix, needed in PLACES_NEEDED.items() if needed == DEGREES],
                plane=[suffix for suffix, needed in PLACES_NEEDED.items() if needed == METRES],
            ),
        )

    @app.get(
        "/api/examples", operation_id="examples", summary="List of examples",
        responses=openapi.refusals(),
    )  # fmt: skip
    async def list_examples() -> answers.Examples:
        found = [answers.Example(name=name, title=title) for name, (title, _) in examples().items()]
        return answers.Examples(examples=found)

    @app.get(
        "/api/examples/{name}", operation_id="example", summary="An example as a problem",
        responses={200: {"model": answers.Problem}, **openapi.refusals(404, 422)},
    )  # fmt: skip
    async def example(name: str) -> Response:
        if name not in examples():
            raise Refusal(404, f"there is no example {name[:60]!r}; known are {', '.join(examples())}", "name")
        return Response(examples()[name][1], media_type="application/json")


def _add_monitoring(app: FastAPI, pool: Pool, metrics: Metrics) -> None:
    """Add the routes for orchestrators and operators: readiness and metrics."""

    @app.get(
        "/health", operation_id="ready", summary="Whether a worker is ready to calculate",
        responses=openapi.refusals(503),
    )  # fmt: skip
    async def ready() -> answers.Ready:
        if not pool.ready:
            raise Refusal(503, "no worker is ready", retry=1)
        return answers.Ready(status="ok")

    text = {"description": "Prometheus text format", "content": {"text/plain": {"schema": {"type": "string"}}}}

    @app.get(
        "/metrics", operation_id="metrics", summary="Metrics in the text format of Prometheus",
        response_class=Response, responses={200: text, **openapi.refusals()},
    )  # fmt: skip
    async def show_metrics() -> Response:
        return Response(generate_latest(metrics.registry), headers={"content-type": CONTENT_TYPE_PLAIN_0_0_4})


def _add_page(app: FastAPI) -> None:
    """Serve the files of the page from memory; no request path reaches the file system."""

    @functools.cache
    def contract() -> Asset:
        return Asset(json.dumps(app.openapi(), ensure_ascii=False).encode(), "application/json")

    def add(path: str, get: Callable[[], Asset]) -> None:
        async def serve(request: Request) -> Response:
            asset = get()
            headers = {"etag": asset.etag, "cache-control": "no-cache"}
            if request.headers.get("if-none-match") == asset.etag:
                return Response(status_code=304, headers=headers)
            return Response(asset.content, media_type=asset.media, headers=headers)

        app.add_route(path, serve, methods=["GET"], include_in_schema=False)

    add("/openapi.json", contract)
    for path in page_files():
        add(path, functools.partial(page_files().__getitem__, path))


def _refuse_with_problem_documents(app: FastAPI) -> None:
    async def respond_refusal(_: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return Response(error.document(), error.status, dict(error.headers), PROBLEM_JSON)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        path, detail, headers = request.scope["path"], str(error.detail), dict(error.headers or {})
        if error.status_code == 404:
            detail = f"unknown path {show(path)}; known are {list_names(_addresses(app))} (/docs shows all)"
        elif error.status_code == 405:  # the router names only the methods of the first matching route
            headers["Allow"] = ", ".join(sorted(_methods(app, path)))
            detail = f"{show(path)} does not support {show(request.method)}, only {headers['Allow']} (/docs shows all)"
        return Response(Refusal(error.status_code, detail).document(), error.status_code, headers, PROBLEM_JSON)

    async def unread(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        field = str(first["loc"][-1])
        return await respond_refusal(_, Refusal(422, f"{field}: {first['msg'].lower()}", field))

    async def respond_error(_: Request, error: Exception) -> Response:
        refusal = Refusal(500, "internal error of the service, not of the request; see its log")
        return Response(refusal.document(), 500, media_type=PROBLEM_JSON)

    handlers: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        Refusal: respond_refusal, HTTPException: http, RequestValidationError: unread, Exception: respond_error,
    }  # fmt: skip
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _addresses(app: FastAPI) -> list[str]:
    """Return the address of the page and those in the OpenAPI document, without addresses below a path parameter."""
    described = (route for route in app.routes if isinstance(route, Route) and route.include_in_schema)
    return ["/", *sorted({route.path for route in described if "{" not in route.path})]


def _methods(app: FastAPI, path: str) -> set[str]:
    """Return the HTTP methods that an address answers to."""
    found = (route for route in app.routes if isinstance(route, Route) and route.path_regex.match(path))
    return {method for route in found for method in route.methods or ()}


async def _wait_for_disconnect(request: Request) -> None:
    """Wait until the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _answer(result: Result) -> Response:
    headers = {"content-disposition": f'attachment; filename="{result.name}"'} if result.name else None
    return Response(result.content, media_type=result.media, headers=headers)
