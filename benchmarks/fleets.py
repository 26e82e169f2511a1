"""Search for the routes of a fleet: 10 s beside the best of longer restarts; and beside PyVRP where travel is all.

`python benchmarks/fleets.py` and `python benchmarks/fleets.py --pyvrp` (`pip install pyvrp`). Seconds are of processor
time, of both, in one thread, so that other work on the machine counts little.

Excess is of what routes change: the value less what no route can change. Where models are averaged, that is the error of
the mean model, which no average undercuts. Where models serve their own regions, it is the error of as many free models
as there are and the first one, each region served by the nearest: the least sum of squares that k-means found. If that
is not the least of all, the excess is overstated.

Beside PyVRP, all regions are required, vehicles start from a depot and return to it, and none may travel more than 1.15
times its share of the shortest tour and the mean way to a region and back. Every value is travel in float64.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import platform
import time
from importlib.metadata import version
from typing import Any

import numpy as np
from visits import drawn

from learnroute import Learner, Problem, Visits, plan
from learnroute.model.depot import Depot
from learnroute.model.fleet import Fleet
from learnroute.model.fleet_losses import fleet_objective_of
from learnroute.model.fleet_objective import FleetObjective, FleetRoutes
from learnroute.model.validation import FloatArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.fleets.search import search

LEARNERS = ("m = 80", "m = 120", "λ = 0.5")
MAPS = ("uniform", "clustered")
# what crossing the map costs, in errors of the first model over all regions; and whether all regions are required
TRAVEL = {"optional": (1e-3, False), "required": (0.03, True)}
FLEETS = {"vehicles": "{} vehicles", "depot": "{} vehicles, depot", "models": "{} models"}
SIZES, SIZES_PYVRP, SIZES_LIMITS = [200], [100, 200, 400], [1000]
WHOLE = 1e6  # of PyVRP's units of distance, which are whole numbers, in one of ours
CLUSTERINGS = 20


def problem_of(size: int, learner: str, place: str, kind: str, serve: Any, count: int, regions: str) -> Problem:
    """Return the problem of a row."""
    problem = drawn(size, learner, place == "clustered")
    rate, required = TRAVEL[regions]
    return problem.changed(
        travel_rate=rate * math.fsum(problem.dissimilarities.initial),
        depot=Depot(coordinates=(0.5, 0.5)) if kind == "depot" else None,
        visits=Visits(required="all" if required else ()),
        fleet=Fleet(models=count, serve=serve) if kind == "models" else Fleet(vehicles=count, serve=serve),
    )


def unchangeable(objective: FleetObjective) -> float:
    """Return the error of the mean model, or of the best free models that k-means finds."""
    points, initial = objective.visits.known.points, objective.visits.known.initial
    if objective.rules.merged:
        return float(((points - points.mean(axis=0)) ** 2).sum())
    return min(_clustered(points, initial, objective.rules.size, np.random.default_rng(i)) for i in range(CLUSTERINGS))


def _clustered(points: FloatArray, initial: FloatArray, count: int, rng: np.random.Generator) -> float:
    """Return the sum of squares to the nearest of some centres, the first model included, after Lloyd's steps."""
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


def routes_after(objective: FleetObjective, seconds: float, seed: int) -> FleetRoutes:
    """Return the routes found in so many seconds."""
    found = search(objective, np.random.default_rng(seed), Budget.of(seconds, spend_all=True)).routes
    assert found is not None
    assert objective.allows(found)
    return found


def beside_restarts(options: argparse.Namespace) -> None:
    """Print one row per problem: the search that is judged beside longer ones."""
    print(f"\n| T | map | learner | fleet | serve | regions | visits | best value | excess after {options.seconds:g} s |")
    print("|---|---|---|---|---|---|---|---|---|")
    rows = itertools.product(options.sizes or SIZES, options.learners, options.maps, options.kinds, options.serve,
                             options.counts, options.regions)  # fmt: skip
    for size, learner, place, kind, serve, count, regions in list(rows)[options.skip :: options.every]:
        objective = fleet_objective_of(problem_of(size, learner, place, kind, serve, count, regions))
        longer = [routes_after(objective, options.long, 100 + seed) for seed in range(options.restarts)]
        quick = [routes_after(objective, options.seconds, seed) for seed in range(options.seeds)]
        best = min([*longer, *quick], key=objective)
        mean = float(np.mean([objective(routes) for routes in quick]))
        excess = 100 * (mean - objective(best)) / (objective(best) - unchangeable(objective))
        found = f"{len(best.regions)} | {objective(best):.6g} | {excess:.2f} %"
        print(f"| {size} | {place} | {learner} | {FLEETS[kind].format(count)} | {serve} | {regions} | {found} |",
              flush=True)  # fmt: skip


