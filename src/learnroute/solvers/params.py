"""Tuning of the solvers, one named tuple per component; `plan(problem, params=...)` takes them.

`SolverParams` lists those that users may set; all others are internal.

The defaults were found by measurement (benchmarks/). None of them affects correctness: values are recomputed and bounds
hold for any setting. Numbers that never need tuning are named constants next to their use.
"""

from numbers import Integral, Real
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from learnroute.errors import InputError, check_type


class HeldKarpParams(NamedTuple):
    """Dynamic programming over sets (`exact.held_karp`)."""

    most_regions: int = 20  # regions up to which all sets are enumerated: 2^(T-1)·T numbers are kept
    few_regions: int = 12  # regions up to which sets are enumerated whatever the time limit
    shortest: int = 15  # regions up to which a table is faster than branching if only symmetric travel counts
    sets_per_call: int = 1 << 14  # sets filled per call of the core, between two checks of the clock


class SuffixLabellingParams(NamedTuple):
    """Labelling of suffixes, for objectives with pair terms (`exact.suffix_labelling`)."""

    most_regions: int = 16  # regions up to which it is tried
    labels: int = 1_000_000  # labels allowed per position; the proof gives up beyond
    auto_regions: int = 12  # regions up to which the method `auto` tries it
    auto_labels: int = 50_000  # labels allowed per position then


class TourParams(NamedTuple):
    """The tour search of coupled errors with typical pair terms, before ruin and recreate (`tours`)."""

    typical_perturbations: int = 1  # perturbations per region
    typical_share: float = 0.3  # maximum share of the time


class AscentParams(NamedTuple):
    """One Lagrangian ascent by subgradient steps with momentum (`exact.subgradient`)."""

    steps: int  # maximum number of subgradient steps
    pace: float = 1.0  # share of the gap between bound and target that the first step aims at
    momentum: float = 0.6  # share of the last direction that is kept in the next one
    # steps without progress after which the pace decreases and the ascent continues from the best multipliers
    patience: int = 15
    fall: float = 0.7  # factor by which the pace decreases then
    slowest: float = 1e-3  # pace at which the ascent ends
    progress: float = 1e-4  # share of the gap by which a bound must rise to count as progress


class OneTreeParams(NamedTuple):
    """The 1-tree bound (`exact.one_tree`)."""

    ascent: AscentParams = AscentParams(steps=1000)  # the ascent on one multiplier per vertex
    steps_per_call: int = 50  # subgradient steps between two checks of the clock
    sparse_regions: int = 250  # number of regions from which the ascent uses candidate edges only
    sparse_neighbours: int = 10  # candidate edges per region
    # the ascent on candidate edges
    sparse_ascent: AscentParams = AscentParams(steps=1000, momentum=0.9, patience=30, progress=1e-5)
    # regions are clustered if the mean edge of a minimum spanning tree is this many times the median one; they need a
    # longer ascent that keeps more of the last direction
    clustered: float = 1.3
    clustered_ascent: AscentParams = AscentParams(steps=6000, momentum=0.98, patience=200, progress=1e-6)
    sparse_rounds: int = 4  # number of times that the ascent continues, more slowly, with missing edges added
    next_pace: float = 0.2  # share of the gap that the first step aims at then
    # places up to which a distance matrix is computed for this bound; beyond, only the sparse bound is used
    most_regions: int = 5000


