"""The streets along which travel was measured, if they are known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from learnroute.model.validation import FloatArray, freeze

Way = Sequence[Sequence[float]]  # places, from one region to another, both ends included


class Streets(ABC):
    """The course of a cheapest path between any two regions. Immutable."""

    @abstractmethod
    def path(self, origin: int, goal: int) -> FloatArray:
        """Return the places on the path from one region to another, both ends included, as rows of two coordinates."""


class KnownPaths(Streets):
    """Given paths: `ways[i][j]` leads from region i to j; None stands for a straight line."""

    def __init__(self, ways: Sequence[Sequence[Way | None]], places: FloatArray) -> None:
        self.ways = ways
        self.places = places

    def path(self, origin: int, goal: int) -> FloatArray:
        """Return the given path, or a straight line."""
        way = self.ways[origin][goal]
        return freeze(self.places[[origin, goal]] if way is None else np.array(way, dtype=np.float64))


def paths_between(streets: Streets, size: int, most: int) -> list[list[list[list[float]] | None]] | None:
    """Return the paths between all pairs of regions; None if they have more than `most` places in total."""
    count, found = 0, []
    for i in range(size):
        row: list[list[list[float]] | None] = []
        for j in range(size):
            row.append(None if i == j else streets.path(i, j).tolist())
            count += len(row[-1] or ())
        if count > most:
            return None
        found.append(row)
    return found
