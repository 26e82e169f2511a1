"""Search for the routes of a fleet: 10 s against the best of longer restarts, and against PyVRP for travel alone.

`python benchmarks/fleets.py`, and with `--pyvrp` (`pip install pyvrp`). Both are timed in processor seconds
in one thread, so that other work on the machine matters little.

The excess is relative to the value minus a constant part, which does not depend on the routes. If models are averaged,
the constant part is the error of the mean model, which is a lower bound for every average. If models serve their own
regions, it is the error of as many free models, plus the initial model, with each region served by the nearest one: the
smallest sum of squares that k-means found. If that is not the minimum, the excess is overstated.

In the comparison with PyVRP, all regions are required, vehicles start from a depot and return to it, and no vehicle may
travel more than 1.15 times the sum of its share of the shortest tour and the mean distance to a region and back. Every
value is travel in float64.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from learnroute import Learner, Problem, Visits, plan
from learnroute.model.depot import Depot
from learnroute.model.fleet import Fleet
from learnroute.model.instance import Instance
from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.methods import METHODS
from learnroute.solvers.solve import solve
from visits import drawn

MAPS = ("uniform", "clustered")
# cost of crossing the map, in errors of the initial model over all regions; and whether all regions are required
TRAVEL = {"optional": (1e-3, False), "required": (0.03, True)}
FLEETS = {"vehicles": "{} vehicles", "depot": "{} vehicles, depot", "models": "{} models"}
# learner, map, fleet, how models serve, vehicles or models, regions
ROWS = (
    ("λ = 0.5", "uniform", "models", "own", 8, "required"),
    ("m = 120", "clustered", "depot", "merged", 8, "required"),
    ("m = 120", "uniform", "models", "own", 8, "required"),
    ("λ = 0.5", "uniform", "vehicles", "own", 2, "optional"),
    ("λ = 0.5", "clustered", "depot", "merged", 8, "required"),
    ("m = 80", "uniform", "depot", "merged", 2, "required"),
    ("m = 80", "clustered", "vehicles", "own", 8, "required"),
    ("m = 120", "uniform", "models", "merged", 4, "optional"),
    ("λ = 0.5", "uniform", "vehicles", "merged", 4, "required"),
    ("m = 80", "clustered", "models", "own", 4, "required"),
    ("m = 120", "uniform", "depot", "own", 8, "optional"),
    ("λ = 0.5", "clustered", "models", "merged", 8, "optional"),
)
SIZES, SIZES_PYVRP, SIZES_LIMITS = [200], [100, 200, 400], [1000]
WHOLE = 1e6  # PyVRP's units of distance, which are integers, per unit of ours
CLUSTERINGS = 20
AGREEMENT = 1e-9  # relative difference up to which two values are the same


def problem_of(size: int, learner: str, place: str, kind: str, serve: Any, count: int, regions: str) -> Problem:
    """Return the problem of a row."""
    problem = drawn(size, learner, place == "clustered")
    rate, required = TRAVEL[regions]
    return problem.replace(
        travel_rate=rate * math.fsum(problem.dissimilarities.initial),
        depot=Depot(coordinates=(0.5, 0.5)) if kind == "depot" else None,
        visits=Visits(required="all" if required else ()),
        fleet=Fleet(models=count, serve=serve) if kind == "models" else Fleet(vehicles=count, serve=serve),
    )


def unchangeable(instance: Instance) -> float:
    """Return the error of the mean model, or of the best free models that k-means finds."""
    points, initial = instance.known.points, instance.known.initial
    if instance.fleet.merged:
        return float(((points - points.mean(axis=0)) ** 2).sum())
    return min(_clustered(points, initial, instance.fleet.size, np.random.default_rng(i)) for i in range(CLUSTERINGS))


def _clustered(points: FloatArray, initial: FloatArray, count: int, rng: np.random.Generator) -> float:
    """Return the sum of squares to the nearest centre, which may be the initial model, after Lloyd's algorithm."""
    centres = points[rng.permutation(len(points))[:count]]
    before = math.inf
    while True:
        apart = np.vstack([((points - centre) ** 2).sum(axis=1) for centre in centres] + [initial])
        nearest, least = apart.argmin(axis=0), float(apart.min(axis=0).sum())
        if least >= before:
            return least
        before = least
        near = [points[nearest == number] for number in range(count)]
        centres = np.array([some.mean(axis=0) if len(some) else old for some, old in zip(near, centres, strict=True)])


