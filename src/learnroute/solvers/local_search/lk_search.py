"""One order under improvement by cuts: sets the tables up, and keeps the kernels' calls short enough for a clock."""

from __future__ import annotations

import time

import numpy as np

from learnroute.model.distances import Points
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.kd_tree import Ground, ground_of, lengths, nearest_places, tree_of
from learnroute.solvers.local_search import lin_kernighan as cuts

# Up to so many regions: nearest ones that the second cut of a move looks at, and the third
NEIGHBOURS = ((20_000, 10, 5), (200_000, 8, 5), (10**9, 7, 5))
DOORS = 10  # regions worth ending at, wherever they are
WIDEST = 50  # regions in each of the three stretches that a perturbation rearranges
DEEPEST = 3  # moves in a chain
SHORT = 1000  # regions that a move may shift which is made only to go on from
LONGEST = 50_000  # regions that any move may shift ...
LONGEST_SCORED = 25_000  # ... where sums along the order have to follow
CREDIT = 2.0  # mean cheapest legs that a move near the end may lose on the way, for the sake of scores
WARMTH = 0.1  # mean cheapest legs that an accepted order may be worse by, at first ...
MOST_WARM = 20_000  # ... up to so many regions: the best order is copied when it is left
JOURNAL = 100_000  # stretches that can be turned back
PAUSE = 0.1  # seconds in a kernel between two looks at the clock
FEW_PLACES = 1500  # up to which distances are kept as a matrix, if there is one already
ROUNDING = 1e-12  # relative to the largest distance or score: what is less is no gain


class Improver:
    """An order, improved by moves and perturbations until the caller has had enough.

    Regions are renumbered along the first order: neighbours on the way are then neighbours in memory.
    """

    def __init__(self, objective: Objective, order: IntArray, rate: float) -> None:
        size = objective.size
        self.objective, self.names, self.rate = objective, order, rate
        self._back = np.empty(size, dtype=np.int64)
        self._back[order] = np.arange(size)
        scores = (objective.scores - objective.scores.min())[order]
        heaviest = float(objective.weights[-1])
        ends = np.array([objective.begin[order], objective.finish[order]])
        if rate == 0:
            ends[cuts.RIGHT] += heaviest * scores
        ground, travel, near, apart = _neighbourhood(objective, order)
        finite = ends[np.isfinite(ends)]
        least = ROUNDING * max(float(apart.max()) * size**0.5, float(np.abs(finite).max(initial=0.0)), 1e-290)
        scored = rate > 0 and heaviest > 0 and bool(scores.any())
        if scored:
            least = max(least, 0.1 * ROUNDING * heaviest * float(scores.max()) / (1 - rate) * min(1, size * (1 - rate)))
        reach = _reach(rate, size, heaviest * float(scores.max()), least) if scored else 0
        sums = np.zeros((3, size + 2 if scored else 2))
        if scored:
            with np.errstate(under="ignore"):
                sums[cuts.POWER] = rate ** np.arange(size + 2, dtype=np.float64)
        goals = ends[cuts.RIGHT] + (heaviest * scores if scored else 0.0)
        few = min(DOORS, size)
        doors = np.array([np.argsort(costs, kind="stable")[:few] for costs in (ends[cuts.LEFT], goals)])
        counts = np.zeros(10, dtype=np.int64)
        counts[cuts.RING] = objective.closed and objective.first is None and objective.last is None
        counts[cuts.NARROW] = _neighbours(size)[1]
        counts[cuts.DEEPEST], counts[cuts.SHORT] = DEEPEST, SHORT
        counts[cuts.SCORED], counts[cuts.REACH] = scored, reach
        counts[cuts.LONGEST] = LONGEST_SCORED if scored else LONGEST
        self.state = cuts.State(
            np.arange(size), np.arange(size), ground.places, travel, near, apart, ends, doors, scores, sums,
            np.zeros((2, size + 1), dtype=np.int64), np.zeros((2, JOURNAL), dtype=np.int64),
            np.array([0.0, least, 0.0, heaviest, rate, *ground.metric, CREDIT * float(apart[:, 0].mean()), 0.0,
                      heaviest * float(scores.max()) / (1 - rate)]),
            counts,
        )  # fmt: skip
        self._least_scores = np.sort(scores)
        self._kept = np.arange(size)
        self._pace = 100.0
        self.values = np.zeros(2)
        if scored:
            cuts.mend(self.state.order, scores, sums, rate, counts, 0, size)

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
        state.counts[cuts.QUEUE_FIRST], state.counts[cuts.QUEUE_SIZE] = 0, size + 1
        looks, pace = 0, 20_000.0
        while state.counts[cuts.QUEUE_SIZE] and not budget.exhausted:
            self._measure()
            started = time.monotonic()
            most = int(max(100, pace * PAUSE))
            state.counts[cuts.JOURNAL_SIZE] = 0
            cuts.descend(state, most)
            looks += most
            pace = most / max(time.monotonic() - started, 1e-6)
            budget.progress("descent", min(0.99, looks / (6 * size)))
        if budget.exhausted:
            state.queue[1] = 0
            state.counts[cuts.QUEUE_SIZE] = 0
        self.values[:] = self.objective(self.order_now())

    def wander(self, rng: np.random.Generator, kicks: int, budget: Budget) -> None:
        """Perturb and improve, `kicks` times."""
        size = len(self.names)
        warmth = WARMTH * float(self.state.apart[:, 0].mean()) if size <= MOST_WARM else 0.0
        done = 0
        while done < kicks and not budget.exhausted:
            self._measure()
            count = int(min(kicks - done, max(10, self._pace * PAUSE)))
            draws = rng.random((count, 5))
            left = 1 - (done + np.arange(count)) / kicks
            draws[:, 4] *= warmth * left
            if size > LONGEST:  # sweep along the order, so that what is needed is in the cache
                draws[:, 0] = (draws[:, 0] * 1000 / size + (done + np.arange(count)) * (8 / kicks)) % 1.0
            started = time.monotonic()
            cuts.wander(self.state, self._kept, self.values, draws, WIDEST)
            self._pace = count / max(time.monotonic() - started, 1e-6)
            done += count
            budget.progress("search", done / kicks)

    def _measure(self) -> None:
        """Say how much the scores' part could still become less by: moves that lose more on the way are not tried."""
        state = self.state
        if state.counts[cuts.SCORED]:
            reach = state.counts[cuts.REACH]
            shares = state.numbers[cuts.HEAVIEST] * state.sums[cuts.POWER, :reach]
            now = float(shares @ state.scores[state.order[: -reach - 1 : -1]])
            state.numbers[cuts.SPARE] = max(0.0, now - float(shares @ self._least_scores[:reach]))


