"""JSON schemas of problem and plan files, assembled from the members that the classes read and write."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

from learnroute.model import constraints, depot, features_scaling, fleet, visits
from learnroute.model.certificates import certificate_schema
from learnroute.model.learners import CHOSEN, RULES, Calibrated, Regime
from learnroute.model.losses import Loss
from learnroute.model.problem import DissimilarityKind
from learnroute.model.validation import LARGEST_VALUE

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
    number = {"type": "number", "minimum": -LARGEST_VALUE, "maximum": LARGEST_VALUE}
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
            "title": _describe(TEXT, "What the problem is called in print"),
            "regions": {
                **_list({**TEXT, "minLength": 1}, least=2),
                "uniqueItems": True,
                "description": "Names; R1, R2, ... if omitted",
            },
            "travel": _ref("square", "Cost of travel, from row to column; diagonal 0"),
            "dissimilarity": _ref(
                "square", "Upper bounds on the squared distance of two regions' true models; symmetric, diagonal 0"
            ),
            "dissimilarity_low": _ref(
                "square", "Lower bounds beside the upper ones of dissimilarity, for learnroute robustness"
            ),
            "dissimilarity_estimate": _ref(
                "rows", "Unbiased estimates beside the upper bounds of dissimilarity: what plans go by"
            ),
            "initial_estimate": _describe(
                _list(_ref("anyNumber")), "Unbiased estimates beside the upper bounds of initial"
            ),
            "vectors": _ref(
                "rows", "Instead of dissimilarity: one vector per region, whose squared distances are the bounds"
            ),
            "transfer": _ref(
                "square",
                "Instead of dissimilarity: the error in the column's region of a model trained in the row's alone",
            ),
            "initial": _describe(
                _list(_ref("nonNegative")),
                "Upper bounds on the squared distance of each true model to the first one; 0 if omitted",
            ),
            "learner": _learner(),
            "coordinates": _describe(
                _list(depot.PLACE), "One [x, y] per region: for drawing, and for travel where no costs are given"
            ),
            "truth": _ref("rows", "The regions' true models, where they are known"),
            "initial_model": _describe(
                _list(_ref("anyNumber")), "The learner's initial model; only with truth; 0 if omitted"
            ),
            "geographic": _describe(
                FLAG, "Whether coordinates are [longitude, latitude] in degrees; distances are then great circles in km"
            ),
            "constraints": constraints.SCHEMA,
            "travel_rate": _ref("nonNegative", "Loss per unit of travel cost; 1 if omitted"),
            "depot": depot.SCHEMA,
            "samples": _describe(
                _list(COUNT), "One number of samples per region, where they differ; instead of learner.samples"
            ),
            "importance": _describe(
                _list(_ref("nonNegative")),
                "How much the error in each region counts in the mean over all regions, not all 0; 1 if omitted",
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
            "route": _describe(TEXTS, "Names in order of visit, where there is one vehicle"),
            "routes": _describe(_list(TEXTS), "The route of each vehicle; empty if it stays at home"),
            "order": _describe(_list(INDEX), "The same as route, 0-based"),
            "models": _describe(
                _list(INDEX), "With several models, the number of the one that each visit of route trains"
            ),
            "weights": _describe(_list(POSITIVE), "Where the models of a fleet are averaged, the weight of each"),
            "served_by": {
                "type": "object",
                "additionalProperties": {**INDEX, "type": ["integer", "null"]},
                "description": "Where the models of a fleet serve their own regions, the number of the model that "
                "serves each region; null for the untrained one",
            },
            "travels": _describe(_list(POSITIVE), "Of a fleet, the travel of each vehicle, in units of travel"),
            "skipped": _describe(TEXTS, "Names of the regions that are not visited"),
            "untrained": _or_null(
                NUMBER, "Where visits are optional, the loss without any visit; null where it is not known"
            ),
            "contributions": {
                "anyOf": [_list(NUMBER), NULL],
                "description": "Where visits are optional, for each visit the total loss without it",
            },
            "regime": {"enum": list(get_args(Regime))},
            "loss": _ref("loss", "Expected loss per region: (e8) or (e14)"),
            "travel_cost": _describe(POSITIVE, "Of the whole route, in units of travel"),
            "travel_rate": _describe(POSITIVE, "Loss per unit of travel"),
            "learner": _training(),
            "dissimilarities": {
                "enum": list(get_args(DissimilarityKind)),
                "description": "What loss, bound and route go by: unbiased estimates, upper bounds, or measured errors "
                "(transfer)",
            },
            "features": _or_null(COUNT, "The learner's number of features m; null for the rule calibrated"),
            "samples": {
                "anyOf": [COUNT, _list(COUNT), NULL],
                "description": "Fresh samples in each region: one number, or one per region in the order of route; "
                "null for the rule calibrated",
            },
            "features_scaling": {
                "anyOf": [features_scaling.SCHEMA, NULL],
                "description": "As in the problem; null where it has none",
            },
            "expected_errors": {
                "anyOf": [_list(NUMBER), NULL],
                "description": "Expected error on each region after the last visit, in the order of route, skipped "
                "ones last, without label noise; null above 10,000 regions",
            },
            "importance": {
                "anyOf": [_list(POSITIVE), NULL],
                "description": "How much the error in each region counts, in the order of expected_errors; null where "
                "all count alike, and above 10,000 regions",
            },
            "label_noise": _or_null(
                POSITIVE,
                "Variance of the label noise, which measured squared errors contain beside expected_errors; 0 for the "
                "rule calibrated, whose errors contain it already",
            ),
            "rehearsal": {
                "type": ["object", "null"],
                "description": "Of a route chosen by rehearsal: error, standard_error, errors (per region, in the "
                "order of expected_errors, label noise included), random (mean, least, most over random orders), "
                "order_matters, draws; of fleets, weights or served_by that follow serves by; null of other plans",
            },
            "loss_at_most": _or_null(
                NUMBER, "The largest total loss with dissimilarities between their bounds; null where that is not known"
            ),
            "loss_in_travel_units": {
                "oneOf": [_ref("loss"), NULL],
                "description": "The loss of the whole route; null where travel is worth nothing",
            },
            "closed": _describe(FLAG, "Whether the way back to the depot, or to the first region, counts"),
            "depot": _or_null(
                TEXT, "Where the route starts, if that is no region; null if it starts at its first region"
            ),
            "constraints": {
                "type": "object",
                "description": "start, end and return, as far as the problem has them",
            },
            "lower_bound": _or_null(NUMBER, "No route has a smaller total"),
            "gap": _or_null(POSITIVE, "total / lower_bound - 1"),
            "certified_ratio": _or_null({**NUMBER, "minimum": 1}, "1 + gap"),
            "optimal": _describe(FLAG, "Proved to have the least total"),
            "guarantee": _or_null({**NUMBER, "minimum": 1}, "Ratio proved before solving"),
            "guarantee_reason": _describe(TEXT, "Why it holds, or why there is none"),
            "guarantee_paper": _or_null(NUMBER, "That of the paper"),
            "guarantee_sharper": _or_null(NUMBER, "The sharper one of docs/bounds.md"),
            "method": _describe(TEXT, "The method that found the route"),
            "requested": _describe(TEXT, "The method asked for"),
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
        "What averaging gains, by a regularised learner where dissimilar regions follow each other and by merged "
        "models; never > 0 but for long gradient steps"
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
    whole = {"features": _describe(COUNT, "m; with least squares, not n-1, n or n+1")}
    whole["samples"] = _describe(COUNT, "n, fresh samples in each region; may be left out where samples lists them")
    whole["noise"] = _ref(
        "anyNumber",
        "Standard deviation σ; of the rule calibrated, what each visit adds, which may be negative; 0 if omitted",
    )
    training = _rule_members()
    training["rule"] = _describe(
        training["rule"], "How the learner trains; least-squares, the paper's learner, if omitted"
    )
    calibrated = {"properties": {"rule": {"const": Calibrated.rule}}, "required": ["rule"]}
    return {
        "type": "object",
        "anyOf": [{"required": ["features"]}, calibrated],
        "additionalProperties": False,
        "properties": {**whole, **training},
    }


def _training() -> Schema:
    """Return the schema of a plan's learner, in which all choices are made."""
    chosen = _describe({"enum": list(CHOSEN)}, "Where regularization was chosen with the route")
    members = _rule_members()
    members["regularization"] = {"anyOf": [each for each in members["regularization"]["anyOf"] if "enum" not in each]}
    near = "From where to where regularization (a factor of it, for a schedule) is within 1 % of the loss"
    return {
        "type": "object",
        "required": ["rule"],
        "properties": {
            **members,
            "chosen": chosen,
            "range": _describe(_list(POSITIVE), near),
        },
        "additionalProperties": False,
        "description": "How the learner trains",
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
