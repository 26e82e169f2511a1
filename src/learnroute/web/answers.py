"""Response models of the service, shown as schemas in /openapi.json."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, NonNegativeInt, RootModel

from learnroute.formats.schemas import plan_schema, problem_schema

Regime = Literal["under", "over", "mixed"]
Dissimilarities = Annotated[
    Literal["estimate", "upper", "measured"],
    Field(
        description="Dissimilarities behind all losses: unbiased estimates, upper bounds, or measured errors (transfer)"
    ),
]
State = Literal["queued", "running", "done", "failed", "cancelled"]


class Problem(RootModel[dict[str, Any]]):
    """A problem as in a file; `document_schemas` returns its schema."""


class Plan(RootModel[dict[str, Any]]):
    """A plan as in a file; `document_schemas` returns its schema."""


class ComparedMethod(BaseModel):
    """One method of a comparison."""

    method: str
    loss: dict[str, float] | None
    ratio: float | None = Field(description="Loss divided by the lower bound; null if the bound is not positive")
    seconds: float
    draws: NonNegativeInt = Field(description="Number of routes over which the loss is averaged")
    refused: str | None = Field(description="Reason why the method cannot solve this problem")
    plan: Plan | None


class Comparison(BaseModel):
    """Several methods on one problem, with the best lower bound that any of them proved."""

    lower_bound: float = Field(description="Proved lower bound on the loss of every route")
    bound_is_optimum: bool = Field(description="Whether some route attains the lower bound")
    dissimilarities: Dissimilarities
    rows: list[ComparedMethod]


class TradeoffPoint(BaseModel):
    """One route between minimum travel and minimum error."""

    travel_cost: float
    error: float
    rates: list[float | None] | None = Field(
        description="Least and greatest travel rate at which this route is optimal"
    )
    order: list[NonNegativeInt]
    route: list[str]


class Tradeoff(BaseModel):
    """The routes that no other route beats in both travel and error, from minimum travel to minimum error."""

    points: list[TradeoffPoint]
    complete: bool = Field(description="Whether all Pareto-optimal routes are listed")
    rate: float = Field(description="Travel rate of the problem")
    chosen: NonNegativeInt = Field(description="Index of the point with the least loss at this rate")
    dissimilarities: Dissimilarities
    marks: dict[str, TradeoffPoint] = Field(description="Routes of other methods, for comparison")


class ComparedLearner(BaseModel):
    """One learner on one route."""

    learner: str
    route_kind: str = Field(description="shortest, papers-best (best route of least squares) or own-best")
    memory: NonNegativeInt | None = Field(description="Numbers stored besides the current samples; null for the floor")
    order: list[NonNegativeInt] | None
    route: list[str] | None
    error: float | None = Field(description="Expected error per region after the last visit; null if it does not exist")
    travel_cost: float | None
    total: float | None
    saves: float | None = Field(description="Reduction of the total loss compared with the first row that has a total")
    step: float | None = Field(description="Reduction of the total loss compared with the previous row")
    regularization: float | list[float] | None = Field(description="λ, or one λ per visit")
    regularization_range: list[float] | None = Field(
        description="Range of λ with a loss within 1 % of the least; for one λ per visit, range of a common factor"
    )
    refused: str | None = Field(description="Reason why there is no expected error")


class LearnerCurve(BaseModel):
    """The total loss on one route as a function of λ."""

    route_kind: str
    order: list[NonNegativeInt]
    totals: list[float]
    limit: float | None = Field(description="Total loss of least squares on this route, if it exists")


class LearnerTable(BaseModel):
    """A comparison of learners, from the paper's learner on the shortest route to the floor."""

    rows: list[ComparedLearner]
    regularizations: list[float] = Field(description="Values of λ on the horizontal axis")
    curves: list[LearnerCurve]
    dissimilarities: Dissimilarities
    complete: bool = Field(description="Whether all learners were compared within the time limit")
    notes: list[str]


class VisitRow(BaseModel):
    """The best route with a given number of visits; the initial model for 0 visits."""

    visits: NonNegativeInt
    route: list[str]
    error: float = Field(description="Expected error per region, including regions without a visit")
    travel: float = Field(description="Travel of the whole route")
    total: float
    optimal: bool = Field(description="Whether the route is proved optimal for this number of visits")
    regularization: float | list[float] | None = Field(
        default=None, description="λ, or one λ per visit, if it was chosen with the route"
    )
    routes: list[list[str]] | None = Field(default=None, description="Route of each vehicle, if there are several")
    models: list[NonNegativeInt] | None = Field(
        default=None, description="The model that each visit trains, from 0, if one vehicle carries several"
    )


class VisitCurve(BaseModel):
    """The best route for each number of visits: one row per number, from 0."""

    rows: list[VisitRow]
    best: NonNegativeInt = Field(description="Index of the row with the least total loss")
    floor: float = Field(description="Error of the mean of all true models")
    dissimilarities: Dissimilarities
    summary: str
    notes: list[str]


