"""Check a plan against its problem: route, loss and bound, by code that shares nothing with the solvers.

Slow and plain on purpose: dictionaries of states, one region after the other. docs/bounds.md says why each bound holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.model.certificate import Certificate
from learnroute.model.losses import as_order, expected_loss, objective_of
from learnroute.model.objective import Objective
from learnroute.model.problem import Problem
from learnroute.model.validation import FloatArray, shown

LOSS_TOLERANCE = 1e-9  # relative: a loss written in decimal and computed anew
ROUNDING = 1e-12  # relative to all that a bound adds up: far above what float64 loses
MOST_STATES = 400_000  # kept by one table of the checker
MOST_ENUMERATED = 20  # regions up to which all sets are looked at
COMPARED = 50  # cheaper states that each one is compared with

Layer = dict[int, list[tuple[float, int]]]  # region: (cost, regions remembered, one bit each), cheapest first


@dataclass(frozen=True)
class Check:
    """One thing that a plan claims. `holds` is None where it could be neither confirmed nor refuted."""

    what: str
    holds: bool | None
    detail: str


class TooManyStatesError(Exception):
    """The checker's own limit, not an error of the plan."""


def verify(problem: Problem, plan: Mapping[str, Any]) -> tuple[Check, ...]:
    """Recompute what a plan (as its JSON object) claims about a route of this problem."""
    if not isinstance(plan, Mapping) or not {"route", "order", "loss"} <= set(plan):
        raise InputError(f"plan = {shown(plan)}: an object with route, order and loss is needed")
    checks = [_route(problem, plan)]
    if not checks[0].holds:
        return tuple(checks)
    order = as_order(plan["order"], problem.size)
    loss = expected_loss(problem, order)
    checks.append(_loss(loss.to_dict(), plan["loss"]))
    objective = objective_of(problem)
    claimed = plan.get("lower_bound")
    if claimed is None:
        return tuple(checks)
    claimed = float(claimed)
    certificate = Certificate.from_dict(plan.get("certificate"), problem.size)
    if plan.get("optimal"):
        same = math.isclose(claimed, loss.total, rel_tol=LOSS_TOLERANCE)
        checks.append(Check("bound", same, f"{claimed:.9g}, the loss itself" if same else "not the loss of the route"))
        checks.append(_optimum(objective, objective(order), certificate))
    else:
        checks.append(_bound(objective, certificate, claimed * problem.size))
    return tuple(checks)


def _route(problem: Problem, plan: Mapping[str, Any]) -> Check:
    try:
        order = as_order(plan["order"], problem.size, problem.regions)
    except InputError as error:
        return Check("route", False, str(error))
    if list(plan["route"]) != [problem.regions[i] for i in order]:
        return Check("route", False, "names and indices disagree, or belong to another problem")
    return Check("route", True, f"visits each of {problem.size} regions once")


def _loss(found: Mapping[str, float], claimed: Any) -> Check:
    scale = abs(found["total"])
    for part, value in found.items():
        given = claimed.get(part) if isinstance(claimed, Mapping) else None
        if not isinstance(given, int | float) or abs(given - value) > LOSS_TOLERANCE * scale:
            return Check("loss", False, f"{part} is {value:.9g}; the plan says {shown(given)}")
    return Check("loss", True, f"{found['total']:.9g} per region, all parts as claimed")


def _bound(objective: Objective, certificate: Certificate, claimed: float) -> Check:
    try:
        found = recomputed_bound(objective, certificate, claimed)
    except TooManyStatesError:
        return Check("bound", None, f"more than {MOST_STATES:,} states are needed to recompute it")
    per_region = found / objective.size
    holds = claimed <= found + ROUNDING * abs(found)
    relation = "is confirmed" if holds else f"does not follow; what follows is {per_region:.9g}"
    return Check("bound", holds, f"{claimed / objective.size:.9g} ({certificate.kind}) {relation}")


