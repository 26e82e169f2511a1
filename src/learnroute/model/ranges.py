"""The range of numbers compiled from a problem: travel, travel times its rate, and squared distances of vectors.

Like the numbers that are given, each is 0 or has a magnitude from `SMALLEST_VALUE` to `LARGEST_VALUE`. Distances of
points are checked without computing all of them: they are at most the diagonal of the bounding box, and only points
that are close in every coordinate can be too close.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from learnroute.errors import InputError
from learnroute.model.travel import Places, Travel
from learnroute.model.validation import LARGEST_VALUE, SMALLEST_VALUE, FloatArray, IntArray

RANGE = f"it must be 0 or from {SMALLEST_VALUE:g} to {LARGEST_VALUE:g}; use another unit"
FINEST = 2.0**-53  # two different float64 numbers differ by at least this share of the smaller magnitude
POLE = 1e-15  # km per degree: less than a degree of longitude at a latitude of 90 degrees, as it is computed

Distances = Callable[[int, IntArray], FloatArray]  # from one point to some points


def check_vectors_range(vectors: FloatArray, names: Sequence[str]) -> None:
    """Reject vectors whose squared distances are outside the range of numbers."""

    def apart(i: int, others: IntArray) -> FloatArray:
        return np.asarray(((vectors[others] - vectors[i]) ** 2).sum(axis=1))

    most = float((np.ptp(vectors, axis=0) ** 2).sum())
    if most > LARGEST_VALUE:
        raise InputError(RANGE, field="vectors", found=f"have squared distances of up to {most:g}")
    found = _closest(vectors, math.sqrt(SMALLEST_VALUE), apart)
    if found is not None:
        i, j, value = found
        said = f"of {names[i]!r} and {names[j]!r} have the squared distance {value:g}"
        raise InputError(RANGE, field="vectors", found=said)


def check_travel_range(travel: Travel, names: Sequence[str], rate: float) -> None:
    """Reject travel whose costs between stops, or these times the travel rate, are outside the range of numbers."""
    if isinstance(travel, Places):
        _check_places(travel, names, "coordinates", "have")
        if rate:
            _check_places(travel.scale_by(rate), names, "travel_rate", f"= {rate:g} leads to")
    elif rate not in (0.0, 1.0):
        costs = travel.matrix
        least, most = float(np.min(costs, where=costs > 0, initial=math.inf)), float(costs.max())
        for cost, wrong in ((least, rate * least < SMALLEST_VALUE), (most, rate * most > LARGEST_VALUE)):
            if wrong:
                raise InputError(
                    RANGE, field="travel_rate", found=f"= {rate:g} times the travel cost {cost:g} is {rate * cost:g}"
                )


def _check_places(travel: Places, names: Sequence[str], field: str, lead: str) -> None:
    """Reject places with distances, times `travel.scale`, outside the range of numbers."""
    places = travel.places
    most = travel.scale * (math.hypot(*np.ptp(places, axis=0)) if not travel.geographic else 2e4)
    if most > LARGEST_VALUE:
        raise InputError(RANGE, field=field, found=f"{lead} distances of up to {most:g}")
    degree = POLE if travel.geographic else 1.0
    found = _closest(places, SMALLEST_VALUE / (travel.scale * degree), travel.between)
    if found is not None:
        i, j, value = found
        raise InputError(
            RANGE, field=field, found=f"{lead} the distance {value:g} between {names[i]!r} and {names[j]!r}"
        )


def _closest(points: FloatArray, gap: float, apart: Distances) -> tuple[int, int, float] | None:
    """Return two points, and their distance, that is too small; points that differ by `gap` in a coordinate are not."""
    if FINEST * float(np.abs(points).min(where=points != 0, initial=math.inf)) >= gap:
        return None
    for group in _groups(points, gap):
        for k, i in enumerate(group):
            others = group[k + 1 :]
            distances = apart(int(i), others)
            wrong = np.flatnonzero((distances > 0) & (distances < SMALLEST_VALUE))
            if wrong.size:
                return int(i), int(others[wrong[0]]), float(distances[wrong[0]])
    return None


def _groups(points: FloatArray, gap: float) -> Iterator[IntArray]:
    """Yield groups of different points: two points that differ by less than `gap` in all coordinates are in one."""
    different = np.unique(points, axis=0, return_index=True)[1]
    labels = np.zeros((len(different), points.shape[1]), dtype=np.int64)
    for column, coordinates in enumerate(points[different].T):
        order = np.argsort(coordinates)
        labels[order[1:], column] = np.cumsum(np.diff(coordinates[order]) >= gap)
    codes = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(codes, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        if len(group) > 1:
            yield different[group]
