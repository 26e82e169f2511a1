"""Check a plan against its problem: route, loss and bound, by code that shares nothing with the solvers.

Slow and plain on purpose. docs/bounds.md says why each bound holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from learnroute.errors import InputError, shown
from learnroute.model.certificate import Certificate
from learnroute.model.losses import as_order, expected_loss, objective_of, travel_cost
from learnroute.model.objective import Objective
from learnroute.model.problem import Problem
from learnroute.model.validation import FloatArray, IntArray, as_number
from learnroute.verification.branch_and_bound import LOST, nothing_better
from learnroute.verification.ends import ROUNDING, anchored, score_parts
from learnroute.verification.ng_route import MOST_STATES, TooManyStatesError, Walker, ends_left

LOSS_TOLERANCE = 1e-9  # relative: a loss written in decimal and computed anew
SAME = 1.01e-10  # relative: a loss this near to the least possible one is called optimal (docs/architecture.md)
MOST_ENUMERATED = 20  # regions up to which all sets are looked at


@dataclass(frozen=True)
class Check:
    """One thing that a plan claims. `holds` is None where it could be neither confirmed nor refuted."""

    what: str
    holds: bool | None
    detail: str


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
    rest = _rest(problem, order, loss.total, plan)
    objective = objective_of(problem)
    claimed = plan.get("lower_bound")
    if claimed is None:
        if plan.get("optimal"):
            checks.append(Check("optimum", False, "claimed without a lower bound"))
        return (*checks, *rest)
    claimed = as_number("lower_bound", claimed, meaning="bounds", most=math.inf, least=-math.inf)
    certificate = Certificate.from_dict(plan.get("certificate"), problem.size)
    if plan.get("optimal"):
        same = math.isclose(claimed, loss.total, rel_tol=LOSS_TOLERANCE)
        checks.append(Check("bound", same, f"{claimed:.9g}, the loss itself" if same else "not the loss of the route"))
        checks.append(_optimum(objective, objective(order), certificate))
    else:
        checks.append(_bound(objective, certificate, claimed * problem.size))
    return (*checks, *rest)


def _rest(problem: Problem, order: IntArray, total: float, plan: Mapping[str, Any]) -> list[Check]:
    """Check what else follows from route and problem, where the plan says it."""
    bound = plan.get("lower_bound")
    gap = total / bound - 1 if isinstance(bound, int | float) and bound > 0 else None
    wanted: dict[str, Any] = {
        "travel_cost": travel_cost(problem, order),
        "travel_rate": problem.travel_rate,
        "closed": problem.constraints.returns,
        "regime": problem.regime,
        "constraints": problem.constraints.to_dict(),
        "gap": gap,
        "certified_ratio": None if gap is None else 1 + gap,
    }
    wrong = []
    for member, value in wanted.items():
        given = plan.get(member, value)
        if isinstance(value, float) and isinstance(given, int | float) and not isinstance(given, bool):
            same = math.isclose(given, value, rel_tol=LOSS_TOLERANCE, abs_tol=LOSS_TOLERANCE)
        else:
            same = given == value
        if not same:
            wrong.append(Check(member, False, f"is {value!r}; the plan says {shown(given)}"))
    return wrong


def _route(problem: Problem, plan: Mapping[str, Any]) -> Check:
    try:
        order = as_order(plan["order"], problem.size, problem.regions)
    except InputError as error:
        return Check("route", False, str(error))
    if not isinstance(plan["route"], list) or plan["route"] != [problem.regions[i] for i in order]:
        return Check("route", False, "names and indices disagree, or belong to another problem")
    for index, place, wanted in ((0, "begins", problem.ends.first), (-1, "ends", problem.ends.last)):
        if wanted is not None and order[index] != wanted:
            asked, found = problem.regions[wanted], problem.regions[order[index]]
            return Check("route", False, f"{place} at {found}; the problem asks for {asked}")
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
    least_claimed = value - SAME * abs(value)
    if certificate.kind == "cases":
        holds = _by_cases(objective, certificate, least_claimed)
        return Check("optimum", holds, "no route is better, all cases gone through anew" if holds
                     else "it does not follow from the cases")  # fmt: skip
    if certificate.kind != "walks":
        found = recomputed_bound(objective, certificate, value)
        if value <= found + SAME * abs(found):
            return Check("optimum", True, "the bound meets the loss")
        return _fallback(objective, value, certificate, "the plan holds no proof, only a bound below the loss")
    if _by_enumeration(certificate, objective):
        least = least_by_enumeration(objective)
        holds = value <= least + SAME * abs(least)
        refuted = f"a route that is better by {(value - least) / objective.size:.3g} exists"
        return Check("optimum", holds, "no route is better, all sets of regions looked at anew" if holds else refuted)
    walk = Walker(objective, certificate.walks[-1].multipliers, most=value)
    try:
        left = ends_left(objective, certificate.walks, least_claimed, [[-1] * objective.size] * objective.size)
    except TooManyStatesError:
        return _fallback(
            objective, value, certificate, f"more than {MOST_STATES:,} states are needed to repeat the proof"
        )
    better = min((group[0][0] for group in left.values()), default=math.inf)
    if better == math.inf:
        return Check("optimum", True, "no route is better, all of them considered anew")
    if not walk.tight:
        return Check("optimum", False, "it does not follow from the certificate")
    better += walk.constant + float(certificate.walks[-1].multipliers.sum())
    if better >= least_claimed - walk.margin:
        return _fallback(objective, value, certificate, "its numbers differ too much in size to tell")
    return Check("optimum", False, f"a route that is better by {(value - better) / objective.size:.3g} exists")


def _fallback(objective: Objective, value: float, certificate: Certificate, why: str) -> Check:
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
    if certificate.kind in ("tree", "cases"):
        assert certificate.multipliers is not None
        if certificate.kind == "cases" and _by_cases(objective, certificate, certificate.bound):
            return min(ceiling, certificate.bound)
        return _one_tree(objective, certificate.multipliers, ceiling)
    if _by_enumeration(certificate, objective):
        return min(ceiling, least_by_enumeration(objective))
    last = certificate.walks[-1]
    walk = Walker(objective, last.multipliers, most=ceiling)
    cheapest = min(
        (group[0][0] for group in ends_left(objective, certificate.walks, ceiling).values()), default=math.inf
    )
    return min(ceiling, cheapest + walk.constant + float(last.multipliers.sum()) - walk.margin)


def _by_cases(objective: Objective, certificate: Certificate, value: float) -> bool:
    """Whether the cases of a certificate show that no order is better than `value`."""
    held, tight = anchored(objective)
    if not tight or not np.array_equal(held.travel, held.travel.T):
        return False
    size = held.size
    plain = np.full((size + 2, size + 2), np.inf)
    plain[:size, :size] = held.travel
    plain[size, :size] = plain[:size, size] = held.begin
    plain[size, size + 1] = plain[size + 1, size] = 0.0

    @lru_cache(maxsize=200)
    def costs_of(ending: tuple[int, ...]) -> FloatArray:
        """Scores of the end are paid exactly, at its last region; the next one and the least of the rest before it."""
        costs = plain.copy()
        if not held.weights[:-1].any():
            ending = ()
        left = [v for v in range(size) if v not in ending]
        parts = np.array(score_parts(held, ending))
        if not ending:
            costs[size + 1, :size] = costs[:size, size + 1] = parts + held.finish
            return costs
        least = float(parts[left].min()) if left else 0.0
        paid = math.fsum(held.weights[size - 1 - k] * held.scores[v] for k, v in enumerate(ending))
        costs[size + 1, ending[0]] = costs[ending[0], size + 1] = paid + least + held.finish[ending[0]]
        for v in left:
            if np.isfinite(parts[v]):
                costs[v, ending[-1]] += parts[v] - least
                costs[ending[-1], v] += parts[v] - least
        return costs

    return nothing_better(costs_of, certificate.cases, value - held.constant, certificate.combs)


def _by_enumeration(certificate: Certificate, objective: Objective) -> bool:
    """Whether a certificate says no more than: remember everything, so look at all sets of regions."""
    size, walks = objective.size, certificate.walks[-1]
    everything = all(len({v, *row}) == size for v, row in enumerate(walks.memory))
    return not walks.multipliers.any() and everything and size <= MOST_ENUMERATED


def least_by_enumeration(objective: Objective) -> float:
    """Return the least value of any order: the best way to go on through each set of regions, from the end."""
    if objective.closed and objective.first is None and objective.last is None:
        return min(_least_of_ends(objective, None, last, None) for last in range(objective.size))
    return _least_of_ends(objective, objective.first, objective.last, objective.first)


def _least_of_ends(objective: Objective, first: int | None, last: int | None, back: int | None) -> float:
    """Return the least value of an order with these ends; the way back leads to `back`, or to the first if unknown."""
    size, travel, scores = objective.size, objective.travel, objective.scores
    inner = [v for v in range(size) if v not in (first, last)]
    sets = np.arange(1 << len(inner))
    tail = [] if last is None else [last]
    if objective.factors is None:
        behind = sum(((sets >> k) & 1 for k in range(len(inner))), start=np.full(len(sets), len(tail)))
        shares = objective.weights[np.maximum(size - 1 - behind, 0)]
        final = float(objective.weights[-1])
    else:
        shares = np.full(len(sets), math.prod(objective.factors[v] for v in tail))
        for k, v in enumerate(inner):
            shares = shares * np.where((sets >> k) & 1, objective.factors[v], 1.0)
        final = 1.0
    home = np.zeros(size)
    if objective.closed and back is not None:
        home = travel[:, back]
    counts = sum(((sets >> k) & 1 for k in range(len(inner))), start=np.zeros(len(sets), dtype=np.int64))
    rows = np.array(inner, dtype=np.int64)
    best = np.full((len(inner), len(sets)), np.inf)
    for k, v in enumerate(inner):
        if last is None:
            best[k, 1 << k] = final * scores[v] + home[v]
        else:
            best[k, 1 << k] = travel[v, last] + final * scores[last] + home[last] + shares[0] * scores[v]
    for count in range(2, len(inner) + 1):
        layer = sets[counts == count]
        for k, v in enumerate(inner):
            here = layer[(layer >> k) & 1 == 1]
            rest = here ^ (1 << k)
            best[k, here] = (best[:, rest] + travel[v, rows][:, None]).min(axis=0) + shares[rest] * scores[v]
    if not inner:  # both ends fixed, or one of them and nothing else
        stops = [v for v in (first, last) if v is not None]
        return objective(stops)
    full = best[:, -1]
    if first is not None:
        full = full + travel[first, rows] + shares[-1] * scores[first]
    elif objective.closed and last is not None:
        full = full + travel[last, rows]
    return float(full.min() + objective.constant)


def _simple(objective: Objective) -> float:
    """A path is a spanning tree, and enters all regions but one; scores are at their least when rearranged."""
    objective, _ = anchored(objective)
    begin, finish = objective.begin, objective.finish
    either = np.minimum(objective.travel, objective.travel.T)
    others = objective.travel + np.diag(np.full(objective.size, np.inf))
    into, out = others.min(axis=0), others.min(axis=1)
    travel = max(
        _spanning_tree(either) + begin.min() + finish.min(),
        math.fsum(into) + (begin - into).min() + finish.min(),
        math.fsum(out) + (finish - out).min() + begin.min(),
    )
    found = math.fsum([travel, min(score_parts(objective)), objective.constant])
    return found - ROUNDING / 10 * abs(found)


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


def _one_tree(objective: Objective, multipliers: FloatArray, ceiling: float) -> float:
    """A spanning tree of the regions and `home`, the forced edge, and the cheapest edge to `out`: docs/bounds.md."""
    objective, _ = anchored(objective)
    size = objective.size
    at, home = multipliers[:size], multipliers[size]
    costs = np.zeros((size + 1, size + 1))
    costs[:size, :size] = np.minimum(objective.travel, objective.travel.T)
    costs[:size, size] = costs[size, :size] = objective.begin
    most = max(ceiling - objective.constant, 0.0)  # no order below the ceiling pays more for anything
    costs = np.where(np.isfinite(costs), np.minimum(costs, most), np.inf)
    reduced = costs - multipliers[: size + 1, None] - multipliers[None, : size + 1]
    exits = [float(part) for part in np.array(score_parts(objective)) + objective.finish - at]
    total = math.fsum([_spanning_tree(reduced), min(exits), -home, *(2 * multipliers[: size + 1]), objective.constant])
    largest = min(objective.travel.max(), most) + 4 * np.abs(multipliers).max()
    return min(ceiling, float(total - LOST * (largest * (size + 2) + abs(min(exits)) + abs(objective.constant))))
