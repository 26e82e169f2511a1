"""JSON schemas of problem and plan files, assembled from the members that the classes read and write."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

from learnroute.model import constraints, depot, features_scaling, fleet, visits
from learnroute.model.certificates import certificate_schema
from learnroute.model.learners import CHOSEN, RULES, Calibrated, Regime
from learnroute.model.problem import DissimilarityKind
from learnroute.model.validation import LARGEST_VALUE, SMALLEST_VALUE
from learnroute.model.value import Loss

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
POSITIVE: Schema = {"type": "number", "minimum": 0}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
COUNT: Schema = {"type": "integer", "minimum": 1}
INDEX: Schema = {"type": "integer", "minimum": 0}
NULL: Schema = {"type": "null"}


def problem_schema() -> Schema:
    """Return the JSON schema of a problem file."""
    tiny = {"exclusiveMinimum": -SMALLEST_VALUE, "exclusiveMaximum": SMALLEST_VALUE, "not": {"const": 0}}
    number = {"type": "number", "minimum": -LARGEST_VALUE, "maximum": LARGEST_VALUE, "not": tiny}
    return {
        "$schema": DRAFT,
        "title": "learnroute problem",
        "type": "object",
        "required": ["learner"],
        "oneOf": [{"required": [kind]} for kind in ("dissimilarity", "vectors", "transfer")],
        "anyOf": [{"required": ["travel"]}, {"required": ["coordinates"]}],
        "additionalProperties": False,
        "$defs": {
            "nonNegative": {**number, "minimum": 0},
            "anyNumber": number,
            "square": _list(_list(_ref("nonNegative"), least=2), least=2),
            "rows": _list(_list(_ref("anyNumber"), least=1), least=2),
        },
        "properties": {
            "title": _describe(TEXT, "Title for pictures and printed results"),
            "regions": {
                **_list({**TEXT, "minLength": 1}, least=2),
                "uniqueItems": True,
                "description": "Names of the regions; default R1, R2, ...",
            },
            "travel": _ref(
                "square", "Travel costs from each region (row) to each region (column); zeros on the diagonal"
            ),
            "dissimilarity": _ref(
                "square", "Upper bounds on the squared distance of two regions' true models; symmetric, diagonal 0"
            ),
            "dissimilarity_low": _ref("square", "Lower bounds on the same distances, for learnroute robustness"),
            "dissimilarity_estimate": _ref(
                "rows", "Unbiased estimates of the same distances; plans use them unless upper bounds are requested"
            ),
            "initial_estimate": _describe(_list(_ref("anyNumber")), "Unbiased estimates of the distances in initial"),
            "vectors": _ref(
                "rows",
                "Instead of dissimilarity: one vector per region; their squared distances are the dissimilarities",
            ),
            "transfer": _ref(
                "square",
                "Instead of dissimilarity: errors of a model trained in one region (row), tested in another (column)",
            ),
            "initial": _describe(
                _list(_ref("nonNegative")),
                "Upper bounds on the squared distance of each region's true model to the initial model; default: from "
                "initial_model, otherwise 0",
            ),
            "learner": _learner(),
            "coordinates": _describe(
                _list(depot.PLACE), "One [x, y] per region, for maps, and for travel if travel is omitted"
            ),
            "truth": _ref("rows", "True models of the regions, if known; one row per region"),
            "initial_model": _describe(
                _list(_ref("anyNumber")),
                "Coefficients of the initial model, from which initial is derived; with truth or vectors; default 0",
            ),
            "geographic": _describe(
                FLAG,
                "Whether coordinates are [longitude, latitude] in degrees; travel is then great-circle distance in km",
            ),
            "constraints": constraints.SCHEMA,
            "travel_rate": _ref("nonNegative", "Loss per unit of travel; default 1"),
            "depot": depot.SCHEMA,
            "samples": _describe(
                _list(COUNT), "Number of samples per region, if they differ; replaces learner.samples"
            ),
            "importance": _describe(
                _list(_ref("nonNegative")),
                "Importance of each region: factor of its error in the mean over all regions; default 1",
            ),
            "visits": visits.SCHEMA,
            "fleet": fleet.SCHEMA,
            "features_scaling": features_scaling.SCHEMA,
        },
    }


def plan_schema() -> Schema:
    """Return the JSON schema of a plan file."""
    certificate = certificate_schema()
    return {
        "$schema": DRAFT,
        "title": "learnroute plan",
        "type": "object",
        "required": [
            "routes",
            "regime",
            "loss",
            "lower_bound",
            "gap",
            "optimal",
            "guarantee",
            "method",
            "seconds",
            "seed",
        ],
        "$defs": {"loss": _loss()},
        "properties": {
            "route": _describe(TEXTS, "Names of the regions in order of visit; only with one vehicle"),
            "routes": _describe(_list(TEXTS), "The route of each vehicle; empty for unused vehicles"),
            "order": _describe(_list(INDEX), "The route as 0-based indices of regions"),
            "models": _describe(
                _list(INDEX), "With several models on one vehicle: the model that each visit trains, from 0"
            ),
            "weights": _describe(_list(POSITIVE), "Weight of each model, if the models of a fleet are averaged"),
            "served_by": {
                "type": "object",
                "additionalProperties": {**INDEX, "type": ["integer", "null"]},
                "description": "The model that serves each region, from 0, if models are not averaged; null for the "
                "initial model",
            },
            "travels": _describe(_list(POSITIVE), "Travel of each vehicle of a fleet"),
            "skipped": _describe(TEXTS, "Names of the regions without a visit"),
            "untrained": _or_null(NUMBER, "Total loss without any visit, if visits are optional; null if unknown"),
            "contributions": {
                "anyOf": [_list(NUMBER), NULL],
                "description": "For each visit: the total loss if this visit were omitted; only if visits are optional",
            },
            "regime": {"enum": list(get_args(Regime))},
            "loss": _ref("loss", "Expected loss per region, with its parts"),
            "travel_cost": _describe(POSITIVE, "Travel of the whole route"),
            "travel_rate": _describe(POSITIVE, "Loss per unit of travel"),
            "learner": _training(),
            "dissimilarities": {
                "enum": list(get_args(DissimilarityKind)),
                "description": "Dissimilarities behind route, loss and bound: unbiased estimates, upper bounds, or "
                "measured errors (transfer)",
            },
            "features": _or_null(COUNT, "Number of features m; null for the rule calibrated"),
            "samples": {
                "anyOf": [COUNT, _list(COUNT), NULL],
                "description": "Training samples per visit: one number, or one per region in the order of route; "
                "null for the rule calibrated",
            },
            "features_scaling": {
                "anyOf": [features_scaling.SCHEMA, NULL],
                "description": "Copied from the problem; null if it has none",
            },
            "expected_errors": {
                "anyOf": [_list(NUMBER), NULL],
                "description": "Expected error in each region after the last visit, without label noise, in the order "
                "of route, then of skipped; null above 10,000 regions",
            },
            "importance": {
                "anyOf": [_list(POSITIVE), NULL],
                "description": "Importance of each region's error, in the order of expected_errors; null if all are "
                "equal, and above 10,000 regions",
            },
            "label_noise": _or_null(
                POSITIVE,
                "Variance of the label noise, to be added to expected_errors for comparison with measured squared "
                "errors; 0 for the rule calibrated, whose errors include it",
            ),
            "rehearsal": {
                "type": ["object", "null"],
                "description": "Result of a rehearsal: error, standard_error, errors (per region, in the order of "
                "expected_errors, label noise included), random (mean, least, most over random orders), order_matters, "
                "draws; for fleets also weights or served_by; null for other plans",
            },
            "loss_at_most": _or_null(
                NUMBER, "Upper bound on the total loss for all dissimilarities within their bounds; null if unknown"
            ),
            "loss_in_travel_units": {
                "oneOf": [_ref("loss"), NULL],
                "description": "Loss of the whole route in units of travel; null if the travel rate is 0",
            },
            "closed": _describe(FLAG, "Whether travel includes the return trip to the depot or the first region"),
            "depot": _or_null(TEXT, "Name of the depot; null if there is none"),
            "constraints": {
                "type": "object",
                "description": "start, end and return, copied from the problem",
            },
            "rules": {
                "type": ["object", "null"],
                "description": "visits and fleet, copied from the problem if it has them; they explain what another "
                "problem lacks, and are not used for verification",
            },
            "lower_bound": _or_null(NUMBER, "Proved lower bound on the total loss of every route"),
            "gap": _or_null(POSITIVE, "total / lower_bound - 1"),
            "certified_ratio": _or_null({**NUMBER, "minimum": 1}, "1 + gap"),
            "optimal": _describe(FLAG, "Whether the route is proved to have the least total loss"),
            "guarantee": _or_null(
                {**NUMBER, "minimum": 1}, "Ratio to the optimum that the method guarantees before solving"
            ),
            "guarantee_reason": _describe(TEXT, "Conditions of the guarantee, or the reason why there is none"),
            "guarantee_paper": _or_null(NUMBER, "Ratio guaranteed by the paper"),
            "guarantee_sharper": _or_null(NUMBER, "The sharper ratio of docs/bounds.md"),
            "method": _describe(TEXT, "The method that found the route"),
            "requested": _describe(TEXT, "The requested method"),
            "seconds": POSITIVE,
            "seed": INDEX,
            "notes": TEXTS,
            "true_loss": {"oneOf": [_ref("loss"), NULL]},
            "certificate": {**certificate, "oneOf": [*certificate["oneOf"], NULL]},
        },
    }


def _loss() -> Schema:
    """Return the schema of a loss, whose parts are non-negative except the total and the pair term."""
    gained = (
        "Gain from averaging models: by a regularised learner if dissimilar regions follow each other, and by "
        "merged models; usually <= 0"
    )
    free = {"total": NUMBER, "pairs": _describe(NUMBER, gained)}
    return {
        "type": "object",
        "required": [part.name for part in fields(Loss) if part.name != "pairs"],
        "properties": free,
        "additionalProperties": POSITIVE,
    }


def _learner() -> Schema:
    """Return the schema of a problem's learner."""
    whole = {"features": _describe(COUNT, "Number of features m; for least squares not n-1, n or n+1")}
    whole["samples"] = _describe(COUNT, "Number of training samples n per visit; may be omitted if samples lists them")
    whole["noise"] = _ref(
        "anyNumber",
        "Standard deviation σ of the label noise; for the rule calibrated, the error that each visit adds; default 0",
    )
    training = _rule_members()
    training["rule"] = _describe(training["rule"], "Training rule; default least-squares, the learner of the paper")
    calibrated = {"properties": {"rule": {"const": Calibrated.rule}}, "required": ["rule"]}
    return {
        "type": "object",
        "anyOf": [{"required": ["features"]}, calibrated],
        "additionalProperties": False,
        "properties": {**whole, **training},
    }


