"""Request models of tasks: workers validate requests with them, and /openapi.json shows them.

Members are validated by functions of the library if it has them, so that messages are the same as the library's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from learnroute.errors import InputError, did_you_mean, printable, show
from learnroute.fleet_tables import ROUNDS, SIZES
from learnroute.formats import ONE_FILE, PLAN_WRITERS, TEXT_READERS
from learnroute.model.fleet import MERGED, MOST, OWN
from learnroute.model.problem import Problem
from learnroute.model.streets import KnownPaths
from learnroute.model.validation import LARGEST_COUNT, LARGEST_VALUE, as_choice, as_count, as_matrix, as_number
from learnroute.solvers.contract import Budget, Progress
from learnroute.solvers.methods import METHODS
from learnroute.tradeoffs import MOST_POINTS
from learnroute.web import answers
from learnroute.web.assets import examples
from learnroute.web.refusals import Refusal, refusal_of
from learnroute.web.settings import Limits

MOST_DRAWS = 1000
MOST_FILES = 20
MOST_ROUNDS = 100
PRICING = 60.0  # seconds beyond a time limit for pricing routes through 1000 regions; grows as T²
FORMATS = sorted({*PLAN_WRITERS, *ONE_FILE})


def check_with(check: Callable[..., Any], **arguments: Any) -> BeforeValidator:
    """Return a validator that calls `check(name, value, **arguments)`, which raises InputError or returns the value."""

    def run(value: Any, info: ValidationInfo) -> Any:
        return check(info.field_name, value, **arguments)

    return BeforeValidator(run)


def _most(field: str, value: Any, *, least: int, most: int, meaning: str) -> int:
    count = as_count(field, value, least=least, meaning=meaning)
    if count > most:
        raise InputError(f"this service takes at most {most}", field=field, value=count)
    return count


def _methods(field: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not value or len(set(map(str, value))) < len(value):
        raise InputError("expected a list of different methods", field=field, value=value)
    return [as_choice(f"{field}[{k}]", name, known=list(METHODS)) for k, name in enumerate(value)]


def _route(field: str, value: Any) -> list[str | int]:
    if not isinstance(value, list) or not all(type(stop) in (str, int) for stop in value):
        raise InputError("expected a list of region names", field=field, value=value)
    if any(isinstance(stop, int) and abs(stop) >= 1 << 62 for stop in value):
        raise InputError("there is no region with so large an index", field=field)
    return value


def _routes(field: str, value: Any) -> list[list[str | int]]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST:
        raise InputError(f"expected a list of 1 to {MOST} routes, one per vehicle", field=field, value=value)
    return [_route(f"{field}[{k}]", route) for k, route in enumerate(value)]


def _models(field: str, value: Any) -> list[int]:
    if not isinstance(value, list) or not all(type(model) is int and 0 <= model < MOST for model in value):
        raise InputError("expected a list of numbers of models, from 0", field=field, value=value)
    return value


def _sizes(field: str, value: Any) -> list[int]:
    if not isinstance(value, list) or len(set(map(str, value))) < len(value):
        raise InputError("expected a list of different numbers", field=field, value=value)
    return [_most(f"{field}[{k}]", one, least=1, most=MOST, meaning="a number") for k, one in enumerate(value)]


def _seconds(field: str, value: Any) -> float:
    limit = as_number(field, value, meaning="seconds")
    if limit <= 0:
        raise InputError("seconds must be > 0; omit it for the maximum", field=field, value=limit)
    return limit


def _files(field: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_FILES:
        raise InputError(f"expected a list of 1 to {MOST_FILES} objects with name and text", field=field, value=value)
    names: set[str] = set()
    for i, file in enumerate(value):
        at = f"{field}[{i}]"
        if not isinstance(file, dict) or set(file) != {"name", "text"}:
            raise InputError("expected an object with name and text", field=at, value=file)
        if not isinstance(file["name"], str) or not isinstance(file["text"], str):
            raise InputError("name and text must be text", field=at, value=file)
        _file_name(f"{at}.name", file["name"])
        if file["name"] in names:
            raise InputError("given twice; give each file once", field=f"{at}.name", value=file["name"])
        names.add(file["name"])
        try:
            file["text"].encode()
        except UnicodeEncodeError:
            raise InputError("not UTF-8 text; save the file as UTF-8", field=f"{at}.text") from None
    return value


def _learner(field: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError("expected an object with features, samples, …", field=field, value=value)
    return value


def _ways(field: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise InputError("expected a list of ways for each region", field=field, value=value)
    for i, row in enumerate(value):
        for j, way in enumerate(row):
            if way is not None:
                as_matrix(f"{field}[{i}][{j}]", way, None, 2, meaning="the places of a way")
    return value


def _file_name(field: str, name: str) -> None:
    long = len(name.encode(errors="replace")) > 200
    if long or not name.isprintable() or set(name) & set("/\\:") or name[:1] == ".":
        raise InputError("expected a plain file name without folders", field=field, value=name)
    suffix = Path(name).suffix.lower()
    if suffix not in TEXT_READERS:
        kinds = ", ".join(TEXT_READERS)
        raise Refusal(422, printable(f"{name} is not a problem file; files of these kinds are: {kinds}"), field)


class _AsProblem:
    """Annotation for a member that is read as a problem of the library; its schema is the one of problem files."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        document = handler.generate_schema(answers.Problem)
        return core_schema.with_info_plain_validator_function(self.read, json_schema_input_schema=document)

    def read(self, data: Any, info: ValidationInfo) -> Problem:
        limits = info.context
        assert isinstance(limits, Limits)
        if isinstance(data, dict):
            for field in ("travel", "dissimilarity", "vectors", "transfer", "coordinates"):
                size = len(data[field]) if isinstance(data.get(field), list) else 0
                if size > limits.regions:
                    most = f"this service takes at most {limits.regions} regions"
                    raise InputError(most, field=field, found=f"has {size} rows")
        return Problem.from_dict(data)


