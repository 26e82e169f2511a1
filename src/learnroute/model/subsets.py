"""Problems with fewer or more regions: journeys drop and add regions, and a region may become the depot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, check_type
from learnroute.model.depot import Depot, border, members_of_travel
from learnroute.model.problem import Problem
from learnroute.model.streets import Streets
from learnroute.model.validation import (
    FloatArray,
    as_count,
    as_number,
    as_numbers_by_region,
    as_region,
    as_vector,
)

# fields of a problem
BY_REGION = ("initial", "vectors", "coordinates", "truth", "samples", "initial_estimate", "importance")
BY_PAIR = ("dissimilarity", "dissimilarity_low", "dissimilarity_estimate", "transfer")


@dataclass(frozen=True)
class _SubsetStreets(Streets):
    """The streets between some of the stops."""

    whole: Streets
    kept: Sequence[int]

    def path(self, origin: int, goal: int) -> FloatArray:
        return self.whole.path(self.kept[origin], self.kept[goal])


def restrict_to(problem: Problem, kept: Sequence[int]) -> Problem:
    """Return the problem restricted to some of its regions."""
    depot = problem.depot and replace(problem.depot, travel=None, travel_back=None)
    changes = _members(problem, kept, range(problem.size, len(problem.stops)), depot)
    if problem.visits is not None:
        changes["visits"] = problem.visits.of(changes["regions"])
    return problem.replace(**changes)


def _members(problem: Problem, kept: Sequence[int], beside: Sequence[int], depot: Depot | None) -> dict[str, Any]:
    """Return the members of the problem restricted to some regions, with the stop `beside` them as its depot."""
    some, stops = list(kept), [*kept, *beside]
    changes: dict[str, Any] = {"regions": [problem.regions[i] for i in some], "depot": depot}
    for name in BY_REGION:
        values = getattr(problem, name)
        changes[name] = None if values is None else values[some]
    for name in BY_PAIR:
        values = getattr(problem, name)
        changes[name] = None if values is None else values[np.ix_(some, some)]
    if problem.given_travel is not None:
        changes |= members_of_travel(problem.ways.matrix[np.ix_(stops, stops)], depot)
    if problem.streets is not None:
        changes["streets"] = _SubsetStreets(problem.streets, tuple(stops))
    return changes


def with_depot(problem: Problem, place: str | ArrayLike, returns: bool = True) -> Problem:
    """Return the problem with a depot: routes start there, nothing is learnt there, and no error counts there.

    Parameters
    ----------
    problem
        A problem without a depot.
    place
        The name of a region, which is then no longer a learning region; or the coordinates of the depot, if travel is
        the distance between places.
    returns
        Whether routes return to the depot.

    Returns
    -------
    Problem
        The same problem with the depot.

    Raises
    ------
    InputError
        If there is a depot already, if there is no such region, or if travel does not follow from coordinates.
    """
    check_type("problem", problem, Problem)
    if problem.depot is not None:
        raise InputError(f"the problem has a depot, {problem.depot.name!r}", field="depot", value=place)
    if not isinstance(place, str):
        if problem.given_travel is not None:
            reason = (
                "the problem has travel costs, so the depot needs them, too; name a region, or add a depot to the file"
            )
            raise InputError(f"{reason} (depot.travel)", field="depot", value=place)
        return problem.replace(depot=Depot(coordinates=place, returns=returns))
    here = as_region("depot", place, problem.regions)
    wanted = problem.constraints
    if place in (wanted.start, wanted.end):
        end = "start" if place == wanted.start else "end"
        reason = "the depot is not a learning region, so routes cannot start or end with it; remove one of them"
        raise InputError(reason, field=f"constraints.{end}", value=place)
    if wanted.returns:
        problem = problem.replace(constraints=replace(wanted, returns=False))
    depot = Depot(place, None if problem.coordinates is None else problem.coordinates[here], returns=returns)
    return problem.replace(**_members(problem, [i for i in range(problem.size) if i != here], [here], depot))


def with_costs(problem: Problem, costs: FloatArray | None = None) -> Problem:
    """Return the problem with other travel costs between its stops; unchanged if travel follows from coordinates."""
    return problem.replace(**members_of_travel(problem.ways.matrix if costs is None else costs, problem.depot))


def with_region(
    problem: Problem,
    name: str,
    travel: Mapping[str, float] | None = None,
    travel_back: Mapping[str, float] | None = None,
    coordinates: ArrayLike | None = None,
    dissimilarity: Mapping[str, float] | None = None,
    vector: ArrayLike | None = None,
    initial: float = 0.0,
    samples: int | None = None,
    importance: float | None = None,
) -> Problem:
    """Return the problem with one more region, the last one.

    The new region needs the same data as the others: travel costs by name (in both directions if they differ) or
    coordinates, dissimilarities by name or a vector, and a number of samples and an importance if these are given per
    region. If the problem has estimates, the values of the new region serve as its estimates, too. Lower bounds, true
    models and streets are dropped, because the new region has none.
    """
    if not isinstance(name, str) or not name:
        raise InputError("expected the name of a region", field="region", value=name)
    if name in problem.stops:
        raise InputError("exists; give another name", field="region", value=name)
    if problem.transfer is not None:
        raise InputError(
            "regions cannot be added to measured errors (transfer); start a new journey", field="region", value=name
        )
    size = problem.size
    left_out = dict.fromkeys(("dissimilarity_low", "truth", "initial_model", "streets"))
    changes: dict[str, Any] = {**left_out, "regions": [*problem.regions, name]}
    for field in ("initial", "initial_estimate"):
        known = getattr(problem, field)
        if known is not None:
            changes[field] = [*known.tolist(), as_number("initial", initial, meaning="initial dissimilarities")]
    if problem.samples is not None:
        changes["samples"] = [*problem.samples.tolist(), as_count("samples", samples, meaning="the number of samples")]
    else:
        _refuse("samples", samples, "the number of samples is part of the learner")
    if problem.importance is not None:
        importance = _require("importance", importance, "the other regions have one")
        changes["importance"] = [*problem.importance.tolist(), as_number("importance", importance, least=0.0)]
    else:
        _refuse("importance", importance, "all regions count alike")
    if problem.coordinates is not None:
        place = _require("coordinates", coordinates, "the other regions have some")
        place = as_vector("coordinates", place, 2, meaning="coordinates")
        changes["coordinates"] = np.vstack([problem.coordinates, place])
    else:
        _refuse("coordinates", coordinates, "the other regions have none")
    if problem.given_travel is None:
        _refuse("travel", travel, "it follows from the coordinates")
        _refuse("travel_back", travel_back, "it follows from the coordinates")
    else:
        there = _by_name("travel", _require("travel", travel, "travel costs are given"), problem.stops)
        back = there if travel_back is None else _by_name("travel_back", travel_back, problem.stops)
        costs = np.insert(np.insert(problem.ways.matrix, size, there, axis=0), size, 0.0, axis=1)
        costs[np.arange(len(costs)) != size, size] = back
        changes |= members_of_travel(costs, problem.depot)
    if problem.vectors is not None:
        _refuse("dissimilarity", dissimilarity, "the regions have vectors; give the vector")
        own = _require("vector", vector, "the other regions have some")
        width = problem.vectors.shape[1]
        own = as_vector("vector", own, width, meaning="vector entries")
        changes["vectors"] = np.vstack([problem.vectors, own])
        apart = ((problem.vectors - own) ** 2).sum(axis=1)
    else:
        _refuse("vector", vector, "the regions have dissimilarities; give those")
        apart = _by_name(
            "dissimilarity", _require("dissimilarity", dissimilarity, "the other regions have some"), problem.regions
        )
    for field in ("dissimilarity", "dissimilarity_estimate"):
        known = getattr(problem, field)
        if known is not None:
            changes[field] = border(known, apart, apart)
    return problem.replace(**changes)


def _require(field: str, value: Any, why: str) -> Any:
    if value is None:
        raise InputError(f"missing; {why}, so the new region needs it, too", field=field)
    return value


def _refuse(field: str, value: Any, why: str) -> None:
    if value is not None:
        raise InputError(f"{why}; remove it", field=field, value=value)


def _by_name(field: str, values: Any, names: Sequence[str]) -> FloatArray:
    """Return one number per name, from an object that contains all names."""
    meaning = "dissimilarities" if field == "dissimilarity" else "travel costs"
    numbers = as_numbers_by_region(field, values, names, meaning)
    for name in names:
        if name not in numbers:
            raise InputError("missing; give a number for each region", field=f"{field}.{name}")
    return np.array([numbers[name] for name in names])
