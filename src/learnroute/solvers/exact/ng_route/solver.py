"""Raise the ng-route bound until it meets the incumbent.

Roberti and Mingozzi (2014) solve position-dependent TSPs exactly in this way. Four techniques close the gap between the
cheapest ng-route and the incumbent.

*Lagrangian multipliers*: each visit to a region is refunded its multiplier, and all multipliers are paid once. This
does not change the cost of an order, but that of a route that repeats some regions and omits others.
*Dynamic ng-set augmentation*: if the cheapest route has a cycle, its region is added to the ng-sets on the cycle.
*Reduced-cost fixing*: an arc is fixed to 0 once every route through it costs as much as the incumbent. It remains fixed
for all later multipliers and ng-sets.
*Bidirectional labelling*: forward labels are pruned by completion bounds from backward labels and vice versa, with
ever larger ng-sets, until no route costs less than the incumbent, or the cheapest one is an order.
"""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np

from learnroute._core import Labels, LayeredNetwork
from learnroute.model.certificates import NgRelaxation, NgRoutes, Rows
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.ng_route.network import free_arcs, layered_network, rounding_of
from learnroute.solvers.exact.ng_route.ng_sets import MaskArray, augment, augmentations, nearest_ng_sets, relaxation
from learnroute.solvers.exact.subgradient import new_ascent
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.params import AscentParams, SolverParams

LAYERS = 12  # maximum number of labels in all layers together, relative to the labels allowed in one
FIRST_SPEED = 3e8  # units of work per second, until it is measured


class TooManyLabelsError(Exception):
    """Labels would have exceeded the memory limit."""


class OutOfTimeError(Exception):
    """Labelling would have taken longer than the remaining time."""


