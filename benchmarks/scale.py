"""How time, memory and quality grow with the number of regions: `python benchmarks/scale.py`.

Uniform points in a unit square, scores from 5-dimensional vectors, both regimes; each size in a separate process.
The last column is the route's travel over 0.7124·sqrt(T·A), which the shortest tour of many random points approaches.

--growth     time against T for Algorithm 1 and the search, family `places`; also a picture, docs/images/growth.png
--few        the search in 2 s against proved optima, over regime, up to 50 regions
--algorithm1 Algorithm 1 against networkx's Christofides tour and OR-Tools' Christofides start, on the same travel
--shared     the search if many regions share a place, against the search through the places alone

Prints Markdown tables, shown in docs/appendix/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from learnroute import Learner, Objective, Problem, objective_of, plan
from learnroute.model.validation import FloatArray, IntArray
from learnroute.plots.pictures import BLUE, GREEN, VERMILLION, save_figure, tidy
from learnroute.solvers.construction.algorithm1 import algorithm1
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search.iterated import iterated_local_search
from learnroute.study.families import SIDE, random_problem

LEARNERS = {"under": Learner(80, 100, 0.1), "over": Learner(120, 100, 0.1)}
CONSTANT = 0.7124
MOST_FOR_ALGORITHM1 = 10_000
GROWTH_SIZES = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
GROWTH_COLUMNS = {  # (method, regime): name, colour, marker, dash
    ("algorithm1", "under"): ("Algorithm 1", BLUE, "o", "-"),
    ("search", "under"): ("search, under", GREEN, "D", "-"),
    ("search", "over"): ("search, over", VERMILLION, "s", "--"),
    ("once", "under"): ("one perturbation per region, under", GREEN, "v", "-"),
    ("once", "over"): ("one perturbation per region, over", VERMILLION, "^", "--"),
}
PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "growth.png"
FEW_SIZES, FEW_FEATURES = (20, 30, 50), (102, 120, 200, 1000)
FEW_FAMILIES = ("uniform", "closure", "euclidean", "vectors")
SHARED, SHARED_LIMIT = ((50, 100), (500, 12), (1000, 3)), 5.0  # places and regions on each; seconds
SEARCH_LIMIT, PROOF_LIMIT, BAR = 2.0, 60.0, 0.005  # seconds, seconds, share of the optimum


def problem_of(size: int, regime: str, family: str, seed: int = 1) -> Problem:
    """Return a problem of a named family; `unit` means places in a unit square."""
    if family != "unit":
        return random_problem(family, size, LEARNERS[regime], seed)
    rng = np.random.default_rng(seed)
    places, vectors = rng.uniform(0, 1, (size, 2)), rng.normal(0, 1, (size, 5))
    # scores as large as a few legs for every T; otherwise the last region alone would decide
    vectors *= math.sqrt(0.05 / size)
    return Problem(learner=LEARNERS[regime], coordinates=places, vectors=vectors / math.sqrt(size))


def solve(method: str, objective: Objective, rng: np.random.Generator) -> IntArray:
    if method == "algorithm1":
        return algorithm1(objective, rng, Budget()).order
    if method == "once":
        return iterated_local_search(objective, rng, Budget(), objective.size)
    return iterated_local_search(objective, rng, Budget())


def measure(method: str, size: int, regime: str, family: str = "unit") -> dict[str, float]:
    """Run one method once."""
    rng = np.random.default_rng(0)
    solve(method, objective_of(problem_of(400, regime, family)), rng)
    objective = objective_of(problem_of(size, regime, family))
    started, processor = time.perf_counter(), time.process_time()
    order = solve(method, objective, rng)
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    travel, side = math.fsum(objective.legs(order)), 1.0 if family == "unit" else SIDE
    return {
        "T": size,
        "seconds": seconds,
        "processor": processor,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "ratio": travel / (CONSTANT * side * math.sqrt(size)),
    }


def apart(method: str, size: int, regime: str, family: str = "unit") -> dict[str, float]:
    command = [sys.executable, __file__, "--one", method, str(size), regime, family]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def exponent(sizes: list[int], seconds: list[float]) -> tuple[float, float]:
    """Return a and c of the least-squares line: seconds = c·T^a."""
    slope, level = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope), float(np.exp(level))


def scale(sizes: list[int], regimes: list[str], methods: list[str]) -> None:
    """Print time, memory and quality, size by size."""
    print(
        "| method | regime | T | seconds | processor | memory | travel / 0.7124·√(T·A) |\n|---|---|---|---|---|---|---|"
    )
    for method in methods:
        for regime in regimes:
            rows = []
            for size in sizes:
                if method == "algorithm1" and (size > MOST_FOR_ALGORITHM1 or regime != "under"):
                    continue
                row = apart(method, size, regime)
                rows.append(row)
                print(f"| {method} | {regime} | {size:,} | {row['seconds']:.1f} | {row['processor']:.1f} "
                      f"| {row['memory']:.2f} GiB | {row['ratio']:.4f} |", flush=True)  # fmt: skip
            if len(rows) > 2:
                slope, _ = exponent([int(r["T"]) for r in rows], [r["processor"] for r in rows])
                print(f"| {method} | {regime} | | processor time grows as T^{slope:.2f} | | | |", flush=True)


def growth(sizes: Sequence[int], picture: Path) -> None:
    """Print processor time (and wall time) against T, with exponents, and draw it."""
    print("Processor time in seconds, wall time in brackets.\n")
    print("| T | " + " | ".join(name for name, *_ in GROWTH_COLUMNS.values()) + " |")
    print("|---" * (len(GROWTH_COLUMNS) + 1) + "|")
    found: dict[tuple[str, str], list[tuple[int, float]]] = {column: [] for column in GROWTH_COLUMNS}
    for size in sizes:
        cells = []
        for method, regime in GROWTH_COLUMNS:
            if method == "algorithm1" and size > MOST_FOR_ALGORITHM1:
                cells.append("–")
                continue
            row = apart(method, size, regime, "places")
            found[method, regime].append((size, row["processor"]))
            cells.append(f"{row['processor']:.3g} ({row['seconds']:.3g})")
        print(f"| {size:,} | " + " | ".join(cells) + " |", flush=True)
    lines = {column: exponent(*map(list, zip(*points, strict=True))) for column, points in found.items()}
    print("| grows as | " + " | ".join(f"T^{lines[column][0]:.2f}" for column in GROWTH_COLUMNS) + " |")
    picture.parent.mkdir(parents=True, exist_ok=True)
    save_figure(growth_figure(found, lines), picture)


def growth_figure(
    found: dict[tuple[str, str], list[tuple[int, float]]], lines: dict[tuple[str, str], tuple[float, float]]
) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.subplots()
    for column, points in found.items():
        name, colour, marker, dash = GROWTH_COLUMNS[column]
        slope, factor = lines[column]
        sizes, seconds = (np.array(values, dtype=float) for values in zip(*points, strict=True))
        label = f"{name}: grows as $T^{{{slope:.2f}}}$"
        axes.plot(sizes, seconds, color=colour, ls=dash, marker=marker, ms=4.5, lw=1.6, label=label)
        axes.plot(sizes, factor * sizes**slope, color=colour, ls=":", lw=1.1)
    axes.set(xscale="log", yscale="log", xlabel="number of regions T", ylabel="processor time in seconds")
    tidy(axes)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    title = "Processor time against the number of regions; dotted: least-squares fit"
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    return figure


def few(sizes: Sequence[int], features: Sequence[int]) -> None:
    """Print the excess of the search over proved optima, for the worst family of each row."""
    print(f"Search with a limit of {SEARCH_LIMIT:g} s, beside method exact with {PROOF_LIMIT:g} s; n = 100.\n")
    print("| T | m | proved | worst gap | in family | within 0.5 % | longest search |\n|---|---|---|---|---|---|---|")
    for size in sizes:
        for many in features:
            gaps, proved, longest = {}, 0, 0.0
            for family in FEW_FAMILIES:
                problem = random_problem(family, size, Learner(many, 100, 0.1), 1)
                started = time.perf_counter()
                found = plan(problem, "search", time_limit=SEARCH_LIMIT)
                longest = max(longest, time.perf_counter() - started)
                best = plan(problem, "exact", time_limit=PROOF_LIMIT)
                proved += best.optimal
                bound = best.loss.total if best.optimal else best.lower_bound
                assert bound is not None
                gaps[family] = found.loss.total / bound - 1
            worst = max(gaps, key=lambda family: gaps[family])
            print(f"| {size} | {many} | {proved} of {len(gaps)} | {100 * max(gaps[worst], 0):.4f} % | {worst} "
                  f"| {'yes' if gaps[worst] <= BAR else 'no'} | {longest:.2f} s |", flush=True)  # fmt: skip


def shared(limit: float = SHARED_LIMIT) -> None:
    """Print the travel of a search among regions that share places, divided by that of a search among the places."""
    print(f"Limit {limit:g} s for the regions; scores of a few legs, as above.\n")
    print("| places | regions on each | regime | travel / that of the places alone | seconds |\n|---|---|---|---|---|")
    for places, copies in SHARED:
        rng = np.random.default_rng(1)
        alone = rng.uniform(0, 1, (places, 2))
        crowd = rng.permutation(np.repeat(alone, copies, axis=0))
        vectors = rng.normal(0, math.sqrt(0.05 / places / len(crowd)), (len(crowd), 5))
        one = objective_of(Problem(learner=LEARNERS["under"], coordinates=alone, vectors=np.zeros((places, 1))))
        least = math.fsum(one.legs(solve("search", one, np.random.default_rng(0))))
        for regime, learner in LEARNERS.items():
            objective = objective_of(Problem(learner=learner, coordinates=crowd, vectors=vectors))
            started = time.perf_counter()
            order = iterated_local_search(objective, np.random.default_rng(0), Budget.of(limit))
            seconds = time.perf_counter() - started
            print(f"| {places} | {copies} | {regime} | {math.fsum(objective.legs(order)) / least:.4f} "
                  f"| {seconds:.1f} |", flush=True)  # fmt: skip


def beside_christofides(networkx_size: int, ortools_size: int) -> None:
    """Print the times of Algorithm 1 and of other Christofides tours on the same travel, without scores."""
    print("Seconds, least of five (networkx: one). Peers get the plain travel costs as a matrix, their graph or model")
    print("made before the clock starts; Algorithm 1 gets the same matrix, with scores.\n")
    print("| T | Algorithm 1 | peer | peer's time | peer / Algorithm 1 |\n|---|---|---|---|---|")
    for peer, size, prepare, times in (
        ("networkx", networkx_size, christofides_of_networkx, 1),
        ("ortools", ortools_size, christofides_of_ortools, 5),
    ):
        objective = objective_of(random_problem("euclidean", size, LEARNERS["under"], 1))
        solve("algorithm1", objective, np.random.default_rng(0))
        try:
            job, name = prepare(objective.travel.matrix), f"{peer} {version(peer)}"
        except (ImportError, PackageNotFoundError) as trouble:
            print(f"| {size} | – | {peer} | {trouble} | – |", flush=True)
            continue
        theirs = least_time(job, times)
        ours = least_time(lambda given=objective: solve("algorithm1", given, np.random.default_rng(0)), 5)  # type: ignore[misc]
        print(f"| {size} | {ours:.4f} | {name} | {theirs:.4f} | {theirs / ours:.2f} |", flush=True)


def least_time(job: Callable[[], object], times: int) -> float:
    best = math.inf
    for _ in range(times):
        started = time.perf_counter()
        job()
        best = min(best, time.perf_counter() - started)
    return best


def christofides_of_networkx(travel: FloatArray) -> Callable[[], object]:
    import networkx

    graph = networkx.from_numpy_array(travel)
    return lambda: networkx.approximation.christofides(graph)


def christofides_of_ortools(travel: FloatArray) -> Callable[[], object]:
    """Return OR-Tools' first solution by Christofides' rule, without local search."""
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    manager = pywrapcp.RoutingIndexManager(len(travel), 1, 0)
    routing = pywrapcp.RoutingModel(manager)
    costs = np.rint(travel * (10**9 / travel.max())).astype(np.int64)
    routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(costs.tolist()))
    settings = pywrapcp.DefaultRoutingSearchParameters()
    settings.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.CHRISTOFIDES
    settings.solution_limit = 1
    routing.CloseModelWithParameters(settings)
    return lambda: routing.SolveWithParameters(settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", help="T, instead of the usual ones")
    parser.add_argument("--regimes", nargs="+", default=list(LEARNERS))
    parser.add_argument("--methods", nargs="+", default=["algorithm1", "search"])
    parser.add_argument("--features", type=int, nargs="+", default=FEW_FEATURES, help="m for --few, with n = 100")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where --growth draws")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--algorithm1", action="store_true")
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        method, size, regime, *family = given.one
        print(json.dumps(measure(method, int(size), regime, *family)))
        return
    print(f"Python {platform.python_version()}, numpy {version('numpy')}; "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    if given.growth:
        growth(given.sizes or GROWTH_SIZES, given.picture)
    if given.few:
        few(given.sizes or FEW_SIZES, given.features)
    if given.algorithm1:
        beside_christofides(*(given.sizes or (500, 1000)))
    if given.shared:
        shared()
    if not (given.growth or given.few or given.algorithm1 or given.shared):
        scale(given.sizes or [1000, 3000, 10_000, 30_000, 100_000], given.regimes, given.methods)


if __name__ == "__main__":
    main()
