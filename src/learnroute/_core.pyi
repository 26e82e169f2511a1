"""
The compiled core: local search, construction, matching, proofs. No validation; callers check.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Costs:
    """What edges between vertices cost."""

    @staticmethod
    def from_matrix(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], finish: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], directed: bool, has_ends: bool) -> Costs:
        """
        Travel between regions, renumbered along an order; and what beginning and ending at each of these costs.
        """

    @staticmethod
    def from_places(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], unit: float, globe: bool, begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], finish: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], has_ends: bool) -> Costs:
        """
        Places in three dimensions, in the plane or on the unit sphere; and the costs of ends.
        """

    def __call__(self, a: int, b: int) -> float:
        """Return the cost of an edge."""

    @property
    def vertices(self) -> int:
        """How many vertices there are."""

class Candidates:
    """Candidate lists of all vertices, sorted by distance."""

    def __init__(self, costs: Costs, lists: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def length(self) -> int:
        """Entries per list."""

    @property
    def vertices(self) -> object:
        """The lists, nearest first."""

    @property
    def distances(self) -> object:
        """What the edges to them cost."""

class ScoreTerms:
    """The part of the objective that depends on the positions of regions."""

    @property
    def reach(self) -> int:
        """Positions from the end beyond which scores count for nothing."""

    @property
    def swing(self) -> float:
        """What all terms add up to, at most."""

    @property
    def least_gain(self) -> float:
        """A smaller gain is taken for rounding."""

    @property
    def powers(self) -> object:
        """By how much terms fall over so many positions, at least."""

class GeometricScores(ScoreTerms):
    """Weights that fall by one factor per position."""

    def __init__(self, costs: Costs, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rate: float, heaviest: float, least_gain: float) -> None: ...

class FactoredScores(ScoreTerms):
    """Weights that fall by factors of the regions."""

    def __init__(self, costs: Costs, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], heaviest: float, least_gain: float) -> None: ...

class GeneralScores(ScoreTerms):
    """Any weights by position."""

    def __init__(self, costs: Costs, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], least_gain: float) -> None: ...

class PairTerms(ScoreTerms):
    """The error of a regularised learner (`model.pairs`)."""

    def __init__(self, costs: Costs, retention: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], plasticity: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coupling: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], noise: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], dissimilarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, count: float, most: float, slowest: float, least_gain: float) -> None: ...

class KOptLimits:
    """What moves are looked for (`cpp/k_opt.h`)."""

    def __init__(self, least_gain: float, credit: float, end_positions: int, longest: int) -> None: ...

    @property
    def least_gain(self) -> float: ...

    @property
    def credit(self) -> float: ...

class PerturbationParams:
    """How far apart the edges of a double bridge may be."""

    def __init__(self, walk: int, segment: int, longest_bridge: int, far_bridge: int, most_worse: float) -> None: ...

class LocalSearch:
    """A tour under iterated local search by k-opt moves and perturbations."""

    def __init__(self, costs: Costs, terms: ScoreTerms | None, limits: KOptLimits, perturbation: PerturbationParams, journal: int) -> None: ...

    def __copy__(self) -> LocalSearch: ...

    def use_candidates(self, candidates: Candidates, breadth: Sequence[int], only_listed: bool = False) -> None:
        """
        Take candidate lists, and how many entries each further edge of a move looks at.
        """

    def drop_scores(self) -> None:
        """See travel alone from now on."""

    def set_tour(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Start from a cycle of vertices."""

    @property
    def tour(self) -> object:
        """The tour as a cycle of vertices."""

    @property
    def regions(self) -> object:
        """Its regions in the order of visits."""

    def next(self, vertex: int) -> int:
        """Return the vertex behind another one."""

    def update_terms(self) -> None:
        """Add running sums up afresh."""

    @property
    def sums(self) -> object:
        """
        Running sums of scores along the tour; with pair terms, its error and the parts of it before each visit.
        """

    def set_spare(self, spare: float) -> None:
        """Say how much less the score part of this tour could be, at most."""

    @property
    def queued(self) -> int:
        """How many vertices are to be looked at."""

    def queue_all(self) -> None:
        """Queue all vertices for a look."""

    def clear_queue(self) -> None:
        """Look at no vertex any more."""

    def descend(self, looks: int) -> float:
        """Make moves, with so many looks at queued vertices; return the gain."""

    def improve(self, vertex: int) -> float:
        """
        Make the first move found that removes an edge of a vertex; return its gain, 0 if there is none.
        """

    def perturb_at(self, vertex: int, bits: int, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """Make a double bridge; return what it costs, inf if it is not allowed."""

    def undo(self) -> None:
        """Undo all changes since they were last kept for good."""

    def keep_changes(self) -> None:
        """Keep all changes for good."""

    def perturb(self, draws: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """Perturb and descend, once per row; undo what is worse than accepted."""

def find_detours(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], travel_back: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slack: float, shortest: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], first: int, last: int) -> int:
    """
    Lower `shortest` by detours with a short first leg; return how many save more than `slack`.
    """
