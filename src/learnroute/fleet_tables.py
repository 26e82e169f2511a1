"""Comparison of fleets by number of vehicles and models, merged or not: one row per size and mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.errors import InputError, RefusedError, check_type, count_text
from learnroute.model.fleet import CHOSEN, MERGED, OWN, Fleet
from learnroute.model.law import Step, average
from learnroute.model.problem import UPPER, DissimilarityKind, Problem
from learnroute.model.result import Plan
from learnroute.model.result_mixin import ResultMixin
from learnroute.model.table import Column, Sheet, Table
from learnroute.model.validation import as_choice, as_count
from learnroute.planner import plan_within
from learnroute.solvers.contract import Budget, Progress, Rounds
from learnroute.solvers.registry import METHODS
from learnroute.tuning import GRID, check_initial_model, doubts_of, minimise

FEDERATED = "federated"
ROUNDS = 10
SIZES = (1, 2, 3, 4)
MOST_CLIENTS = 1000  # regions up to which federated averaging is evaluated


@dataclass(frozen=True)
class FleetRow:
    """One fleet and the loss of its best routes.

    Attributes
    ----------
    vehicles, models
        Their numbers. Federated averaging has one model per region and no vehicle.
    serve
        `merged`, `own`, or `federated`.
    error, total
        The expected error and the total loss per region.
    travel, longest
        The total travel of all vehicles, and the travel of the longest route, in units of travel.
    routes
        The route of each vehicle.
    optimal
        Whether it is proved that no routes of this fleet have a smaller total.
    trained
        For one vehicle with several models: the number of the model that each visit trains, from 0.
    rounds
        For federated averaging: how often all regions train, each on fresh samples, and their models are averaged.
    regularization
        λ if it was chosen, otherwise None.
    samples
        The number of samples that all trainings together take; None if the learner's number is not known.
    plan
        The plan; None for federated averaging.
    """

    vehicles: int
    models: int
    serve: str
    error: float
    travel: float
    longest: float
    total: float
    routes: tuple[tuple[str, ...], ...] = ()
    optimal: bool = False
    trained: tuple[int, ...] | None = None
    rounds: int | None = None
    regularization: float | tuple[float, ...] | None = None
    samples: int | None = None
    plan: Plan | None = None

    @classmethod
    def of(cls, plan: Plan, fleet: Fleet, problem: Problem) -> FleetRow:
        """Return the row of a plan for a problem."""
        travels = plan.travels or (plan.travel_cost,)
        chosen = plan.learner.regularization if plan.chosen and plan.learner is not None else None
        return cls(
            fleet.vehicles, fleet.size, str(fleet.serve), plan.loss.error, math.fsum(travels), max(travels),
            plan.loss.total, plan.routes, plan.optimal, plan.models, None, chosen,
            int(problem.counts[list(plan.order)].sum()) or None, plan,
        )  # fmt: skip

    @property
    def name(self) -> str:
        """The name of the row."""
        if self.rounds is not None:
            return f"federated averaging, {count_text(self.rounds, 'round')} of fresh data"
        if self.models == 1:
            return "1 vehicle" if self.serve == MERGED else "1 vehicle, or the initial model"
        size = count_text(self.vehicles, "vehicle") if self.vehicles > 1 else count_text(self.models, "model")
        return f"{size}, {self.serve}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        members: dict[str, Any] = {
            "vehicles": self.vehicles, "models": self.models, "serve": self.serve, "error": self.error,
            "travel": self.travel, "longest": self.longest, "total": self.total,
            "routes": [list(route) for route in self.routes], "optimal": self.optimal, "samples": self.samples,
        }  # fmt: skip
        if self.trained is not None:
            members["trained"] = list(self.trained)
        if self.rounds is not None:
            members["rounds"] = self.rounds
        if self.regularization is not None:
            given = self.regularization
            members["regularization"] = list(given) if isinstance(given, tuple) else given
        return members


@dataclass(frozen=True)
class FleetTable(ResultMixin):
    """One row per fleet.

    Attributes
    ----------
    rows
        The best routes of each fleet, followed by federated averaging if the error law covers it.
    dissimilarities
        The dissimilarities behind all errors: `estimate`, `upper` or `measured`.
    notes
        Remarks for the user, one sentence each.
    """

    picture = "draw_fleets"

    rows: tuple[FleetRow, ...]
    dissimilarities: DissimilarityKind = UPPER
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        best = self.rows[self.best]
        return f"<FleetTable of {len(self.rows)} rows, best with {best.name}: total loss {best.total:.5g}>"

    @property
    def best(self) -> int:
        """The index of the planned row with the lowest total loss."""
        return min((k for k, row in enumerate(self.rows) if row.rounds is None), key=lambda k: self.rows[k].total)

    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        plan = self.rows[0].plan
        return ((), ()) if plan is None else (plan.route, plan.order)

    def table(self) -> Table:
        """Return one row per fleet."""
        columns = (
            *map(Column, ("vehicles", "models", "serve", "rounds")),
            Column(None, "fleet", left=True),
            Column("error", "error", ".5g"),
            Column("travel", "travel", ".5g"),
            Column("longest", "longest", ".5g"),
            Column("total", "total", ".5g"),
            Column("visits", "visits"),
            Column("samples", "samples"),
            Column("best"),
            Column(None, "", left=True),
            Column("optimal"),
            Column(None, "proved", left=True),
        )
        rows = [
            (row.vehicles, row.models, row.serve, row.rounds, row.name, row.error, row.travel, row.longest, row.total,
             None if row.rounds is not None else sum(map(len, row.routes)), row.samples, k == self.best,
             "best" if k == self.best else "", row.optimal, "yes" if row.optimal else "")
            for k, row in enumerate(self.rows)
        ]  # fmt: skip
        return Table(columns, rows)

    def sheet(self) -> Sheet:
        """Return the table, the best fleet and its routes."""
        best = self.rows[self.best]
        lines = [("best", f"{best.name}: total loss {best.total:.6g}")]
        single = next((row for row in self.rows if row.models == 1 and row.serve == MERGED), None)
        if single is not None and single is not best and single.total > 0:
            lines.append(
                (
                    "in short",
                    f"{best.name}: total loss {100 * (1 - best.total / single.total):.3g} % below that of one vehicle",
                )
            )
        if best.plan is not None:
            lines += best.plan.fleet_lines()
        lines += [("note", note) for note in self.notes]
        return Sheet(f"{len(self.rows)} fleets, best: {best.name}", (self.table(),), tuple(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "best": self.best,
            "dissimilarities": self.dissimilarities,
            "notes": list(self.notes),
        }


def compare_fleets(
    problem: Problem, vehicles: Sequence[int] = SIZES, models: Sequence[int] = SIZES, serve: str | None = None,
    rounds: int = ROUNDS, seed: int = 0, time_limit: float | None = None, progress: Progress | None = None,
) -> FleetTable:  # fmt: skip
    """Plan for several numbers of vehicles and models, and compare error, travel and total loss.

    Parameters
    ----------
    problem
        The planning problem. Travel, limit and weights are taken from its `fleet`, if it has one.
    vehicles, models
        The numbers to compare: of vehicles with one model each, and of models on one vehicle.
    serve
        `merged` or `own`; both if omitted.
    rounds
        Number of rounds of federated averaging, with one client per region and fresh samples in each round, for
        additional rows.
    seed, time_limit, progress
        As for `plan`, for all rows together.

    Returns
    -------
    FleetTable
        The rows, and which of them has the lowest total loss.

    Raises
    ------
    InputError
        If an argument has the wrong type or is out of range.
    """
    check_type("problem", problem, Problem)
    seed = as_count("seed", seed, least=0, meaning="the seed")
    rounds = as_count("rounds", rounds, meaning="the number of rounds")
    budget = Budget.of(time_limit, progress)
    fleets = _fleets(problem, _sizes("vehicles", vehicles), _sizes("models", models), serve)
    _ = problem.scores  # computed once and shared by all fleets
    rows: list[FleetRow] = []
    notes: list[str] = []
    for k, fleet in enumerate(fleets):
        part = budget.for_one_job().part(1 / (len(fleets) - k))
        if rows and budget.exhausted:
            notes.append(f"{budget.end} after {count_text(k, 'row')} of {len(fleets)}")
            break
        try:
            made = plan_within(problem.replace(fleet=fleet), METHODS["auto"], seed, part)
            rows.append(FleetRow.of(made, fleet, problem))
        except (InputError, RefusedError) as error:
            said = f"{count_text(fleet.size, 'vehicle' if fleet.vehicles > 1 else 'model')}, {fleet.serve}: {error}"
            if k + 1 == len(fleets) and not rows:
                raise
            notes.append(said)
        budget.progress("fleets", (k + 1) / len(fleets))
    notes += doubts_of(row.plan for row in rows if row.plan is not None)
    rows += _federated_rows(problem, rounds, budget)
    return FleetTable(tuple(rows), problem.dissimilarity_kind, tuple(notes), problem=problem)


def _sizes(field: str, given: Sequence[int]) -> list[int]:
    """Return distinct numbers of vehicles or models, in order."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError("expected a list of numbers", field=field, value=given)
    return sorted({as_count(field, one, meaning=f"the number of {field}") for one in given})


