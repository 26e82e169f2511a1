"""One order under iterated local search: its tour in the compiled core, candidates, perturbations, tour merging."""

from __future__ import annotations

import time
from copy import copy

import numpy as np

from learnroute import _core
from learnroute.model.linear import Factored, Linear
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.core_travel import core_travel_of
from learnroute.solvers.params import KOptParams

MOST_LOOKS = 10_000  # per vertex and descent, more than improving moves ever need


class TourSearch:
    """A tour that k-opt moves and perturbations improve in rounds.

    Every order is a cycle of vertices with symmetric costs (`cpp/layout.h`), held by `core`. Regions are renumbered
    along the first order, so that neighbours in the tour are neighbours in memory. `near` has the candidate list of
    each region, in the numbering of the objective; for asymmetric travel, outgoing lists above incoming ones. `alpha`
    has lists by α-nearness, if any; they are used first.
    """

    def __init__(
        self,
        objective: Linear,
        order: IntArray,
        near: IntArray,
        params: KOptParams,
        alpha: IntArray | None = None,
    ) -> None:
        size = objective.size
        order = np.ascontiguousarray(order)
        self.objective, self.names, self.params = objective, order, params
        self._number = np.empty(size, dtype=np.int64)  # of a region: the inverse of `names`
        self._number[order] = np.arange(size)
        self._directed = not objective.travel.symmetric
        self.ends = np.array([objective.begin[order], objective.finish[order]])
        scores = objective.scores[order]
        if not isinstance(objective, Factored):  # a constant changes nothing
            scores = scores - objective.scores.min()
        heaviest = float(objective.weights[-1])
        only_last = objective.rate == 0
        if only_last:  # that score is in the edge to `end`
            self.ends[1] += heaviest * scores
        self.costs = self._edge_costs()
        self.vertices = self.costs.vertices
        scored = not only_last and heaviest > 0 and bool(scores.any())
        goals = self.ends[1] + (0.0 if only_last else heaviest * scores)
        self._candidates = [
            (self._endpoint_candidates(lists, goals), kind.scored_breadth if scored else kind.breadth)
            for lists, kind in ((alpha, params.alpha), (near, params))
            if lists is not None
        ]
        distances = self._candidates[-1][0].distances
        typical = float(distances[: size * (1 + self._directed), 0].mean())
        credit, most_worse = params.credit * typical, params.most_worse * typical
        positive = distances[np.isfinite(distances) & (distances > 0)]
        least = params.least_gain * _median(positive) if len(positive) else 1e-290
        terms = self._score_terms(scores, heaviest, least) if scored else None
        if terms is not None:  # α-values ignore scores, so they come second or not at all
            self._candidates.reverse()
            if terms.reach > params.alpha.longest_reach * self.vertices:
                del self._candidates[1:]
            least = terms.least_gain
        longest = min(self.vertices, params.longest)
        self.limits = _core.KOptLimits(least, credit, params.end_positions * (1 + self._directed), longest)
        bridges = _core.PerturbationParams(
            params.walk,
            params.segment,
            min(self.vertices, params.longest_bridge),
            min(self.vertices, params.far_bridge),
            most_worse,
        )
        self.core = _core.LocalSearch(self.costs, terms, self.limits, bridges, max(params.journal, 8 * longest))
        self.use_candidates(0)
        # perturbations and moves per second: a first guess, low if each may take long
        self._pace, self._looks = 1000.0, 200_000.0
        self.set_order(order)

    @property
    def terms(self) -> _core.ScoreTerms | None:
        """The score terms of moves; None if only travel counts."""
        return self.core.terms

    def twin(self) -> TourSearch:
        """Return another search of the same problem for another thread; read-only data is shared."""
        other = copy(self)
        other.core = copy(self.core)
        return other

    def without_scores(self) -> TourSearch:
        """Return a twin that ignores scores; its moves may reverse any segment."""
        other = self.twin()
        other.core.drop_scores()
        return other

    def _edge_costs(self) -> _core.Costs:
        """Return the edge costs; for few places from the matrix, if it exists."""
        travel, (begin, finish) = self.objective.travel, self.ends
        travel_data = core_travel_of(travel, self.params.matrix_regions if travel.has_matrix else 0)
        return travel_data.edge_costs(self.names, begin, finish, not self.objective.ends.cyclic)

    @property
    def kinds(self) -> int:
        """The number of kinds of candidate lists."""
        return len(self._candidates)

    @property
    def longest_candidates(self) -> _core.Candidates:
        """The longest candidate lists of all kinds."""
        return max((candidates for candidates, _ in self._candidates), key=lambda candidates: candidates.length)

    def use_candidates(self, kind: int) -> None:
        """Use the candidate lists of one kind."""
        self._kind = kind
        self.core.use_candidates(*self._candidates[kind])

    def _endpoint_candidates(self, near: IntArray, goals: FloatArray) -> _core.Candidates:
        """Renumber candidate lists and add those of `start` and `end` (endpoint candidates)."""
        size, order, number = self.objective.size, self.names, self._number
        if self._directed:
            lists = [size + number[near[size:][order]], number[near[:size][order]]]
        else:
            lists = [number[near[order]]]
        if not self.objective.ends.cyclic:
            begins, finishes = (np.argsort(costs, kind="stable")[: near.shape[1]] for costs in (self.ends[0], goals))
            lists += [begins[None, :], finishes[None, :] + (size if self._directed else 0)]
        return _core.Candidates(self.costs, np.concatenate(lists))

    def _score_terms(self, scores: FloatArray, heaviest: float, least: float) -> _core.ScoreTerms:
        """Return the score terms of moves."""
        objective, rate = self.objective, self.objective.rate
        if isinstance(objective, Factored):
            return _core.FactoredScores(self.costs, scores, objective.factors[self.names], heaviest, least, floor=0.0)
        floor = float(objective.weights @ np.sort(objective.scores - objective.scores.min())[::-1])
        if rate is None:
            return _core.GeneralScores(self.costs, scores, objective.weights, least, floor)
        if self._directed:
            return _core.FactoredScores(self.costs, scores, np.full(len(scores), rate), heaviest, least, floor)
        return _core.GeometricScores(self.costs, scores, rate, heaviest, least, floor)

    def set_order(self, order: IntArray) -> None:
        """Start from an order, in the numbering of the objective."""
        stops = self._number[order]
        if self._directed:
            stops = np.column_stack([stops, stops + len(order)]).ravel()
        if not self.objective.ends.cyclic:
            stops = np.concatenate([[self.vertices - 2], stops, [self.vertices - 1]])
        self.set_tour(stops)

    def tour(self) -> IntArray:
        """Return the current order as a cycle of vertices."""
        return self.core.tour

    def set_tour(self, stops: IntArray) -> None:
        """Start from a cycle of vertices."""
        self.core.set_tour(stops)
        self._set_spare()

    def _set_spare(self) -> None:
        """Set the most that the score part could still fall: a bound on the gain of moves."""
        objective, terms = self.objective, self.terms
        if terms is not None and not isinstance(objective, Factored):
            now = float(objective.weights @ objective.scores[self.order()])
            terms.set_spare(max(0.0, now - float(objective.weights @ np.sort(objective.scores)[::-1])))

    def order(self) -> IntArray:
        """Return the current order in the numbering of the objective."""
        return self.names[self.core.regions]

    def value(self, order: IntArray) -> float:
        """Return the value of an order without its constant; for a cycle that may end anywhere, its travel."""
        objective = self.objective
        if objective.ends.cyclic and self.terms is None:
            return float(objective.legs(order).sum())
        weighted = objective.weights_of(order) * objective.scores[order]
        return float(objective.legs(order).sum()) + float(weighted.sum())

    def descend(self, budget: Budget) -> None:
        """Improve the tour to a local optimum or until the budget is exhausted."""
        self.core.queue_all()
        looks, pace, enough = 0, self._looks, MOST_LOOKS * self.vertices
        while self.core.queued and looks < enough and not (looks and budget.exhausted):  # at least one call
            started = time.monotonic()
            most = min(int(max(10, pace * self.params.pause)), enough - looks)
            self.core.descend(most)
            looks += most
            pace = min(2 * pace, most / max(time.monotonic() - started, 1e-6))
            budget.progress("descent", min(0.99, looks / (6 * self.vertices)))
        self.core.clear_queue()

    def perturb(
        self,
        rng: np.random.Generator,
        perturbations: int,
        temperature: float,
        budget: Budget,
        among: IntArray | None = None,
    ) -> int:
        """Perturb and improve while the temperature falls to zero; return the number of perturbations done.

        The temperature is in units of the median edge cost of the tour and reaches zero at the end of the budget.
        Perturbations start at vertices in `among`, or anywhere.
        """
        params, done = self.params, 0
        vertices = self.vertices
        began, left = time.monotonic(), budget.seconds_left
        legs = self.objective.legs(self.order())
        scale = temperature * (_median(legs) or float(np.mean(legs)))
        far = self.far_legs(legs)
        self.core.update_terms()
        self._set_spare()
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
            elif vertices > params.sweep_regions:  # sweep along the first order, for cache locality
                within = draws[:, 0] * params.sweep_width / vertices
                draws[:, 0] = (within + numbers * (params.sweeps / perturbations)) % 1.0
            started = time.monotonic()
            self.core.perturb(draws, chosen)
            # some take almost no time, so a few of them predict little
            self._pace = min(2 * self._pace, count / max(time.monotonic() - started, 1e-6))
            done += count
            budget.progress("search", done / perturbations)
        return done

    def tail(self, order: IntArray) -> IntArray | None:
        """Return the last vertices of an order whose scores count; None if they are very few or very many."""
        if self.terms is None:
            return None
        params, weights = self.params, self.objective.weights_of(order)
        last = order[weights > params.tail_weight * weights[-1]]
        if not params.end_positions < len(last) < params.longest_tail * len(order):
            return None
        found: IntArray = self._number[last]
        return found

    def far_legs(self, legs: FloatArray) -> tuple[FloatArray, IntArray] | None:
        """Return cumulated leg lengths of the current order and the vertices where the legs start.

        None unless a few legs make up much of the travel, as legs between clusters do.
        """
        params, mean = self.params, float(np.mean(legs))
        if self._directed or not mean > params.far_ratio * _median(legs):
            return None
        stops = self._number[self.order()]
        left = stops if self.core.next(stops[0]) == stops[1] else np.roll(stops, -1)
        return np.cumsum(np.append(0.0, legs)), left[: len(legs)]

    def _far_cuts(self, sums: FloatArray, left: IntArray, draws: FloatArray) -> IntArray:
        """Return the vertices after which to cut: a leg drawn by length, and three legs near it."""
        most, half = len(left) - 1, self.params.far_bridge // 2
        first = np.minimum(np.searchsorted(sums[1:], draws[:, 0] * sums[-1], side="right"), most)
        low, high = sums[np.maximum(first - half, 0)], sums[np.minimum(first + half, most) + 1]
        others = low[:, None] + draws[:, 1:] * (high - low)[:, None]
        found = np.minimum(np.searchsorted(sums[1:], others, side="right"), most)
        cuts: IntArray = left[np.column_stack([first, found])]
        return cuts

    def merge(self, one: IntArray, two: IntArray, budget: Budget) -> IntArray:
        """Improve one order by moves that may add only edges of another one (tour merging)."""
        self.set_order(two)
        stops = self.tour()
        lists = np.empty((len(stops), 2), dtype=np.int64)
        lists[stops, 0], lists[stops, 1] = np.roll(stops, -1), np.roll(stops, 1)
        edges = _core.Candidates(self.costs, lists)
        self.core.use_candidates(edges, (2,) * self.params.merging_depth, only_listed=True)
        self.set_order(one)
        self.descend(budget.silent())
        self.use_candidates(self._kind)
        return self.order()


def _median(values: FloatArray) -> float:
    """Return the median; numpy.median imports masked arrays, which takes as long as planning a few regions."""
    ordered, half = np.sort(values), len(values) // 2
    return float(ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2)
