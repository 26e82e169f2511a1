"""One order under iterated Lin–Kernighan search: its candidate list and endpoint candidates, calls kept short."""

from __future__ import annotations

import time

import numpy as np

from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.kd_tree import NOWHERE, Ground, ground_of, lengths, nearest_places, tree_of
from learnroute.solvers.local_search import lin_kernighan, lk_state
from learnroute.solvers.local_search.candidates import candidate_lists
from learnroute.solvers.params import LinKernighanParams


class LinKernighanSearch:
    """An order, improved by moves and perturbations until the caller has had enough.

    Regions are renumbered along the first order: neighbours on the way are then neighbours in memory.
    """

    def __init__(self, objective: Objective, order: IntArray, rate: float, params: LinKernighanParams) -> None:
        size = objective.size
        self.params = params
        self.objective, self.names, self.rate = objective, order, rate
        scores = (objective.scores - objective.scores.min())[order]
        heaviest = float(objective.weights[-1])
        ends = np.array([objective.begin[order], objective.finish[order]])
        if rate == 0:
            ends[lk_state.RIGHT] += heaviest * scores
        ground, travel, near, apart = _neighbourhood(objective, order, params)
        finite = ends[np.isfinite(ends)]
        least = params.least_gain * max(float(apart.max()) * size**0.5, float(np.abs(finite).max(initial=0.0)), 1e-290)
        scored = 0 < rate < 1 and heaviest > 0 and bool(scores.any())  # at rate 1, all orders have the same sum
        if scored:
            summed = heaviest * float(scores.max()) / (1 - rate) * min(1, size * (1 - rate))
            least = max(least, 0.1 * params.least_gain * summed)
        reach = _reach(rate, size, heaviest * float(scores.max()), least) if scored else 0
        sums = np.zeros((3, size + 2 if scored else 2))
        if scored:
            with np.errstate(under="ignore"):
                sums[lk_state.POWER] = rate ** np.arange(size + 2, dtype=np.float64)
        goals = ends[lk_state.RIGHT] + (heaviest * scores if scored else 0.0)
        few = min(params.end_candidates, size)
        end_candidates = np.array([np.argsort(costs, kind="stable")[:few] for costs in (ends[lk_state.LEFT], goals)])
        counts = np.zeros(12, dtype=np.int64)
        counts[lk_state.CYCLIC] = objective.ends.cyclic
        counts[lk_state.NEIGHBOURS_3] = _neighbours(size, params)[1]
        counts[lk_state.DEPTH], counts[lk_state.LONGEST_STEP] = params.depth, params.longest_step
        counts[lk_state.SCORED], counts[lk_state.REACH] = scored, reach
        counts[lk_state.LONGEST] = params.longest_scored if scored else params.longest
        counts[lk_state.END_POSITIONS], counts[lk_state.SPAN] = params.end_positions, 4 * params.segment
        self.state = lk_state.State(
            np.arange(size), np.arange(size), ground.places, travel, near, apart, ends, end_candidates, scores, sums,
            np.zeros((2, size + 1), dtype=np.int64), np.zeros((2, params.journal), dtype=np.int64),
            np.array([0.0, least, 0.0, heaviest, rate, *ground.metric, params.credit * float(apart[:, 0].mean()), 0.0,
                      heaviest * float(scores.max()) / (1 - rate) if rate < 1 else 0.0]),
            counts,
        )  # fmt: skip
        self._least_scores = np.sort(scores)
        self._kept = np.arange(size)
        self._pace = 100.0
        self.values = np.zeros(2)
        if scored:
            lk_state.mend_sums(self.state.order, scores, sums, rate, counts, 0, size)

    def run(self, rng: np.random.Generator, perturbations: int, budget: Budget) -> IntArray:
        """Improve, perturb and improve again; return the best order."""
        self.descend(budget)
        self.iterate(rng, perturbations, budget)
        return self.best()

    def order_now(self) -> IntArray:
        """The current order in the objective's numbers."""
        return self.names[self.state.order]

    def best(self) -> IntArray:
        """The best order so far in the objective's numbers."""
        return self.order_now() if self.values[0] <= self.values[1] else self.names[self._kept]

    def descend(self, budget: Budget) -> None:
        """Improve until no move is left that helps."""
        state, size = self.state, len(self.names)
        state.queue[0], state.queue[1] = np.arange(size + 1), 1
        state.counts[lk_state.QUEUE_FIRST], state.counts[lk_state.QUEUE_SIZE] = 0, size + 1
        looks, pace = 0, 20_000.0
        while state.counts[lk_state.QUEUE_SIZE] and not budget.exhausted:
            self._measure()
            started = time.monotonic()
            most = int(max(100, pace * self.params.pause))
            state.counts[lk_state.JOURNAL_SIZE] = 0
            lin_kernighan.descend(state, most)
            looks += most
            pace = most / max(time.monotonic() - started, 1e-6)
            budget.progress("descent", min(0.99, looks / (6 * size)))
        if budget.exhausted:
            state.queue[1] = 0
            state.counts[lk_state.QUEUE_SIZE] = 0
        self.values[:] = self.objective(self.order_now())

    def iterate(self, rng: np.random.Generator, perturbations: int, budget: Budget) -> None:
        """Perturb and improve, so many times; what is worse than the threshold allows is undone."""
        size, params = len(self.names), self.params
        mean = float(self.state.apart[:, 0].mean())
        threshold = params.threshold * mean if size <= params.threshold_regions else 0.0
        done = 0
        while done < perturbations and not budget.exhausted:
            self._measure()
            count = int(min(perturbations - done, max(10, self._pace * params.pause)))
            numbers = done + np.arange(count)
            draws = rng.random((count, 5))
            draws[:, 4] *= threshold * (1 - numbers / perturbations)
            if size > params.longest:  # sweep along the order, so that what is needed is in the cache
                within = draws[:, 0] * params.sweep_width / size
                draws[:, 0] = (within + numbers * (params.sweeps / perturbations)) % 1.0
            started = time.monotonic()
            lin_kernighan.iterate(self.state, self._kept, self.values, draws, params.segment)
            self._pace = count / max(time.monotonic() - started, 1e-6)
            done += count
            budget.progress("search", done / perturbations)

    def _measure(self) -> None:
        """Say how much the scores' part could still become less by: moves that lose more on the way are not tried."""
        state = self.state
        if state.counts[lk_state.SCORED]:
            reach = state.counts[lk_state.REACH]
            shares = state.numbers[lk_state.HEAVIEST] * state.sums[lk_state.POWER, :reach]
            now = float(shares @ state.scores[state.order[: -reach - 1 : -1]])
            state.numbers[lk_state.SPARE] = max(0.0, now - float(shares @ self._least_scores[:reach]))


