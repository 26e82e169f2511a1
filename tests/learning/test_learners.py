"""The learners against textbook formulas, scikit-learn's own checks and its ridge regression."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnroute import InputError
from learnroute.learning import ProximalRegressor, RouteRegressor
from learnroute.model.validation import FloatArray

# Every check of scikit-learn that applies to a dense single-output regressor runs. It leaves out, by itself, those for
# sparse input, sample weights, several outputs and random states, which these learners do not claim.
LEARNERS = [
    RouteRegressor(),
    RouteRegressor(fit_intercept=True),
    ProximalRegressor(),
    ProximalRegressor(strength=0.01, fit_intercept=True),
]


@pytest.mark.filterwarnings("ignore:.*SCIPY_ARRAY_API.*")
@parametrize_with_checks(LEARNERS)  # type: ignore[untyped-decorator]
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def batch(samples: int, features: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((samples, features)), rng.standard_normal(samples)


def test_under_is_e5_whatever_was_learnt_before() -> None:
    x, y = batch(30, 5)
    learner = RouteRegressor(initial_model=np.full(5, 9.0)).partial_fit(*batch(20, 5, seed=1)).partial_fit(x, y)
    expected = np.linalg.inv(x.T @ x) @ x.T @ y  # (e5) as it is written
    np.testing.assert_allclose(learner.coef_, expected, rtol=1e-10)


def test_over_is_e11_from_the_previous_model() -> None:
    start = np.arange(12.0)
    learner = RouteRegressor(initial_model=start)
    expected = start
    for seed in range(3):
        x, y = batch(5, 12, seed)
        expected = expected + x.T @ np.linalg.inv(x @ x.T) @ (y - x @ expected)  # (e11) as it is written
        learner.partial_fit(x, y)
        np.testing.assert_allclose(learner.coef_, expected, rtol=1e-9)
        np.testing.assert_allclose(learner.predict(x), y, atol=1e-10)


def test_over_moves_least_of_all_exact_fits() -> None:
    x, y = batch(4, 9)
    start = np.ones(9)
    model = RouteRegressor(initial_model=start).fit(x, y).coef_
    null_space = np.linalg.svd(x)[2][4:]
    for direction in null_space:
        assert abs((model - start) @ direction) < 1e-10


@pytest.mark.parametrize(("samples", "features"), [(5, 4), (5, 5), (5, 6)])
def test_undefined_middle_is_refused(samples: int, features: int) -> None:
    with pytest.raises(InputError, match=rf"{samples} samples with {features} features.*does not exist"):
        RouteRegressor().fit(*batch(samples, features))
    assert np.isfinite(ProximalRegressor().fit(*batch(samples, features)).coef_).all()


def test_an_intercept_counts_as_a_feature() -> None:
    with pytest.raises(InputError, match="7 samples with 6 features"):
        RouteRegressor(fit_intercept=True).fit(*batch(7, 5))
    x, y = batch(40, 5)
    learner = RouteRegressor(fit_intercept=True).fit(x, y + 3)
    peer = LinearRegression().fit(x, y + 3)
    np.testing.assert_allclose(np.append(learner.coef_, learner.intercept_), np.append(peer.coef_, peer.intercept_))


@pytest.mark.parametrize("shape", [(30, 6), (4, 12)])
def test_rank_deficient_batches_are_refused(shape: tuple[int, int]) -> None:
    x, y = batch(*shape)
    if shape[0] > shape[1]:
        x[:, 2] = 2 * x[:, 1]
    else:
        x[2] = -x[1]
    with pytest.raises(InputError, match=f"has rank {min(shape) - 1}: its (features|samples) are not independent"):
        RouteRegressor().fit(x, y)
    assert np.isfinite(ProximalRegressor().fit(x, y).coef_).all()


def test_units_do_not_decide_about_rank() -> None:
    x, y = batch(30, 4)
    units = np.array([1e-12, 1.0, 1e9, 1e3])
    plain = RouteRegressor().fit(x, y).coef_
    np.testing.assert_allclose(RouteRegressor().fit(x * units, y).coef_ * units, plain, rtol=1e-9)


def test_nearly_dependent_columns_keep_their_digits() -> None:
    """The normal equations lose all digits here: their condition number is the square of 1e7."""
    x, _ = batch(50, 3)
    x[:, 2] = x[:, 1] + 1e-7 * x[:, 2]
    truth = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(RouteRegressor().fit(x, x @ truth).coef_, truth, rtol=1e-6)


def test_proximal_is_ridge_from_zero_and_comes_near_the_paper_where_weak() -> None:
    x, y = batch(20, 6)
    peer = Ridge(alpha=20 * 0.3, fit_intercept=False).fit(x, y)
    np.testing.assert_allclose(ProximalRegressor(strength=0.3).fit(x, y).coef_, peer.coef_, rtol=1e-9)
    for shape in ((20, 6), (6, 20)):
        x, y = batch(*shape)
        start = np.ones(shape[1])
        weak, paper = ProximalRegressor(strength=1e-10, initial_model=start), RouteRegressor(initial_model=start)
        np.testing.assert_allclose(weak.fit(x, y).coef_, paper.fit(x, y).coef_, atol=1e-7)
        strong = ProximalRegressor(strength=1e10, initial_model=start).fit(x, y)
        np.testing.assert_allclose(strong.coef_, start, atol=1e-7)


def test_no_sample_is_kept() -> None:
    learner = RouteRegressor().partial_fit(*batch(1000, 3))
    assert len(pickle.dumps(learner)) < 2000


@pytest.mark.parametrize("strength", [0, -1.0, float("nan"), "much"])
def test_strength_is_checked(strength: Any) -> None:
    with pytest.raises(InputError, match="strength"):
        ProximalRegressor(strength=strength).fit(*batch(10, 3))


def test_start_must_fit_the_features() -> None:
    with pytest.raises(InputError, match="initial_model has 2 entries: 3 needed"):
        RouteRegressor(initial_model=[1.0, 2.0]).fit(*batch(10, 3))
