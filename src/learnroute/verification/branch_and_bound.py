"""Check a branch-and-bound tree: which tours could still be better? docs/bounds.md explains it.

Vertices are the regions, then `home`, then `out`; all have two edges in a tour. Written with whole matrices, apart from
the solver's code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from learnroute.model.certificates import BranchAndBound, Node
from learnroute.model.ends import BoolArray
from learnroute.model.objective import Objective
from learnroute.model.rounding import OPTIMALITY, margin
from learnroute.model.validation import FloatArray
from learnroute.verification import one_tree
from learnroute.verification.checks import Check, no_better
from learnroute.verification.relaxation import path_relaxation, score_parts

CLAIM = 1.01 * OPTIMALITY  # relative: what a claim of optimality leaves open, and how it is written in decimal

Comb = tuple[tuple[int, ...], ...]
Costs = Callable[[tuple[int, ...]], FloatArray]
State = tuple[BoolArray, BoolArray]  # which edges may be used, and which must be


def bound(objective: Objective, certificate: BranchAndBound, ceiling: float) -> float:
    """Return the bound of a certificate where its tree proves it, else what its root's 1-tree proves."""
    if no_tour_below(objective, certificate, certificate.bound):
        return min(ceiling, certificate.bound)
    return one_tree.bound(objective, certificate, ceiling)


def optimum(objective: Objective, certificate: BranchAndBound, value: float) -> Check:
    """Show that the tree leaves no order that is better."""
    if no_tour_below(objective, certificate, value - CLAIM * abs(value)):
        return no_better("all branch-and-bound nodes pruned anew")
    return Check("optimum", False, "it does not follow from the branch-and-bound tree")


def no_tour_below(objective: Objective, certificate: BranchAndBound, value: float) -> bool:
    """Whether the tree of a certificate shows that no order is better than `value`."""
    path, tight = path_relaxation(objective)
    if not tight or not np.array_equal(path.travel, path.travel.T):
        return False
    size = path.size
    plain = np.full((size + 2, size + 2), np.inf)
    plain[:size, :size] = path.travel
    plain[size, :size] = plain[:size, size] = path.begin
    plain[size, size + 1] = plain[size + 1, size] = 0.0

    @lru_cache(maxsize=200)
    def costs_of(ending: tuple[int, ...]) -> FloatArray:
        """Scores of the end are paid exactly, at its last region; the next one and the least of the rest before it."""
        costs = plain.copy()
        if not path.weights[:-1].any():
            ending = ()
        left = [v for v in range(size) if v not in ending]
        parts = np.array(score_parts(path, ending))
        if not ending:
            costs[size + 1, :size] = costs[:size, size + 1] = parts + path.finish
            return costs
        least = float(parts[left].min()) if left else 0.0
        paid = math.fsum(path.weights[size - 1 - k] * path.scores[v] for k, v in enumerate(ending))
        costs[size + 1, ending[0]] = costs[ending[0], size + 1] = paid + least + path.finish[ending[0]]
        for v in left:
            if np.isfinite(parts[v]):
                costs[v, ending[-1]] += parts[v] - least
                costs[ending[-1], v] += parts[v] - least
        return costs

    return all_pruned(costs_of, certificate.nodes, value - path.constant, certificate.combs)


def all_pruned(costs_of: Costs, nodes: tuple[Node, ...], limit: float, combs: tuple[Comb, ...] = ()) -> bool:
    """Whether the nodes, gone through depth first, leave no tour that costs less than `limit`.

    `costs_of` gives the costs of all edges (inf where there is none) for orders with a known ending, its last region
    first; with 0 between home and out, which every tour uses. `combs` are what nodes refer to.
    """
    if not all(is_comb(comb) for comb in combs):
        return False
    costs = costs_of(())
    count = len(costs)
    usable = np.isfinite(costs) & ~np.eye(count, dtype=bool)
    must = np.zeros_like(usable)
    must[-1, -2] = must[-2, -1] = True
    waiting: list[State | None] = [(usable, must)]  # None: pruned already, with all of its children
    for node in nodes:
        if not waiting:
            return False
        state = waiting.pop()
        if state is not None:
            state = _narrowed(costs_of, state, node, limit, combs)
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
        return [_fixed(state, v, a, True), _fixed(state, v, a, False)]
    half = _fixed(state, v, a, True)
    return [_fixed(state, v, a, False), _fixed(half, v, b, False), _fixed(half, v, b, True)]


def _fixed(state: State | None, v: int, other: int, used: bool) -> State | None:
    """Return the child in which an edge is fixed to 1, or to 0; None where that cannot be."""
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
    """Whether sets of vertices are a handle and an odd number of teeth: disjoint, each partly inside of the handle."""
    if len(comb) < 4 or len(comb) % 2:
        return False
    handle, *teeth = (set(members) for members in comb)
    apart = len(set().union(*teeth)) == sum(map(len, teeth))
    return apart and all(tooth & handle and tooth - handle for tooth in teeth)


