"""A route in progress: after each visit, measurements are added and the rest of the route is replanned."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from learnroute.errors import InputError, check_type, did_you_mean, list_names
from learnroute.formats import json_files
from learnroute.formats.files import check_destination, errors_naming, exists, write_text
from learnroute.journeys.observation import Observation
from learnroute.journeys.remaining_journey import RemainingJourney
from learnroute.model.problem import DissimilarityKind, Problem
from learnroute.model.result_mixin import TableMixin
from learnroute.model.subsets import restrict_to, with_region
from learnroute.model.table import Column, Sheet, Table, route_text
from learnroute.model.validation import FloatArray, as_count, as_path, freeze
from learnroute.solvers.contract import Budget, Progress
from learnroute.solvers.methods import method_by_name
from learnroute.tuning import decide_learner

MEMBERS = ("problem", "method", "seed", "dissimilarities", "visits", "rest")  # members of its file


class Journey(TableMixin):
    """A route in progress.

    Parameters
    ----------
    problem
        The problem as known before the journey. It is planned immediately.
    method, seed
        As for `plan`; the same problem, visits and seed give the same route.
    file
        File in which to store the journey (.json). It is written atomically after every step, so that `Journey.resume`
        can continue after any interruption. It must not exist yet.
    progress, time_limit
        As for `plan`, for the first planning; `visit` takes its own. When the limit is
        reached, the best route so far is used.

    Attributes
    ----------
    problem
        The problem as known now, with all measurements.
    errors
        The expected or measured error of the current model in each region.
    common
        The part of these errors that is the same in all regions, by the learner's law.
    visits, rest
        The visits made, and the names of the regions planned next, in order. If visits are optional, the journey may
        end before all regions are visited.
    dropped
        If visits are optional: visits that are no longer planned, with the reason by region.

    Raises
    ------
    InputError
        If an argument is invalid, or the file exists.
    """

    problem: Problem

    def __init__(
        self, problem: Problem, method: str = "auto", seed: int = 0, file: str | Path | None = None,
        progress: Progress | None = None, time_limit: float | None = None,
    ) -> None:  # fmt: skip
        check_type("problem", problem, Problem)
        method_by_name(method)
        self.method, self.seed = method, as_count("seed", seed, least=0, meaning="the seed")
        self.file = None if file is None else as_path("file", file)
        if self.file is not None:
            check_destination(self.file, (".json",))
            if exists(self.file):
                raise InputError("exists; omit --begin to continue that journey, or give another name", where=self.file)
        budget = Budget.of(time_limit, progress)
        problem = decide_learner(problem, self.seed, budget.part(0.5))
        self.origin = self.problem = problem
        self.errors: FloatArray = problem.initial_errors
        self.common = 0.0
        self.visits: tuple[Observation, ...] = ()
        self.dropped: Mapping[str, str] = {}
        self.rest: tuple[str, ...] = ()
        self._plan(budget)
        self._save()

    @classmethod
    def resume(cls, file: str | Path) -> Self:
        """Continue a journey from its file."""
        path = as_path("file", file)
        with errors_naming(path):
            data = json_files.read(path)
            if not isinstance(data, dict) or not set(MEMBERS) <= set(data):
                raise InputError("is not a journey; start one with `learnroute journey FILE --begin PROBLEM`")
            return cls._resume(data, path)

    @classmethod
    def _resume(cls, data: dict[str, Any], path: Path) -> Self:
        journey = cls.__new__(cls)
        journey.file, journey.method = path, data["method"]
        method_by_name(journey.method)
        journey.seed = as_count("seed", data["seed"], least=0, meaning="the seed")
        given = Problem.from_dict(data["problem"])
        journey.origin = journey.problem = given.with_dissimilarities(data["dissimilarities"])
        journey.errors, journey.common = journey.problem.initial_errors, 0.0
        journey.visits, journey.rest = (), journey.problem.regions
        if not isinstance(data["visits"], list):
            raise InputError("expected a list", field="visits", value=data["visits"])
        visits: list[Any] = data["visits"]
        for k, entry in enumerate(visits):
            if not isinstance(entry, dict) or not isinstance(entry.get("region"), str):
                raise InputError("expected an object with region", field=f"visits[{k}]", value=entry)
            journey._apply_visit(journey._check_visit(entry["region"], entry))
        rest, dropped = data["rest"], data.get("dropped", {})
        optional = not journey.problem.visits_all_once
        if not isinstance(rest, list) or not all(isinstance(name, str) for name in rest):
            raise InputError("expected a list of region names", field="rest", value=rest)
        if not set(rest) <= set(journey.left) or (not optional and sorted(rest) != sorted(journey.left)):
            raise InputError("expected the regions not visited yet, once each", field="rest", value=rest)
        if not isinstance(dropped, dict) or not all(isinstance(why, str) for why in dropped.values()):
            raise InputError("expected an object with reasons by region", field="dropped", value=dropped)
        journey.rest, journey.dropped = tuple(rest), dropped
        return journey

    def __repr__(self) -> str:
        ahead = f"next {route_text(self.rest, self.problem.closed)}" if self.rest else "at its end"
        return f"<Journey after {self._visits_text}, {ahead}>"

    @property
    def _visits_text(self) -> str:
        """The number of visits made, in words."""
        if self.problem.visits_all_once:
            return f"{len(self.visits):,} of {self.problem.size:,} visits"
        regions = len({visit.region for visit in self.visits})
        return f"{len(self.visits):,} visits to {regions:,} of {self.problem.size:,} regions"

    def table(self) -> Table:
        """Return one row per visit, made or planned, with the errors of the current model."""
        columns = (
            Column("visit"),
            Column(None, "visit", left=True),
            Column("region", "region", left=True),
            Column("made"),
            Column("error", "error of the model there", ".4g"),
        )
        made, errors = len(self.visits), self.errors.tolist()
        rows = [
            (k, f"{k}" if k <= made else f"({k})", name, k <= made, errors[i] if made else None)
            for k, (name, i) in enumerate(zip(self.route, self.order, strict=True), 1)
        ]
        return Table(columns, rows)

    def sheet(self) -> Sheet:
        """Return the visits, the next region, and the expected error and loss."""
        unit = self.problem.travel_unit
        lines = (
            ("next", self.next or f"nowhere: {self._end}"),
            ("expected", f"error {self.expected_error:.6g}, loss {self.expected_loss:.6g} per region"),
            ("travel", f"{self.travel_cost:.6g}{unit and ' ' + unit} for the whole route"),
            *(("note", note) for note in self.notes),
        )
        return Sheet(f"{self._visits_text} made", (self.table(),), lines)

    @property
    def _end(self) -> str:
        """The reason why a journey without further visits has ended."""
        return "no further visit lowers the loss" if self.left else "all regions are visited"

    @property
    def _remaining(self) -> RemainingJourney:
        """The rest of the journey, from the agent's current place."""
        place = self.problem.regions.index
        return RemainingJourney(self.problem, [place(visit.region) for visit in self.visits], self.errors, self.common)

    @property
    def left(self) -> tuple[str, ...]:
        """The regions that can still be visited, in the order of the problem."""
        return self._remaining.left

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on constraints that no longer hold and on dropped visits."""
        wanted, made = self.problem.constraints, [visit.region for visit in self.visits]
        said = []
        if wanted.start and made and made[0] != wanted.start:
            said.append(f"began at {made[0]}, not at {wanted.start}")
        if wanted.end and wanted.end in made and (self.rest or made[-1] != wanted.end):
            said.append(f"{wanted.end} has been visited already, so any region may be the last one")
        rules = self.problem.visit_rules
        if not self.problem.visits_all_once and not self.rest:
            missing = [name for name, must in zip(self.problem.regions, rules.required, strict=True) if must]
            missing = [name for name in missing if name not in made]
            said += (
                [f"no route from here satisfies the rules (visits): {list_names(missing)} must be visited"]
                if missing
                else []
            )
        return (*said, *self.dropped.values())

    @property
    def next(self) -> str | None:
        """The next region to visit; None at the end."""
        return self.rest[0] if self.rest else None

    @property
    def route(self) -> tuple[str, ...]:
        """The visited regions, followed by the planned ones."""
        return (*(visit.region for visit in self.visits), *self.rest)

    @property
    def order(self) -> tuple[int, ...]:
        """The same route as indices."""
        place = {name: i for i, name in enumerate(self.problem.regions)}
        return tuple(place[name] for name in self.route)

    @property
    def expected_error(self) -> float:
        """The expected final error over all regions if the journey continues as planned."""
        end = self._remaining.errors_after(self.order[len(self.visits) :])
        return float((self.problem.region_weights * end.total).mean())

    @property
    def dissimilarities(self) -> DissimilarityKind:
        """The dissimilarities behind errors and routes: `estimate`, `upper` or `measured`."""
        return self.problem.dissimilarity_kind

    @property
    def travel_cost(self) -> float:
        """The travel cost of the whole route, in units of travel."""
        problem = self.problem
        return float(problem.ways.legs(problem.from_depot(self.order), problem.closed).sum())

    @property
    def expected_loss(self) -> float:
        """The expected overall loss per region."""
        return self.problem.travel_rate * self.travel_cost / self.problem.size + self.expected_error

    def visit(
        self,
        region: str | None = None,
        errors: Mapping[str, float] | None = None,
        dissimilarity: Mapping[str, float] | None = None,
        vector: Sequence[float] | None = None,
        progress: Progress | None = None,
        time_limit: float | None = None,
    ) -> str | None:
        """Record a visit with training to a region (default: the next one); return the region to visit next.

        Measurements made there replace assumptions, and the rest is replanned. If there is a file, the step is stored
        when this returns. `time_limit` is in seconds; the best continuation found in time is used.
        """
        budget = Budget.of(time_limit, progress)
        name = self.next if region is None else region
        if name is None:
            raise InputError(f"{self._end}; the journey is over", field="region")
        visit = self._check_visit(name, {"errors": errors, "dissimilarity": dissimilarity, "vector": vector})
        with self._replanning(budget):
            self._apply_visit(visit)
        return self.next

    def add(
        self,
        region: str,
        *,
        travel: Mapping[str, float] | None = None,
        travel_back: Mapping[str, float] | None = None,
        coordinates: Sequence[float] | None = None,
        dissimilarity: Mapping[str, float] | None = None,
        vector: Sequence[float] | None = None,
        initial: float = 0.0,
        samples: int | None = None,
        importance: float | None = None,
        progress: Progress | None = None,
        time_limit: float | None = None,
    ) -> str | None:
        """Add a region to visit, replan the rest, and return the region to visit next.

        The error in the new region follows from the visits made, as if it had been there from the start.

        Parameters
        ----------
        region
            The name of the region.
        travel, travel_back
            Travel costs from it to each other region (and the depot), by name, and from there to it; `travel_back`
            equals `travel` if omitted. Not allowed if travel follows from coordinates.
        coordinates
            Its coordinates, if the other regions have coordinates.
        dissimilarity, vector
            Its dissimilarities to the other regions, by name; or its vector, if the other regions have vectors.
        initial, samples, importance
            Its initial dissimilarity; its number of samples and its importance, if these are given per region.
        progress, time_limit
            As for `visit`.
        """
        budget = Budget.of(time_limit, progress)
        self._check_changeable(region)
        with self._replanning(budget):
            self.origin = self.problem = with_region(
                self.origin, region, travel, travel_back, coordinates, dissimilarity, vector, initial, samples,
                importance,
            )  # fmt: skip
            made, self.visits, self.errors, self.common = self.visits, (), self.problem.initial_errors, 0.0
            for visit in made:
                self._apply_visit(visit)
        return self.next

    def _check_changeable(self, region: Any) -> None:
        """Reject a change of the number of regions if λ is given per position."""
        if self.problem.learner.by_position:
            reason = (
                "regions cannot change while λ is given per position; start another journey with the remaining regions"
            )
            raise InputError(reason, field="region", value=region)

    def drop(
        self, region: str, progress: Progress | None = None, time_limit: float | None = None
    ) -> str | None:  # fmt: skip
        """Remove an unvisited region, replan the rest, and return the region to visit next.

        The region is no longer part of the problem, so its error does not count. Measurements about it are lost.
        """
        budget = Budget.of(time_limit, progress)
        self._check_left(region)
        if region in self.route[: len(self.visits)]:
            raise InputError("has been visited; only unvisited regions can be dropped", field="region", value=region)
        if region in (self.problem.constraints.start, self.problem.constraints.end):
            raise InputError(
                "is the start or end of the route (constraints) and cannot be dropped", field="region", value=region
            )
        self._check_changeable(region)
        if self.problem.size == 2:
            raise InputError("cannot be dropped; a journey needs at least 2 regions", field="region", value=region)
        kept = [i for i, name in enumerate(self.problem.regions) if name != region]
        with self._replanning(budget):
            self.origin, self.problem = restrict_to(self.origin, kept), restrict_to(self.problem, kept)
            self.errors = freeze(self.errors[kept])
            self.visits = tuple(visit.without(region) for visit in self.visits)
        return self.next

    @contextlib.contextmanager
    def _replanning(self, budget: Budget) -> Iterator[None]:
        """Replan the rest and store the journey after the change made in this context; undo everything on failure."""
        before = self.origin, self.problem, self.errors, self.common, self.visits, self.rest, self.dropped
        try:
            yield
            self._plan(budget)
            self._save()
        except BaseException:
            self.origin, self.problem, self.errors, self.common, self.visits, self.rest, self.dropped = before
            raise

    def to_dict(self) -> dict[str, Any]:
        """Return the journey as plain JSON values, in the format of its file."""
        return {
            "problem": json_files.problem_to_dict(self.origin),
            "method": self.method,
            "seed": self.seed,
            "dissimilarities": self.dissimilarities,
            "visits": [visit.to_dict() for visit in self.visits],
            "rest": list(self.rest),
            **({"dropped": dict(self.dropped)} if self.dropped else {}),
        }

    def _check_visit(self, region: str, measured: Mapping[str, Any]) -> Observation:
        """Validate a visit before anything changes."""
        self._check_left(region)
        return Observation.of(self.problem, region, measured)

    def _check_left(self, region: str) -> None:
        """Reject anything but a region that can still be visited."""
        if not isinstance(region, str):
            raise InputError("expected the name of a region", field="region", value=region)
        if region not in self.left:
            known = region in self.problem.regions
            hint = (
                f"unvisited are {list_names(self.left)}" if known else did_you_mean(region, self.left, "unvisited are")
            )
            why = "there is no such region"
            if known:
                barred = not self.problem.visit_rules.allowed[self.problem.regions.index(region)]
                why = "must not be visited (visits.forbidden)" if barred else "has been visited"
            raise InputError(f"{why}; {hint}", field="region", value=region)

    def _apply_visit(self, visit: Observation) -> None:
        """Update the errors by training, and the problem by the measurements."""
        here = self.problem.regions.index(visit.region)
        if visit.vector is not None and self.problem.vectors is not None:
            vectors = np.array(self.problem.vectors)
            vectors[here] = visit.vector
            self.problem = self.problem.replace(vectors=vectors, **self._correct(here, _distances(vectors, here)))
        elif visit.dissimilarity:
            apart = {self.problem.regions.index(name): value for name, value in visit.dissimilarity.items()}
            self.problem = self.problem.replace(**self._correct(here, apart), dissimilarity_low=None)
        after = self._remaining.errors_after((here,))
        self.common, errors = float(after.common), np.array(after.total)
        for name, value in visit.errors.items():
            errors[self.problem.regions.index(name)] = value
        self.errors = freeze(errors)
        self.visits = (*self.visits, visit)

    def _correct(self, here: int, apart: Mapping[int, float]) -> dict[str, FloatArray]:
        """Return the matrices of dissimilarities, with entries replaced by the measurements in a region."""
        found = {}
        for name in ("dissimilarity", "dissimilarity_estimate"):
            known = getattr(self.problem, name)
            if known is not None:
                found[name] = delta = np.array(known)
                for other, value in apart.items():
                    delta[here, other] = delta[other, here] = value
        return found

    def _plan(self, budget: Budget) -> None:
        """Plan the rest from the agent's current place."""
        ahead, method = self._remaining, method_by_name(self.method)
        self.rest, self.dropped = ahead.plan(method, self.seed, budget, self.rest, self.dropped)

    def _save(self) -> None:
        if self.file is not None:
            write_text(self.file, json_files.dumps(self.to_dict()))


def _distances(vectors: FloatArray, here: int) -> dict[int, float]:
    """Return the squared distances between the vector of a region and the vectors of all others."""
    return {j: float(d) for j, d in enumerate(((vectors - vectors[here]) ** 2).sum(axis=1)) if j != here}
