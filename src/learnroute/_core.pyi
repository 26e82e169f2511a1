"""
The compiled core: local search, construction, matching, proofs. No validation; callers check.
"""

from typing import Annotated

import numpy
import numpy.typing
from numpy.typing import NDArray


def put_quadrant_neighbours(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], items: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ranges: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], boxes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], lists: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Put the two nearest places of each quadrant into lists of the nearest, in the place of the farthest others.
    """

def relative_neighbours(travel: numpy.typing.NDArray[numpy.float64], most: int, first: int, last: int) -> numpy.typing.NDArray[numpy.int64]:
    """
    Return candidate lists of the regions `first` to `last` - 1: relative neighbours, then the nearest regions.
    """

class AlphaNearness:
    """α-nearness on a sparse graph (Helsgaun 2000)."""

    def __init__(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_step: float) -> None:
        """
        The edges of vertex v are start[v] … start[v + 1] - 1, each edge once in each direction.
        """

    def ascend(self, steps: int) -> bool:
        """
        Raise the 1-tree bound by at most so many subgradient steps; return whether the ascent is over.
        """

    @property
    def bound(self) -> float:
        """The best bound found."""

    @property
    def multipliers(self) -> numpy.typing.NDArray[numpy.float64]:
        """The multipliers of that bound."""

    def candidate_lists(self, multipliers: numpy.typing.NDArray[numpy.float64], most: int) -> numpy.typing.NDArray[numpy.int64]:
        """
        Return for each vertex the `most` others of least α-value at some multipliers.
        """

class MinimumWeightMatching:
    """
    Minimum-weight perfect matching on a sparse graph with even integer weights (Edmonds 1965).
    """

    def __init__(self, size: int, source: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Match greedily. Each edge is given once in each direction, sorted by source.
        """

    def match_next(self, first: int, most: int) -> int:
        """
        Search from up to `most` unmatched vertices, `first` on; return where to go on: the number of vertices when done, -1 if there is no perfect matching.
        """

    def dual_solution(self) -> tuple[numpy.typing.NDArray[numpy.int64], list[tuple[numpy.typing.NDArray[numpy.int64], int]]]:
        """
        Return each vertex's own dual value, and the odd sets of positive value with theirs.
        """

    def unfold(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        Return each vertex's mate, -1 if it has none. The dual solution is gone afterwards.
        """

class Pricing:
    """
    Edges of a complete graph with negative reduced cost (Cook and Rohe 1999).
    """

    def __init__(self, matching: MinimumWeightMatching) -> None: ...

    def negative_pairs(self, weights: numpy.typing.NDArray[numpy.float64], scale: float, first: int, last: int, most: int) -> numpy.typing.NDArray[numpy.int64]:
        """
        Return pairs (i, j), i < j, i from `first` to `last` - 1, at most `most` per i; none only if there are none.
        """

    def negative_pairs_of_places(self, places: numpy.typing.NDArray[numpy.float64], unit: float, round: bool, scale: float, first: int, last: int, most: int) -> numpy.typing.NDArray[numpy.int64]:
        """Do the same where weights are distances."""

def find_detours(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], travel_back: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slack: float, shortest: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], first: int, last: int) -> int:
    """
    Lower `shortest` by detours with a short first leg; return how many save more than `slack`.
    """
