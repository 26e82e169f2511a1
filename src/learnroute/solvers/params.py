"""Everything that can be tuned, one frozen dataclass a component; `plan(problem, params=...)` takes them.

The defaults were found by measurement (benchmarks/). None of them touches correctness: whatever they are, values are
recomputed and bounds hold. What nobody would ever change is a named constant beside its use.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HeldKarpParams:
    """Dynamic programming over sets (`exact.held_karp`).

    Attributes
    ----------
    most_regions
        Regions up to which all sets are enumerated: 2^T·T numbers are kept.
    interpreted
        Regions up to which the interpreter is quicker than loading compiled code.
    sets_a_call
        Sets that a kernel call fills, between two looks at the clock.
    """

    most_regions: int = 20
    interpreted: int = 12
    sets_a_call: int = 1 << 14


@dataclass(frozen=True)
class AscentParams:
    """One Lagrangian ascent by subgradient steps with momentum (`exact.subgradient`).

    Attributes
    ----------
    steps
        Subgradient steps, at most.
    pace
        The share of the gap between bound and target that a first step aims at.
    momentum
        The share of the last direction that is kept in the next one.
    patience
        Steps without progress after which the pace falls and the ascent goes on from the best multipliers.
    fall
        What the pace is multiplied by then.
    slowest
        The pace at which the ascent ends.
    progress
        The share of the gap by which a bound must rise to count as progress.
    """

    steps: int
    pace: float = 1.0
    momentum: float = 0.6
    patience: int = 15
    fall: float = 0.7
    slowest: float = 1e-3
    progress: float = 1e-4


@dataclass(frozen=True)
class OneTreeParams:
    """The 1-tree bound (`exact.one_tree`).

    Attributes
    ----------
    ascent
        The ascent on one multiplier a vertex.
    steps_a_call
        Subgradient steps between two looks at the clock.
    most_regions
        Places up to which a matrix of their distances is made for it; beyond, only the sparse bound is taken.
    """

    ascent: AscentParams = AscentParams(steps=1000)
    steps_a_call: int = 50
    most_regions: int = 3000


@dataclass(frozen=True)
class NgRouteParams:
    """Position-indexed ng-routes with dynamic ng-sets (`exact.ng_route`).

    Attributes
    ----------
    most_regions
        Regions up to which they are tried: T³ arcs are kept.
    rounds
        Rounds of ascent, ng-set augmentation and bidirectional labelling, at most.
    labels
        Labels allowed in a layer; the proof gives up where one outgrows it.
    nearest
        Regions nearest to each that its ng-set starts with.
    q_route_ascent
        The ascent without ng-sets (q-routes).
    first_ascent
        The ascent with the first ng-sets, before arcs are fixed to 0.
    next_ascent
        The same afterwards, once a turn.
    turns
        Turns of ascent and fixing with the first ng-sets, at most.
    turn_gain
        A turn that leaves more than this share of the gap is the last one.
    round_steps
        Subgradient steps with larger ng-sets, a round.
    round_pace
        The share of the gap that they aim at, first and last of a round.
    augment_every
        Steps between two augmentations of ng-sets.
    spread
        Positions to either side of a cycle at which its regions learn to remember.
    narrow_spread
        The same where labels have used up half of the room.
    room
        Labels in all layers up to which ng-sets grow during the first round ...
    room_factor
        ... but at least this many times those of the first ng-sets ...
    room_growth
        ... and this many times more ...
    room_used
        ... after a round that used this share of it.
    overgrown
        Ng-sets that lead to this many times the room are taken back.
    most_rooms
        The room ends at this many times the labels allowed in a layer.
    meeting_growth
        Bidirectional labelling ends where a direction has this many times the room.
    meeting_gap
        It is tried when the gap has fallen to this share of what it was the last time ...
    meeting_arcs
        ... if no more than this share of all arcs is left ...
    meeting_regions
        ... or there are no more regions than these.
    improve_every
        Rounds between two searches for a better incumbent ...
    improve_perturbations
        ... of this many perturbations a region.
    checked_labels
        Labels that a certificate may ask a checker to make.
    stage_gap
        A further stage of fixing is kept when the gap has fallen to this share of what it was at the last one.
    arcs_a_call
        Arcs that a kernel call looks at, between two looks at the clock.
    """

    most_regions: int = 256
    rounds: int = 60
    labels: int = 1_000_000
    nearest: int = 4
    q_route_ascent: AscentParams = AscentParams(steps=400, momentum=0.5, patience=10, progress=1e-6)
    first_ascent: AscentParams = AscentParams(20, pace=0.5, momentum=0.7, patience=5, slowest=0.05, progress=1e-3)
    next_ascent: AscentParams = AscentParams(30, pace=0.5, momentum=0.7, patience=5, slowest=0.05, progress=1e-3)
    turns: int = 6
    turn_gain: float = 0.95
    round_steps: int = 40
    round_pace: tuple[float, float] = (0.3, 0.03)
    augment_every: int = 2
    spread: int = 6
    narrow_spread: int = 3
    room: int = 30_000
    room_factor: float = 1.3
    room_growth: float = 1.4
    room_used: float = 0.7
    overgrown: float = 2.0
    most_rooms: float = 3.0
    meeting_growth: float = 4.0
    meeting_gap: float = 0.6
    meeting_arcs: float = 0.15
    meeting_regions: int = 80
    improve_every: int = 4
    improve_perturbations: int = 20
    checked_labels: int = 300_000
    stage_gap: float = 0.7
    arcs_a_call: int = 20_000_000


@dataclass(frozen=True)
class LpParams:
    """The LP relaxation of tours and its cuts (`exact.branch_and_cut.lp_relaxation`, `.separation`).

    Attributes
    ----------
    rounds
        Rounds of solving and cutting at one node, at most.
    comb_gain
        The share of the gap by which combs must raise the bound to be worth another round.
    idle_rounds
        Solutions in which a cut has no dual value, after which it may be dropped ...
    idle_cuts
        ... once there are this many of them.
    shrink
        The share of edges left at which a smaller relaxation is built.
    strong_candidates
        Edges that strong branching tries.
    strong_iterations
        Simplex iterations for each of their two sides.
    tolerance
        Feasibility tolerance of HiGHS, in units of a typical edge.
    """

    rounds: int = 60
    comb_gain: float = 0.005
    idle_rounds: int = 10
    idle_cuts: int = 20
    shrink: float = 0.5
    strong_candidates: int = 8
    strong_iterations: int = 30
    tolerance: float = 1e-9


@dataclass(frozen=True)
class BranchAndCutParams:
    """Branch and cut over 1-trees and the LP relaxation (`exact.branch_and_cut`).

    Attributes
    ----------
    most_regions
        Regions up to which it is tried where only the last score counts.
    few_scores
        It is tried where the weights before the last add up to at most this many times the last one.
    nodes
        Branch-and-bound nodes, at most.
    promising_edges
        Free edges a region after the root; with more, `auto` does not branch.
    only_if_promising
        Whether to give up otherwise.
    lp_edges
        Free edges a region after the first 1-tree; with more, and many regions, the LP would take too long.
    many_regions
        Regions from which on that counts, and calls of the root's ascent are cut into shorter ones.
    root_ascent
        The ascent of the root's 1-tree, once a call ...
    root_calls
        ... so many times, each more slowly.
    node_ascent
        The ascent of a node that differs from its parent by the end of its orders.
    end_looseness
        Nodes branch on how orders end while what that leaves open is more than this share of the gap.
    ray_length
        How far multipliers go along the dual ray of an infeasible LP, in gaps.
    priced_ends
        Ends of orders whose edge costs are kept.
    stored_numbers
        Numbers that a certificate lists, of all nodes; with more, it holds the root's bound alone.
    digits
        Digits of multipliers, so that certificates stay short.
    lp
        The LP relaxation.
    """

    most_regions: int = 1000
    few_scores: float = 3.0
    nodes: int = 20_000
    promising_edges: float = 6.0
    only_if_promising: bool = False
    lp_edges: float = 250.0
    many_regions: int = 300
    root_ascent: AscentParams = AscentParams(300, patience=8, slowest=0.01, progress=1e-3)
    root_calls: int = 6
    node_ascent: AscentParams = AscentParams(30, pace=0.1, patience=8, slowest=0.01, progress=1e-3)
    end_looseness: float = 0.1
    ray_length: float = 1.1
    priced_ends: int = 500
    stored_numbers: int = 1_000_000
    digits: int = 9
    lp: LpParams = LpParams()


@dataclass(frozen=True)
class ProofParams:
    """The proof ladder (`exact.proof`): which rungs are climbed, and how long.

    Attributes
    ----------
    one_tree
        The plain 1-tree bound; None leaves this rung out.
    branch_and_cut
        Branch and cut.
    ng_route
        Ng-routes.
    branching_share
        The share of the time for branch and cut where ng-routes may follow.
    both_regions
        Regions up to which ng-routes are tried after branch and cut where only the last score counts.
    """

    one_tree: OneTreeParams | None = None
    branch_and_cut: BranchAndCutParams = BranchAndCutParams()
    ng_route: NgRouteParams = NgRouteParams()
    branching_share: float = 0.5
    both_regions: int = 60


@dataclass(frozen=True)
class BoundParams:
    """The lower bound of a route that somebody chose (`exact.proof.lower_bound`).

    Attributes
    ----------
    one_tree
        The 1-tree bound.
    most_regions
        Regions up to which more than 1-trees are tried.
    perturbations
        Perturbations a region, to find an incumbent worth aiming at.
    proof
        What is tried then.
    """

    one_tree: OneTreeParams = OneTreeParams()
    most_regions: int = 60
    perturbations: int = 10
    proof: ProofParams = ProofParams(
        branch_and_cut=BranchAndCutParams(nodes=100), ng_route=NgRouteParams(rounds=1, labels=100_000)
    )


@dataclass(frozen=True)
class ParetoParams:
    """The Pareto front of travel and score part (`exact.pareto`).

    Attributes
    ----------
    labels
        Labels of 32 bytes that may be made.
    """

    labels: int = 30_000_000


@dataclass(frozen=True)
class MatchingParams:
    """Minimum-weight perfect matching (`matching.perfect_matching`).

    Attributes
    ----------
    enumerated
        Vertices up to which subsets are enumerated, so that a small problem wakes no compiler.
    dense
        Vertices up to which all edges are candidates from the start.
    neighbours
        Lightest edges of each vertex that are candidates from the start, with more vertices.
    priced_in
        Edges of negative reduced cost that are added at a time, a vertex at most.
    searches_a_call
        Searches (alternating trees) between two looks at the clock.
    pairs_a_call
        Pairs that are priced between two looks at the clock.
    """

    enumerated: int = 12
    dense: int = 40
    neighbours: int = 10
    priced_in: int = 6
    searches_a_call: int = 64
    pairs_a_call: int = 20_000_000


@dataclass(frozen=True)
class ConstructionParams:
    """Orders built from nothing (`construction`).

    Attributes
    ----------
    matrix_regions
        Places up to which a matrix of their distances is made, so that a small problem wakes no compiler; with more,
        spanning trees, matchings and starting orders are found from the places.
    all_starts
        Regions up to which the nearest-neighbour rule starts from every region.
    sampled_starts
        Regions that it starts from with more.
    entries_at_once
        Entries of the table of nearest-neighbour paths that are grown side by side.
    matching
        The matching in Algorithm 1.
    """

    matrix_regions: int = 300
    all_starts: int = 300
    sampled_starts: int = 32
    entries_at_once: int = 100_000
    matching: MatchingParams = MatchingParams()


@dataclass(frozen=True)
class OrOptParams:
    """Best improvement by 2-opt, Or-opt and or-3opt moves (`local_search.or_opt`).

    Attributes
    ----------
    neighbours
        Regions in a candidate list.
    segment
        Regions that are moved together beside another (Or-opt).
    least_gain
        Relative to the largest travel cost or weighted score: a smaller gain is taken for rounding.
    window
        Positions within which a perturbation exchanges two neighbouring segments.
    threshold
        Mean cheapest legs that an accepted order may be worse by, at first ...
    wave
        ... falling to nothing over so many perturbations, again and again.
    perturbations_a_call
        Perturbations between two looks at the clock.
    """

    neighbours: int = 8
    segment: int = 3
    least_gain: float = 1e-11
    window: int = 50
    threshold: float = 0.3
    wave: int = 500
    perturbations_a_call: int = 25


@dataclass(frozen=True)
class LinKernighanParams:
    """Lin–Kernighan moves over an array with an undo journal (`local_search.lk_search`).

    Attributes
    ----------
    neighbours
        Regions, and up to so many: entries of the candidate list that the second edge of a move looks at, the third.
    end_candidates
        Endpoint candidates: regions worth beginning or ending at, wherever they are.
    depth
        3-opt moves in a chain.
    longest
        Positions that any move may shift ...
    longest_scored
        ... where running sums of scores have to follow.
    longest_step
        Positions that a move may shift which does not pay by itself, and is made only to go on from.
    credit
        Mean cheapest legs that a move may lose on the way, for the sake of scores; any loss ...
    end_positions
        ... where it begins within so many positions of the end.
    least_gain
        Relative to the largest distance or weighted score: a smaller gain is taken for rounding.
    segment
        Positions in each of the three segments that a double bridge rearranges, at most.
    threshold
        Mean cheapest legs that an accepted order may be worse by, at first; it falls to nothing ...
    threshold_regions
        ... and is nothing with more regions than this, since the incumbent is copied when it is left.
    sweeps
        With more regions than `longest`, perturbations sweep along the order so many times, ...
    sweep_width
        ... drawn within so many positions, so that what is needed is in the cache.
    journal
        Reversals that can be undone.
    pause
        Seconds in a kernel between two looks at the clock.
    matrix_regions
        Places up to which distances are read from a matrix, if there is one already.
    """

    neighbours: tuple[tuple[int, int, int], ...] = ((20_000, 10, 5), (200_000, 8, 5), (10**9, 7, 5))
    end_candidates: int = 10
    depth: int = 3
    longest: int = 50_000
    longest_scored: int = 25_000
    longest_step: int = 1000
    credit: float = 2.0
    end_positions: int = 8
    least_gain: float = 1e-12
    segment: int = 50
    threshold: float = 0.1
    threshold_regions: int = 20_000
    sweeps: int = 8
    sweep_width: int = 1000
    journal: int = 100_000
    pause: float = 0.1
    matrix_regions: int = 1500


@dataclass(frozen=True)
class IteratedLocalSearchParams:
    """Iterated local search (`local_search.iterated`): which engine, from how many orders, how long.

    Attributes
    ----------
    search_share
        The share of the time for the search where a bound follows.
    enumerated
        Regions up to which all orders are tried.
    or_opt_regions
        Regions up to which `or_opt` is the engine; with more it is `lin_kernighan`, where that can be used ...
    slow_rate
        ... and weights fall by this rate at most, or there are more regions than `several_starts_regions`.
    few_regions
        Regions up to which `few_perturbations` are enough.
    few_perturbations, perturbations
        Perturbations a region, up to `several_starts_regions`, and with `or_opt` beyond.
    several_starts_regions
        Regions up to which several starts are tried; with more, one is, but longer.
    or_opt_starts, lin_kernighan_starts
        Starts up to then, by engine.
    most_perturbations
        Perturbations with `or_opt`, of which each takes time that grows with T.
    local_perturbations
        Perturbations a region with `lin_kernighan`, of which each takes about the same time whatever T is ...
    most_local_perturbations
        ... up to so many, or one a region.
    cluster_share
        Where regions coincide: the share of the time for the search among their locations, before clusters may be left.
    or_opt, lin_kernighan
        The two engines.
    """

    search_share: float = 0.6
    enumerated: int = 3
    or_opt_regions: int = 20
    slow_rate: float = 0.75
    few_regions: int = 30
    few_perturbations: int = 10
    perturbations: int = 20
    several_starts_regions: int = 100
    or_opt_starts: int = 4
    lin_kernighan_starts: int = 2
    most_perturbations: int = 20_000
    local_perturbations: int = 50
    most_local_perturbations: int = 100_000
    cluster_share: float = 0.3
    or_opt: OrOptParams = OrOptParams()
    lin_kernighan: LinKernighanParams = LinKernighanParams()


@dataclass(frozen=True)
class AutoParams:
    """The method `auto` (`methods.auto`): not time but effort is limited, so that the same seed gives the same route.

    Attributes
    ----------
    efforts
        Regions, and what is spent on a proof up to so many.
    beyond
        What is spent with more regions, where branch and cut is all that would be tried.
    algorithm1_regions
        Regions up to which the search starts from Algorithm 1.
    start_share
        The share of the time, at most, for what the search starts from.
    asymmetric_regions
        Regions up to which a search is tried where travel differs by direction or factors do.
    """

    efforts: tuple[tuple[int, ProofParams], ...] = (
        (50, ProofParams(None, BranchAndCutParams(nodes=300), NgRouteParams(rounds=12, labels=300_000))),
        (75, ProofParams(None, BranchAndCutParams(nodes=300), NgRouteParams(rounds=2, labels=200_000))),
        (100, ProofParams(None, BranchAndCutParams(nodes=300), NgRouteParams(rounds=1, labels=100_000))),
    )
    beyond: ProofParams = ProofParams(None, BranchAndCutParams(nodes=100, only_if_promising=True))
    algorithm1_regions: int = 10_000
    start_share: float = 0.5
    asymmetric_regions: int = 2000


@dataclass(frozen=True)
class SolverParams:
    """All of them.

    Attributes
    ----------
    held_karp, construction, search, bound, proof, auto, pareto
        See the class of each. `proof` is what the method `exact` spends.
    """

    held_karp: HeldKarpParams = HeldKarpParams()
    construction: ConstructionParams = ConstructionParams()
    search: IteratedLocalSearchParams = IteratedLocalSearchParams()
    bound: BoundParams = BoundParams()
    proof: ProofParams = ProofParams()
    auto: AutoParams = AutoParams()
    pareto: ParetoParams = ParetoParams()


DEFAULTS = SolverParams()
