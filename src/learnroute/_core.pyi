"""
The compiled core: local search, construction, matching, proofs. No validation; callers check.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
import numpy.typing
from numpy.typing import NDArray


def put_quadrant_neighbours(tree: KdTree, lists: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Put the two nearest places of each quadrant into lists of the nearest, in the place of the farthest others.
    """

def relative_neighbours(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], most: int, first: int, last: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
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
    def multipliers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The multipliers of that bound."""

    def candidate_lists(self, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        Return for each vertex the `most` others of least α-value at some multipliers.
        """

class KdTree:
    """A k-d tree of places in three dimensions (Bentley 1975)."""

    def __init__(self, places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def nearest(self, count: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        For each place its nearest others, nearest first; ties by number. There must be that many.
        """

    def spanning_edges(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """The edges of a minimum spanning tree, one row each; ties by number."""

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
    def distances(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """What the edges to their entries cost, nearest first."""

class ScoreTerms:
    """The part of the objective that depends on the positions of regions."""

    @property
    def reach(self) -> int:
        """Positions from the end beyond which scores count for nothing."""

    @property
    def floor(self) -> float:
        """What all terms add up to, at least."""

    @property
    def least_gain(self) -> float:
        """A smaller gain is taken for rounding."""

    def set_spare(self, spare: float) -> None:
        """Say how much less the terms of this tour could be, at most."""

    def value(self, tour: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """
        Return the terms of a whole tour, added up from its end as far back as they reach.
        """

    @property
    def sums(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Running sums along the tour of a search."""

class GeometricScores(ScoreTerms):
    """Weights that fall by one factor per position."""

    def __init__(self, costs: Costs, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rate: float, heaviest: float, least_gain: float, floor: float) -> None: ...

class FactoredScores(ScoreTerms):
    """Weights that fall by factors of the regions."""

    def __init__(self, costs: Costs, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], heaviest: float, least_gain: float, floor: float) -> None: ...

class GeneralScores(ScoreTerms):
    """Any weights by position."""

    def __init__(self, costs: Costs, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], least_gain: float, floor: float) -> None: ...

class PairTerms(ScoreTerms):
    """The error of a regularised learner (`model.pairs`)."""

    def __init__(self, costs: Costs, retention: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], plasticity: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coupling: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], noise: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], dissimilarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, count: float, most: float, slowest: float, least_gain: float, floor: float) -> None: ...

    @property
    def error(self) -> float:
        """The error of the tour of a search, times the number of regions."""

class KOptLimits:
    """What moves are looked for (`cpp/k_opt.h`)."""

    def __init__(self, least_gain: float, credit: float, end_positions: int, longest: int) -> None: ...

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
    def tour(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The tour as a cycle of vertices."""

    @property
    def regions(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Its regions in the order of visits."""

    def next(self, vertex: int) -> int:
        """Return the vertex behind another one."""

    def update_terms(self) -> None:
        """Add running sums up afresh."""

    @property
    def terms(self) -> ScoreTerms | None:
        """What prices the score part of moves; None where travel alone counts."""

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

    def __init__(self, costs: Costs, terms: ScoreTerms | None, limits: KOptLimits, candidates: Candidates, joining: int, counts: EdgeCounts) -> None:
        """
        Of tours counted in `counts`; subtours are joined along the first `joining` candidates per vertex.
        """

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

    def unfold(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Return each vertex's mate, -1 if it has none. The dual solution is gone afterwards.
        """

class Pricing:
    """
    Edges of a complete graph with negative reduced cost (Cook and Rohe 1999).
    """

    def __init__(self, matching: MinimumWeightMatching) -> None: ...

    def negative_pairs(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: float, first: int, last: int, most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        Return pairs (i, j), i < j, i from `first` to `last` - 1, at most `most` per i; none only if there are none.
        """

    def negative_pairs_of_places(self, places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], unit: float, round: bool, scale: float, first: int, last: int, most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """Do the same where weights are distances."""

def find_detours(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], travel_back: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slack: float, shortest: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], first: int, last: int) -> int:
    """
    Lower `shortest` by detours with a short first leg; return how many save more than `slack`.
    """

class HeldKarp:
    """Dynamic programming over sets of regions, from the end of orders."""

    def __init__(self, travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, last_costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], noise: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, noise_factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def fill(self, sets: int) -> float:
        """
        Put one region before each of the next so many sets; return the share of all that is done.
        """

    def best_set(self, begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], required: int, at_least: int, at_most: int, total: float) -> int:
        """
        Return the set of `at_least` to `at_most` regions, those required among them, whose best order costs least.
        """

    def order(self, begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: int | None = None) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Trace the best order of all regions, or of a set; `begin` has the cost of beginning at each region.
        """

    @property
    def values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        The least cost of visiting each set to the end, from each of its regions.
        """

