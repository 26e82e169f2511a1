"""Tuning of the solvers, one named tuple per component; `plan(problem, params=...)` takes them.

`SolverParams` lists those that users may set; all others are internal.

The defaults were found by measurement (benchmarks/). None of them touches correctness: whatever they are, values are
recomputed and bounds hold. What nobody would ever change is a named constant beside its use.
"""

from numbers import Integral, Real
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from learnroute.errors import InputError, check_type


class HeldKarpParams(NamedTuple):
    """Dynamic programming over sets (`exact.held_karp`)."""

    most_regions: int = 20  # regions up to which all sets are enumerated: 2^(T-1)·T numbers are kept
    few_regions: int = 12  # regions up to which sets are enumerated whatever the time limit
    shortest: int = 15  # regions up to which a table is quicker than branching, where symmetric travel alone counts
    sets_a_call: int = 1 << 14  # sets that a call of the core fills, between two looks at the clock


class SuffixLabellingParams(NamedTuple):
    """Labelling of suffixes, for objectives with pair terms (`exact.suffix_labelling`)."""

    most_regions: int = 16  # regions up to which it is tried ...
    auto_regions: int = 12  # ... and by the method `auto`
    labels: int = 1_000_000  # labels allowed at a position; the proof gives up where they are more
    # regions up to which all orders are tried, where labels are too many or dominance does not hold
    enumerated: int = 10


class PairSearchParams(NamedTuple):
    """Search with pair terms (`exact.pair_methods.search_pairs`)."""

    most_regions: int = 1000  # regions up to which moves are priced by pair terms; with more, by typical ones
    typical_perturbations: int = 1  # perturbations a region with typical pair terms, ...
    typical_share: float = 0.3  # ... for this share of the time at most, ...
    perturbations: float = 8.0  # ... then with the true ones, ...
    few_regions: int = 12  # ... up to so many regions ...
    few_starts: int = 3  # ... from so many starts, ...
    # ... fewer with more regions than this, by the square of their number, unless there is a time limit
    many_regions: int = 100


class AscentParams(NamedTuple):
    """One Lagrangian ascent by subgradient steps with momentum (`exact.subgradient`)."""

    steps: int  # subgradient steps, at most
    pace: float = 1.0  # the share of the gap between bound and target that a first step aims at
    momentum: float = 0.6  # the share of the last direction that is kept in the next one
    # steps without progress after which the pace falls and the ascent goes on from the best multipliers
    patience: int = 15
    fall: float = 0.7  # what the pace is multiplied by then
    slowest: float = 1e-3  # the pace at which the ascent ends
    progress: float = 1e-4  # the share of the gap by which a bound must rise to count as progress


class OneTreeParams(NamedTuple):
    """The 1-tree bound (`exact.one_tree`)."""

    ascent: AscentParams = AscentParams(steps=1000)  # the ascent on one multiplier a vertex
    steps_a_call: int = 50  # subgradient steps between two looks at the clock
    sparse_regions: int = 250  # regions from which on the ascent is on few edges: ...
    sparse_neighbours: int = 10  # ... those to so many candidates a region; ...
    sparse_ascent: AscentParams = AscentParams(steps=1000, momentum=0.9, patience=30, progress=1e-5)
    # ... regions in clusters need a longer one that keeps more of the last direction: those where the mean edge of a
    # minimum spanning tree is so many times the median one; ...
    clustered: float = 1.3
    clustered_ascent: AscentParams = AscentParams(steps=6000, momentum=0.98, patience=200, progress=1e-6)
    sparse_rounds: int = 4  # ... and so often it goes on with edges that were missing, more slowly:
    next_pace: float = 0.2  # the share of the gap that a first step aims at then
    # places up to which a matrix of their distances is made for it; beyond, only the sparse bound is taken
    most_regions: int = 5000