class NgRouteParams(NamedTuple):
    """Position-indexed ng-routes with dynamic ng-sets (`exact.ng_route`)."""

    most_regions: int = 256  # regions up to which they are tried: T³ arcs are kept
    rounds: int = 60  # maximum number of rounds of ascent, ng-set augmentation and bidirectional labelling
    labels: int = 1_000_000  # labels allowed per layer; the proof gives up beyond
    nearest: int = 4  # nearest regions in the first ng-set of each region
    # the ascent without ng-sets (q-routes)
    q_route_ascent: AscentParams = AscentParams(steps=400, momentum=0.5, patience=10, progress=1e-6)
    # the ascent with the first ng-sets, before arcs are fixed to 0
    first_ascent: AscentParams = AscentParams(20, pace=0.5, momentum=0.7, patience=5, slowest=0.05, progress=1e-3)
    # the same afterwards, once per turn
    next_ascent: AscentParams = AscentParams(30, pace=0.5, momentum=0.7, patience=5, slowest=0.05, progress=1e-3)
    turns: int = 6  # maximum number of turns of ascent and fixing with the first ng-sets
    turn_gain: float = 0.95  # a turn after which more than this share of the gap remains is the last one
    round_steps: int = 40  # subgradient steps per round, with larger ng-sets
    round_pace: tuple[float, float] = (0.3, 0.03)  # share of the gap that the first and last step of a round aim at
    augment_every: int = 2  # steps between two augmentations of ng-sets
    spread: int = 6  # positions on either side of a cycle at which ng-sets are augmented
    narrow_spread: int = 3  # the same once labels have used half of the room
    room: int = 30_000  # labels in all layers up to which ng-sets grow in the first round
    room_factor: float = 1.3  # minimum of the room, relative to the labels of the first ng-sets
    room_growth: float = 1.4  # factor by which the room grows after a round that used enough of it
    room_used: float = 0.7  # share of the room that is enough
    overgrown: float = 2.0  # ng-sets with more labels than this many times the room are undone
    most_rooms: float = 3.0  # the proof gives up if the room exceeds this many times the labels allowed per layer
    bidirectional_growth: float = 4.0  # bidirectional labelling ends if a direction has this many times the room
    bidirectional_gap: float = 0.6  # it is tried once the gap has decreased to this share of the gap at the last try
    bidirectional_arcs: float = 0.15  # it needs at most this share of all arcs to be free ...
    bidirectional_regions: int = 80  # ... or at most this many regions
    improve_every: int = 4  # rounds between two searches for a better incumbent
    improve_perturbations: int = 20  # perturbations per region of such a search
    checked_labels: int = 300_000  # labels that checking a certificate may need
    turn_labels: int = 60_000  # labels per turn of the certificate, unless a turn needs more
    turn_work: int = 50_000_000  # units of work per turn, a fraction of a second, as long as any time remains
    # another stage of fixing is stored once the gap has decreased to this share of the gap at the last stage
    stage_gap: float = 0.7
    arcs_per_call: int = 20_000_000  # arcs processed per call of the core, between two checks of the clock


class LpParams(NamedTuple):
    """The LP relaxation of tours and its cuts (`exact.branch_and_cut.lp_relaxation`, `.separation`)."""

    rounds: int = 60  # maximum number of rounds of solving and cutting per node
    comb_gain: float = 0.005  # share of the gap by which combs must raise the bound to be worth another round
    idle_rounds: int = 10  # consecutive solutions with dual value 0 after which a cut is idle
    idle_cuts: int = 20  # number of idle cuts at which they are dropped
    shrink: float = 0.5  # share of free edges at which a smaller relaxation is built
    strong_candidates: int = 8  # edges that strong branching tries
    strong_iterations: int = 30  # simplex iterations for each of their two branches
    tolerance: float = 1e-9  # feasibility tolerance of HiGHS, in units of a typical edge


class BranchAndCutParams(NamedTuple):
    """Branch and cut over 1-trees and the LP relaxation (`exact.branch_and_cut`)."""

    most_regions: int = 1000  # regions up to which it is tried if only the last score counts
    # it is tried if the weights before the last add up to at most this many times the last one
    few_scores: float = 3.0
    nodes: int = 20_000  # maximum number of branch-and-bound nodes
    promising_edges: float = 6.0  # free edges per region after the root; with more, `auto` does not branch
    only_if_promising: bool = False  # whether to give up otherwise
    # free edges per region after the first 1-tree; with more, and many regions, the LP would take too long
    lp_edges: float = 250.0
    # number of regions from which this limit applies, and from which the root's ascent is split into shorter calls
    many_regions: int = 300
    # one call of the ascent of the root's 1-tree
    root_ascent: AscentParams = AscentParams(300, patience=8, slowest=0.01, progress=1e-3)
    root_calls: int = 6  # number of such calls, each with smaller steps than the last
    # the ascent of a node that differs from its parent by the end of its orders
    node_ascent: AscentParams = AscentParams(30, pace=0.1, patience=8, slowest=0.01, progress=1e-3)
    # nodes branch on the end of orders while the looseness of the score part exceeds this share of the gap
    end_looseness: float = 0.1
    ray_length: float = 1.1  # how far multipliers move along the dual ray of an infeasible LP, in gaps
    priced_ends: int = 500  # endings of orders whose edge costs are cached
    # numbers in a certificate, over all nodes; with more, it contains the root's bound only
    stored_numbers: int = 1_000_000
    digits: int = 9  # digits of multipliers, so that certificates stay short
    lp: LpParams = LpParams()  # the LP relaxation


