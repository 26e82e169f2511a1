"""Estimates against known models: unbiased, covered, split, and every bad region named."""

import json
import re
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from learnroute import InputError, plan
from learnroute.learning import Estimate, RouteRegressor, estimate, follow
from learnroute.learning.confidence import error_draws, fit, noisiest_direction, upper_bound
from learnroute.model.validation import FloatArray

Samples = dict[str, tuple[FloatArray, FloatArray]]


def new_samples(
    truth: FloatArray, counts: list[int], noise: list[float], rng: np.random.Generator, scale: FloatArray | float = 1.0
) -> Samples:
    found = {}
    for i, (count, sigma) in enumerate(zip(counts, noise, strict=True)):
        x = rng.standard_normal((count, truth.shape[1])) * scale
        found[f"region {i}"] = (x, x @ truth[i] + sigma * rng.standard_normal(count))
    return found


def squares(models: FloatArray) -> FloatArray:
    return np.array([[np.sum((a - b) ** 2) for b in models] for a in models])


CASES = {
    "little noise": (5, [20, 20, 20], [0.1, 0.1, 0.1], 1.0),
    "much noise": (5, [20, 20, 20], [2.0, 2.0, 2.0], 1.0),
    "no difference": (5, [30, 30, 30], [1.0, 1.0, 1.0], 0.0),
    "unequal counts and noise": (4, [9, 40, 150], [0.5, 1.0, 2.0], 0.5),
    "hardly more samples than features": (8, [11, 11, 11], [1.0, 1.0, 1.0], 0.7),
    "many samples": (3, [400, 400, 400], [1.0, 1.0, 1.0], 0.3),
    "many features": (25, [60, 60, 60], [1.0, 1.0, 1.0], 0.3),
    "one feature": (1, [10, 10, 10], [1.0, 1.0, 1.0], 2.0),
}


@pytest.mark.parametrize(("width", "counts", "noise", "apart"), CASES.values(), ids=CASES.keys())
def test_bounds_cover_and_estimates_are_unbiased(
    width: int, counts: list[int], noise: list[float], apart: float
) -> None:
    """At level 95 % each bound holds in at least 93 % of draws; the estimates are right on average."""
    rng = np.random.default_rng(width)
    above = np.triu_indices(3, 1)
    held, held_first, off, off_first, off_noise = [], [], [], [], []
    repeats = 400 if width < 20 else 100
    for seed in range(repeats):
        truth = apart * rng.standard_normal((3, width))
        start = rng.standard_normal(width)
        found = estimate(new_samples(truth, counts, noise, rng), share=1.0, initial_model=start, seed=seed, draws=1000)
        delta, first = squares(truth), np.sum((truth - start) ** 2, axis=1)
        held.append(found.upper[above] >= delta[above])
        held_first.append(found.initial_upper >= first)
        off.append(np.mean(found.dissimilarity[above] - delta[above]))
        off_first.append(np.mean(found.initial - first))
        off_noise.append(found.noise**2 - np.square(noise))
    assert np.mean(held) >= 0.93
    assert np.mean(held_first) >= 0.93
    for difference in (off, off_first, np.mean(off_noise, axis=1)):
        assert abs(np.mean(difference)) <= 4 * np.std(difference, ddof=1) / repeats**0.5


@pytest.mark.parametrize("width", [2, 6])
@pytest.mark.parametrize("where", ["noisy", "quiet", "between"])
def test_bounds_cover_the_worst_directions(width: int, where: str) -> None:
    """One feature varies ten times less than another, so one direction of the model is ten times noisier."""
    rng = np.random.default_rng(7)
    scale = np.geomspace(1, 0.1, width)
    direction = {"noisy": [0.0, 1.0], "quiet": [1.0, 0.0], "between": [0.6, 0.8]}[where]
    held = []
    for length in np.repeat([0.3, 3.0, 10.0], 150):
        delta = np.zeros(width)
        delta[[0, -1]] = length * np.array(direction)
        fits = [
            fit(x, x @ model + rng.standard_normal(20))
            for model in (delta, np.zeros(width))
            for x in [rng.standard_normal((20, width)) * scale]
        ]
        errors = error_draws(fits[0], 1000, rng) - error_draws(fits[1], 1000, rng)
        squared = float(np.sum((fits[0].model - fits[1].model) ** 2))
        worst = noisiest_direction(fits[0].covariance + fits[1].covariance)
        held.append(upper_bound(squared, errors, worst, 0.95) >= length**2)
    assert np.mean(held) >= 0.93


