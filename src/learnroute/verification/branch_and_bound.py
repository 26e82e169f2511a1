"""Check a branch-and-bound tree: which tours could still be better? docs/bounds.md explains it.

Vertices are the regions, then `home`, then `out`; all have two edges in a tour. The code works on whole matrices and is
independent of the solver. Costs and multipliers are whole numbers of grid units.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from learnroute.model.certificates import BranchAndBound, Node
from learnroute.model.ends import BoolArray
from learnroute.verification import one_tree
from learnroute.verification.checks import Effort
from learnroute.verification.exact import ONE
from learnroute.verification.grid import LARGEST, Costs, Grid, IntMatrix, exact_total

MOST_SHIFTED = 45  # bits
MOST_WORK = 2 * 10**9  # pairs of vertices processed in all nodes, about ten seconds; planners store smaller trees

Comb = tuple[tuple[int, ...], ...]
EdgeCosts = Callable[[tuple[int, ...]], IntMatrix]
State = tuple[BoolArray, BoolArray]  # which edges may be used, and which must be


def bound(costs: Costs, certificate: BranchAndBound) -> int:
    """Return the goal if the tree proves that no tour is below it, else the root's 1-tree bound, in grid units."""
    return costs.goal if no_tour_left(costs, certificate) else one_tree.bound(costs, certificate)


def no_tour_left(costs: Costs, certificate: BranchAndBound) -> bool:
    """Whether the tree of a certificate shows that no order is below the goal."""
    size, model, goal = costs.size, costs.model, costs.goal
    plain = np.full((size + 2, size + 2), goal, dtype=np.int64)
    plain[:size, :size] = np.minimum(costs.travel, costs.travel.T)
    plain[size, :size] = plain[:size, size] = costs.begin
    plain[size, size + 1] = plain[size + 1, size] = 0

    @lru_cache(maxsize=200)
    def edges(ending: tuple[int, ...]) -> IntMatrix:
        """Return costs: exact scores of the ending at its last region, bounds on the others at its first region."""
        found = plain.copy()
        if model.only_last_counts or model.factors is not None:
            ending = ()
        parts = costs.score_parts(ending)
        if not ending:
            found[size + 1, :size] = found[:size, size + 1] = parts + costs.finish
            return found
        left = [v for v in range(size) if v not in ending]
        least = int(parts[left].min()) if left else 0
        whole, below = model.whole_scores
        paid = sum(model.shares[size - 1 - k] * whole[v] for k, v in enumerate(ending))
        end = costs.grid.below(Fraction(paid, below * ONE)) + least + int(costs.finish[ending[0]])
        found[size + 1, ending[0]] = found[ending[0], size + 1] = end
        for v in left:
            more = parts[v] - least if parts[v] < goal else goal
            found[v, ending[-1]] += more
            found[ending[-1], v] += more
        return found

    return all_pruned(edges, costs.grid, certificate.nodes, certificate.combs)


def all_pruned(edges: EdgeCosts, grid: Grid, nodes: tuple[Node, ...], combs: tuple[Comb, ...] = ()) -> bool:
    """Whether the nodes, in depth-first order, exclude all tours that cost less than the goal of the grid.

    `edges` returns the costs of all edges for orders with a known ending, its last region first. The edge between home
    and out, which every tour uses, costs 0. No tour uses an edge that costs as much as the goal. `combs` are the combs
    that nodes refer to.
    """
    if not all(is_comb(comb) for comb in combs):
        return False
    costs = edges(())
    usable = (costs < grid.goal) & ~np.eye(len(costs), dtype=bool)
    must = np.zeros_like(usable)
    must[-1, -2] = must[-2, -1] = usable[-1, -2] = usable[-2, -1] = True
    waiting: list[State | None] = [(usable, must)]  # None if pruned already, with all of its children
    effort = Effort(MOST_WORK)
    for node in nodes:
        if not waiting:
            return False
        state = waiting.pop()
        if state is not None:
            state = _narrow(edges, state, node, grid, combs, effort)
        if not node.branch:
            if state is not None:
                return False
            continue
        waiting.extend(reversed(_children(state, node.branch)))
    return not waiting


def _children(state: State | None, branch: tuple[int, ...]) -> list[State | None]:
    v, a, b = branch
    if v < 0:
        return [state]
    if b < 0:
        return [_fix(state, v, a, True), _fix(state, v, a, False)]
    half = _fix(state, v, a, True)
    return [_fix(state, v, a, False), _fix(half, v, b, False), _fix(half, v, b, True)]