class ProofParams(NamedTuple):
    """The sequence of proof methods (`exact.proof`): which ones are tried, and for how long."""

    one_tree: OneTreeParams | None = None  # the plain 1-tree bound; None to skip it
    branch_and_cut: BranchAndCutParams = BranchAndCutParams()  # branch and cut
    ng_route: NgRouteParams = NgRouteParams()  # ng-routes
    branching_share: float = 0.5  # share of the time for branch and cut if ng-routes may follow
    # regions up to which ng-routes are tried after branch and cut if only the last score counts
    both_regions: int = 60


class BoundParams(NamedTuple):
    """The lower bound for a given route (`exact.proof.lower_bound`)."""

    one_tree: OneTreeParams = OneTreeParams()  # the 1-tree bound
    most_regions: int = 60  # regions up to which more than 1-trees are tried
    # minimum time of a 1-tree bound; with less time left, places are bounded by nearest neighbours only
    seconds_per_pair: float = 1e-7
    perturbations: int = 10  # perturbations per region, to find an incumbent to aim at
    # the proofs tried after that
    proof: ProofParams = ProofParams(
        branch_and_cut=BranchAndCutParams(nodes=100), ng_route=NgRouteParams(rounds=1, labels=100_000)
    )


class ParetoParams(NamedTuple):
    """The Pareto front of travel and score part (`exact.pareto`)."""

    labels: int = 30_000_000  # maximum number of labels, of 32 bytes each
    enumerated: int = 8  # regions up to which all orders are tried if pair terms couple regions


class MatchingParams(NamedTuple):
    """Minimum-weight perfect matching (`matching.perfect_matching`)."""

    dense: int = 40  # vertices up to which all edges are candidates from the start
    neighbours: int = 10  # with more vertices, lightest edges of each vertex that are candidates from the start
    priced_in: int = 6  # maximum number of edges of negative reduced cost added per vertex at a time
    searches_per_call: int = 64  # searches (alternating trees) between two checks of the clock
    pairs_per_call: int = 20_000_000  # pairs priced between two checks of the clock


class ConstructionParams(NamedTuple):
    """Construction of orders (`construction`)."""

    # places up to which a distance matrix is computed; with more, spanning trees, matchings and start orders are
    # computed from the places
    matrix_regions: int = 300
    all_starts: int = 300  # regions up to which the nearest-neighbour rule starts from every region
    sampled_starts: int = 32  # number of start regions with more
    entries_at_once: int = 20_000_000  # matrix entries read at a time by nearest-neighbour paths built in parallel
    matching: MatchingParams = MatchingParams()  # the matching in Algorithm 1


class AlphaParams(NamedTuple):
    """Candidate lists by α-nearness (`local_search.alpha_nearness`)."""

    neighbours: int = 5  # vertices in a candidate list
    breadth: tuple[int, ...] = (5, 5, 3)  # as in `KOptParams`, for these lists
    scored_breadth: tuple[int, ...] = (5, 3)  # the same if more scores count than the last
    longest_reach: float = 0.25  # the lists are not used if scores count over more than this share of all positions
    graph_neighbours: int = 10  # minimum degree in the graph that the lists are chosen from
    steps: int = 300  # maximum number of subgradient steps of the ascent
    work: int = 3_000_000  # maximum of steps times vertices
    fewest_steps: int = 50  # if `work` allows fewer steps than these, there are no such lists
    first_step: float = 0.01  # relative to the mean cost of an edge


