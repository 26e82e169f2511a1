"""Descriptions of a problem in words, and notes on questionable settings (such as an extreme travel rate)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import count_text, list_names, percent
from learnroute.model.fleet_objective import FleetRules
from learnroute.model.learners import LeastSquares
from learnroute.model.losses import Loss
from learnroute.model.pooled import floor_of
from learnroute.model.problem import ESTIMATE, UPPER, DissimilarityKind, Problem
from learnroute.model.rounding import PRINTED
from learnroute.model.table import clip

if TYPE_CHECKING:
    from learnroute.model.result import Plan

LITTLE, MUCH = 0.01, 0.95  # shares of the loss below which travel hardly counts, and above which it dominates
KINDS: dict[DissimilarityKind, str] = {
    "estimate": "unbiased estimates of the dissimilarities",
    "upper": "upper bounds on the dissimilarities",
    "measured": "measured errors (transfer)",
}
NEGLIGIBLE = 1e-3  # negligible share of the initial model in the final one


def describe(problem: Problem) -> tuple[str, ...]:
    """Return lines that describe a problem: its size and learner, and where routes begin and end."""
    start = problem.constraints.start if problem.depot is None else f"the depot {problem.depot.name}"
    ends = [f"from {start}"] if start else []
    ends += [f"to {problem.constraints.end}"] if problem.constraints.end else []
    ends += ["and back"] if problem.closed else []
    if problem.travel_rate != 1:
        ends.append(f"{'with ' if ends else ''}travel rate {problem.travel_rate:g}")
    return (
        f"{problem.size} regions, {problem.regime} regime ({describe_learner(problem)})",
        *([" ".join(ends)] if ends else []),
        *([describe_fleet(problem.fleet_rules)] if problem.fleet_rules is not None else []),
        *([f"uses {KINDS['estimate']}"] if problem.has_estimates else []),
        *([f"importance of regions: {describe_importance(problem)}"] if problem.importance is not None else []),
    )


def describe_fleet(rules: FleetRules) -> str:
    """Describe the numbers of vehicles and models, and how they serve."""
    size = f"{rules.vehicles} vehicles with a model each" if rules.vehicles > 1 else f"{rules.models} models"
    serve = "averaged at the end" if rules.merged else "each region served by its best one"
    paid = ", the longest route counts" if rules.longest else ""
    limit = "" if math.isinf(rules.limit) else f", at most {rules.limit:g} of travel per vehicle"
    return f"{'1 model' if rules.size == 1 else size}, {serve}{paid}{limit}"


def describe_importance(problem: Problem) -> str:
    """Describe the range of the importance of the regions."""
    weights = problem.region_weights
    unweighted = int((weights == 0).sum())
    data_only = f", {unweighted} of them 0 (data only)" if unweighted else ""
    return f"{weights.min():.3g} … {weights.max():.3g} times the mean{data_only}"


def describe_learner(problem: Problem) -> str:
    """Describe the learner's numbers and its training rule; for the paper's learner, its retention."""
    learner = problem.learner
    training = learner.training_text
    if isinstance(learner, LeastSquares) and problem.samples is None and learner.regime == "over":
        training = f"r = {learner.retention:.4g}"
    return f"{problem.shape}, {training}" if training else problem.shape


def travel_note(problem: Problem, loss: Loss) -> tuple[str, ...]:
    """Note that travel is nearly all or almost nothing of a route's loss, if so, and how to set its rate."""
    by_route = loss.dissimilarity + loss.pairs  # the part of the error that depends on the route
    if loss.travel <= 0 or loss.total <= 0 or by_route <= 0 or loss.error <= 0:
        return ()
    share = loss.travel / loss.total
    if LITTLE <= share <= MUCH:
        return ()
    decides = "errors hardly affect the route" if share > MUCH else "travel hardly affects the route"
    unit = problem.travel_unit or "unit of travel"
    even = problem.travel_rate * by_route / loss.travel
    return (
        f"travel is {_percent(share)} of the loss, so {decides}. travel_rate is the loss per {unit}, "
        f"here {problem.travel_rate:g}; with {even:.2g}, travel and the error from dissimilar regions would be equal "
        "on this route. The trade-off has the routes for all rates",
    )


def _percent(share: float) -> str:
    """Format a share near 0 or 1 with enough digits to distinguish it from them."""
    rest = 100 * min(share, 1 - share)
    digits = min(12, max(1, 1 - math.floor(math.log10(rest)))) if rest > 0 else 1
    return percent(share, digits)