def _fix(state: State | None, v: int, other: int, used: bool) -> State | None:
    """Return the child in which an edge is fixed to 1 or to 0; None if that is impossible."""
    if state is None:
        return None
    usable, must = state[0].copy(), state[1].copy()
    if (used and not usable[v, other]) or (not used and must[v, other]):
        return None
    if used:
        must[v, other] = must[other, v] = True
    else:
        usable[v, other] = usable[other, v] = False
    return usable, must


def _known_ending(must: BoolArray) -> tuple[int, ...]:
    """Return the regions that all tours end with, the last one first."""
    home, before, here = len(must) - 2, len(must) - 2, len(must) - 1
    ending: list[int] = []
    while True:
        onward = [int(u) for u in np.flatnonzero(must[here]) if u not in (before, home)]
        if not onward:
            return tuple(ending)
        before, here = here, onward[0]
        ending.append(here)


def is_comb(comb: Comb) -> bool:
    """Whether sets of vertices are a handle and an odd number of disjoint teeth, each partly inside the handle."""
    if len(comb) < 4 or len(comb) % 2:
        return False
    handle, *teeth = (set(members) for members in comb)
    apart = len(set().union(*teeth)) == sum(map(len, teeth))
    return apart and all(tooth & handle and tooth - handle for tooth in teeth)


def _crossings(comb: Comb, count: int) -> IntMatrix:
    """Return how many sets of a comb each edge leaves."""
    found = np.zeros((count, count), dtype=np.int64)
    for members in comb:
        inside = np.zeros(count, dtype=bool)
        inside[list(members)] = True
        found += inside[:, None] != inside[None, :]
    return found


def _narrow(
    edges: EdgeCosts, state: State, node: Node, grid: Grid, combs: tuple[Comb, ...], effort: Effort
) -> State | None:
    """Return the usable and required edges of a node after fixing, or None if no tour below the goal remains."""
    propagated = _propagate(*state, effort)
    if propagated is None or not node.multipliers:
        return propagated
    usable, must = propagated
    costs = edges(_known_ending(must))
    usable = usable & (costs < grid.goal)  # no cost is negative
    if (must & ~usable).any():
        return None
    # multipliers of an infeasible node may be far above the goal: on a coarser grid, costs are rounded down again
    crossed = sum(len(combs[number]) * dual for number, dual in node.combs)
    shift = grid.excess(np.array([*node.multipliers, crossed]), MOST_SHIFTED)
    effort.spend((4 + sum(len(combs[number]) for number, _ in node.combs)) * costs.size)
    costs, goal, count = costs >> shift, -(-grid.goal >> shift), len(costs)
    multipliers = np.append(grid.nearest(np.array(node.multipliers), shift=shift), 0)
    duals = [int(dual) for dual in grid.nearest(np.array([dual for _, dual in node.combs]), shift=shift)]
    if (
        min(duals, default=0) < 0
        or sum(len(combs[k]) * z for (k, _), z in zip(node.combs, duals, strict=True)) > 2 * grid.goal
    ):
        return usable, must  # such dual values prove nothing more
    for (number, _), dual in zip(node.combs, duals, strict=True):
        # a tour crosses the boundaries of a comb with t teeth at least 3t + 1 times
        costs = costs - dual * _crossings(combs[number], count)
        goal -= dual * (3 * (len(combs[number]) - 1) + 1)
    reduced = np.where(usable, costs - multipliers[:, None] - multipliers[None, :], LARGEST)
    out = len(costs) - 1
    leave = np.where(must[out, : out - 1].any() & ~must[out, : out - 1], LARGEST, reduced[out, : out - 1])
    tree = _tree(reduced[:out, :out], must[:out, :out])
    if tree is None or leave.min() == LARGEST:
        return None
    parent, joined, total = tree
    bound = total + int(leave.min()) + int(reduced[out, out - 1]) + 2 * exact_total(multipliers)
    if bound >= goal:
        return None
    room = min(goal - bound, 2 * LARGEST + 1)  # no difference of reduced costs is larger
    usable[out, : out - 1] &= leave - leave.min() < room
    usable[: out - 1, out] = usable[out, : out - 1]
    _fix_by_reduced_cost(reduced[:out, :out], usable[:out, :out], must[:out, :out], parent, joined, room)
    return _propagate(usable, must, effort)


