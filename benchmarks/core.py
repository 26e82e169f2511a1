"""Speed of the compiled core relative to a second installation: `python benchmarks/core.py --against OTHER/bin/python`.

One process per installation runs the same work in turn, so that both see the same load; the first run of each is not
counted. Times are processor times. The ratio is the other installation's time divided by this one's, so a ratio above 1
means that this installation is faster. `--cases` selects cases by a part of their name.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack

import numpy as np

from learnroute.model.linear import Weighted
from learnroute.model.travel import Places, TravelMatrix
from learnroute.solvers.contract import Budget
from learnroute.solvers.core_travel import place_travel
from learnroute.solvers.exact.branch_and_cut.separation import violated_subtours
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.exact.incumbent import Incumbent
from learnroute.solvers.exact.ng_route.solver import NgRouteProof
from learnroute.solvers.exact.one_tree import one_tree_bound
from learnroute.solvers.local_search.candidates import both_candidates, candidates_of
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.solvers.local_search.population import Population
from learnroute.solvers.local_search.threads import Threads
from learnroute.solvers.local_search.tour_search import TourSearch
from learnroute.solvers.matching.perfect_matching import minimum_matching
from learnroute.solvers.params import DEFAULTS, OneTreeParams

Run = Callable[[int], object]  # takes the number of the run, for seeds
SAMPLES = 100
PERTURBATIONS = 5000  # per run
K_OPT = DEFAULTS.search.k_opt


def points(size: int, seed: int = 0) -> Places:
    return Places(np.random.default_rng(seed).random((size, 2)))


def problem(size: int, features: int, matrix: bool = True) -> Weighted:
    """Return uniform regions in the over regime, or in the under regime, where only the last score counts."""
    rate = max(0.0, 1 - SAMPLES / features)
    with np.errstate(under="ignore"):
        weights = (1 - rate) * rate ** np.arange(size - 1, -1, -1.0)
    places = points(size)
    travel = TravelMatrix(places.matrix) if matrix else places
    return Weighted(travel, np.random.default_rng(1).uniform(1, 3, size), weights)


def searched(objective: Weighted, perturbations: int = 1, seed: int = 0) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return iterated_local_search(objective, np.random.default_rng(seed), Budget(), perturbations)


def local_search(objective: Weighted) -> TourSearch:
    near, alpha = both_candidates(objective, K_OPT, Budget())
    return TourSearch(objective, searched(objective), near, K_OPT, alpha)


def perturb(size: int, features: int, matrix: bool) -> Run:
    search = local_search(problem(size, features, matrix))
    return lambda run: search.perturb(np.random.default_rng(run), PERTURBATIONS, 0.0, Budget())


def cross(size: int) -> Run:
    search = local_search(problem(size, 80))
    population = Population(search, search.order(), Threads(1), DEFAULTS.search.population)
    population.create(30, 0.0, np.random.default_rng(0), Budget())
    tours, values = population.tours.copy(), population.values.copy()

    def run(number: int) -> None:
        population.tours, population.values = tours.copy(), values.copy()
        population.evolve(np.random.default_rng(number), Budget())

    return run


def separate(size: int) -> Run:
    x = np.zeros((size, size))  # a mixture of tours
    for seed in range(4):
        order = searched(problem(size, 80), 1 + 40 * seed, seed)
        x[order, np.roll(order, 1)] += 0.25
    return lambda run: violated_subtours(x + x.T)


def one_tree(size: int) -> Run:
    objective = problem(size, 80)
    value = objective(searched(objective))
    return lambda run: one_tree_bound(objective, value, Budget(), OneTreeParams())


def label(size: int, features: int) -> Run:
    objective = problem(size, features)
    order = searched(objective, 1000)
    few = DEFAULTS.proof._replace(ng_route=DEFAULTS.proof.ng_route._replace(rounds=1))
    params = DEFAULTS._replace(proof=few)
    return lambda run: NgRouteProof(Incumbent(objective, order), np.random.default_rng(run), Budget(), params).run()


CASES: dict[str, Callable[[], Run]] = {
    f"perturbations, T = {size}, {regime}, {'matrix' if matrix else 'places'}": (
        lambda size=size, features=features, matrix=matrix: perturb(size, features, matrix)
    )
    for size in (200, 1000, 5000)
    for regime, features in {"under": 80, "over m = 120": 120, "over m = 1000": 1000}.items()
    for matrix in (True, False)
} | {
    "crossover, T = 200": lambda: cross(200),
    "crossover, T = 1000": lambda: cross(1000),
    "matching, T = 300": lambda: lambda run: minimum_matching(points=points(300, run).places),
    "matching, T = 1000": lambda: lambda run: minimum_matching(points=points(1000, run).places),
    "k-d tree, T = 20000": lambda: lambda run: place_travel(points(20_000)).tree().nearest(10),
    "candidate lists, T = 20000, places": lambda: lambda run: candidates_of(problem(20_000, 80, matrix=False), 8),
    "candidate lists and alpha-nearness, T = 2000, places": lambda: lambda run: both_candidates(
        problem(2000, 80, matrix=False), K_OPT, Budget()
    ),
    "1-tree, T = 200": lambda: one_tree(200),
    "1-tree, T = 1000": lambda: one_tree(1000),
    "min-cut separation, T = 300": lambda: separate(300),
    "ng-labelling, T = 30, over m = 120": lambda: label(30, 120),
    "ng-labelling, T = 40, over m = 1000": lambda: label(40, 1000),
    "Held-Karp, T = 16": lambda: lambda run: held_karp(problem(16, 120), np.random.default_rng(0), Budget()),
}  # fmt: skip


def work(case: str) -> None:
    """Run a case once per line of standard input, and print the processor time that it took."""
    run = CASES[case]()
    for number, _ in enumerate(sys.stdin):
        started = time.process_time()
        run(number)
        print(time.process_time() - started, flush=True)


def seconds(python: str, case: str) -> Generator[float, None, None]:
    """Yield the processor time of one run after another in a separate process."""
    command = [python, __file__, "--work", case]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            while True:
                process.stdin.write("run\n")
                yield float(process.stdout.readline())
        finally:
            process.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", help="the interpreter of a second installation; without it, times alone")
    parser.add_argument("--cases", default="", help="a part of the names of the cases to run")
    parser.add_argument("--pairs", type=int, default=7, help="runs of each installation")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is not None:
        work(given.work)
        return
    pythons = [sys.executable, *([given.against] if given.against else [])]
    print("| case | seconds here | ratio: lower quartile | median | upper quartile |\n|---|---|---|---|---|")
    medians = []
    for case in CASES:
        if given.cases not in case:
            continue
        with ExitStack() as stack:
            runs = [seconds(python, case) for python in pythons]
            for each in runs:
                stack.callback(each.close)
                next(each)
            times = np.array([[next(each) for each in runs] for _ in range(given.pairs)])
        ratios = np.quantile(times[:, -1] / times[:, 0], [0.25, 0.5, 0.75])
        medians.append(ratios[1])
        print(f"| {case} | {np.median(times[:, 0]):.3f} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |",
              flush=True)  # fmt: skip
    print(f"\nGeometric mean of the medians: {np.exp(np.mean(np.log(medians))):.2f}; least: {min(medians):.2f}")


if __name__ == "__main__":
    main()
