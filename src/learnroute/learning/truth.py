"""True models for a simulation: given by the problem, or drawn to match its dissimilarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from learnroute.errors import InputError, check_type, percent
from learnroute.model.problem import Problem
from learnroute.model.rounding import PRINTED
from learnroute.model.validation import FloatArray, freeze

MOST_DRAWN = 1000  # regions for which models can be drawn from a matrix
SWEEPS = 1000  # maximum number of alternating projections


@dataclass(frozen=True, eq=False)
class Truth:
    """True models, one row per region, and the learner's initial model.

    Entries beyond the width of the rows are 0 for all models. `origin` says whether the models are given or drawn.
    `met` is the share of Δ that their squared distances reach (1 if they equal it); `notes` describe mismatches.
    """

    models: FloatArray
    initial_model: FloatArray
    origin: Literal["given", "drawn"]
    met: float = 1.0
    notes: tuple[str, ...] = ()


def truth_of(problem: Problem, rng: np.random.Generator) -> Truth:
    """Return the problem's true models, or draw models whose squared distances are Δ or as close below as possible.

    Δ are upper bounds, and not every matrix consists of squared distances. If no models have the squared distances Δ,
    models are used whose squared distances are nearest to Δ without exceeding it. A common rotation of all models
    changes nothing, so it is drawn at random.

    Parameters
    ----------
    problem
        The problem.
    rng
        Random number generator.

    Returns
    -------
    Truth
        True models, an initial model, their origin, and the share of Δ that they reach.

    Raises
    ------
    InputError
        If the problem has no true models and is too large to draw them.
    """
    check_type("problem", problem, Problem)
    check_type("rng", rng, np.random.Generator)
    if problem.truth is not None and problem.initial_model is not None:
        return Truth(problem.truth, problem.initial_model, "given")
    problem.check_symmetric("true models are drawn to match")
    if problem.size > MOST_DRAWN:
        raise InputError(
            f"missing, and models are drawn for at most {MOST_DRAWN} regions; this problem has {problem.size}",
            field="truth",
        )
    wanted = np.array([problem.dissimilarities_to(i) for i in range(problem.size)])
    notes: list[str] = []
    first_matters = problem.regime == "over" or problem.learner.couples or not problem.fleet_rules.single
    first = problem.initial_errors
    anchored = bool(first.any()) and first_matters
    if anchored:  # the initial model is an additional point
        wanted = np.block([[wanted, first[:, None]], [first[None, :], np.zeros((1, 1))]])
    places, met = _places(wanted, problem.learner.features)
    if met < 1:
        notes.append(
            f"no true models have exactly these dissimilarities; the drawn ones reach {percent(met, 1)} of them in sum"
        )
    if anchored:
        models, initial_model = places[:-1], places[-1]
    else:
        models, initial_model = places, places.mean(axis=0)
        if first_matters:
            notes.append("initial is missing or 0 for all regions, so the initial model is the mean of the true models")
    turn = _rotation(models.shape[1], rng)
    return Truth(freeze(models @ turn), freeze(initial_model @ turn), "drawn", met, tuple(notes))


def _places(wanted: FloatArray, most: int) -> tuple[FloatArray, float]:
    """Return points in at most `most` dimensions, and the share of the wanted squared distances that they reach."""
    places = _points(wanted, most)
    found = _squares(places)
    scale = float(wanted.max())
    if np.abs(found - wanted).max() <= PRINTED * scale:
        return places, 1.0
    places = _points(_nearest_below(wanted), most)
    found = _squares(places)
    apart = found > 0
    excess = float((found[apart] / np.maximum(wanted[apart], 1e-300)).max(initial=1.0))
    places = places / np.sqrt(excess)  # removes the excess over Δ that remains after the sweeps
    return places, float(_squares(places).sum() / wanted.sum())


def _nearest_below(wanted: FloatArray) -> FloatArray:
    """Project Δ onto the squared distance matrices that do not exceed it (Dykstra's alternating projections)."""
    found = np.array(wanted)
    cone_correction, box_correction = np.zeros_like(wanted), np.zeros_like(wanted)
    for _ in range(SWEEPS if len(wanted) <= 200 else SWEEPS // 10):
        shifted = found + cone_correction
        euclidean = _conditionally_negative(shifted)
        cone_correction = shifted - euclidean
        shifted = euclidean + box_correction
        found = np.clip(shifted, 0.0, wanted)
        np.fill_diagonal(found, 0.0)
        box_correction = shifted - found
        if np.abs(found - euclidean).max() <= PRINTED * float(wanted.max()):
            break
    return found


def _conditionally_negative(squares: FloatArray) -> FloatArray:
    """Project onto the matrices whose centred negative is positive semidefinite."""
    size = len(squares)
    axis = np.ones(size)
    axis[-1] += np.sqrt(size)
    reflection = np.eye(size) - 2 * np.outer(axis, axis) / (axis @ axis)
    turned = -reflection @ squares @ reflection
    values, vectors = np.linalg.eigh(turned[:-1, :-1])
    turned[:-1, :-1] = (vectors * np.maximum(values, 0)) @ vectors.T
    back: FloatArray = -reflection @ turned @ reflection
    return (back + back.T) / 2


def _points(squares: FloatArray, most: int) -> FloatArray:
    """Return points with the given squared distances, if they exist, by classical scaling."""
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, axes = np.linalg.eigh(-(centred + centred.T) / 4)
    kept = np.flatnonzero(values > 1e-14 * max(float(values[-1]), 0.0))[::-1][:most]
    if not kept.size:
        return np.zeros((len(squares), 1))
    points: FloatArray = axes[:, kept] * np.sqrt(values[kept])
    return points


def _squares(points: FloatArray) -> FloatArray:
    """Return the squared distances between all pairs of rows around the origin."""
    norms = np.einsum("ij,ij->i", points, points)
    squares: FloatArray = np.maximum(norms[:, None] + norms[None, :] - 2 * points @ points.T, 0.0)
    np.fill_diagonal(squares, 0.0)
    return squares


def _rotation(size: int, rng: np.random.Generator) -> FloatArray:
    """Draw a rotation or reflection uniformly."""
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    turn: FloatArray = q * np.where(np.diagonal(r) < 0, -1.0, 1.0)
    return turn
