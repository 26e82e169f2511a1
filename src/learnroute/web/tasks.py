"""What a worker can be asked: each task takes the members of a JSON body and gives a result. No HTTP here."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnroute.errors import InputError, shown
from learnroute.formats import ONE_FILE, PLAN_WRITERS, TEXT_READERS, json_files, read_problem, write_plan, write_problem
from learnroute.model.losses import error_over_time, model_shares
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.validation import as_count, as_number
from learnroute.planner import compare, evaluate, plan
from learnroute.plots.scaling import scaled_places
from learnroute.solvers.contract import Progress
from learnroute.solvers.registry import METHODS
from learnroute.tradeoffs import tradeoff
from learnroute.web.refusals import Refusal, refusal_of
from learnroute.web.settings import Limits

MOST_DRAWS = 1000
MEDIA = {
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".geojson": "application/geo+json",
    ".gpx": "application/gpx+xml",
    ".plan": "application/json",
    ".yaml": "application/yaml",
    ".tour": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".npz": "application/octet-stream",
}


@dataclass(frozen=True)
class Result:
    """What a task gives: bytes, what they are, and a file name where they are meant to be saved."""

    content: bytes
    media: str = "application/json"
    name: str | None = None


@dataclass(frozen=True)
class Asked:
    """The members of a request, with the limits that hold for it."""

    members: dict[str, Any]
    limits: Limits
    progress: Progress

    def get(self, name: str, default: Any = None) -> Any:
        """Return a member, or a default where it is missing or null."""
        value = self.members.get(name)
        return default if value is None else value

    def problem(self) -> Problem:
        """Return the problem asked about, travel counted at the rate asked for."""
        data = self.members.get("problem")
        if isinstance(data, dict):
            for field in ("travel", "dissimilarity", "vectors", "coordinates"):
                size = len(data[field]) if isinstance(data.get(field), list) else 0
                if size > self.limits.regions:
                    detail = f"{field} has {size} rows: this service takes at most {self.limits.regions} regions"
                    raise Refusal(422, detail, f"problem.{field}")
        try:
            problem = Problem.from_dict(data)
        except InputError as error:
            raise refusal_of(error, "problem." if isinstance(data, dict) else "") from None
        self.seed()  # whether or not it is needed
        rate = self.get("travel_rate")
        if rate is None:
            return problem
        return problem.changed(travel_rate=as_number("travel_rate", rate, least=0.0, meaning="the travel rate"))

    def seconds(self, share: int = 1) -> float:
        """Return the time limit of each of `share` calculations."""
        limit = as_number("time_limit", self.get("time_limit", self.limits.seconds / share), meaning="seconds")
        if limit * share > self.limits.seconds * (1 + 1e-9):
            most = f"{self.limits.seconds / share:.4g}"
            raise InputError(f"time_limit = {limit!r}: this service gives at most {most} seconds to each calculation")
        if limit <= 0:
            raise InputError(f"time_limit = {limit!r}: seconds must be > 0; leave it out for the longest")
        return limit

    def seed(self) -> int:
        """Return the seed asked for."""
        return as_count("seed", self.get("seed", 0), least=0, meaning="the seed")

    def plan(self, problem: Problem) -> Plan:
        """Return the plan asked for."""
        return plan(problem, self.get("method", "auto"), self.seed(), self.seconds(), self.progress)

    def route(self) -> Any:
        """Return the route that was handed in."""
        route = self.members.get("route")
        if not isinstance(route, list) or any(isinstance(stop, bool) for stop in route):
            raise InputError(f"route = {shown(route)}: a list of region names is needed")
        if any(isinstance(stop, int) and abs(stop) >= 1 << 62 for stop in route):
            raise InputError("route: there is no region with so large an index")
        return route


Task = Callable[[Asked], Result]


def _plan(asked: Asked) -> Result:
    return _json(asked.plan(asked.problem()).to_dict())


def _evaluate(asked: Asked) -> Result:
    return _json(evaluate(asked.problem(), asked.route()).to_dict())


def _compare(asked: Asked) -> Result:
    problem = asked.problem()
    methods = asked.get("methods", [name for name in METHODS if name != "auto"])
    if not isinstance(methods, list) or not methods or len(set(map(str, methods))) < len(methods):
        raise InputError(f"methods = {shown(methods)}: a list of different methods is needed")
    draws = asked.get("draws", 100)
    if isinstance(draws, int) and draws > MOST_DRAWS:
        raise InputError(f"draws = {draws}: this service averages over at most {MOST_DRAWS} routes")
    found = compare(problem, methods, asked.seed(), asked.seconds(len(methods)), draws, asked.progress)
    return _json(found.to_dict())


def _tradeoff(asked: Asked) -> Result:
    problem = asked.problem()
    found = tradeoff(problem, asked.get("points", 20), asked.seed(), asked.seconds(), asked.progress)
    return _json(found.to_dict())


def _journey(asked: Asked) -> Result:
    problem = asked.problem()
    walked = evaluate(problem, asked.route())
    return _json({
        "order": list(walked.order),
        "route": list(walked.route),
        "regime": walked.regime,
        "retentions": problem.retentions[list(walked.order)].tolist(),
        "weights": model_shares(problem, walked.order).tolist(),
        "scores": problem.scores.tolist(),
        "errors": error_over_time(problem, walked.order).tolist(),
    })  # fmt: skip


def _read(asked: Asked) -> Result:
    """Read uploaded files with the library's own readers, in a private folder that is gone a moment later."""
    files = _files(asked.members.get("files"))
    with tempfile.TemporaryDirectory(prefix="learnroute-") as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        path = folder / next(iter(files)) if len(files) == 1 else folder
        try:
            problem = read_problem(path)
        except InputError as error:
            message = str(error).replace(f"{folder}/", "").replace(f"{folder}: ", "").replace(str(folder), "")
            raise Refusal(422, message, "files") from None
    if problem.size > asked.limits.regions:
        raise Refusal(422, f"{problem.size} regions: this service takes at most {asked.limits.regions}", "files")
    if problem.points is not None:
        problem = problem.changed(travel=problem.travel)  # the page moves regions and changes single costs
    drawn = problem.coordinates is not None
    places = problem.coordinates if problem.coordinates is not None else scaled_places(problem.travel)
    return _json(
        {"problem": json_files.problem_to_dict(problem), "places": places.tolist(), "places_made_up": not drawn}
    )