class SubgradientAscent:
    """
    A subgradient ascent for Lagrangian relaxations, one multiplier per vertex.
    """

    def __init__(self, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: float, *, pace: float, momentum: float, patience: int, fall: float, slowest: float, progress: float) -> None: ...

    @property
    def multipliers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Where the relaxation is to be solved next."""

    @property
    def best(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The multipliers of the best bound so far."""

    @property
    def bound(self) -> float:
        """The best bound so far."""

    @property
    def ended(self) -> bool:
        """Whether nothing is left to gain."""

    @property
    def target(self) -> float:
        """The value of a known order."""

    @target.setter
    def target(self, arg: float, /) -> None: ...

    def set_pace(self, pace: float) -> None:
        """Let the next step aim at this share of the gap."""

    def forget_bound(self) -> None:
        """
        Go on where the relaxation has become another one: whatever it gives next is the best so far.
        """

    def advance(self, subgradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bound: float) -> bool:
        """
        Take a step from multipliers with this bound and subgradient; False where the ascent ends.
        """

FREE: int = 0

FIXED_TO_1: int = 1

FIXED_TO_0: int = 2

def minimum_one_tree(costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], status: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, int, Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Return the cheapest 1-tree: its total (inf where there is none), the region before `out`, the parents, the order of joining and the degrees of vertices.
    """

def ascend_one_trees(costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], status: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], ascent: SubgradientAscent, steps: int) -> None:
    """Take subgradient steps that raise the bound of 1-trees."""

class SparseOneTrees:
    """The 1-trees of a tour graph on few of its edges."""

    def __init__(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def ascend(self, ascent: SubgradientAscent, steps: int) -> None:
        """
        Take subgradient steps; fewer where the ascent ends or there is no 1-tree on these edges.
        """

def fix_by_reduced_cost(costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], status: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')], multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], limit: float) -> tuple[float, tuple[int, int, int]]:
    """
    Fix edges that no tour, or every tour, below `limit` takes; return the bound (inf where no tour is left) and a vertex with one or two of its edges to branch on, -1 for none.
    """

def propagate(status: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
    """Fix what follows from what is fixed; False where no tour is left."""

def connected_components(linked: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Number the vertices by the component that they are in."""