def _crossings(comb: Comb, count: int) -> FloatArray:
    """How many sets of a comb each edge leaves."""
    found = np.zeros((count, count))
    for members in comb:
        inside = np.zeros(count, dtype=bool)
        inside[list(members)] = True
        found += inside[:, None] != inside[None, :]
    return found


def _narrowed(costs_of: Costs, state: State, node: Node, limit: float, combs: tuple[Comb, ...]) -> State | None:
    """Return what is left of a node, or None if no tour below `limit` is."""
    propagated = _propagated(*state)
    if propagated is None or not node.multipliers:
        return propagated
    usable, must = propagated
    costs = costs_of(_known_ending(must))
    most = max(limit, 0.0)
    usable = usable & (costs < most)  # costs are not negative: what costs more is in no tour that costs less
    if (must & ~usable).any():
        return None
    costs = np.where(usable, costs, np.inf)
    multipliers = np.append(node.multipliers, 0.0)
    count, added = len(costs), 2 * most
    for number, dual in node.combs:
        if not dual >= 0:
            return propagated  # which proves nothing
        # tours cross the boundaries of a comb with t teeth 3t + 1 times at least
        sets = len(combs[number])
        least = 3 * (sets - 1) + 1
        costs = costs - dual * _crossings(combs[number], count)
        limit -= dual * least
        added += dual * (2 * count * sets + least)
    reduced = np.where(usable, costs - multipliers[:, None] - multipliers[None, :], np.inf)
    out = len(costs) - 1
    leave = np.where(must[out, : out - 1].any() & ~must[out, : out - 1], np.inf, reduced[out, : out - 1])
    tree = _tree(reduced[:out, :out], must[:out, :out])
    if tree is None or leave.min() == np.inf:
        return None
    parent, joined, total = tree
    degrees = np.bincount([*joined[1:], *(parent[v] for v in joined[1:])], minlength=count)
    added += 2 * float((degrees + 3) @ np.abs(multipliers))
    limit += margin(count, added)  # rounding counts against the claim
    bound = total + leave.min() + reduced[out, out - 1] + 2 * multipliers.sum()
    if bound >= limit:
        return None
    usable[out, : out - 1] &= bound + leave - leave.min() < limit
    usable[: out - 1, out] = usable[out, : out - 1]
    _fix_by_reduced_cost(reduced[:out, :out], usable[:out, :out], must[:out, :out], parent, joined, limit - bound)
    return _propagated(usable, must)


def _tree(reduced: FloatArray, must: BoolArray) -> tuple[list[int], list[int], float] | None:
    """Return parents, order of joining and cost of the cheapest tree with the edges that must be in it."""
    count = len(reduced)
    near, by = np.full(count, np.inf), np.full(count, -1)
    forced = np.zeros(count, dtype=bool)
    outside = np.ones(count, dtype=bool)
    here, joined, total = count - 1, [count - 1], 0.0
    outside[here] = False
    while len(joined) < count:
        better = outside & (must[here] & (~forced | (reduced[here] < near)) | ~forced & (reduced[here] < near))
        near[better], by[better] = reduced[here][better], here
        forced |= outside & must[here]
        pool = outside & forced if (outside & forced).any() else outside
        here = int(np.argmin(np.where(pool, near, np.inf)))
        if not outside[here] or near[here] == np.inf:
            return None
        outside[here] = False
        total += float(near[here])
        joined.append(here)
    return [int(v) for v in by], joined, total


def _fix_by_reduced_cost(
    reduced: FloatArray, usable: BoolArray, must: BoolArray, parent: list[int], joined: list[int], room: float
) -> None:
    """Fix edges to 0 with no room for them in place of any tree edge; to 1 those that cannot be replaced."""
    count = len(reduced)
    dearest = np.full((count, count), -np.inf)
    below = np.eye(count, dtype=bool)
    tree = np.zeros_like(usable)
    for k, v in enumerate(joined[1:], 1):
        p, earlier = parent[v], joined[:k]
        tree[v, p] = tree[p, v] = True
        own = -np.inf if must[p, v] else reduced[p, v]
        dearest[v, earlier] = dearest[earlier, v] = np.maximum(dearest[p, earlier], own)
    with np.errstate(invalid="ignore"):
        usable &= tree | must | ~(reduced - dearest >= room)
    for v in reversed(joined[1:]):
        below[parent[v]] |= below[v]
    i, j = np.nonzero(np.triu(usable & ~tree))
    crossing = below[:, i] != below[:, j]
    instead = np.where(crossing, reduced[i, j][None, :], np.inf).min(axis=1, initial=np.inf)
    for v in joined[1:]:
        if instead[v] - reduced[parent[v], v] >= room:
            must[v, parent[v]] = must[parent[v], v] = True


def _propagated(usable: BoolArray, must: BoolArray) -> State | None:
    """Fix what two edges a vertex and one tour imply; None where no tour is left."""
    while True:
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
    """Return the two ends of each path of edges fixed to 1; None where one closes too early."""
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
