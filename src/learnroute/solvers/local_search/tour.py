"""A tour as crossover sees it: its tables, and what edges cost.

Imported only when a search runs, because importing it wakes the compiler.

Every order is a cycle of vertices with symmetric costs. Unless orders are cycles themselves, two vertices stand between
the last region and the first: `end` and `start`, joined by an edge that no move may remove (a *fixed* edge). What it
costs to begin or to end somewhere is the cost of an edge to them. Where travel differs by direction, a region is two
vertices, one to enter and one to leave by, joined by a fixed edge (Jonker and Volgenant 1983).

Tables have named rows, because each further array costs compile time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from learnroute import _core
from learnroute.kernels import kernel
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.kd_tree import NEAR, ground_of

if TYPE_CHECKING:
    from learnroute.solvers.local_search.tour_search import TourSearch

# Rows of `route`: vertices by position, positions by vertex, the queue of vertices to look at and whether one is in it
# (don't-look bits), and the other end of a vertex's fixed edge, or -1; with pair terms, regions by position, and those
# of a tour that a move would make
ORDER, POSITION, QUEUE, QUEUED, FIXED, VISITED, TRIED = 0, 1, 2, 3, 4, 5, 6
# Rows of `move`: the ends t1, t2, … of the edges removed; whether they are right ends; the positions of the edges' left
# ends; the next candidate to look at; edges by rank along the tour; the end that each end is joined to; edges' ranks
VERTEX, RIGHT, CUT, NEXT, BY_RANK, JOINED, RANK = 0, 1, 2, 3, 4, 5, 6
# ... and the segments behind the unmoved one: where they begin, how long they are, whether they are reversed
BEGIN, LENGTH, REVERSED = 7, 8, 9
DEEPEST = 10  # edges that a move may remove
# Places in `counts`
SIZE, REGIONS, KIND, ANCHORED, SCORED, REACH, LONGEST, DEPTH, END_POSITIONS, WALK = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
QUEUE_FIRST, QUEUE_SIZE, JOURNAL_SIZE, FIRST, SEGMENT, BRIDGE, BREADTH = 10, 11, 12, 13, 14, 15, 16
ENDS = 30  # `start` and `end`, the last two vertices, where there are any: candidates of all regions
FAR_BRIDGE = 31
MERGING = 29  # whether a move may add no other edges than those in the candidate lists, even to close up
MATRIX, DIRECTED, PLANE, GLOBE = 0, 1, 2, 3  # kinds of `ways`
NOT_SCORED, GEOMETRIC, FACTORED, GENERAL, PAIRED = 0, 1, 2, 3, 4  # kinds of scores
# Places in `numbers`
LEAST, UNIT, HEAVIEST, SPARE, SWING, CREDIT, FOUND, MOST, FLOOR, GAIN = 0, 1, 2, 3, 4, 5, 6, 7, 8, 16
PRICE, COUNTED = 9, 10  # the error of the tour, and how many regions' errors count
# Rows of `sums`: of the first k vertices, the last at full weight; of those from k on, vertex k at full weight; r^k;
# logarithms of the first k factors, and the zeros among them; scores and factors of vertices; weights of positions
FORWARD, BACKWARD, POWER, LOGS, ZEROS, SCORE, FACTOR, WEIGHT = 0, 1, 2, 3, 4, 5, 6, 7
# ... with pair terms: the two parts of the error before each visit; retention and plasticity of each, and of one tried
SUMMED, COMMON, RETAINED = 0, 1, 8
ROUNDING = 1e-15  # what is smaller than this share of a sum may be rounding


class Tour(NamedTuple):
    """A tour and what moves need to know of it.

    That is the tour itself; candidate lists, and how far their entries are; what edges cost; running sums of scores;
    numbers and counts; the move that is being looked for; the journal; and what pair terms are made of (`pair_sums`).
    """

    route: IntArray
    near: IntArray
    apart: FloatArray
    ways: FloatArray
    sums: FloatArray
    numbers: FloatArray
    counts: IntArray
    move: IntArray
    journal: IntArray
    pairs: FloatArray


def crossover_tables(search: TourSearch) -> Tour:
    """Return the tables of a search that crossover reads; the others are empty."""
    objective, order, terms, vertices = search.objective, search.names, search.terms, search.vertices
    size = objective.size
    counts, numbers = np.zeros(32, dtype=np.int64), np.zeros(48)
    counts[SIZE], counts[REGIONS], counts[ENDS] = vertices, size, 0 if objective.ends.cyclic else 2
    numbers[LEAST], numbers[CREDIT] = search.limits.least_gain, search.limits.credit
    route = np.full((7, vertices), -1)
    if not objective.symmetric:
        route[FIXED, : 2 * size] = np.roll(np.arange(2 * size), size)
    if counts[ENDS]:
        route[FIXED, -2:] = vertices - 1, vertices - 2
    points = objective.points
    if points is not None and (size > search.params.matrix_regions or "travel" not in objective.__dict__):
        ground = ground_of(points)
        ways = np.column_stack([ground.places[order], search.ends.T])
        numbers[UNIT], globe = ground.metric
        counts[KIND] = GLOBE if globe else PLANE
    else:
        ways = np.full((size + 2, size + 2), np.inf)
        ways[:size, :size] = objective.travel[np.ix_(order, order)]
        ways[size, :size], ways[:size, size] = search.ends
        counts[KIND] = MATRIX if objective.symmetric else DIRECTED
        if objective.symmetric:
            ways[:size, size], ways[size + 1, :size], ways[:size, size + 1] = search.ends[[0, 1, 1]]
            ways[size, size + 1] = ways[size + 1, size] = 0.0
    sums, pairs = np.zeros((12, vertices + 2)), np.zeros((0, 0))
    if terms is not None:
        counts[REACH], numbers[SWING], sums[POWER] = terms.reach, terms.swing, terms.powers
        numbers[FLOOR] = search.score_floor()
        if objective.pairs is not None:
            given = objective.pairs.dissimilarities
            tables = [table[:, order] for table in objective.pairs.updates.tables]
            pairs = np.concatenate([given.matrix[np.ix_(order, order)].T, *tables, [given.initial[order]]])
            sums[SCORE, :size] = given.scores[order]
            sums[SUMMED, :size], sums[COMMON, :size] = search.core.sums[1:].reshape(2, size)
            counts[SCORED], numbers[COUNTED] = PAIRED, objective.pairs.count
        else:
            counts[SCORED] = GENERAL if isinstance(terms, _core.GeneralScores) else FACTORED
            numbers[HEAVIEST] = float(objective.weights[-1]) if objective.factors is None else 1.0
            sums[SCORE, :size] = objective.scores[order]
            if objective.factors is None:
                sums[SCORE, :size] -= objective.scores.min()
            sums[FACTOR, :vertices] = 1.0
            sums[FACTOR, :size] = (search.rate or 0.0) if objective.factors is None else objective.factors[order]
            shift, each = int(counts[ENDS]) // 2, 1 if objective.symmetric else 2
            sums[WEIGHT, shift : shift + each * size : each] = objective.weights
    near, few = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0))
    move, journal = np.zeros((0, 0), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return Tour(route, near, few, np.ascontiguousarray(ways), sums, numbers, counts, move, journal,
                np.ascontiguousarray(pairs))  # fmt: skip


@kernel
def _other_cost(tour: Tour, a: int, b: int) -> float:
    """Return the cost of an edge of `start` or `end`, on the globe, or where travel differs by direction."""
    ways, unit = tour.ways, tour.numbers[UNIT]
    kind, count = tour.counts[KIND], tour.counts[REGIONS]
    if a > b:
        a, b = b, a
    if kind == DIRECTED:  # entered: 0 … T-1, left: T … 2T-1, start: 2T, end: 2T+1
        if a < count:
            return ways[b - count, a] if b >= count else np.inf
        return ways[a - count, count] if b == 2 * count + 1 else np.inf
    if b >= count:
        return ways[a, 3 + b - count] if a < count else 0.0
    x = ways[a, 0] - ways[b, 0]
    y = ways[a, 1] - ways[b, 1]
    z = ways[a, 2] - ways[b, 2]
    straight = math.sqrt(x * x + y * y + z * z)
    if straight < NEAR:
        return unit * 2.0 * math.asin(0.5 * straight)
    x = ways[a, 0] + ways[b, 0]  # the chord to the antipode, where an arcsine loses no digits
    y = ways[a, 1] + ways[b, 1]
    z = ways[a, 2] + ways[b, 2]
    return unit * (math.pi - 2.0 * math.asin(0.5 * math.sqrt(x * x + y * y + z * z)))


@kernel
def cost(tour: Tour, a: int, b: int) -> float:
    """Return the cost of the edge between two vertices."""
    ways, counts = tour.ways, tour.counts
    if counts[KIND] == MATRIX:
        return ways[a, b]
    if counts[KIND] == PLANE and a < counts[REGIONS] and b < counts[REGIONS]:
        x, y = ways[a, 0] - ways[b, 0], ways[a, 1] - ways[b, 1]
        return tour.numbers[UNIT] * math.sqrt(x * x + y * y)
    return _other_cost(tour, a, b)