def minimum_cuts(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], limit: float, one: float) -> list[Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Return sets of vertices with x(δ(S)) < limit, found on the way to the minimum cut; edges with x_e > one are shrunk.
    """

class Labels:
    """The labels of ng-routes in one direction."""

    def __len__(self) -> int: ...

    @property
    def full(self) -> bool:
        """Whether they are incomplete because there would be too many."""

    @property
    def late(self) -> bool:
        """Whether they are incomplete because the work allowed was used up."""

    @property
    def work(self) -> int:
        """Units of work that making them took."""

    def cheapest_route(self) -> tuple[float, Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Return cost and regions of the cheapest route, in the direction of the labels (inf where none is left).
        """

class LayeredNetwork:
    """The layered network that q-routes and ng-routes run through."""

    def __init__(self, arc_costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], node_costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], free: Annotated[NDArray[numpy.bool_], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def arc_costs(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """Of region and region."""

    @property
    def node_costs(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """Of position and region."""

    @property
    def free_share(self) -> float:
        """The share of arcs that are not fixed to 0."""

    def q_route_costs(self, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Return the cost of the cheapest q-route to each position and region."""

    def ascend(self, ascent: SubgradientAscent, steps: int) -> None:
        """Take subgradient steps that raise the bound of q-routes."""

    def fix_by_q_routes(self, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], limit: float) -> None:
        """Fix the arcs to 0 that no q-route cheaper than `limit` takes."""

    def label(self, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ng_sets: Annotated[NDArray[numpy.uint64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], other: Labels | None, forward: bool, limit: float, labels_in_layer: int, labels_in_all: int, work: int) -> Labels:
        """
        Make the labels of ng-routes cheaper than `limit` in one direction, pruned by those of the other, if any. If they are complete, fix the arcs to 0 that none of them takes.
        """

class VisitProblem:
    """Sequences of visits and what they cost (`model.visit_objective`)."""

    def __init__(self, travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rate: float, retention: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], plasticity: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coupling: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], noise: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], dissimilarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, count: float, required: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], repeats: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], at_least: int, at_most: int, budget: float, first: int, last: int, cyclic: bool) -> None:
        """
        Travel has one stop more than there are regions: where routes come from and go to. Tables of updates have one row per position, or a single one, and one column per region, or a single one. First and last are regions, or -1.
        """

    def nearest(self, most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        Return the nearest others of each region by travel there and back, nearest first.
        """

class VisitEnumeration:
    """The best of all sequences of visits, each of them tried."""

    def __init__(self, problem: VisitProblem, relative: float) -> None: ...

    def advance(self, nodes: int) -> bool:
        """Go on by so many nodes; return whether all sequences were seen."""

    @property
    def best(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The best sequence; empty where none keeps the rules."""

    @property
    def low(self) -> float:
        """A lower bound of all values, rounding included."""

class VisitLabelling:
    """The best sequence of visits where errors are not coupled."""

    def __init__(self, problem: VisitProblem, bound: float, most_labels: int) -> None: ...

    def advance(self, looks: int) -> bool:
        """
        Look at about so many labels; return whether all were made, or too many.
        """

    @property
    def full(self) -> bool:
        """Whether labels are incomplete because there would be too many."""

    @property
    def done(self) -> float:
        """The share of lengths that are done."""

    @property
    def best(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The best sequence; empty where none below the bound keeps the rules."""

class VisitRoute:
    """A sequence of visits, its value, and what a further visit would cost."""

    def __init__(self, problem: VisitProblem) -> None: ...

    def assign(self, visits: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Change the visits."""

    @property
    def value(self) -> float:
        """Its value; inf where there is no visit."""

    @property
    def travel(self) -> float:
        """Its travel."""

    def prices(self, region: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Return the value with a further visit to a region, by the place it is put at.
        """

class VisitSearch:
    """Ruin and recreate of a sequence of visits, by simulated annealing."""

    def __init__(self, problem: VisitProblem, near: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, rearranged: float, removed: float, string: int, added: int, blink: float, contrary: float, seed: int) -> None:
        """`near` lists the nearest other regions of each, nearest first."""

    def start(self, visits: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Start from a sequence that begins and ends where it must."""

    def insert(self, regions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool:
        """
        Put in regions that are required or pay; return whether those required found a place.
        """

    def run(self, iterations: int, temperature: float) -> None:
        """Ruin and recreate so many times."""

    @property
    def current(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The present sequence."""

    @property
    def best(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        The best sequence since the start that keeps all rules; empty where there was none.
        """

    @property
    def best_value(self) -> float:
        """Its value."""

    @property
    def typical_loss(self) -> float:
        """
        The median of what iterations of the last run cost that made the sequence worse.
        """

class Rehearsal:
    """
    Trainings of a linear learner on samples that were dealt several times.
    """

    def __init__(self, batches: int, positions: int, draws: int, maps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], constants: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], roots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], aims: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rests: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Arrays are flat, the draw being the last index: maps by position, batch, row and column; constants by position, batch and row; the initial model; and by test the error |R·w - z|² + r.
        """

    def errors(self, batches: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Return the test error of each draw after a sequence of batches."""

    def models(self, batches: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Return the models after a sequence of batches, one column per draw."""

class RehearsalSearch:
    """Simulated annealing of routes that are priced by rehearsal."""

    def __init__(self, rehearsal: Rehearsal, problem: FleetProblem, batches_per_region: int, seed: int) -> None:
        """
        Batch k·b + v is the one of the visit number v to region k. Where models are averaged, the rehearsal has one test of all regions, else one per region.
        """

    def start(self, regions: Sequence[Sequence[int]], models: Sequence[Sequence[int]]) -> None:
        """Start from routes that keep the rules."""

    def run(self, moves: int, temperature: float) -> None:
        """Look at so many random moves."""

    @property
    def best(self) -> tuple[list[list[int]], list[list[int]]]:
        """The regions and the models of the best routes since the start."""

    @property
    def best_value(self) -> float:
        """Their value."""

    @property
    def typical_loss(self) -> float:
        """
        The median of what moves of the last run cost that made the routes worse.
        """

class FleetProblem:
    """Vehicles and models (`model.fleet_objective`)."""

    def __init__(self, visits: VisitProblem, importance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, vehicles: int, models: int, merged: bool, equal: bool, longest: bool, limit: float) -> None:
        """`models` are all of them, one per vehicle where there are several."""

class FleetEnumeration:
    """The best of all routes of a fleet, each of them tried."""

    def __init__(self, problem: FleetProblem, relative: float) -> None: ...

    def advance(self, nodes: int) -> bool:
        """Go on by so many nodes; return whether all routes were seen."""

    @property
    def best(self) -> tuple[list[list[int]], list[list[int]]]:
        """
        The regions and the models of the best routes; empty where none keep the rules.
        """

    @property
    def low(self) -> float:
        """A lower bound of all values, rounding included."""

class FleetSearch:
    """Ruin and recreate of the routes of a fleet, by simulated annealing."""

    def __init__(self, problem: FleetProblem, near: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, rearranged: float, removed: float, string: int, added: int, blink: float, contrary: float, seed: int) -> None:
        """`near` lists the nearest other regions of each, nearest first."""

    def start(self, regions: Sequence[Sequence[int]], models: Sequence[Sequence[int]], weights: Sequence[float], served_by: Sequence[int]) -> None:
        """Start from routes that begin and end where they must."""

    def insert(self, regions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Put in regions that are required or pay."""

    def run(self, iterations: int, temperature: float) -> None:
        """Ruin and recreate so many times."""

    @property
    def best(self) -> tuple[list[list[int]], list[list[int]]]:
        """
        The regions and the models of the best routes since the start; empty where none kept all rules.
        """

    @property
    def best_value(self) -> float:
        """Their value."""

    @property
    def typical_loss(self) -> float:
        """
        The median of what iterations of the last run cost that made the routes worse.
        """