def initial_model_note(problem: Problem, order: ArrayLike | None = None) -> tuple[str, ...]:
    """Note that the initial model is assumed to have no error although a part of it remains in the final model."""
    if problem.initial_sum > 0 or not math.fsum(problem.scores) > 0:
        return ()
    said = "initial is missing or 0 for all regions, so the initial model is assumed to have no error"
    remedy = "set initial to the dissimilarity of the initial model to each region"
    if problem.learner.undecided:
        return (f"{said}, and λ cannot be chosen; {remedy}",)
    stops = np.arange(problem.size) if order is None else np.asarray(order)
    left = float(np.prod(problem.updates.along(stops).retention))
    if left <= NEGLIGIBLE:
        return ()
    return (
        f"{said}; as {100 * left:.3g} % of it remains after the last visit, the expected error is too small; {remedy}",
    )


def impossible_error_notes(problem: Problem, plan: Plan) -> tuple[str, ...]:
    """Note that an expected error cannot be: below the floor of the same dissimilarities, or negative."""
    error, errors = plan.loss.error, np.array(plan.expected_errors or (plan.loss.error,))
    notes, rules, kind = [], problem.fleet_rules, problem.dissimilarity_kind
    expected = kind == ESTIMATE or (kind == UPPER and problem.updates.coupled)  # otherwise an upper bound, or measured
    floor = floor_of(problem) if expected and (rules is None or rules.merged) else -math.inf
    if error < floor - PRINTED * abs(floor):
        notes.append(
            f"the expected error, {error:.4g}, is below {floor:.4g}, the error of the mean of all models by the same "
            "dissimilarities, which no single model can beat, so it is too small; training along the plan measures it"
        )
    wrong = np.flatnonzero(errors < -PRINTED * np.abs(errors).max())
    if wrong.size:
        names = [*dict.fromkeys(plan.route), *plan.skipped] if plan.expected_errors else []
        where = f" in {list_names([clip(names[k]) for k in wrong])}" if names else ""
        notes.append(
            f"expected errors below 0{where}, the least {errors.min():.4g}, cannot be: the dissimilarities are too "
            "noisy, or the law does not hold"
        )
    return tuple(notes)


def regularization_note(values: ArrayLike, least: float, most: float) -> tuple[str, ...]:
    """Note that a chosen λ, or some λ of a schedule, is at an end of the range that was searched."""
    chosen = np.atleast_1d(np.asarray(values, dtype=np.float64))
    outside = (chosen <= least * (1 + PRINTED)) | (chosen >= most * (1 - PRINTED))
    if not outside.any():
        return ()
    what = f"λ = {chosen[0]:.3g} is" if len(chosen) == 1 else f"λ of {count_text(int(outside.sum()), 'visit')} is"
    return (
        f"{what} at an end of the range that is searched, {least:.3g} … {most:.3g}: a better λ may be outside, or the "
        "data are too noisy to choose one",
    )


def law_note(problem: Problem) -> tuple[str, ...]:
    """Note that measurements do not fully support the law of errors."""
    if not problem.learner.doubt:
        return ()
    return (f"expected errors, bounds and proofs are for the calibrated law, {problem.learner.doubt}",)


def fleet_notes(problem: Problem) -> tuple[str, ...]:
    """Note that several models overfit estimates: assignments favour regions whose estimates are too small."""
    if problem.fleet_rules is None or not problem.has_estimates:
        return ()
    return (
        "models are assigned by estimated dissimilarities, which favours regions whose estimates are too small, so the "
        "expected error is too small, too; training along the plan measures it",
    )


def visits_notes(problem: Problem, plan: Plan, optimal: bool) -> tuple[str, ...]:
    """Explain plans with few or repeated visits, such as when nothing is retained or no visit is best."""
    if problem.rules is None:
        return ()
    notes, updates = [], problem.updates
    if not updates.retention.any() and problem.fleet_rules is None:
        notes.append(
            "each training replaces the whole model (least squares with m < n), so only the last visit affects the "
            "error; more visits only add travel"
        )
    elif problem.fleet_rules is None and any(here == there for here, there in pairwise(plan.order)):
        notes.append("consecutive visits to one region are separate trainings there, each with new samples")
    if plan.untrained is not None and plan.untrained <= plan.loss.total:
        best = "no route is better" if optimal else "no better route was found"
        notes.append(f"without any visit, the initial model has a total loss of {plan.untrained:.5g}; {best}")
    return tuple(notes)
