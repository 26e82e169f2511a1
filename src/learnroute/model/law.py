"""The law of distances: how expected errors change when a model trains in a region, and when models are merged.

The error of a model in region j is the expected squared distance to that region's true model. Training in region k
turns the error e_j in each region j into

    p₁·e_j - q·e_k + (1 - p₁)·Δ[k, j] + ν,

where e_k is the error in k just before. Split it as e_j = a_j + c. Then a_j ← p₁·a_j + (1 - p₁)·Δ[k, j] is the region's
own part, a weighted mean of dissimilarities, and c ← ρ·c - q·a_k + ν is common to all regions, with ρ = p₂ = p₁ - q.
This holds for linear learners. A learner with a measured law may have a different ρ, and measured errors D[k, j], which
need not be symmetric, in place of Δ. docs/theory.md has the proofs.

All predictions of errors use `train`; only the checker (`learnroute.verification`) has its own arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from learnroute.model.validation import FloatArray, IntArray, freeze

if TYPE_CHECKING:
    from learnroute.model.dissimilarities import Dissimilarities


class Step(NamedTuple):
    """The effect of one training: numbers, or arrays of them (one entry per position, per order or per λ).

    Attributes
    ----------
    retention, plasticity
        p₁ and 1 - p₁.
    coupling
        q = p₁ - p₂; 0 for least squares.
    second
        ρ: p₂, or the common retention of a calibrated learner.
    noise
        ν.
    """

    retention: Any
    plasticity: Any
    coupling: Any
    second: Any
    noise: Any


STAY = Step(1.0, 0.0, 0.0, 1.0, 0.0)  # no training, as at a depot


class ModelErrors(NamedTuple):
    """The expected errors of a model in all regions (the last axis), as the sum of a part per region and a common part.

    For several models, `own` has a leading axis over models, and `common` has that axis alone.
    """

    own: FloatArray
    common: Any = 0.0

    @property
    def total(self) -> FloatArray:
        """The errors, the sum of both parts."""
        return np.asarray(self.own + np.asarray(self.common)[..., None])

    def mean(self, weights: FloatArray) -> Any:
        """Return the mean error over all regions, with weights of mean 1."""
        return (weights * self.own).mean(axis=-1) + self.common


def train(errors: ModelErrors, region: Any, step: Step, towards: FloatArray) -> ModelErrors:
    """Return the expected errors after training in a region.

    Parameters
    ----------
    errors
        The errors before the training, of one model or of several.
    region
        The index of the region; one index per model if models train in different regions.
    step
        The effect of the training; numbers, or one entry per model.
    towards
        The region's row of Δ (or D), the errors of its true model; one row per model if regions differ.
    """
    own, common = errors
    retention, plasticity = step.retention, step.plasticity
    if own.ndim > 1:  # several models
        retention, plasticity = np.asarray(retention)[..., None], np.asarray(plasticity)[..., None]
    here = own[..., region] if np.ndim(region) == 0 else own[np.arange(len(own)), region]
    return ModelErrors(retention * own + plasticity * towards, step.second * common - step.coupling * here + step.noise)


def follow(errors: ModelErrors, order: Iterable[int], steps: Iterable[Step], rows: Any) -> Iterator[ModelErrors]:
    """Yield the expected errors after each visit of an order; `rows[k]` is row k of Δ."""
    for region, step in zip(order, steps, strict=True):
        errors = train(errors, region, step, rows[region])
        yield errors


@dataclass(frozen=True, eq=False)
class Updates:
    """The steps of a learner by position (row) and region (column); along an order, one entry per visit."""

    retention: FloatArray
    plasticity: FloatArray
    coupling: FloatArray
    second: FloatArray
    noise: FloatArray

    def along(self, stops: Sequence[int] | IntArray, first: int = 0) -> Updates:
        """Return the effect of training at each stop of an order, or of a part of it that begins at `first`."""
        at = np.arange(first, first + len(stops)), np.asarray(stops, dtype=np.int64)
        return Updates(*(freeze(table[at]) for table in self.tables))

    def of(self, regions: IntArray) -> Updates:
        """Return the effect of training in some of the regions, with one row per position."""
        many = len(regions)
        if many == self.retention.shape[1]:  # all of them
            return self if many == len(self.retention) else Updates(*(table[:many] for table in self.tables))
        return Updates(*(freeze(table[:many, regions]) for table in self.tables))

    def compact(self, regions: IntArray, many: int) -> Step:
        """Return the tables of the first `many` positions in some of the regions.

        They have one row if training does not depend on the position, and one column if it does not depend on the
        region.
        """
        rows, columns = slice(1 if self.same_positions else many), regions[: 1 if self.same_regions else None]
        return Step(*(np.ascontiguousarray(table[rows, columns]) for table in self.tables))

    def __iter__(self) -> Iterator[Step]:
        """Iterate over positions."""
        return map(Step, *self.tables)

    @property
    def tables(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """The tables of retention, plasticity, coupling, second moment and noise."""
        return self.retention, self.plasticity, self.coupling, self.second, self.noise

    @cached_property
    def same_positions(self) -> bool:
        """Whether training depends on the region alone."""
        return all(_is_constant(table, 0) for table in self.tables)

    @cached_property
    def same_regions(self) -> bool:
        """Whether training depends on the position alone."""
        return all(_is_constant(table, 1) for table in self.tables)

    @property
    def coupled(self) -> bool:
        """Whether errors are coupled, that is, whether any q > 0."""
        return bool(self.coupling.any())


def _is_constant(table: FloatArray, axis: int) -> bool:
    """Return whether all entries along an axis are equal; in a broadcast array they are one number in memory."""
    return table.strides[axis] == 0 or bool((table == table.take([0], axis)).all())


class ErrorParts(NamedTuple):
    """The terms of T times an expected final error; their sums (over the last axis) are its parts."""

    dissimilarity: FloatArray
    initial: Any
    noise: FloatArray
    pairs: FloatArray

    def terms(self) -> list[float]:
        """Return all terms, to be summed with a single rounding."""
        return [*self.dissimilarity, self.initial, *self.noise, *self.pairs]


def error_parts(known: Dissimilarities, order: IntArray, along: Updates, total: float, count: float) -> ErrorParts:
    """Return the terms of the final error of an order, by unrolling the law.

    Parameters
    ----------
    known
        Δ, and the errors of the initial model.
    order, along
        The regions in order of visit, and the effect of training at each; for several learners, one row per learner.
    total, count
        The weighted sum of the initial model's errors over all regions, and the sum of these weights.
    """
    later, later_second = products_after(along.retention), products_after(along.second)
    paired = count * later_second * along.coupling
    return ErrorParts(
        later * along.plasticity * known.scores[order],
        later[..., 0] * along.retention[..., 0] * total,
        count * later_second * along.noise,
        -paired * known.errors_before(order, along) if along.coupled else -paired,
    )


def errors_after(known: Dissimilarities, order: Sequence[int] | IntArray, along: Updates) -> ModelErrors:
    """Return the errors in all regions after the last visit of an order, by unrolling the law."""
    if not len(order):
        return ModelErrors(known.initial)
    visits, later = np.asarray(order, dtype=np.int64), products_after(along.retention)
    noise = along.noise - along.coupling * known.errors_before(visits, along) if along.coupled else along.noise
    own = later[0] * along.retention[0] * known.initial + known.sum_of_rows(visits, later * along.plasticity)
    return ModelErrors(own, products_after(along.second) @ noise)


def products_after(factors: FloatArray) -> FloatArray:
    """Return, for each position in a row of factors (the last axis), the product of the factors after it."""
    found = np.ones(factors.shape)
    with np.errstate(under="ignore"):
        found[..., :-1] = np.cumprod(factors[..., :0:-1], axis=-1)[..., ::-1]
    return found


class Distances:
    """The expected squared distances between models under training, and from each of them to each region.

    Distances to any other point x, whether a region or another model, obey the law: training model a in region k turns
    its distance E[a, x] into p₁·E[a, x] - q·E[a, k] + (1 - p₁)·E[k, x] + ν. This requires that Δ are squared distances
    and that the law is linear, with p₂ in place of ρ.

    Parameters
    ----------
    dissimilarity
        T x T squared distances Δ between the regions' true models.
    initial
        The squared distance of the initial model to each region.
    models
        The number of copies of the initial model.
    """

    def __init__(self, dissimilarity: ArrayLike, initial: ArrayLike, models: int) -> None:
        self.dissimilarity = np.asarray(dissimilarity, dtype=np.float64)
        self.to_regions = np.tile(np.asarray(initial, dtype=np.float64), (models, 1))
        self.between = np.zeros((models, models))

    def train(self, model: int, region: int, step: Step) -> None:
        """Train a model in a region."""
        here = self.to_regions[model, region]
        shift = step.noise - step.coupling * here
        others = step.retention * self.between[model] + step.plasticity * self.to_regions[:, region] + shift
        self.between[model], self.between[:, model] = others, others
        self.between[model, model] = 0.0
        self.to_regions[model] = (
            step.retention * self.to_regions[model] + step.plasticity * self.dissimilarity[region] + shift
        )

    def merge(self, weights: ArrayLike) -> FloatArray:
        """Return the distances of the weighted mean of all models (weights sum to 1) to each region."""
        shares = np.asarray(weights, dtype=np.float64)
        merged: FloatArray = shares @ self.to_regions - 0.5 * shares @ self.between @ shares
        return merged


def average(errors: FloatArray, step: Step, weights: FloatArray, dissimilarity: FloatArray) -> FloatArray:
    """Return the errors after one round of federated averaging: each region trains a copy of the model.

    `step` is the effect of training by region. The copies are averaged with weights that sum to 1. As in `Distances`,
    but the distances between copies are summed in closed form.
    """
    learnt = weights * step.plasticity
    retained = weights @ step.retention
    towards = learnt @ dissimilarity
    spread = weights**2 @ (step.retention * step.plasticity * errors + step.noise - step.coupling * errors)
    found: FloatArray = retained * errors + towards - retained * (learnt @ errors) - 0.5 * learnt @ towards + spread
    return found