class Request(BaseModel):
    """A request. Unknown members are rejected; null means omitted for optional members."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, members: dict[str, Any]) -> dict[str, Any]:
        left_out = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {name: value for name, value in members.items() if value is not None or name not in left_out}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        made = handler(schema)
        own = handler.resolve_ref_schema(made)
        answers.add_null(own)
        own["example"] = cls.example()
        return made

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return a request that works."""
        return {"problem": json.loads(examples()["warehouse-robot"][1])}

    @classmethod
    def of(cls, members: Any, limits: Limits) -> Any:
        """Return the request with the members of a body; raise a Refusal if they are invalid."""
        known = ", ".join(cls.model_fields)
        if not isinstance(members, dict):
            raise Refusal(422, f"body = {show(members)}: expected an object with {known}", "body")
        unknown = [name for name in members if name not in cls.model_fields]
        for name in unknown[1:]:  # only one is reported: a million of them would take long
            del members[name]
        try:
            return cls.model_validate(members, context=limits)
        except ValidationError as error:
            raise _refusal(error, known) from None

    def allowance(self, limits: Limits) -> float:
        """Return the seconds after which the calculation counts as stuck; the service's maximum if it has no limit."""
        return limits.seconds


class AboutProblem(Request):
    """A problem, its travel rate, and the dissimilarities to plan by."""

    problem: Annotated[Problem, _AsProblem()]
    travel_rate: Annotated[
        float | None,
        Field(ge=0, le=LARGEST_VALUE, description="Loss per unit of travel; default: from the problem"),
        check_with(as_number, least=0.0, meaning="the travel rate"),
    ] = None
    dissimilarities: Annotated[
        Literal["estimate", "upper"] | None,
        Field(description="Plan with unbiased estimates (default if the problem has them) or with upper bounds"),
        check_with(as_choice, known=["estimate", "upper"]),
    ] = None

    @property
    def rated_problem(self) -> Problem:
        """The problem with the requested travel rate and dissimilarities."""
        problem = self.problem if self.travel_rate is None else self.problem.replace(travel_rate=self.travel_rate)
        return problem if self.dissimilarities is None else problem.with_dissimilarities(self.dissimilarities)