class KOptParams(NamedTuple):
    """Sequential k-opt moves over an array with an undo journal (`local_search.k_opt`, `local_search.tour_search`)."""

    neighbours: int = 8  # vertices in a candidate list by distance
    alpha: AlphaParams = AlphaParams()  # candidate lists of another kind
    breadth: tuple[int, ...] = (7, 5, 3)  # candidates tried for the second edge of a move, the third, ...
    scored_breadth: tuple[int, ...] = (8, 5)  # the same if more scores count than the last
    longest: int = 1_000_000  # positions that a move may write
    longest_bridge: int = 1000  # positions that a double bridge may write
    # temporary loss that a move may have for the sake of scores, in typical nearest distances; unlimited if the move
    # starts within `end_positions` of the end
    credit: float = 2.0
    end_positions: int = 20
    # the tail consists of the last positions, with weights of more than `tail_weight` of the last one's, if these are
    # more than `end_positions` and less than the share `longest_tail` of all
    tail_weight: float = 0.001
    longest_tail: float = 0.2
    # smallest gain relative to the median distance in candidate lists; a smaller one counts as rounding
    least_gain: float = 1e-11
    # largest loss of a perturbation, in typical nearest distances; after a larger one, gains would vanish in rounding
    most_worse: float = 1e10
    walk: int = 5  # steps of the random walks that find the edges of a double bridge
    segment: int = 30  # maximum number of positions between two of these edges if they are consecutive on the tour
    # share of perturbations that remove edges drawn by their length, within `far_bridge` positions, if the mean edge is
    # `far_ratio` times the median one, as with clustered regions
    far_share: float = 0.03
    far_ratio: float = 1.3
    far_bridge: int = 2000
    cooling: float = 0.97  # share of a round after which the temperature is zero
    journal: int = 200_000  # vertices that can be copied back
    pause: float = 0.05  # seconds in the core between two checks of the clock
    matrix_regions: int = 1500  # places up to which distances are read from a matrix, if it exists already
    merging_depth: int = 7  # maximum number of edges that a move adds when two orders are merged
    sweep_regions: int = 50_000  # with more vertices, perturbations sweep along the first order
    sweeps: int = 8  # number of such sweeps
    sweep_width: int = 1000  # positions within which perturbations are drawn, so that their data is in the cache


class PopulationParams(NamedTuple):
    """A population of tours and edge assembly crossover (`local_search.population`)."""

    few_regions: int = 50  # regions up to which iterated local search alone finds the optimum fast enough
    # regions up to which a population is used: the time of a generation grows with the square of their number
    most_regions: int = 12_000
    members: int = 100  # maximum number of tours
    fewest: int = 20  # minimum number of tours; if time allows fewer, iterated local search is used instead
    effort: float = 0.4  # share of the perturbations of a search that the creation of tours replaces
    descent: float = 0.1  # perturbations per region that take as long as a descent from a random order
    clustered: float = 0.1  # perturbations per region after the descent if regions are clustered
    # the same if more scores count than the last, times the square of the share of positions at which they count
    scored: float = 1.0
    fewest_perturbations: float = 0.02  # perturbations per region below which there are none
    near_regions: int = 3000  # with more regions, tours start from a quick order with nearby regions exchanged
    near_positions: float = 10.0  # standard deviation of the positions that a region is moved by
    fastest: float = 20_000.0  # maximum perturbations per second; if that leaves no time for tours, none is started
    children: int = 30  # children per pair of tours, of which the best is kept
    batch_regions: int = 1000  # such a batch of children is produced once per this many regions
    joining: int = 5  # candidates of a vertex for joining subtours
    stagnation: int = 30  # generations without a better tour after which a population has converged
    # perturbations per region of all tours but the best after convergence; then the next round begins
    perturbations: float = 0.1
    tail_perturbations: int = 40  # per position of the tail of the best tour, in each round
    stuck: int = 2  # rounds without success after which a search without a time limit ends
    renewed: float = 0.5  # with a time limit, share of the tours that are recreated in the following rounds instead
    # time for crossover relative to that for creating tours, with 1000 regions, and the exponent of its growth
    crossing: float = 0.6
    growth: float = 0.8

    def crossover_time(self, size: int) -> float:
        """Return the time for crossover relative to the time for creating the tours of a population."""
        return self.crossing * float((size / 1000) ** self.growth)


class IteratedLocalSearchParams(NamedTuple):
    """Iterated local search (`local_search.iterated`): from how many orders, how long."""

    search_share: float = 0.6  # share of the time for the search if a bound follows
    short: float = 1.5  # seconds; with less, a search of more than `several_starts_regions` regions gets `short_share`
    short_share: float = 0.85  # share of the time then
    threads: int = 1  # threads that create and perturb tours of a population; routes do not depend on their number
    rounds_at_once: int = 1  # rounds that run in parallel, each in its own thread; routes depend on their number
    enumerated: int = 3  # regions up to which all orders are tried
    few_regions: int = 30  # regions up to which `few_perturbations` per region are enough
    few_perturbations: int = 20
    perturbations: int = 50
    several_starts_regions: int = 50  # regions up to which several starts are tried; with more, there is a longer one
    starts: int = 2
    many_perturbations: int = 50  # perturbations per region with more regions
    most_perturbations: int = 100_000  # maximum number of perturbations, unless that is less than one per region
    round_length: int = 5  # perturbations per region in a round; then the order is merged with the best one
    # temperature at the start of a round, in median edge costs of the tour; it decreases to zero
    temperature: float = 0.5
    reheating: float = 0.5  # share by which the temperature rises for each consecutive round without gain
    hottest: float = 4.0  # maximum factor by which it rises
    # number of regions from which a search starts with the last score only, if more scores count
    ahead_regions: int = 150
    ahead_share: float = 0.4  # share of the time and of the perturbations for that
    # if regions coincide: share of the time for the search over their locations, before clusters may be split
    cluster_share: float = 0.3
    k_opt: KOptParams = KOptParams()
    population: PopulationParams = PopulationParams()


