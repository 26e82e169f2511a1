"""The simulation of regularised learners: against direct sampling, the law of two numbers, and plain linear algebra."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ks_2samp

from learnroute import Gradient, Learner, Problem, Proximal, expected_loss, true_loss
from learnroute.learning import krylov, simulate
from learnroute.learning.krylov import dimension, move
from learnroute.learning.samplers import direct, low_dimensional
from learnroute.model.spectrum import Moments, largest_rate, proximal_moments
from learnroute.model.validation import FloatArray
from samples import gradient_moments

Shape = tuple[int, int]


MANY = 10**9  # samples: with fewer, not every rate is safe in general; the samplers are told other numbers


def proximal(strength: float) -> Proximal:
    return Proximal(1, MANY, regularization=strength)


def gradient(steps: int, rate: float) -> Gradient:
    return Gradient(1, MANY, steps=steps, rate=rate)


def learner_of(m: int, noise: float, training: Learner) -> Learner:
    return replace(training, features=m, samples=MANY * m, noise=noise)


def moments_of(rule: Learner, m: int, n: int) -> Moments:
    if isinstance(rule, Proximal):
        return proximal_moments(m, n, rule.fixed_regularization[0])
    return gradient_moments(m, n, rule.steps, rule.rate)


def recursion(models: FloatArray, m: int, samples: Sequence[int], noise: float, rules: Sequence[Learner]) -> float:
    """e_j ← p1·e_j - q·e_k + (1 - p1)·Δ[k, j] + ν, from the initial model at 0."""
    delta = np.sum((models[:, None] - models[None]) ** 2, axis=2)
    errors = np.sum(models**2, axis=1)
    for k, (rule, n) in enumerate(zip(rules, samples, strict=True)):
        p = moments_of(rule, m, n)
        errors = p.retention * errors - p.coupling * errors[k] + p.plasticity * delta[k] + noise**2 * p.noise
    return float(errors.mean())


def rules_for(m: int, n: int) -> list[Learner]:
    rate = largest_rate(m, n)
    return [
        proximal(0.02), proximal(0.5), proximal(8.0), gradient(1, rate / 3), gradient(6, rate / 2),
        gradient(60, 0.95 * rate), gradient(1000, rate / 8),
    ]  # fmt: skip


SHAPES: list[Shape] = [(1, 1), (3, 1), (1, 4), (2, 2), (3, 9), (9, 3), (10, 10), (11, 10), (10, 11), (40, 25)]


def test_mean_follows_the_law_with_two_numbers() -> None:
    """Over a grid of m, n, λ, k and σ: no cell is off by 4 standard errors, and 19 of 20 are within 2."""
    found = []
    for (m, n), noise in itertools.product([*SHAPES, (300, 400), (10**6, 10**5)], (0.0, 0.8)):
        models = np.random.default_rng(m + n).standard_normal((4, min(m, 3)))
        for rule in rules_for(m, n) if m < 40 else rules_for(m, n)[1:5]:
            runs = 3000 if m < 300 else 500
            errors = low_dimensional(
                models,
                np.arange(4),
                learner_of(m, noise, rule),
                np.full(4, n),
                runs,
                np.random.default_rng(5),
                np.ones(4),
            )
            expected = recursion(models, m, [n] * 4, noise, [rule] * 4)
            found.append((errors.mean() - expected) / (errors.std() / runs**0.5))
    deviations = np.abs(found)
    assert deviations.max() < 4
    assert np.mean(deviations < 2) > 0.9
    assert 0.7 < np.sqrt(np.mean(deviations**2)) < 1.3


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("noise", [0.0, 0.6])
def test_samplers_agree_in_law(shape: Shape, noise: float) -> None:
    m, n = shape
    models = np.random.default_rng(2).standard_normal((3, min(m, 4)))
    rng = np.random.default_rng(9)
    for rule in rules_for(m, n)[:6]:
        quick, slow = (
            sample(models, np.arange(3), learner_of(m, noise, rule), np.full(3, n), 3000, rng, np.ones(3))
            for sample in (low_dimensional, direct)
        )
        assert ks_2samp(quick, slow).pvalue > 1e-3, rule
        error = np.hypot(quick.std(), slow.std()) / 3000**0.5
        assert abs(quick.mean() - slow.mean()) < 4 * error, rule


@pytest.mark.parametrize("m", [2, 5, 12])
def test_strengths_and_samples_by_position(m: int) -> None:
    """λ = 0 is the paper's step between others, with more and with fewer samples than features."""
    samples = [m + 4, m, 1, m + 3, 2 * m]
    strengths = [0.0, 0.5, 3.0, 0.0, 2.0]
    if m > 4:
        samples[2], strengths[2] = m - 3, 0.0
    models = np.random.default_rng(3).standard_normal((5, m))
    for last in (5, 4):
        learner, rng = Proximal(m, 10**9, 0.4, regularization=tuple(strengths[:last])), np.random.default_rng(4)
        quick, slow = (
            sample(models[:last], np.arange(last), learner, np.array(samples[:last]), 6000, rng, np.ones(last))
            for sample in (low_dimensional, direct)
        )
        assert ks_2samp(quick, slow).pvalue > 1e-3
        if last == 5:
            expected = recursion(models, m, samples, 0.4, [proximal(strength) for strength in strengths])
            assert abs(quick.mean() - expected) < 4 * quick.std() / 6000**0.5


