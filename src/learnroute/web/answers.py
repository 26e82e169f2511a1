"""Response models of the service, shown as schemas in /openapi.json."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, NonNegativeInt, RootModel

from learnroute.formats.schemas import plan_schema, problem_schema

Regime = Literal["under", "over", "mixed"]
Dissimilarities = Annotated[
    Literal["estimate", "upper", "measured"],
    Field(description="What all losses go by: unbiased estimates, upper bounds, or measured errors (transfer)"),
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
    ratio: float | None = Field(description="The loss over the bound; null where that is not positive")
    seconds: float
    draws: NonNegativeInt = Field(description="Routes that the loss is averaged over")
    refused: str | None = Field(description="Why the method cannot work on this problem")
    plan: Plan | None


class Comparison(BaseModel):
    """Several methods on one problem, with the best lower bound that any of them proved."""

    lower_bound: float = Field(description="No route has a smaller loss")
    bound_is_optimum: bool
    dissimilarities: Dissimilarities
    rows: list[ComparedMethod]


class TradeoffPoint(BaseModel):
    """One route between minimum travel and minimum error."""

    travel_cost: float
    error: float
    rates: list[float | None] | None = Field(description="Travel rates from and up to which no other route is better")
    order: list[NonNegativeInt]
    route: list[str]


class Tradeoff(BaseModel):
    """The routes that no other route beats in both travel and error, from minimum travel to minimum error."""

    points: list[TradeoffPoint]
    complete: bool = Field(description="Whether none is missing")
    rate: float
    chosen: NonNegativeInt = Field(description="Index of the point that is best at this rate")
    dissimilarities: Dissimilarities
    marks: dict[str, TradeoffPoint] = Field(description="Routes of other methods, by method")


class ComparedLearner(BaseModel):
    """One learner on one route."""

    learner: str
    route_kind: str = Field(description="Which route: shortest, papers-best (of least squares) or own-best")
    memory: NonNegativeInt | None = Field(description="Numbers kept besides the samples at hand; null for the floor")
    order: list[NonNegativeInt] | None
    route: list[str] | None
    error: float | None = Field(description="Expected final error per region; null where it does not exist")
    travel_cost: float | None
    total: float | None
    saves: float | None = Field(description="Loss by which the total is below that of the first row that has one")
    step: float | None = Field(description="Loss by which the total is below that of the row before")
    regularization: float | list[float] | None = Field(description="λ, or one for each visit")
    regularization_range: list[float] | None = Field(
        description="The λ whose loss is within 1 %; where there is one for each visit, common factors"
    )
    refused: str | None = Field(description="Why there is no expected error")


class LearnerCurve(BaseModel):
    """The total loss on one route as a function of λ."""

    route_kind: str
    order: list[NonNegativeInt]
    totals: list[float]
    limit: float | None = Field(description="The total loss of least squares, where it exists")


class LearnerTable(BaseModel):
    """A comparison of learners, from the paper's learner on the shortest route to the floor."""

    rows: list[ComparedLearner]
    regularizations: list[float] = Field(description="The λ of the curves")
    curves: list[LearnerCurve]
    dissimilarities: Dissimilarities
    complete: bool = Field(description="Whether the time limit did not come first")
    notes: list[str]


class VisitRow(BaseModel):
    """The best route with a given number of visits; the untrained model for 0 visits."""

    visits: NonNegativeInt
    route: list[str]
    error: float = Field(description="Expected error per region, visited or not")
    travel: float = Field(description="Travel of the whole route, in its own units")
    total: float
    optimal: bool = Field(description="Whether it is proved that no route with as many visits has a smaller total")
    regularization: float | list[float] | None = Field(
        default=None, description="λ, or one for each visit, where it was chosen with the route"
    )
    routes: list[list[str]] | None = Field(default=None, description="Of several vehicles: the route of each")
    models: list[NonNegativeInt] | None = Field(
        default=None, description="The model that each visit trains, from 0, where one vehicle carries several"
    )


