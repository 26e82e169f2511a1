"""Local search for the full objective: improve by moves, perturb, improve again."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.construction.space_filling_curve import along_a_curve, arranged, greedy
from learnroute.solvers.contract import Answer, Budget, Progress
from learnroute.solvers.exact.held_karp import SMALL, held_karp
from learnroute.solvers.local_search.coincident import Runs, runs_of

if TYPE_CHECKING:
    from learnroute.solvers.local_search.or_opt import State

NEIGHBOURS = 8
WINDOW = 50  # positions within which a perturbation happens
KICKS_A_CALL = 25  # between two looks at the clock
WARMTH = 0.3  # of the mean cheapest leg: how much worse an accepted order may be at first ...
KICKS_A_WAVE = 500  # ... falling to nothing over so many perturbations, again and again
SAME = 1e-9  # relative to the last weight; weights this near to a geometric sequence are one
FEW = 3  # regions up to which all orders are tried
SOME = 30  # regions up to which half the perturbations do
FEW_CUT = 20  # regions up to which moves are always weighed one by one
SLOW_RATE = 0.75  # of geometric weights: above it cuts take longer than moves, up to MANY regions
MANY = 100  # regions beyond which one start is enough, but longer
MOST_KICKS = 20_000  # where each costs time that grows with T
LOCAL_KICKS = 50  # a region, where each costs about the same whatever T is ...
MOST_LOCAL_KICKS = 100_000  # ... up to so many, or one a region
MOST_SEARCHED = 2000  # regions up to which `auto` searches where travel differs by direction, or factors do
FEW_PLACES = 300  # up to which a matrix is made of places
SEARCHING = 0.6  # of the time; the rest is for the bound
SEARCHING_RUNS = 0.3  # of that, where several regions share a place: for runs, before runs may be left


def search(objective: Objective, rng: np.random.Generator, budget: Budget) -> Answer:
    """Return the best order found from a few starts; where there are few orders, the best of all."""
    if objective.size <= SMALL:
        return replace(held_karp(objective, rng, budget), method="search")
    return Answer(search_well(objective, rng, budget.part(SEARCHING)), "search", complete=not budget.exhausted)


def search_well(
    objective: Objective, rng: np.random.Generator, budget: Budget, first: IntArray | None = None
) -> IntArray:
    """Search as long as is usually enough for the optimum up to 100 regions, and as seems worth it beyond."""
    size, by_cuts = objective.size, cut_rate(objective) is not None
    if size <= MANY:
        return best_order(objective, rng, budget, (10 if size <= SOME else 20) * size, 2 if by_cuts else 4, first)
    if not by_cuts:
        return best_order(objective, rng, budget, min(20 * size, MOST_KICKS), 1, first)
    return best_order(objective, rng, budget, min(LOCAL_KICKS * size, max(MOST_LOCAL_KICKS, size)), 1, first)


def cut_rate(objective: Objective) -> float | None:
    """Return the rate of geometric weights where `cuts` is the better choice, else None.

    It needs symmetric travel and the same factor for all regions. Its moves go on from near regions, and weigh what
    scores may gain by a bound: that pays where there are many regions, or few scores count.
    """
    if objective.factors is not None or not objective.symmetric or objective.size <= FEW_CUT:
        return None
    rate = geometric_rate(objective.weights)
    return rate if rate is None or rate <= SLOW_RATE or objective.size > MANY else None


def best_order(
    objective: Objective,
    rng: np.random.Generator,
    budget: Budget,
    kicks: int,
    starts: int = 1,
    first: IntArray | None = None,
) -> IntArray:
    """Search from `first` (or a quick start), then from random orders; never worse than `first`.

    The same generator state and kicks give the same order, unless the budget runs out.
    """
    size = objective.size
    if size <= FEW:
        allowed = (order for order in permutations(range(size)) if objective.allows(order))
        return np.array(min(allowed, key=objective), dtype=np.int64)
    rate = cut_rate(objective)
    improve = _by_moves if rate is None else _by_cuts
    kept = arranged(objective, first if first is not None else _start(objective, rng))
    runs = None if rate is None else runs_of(objective, rate)
    before, searches = (0, starts) if runs is None else (1, 1 + starts)
    if runs is not None:
        if runs.suffice:
            return _in_runs(objective, runs, kept, rng, budget, kicks)
        part = replace(budget.part(SEARCHING_RUNS), progress=_part_of(budget.progress, 0, searches))
        kept = _in_runs(objective, runs, kept, rng, part, kicks)
    least = objective(kept)
    for start in range(starts):
        order = arranged(objective, rng.permutation(size)) if start else kept
        part = replace(budget, progress=_part_of(budget.progress, before + start, searches))
        found = rotated(objective, improve(objective, order, rng, part, kicks))
        if runs is not None:
            found = runs.forgetting_least(found)
        value = objective(found)
        if value < least:
            kept, least = found, value
        if budget.exhausted:
            break
    return kept


def _in_runs(
    objective: Objective, runs: Runs, order: IntArray, rng: np.random.Generator, budget: Budget, kicks: int
) -> IntArray:
    """Search among places that several regions share, from the places of an order; never worse than that order."""
    places = runs.objective
    found = best_order(places, rng, budget, min(kicks, LOCAL_KICKS * places.size), first=runs.places(order))
    return min(order, rotated(objective, runs.regions(found)), key=objective)


def _part_of(progress: Progress, start: int, starts: int) -> Progress:
    return lambda what, share: progress(what, (start + share) / starts)


def _start(objective: Objective, rng: np.random.Generator) -> IntArray:
    """Return an order to start from: along a curve through many places, else always to the nearest region left."""
    if objective.points is not None and objective.size > FEW_PLACES:
        return along_a_curve(objective.points)
    start = int(rng.integers(objective.size))
    return greedy(objective.travel, start)


def _by_cuts(objective: Objective, order: IntArray, rng: np.random.Generator, budget: Budget, kicks: int) -> IntArray:
    """Search by cuts."""
    from learnroute.solvers.local_search.lk_search import Improver

    rate = cut_rate(objective)
    assert rate is not None
    improver = Improver(objective, order, rate)
    improver.descend(budget)
    improver.wander(rng, kicks, budget)
    return improver.best()


def _by_moves(objective: Objective, order: IntArray, rng: np.random.Generator, budget: Budget, kicks: int) -> IntArray:
    """Search by moves along the order."""
    from learnroute.solvers.local_search import or_opt as moves

    size = objective.size
    state = new_state(objective)
    others = objective.travel + np.diag(np.full(size, np.inf))
    warmth = WARMTH * float(others.min(axis=1).mean())
    state.route[moves.ORDER, :size] = order
    moves.refresh(state)
    for k in range(size):
        moves.enqueue(state, k)
    moves.descend(state)
    best = state.route[moves.ORDER, :size].copy()
    values = np.full(2, moves.value(state))
    done = 0
    while done < kicks and not budget.exhausted:
        count = min(KICKS_A_WAVE, kicks - done)
        draws = rng.random((count, 5))
        draws[:, 4] *= warmth * (1 - np.arange(count) / count)
        for piece in range(0, count, KICKS_A_CALL):
            moves.wander(state, best, values, draws[piece : piece + KICKS_A_CALL], WINDOW)
            if budget.exhausted:
                break
        done += count
        budget.progress("search", done / kicks)
    return best


def rotated(objective: Objective, order: IntArray) -> IntArray:
    """Where an order is a ring, begin it where scores count least, in the better direction."""
    if not objective.closed or objective.first is not None or objective.last is not None:
        return order
    ways = [order, order[::-1]] if objective.symmetric else [order]
    rate = geometric_rate(objective.weights) if objective.factors is None else None
    if rate is None:
        return order
    kept, least = order, objective(order)
    for way in ways:
        # the sum that ends at each region, all around: twice round, so that it has forgotten where it began
        sums = np.empty(len(way))
        total = 0.0
        for _ in range(2):
            for k, score in enumerate(objective.scores[way].tolist()):
                total = rate * total + score
                sums[k] = total
        turned = np.roll(way, -1 - int(np.argmin(sums)))
        value = objective(turned)
        if value < least:
            kept, least = turned, value
    return np.ascontiguousarray(kept)


def geometric_rate(weights: FloatArray) -> float | None:
    """Return r where each weight is r times the next one (0 where only the last counts), else None."""
    last = float(weights[-1])
    if last == 0:
        return None if weights.any() else 0.0
    rate = float(weights[-2]) / last
    ideal = last * powers(rate, len(weights))[::-1]
    return rate if bool(np.all(np.abs(weights - ideal) <= SAME * last)) else None


def powers(rate: float, count: int) -> FloatArray:
    """Return the first powers of r, from 1 on."""
    with np.errstate(under="ignore"):
        found: FloatArray = rate ** np.arange(count, dtype=np.float64)
    return found


def new_state(objective: Objective) -> State:
    """Prepare the tables that the moves work on."""
    from learnroute.solvers.local_search import or_opt as moves

    size = objective.size
    rate = geometric_rate(objective.weights) if objective.factors is None else None
    table = np.zeros((6, size + 2))
    table[moves.POWER] = powers(rate or 0.0, size + 2)
    factors = np.full(size, rate or 0.0) if objective.factors is None else objective.factors
    heaviest = 1.0 if objective.factors is not None else float(objective.weights.max())
    table[moves.BEST, 1] = 1e-11 * max(float(objective.travel.max()), heaviest * float(objective.scores.max()))
    ring = objective.closed and objective.first is None and objective.last is None
    return moves.State(
        travel=np.array(objective.travel),
        scored=np.array([objective.scores, objective.weights, objective.begin, objective.finish, factors]),
        near=nearest_regions(objective.travel, NEIGHBOURS),
        table=table,
        route=np.zeros((5, size + 2), dtype=np.int64),
        flags=np.array([objective.symmetric, rate is not None, objective.factors is not None, ring], dtype=np.int64),
    )


def nearest_regions(travel: FloatArray, most: int) -> IntArray:
    """For each region, the nearest others by the cost of going there, nearest first; ties by number."""
    others = travel + np.diag(np.full(len(travel), np.inf))
    return np.ascontiguousarray(np.argsort(others, axis=1, kind="stable")[:, : min(most, len(travel) - 1)])
