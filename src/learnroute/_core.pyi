"""
The compiled core: local search, construction, matching, proofs. No validation; callers check.
"""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray


class KdTree:
    """A k-d tree of places in three dimensions (Bentley 1975)."""

    def __init__(self, places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def nearest(self, count: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        For each place its nearest others, nearest first; ties by number. There must be that many.
        """

    def spanning_edges(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """The edges of a minimum spanning tree, one row each; ties by number."""

    def __iter__(self) -> Iterator[Any]:
        """
        Its arrays: items, 2 x nodes ranges of them, 6 x nodes corners; the halves of node k are 2k+1 and 2k+2.
        """

def lengths(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], unit: float, globe: bool, origins: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], goals: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """What it costs to go from each origin to its goal."""

class GreedyPaths:
    """Paths that greedy edges join (Bentley 1992)."""

    def __init__(self, size: int) -> None: ...

    def join(self, one: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], two: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """
        Join paths along these edges, in their order, where both ends are free; return how many were joined.
        """

    def ends(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The ends of all paths."""

    def path(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The regions along the path that the first end belongs to."""

def nearest_among(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], regions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], count: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    For each of these regions the nearest others of them, as places in their list.
    """

class ScoreBounds:
    """
    How far scores reach from the end of a tour, and what changes can gain.
    """

    def __init__(self, reach: int, floor: float, swing: float, powers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class TourScores:
    """The score part of a tour's value."""

class FallingScores(TourScores):
    """Weights are products of the factors of later regions."""

    def __init__(self, bounds: ScoreBounds, heaviest: float, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class PositionScores(TourScores):
    """Each position has a weight of its own."""

    def __init__(self, bounds: ScoreBounds, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class PairScores(TourScores):
    """The error of a regularised learner (`model.pairs`)."""

    @staticmethod
    def of(bounds: ScoreBounds, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], retention: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], plasticity: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coupling: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], noise: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], dissimilarity: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], counted: float, summed: float, common: float) -> PairScores:
        """The arrays are not copied; row j of `dissimilarity` has Δ[i, j]."""

class EdgeCosts:
    """What edges between the vertices of a tour cost."""

    @staticmethod
    def by_matrix(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], directed: bool) -> EdgeCosts:
        """The matrix is not copied."""

    @staticmethod
    def by_places(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], unit: float, globe: bool) -> EdgeCosts:
        """
        Each place has three coordinates, and what edges to `start` and `end` cost.
        """

    def __call__(self, a: int, b: int) -> float: ...

class EdgeCounts:
    """How many tours of a population have each edge."""

    def __init__(self, tours: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], entropies: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        `entropies` are those of an edge, by the number of tours that it is in.
        """

    def count(self, v: int, w: int) -> int: ...

    def entropy_lost(self, changes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> float:
        """
        What the entropy falls by if neighbours are replaced: rows of vertex, old and new neighbour.
        """

class EdgeAssembly:
    """Edge assembly crossover (Nagata and Kobayashi 2013)."""

    @staticmethod
    def of(costs: EdgeCosts, scores: TourScores | None, fixed: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], has_ends: bool, least_gain: float, most_credit: float, counts: EdgeCounts) -> EdgeAssembly: ...

    def cross(self, tours: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], children: int, batches: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Cross pairs (two tours and a seed): a better child takes the place of the first. Return the gains.
        """

    @property
    def counts(self) -> EdgeCounts: ...

    @property
    def kept(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """Changes of the last child kept: rows of vertex, old and new neighbour."""

def ab_cycles(tour: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], other: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int) -> list[Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    AB-cycles of two tours, each from a vertex that it leaves by an edge of the first.
    """

def find_detours(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], travel_back: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slack: float, shortest: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], first: int, last: int) -> int:
    """
    Lower `shortest` by detours with a short first leg; return how many save more than `slack`.
    """
