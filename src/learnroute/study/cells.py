"""Solve one cell of an experiment: draw the problem, run every method, and compare all results with the best bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from learnroute.comparison.of_methods import mean_loss
from learnroute.errors import InputError
from learnroute.model.certificates import Certificate
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.value import Loss
from learnroute.planner import plan_within
from learnroute.solvers.contract import Budget
from learnroute.solvers.methods import method_by_name
from learnroute.study.experiment import Experiment, streams

COLUMNS: dict[str, type] = {
    "cell": int,
    "family": str,
    "regions": int,
    "features": int,
    "samples": int,
    "noise": float,
    "replicate": int,
    "method": str,
    "regime": str,
    "ratio": float,
    "loss_total": float,
    "loss_travel": float,
    "loss_dissimilarity": float,
    "loss_initial": float,
    "loss_noise": float,
    "lower_bound": float,
    "bound_is_optimum": bool,
    "guarantee": float,
    "draws": int,
    "used": str,
    "error": str,
}
SOLVED = 8  # columns from here on are results; the others are known from the experiment

Values = list[Any]  # one row's values from column SOLVED on
Row = dict[str, Any]
Outcome = tuple[Plan, Loss, int] | Exception
PROVING = ("exact", "auto", "search")  # methods that may prove their routes optimal


def solve_cell(experiment: Experiment, number: int) -> list[Values]:
    """Return the results of each method on problem `number`, in the order of the experiment's methods.

    Errors of a problem or a method are recorded in the column `error`; the other methods still run.
    """
    routes = streams(experiment.seed, experiment.cell(number).replicate)[1]
    try:
        problem = experiment.problem(number)
    except Exception as failure:
        return [_failed_values("", failure) for _ in experiment.methods]
    found = _solve_all(problem, experiment.methods, experiment.draws, routes)
    plans = [outcome[0] for outcome in found if not isinstance(outcome, Exception)]
    bound = max((p.lower_bound for p in plans if p.lower_bound is not None), default=None)
    optimal = any(p.optimal for p in plans)
    return [
        _failed_values(problem.regime, outcome)
        if isinstance(outcome, Exception)
        else _solved_values(*outcome, bound=bound, optimal=optimal)
        for outcome in found
    ]


def rows_of(experiment: Experiment, number: int, solved: list[Values]) -> list[Row]:
    """Return the tidy rows of a cell: one per method, with all columns of COLUMNS."""
    cell = experiment.cell(number)
    names = list(COLUMNS)
    known = [number, cell.family, cell.regions, cell.features, cell.samples, cell.noise, cell.replicate]
    return [
        dict(zip(names, [*known, method, *values], strict=True))
        for method, values in zip(experiment.methods, solved, strict=True)
    ]


def _solve_all(problem: Problem, methods: Sequence[str], draws: int, seed: int) -> list[Outcome]:
    """Run all methods, those that prove optima first: once an optimum is known, other routes need no bound."""
    bound: Certificate | None = None
    found: dict[str, Outcome] = {}
    for method in sorted(methods, key=lambda name: name not in PROVING):
        outcome = found[method] = _solve(problem, method, draws, seed, bound)
        if not isinstance(outcome, Exception) and outcome[0].optimal:
            bound = outcome[0].certificate
    return [found[method] for method in methods]


def _solve(problem: Problem, name: str, draws: int, seed: int, bound: Certificate | None) -> Outcome:
    try:
        method = method_by_name(name)
        budget = Budget()
        found = plan_within(problem, method, seed, budget, bound=bound)
        return found, *mean_loss(found.problem or problem, method, found, draws, budget)
    except Exception as failure:
        return failure


def _solved_values(found: Plan, loss: Loss, draws: int, *, bound: float | None, optimal: bool) -> Values:
    ratio = loss.total / bound if bound is not None and bound > 0 else None
    parts = [loss.total, loss.travel, loss.dissimilarity, loss.initial, loss.noise]
    return [found.regime, ratio, *parts, bound, optimal, found.guarantee.value, draws, found.method, None]


def _failed_values(regime: str, failure: Exception) -> Values:
    reason = str(failure) if isinstance(failure, InputError) else f"{type(failure).__name__}: {failure}"
    return [regime or None, *[None] * (len(COLUMNS) - SOLVED - 2), " ".join(reason.split())]
