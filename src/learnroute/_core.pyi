"""
The compiled core: local search, construction, matching, proofs. No validation; callers check.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
import numpy.typing
from numpy.typing import NDArray


def insert_quadrant_neighbours(tree: KdTree, lists: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Insert the two nearest places of each quadrant into lists of nearest places, in place of the farthest ones.
    """

def relative_neighbours(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], most: int, first: int, last: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    Return candidate lists of the regions `first` to `last` - 1: relative neighbours, then the nearest regions.
    """

class AlphaNearness:
    """α-nearness on a sparse graph (Helsgaun 2000)."""

    def __init__(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_step: float) -> None:
        """
        The edges of vertex v are start[v] … start[v + 1] - 1, each edge once per direction.
        """

    def ascend(self, steps: int) -> bool:
        """
        Raise the 1-tree bound by at most `steps` subgradient steps; return whether the ascent has ended.
        """

    @property
    def bound(self) -> float:
        """The best bound found."""

    @property
    def multipliers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The multipliers of the best bound."""

    def candidate_lists(self, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        Return, for each vertex, the `most` vertices with the lowest α-values at these multipliers.
        """

class KdTree:
    """A k-d tree of places in three dimensions (Bentley 1975)."""

    def __init__(self, places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def nearest(self, count: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        The `count` nearest other places of each place, nearest first. Ties are broken by number.
        """

    def spanning_edges(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        The edges of a minimum spanning tree, one per row. Ties are broken by number.
        """

def lengths(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], unit: float, globe: bool, origins: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], goals: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """The travel cost from each origin to its goal."""

class GreedyPaths:
    """The paths of the greedy edge heuristic (Bentley 1992)."""

    def __init__(self, size: int) -> None: ...

    def join(self, one: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], two: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """
        Join paths along these edges, in order, if they connect two path ends; return the number of joins.
        """

    def ends(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The ends of all paths."""

    def path(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The regions along the path that has the first end."""

def nearest_among(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], regions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], count: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    The nearest others among these regions, for each of them, as indices into `regions`.
    """

class Costs:
    """The costs of the edges between vertices."""

    @staticmethod
    def from_matrix(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], finish: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], directed: bool, has_ends: bool) -> Costs:
        """
        Create costs from a travel matrix, renumbered along an order, and the costs of beginning and ending.
        """

    @staticmethod
    def from_places(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], unit: float, globe: bool, begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], finish: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], has_ends: bool) -> Costs:
        """
        Create costs from places, in the plane or on the unit sphere, and the costs of beginning and ending.
        """

    def __call__(self, a: int, b: int) -> float:
        """Return the cost of an edge."""

    @property
    def vertices(self) -> int:
        """Number of vertices."""