def routes_after(instance: Instance, seconds: float, seed: int) -> Routes:
    """Return the routes found in the given number of seconds."""
    budget = Budget.of(seconds, spend_all=True)
    found = solve(instance, METHODS["search"], np.random.default_rng(seed), budget, bounds=False).routes
    assert found is not None
    assert instance.allows(found)
    return found


def beside_restarts(options: argparse.Namespace) -> None:
    """Print one row per problem: the excess of each evaluated search over the best value of all."""
    record = json.loads(options.record.read_text()) if options.record and options.record.exists() else {}
    excesses = f"excess after {options.seconds:g} s"
    print(f"\n| T | map | learner | fleet | serve | regions | restarts | vehicles, models | best value | {excesses} |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for size, number in itertools.product(options.sizes or SIZES, options.rows or range(len(ROWS))):
        learner, place, kind, serve, count, regions = ROWS[number]
        instance = problem_of(size, learner, place, kind, serve, count, regions).instance
        seeds = range(options.first_seed, options.first_seed + options.seeds)
        quick = [value_and_use(instance, options.seconds, seed) for seed in seeds]
        longer = record.get(f"{size} {number}", [])
        for seed in range(options.restarts):
            longer.append(value_and_use(instance, options.long, 100 + seed))
            if sum(value <= min(longer)[0] * (1 + AGREEMENT) for value, _ in longer) == options.agree:
                break
        best, used = min(map(tuple, [*longer, *quick]))
        if options.record:
            record[f"{size} {number}"] = [*longer, *quick]
            options.record.write_text(json.dumps(record))
        free = best - unchangeable(instance)
        found = ", ".join(f"{100 * (value - best) / free:.2f}" for value, _ in quick)
        row = f"{size} | {place} | {learner} | {FLEETS[kind].format(count)} | {serve} | {regions} | {len(longer)}"
        print(f"| {row} | {used} | {best:.6g} | {found} % |", flush=True)


def value_and_use(instance: Instance, seconds: float, seed: int) -> tuple[float, int]:
    """Return the value found in the given number of seconds, and the number of vehicles or models used."""
    routes = routes_after(instance, seconds, seed)
    return instance(routes), sum(map(bool, routes.trainings(instance.fleet.size)))


def travel_alone(size: int, place: str, count: int) -> Instance:
    """Return an instance of travel alone: all models are equal, and vehicles have a travel limit."""
    regions = drawn(size, "m = 80", place == "clustered")
    alone = Problem(coordinates=regions.coordinates, dissimilarity=np.zeros((size, size)), initial=np.zeros(size),
                    learner=Learner(80, 100, 0.0), depot=Depot(coordinates=(0.5, 0.5)))  # fmt: skip
    tour = size * plan(alone, method="search", time_limit=1.0).loss.travel
    radii = alone.ways.matrix[-1]
    limit = max(2.1 * float(radii.max()), 1.15 * (tour / count + 2 * float(radii.mean())))
    return alone.replace(fleet=Fleet(vehicles=count, serve="own", limit=limit)).instance


class ProcessorTime:
    """A stopping criterion for PyVRP: a number of seconds of processor time."""

    def __init__(self, seconds: float) -> None:
        self.deadline = time.process_time() + seconds

    def __call__(self, best_cost: float) -> bool:
        """Return whether the time is over."""
        return time.process_time() >= self.deadline


def routes_of_pyvrp(instance: Instance, seconds: float, seed: int) -> Routes:
    """Return PyVRP's routes."""
    import pyvrp

    size, rules = instance.size, instance.fleet
    order = [size, *range(size)]  # the depot comes first
    costs: Any = np.round(WHOLE * instance.travel.matrix[np.ix_(order, order)]).astype(np.int64)
    data = pyvrp.ProblemData(
        [pyvrp.Location(0, 0) for _ in costs],
        [pyvrp.Client(vertex) for vertex in range(1, len(costs))],
        [pyvrp.Depot(0)],
        [pyvrp.VehicleType(num_available=rules.vehicles, max_distance=int(WHOLE * rules.limit))],
        [costs],
        [np.zeros_like(costs)],
    )
    found = pyvrp.solve(data, ProcessorTime(seconds), seed=seed, collect_stats=False)
    assert found.is_feasible()
    routes = [[stop.idx for stop in route if stop.is_client()] for route in found.best.routes()]
    return Routes.of_vehicles(routes + [[]] * (rules.vehicles - len(routes)))


def beside_pyvrp(options: argparse.Namespace) -> None:
    """Print one row per problem: the travel of both after the same time."""
    print(f"\nPyVRP {version('pyvrp')}\n\n| T | map | vehicles | limit | learnroute | PyVRP | learnroute / PyVRP |")
    print("|---|---|---|---|---|---|---|")
    for size, place, count in itertools.product(options.sizes or SIZES_PYVRP, options.maps, options.counts):
        instance = travel_alone(size, place, count)
        ours, theirs = (
            float(np.mean([instance(find(instance, options.seconds, seed)) for seed in range(options.seeds)]))
            for find in (routes_after, routes_of_pyvrp)
        )
        found = f"{instance.fleet.limit:.3f} | {ours:.4f} | {theirs:.4f} | {ours / theirs - 1:+.2%}"
        print(f"| {size} | {place} | {count} | {found} |", flush=True)


def time_limits(options: argparse.Namespace) -> None:
    """Print the processor time of whole plans and their time limits."""
    print("\n| T | learner | fleet | serve | time limit | processor seconds |\n|---|---|---|---|---|---|")
    rows = [ROWS[number] for number in options.rows or range(len(ROWS))]
    for size, row, limit in itertools.product(options.sizes or SIZES_LIMITS, rows, options.limits):
        learner, place, kind, serve, count, regions = row
        problem = problem_of(size, learner, place, kind, serve, count, regions)
        started = time.process_time()
        plan(problem, method="search", time_limit=limit)
        taken = time.process_time() - started
        fleet = FLEETS[kind].format(count)
        print(f"| {size} | {learner} | {fleet} | {serve} | {limit:g} s | {taken:.2f} |", flush=True)


def main() -> None:
    """Print the requested table."""
    time.monotonic = time.process_time  # the clock of deadlines
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pyvrp", action="store_true", help="travel alone, beside PyVRP")
    parser.add_argument("--limits", type=float, nargs="+", help="how long plans of T = 1000 with these limits take")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--rows", type=int, nargs="+", help="of the table beside restarts, from 0; default: all")
    parser.add_argument("--maps", nargs="+", default=MAPS, choices=MAPS, help="beside PyVRP")
    parser.add_argument("--counts", type=int, nargs="+", default=[2, 4, 8], help="vehicles, beside PyVRP")
    parser.add_argument("--seconds", type=float, default=10.0, help="of the search that is judged, and of PyVRP")
    parser.add_argument("--long", type=float, default=30.0, help="seconds of each restart that it is compared with")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--agree", type=int, default=4, help="stop restarts when this many found the best value")
    parser.add_argument("--record", type=Path, help="file with the values of earlier runs, which count as restarts")
    parser.add_argument("--seeds", type=int, default=1, help="number of searches that are judged")
    parser.add_argument("--first-seed", type=int, default=0, help="seed of the first of them")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    table = beside_pyvrp if options.pyvrp else time_limits if options.limits else beside_restarts
    table(options)


if __name__ == "__main__":
    main()