class SolvingRequest(AboutProblem):
    """Members of all requests that choose routes."""

    seed: Annotated[int, Field(ge=0, le=LARGEST_COUNT), check_with(as_count, least=0, meaning="the seed")] = 0
    time_limit: Annotated[
        float | None,
        Field(gt=0, description="Seconds; at most limits.seconds of /api/health"),
        check_with(_seconds),
    ] = None

    def seconds(self, limits: Limits) -> float:
        """Return the time limit of the request; the service's limit if it has none."""
        if self.time_limit is not None and self.time_limit > limits.seconds:
            reason = f"this service gives at most {limits.seconds:.4g} seconds to each calculation"
            raise InputError(reason, field="time_limit", value=self.time_limit)
        return limits.seconds if self.time_limit is None else self.time_limit

    def budget(self, limits: Limits, progress: Progress) -> Budget:
        """Start the clock: a given time limit is used in full; without one, a search ends after its default effort."""
        return Budget.of(self.seconds(limits), progress, spend_all=self.time_limit is not None)

    def allowance(self, limits: Limits) -> float:
        """Return the time limit plus the seconds for work that it does not cover."""
        return self.seconds(limits) + self.pricing

    @property
    def pricing(self) -> float:
        """Seconds for work that a time limit does not cover."""
        return PRICING * (self.problem.size / 1000) ** 2


SIZE_SCHEMA: dict[str, Any] = {"uniqueItems": True, "items": {"type": "integer", "minimum": 1, "maximum": MOST}}
Method = Annotated[str, Field(json_schema_extra={"enum": list(METHODS)}), check_with(as_choice, known=list(METHODS))]


class PlanRequest(SolvingRequest):
    """Choose the route with the lowest expected loss."""

    method: Method = "auto"


class Routed(AboutProblem):
    """A given route, or the routes of several vehicles."""

    route: Annotated[
        list[str | int] | None,
        Field(description="Names or 0-based indices of regions in order of visit, for one vehicle"),
        check_with(_route),
    ] = None
    routes: Annotated[
        list[list[str | int]] | None,
        Field(min_length=1, max_length=MOST, description="One route per vehicle; replaces route"),
        check_with(_routes),
    ] = None
    models: Annotated[
        list[int] | None,
        Field(
            json_schema_extra={"items": {"type": "integer", "minimum": 0, "maximum": MOST - 1}},
            description="The model that each visit trains, from 0, if one vehicle carries several",
        ),
        check_with(_models),
    ] = None

    @property
    def given(self) -> list[Any] | None:
        """The route in the library's form: one list for one vehicle, or one list per vehicle for several."""
        fleet = self.problem.fleet
        if self.routes is None or (fleet is not None and fleet.vehicles > 1):
            return self.route if self.routes is None else self.routes
        if len(self.routes) > 1:
            reason = f"there are {len(self.routes)} routes for one vehicle; allow more (fleet.vehicles)"
            raise InputError(reason, field="routes")
        return self.routes[0]

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.route is not None and self.routes is not None:
            raise InputError("given beside route; give one of the two", field="routes")
        return self


class RouteRequest(Routed):
    """A request about a given route, or about the routes of several vehicles."""

    @model_validator(mode="after")
    def _require_route(self) -> Self:
        if self.route is None and self.routes is None:
            raise InputError("missing; give it, or routes with one list per vehicle", field="route")
        return self

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return a request that works."""
        made = super().example()
        return made | {"route": made["problem"]["regions"]}


class EvaluateRequest(RouteRequest):
    """Evaluate a given route."""


class ErrorHistoryRequest(RouteRequest):
    """Return the expected error by region after each visit."""


class CompareRequest(SolvingRequest):
    """Run several methods on one problem."""

    methods: Annotated[
        list[str],
        Field(
            json_schema_extra={"uniqueItems": True, "minItems": 1, "items": {"type": "string", "enum": list(METHODS)}},
            description="Methods to compare; default: all but auto",
        ),
        check_with(_methods),
    ] = [name for name in METHODS if name != "auto"]
    draws: Annotated[
        int,
        Field(ge=1, le=MOST_DRAWS, description="Number of routes over which random methods are averaged"),
        check_with(_most, least=1, most=MOST_DRAWS, meaning="the number of draws"),
    ] = 100


class TradeoffRequest(SolvingRequest):
    """Return routes from minimum travel to minimum error."""

    points: Annotated[
        int,
        Field(ge=2, le=MOST_POINTS, description="Number of plans beyond 14 regions (8 with a regularised learner)"),
        check_with(_most, least=2, most=MOST_POINTS, meaning="the number of points"),
    ] = 20


class LearnersRequest(SolvingRequest):
    """Compare learners: error, travel and total loss."""


class VisitsRequest(SolvingRequest):
    """Find the best route for each number of visits."""


class FleetRequest(SolvingRequest):
    """Compare numbers of vehicles and models."""

    vehicles: Annotated[
        list[int],
        Field(json_schema_extra=SIZE_SCHEMA, description="Numbers of vehicles to compare; each vehicle has one model"),
        check_with(_sizes),
    ] = list(SIZES)
    models: Annotated[
        list[int],
        Field(json_schema_extra=SIZE_SCHEMA, description="Numbers of models on one vehicle to compare"),
        check_with(_sizes),
    ] = list(SIZES)
    serve: Annotated[
        Literal["merged", "own"] | None,
        Field(description="merged: one average model; own: the best model for each region; default: compare both"),
        check_with(as_choice, known=[MERGED, OWN]),
    ] = None
    rounds: Annotated[
        int,
        Field(ge=1, le=MOST_ROUNDS, description="Rounds of federated averaging"),
        check_with(_most, least=1, most=MOST_ROUNDS, meaning="the number of rounds"),
    ] = ROUNDS

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return a request that works."""
        return super().example() | {"vehicles": [1, 2], "models": [1]}


