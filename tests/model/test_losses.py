from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import oracle
from learnroute import (
    Fleet,
    InputError,
    Learner,
    Problem,
    Proximal,
    error_over_time,
    expected_loss,
    plan,
    true_loss,
)
from learnroute.model.routes import Routes
from learnroute.study.families import random_problem
from samples import ALL_FAMILIES, LEARNERS, linear_of, small


@pytest.mark.parametrize("family", ALL_FAMILIES)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("size", [2, 3, 5])
def test_closed_forms_and_objective_agree_with_the_paper_for_all_orders(
    family: str, learner: Learner, size: int
) -> None:
    problem = random_problem(family, size, learner, seed=size)
    objective = linear_of(problem)
    for order in itertools.permutations(range(size)):
        expected = oracle.loss_of(problem, order)
        assert expected_loss(problem, order).to_dict() == pytest.approx(expected, rel=1e-12)
        assert objective(order) / size == pytest.approx(expected["total"], rel=1e-12)
        assert problem.instance(Routes.of_order(order)) / size == pytest.approx(expected["total"], rel=1e-12)


def test_worked_example_in_the_under_regime() -> None:
    loss = expected_loss(small(Learner(80, 100, 0.5)), [3, 2, 0, 1])
    assert loss.travel == pytest.approx((2 + 3 + 2) / 4)
    assert loss.dissimilarity == pytest.approx((3 + 1 + 1) / 4)
    assert loss.initial == 0
    assert loss.noise == pytest.approx(80 * 0.25 / 19)
    assert loss.total == pytest.approx(1.75 + 1.25 + 20 / 19)
    assert loss.error == pytest.approx(1.25 + 20 / 19)


def test_worked_example_in_the_over_regime() -> None:
    loss = expected_loss(small(Learner(200, 100, 1.0)), [3, 2, 0, 1])  # r = 1/2
    assert loss.dissimilarity == pytest.approx((10 / 16 + 10 / 8 + 7 / 4 + 5 / 2) / 4)
    assert loss.initial == pytest.approx(10 / 16 / 4)
    assert loss.noise == pytest.approx(15 / 16 * 200 / 99)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_true_loss_is_the_closed_form_with_true_distances(learner: Learner) -> None:
    rng = np.random.default_rng(5)
    width = min(4, learner.features)
    truth, start = rng.normal(size=(5, width)), rng.normal(size=width)
    base = random_problem("closure", 5, learner, 5)
    problem = Problem(base.travel, learner, base.dissimilarity, truth=truth, initial_model=start)
    initial = [float(((w - start) ** 2).sum()) for w in truth]
    for order in itertools.permutations(range(5)):
        expected = oracle.loss_parts(
            order,
            base.travel,
            oracle.squared_distances(truth),
            initial,
            learner.features,
            learner.samples,
            learner.noise,
        )
        assert true_loss(problem, order).to_dict() == pytest.approx(expected, rel=1e-12)


def test_true_loss_needs_the_truth() -> None:
    with pytest.raises(InputError, match="truth: missing"):
        true_loss(small(), [0, 1, 2, 3])


def test_bounds_that_are_the_true_distances_give_the_true_loss() -> None:
    vectors = np.random.default_rng(1).normal(size=(6, 3))
    base = random_problem("euclidean", 6, LEARNERS["over"], 1)
    initial = (vectors**2).sum(axis=1)
    problem = Problem(base.travel, LEARNERS["over"], vectors=vectors, initial=initial, truth=vectors)
    assert true_loss(problem, range(6)).to_dict() == pytest.approx(
        expected_loss(problem, range(6)).to_dict(), rel=1e-12
    )


@pytest.mark.parametrize("family", ALL_FAMILIES)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_errors_over_time_end_at_the_expected_error(family: str, learner: Learner) -> None:
    problem = random_problem(family, 7, learner, seed=3)
    for order in ([0, 1, 2, 3, 4, 5, 6], [4, 2, 6, 0, 5, 1, 3]):
        errors = error_over_time(problem, order)
        assert errors.shape == (8, 7)
        assert errors[-1].mean() == pytest.approx(expected_loss(problem, order).error, rel=1e-12)
        assert errors[0].tolist() == problem.initial.tolist()
        assert errors == pytest.approx(np.array(oracle.errors_over_time(problem, order)), rel=1e-9)


@pytest.mark.parametrize(("m", "n"), [(14, 6), (4, 12)], ids=["over", "under"])
def test_errors_over_time_are_what_learners_measure(m: int, n: int) -> None:
    """Actually trained least-squares learners: minimum-norm change (over), from scratch (under)."""
    rng = np.random.default_rng(11)
    truth, first, sigma, runs = rng.normal(size=(3, m)), rng.normal(size=m), 0.7, 6000
    learner = Learner(m, n, sigma)
    problem = Problem(np.ones((3, 3)) - np.eye(3), learner, vectors=truth, initial=((truth - first) ** 2).sum(axis=1))
    model = np.tile(first, (runs, 1))
    for t, region in enumerate([2, 0, 1], 1):
        features = rng.normal(size=(runs, n, m))
        labels = features @ truth[region] + sigma * rng.normal(size=(runs, n))
        missed = labels - np.einsum("rnm,rm->rn", features, model)
        model += np.einsum("rmn,rn->rm", np.linalg.pinv(features), missed)
        measured = ((model[:, None, :] - truth) ** 2).sum(axis=2)
        slack = 4.5 * measured.std(axis=0) / np.sqrt(runs)
        assert np.all(np.abs(measured.mean(axis=0) - error_over_time(problem, [2, 0, 1])[t]) < slack)


def test_position_weights_add_up_to_what_is_learnt() -> None:
    for learner in LEARNERS.values():
        problem = Problem(np.ones((30, 30)) - np.eye(30), learner, np.zeros((30, 30)))
        weights = problem.instance.shares(range(30))
        assert np.all(np.diff(weights) >= 0)
        assert math.fsum(weights) == pytest.approx(
            1 - max(0.0, 1 - learner.samples / learner.features) ** 30, rel=1e-12
        )


def test_noise_keeps_its_digits_if_the_model_hardly_moves() -> None:
    """With r = 1 - 1e-12, one minus r^T computed naively has three digits left."""
    problem = Problem(np.ones((10, 10)) - np.eye(10), Learner(10**15, 1000, 1.0), np.zeros((10, 10)))
    assert expected_loss(problem, range(10)).noise == pytest.approx(10 * 1e-12, rel=1e-9)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0, 1, 2], "region 'D' is missing"),
        ([0, 1, 2, 2], "region 'C' is visited 2 times"),
        ([0, 1, 2, 4], "there is no region 4"),
        ([0, 1, 2, -1], "there is no region -1"),
        ([], "region 'A' is missing"),
        ([0.0, 1.0, 2.0, 3.0], "a list of region indices"),
        ([[0, 1], [2, 3]], "a list of region indices"),
    ],
)
def test_invalid_routes_are_rejected(order: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        expected_loss(small(), order)


@pytest.mark.parametrize("learner", [Learner(5, 9, 0.1), Proximal(5, 9, 0.1, regularization=2.0)])
def test_losses_are_plain_floats(learner: Learner) -> None:
    rng = np.random.default_rng(0)
    problem = Problem(np.ones((4, 4)) - np.eye(4), learner, vectors=rng.standard_normal((4, 5)), initial=np.ones(4))
    for one in (problem, problem.replace(initial=None), problem.replace(fleet=Fleet(vehicles=2))):
        assert "np.float64" not in repr(plan(one).loss)