class NgRouteParams(NamedTuple):
    """Position-indexed ng-routes with dynamic ng-sets (`exact.ng_route`)."""

    most_regions: int = 256  # regions up to which they are tried: T³ arcs are kept
    rounds: int = 60  # rounds of ascent, ng-set augmentation and bidirectional labelling, at most
    labels: int = 1_000_000  # labels allowed in a layer; the proof gives up where one outgrows it
    nearest: int = 4  # regions nearest to each that its ng-set starts with
    # the ascent without ng-sets (q-routes)
    q_route_ascent: AscentParams = AscentParams(steps=400, momentum=0.5, patience=10, progress=1e-6)
    # the ascent with the first ng-sets, before arcs are fixed to 0
    first_ascent: AscentParams = AscentParams(20, pace=0.5, momentum=0.7, patience=5, slowest=0.05, progress=1e-3)
    # the same afterwards, once a turn
    next_ascent: AscentParams = AscentParams(30, pace=0.5, momentum=0.7, patience=5, slowest=0.05, progress=1e-3)
    turns: int = 6  # turns of ascent and fixing with the first ng-sets, at most
    turn_gain: float = 0.95  # a turn that leaves more than this share of the gap is the last one
    round_steps: int = 40  # subgradient steps with larger ng-sets, a round
    round_pace: tuple[float, float] = (0.3, 0.03)  # the share of the gap that they aim at, first and last of a round
    augment_every: int = 2  # steps between two augmentations of ng-sets
    spread: int = 6  # positions to either side of a cycle at which ng-sets are augmented
    narrow_spread: int = 3  # the same where labels have used up half of the room
    room: int = 30_000  # labels in all layers up to which ng-sets grow during the first round ...
    room_factor: float = 1.3  # ... but at least this many times those of the first ng-sets ...
    room_growth: float = 1.4  # ... and this many times more ...
    room_used: float = 0.7  # ... after a round that used this share of it
    overgrown: float = 2.0  # ng-sets that lead to this many times the room are taken back
    most_rooms: float = 3.0  # the room ends at this many times the labels allowed in a layer
    bidirectional_growth: float = 4.0  # bidirectional labelling ends where a direction has this many times the room
    bidirectional_gap: float = 0.6  # it is tried when the gap has fallen to this share of what it was the last time ...
    bidirectional_arcs: float = 0.15  # ... if no more than this share of all arcs is left ...
    bidirectional_regions: int = 80  # ... or there are no more regions than these
    improve_every: int = 4  # rounds between two searches for a better incumbent ...
    improve_perturbations: int = 20  # ... of this many perturbations a region
    checked_labels: int = 300_000  # labels that a certificate may ask a checker to make
    turn_labels: int = 60_000  # labels that a turn of them has, unless it needs more
    turn_work: int = 50_000_000  # units of work for each, a fraction of a second, as long as there is any time left
    # a further stage of fixing is kept when the gap has fallen to this share of what it was at the last one
    stage_gap: float = 0.7
    arcs_a_call: int = 20_000_000  # arcs that a call of the core looks at, between two looks at the clock


class LpParams(NamedTuple):
    """The LP relaxation of tours and its cuts (`exact.branch_and_cut.lp_relaxation`, `.separation`)."""

    rounds: int = 60  # rounds of solving and cutting at one node, at most
    comb_gain: float = 0.005  # the share of the gap by which combs must raise the bound to be worth another round
    idle_rounds: int = 10  # solutions in which a cut has no dual value, after which it may be dropped ...
    idle_cuts: int = 20  # ... once there are this many of them
    shrink: float = 0.5  # the share of edges left at which a smaller relaxation is built
    strong_candidates: int = 8  # edges that strong branching tries
    strong_iterations: int = 30  # simplex iterations for each of their two sides
    tolerance: float = 1e-9  # feasibility tolerance of HiGHS, in units of a typical edge


class BranchAndCutParams(NamedTuple):
    """Branch and cut over 1-trees and the LP relaxation (`exact.branch_and_cut`)."""

    most_regions: int = 1000  # regions up to which it is tried where only the last score counts
    # it is tried where the weights before the last add up to at most this many times the last one
    few_scores: float = 3.0
    nodes: int = 20_000  # branch-and-bound nodes, at most
    promising_edges: float = 6.0  # free edges a region after the root; with more, `auto` does not branch
    only_if_promising: bool = False  # whether to give up otherwise
    # free edges a region after the first 1-tree; with more, and many regions, the LP would take too long
    lp_edges: float = 250.0
    # regions from which on that counts, and calls of the root's ascent are cut into shorter ones
    many_regions: int = 300
    # the ascent of the root's 1-tree, once a call ...
    root_ascent: AscentParams = AscentParams(300, patience=8, slowest=0.01, progress=1e-3)
    root_calls: int = 6  # ... so many times, each more slowly
    # the ascent of a node that differs from its parent by the end of its orders
    node_ascent: AscentParams = AscentParams(30, pace=0.1, patience=8, slowest=0.01, progress=1e-3)
    # nodes branch on how orders end while what that leaves open is more than this share of the gap
    end_looseness: float = 0.1
    ray_length: float = 1.1  # how far multipliers go along the dual ray of an infeasible LP, in gaps
    priced_ends: int = 500  # ends of orders whose edge costs are kept
    # numbers that a certificate lists, of all nodes; with more, it holds the root's bound alone
    stored_numbers: int = 1_000_000
    digits: int = 9  # digits of multipliers, so that certificates stay short
    lp: LpParams = LpParams()  # the LP relaxation


