"""Draws of the final error F_T (e2) of a learner that follows a route, in both regimes.

`direct` makes every matrix of features and every noise, and trains. `low_dimensional` draws from the same law
without ever making anything of size m or n. With Gaussian features, a batch moves the model through a random
n-dimensional subspace of R^m, all of them equally likely. Let u point from the model to the region's true model.

- The step towards the truth is the projection of u onto that subspace. Its length along u is b·|u| with
  b ~ Beta(n/2, (m-n)/2); the rest of it, sqrt(b(1-b))·|u| long, points anywhere across u.
- The step from noise lies in the subspace too, anywhere in it, with squared length σ²·χ²_n/χ²_{m-n+1}: one part
  along the first step, the rest anywhere across both u and the first step.

So two directions drawn across what is known already do for the whole batch. Only their coordinates in the span of
all true models matter (at most T), with one coordinate for how far outside of it the model is: O(T) numbers a step,
whatever m and n are, and no condition on n or m - n. It is the matrix-variate Beta recursion with all but one column
of its matrices left undrawn. A region with more samples than features wipes out all before it: nothing is left but its
true model and its noise, in any direction. In the under regime that is the last region.

That is the paper's learner. A regularised one (`krylov`) moves the model along u and in one direction across it.

The models of a fleet train on batches of their own. Outside of the span of the true models, each of them points in a
direction that is equally likely to be any, whatever the others do; so averages need the angles between these directions
alone, which are drawn once, when the models are averaged (`served_errors`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from learnroute.learning.krylov import move, trainings_of
from learnroute.model.fleet_objective import UNTRAINED, Service
from learnroute.model.learners import Gradient, Learner, LeastSquares, Proximal
from learnroute.model.validation import FloatArray, IntArray


class Frame(NamedTuple):
    """Coordinates of the true models of all regions, seen from the first model.

    Attributes
    ----------
    models
        One row per region.
    outside
        Where the last coordinate of a model is its distance from the span of the true models: how many dimensions there
        are outside of that span. 0 where all coordinates are alike.
    """

    models: FloatArray
    outside: int = 0

    @classmethod
    def whole(cls, models: FloatArray, features: int) -> Frame:
        """Return all m coordinates of true models."""
        return cls(_pad_rows(models, features))

    @classmethod
    def span_coordinates(cls, models: FloatArray, features: int) -> Frame:
        """Return as few coordinates of true models as their span needs, and one for the distance from it, if any."""
        inside = span_coordinates(models)
        width = inside.shape[1]
        return cls(_pad_rows(inside, min(width + 1, features)), features - width)


# (true models; visits; learner; samples of each visit; runs; rng) -> the trained model of each run, in the same frame
Trainer = Callable[[Frame, IntArray, Learner, IntArray, int, np.random.Generator], FloatArray]

# (true models of all regions, seen from the first model; visits; learner; samples of each visit; runs; rng; weights of
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
    """Draw final errors by drawing X and z and training on them: the slow and obvious reference.

    Normal equations do for Gaussian features, and are the fastest way to be slow.
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
        if isinstance(training, Gradient):
            for _ in range(training.steps):
                model = model + training.rate / n * (x.mT @ missing)[:, :, 0]
                missing = y[:, :, None] - x @ model[:, :, None]
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
    """Put zeros behind each row."""
    wide = np.zeros((len(rows), width))
    wide[:, : rows.shape[1]] = rows
    return wide