def _fleets(problem: Problem, vehicles: list[int], models: list[int], serve: str | None) -> list[Fleet]:
    """Return the fleets to compare; one vehicle with one model, if requested, comes first."""
    modes = [mode for mode in (MERGED, OWN) if mode == OWN or _can_merge(problem)]
    if serve is not None:
        modes = [as_choice("serve", serve, modes)]
    known = problem.fleet or Fleet()
    kept: dict[str, Any] = {"travel": known.travel, "limit": known.limit}
    found = [Fleet(**kept)] if 1 in (*vehicles, *models) else []
    for name, sizes in (("vehicles", vehicles), ("models", models)):
        for size in sizes:
            for mode in modes if size > 1 else []:
                weights = known.weights if mode == MERGED else CHOSEN
                found.append(Fleet(**{**kept, name: size, "serve": mode, "weights": weights}))
    if not found:
        raise InputError("there is no fleet to compare; give 1, or numbers above 1", field="vehicles", value=vehicles)
    return found


def _can_merge(problem: Problem) -> bool:
    """Return whether models can be averaged, which needs squared distances and a linear law."""
    return problem.transfer is None and getattr(problem.learner, "common_retention", None) is None


def _federated_rows(problem: Problem, rounds: int, budget: Budget) -> list[FleetRow]:
    """Return rows for one round and for `rounds` of federated averaging: all regions train, models are averaged."""
    if not _can_merge(problem) or problem.size > MOST_CLIENTS or not problem.initial_errors.any():
        return []
    return [_federated_row(problem, count, budget) for count in dict.fromkeys((1, rounds))]