def test_no_regularisation_is_the_papers_learner() -> None:
    models = np.random.default_rng(3).standard_normal((3, 3))
    plain, named = (
        low_dimensional(models, np.arange(3), learner, np.array([4, 5, 3]), 50, np.random.default_rng(1), np.ones(3))
        for learner in (Learner(9, 5, 0.5), Proximal(9, 5, 0.5, regularization=0.0))
    )
    np.testing.assert_array_equal(plain, named)


def problem_of(learner: Learner, size: int = 5, samples: list[int] | None = None, width: int = 3) -> Problem:
    rng = np.random.default_rng(learner.features)
    truth = rng.standard_normal((size, width))
    return Problem(
        rng.uniform(1, 2, (size, size)) * (1 - np.eye(size)), learner, vectors=truth, truth=truth,
        initial_model=rng.standard_normal(width), samples=samples,
    )  # fmt: skip


LEARNERS = {
    "proximal, under": Proximal(4, 9, 0.5, regularization=0.3),
    "proximal, m = n": Proximal(8, 8, 0.5, regularization=0.3),
    "proximal, over": Proximal(30, 12, 0.5, regularization=1.5),
    "running mean": Proximal(4, 20, 0.5, regularization=(0.0, 1.0, 2.0, 3.0, 4.0)),
    "gradient": Gradient(6, 20, 0.5, steps=7, rate=0.2),
    "gradient, no noise": Gradient(20, 6, 0.0, steps=7, rate=0.05),
    "proximal, no noise": Proximal(4, 9, 0.0, regularization=0.3),
}


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())
@pytest.mark.parametrize("sampler", ["low-dimensional", "direct"])
def test_simulated_problems_come_to_their_true_loss(learner: Learner, sampler: str) -> None:
    problem = problem_of(learner)
    order = [3, 0, 4, 1, 2]
    found = simulate(problem, order, runs=4000, seed=3, sampler=sampler)
    assert found.expected == pytest.approx(true_loss(problem, order).error, rel=1e-12)
    assert found.deviation is not None
    assert abs(found.deviation) < 4
    assert found.standard_error > 0
    assert not [note for note in found.notes if "variance" in note]


def test_simulated_unequal_samples_come_to_their_true_loss() -> None:
    problem = problem_of(Proximal(6, 6, 0.4, regularization=0.5), samples=[2, 6, 7, 5, 30])
    found = simulate(problem, [4, 2, 0, 1, 3], runs=6000)
    assert found.deviation is not None
    assert abs(found.deviation) < 4


def test_initial_models_are_drawn_if_they_matter() -> None:
    """A regularised learner remembers its initial model even with more samples than features."""
    delta = np.array([[0.0, 2.0], [2.0, 0.0]])
    learner = Proximal(5, 20, 0.3, regularization=1.0)
    problem = Problem(1 - np.eye(2), learner, dissimilarity=delta, initial=[3.0, 2.5])
    found = simulate(problem, [0, 1], runs=4000)
    assert found.truth.met == 1
    assert found.expected == pytest.approx(expected_loss(problem, [0, 1]).error, rel=1e-6)
    assert found.deviation is not None
    assert abs(found.deviation) < 4