def test_few_samples_make_the_noise_uncertain_and_the_bound_wider() -> None:
    """With 3 degrees of freedom, a bound that ignores the uncertainty of the noise would hold in only 90 %."""
    rng = np.random.default_rng(8)
    held = []
    for _ in range(1500):
        x = rng.standard_normal((4, 1))
        found = fit(x, x @ [20.0] + rng.standard_normal(4))
        squared = float(found.model[0] ** 2)
        held.append(upper_bound(squared, error_draws(found, 500, rng), np.ones(1), 0.95) >= 400)
    assert 0.93 <= np.mean(held) <= 0.97


def test_bound_is_not_trivial() -> None:
    """With many samples it converges to the truth, and a higher level gives a higher bound."""
    truth = np.random.default_rng(0).standard_normal((3, 4))
    samples = new_samples(truth, [20_000] * 3, [0.5] * 3, np.random.default_rng(1))
    loose, tight = estimate(samples, level=0.99), estimate(samples, level=0.6)
    above = np.triu_indices(3, 1)
    np.testing.assert_allclose(loose.upper[above], squares(truth)[above], rtol=0.03)
    assert (tight.upper[above] < loose.upper[above]).all()
    assert loose.pooled_noise == pytest.approx(0.5, rel=0.02)
    np.testing.assert_allclose(loose.models, truth, atol=0.02)


def test_noisiest_direction_is_the_first_eigenvector() -> None:
    root = np.random.default_rng(0).standard_normal((6, 6)) * np.array([4, 1, 1, 1, 1, 1])[:, None]
    covariance = root @ root.T
    found = noisiest_direction(covariance)
    assert found @ covariance @ found == pytest.approx(np.linalg.eigvalsh(covariance)[-1], rel=1e-3)
    np.testing.assert_array_equal(noisiest_direction(np.zeros((2, 2))), [1.0, 0.0])


def base(seed: int = 0) -> Samples:
    rng = np.random.default_rng(seed)
    return new_samples(rng.standard_normal((4, 3)), [60] * 4, [0.3] * 4, rng)


def test_by_default_no_sample_serves_two_purposes() -> None:
    found = estimate(base())
    for name in found.regions:
        parts = [getattr(found.rows[name], part) for part in ("estimate", "train", "test")]
        assert sorted(np.concatenate(parts).tolist()) == list(range(60))
        assert [len(part) for part in parts] == [30, 15, 15]
    changed = base()
    for name, (x, y) in changed.items():
        rest = np.setdiff1d(np.arange(60), found.rows[name].estimate)
        x, y = x.copy(), y.copy()
        x[rest], y[rest] = 99.0, -1e6
        changed[name] = (x, y)
    again = estimate(changed)
    np.testing.assert_array_equal(again.upper, found.upper)
    np.testing.assert_array_equal(again.dissimilarity, found.dissimilarity)
    data = found.held_out()
    x, y = base()["region 0"]
    np.testing.assert_array_equal(data["region 0"].train[0], x[found.rows["region 0"].train])
    np.testing.assert_array_equal(data["region 0"].test[1], y[found.rows["region 0"].test])
    assert not any("all samples were used" in caveat for caveat in found.caveats)
    assert any("all samples were used" in caveat for caveat in estimate(base(), share=1.0).caveats)


def test_same_seed_same_answer() -> None:
    first, again, other = (estimate(base(), seed=seed).to_dict() for seed in (3, 3, 4))
    assert first == again
    assert first["dissimilarity"] != other["dissimilarity"]
    json.dumps(first, allow_nan=False)


def invalid_samples(**changes: Any) -> Samples:
    return {**base(), **changes}


def with_cell(value: float, column: int = 1) -> tuple[FloatArray, FloatArray]:
    x, y = base()["region 1"]
    x = x.copy()
    x[5:8, column] = value
    return x, y


