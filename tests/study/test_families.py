from __future__ import annotations

import numpy as np
import pytest

from learnroute import InputError
from learnroute.study.families import random_problem
from samples import ALL_FAMILIES, OVER, UNDER


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_same_seed_same_problem_whatever_the_learner(family: str) -> None:
    a, b = random_problem(family, 7, UNDER, 4), random_problem(family, 7, OVER, 4)
    assert np.array_equal(a.travel, b.travel)
    assert np.array_equal(a.scores, b.scores)
    assert not np.array_equal(a.travel, random_problem(family, 7, UNDER, 5).travel)


def test_ranges_are_as_named() -> None:
    uniform, five = random_problem("uniform", 60, UNDER, 1), random_problem("uniform5", 60, UNDER, 1)
    off = ~np.eye(60, dtype=bool)
    for matrix, low in ((uniform.travel, 1), (five.travel, 5), (uniform.dissimilarity, 1)):
        assert matrix is not None
        values = matrix[off]
        assert low <= values.min() < low + 0.1
        assert 9.9 < values.max() <= 10
    assert 1 <= uniform.initial.min() < uniform.initial.max() <= 10


def test_vectors_resemble_the_other_families_in_size() -> None:
    problem = random_problem("vectors", 400, UNDER, 1)
    assert problem.dissimilarity is None
    assert problem.scores.mean() / 399 == pytest.approx(5.5, rel=0.1)


def test_euclidean_travel_is_the_distance_of_the_coordinates() -> None:
    problem = random_problem("euclidean", 5, UNDER, 1)
    assert problem.coordinates is not None
    step = problem.coordinates[1] - problem.coordinates[3]
    assert problem.travel[1, 3] == pytest.approx(float(np.sqrt((step**2).sum())))


def test_unknown_families_are_rejected() -> None:
    with pytest.raises(InputError, match="family = 'x': unknown; known are uniform"):
        random_problem("x", 5, UNDER)
