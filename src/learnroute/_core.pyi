"""
The compiled core: local search, construction, matching, proofs. No validation; callers check.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray


def find_detours(travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], travel_back: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slack: float, shortest: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], first: int, last: int) -> int:
    """
    Lower `shortest` by detours with a short first leg; return how many save more than `slack`.
    """

class HeldKarp:
    """Dynamic programming over sets of regions, from the end of orders."""

    def __init__(self, travel: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, last_costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def fill(self, sets: int) -> float:
        """
        Put one region before each of the next so many sets; return the share of all that is done.
        """

    def order(self, begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Trace the best order; `begin` has the cost of beginning at each region.
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