def constant(value: float) -> tuple[FloatArray, FloatArray]:
    x, y = base()["region 1"]
    x = x.copy()
    x[:, 2] = value
    return x, y


def repeated() -> tuple[FloatArray, FloatArray]:
    x, y = base()["region 1"]
    x = x.copy()
    x[:, 2] = 2 * x[:, 0]
    return x, y


BAD = {
    "missing": (with_cell(np.nan), r"missing values \(3 in 'x2'; first in sample 6\)"),
    "infinite": (with_cell(np.inf), "column 'x2' is infinite in sample 6"),
    "constant": (constant(4.0), "column 'x3' is constant in this region"),
    "zero": (constant(0.0), "column 'x3' is constant in this region"),
    "dependent": (repeated(), "the 3 features have rank 2 in 30 samples"),
    "too few": ((np.ones((10, 3)), np.ones(10)), r"5 samples to estimate from \(of 10\); at least 8 needed"),
    "empty": ((np.empty((0, 3)), np.empty(0)), r"0 samples to estimate from \(of 0\)"),
    "narrower": ((np.ones((60, 2)), np.ones(60)), "it lacks 'x3' unlike most regions"),
    "wider": ((np.ones((60, 4)), np.ones(60)), "it has 'x4' unlike most regions"),
    "text": (([["a", "b", "c"]] * 60, np.ones(60)), "features and targets must be tables of numbers"),
    "shapes": ((np.ones((60, 3)), np.ones(59)), r"features of shape \(60, 3\) and targets of shape \(59,\)"),
    "no pair": (5, "expected a pair of features and targets"),
}


