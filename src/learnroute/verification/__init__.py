"""Check a plan against its problem: route, loss and bound, by code that shares nothing with the solvers.

Slow and plain on purpose: dictionaries of states, one region after the other. docs/bounds.md says why each bound holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnroute.errors import InputError
from learnroute.model.certificate import Certificate, Walks
from learnroute.model.losses import as_order, expected_loss, objective_of, travel_cost
from learnroute.model.objective import Objective
from learnroute.model.problem import Problem
from learnroute.model.validation import FloatArray, IntArray, as_number, shown
from learnroute.verification.cases import LOST, nothing_better

LOSS_TOLERANCE = 1e-9  # relative: a loss written in decimal and computed anew
ROUNDING = 1e-12  # relative to all that a bound adds up: far above what float64 loses
SAME = 1.01e-10  # relative: a loss this near to the least possible one is called optimal (docs/architecture.md)
MOST_STATES = 400_000  # kept by one table of the checker
MOST_ENUMERATED = 20  # regions up to which all sets are looked at
COMPARED = 50  # cheaper states that each one is compared with

StepArray = NDArray[np.bool_]
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
    for index, place, wanted in ((0, "begins", problem.first), (-1, "ends", problem.last)):
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
    walk = _Walks(objective, certificate.walks[-1].multipliers, most=value)
    try:
        left = _left(objective, certificate.walks, least_claimed, [[-1] * objective.size] * objective.size)
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
    walk = _Walks(objective, last.multipliers, most=ceiling)
    cheapest = min((group[0][0] for group in _left(objective, certificate.walks, ceiling).values()), default=math.inf)
    return min(ceiling, cheapest + walk.constant + float(last.multipliers.sum()) - walk.margin)


def _left(
    objective: Objective, stages: tuple[Walks, ...], value: float, memory: list[list[int]] | None = None
) -> Layer:
    """Return the ends of the walks, at the last stage, that may be orders of less than `value`.

    Each stage leaves only the steps of walks that cost less than that. Walks turned round remember what the first stage
    says. `memory`, for a claim of optimality, replaces that of the last stage. Rounding counts against the claim.
    """
    steps, turned = None, stages[0].masks()[::-1]
    for k, stage in enumerate(stages):
        walk = _Walks(objective, stage.multipliers, steps, most=value)
        limit = walk.limit(value)
        behind = walk.turned().table(turned, limit)
        left = walk.table(stage.masks() if memory is None or k < len(stages) - 1 else memory, limit, behind)
        steps = walk.taken[:-1]
    return left[-1]


def _by_cases(objective: Objective, certificate: Certificate, value: float) -> bool:
    """Whether the cases of a certificate show that no order is better than `value`."""
    held, tight = _anchored(objective)
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
        parts = np.array(_score_parts(held, ending))
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


def _anchored(objective: Objective) -> tuple[Objective, bool]:
    """Return an objective that bounds this one and has an end to hold on to, and whether the two have the same optimum.

    A closed route whose ends are free is turned to end at the least score if no other counts; else its travel
    and its scores are bounded apart.
    """
    if not objective.closed or objective.first is not None or objective.last is not None:
        return objective, objective.factors is None
    if objective.factors is None and not objective.weights[:-1].any():
        return objective.ending_at(int(np.argmin(objective.scores))), True
    nothing = np.zeros(objective.size)
    apart = objective.constant + min(_score_parts(objective)) * (1 - ROUNDING / 10)
    return Objective(objective.travel, nothing, nothing, apart, None, 0, True), False


def _score_parts(objective: Objective, ending: tuple[int, ...] = ()) -> list[float]:
    """For each region, the least score part of orders that end there, before an end that is paid apart (if any).

    The other scores are sorted by falling rank. Inf where no order does.
    """
    parts = []
    head = [] if objective.first is None else [objective.first]
    places = objective.size - len(ending)
    ranked = sorted(range(objective.size), key=lambda u: -objective.ranks[u])
    for v in range(objective.size):
        barred = v in ending or (v == objective.first and places > 1)
        if barred or (not ending and objective.last not in (None, v)):
            parts.append(math.inf)
            continue
        others = [u for u in ranked if u != v and u != objective.first and u not in ending]
        stops = [*(head if v != objective.first else []), *others, v]
        shares = objective.weights[:places] if objective.factors is None else objective.shares(stops)
        parts.append(math.fsum(shares * objective.scores[stops]))
    return parts


def _simple(objective: Objective) -> float:
    """A path is a spanning tree, and enters all regions but one; scores are at their least when rearranged."""
    objective, _ = _anchored(objective)
    begin, finish = objective.begin, objective.finish
    either = np.minimum(objective.travel, objective.travel.T)
    others = objective.travel + np.diag(np.full(objective.size, np.inf))
    into, out = others.min(axis=0), others.min(axis=1)
    travel = max(
        _spanning_tree(either) + begin.min() + finish.min(),
        math.fsum(into) + (begin - into).min() + finish.min(),
        math.fsum(out) + (finish - out).min() + begin.min(),
    )
    found = math.fsum([travel, min(_score_parts(objective)), objective.constant])
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
    objective, _ = _anchored(objective)
    size = objective.size
    at, home = multipliers[:size], multipliers[size]
    costs = np.zeros((size + 1, size + 1))
    costs[:size, :size] = np.minimum(objective.travel, objective.travel.T)
    costs[:size, size] = costs[size, :size] = objective.begin
    most = max(ceiling - objective.constant, 0.0)  # no order below the ceiling pays more for anything
    costs = np.where(np.isfinite(costs), np.minimum(costs, most), np.inf)
    reduced = costs - multipliers[: size + 1, None] - multipliers[None, : size + 1]
    exits = [float(part) for part in np.array(_score_parts(objective)) + objective.finish - at]
    total = math.fsum([_spanning_tree(reduced), min(exits), -home, *(2 * multipliers[: size + 1]), objective.constant])
    largest = min(objective.travel.max(), most) + 4 * np.abs(multipliers).max()
    return min(ceiling, float(total - LOST * (largest * (size + 2) + abs(min(exits)) + abs(objective.constant))))


def _needed(states: dict[int, float]) -> list[tuple[float, int]]:
    """Sort states by cost, without those that a cheaper one with fewer memories makes needless."""
    needed: list[tuple[float, int]] = []
    for cost, mask in sorted((cost, mask) for mask, cost in states.items()):
        if not any(fewer & ~mask == 0 for _, fewer in needed[:COMPARED]):
            needed.append((cost, mask))
    return needed


def _completed(group: list[tuple[float, int]], most: float, known: int) -> bool:
    """Whether a state of the group, cheapest first, costs less than `most` and remembers no region that is known."""
    for cost, mask in group:
        if cost >= most:
            return False
        if not mask & known:
            return True
    return False


class _Walks:
    """Walks through T positions with multipliers, as docs/bounds.md defines them."""

    def __init__(
        self,
        objective: Objective,
        multipliers: FloatArray,
        steps: StepArray | None = None,
        backward: bool = False,
        most: float = math.inf,
    ) -> None:
        """Prepare walks; no order of a value below `most` pays more than that for anything, so no number is larger."""
        held, self.tight = _anchored(objective)
        stays = held.weights[:, None] * held.scores[None, :]
        stays[0] += held.begin
        stays[-1] += held.finish
        most = max(most - held.constant, 0.0)
        stays = np.where(np.isfinite(stays), np.minimum(stays, most), np.inf) - multipliers
        if held.first is not None:
            stays[1:, held.first] = np.inf
        if held.last is not None:
            stays[:-1, held.last] = np.inf
        self._objective, self._multipliers, self.constant = objective, multipliers, held.constant
        self._most = most + held.constant
        legs = np.minimum(held.travel, most)
        self.legs = legs.T if backward else legs
        self.stays = stays[::-1] if backward else stays
        self.size = held.size
        self.steps = steps  # those that a walk may take: position, from, to; None for all
        self.taken = np.zeros((self.size, self.size, self.size), dtype=bool)
        finite = np.where(np.isfinite(stays), np.abs(stays), 0.0)
        largest = finite.max(axis=1).sum() + self.size * self.legs.max() + np.abs(multipliers).sum()
        self.margin = LOST * self.size * float(largest)

    def turned(self) -> _Walks:
        steps = None if self.steps is None else self.steps[::-1].transpose(0, 2, 1)
        return _Walks(self._objective, self._multipliers, steps, True, self._most)

    def limit(self, value: float) -> float:
        """Return the cost from which on a walk is surely no better than an order of this value."""
        return value - self.constant - float(self._multipliers.sum()) + self.margin

    def table(self, memory: list[list[int]], limit: float, behind: list[Layer] | None = None) -> list[Layer]:
        """Return all states that may lead to a walk cheaper than `limit`, position by position.

        `behind` is a table of the walks turned round: a state is dropped where none of its states at
        the same place, which remembers no region that this one remembers, completes it below the limit. The steps
        of the states that are left are marked as taken.
        """
        rest = self._rest()
        layers: list[Layer] = []
        kept = 0
        for t in range(self.size):
            found: dict[int, dict[int, float]] = {}
            here = np.where(np.isfinite(self.stays[t]), self.stays[t], 0.0)  # inf, where forbidden, is in `rest` too
            for v, mask, costs in self._arrivals(layers, t):
                for w in np.flatnonzero(costs - here + rest[t] < limit).tolist():
                    if w == v or mask >> w & 1:
                        continue
                    known = mask & memory[t][w]
                    cost = float(costs[w])
                    if behind is not None:
                        most = limit - cost + float(self.stays[t, w])
                        group = behind[self.size - 1 - t].get(w, [])
                        if not _completed(group, most, known):
                            continue
                    self.taken[t - 1, v, w] = True  # at position 0 no step is taken: the last row is not used
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
                costs = cost + self.legs[v] + self.stays[t]
                yield v, mask, costs if self.steps is None else np.where(self.steps[t - 1, v], costs, np.inf)

    def _rest(self) -> FloatArray:
        """Return the cost of the cheapest completion, nothing remembered, from each position and region on."""
        rest = self.stays.copy()
        for t in range(self.size - 2, -1, -1):
            onward = self.legs + rest[t + 1][None, :]
            rest[t] += (onward if self.steps is None else np.where(self.steps[t], onward, np.inf)).min(axis=1)
        return rest