class VisitCurve(BaseModel):
    """The best route for each number of visits: one row per number, from 0."""

    rows: list[VisitRow]
    best: NonNegativeInt = Field(description="Index of the row with the least total loss")
    floor: float = Field(description="The error of the mean of all regions' models")
    dissimilarities: Dissimilarities
    summary: str
    notes: list[str]


class FleetRow(BaseModel):
    """The best routes of one fleet, or federated averaging, which is evaluated but not planned."""

    vehicles: NonNegativeInt = Field(description="Vehicles with a model each; none in federated averaging")
    models: NonNegativeInt = Field(description="Models: one per vehicle, those of one vehicle, or one per region")
    serve: Literal["merged", "own", "federated"]
    error: float = Field(description="Expected error per region")
    travel: float = Field(description="Travel of all vehicles, in its own units")
    longest: float = Field(description="Travel of the longest route")
    total: float
    routes: list[list[str]] = Field(description="One per vehicle")
    optimal: bool = Field(description="Whether it is proved that no routes of this fleet have a smaller total")
    trained: list[NonNegativeInt] | None = Field(
        default=None, description="The model that each visit trains, from 0, where one vehicle carries several"
    )
    rounds: NonNegativeInt | None = Field(default=None, description="Of federated averaging")
    regularization: float | list[float] | None = Field(
        default=None, description="λ, where it was chosen with the routes"
    )


class FleetTable(BaseModel):
    """A comparison of numbers of vehicles and models: one row per fleet, then federated averaging."""

    rows: list[FleetRow]
    best: NonNegativeInt = Field(description="Index of the planned row with the least total loss")
    dissimilarities: Dissimilarities
    notes: list[str]


class ModelHistory(BaseModel):
    """The expected error of one model in each region, before its first visit and after each visit that trains it."""

    order: list[NonNegativeInt]
    route: list[str]
    retentions: list[float] = Field(description="Share of the old model that each visit keeps, in order of visit")
    weights: list[float] = Field(description="Share of each visit in the final model, in order of visit")
    errors: list[list[float]] = Field(description="One row per moment, one column per region")


class ErrorHistory(ModelHistory):
    """An error history with its regime, scores and dissimilarities; with several models, the history of the first."""

    regime: Regime
    scores: list[float] = Field(description="By region")
    dissimilarities: Dissimilarities
    models: list[ModelHistory] | None = Field(default=None, description="Of several models: one history per model")


class ReadProblem(BaseModel):
    """The problem read from uploaded files."""

    problem: Problem
    places: list[list[float]] = Field(description="Where to draw the regions and, last, the depot if there is one")
    places_made_up: bool = Field(description="Whether the files have no places, so that these are drawn from travel")
    learner_taken: bool = Field(
        description="Whether the files have no learner, so that the one of the request is taken"
    )
    ways: list[list[list[list[float]] | None]] | None = Field(
        description="Places on the way along streets, from row to column; null where travel is not along streets"
    )


class Job(BaseModel):
    """The state of a long calculation."""

    id: str
    task: str
    state: State
    stage: str
    progress: float = Field(description="Share that is done")
    error: str | None = Field(description="Why it failed")


class ServiceLimits(BaseModel):
    """The limits of one request."""

    body: NonNegativeInt = Field(description="Bytes")
    regions: NonNegativeInt
    seconds: float
    queue: NonNegativeInt = Field(description="Calculations that may wait")


class Health(BaseModel):
    """The status, load and limits of the service."""

    status: str
    version: str
    workers: NonNegativeInt
    busy: NonNegativeInt
    waiting: NonNegativeInt
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
    degrees: list[str] = Field(description="Of those written, the ones that need longitudes and latitudes")


class PlanFormats(BaseModel):
    """Suffixes of plan files."""

    write: list[str]
    degrees: list[str] = Field(description="Of these, the ones that need longitudes and latitudes")
    plane: list[str] = Field(description="Of these, the ones that need places in a plane")


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
    detail: str = Field(description="What is wrong and what would do, in one line")
    field: str = Field(default="", description="The member at fault; left out where it is none")


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
