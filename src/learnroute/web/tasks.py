"""Tasks of a worker: each takes the members of a JSON body and returns a result, independent of HTTP."""

from __future__ import annotations

import io
import json
import multiprocessing
import re
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from learnroute.comparison.of_learners import compare_learners
from learnroute.comparison.of_methods import compare
from learnroute.errors import InputError
from learnroute.fleet_tables import compare_fleets
from learnroute.formats import json_files, problem_from, read_members, write_plan, write_problem
from learnroute.formats.files import errors_naming
from learnroute.model.losses import error_over_time
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.scaling import scaled_places
from learnroute.model.streets import paths_between
from learnroute.model.subsets import with_costs
from learnroute.model.validation import FloatArray
from learnroute.model.value import error_histories
from learnroute.planner import evaluate, plan_within
from learnroute.solvers.contract import Progress
from learnroute.solvers.methods import METHODS
from learnroute.tradeoffs import tradeoff
from learnroute.visit_curves import visit_curve
from learnroute.web import answers
from learnroute.web.refusals import Refusal, refusal_of
from learnroute.web.requests import (
    CompareRequest,
    ErrorHistoryRequest,
    EvaluateRequest,
    ExportRequest,
    FleetRequest,
    LearnersRequest,
    PlanRequest,
    ReadRequest,
    Request,
    Routed,
    TradeoffRequest,
    VisitsRequest,
)
from learnroute.web.settings import Limits

MOST_WAY_PLACES = 100_000  # points on all street paths sent to a page, at most

MEDIA = {
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".geojson": "application/geo+json",
    ".gpx": "application/gpx+xml",
    ".kml": "application/vnd.google-earth.kml+xml",
    ".plan": "application/json",
    ".yaml": "application/yaml",
    ".tour": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".npz": "application/octet-stream",
    ".zip": "application/zip",
}


@dataclass(frozen=True)
class Result:
    """The result of a task: bytes, their media type, and a file name if they are to be saved."""

    content: bytes
    media: str = "application/json"
    name: str | None = None


def _plan(request: PlanRequest, limits: Limits, progress: Progress) -> Result:
    return _json(_plan_route(request, limits, progress).to_dict())


def _plan_route(request: PlanRequest, limits: Limits, progress: Progress) -> Plan:
    return plan_within(request.rated_problem, METHODS[request.method], request.seed, request.budget(limits, progress))


def _evaluate(request: EvaluateRequest, limits: Limits, progress: Progress) -> Result:
    return _json(_run_evaluate(request, limits, progress).to_dict())


def _run_evaluate(request: Routed, limits: Limits, progress: Progress) -> Plan:
    assert request.given is not None
    return evaluate(request.rated_problem, request.given, limits.seconds, progress, request.models)


def _compare(request: CompareRequest, limits: Limits, progress: Progress) -> Result:
    found = compare(
        request.rated_problem, request.methods, request.seed, request.seconds(limits), request.draws, progress
    )
    return _json(found.to_dict())


def _tradeoff(request: TradeoffRequest, limits: Limits, progress: Progress) -> Result:
    found = tradeoff(request.rated_problem, request.points, request.seed, request.seconds(limits), progress)
    return _json(found.to_dict())


def _learners(request: LearnersRequest, limits: Limits, progress: Progress) -> Result:
    return _json(compare_learners(request.rated_problem, request.seed, request.seconds(limits), progress).to_dict())


def _visits(request: VisitsRequest, limits: Limits, progress: Progress) -> Result:
    return _json(visit_curve(request.rated_problem, request.seed, request.seconds(limits), progress).to_dict())


def _fleet(request: FleetRequest, limits: Limits, progress: Progress) -> Result:
    found = compare_fleets(
        request.rated_problem, request.vehicles, request.models, request.serve, request.rounds, request.seed,
        request.seconds(limits), progress,
    )  # fmt: skip
    return _json(found.to_dict())


def _error_history(request: ErrorHistoryRequest, limits: Limits, progress: Progress) -> Result:
    walked = _run_evaluate(request, limits, progress)
    problem = request.rated_problem.replace(learner=walked.learner)  # with the chosen λ if the plan chose it
    if walked.fleet is None or problem.fleet is None:
        models = [_history(problem, walked.order, error_over_time(problem, walked.order))]
    else:
        trainings, errors = walked.fleet.trainings(problem.fleet.size), error_histories(problem, walked.fleet)
        models = [_history(problem, *one) for one in zip(trainings, errors, strict=True)]
    found = answers.ErrorHistory(
        **models[0].model_dump(),
        regime=walked.regime,
        scores=problem.scores.tolist(),
        dissimilarities=problem.dissimilarity_kind,
        models=None if walked.fleet is None else models,
    )
    return _json(found.model_dump(exclude_none=True))


def _history(problem: Problem, trainings: Sequence[int], errors: FloatArray) -> answers.ModelHistory:
    """Return the error history of one model over its trainings."""
    return answers.ModelHistory(
        order=list(trainings),
        route=[problem.regions[region] for region in trainings],
        retentions=problem.updates.along(trainings).retention.tolist(),
        weights=problem.instance.shares(trainings).tolist(),
        errors=errors.tolist(),
    )


