"""The search compared with its peers on the same problems in the same time: `python benchmarks/peers.py`.

In the under regime, the problem is a travelling salesman problem with a cost of the last region, and each peer gets the
formulation that worked best for it in trials. Most get T + 2 vertices: `out`, joined to each region at the cost of its
score, and `home`, joined to each region at cost 0, with an edge between the two that is in every shortest tour. Only
differences of scores matter, so the lowest score is subtracted from all of them, and scores are capped at two of the
longest edges above it, because no shortest route ends there. Integer costs then have the finest resolution that each
peer permits. Peers that accept fractions and asymmetric costs get T + 1 vertices: leaving `out` is free, and reaching
it costs the score of the last region.

In the over regime, no peer can express position weights. Each gets two problems, each with the whole time: travel alone
(a shortest path), and travel with the weight of the last position (`end-aware`).

With `--tsplib FOLDER`: closed tours through EUC_2D instances with known optimum, compared with fast-tsp only.

Every value is computed by our objective in float64, in the better direction of the peer's route. Each peer runs in one
thread of a separate process, with its matrix made before the clock starts; a peer that hangs is stopped. To install:
pip install fast-tsp elkai ortools pyvrp networkx; and pip install --no-deps python-tsp, which pins an old networkx.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from learnroute import Learner, Objective, objective_of
from learnroute.model.ends import Ends
from learnroute.model.linear import Weighted
from learnroute.model.travel import Places, TravelMatrix
from learnroute.model.validation import FloatArray, IntArray
from learnroute.study.families import random_problem

SCRIPT = Path(__file__).resolve()
LIMITS = {200: 10.0, 1000: 30.0}
USUAL_LIMIT = 30.0
PATIENCE = 10.0  # multiple of the limit, plus a minute, after which a process is stopped
LONGEST_ROUND = 0.2  # share of the time, for peers that are called round by round
TRAVEL_ONLY, END_AWARE = "travel only", "end-aware"


class Row(NamedTuple):
    """The result of one solver, or why it has none."""

    name: str
    form: str
    seconds: float = float("nan")
    value: float = float("inf")
    travel: float = float("inf")
    trouble: str = ""


def differences(objective: Objective) -> FloatArray:
    """Return the cost of ending at each region, minus the lowest one."""
    ends: FloatArray = objective.weights[-1] * (objective.scores - objective.scores.min())
    return ends


def by_direction(travel: FloatArray, ends: FloatArray) -> FloatArray:
    """Return costs on T + 1 vertices: 0 from `out` (T) to every region, and the cost of ending back to `out`."""
    size = len(travel)
    costs = np.zeros((size + 1, size + 1))
    costs[:size, :size] = travel
    costs[:size, size] = ends
    return costs


def both_ways(travel: FloatArray, ends: FloatArray) -> FloatArray:
    """Return symmetric costs: on T + 1 vertices if ends are free, otherwise on T + 2 with `home`.

    The edge between `out` and `home` is in every shortest tour: without it, four edges instead of two would cost extra,
    while bypassing `home` lengthens a tour by one edge at most. Any region can be moved to the end for two of the
    longest edges, so no end needs to cost more.
    """
    size = len(travel)
    if not ends.any():
        return by_direction(travel, ends)
    longest = float(travel.max())
    extra = 0.51 * longest
    costs = np.zeros((size + 2, size + 2))
    costs[:size, :size] = travel
    costs[size, :size] = np.minimum(ends, 2 * longest) + extra
    costs[size + 1, :size] = extra
    costs[:size, size:] = costs[size:, :size].T
    return costs


def whole(costs: FloatArray, largest: int) -> IntArray:
    """Return costs as integers up to `largest`."""
    numbers: IntArray = np.rint(costs * (largest / costs.max())).astype(np.int64)
    return numbers


def learnroute(objective: Objective, seconds: float) -> list[int]:
    """Search until the time is up."""
    from learnroute.solvers.contract import Budget
    from learnroute.solvers.local_search.iterated import iterated_local_search

    order: list[int] = iterated_local_search(objective, np.random.default_rng(0), Budget.of(seconds), 10**9).tolist()
    return order


def fast_tsp(travel: FloatArray, ends: FloatArray) -> Callable[[float], list[int]]:
    import fast_tsp

    costs = whole(both_ways(travel, ends), 65_535)
    return lambda seconds: list(fast_tsp.find_tour(costs, duration_seconds=seconds))


def fast_tsp_closed(travel: FloatArray) -> Callable[[float], list[int]]:
    """Return a solver of closed tours by fast-tsp for integer distances, without scaling."""
    import fast_tsp

    costs = travel.astype(np.int64)
    return lambda seconds: list(fast_tsp.find_tour(costs, duration_seconds=seconds))


def elkai(travel: FloatArray, ends: FloatArray) -> Callable[[float], list[int]]:
    """Return LKH by elkai's internal call, which accepts LKH's time limit; fixed edges make it crash."""
    from elkai import _elkai

    costs = whole(both_ways(travel, ends), 10**7)
    head = f"TYPE : TSP\nDIMENSION : {len(costs)}\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\n"
    matrix = "\n".join(" ".join(map(str, row)) for row in costs.tolist())
    problem = f"{head}EDGE_WEIGHT_SECTION\n{matrix}\n"

    def run(seconds: float) -> list[int]:
        limits = f"RUNS = 1000\nTIME_LIMIT = {seconds}\nTOTAL_TIME_LIMIT = {seconds}\n"
        return [vertex - 1 for vertex in _elkai.solve_problem(f"{limits}PROBLEM_FILE = :stdin:\n", problem)]

    return run


def ortools(travel: FloatArray, ends: FloatArray) -> Callable[[float], list[int]]:
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    costs = whole(both_ways(travel, ends), 10**9)
    manager = pywrapcp.RoutingIndexManager(len(costs), 1, 0)
    routing = pywrapcp.RoutingModel(manager)
    routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(costs.tolist()))
    settings = pywrapcp.DefaultRoutingSearchParameters()
    settings.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.CHRISTOFIDES
    settings.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH

    def run(seconds: float) -> list[int]:
        settings.time_limit.FromMilliseconds(int(1000 * seconds))
        found = routing.SolveWithParameters(settings)
        tour, index = [], routing.Start(0)
        while not routing.IsEnd(index):
            tour.append(manager.IndexToNode(index))
            index = found.Value(routing.NextVar(index))
        return tour

    return run


def pyvrp(travel: FloatArray, ends: FloatArray) -> Callable[[float], list[int]]:
    """Return PyVRP with one vehicle that starts in region 0; from `out`, its moves find no better end."""
    import pyvrp

    costs: Any = whole(both_ways(travel, ends), 10**9)
    data = pyvrp.ProblemData(
        [pyvrp.Location(0, 0) for _ in costs],
        [pyvrp.Client(vertex) for vertex in range(1, len(costs))],
        [pyvrp.Depot(0)],
        [pyvrp.VehicleType()],
        [costs],
        [np.zeros_like(costs)],
    )

    def run(seconds: float) -> list[int]:
        found = pyvrp.solve(data, pyvrp.stop.MaxRuntime(seconds), collect_stats=False)
        return [0, *(stop.idx + 1 for stop in found.best.routes()[0] if stop.is_client())]

    return run


def networkx_christofides(travel: FloatArray, ends: FloatArray) -> Callable[[float], list[int]]:
    """Return Christofides' tour, which cannot be stopped; for travel alone, only through the regions."""
    import networkx

    graph = networkx.from_numpy_array(_positive(both_ways(travel, ends) if ends.any() else travel))
    return lambda _seconds: list(networkx.approximation.christofides(graph))[:-1]


