"""The law of distances: one visit, several models at once, merging; against simulated linear learners."""

from __future__ import annotations

import numpy as np
import pytest

from learnroute import Learner, LeastSquares, Problem, Proximal, error_over_time
from learnroute.model.dissimilarities import Dissimilarities
from learnroute.model.law import Distances, ModelErrors, Step, Updates, average, errors_after, follow, train
from learnroute.model.validation import FloatArray

M, RUNS = 12, 20_000


def squared(models: FloatArray) -> FloatArray:
    return np.asarray(((models[:, None] - models[None]) ** 2).sum(axis=2))


def train_runs(model: FloatArray, target: FloatArray, learner: Learner, rng: np.random.Generator) -> FloatArray:
    """Train each run's model on fresh samples, by the normal equations of the rule."""
    n = learner.samples
    x = rng.standard_normal((RUNS, n, M))
    missing = (target - model)[:, None, :] @ x.mT + learner.noise * rng.standard_normal((RUNS, 1, n))
    strength = learner.fixed_regularization[0] if isinstance(learner, Proximal) else 0.0
    step = np.linalg.solve(x.mT @ x + n * strength * np.eye(M), x.mT @ missing.mT)
    return np.asarray(model + step[:, :, 0])


def test_models_that_train_apart_and_merge_obey_the_law() -> None:
    """Two models, eight trainings and two rounds of averaging: all distances within 4 standard errors."""
    rng = np.random.default_rng(3)
    regions, first = rng.standard_normal((3, M)), rng.standard_normal(M)
    learner = Proximal(M, 15, 0.5, regularization=0.7)
    step = learner.step(15)
    law = Distances(squared(regions), ((regions - first) ** 2).sum(axis=1), 2)
    models = np.tile(first, (2, RUNS, 1))
    shares = np.array([0.3, 0.7])
    for k, (model, region) in enumerate([(0, 0), (1, 1), (0, 2), (1, 2), (0, 1), (0, 1), (1, 0), (1, 0)]):
        law.train(model, region, step)
        models[model] = train_runs(models[model], regions[region], learner, rng)
        if k == 3:
            law = Distances(law.dissimilarity, law.merge(shares), 2)
            models[:] = np.tensordot(shares, models, 1)

    def agrees(found: FloatArray, expected: float) -> None:
        assert abs(found.mean() - expected) < 4 * found.std() / RUNS**0.5

    merged = np.tensordot(shares, models, 1)
    agrees(((models[0] - models[1]) ** 2).sum(axis=1), law.between[0, 1])
    for j, region in enumerate(regions):
        for a in range(2):
            agrees(((models[a] - region) ** 2).sum(axis=1), law.to_regions[a, j])
        agrees(((merged - region) ** 2).sum(axis=1), law.merge(shares)[j])


def test_a_round_of_federated_averaging_trains_a_copy_per_region() -> None:
    rng = np.random.default_rng(4)
    delta, initial = squared(rng.standard_normal((5, 3))), rng.random(5)
    shares = rng.dirichlet(np.ones(5))
    steps = [Proximal(9, n, 0.4, regularization=0.3).step(n) for n in (3, 7, 12, 20, 41)]
    law = Distances(delta, initial, 5)
    for region, step in enumerate(steps):
        law.train(region, region, Step(*map(float, step)))
    by_region = Step(*(np.array(part, dtype=float).ravel() for part in zip(*steps, strict=True)))
    assert np.allclose(average(initial, by_region, shares, delta), law.merge(shares), rtol=1e-12)


@pytest.mark.parametrize("count", [0, 1, 5, 150])
def test_errors_in_closed_form_are_those_after_the_last_training(count: int) -> None:
    rng = np.random.default_rng(count)
    known = Dissimilarities(squared(rng.standard_normal((6, 3))), None, rng.random(6), np.zeros(6))
    order = rng.integers(6, size=count)
    retention, plasticity, coupling, second, noise = rng.random((5, count))
    along = Updates(retention, plasticity, coupling, second, noise)
    *_, last = ModelErrors(known.initial), *follow(ModelErrors(known.initial), order.tolist(), along, known)
    assert np.allclose(errors_after(known, order.tolist(), along).total, last.total, rtol=1e-12)


def test_least_squares_models_average_out() -> None:
    """Under regime: (1/k)·ΣS - (T/2k²)·ΣΣΔ + T·ν/k over the k last regions."""
    rng = np.random.default_rng(5)
    delta = squared(rng.standard_normal((4, 3)))
    step = LeastSquares(3, 20, 0.5).step(20)
    law = Distances(delta, np.ones(4), 2)
    law.train(0, 1, step)
    law.train(1, 3, step)
    expected = delta[[1, 3]].sum() / 2 - 4 / 8 * 2 * delta[1, 3] + 4 * step.noise / 2
    assert law.merge([0.5, 0.5]).sum() == pytest.approx(expected, rel=1e-12)


def test_one_step_for_many_models_is_the_step_for_each() -> None:
    rng = np.random.default_rng(1)
    own, common, rows = rng.random((6, 4)), rng.random(6), rng.random((6, 4))
    steps, regions, weights = Step(*rng.random((5, 6))), rng.integers(0, 4, 6), np.array([0.5, 0.0, 1.5, 2.0])
    together = train(ModelErrors(own, common), regions, steps, rows)
    for k in range(6):
        alone = train(ModelErrors(own[k], common[k]), int(regions[k]), Step(*(part[k] for part in steps)), rows[k])
        np.testing.assert_array_equal(alone.total, together.total[k])
        assert alone.mean(weights) == pytest.approx(together.mean(weights)[k], rel=1e-15)


def test_distances_of_one_model_are_its_error_history() -> None:
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((5, 3))
    problem = Problem(np.ones((5, 5)) - np.eye(5), Proximal(9, 7, 0.3, regularization=0.4), vectors=vectors,
                      initial=rng.random(5))  # fmt: skip
    law = Distances(squared(vectors), problem.initial, 1)
    history = error_over_time(problem, [3, 1, 4, 0, 2])
    for t, region in enumerate([3, 1, 4, 0, 2]):
        law.train(0, region, problem.learner.step(7))
        np.testing.assert_allclose(law.to_regions[0], history[t + 1], rtol=1e-12)
