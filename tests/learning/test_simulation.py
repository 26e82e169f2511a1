"""The simulation against Lemma 1 and Lemma 2, and its samplers against each other."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

import oracle
from learnroute import InputError, Learner, Problem, RefusedError, evaluate, true_loss
from learnroute.learning import simulate
from learnroute.learning.learners import RouteRegressor
from learnroute.learning.samplers import direct, low_dimensional
from learnroute.model.validation import FloatArray


def problem_of(m: int, n: int, size: int, noise: float, seed: int = 0, width: int | None = None) -> Problem:
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((size, width or m))
    return Problem(
        rng.uniform(1, 2, (size, size)) * (1 - np.eye(size)), Learner(m, n, noise), vectors=truth, truth=truth,
        initial_model=rng.standard_normal(width or m),
    )  # fmt: skip


def lemma(problem: Problem, order: list[int]) -> float:
    """(e6) and (e12), term by term as the paper writes them."""
    m, n, variance = problem.learner.features, problem.learner.samples, problem.learner.noise**2
    assert problem.truth is not None
    w = [problem.truth[i] for i in order]
    size = len(w)
    if m < n:
        first = sum(np.sum((w[-1] - w[i]) ** 2) / size for i in range(size - 1))
        return float(first + m * variance / (n - m - 1))
    r = 1 - n / m
    first = sum(
        (1 - r) * r ** (size - i) / size * sum(np.sum((w[i - 1] - w[j]) ** 2) for j in range(size))
        for i in range(1, size + 1)
    )
    second = r**size / size * sum(np.sum((w[i] - problem.initial_model) ** 2) for i in range(size))
    return float(first + second + (1 - r**size) * m * variance / (m - n - 1))


GRID = [
    (m, n, size, noise)
    for (m, n), size, noise in itertools.product(
        [(3, 12), (10, 30), (80, 100), (6, 1), (6, 2), (12, 4), (40, 20), (120, 100), (1000, 10), (10**6, 10**5)],
        [2, 5, 9],
        [0.0, 0.5, 2.0],
    )
]


@pytest.mark.parametrize(("m", "n", "size", "noise"), GRID)
def test_mean_is_the_lemma_within_four_standard_errors(m: int, n: int, size: int, noise: float) -> None:
    problem = problem_of(m, n, size, noise, width=min(m, 6))
    orders = [list(range(size)), list(range(size))[::-1], np.random.default_rng(1).permutation(size).tolist()]
    for order in orders:
        found = simulate(problem, order, runs=4000, seed=7)
        expected = lemma(problem, order)
        assert found.expected == pytest.approx(expected, rel=1e-12)
        assert abs(found.mean - expected) <= 4 * found.standard_error + 1e-12
        assert found.order == tuple(order)


@pytest.mark.parametrize(("m", "n", "size", "noise"), [(4, 12, 3, 0.7), (15, 6, 3, 0.7), (9, 3, 5, 0.3)])
def test_direct_sampling_is_the_lemma_too(m: int, n: int, size: int, noise: float) -> None:
    problem = problem_of(m, n, size, noise)
    order = list(range(size))[::-1]
    found = simulate(problem, order, runs=4000, sampler="direct")
    assert abs(found.mean - lemma(problem, order)) <= 4 * found.standard_error


SHAPES = {
    "under": (4, 12, 4, None),
    "under, m = n - 2": (4, 6, 4, None),
    "over": (30, 12, 4, None),
    "n < k": (20, 3, 8, None),
    "n = 1": (6, 1, 5, None),
    "m - n < k": (14, 11, 8, None),
    "m = n + 2": (12, 10, 4, None),
    "both": (7, 3, 8, None),
    "truths fill the whole space": (5, 2, 9, None),
    "one dimension outside the truths": (5, 2, 4, None),
    "all truths equal the start": (8, 4, 3, 1),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("noise", [0.0, 0.6])
def test_samplers_agree_in_law(shape: tuple[int, int, int, int | None], noise: float) -> None:
    """Mean, quantiles and the whole distribution, whether or not the matrix recursion's conditions hold."""
    m, n, size, width = shape
    problem = problem_of(m, n, size, noise, seed=3, width=width)
    assert problem.truth is not None
    assert problem.initial_model is not None
    models = np.zeros_like(problem.truth) if width else problem.truth - problem.initial_model
    rng = np.random.default_rng(11)
    quick, slow = (
        sample(models, np.arange(len(models)), problem.learner, problem.counts, 4000, rng, np.ones(len(models)))
        for sample in (low_dimensional, direct)
    )
    if noise == 0 and (m < n or width):
        np.testing.assert_allclose(quick, slow, atol=1e-9)  # nothing is random
        return
    assert ks_2samp(quick, slow).pvalue > 1e-3
    for q in (0.05, 0.25, 0.5, 0.75, 0.95):
        between = [np.quantile(slow, min(max(q + step, 0), 1)) for step in (-0.035, 0.035)]
        assert between[0] <= np.quantile(quick, q) <= between[1]
    if abs(m - n) > 3:  # else there is no variance to measure with
        error = np.hypot(quick.std() / 4000**0.5, slow.std() / 4000**0.5)
        assert abs(quick.mean() - slow.mean()) <= 4 * error


