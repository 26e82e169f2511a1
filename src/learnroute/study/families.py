"""Random problems of named families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.model.learners import Learner
from learnroute.model.metric import metric_closure
from learnroute.model.problem import Problem
from learnroute.model.validation import FloatArray, as_choice, as_count

SIDE = 10.0  # of the square in which points are drawn
DIMENSION = 5  # of the vectors
MEAN_DISSIMILARITY = 5.5  # of two vectors, equal to the mean of a uniform draw from [1, 10]
MOST_REGIONS = 5000
MOST_PLACES = 10_000_000  # regions, if travel is computed from places

Fields = dict[str, Any]


def random_problem(family: str, regions: int, learner: Learner, seed: int | np.random.SeedSequence = 0) -> Problem:
    """Draw a problem of a named family; the same arguments give the same problem.

    The learner does not influence the draw, so one seed gives the same regions for every learner.
    """
    as_choice("family", family, FAMILIES)
    size = as_count("regions", regions, least=2, meaning="the number of regions")
    if size > (MOST_PLACES if family == "places" else MOST_REGIONS):
        reason = "" if family == "places" else ", since travel is a matrix; family places has none"
        most = MOST_PLACES if family == "places" else MOST_REGIONS
        raise InputError(f"at most {most} regions are drawn{reason}", field="regions", value=size)
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(as_count("seed", seed, least=0, meaning="the seed"))
    draw, _ = FAMILIES[family]
    return Problem(learner=learner, title=f"{size} regions, {family}", **draw(np.random.default_rng(seed), size))


def random_models(family: str, size: int, seed: int = 0) -> Fields:
    """Draw only the dissimilarities of a named family: `dissimilarity` or `vectors`, and `initial`."""
    drawn = random_problem(family, size, Learner(1, 3), seed)
    kind = "vectors" if drawn.vectors is not None else "dissimilarity"
    return {kind: getattr(drawn, kind), "initial": drawn.initial}


def _uniform(rng: np.random.Generator, size: int) -> Fields:
    return {"travel": _symmetric(rng, size, 1, 10), **_dissimilarity(rng, size)}


def _closure(rng: np.random.Generator, size: int) -> Fields:
    fields = _uniform(rng, size)
    return {**fields, "travel": metric_closure(fields["travel"])[0]}


def _uniform_from_5(rng: np.random.Generator, size: int) -> Fields:
    return {"travel": _symmetric(rng, size, 5, 10), **_dissimilarity(rng, size)}


def _euclidean(rng: np.random.Generator, size: int) -> Fields:
    return {**_points(rng, size), **_dissimilarity(rng, size)}


def _vectors(rng: np.random.Generator, size: int) -> Fields:
    points = _points(rng, size)
    vectors = rng.normal(0, np.sqrt(MEAN_DISSIMILARITY / (2 * DIMENSION)), (size, DIMENSION))
    return {**points, "vectors": vectors, "initial": (vectors**2).sum(axis=1)}


def _places(rng: np.random.Generator, size: int) -> Fields:
    places = rng.uniform(0, SIDE, (size, 2))
    vectors = rng.normal(0, np.sqrt(MEAN_DISSIMILARITY / (2 * DIMENSION)), (size, DIMENSION))
    return {"coordinates": places, "vectors": vectors, "initial": (vectors**2).sum(axis=1)}


FAMILIES: dict[str, tuple[Callable[[np.random.Generator, int], Fields], str]] = {
    "uniform": (_uniform, "as in the paper, travel and dissimilarities uniform on [1, 10] (not a metric)"),
    "closure": (_closure, "the metric closure of `uniform`"),
    "uniform5": (_uniform_from_5, "travel uniform on [5, 10] (always a metric), dissimilarities on [1, 10]"),
    "euclidean": (_euclidean, "points in a square of side 10, dissimilarities uniform on [1, 10]"),
    "vectors": (_vectors, "points in a square of side 10, dissimilarities from Gaussian vectors"),
    "places": (_places, "like vectors, but without a travel matrix, for up to millions of regions"),
}


def _symmetric(rng: np.random.Generator, size: int, low: float, high: float) -> FloatArray:
    upper = np.triu(rng.uniform(low, high, (size, size)), 1)
    return upper + upper.T


def _dissimilarity(rng: np.random.Generator, size: int) -> Fields:
    return {"dissimilarity": _symmetric(rng, size, 1, 10), "initial": rng.uniform(1, 10, size)}


def _points(rng: np.random.Generator, size: int) -> Fields:
    points = rng.uniform(0, SIDE, (size, 2))
    steps = points[:, None, :] - points[None, :, :]
    return {"travel": np.hypot(steps[..., 0], steps[..., 1]), "coordinates": points}
