"""Moments of sample covariances against draws, exact identities, known limits and integrals of chi-squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from learnroute import InputError
from learnroute.model.spectrum import Moments, largest_rate, proximal_moments
from learnroute.model.validation import FloatArray
from learnroute.model.wishart import LARGEST_EXACT, LARGEST_HARD_EDGE, _bulk, _edge, _exact, expected_spectrum
from samples import gradient_moments

FIELDS = ("retention", "second", "coupling", "plasticity", "noise")
SHAPES = [
    (1, 1), (1, 2), (1, 3), (2, 2), (2, 7), (3, 3), (3, 8), (4, 10), (7, 11), (1, 10**5), (2, 10**12), (50, 54),
    (100, 100), (101, 105), (100, 10**5), (299, 304), (300, 10**4), (301, 301), (302, 303), (302, 306), (301, 701),
    (302, 703), (301, 10**6), (5000, 5005), (10**5, 10**5), (10**5, 10**5 + 4), (10**5, 2 * 10**5), (10**6, 10**6 + 9),
    (10**6, 10**6 + 2000), (10**9, 10**9 + 5), (10**9, 10**12),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_exact_moments_of_a_wishart_matrix(rows: int, columns: int) -> None:
    """E tr W^k for k = 0, 1, 2, and for k = -1, -2 where they exist, are rational in N and M."""
    x, weights = expected_spectrum(rows, columns)
    apart = columns - rows
    assert weights.sum() == pytest.approx(rows, rel=1e-12)
    assert weights @ x == pytest.approx(rows * columns, rel=3e-6)
    assert weights @ x**2 == pytest.approx(rows * columns * (rows + columns + 1), rel=3e-6)
    if apart >= 2:
        assert weights @ (1 / x) == pytest.approx(rows / (apart - 1), rel=3e-6)
    if apart >= 4:
        expected = rows * (columns - 1) / (apart * (apart - 1) * (apart - 3))
        assert weights @ x**-2.0 == pytest.approx(expected, rel=3e-6)


@pytest.mark.parametrize("apart", [0, 1, 2, 5, 40, LARGEST_HARD_EDGE, LARGEST_HARD_EDGE + 1, 5000])
@pytest.mark.parametrize("rows", [LARGEST_EXACT + 1, LARGEST_EXACT + 2])
def test_edges_and_bulk_make_up_the_exact_density(rows: int, apart: int) -> None:
    """Two evaluations that share little: the sum over all Laguerre functions, and edges with a bulk between."""
    columns = rows + apart
    x, weights = _exact(rows, columns)
    parts = [_edge(rows, columns, True), _bulk(rows, columns), _edge(rows, columns, False)]
    places, shares = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    assert shares.sum() == pytest.approx(rows, rel=3e-6)
    assert weights.sum() == pytest.approx(rows, rel=1e-9)
    for strength in 10.0 ** np.arange(-10.0, 10.0):
        for power in (1, 2):
            exact = weights @ (strength / (x / columns + strength)) ** power
            assert shares @ (strength / (places / columns + strength)) ** power == pytest.approx(exact, rel=5e-6)
    for steps in (1, 2, 5, 30, 300):
        rate = largest_rate(rows, columns)
        exact = weights @ (1 - rate * x / columns) ** (2 * steps)
        assert shares @ (1 - rate * places / columns) ** (2 * steps) == pytest.approx(exact, rel=5e-6)


def draw_eigenvalues(m: int, n: int, runs: int) -> FloatArray:
    """All m eigenvalues of C in a number of draws."""
    rng = np.random.default_rng(m * 1000 + n)
    batches = np.array_split(np.arange(runs), max(1, runs * m * n // 10**6))
    found = []
    for batch in batches:
        x = rng.standard_normal((len(batch), m, n))
        found.append(np.linalg.eigvalsh(x @ x.mT / n) if m <= n else np.linalg.eigvalsh(x.mT @ x / n))
    values = np.concatenate(found)
    return np.concatenate([values, np.zeros((runs, m - values.shape[1]))], axis=1)


def estimate_moments(values: FloatArray, retained: FloatArray, n: int) -> dict[str, tuple[float, float]]:
    """Mean and standard error of each moment, from eigenvalues of C and of P."""
    learnt = 1 - retained
    noise = np.divide(learnt**2, values, out=np.zeros_like(values), where=values > 0)
    rows = {
        "retention": retained.mean(axis=1), "second": (retained**2).mean(axis=1),
        "coupling": (retained * learnt).mean(axis=1), "plasticity": learnt.mean(axis=1),
        "noise": noise.sum(axis=1) / n,
    }  # fmt: skip
    return {name: (float(row.mean()), float(row.std(ddof=1)) / len(row) ** 0.5) for name, row in rows.items()}


def agree(found: Moments, expected: dict[str, tuple[float, float]]) -> None:
    for name, (mean, error) in expected.items():
        assert error < max(3e-3 * abs(mean), 3e-5), name  # enough draws to see a relative error of some 1e-3
        assert abs(getattr(found, name) - mean) < 4.5 * error + 1e-7 * abs(mean), name


@pytest.mark.parametrize(("m", "n", "runs"), [
    (1, 1, 2_000_000), (1, 30, 200_000), (30, 1, 200_000), (2, 3, 1_000_000), (3, 2, 1_000_000), (5, 5, 400_000),
    (12, 8, 200_000), (8, 12, 200_000), (40, 40, 20_000), (40, 60, 10_000), (90, 80, 2_000),
])  # fmt: skip
@pytest.mark.slow
def test_moments_agree_with_draws(m: int, n: int, runs: int) -> None:
    values = draw_eigenvalues(m, n, runs)
    for strength in (0.03, 1.0, 20.0):
        agree(proximal_moments(m, n, strength), estimate_moments(values, strength / (values + strength), n))
    for steps in (1, 4, 50):
        rate = 0.45 * largest_rate(m, n)
        agree(gradient_moments(m, n, steps, rate), estimate_moments(values, (1 - rate * values) ** steps, n))


@pytest.mark.parametrize("samples", [1, 2, 5, 100])
@pytest.mark.parametrize("strength", [1e-8, 1e-3, 1.0, 1e3])
def test_one_feature_is_an_integral_over_a_chi_square(samples: int, strength: float) -> None:
    found = proximal_moments(1, samples, strength)
    middle = samples * np.array([strength, 1.0])

    def mean(of: Any) -> float:
        """In t = sqrt(x), where nothing is singular."""
        points = sorted(float(np.sqrt(p)) for p in middle if p < 200)
        value = integrate.quad(
            lambda t: of(t**2 / samples) * stats.chi.pdf(t, samples), 0, np.sqrt(samples) + 14, points=points,
            limit=2000, epsabs=0, epsrel=1e-9,
        )[0]  # fmt: skip
        return float(value)

    assert found.retention == pytest.approx(mean(lambda c: strength / (c + strength)), rel=1e-6)
    assert found.second == pytest.approx(mean(lambda c: (strength / (c + strength)) ** 2), rel=1e-6)
    assert found.coupling == pytest.approx(mean(lambda c: strength * c / (c + strength) ** 2), rel=1e-6)
    assert found.plasticity == pytest.approx(mean(lambda c: c / (c + strength)), rel=1e-6)
    assert found.noise == pytest.approx(mean(lambda c: c / (c + strength) ** 2) / samples, rel=1e-6)


@pytest.mark.parametrize(("m", "n"), [(20, 100), (100, 20), (5, 3), (3, 5), (10**5, 10**3), (10**3, 10**5), (600, 500)])
def test_no_regularisation_is_the_paper(m: int, n: int) -> None:
    found = proximal_moments(m, n, 0.0)
    r = max(0.0, 1 - n / m)
    assert (found.retention, found.second, found.coupling) == pytest.approx((r, r, 0.0))
    assert found.plasticity == pytest.approx(1 - r)
    noise = m / (n - m - 1) if n > m else n / (m - n - 1)
    assert found.noise == pytest.approx(noise)
    near = proximal_moments(m, n, 1e-12)
    assert near.noise == pytest.approx(noise, rel=1e-4)
    assert near.retention == pytest.approx(r, abs=1e-5)
    steps = gradient_moments(m, n, 10**6, largest_rate(m, n) / 2)
    if abs(m - n) > 10:
        assert steps.noise == pytest.approx(noise, rel=1e-3)
        assert steps.retention == pytest.approx(r, abs=1e-4)


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_undefined_middle_exists_only_at_lambda_0(n: int) -> None:
    for m in {max(1, n - 1), n, n + 1}:
        assert proximal_moments(m, n, 0.0).noise == np.inf
        assert np.isfinite(proximal_moments(m, n, 1e-9).noise)


def test_much_regularisation_keeps_the_model() -> None:
    for m, n in ((3, 7), (7, 3), (500, 500), (10**5, 10)):
        found = proximal_moments(m, n, np.inf)
        assert (found.retention, found.second, found.coupling, found.plasticity, found.noise) == (1, 1, 0, 0, 0)
        found = proximal_moments(m, n, 1e12)  # no digit is lost: E tr C = m, and tr (I - P) is tr C/λ
        assert found.plasticity == pytest.approx(1e-12, rel=1e-5)
        assert found.coupling == pytest.approx(1e-12, rel=1e-5)
        assert found.noise == pytest.approx(m / n * 1e-24, rel=1e-5)


def test_moments_are_monotone_in_the_regularisation() -> None:
    strengths = np.concatenate([[0.0], np.geomspace(1e-20, 1e20, 400), [np.inf]])
    for m, n in ((1, 1), (6, 6), (7, 30), (30, 7), (400, 400), (10**5, 10**5), (10**5, 10**5 + 3), (10**6, 10)):
        found = proximal_moments(m, n, strengths)
        assert np.asarray(found.retention).shape == strengths.shape
        for name, way in (("retention", 1), ("second", 1), ("plasticity", -1), ("noise", -1)):
            with np.errstate(invalid="ignore"):
                steps = way * np.diff(getattr(found, name)[1:])
            assert (steps >= -1e-9 * np.abs(getattr(found, name)[1:-1])).all(), name
        assert (np.asarray(found.coupling) >= 0).all()
        np.testing.assert_allclose(np.asarray(found.retention) + found.plasticity, 1, rtol=3e-6)
        np.testing.assert_allclose(found.retention, np.asarray(found.second) + found.coupling, rtol=1e-9)


def test_an_array_has_the_moments_of_its_entries() -> None:
    strengths = np.array([[0.0, 0.1], [3.0, np.inf]])
    found = proximal_moments(9, 11, strengths)
    for index, strength in np.ndenumerate(strengths):
        alone = proximal_moments(9, 11, strength)
        for name in FIELDS:
            assert getattr(found, name)[index] == pytest.approx(getattr(alone, name), rel=1e-12)
            assert isinstance(getattr(alone, name), float)


def test_gradient_steps() -> None:
    """One step: E tr C and E tr C² are known; tiny rates and many steps lose no digits."""
    for m, n in ((5, 9), (9, 5), (400, 700), (10**5, 10**4)):
        second = (m + n + 1) / n  # E tr C²/m
        found = gradient_moments(m, n, 1, 0.1)
        assert found.retention == pytest.approx(0.9, rel=1e-5)
        assert found.second == pytest.approx(1 - 0.2 + 0.01 * second, rel=1e-5)
        assert found.coupling == pytest.approx(0.1 - 0.01 * second, rel=1e-5, abs=1e-5)
        assert found.noise == pytest.approx(0.01 * m / n, rel=1e-5)
        small = gradient_moments(m, n, 3, 1e-12)
        assert small.plasticity == pytest.approx(3e-12, rel=1e-5)
        assert small.noise == pytest.approx(9e-24 * m / n, rel=1e-5)
        none = gradient_moments(m, n, 0, 0.1)
        assert (none.retention, none.second, none.coupling, none.noise) == pytest.approx((1, 1, 0, 0), abs=3e-6)
        many = gradient_moments(m, n, 10**6, largest_rate(m, n))
        assert all(np.isfinite(getattr(many, name)) for name in FIELDS)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 2), (2, 30), (30, 30), (200, 100)])
@pytest.mark.slow
def test_the_largest_rate_is_safe_and_not_far_from_the_limit(m: int, n: int) -> None:
    rate = largest_rate(m, n)
    assert (draw_eigenvalues(m, n, 500) * rate < 2).all()
    assert largest_rate(10**4 * m, 10**4 * n) == pytest.approx(2 / (1 + (m / n) ** 0.5) ** 2, rel=0.15)
    assert rate < 2 / (1 + (m / n) ** 0.5) ** 2


def test_spectra_are_made_once_and_cannot_be_changed() -> None:
    x, weights = expected_spectrum(77, 91)
    assert expected_spectrum(77, 91)[0] is x
    assert not x.flags.writeable
    assert not weights.flags.writeable


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), [1.0, -2.0]])
def test_negative_strengths_are_rejected(wrong: Any) -> None:
    with pytest.raises(InputError, match="regularization = "):
        proximal_moments(3, 5, wrong)


def test_wrong_shapes_are_rejected() -> None:
    with pytest.raises(InputError, match="features = 0"):
        proximal_moments(0, 5, 1.0)
