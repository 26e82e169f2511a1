"""Draws of the final error F_T (e2) of a learner that follows a route, in both regimes.

`direct` draws all features and all noise, and trains. `low_dimensional` draws from the same distribution without
building anything of size m or n. With Gaussian features, a batch moves the model within an n-dimensional subspace of
R^m that is uniformly distributed. Let u point from the model to the region's true model.

- The step towards the truth is the projection of u onto that subspace. Its length along u is b·|u| with
  b ~ Beta(n/2, (m-n)/2); the remainder, of length sqrt(b(1-b))·|u|, has a uniform direction orthogonal to u.
- The step from noise also lies in the subspace, in a uniform direction, with squared length σ²·χ²_n/χ²_{m-n+1}: one
  part along the first step, the remainder in a uniform direction orthogonal to both u and the first step.

Two such directions, each orthogonal to the vectors already known, therefore suffice for the whole batch. Only their
coordinates in the span of all true models matter (at most T), and one coordinate for the model's distance from that
span. This takes O(T) numbers per step, whatever m and n are, and imposes no condition on n or m - n. It is the
matrix-variate Beta recursion in which only one column of the matrices is drawn. A region with more samples than
features erases everything before it: the result is its true model plus noise in a uniform direction. In the under
regime only the last region matters.

This is the paper's learner. A regularised learner (`krylov`) moves the model along u and in one direction orthogonal to
it.

The models of a fleet train on separate batches. Outside of the span of the true models, each of them has a uniform
direction, independent of the others. Averages therefore need only the angles between these directions, which are drawn
once, when the models are averaged (`served_errors`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from learnroute.learning.krylov import move, trainings_of
from learnroute.model.instance import Service
from learnroute.model.learners import Gradient, Learner, LeastSquares, Proximal
from learnroute.model.routes import UNTRAINED
from learnroute.model.validation import FloatArray, IntArray


class Frame(NamedTuple):
    """Coordinates of the true models of all regions, relative to the initial model.

    Attributes
    ----------
    models
        One row per region.
    outside
        The number of dimensions outside of the span of the true models, if the last coordinate of a model is its
        distance from that span. 0 if the last coordinate has no special meaning.
    """

    models: FloatArray
    outside: int = 0

    @classmethod
    def whole(cls, models: FloatArray, features: int) -> Frame:
        """Return all m coordinates of true models."""
        return cls(_pad_rows(models, features))

    @classmethod
    def span_coordinates(cls, models: FloatArray, features: int) -> Frame:
        """Return the coordinates of true models in their span, and one for the distance from it, if needed."""
        inside = span_coordinates(models)
        width = inside.shape[1]
        return cls(_pad_rows(inside, min(width + 1, features)), features - width)


# (true models; visits; learner; samples of each visit; runs; rng) -> the trained model of each run, in the same frame
Trainer = Callable[[Frame, IntArray, Learner, IntArray, int, np.random.Generator], FloatArray]

# (true models of all regions, relative to the initial model; visits; learner; samples per visit; runs; rng; weights of
# the regions in the mean error) -> final error of each run
Sampler = Callable[[FloatArray, IntArray, Learner, IntArray, int, np.random.Generator, FloatArray], FloatArray]


def low_dimensional(
    models: FloatArray, visits: IntArray, learner: Learner, samples: IntArray, runs: int, rng: np.random.Generator,
    weights: FloatArray,
) -> FloatArray:  # fmt: skip
    """Draw final errors at a cost that does not depend on m and n."""
    last = trainings_of(learner, len(visits))[-1]
    sample = _under if isinstance(last, LeastSquares) and samples[-1] > learner.features else _over
    return sample(models, visits, learner, samples, runs, rng, weights)


def direct(
    models: FloatArray, visits: IntArray, learner: Learner, samples: IntArray, runs: int, rng: np.random.Generator,
    weights: FloatArray,
) -> FloatArray:  # fmt: skip
    """Draw final errors by drawing X and z and training on them, as a slow and obvious reference.

    Normal equations are accurate enough for Gaussian features, and fastest.
    """
    known = Frame.whole(models, learner.features)
    model = train_directly(known, visits, learner, samples, runs, rng)
    errors = np.zeros(runs)
    for target, weight in zip(known.models, weights.tolist(), strict=True):
        errors += weight * np.sum((model - target) ** 2, axis=1)
    return errors / len(models)


def train_directly(
    known: Frame, visits: IntArray, learner: Learner, samples: IntArray, runs: int, rng: np.random.Generator
) -> FloatArray:
    """Draw X and z of each visit and train on them, in all m coordinates."""
    m = learner.features
    model: FloatArray = np.zeros((runs, m))
    trainings = trainings_of(learner, len(visits))
    for target, n, training in zip(known.models[visits], samples.tolist(), trainings, strict=True):
        x = rng.standard_normal((runs, n, m))
        y = x @ target + learner.noise * rng.standard_normal((runs, n))
        missing = y[:, :, None] - x @ model[:, :, None]
        if isinstance(training, Gradient):  # the steps are linear in their gradients or, if n < m, in the residuals
            square, left = (x @ x.mT, missing) if n < m else (x.mT @ x, x.mT @ missing)
            square, total = training.rate / n * square, np.zeros_like(left)
            for _ in range(training.steps):
                total += left
                left = left - square @ left
            model = model + training.rate / n * (x.mT @ total if n < m else total)[:, :, 0]
            continue
        if not isinstance(training, LeastSquares | Proximal):
            values, vectors = np.linalg.eigh(x.mT @ x / n)
            values = np.maximum(values, 1e-300)
            learnt = (training.shares(values)[1] / values)[:, :, None]
            model = model + (vectors @ (learnt * (vectors.mT @ (x.mT @ missing / n))))[:, :, 0]
            continue
        strength = training.fixed_regularization[0] if isinstance(training, Proximal) else 0.0
        if n > m:  # (e5), and its regularised form
            matrix = x.mT @ x + n * strength * np.eye(m)
            model = model + np.linalg.solve(matrix, x.mT @ missing)[:, :, 0]
        else:  # (e11), and its regularised form
            matrix = x @ x.mT + n * strength * np.eye(n)
            model = model + (x.mT @ np.linalg.solve(matrix, missing))[:, :, 0]
    return model


def _pad_rows(rows: FloatArray, width: int) -> FloatArray:
    """Append zeros to each row."""
    wide = np.zeros((len(rows), width))
    wide[:, : rows.shape[1]] = rows
    return wide


def served_errors(
    known: Frame, trained: Sequence[FloatArray], service: Service, rng: np.random.Generator, weights: FloatArray
) -> FloatArray:
    """Return the mean error over all regions of the models that serve them, in each run.

    Parameters
    ----------
    known, trained
        The true models, and the trained models, each for all runs.
    service
        The weights of the average of all models, or the model of each region.
    rng, weights
        Random number generator for angles between models, and weight of each region in the mean.
    """
    served = np.zeros(len(known.models), dtype=np.int64) if service.served_by is None else service.served_by
    if service.weights is not None:
        trained = [_average(trained, service.weights, known.outside, rng)]
    errors = np.zeros(len(trained[0]))
    for target, model, weight in zip(known.models, served.tolist(), weights.tolist(), strict=True):
        gap = target[None, :] if model == UNTRAINED else trained[model] - target
        errors += weight * np.sum(gap**2, axis=1)
    return errors / len(known.models)


def _average(trained: Sequence[FloatArray], shares: FloatArray, outside: int, rng: np.random.Generator) -> FloatArray:
    """Average models; the direction of each model outside of the span is drawn."""
    average = np.zeros_like(trained[0])
    for share, model in zip(shares.tolist(), trained, strict=True):
        length, other = average[:, -1].copy(), share * model[:, -1]
        average += share * model
        if outside:
            angle = _cosine(outside, len(other), rng)
            average[:, -1] = np.sqrt(np.maximum(length**2 + other**2 + 2 * length * other * angle, 0.0))
    return average


def span_coordinates(models: FloatArray) -> FloatArray:
    """Return the coordinates of the rows in their span, with as few dimensions as possible (at least 1)."""
    left, singular, _ = np.linalg.svd(models, full_matrices=False)
    rank = max(1, int(np.sum(singular > 1e-13 * singular[0])))
    coordinates: FloatArray = left[:, :rank] * singular[:rank]
    return coordinates


def _under(
    models: FloatArray, visits: IntArray, learner: Learner, samples: IntArray, runs: int, rng: np.random.Generator,
    weights: FloatArray,
) -> FloatArray:  # fmt: skip
    """Draw final errors from |w_T - w*_T|² ~ σ²·χ²_m/χ²_{n-m+1} with a uniform direction."""
    m = learner.features
    length = _least_squares_error(learner, int(samples[-1]), runs, rng)
    along = length * _cosine(m, runs, rng)  # towards the weighted mean of all models
    differences = models[visits[-1]] - models
    spread = float(np.mean(weights * np.sum(differences**2, axis=1)))
    off_mean = float(np.linalg.norm((weights[:, None] * differences).mean(axis=0)))
    return spread + 2 * off_mean * along + length**2


def _least_squares_error(learner: Learner, n: int, runs: int, rng: np.random.Generator) -> FloatArray:
    """Draw |w - w*| after least squares on n > m samples."""
    m = learner.features
    return np.asarray(learner.noise * np.sqrt(_chi2(m, runs, rng) / _chi2(n - m + 1, runs, rng)))


def _over(
    models: FloatArray, visits: IntArray, learner: Learner, samples: IntArray, runs: int, rng: np.random.Generator,
    weights: FloatArray,
) -> FloatArray:  # fmt: skip
    known = Frame.span_coordinates(models, learner.features)
    model, targets = train_in_span(known, visits, learner, samples, runs, rng), known.models
    middle = (weights[:, None] * targets).mean(axis=0)
    spread = float(np.mean(weights * np.sum((targets - middle) ** 2, axis=1)))
    errors: FloatArray = spread + np.sum((model - middle) ** 2, axis=1)
    return errors


def train_in_span(
    known: Frame, visits: IntArray, learner: Learner, samples: IntArray, runs: int, rng: np.random.Generator
) -> FloatArray:
    """Draw the kept coordinates of the models after each visit."""
    m, inside = learner.features, known.models.shape[1]
    model = np.zeros((runs, inside))
    trainings = trainings_of(learner, len(visits))
    wiped = np.flatnonzero((samples > m) & np.array([isinstance(training, LeastSquares) for training in trainings]))
    begin = int(wiped[-1]) if wiped.size else -1
    for k in range(max(begin, 0), len(visits)):
        target = known.models[visits[k]]
        if k == begin:
            error = _least_squares_error(learner, int(samples[k]), runs, rng)
            direction, rest = rng.standard_normal((runs, inside)), _chi2(m - inside, runs, rng)
            scale = error / np.sqrt(np.sum(direction**2, axis=1) + rest)
            step, outside = target + scale[:, None] * direction, scale**2 * rest
        elif isinstance(trainings[k], LeastSquares):
            step, outside = _batch(target - model, m, int(samples[k]), learner.noise, rng)
        else:
            step, outside = _regularised_batch(target - model, m, int(samples[k]), learner.noise, rng, trainings[k])
        model += step
        if known.outside:
            model[:, -1] = np.sqrt(model[:, -1] ** 2 + outside)
    return model


def _regularised_batch(
    gap: FloatArray, m: int, n: int, noise: float, rng: np.random.Generator, training: Learner
) -> tuple[FloatArray, FloatArray]:
    """Return the step of each model, as `_batch` does: one part along u, one in a uniform direction orthogonal to u."""
    runs, k = gap.shape
    distance, unit = _unit(gap)
    along, across = move(training, distance, m, n, noise, rng)
    theta = _orthogonal_part(rng.standard_normal((runs, k)), unit)
    rest = _chi2(m - k, runs, rng)
    length = np.sqrt(np.sum(theta**2, axis=1) + rest)
    scale = np.divide(across, length, out=np.zeros(runs), where=length > 0)  # one feature has no orthogonal direction
    return along[:, None] * unit + scale[:, None] * theta, scale**2 * rest


def _unit(gap: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the length of each row, and its direction."""
    distance: FloatArray = np.linalg.norm(gap, axis=1)
    unit = np.zeros_like(gap)
    unit[:, 0] = 1.0  # any direction will do if there is no gap
    np.divide(gap, distance[:, None], out=unit, where=distance[:, None] > 0)
    return distance, unit


