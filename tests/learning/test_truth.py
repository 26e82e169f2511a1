"""Drawn true models: exact if Δ are squared distances, otherwise below Δ and as close as possible."""

import numpy as np
import pytest
from scipy.optimize import minimize

from learnroute import InputError, Learner, Problem
from learnroute.learning import simulate, truth_of
from learnroute.model.validation import FloatArray


def squares(points: FloatArray) -> FloatArray:
    return np.array([[np.sum((a - b) ** 2) for b in points] for a in points])


def flat(size: int) -> FloatArray:
    return np.ones((size, size)) - np.eye(size)


def test_squared_distances_are_reproduced_exactly() -> None:
    points = np.random.default_rng(0).standard_normal((7, 4))
    delta = squares(points)
    problem = Problem(flat(6), Learner(30, 10), dissimilarity=delta[:6, :6], initial=delta[6, :6])
    truth = truth_of(problem, np.random.default_rng(1))
    np.testing.assert_allclose(squares(truth.models), delta[:6, :6], atol=1e-9)
    np.testing.assert_allclose(np.sum((truth.models - truth.initial_model) ** 2, axis=1), delta[6, :6], atol=1e-9)
    assert (truth.origin, truth.met, truth.notes) == ("drawn", 1.0, ())


def test_vectors_are_reproduced_exactly() -> None:
    points = np.random.default_rng(0).standard_normal((5, 9))
    problem = Problem(flat(5), Learner(30, 10), vectors=points)
    truth = truth_of(problem, np.random.default_rng(1))
    np.testing.assert_allclose(squares(truth.models), squares(points), atol=1e-9)
    np.testing.assert_allclose(truth.initial_model, truth.models.mean(axis=0), atol=1e-9)
    assert any("is the mean of the true models" in note for note in truth.notes)


@pytest.mark.parametrize("size", [5, 9, 14])
def test_other_matrices_are_approached_from_below(size: int) -> None:
    rng = np.random.default_rng(size)
    delta = np.triu(rng.uniform(1, 10, (size, size)), 1)
    delta = delta + delta.T
    problem = Problem(flat(size), Learner(30, 10), dissimilarity=delta, initial=rng.uniform(1, 10, size))
    truth = truth_of(problem, rng)
    wanted = np.block([[delta, problem.initial[:, None]], [problem.initial[None], np.zeros((1, 1))]])
    points = np.vstack([truth.models, truth.initial_model])
    found = squares(points)
    assert (found <= wanted * (1 + 1e-9)).all()
    assert 0.3 < truth.met < 1
    assert truth.met == pytest.approx(found.sum() / wanted.sum())
    assert any("no true models have exactly these dissimilarities" in note for note in truth.notes)
    for _ in range(300):  # no other models nearby come nearer without exceeding Δ
        other = squares(points + rng.normal(0, 0.05, points.shape))
        other = other * min(1.0, float((wanted[other > 0] / other[other > 0]).min()))
        assert np.sum((wanted - other) ** 2) > 0.999 * np.sum((wanted - found) ** 2)


def test_distances_are_as_close_as_a_general_optimiser_finds() -> None:
    rng = np.random.default_rng(5)
    delta = np.triu(rng.uniform(1, 10, (6, 6)), 1)
    delta = delta + delta.T
    truth = truth_of(Problem(flat(6), Learner(30, 10), dissimilarity=delta), rng)
    ours = np.sum((delta - squares(truth.models)) ** 2)
    above = np.triu_indices(6, 1)

    def room(flattened: FloatArray) -> FloatArray:
        return (delta - squares(flattened.reshape(6, 5)))[above]

    found = [
        minimize(
            lambda x: np.sum(room(x) ** 2), start.ravel(), method="SLSQP", constraints={"type": "ineq", "fun": room}
        )
        for start in (np.pad(truth.models, ((0, 0), (0, 5 - truth.models.shape[1]))), rng.standard_normal((6, 5)))
    ]
    best = min(2 * result.fun for result in found if result.success)
    assert ours <= best * (1 + 1e-4)


def test_impossible_triangle_is_flattened() -> None:
    """Distances 1, 1 and 4 (squares 1, 1, 16): the nearest from below put the third point in the middle."""
    problem = Problem(flat(3), Learner(30, 10), dissimilarity=[[0, 16, 1], [16, 0, 1], [1, 1, 0]])
    truth = truth_of(problem, np.random.default_rng(0))
    np.testing.assert_allclose(squares(truth.models), [[0, 4, 1], [4, 0, 1], [1, 1, 0]], atol=1e-3)


def test_no_more_dimensions_than_features() -> None:
    delta = np.ones((6, 6)) - np.eye(6)  # a simplex: needs 5 dimensions
    problem = Problem(flat(6), Learner(3, 1), dissimilarity=delta)
    truth = truth_of(problem, np.random.default_rng(0))
    assert truth.models.shape[1] <= 3
    assert (squares(truth.models) <= 1 + 1e-9).all()
    assert truth.met < 1


def test_equal_regions_and_large_problems() -> None:
    nothing = Problem(flat(3), Learner(30, 10), dissimilarity=np.zeros((3, 3)))
    assert not squares(truth_of(nothing, np.random.default_rng(0)).models).any()
    large = Problem(flat(1001), Learner(30, 10), vectors=np.ones((1001, 1)))
    with pytest.raises(InputError, match="drawn for at most 1000 regions"):
        truth_of(large, np.random.default_rng(0))


def test_the_bound_holds_for_drawn_models() -> None:
    """Assumption 1 holds for them, so (e8) and (e14) are upper bounds of what is simulated."""
    rng = np.random.default_rng(4)
    delta = np.triu(rng.uniform(1, 10, (6, 6)), 1)
    for m, n in ((120, 100), (80, 100)):
        problem = Problem(flat(6), Learner(m, n, 0.3), dissimilarity=delta + delta.T, initial=rng.uniform(1, 10, 6))
        found = simulate(problem, [3, 1, 0, 2, 5, 4], runs=3000)
        assert abs(found.mean - found.expected) <= 4 * found.standard_error
        assert found.expected <= found.bound.error
        assert found.truth.origin == "drawn"


def test_vectors_far_from_the_origin_are_reproduced() -> None:
    points = np.random.default_rng(0).integers(-20, 20, (5, 3)).astype(float)
    problem = Problem(flat(5), Learner(30, 10), vectors=points + 1e15)
    truth = truth_of(problem, np.random.default_rng(1))
    np.testing.assert_allclose(squares(truth.models), squares(points), rtol=1e-9, atol=1e-7)
    assert truth.met == 1.0