def networkx_annealing(travel: FloatArray, ends: FloatArray) -> Callable[[float], list[int]]:
    """Return a solver that runs rounds of annealing from a greedy tour until the time is up."""
    import networkx

    costs = _positive(by_direction(travel, ends))
    graph = networkx.from_numpy_array(costs, create_using=networkx.DiGraph)
    warmth = 0.01 * float(np.median(costs))

    def better(tour: list[int], seed: int) -> list[int]:
        return list(
            networkx.approximation.simulated_annealing_tsp(
                graph, tour, temp=warmth, max_iterations=1, N_inner=50, seed=seed
            )
        )

    return lambda seconds: repeated(
        better, list(networkx.approximation.greedy_tsp(graph, source=len(travel))), seconds
    )[:-1]


def python_tsp(travel: FloatArray, ends: FloatArray) -> Callable[[float], list[int]]:
    """Return python-tsp's Lin-Kernighan moves with perturbations (record to record), repeated until the time is up."""
    from python_tsp.heuristics import solve_tsp_record_to_record

    costs = by_direction(travel, ends)

    def better(tour: list[int], _round: int) -> list[int]:
        return list(solve_tsp_record_to_record(costs, x0=tour, max_iterations=1)[0])

    return lambda seconds: repeated(better, list(range(len(costs))), seconds)


