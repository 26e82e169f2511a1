"""Comparison of learners: the paper's, regularised ones with their own λ, and one that never forgets.

All are evaluated by the same closed forms (docs/theory.md) with the same dissimilarities, each on the shortest route.
Learners whose error depends on the route are evaluated on the best route as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learnroute.errors import InputError, check_type
from learnroute.model.learners import LeastSquares, Proximal
from learnroute.model.losses import check_one_model, expected_loss, travel_cost
from learnroute.model.notes import KINDS
from learnroute.model.pooled import floor_of, pooled_curve
from learnroute.model.problem import DissimilarityKind, Problem
from learnroute.model.result_mixin import ResultMixin
from learnroute.model.rounding import PRINTED
from learnroute.model.table import Column, Sheet, Table
from learnroute.model.validation import as_count
from learnroute.model.visits import Visits
from learnroute.solvers.contract import Budget, Progress, Rounds
from learnroute.solvers.registry import METHODS
from learnroute.tuning import (
    FIRST,
    Tuned,
    check_initial_model,
    error_curve,
    flat_range,
    minimise,
    range_note,
    route_finder,
    running_mean,
    shortest_of,
    starting_routes,
    tune_constant,
    tune_schedule,
    with_least_squares,
)

LEAST_SQUARES, PROXIMAL = LeastSquares.rule, Proximal.rule
SCHEDULE, CHOSEN, RUNNING_MEAN, RECURSIVE, MEAN_MODEL = (
    "schedule", "chosen-visits", "running-mean", "recursive", "mean-model",
)  # fmt: skip
LEARNERS = {
    LEAST_SQUARES: "least squares",
    PROXIMAL: "proximal, one λ",
    SCHEDULE: "proximal, schedule",
    CHOSEN: "proximal, optional",
    RUNNING_MEAN: "running mean",
    RECURSIVE: "recursive least sq.",
    MEAN_MODEL: "mean model (bound)",
}
SHORTEST, PAPERS, OWN = "shortest", "papers-best", "own-best"
ROUTES = {SHORTEST: "shortest", PAPERS: "paper's best", OWN: "own best"}
COLUMNS = (
    Column("learner", "learner", LEARNERS.__getitem__, left=True),
    Column("route_kind", "route", ROUTES.__getitem__, left=True),
    Column("error", "error", ".5g", missing="none"),
    Column("travel_cost", "travel", ".5g"),
    Column("total", "total", ".5g"),
    Column("saves"),
    Column("step"),
    Column("memory", "memory"),
    Column("regularization"),
    Column("least_regularization"),
    Column("largest_regularization"),
    Column("refused"),
    Column("route"),
    Column(None, "λ"),
    Column(None, "λ within 1 %"),
)
CURVE = np.logspace(-3, 4, 71)  # λ of the curves
PRIOR = np.logspace(-9, 5, 57)  # λ of the ridge prior that are tried first, before refinement
PRIOR_FINE = np.logspace(-9, 5, 337)
MOST_REGIONS = 2000
SEARCH_SHARE = 0.8  # share of the time for routes and λ; the rest is for the rows and curves


@dataclass(frozen=True)
class LearnerRow:
    """One learner on one route.

    Attributes
    ----------
    learner, route_kind
        A key of `LEARNERS` and one of `ROUTES`.
    error
        The expected final error per region; None if it does not exist (`refused` says why).
    travel_cost, total
        The travel cost of the whole route, in units of travel, and the total loss per region.
    saves, step
        The reduction of the total compared with the first row that has a total, and with the previous row.
    memory
        How many numbers the learner stores besides the current samples; None for the floor, which is not a learner.
    regularization, regularization_range
        λ (for a schedule, one per position), and the range of λ (for a schedule, of common factors) whose loss is
        within 1 %.
    order, route
        The stops, as indices and as names.
    """

    learner: str
    route_kind: str
    memory: int | None
    order: tuple[int, ...] | None
    route: tuple[str, ...] | None
    error: float | None = None
    travel_cost: float | None = None
    total: float | None = None
    saves: float | None = None
    step: float | None = None
    regularization: float | tuple[float, ...] | None = None
    regularization_range: tuple[float, float] | None = None
    refused: str | None = None

    def __repr__(self) -> str:
        found = f"total loss {self.total:.5g}" if self.total is not None else "no expected error"
        return f"<LearnerRow {LEARNERS[self.learner]}, route {ROUTES[self.route_kind]}: {found}>"

    @property
    def cells(self) -> tuple[Any, ...]:
        """The cells below `COLUMNS`."""
        given, within = self.regularization, self.regularization_range
        numbers = (self.error, self.travel_cost, self.total, self.saves, self.step, self.memory)
        return (
            self.learner,
            self.route_kind,
            *(math.nan if number is None else number for number in numbers),
            " ".join(f"{value:.6g}" for value in given) if isinstance(given, tuple) else given,
            *(within or (math.nan, math.nan)),
            self.refused,
            self.route,
            None if given is None else _span(given) if isinstance(given, tuple) else f"{given:.3g}",
            None if within is None else f"{'× ' * isinstance(given, tuple)}{_span(within)}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        lists = {name: list(value) for name, value in vars(self).items() if isinstance(value, tuple)}
        return {**vars(self), **lists}


@dataclass(frozen=True)
class Curve:
    """The total loss of a proximal learner on one route, by λ; `limit` is the loss of least squares, if it exists."""

    route_kind: str
    order: tuple[int, ...]
    totals: tuple[float, ...]
    limit: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**vars(self), "order": list(self.order), "totals": list(self.totals)}


@dataclass(frozen=True)
class LearnerTable(ResultMixin):
    """A comparison of learners, from the paper's on the shortest route down to the floor.

    Attributes
    ----------
    rows
        One row per learner and route. The last row is the floor: the error of the mean model, on the shortest route.
    regularizations, curves
        The λ of the curves, and one curve per route.
    dissimilarities
        The dissimilarities behind all errors: `estimate` (unbiased estimates), `upper` (upper bounds) or `measured` (a
        transfer matrix).
    complete
        False if the time limit was reached; better routes or λ may then exist.
    notes
        Remarks about the rows.
    """

    picture = "draw_learners"
    rows: tuple[LearnerRow, ...]
    regularizations: tuple[float, ...]
    curves: tuple[Curve, ...]
    dissimilarities: DissimilarityKind
    complete: bool
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        best = self.best
        assert best.total is not None
        kind = f"{LEARNERS[best.learner]}, route: {ROUTES[best.route_kind]}"
        return f"<LearnerTable of {len(self.rows)} rows: least total loss {best.total:.5g} by {kind}>"

    @property
    def best(self) -> LearnerRow:
        """The learner and route with the lowest total loss; the floor does not count as a learner."""
        known = [row for row in self.rows if row.total is not None and row.learner != MEAN_MODEL]
        return min(known, key=lambda row: row.total or 0.0)

    @property
    def floor(self) -> LearnerRow:
        """The last row, the floor."""
        return self.rows[-1]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "regularizations": list(self.regularizations),
            "curves": [curve.to_dict() for curve in self.curves],
            "dissimilarities": self.dissimilarities,
            "complete": self.complete,
            "notes": list(self.notes),
        }

    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        return self.floor.route or (), self.floor.order or ()

    def table(self) -> Table:
        """Return one row per learner and route."""
        return Table(COLUMNS, [row.cells for row in self.rows])

    def sheet(self) -> Sheet:
        """Return the table and the meaning of its columns."""
        best = self.best
        lines = [
            f"errors use {KINDS[self.dissimilarities]}",
            "memory: stored numbers; λ within 1 %: range of λ with a total loss at most 1 % higher",
            *self.notes,
            *([] if self.complete else ["stopped by the time limit: better routes or λ may exist"]),
        ]
        kind = f"{LEARNERS[best.learner]}, route: {ROUTES[best.route_kind]}"
        headline = f"least total loss {best.total:.5g} per region by {kind}"
        return Sheet(headline, (self.table(),), tuple(("note", line) for line in lines))


def compare_learners(
    problem: Problem, seed: int = 0, time_limit: float | None = None, progress: Progress | None = None
) -> LearnerTable:
    """Compare learners on this problem: error, travel and total loss.

    Of the problem's learner, only m, n and σ are used; its training rule is ignored. All routes, λ and errors use the
    same dissimilarities as `plan`: unbiased estimates, if the problem has them.

    Parameters
    ----------
    problem
        The planning problem. All rows visit each region once, except the row with chosen visits. That row keeps the
        problem's `visits` and the travel limit of its vehicle; without `visits`, all visits are optional.
    seed
        Seed of the random number generator. The same problem and seed give the same table.
    time_limit
        Time limit in seconds. When it is reached, the best routes and λ so far are used.
    progress
        Called from time to time with the name of the current stage and the completed share of it.

    Returns
    -------
    LearnerTable
        One row per learner and route, the savings of each, and the curves of the loss against λ.

    Raises
    ------
    InputError
        If there are too many regions, or the initial model has an error of 0 in all regions.
    """
    check_type("problem", problem, Problem)
    check_one_model(problem)
    if problem.size > MOST_REGIONS:
        reason = f"learners are compared for at most {MOST_REGIONS} regions"
        raise InputError(reason, field="regions", found=f"has {problem.size} entries")
    seed = as_count("seed", seed, least=0, meaning="the seed")
    budget = Budget.of(time_limit, progress)
    check_initial_model(problem)
    most = problem.visit_rules.budget  # of the visits, or of the vehicle
    visits = replace(problem.visits or Visits(), budget=most if math.isfinite(most) else None)
    table = _Table(problem.with_regularization(1.0).replace(visits=None, fleet=None), visits, seed, budget)
    return LearnerTable(
        rows=_with_savings(table.rows()),
        regularizations=tuple(CURVE.tolist()),
        curves=table.curves(),
        dissimilarities=problem.dissimilarity_kind,
        complete=not budget.exhausted,
        notes=table.notes(),
        problem=problem,
    )


class _Table:
    """Plans the routes, chooses the regularisations and evaluates the rows."""

    def __init__(self, problem: Problem, visits: Visits, seed: int, budget: Budget) -> None:
        self.problem, self.visits = problem, visits
        self.budget = budget
        self.late = False  # whether curves are missing
        papers, self.refused = with_least_squares(problem)
        self.papers = papers
        part = budget.part(SEARCH_SHARE)
        rounds = Rounds(part)
        with rounds.measure():
            starts = starting_routes(problem, seed, part)
            together = self._tune(starts[0], part)
        budget.progress("routes", 1.0)
        search = route_finder(problem, METHODS["auto"], seed, part)
        if not rounds.is_late:
            together = tune_constant(problem, search, part.part(0.6), starts)
        known = [*starts, together.order]
        self.shortest = shortest_of(problem, known)
        self.papers_best = None
        if papers is not None:
            self.papers_best = min(known, key=lambda order: expected_loss(papers, order).total)
        routes = [self.shortest] if self.papers_best is None else [self.shortest, self.papers_best]
        tuned = {order: self._tune(order, part) for order in routes}
        self.on_shortest = tuned[self.shortest]
        self.on_papers_best = None if self.papers_best is None else tuned[self.papers_best]
        self.together = min((together, *tuned.values()), key=_total)
        mean = running_mean(problem, problem.size).tolist()
        total = expected_loss(problem.with_regularization(mean), self.shortest).total
        self.running = Tuned(tuple(mean), self.shortest, total, 1.0, 1.0)
        self.scheduled = tune_schedule(problem, search, part, self.together, starts)
        if self.running.total < self.scheduled.total:  # if time ran out; the running mean is a schedule, too
            self.scheduled = self.running
        budget.progress("schedule", 1.0)
        self.optional, self.chosen = problem, self.together
        if visits != Visits() or not part.exhausted:
            self.optional = problem.replace(visits=visits)
            choose = route_finder(self.optional, METHODS["auto"], seed, part)
            chosen = tune_constant(self.optional, choose, part, [])
            self.chosen = min(chosen, self.together, key=_total) if visits == Visits() else chosen
        budget.progress("visits", 1.0)

    def rows(self) -> list[LearnerRow]:
        """Return the rows, without their savings."""
        m = self.problem.learner.features
        least_squares = [
            self._row(LEAST_SQUARES, kind, m, order, self.papers)
            for kind, order in ((SHORTEST, self.shortest), (PAPERS, self.papers_best))
        ]
        proximal = [
            self._row_of_tuned(PROXIMAL, kind, tuned)
            for kind, tuned in (
                (SHORTEST, self.on_shortest), (PAPERS, self.on_papers_best), (OWN, self.together),
            )
        ]  # fmt: skip
        return [
            *least_squares,
            *proximal,
            self._row_of_tuned(SCHEDULE, OWN, self.scheduled),
            self._row_of_tuned(CHOSEN, OWN, self.chosen, self.optional),
            replace(self._row_of_tuned(RUNNING_MEAN, SHORTEST, self.running), regularization_range=None),
            self._recursive(),
            self._row_without_route(MEAN_MODEL, None, floor_of(self.problem)),
        ]

    def curves(self) -> tuple[Curve, ...]:
        """Return total losses by λ, once per route; if time is short, on the shortest route only."""
        routes = {SHORTEST: self.shortest, PAPERS: self.papers_best, OWN: self.together.order}
        found: dict[tuple[int, ...], Curve] = {}
        for kind, order in routes.items():
            if order is None or order in found:
                continue
            if found and self.budget.exhausted:
                self.late = True
                break
            travel = self._travel_loss(order)
            totals = error_curve(self.problem, order, CURVE) + travel
            limit = None if self.papers is None else expected_loss(self.papers, order).total
            found[order] = Curve(kind, order, tuple(totals.tolist()), limit)
        return tuple(found.values())

    def notes(self) -> tuple[str, ...]:
        """Return remarks that explain the numbers."""
        problem = self.problem
        notes = [f"the initial model has an error of {problem.initial_sum / problem.size:.5g}"]
        if self.visits.budget is not None:
            notes.append(
                f"the travel limit of {self.visits.budget:g} applies to the row {LEARNERS[CHOSEN]!r} only; all other "
                "rows visit each region once"
            )
        notes += [] if self.refused is None else [f"least squares: {self.refused}"]
        if self.papers is None:
            notes.append(f"running mean: λ = {FIRST:g} at the first visit, where least squares has no expected error")
        if not _squared_distances(problem):
            notes.append(
                "the dissimilarities are not squared distances between models (bounds and estimates rarely are), so "
                "the error of the mean model is not a lower bound"
            )
        if problem.initial_sum / problem.size < floor_of(problem):
            notes.append("according to initial, the initial model is better than the mean model; check these values")
        notes += range_note(self.together.regularization)
        if self.late:
            notes.append("stopped by the time limit: some curves over λ are missing")
        return tuple(notes)

    def _tune(self, order: tuple[int, ...], budget: Budget) -> Tuned:
        stops = np.array(order)
        return tune_constant(self.problem, lambda _: stops, budget)

    def _travel_loss(self, order: tuple[int, ...]) -> float:
        return self.problem.travel_rate * travel_cost(self.problem, order) / self.problem.size

    def _row(
        self, learner: str, kind: str, memory: int, order: tuple[int, ...] | None, problem: Problem | None
    ) -> LearnerRow:
        if order is None or problem is None:
            names = None if order is None else self._names(order)
            return LearnerRow(learner, kind, memory, order, names, refused=self.refused)
        loss = expected_loss(problem, order)
        travel = travel_cost(problem, order)
        return LearnerRow(learner, kind, memory, order, self._names(order), loss.error, travel, loss.total)

    def _row_of_tuned(self, learner: str, kind: str, tuned: Tuned | None, problem: Problem | None = None) -> LearnerRow:
        memory = 2 * self.problem.learner.features
        if tuned is None:
            return self._row(learner, kind, memory, None, None)
        order, travel = tuned.order, travel_cost(problem or self.problem, tuned.order)
        error = tuned.total - self.problem.travel_rate * travel / self.problem.size
        row = LearnerRow(learner, kind, memory, order, self._names(order), error, travel, tuned.total)
        return replace(row, regularization=tuned.regularization, regularization_range=(tuned.low, tuned.high))

    def _recursive(self) -> LearnerRow:
        """Evaluate the fit to all samples, with the best ridge prior."""
        m, travel = self.problem.learner.features, self._travel_loss(self.shortest)
        curve = pooled_curve(self.problem)
        value, error = minimise(curve, PRIOR, self.problem.size, Rounds(self.budget))
        totals = curve(PRIOR_FINE) + travel
        row = self._row_without_route(RECURSIVE, m * m + m, error)
        nearly = flat_range(PRIOR_FINE, totals, value, error + travel)
        return replace(row, regularization=value, regularization_range=nearly)

    def _row_without_route(self, learner: str, memory: int | None, error: float) -> LearnerRow:
        """Return the row of an error that does not depend on the route."""
        order = self.shortest
        total = error + self._travel_loss(order)
        travel = travel_cost(self.problem, order)
        return LearnerRow(learner, SHORTEST, memory, order, self._names(order), error, travel, total)

    def _names(self, order: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(self.problem.regions[i] for i in order)


def _with_savings(rows: list[LearnerRow]) -> tuple[LearnerRow, ...]:
    """Add the savings of each row."""
    first = before = None
    found = []
    for row in rows:
        if row.total is not None:
            saves, step = (None if other is None else other - row.total for other in (first, before))
            row = replace(row, saves=saves, step=step)
            first, before = row.total if first is None else first, row.total
        found.append(row)
    return tuple(found)


def _squared_distances(problem: Problem) -> bool:
    """Return whether dissimilarities are squared distances between some vectors (Schoenberg 1935)."""
    matrix = problem.matrix
    if matrix is None:
        return True
    rows, largest = matrix.mean(axis=0) / 2, max(float(matrix.max()), -float(matrix.min()))
    gram = matrix * -0.5
    gram += rows - rows.mean()
    gram += rows[:, None]
    gram[np.diag_indices(problem.size)] += PRINTED * max(1e-300, largest) * problem.size
    try:
        np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return False
    return True


def _span(values: tuple[float, ...]) -> str:
    return f"{min(values):.2g} … {max(values):.2g}"


def _total(tuned: Tuned) -> float:
    return tuned.total
