"""Checks of arrays."""

from __future__ import annotations

import numpy as np
import pytest

from learnroute.model.validation import is_symmetric


@pytest.mark.parametrize("size", [1, 2, 256, 300, 520])
def test_one_entry_decides_whether_a_matrix_is_symmetric(size: int) -> None:
    rng = np.random.default_rng(size)
    matrix = rng.uniform(0, 1, (size, size))
    matrix = matrix + matrix.T
    assert is_symmetric(matrix)
    for _ in range(20 if size > 1 else 0):
        i, j = rng.choice(size, 2, replace=False)
        matrix[i, j] += 1
        assert not is_symmetric(matrix)
        matrix[i, j] = matrix[j, i]