def _optimum(objective: Objective, value: float, certificate: Certificate) -> Check:
    """Show that no order is better, with the multipliers and memories of the certificate as a guide only."""
    if certificate.kind != "walks":
        found = recomputed_bound(objective, certificate, value)
        holds = value <= found + 10 * ROUNDING * abs(found)
        return Check("optimum", holds, "the bound meets the loss" if holds else "the bound does not meet the loss")
    assert certificate.multipliers is not None
    if _by_enumeration(certificate, objective):
        least = least_by_enumeration(objective)
        holds = value <= least + 10 * ROUNDING * abs(least)
        refuted = f"a route that is better by {(value - least) / objective.size:.3g} exists"
        return Check("optimum", holds, "no route is better, all sets of regions looked at anew" if holds else refuted)
    walk = _Walks(objective, certificate.multipliers)
    limit = walk.limit(value - objective.constant)
    masks = [sum(1 << u for u in {v, *row}) for v, row in enumerate(certificate.memory)]
    try:
        behind = walk.turned().table(masks, limit)
        left = walk.table([-1] * objective.size, limit, behind)[-1]
    except TooManyStatesError:
        return _fallback(objective, value, certificate)
    better = min((group[0][0] for group in left.values()), default=math.inf)
    if better == math.inf:
        return Check("optimum", True, "no route is better, all of them considered anew")
    return Check("optimum", False, f"a route that is better by {(limit - better) / objective.size:.3g} exists")


def _fallback(objective: Objective, value: float, certificate: Certificate) -> Check:
    why = f"more than {MOST_STATES:,} states are needed to repeat the proof"
    try:
        found = recomputed_bound(objective, certificate, certificate.bound)
    except TooManyStatesError:
        return Check("optimum", None, why)
    gap = max(0.0, value / found - 1) if found > 0 else math.inf
    return Check("optimum", None, f"{why}; confirmed is that the route is at most {100 * gap:.3g} % above the best")


def recomputed_bound(objective: Objective, certificate: Certificate, ceiling: float) -> float:
    """Return what a certificate proves, as far as `ceiling`, with rounding taken off."""
    if certificate.kind == "simple":
        return _simple(objective)
    assert certificate.multipliers is not None
    if certificate.kind == "tree":
        return _one_tree(objective, certificate.multipliers)
    if _by_enumeration(certificate, objective):
        return min(ceiling, least_by_enumeration(objective))
    walk = _Walks(objective, certificate.multipliers)
    paid = objective.constant + float(certificate.multipliers.sum())
    masks = [sum(1 << u for u in {v, *row}) for v, row in enumerate(certificate.memory)]
    last = walk.table(masks, ceiling - paid + walk.margin)[-1]
    cheapest = min((group[0][0] for group in last.values()), default=math.inf)
    return min(ceiling, cheapest + paid - walk.margin)


def _by_enumeration(certificate: Certificate, objective: Objective) -> bool:
    """Whether a certificate says no more than: remember everything, so look at all sets of regions."""
    size, multipliers = objective.size, certificate.multipliers
    everything = all(len({v, *row}) == size for v, row in enumerate(certificate.memory))
    return multipliers is not None and not multipliers.any() and everything and size <= MOST_ENUMERATED


def least_by_enumeration(objective: Objective) -> float:
    """Return the least value of any order: the best way to end each set of regions at each of them, by size of set."""
    size = objective.size
    sets = np.arange(1 << size)
    counts = sum((sets >> v) & 1 for v in range(size))
    stays = objective.weights[:, None] * objective.scores[None, :]
    best = np.full((size, 1 << size), np.inf)
    best[np.arange(size), 1 << np.arange(size)] = stays[0]
    for k in range(1, size):
        layer = sets[counts == k + 1]
        for v in range(size):
            here = layer[(layer >> v) & 1 == 1]
            before = best[:, here ^ (1 << v)]
            best[v, here] = (before + objective.travel[:, v, None]).min(axis=0) + stays[k, v]
    return float(best[:, -1].min() + objective.constant)


def _simple(objective: Objective) -> float:
    """A path is a spanning tree, and enters all regions but one; scores are at their least when rearranged."""
    either = np.minimum(objective.travel, objective.travel.T)
    others = objective.travel + np.diag(np.full(objective.size, np.inf))
    travel = max(
        _spanning_tree(either), math.fsum(np.sort(others.min(axis=0))[:-1]), math.fsum(np.sort(others.min(axis=1))[:-1])
    )
    scores = math.fsum(np.sort(objective.weights)[::-1] * np.sort(objective.scores))
    return math.fsum([travel, scores, objective.constant]) * (1 - ROUNDING / 10)


def _spanning_tree(costs: FloatArray) -> float:
    near = costs[0].copy()
    outside = np.ones(len(costs), dtype=bool)
    outside[0] = False
    legs = []
    while outside.any():
        v = int(np.argmin(np.where(outside, near, np.inf)))
        legs.append(near[v])
        outside[v] = False
        near = np.minimum(near, costs[v])
    return math.fsum(legs)


