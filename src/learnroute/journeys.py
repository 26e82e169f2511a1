"""Planning again on the way: after each visit, what was measured goes in and the rest of the route is planned anew.

Lemma 2 holds from any model on. Standing in a region with errors e_j of the current model, a route through the k
regions left ends with r^k·e_j + sum_t (1-r)·r^(k-t)·Δ[τ_t, j] + noise on region j: the scores of the regions left are
still sums over all regions, visited or not; the errors so far are those of the new first model; and the way begins
where the agent is. A regularised learner goes on by its own recursion (docs/theory.md) in the same way: its errors are
e_j = a_j + c, where c is common to all regions and decays at a rate of its own.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from learnroute.errors import InputError, RefusedError, check_type, did_you_mean, listed
from learnroute.formats import json_files
from learnroute.formats.files import check_destination, errors_naming, is_there, write_text
from learnroute.model.labelled_tables import Labelled, names_along
from learnroute.model.law import ModelErrors, follow
from learnroute.model.losses import objective_ahead, visits_ahead
from learnroute.model.problem import DissimilarityKind, Problem
from learnroute.model.result_mixin import TableMixin
from learnroute.model.rounding import SAME, is_less
from learnroute.model.subsets import only, with_region
from learnroute.model.table import Column, Sheet, Table, route_text
from learnroute.model.validation import FloatArray, IntArray, as_count, as_numbers_by_region, as_path, as_vector, frozen
from learnroute.model.visit_objective import VisitObjective
from learnroute.planner import decide_learner
from learnroute.solvers.contract import Budget, Progress
from learnroute.solvers.registry import Method, method_named

MEMBERS = ("problem", "method", "seed", "dissimilarities", "visits", "rest")  # of its file
MEASURED = ("errors", "dissimilarity", "vector")


@dataclass(frozen=True)
class Observation:
    """A region that was visited, and what was measured there.

    `errors`: the error of the model on some regions, right after training here. `dissimilarity`: how different other
    regions' models are from this one's. `vector`: this region's vector, where the problem has vectors.
    """

    region: str
    errors: Mapping[str, float] = field(default_factory=dict)
    dissimilarity: Mapping[str, float] = field(default_factory=dict)
    vector: tuple[float, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, without what was not measured."""
        data: dict[str, Any] = {"region": self.region}
        if self.errors:
            data["errors"] = dict(self.errors)
        if self.dissimilarity:
            data["dissimilarity"] = dict(self.dissimilarity)
        if self.vector is not None:
            data["vector"] = list(self.vector)
        return data

    def without(self, region: str) -> Observation:
        """Return the visit without what was measured about a region."""
        errors = {name: value for name, value in self.errors.items() if name != region}
        apart = {name: value for name, value in self.dissimilarity.items() if name != region}
        return replace(self, errors=errors, dissimilarity=apart)