def test_least_squares_has_no_variance_near_m() -> None:
    found = simulate(problem_of(Proximal(4, 6, 0.5, regularization=(1.0, 0.0, 1.0, 1.0, 1.0))), range(5), runs=20)
    assert any("no finite variance" in note for note in found.notes)


@pytest.mark.parametrize("shape", [(10**5, 10**5), (10**6, 3), (3, 10**6), (10**5, 2 * 10**5)])
def test_one_step_of_a_large_learner_has_the_moments(shape: Shape) -> None:
    """E along = (1 - p1)·|u|, E |step|² = (1 - 2·p1 + p2)·|u|² + ν, where direct sampling cannot go."""
    m, n = shape
    noise, runs = 0.7, 4000
    for rule in (proximal(0.3), proximal(4.0), gradient(5, largest_rate(m, n) / 2)):
        along, across = move(rule, np.full(runs, 2.0), m, n, noise, np.random.default_rng(1))
        p = moments_of(rule, m, n)
        squares = along**2 + across**2
        expected = (p.plasticity - p.coupling) * 4 + noise**2 * p.noise
        assert abs(along.mean() - 2 * p.plasticity) < 4 * along.std() / runs**0.5 + 1e-6
        assert abs(squares.mean() - expected) < 4 * squares.std() / runs**0.5 + 1e-6


@pytest.mark.parametrize("shape", [(400, 300), (300, 400), (350, 350)])
def test_leading_axes_hold_all_that_matters(shape: Shape) -> None:
    """The leading part of a tridiagonal matrix gives the same as the whole matrix, to nine digits."""
    m, n = shape
    whole = min(m, n + 1)
    x = krylov._draw(whole, m, n, 3, np.random.default_rng(0))
    dense = np.zeros((3, whole, whole + 1))
    rows = np.arange(whole)
    dense[:, rows, rows], dense[:, rows, rows + 1] = x.diagonal.T, x.above.T
    dense[:, rows[1:], rows[:-1]] = x.below[1:].T
    right = np.zeros((3, whole + 1))
    right[:, 0], right[:, 1] = 2 * x.diagonal[0] + 5.0, 2 * x.above[0]
    for rule in (proximal(0.1), proximal(3.0), gradient(4, 0.3), gradient(400, 0.3)):
        values, vectors = np.linalg.eigh(dense @ dense.mT / n)
        assert isinstance(rule, Proximal | Gradient)
        if isinstance(rule, Proximal):
            shares = 1 / (values + rule.fixed_regularization[0])
        else:
            shares = (1 - (1 - rule.rate * values) ** rule.steps) / values
        missing = vectors.mT @ (dense @ right[:, :, None]) / n
        exact = (vectors @ (shares[:, :, None] * missing))[:, :, 0].T
        size = dimension(rule, m, n)
        assert size < whole
        part = krylov._Tridiagonal(x.below[:size], x.diagonal[:size], x.above[:size])
        bands = [band / n for band in part.gram()]
        start = part.after(2 * x.diagonal[0] + 5.0, 2 * x.above[0]) / n
        if isinstance(rule, Proximal):
            found = krylov._solve(bands[0] + rule.fixed_regularization[0], bands[1], bands[2], start)
        else:
            found = krylov._by_steps(bands, start, rule)
            np.testing.assert_allclose(krylov._by_eigenvalues(bands, start, rule), found, atol=1e-9)
        np.testing.assert_allclose(found, exact[:size], atol=1e-9 * np.abs(exact).max())
        assert np.linalg.norm(exact[size:]) < 1e-9 * np.linalg.norm(exact)


@pytest.mark.parametrize("runs", [1, 3, 20])
@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_banded_systems_are_solved(runs: int, size: int) -> None:
    rng = np.random.default_rng(size)
    roots = rng.standard_normal((runs, size, size)) * (np.abs(np.subtract.outer(np.arange(size), np.arange(size))) < 2)
    matrix = roots @ roots.mT + 0.1 * np.eye(size)
    right = rng.standard_normal((size, runs))
    bands = [np.array([np.diagonal(one, offset) for one in matrix]).T for offset in (0, 1, 2)]
    found = krylov._solve(bands[0], bands[1], bands[2], right)
    expected = np.linalg.solve(matrix, right.T[:, :, None])[:, :, 0].T
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