def _batch(gap: FloatArray, m: int, n: int, noise: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the step of each model for one batch: kept coordinates, and squared length outside of them.

    `gap` is u, one row per run, in the k kept coordinates. h is the direction of the first step outside of them.
    """
    runs, k = gap.shape
    distance, unit = _unit(gap)

    # b from two chi-squares; θ orthogonal to u: θ_in in kept coordinates, θ_h along h
    fitted, left = _chi2(n, runs, rng), _chi2(m - n, runs, rng)
    share = fitted / (fitted + left)
    theta = _orthogonal_part(rng.standard_normal((runs, k)), unit)
    theta_h = np.sqrt(_chi2(m - k, runs, rng))
    length = np.sqrt(np.sum(theta**2, axis=1) + theta_h**2)
    theta, theta_h = theta / length[:, None], theta_h / length
    along = np.sqrt(share)[:, None] * unit + np.sqrt(1 - share)[:, None] * theta  # direction of the first step
    along_h = np.sqrt(1 - share) * theta_h
    reach = distance * np.sqrt(share)
    if noise == 0:
        return reach[:, None] * along, (reach * along_h) ** 2

    # η orthogonal to u and θ: η_in in kept coordinates, η_h along h, η_rest elsewhere (squared)
    eta = _orthogonal_part(rng.standard_normal((runs, k)), unit)
    eta_h = rng.standard_normal(runs) if m > k else np.zeros(runs)
    overlap = np.sum(eta * theta, axis=1) + eta_h * theta_h
    eta, eta_h = eta - overlap[:, None] * theta, eta_h - overlap * theta_h
    eta_rest = _chi2(max(m - k - 1, 0), runs, rng)
    length = np.sqrt(np.sum(eta**2, axis=1) + eta_h**2 + eta_rest)

    size = noise * np.sqrt(_chi2(n, runs, rng) / _chi2(m - n + 1, runs, rng))
    cosine = _cosine(n, runs, rng)
    reach = reach + size * cosine
    aside = size * np.sqrt(1 - cosine**2) / length
    step = reach[:, None] * along + aside[:, None] * eta
    return step, (reach * along_h + aside * eta_h) ** 2 + aside**2 * eta_rest


def _orthogonal_part(vectors: FloatArray, unit: FloatArray) -> FloatArray:
    """Remove from each row its part along a unit vector."""
    rest: FloatArray = vectors - np.sum(vectors * unit, axis=1)[:, None] * unit
    return rest


def _chi2(degrees: int, runs: int, rng: np.random.Generator) -> FloatArray:
    """Draw chi-square variables; 0 for no degrees of freedom."""
    return 2.0 * rng.standard_gamma(degrees / 2, runs)


def _cosine(dimension: int, runs: int, rng: np.random.Generator) -> FloatArray:
    """Draw one coordinate of a uniform direction in `dimension` dimensions."""
    normal = rng.standard_normal(runs)
    cosine: FloatArray = normal / np.sqrt(normal**2 + _chi2(dimension - 1, runs, rng))
    return cosine