def _tree(reduced: IntMatrix, must: BoolArray) -> tuple[list[int], list[int], int] | None:
    """Return parents, order of joining and cost of the cheapest tree that contains the required edges."""
    count = len(reduced)
    near, by = np.full(count, LARGEST), np.full(count, -1)
    forced = np.zeros(count, dtype=bool)
    outside = np.ones(count, dtype=bool)
    here, joined, total = count - 1, [count - 1], 0
    outside[here] = False
    while len(joined) < count:
        better = outside & (must[here] & (~forced | (reduced[here] < near)) | ~forced & (reduced[here] < near))
        near[better], by[better] = reduced[here][better], here
        forced |= outside & must[here]
        pool = outside & forced if (outside & forced).any() else outside
        here = int(np.argmin(np.where(pool, near, LARGEST)))
        if not outside[here] or near[here] == LARGEST:
            return None
        outside[here] = False
        total += int(near[here])
        joined.append(here)
    return [int(v) for v in by], joined, total


def _fix_by_reduced_cost(
    reduced: IntMatrix, usable: BoolArray, must: BoolArray, parent: list[int], joined: list[int], room: int
) -> None:
    """Fix edges to 0 if exchanging any tree edge for them costs too much, and tree edges to 1 if all exchanges do."""
    count = len(reduced)
    dearest = np.full((count, count), -LARGEST)
    below = np.eye(count, dtype=bool)
    tree = np.zeros_like(usable)
    for k, v in enumerate(joined[1:], 1):
        p, earlier = parent[v], joined[:k]
        tree[v, p] = tree[p, v] = True
        own = -LARGEST if must[p, v] else int(reduced[p, v])
        dearest[v, earlier] = dearest[earlier, v] = np.maximum(dearest[p, earlier], own)
    usable &= tree | must | ~(reduced - dearest >= room)
    for v in reversed(joined[1:]):
        below[parent[v]] |= below[v]
    i, j = np.nonzero(np.triu(usable & ~tree))
    crossing = below[:, i] != below[:, j]
    instead = np.where(crossing, reduced[i, j][None, :], LARGEST).min(axis=1, initial=LARGEST)
    for v in joined[1:]:
        if instead[v] - reduced[parent[v], v] >= room:
            must[v, parent[v]] = must[parent[v], v] = True


def _propagate(usable: BoolArray, must: BoolArray, effort: Effort) -> State | None:
    """Fix edges as two edges per vertex and a single tour imply; return None if no tour remains."""
    while True:
        effort.spend(usable.size)
        most, least = usable.sum(axis=1), must.sum(axis=1)
        if (most < 2).any() or (least > 2).any() or (must & ~usable).any():
            return None
        done, forced = (least == 2) & (most > 2), (most == 2) & (least < 2)
        for v in np.flatnonzero(done):
            usable[v] &= must[v]
            usable[:, v] &= must[:, v]
        for v in np.flatnonzero(forced):
            must[v] |= usable[v]
            must[:, v] |= usable[:, v]
        if done.any() or forced.any():
            continue
        ends = _ends_of_paths(must)
        if ends is None:
            return None
        closing = [(a, b) for a, b in ends if usable[a, b] and not must[a, b]]
        for a, b in closing:
            usable[a, b] = usable[b, a] = False
        if not closing:
            return usable, must


def _ends_of_paths(must: BoolArray) -> list[tuple[int, int]] | None:
    """Return the two ends of each path of edges fixed to 1; None if one closes too early."""
    count = len(must)
    beside = [np.flatnonzero(row).tolist() for row in must]
    seen: set[int] = set()
    ends = []
    for v in range(count):
        if v in seen or len(beside[v]) != 1:
            continue
        before, here, length = -1, v, 1
        seen.add(v)
        while True:
            onward = [u for u in beside[here] if u != before]
            if not onward:
                break
            before, here, length = here, onward[0], length + 1
            seen.add(here)
        if length < count:
            ends.append((v, here))
    circled = [v for v in range(count) if len(beside[v]) == 2 and v not in seen]
    if not circled:
        return ends
    before, here, length = circled[0], beside[circled[0]][0], 1
    while here != circled[0]:
        before, here, length = here, next(u for u in beside[here] if u != before), length + 1
    return ends if length == count else None