def _one_tree(objective: Objective, multipliers: FloatArray) -> float:
    """A spanning tree of the regions and `home`, the forced edge, and the cheapest edge to `out`: docs/bounds.md."""
    size = objective.size
    at, home = multipliers[:size], multipliers[size]
    costs = np.zeros((size + 1, size + 1))
    costs[:size, :size] = np.minimum(objective.travel, objective.travel.T)
    reduced = costs - multipliers[: size + 1, None] - multipliers[None, : size + 1]
    exits = []
    for v in range(size):
        rest = np.sort(np.delete(objective.scores, v))
        part = math.fsum(np.sort(objective.weights[:-1])[::-1] * rest)
        exits.append(objective.weights[-1] * objective.scores[v] + part - at[v])
    total = math.fsum([_spanning_tree(reduced), min(exits), -home, *(2 * multipliers[: size + 1]), objective.constant])
    largest = objective.travel.max() * size + abs(min(exits)) + 4 * np.abs(multipliers).sum()
    return float(total - ROUNDING / 10 * largest)


def _needed(states: dict[int, float]) -> list[tuple[float, int]]:
    """Sort states by cost, without those that a cheaper one with fewer memories makes needless."""
    needed: list[tuple[float, int]] = []
    for cost, mask in sorted((cost, mask) for mask, cost in states.items()):
        if not any(fewer & ~mask == 0 for _, fewer in needed[:COMPARED]):
            needed.append((cost, mask))
    return needed


class _Walks:
    """Walks through T positions with multipliers, as docs/bounds.md defines them."""

    def __init__(self, objective: Objective, multipliers: FloatArray, backward: bool = False) -> None:
        stays = objective.weights[:, None] * objective.scores[None, :] - multipliers
        self._objective, self._multipliers = objective, multipliers
        self.legs = objective.travel.T if backward else objective.travel
        self.stays = stays[::-1] if backward else stays
        self.size = objective.size
        largest = np.abs(stays).max(axis=1).sum() + self.size * self.legs.max() + np.abs(multipliers).sum()
        self.margin = ROUNDING * float(largest)

    def turned(self) -> _Walks:
        return _Walks(self._objective, self._multipliers, backward=True)

    def limit(self, value: float) -> float:
        """Return the cost of a walk as good as an order of this value, rounding taken off."""
        return value - float(self._multipliers.sum()) - self.margin

    def table(self, memory: list[int], limit: float, behind: list[Layer] | None = None) -> list[Layer]:
        """Return all states that may lead to a walk cheaper than `limit`, position by position.

        `behind` is a table of the walks turned round: a state is dropped where none of its states at
        the same place, which remembers no region that this one remembers, completes it below the limit.
        """
        rest = self._rest()
        layers: list[Layer] = []
        kept = 0
        for t in range(self.size):
            found: dict[int, dict[int, float]] = {}
            for v, mask, costs in self._arrivals(layers, t):
                for w in np.flatnonzero(costs - self.stays[t] + rest[t] < limit).tolist():
                    if w == v or mask >> w & 1:
                        continue
                    known = mask & memory[w]
                    cost = float(costs[w])
                    if behind is not None:
                        most = limit - cost + float(self.stays[t, w])
                        group = behind[self.size - 1 - t].get(w, [])
                        if not any(b < most and not other & known for b, other in group):
                            continue
                    states = found.setdefault(w, {})
                    state = known | 1 << w
                    if cost < states.get(state, math.inf):
                        kept += state not in states
                        states[state] = cost
                        if kept > MOST_STATES:
                            raise TooManyStatesError
            layers.append({w: _needed(states) for w, states in found.items()})
            kept += sum(map(len, layers[-1].values())) - sum(map(len, found.values()))
        return layers

    def _arrivals(self, layers: list[Layer], t: int) -> Any:
        """Yield each state before position t with the costs of going on to every region."""
        if t == 0:
            yield -1, 0, self.stays[0]
            return
        for v, group in layers[-1].items():
            for cost, mask in group:
                yield v, mask, cost + self.legs[v] + self.stays[t]

    def _rest(self) -> FloatArray:
        """Return the cost of the cheapest completion, nothing remembered, from each position and region."""
        rest = self.stays.copy()
        for t in range(self.size - 2, -1, -1):
            rest[t] += (self.legs + rest[t + 1][None, :]).min(axis=1)
        return rest