def matrix_beta(models: FloatArray, learner: Learner, runs: int, rng: np.random.Generator) -> FloatArray:
    """The recursion with whole Beta matrices, one run at a time; needs n >= k and m - n >= k."""
    m, n, d = learner.features, learner.samples, models.shape[1]
    k = d + 1
    errors = np.empty(runs)
    for run in range(runs):
        a, q = np.zeros(d), 0.0
        for target in models:
            u = np.append(target - a, -q)
            parts = [rng.standard_normal((k, degrees)) for degrees in (n, m - n)]
            first, second = (z @ z.T for z in parts)
            values, vectors = np.linalg.eigh(first + second)
            root = (vectors / np.sqrt(values)) @ vectors.T
            values, vectors = np.linalg.eigh(root @ first @ root)
            half = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
            y = rng.standard_normal(k)
            unit = y / np.sqrt(y @ y + rng.chisquare(n - k))
            length = learner.noise * np.sqrt(rng.chisquare(n) / rng.chisquare(m - n + 1))
            noise = length * half @ unit
            inside = half @ half @ u + noise
            rest = u @ half @ half @ u + 2 * u @ noise + length**2 - inside @ inside
            a, q = a + inside[:d], np.sqrt((q + inside[d]) ** 2 + max(rest, 0))
        errors[run] = np.mean(np.sum((a - models) ** 2, axis=1)) + q**2
    return errors


def test_the_sampler_agrees_with_the_matrix_recursion() -> None:
    models = np.random.default_rng(2).standard_normal((3, 3))
    learner = Learner(24, 10, 0.5)
    rng = np.random.default_rng(3)
    whole, quick = (
        matrix_beta(models, learner, 3000, rng),
        low_dimensional(models, np.arange(3), learner, np.full(3, 10), 20_000, rng, np.ones(3)),
    )
    assert ks_2samp(whole, quick).pvalue > 1e-3


UNEQUAL = {
    "over": (9, [4, 6, 2, 5]),
    "under": (4, [7, 9, 12, 8]),
    "mixed, ends over": (6, [3, 9, 4, 2]),
    "mixed, ends under": (6, [3, 9, 4, 10]),
    "mixed, starts under": (6, [12, 2, 4, 3]),
}


@pytest.mark.parametrize(("features", "samples"), UNEQUAL.values(), ids=UNEQUAL.keys())
@pytest.mark.parametrize("noise", [0.0, 0.6])
def test_unequal_samples_both_samplers_and_the_closed_form_agree(
    features: int, samples: list[int], noise: float
) -> None:
    base = problem_of(features, features + 2, 4, noise, seed=5)
    problem = base.replace(samples=samples)
    assert problem.truth is not None
    assert problem.initial_model is not None
    rng = np.random.default_rng(4)
    for order in ((0, 1, 2, 3), (3, 1, 0, 2)):
        models, counts = (problem.truth - problem.initial_model)[list(order)], problem.counts[list(order)]
        quick, slow = (
            sample(models, np.arange(4), problem.learner, counts, 4000, rng, np.ones(4))
            for sample in (low_dimensional, direct)
        )
        if np.ptp(slow) > 1e-9:
            assert ks_2samp(quick, slow).pvalue > 1e-3
        else:
            np.testing.assert_allclose(quick, slow, atol=1e-9)
        found = simulate(problem, order, runs=200_000, seed=3)
        assert found.expected == pytest.approx(oracle.true_error(problem, order), rel=1e-12)
        if np.abs(np.array(samples) - features).min() > 3 or noise == 0:  # else there is no variance
            assert abs(found.mean - found.expected) <= 4 * found.standard_error + 1e-9


def test_direct_sampling_trains_as_the_learners_do() -> None:
    """The same features and noise through RouteRegressor give the same final error."""
    for m, n in ((4, 9), (9, 4)):
        problem = problem_of(m, n, 3, 0.4)
        assert problem.truth is not None
        assert problem.initial_model is not None
        models = problem.truth - problem.initial_model
        errors = direct(models, np.arange(3), problem.learner, problem.counts, 5, np.random.default_rng(8), np.ones(3))
        rng = np.random.default_rng(8)
        learners = [RouteRegressor() for _ in range(5)]
        for target in models:
            x, z = rng.standard_normal((5, n, m)), rng.standard_normal((5, n))
            for run, learner in enumerate(learners):
                learner.partial_fit(x[run], x[run] @ target + 0.4 * z[run])
        by_hand = [np.mean(np.sum((learner.coef_ - models) ** 2, axis=1)) for learner in learners]
        np.testing.assert_allclose(errors, by_hand, rtol=1e-8)


