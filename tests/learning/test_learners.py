"""The learners against textbook formulas, scikit-learn's own checks and its ridge regression."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnroute import InputError
from learnroute.learning import GradientRegressor, ProximalRegressor, RecursiveRegressor, RouteRegressor
from learnroute.model.validation import FloatArray

# Every check of scikit-learn that applies to a dense single-output regressor runs. It leaves out, by itself, those for
# sparse input, sample weights, several outputs and random states, which these learners do not claim.
LEARNERS = [
    RouteRegressor(),
    RouteRegressor(fit_intercept=True),
    ProximalRegressor(),
    ProximalRegressor(strength=0.01, fit_intercept=True),
    ProximalRegressor(strength=[0.5, 1.0, 2.0, 3.0, 4.0]),
    GradientRegressor(),
    GradientRegressor(steps=20, fit_intercept=True),
    RecursiveRegressor(),
    RecursiveRegressor(prior=0.01, fit_intercept=True),
]


@pytest.mark.filterwarnings("ignore:.*SCIPY_ARRAY_API.*")
@parametrize_with_checks(LEARNERS)  # type: ignore[untyped-decorator]
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def batch(samples: int, features: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((samples, features)), rng.standard_normal(samples)


def test_under_regime_is_e5_for_any_previous_model() -> None:
    x, y = batch(30, 5)
    learner = RouteRegressor(initial_model=np.full(5, 9.0)).partial_fit(*batch(20, 5, seed=1)).partial_fit(x, y)
    expected = np.linalg.inv(x.T @ x) @ x.T @ y  # (e5) as it is written
    np.testing.assert_allclose(learner.coef_, expected, rtol=1e-10)


def test_over_regime_is_e11_from_the_previous_model() -> None:
    start = np.arange(12.0)
    learner = RouteRegressor(initial_model=start)
    expected = start
    for seed in range(3):
        x, y = batch(5, 12, seed)
        expected = expected + x.T @ np.linalg.inv(x @ x.T) @ (y - x @ expected)  # (e11) as it is written
        learner.partial_fit(x, y)
        np.testing.assert_allclose(learner.coef_, expected, rtol=1e-9)
        np.testing.assert_allclose(learner.predict(x), y, atol=1e-10)


def test_over_regime_changes_the_model_least_of_all_exact_fits() -> None:
    x, y = batch(4, 9)
    start = np.ones(9)
    model = RouteRegressor(initial_model=start).fit(x, y).coef_
    null_space = np.linalg.svd(x)[2][4:]
    for direction in null_space:
        assert abs((model - start) @ direction) < 1e-10


@pytest.mark.parametrize(("samples", "features"), [(5, 4), (5, 5), (5, 6)])
def test_undefined_middle_is_rejected(samples: int, features: int) -> None:
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
def test_rank_deficient_batches_are_rejected(shape: tuple[int, int]) -> None:
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


def test_proximal_is_ridge_from_zero_and_comes_near_the_paper_if_weak() -> None:
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
    with pytest.raises(InputError, match="initial_model has 2 entries: expected 3"):
        RouteRegressor(initial_model=[1.0, 2.0]).fit(*batch(10, 3))


def test_strengths_by_position() -> None:
    strengths = [0.5, 2.0, 0.0, 7.0]
    learner = ProximalRegressor(strengths, initial_model=np.ones(5))
    model: FloatArray = np.ones(5)
    for seed, strength in enumerate(strengths):
        x, y = batch(12, 5, seed)
        learner.partial_fit(x, y)
        model = np.linalg.inv(x.T @ x / 12 + strength * np.eye(5)) @ (x.T @ y / 12 + strength * model)
        np.testing.assert_allclose(learner.coef_, model, rtol=1e-9)
    assert learner.batches_ == 4
    with pytest.raises(InputError, match="strength has 4 entries: none is left for batch 5; give one per batch"):
        learner.partial_fit(*batch(12, 5))
    again = learner.fit(*batch(12, 5, 0))  # begins anew, with the first strength
    np.testing.assert_allclose(
        again.coef_, ProximalRegressor(0.5, initial_model=np.ones(5)).fit(*batch(12, 5, 0)).coef_
    )


def test_rising_strengths_are_the_running_mean_of_fits() -> None:
    """λ_t = t - 1: with many samples, each fit has the same weight for any order."""
    truths = np.random.default_rng(1).standard_normal((6, 3))
    learner = ProximalRegressor([float(t) for t in range(6)])
    for seed, truth in enumerate(truths):
        x, _ = batch(200_000, 3, seed)
        learner.partial_fit(x, x @ truth)
    np.testing.assert_allclose(learner.coef_, truths.mean(axis=0), atol=0.02)


@pytest.mark.parametrize("strength", [[-1.0], [float("nan")], ["much"], [[1.0]]])
def test_lists_of_strengths_are_checked(strength: Any) -> None:
    with pytest.raises(InputError, match=r"strength\[0\]"):
        ProximalRegressor(strength=strength).fit(*batch(10, 3))


@pytest.mark.parametrize("shape", [(20, 6), (6, 20), (8, 8), (1, 1), (2, 1)])
@pytest.mark.parametrize(("steps", "rate"), [(1, 0.05), (7, 0.3), (200, 0.1), (3, 1e-9)])
def test_gradient_steps_are_the_iteration(shape: tuple[int, int], steps: int, rate: float) -> None:
    x, y = batch(*shape)
    start = np.ones(shape[1])
    model = start
    for _ in range(steps):
        model = model - rate * x.T @ (x @ model - y) / len(y)
    found = GradientRegressor(steps, rate, initial_model=start).fit(x, y).coef_
    np.testing.assert_allclose(found - start, model - start, rtol=1e-6, atol=1e-12)


def test_many_gradient_steps_come_near_the_paper() -> None:
    for shape in ((20, 6), (6, 20)):
        x, y = batch(*shape)
        start = np.ones(shape[1])
        paper = RouteRegressor(initial_model=start).fit(x, y).coef_
        np.testing.assert_allclose(GradientRegressor(10**6, initial_model=start).fit(x, y).coef_, paper, atol=1e-9)


def test_steps_that_diverge_are_rejected_with_the_largest_rate() -> None:
    x, y = batch(30, 4)
    largest = 2 / float(np.linalg.eigvalsh(x.T @ x / 30)[-1])
    with pytest.raises(InputError, match=rf"rate = .*diverge on this batch; use a rate below 2/.* = {largest:.5g}"):
        GradientRegressor(10, largest * 1.0001).fit(x, y)
    assert np.isfinite(GradientRegressor(10**6, largest * 0.9999).fit(x, y).coef_).all()


def test_gradient_steps_on_a_batch_of_zeros_change_nothing() -> None:
    learner = GradientRegressor(5, 0.1, initial_model=[1.0, 2.0]).fit(np.zeros((3, 2)), np.ones(3))
    np.testing.assert_array_equal(learner.coef_, [1.0, 2.0])


@pytest.mark.parametrize(("member", "value"), [
    ("steps", 0), ("steps", 2.5), ("steps", "few"), ("rate", 0), ("rate", -0.1), ("rate", float("nan")),
    ("rate", "slow"),
])  # fmt: skip
def test_steps_and_rate_are_checked(member: str, value: Any) -> None:
    with pytest.raises(InputError, match=member):
        GradientRegressor(**{member: value}).fit(*batch(10, 3))


@pytest.mark.parametrize("intercept", [False, True])
def test_recursive_least_squares_is_ridge_on_everything_in_any_order(intercept: bool) -> None:
    start = np.arange(4.0)
    batches = [batch(samples, 4, seed) for seed, samples in enumerate((1, 3, 20, 2))]
    x, y = np.vstack([x for x, _ in batches]), np.concatenate([y for _, y in batches])
    offset = np.append(start, 0.0) if intercept else start
    if intercept:
        x = np.column_stack([x, np.ones(len(x))])
    expected = offset + Ridge(alpha=0.7, fit_intercept=False).fit(x, y - x @ offset).coef_
    for order in (batches, batches[::-1]):
        learner = RecursiveRegressor(0.7, initial_model=start, fit_intercept=intercept)
        for one in order:
            learner.partial_fit(*one)
        found = np.append(learner.coef_, learner.intercept_) if intercept else learner.coef_
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert learner.factor_.shape == (len(offset) + 1, len(offset) + 1)


def test_recursive_least_squares_keeps_moments_alone() -> None:
    learner = RecursiveRegressor().partial_fit(*batch(5000, 3)).partial_fit(*batch(5000, 3, 1))
    assert len(pickle.dumps(learner)) < 2500


@pytest.mark.parametrize("prior", [0, -1.0, float("nan"), "some"])
def test_the_prior_is_checked(prior: Any) -> None:
    with pytest.raises(InputError, match="prior"):
        RecursiveRegressor(prior=prior).fit(*batch(10, 3))
