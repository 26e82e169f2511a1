"""The bound of ng-routes of any length (Baldacci, Mingozzi and Roberti 2011), if errors are not coupled.

The cost of a visit depends on the number of visits after it, so that the network has one layer per number, the last
visit first. A route may begin in any layer. Multipliers penalise the number of visits to each region, and travel beyond
the budget. docs/bounds.md has the proof.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from learnroute.model.certificates import VisitRoutes
from learnroute.model.instance import Instance
from learnroute.model.rounding import SAME, margin
from learnroute.model.validation import LARGEST_VALUE, SMALLEST_VALUE, FloatArray, IntArray
from learnroute.solvers.contract import Answer, Budget, Rung
from learnroute.solvers.core_instance import CoreInstance, longest_route
from learnroute.solvers.exact.subgradient import new_ascent
from learnroute.solvers.params import AscentParams, SolverParams, VisitBoundParams

NgSets = list[list[int]]
HIGHEST_PRICE = LARGEST_VALUE / SMALLEST_VALUE  # of travel beyond the budget: any cost of travel stays finite


class VisitNgRoutes(Rung):
    """The rung of ng-routes of any length."""

    exact = False

    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether the cost of a visit depends only on the visits that follow."""
        return instance.separable and not instance.permutation

    def search_share(self, instance: Instance, budget: Budget, params: SolverParams) -> float:
        """Leave most of the time to the search."""
        return 1 - params.visit_bound.share

    def prove(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer:
        """Return the answer with the bound, if there is time for it."""
        assert answer is not None
        found = ng_route_bound(instance, instance(answer.routes), budget, params.visit_bound)
        return answer if found is None else replace(answer, certificate=found)


def ng_route_bound(instance: Instance, target: float, budget: Budget, params: VisitBoundParams) -> VisitRoutes | None:
    """Return the best bound found, with the value of a known route as the target; None if there are too many arcs.

    Training must have the same effect at every position, without coupling, and no term of a value may be negative.
    """
    size, layers = int(instance.visits.allowed.sum()), longest_route(instance.visits)
    seconds = budget.seconds_left
    quick = math.inf if seconds is None else max(seconds, params.moment) / params.arc_seconds
    most = min(params.arcs, params.work / (params.steps * layers), quick)
    fitting = [n for n in range(params.nearest + 1) if size**2 << min(n, size - 1) <= most]
    if not fitting:
        return None
    relaxation = _Relaxation(instance)
    problem = relaxation.problem
    ng_sets = problem.nearest(fitting[-1] if _once(problem) else 0).tolist()
    multipliers, ascent, left = np.zeros(size + 1), params.first_ascent, params.work
    best: _Found | None = None
    while True:
        found = _ascend(relaxation, ng_sets, multipliers, target, budget, ascent, left)
        gain = math.inf if best is None else found.bound - best.bound
        best = found if gain > 0 or best is None else best
        multipliers, ascent = found.multipliers, params.next_ascent
        left -= found.work
        if found.bound >= target:
            break
        grown = _once(problem) and _augment(ng_sets, found.routes[-params.cycles :], params.largest)
        if not grown and gain <= params.gain * (target - found.bound):  # also if both are 0
            break
        arcs = sum(size << len(row) for row in ng_sets)
        if budget.exhausted or arcs > params.arcs or arcs * layers > left:
            break
        budget.progress("bound", 1 - left / params.work)
    return relaxation.certificate(best, target)


class _Found(NamedTuple):
    """The best step of an ascent, and the cheapest routes of all steps."""

    bound: float
    multipliers: FloatArray
    ng_sets: NgSets
    routes: list[list[int]]
    work: float  # arcs processed


def _ascend(
    relaxation: _Relaxation, ng_sets: NgSets, multipliers: FloatArray, target: float, budget: Budget,
    params: AscentParams, most: float,
) -> _Found:  # fmt: skip
    """Take subgradient steps, at least one."""
    network = _Network(relaxation.problem, ng_sets)
    work_per_step = network.arcs * relaxation.problem.at_most
    ascent = new_ascent(multipliers, target, params)
    best, bound, routes = multipliers, -math.inf, []
    for step in range(params.steps):
        now = relaxation.project(ascent.multipliers)
        value, route = relaxation.cheapest(network, now)
        routes.append(route)
        if step == 0 or value > bound:
            best, bound = now, value
        late = budget.exhausted or len(routes) * work_per_step >= most
        if late or not ascent.advance(relaxation.subgradient(now, route), value):
            break
    return _Found(bound, best, [list(row) for row in ng_sets], routes, len(routes) * work_per_step)


class _Relaxation:
    """Costs by layer and region, and their dependence on multipliers; the last one is the budget's, scaled."""

    def __init__(self, instance: Instance) -> None:
        self.instance, self.problem = instance, CoreInstance(instance)
        problem = self.problem
        retention, plasticity, _, second, noise = (table[0] for table in problem.tables)
        retained, kept = (_least_products(factors, problem) for factors in (retention, second))
        self.nodes = retained[:-1, None] * (plasticity * problem.scores) + instance.size * kept[:-1, None] * noise
        self.left = retained[1:] * instance.total
        self.left[: instance.visits.at_least - 1] = np.inf
        if _once(problem) and problem.last >= 0:
            self.nodes[1:, problem.last] = np.inf
        self.fewest, self.most = problem.required.astype(float), problem.repeats.astype(float)
        self.no_begin = np.where(problem.may_begin, 0.0, np.inf)
        self.no_end = np.where(problem.may_end, 0.0, np.inf)
        self.scale = float(problem.travel.mean()) or 1.0
        self.budget = instance.visits.budget * (1 + 2 * SAME)

    def project(self, multipliers: FloatArray) -> FloatArray:
        """Return multipliers of the required sign: a visit to an optional region must not be rewarded."""
        found = multipliers.copy()
        found[:-1] = np.where(self.fewest == 0, np.minimum(found[:-1], 0.0), found[:-1])
        found[-1] = min(max(found[-1], 0.0), HIGHEST_PRICE * self.scale) if self.budget < math.inf else 0.0
        return found

    def cheapest(self, network: _Network, multipliers: FloatArray) -> tuple[float, list[int]]:
        """Return the bound, and the route whose cost it is."""
        by_region, price = multipliers[:-1], float(multipliers[-1]) / self.scale
        rate = self.instance.rate + price
        travel = self.problem.travel
        begin, finish = rate * travel[-1, :-1] + self.no_begin, rate * travel[:-1, -1] + self.no_end
        layers, arcs = network.layers(self.nodes - by_region, finish, rate)
        begun = layers + begin[network.region] + self.left[:, None]
        layer, state = np.unravel_index(int(np.argmin(begun)), begun.shape)
        paid = math.fsum(np.minimum(by_region * self.fewest, by_region * self.most))
        bound = float(begun[layer, state]) + paid - (price * self.budget if price else 0.0)
        return bound, network.trace(layers, arcs, int(layer), int(state))

    def subgradient(self, multipliers: FloatArray, route: list[int]) -> FloatArray:
        """Return a direction in which the bound grows: towards fewer or more visits, and less travel."""
        visits, by_region = np.bincount(route, minlength=self.problem.size), multipliers[:-1]
        wanted = np.where(by_region > 0, self.fewest, np.where(by_region < 0, self.most, visits))
        wanted = np.where(by_region == 0, np.clip(visits, self.fewest, self.most), wanted)
        beyond = 0.0
        if self.budget < math.inf:
            stops = np.array([-1, *route, -1])
            beyond = (float(self.problem.travel[stops[:-1], stops[1:]].sum()) - self.budget) / self.scale
        return np.append(wanted - visits, max(beyond, 0.0) if multipliers[-1] == 0 else beyond)

    def certificate(self, found: _Found, target: float) -> VisitRoutes:
        """Return the bound less its possible rounding error, with regions numbered as in the instance."""
        instance, problem, price = self.instance, self.problem, float(found.multipliers[-1] / self.scale)
        by_region = np.abs(found.multipliers[:-1])
        sizes = [
            abs(found.bound), abs(target), 4 * problem.at_most * float(by_region.max()),
            4 * math.fsum(problem.repeats * by_region), 4 * price * self.budget if price else 0.0,
        ]  # fmt: skip
        vectors = instance.known.vectors
        terms = 32 * (problem.at_most + problem.size) + (0 if vectors is None else vectors.shape[1])
        multipliers, ng_sets = np.zeros(instance.travel.size), [()] * instance.travel.size
        multipliers[problem.regions] = found.multipliers[:-1]
        for region, row in zip(problem.regions.tolist(), found.ng_sets, strict=True):
            ng_sets[region] = tuple(problem.regions[row].tolist())
        bound = found.bound - margin(terms, math.fsum(sizes))
        return VisitRoutes(bound, multipliers, tuple(ng_sets), price)


def _once(problem: CoreInstance) -> bool:
    return bool((problem.repeats == 1).all())


def _least_products(factors: FloatArray, problem: CoreInstance) -> FloatArray:
    """Return the smallest product of each number of factors; no region contributes more than its repeats."""
    some = np.sort(np.repeat(factors, problem.repeats))[: problem.at_most]
    with np.errstate(under="ignore"):
        return np.concatenate([[1.0], np.cumprod(some)])


class _Network:
    """States (region, part of its ng-set visited later) and arcs to the regions that may be visited before them."""

    def __init__(self, problem: CoreInstance, ng_sets: NgSets) -> None:
        size = problem.size
        counts = np.array([1 << len(row) for row in ng_sets])
        self.first = np.concatenate([[0], np.cumsum(counts)])  # the state of each region with no other visited later
        self.region = np.repeat(np.arange(size), counts)
        behind = np.zeros((len(self.region), size), dtype=np.bool_)
        if _once(problem):
            behind[np.arange(len(self.region)), self.region] = True
        for region, row in enumerate(ng_sets):
            masks = np.arange(counts[region])
            for bit, other in enumerate(row):
                behind[self.first[region] : self.first[region + 1], other] |= (masks >> bit & 1).astype(np.bool_)
        open_ = ~behind
        if _once(problem) and problem.first >= 0:  # nothing comes before the first region
            open_[self.region == problem.first] = False
        origins, heads = [], []
        for region, row in enumerate(ng_sets):
            states = np.flatnonzero(open_[:, region])
            head = self.first[region] + behind[states][:, row] @ (1 << np.arange(len(row), dtype=np.int64))
            order = np.argsort(head, kind="stable")
            origins.append(states[order])
            heads.append(head[order])
        self.origin: IntArray = np.concatenate(origins)
        self.heads, self.starts = np.unique(np.concatenate(heads), return_index=True)
        self.stops = np.append(self.starts[1:], len(self.origin))
        at = np.repeat(self.heads, self.stops - self.starts)
        self.travel = problem.travel[self.region[at], self.region[self.origin]]
        self.arcs = len(self.origin)

    def layers(self, nodes: FloatArray, finish: FloatArray, rate: float) -> tuple[FloatArray, FloatArray]:
        """Return the minimum cost from each state to the end, by layer, and the costs of arcs."""
        arcs = rate * self.travel
        found = np.full((len(nodes), len(self.region)), np.inf)
        found[0, self.first[:-1]] = nodes[0] + finish
        for layer in range(1, len(nodes)):
            if len(self.origin):
                found[layer, self.heads] = np.minimum.reduceat(found[layer - 1, self.origin] + arcs, self.starts)
            found[layer] += nodes[layer, self.region]
        return found, arcs

    def trace(self, layers: FloatArray, arcs: FloatArray, layer: int, state: int) -> list[int]:
        """Return the regions of the cheapest route from a state in a layer."""
        route = [int(self.region[state])]
        for below in range(layer - 1, -1, -1):
            head = int(np.searchsorted(self.heads, state))
            into = slice(self.starts[head], self.stops[head])
            state = int(self.origin[into][np.argmin(layers[below, self.origin[into]] + arcs[into])])
            route.append(int(self.region[state]))
        return route


def _augment(ng_sets: NgSets, routes: list[list[int]], largest: int) -> bool:
    """Add the region of each cycle of the routes to the ng-sets on that cycle (Roberti and Mingozzi 2014)."""
    grown = False
    for route in routes:
        seen: dict[int, int] = {}
        for at, region in enumerate(route):
            for other in route[seen.get(region, at) + 1 : at]:
                if region not in ng_sets[other] and len(ng_sets[other]) < largest:
                    ng_sets[other].append(region)
                    grown = True
            seen[region] = at
    return grown