def repeated(better: Callable[[list[int], int], list[int]], tour: list[int], seconds: float) -> list[int]:
    """Improve a tour round by round. Rounds that take too long are stopped, because python-tsp's moves may cycle."""

    def ring(_signal: int, _frame: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, ring)
    end, number = time.perf_counter() + seconds, 0
    while (left := end - time.perf_counter()) > 0:
        number += 1
        with contextlib.suppress(TimeoutError):
            signal.setitimer(signal.ITIMER_REAL, min(left, LONGEST_ROUND * seconds))
            tour = better(tour, number)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return tour


def _positive(costs: FloatArray) -> FloatArray:
    """Return positive costs for networkx, which drops edges of weight 0."""
    raised: FloatArray = costs + 1e-9 * costs.max()
    return raised


# Names of peers, the package that has the version, and the solver
PEERS: dict[str, tuple[str, Callable[[FloatArray, FloatArray], Callable[[float], list[int]]]]] = {
    "fast-tsp": ("fast-tsp", fast_tsp),
    "elkai": ("elkai", elkai),
    "ortools": ("ortools", ortools),
    "pyvrp": ("pyvrp", pyvrp),
    "networkx-christofides": ("networkx", networkx_christofides),
    "networkx-annealing": ("networkx", networkx_annealing),
    "python-tsp": ("python-tsp", python_tsp),
}


def child(solver: str, form: str, file: str, seconds: float) -> None:
    """Solve a stored problem and print the route, the time and the solver's name."""
    data = np.load(file)
    closed = "closed" in data
    objective = Weighted(TravelMatrix(data["travel"]), data["scores"], data["weights"], ends=Ends(closed=closed))
    if solver == "learnroute":
        started = time.perf_counter()
        route, name = learnroute(objective, seconds), f"learnroute {version('learnroute')}"
        taken = time.perf_counter() - started
    else:
        package, prepare = PEERS[solver]
        ends = differences(objective) if form == END_AWARE else np.zeros(objective.size)
        run = fast_tsp_closed(objective.travel.matrix) if closed else prepare(objective.travel.matrix, ends)
        started = time.perf_counter()
        tour = [int(vertex) for vertex in run(seconds)]
        taken = time.perf_counter() - started
        route, name = tour if closed else route_of(tour, objective.travel.matrix), f"{solver} {version(package)}"
    print(json.dumps({"route": route, "seconds": taken, "name": name}))


def route_of(tour: list[int], travel: FloatArray) -> list[int]:
    """Return the route of a tour, cut at `out` and without `home`. A tour without `out` is cut at its longest edge."""
    size = len(travel)
    at = tour.index(size) if size in tour else int(np.argmax(travel[np.roll(tour, 1), tour]))
    return [vertex for vertex in tour[at:] + tour[:at] if vertex < size]


