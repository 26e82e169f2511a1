"""Comparison of several methods on one problem."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learnroute.errors import InputError, RefusedError, check_type
from learnroute.model.certificates import Certificate
from learnroute.model.given_routes import check_one_model
from learnroute.model.instance import Instance
from learnroute.model.problem import UPPER, DissimilarityKind, Problem
from learnroute.model.result import Plan
from learnroute.model.result_mixin import ResultMixin
from learnroute.model.routes import Routes
from learnroute.model.table import Column, Sheet, Table
from learnroute.model.validation import as_count
from learnroute.model.value import Loss, loss_of
from learnroute.planner import assess, bound_of
from learnroute.solvers.contract import Answer, Budget, Progress, Rounds
from learnroute.solvers.methods import METHODS, Method, method_by_name
from learnroute.solvers.solve import solve
from learnroute.tuning import decide_learner

HEADS = {
    "travel": "travel", "dissimilarity": "dissimilar", "initial": "initial model", "noise": "noise",
}  # fmt: skip  # names of the parts of a loss
LATE = "not run: the time limit was reached before"
COMPARE_LIMIT = 60.0  # default number of seconds per method of a comparison


@dataclass(frozen=True)
class Row:
    """One method in a comparison. `loss` is the mean over `draws` routes if the method is random."""

    method: str
    loss: Loss | None
    seconds: float
    draws: int
    plan: Plan | None
    refused: str | None = None


@dataclass(frozen=True)
class Comparison(ResultMixin):
    """All methods on one problem, and the best lower bound that any of them proved (None if unknown).

    `dissimilarities` names the dissimilarities behind all losses: `estimate`, `upper` or `measured`.
    """

    picture = "draw_comparison"
    rows: tuple[Row, ...]
    lower_bound: float | None
    optimal: bool
    dissimilarities: DissimilarityKind = UPPER

    def __repr__(self) -> str:
        losses = {row.method: row.loss.total for row in self.rows if row.loss is not None}
        best = min(losses, key=lambda name: losses[name], default=None)
        found = "all refused" if best is None else f"least total loss {losses[best]:.5g} by {best}"
        return f"<Comparison of {len(self.rows)} methods: {found}, {self.bound_text('.5g')}>"

    def bound_text(self, style: str) -> str:
        """Return the bound in words, with its number formatted by `style`."""
        if self.lower_bound is None:
            return "no lower bound"
        return f"{'optimum' if self.optimal else 'lower bound'} {self.lower_bound:{style}}"

    def ratio(self, row: Row) -> float | None:
        """Return the ratio of a row's loss to the bound; None if the bound is unknown, negative or zero."""
        if row.loss is None or self.lower_bound is None or self.lower_bound <= 0:
            return None
        return row.loss.total / self.lower_bound

    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        found = next((row.plan for row in self.rows if row.plan is not None), None)
        return ((), ()) if found is None else (found.route, found.order)

    def table(self) -> Table:
        """Return one row per method."""
        paired = any(row.loss is not None and row.loss.pairs for row in self.rows)
        columns = (
            Column("method"),
            Column("draws"),
            Column(None, "method", left=True),
            Column("total", "total", ".5g", missing="refused"),
            *(Column(part, head, ".5g") for part, head in HEADS.items()),
            Column("pairs", "averaging" if paired else None, ".5g"),
            Column("ratio", f"× {self._kind}", ".4f"),
            Column("lower_bound"),
            Column("seconds", "seconds", lambda seconds: f"{seconds:.3f}" if seconds else ""),
            Column("refused"),
        )
        rows = []
        for row in self.rows:
            name = f"{row.method} (mean of {row.draws})" if row.draws > 1 else row.method
            parts = [math.nan if row.loss is None else getattr(row.loss, part) for part in ("total", *HEADS, "pairs")]
            ratio = self.ratio(row)
            known = (math.nan if ratio is None else ratio, self.lower_bound, row.seconds, row.refused)
            rows.append((row.method, row.draws, name, *parts, *known))
        return Table(columns, rows)

    def sheet(self) -> Sheet:
        """Return the methods and the bound with which their losses are compared."""
        refused = (("refused", row.refused) for row in self.rows if row.refused)
        bound = (self._kind, "not known" if self.lower_bound is None else f"{self.lower_bound:.6g} per region")
        headline = f"{len(self.rows)} methods, {self.bound_text('.5g')}, per region"
        return Sheet(headline, (self.table(),), (bound, *refused))

    @property
    def _kind(self) -> str:
        return "optimum" if self.optimal else "bound"

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain JSON values."""
        return {
            "lower_bound": self.lower_bound,
            "bound_is_optimum": self.optimal,
            "dissimilarities": self.dissimilarities,
            "rows": [
                {
                    "method": row.method,
                    "loss": row.loss.to_dict() if row.loss else None,
                    "ratio": self.ratio(row),
                    "seconds": row.seconds,
                    "draws": row.draws,
                    "refused": row.refused,
                    "plan": row.plan.to_dict() if row.plan else None,
                }
                for row in self.rows
            ],
        }


def compare(
    problem: Problem,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    draws: int = 100,
    progress: Progress | None = None,
) -> Comparison:
    """Run several methods (all by default) on one problem.

    If a method cannot solve the problem, or there was no time for it, its row says so.

    Random methods are averaged over `draws` routes.

    Parameters
    ----------
    problem
        The planning problem.
    methods
        Names from `learnroute.METHODS`. If omitted: all but `auto` or, if visits are optional, all methods that choose
        visits.
    seed, progress
        As for `plan`.
    time_limit
        Seconds for the whole comparison (60 per method if omitted). Each method gets an equal part of the remaining
        time.
    draws
        Number of routes over which a random method is averaged; fewer if the time limit is reached first.

    Returns
    -------
    Comparison
        One row per method, and their best lower bound.

    Raises
    ------
    InputError
        If an argument has the wrong type or is out of range, or a method is unknown.
    """
    check_type("problem", problem, Problem)
    draws = as_count("draws", draws, meaning="the number of draws")
    seed = as_count("seed", seed, least=0, meaning="the seed")
    if isinstance(methods, str | type) or not isinstance(methods, Iterable | None):
        raise InputError("expected a list of methods", field="methods", value=methods)
    check_one_model(problem)
    instance = problem.decided.instance
    able = [name for name, method in METHODS.items() if name != "auto" and method.supports(instance)]
    chosen = [method_by_name(name) for name in (methods or able)]
    parts = len(chosen) + 2  # the last two are for the bound and for evaluating the routes
    budget = Budget.of(COMPARE_LIMIT * parts if time_limit is None else time_limit, progress)
    problem = decide_learner(problem, seed, budget.part(1 / (parts + 1)))
    instance = problem.instance
    answers: list[tuple[Answer | RefusedError, float]] = []
    rounds = Rounds(budget.part(len(chosen) / parts))
    for k, method in enumerate(chosen):
        if rounds.is_late:
            answers.append((RefusedError(LATE), 0.0))
            continue
        with rounds.measure():
            answers.append(_answer(instance, method, seed, budget.part(1 / (parts - k))))
    found = [answer for answer, _ in answers if isinstance(answer, Answer)]
    optimum = min(
        (answer for answer in found if answer.optimal), key=lambda answer: instance(answer.routes), default=None
    )
    best = optimum or min(found, key=lambda answer: instance(answer.routes), default=None)
    certificate = None if best is None else bound_of(problem, best, budget.part(0.5)).certificate
    rows = tuple(
        _row(problem, method, answer, certificate, seconds, seed, draws, budget)
        for method, (answer, seconds) in zip(chosen, answers, strict=True)
    )
    bound = None if certificate is None else certificate.bound / problem.size
    if optimum is not None:
        bound = instance(optimum.routes) / problem.size
    return Comparison(rows, bound, optimum is not None, problem.dissimilarity_kind, problem=problem)


def _answer(instance: Instance, method: Method, seed: int, budget: Budget) -> tuple[Answer | RefusedError, float]:
    """Run a method; return its answer, or its RefusedError, and the time in seconds."""
    started = time.monotonic()
    try:
        answer = solve(instance, method, np.random.default_rng(seed), budget, bounds=False)
    except RefusedError as refusal:
        return refusal, 0.0
    return answer, time.monotonic() - started


def _row(
    problem: Problem, method: Method, answer: Answer | RefusedError, certificate: Certificate | None, seconds: float,
    seed: int, draws: int, budget: Budget,
) -> Row:  # fmt: skip
    if isinstance(answer, RefusedError):
        return Row(method.name, None, 0.0, 0, None, str(answer))
    answer = replace(answer, certificate=answer.certificate or certificate)
    found = replace(assess(problem, answer, method.name, seed, budget), seconds=seconds)
    loss, made = mean_loss(problem, method, found, draws, budget)
    return Row(method.name, loss, found.seconds, made, found)


def mean_loss(problem: Problem, method: Method, found: Plan, draws: int, budget: Budget) -> tuple[Loss, int]:
    """Return the mean loss of `draws` routes of a random method, and their number, starting from the seed of its plan.

    If all draws give the same order, or the method is not random, return the loss of the plan, and 1.
    """
    if not method.random or draws == 1:
        return found.loss, 1
    instance, rng = problem.instance, np.random.default_rng(found.seed)
    made: list[Routes] = []
    losses: list[Loss] = []
    rounds = Rounds(budget)
    while len(made) < draws and not rounds.is_late:
        with rounds.measure():
            made.append(solve(instance, method, rng, budget.silent(), bounds=False).routes)
            losses.append(loss_of(instance, made[-1]))
    if len({*made}) == 1:
        return found.loss, 1
    mean = {part: math.fsum(getattr(loss, part) for loss in losses) / len(losses) for part in losses[0].to_dict()}
    return Loss(**mean), len(losses)