class UploadedFile(BaseModel):
    """A file as text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    text: str


class ReadRequest(Request):
    """Read uploaded files into a problem."""

    files: Annotated[list[UploadedFile], Field(min_length=1, max_length=MOST_FILES), check_with(_files)]
    learner: Annotated[
        dict[str, Any] | None,
        Field(description="Learner for files without one"),
        check_with(_learner),
    ] = None

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Return a request that works."""
        return {"files": [{"name": "problem.json", "text": json.dumps(super().example()["problem"])}]}


class ExportRequest(PlanRequest, Routed):
    """Write a plan or a problem as a file. A plan is made if no route is given."""

    ways: Annotated[
        list[list[list[list[float]] | None]] | None,
        Field(description="Street paths from row to column, as returned by /api/read"),
        check_with(_ways),
    ] = None
    what: Annotated[Literal["plan", "problem"], check_with(as_choice, known=["plan", "problem"])] = "plan"
    format: Annotated[str, Field(json_schema_extra={"enum": FORMATS}), check_with(as_choice, known=FORMATS)] = ".json"

    def allowance(self, limits: Limits) -> float:
        """Return the seconds for a plan if one is made."""
        planned = self.what == "plan" and self.given is None
        return super().allowance(limits) if planned else limits.seconds

    @model_validator(mode="after")
    def _format_of_what(self) -> ExportRequest:
        known = list(PLAN_WRITERS if self.what == "plan" else ONE_FILE)
        if self.format not in known:
            reason = f"unknown for a {self.what}; known are {', '.join(known)}"
            raise InputError(reason, field="format", value=self.format)
        return self

    @property
    def rated_problem(self) -> Problem:
        """The problem, with its street paths if they are given."""
        problem = super().rated_problem
        if self.ways is None or problem.coordinates is None:
            return problem
        size, places = len(problem.stops), problem.stop_coordinates
        assert places is not None
        if len(self.ways) != size or any(len(row) != size for row in self.ways):
            reason = f"expected {size} rows and columns, one per region, and the last ones for a depot"
            raise InputError(reason, field="ways")
        return problem.replace(streets=KnownPaths(self.ways, places))


def _refusal(error: ValidationError, known: str) -> Refusal:
    """Return a refusal with the first error in one line."""
    first = error.errors(include_url=False)[0]
    field = str(first["loc"][0])[:60] if first["loc"] else "body"
    own = first.get("ctx", {}).get("error")
    if isinstance(own, InputError):
        return refusal_of(own, "problem." if field == "problem" != own.field else "")
    if first["type"] == "extra_forbidden":
        hint = did_you_mean(first["loc"][0], known.split(", "))
        return Refusal(422, f"{show(first['loc'][0])}: unknown field; {hint}", field)
    if first["type"] == "missing":
        return refusal_of(InputError(f"missing; known are {known}", field=field))
    reason = first["msg"].removeprefix("Input ")
    return refusal_of(InputError(reason, field=field, value=first["input"]))