def served_errors(
    known: Frame, trained: Sequence[FloatArray], service: Service, rng: np.random.Generator, weights: FloatArray
) -> FloatArray:
    """Return the mean error over all regions in each run, of the models that serve them.

    Parameters
    ----------
    known, trained
        The true models, and those that were trained, each for all runs.
    service
        The weights of the average of all models, or the model of each region.
    rng, weights
        Where angles between models come from, and how much each region counts in the mean.
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
    """Average models; those outside of the span point in directions that are drawn for each."""
    average = np.zeros_like(trained[0])
    for share, model in zip(shares.tolist(), trained, strict=True):
        length, other = average[:, -1].copy(), share * model[:, -1]
        average += share * model
        if outside:
            angle = _cosine(outside, len(other), rng)
            average[:, -1] = np.sqrt(np.maximum(length**2 + other**2 + 2 * length * other * angle, 0.0))
    return average


def span_coordinates(models: FloatArray) -> FloatArray:
    """Return the coordinates of the rows in their own span, in as few dimensions as they need (at least 1)."""
    left, singular, _ = np.linalg.svd(models, full_matrices=False)
    rank = max(1, int(np.sum(singular > 1e-13 * singular[0])))
    coordinates: FloatArray = left[:, :rank] * singular[:rank]
    return coordinates


def _under(
    models: FloatArray, visits: IntArray, learner: Learner, samples: IntArray, runs: int, rng: np.random.Generator,
    weights: FloatArray,
) -> FloatArray:  # fmt: skip
    """|w_T - w*_T|² ~ σ²·χ²_m/χ²_{n-m+1}, in any direction; the rest is geometry."""
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
    """Draw what each visit makes of the coordinates that are kept."""
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
    """Return what one batch adds to each model, as `_batch` does: one part along u, one in any direction across it."""
    runs, k = gap.shape
    distance, unit = _unit(gap)
    along, across = move(training, distance, m, n, noise, rng)
    theta = _across(rng.standard_normal((runs, k)), unit)
    rest = _chi2(m - k, runs, rng)
    length = np.sqrt(np.sum(theta**2, axis=1) + rest)
    scale = np.divide(across, length, out=np.zeros(runs), where=length > 0)  # with one feature there is no across
    return along[:, None] * unit + scale[:, None] * theta, scale**2 * rest


def _unit(gap: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the length of each row, and its direction."""
    distance: FloatArray = np.linalg.norm(gap, axis=1)
    unit = np.zeros_like(gap)
    unit[:, 0] = 1.0  # any direction does where there is no gap
    np.divide(gap, distance[:, None], out=unit, where=distance[:, None] > 0)
    return distance, unit


def _batch(gap: FloatArray, m: int, n: int, noise: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return what one batch adds to each model: kept coordinates, and squared length outside of them.

    `gap` is u, one row a run, in the k kept coordinates. h is the direction of the first step outside of them.
    """
    runs, k = gap.shape
    distance, unit = _unit(gap)

    # b from two chi-squares; θ across u: θ_in in kept coordinates, θ_h along h
    fitted, left = _chi2(n, runs, rng), _chi2(m - n, runs, rng)
    share = fitted / (fitted + left)
    theta = _across(rng.standard_normal((runs, k)), unit)
    theta_h = np.sqrt(_chi2(m - k, runs, rng))
    length = np.sqrt(np.sum(theta**2, axis=1) + theta_h**2)
    theta, theta_h = theta / length[:, None], theta_h / length
    along = np.sqrt(share)[:, None] * unit + np.sqrt(1 - share)[:, None] * theta  # direction of the first step
    along_h = np.sqrt(1 - share) * theta_h
    reach = distance * np.sqrt(share)
    if noise == 0:
        return reach[:, None] * along, (reach * along_h) ** 2

    # η across u and θ: η_in in kept coordinates, η_h along h, η_rest elsewhere (squared)
    eta = _across(rng.standard_normal((runs, k)), unit)
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


def _across(vectors: FloatArray, unit: FloatArray) -> FloatArray:
    """Take out of each row its part along a unit vector."""
    rest: FloatArray = vectors - np.sum(vectors * unit, axis=1)[:, None] * unit
    return rest


def _chi2(degrees: int, runs: int, rng: np.random.Generator) -> FloatArray:
    """Chi-squares, 0 for no degree of freedom."""
    return 2.0 * rng.standard_gamma(degrees / 2, runs)


def _cosine(dimension: int, runs: int, rng: np.random.Generator) -> FloatArray:
    """One coordinate of a direction drawn evenly in that many dimensions."""
    normal = rng.standard_normal(runs)
    cosine: FloatArray = normal / np.sqrt(normal**2 + _chi2(dimension - 1, runs, rng))
    return cosine