class AutoParams(NamedTuple):
    """The method `auto` (`methods.auto`): effort is limited, not time, so that the same seed gives the same route."""

    # numbers of regions, and the effort of a proof up to each of them
    efforts: tuple[tuple[int, ProofParams], ...] = (
        (50, ProofParams(None, BranchAndCutParams(nodes=1000), NgRouteParams(rounds=12, labels=300_000))),
        (75, ProofParams(None, BranchAndCutParams(nodes=2000), NgRouteParams(rounds=2, labels=200_000))),
        (100, ProofParams(None, BranchAndCutParams(nodes=2000), NgRouteParams(rounds=0, turns=1, labels=100_000))),
    )
    # effort with more regions, if only branch and cut would be tried
    beyond: ProofParams = ProofParams(None, BranchAndCutParams(nodes=100, only_if_promising=True))
    algorithm1_regions: int = 10_000  # regions up to which the search starts from Algorithm 1
    start_share: float = 0.5  # maximum share of the time for the order that the search starts from
    descent_regions: int = 1000  # regions up to which a descent improves that order even if the time is over


class RuinParams(NamedTuple):
    """Ruin and recreate of routes (`ruin_and_recreate`)."""

    most_orders: int = 1000  # regions up to which orders with coupled errors are searched; beyond, by typical terms

    rearranged: float = 0.9  # share of iterations that make a 2-opt or Or-opt move instead of ruin and recreate
    removed: float = 10.0  # maximum of the mean number of visits that an iteration removes
    string: int = 10  # maximum length of a removed string
    added: int = 10  # maximum number of absent regions that are tried in addition
    blink: float = 0.01  # share of insertion positions that are skipped
    contrary: float = 0.1  # share of visits inserted although they do not pay, or omitted although they do
    near: int = 100  # length of the list of nearest regions, which serve to find strings near each other
    starts: int = 4  # start routes: without optional visits and, for one model, each of the last visits of lowest cost
    descent: int = 300  # iterations of the descent from each start
    iterations: int = 2000  # iterations per region of the annealing
    most_iterations: int = 100_000  # maximum number of these iterations
    hot: float = 1.0  # first temperature, in typical losses of an iteration
    cold: float = 0.001  # last temperature, in the same unit
    temperatures: int = 100  # minimum number of temperature steps of a cooling
    repair: int = 50_000  # iterations after which the search for routes within all limits gives up
    work: float = 1e7  # positions and regions evaluated per call of the core, between two checks of the clock

    @property
    def moves(self) -> dict[str, Any]:
        """The parameters of the core."""
        names = ("rearranged", "removed", "string", "added", "blink", "contrary")
        return {name: getattr(self, name) for name in names}


class EnumerationParams(NamedTuple):
    """Trying all routes (`exact.enumeration`)."""

    few: int = 1_000_000  # routes up to which all are tried before other proofs
    routes: int = 12_000_000  # routes of one vehicle with one model up to which all are tried
    fleets: int = 3_000_000  # routes of several vehicles or models up to which all are tried
    nodes_per_call: int = 500_000  # nodes between two checks of the clock


class VisitLabellingParams(NamedTuple):
    """Labels of multisets of visits (`exact.visit_labelling`)."""

    multisets: int = 50_000  # multisets of visits up to which labelling is used
    labels: int = 10_000_000  # maximum number of labels, of 24 bytes each; the proof gives up beyond
    labels_per_call: int = 500_000  # labels between two checks of the clock


