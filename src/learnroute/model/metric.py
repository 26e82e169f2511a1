"""Check whether a travel matrix is a metric and by how much it is not, and repair it."""

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

ROWS_AT_ONCE = 5  # regions between two checks of the clock


@dataclass(frozen=True)
class MetricReport:
    """The result of checking symmetry and the triangle inequality.

    Attributes
    ----------
    symmetric
        Whether travel costs the same in both directions.
    worst
        The triple (i, via, j) whose detour through `via` saves most, or None if no detour saves anything.
    excess
        The saving of that detour: travel[i, j] - travel[i, via] - travel[via, j].
    violations, triples
        The number of ordered triples of distinct regions that violate the inequality, and the number of all triples.
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
    """Check symmetry and the triangle inequality, in O(T³) unless costs are so similar that it must hold.

    Parameters
    ----------
    travel
        T × T travel costs.

    Returns
    -------
    MetricReport
        Whether travel is symmetric, and the triple that violates the triangle inequality most.

    Raises
    ------
    InputError
        If the matrix is not square, or has entries that are not valid travel costs.
    """
    report = metric_report(travel, lambda: False)
    assert report is not None
    return report


def metric_report(travel: ArrayLike, stop: Callable[[], bool]) -> MetricReport | None:
    """Do the same, but return None if `stop`, which is called from time to time, returns true.

    If a detour saves something, one of its two legs costs less than half of the direct travel. So only detours with
    such a short first leg are examined, in both directions.
    """
    travel = _costs(travel)
    size = len(travel)
    triples = size * (size - 1) * (size - 2)
    symmetric = is_symmetric(travel)
    slack = SAME * float(travel.max())
    if _is_trivially_metric(travel):
        return MetricReport(symmetric, None, 0.0, 0, triples)
    back = np.ascontiguousarray(travel.T)
    forth = _cheapest_detours(travel, back, slack, stop)
    other = forth if symmetric else _cheapest_detours(back, travel, slack, stop)
    if forth is None or other is None:
        return None
    violations = (forth[1] + other[1]) // 2
    if violations == 0:
        return MetricReport(symmetric, None, 0.0, 0, triples)
    saved = travel - np.minimum(forth[0], other[0].T)
    i, j = divmod(int(np.argmax(saved)), size)
    via = int(np.argmin(travel[i] + travel[:, j]))
    return MetricReport(symmetric, (i, via, j), float(saved[i, j]), violations, triples)


def _cheapest_detours(
    travel: FloatArray, back: FloatArray, slack: float, stop: Callable[[], bool]
) -> tuple[FloatArray, int] | None:
    """Return the cost of each pair's best detour with a short first leg, and how many detours save (`find_detours`)."""
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
    """Replace each cost by that of the cheapest path through other regions.

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
        If the matrix is not square, or has entries that are not valid travel costs.
    """
    travel = _costs(travel)
    closed = np.array(travel)
    for via in range(len(closed)):
        np.minimum(closed, closed[:, via, None] + closed[None, via, :], out=closed)
    changed = travel - closed > SAME * float(travel.max())
    return freeze(np.where(changed, closed, travel)), np.argwhere(changed)


def _costs(travel: ArrayLike) -> FloatArray:
    """Return validated travel costs between at least two regions."""
    costs = as_square("travel", align_square("travel", travel), None, meaning="travel costs")
    if len(costs) < 2:
        raise InputError("at least 2 regions are needed", field="travel", found=f"has {len(costs)} rows")
    return costs


def _is_trivially_metric(travel: FloatArray) -> bool:
    """Return whether no cost exceeds twice the smallest one, so that no detour can save anything."""
    off_diagonal = travel[~np.eye(len(travel), dtype=bool)]
    return bool(off_diagonal.max() <= 2 * off_diagonal.min())
