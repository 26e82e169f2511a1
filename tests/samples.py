"""Problems that several tests use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from learnroute import Learner, Problem
from learnroute.model.dissimilarities import Dissimilarities
from learnroute.model.ends import Ends
from learnroute.model.instance import Instance
from learnroute.model.law import Updates
from learnroute.model.linear import Factored, Linear
from learnroute.model.rules import VisitRules
from learnroute.model.spectrum import Moments, filter_moments, gradient_shares
from learnroute.model.travel import TravelMatrix
from learnroute.model.validation import FloatArray
from learnroute.study.families import FAMILIES, random_problem

UNDER = Learner(80, 100, 0.1)
OVER = Learner(120, 100, 0.1)
LEARNERS = {
    "under": UNDER,
    "over": OVER,
    "over, r small": Learner(102, 100, 0.5),
    "over, r near 1": Learner(5000, 3, 1),
}
ALL_FAMILIES = tuple(FAMILIES)
METRIC_FAMILIES = ("closure", "uniform5", "euclidean", "vectors", "places")


def small(learner: Learner = UNDER, **changes: object) -> Problem:
    """Return a problem of four regions with simple numbers."""
    fields = {
        "travel": [[0, 2, 3, 4], [2, 0, 2, 3], [3, 2, 0, 2], [4, 3, 2, 0]],
        "dissimilarity": [[0, 1, 4, 2], [1, 0, 1, 3], [4, 1, 0, 5], [2, 3, 5, 0]],
        "initial": [1, 2, 3, 4],
        "regions": ["A", "B", "C", "D"],
        **changes,
    }
    return Problem(learner=learner, **fields)  # type: ignore[arg-type]


def asymmetric(size: int, learner: Learner, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    travel = rng.uniform(1, 10, (size, size))
    np.fill_diagonal(travel, 0)
    base = random_problem("uniform", size, learner, seed)
    return Problem(travel, learner, dissimilarity=base.dissimilarity, initial=base.initial)


def linear_of(problem: Problem) -> Linear:
    """Return the objective of a problem whose learner does not couple regions."""
    found = problem.instance.orders.exact
    assert found is not None
    return found


def factors_of(objective: Linear) -> FloatArray | None:
    """Return the share of earlier scores that each region retains; None if it is the same for all regions."""
    return objective.factors if isinstance(objective, Factored) else None


def gradient_moments(features: int, samples: int, steps: int, rate: float) -> Moments:
    """Return the moments of P = (I - rate·C)^steps."""
    return filter_moments(features, samples, lambda values: gradient_shares(rate * values, steps))


def random_instance(
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
) -> Instance:
    """Return a random instance of one vehicle with one model.

    Δ contains measured errors and is not symmetric unless it comes from vectors.
    """
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
    return Instance(TravelMatrix(travel), rate, ends, known, updates, coupled or by_position or own_second, rules)


def draw_rules(rng: np.random.Generator, size: int) -> dict[str, Any]:
    """Return random settings for `random_instance`."""
    regions: Sequence[int] = rng.permutation(size).tolist()
    kind = rng.integers(4)
    return {
        "coupled": bool(rng.random() < 0.5),
        "by_position": bool(rng.random() < 0.3),
        "unequal": bool(rng.random() < 0.3),
        "under": bool(rng.random() < 0.2),
        "required": regions[: int(rng.integers(0, size))] if kind else range(size),
        "forbidden": regions[-1:] if kind == 1 else (),
        "repeat": 2 if kind == 2 else 1,
        "at_most": 3 if kind == 2 else None,
        "origin": bool(rng.random() < 0.4),
        "closed": bool(rng.random() < 0.4),
        "symmetric": bool(rng.random() < 0.5),
        "rate": float(rng.choice([0.0, 0.1, 1.0])),
    }
