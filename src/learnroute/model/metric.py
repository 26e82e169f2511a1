"""Is a travel matrix a metric? Where not, by how much, and what would repair it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from learnroute._core import find_detours
from learnroute.errors import InputError
from learnroute.model.labelled_tables import align_square
from learnroute.model.rounding import SAME
from learnroute.model.validation import FloatArray, IntArray, as_square, freeze, is_symmetric

ROWS_AT_ONCE = 5  # regions between two looks at the clock


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
    report = metric_report(travel, lambda: False)
    assert report is not None
    return report


def metric_report(travel: ArrayLike, stop: Callable[[], bool]) -> MetricReport | None:
    """Do the same, but return None where `stop`, asked now and then, says so.

    One of the two legs of a detour that saves something is less than half of the direct way. So only detours are looked
    at whose first leg is that short, in both directions.
    """
    travel = _costs(travel)
    size = len(travel)
    triples = size * (size - 1) * (size - 2)
    symmetric = is_symmetric(travel)
    slack = SAME * float(travel.max())
    if _surely_metric(travel):
        return MetricReport(symmetric, None, 0.0, 0, triples)
    back = np.ascontiguousarray(travel.T)
    forth = _cheapest_ways(travel, back, slack, stop)
    other = forth if symmetric else _cheapest_ways(back, travel, slack, stop)
    if forth is None or other is None:
        return None
    violations = (forth[1] + other[1]) // 2
    if violations == 0:
        return MetricReport(symmetric, None, 0.0, 0, triples)
    saved = travel - np.minimum(forth[0], other[0].T)
    i, j = divmod(int(np.argmax(saved)), size)
    via = int(np.argmin(travel[i] + travel[:, j]))
    return MetricReport(symmetric, (i, via, j), float(saved[i, j]), violations, triples)


def _cheapest_ways(
    travel: FloatArray, back: FloatArray, slack: float, stop: Callable[[], bool]
) -> tuple[FloatArray, int] | None:
    """Return each way's cost by the best detour with a short first leg, and how many save (`find_detours`)."""
    size, twice = len(travel), 0
    shortest, near = travel.copy(), np.empty(travel.shape, dtype=np.int64)
    for start in range(0, size, ROWS_AT_ONCE):
        if stop():
            return None
        rows = slice(start, min(start + ROWS_AT_ONCE, size))
        near[rows] = np.argsort(travel[rows], axis=1, kind="stable")
        twice += find_detours(travel, back, near, slack, shortest, rows.start, rows.stop)
    return shortest, twice


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
    return freeze(np.where(changed, closed, travel)), np.argwhere(changed)


def _costs(travel: ArrayLike) -> FloatArray:
    """Return checked travel costs between at least two regions."""
    costs = as_square("travel", align_square("travel", travel), None, meaning="travel costs")
    if len(costs) < 2:
        raise InputError("at least 2 regions are needed", field="travel", found=f"has {len(costs)} rows")
    return costs


def _surely_metric(travel: FloatArray) -> bool:
    """No cost is above twice the least one, so no detour can pay."""
    off_diagonal = travel[~np.eye(len(travel), dtype=bool)]
    return bool(off_diagonal.max() <= 2 * off_diagonal.min())