def test_same_seed_same_answer_and_chunks_do_not_matter() -> None:
    problem = problem_of(30, 10, 4, 0.5)
    first, again = (simulate(problem, [2, 0, 1, 3], runs=9000, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first.errors, again.errors)
    assert first.mean != simulate(problem, [2, 0, 1, 3], runs=9000, seed=5).mean
    longer = simulate(problem, [2, 0, 1, 3], runs=20_000, seed=4)
    np.testing.assert_array_equal(longer.errors[:8192], first.errors[:8192])


def test_interval_covers_the_closed_form_as_often_as_it_says() -> None:
    problem = problem_of(30, 10, 3, 0.5)
    inside = 0
    for seed in range(200):
        found = simulate(problem, [0, 1, 2], runs=300, seed=seed, level=0.9)
        low, high = found.interval
        inside += low <= found.expected <= high
    assert 160 <= inside <= 197  # 180 expected, standard deviation 4.2


def test_details_of_the_result() -> None:
    problem = problem_of(30, 10, 3, 0.5)
    found = simulate(problem, [0, 1, 2], runs=500)
    data = found.to_dict()
    assert list(data)[:5] == ["expected", "mean", "standard_error", "runs", "order"]
    travel = (problem.travel[0, 1] + problem.travel[1, 2]) / 3
    assert data["overall"]["expected"] == pytest.approx(data["expected"] + travel)
    assert data["overall"]["mean"] == pytest.approx(data["mean"] + travel)
    assert data["mean"] == pytest.approx(found.errors.mean())
    assert data["standard_error"] == pytest.approx(found.errors.std(ddof=1) / 500**0.5)
    assert data["truth"] == {"origin": "given", "met": 1.0}
    assert data["expected"] == true_loss(problem, [0, 1, 2]).error
    assert data["quantiles"]["0.5"] == pytest.approx(np.median(found.errors))


def test_infinite_variance_is_reported() -> None:
    assert any("no finite variance" in note for note in simulate(problem_of(8, 5, 3, 0.5), [0, 1, 2], runs=10).notes)
    assert any("no finite variance" in note for note in simulate(problem_of(5, 8, 3, 0.5), [0, 1, 2], runs=10).notes)
    assert not simulate(problem_of(9, 5, 3, 0.5), [0, 1, 2], runs=10).notes


def test_true_models_beyond_the_bounds_are_reported() -> None:
    truth = np.array([[0.0, 0.0], [3.0, 0.0]])
    problem = Problem([[0, 1], [1, 0]], Learner(9, 4), dissimilarity=[[0, 8], [8, 0]], initial=[9, 9], truth=truth)
    found = simulate(problem, [0, 1], runs=10)
    assert found.notes == ("Δ[R1, R2] = 8 but the true models are 9 apart (squared): the bound from Δ need not hold",)


def test_time_limit_keeps_what_was_drawn() -> None:
    problem = problem_of(30, 10, 4, 0.5)
    found = simulate(problem, [0, 1, 2, 3], runs=10**8, time_limit=1e-9)
    assert 2 <= found.runs < 10**8
    assert any("time limit was reached after" in note for note in found.notes)
    full = simulate(problem, [0, 1, 2, 3], runs=found.runs)
    np.testing.assert_array_equal(found.errors, full.errors)


def test_progress_is_reported() -> None:
    told: list[float] = []
    simulate(problem_of(30, 10, 4, 0.5), [0, 1, 2, 3], runs=20_000, progress=lambda _, share: told.append(share))
    assert told == sorted(told)
    assert len(told) > 3
    assert told[-1] == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 1}, "runs = 1: the number of runs must be >= 2"),
        ({"runs": 10**9}, "runs = 1000000000: must be <= 100,000,000"),
        ({"sampler": "quick"}, "sampler = 'quick': unknown; known are low-dimensional, direct"),
        ({"level": 95}, "level = 95: expected a confidence level above 0 and below 1"),
        ({"seed": -1}, "seed"),
        ({"time_limit": 0}, "seconds must be > 0"),
        ({"route": [0, 0, 1]}, "region 'R1' is visited 2 times"),
        ({"route": ["R1", "R2", "R9"]}, "there is no region 'R9'"),
        ({"route": "R1"}, "route = 'R1': expected a list of region names"),
    ],
)
def test_bad_input_is_rejected(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulate(**{"problem": problem_of(30, 10, 3, 0.5), "route": [0, 1, 2], **options})


def test_routes_are_given_by_names_or_indices_or_as_a_plan() -> None:
    problem = problem_of(30, 10, 3, 0.5)
    by_index = simulate(problem, [2, 0, 1], runs=50)
    for route in (["R3", "R1", "R2"], np.array([2, 0, 1]), evaluate(problem, ["R3", "R1", "R2"])):
        found = simulate(problem, route, runs=50)
        assert found.route == ("R3", "R1", "R2")
        np.testing.assert_array_equal(found.errors, by_index.errors)


def test_direct_sampling_rejects_what_does_not_fit_in_memory() -> None:
    with pytest.raises(RefusedError, match="use the low-dimensional sampler"):
        simulate(problem_of(10**6, 10**5, 3, 0.5, width=2), [0, 1, 2], sampler="direct")