class NgRouteProof:
    """A proof in progress; `incumbent` and `bound` (without the constant) are valid at any time.

    `stuck` means that the cheapest route is an order whose cost is less than its value: with factors, or if orders are
    cycles, ng-routes only bound the value from below.
    """

    def __init__(self, incumbent: Incumbent, rng: np.random.Generator, budget: Budget, params: SolverParams) -> None:
        self.incumbent, self.rng, self.budget = incumbent, rng, budget
        self.all_params, self.params = params, params.proof.ng_route
        self.size = incumbent.objective.size
        self.bound, self.proved, self.overflowed, self.stuck, self.late = -np.inf, False, False, False, False
        self.network = layered_network(incumbent.path, incumbent.value)
        self.multipliers = self.q_multipliers = np.zeros(self.size)
        self.first_sets = nearest_ng_sets(incumbent.objective.travel.matrix, self.params.nearest)
        self.ng_sets = self.first_sets.copy()
        self.labels, self.room, self.gap_tried = 0, self.params.room, np.inf
        self.crowded, self.reached = False, 0  # whether ng-sets grew too much at once; labels after the last round
        self.speed, self.work_granted = FIRST_SPEED, 0
        self.relaxation = (self.multipliers, self.first_sets)  # the best one, for the certificate
        self.stages: list[tuple[FloatArray, MaskArray]] = []  # earlier ones, which fixed arcs
        self.gap_staged = np.inf
        self.checked: NgRoutes | None = None
        # the bidirectional labelling that completed the proof: multipliers, ng-sets, and cycles in the order broken
        self.bidirectional: tuple[FloatArray, MaskArray, list[IntArray]] | None = None

    def run(self) -> None:
        """Raise the bound until the proof is complete, or the budget or the effort is exhausted."""
        self._ascend_q_routes()
        if self._is_over():
            return
        self._fix_by_q_routes()
        try:
            self._begin()
            for turn in range(self.params.rounds):
                if self._is_over():
                    break
                if turn and turn % self.params.improve_every == 0:
                    self._improve_incumbent()
                self._round()
                self.budget.progress("proof", 1.0 if self.proved else 1 - 1 / (turn + 2))
        except TooManyLabelsError:
            self.overflowed = True
        except OutOfTimeError:
            self.late = True

    def _round(self) -> None:
        """Raise the bound with larger ng-sets, label in both directions, fix arcs, and allow for more labels."""
        self._ascend_and_augment()
        if not self._is_over() and self._may_label_both_ways():
            self._label_both_ways()
        if not self._is_over():
            self._check()
        if not self._is_over():
            self._fix_by_both_directions()
        if self.crowded or self.reached > self.params.room_used * self.room:
            self.room = int(self.params.room_growth * self.room)
        if self.room > self.params.most_rooms * self.params.labels:
            raise TooManyLabelsError

    def _begin(self) -> None:
        """Find multipliers for the first ng-sets, on ever fewer arcs."""
        self._ascend(self.params.first_ascent)
        for _ in range(self.params.turns):
            before = self.incumbent.value - self.bound
            if not self._is_over():
                self._settle(*self._cheapest(self.multipliers, self.first_sets, self.first_sets), self.multipliers)
            if not self._is_over():
                self._ascend(self.params.next_ascent)
            if self._is_over() or self.incumbent.value - self.bound > self.params.turn_gain * before:
                break
        self.relaxation = (self.multipliers.copy(), self.first_sets)
        if not self._is_over():
            self._check()
        self.room = max(self.params.room, int(self.params.room_factor * self.labels))

    def certificate(self) -> NgRoutes:
        """Return the best bound that follows from a few multipliers and ng-sets only."""
        if not self.late and not self.budget.exhausted:
            with suppress(OutOfTimeError):
                if not self.proved or not self._check_both_ways():
                    self._check()
        plain = self._q_route_certificate()
        return plain if self.checked is None else max(plain, self.checked, key=lambda known: known.bound)

    def _check(self) -> None:
        """Store the bound that the last multipliers and ng-sets prove after earlier stages, if it can be checked."""
        kept, self.network = self.network, self._all_arcs()
        stages = [*self.stages, self.relaxation]
        try:
            for multipliers, ng_sets in stages:
                cost, route = self._cheapest(multipliers, ng_sets, stages[0][1])
                if self.labels > self.params.checked_labels:
                    return
        except TooManyLabelsError:
            return
        finally:
            self.network = kept
        multipliers = self.relaxation[0]
        margin = rounding_of(self.network, multipliers)
        bound = cost + float(multipliers.sum()) if len(route) else self.incumbent.goal + margin
        gap = self.incumbent.value - bound
        bound = self.incumbent.with_constant(bound - 2 * margin)
        if self.checked is None or bound > self.checked.bound:
            self.checked = NgRoutes(bound, tuple(relaxation(*stage) for stage in stages))
        if gap < self.params.stage_gap * self.gap_staged:
            self.gap_staged = gap
            self.stages.append(self.relaxation)

    def _check_both_ways(self) -> bool:
        """Store a few turns of bidirectional labelling that prove the incumbent optimal, if they can be checked."""
        kept, self.network = self.network, self._all_arcs()
        multipliers, ng_sets, routes = self.bidirectional or (*self.relaxation, [])
        stages = [*self.stages, (multipliers, self.first_sets)]
        self.work_granted = self.params.turn_work
        try:
            for stage in stages:
                behind = self._label(stage[0], stages[0][1], None, forward=False)
                labels = self._label(*stage, behind, forward=True)
            turns = self._turns(multipliers, ng_sets, routes, labels)
        except TooManyLabelsError:
            return False
        finally:
            self.network, self.work_granted = kept, 0
        bound = self.incumbent.with_constant(self.incumbent.goal - rounding_of(self.network, multipliers))
        self.checked = NgRoutes(bound, tuple(relaxation(*stage) for stage in stages), turns)
        return True

    def _turns(
        self, multipliers: FloatArray, ng_sets: MaskArray, routes: list[IntArray], other: Labels
    ) -> tuple[Rows, ...]:
        """Return the additions to ng-sets by turn, until no label remains; there are as few turns as labels allow.

        Cycles of the given routes are broken first, then cycles of the cheapest remaining routes.
        """
        most = max(self.params.turn_labels, 2 * len(other))
        turns: list[Rows] = []
        before, forward, ahead = self.first_sets, False, len(routes) + 1
        while len(other):
            if len(turns) == self.params.rounds:
                raise TooManyLabelsError
            grown = ng_sets.copy()
            for route in routes[: ahead - 1]:
                augment(grown, route, self.params.spread)
            try:
                labels = self._label(multipliers, grown, other, forward, most)
            except TooManyLabelsError:
                if ahead > 1:
                    ahead //= 2
                elif most < self.params.checked_labels:
                    most = 2 * most
                else:
                    raise
                continue
            turns.append(augmentations(before, grown))
            ng_sets, before, routes, ahead = grown, grown, routes[ahead - 1 :], 2 * ahead
            other, forward = labels, not forward
            if not routes and len(other):
                _, route = labels.cheapest_route()
                routes = [route[::-1] if forward else route]
        return tuple(turns)

    def _all_arcs(self) -> LayeredNetwork:
        free = free_arcs(self.incumbent.path, self.incumbent.value)
        return LayeredNetwork(self.network.arc_costs, self.network.node_costs, free)

    def _limit(self, multipliers: FloatArray) -> float:
        """Return the cost from which a route is certainly no better than the incumbent."""
        return self.incumbent.goal - float(multipliers.sum()) + rounding_of(self.network, multipliers)

    def _is_over(self) -> bool:
        return self.proved or self.stuck or self.budget.exhausted

    def _ascend_q_routes(self) -> None:
        """Find multipliers for q-routes."""
        params = self.params.q_route_ascent
        ascent = new_ascent(self.multipliers, self.incumbent.value, params)
        steps_per_call = max(1, self.params.arcs_per_call // self.size**3)
        for done in range(0, params.steps, steps_per_call):
            self.network.ascend(ascent, min(steps_per_call, params.steps - done))
            if ascent.ended or self.budget.exhausted:
                break
        self.multipliers = self.q_multipliers = ascent.best
        self.bound = min(self.incumbent.value, ascent.bound - rounding_of(self.network, ascent.best))

    def _q_route_certificate(self) -> NgRoutes:
        """Return the bound that the multipliers of q-routes prove. This is quick and ignores the time limit."""
        multipliers = self.q_multipliers
        costs = self._all_arcs().q_route_costs(multipliers)
        bound = float(costs[-1].min()) + float(multipliers.sum()) - 2 * rounding_of(self.network, multipliers)
        alone = NgRelaxation(multipliers.copy(), tuple((v,) for v in range(self.size)))
        return NgRoutes(self.incumbent.with_constant(bound), (alone,))

    def _fix_by_q_routes(self) -> None:
        self.network.fix_by_q_routes(self.multipliers, self._limit(self.multipliers))

    def _fix_by_both_directions(self) -> None:
        """Fix the arcs that the ng-sets of both directions together exclude."""
        with suppress(TooManyLabelsError):
            self._settle(*self._cheapest(self.multipliers, self.ng_sets, self.ng_sets), self.multipliers)

    def _improve_incumbent(self) -> None:
        objective = self.incumbent.objective
        found = iterated_local_search(
            objective, self.rng, self.budget, self.params.improve_perturbations * self.size, 1, self.incumbent.order,
            self.all_params,
        )  # fmt: skip
        self.incumbent.offer(objective.repair(found))

    def _settle(self, cost: float, route: IntArray, multipliers: FloatArray) -> None:
        """Update bound and incumbent from the cheapest route at some multipliers (empty if none is below the limit)."""
        if len(route):
            bound = cost + float(multipliers.sum()) - rounding_of(self.network, multipliers)
            self.bound = max(self.bound, min(self.incumbent.value, bound))
            if len(set(route.tolist())) == len(route):
                self.incumbent.offer(route)
                self.proved = bound >= self.incumbent.goal
                self.stuck = not self.proved and not self.incumbent.tight  # no route can raise the bound further
        else:
            self.proved = True
        if self.proved:
            self.bound = self.incumbent.value

    def _label(
        self, multipliers: FloatArray, ng_sets: MaskArray, other: Labels | None, forward: bool, most: int | None = None
    ) -> Labels:
        """Create the labels of one direction (at most `most` in total), and fix the arcs that none of them uses.

        Raise an exception if that needs too much memory or, at the speed measured so far, more than the remaining time.
        """
        limit = self._limit(multipliers)
        most = self.params.labels if most is None else most // LAYERS
        while True:
            started = time.monotonic()
            allowed = int(min(self.speed * max(self.budget.deadline - started, 0.0), 1e17))
            allowed = allowed if self.budget.exhausted else max(allowed, self.work_granted)
            labels = self.network.label(multipliers, ng_sets, other, forward, limit, most, LAYERS * most, allowed)
            took = time.monotonic() - started
            if took > 0.01:
                self.speed = labels.work / took
            if labels.full:
                raise TooManyLabelsError
            if not labels.late:
                self.labels = len(labels)
                return labels
            if self.speed * (self.budget.deadline - time.monotonic()) < 2 * allowed:
                raise OutOfTimeError

    def _cheapest(
        self, multipliers: FloatArray, ng_sets: MaskArray, backward_sets: MaskArray | None
    ) -> tuple[float, IntArray]:
        """Return the cost of the cheapest route, and the route; labels with `backward_sets`, if given, prune others."""
        other = None
        if backward_sets is not None:
            other = self._label(multipliers, backward_sets, None, forward=False)
        cost, route = self._label(multipliers, ng_sets, other, forward=True).cheapest_route()
        return cost, route

    def _ascend(self, params: AscentParams) -> None:
        """Improve the multipliers for the first ng-sets."""
        ascent = new_ascent(self.multipliers, self.incumbent.value, params)
        for _ in range(params.steps):
            ascent.target = self.incumbent.value
            now = ascent.multipliers
            cost, route = self._cheapest(now, self.first_sets, None)
            self._settle(cost, route, now)
            if self._is_over() or not ascent.advance(self._subgradient(route), cost + float(now.sum())):
                break
        self.multipliers = ascent.best

    def _subgradient(self, route: IntArray) -> FloatArray:
        return np.ones(self.size) - np.bincount(route, minlength=self.size)

    def _ascend_and_augment(self) -> None:
        """Improve the multipliers while ng-sets grow along cycles of the cheapest route."""
        params, steps = self.params, self.params.round_steps
        fast, slow = params.round_pace
        rule = AscentParams(steps, fast, params.first_ascent.momentum, patience=steps, slowest=0.0)
        ascent = new_ascent(self.multipliers, self.incumbent.value, rule)
        before, growing, self.crowded = self.ng_sets, True, False
        for step in range(steps):
            ascent.target = self.incumbent.value
            now = ascent.multipliers
            try:
                cost, route = self._cheapest(now, self.ng_sets, self.first_sets)
            except TooManyLabelsError:
                if self.ng_sets is before:
                    raise
                self.ng_sets, growing, self.crowded = before, False, True
                continue
            self._settle(cost, route, now)
            if self._is_over():
                break
            ascent.set_pace(fast * (slow / fast) ** (step / steps))
            ascent.advance(self._subgradient(route), cost + float(now.sum()))
            if self.labels > params.overgrown * self.room:
                self.ng_sets, growing, self.crowded = before, False, True  # too much at once
            elif growing and step % params.augment_every == params.augment_every - 1 and self.labels < self.room:
                before = self.ng_sets.copy()
                augment(self.ng_sets, route, params.spread if 2 * self.labels < self.room else params.narrow_spread)
                ascent.forget_bound()
        self.multipliers, self.reached = ascent.best, self.labels
        self.relaxation = (self.multipliers, self.ng_sets.copy())

    def _may_label_both_ways(self) -> bool:
        """Whether arcs or regions are few enough for bidirectional labelling, and the gap decreased since last time."""
        params, gap = self.params, self.incumbent.value - self.bound
        crowded = self.size > params.bidirectional_regions and self.network.free_share > params.bidirectional_arcs
        if gap >= params.bidirectional_gap * self.gap_tried or crowded:
            return False
        self.gap_tried = gap
        return True

    def _label_both_ways(self) -> None:
        """Label forward and backward in turn, each pruned by the one before, while ng-sets grow."""
        multipliers, ng_sets, other = self.multipliers, self.ng_sets.copy(), None
        forward, first, start = True, True, self.ng_sets
        routes: list[IntArray] = []
        while not self._is_over():
            try:
                labels = self._label(multipliers, self.first_sets if first else ng_sets, other, forward)
            except TooManyLabelsError:
                return
            cost, route = labels.cheapest_route()
            route = route if forward else route[::-1]
            self._settle(cost, route, multipliers)
            if self.proved:
                self.relaxation, self.bidirectional = (multipliers, ng_sets), (multipliers, start, routes)
            if self.labels > self.params.bidirectional_growth * self.room or len(set(route.tolist())) == len(route):
                return  # too many labels, or no cycle to break, so that the cheapest route would stay the same
            augment(ng_sets, route, self.params.spread)
            routes.append(route)
            other, forward, first = labels, not forward, False