class ProofParams(NamedTuple):
    """The proof ladder (`exact.proof`): which rungs are climbed, and how long."""

    one_tree: OneTreeParams | None = None  # the plain 1-tree bound; None leaves this rung out
    branch_and_cut: BranchAndCutParams = BranchAndCutParams()  # branch and cut
    ng_route: NgRouteParams = NgRouteParams()  # ng-routes
    branching_share: float = 0.5  # the share of the time for branch and cut where ng-routes may follow
    # regions up to which ng-routes are tried after branch and cut where only the last score counts
    both_regions: int = 60


class BoundParams(NamedTuple):
    """The lower bound of a route that somebody chose (`exact.proof.lower_bound`)."""

    one_tree: OneTreeParams = OneTreeParams()  # the 1-tree bound
    most_regions: int = 60  # regions up to which more than 1-trees are tried
    # what a 1-tree bound takes at least: places are bounded by nearest neighbours alone where less time is left
    seconds_per_pair: float = 1e-7
    perturbations: int = 10  # perturbations a region, to find an incumbent worth aiming at
    # what is tried then
    proof: ProofParams = ProofParams(
        branch_and_cut=BranchAndCutParams(nodes=100), ng_route=NgRouteParams(rounds=1, labels=100_000)
    )


class ParetoParams(NamedTuple):
    """The Pareto front of travel and score part (`exact.pareto`)."""

    labels: int = 30_000_000  # labels of 32 bytes that may be made
    enumerated: int = 8  # regions up to which all orders are tried where pair terms couple regions


class MatchingParams(NamedTuple):
    """Minimum-weight perfect matching (`matching.perfect_matching`)."""

    dense: int = 40  # vertices up to which all edges are candidates from the start
    neighbours: int = 10  # lightest edges of each vertex that are candidates from the start, with more vertices
    priced_in: int = 6  # edges of negative reduced cost that are added at a time, a vertex at most
    searches_a_call: int = 64  # searches (alternating trees) between two looks at the clock
    pairs_a_call: int = 20_000_000  # pairs that are priced between two looks at the clock


class ConstructionParams(NamedTuple):
    """Orders built from nothing (`construction`)."""

    # places up to which a matrix of their distances is made; with more, spanning trees, matchings and starting orders
    # are found from the places
    matrix_regions: int = 300
    all_starts: int = 300  # regions up to which the nearest-neighbour rule starts from every region
    sampled_starts: int = 32  # regions that it starts from with more
    entries_at_once: int = 20_000_000  # entries of matrices that nearest-neighbour paths grown side by side look at
    matching: MatchingParams = MatchingParams()  # the matching in Algorithm 1


class AlphaParams(NamedTuple):
    """Candidate lists by α-nearness (`local_search.alpha_nearness`)."""

    neighbours: int = 5  # vertices in a candidate list
    breadth: tuple[int, ...] = (5, 5, 3)  # as in `KOptParams`, for these lists ...
    scored_breadth: tuple[int, ...] = (5, 3)  # ... and where more scores count than the last
    longest_reach: float = 0.25  # the share of all positions beyond which they are not used, if scores reach that far
    graph_neighbours: int = 10  # vertices that each is joined to in the graph that they are chosen from, at least
    steps: int = 300  # subgradient steps of the ascent, at most
    work: int = 3_000_000  # steps times vertices, at most ...
    fewest_steps: int = 50  # ... and where that leaves fewer steps than these, there are no such lists
    first_step: float = 0.01  # relative to the mean cost of an edge


