"""A slow and obvious oracle for sequences of visits: the law visit by visit in plain Python, all sequences tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from learnroute.model.dissimilarities import Dissimilarities
from learnroute.model.ends import Ends
from learnroute.model.law import Updates
from learnroute.model.visit_objective import VisitObjective, VisitRules


def sample(
    rng: np.random.Generator,
    size: int = 4,
    *,
    coupled: bool = True,
    by_position: bool = False,
    unequal: bool = False,
    under: bool = False,
    own_second: bool = False,
    repeat: int = 1,
    at_most: int | None = None,
    required: Sequence[int] = (),
    forbidden: Sequence[int] = (),
    budget: float = math.inf,
    origin: bool = False,
    closed: bool = False,
    first: int | None = None,
    last: int | None = None,
    symmetric: bool = False,
    rate: float = 1.0,
    vectors: bool = False,
) -> VisitObjective:
    """Return a random objective; Δ contains measured errors and is not symmetric unless it comes from vectors."""
    stops = size + origin
    travel = rng.uniform(0.1, 1.0, (stops, stops))
    travel = (travel + travel.T) / 2 if symmetric else travel
    np.fill_diagonal(travel, 0.0)
    at_most = (size - len(forbidden)) * repeat if at_most is None else at_most
    if vectors:
        models = rng.standard_normal((size, 3))
        delta = ((models[:, None] - models[None]) ** 2).sum(axis=2)
    else:
        delta = rng.uniform(0.0, 1.0, (size, size))
        np.fill_diagonal(delta, rng.uniform(0.0, 0.1, size))
    initial = rng.uniform(0.5, 2.0, size)
    known = Dissimilarities(delta, None, initial, delta.sum(axis=1))
    shape = (at_most if by_position else 1, size if unequal else 1)
    retention = np.zeros(shape) if under else rng.uniform(0.2, 0.9, shape)
    coupling = retention * rng.uniform(0.1, 0.5, shape) if coupled else np.zeros(shape)
    second = rng.uniform(0.2, 0.9, shape) if own_second else retention - coupling
    noise = rng.uniform(0.0, 0.1, shape)
    tables = (retention, 1 - retention, coupling, second, noise)
    updates = Updates(*(np.ascontiguousarray(np.broadcast_to(table, (at_most, size))) for table in tables))
    required_regions, allowed = np.isin(np.arange(size), required), ~np.isin(np.arange(size), forbidden)
    rules = VisitRules(required_regions, repeat * allowed, at_most, budget)
    ends = Ends(size if origin else first, last, closed)
    total = float(initial.sum())
    return VisitObjective(travel, rate, ends, known, updates, total, size, rules)


def route_length(objective: VisitObjective, visits: Sequence[int]) -> float:
    """Return the travel of a route, leg by leg."""
    stops = list(visits)
    if objective.origin is not None:
        stops = [objective.origin, *stops]
    if objective.ends.closed:
        stops.append(stops[0])
    return sum(float(objective.travel[a, b]) for a, b in itertools.pairwise(stops))


def law_value(objective: VisitObjective, visits: Sequence[int]) -> float:
    """Return the value of a sequence from the expected errors after each visit, by the law of distances."""
    retention, plasticity, coupling, second, noise = objective.updates.tables
    delta, size = objective.known.matrix, objective.size
    own, common = [float(x) for x in objective.known.initial], 0.0
    for t, k in enumerate(visits):
        common = float(second[t, k]) * common - float(coupling[t, k]) * own[k] + float(noise[t, k])
        own = [float(retention[t, k]) * own[j] + float(plasticity[t, k]) * float(delta[k, j]) for j in range(size)]
    return objective.rate * route_length(objective, visits) + sum(own) + objective.count * common


def all_sequences(objective: VisitObjective) -> Iterator[tuple[int, ...]]:
    """Yield every feasible sequence, checking each rule separately."""
    rules, ends = objective.rules, objective.ends
    regions = range(objective.size)
    must = {k for k in regions if rules.required[k]}
    may = [k for k in regions if rules.allowed[k]]
    first = ends.first if objective.origin is None else None
    for length in range(1, rules.at_most + 1):
        for visits in itertools.product(may, repeat=length):
            if any(visits.count(k) > rules.repeats[k] for k in visits) or not must <= set(visits):
                continue
            if first not in (None, visits[0]) or ends.last not in (None, visits[-1]):
                continue
            if route_length(objective, visits) <= rules.budget * (1 + 1e-12):
                yield visits


def least_value(objective: VisitObjective) -> float:
    """Return the lowest value of all sequences; inf if there are none."""
    return min((law_value(objective, visits) for visits in all_sequences(objective)), default=math.inf)