class Candidates:
    """Candidate lists of all vertices, sorted by distance."""

    def __init__(self, costs: Costs, lists: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def length(self) -> int:
        """Entries per list."""

    @property
    def distances(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """The costs of the edges to the entries, nearest first."""

class ScoreTerms:
    """The part of the objective that depends on the positions of regions."""

    @property
    def reach(self) -> int:
        """Positions from the end beyond which scores are negligible."""

    @property
    def floor(self) -> float:
        """Lower bound on the sum of all terms."""

    @property
    def least_gain(self) -> float:
        """Smaller gains are attributed to rounding."""

    def set_spare(self, spare: float) -> None:
        """Set the maximum possible decrease of the terms of this tour."""

    def value(self, tour: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """
        Return the sum of the terms of a tour, from its end as far back as they reach.
        """

    @property
    def sums(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Running sums along the tour of a search."""

class GeometricScores(ScoreTerms):
    """Weights that decrease by one factor per position."""

    def __init__(self, costs: Costs, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rate: float, heaviest: float, least_gain: float, floor: float) -> None: ...

class FactoredScores(ScoreTerms):
    """Weights that decrease by a factor per region."""

    def __init__(self, costs: Costs, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], heaviest: float, least_gain: float, floor: float) -> None: ...

class GeneralScores(ScoreTerms):
    """Arbitrary weights by position."""

    def __init__(self, costs: Costs, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], least_gain: float, floor: float) -> None: ...

class PairTerms(ScoreTerms):
    """The error of a regularised learner (`model.pairs`)."""

    def __init__(self, costs: Costs, retention: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], plasticity: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coupling: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], noise: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], dissimilarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, count: float, most: float, slowest: float, least_gain: float, floor: float) -> None: ...

    @property
    def error(self) -> float:
        """The error of the tour of a search, times the number of regions."""

class KOptLimits:
    """Limits on the moves that are searched (`cpp/k_opt.h`)."""

    def __init__(self, least_gain: float, credit: float, end_positions: int, longest: int) -> None: ...

class PerturbationParams:
    """Limits on the extent and the cost of a double bridge."""

    def __init__(self, walk: int, segment: int, longest_bridge: int, far_bridge: int, most_worse: float) -> None: ...

class LocalSearch:
    """A tour under iterated local search by k-opt moves and perturbations."""

    def __init__(self, costs: Costs, terms: ScoreTerms | None, limits: KOptLimits, perturbation: PerturbationParams, journal: int) -> None: ...

    def __copy__(self) -> LocalSearch: ...

    def use_candidates(self, candidates: Candidates, breadth: Sequence[int], only_listed: bool = False) -> None:
        """
        Set the candidate lists and the number of entries tried for each further edge of a move.
        """

    def drop_scores(self) -> None:
        """Ignore scores from now on."""

    def set_tour(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Start from a cycle of vertices."""

    @property
    def tour(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The tour as a cycle of vertices."""

    @property
    def regions(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The regions in the order of visits."""

    def next(self, vertex: int) -> int:
        """Return the vertex after another one."""

    def update_terms(self) -> None:
        """Recompute the running sums."""

    @property
    def terms(self) -> ScoreTerms | None:
        """The score terms of moves; None if only travel counts."""

    @property
    def queued(self) -> int:
        """Number of queued vertices."""

    def queue_all(self) -> None:
        """Queue all vertices."""

    def clear_queue(self) -> None:
        """Remove all vertices from the queue."""

    def descend(self, looks: int) -> float:
        """
        Apply improving moves of up to `looks` queued vertices; return the gain.
        """

    def improve(self, vertex: int) -> float:
        """
        Apply the first improving move that removes an edge of a vertex; return its gain, or 0 if there is none.
        """

    def perturb_at(self, vertex: int, bits: int, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """Apply a double bridge; return its cost, or inf if it is not allowed."""

    def undo(self) -> None:
        """Undo all changes that have not been made permanent."""

    def keep_changes(self) -> None:
        """Make all changes permanent."""

    def perturb(self, draws: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """
        Perturb and descend, once per row; undo the result unless it is accepted.
        """

class EdgeCounts:
    """The number of tours of a population that contain each edge."""

    def __init__(self, tours: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], entropies: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        `entropies` has the entropy of an edge by the number of tours that contain it.
        """

    def count(self, v: int, w: int) -> int: ...

    def entropy_lost(self, changes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> float:
        """
        The decrease of the entropy if neighbours are replaced: rows of vertex, old and new neighbour.
        """

class EdgeAssembly:
    """Edge assembly crossover (Nagata and Kobayashi 2013)."""

    def __init__(self, costs: Costs, terms: ScoreTerms | None, limits: KOptLimits, candidates: Candidates, joining: int, counts: EdgeCounts) -> None:
        """
        `counts` has the population's edges; subtours are joined along the first `joining` candidates.
        """

    def cross(self, tours: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], children: int, batches: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Cross pairs (two tours and a seed); a better child replaces the first tour. Return the gains.
        """

    @property
    def counts(self) -> EdgeCounts: ...

    @property
    def kept(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        The changes of the last accepted child: rows of vertex, old and new neighbour.
        """

def ab_cycles(tour: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], other: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int) -> list[Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    The AB-cycles of two tours; the first edge of each belongs to the first tour.
    """

class MinimumWeightMatching:
    """
    Minimum-weight perfect matching on a sparse graph with even integer weights (Edmonds 1965).
    """

    def __init__(self, size: int, source: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Start with a greedy matching. Each edge is given once per direction, sorted by source.
        """

    def match_next(self, first: int, most: int) -> int:
        """
        Search from up to `most` unmatched vertices, starting at `first`; return the vertex to continue from: the number of vertices if all are matched, -1 if there is no perfect matching.
        """

    def dual_solution(self) -> tuple[numpy.typing.NDArray[numpy.int64], list[tuple[numpy.typing.NDArray[numpy.int64], int]]]:
        """
        Return the dual value of each vertex, and the odd sets with a positive dual value, with these values.
        """

    def unfold(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Return each vertex's mate, or -1 if it has none. This removes the dual solution.
        """

class Pricing:
    """
    Edges of a complete graph with negative reduced cost (Cook and Rohe 1999).
    """

    def __init__(self, matching: MinimumWeightMatching) -> None: ...

    def negative_pairs(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: float, first: int, last: int, most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        Return pairs (i, j), i < j, i from `first` to `last` - 1, at most `most` per i; empty only if there are none.
        """

    def negative_pairs_of_places(self, places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], unit: float, round: bool, scale: float, first: int, last: int, most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """Return the same if weights are distances."""

def find_detours(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], travel_back: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slack: float, shortest: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], first: int, last: int) -> int:
    """
    Lower `shortest` by detours with a short first leg; return the number that save more than `slack`.
    """

class HeldKarp:
    """Dynamic programming over sets of regions, from the end of orders."""

    def __init__(self, travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, last_costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], noise: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, noise_factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def fill(self, sets: int) -> float:
        """
        Extend the next `sets` sets by one region; return the share of all sets that is done.
        """

    def best_set(self, begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], required: int, at_least: int, at_most: int, total: float) -> int:
        """
        Return the set of `at_least` to `at_most` regions, including all required ones, with the cheapest order.
        """

    def order(self, begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: int | None = None) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Trace the best order of all regions, or of a set; `begin` has the cost of beginning at each region.
        """

    @property
    def values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        The minimum cost from each region of each set through the set to the end.
        """

class SubgradientAscent:
    """
    A subgradient ascent for Lagrangian relaxations, one multiplier per vertex.
    """

    def __init__(self, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: float, *, pace: float, momentum: float, patience: int, fall: float, slowest: float, progress: float) -> None: ...

    @property
    def multipliers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The multipliers at which to solve the relaxation next."""

    @property
    def best(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The multipliers of the best bound so far."""

    @property
    def bound(self) -> float:
        """The best bound so far."""

    @property
    def ended(self) -> bool:
        """Whether the ascent has ended."""

    @property
    def target(self) -> float:
        """The value of a known order."""

    @target.setter
    def target(self, arg: float, /) -> None: ...

    def set_pace(self, pace: float) -> None:
        """Set the share of the gap that the next step aims at."""

    def forget_bound(self) -> None:
        """Discard the best bound so far, because the relaxation has changed."""

    def advance(self, subgradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bound: float) -> bool:
        """
        Take a step from multipliers with this bound and subgradient; return False if the ascent has ended.
        """

FREE: int = 0

FIXED_TO_1: int = 1

FIXED_TO_0: int = 2

def minimum_one_tree(costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], status: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, int, Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Return the cheapest 1-tree: its total (inf if there is none), the region before `out`, the parents, the order of joining and the degrees of vertices.
    """

def ascend_one_trees(costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], status: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], ascent: SubgradientAscent, steps: int) -> None:
    """Take subgradient steps that raise the bound of 1-trees."""

class SparseOneTrees:
    """1-trees of a tour graph on a sparse subset of its edges."""

    def __init__(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def ascend(self, ascent: SubgradientAscent, steps: int) -> None:
        """
        Take up to `steps` subgradient steps; stop early if the ascent ends or these edges contain no 1-tree.
        """

def fix_by_reduced_cost(costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], status: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')], multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], limit: float) -> tuple[float, tuple[int, int, int]]:
    """
    Fix edges that no tour, or every tour, below `limit` uses; return the bound (inf if no tour remains) and a vertex with one or two of its edges to branch on, or -1.
    """

def propagate(status: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
    """
    Fix edges that follow from fixed ones; return False if no tour remains.
    """

def connected_components(linked: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Return the number of the connected component of each vertex."""

def minimum_cuts(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], limit: float, one: float) -> list[Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Return sets of vertices with x(δ(S)) < limit, found while computing the minimum cut; edges with x_e > one are contracted.
    """

class Labels:
    """The labels of ng-routes in one direction."""

    def __len__(self) -> int: ...

    @property
    def full(self) -> bool:
        """Whether they are incomplete because the limit on labels was exceeded."""

    @property
    def late(self) -> bool:
        """Whether they are incomplete because the limit on work was exceeded."""

    @property
    def work(self) -> int:
        """Units of work that the labelling took."""

    def cheapest_route(self) -> tuple[float, Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Return cost and regions of the cheapest route, in the direction of the labels (inf if there is none).
        """

class LayeredNetwork:
    """The layered network of q-routes and ng-routes."""

    def __init__(self, arc_costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], node_costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], free: Annotated[NDArray[numpy.bool_], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def arc_costs(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """Arc costs by region and region."""

    @property
    def node_costs(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """Node costs by position and region."""

    @property
    def free_share(self) -> float:
        """The share of arcs that are not fixed to 0."""

    def q_route_costs(self, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Return the cost of the cheapest q-route to each position and region."""

    def ascend(self, ascent: SubgradientAscent, steps: int) -> None:
        """Take subgradient steps that raise the bound of q-routes."""

    def fix_by_q_routes(self, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], limit: float) -> None:
        """Fix arcs to 0 that no q-route cheaper than `limit` uses."""

    def label(self, multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ng_sets: Annotated[NDArray[numpy.uint64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], other: Labels | None, forward: bool, limit: float, labels_in_layer: int, labels_in_all: int, work: int) -> Labels:
        """
        Create the labels of ng-routes cheaper than `limit` in one direction, pruned by `other`, if given. If they are complete, fix arcs to 0 that none of them uses.
        """

class Instance:
    """
    A problem by indices: travel, law, rules of visits, vehicles and models.
    """

    def __init__(self, travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rate: float, retention: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], plasticity: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], coupling: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], noise: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], dissimilarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, count: float, required: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], repeats: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], at_least: int, at_most: int, budget: float, first: int, last: int, cyclic: bool, *, importance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], vehicles: int, models: int, merged: bool, equal: bool, longest: bool, limit: float) -> None:
        """
        Travel has one additional stop, at which routes start and end. Tables of updates have one row per position or a single row, and one column per region or a single column. First and last are regions, or -1. `models` is their total number: one per vehicle if there are several vehicles.
        """

    def nearest(self, most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        Return the nearest others of each region by travel there and back, nearest first.
        """

class Enumeration:
    """The best routes, by complete enumeration."""

    def __init__(self, instance: Instance, relative: float) -> None: ...

    def advance(self, nodes: int) -> bool:
        """
        Process up to `nodes` more nodes; return whether all routes have been enumerated.
        """

    @property
    def best(self) -> tuple[list[list[int]], list[list[int]]]:
        """
        The regions and the models of the best routes; empty if there are no feasible ones.
        """

    @property
    def low(self) -> float:
        """A lower bound on all values that accounts for rounding."""

class VisitLabelling:
    """The best sequence of visits if errors are not coupled."""

    def __init__(self, instance: Instance, bound: float, most_labels: int) -> None: ...

    def advance(self, looks: int) -> bool:
        """Examine about `looks` labels; return whether the labelling has ended."""

    @property
    def full(self) -> bool:
        """Whether the limit on labels was exceeded."""

    @property
    def done(self) -> float:
        """The share of sequence lengths that are done."""

    @property
    def best(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        The best sequence; empty if no feasible one has a value below the bound.
        """

class Training:
    """
    The sequence of regions that a model is trained in, and its summed error.
    """

    def __init__(self, instance: Instance) -> None: ...

    def assign(self, regions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool:
        """Set the regions; return whether errors change."""

    @property
    def value(self) -> float:
        """The error over all regions."""

    @property
    def errors(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The expected error in each region."""

    def insertion_values(self, region: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Return the value with an additional training in a region, by place of insertion.
        """

class Fleet:
    """Routes, their value, and their value with one additional visit."""

    def __init__(self, instance: Instance) -> None: ...

    def assign(self, regions: Sequence[Sequence[int]], models: Sequence[Sequence[int]], weights: Sequence[float], served_by: Sequence[int]) -> None:
        """Set the routes and the service of the models."""

    @property
    def value(self) -> float:
        """The value of the routes."""

    @property
    def excess(self) -> float:
        """Travel beyond the limits of the vehicles and of the fleet."""

    def best_insertion(self, region: int) -> tuple[float, int, int, int]:
        """
        Return the value with one more visit, and its vehicle, place and model.
        """

class RuinAndRecreate:
    """Ruin and recreate of routes, by simulated annealing."""

    def __init__(self, instance: Instance, near: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, rearranged: float, removed: float, string: int, added: int, blink: float, contrary: float, seed: int) -> None:
        """`near` lists the nearest other regions of each, nearest first."""

    def start(self, regions: Sequence[Sequence[int]], models: Sequence[Sequence[int]], weights: Sequence[float], served_by: Sequence[int]) -> None:
        """
        Start from routes that begin and end at the required regions, and a service of their models.
        """

    def insert(self, regions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Insert regions that are required or pay."""

    def run(self, iterations: int, temperature: float) -> None:
        """Ruin and recreate `iterations` times."""

    @property
    def best(self) -> tuple[list[list[int]], list[list[int]]]:
        """
        The regions and the models of the best feasible routes since the start; empty if there were none.
        """

    @property
    def best_value(self) -> float:
        """Their value."""

    @property
    def typical_loss(self) -> float:
        """
        The median cost increase of the last run's iterations that made the routes worse.
        """

class Rehearsal:
    """
    Training of a linear learner on several random divisions of the samples.
    """

    def __init__(self, batches: int, positions: int, draws: int, maps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], constants: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], roots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], aims: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rests: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Arrays are flat; the draw is the last index. Maps are by position, batch, row and column, constants by position, batch and row. The test error is the sum of |R·w - z|² + r over tests.
        """

    def errors(self, batches: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Return the test error of each draw after a sequence of batches."""

    def models(self, batches: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Return the models after a sequence of batches, one column per draw."""

class RehearsalSearch:
    """Simulated annealing of routes that are evaluated by rehearsal."""

    def __init__(self, rehearsal: Rehearsal, instance: Instance, batches_per_region: int, seed: int) -> None:
        """
        Batch k·b + v is for visit number v to region k. If models are averaged, the rehearsal has one test of all regions, otherwise one per region.
        """

    def start(self, regions: Sequence[Sequence[int]], models: Sequence[Sequence[int]]) -> None:
        """Start from feasible routes."""

    def run(self, moves: int, temperature: float) -> None:
        """Try `moves` random moves."""

    @property
    def best(self) -> tuple[list[list[int]], list[list[int]]]:
        """The regions and the models of the best routes since the start."""

    @property
    def best_value(self) -> float:
        """Their value."""

    @property
    def typical_loss(self) -> float:
        """
        The median cost increase of the last run's moves that made the routes worse.
        """