def _files(given: Any) -> dict[str, str]:
    if not isinstance(given, list) or not 1 <= len(given) <= 20:
        raise InputError(f"files = {shown(given)}: a list of 1 to 20 objects with name and text is needed")
    files: dict[str, str] = {}
    for i, file in enumerate(given):
        if not isinstance(file, dict) or set(file) != {"name", "text"}:
            raise InputError(f"files[{i}] = {shown(file)}: an object with name and text is needed")
        name, text = file["name"], file["text"]
        if not isinstance(name, str) or not isinstance(text, str):
            raise InputError(f"files[{i}] = {shown(file)}: name and text must be text")
        suffix = Path(name).suffix.lower()
        if (
            len(name.encode(errors="replace")) > 200
            or not name.isprintable()
            or set(name) & set("/\\:")
            or name[:1] == "."
        ):
            raise InputError(f"files[{i}].name = {shown(name)}: a plain file name without folders is needed")
        if suffix not in TEXT_READERS:
            known = ", ".join(TEXT_READERS)
            raise InputError(f"files[{i}].name = {shown(name)}: unknown format {suffix!r}; known are {known}")
        if name in files:
            raise InputError(f"files[{i}].name = {shown(name)}: given twice; give each file once")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"files[{i}].text: not UTF-8 text; save the file as UTF-8") from None
        files[name] = text
    return files


def _export(asked: Asked) -> Result:
    """Write the plan or the problem with the library's own writers."""
    what, suffix = asked.get("what", "plan"), asked.get("format", ".json")
    known = list(PLAN_WRITERS) if what == "plan" else list(ONE_FILE)
    if what not in ("plan", "problem"):
        raise InputError(f"what = {shown(what)}: plan or problem is needed")
    if suffix not in known:
        raise InputError(f"format = {shown(suffix)}: unknown for a {what}; known are {', '.join(known)}")
    problem = asked.problem()
    with tempfile.TemporaryDirectory(prefix="learnroute-") as folder:
        path = Path(folder) / f"{what}{suffix}"
        chosen = None
        if what == "plan":
            chosen = asked.plan(problem) if asked.get("route") is None else evaluate(problem, asked.route())
        try:
            if chosen is None:
                write_problem(problem, path)
            else:
                write_plan(chosen, path, problem)
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}/", "")) from None
        return Result(path.read_bytes(), MEDIA[suffix], path.name)


def _json(data: Any) -> Result:
    return Result(json.dumps(data, ensure_ascii=False, allow_nan=False).encode())


@dataclass(frozen=True)
class Kind:
    """A task with the members it knows and one line about it."""

    run: Task
    members: tuple[str, ...]
    summary: str


_SOLVING = ("problem", "travel_rate", "seed", "time_limit")
TASKS: dict[str, Kind] = {
    "plan": Kind(_plan, (*_SOLVING, "method"), "Choose the route with the least expected loss"),
    "evaluate": Kind(_evaluate, ("problem", "travel_rate", "route"), "Say what a given route costs"),
    "compare": Kind(_compare, (*_SOLVING, "methods", "draws"), "Run several methods on one problem"),
    "tradeoff": Kind(_tradeoff, (*_SOLVING, "points"), "Routes from least travel to least error"),
    "journey": Kind(_journey, ("problem", "travel_rate", "route"), "Expected error by region after each visit"),
    "read": Kind(_read, ("files",), "Read uploaded files into a problem"),
    "export": Kind(_export, (*_SOLVING, "method", "route", "what", "format"), "Write a plan or a problem as a file"),
}


def run_task(name: str, body: bytes, limits: Limits, progress: Progress) -> Result:
    """Run a task on the bytes of a request; whatever is wrong with them is raised as a Refusal."""
    kind = TASKS[name]
    try:
        members = json_files.parse(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refusal(400, f"byte {error.start} is not UTF-8 text", "body") from None
    except InputError as error:
        raise Refusal(400, str(error), "body") from None
    if not isinstance(members, dict):
        raise Refusal(422, f"body = {shown(members)}: an object with {', '.join(kind.members)} is needed", "body")
    for key in members:
        if key not in kind.members:
            raise Refusal(422, f"{shown(key)}: unknown field; known are {', '.join(kind.members)}", str(key)[:60])
    try:
        return kind.run(Asked(members, limits, progress))
    except InputError as error:
        raise refusal_of(error) from None
    except MemoryError:
        raise Refusal(422, "the problem does not fit into memory; give fewer regions", "problem") from None
