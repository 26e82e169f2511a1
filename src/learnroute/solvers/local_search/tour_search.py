"""One order under iterated local search: its tour, candidate lists and tables; perturbations; tour merging."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.kd_tree import ground_of
from learnroute.solvers.local_search import k_opt, score_sums, tour
from learnroute.solvers.params import KOptParams

if TYPE_CHECKING:
    from learnroute.model.pairs import Pairs

MOST_LOOKS = 10_000  # at each vertex, during one descent: more than moves that gain ever need


class TourSearch:
    """A tour, improved by k-opt moves and perturbations in rounds until the caller has had enough.

    Regions are renumbered along the first order: neighbours on the way are then neighbours in memory. `near` holds the
    candidate list of each region, in the objective's numbers; where travel differs by direction, `near` of the way out
    and below it of the way in. `alpha` holds lists by α-nearness, if there are any; they are used first.
    """

    def __init__(
        self,
        objective: Objective,
        order: IntArray,
        rate: float | None,
        near: IntArray,
        params: KOptParams,
        alpha: IntArray | None = None,
    ) -> None:
        size = objective.size
        order = np.ascontiguousarray(order)
        self.objective, self.names, self.params = objective, order, params
        self._number = np.empty(size, dtype=np.int64)  # of a region: the inverse of `names`
        self._number[order] = np.arange(size)
        directed, cyclic = not objective.symmetric, objective.ends.cyclic
        self._vertices = size * (1 + directed)  # without `start` and `end`
        self.counts = counts = np.zeros(32, dtype=np.int64)
        self.numbers = numbers = np.zeros(48)
        self.move = np.zeros((10, 2 * tour.DEEPEST + 4), dtype=np.int64)
        vertices = self._vertices + (0 if cyclic else 2)
        counts[tour.SIZE], counts[tour.REGIONS] = vertices, size
        self.route = np.zeros((7 if objective.pairs is not None else 5, vertices), dtype=np.int64)
        self.near, self.apart, self.sums = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0)), np.zeros((8, 2))
        self.pairs = np.zeros((0, 0))
        self.journal = np.zeros(max(params.journal, 8 * min(vertices, params.longest)), dtype=np.int64)
        ends = np.array([objective.begin[order], objective.finish[order]])
        scores = (
            (objective.scores - objective.scores.min())[order] if objective.factors is None else objective.scores[order]
        )
        heaviest = float(objective.weights[-1]) if objective.factors is None else 1.0
        only_last = objective.factors is None and rate == 0 and objective.pairs is None
        if only_last:
            ends[1] += heaviest * scores
        self._set_ways(ends)
        scored = objective.pairs is not None or (not only_last and heaviest > 0 and bool(scores.any()))
        goals = ends[1] + (0.0 if only_last else heaviest * scores)
        self._candidates = [
            (*self._sorted_candidates(lists, ends, goals), kind.scored_breadth if scored else kind.breadth)
            for lists, kind in ((alpha, params.alpha), (near, params))
            if lists is not None
        ]
        self.use_candidates(-1)
        typical = float(self.apart[: self._vertices, 0].mean())
        numbers[tour.CREDIT], numbers[tour.MOST] = params.credit * typical, params.most_worse * typical
        if typical == 0 and objective.pairs is not None:  # travel costs nothing: the error alone counts
            numbers[tour.CREDIT] = numbers[tour.MOST] = np.inf
        positive = self.apart[np.isfinite(self.apart) & (self.apart > 0)]
        numbers[tour.LEAST] = params.least_gain * float(np.median(positive)) if len(positive) else 1e-290
        self._set_scores(scores, heaviest, rate, scored)
        if scored:  # α-values know of travel alone: they come second, or not at all where scores reach far
            self._candidates.reverse()
            if counts[tour.REACH] > params.alpha.longest_reach * vertices:
                del self._candidates[1:]
        self.use_candidates(0)
        counts[tour.ANCHORED] = scored
        counts[tour.LONGEST] = min(vertices, params.longest)
        counts[tour.BRIDGE] = min(vertices, params.longest_bridge)
        counts[tour.FAR_BRIDGE] = min(vertices, params.far_bridge)
        counts[tour.END_POSITIONS] = params.end_positions * (1 + directed)
        counts[tour.ENDS] = 0 if cyclic else 2
        counts[tour.WALK], counts[tour.SEGMENT] = params.walk, params.segment
        self.route[tour.FIXED] = -1
        if directed:
            self.route[tour.FIXED, : 2 * size] = np.roll(np.arange(2 * size), size)
        if not cyclic:
            self.route[tour.FIXED, -2:] = vertices - 1, vertices - 2
        # perturbations and looks in a second: the first guess, low where each may take long
        self._pace, self._looks = (1000.0, 200_000.0) if objective.pairs is None else (1e6 / size**2, 1e7 / size**2)
        self.set_order(order)

    @property
    def state(self) -> tour.Tour:
        """All tables, as kernels take them."""
        return tour.Tour(self.route, self.near, self.apart, self.ways, self.sums, self.numbers, self.counts, self.move,
                         self.journal, self.pairs)  # fmt: skip

    def twin(self) -> TourSearch:
        """Return another search of the same problem, for another thread; the two share what is only read."""
        other = copy(self)
        for name in ("counts", "numbers", "move", "route", "sums", "journal"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def without_scores(self) -> TourSearch:
        """Return a twin that sees travel alone: its moves may turn any segment."""
        other = self.twin()
        other.counts[tour.SCORED] = other.counts[tour.ANCHORED] = 0
        return other

    def _set_ways(self, ends: FloatArray) -> None:
        """Lay out what edges cost: places and what beginning and ending there costs, or a matrix with two more rows."""
        objective, order, counts = self.objective, self.names, self.counts
        size = objective.size
        points = objective.points
        if points is not None and (size > self.params.matrix_regions or "travel" not in objective.__dict__):
            ground = ground_of(points)
            self.ways = np.empty((size, 5))
            self.ways[:, :3], self.ways[:, 3:] = ground.places[order], ends.T
            self.numbers[tour.UNIT], globe = ground.metric
            counts[tour.KIND] = tour.GLOBE if globe else tour.PLANE
            return
        self.ways = np.empty((size + 2, size + 2))
        self.ways[size:], self.ways[:, size:] = np.inf, np.inf
        k_opt.renumber(objective.travel, order, self.ways)
        self.ways[size, :size], self.ways[:size, size] = ends
        counts[tour.KIND] = tour.MATRIX if objective.symmetric else tour.DIRECTED
        if objective.symmetric:
            self.ways[:size, size], self.ways[size + 1, :size], self.ways[:size, size + 1] = ends[0], ends[1], ends[1]
            self.ways[size, size + 1] = self.ways[size + 1, size] = 0.0

    @property
    def kinds(self) -> int:
        """How many kinds of candidate lists there are."""
        return len(self._candidates)

    def nearest_candidates(self, count: int) -> IntArray:
        """Return the nearest entries of the longest candidate lists."""
        widest = max((near for near, _, _ in self._candidates), key=lambda near: int(near.shape[1]))
        return np.ascontiguousarray(widest[:, :count])

    def use_candidates(self, kind: int) -> None:
        """Take the candidate lists of one kind."""
        self.near, self.apart, breadth = self._candidates[kind]
        self._set_breadth(breadth)

    def _sorted_candidates(self, near: IntArray, ends: FloatArray, goals: FloatArray) -> tuple[IntArray, FloatArray]:
        """Renumber candidate lists, add those of `start` and `end` (endpoint candidates), and sort all by distance."""
        size, order, vertices = self.objective.size, self.names, int(self.counts[tour.SIZE])
        number, few = self._number, near.shape[1]
        lists = np.empty((vertices, few), dtype=np.int64)
        directed = self._vertices > size
        if directed:
            lists[:size] = size + number[near[size:][order]]
            lists[size : 2 * size] = number[near[:size][order]]
        else:
            lists[:size] = number[near[order]]
        if vertices > self._vertices:
            for side, costs in enumerate((ends[0], goals)):
                best = np.argsort(costs, kind="stable")[:few]
                lists[self._vertices + side] = best + (size if directed and side == 1 else 0)
        return self._by_distance(lists)

    def _by_distance(self, lists: IntArray) -> tuple[IntArray, FloatArray]:
        """Return lists sorted by distance, and the distances."""
        apart = self._distances(lists)
        rank = np.argsort(apart, axis=1, kind="stable")
        near = np.ascontiguousarray(np.take_along_axis(lists, rank, axis=1))
        return near, np.ascontiguousarray(np.take_along_axis(apart, rank, axis=1))

    def _distances(self, lists: IntArray) -> FloatArray:
        found = np.empty(lists.shape)
        k_opt.distances(self.state, lists, found)
        return found

    def _set_scores(self, scores: FloatArray, heaviest: float, rate: float | None, scored: bool) -> None:
        """Lay out the tables that price scores."""
        objective, counts, numbers, order = self.objective, self.counts, self.numbers, self.names
        size, vertices = objective.size, int(counts[tour.SIZE])
        directed = self._vertices > size
        if not scored:
            return
        if objective.pairs is not None:
            self._set_pairs(objective.pairs)
            return
        self.sums = np.zeros((8, vertices + 2))
        factors = np.full(size, rate or 0.0) if objective.factors is None else objective.factors[order]
        general = objective.factors is None and rate is None
        uniform = objective.factors is None and not directed
        counts[tour.SCORED] = tour.GENERAL if general else tour.GEOMETRIC if uniform else tour.FACTORED
        numbers[tour.HEAVIEST] = heaviest
        slowest = 1.0 if general else float(factors.max())
        if directed and slowest < 1:
            slowest = slowest**0.5  # two positions a region
        each = 1 + directed
        with np.errstate(under="ignore"):
            self.sums[tour.POWER] = slowest ** np.arange(vertices + 2, dtype=np.float64)
        self.sums[tour.SCORE, :size] = scores
        self.sums[tour.FACTOR, :vertices] = 1.0
        self.sums[tour.FACTOR, :size] = factors
        shift = 0 if vertices == self._vertices else 1
        self.sums[tour.WEIGHT, shift : shift + self._vertices : each] = objective.weights
        if objective.factors is None:
            numbers[tour.FLOOR] = float(objective.weights @ np.sort(scores)[::-1])
        self._set_reach(heaviest * float(scores.max()), slowest)

    def _set_pairs(self, pairs: Pairs) -> None:
        """Lay out the tables that price pair terms."""
        counts, numbers, order = self.counts, self.numbers, self.names
        size, vertices, given = self.objective.size, int(counts[tour.SIZE]), pairs.dissimilarities
        tables = [table[:, order] for table in pairs.updates.tables]
        table = np.concatenate([given.matrix[np.ix_(order, order)].T, *tables, [given.initial[order]]])
        self.pairs = np.ascontiguousarray(table)
        self.sums = np.zeros((12, vertices + 2))
        self.sums[tour.SCORE, :size] = given.scores[order]
        self.sums[tour.SUMMED, 0] = pairs.total
        counts[tour.SCORED], numbers[tour.COUNTED] = tour.PAIRED, pairs.count
        retention, plasticity, coupling, second, _ = (np.abs(table) for table in tables)
        slowest = min(1.0, float(max(retention.max(), second.max())))
        if self._vertices > size:
            slowest = slowest**0.5  # two positions a region
        with np.errstate(under="ignore"):
            self.sums[tour.POWER] = slowest ** np.arange(vertices + 2, dtype=np.float64)
        linear = self.objective.linear
        numbers[tour.FLOOR] = linear.constant + float(linear.weights @ np.sort(linear.scores)[::-1])
        most = float(plasticity.max() * given.scores.max())
        self._set_reach(most + pairs.count * float(coupling.max()) * float(given.largest().max()), slowest)

    def _set_reach(self, most: float, slowest: float) -> None:
        """Say how far from the end scores count, if one counts so much at most, and less by a factor a position."""
        counts, numbers = self.counts, self.numbers
        vertices = int(counts[tour.SIZE])
        numbers[tour.SWING] = most * min(vertices, 1 / (1 - slowest) if slowest < 1 else vertices)
        numbers[tour.LEAST] = max(numbers[tour.LEAST], 1e-15 * numbers[tour.SWING])
        reach = float(vertices)
        if slowest == 0:
            reach = 1.0
        elif slowest < 1:
            reach = float(np.log(0.1 * numbers[tour.LEAST] / numbers[tour.SWING]) / np.log(slowest)) + 2
        counts[tour.REACH] = int(min(vertices, max(1.0, np.ceil(reach))))

    def _set_breadth(self, breadth: tuple[int, ...]) -> None:
        self.counts[tour.DEPTH] = len(breadth) + 1
        self.counts[tour.BREADTH + 1 : tour.BREADTH + 1 + len(breadth)] = np.minimum(breadth, self.near.shape[1])

    def set_order(self, order: IntArray) -> None:
        """Start from an order (in the objective's numbers)."""
        stops = self._number[order]
        if self._vertices > len(order):
            stops = np.column_stack([stops, stops + len(order)]).ravel()
        vertices = int(self.counts[tour.SIZE])
        if vertices > self._vertices:
            stops = np.concatenate([[vertices - 2], stops, [vertices - 1]])
        self.set_tour(stops)

    def tour(self) -> IntArray:
        """Return the current order as a cycle of vertices."""
        stops: IntArray = self.route[tour.ORDER].copy()
        return stops

    def set_tour(self, stops: IntArray) -> None:
        """Start from a cycle of vertices."""
        self.route[tour.ORDER] = stops
        self.route[tour.POSITION, stops] = np.arange(len(stops))
        self.route[tour.QUEUED] = 0
        self.counts[tour.QUEUE_FIRST] = self.counts[tour.QUEUE_SIZE] = self.counts[tour.JOURNAL_SIZE] = 0
        self._mend()

    def _mend(self) -> None:
        """Add up running sums afresh, and how much less the score part could be: a bound on what moves can gain."""
        if not self.counts[tour.SCORED]:
            return
        if self.objective.pairs is None:
            self.sums[tour.FORWARD], self.sums[tour.BACKWARD] = -1.0, -1.0
            self.sums[tour.FORWARD, 0] = self.sums[tour.BACKWARD, len(self.route[0])] = 0.0
        score_sums.mend_sums(self.state, 0, len(self.route[0]))
        self.numbers[tour.SPARE] = self._spare()

    def _spare(self) -> float:
        if self.objective.pairs is not None:
            return max(0.0, float(self.numbers[tour.PRICE] - self.numbers[tour.FLOOR]))
        if self.objective.factors is not None:
            return np.inf
        scores = self.objective.scores
        weights = self.objective.weights
        now = float(weights @ scores[self.order()])
        return max(0.0, now - float(weights @ np.sort(scores)[::-1]))

    def order(self) -> IntArray:
        """Return the current order in the objective's numbers."""
        stops, size = self.route[tour.ORDER], self.objective.size
        if len(stops) > self._vertices:
            stops = np.roll(stops, -int(self.route[tour.POSITION, len(stops) - 2]))
            if stops[1] == len(stops) - 1:
                stops = np.roll(stops[::-1], 1)
            stops = stops[1:-1]
        elif self._vertices > size:
            at = int(self.route[tour.POSITION, 0])
            if stops[(at + 1) % len(stops)] != size:
                stops = stops[::-1]
        found: IntArray = self.names[stops[stops < size]]
        return found

    def value(self, order: IntArray) -> float:
        """Return the value of an order, its constant left out; of a cycle that may end anywhere, its travel."""
        objective = self.objective
        if objective.pairs is not None:
            return objective(order)
        if objective.ends.cyclic and not self.counts[tour.SCORED]:
            return float(objective.legs(order).sum())
        weighted = objective.weights_of(order) * objective.scores[order]
        return float(objective.legs(order).sum()) + float(weighted.sum())

    def descend(self, budget: Budget) -> None:
        """Improve until no move is left that helps, or the budget is exhausted."""
        vertices = len(self.route[0])
        self.route[tour.QUEUE], self.route[tour.QUEUED] = self.route[tour.ORDER], 1
        self.counts[tour.QUEUE_FIRST], self.counts[tour.QUEUE_SIZE] = 0, vertices
        looks, pace, enough = 0, self._looks, MOST_LOOKS * vertices
        while self.counts[tour.QUEUE_SIZE] and looks < enough and not (looks and budget.exhausted):  # at least a moment
            started = time.monotonic()
            most = min(int(max(10, pace * self.params.pause)), enough - looks)
            self._descend(most)
            looks += most
            pace = min(2 * pace, most / max(time.monotonic() - started, 1e-6))
            budget.progress("descent", min(0.99, looks / (6 * vertices)))
        self._clear()

    def _descend(self, most: int) -> None:
        k_opt.iterate(self.state, most, np.empty((0, 3)), np.empty((0, 4), dtype=np.int64))

    def _clear(self) -> None:
        self.route[tour.QUEUED] = 0
        self.counts[tour.QUEUE_SIZE] = 0

    def perturb(
        self,
        rng: np.random.Generator,
        perturbations: int,
        temperature: float,
        budget: Budget,
        among: IntArray | None = None,
    ) -> int:
        """Perturb and improve, so many times, while the temperature falls to nothing; return how many were done.

        It is in median costs of an edge of the tour, and falls in time for the end of the budget. Perturbations begin
        `among` these vertices, or anywhere.
        """
        params, done = self.params, 0
        vertices = len(self.route[0])
        began, left = time.monotonic(), budget.seconds_left
        legs = self.objective.legs(self.order())
        scale = temperature * float(np.median(legs) or np.mean(legs))
        far = self.far_legs(legs)
        self._mend()
        while done < perturbations and not budget.exhausted:
            count = int(min(perturbations - done, max(1, self._pace * params.pause)))
            numbers = done + np.arange(count)
            draws = rng.random((count, 8))
            chosen = np.full((count, 4), -1)
            if far is not None:
                rare = draws[:, 3] < params.far_share
                chosen[rare] = self._far_cuts(*far, draws[rare, 4:])
            hot = 1 - numbers / (params.cooling * perturbations)
            if left is not None:
                hot = np.minimum(hot, 1 - (time.monotonic() - began) / (params.cooling * left))
            draws[:, 2] = -np.log1p(-draws[:, 2]) * scale * np.maximum(hot, 0.0)
            if among is not None:
                draws[:, 0] = (among[(draws[:, 0] * len(among)).astype(np.int64)] + 0.5) / vertices
            elif vertices > params.sweep_regions:  # sweep along the first order, so that what is needed is in the cache
                within = draws[:, 0] * params.sweep_width / vertices
                draws[:, 0] = (within + numbers * (params.sweeps / perturbations)) % 1.0
            started = time.monotonic()
            k_opt.iterate(self.state, 0, draws, chosen)
            # some take no time: a few of these say little of the next
            self._pace = min(2 * self._pace, count / max(time.monotonic() - started, 1e-6))
            done += count
            budget.progress("search", done / perturbations)
        return done

    def tail(self, order: IntArray) -> IntArray | None:
        """Return the vertices that an order ends with, as many as count; None if they are very few, or very many."""
        if not self.counts[tour.SCORED] or self.objective.pairs is not None:
            return None
        params, weights = self.params, self.objective.weights_of(order)
        last = order[weights > params.tail_weight * weights[-1]]
        if not params.end_positions < len(last) < params.longest_tail * len(order):
            return None
        found: IntArray = self._number[last]
        return found

    def far_legs(self, legs: FloatArray) -> tuple[FloatArray, IntArray] | None:
        """Return cumulated legs of the current order, and the vertices that they leave.

        None unless few legs make up much of the travel, as those between clusters do.
        """
        size, params = self.objective.size, self.params
        mean = float(np.mean(legs))
        if self._vertices != size or not mean > params.far_ratio * float(np.median(legs)):
            return None
        stops = self._number[self.order()]
        at = int(self.route[tour.POSITION, stops[0]])
        forward = self.route[tour.ORDER, (at + 1) % len(self.route[0])] == stops[1]
        left = stops if forward else np.roll(stops, -1)
        return np.cumsum(np.append(0.0, legs)), left[: len(legs)]

    def _far_cuts(self, sums: FloatArray, left: IntArray, draws: FloatArray) -> IntArray:
        """Return the vertices behind which to cut: one leg by its length, and three of those around it."""
        most, half = len(left) - 1, self.params.far_bridge // 2
        first = np.minimum(np.searchsorted(sums[1:], draws[:, 0] * sums[-1], side="right"), most)
        low, high = sums[np.maximum(first - half, 0)], sums[np.minimum(first + half, most) + 1]
        others = low[:, None] + draws[:, 1:] * (high - low)[:, None]
        found = np.minimum(np.searchsorted(sums[1:], others, side="right"), most)
        cuts: IntArray = left[np.column_stack([first, found])]
        return cuts

    def merged(self, one: IntArray, two: IntArray, budget: Budget) -> IntArray:
        """Return what moves make of one order that may add edges of another only (tour merging)."""
        near, apart, breadth = self.near, self.apart, self.counts[tour.DEPTH :].copy()
        self.set_order(two)
        stops = self.route[tour.ORDER]
        lists = np.empty((len(stops), 2), dtype=np.int64)
        lists[stops, 0], lists[stops, 1] = np.roll(stops, -1), np.roll(stops, 1)
        self.near, self.apart = self._by_distance(lists)
        self._set_breadth((2,) * self.params.merging_depth)
        self.counts[tour.ENDS], self.counts[tour.MERGING] = 0, 1
        self.set_order(one)
        self.descend(replace(budget, progress=Budget().progress))
        self.near, self.apart = near, apart
        self.counts[tour.DEPTH :] = breadth
        return self.order()