def _federated_row(problem: Problem, rounds: int, budget: Budget) -> FleetRow:
    chosen = None
    if problem.learner.undecided:
        check_initial_model(problem)
        chosen, _ = minimise(
            lambda table: np.array([federated_error(problem.with_regularization(one), rounds) for one in table]), GRID,
            problem.size**2, Rounds(budget),
        )  # fmt: skip
        problem = problem.with_regularization(chosen)
    error = federated_error(problem, rounds)
    samples = rounds * int(problem.counts.sum()) or None
    return FleetRow(
        0, problem.size, FEDERATED, error, 0.0, 0.0, error, rounds=rounds, regularization=chosen, samples=samples
    )


def federated_error(problem: Problem, rounds: int) -> float:
    """Return the expected error of federated averaging with fresh samples in each round.

    All regions train, weighted by their samples. Fixed local samples, which clients train on again and again, give
    larger errors (`benchmarks/theory.py`): their noise and the directions that they lack remain.
    """
    known, size = problem.dissimilarities, problem.size
    counts = problem.counts / problem.counts.sum() if problem.counts.any() else np.full(size, 1 / size)
    errors = known.initial
    for position in range(rounds):
        place = min(position, problem.most_visits - 1)
        errors = average(errors, Step(*(table[place] for table in problem.updates.tables)), counts, known.matrix)
    return float(errors @ problem.region_weights) / size