class KOptParams(NamedTuple):
    """Sequential k-opt moves over an array with an undo journal (`local_search.k_opt`, `local_search.tour_search`)."""

    neighbours: int = 8  # vertices in a candidate list of near ones
    alpha: AlphaParams = AlphaParams()  # candidate lists of another kind
    breadth: tuple[int, ...] = (7, 5, 3)  # entries of the list that the second edge of a move looks at, the third, ...
    scored_breadth: tuple[int, ...] = (8, 5)  # the same where more scores count than the last
    longest: int = 1_000_000  # positions that a move may write ...
    longest_bridge: int = 1000  # ... and a double bridge
    credit: float = 2.0  # typical nearest distances that a move may lose on the way, for the sake of scores; any ...
    end_positions: int = 20  # ... loss where it begins within so many positions of the end
    # the tail: the last positions, whose weights are more than `tail_weight` of the last one's, where these are more
    # than `end_positions` and less than `longest_tail` of all
    tail_weight: float = 0.001
    longest_tail: float = 0.2
    least_gain: float = (
        1e-11  # relative to the median distance in candidate lists: a smaller gain is taken for rounding
    )
    most_worse: float = 1e10  # typical nearest distances: a perturbation that costs more would drown gains in rounding
    walk: int = 5  # steps of the random walks that find the edges of a double bridge
    segment: int = 30  # positions between two of these edges at most, where they follow each other along the tour
    # the share of perturbations that cut legs drawn by their length, within `far_bridge` positions, where the mean leg
    # is `far_ratio` times the median one, as where regions are in clusters
    far_share: float = 0.03
    far_ratio: float = 1.3
    far_bridge: int = 2000
    cooling: float = 0.97  # the share of a round until the temperature is nothing
    journal: int = 200_000  # vertices that can be copied back
    pause: float = 0.05  # seconds in the core between two looks at the clock
    matrix_regions: int = 1500  # places up to which distances are read from a matrix, if there is one already
    merging_depth: int = 7  # edges that a move adds at most where two orders are merged
    sweep_regions: int = 50_000  # with more vertices, perturbations sweep along the first order ...
    sweeps: int = 8  # ... so many times, ...
    sweep_width: int = 1000  # ... drawn within so many positions, so that what is needed is in the cache


class PopulationParams(NamedTuple):
    """A population of tours and edge assembly crossover (`local_search.population`)."""

    few_regions: int = 50  # regions up to which iterated local search alone finds the optimum soon enough
    most_regions: int = 12_000  # regions up to which it is used: generations take time with the square of their number
    members: int = 100  # tours in it, at most ...
    fewest: int = 20  # ... and where there is no time for so many, iterated local search is used instead
    effort: float = 0.4  # the share of the perturbations of a search in whose stead tours are made
    descent: float = 0.1  # perturbations a region that take as long as a descent from a random order
    clustered: float = 0.1  # perturbations a region after it, where regions are in clusters; ...
    # ... where more scores count than the last, times the square of the share of positions that they reach; ...
    scored: float = 1.0
    fewest_perturbations: float = 0.02  # ... none where they would be less
    near_regions: int = 3000  # with more regions, tours start from a quick order, its regions exchanged with near ones:
    near_positions: float = 10.0  # the standard deviation of how far one is moved
    fastest: float = 20_000.0  # perturbations a second, at most: where that leaves no time for tours, none is begun
    children: int = 30  # of two tours, of which the best is taken, ...
    batch_regions: int = 1000  # ... once for each so many regions
    joining: int = 5  # candidates of a vertex for joining subtours
    stagnation: int = 30  # generations without a better tour after which a population has converged
    perturbations: float = 0.1  # a region; then all tours but the best are perturbed, and the next round begins
    tail_perturbations: int = 40  # for each position of the tail of the best tour, in each round
    stuck: int = 2  # rounds without success after which a search without a time limit ends; with one, ...
    renewed: float = 0.5  # ... this share of the tours is made anew instead in the rounds that follow
    # what crossing takes beside making tours, for 1000 regions, and how it grows
    crossing: float = 0.6
    growth: float = 0.8

    def evolving(self, size: int) -> float:
        """Return how long a population is crossed for, in times that making its tours takes."""
        return self.crossing * float((size / 1000) ** self.growth)


