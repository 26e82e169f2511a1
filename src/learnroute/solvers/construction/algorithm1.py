"""The paper's Algorithm 1: Christofides' algorithm (1976) for a path that ends at the region with the lowest score.

With a return trip, the same for a tour; with a fixed start, Hoogeveen's variant (1991) for a path with two fixed ends.
"""

from __future__ import annotations

import numpy as np

from learnroute.errors import RefusedError
from learnroute.model.linear import Linear
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.construction.canonical import best_last, canonical_order
from learnroute.solvers.contract import Budget, Order
from learnroute.solvers.core_travel import CoreTravel, PlaceTravel, core_travel_of
from learnroute.solvers.matching.perfect_matching import match_by_blossoms
from learnroute.solvers.matching.weights import MatrixWeights, PlaceWeights
from learnroute.solvers.params import DEFAULTS, MatchingParams, SolverParams


def algorithm1(objective: Linear, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS) -> Order:
    """Return a route that ends at v', the region with the lowest score or the required last region.

    Deterministic and independent of how the regions are numbered: ties are broken by a canonical order. O(T²) time
    besides the matching; linear memory for places.
    """
    if not objective.travel.symmetric:
        i, j = np.argwhere(objective.travel.matrix != objective.travel.matrix.T)[0]
        raise RefusedError(
            f"algorithm1: travel[{i}, {j}] differs from travel[{j}, {i}], but Algorithm 1 needs symmetric travel; "
            "use method auto, exact or search"
        )
    size, ends = objective.size, objective.ends
    last, extra = best_last(objective), size  # v' and v0, the vertex at distance 0 from all others

    canonical = canonical_order(objective, last)
    travel_data = core_travel_of(objective.travel, params.construction.matrix_regions)

    # 1. A minimum spanning tree, plus the edge from v' to v0
    edges = [tuple(edge) for edge in travel_data.spanning_edges(canonical).tolist()]
    if ends.first is not None:  # the edge from v0 to the first region is fixed too, so v0 has even degree
        edges += [(ends.first, extra), (last, extra)]
    elif not ends.closed:
        edges.append((last, extra))
    # 2. A minimum-weight perfect matching of the vertices with odd degree; v0 is one of them unless both ends are fixed
    vertices = np.append(canonical, extra)
    odd = vertices[np.bincount(np.ravel(edges), minlength=size + 1)[vertices] % 2 == 1]
    pairs, optimal = _matching(travel_data, odd, size, budget, params.construction.matching)
    # 3. Their union: a connected multigraph with even degrees
    edges += [tuple(pair) for pair in odd[pairs].tolist()]
    # 4. An Eulerian circuit from v0 to v0 that returns through v' (a tour: from v' to v')
    if ends.first is None and ends.closed:
        walk = eulerian_circuit(edges, size, last)[:-1]
    else:
        circuit = eulerian_circuit(edges, size + 1, extra)
        if circuit[-2] != last:
            circuit.reverse()
        walk = circuit[1:-2]
    # 5. and 6. Shortcuts that keep v' last, next to v0; then v0 is removed
    order = _shortcut(walk, last)
    notes = () if optimal else (f"{budget.end} before the optimal matching was found: no guarantee",)
    return Order(np.array(order, dtype=np.int64), optimal, notes)


def _matching(
    travel_data: CoreTravel, odd: IntArray, size: int, budget: Budget, params: MatchingParams
) -> tuple[IntArray, bool]:
    """Match the odd vertices, the last of which may be v0; places need no T x T matrix.

    Coincident places are paired first. This is optimal: if two of them had other partners, pairing the partners with
    each other would cost no more.
    """
    extra = len(odd) > 0 and bool(odd[-1] == size)
    regions = odd[:-1] if extra else odd
    if isinstance(travel_data, PlaceTravel):
        twins, left = _coincident_pairs(travel_data.map[regions])
        matching = match_by_blossoms(PlaceWeights(travel_data.of(regions[left]), extra), budget, params)
        single = np.append(left, len(regions)) if extra else left
        return np.vstack([twins, single[matching.pairs]]), matching.optimal
    weights = np.zeros((len(odd), len(odd)))
    weights[: len(regions), : len(regions)] = travel_data.travel.matrix[np.ix_(regions, regions)]
    matching = match_by_blossoms(MatrixWeights(weights), budget, params)
    return matching.pairs, matching.optimal


def _coincident_pairs(places: FloatArray) -> tuple[IntArray, IntArray]:
    """Pair coincident places; return the pairs and the unpaired places, at most one per location."""
    order = np.lexsort(places.T)
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = np.any(places[order[1:]] != places[order[:-1]], axis=1)
    kind = np.cumsum(begins) - 1
    rank = np.arange(len(order)) - np.flatnonzero(begins)[kind]
    paired = rank < 2 * (np.bincount(kind)[kind] // 2)
    return order[paired].reshape(-1, 2), np.sort(order[~paired])


def _shortcut(walk: list[int], last: int) -> list[int]:
    """Keep the first visit to each vertex, and `last` only at the end.

    If the matching pairs v0 with v', the walk also starts at v'; that visit is skipped like any other.
    """
    seen = {last}
    order = []
    for v in walk:
        if v not in seen:
            seen.add(v)
            order.append(v)
    return [*order, last]


def eulerian_circuit(edges: list[tuple[int, ...]], size: int, start: int) -> list[int]:
    """Return a closed walk from `start` that uses each edge of a connected even multigraph once (Hierholzer)."""
    around: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    for number, (u, v) in enumerate(edges):
        around[u].append((v, number))
        around[v].append((u, number))
    used = [False] * len(edges)
    stack, circuit = [start], []
    while stack:
        ways = around[stack[-1]]
        while ways and used[ways[-1][1]]:
            ways.pop()
        if ways:
            v, number = ways.pop()
            used[number] = True
            stack.append(v)
        else:
            circuit.append(stack.pop())
    return circuit
