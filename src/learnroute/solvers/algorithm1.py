"""The paper's Algorithm 1: Christofides' idea for a path that ends where forgetting costs least."""

from __future__ import annotations

import numpy as np

from learnroute.errors import RefusedError
from learnroute.model.objective import Objective
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.matching import minimum_matching
from learnroute.solvers.spanning import minimum_spanning_tree


def algorithm1(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return a route that ends at v', the region of least score, by the paper's six steps.

    Deterministic: all ties go to the smallest index. O(T²) besides the matching.
    """
    if not objective.symmetric:
        i, j = np.argwhere(objective.travel != objective.travel.T)[0]
        raise RefusedError(
            f"algorithm1: travel[{i}, {j}] = {objective.travel[i, j]:g} but travel[{j}, {i}] = "
            f"{objective.travel[j, i]:g}; it needs the same cost in both directions; use method exact or nearest"
        )
    size, travel = objective.size, objective.travel
    last, extra = objective.best_last, size  # v', and v0: the vertex that everyone reaches for nothing

    # 1. A minimum spanning tree, and v0 hung on v'
    edges = [*map(tuple, minimum_spanning_tree(travel).tolist()), (last, extra)]
    # 2. A minimum-weight perfect matching of the vertices with odd degree; v0 is always one of them
    odd = np.flatnonzero(np.bincount(np.ravel(edges), minlength=size + 1) % 2)
    weights = np.zeros((len(odd), len(odd)))
    weights[:-1, :-1] = travel[np.ix_(odd[:-1], odd[:-1])]
    matching = minimum_matching(weights, budget)
    # 3. Both together: a connected multigraph with even degrees
    edges += map(tuple, odd[matching.pairs].tolist())
    # 4. An Eulerian circuit from v0 to v0 that returns through v'
    circuit = eulerian_circuit(edges, size + 1, extra)
    if circuit[-2] != last:
        circuit.reverse()
    # 5. and 6. Shortcuts that leave v' where it meets v0, at the end, and v0 out
    order = _shortcut(circuit[1:-2], last)
    return Answer(
        np.array(order, dtype=np.int64),
        "algorithm1",
        complete=matching.optimal,
        notes=() if matching.optimal else ("the time limit came before the best matching: no guarantee",),
    )


def _shortcut(walk: list[int], last: int) -> list[int]:
    """Keep the first visit of each vertex, and `last` only after all others.

    If the matching pairs v0 with v', the walk starts at v' too; that visit is skipped like any other.
    """
    seen = {last}
    order = []
    for v in walk:
        if v not in seen:
            seen.add(v)
            order.append(v)
    return [*order, last]


def eulerian_circuit(edges: list[tuple[int, ...]], size: int, start: int) -> list[int]:
    """Return a closed walk from `start` over each edge of a connected even multigraph once (Hierholzer)."""
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