def _read(request: ReadRequest, limits: Limits, progress: Progress) -> Result:
    """Read uploaded files with the library's own readers, in a private temporary folder."""
    with _temporary_folder() as name:
        folder = Path(name)
        for file in request.files:
            (folder / file.name).write_text(file.text, encoding="utf-8")
        path = folder / request.files[0].name if len(request.files) == 1 else folder
        try:
            problem, taken = _with_learner(path, request.learner)
        except InputError as error:
            message = str(error).replace(f"{folder}/", "").replace(f"{folder}: ", "").replace(str(folder), "")
            raise Refusal(422, message, "files") from None
    if problem.size > limits.regions:
        raise Refusal(422, f"{problem.size} regions: this service takes at most {limits.regions}", "files")
    problem = with_costs(problem)  # the page moves regions and changes single costs
    drawn = problem.coordinates is not None
    known = problem.stop_coordinates
    places = known if known is not None else scaled_places(problem.ways.matrix)
    document = answers.Problem(json_files.problem_to_dict(problem))
    ways = None if problem.streets is None else paths_between(problem.streets, len(problem.stops), MOST_WAY_PLACES)
    found = answers.ReadProblem(
        problem=document, places=places.tolist(), places_made_up=not drawn, learner_taken=taken, ways=ways
    )
    return _json(found.model_dump())


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a private folder, named after the process: if that is killed, the pool removes it."""
    return tempfile.TemporaryDirectory(prefix=f"{multiprocessing.current_process().name}-")


def _with_learner(path: Path, learner: dict[str, Any] | None) -> tuple[Problem, bool]:
    """Return a problem, and whether `learner` was used because the files have none."""
    with errors_naming(path):
        members = read_members(path)
        taken = learner is not None and isinstance(members, dict) and not members.get("learner")
        if taken:
            members["learner"] = learner
        return problem_from(members), taken


def _export(request: ExportRequest, limits: Limits, progress: Progress) -> Result:
    """Write the plan or the problem with the library's own writers; several files make a .zip."""
    problem = request.rated_problem
    with _temporary_folder() as folder:
        path = Path(folder) / f"{request.what}{request.format}"
        try:
            if request.what == "problem":
                written = write_problem(problem, path)
            else:
                make = _plan_route if request.given is None else _run_evaluate
                written = write_plan(make(request, limits, progress), path, problem)
        except InputError as error:
            if error.where is None:
                raise
            raise Refusal(422, str(error.within(path.name)), error.field or "format") from None
        if len(written) == 1:
            return Result(written[0].read_bytes(), MEDIA[request.format], written[0].name)
        return Result(_zip(written), MEDIA[".zip"], path.with_suffix(".zip").name)


def _zip(files: Sequence[Path]) -> bytes:
    """Return a zip archive of files by name; the same files give the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return content.getvalue()


def _json(data: Any) -> Result:
    return Result(json.dumps(data, ensure_ascii=False, allow_nan=False).encode())


@dataclass(frozen=True)
class Kind:
    """A task: its request model, its response model (None: a file), and a one-line summary."""

    run: Callable[[Any, Limits, Progress], Result]
    request: type[Request]
    answer: type[BaseModel] | None
    summary: str


TASKS: dict[str, Kind] = {
    "plan": Kind(_plan, PlanRequest, answers.Plan, "Choose the route with the least expected loss"),
    "evaluate": Kind(_evaluate, EvaluateRequest, answers.Plan, "Evaluate a given route"),
    "compare": Kind(_compare, CompareRequest, answers.Comparison, "Run several methods on one problem"),
    "tradeoff": Kind(_tradeoff, TradeoffRequest, answers.Tradeoff, "Routes from least travel to least error"),
    "learners": Kind(
        _learners, LearnersRequest, answers.LearnerTable, "Compare learners: error, travel and total loss"
    ),
    "visits": Kind(_visits, VisitsRequest, answers.VisitCurve, "The best route for each number of visits"),
    "fleet": Kind(_fleet, FleetRequest, answers.FleetTable, "Compare numbers of vehicles and models"),
    "error_history": Kind(
        _error_history, ErrorHistoryRequest, answers.ErrorHistory, "Expected error by region after each visit"
    ),
    "read": Kind(_read, ReadRequest, answers.ReadProblem, "Read uploaded files into a problem"),
    "export": Kind(_export, ExportRequest, None, "Write a plan or a problem as a file"),
}


def run_task(
    name: str, body: bytes, limits: Limits, progress: Progress, begin: Callable[[float], None] = lambda _: None
) -> Result:
    """Run a task on the bytes of a request; raise a Refusal if they are invalid.

    `begin` is called with the number of seconds that the task may take, once it is known.
    """
    kind = TASKS[name]
    try:
        members = json_files.parse(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refusal(400, f"not a text file in UTF-8 (byte {error.start})", "body") from None
    except InputError as error:
        raise Refusal(400, str(error), "body") from None
    try:
        request = kind.request.of(members, limits)
        begin(request.allowance(limits))
        return kind.run(request, limits, progress)
    except InputError as error:
        raise refusal_of(error, _owner(error, kind.request)) from None
    except MemoryError:
        raise Refusal(422, "the problem does not fit into memory; give fewer regions", "problem") from None


def _owner(error: InputError, request: type[Request]) -> str:
    """Return the prefix of an invalid field: a field belongs to the problem unless the request has it."""
    member = re.split(r"\W", error.field or "method")[0]
    return "" if member in request.model_fields or "problem" not in request.model_fields else "problem."
