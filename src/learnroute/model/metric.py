"""Is a travel matrix a metric? Where not, by how much, and what would repair it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError
from learnroute.kernels import kernel
from learnroute.model.labels import aligned_square
from learnroute.model.rounding import SAME
from learnroute.model.validation import FloatArray, IntArray, as_square, frozen, is_symmetric


@dataclass(frozen=True)
class MetricReport:
    """What the check of the triangle inequality found.

    Attributes
    ----------
    symmetric
        Whether every way costs the same in both directions.
    worst
        The triple (i, via, j) whose detour through `via` saves most, or None where no detour saves anything.
    excess
        How much that detour saves: travel[i, j] - travel[i, via] - travel[via, j].
    violations, triples
        How many ordered triples of distinct regions violate the inequality, and how many there are.
    """

    symmetric: bool
    worst: tuple[int, int, int] | None
    excess: float
    violations: int
    triples: int

    @property
    def triangle(self) -> bool:
        """Whether the triangle inequality holds."""
        return self.worst is None

    @property
    def metric(self) -> bool:
        """Whether Algorithm 1's guarantee may be claimed: symmetric, and no detour saves anything."""
        return self.symmetric and self.triangle


def check_metric(travel: ArrayLike) -> MetricReport:
    """Check symmetry and the triangle inequality, in O(T³) unless costs are so even that it must hold.

    Parameters
    ----------
    travel
        T × T travel costs.

    Returns
    -------
    MetricReport
        Whether travel is symmetric, and the triple that breaks the triangle inequality most.

    Raises
    ------
    InputError
        Where the matrix is not square, or has entries that are no travel costs.
    """
    travel = _costs(travel)
    size = len(travel)
    triples = size * (size - 1) * (size - 2)
    symmetric = is_symmetric(travel)
    slack = SAME * float(travel.max())
    if _surely_metric(travel):
        return MetricReport(symmetric, None, 0.0, 0, triples)
    shortest, violations = _detours.on_size(size, 12)(travel, slack)
    saved = travel - shortest
    i, j = divmod(int(np.argmax(saved)), size)
    if violations == 0:
        return MetricReport(symmetric, None, 0.0, 0, triples)
    via = int(np.argmin(travel[i] + travel[:, j]))
    return MetricReport(symmetric, (i, via, j), float(saved[i, j]), int(violations), triples)


def metric_closure(travel: ArrayLike) -> tuple[FloatArray, IntArray]:
    """Replace each cost by the cheapest way through other regions.

    Parameters
    ----------
    travel
        T × T travel costs.

    Returns
    -------
    tuple of two numpy.ndarray
        The repaired matrix, and the (i, j) pairs that changed, one row each.

    Raises
    ------
    InputError
        Where the matrix is not square, or has entries that are no travel costs.
    """
    travel = _costs(travel)
    closed = np.array(travel)
    for via in range(len(closed)):
        np.minimum(closed, closed[:, via, None] + closed[None, via, :], out=closed)
    changed = travel - closed > SAME * float(travel.max())
    return frozen(np.where(changed, closed, travel)), np.argwhere(changed)


def _costs(travel: ArrayLike) -> FloatArray:
    """Return checked travel costs between at least two regions."""
    costs = as_square("travel", aligned_square("travel", travel), None, meaning="travel costs")
    if len(costs) < 2:
        raise InputError("at least 2 regions are needed", field="travel", found=f"has {len(costs)} rows")
    return costs


def _surely_metric(travel: FloatArray) -> bool:
    """No cost is above twice the least one, so no detour can pay."""
    off_diagonal = travel[~np.eye(len(travel), dtype=bool)]
    return bool(off_diagonal.max() <= 2 * off_diagonal.min())


@kernel
def _detours(travel: FloatArray, slack: float) -> tuple[FloatArray, int]:
    """Cheapest cost of each pair by at most one stop, and the number of ordered triples that save over `slack`."""
    size = len(travel)
    shortest = travel.copy()
    violations = 0
    for i in range(size):
        for via in range(size):
            leg = travel[i, via]
            for j in range(size):
                cost = leg + travel[via, j]
                if cost < shortest[i, j]:
                    shortest[i, j] = cost
                if cost < travel[i, j] - slack:
                    violations += 1
    return shortest, violations
