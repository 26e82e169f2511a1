"""Fleets: the numbers of vehicles and models, how models serve the regions, and which travel counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

from learnroute.errors import InputError
from learnroute.model.constraints import Constraints
from learnroute.model.learners import SCHEDULE, Calibrated, Learner
from learnroute.model.rules import FleetRules
from learnroute.model.validation import as_choice, as_count, as_members, as_number

MERGED: Final = "merged"
OWN: Final = "own"
CHOSEN: Final = "chosen"
EQUAL: Final = "equal"
TOTAL: Final = "total"
LONGEST: Final = "longest"
MEMBERS = ("vehicles", "models", "serve", "weights", "travel", "limit")
MOST = 100  # maximum number of vehicles or models
SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Several vehicles with one model each, or one vehicle with several models; default: one of each",
    "additionalProperties": False,
    "properties": {
        "vehicles": {"type": "integer", "minimum": 1, "maximum": MOST, "description": "Number of vehicles; default 1"},
        "models": {
            "type": "integer", "minimum": 1, "maximum": MOST,
            "description": "Number of models on one vehicle; each visit trains one of them; default 1",
        },
        "serve": {
            "enum": [MERGED, OWN],
            "description": "merged: the average of all models serves all regions (default for vehicles); "
            "own: each region is served by the model with the least expected error there (default for models)",
        },
        "weights": {
            "enum": [CHOSEN, EQUAL],
            "description": "Weights of the average: chosen with the routes (default), or equal for trained models",
        },
        "travel": {
            "enum": [TOTAL, LONGEST],
            "description": "Travel that counts in the loss: the sum over all vehicles (default), or the longest route",
        },
        "limit": {"$ref": "#/$defs/nonNegative", "description": "Maximum travel per vehicle"},
    },
}  # fmt: skip


@dataclass(frozen=True)
class Fleet:
    """Several vehicles that each train their own model, or one vehicle that carries several models.

    Parameters
    ----------
    vehicles
        The number of vehicles. A vehicle may stay unused.
    models
        The number of models that one vehicle carries; each visit trains one of them. A model may stay untrained.
    serve
        `merged`: at the end, the models are averaged, and the average serves all regions. This is the default for
        vehicles; it needs squared distances and a linear law. `own`: each region is served by the model with the lowest
        expected error there, including the initial model. This is the default for models.
    weights
        The weights of the average: `chosen` together with the routes, or `equal` for all models that were trained.
    travel
        The travel that counts: the `total` of all vehicles, or that of the `longest` route.
    limit
        The maximum travel of one vehicle, in units of travel.

    Raises
    ------
    InputError
        If a member has the wrong type, or members contradict each other.
    """

    vehicles: int = 1
    models: int = 1
    serve: Literal["merged", "own"] | None = None
    weights: Literal["chosen", "equal"] = CHOSEN
    travel: Literal["total", "longest"] = TOTAL
    limit: float | None = None

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "vehicles": as_count("fleet.vehicles", self.vehicles, meaning="the number of vehicles"),
            "models": as_count("fleet.models", self.models, meaning="the number of models"),
            "weights": as_choice("fleet.weights", self.weights, (CHOSEN, EQUAL)),
            "travel": as_choice("fleet.travel", self.travel, (TOTAL, LONGEST)),
        }
        for name in ("vehicles", "models"):
            if checked[name] > MOST:
                raise InputError(f"must be <= {MOST}", field=f"fleet.{name}", value=checked[name])
        if min(checked["vehicles"], checked["models"]) > 1:
            reason = "each vehicle carries one model; give vehicles or models, not both"
            raise InputError(reason, field="fleet.models", value=checked["models"])
        default = OWN if checked["models"] > 1 else MERGED
        checked["serve"] = default if self.serve is None else as_choice("fleet.serve", self.serve, (MERGED, OWN))
        if checked["weights"] == EQUAL and checked["serve"] == OWN:
            reason = "models that serve their own regions are not averaged; remove weights, or set serve to merged"
            raise InputError(reason, field="fleet.weights", value=EQUAL)
        if self.limit is not None:
            checked["limit"] = as_number("fleet.limit", self.limit, least=0.0, meaning="the travel of one vehicle")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """The number of models: one per vehicle, or the models of the single vehicle."""
        return max(self.vehicles, self.models)

    @property
    def merged(self) -> bool:
        """Whether the average of the models serves all regions."""
        return self.serve == MERGED

    @property
    def is_single(self) -> bool:
        """Whether one vehicle trains one model that serves all regions."""
        return self.size == 1 and self.merged

    def check(self, constraints: Constraints, learner: Learner, measured: bool) -> None:
        """Reject a fleet that does not fit the rest of a problem; `measured` says whether errors are (transfer)."""
        for name in ("start", "end"):
            if self.vehicles > 1 and (region := getattr(constraints, name)) is not None:
                reason = "is one region, but there are several vehicles; use a depot, or omit it"
                raise InputError(reason, field=f"constraints.{name}", value=region)
        linear = not (isinstance(learner, Calibrated) and learner.common_retention is not None)
        if self.merged and (measured or not linear):
            why = "measured errors (transfer)" if measured else "a law with its own common_retention"
            reason = f"averaging needs squared distances and a linear law, and there is {why}; give {OWN!r}"
            raise InputError(reason, field="fleet.serve", value=MERGED)
        if learner.undecided and learner.training["regularization"] == SCHEDULE:
            reason = "is not supported for fleets; give one number, or auto"
            raise InputError(reason, field="learner.regularization", value=SCHEDULE)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Build a fleet from the member `fleet` of a problem file."""
        return cls(**as_members("fleet.", data, MEMBERS))

    def to_dict(self) -> dict[str, Any]:
        """Return the members in the format of a problem file, omitting those that are not needed."""
        found: dict[str, Any] = {"models": self.models} if self.models > 1 else {"vehicles": self.vehicles}
        found["serve"] = self.serve
        if self.merged and self.weights == EQUAL:
            found["weights"] = EQUAL
        if self.travel == LONGEST:
            found["travel"] = LONGEST
        return found if self.limit is None else found | {"limit": self.limit}

    def compile(self) -> FleetRules:
        """Return the fleet in the form that solvers use."""
        return FleetRules(
            self.vehicles, self.models, self.merged, self.weights == EQUAL, self.travel == LONGEST,
            math.inf if self.limit is None else self.limit,
        )  # fmt: skip
