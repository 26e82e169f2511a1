"""One batch of a regularised learner, drawn from its distribution without a matrix of features.

Let u point from the model to the region's true model, and let z be the noise of the n samples. A rotation-invariant
rule (proximal, gradient) moves the model by a vector whose direction orthogonal to u is uniformly distributed.
Therefore only two lengths need to be drawn, along u and orthogonal to u.

They depend on the m x n matrix X of features through few numbers. Rotate the rows of X so that u becomes the first axis
of R^m, and its columns so that z becomes the first axis of R^n. Then, by reflections that keep these two axes, bring X
to tridiagonal form (the random-matrix models of Trotter, and of Dumitriu and Edelman). For Gaussian features the
entries are then independent: the diagonal is normal, the entries below it are chi variables with m - 1, m - 2, …
degrees of freedom, and those above it with n - 1, n - 2, … degrees of freedom. Both rules work in the Krylov space of u
and Xz, which the leading axes span. Only as many axes are drawn as the rule needs for ten digits, whatever m and n are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.model.learners import Gradient, Learner, LeastSquares, Proximal
from learnroute.model.spectrum import largest_rate, smallest_eigenvalue
from learnroute.model.validation import FloatArray

DIGITS = 10  # accuracy of the rule in the Krylov space
FEW_RUNS = 8  # up to this number of runs, plain numbers are faster than arrays


def trainings_of(learner: Learner, visits: int) -> tuple[Learner, ...]:
    """Return the learner of each visit: least squares at visits with λ = 0."""
    return tuple(learner.at(position) for position in range(visits))


@dataclass(frozen=True)
class _Tridiagonal:
    """The leading part of X, one column per run; entry i of each band is in row i of X (from 0)."""

    below: FloatArray  # X[i, i - 1]
    diagonal: FloatArray
    above: FloatArray  # X[i, i + 1]

    def gram(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the diagonal of XX', and the two bands above it."""
        below, diagonal, above = self.below, self.diagonal, self.above
        first = diagonal[:-1] * below[1:] + above[:-1] * diagonal[1:]
        return below**2 + diagonal**2 + above**2, first, above[:-2] * below[2:]

    def after(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return X·r for an r with only two nonzero entries."""
        product = np.zeros_like(self.diagonal)
        product[0] = self.diagonal[0] * first + self.above[0] * second
        product[1:2] = self.below[1:2] * first + self.diagonal[1:2] * second
        product[2:3] = self.below[2:3] * second
        return product


def move(
    rule: Learner, gap: FloatArray, m: int, n: int, noise: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw how far one batch moves each model along its gap and orthogonal to it.

    Parameters
    ----------
    rule
        The learning rule, other than least squares.
    gap
        Distance between model and true model, one per run.
    m, n, noise
        Number of features, number of samples, and standard deviation σ of the noise.
    rng
        Random number generator.
    """
    size = dimension(rule, m, n)
    x = _draw(size, m, n, len(gap), rng)
    length = noise * np.sqrt(2 * rng.standard_gamma(n / 2, len(gap))) if noise else 0.0
    missing = x.after(gap * x.diagonal[0] + length, gap * x.above[0]) / n  # X(X'u + z)/n
    bands = [band / n for band in x.gram()]
    if isinstance(rule, Proximal):
        found = _solve(bands[0] + rule.fixed_regularization[0], bands[1], bands[2], missing)
    elif isinstance(rule, Gradient) and not _use_eigenvalues(rule, size):
        found = _by_steps(bands, missing, rule)
    else:
        found = _by_eigenvalues(bands, missing, rule)
    along = found[0]
    across: FloatArray = np.sqrt(np.sum(found[1:] ** 2, axis=0))
    return along, across


def dimension(rule: Learner, m: int, n: int) -> int:
    """Return how many leading axes the rule needs: two for each power of XX', at most all axes."""
    whole = min(m, n + 1)
    tolerance = math.log(2 * 10.0**DIGITS)
    if isinstance(rule, Gradient):
        powers = min(rule.steps, math.sqrt(2 * rule.steps * tolerance))  # x^k on [-1, 1] by a polynomial
        return min(whole, 2 * math.ceil(powers) + 2)
    if not isinstance(rule, Proximal):
        return whole
    (strength,) = rule.fixed_regularization
    root = math.sqrt((2 / largest_rate(m, n) + strength) / (smallest_eigenvalue(m, n) + strength))
    powers = tolerance / math.log1p(2 / (root - 1)) if root > 1 else 1.0  # conjugate gradients
    return min(whole, 2 * math.ceil(powers) + 2) if 2 * powers < whole else whole


def numbers_per_run(rule: Learner, m: int, n: int) -> int:
    """Return approximately how many numbers are kept in memory per run; the paper's learner needs no axes."""
    if isinstance(rule, LeastSquares):
        return 0
    size = dimension(rule, m, n)
    banded = isinstance(rule, Proximal) or (isinstance(rule, Gradient) and not _use_eigenvalues(rule, size))
    return 8 * size if banded else size**2


def _use_eigenvalues(rule: Gradient, size: int) -> bool:
    """Return whether computing eigenvalues is cheaper than iterating the steps."""
    return rule.steps > size**2 / 20 + 10 * size


def _draw(size: int, m: int, n: int, runs: int, rng: np.random.Generator) -> _Tridiagonal:
    index = np.arange(size)
    degrees = [np.where(index > 0, m - index, 0), np.maximum(n - 1 - index, 0)]
    below, above = (np.sqrt(2 * rng.standard_gamma(d[:, None] / 2, (size, runs))) for d in degrees)
    diagonal = rng.standard_normal((size, runs))
    diagonal[n:] = 0.0  # there are n columns
    below[n + 1 :] = 0.0
    return _Tridiagonal(below, diagonal, above)


def _solve(diagonal: FloatArray, first: FloatArray, second: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a positive definite pentadiagonal system for each run."""
    size, runs = right.shape
    bands = [
        diagonal,
        np.vstack([first, np.zeros((1, runs))]),
        np.vstack([second, np.zeros((min(size, 2), runs))]),
        right,
    ]
    if runs > FEW_RUNS:
        return np.array(_eliminate(*(list(band) for band in bands)))
    columns = [_eliminate(*(band[:, run].tolist() for band in bands)) for run in range(runs)]  # plain numbers
    return np.array(columns).T


def _eliminate(diagonal: list[Any], first: list[Any], second: list[Any], right: list[Any]) -> list[Any]:
    """Solve by LDL' factorisation, row by row; entries are numbers, or arrays with one number per run."""
    pivots: list[Any] = []
    near: list[Any] = []
    far: list[Any] = []
    solution: list[Any] = []
    for i in range(len(right)):
        pivot, coupling, value = diagonal[i], first[i], right[i]
        if i >= 1:
            weighted = near[i - 1] * pivots[i - 1]
            pivot = pivot - near[i - 1] * weighted
            coupling = coupling - far[i - 1] * weighted
            value = value - near[i - 1] * solution[i - 1]
        if i >= 2:
            pivot = pivot - far[i - 2] * far[i - 2] * pivots[i - 2]
            value = value - far[i - 2] * solution[i - 2]
        pivots.append(pivot)
        near.append(coupling / pivot)
        far.append(second[i] / pivot)
        solution.append(value)
    solution = [value / pivot for value, pivot in zip(solution, pivots, strict=True)]
    for i in range(len(right) - 2, -1, -1):
        value = solution[i] - near[i] * solution[i + 1]
        solution[i] = value - far[i] * solution[i + 2] if i + 2 < len(right) else value
    return solution


def _by_steps(bands: list[FloatArray], missing: FloatArray, rule: Gradient) -> FloatArray:
    """Apply the gradient steps one by one."""
    diagonal, first, second = bands
    moved = np.zeros_like(missing)
    for _ in range(rule.steps):
        slope = missing - diagonal * moved
        slope[:-1] -= first * moved[1:]
        slope[1:] -= first * moved[:-1]
        slope[:-2] -= second * moved[2:]
        slope[2:] -= second * moved[:-2]
        moved += rule.rate * slope
    return moved


def _by_eigenvalues(bands: list[FloatArray], missing: FloatArray, rule: Learner) -> FloatArray:
    """Apply the rule to each eigenvalue x, as the factor (1 - P)/x."""
    size, runs = missing.shape
    matrix = np.zeros((runs, size, size))
    for offset, band in enumerate(bands):
        index = np.arange(size - offset)
        matrix[:, index, index + offset] = matrix[:, index + offset, index] = band.T
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 1e-300)
    _, learnt = rule.shares(values)
    inside = np.einsum("rji,jr->ri", vectors, missing) * learnt / values
    return np.asarray(np.einsum("rij,rj->ir", vectors, inside))