def apart(solver: str, form: str, objective: Objective, file: Path, seconds: float) -> Row:
    """Run a solver in a separate process, and evaluate its route."""
    command = [sys.executable, str(SCRIPT), "--child", solver, form, str(file), str(seconds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * seconds + 60)
    except subprocess.TimeoutExpired as late:
        return Row(solver, form, trouble=f"stopped after {late.timeout:.0f} s")
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return Row(solver, form, trouble=reason.replace("|", "/"))
    found = json.loads(done.stdout.splitlines()[-1])
    order = np.array(found["route"])
    if sorted(order.tolist()) != list(range(objective.size)):
        return Row(found["name"], form, found["seconds"], trouble="this is no route through all regions")
    order = min(order, order[::-1], key=objective)
    return Row(found["name"], form, found["seconds"], objective(order), float(objective.legs(order).sum()))


def compare(objective: Objective, peers: list[str], seconds: float) -> list[Row]:
    """Run learnroute and all peers, one after the other."""
    forms = [END_AWARE] if objective.only_last_counts else [END_AWARE, TRAVEL_ONLY]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.npz"
        np.savez(file, travel=objective.travel.matrix, scores=objective.scores, weights=objective.weights)
        rows = [apart("learnroute", "the objective", objective, file, seconds)]
        for peer in peers:
            rows += [apart(peer, form, objective, file, seconds) for form in forms]
    return rows


def table(rows: list[Row], label: str, floor: float) -> str:
    """Return rows of Markdown; `floor` is the part of the value that is the same for all routes."""
    least = min(row.value for row in rows)
    lines = []
    for row in rows:
        if row.trouble:
            lines.append(f"| {label} | {row.name} | {row.form} | {row.trouble} | – | – | – | – |")
            continue
        above, sharper = row.value / least - 1, (row.value - floor) / (least - floor) - 1
        lines.append(f"| {label} | {row.name} | {row.form} | {row.value:.3f} | {100 * above:.3f} % "
                     f"| {100 * sharper:.2f} % | {row.travel:.3f} | {row.seconds:.1f} |")  # fmt: skip
    return "\n".join(lines)


# Lengths of optimal tours (Reinelt's TSPLIB)
OPTIMA = {"d493": 35002, "p654": 34643, "u724": 41910, "pr1002": 259045, "vm1084": 239297, "fl1400": 20127,
          "d2103": 80450, "fnl4461": 182566}  # fmt: skip


def tsplib_travel(file: Path) -> FloatArray:
    """Return the distances of an EUC_2D instance, rounded to integers."""
    lines = file.read_text().split("NODE_COORD_SECTION")[1].split("EOF")[0].split("\n")
    places = np.array([[float(number) for number in line.split()[1:]] for line in lines if line.strip()])
    apart = places[:, None] - places[None, :]
    found: FloatArray = np.floor(np.hypot(apart[..., 0], apart[..., 1]) + 0.5)
    return found


def closed_tours(folder: Path, limits: list[float]) -> None:
    """Compare closed tours with equal scores and known optimum, by their excess over it."""
    print(
        "| instance | " + " | ".join(f"{name}, {limit:g} s" for limit in limits for name in ("ours", "fast-tsp")) + " |"
    )
    print("|---" * (1 + 2 * len(limits)) + "|")
    found: list[list[float]] = []
    for name, optimum in OPTIMA.items():
        file = folder / f"{name}.tsp"
        if not file.exists():
            continue
        travel = tsplib_travel(file)
        nothing = np.zeros(len(travel))
        row = []
        with tempfile.TemporaryDirectory() as scratch:
            stored = Path(scratch) / "problem.npz"
            np.savez(stored, travel=travel, scores=nothing, weights=nothing, closed=True)
            for limit in limits:
                for solver in ("learnroute", "fast-tsp"):
                    tour = np.array(_routed(solver, TRAVEL_ONLY, stored, limit)["route"])
                    row.append(100 * (float(travel[tour, np.roll(tour, -1)].sum()) / optimum - 1))
        found.append(row)
        print(f"| {name} | " + " | ".join(f"{excess:.3f} %" for excess in row) + " |", flush=True)
    print("| mean | " + " | ".join(f"{excess:.3f} %" for excess in np.mean(found, axis=0)) + " |")


def many_places(size: int, seconds: float) -> None:
    """Compare closed tours through uniform places with equal scores; fast-tsp gets a precomputed matrix."""
    from learnroute.solvers.contract import Budget
    from learnroute.solvers.local_search.iterated import iterated_local_search

    points = Places(np.random.default_rng(7).uniform(0, 1, (size, 2)))
    objective = Weighted(points, np.zeros(size), np.zeros(size), ends=Ends(closed=True))
    ours = iterated_local_search(objective, np.random.default_rng(0), Budget.of(seconds), 10**9)
    travel = points.matrix
    theirs = fast_tsp_closed(np.rint(travel * (65_535 / travel.max())))(seconds)
    lengths = [objective(np.array(tour)) for tour in (ours, theirs)]
    print(f"{size} places, {seconds:g} s: ours {lengths[0]:.4f}, fast-tsp {lengths[1]:.4f}, "
          f"{100 * (lengths[0] / lengths[1] - 1):.3f} % longer")  # fmt: skip


def bounds(folder: Path, seconds: float) -> None:
    """Print how far below the optimum the 1-tree bound of each instance is."""
    from learnroute.solvers.contract import Budget
    from learnroute.solvers.exact.one_tree import one_tree_bound
    from learnroute.solvers.params import OneTreeParams

    print(f"| instance | below the optimum, {seconds:g} s |\n|---|---|")
    for name, optimum in OPTIMA.items():
        file = folder / f"{name}.tsp"
        if file.exists():
            travel = tsplib_travel(file)
            nothing = np.zeros(len(travel))
            objective = Weighted(TravelMatrix(travel), nothing, nothing, ends=Ends(closed=True))
            found = one_tree_bound(objective, 1.001 * optimum, Budget.of(seconds), OneTreeParams())
            print(f"| {name} | {100 * (1 - found.bound / optimum):.3f} % |", flush=True)


def _routed(solver: str, form: str, file: Path, seconds: float) -> dict[str, Any]:
    command = [sys.executable, str(SCRIPT), "--child", solver, form, str(file), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * seconds + 60, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--families", nargs="+", default=["euclidean", "closure"])
    parser.add_argument("--features", type=int, nargs="+", default=[80, 120], help="m, with n = 100")
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--seconds", type=float, help="for each solver; 10 at T = 200, 30 at T = 1000")
    parser.add_argument("--seed", type=int, default=1, help="of the problems")
    parser.add_argument("--tsplib", type=Path, help="a folder of TSPLIB instances: closed tours, 2 s and 10 s")
    parser.add_argument("--limits", type=float, nargs="+", default=[2.0, 10.0], help="seconds, with --tsplib")
    parser.add_argument("--bounds", action="store_true", help="with --tsplib: lower bounds after 4 s, no tours")
    parser.add_argument("--places", type=int, metavar="T", help="closed tours through T uniform places, 30 s")
    given = parser.parse_args()
    if given.child:
        solver, form, file, limit = given.child
        child(solver, form, file, float(limit))
        return
    print(f"Python {platform.python_version()}, numpy {version('numpy')}; "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    if given.places:
        many_places(given.places, given.seconds or 30.0)
        return
    if given.tsplib and given.bounds:
        bounds(given.tsplib, 4.0)
        return
    if given.tsplib:
        closed_tours(given.tsplib, given.limits)
        return
    print("Above the best: of the value, and of the value less what no route avoids (the least score everywhere).\n")
    print("| T | family | m | route by | solves | value | above the best | of what routes change | travel | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for features in given.features:
        for size in given.sizes:
            for family in given.families:
                objective = objective_of(random_problem(family, size, Learner(features, 100, 0.1), given.seed))
                seconds = given.seconds or LIMITS.get(size, USUAL_LIMIT)
                rows = compare(objective, given.peers, seconds)
                floor = float(objective.weights.sum() * objective.scores.min()) + objective.constant
                print(table(rows, f"{size} | {family} | {features}", floor), flush=True)


if __name__ == "__main__":
    main()