class Journey(TableMixin):
    """A route under way.

    Parameters
    ----------
    problem
        What is known before the journey. It is planned at once.
    method, seed
        As for `plan`; the same problem, visits and seed give the same route.
    file
        Where to keep the journey (.json): written whole after every step, so that `Journey.resume` goes on after any
        interruption. Must not exist yet.
    progress, time_limit
        As for `plan`, for the first planning; `visit` takes its own. The best route found in time is taken.

    Attributes
    ----------
    problem
        What is known now, with everything that was measured.
    errors
        The expected error of the current model on each region, or the measured one.
    common
        The part of these errors that is the same in all regions, by the learner's law.
    visits, rest
        The visits made, and the names of the regions planned next, in order. Where visits are optional, the journey may
        end before all regions are visited.
    dropped
        Visits that were planned and no longer are, where visits are optional: the reason by region.

    Raises
    ------
    InputError
        Where an argument is wrong, or the file exists.
    """

    problem: Problem

    def __init__(
        self, problem: Problem, method: str = "auto", seed: int = 0, file: str | Path | None = None,
        progress: Progress | None = None, time_limit: float | None = None,
    ) -> None:  # fmt: skip
        check_type("problem", problem, Problem)
        method_named(method)
        self.method, self.seed = method, as_count("seed", seed, least=0, meaning="the seed")
        self.file = None if file is None else as_path("file", file)
        if self.file is not None:
            check_destination(self.file, (".json",))
            if is_there(self.file):
                raise InputError("exists; resume that journey, or give another name", where=self.file)
        budget = Budget.of(time_limit, progress)
        problem = decide_learner(problem, self.seed, budget.part(0.5))
        self.origin = self.problem = problem
        self.errors: FloatArray = problem.initial_errors
        self.common = 0.0
        self.visits: tuple[Observation, ...] = ()
        self.dropped: Mapping[str, str] = {}
        self.rest: tuple[str, ...] = ()
        self.rest = self._planned(budget)
        self._keep()

    @classmethod
    def resume(cls, file: str | Path) -> Self:
        """Go on with a journey from its file."""
        path = as_path("file", file)
        with errors_naming(path):
            data = json_files.read(path)
            if not isinstance(data, dict) or not set(MEMBERS) <= set(data):
                raise InputError(f"not a journey; it has {', '.join(MEMBERS)}")
            return cls._resumed(data, path)

    @classmethod
    def _resumed(cls, data: dict[str, Any], path: Path) -> Self:
        journey = cls.__new__(cls)
        journey.file, journey.method = path, data["method"]
        method_named(journey.method)
        journey.seed = as_count("seed", data["seed"], least=0, meaning="the seed")
        given = Problem.from_dict(data["problem"])
        journey.origin = journey.problem = given.with_dissimilarities(data["dissimilarities"])
        journey.errors, journey.common = journey.problem.initial_errors, 0.0
        journey.visits, journey.rest = (), journey.problem.regions
        if not isinstance(data["visits"], list):
            raise InputError("a list is needed", field="visits", value=data["visits"])
        visits: list[Any] = data["visits"]
        for k, entry in enumerate(visits):
            if not isinstance(entry, dict) or not isinstance(entry.get("region"), str):
                raise InputError("an object with region is needed", field=f"visits[{k}]", value=entry)
            journey._take(journey._checked(entry["region"], {key: entry.get(key) for key in MEASURED}))
        rest, dropped = data["rest"], data.get("dropped", {})
        optional = journey.problem.rules is not None
        if not isinstance(rest, list) or not all(isinstance(name, str) for name in rest):
            raise InputError("a list of region names is needed", field="rest", value=rest)
        if not set(rest) <= set(journey.left) or (not optional and sorted(rest) != sorted(journey.left)):
            raise InputError("the regions not visited yet are needed, once each", field="rest", value=rest)
        if not isinstance(dropped, dict) or not all(isinstance(why, str) for why in dropped.values()):
            raise InputError("an object with reasons by region is needed", field="dropped", value=dropped)
        journey.rest, journey.dropped = tuple(rest), dropped
        return journey

    def __repr__(self) -> str:
        ahead = f"next {route_text(self.rest, self.problem.closed)}" if self.rest else "at its end"
        return f"<Journey after {self._made}, {ahead}>"

    @property
    def _made(self) -> str:
        """How many visits are made, in words."""
        if self.problem.rules is None:
            return f"{len(self.visits):,} of {self.problem.size:,} visits"
        regions = len({visit.region for visit in self.visits})
        return f"{len(self.visits):,} visits to {regions:,} of {self.problem.size:,} regions"

    def table(self) -> Table:
        """Return one row per visit, made or planned; the errors are those of the model now."""
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
        """Return the visits, where to go next, and what is expected."""
        unit = self.problem.travel_unit
        lines = (
            ("next", self.next or f"nowhere: {self._end}"),
            ("expected", f"error {self.expected_error:.6g}, loss {self.expected_loss:.6g} per region"),
            ("travel", f"{self.travel_cost:.6g}{unit and ' ' + unit} for the whole route"),
            *(("note", note) for note in self.notes),
        )
        return Sheet(f"{self._made} made", (self.table(),), lines)

    @property
    def _end(self) -> str:
        """Why a journey without further visits is at its end."""
        return "no further visit pays" if self.left else "all regions are visited"

    @property
    def left(self) -> tuple[str, ...]:
        """The regions that can still be visited, in the order of the problem."""
        made, rules = Counter(visit.region for visit in self.visits), self.problem.rules
        if rules is None:
            return tuple(name for name in self.problem.regions if not made[name])
        if len(self.visits) >= rules.at_most:
            return ()
        limits = zip(self.problem.regions, rules.repeats.tolist(), strict=True)
        return tuple(name for name, most in limits if made[name] < most)

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the constraints no longer holds, and why visits were dropped."""
        wanted, made = self.problem.constraints, [visit.region for visit in self.visits]
        said = []
        if wanted.start and made and made[0] != wanted.start:
            said.append(f"began at {made[0]}, not at {wanted.start}")
        if wanted.end and wanted.end in made and (self.rest or made[-1] != wanted.end):
            said.append(f"{wanted.end} was to be the last region; it is visited already, so the end is free")
        rules = self.problem.rules
        if rules is not None and not self.rest:
            missing = [name for name, must in zip(self.problem.regions, rules.required, strict=True) if must]
            missing = [name for name in missing if name not in made]
            said += (
                [f"no route from here keeps the rules (visits): {listed(missing)} must be visited"] if missing else []
            )
        return (*said, *self.dropped.values())

    @property
    def next(self) -> str | None:
        """The region to go to now; None at the end."""
        return self.rest[0] if self.rest else None

    @property
    def route(self) -> tuple[str, ...]:
        """The regions visited and those planned next."""
        return (*(visit.region for visit in self.visits), *self.rest)

    @property
    def order(self) -> tuple[int, ...]:
        """The same as indices."""
        place = {name: i for i, name in enumerate(self.problem.regions)}
        return tuple(place[name] for name in self.route)

    @property
    def expected_error(self) -> float:
        """The expected final error over all regions, if the rest goes as planned."""
        return float((self.problem.region_weights * self._after(self.order[len(self.visits) :])[0]).mean())

    @property
    def dissimilarities(self) -> DissimilarityKind:
        """What errors and routes go by: `estimate`, `upper` or `measured`."""
        return self.problem.dissimilarity_kind

    @property
    def travel_cost(self) -> float:
        """What the whole route costs to travel, in the units of travel."""
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
        """Note that a region (the next one, if none is named) was visited and trained in; return where to go next.

        What was measured there replaces what was assumed, and the rest is planned anew. With a file, the step is stored
        when this returns. `time_limit` is in seconds; the best rest found in time is taken.
        """
        budget = Budget.of(time_limit, progress)
        name = self.next if region is None else region
        if name is None:
            raise InputError(f"{self._end}; the journey is over", field="region")
        visit = self._checked(name, {"errors": errors, "dissimilarity": dissimilarity, "vector": vector})
        with self._planning_anew(budget):
            self._take(visit)
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
        """Add a region that is to be visited too, plan the rest anew, and return where to go next.

        The region's errors so far follow from the visits made, as if it had been there from the start.

        Parameters
        ----------
        region
            Its name.
        travel, travel_back
            What it costs to go from it to each other region (and the depot), by name, and back from there; as `travel`
            if omitted. Not where travel follows from coordinates.
        coordinates
            Its place, where the others have one.
        dissimilarity, vector
            How different the other regions' models are from its own, by name; or its vector, where the others have one.
        initial, samples, importance
            Its initial dissimilarity; its number of samples and its importance, where each region has its own.
        progress, time_limit
            As for `visit`.
        """
        budget = Budget.of(time_limit, progress)
        self._check_changeable(region)
        with self._planning_anew(budget):
            self.origin = self.problem = with_region(
                self.origin, region, travel, travel_back, coordinates, dissimilarity, vector, initial, samples,
                importance,
            )  # fmt: skip
            made, self.visits, self.errors, self.common = self.visits, (), self.problem.initial_errors, 0.0
            for visit in made:
                self._take(visit)
        return self.next

    def _check_changeable(self, region: Any) -> None:
        """Refuse to change the number of regions where λ is given for each position."""
        if self.problem.learner.by_position:
            reason = "λ is given for each position of the whole route; begin another journey with the regions left"
            raise InputError(reason, field="region", value=region)

    def drop(
        self, region: str, progress: Progress | None = None, time_limit: float | None = None
    ) -> str | None:  # fmt: skip
        """Leave a region out that is not visited yet, plan the rest anew, and return where to go next.

        The region is no part of the problem any more: no error is counted there. What was measured about it is lost.
        """
        budget = Budget.of(time_limit, progress)
        self._check_left(region)
        if region in self.route[: len(self.visits)]:
            raise InputError("is visited already; it stays", field="region", value=region)
        if region in (self.problem.constraints.start, self.problem.constraints.end):
            raise InputError("the route must begin or end there (constraints); it stays", field="region", value=region)
        self._check_changeable(region)
        if self.problem.size == 2:
            raise InputError("a journey has at least 2 regions", field="region", value=region)
        kept = [i for i, name in enumerate(self.problem.regions) if name != region]
        with self._planning_anew(budget):
            self.origin, self.problem = only(self.origin, kept), only(self.problem, kept)
            self.errors = frozen(self.errors[kept])
            self.visits = tuple(visit.without(region) for visit in self.visits)
        return self.next

    @contextlib.contextmanager
    def _planning_anew(self, budget: Budget) -> Iterator[None]:
        """After the change made in here, plan the rest and store the journey; where one of these fails, undo all."""
        before = self.origin, self.problem, self.errors, self.common, self.visits, self.rest, self.dropped
        try:
            yield
            self.rest = self._planned(budget)
            self._keep()
        except BaseException:
            self.origin, self.problem, self.errors, self.common, self.visits, self.rest, self.dropped = before
            raise

    def to_dict(self) -> dict[str, Any]:
        """Return the journey as its file has it."""
        return {
            "problem": json_files.problem_to_dict(self.origin),
            "method": self.method,
            "seed": self.seed,
            "dissimilarities": self.dissimilarities,
            "visits": [visit.to_dict() for visit in self.visits],
            "rest": list(self.rest),
            **({"dropped": dict(self.dropped)} if self.dropped else {}),
        }

    def _checked(self, region: str, measured: Mapping[str, Any]) -> Observation:
        """Check a visit before anything changes."""
        self._check_left(region)
        apart, vector = self._by_region("dissimilarity", measured["dissimilarity"]), measured["vector"]
        if vector is not None:
            if self.problem.vectors is None:
                raise InputError("the problem has dissimilarities, not vectors; give dissimilarity", field="vector")
            if apart:
                raise InputError(
                    "the vector says it all; give one of the two", field="dissimilarity", found="and vector"
                )
            width = self.problem.vectors.shape[1]
            vector = tuple(as_vector("vector", vector, width, least=-1e100, meaning="vector entries").tolist())
        if apart:
            self.problem.check_symmetric("a visit may correct")
        if apart and self.problem.vectors is not None:
            raise InputError("the problem has vectors; give this region's vector", field="dissimilarity")
        if apart.get(region, 0.0) != 0:
            raise InputError(
                "a region to itself is 0; leave it out", field=f"dissimilarity.{region}", found=f"= {apart[region]:g}"
            )
        return Observation(region, self._by_region("errors", measured["errors"]), apart, vector)

    def _check_left(self, region: str) -> None:
        """Refuse what is no region that can still be visited."""
        if not isinstance(region, str):
            raise InputError("the name of a region is needed", field="region", value=region)
        if region not in self.left:
            known = region in self.problem.regions
            hint = f"left are {listed(self.left)}" if known else did_you_mean(region, self.left, "left are")
            why = "is no region"
            if known:
                rules = self.problem.rules
                barred = rules is not None and not rules.allowed[self.problem.regions.index(region)]
                why = "may not be visited (visits.forbidden)" if barred else "is visited already"
            raise InputError(f"{why}; {hint}", field="region", value=region)

    def _by_region(self, field_name: str, values: Any) -> dict[str, float]:
        if values is None:
            return {}
        names = names_along({field_name: values})
        if names is not None:
            values = dict(zip(names, Labelled.of(values).values.tolist(), strict=True))
        meaning = "errors" if field_name == "errors" else "dissimilarities"
        return as_numbers_by_region(field_name, values, self.problem.regions, meaning)

    def _take(self, visit: Observation) -> None:
        """Train: update the errors and what is known."""
        here = self.problem.regions.index(visit.region)
        if visit.vector is not None and self.problem.vectors is not None:
            vectors = np.array(self.problem.vectors)
            vectors[here] = visit.vector
            self.problem = self.problem.changed(vectors=vectors, **self._corrected(here, _distances(vectors, here)))
        elif visit.dissimilarity:
            apart = {self.problem.regions.index(name): value for name, value in visit.dissimilarity.items()}
            self.problem = self.problem.changed(**self._corrected(here, apart), dissimilarity_low=None)
        after, self.common = self._after((here,))
        errors = np.array(after)
        for name, value in visit.errors.items():
            errors[self.problem.regions.index(name)] = value
        self.errors = frozen(errors)
        self.visits = (*self.visits, visit)

    def _corrected(self, here: int, apart: Mapping[int, float]) -> dict[str, FloatArray]:
        """Return the matrices of dissimilarities with what was measured in a region: what was known is replaced."""
        found = {}
        for name in ("dissimilarity", "dissimilarity_estimate"):
            known = getattr(self.problem, name)
            if known is not None:
                found[name] = delta = np.array(known)
                for other, value in apart.items():
                    delta[here, other] = delta[other, here] = value
        return found

    def _after(self, stops: Sequence[int]) -> tuple[FloatArray, float]:
        """Return the expected errors after more visits, and the part of them that is common to all regions.

        Planning need not tell the common part apart from the rest: which way is best does not depend on it.
        """
        errors = ModelErrors(self.errors - self.common, self.common)
        along = self.problem.updates.along(stops, len(self.visits))
        for after in follow(errors, stops, along, self.problem.dissimilarities):
            errors = after
        return errors.total, float(errors.common)

    def _planned(self, budget: Budget) -> tuple[str, ...]:
        """Plan the rest from where the agent stands."""
        left = self.left
        visited = [self.problem.regions.index(visit.region) for visit in self.visits]
        if self.problem.rules is not None:
            return self._planned_visits(visited, budget)
        if len(left) <= 1:
            return left
        objective = objective_ahead(self.problem, visited, self.errors)
        rng = np.random.default_rng([self.seed, len(visited)])
        try:
            answer = method_named(self.method).solve(objective, rng, budget)
        except RefusedError:  # the way on from here need not cost what the way back does
            answer = method_named("auto").solve(objective, rng, budget)
        assert objective.ends.allows(answer.order), answer.method
        return tuple(left[k] for k in answer.order.tolist() if k < len(left))

    def _planned_visits(self, visited: list[int], budget: Budget) -> tuple[str, ...]:
        """Plan which further visits to make; none where ending here is better. Say why visits were dropped."""
        problem, method, place = self.problem, method_named(self.method), self.problem.regions.index
        objective = visits_ahead(problem, visited, self.errors, self.common)
        end = self._value_of_ending(visited, objective)
        before = Counter(name for name in self.rest if name in self.left)
        before.subtract(problem.regions[i] for i in visited[-1:])
        rng, rest, value = np.random.default_rng([self.seed, len(visited)]), np.empty(0, dtype=np.int64), end
        if self.left:
            initial = np.array([place(name) for name in self.rest if name in self.left], dtype=np.int64)
            try:
                found = _solve_visits(objective, method, rng, budget, initial if visited else None)
                if objective(found) < end:
                    rest, value = found, objective(found)
            except InputError:  # no sequence keeps the rules
                if not visited:
                    raise
        planned = tuple(problem.regions[i] for i in rest.tolist())
        dropped = {name: why for name, why in self.dropped.items() if name in self.left and name not in planned}
        for name in before - Counter(planned):
            dropped[name] = _why_dropped(objective, rest, value, name, place(name))
        self.dropped = dropped
        return planned

    def _value_of_ending(self, visited: list[int], objective: VisitObjective) -> float:
        """Return the value of no further visit, the way home included; inf where that breaks a rule."""
        problem, rules = self.problem, self.problem.rules
        assert rules is not None
        home = 0.0
        if visited and problem.closed:
            home = float(problem.ways.matrix[visited[-1], problem.from_depot(visited)[0]])
        last = objective.ends.last
        if not visited or objective.rules.required.any() or len(visited) < rules.at_least:
            return math.inf
        if last not in (None, visited[-1]) or is_less(objective.rules.budget, home, SAME):
            return math.inf
        return problem.travel_rate * home + math.fsum(problem.region_weights * self.errors)

    def _keep(self) -> None:
        if self.file is not None:
            write_text(self.file, json_files.dumps(self.to_dict()))


def _solve_visits(
    objective: VisitObjective, method: Method, rng: np.random.Generator, budget: Budget, initial: IntArray | None
) -> IntArray:
    """Return further visits; on the way, a method that cannot find any gives way to the usual one."""
    if initial is None:
        return method.solve(objective, rng, budget).order
    try:
        return method.solve(objective, rng, budget, initial=initial).order
    except RefusedError:
        return method_named("auto").solve(objective, rng, budget, initial=initial).order


def _why_dropped(objective: VisitObjective, rest: IntArray, value: float, name: str, region: int) -> str:
    """Say what a visit would do to the loss per region, at the best place of the way ahead."""
    tried = (np.insert(rest, k, region) for k in range(len(rest) + 1))
    losses = [objective(visits) for visits in tried if objective.allows(visits)]
    if not losses:
        return f"{name} is dropped: the rules (visits) leave no room for it"
    return f"{name} is dropped: a visit would add {(min(losses) - value) / objective.count:.3g} to the expected loss"


def _distances(vectors: FloatArray, here: int) -> dict[int, float]:
    """Return the squared distances of a region's vector to those of all others."""
    return {j: float(d) for j, d in enumerate(((vectors - vectors[here]) ** 2).sum(axis=1)) if j != here}
