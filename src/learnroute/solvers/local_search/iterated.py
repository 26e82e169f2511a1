"""Search for the full objective: by a population of local optima, or by iterated local search.

If time allows twenty tours or more and the number of regions is moderate, local optima from random orders are crossed
(`population`). Otherwise, iterated local search (Martin, Otto and Felten 1991; Johnson and McGeoch 1997): improve an
order by k-opt moves to a local optimum, perturb it, improve it again, and accept the result if it is better or, with
some probability, if it is worse. In each round the temperature falls to zero (simulated annealing of local optima, a
large-step Markov chain), and then the order is merged with the best one: moves may add only edges of the other order,
which combines the better parts of both (tour merging, Cook and Seymour 2003). With several threads, each runs its own
round from the best order, and all orders are merged; the same seed and number of threads give the same order.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import permutations

import numpy as np

from learnroute.model.linear import Linear, Weighted
from learnroute.model.validation import IntArray
from learnroute.solvers.construction.greedy_edge import greedy_edge_path
from learnroute.solvers.construction.nearest_neighbour import nearest_neighbour_paths
from learnroute.solvers.contract import Budget, Progress
from learnroute.solvers.local_search.candidates import Lists, both_candidates
from learnroute.solvers.local_search.coincident import clusters_of
from learnroute.solvers.local_search.population import Population
from learnroute.solvers.local_search.rotations import best_rotation
from learnroute.solvers.local_search.threads import Threads
from learnroute.solvers.local_search.tour_search import TourSearch
from learnroute.solvers.params import DEFAULTS, IteratedLocalSearchParams, PopulationParams, SolverParams

UNLIMITED = 10**12  # perturbations, more than any time limit allows


def iterated_local_search(
    objective: Linear,
    rng: np.random.Generator,
    budget: Budget,
    perturbations: int | None = None,
    starts: int | None = None,
    initial: IntArray | None = None,
    params: SolverParams = DEFAULTS,
    lists: Lists | None = None,
) -> IntArray:
    """Return the best order found from `initial` or a constructed order, then from random orders.

    Never worse than `initial`, which may violate constraints on the ends. `perturbations` is the number per start; None
    for the usual effort (`search_effort`) or, with `budget.spend_all`, as many as time allows. `starts` likewise, but 1
    if `perturbations` is given. `lists` are the candidate lists, if already known. The same generator state and effort
    give the same order, unless the budget runs out.
    """
    size = objective.size
    if size <= params.search.enumerated:
        allowed = (order for order in permutations(range(size)) if objective.ends.allows(order))
        return np.array(min(allowed, key=objective), dtype=np.int64)
    if perturbations is None and budget.spend_all and size > params.search.several_starts_regions:
        perturbations, budget = UNLIMITED, _with_elapsed_progress(budget)
    elif perturbations is None:
        perturbations, usual = search_effort(objective, params)
        starts = usual if starts is None else starts
    starts = 1 if starts is None else starts
    clusters = None
    if objective.rate is not None and objective.travel.symmetric:
        clusters = clusters_of(objective)
    searches = starts if clusters is None else 1 + starts
    if clusters is not None:
        part = budget
        if not clusters.suffice:
            part = replace(budget.part(params.search.cluster_share), progress=_part_of(budget.progress, 0, searches))
        most = min(perturbations, params.search.many_perturbations * clusters.objective.size)
        begin = None if initial is None else clusters.locations(objective.ends.repair(initial))
        found = iterated_local_search(clusters.objective, rng, part, most, 1, begin, params)
        found = best_rotation(objective, clusters.regions(found))
        if initial is not None:
            found = min(objective.ends.repair(initial), found, key=objective)
        if clusters.suffice:
            return found
        initial = found
    lists = lists or both_candidates(objective, params.search.k_opt, budget)
    if (
        initial is None
        and objective.rate != 0  # more scores count than the last
        and objective.travel.symmetric
        and size > params.search.ahead_regions
        and not members_for(objective, perturbations, params.search.population)
        and not budget.exhausted
    ):
        initial = _search_last_score(objective, rng, budget, perturbations, params, lists)
    best = None
    for start in range(starts):
        order = initial if start == 0 else rng.permutation(size)
        part = replace(budget, progress=_part_of(budget.progress, searches - starts + start, searches))
        found = _search(objective, order, rng, part, perturbations, params, lists)
        if clusters is not None:
            found = clusters.sorted_within(found)
        best = found if best is None else min(best, found, key=objective)
        if budget.exhausted:
            break
    assert best is not None
    return best


def _with_elapsed_progress(budget: Budget) -> Budget:
    """Return a budget that reports the elapsed share of its time as progress."""
    begun, progress = time.monotonic(), budget.progress
    return replace(
        budget, progress=lambda what, _: progress(what, (time.monotonic() - begun) / (budget.deadline - begun))
    )


def _search_last_score(
    objective: Linear,
    rng: np.random.Generator,
    budget: Budget,
    perturbations: int,
    params: SolverParams,
    lists: Lists,
) -> IntArray:
    """Return a start order, in its better direction, from a search that counts the score of the last region only.

    That search is faster, and its moves may reverse any segment of a tour.
    """
    weights = np.zeros(objective.size)
    weights[-1] = objective.weights[-1]
    ahead = Weighted(objective.travel, objective.scores, weights, 0.0, objective.ends)
    share = params.search.ahead_share
    fewer = max(1, int(share * perturbations))
    found = iterated_local_search(ahead, rng, budget.part(share), fewer, 1, None, params, lists)
    return min(found, objective.repair(found[::-1]), key=objective)


def _search(
    objective: Linear,
    initial: IntArray | None,
    rng: np.random.Generator,
    budget: Budget,
    perturbations: int,
    params: SolverParams,
    lists: Lists,
) -> IntArray:
    """Search from one order: with a population if time allows, otherwise by rounds of perturbations."""
    limits = params.search
    near, alpha = lists
    start = objective.ends.repair(_quick_start(objective, rng) if initial is None else initial)
    search = TourSearch(objective, start, near, limits.k_opt, alpha)
    search.descend(budget)
    best = min(start, best_rotation(objective, search.order()), key=objective)
    members = members_for(objective, perturbations, limits.population)
    if members:
        with Threads(limits.threads) as threads:
            best, done = _evolve(search, best, rng, budget, perturbations, members, threads, limits)
        if done:
            return best
    with Threads(limits.rounds_at_once) as threads:
        return _search_in_rounds(search, best, rng, budget, perturbations, threads, limits)


def members_for(objective: Linear, perturbations: int, params: PopulationParams) -> int:
    """Return the size of a population that takes as long as this many perturbations; 0 for none.

    If a cycle may be cut anywhere and scores count, moves rarely change its last region; crossover does.
    """
    size = objective.size
    cut_anywhere = objective.ends.cyclic and not objective.only_last_counts
    few = 0 if cut_anywhere else params.few_regions
    if not few < size <= params.most_regions:
        return 0
    members = min(params.members, int(params.effort * perturbations / (params.descent * size)))
    return members if members >= params.fewest else 0


def _evolve(
    search: TourSearch,
    best: IntArray,
    rng: np.random.Generator,
    budget: Budget,
    perturbations: int,
    members: int,
    threads: Threads,
    limits: IteratedLocalSearchParams,
) -> tuple[IntArray, bool]:
    """Create a population, cross and perturb it in turns; return the best order and whether time allowed it."""
    objective, params = search.objective, limits.population
    population = Population(search, best, threads, params)
    left, begun = budget.seconds_left, time.monotonic()
    done, enough, idle = 0.0, perturbations / objective.size, 0
    reported = 0.0  # the share of the work reported as done
    if left is not None and params.fewest * population.least_seconds > left:
        return best, False
    population.create(1 + threads.count, limits.temperature, rng, _progress_part(budget, 0.0, 0.0))
    if left is not None:
        each = time.monotonic() - begun
        members = min(members, int(left / (each * (1 / threads.count + params.crossover_time(objective.size)))))
        if members < params.fewest:
            return min(best, best_rotation(objective, population.best), key=objective), False
    made = _progress_part(budget, 0.0, min(1.0, members * population.cost / enough))
    population.create(members, limits.temperature, rng, made)
    done += len(population.tours) * population.cost
    while True:
        reported = min(1.0, max(reported, done / enough))
        population.evolve(rng, _progress_part(budget, reported, 0.0))
        done += population.polish(limits.temperature, rng, _progress_part(budget, reported, 0.0))
        found = min(best, best_rotation(objective, population.best), key=objective)
        idle = 0 if objective(found) < objective(best) else idle + 1
        best = found
        if budget.exhausted or done >= enough or (left is None and idle >= params.stuck):
            return best, True
        hotter = min(1.0 + limits.reheating * idle, limits.hottest)
        renewed = params.renewed if idle >= params.stuck else 0.0
        share = min(1 - reported, len(population.tours) * params.perturbations / enough)
        done += population.perturb(limits.temperature * hotter, renewed, rng, _progress_part(budget, reported, share))
        reported += share


def _progress_part(budget: Budget, begun: float, share: float) -> Budget:
    """Return the same budget for a part of the work, which starts at `begun` and has this share of the progress."""
    return replace(budget, progress=_within(budget.progress, begun, share))


def _search_in_rounds(
    search: TourSearch,
    best: IntArray,
    rng: np.random.Generator,
    budget: Budget,
    perturbations: int,
    threads: Threads,
    limits: IteratedLocalSearchParams,
) -> IntArray:
    """Perturb and improve in rounds, each from the best order."""
    objective = search.objective
    searches = [search, *(search.twin() for _ in range(threads.count - 1))]
    streams = [rng, *rng.spawn(threads.count - 1)]
    length, idle, done = limits.round_length * objective.size, 0, 0
    kind, gains = 0, np.full(search.kinds, np.inf)  # kind of candidate lists, and the gains of its last rounds
    while done < perturbations and not budget.exhausted:
        count = min(length, -(-(perturbations - done) // threads.count))
        for one in searches:
            one.set_order(best)
            one.use_candidates(kind)
        hotter = min(1.0 + limits.reheating * idle, limits.hottest)  # after rounds without gain
        temperature = limits.temperature * hotter if count == length else 0.0  # too few to cool down
        done += _round(searches, streams, count, temperature, threads,
                       _progress_part(budget, done / perturbations, count * threads.count / perturbations))  # fmt: skip
        better = best
        for one in searches:
            found = one.order()
            candidates = [better, found]
            if (temperature > 0 or one is not search) and not budget.exhausted:
                candidates += [search.merge(better, found, budget), search.merge(found, better, budget)]
            better = min(candidates, key=objective)
        better = best_rotation(objective, better)
        gains[kind] = objective(best) - objective(better)
        idle = 0 if gains[kind] > 0 else idle + 1
        others = (kind + 1 + np.arange(search.kinds)) % search.kinds  # of equal kinds, take the next one
        kind = int(others[np.argmax(gains[others])])
        best = better
    return best


def _round(
    searches: list[TourSearch],
    streams: list[np.random.Generator],
    count: int,
    temperature: float,
    threads: Threads,
    budget: Budget,
) -> int:
    """Run one round in each thread; return the number of perturbations done."""

    def part(k: int, budget: Budget) -> int:
        return searches[k].perturb(streams[k], count, temperature, budget)

    return sum(threads.run(part, budget))


def _within(progress: Progress, begun: float, share: float) -> Progress:
    return lambda what, part: progress(what, begun + share * part)


def search_effort(objective: Linear, params: SolverParams = DEFAULTS) -> tuple[int, int]:
    """Return the usual numbers of perturbations and starts: mostly enough for the optimum up to 100 regions."""
    size, usual = objective.size, params.search
    if size <= usual.several_starts_regions:
        each = usual.few_perturbations if size <= usual.few_regions else usual.perturbations
        return each * size, usual.starts
    return min(usual.many_perturbations * size, max(usual.most_perturbations, size)), 1


def _part_of(progress: Progress, start: int, starts: int) -> Progress:
    return lambda what, share: progress(what, (start + share) / starts)


def _quick_start(objective: Linear, rng: np.random.Generator) -> IntArray:
    """Return a start order: greedy edges for symmetric travel, otherwise a nearest-neighbour path."""
    if objective.travel.symmetric:
        return greedy_edge_path(objective)
    start = int(rng.integers(objective.size))
    path: IntArray = nearest_neighbour_paths(objective.travel.matrix, np.array([start]))[0]
    return path