def _reach(rate: float, size: int, most: float, least: float) -> int:
    """Return how many positions from the end scores still count."""
    steps = np.log(0.1 * least * (1 - rate) / most) / np.log(rate) if rate < 1 else size
    return int(min(size, max(1.0, np.ceil(steps))))


def _neighbours(size: int, params: LinKernighanParams) -> tuple[int, int]:
    return next((second, third) for limit, second, third in params.neighbours if size <= limit)


def _neighbourhood(
    objective: Objective, order: IntArray, params: LinKernighanParams
) -> tuple[Ground, FloatArray, IntArray, FloatArray]:
    """Return places or a matrix, and for each region its candidate list and how far they are, all renumbered."""
    size = objective.size
    most = min(_neighbours(size, params)[0], size - 1)
    if objective.points is not None and (size > params.matrix_regions or "travel" not in objective.__dict__):
        whole = objective.points
        points = Points(whole.places[order], whole.geographic, whole.scale)
        ground = ground_of(points)
        if size <= params.alpha_regions:
            near = candidate_lists(points.matrix(), most, params.alpha_neighbours)
        else:
            near = nearest_places(ground, tree_of(ground), most)
        apart = lengths(ground, np.repeat(np.arange(size), most), near.ravel()).reshape(size, most)
        return ground, np.zeros((1, 1)), near, apart
    travel = np.ascontiguousarray(objective.travel[np.ix_(order, order)])
    near = candidate_lists(travel, most, params.alpha_neighbours)
    return NOWHERE, travel, near, np.take_along_axis(travel, near, axis=1)
