"""Loss by number of visits: the best route for each number of visits, starting from 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learnroute.errors import InputError, RefusedError, check_type, count_text
from learnroute.model.losses import untrained_loss
from learnroute.model.pooled import floor_of
from learnroute.model.problem import UPPER, DissimilarityKind, Problem
from learnroute.model.result import Plan
from learnroute.model.result_mixin import ResultMixin
from learnroute.model.rounding import SAME, is_less
from learnroute.model.table import Column, Sheet, Table
from learnroute.model.validation import as_count
from learnroute.model.visits import Visits
from learnroute.planner import plan_within
from learnroute.solvers.contract import Budget, Progress, Rounds
from learnroute.solvers.registry import METHODS
from learnroute.tuning import doubts_of

EVERY = 20  # number of visits up to which every number has a row, ...
SPACED = 20  # ... and number of rows beyond
MOST = 0.75  # share of the total improvement that the summary counts as most of it


@dataclass(frozen=True)
class VisitRow:
    """The best route with a given number of visits; the initial model for 0 visits.

    Attributes
    ----------
    visits
        The number of visits.
    route, order
        The regions in order of visit: names, and indices.
    error, travel, total
        The expected error per region, the travel cost of the whole route, and the total loss per region.
    optimal
        Whether it is proved that no route with the same number of visits has a smaller total.
    regularization
        λ if it was chosen together with the route, otherwise None.
    routes, models
        For several vehicles, the route of each; for one vehicle with several models, the number of the model that each
        visit trains, from 0. Otherwise None.
    """

    visits: int
    route: tuple[str, ...]
    order: tuple[int, ...]
    error: float
    travel: float
    total: float
    optimal: bool = False
    regularization: float | tuple[float, ...] | None = None
    routes: tuple[tuple[str, ...], ...] | None = None
    models: tuple[int, ...] | None = None

    @classmethod
    def of(cls, plan: Plan) -> VisitRow:
        """Return the row of a plan."""
        chosen = plan.learner.regularization if plan.chosen and plan.learner is not None else None
        return cls(
            len(plan.order), plan.route, plan.order, plan.loss.error, plan.travel_cost, plan.loss.total, plan.optimal,
            chosen, plan.routes if plan.several else None, plan.models,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        members: dict[str, Any] = {
            "visits": self.visits, "route": list(self.route), "error": self.error, "travel": self.travel,
            "total": self.total, "optimal": self.optimal,
        }  # fmt: skip
        if self.regularization is not None:
            given = self.regularization
            members["regularization"] = list(given) if isinstance(given, tuple) else given
        if self.routes is not None:
            members["routes"] = [list(route) for route in self.routes]
        if self.models is not None:
            members["models"] = list(self.models)
        return members


@dataclass(frozen=True)
class VisitCurve(ResultMixin):
    """One row per number of visits, starting from 0.

    Attributes
    ----------
    rows
        The best route with each number of visits. The first row has no visits, if the initial model's error is known.
    floor
        The error of the mean of all regions' models. If dissimilarities are squared distances, no single model has
        a smaller error.
    dissimilarities
        The dissimilarities behind all errors: `estimate`, `upper` or `measured`.
    notes
        Remarks for the user, one sentence each.
    """

    picture = "draw_visit_curve"

    rows: tuple[VisitRow, ...]
    floor: float
    dissimilarities: DissimilarityKind = UPPER
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        best = self.rows[self.best]
        return f"<VisitCurve of {len(self.rows)} rows, best with {best.visits} visits: total loss {best.total:.5g}>"

    @property
    def best(self) -> int:
        """The index of the row with the lowest total loss."""
        return min(range(len(self.rows)), key=lambda k: self.rows[k].total)

    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        return self.rows[-1].route, self.rows[-1].order

    def table(self) -> Table:
        """Return one row per number of visits."""
        columns = (
            Column("visits", "visits"),
            Column("error", "error", ".5g"),
            Column("travel", "travel", ".5g"),
            Column("total", "total", ".5g"),
            Column("change", "change", lambda value: "" if np.isnan(value) else f"{value:+.3g}"),
            Column("best"),
            Column(None, "", left=True),
            Column("optimal"),
            Column(None, "proved", left=True),
            Column("route"),
            Column(None, "regions", left=True),
        )
        rows = []
        for k, row in enumerate(self.rows):
            before = self.rows[k - 1] if k and self.rows[k - 1].visits == row.visits - 1 else None
            change = np.nan if before is None else row.total - before.total
            best = k == self.best
            regions = ", ".join(row.route) if row.route else "(the initial model)"
            rows.append(
                (row.visits, row.error, row.travel, row.total, change, best, "best" if best else "", row.optimal,
                 "yes" if row.optimal and row.visits else "", row.route, regions)
            )  # fmt: skip
        return Table(columns, rows)

    @property
    def summary(self) -> str:
        """The improvement that a few visits bring, in one sentence."""
        first, last = self.rows[0], self.rows[-1]
        if first.visits > 0:
            return "the error of the initial model is not known (initial), so rows begin with the first visit"
        if last.error >= first.error:  # then fewer visits may still be good
            last = min(self.rows, key=lambda row: row.error)
        if last is first:
            most = count_text(self.rows[-1].visits, "visit")
            return f"up to {most} do not bring the error below that of the initial model"
        gained = first.error - last.error
        row = self.rows[self.best]
        if row in (first, last):  # then take the fewest visits that bring most of the improvement
            row = next(row for row in self.rows if first.error - row.error >= MOST * gained)
        share, bring = (first.error - row.error) / gained, "brings" if row.visits == 1 else "bring"
        if row is last:
            return f"{count_text(row.visits, 'visit')} {bring} the error from {first.error:.4g} to {last.error:.4g}"
        said = f"{100 * share:.3g} % of the improvement that {last.visits} bring"
        if is_less(1.0, share, SAME):
            said = f"a smaller error than {last.visits}"
        travel = f", with {100 * row.travel / last.travel:.3g} % of the travel" if last.travel > 0 else ""
        return f"{count_text(row.visits, 'visit')} {bring} {said}{travel}"

    def sheet(self) -> Sheet:
        """Return the table, the best number of visits, and the improvement that a few visits bring."""
        best = self.rows[self.best]
        lines = [
            ("best", f"{count_text(best.visits, 'visit')}: total loss {best.total:.6g}"),
            ("in short", self.summary),
            *(("note", note) for note in self.notes),
        ]
        return Sheet(
            f"up to {count_text(self.rows[-1].visits, 'visit')}, best with {best.visits}", (self.table(),), tuple(lines)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "best": self.best,
            "floor": self.floor,
            "dissimilarities": self.dissimilarities,
            "summary": self.summary,
            "notes": list(self.notes),
        }


def visit_curve(
    problem: Problem, seed: int = 0, time_limit: float | None = None, progress: Progress | None = None
) -> VisitCurve:
    """Return the best route for each number of visits, starting from 0.

    If the problem has no `visits`, all regions are optional. Beyond 20 visits, about 20 numbers of visits are tried.

    Parameters
    ----------
    problem
        The planning problem. Its required regions are visited in every row.
    seed, time_limit, progress
        As for `plan`, for all rows together.

    Returns
    -------
    VisitCurve
        The rows, and which of them has the lowest total loss.

    Raises
    ------
    InputError
        If an argument has the wrong type or is out of range.
    """
    check_type("problem", problem, Problem)
    seed = as_count("seed", seed, least=0, meaning="the seed")
    budget = Budget.of(time_limit, progress)
    rules = problem.visits or Visits()
    optional = problem.replace(visits=rules)
    most = optional.most_visits
    fewest = most if optional.rules is None else max(1, int(optional.rules.required.sum()))
    rows: list[VisitRow] = []
    plans: list[Plan] = []
    notes: list[str] = []
    untrained, floor = untrained_row(optional), floor_of(optional)
    numbers = _numbers(fewest, most)
    initial: Any = None
    rounds = Rounds(budget)
    for k, many in enumerate(numbers):
        if rows and (rounds.is_late or budget.exhausted):
            notes.append(f"{budget.end} after the rows for up to {count_text(numbers[k - 1], 'visit')}")
            break
        one = optional.replace(visits=replace(rules, at_least=many, at_most=many))
        part = budget.for_one_job().part(1 / (len(numbers) - k))
        try:
            with rounds.measure():
                found = plan_within(one, METHODS["auto"], seed, part, initial=initial)
        except (InputError, RefusedError):
            if not rows:
                raise
            notes.append(f"no route of {many} visits is within the travel budget")
            break
        rows.append(VisitRow.of(found))
        plans.append(found)
        initial = found.fleet or found.order
        budget.progress("visits", (k + 1) / len(numbers))
    if untrained is not None:
        rows.insert(0, untrained)
    notes += doubts_of(plans)
    return VisitCurve(tuple(rows), floor, problem.dissimilarity_kind, tuple(notes), problem=optional)


def untrained_row(problem: Problem) -> VisitRow | None:
    """Return the row without visits; None if the initial model's error is unknown."""
    error = untrained_loss(problem)
    return None if error is None else VisitRow(0, (), (), error, 0.0, error, optimal=True)


def _numbers(least: int, most: int) -> list[int]:
    """Return numbers of visits: every small number, then a selection."""
    if most - least < EVERY:
        return list(range(least, most + 1))
    spaced = np.geomspace(least + EVERY, most, SPACED).round().astype(int).tolist()
    return sorted({*range(least, least + EVERY), *spaced})