class VisitBoundParams(NamedTuple):
    """The lower bound for sequences of visits (`exact.visit_ng_routes`)."""

    nearest: int = 4  # nearest regions in the first ng-set of each region
    largest: int = 8  # maximum number of regions in an ng-set
    cycles: int = 10  # number of last routes of an ascent whose cycles are broken afterwards
    first_ascent: AscentParams = AscentParams(120, patience=8)  # the ascent with the first ng-sets
    # the same after each augmentation
    next_ascent: AscentParams = AscentParams(40, patience=8, slowest=0.05, progress=1e-3)
    gain: float = 0.1  # share of the gap that an ascent without cycles must close; otherwise it is the last one
    work: float = 1e9  # arcs processed in total; a step processes each arc once per layer
    steps: int = 20  # steps for which `work` must be enough; otherwise ng-sets start with fewer regions
    arc_seconds: float = 3e-7  # minimum seconds per arc; a bound starts only if there is time for all arcs ...
    moment: float = 0.1  # ... or if they take at most this many seconds
    arcs: int = 4_000_000  # maximum number of arcs between two layers, of about 40 bytes each
    share: float = 0.25  # share of the time reserved for the bound if a search would otherwise spend all of it


class RehearsalParams(NamedTuple):
    """Simulated annealing of sequences of visits that are evaluated by rehearsal (`solvers.rehearsal`)."""

    starts: int = 4  # sequences that are annealed, independently of each other
    moves: int = 500  # moves per region, for each of them
    hot: float = 1.0  # first temperature, in typical losses of a move
    cold: float = 0.01  # last temperature, in the same unit
    temperatures: int = 100  # minimum number of temperature steps
    work: float = 3e7  # multiplications per call of the core, between two checks of the clock


class SolverParams(NamedTuple):
    """Tuning of all solvers, one part per component. `proof` is the effort of the method `exact`.

    These may be set by users; all others are internal and may change in any release:

    - `held_karp.most_regions`: regions up to which dynamic programming over sets is used.
    - `suffix_labelling.most_regions`, `suffix_labelling.labels`: regions and labels per position up to which proofs are
      attempted for regularised learners.
    - `proof.branch_and_cut.most_regions`, `proof.branch_and_cut.nodes`: regions and nodes of branch and cut.
    - `proof.ng_route.most_regions`, `proof.ng_route.labels`: regions and labels per layer of ng-route proofs.
    - `bound.most_regions`: regions up to which more than 1-tree bounds are tried.
    - `search.threads`: threads that create and perturb tours of a population.
    - `search.starts`, `search.perturbations`: starts, and perturbations per region, with few regions.
    - `search.many_perturbations`, `search.most_perturbations`: perturbations per region with many regions, and the
      maximum number of perturbations.
    - `search.population.members`: tours in a population.
    - `ruin.iterations`: iterations per region of ruin and recreate.
    - `rehearsal.moves`: moves per region of a rehearsal.
    """

    held_karp: HeldKarpParams = HeldKarpParams()
    suffix_labelling: SuffixLabellingParams = SuffixLabellingParams()
    tours: TourParams = TourParams()
    construction: ConstructionParams = ConstructionParams()
    search: IteratedLocalSearchParams = IteratedLocalSearchParams()
    bound: BoundParams = BoundParams()
    proof: ProofParams = ProofParams()
    auto: AutoParams = AutoParams()
    pareto: ParetoParams = ParetoParams()
    ruin: RuinParams = RuinParams()
    # with several models, all starts are annealed, and the better half of them again in each round
    ruin_fleet: RuinParams = RuinParams(starts=16, most_iterations=120_000, hot=2.0, cold=0.01, work=1e6)
    enumeration: EnumerationParams = EnumerationParams()
    visit_labelling: VisitLabellingParams = VisitLabellingParams()
    visit_bound: VisitBoundParams = VisitBoundParams()
    rehearsal: RehearsalParams = RehearsalParams()


DEFAULTS = SolverParams()


def check_params(params: tuple[Any, ...]) -> None:
    """Reject values that do not have the declared type of their parameter, including nested parameters."""
    owner: Any = type(params)
    names = getattr(owner, "_fields", ())  # a plain tuple, such as `efforts`, has none
    changed = [name for name in names if getattr(params, name) is not owner._field_defaults.get(name)]
    kinds = get_type_hints(owner) if changed else {}
    for name in changed:
        kind, value = kinds[name], getattr(params, name)
        if kind in (int, float):
            wanted: type = Integral if kind is int else Real
            if isinstance(value, bool) or not isinstance(value, wanted):
                what = "expected a whole number" if kind is int else "expected a number"
                raise InputError(what, field=name, value=value)
        elif isinstance(kind, UnionType):  # something, or None
            check_type(name, value, *get_args(kind))
        else:
            check_type(name, value, get_origin(kind) or kind)
    for part in [getattr(params, name) for name in changed] if names else params:
        if isinstance(part, tuple):
            check_params(part)