def _training() -> Schema:
    """Return the schema of a plan's learner, in which all choices are made."""
    chosen = _describe({"enum": list(CHOSEN)}, "How regularization was chosen, if it was chosen with the route")
    members = _rule_members()
    members["regularization"] = {"anyOf": [each for each in members["regularization"]["anyOf"] if "enum" not in each]}
    near = "Range of λ (for a schedule: of a common factor) with a loss within 1 % of the least"
    return {
        "type": "object",
        "required": ["rule"],
        "properties": {
            **members,
            "chosen": chosen,
            "range": _describe(_list(POSITIVE), near),
        },
        "additionalProperties": False,
        "description": "The learner that the plan was made for",
    }


def _rule_members() -> Schema:
    """Return the members of all learning rules."""
    return {
        "rule": {"enum": [each.rule for each in RULES]},
        **{name: schema for each in RULES for name, schema in each.schema().items()},
    }


def _describe(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def _ref(name: str, description: str = "") -> Schema:
    found = {"$ref": f"#/$defs/{name}"}
    return _describe(found, description) if description else found


def _list(items: Schema, least: int = 0) -> Schema:
    return {"type": "array", **({"minItems": least} if least else {}), "items": items}


def _or_null(schema: Schema, description: str) -> Schema:
    return {**schema, "type": [schema["type"], "null"], "description": description}