class IteratedLocalSearchParams(NamedTuple):
    """Iterated local search (`local_search.iterated`): from how many orders, how long."""

    search_share: float = 0.6  # the share of the time for the search where a bound follows
    short: float = 1.5  # seconds: with less, a search of more than `several_starts_regions` has ...
    short_share: float = 0.85  # ... this share of the time
    threads: int = 1  # threads in which tours of a population are made and perturbed; routes do not depend on that
    rounds_at_once: int = (
        1  # rounds that are gone through side by side, each in a thread of its own; routes depend on it
    )
    enumerated: int = 3  # regions up to which all orders are tried
    few_regions: int = 30  # regions up to which `few_perturbations` a region are enough
    few_perturbations: int = 20
    perturbations: int = 50
    several_starts_regions: int = 50  # regions up to which several starts are tried; with more, one is, but longer
    starts: int = 2
    many_perturbations: int = 50  # perturbations a region with more regions ...
    most_perturbations: int = 100_000  # ... up to so many, or one a region
    round_length: int = 5  # perturbations a region in a round; then the order is merged with the best one
    temperature: float = 0.5  # when a round begins, in median costs of an edge of the tour; it falls to nothing
    reheating: float = 0.5  # by this share hotter for each round before it that brought nothing, ...
    hottest: float = 4.0  # ... up to so many times as hot
    # regions from which on, where more scores count than the last, a search begins with the last one alone, ...
    ahead_regions: int = 150
    ahead_share: float = 0.4  # ... for this share of the time and of the perturbations
    # where regions coincide: the share of the time for the search among their locations, before clusters may be left
    cluster_share: float = 0.3
    k_opt: KOptParams = KOptParams()
    population: PopulationParams = PopulationParams()


class AutoParams(NamedTuple):
    """The method `auto` (`methods.auto`): effort is limited, not time, so that the same seed gives the same route."""

    # regions, and what is spent on a proof up to so many
    efforts: tuple[tuple[int, ProofParams], ...] = (
        (50, ProofParams(None, BranchAndCutParams(nodes=1000), NgRouteParams(rounds=12, labels=300_000))),
        (75, ProofParams(None, BranchAndCutParams(nodes=2000), NgRouteParams(rounds=2, labels=200_000))),
        (100, ProofParams(None, BranchAndCutParams(nodes=2000), NgRouteParams(rounds=0, turns=1, labels=100_000))),
    )
    # what is spent with more regions, where branch and cut is all that would be tried
    beyond: ProofParams = ProofParams(None, BranchAndCutParams(nodes=100, only_if_promising=True))
    algorithm1_regions: int = 10_000  # regions up to which the search starts from Algorithm 1
    start_share: float = 0.5  # the share of the time, at most, for what the search starts from
    descent_regions: int = 1000  # regions up to which that is improved by a descent, though the time is over


class VisitSearchParams(NamedTuple):
    """Ruin and recreate of sequences of visits (`visits.search`)."""

    rearranged: float = 0.97  # the share of iterations that make a 2-opt or Or-opt move, instead of ruin and recreate
    removed: float = 10.0  # visits that an iteration removes on average, at most ...
    string: int = 10  # ... in strings of so many at most
    added: int = 10  # absent regions that are tried besides, at most
    blink: float = 0.01  # the share of places that are overlooked where a visit is put in
    contrary: float = 0.1  # the share of visits that are put in though they do not pay, or left out though they do
    near: int = 100  # nearest regions of each that are listed, to find strings near each other
    starts: int = 10  # last visits to start from: those that cost least alone; ...
    descent: int = 300  # ... each for so many iterations, ...
    descent_share: float = 0.4  # ... or all for this share of the time, before the best of them is annealed ...
    iterations: int = 1000  # ... for so many iterations per region ...
    most_iterations: int = 60_000  # ... up to so many
    hot: float = 0.5  # the first temperature, in typical losses of an iteration, ...
    cold: float = 0.001  # ... and the last one, ...
    coolings: int = 3  # ... so many times, ...
    temperatures: int = 100  # ... in so many steps at least, in all
    reordered: int = 30  # visits beyond which their order is then improved by itself, ...
    order_share: float = 0.2  # ... in this share of the time
    repair: int = 50_000  # iterations after which no routes of a fleet within all limits are sought any more
    work: float = 1e7  # places and regions that a call of the core looks at, between two looks at the clock