def _reach(rate: float, size: int, most: float, least: float) -> int:
    """Return how many positions from the end scores still count."""
    steps = np.log(0.1 * least * (1 - rate) / most) / np.log(rate) if rate < 1 else size
    return int(min(size, max(1.0, np.ceil(steps))))


def _neighbours(size: int) -> tuple[int, int]:
    return next((second, third) for limit, second, third in NEIGHBOURS if size <= limit)


def _neighbourhood(objective: Objective, order: IntArray) -> tuple[Ground, FloatArray, IntArray, FloatArray]:
    """Return places or a matrix, and for each region its nearest ones and how far they are, all renumbered."""
    size = objective.size
    most = min(_neighbours(size)[0], size - 1)
    if objective.points is not None and (size > FEW_PLACES or "travel" not in objective.__dict__):
        whole = objective.points
        ground = ground_of(Points(whole.places[order], whole.geographic, whole.scale))
        near = nearest_places(ground, tree_of(ground), most)
        apart = lengths(ground, np.repeat(np.arange(size), most), near.ravel()).reshape(size, most)
        return ground, np.zeros((1, 1)), near, apart
    travel = np.ascontiguousarray(objective.travel[np.ix_(order, order)])
    others = travel.copy()
    np.fill_diagonal(others, np.inf)
    near = np.argsort(others, axis=1, kind="stable")[:, :most]
    apart = np.take_along_axis(travel, near, axis=1)
    nowhere = Ground(np.zeros((0, 3)), np.zeros(2))
    return nowhere, travel, np.ascontiguousarray(near), apart