class FleetRow(BaseModel):
    """The best routes of one fleet, or federated averaging, which is evaluated but not planned."""

    vehicles: NonNegativeInt = Field(description="Number of vehicles; 0 for federated averaging")
    models: NonNegativeInt = Field(description="Number of models")
    serve: Literal["merged", "own", "federated"]
    error: float = Field(description="Expected error per region")
    travel: float = Field(description="Travel of all vehicles")
    longest: float = Field(description="Travel of the longest route")
    total: float
    routes: list[list[str]] = Field(description="Route of each vehicle")
    optimal: bool = Field(description="Whether the routes are proved optimal for this fleet")
    trained: list[NonNegativeInt] | None = Field(
        default=None, description="The model that each visit trains, from 0, if one vehicle carries several"
    )
    rounds: NonNegativeInt | None = Field(
        default=None, description="Rounds of federated averaging, with fresh samples in each"
    )
    samples: NonNegativeInt | None = Field(description="Samples of all trainings; null if the learner's are unknown")
    regularization: float | list[float] | None = Field(default=None, description="λ, if it was chosen with the routes")


class FleetTable(BaseModel):
    """A comparison of numbers of vehicles and models: one row per fleet, then federated averaging."""

    rows: list[FleetRow]
    best: NonNegativeInt = Field(description="Index of the row with the least total loss, federated averaging excluded")
    dissimilarities: Dissimilarities
    notes: list[str]


class ModelHistory(BaseModel):
    """The expected error of one model in each region, before its first visit and after each visit that trains it."""

    order: list[NonNegativeInt]
    route: list[str]
    retentions: list[float] = Field(description="Retention of each visit: share of the previous model that remains")
    weights: list[float] = Field(description="Share of each visit in the final model, in order of visit")
    errors: list[list[float]] = Field(
        description="Expected errors: one row before the first and after each visit, one column per region"
    )


class ErrorHistory(ModelHistory):
    """An error history with its regime, scores and dissimilarities; with several models, the history of the first."""

    regime: Regime
    scores: list[float] = Field(description="Score of each region")
    dissimilarities: Dissimilarities
    models: list[ModelHistory] | None = Field(default=None, description="One history per model, if there are several")


class ReadProblem(BaseModel):
    """The problem read from uploaded files."""

    problem: Problem
    places: list[list[float]] = Field(description="Map positions of the regions and, last, of a depot")
    places_made_up: bool = Field(
        description="Whether the files have no coordinates, so that positions are computed from travel"
    )
    learner_taken: bool = Field(description="Whether the files have no learner, so that the request's learner is used")
    ways: list[list[list[list[float]] | None]] | None = Field(
        description="Street paths from row to column; null if travel does not follow streets"
    )


class Job(BaseModel):
    """The state of a long calculation."""

    id: str
    task: str
    state: State
    stage: str
    progress: float = Field(description="Completed share, from 0 to 1")
    error: str | None = Field(description="Reason of the failure")


class ServiceLimits(BaseModel):
    """The limits of one request."""

    body: NonNegativeInt = Field(description="Maximum size of a request in bytes")
    regions: NonNegativeInt = Field(description="Maximum number of regions")
    seconds: float = Field(description="Maximum time limit of a calculation")
    queue: NonNegativeInt = Field(description="Maximum number of waiting calculations")


class Health(BaseModel):
    """The status, load and limits of the service."""

    status: str
    version: str
    workers: NonNegativeInt
    busy: NonNegativeInt = Field(description="Number of workers that calculate")
    waiting: NonNegativeInt = Field(description="Number of waiting calculations")
    limits: ServiceLimits


class Ready(BaseModel):
    """The answer if a worker is ready."""

    status: Literal["ok"]


class MethodSummary(BaseModel):
    """A method and one line about it."""

    name: str
    summary: str


class ProblemFormats(BaseModel):
    """Suffixes of problem files."""

    read: list[str]
    write: list[str]
    degrees: list[str] = Field(description="Written formats that need longitudes and latitudes")


class PlanFormats(BaseModel):
    """Suffixes of plan files."""

    write: list[str]
    degrees: list[str] = Field(description="Formats that need longitudes and latitudes")
    plane: list[str] = Field(description="Formats that need coordinates: in a plane, or of places near each other")


class Formats(BaseModel):
    """The methods and file formats of the service."""

    methods: list[MethodSummary]
    problem: ProblemFormats
    plan: PlanFormats


class Example(BaseModel):
    """An example that comes with the service."""

    name: str
    title: str


class Examples(BaseModel):
    """All examples that come with the service."""

    examples: list[Example]


class Refusal(BaseModel):
    """A problem document (RFC 9457)."""

    type: str
    title: str
    status: NonNegativeInt
    detail: str = Field(description="Field, value and remedy, in one line")
    field: str = Field(default="", description="The member at fault; omitted if there is none")


def document_schemas() -> dict[str, Any]:
    """Return the file schemas of Problem and Plan under the names they have in an OpenAPI document."""
    found: dict[str, Any] = {}
    for name, schema in (("Problem", problem_schema()), ("Plan", plan_schema())):
        text = json.dumps(schema).replace('"#/$defs/', f'"#/components/schemas/{name}_')
        whole = json.loads(text)
        whole.pop("$schema", None)
        found |= {f"{name}_{part}": body for part, body in whole.pop("$defs", {}).items()}
        found[name] = whole
    problem = found["Problem"]
    problem.pop("oneOf", None)  # either dissimilarity or vectors: the reader checks this, with a clearer message
    for owner in (problem, problem["properties"]["learner"]):
        add_null(owner)
    return found


def add_null(schema: dict[str, Any]) -> None:
    """Allow null for optional members."""
    nothing = {"type": "null"}
    for name, member in schema.get("properties", {}).items():
        if name not in schema.get("required", ()) and nothing not in member.get("anyOf", ()):
            default = {"default": member.pop("default")} if "default" in member else {}
            schema["properties"][name] = {"anyOf": [member, nothing], **default}