class VisitProofParams(NamedTuple):
    """The best sequence of visits (`visits.exact`)."""

    multisets: int = 50_000  # multisets of visits up to which labels are made, where errors are not coupled
    labels: int = 10_000_000  # labels of 24 bytes allowed; the proof gives up where they are more
    sequences: int = 12_000_000  # sequences up to which all are tried, ...
    fleet_routes: int = 3_000_000  # ... and routes of fleets
    nodes_a_call: int = 500_000  # nodes of that search, and labels, between two looks at the clock


class VisitBoundParams(NamedTuple):
    """The lower bound of sequences of visits (`visits.ng_routes`)."""

    nearest: int = 4  # regions nearest to each that its ng-set starts with
    largest: int = 8  # regions in an ng-set, at most
    cycles: int = 10  # last routes of an ascent, the cycles of which are broken then
    first_ascent: AscentParams = AscentParams(120, patience=8)  # the ascent with the first ng-sets
    # the same after each augmentation
    next_ascent: AscentParams = AscentParams(40, patience=8, slowest=0.05, progress=1e-3)
    gain: float = 0.1  # share of the gap that an ascent without cycles must close, or it is the last one
    work: float = 1e9  # arcs that are looked at in all; a step looks at each once per layer
    steps: int = 20  # for which that must be enough: else ng-sets start with fewer regions
    arc_seconds: float = 3e-7  # that an arc takes at least; a bound begins only if there is time for all of them, ...
    moment: float = 0.1  # ... or they take no longer than this
    arcs: int = 4_000_000  # arcs between two layers, at most; about 40 bytes each
    share: float = 0.25  # of the time that is left for it where a search would spend all


class RehearsalParams(NamedTuple):
    """Simulated annealing of sequences of visits that are priced by rehearsal (`solvers.rehearsal`)."""

    starts: int = 4  # sequences that are annealed, each on its own
    moves: int = 500  # per region, in each of them
    hot: float = 1.0  # the first temperature, in typical losses of a move, ...
    cold: float = 0.01  # ... and the last one, ...
    temperatures: int = 100  # ... in so many steps at least
    work: float = 3e7  # multiplications of a call of the core, between two looks at the clock


class SolverParams(NamedTuple):
    """Tuning of all solvers, one part per component. `proof` is the effort of the method `exact`.

    These may be set by users; all others are internal and may change in any release:

    - `held_karp.most_regions`: regions up to which dynamic programming over sets is used.
    - `suffix_labelling.most_regions`, `suffix_labelling.labels`: regions and labels per position up to which proofs are
      attempted for regularised learners.
    - `proof.branch_and_cut.most_regions`, `proof.branch_and_cut.nodes`: regions and nodes of branch and cut.
    - `proof.ng_route.most_regions`, `proof.ng_route.labels`: regions and labels per layer of ng-route proofs.
    - `bound.most_regions`: regions up to which more than 1-tree bounds are tried.
    - `search.threads`: threads that make and perturb tours of a population.
    - `search.starts`, `search.perturbations`: starts, and perturbations per region, with few regions.
    - `search.many_perturbations`, `search.most_perturbations`: perturbations per region with many, and at most.
    - `search.population.members`: tours in a population.
    - `visit_search.iterations`: iterations per region where visits are optional.
    - `rehearsal.moves`: moves per region of a rehearsal.
    """

    held_karp: HeldKarpParams = HeldKarpParams()
    suffix_labelling: SuffixLabellingParams = SuffixLabellingParams()
    pair_search: PairSearchParams = PairSearchParams()
    construction: ConstructionParams = ConstructionParams()
    search: IteratedLocalSearchParams = IteratedLocalSearchParams()
    bound: BoundParams = BoundParams()
    proof: ProofParams = ProofParams()
    auto: AutoParams = AutoParams()
    pareto: ParetoParams = ParetoParams()
    visit_search: VisitSearchParams = VisitSearchParams()
    # of fleets, all starts are annealed, together for `descent_share` of the effort
    fleet_search: VisitSearchParams = VisitSearchParams(rearranged=0.7, hot=1.0, cold=0.01, work=1e6)
    visit_proof: VisitProofParams = VisitProofParams()
    visit_bound: VisitBoundParams = VisitBoundParams()
    rehearsal: RehearsalParams = RehearsalParams()


DEFAULTS = SolverParams()


def check_params(params: tuple[Any, ...]) -> None:
    """Refuse values of other types than parameters are declared with, in these and in all within them."""
    owner: Any = type(params)
    names = getattr(owner, "_fields", ())  # none where they are a plain tuple, such as `efforts`
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