@pytest.mark.parametrize(("bad", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_region_is_named_and_the_others_are_estimated(bad: Any, message: str) -> None:
    found = estimate(invalid_samples(**{"region 1": bad}))
    assert found.regions == ("region 0", "region 2", "region 3")
    assert list(found.failures) == ["region 1"]
    assert found.to_dict()["failures"] == found.failures
    assert re.search(message, found.failures["region 1"])
    whole = estimate(base())
    others = np.ix_([0, 2, 3], [0, 2, 3])
    np.testing.assert_array_equal(found.dissimilarity, whole.dissimilarity[others])


def test_missing_values_can_be_dropped() -> None:
    found = estimate(invalid_samples(**{"region 1": with_cell(np.nan)}), missing="drop")
    assert not found.failures
    assert found.to_dict()["dropped"] == [0, 3, 0, 0]
    used = np.concatenate([getattr(found.rows["region 1"], part) for part in ("estimate", "train", "test")])
    assert set(used.tolist()) == set(range(60)) - {5, 6, 7}


def test_fewer_than_two_regions_is_rejected_with_the_reasons() -> None:
    bad = {name: with_cell(np.nan) for name in list(base())[1:]}
    with pytest.raises(
        InputError, match=r"an estimate needs at least 2 regions; 1 can be used \(region 1 and 2 more regions: missing"
    ):
        estimate(invalid_samples(**bad))
    with pytest.raises(InputError, match="no data"):
        estimate({})


def test_pilot_features_are_used_and_reported_if_samples_are_few() -> None:
    rng = np.random.default_rng(2)
    truth = np.zeros((3, 40))
    truth[:, :2] = [[1, 0], [0, 1], [1, 1]]
    scale = np.append([3.0, 2.0], np.full(38, 0.1))
    found = estimate(new_samples(truth, [30, 60, 200], [0.1] * 3, rng, scale))
    assert found.method == "pilot features"
    assert not found.failures
    assert "region 'region 0' has 15 samples to estimate from, and least squares needs 42" in found.caveats[0]
    assert "dissimilarities may be too small by any amount" in found.caveats[0]
    np.testing.assert_allclose(found.dissimilarity, squares(truth), atol=0.15)  # they lie where the features vary
    assert found.models.shape == (3, 40)


def test_pilot_bounds_cover_what_lies_inside() -> None:
    """If the models do not use the other features, the bound holds for the whole model."""
    rng = np.random.default_rng(3)
    scale = np.append(np.full(3, 3.0), np.full(17, 0.3))
    held = []
    for seed in range(150):
        truth = np.zeros((2, 20))
        truth[:, :3] = rng.standard_normal((2, 3))
        found = estimate(new_samples(truth, [60, 60], [1.0] * 2, rng, scale), share=0.3, pilot=3, seed=seed, draws=1000)
        held.append(found.upper[0, 1] >= 0.95 * squares(truth)[0, 1])
    assert np.mean(held) >= 0.93


def test_pilot_features_can_be_asked_for_and_are_checked() -> None:
    assert estimate(base(), pilot=2).caveats[0].startswith("models are compared on 2 principal directions of 3")
    with pytest.raises(InputError, match="pilot = 4: must be <= 3, the number of features"):
        estimate(base(), pilot=4)
    few = {**base(), "region 1": tuple(part[:18] for part in base()["region 1"])}
    rng = np.random.default_rng(0)
    wide = {name: (rng.standard_normal((len(y), 12)), y) for name, (_, y) in few.items()}
    found = estimate(wide, pilot=8)
    assert found.failures == {"region 1": "9 samples for 8 pilot features; use fewer of them"}


@pytest.mark.parametrize("features", [PolynomialFeatures(2, include_bias=False), lambda x: np.column_stack([x, x**2])])
def test_feature_map_makes_the_linear_theory_applicable(features: Any) -> None:
    """Regions that differ in a nonlinear term only, which the map makes linear."""
    rng = np.random.default_rng(4)
    samples = {}
    for i, bend in enumerate((1.0, 1.0, 3.0)):
        x = rng.uniform(-1, 1, (4000, 1))
        samples[f"region {i}"] = (x, bend * x[:, 0] ** 2 + 0.01 * rng.standard_normal(4000))
    plain, mapped = estimate(samples), estimate(samples, features=features)
    assert plain.dissimilarity.max() < 0.1
    np.testing.assert_allclose(mapped.dissimilarity[2], [4, 4, 0], atol=0.05)
    assert mapped.dissimilarity[0, 1] < 0.01
    found = follow(list(samples), mapped.held_out(), RouteRegressor())
    assert found.errors[2, 2] < 0.001 < found.errors[2, 0]


def test_an_unfitted_transformer_is_fitted_on_the_estimating_samples_only() -> None:
    scaler = StandardScaler()
    found = estimate(base(), features=scaler)
    assert not hasattr(scaler, "mean_")
    pooled = np.concatenate([x[found.rows[name].estimate] for name, (x, _) in base().items()])
    np.testing.assert_allclose(found.transform(pooled).mean(axis=0), 0, atol=1e-12)
    fitted = StandardScaler().fit(np.arange(30.0).reshape(10, 3))
    np.testing.assert_allclose(estimate(base(), features=fitted).transform(pooled), fitted.transform(pooled))


def test_standardising_and_intercept() -> None:
    shifted = {name: (7 + 5 * x, y + 3) for name, (x, y) in base().items()}
    plain, scaled = estimate(shifted), estimate(shifted, scaling="standardise", intercept=True)
    assert any("standardise or whiten them" in caveat for caveat in plain.caveats)
    assert not any("standardise or whiten them" in caveat for caveat in scaled.caveats)
    assert scaled.models.shape == (4, 4)
    reference = estimate(base(), scaling="standardise", intercept=True)
    np.testing.assert_allclose(scaled.upper, reference.upper, rtol=1e-9)
    made = scaled.transform(np.concatenate([x[scaled.rows[name].estimate] for name, (x, _) in shifted.items()]))
    np.testing.assert_allclose(made.mean(axis=0), [0, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(made.std(axis=0), [1, 1, 1, 0], atol=1e-12)


def test_whitened_features_have_unit_moments_and_distances_are_errors() -> None:
    """With whitened features, Δ is the additional squared error of one region's model in another region."""
    rng = np.random.default_rng(0)
    mixed = rng.standard_normal((3, 3))
    samples = {name: (2 + x @ mixed, y) for name, (x, y) in new_samples(mixed, [6000] * 3, [0.1] * 3, rng).items()}
    found = estimate(samples, scaling="whiten", intercept=True)
    assert len(found.caveats) == 1
    data = found.held_out()
    pooled = np.concatenate([found.transform(x[found.rows[name].estimate]) for name, (x, _) in samples.items()])
    np.testing.assert_allclose(pooled.T @ pooled / len(pooled), np.eye(4), atol=1e-9)
    x, y = data["region 2"].test
    extra = np.mean((x @ found.models[0] - y) ** 2) - np.mean((x @ found.models[2] - y) ** 2)
    assert extra == pytest.approx(found.dissimilarity[0, 2], rel=0.05)
    flat = {name: (np.column_stack([x, x[:, 0] + x[:, 1]]), y) for name, (x, y) in samples.items()}
    assert estimate(flat, scaling="whiten").models.shape == (3, 3)  # a dependent column adds no direction


def test_few_samples_of_even_features_are_not_called_uneven() -> None:
    rng = np.random.default_rng(1)
    few = new_samples(rng.standard_normal((2, 12)), [30, 30], [0.1] * 2, rng)
    assert not any("second moments" in caveat for caveat in estimate(few).caveats)


def test_the_estimate_makes_a_problem_that_can_be_planned() -> None:
    found = estimate(invalid_samples(**{"region 1": with_cell(np.nan)}))
    travel = np.arange(16.0).reshape(4, 4)
    travel = np.triu(travel, 1) + np.triu(travel, 1).T
    problem = found.to_problem(travel, samples=10, regions=list(base()), coordinates=[[0, 0], [1, 1], [2, 2], [3, 3]])
    assert problem.regions == ("region 0", "region 2", "region 3")
    np.testing.assert_array_equal(problem.travel, travel[np.ix_([0, 2, 3], [0, 2, 3])])
    np.testing.assert_array_equal(problem.dissimilarity, found.upper)
    np.testing.assert_array_equal(problem.with_upper_bounds().scores, found.scores)
    np.testing.assert_allclose(problem.scores, np.maximum(found.dissimilarity, 0.0).sum(axis=1), rtol=1e-14)
    assert (problem.learner.features, problem.learner.samples) == (3, 10)
    assert problem.learner.noise == found.pooled_noise
    assert problem.coordinates is not None
    assert problem.coordinates.tolist() == [[0, 0], [2, 2], [3, 3]]
    assert set(plan(problem).route) == set(found.regions)
    assert found.to_problem(np.zeros((3, 3))).learner.samples == 15
    with pytest.raises(InputError, match="region 'region 3' is missing"):
        found.to_problem(travel[:3, :3], regions=["region 0", "region 1", "region 2"])
    with pytest.raises(InputError, match=r"travel has shape \(4, 4\)"):
        found.to_problem(travel)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "level = 1.0"),
        ({"share": 0}, "share = 0"),
        ({"share": 1.5}, "above 0 and up to 1"),
        ({"share": 0.6, "test": 0.5}, "must not sum to more than 1"),
        ({"missing": "guess"}, "missing = 'guess': unknown; known are refuse, drop"),
        ({"scaling": "shrink"}, "scaling = 'shrink': unknown; known are none, standardise, whiten"),
        ({"draws": 5}, "draws = 5"),
        ({"draws": 10**9}, "would store more than"),
        ({"seed": -3}, "seed"),
        ({"initial_model": [1.0]}, "initial_model has 1 entries: expected 3"),
        ({"features": 3}, "a callable or an object with transform"),
        ({"features": lambda x: x[:3]}, "expected one row of features per sample"),
    ],
)
def test_bad_options_are_rejected(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        estimate(base(), **options)


def test_progress_is_reported_to_the_end() -> None:
    told: list[float] = []
    found: Estimate = estimate(base(), progress=lambda _, share: told.append(share))
    assert told[-1] == 1.0
    assert told == sorted(told)
    assert len(found.regions) == 4


def test_masked_samples_count_as_missing() -> None:
    from learnroute.learning.data import as_batch

    features = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], [[False, True], [False, False]])
    inputs, outputs = as_batch("a", features, np.ma.masked_array([5, 6], [False, True]))
    assert np.isnan(inputs).tolist() == [[False, True], [False, False]]
    assert np.isnan(outputs).tolist() == [False, True]