def travel_alone(size: int, place: str, count: int) -> FleetObjective:
    """Return an objective of travel alone: all models are alike, and vehicles have a limit."""
    regions = drawn(size, "m = 80", place == "clustered")
    alone = Problem(coordinates=regions.coordinates, dissimilarity=np.zeros((size, size)), initial=np.zeros(size),
                    learner=Learner(80, 100, 0.0), depot=Depot(coordinates=(0.5, 0.5)))  # fmt: skip
    tour = size * plan(alone, method="search", time_limit=1.0).loss.travel
    radii = alone.ways.matrix[-1]
    limit = max(2.1 * float(radii.max()), 1.15 * (tour / count + 2 * float(radii.mean())))
    return fleet_objective_of(alone.changed(fleet=Fleet(vehicles=count, serve="own", limit=limit)))


class ProcessorTime:
    """PyVRP's stopping criterion: so many seconds of processor time."""

    def __init__(self, seconds: float) -> None:
        self.deadline = time.process_time() + seconds

    def __call__(self, _best: float) -> bool:
        return time.process_time() >= self.deadline


def routes_of_pyvrp(objective: FleetObjective, seconds: float, seed: int) -> FleetRoutes:
    """Return PyVRP's routes."""
    import pyvrp

    size, rules = objective.size, objective.rules
    order = [size, *range(size)]  # the depot comes first
    costs: Any = np.round(WHOLE * objective.visits.travel[np.ix_(order, order)]).astype(np.int64)
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
    return FleetRoutes.of_vehicles(routes + [[]] * (rules.vehicles - len(routes)))


def beside_pyvrp(options: argparse.Namespace) -> None:
    """Print one row per problem: travel of both after the same time."""
    print(f"PyVRP {version('pyvrp')}\n\n| T | map | vehicles | limit | learnroute | PyVRP | learnroute / PyVRP |")
    print("|---|---|---|---|---|---|---|")
    for size, place, count in itertools.product(options.sizes or SIZES_PYVRP, options.maps, options.counts):
        objective = travel_alone(size, place, count)
        ours, theirs = (
            float(np.mean([objective(find(objective, options.seconds, seed)) for seed in range(options.seeds)]))
            for find in (routes_after, routes_of_pyvrp)
        )
        found = f"{objective.rules.limit:.3f} | {ours:.4f} | {theirs:.4f} | {ours / theirs - 1:+.2%}"
        print(f"| {size} | {place} | {count} | {found} |", flush=True)


def time_limits(options: argparse.Namespace) -> None:
    """Print how long whole plans take beside their time limits, in processor time."""
    print("| T | learner | fleet | serve | time limit | processor seconds |\n|---|---|---|---|---|---|")
    for size, learner, kind, serve, limit in itertools.product(
        options.sizes or SIZES_LIMITS, options.learners, options.kinds, options.serve, options.limits
    ):
        problem = problem_of(size, learner, "uniform", kind, serve, 8, "required")
        started = time.process_time()
        plan(problem, method="search", time_limit=limit)
        taken = time.process_time() - started
        print(f"| {size} | {learner} | {FLEETS[kind].format(8)} | {serve} | {limit:g} s | {taken:.2f} |", flush=True)


def main() -> None:
    """Print the table that is asked for."""
    time.monotonic = time.process_time  # what deadlines go by
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pyvrp", action="store_true", help="travel alone, beside PyVRP")
    parser.add_argument("--limits", type=float, nargs="+", help="how long plans of T = 1000 with these limits take")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--learners", nargs="+", default=LEARNERS, choices=LEARNERS)
    parser.add_argument("--maps", nargs="+", default=MAPS, choices=MAPS)
    parser.add_argument("--kinds", nargs="+", default=list(FLEETS), choices=list(FLEETS))
    parser.add_argument("--serve", nargs="+", default=["merged", "own"], choices=["merged", "own"])
    parser.add_argument("--counts", type=int, nargs="+", default=[2, 4, 8], help="vehicles or models")
    parser.add_argument("--regions", nargs="+", default=list(TRAVEL), choices=list(TRAVEL))
    parser.add_argument("--every", type=int, default=1, help="show each so many-th row only")
    parser.add_argument("--skip", type=int, default=0, help="rows to leave out before")
    parser.add_argument("--seconds", type=float, default=10.0, help="of the search that is judged, and of PyVRP")
    parser.add_argument("--long", type=float, default=30.0, help="seconds of each restart that it is compared with")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=1, help="searches that are judged, of which the mean is shown")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    table = beside_pyvrp if options.pyvrp else time_limits if options.limits else beside_restarts
    table(options)


if __name__ == "__main__":
    main()
