"""Search beside its peers on the same problems with the same time: `python benchmarks/peers.py`.

In the under regime the problem is a travelling salesman's on T + 2 vertices: `out`, joined to each region at its score,
and `home`, joined at no cost, with a forced edge between the two; every peer gets it in this form. In the over regime
it gets the same form with the weight of the last position; with --travel-only, a plain shortest path. Routes are
re-scored.
Each runs in a process of its own. Peers that are not installed are left out: pip install fast-tsp elkai ortools pyvrp
networkx; python-tsp needs an environment of its own (--python-tsp PYTHON), since it pins networkx to 2.8.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve()
PEERS = ("learnroute", "fast-tsp", "elkai", "ortools", "pyvrp", "networkx", "python-tsp")
LIMITS = {200: 10.0, 1000: 30.0}
FORBIDDEN = 2.0  # times the largest cost: what is added to all edges of `out` and `home` but the one between them


def tour_matrix(travel: Any, ends: Any) -> Any:
    """Return the costs of the tour on T + 2 vertices: `out` is T, `home` is T + 1."""
    import numpy as np

    size = len(travel)
    costs = np.zeros((size + 2, size + 2))
    costs[:size, :size] = travel
    costs[size, :size] = costs[:size, size] = ends
    costs[size:, :size] += FORBIDDEN * max(travel.max(), ends.max())
    costs[:size, size:] = costs[size:, :size].T
    return costs


def route_of(tour: list[int], size: int) -> list[int] | None:
    """Cut the tour at `out` and `home`, which must be neighbours; the route ends at `out`."""
    at = tour.index(size)
    turned = tour[at:] + tour[:at]
    if turned[-1] == size + 1:
        return turned[1:-1][::-1]
    return turned[2:] if turned[1] == size + 1 else None


def whole(costs: Any, largest: int) -> Any:
    import numpy as np

    return np.rint(costs * (largest / costs.max())).astype(int)


def solve(peer: str, costs: Any, seconds: float) -> list[int]:
    """Return the tour that a peer finds."""
    count = len(costs)
    if peer == "fast-tsp":
        import fast_tsp

        return list(fast_tsp.find_tour(whole(costs, 65_000).tolist(), duration_seconds=seconds))
    if peer == "elkai":
        import elkai

        return list(elkai.DistanceMatrix(whole(costs, 10**7).tolist()).solve_tsp(runs=1))[:-1]
    if peer == "ortools":
        from ortools.constraint_solver import pywrapcp, routing_enums_pb2

        distances = whole(costs, 10**7).tolist()
        manager = pywrapcp.RoutingIndexManager(count, 1, 0)
        routing = pywrapcp.RoutingModel(manager)
        transit = routing.RegisterTransitMatrix(distances)
        routing.SetArcCostEvaluatorOfAllVehicles(transit)
        settings = pywrapcp.DefaultRoutingSearchParameters()
        settings.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.CHRISTOFIDES
        settings.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
        settings.time_limit.FromMilliseconds(int(1000 * seconds))
        found = routing.SolveWithParameters(settings)
        tour, index = [], routing.Start(0)
        while not routing.IsEnd(index):
            tour.append(manager.IndexToNode(index))
            index = found.Value(routing.NextVar(index))
        return tour
    if peer == "pyvrp":
        import pyvrp
        from pyvrp.stop import MaxRuntime

        distances = whole(costs, 10**6)
        model = pyvrp.Model()
        places = [model.add_location(0, 0) for _ in range(count)]
        model.add_depot(places[0])
        model.add_vehicle_type()
        for place in places[1:]:
            model.add_client(place)
        for i, a in enumerate(places):
            for j, b in enumerate(places):
                if i != j:
                    model.add_edge(a, b, distance=int(distances[i, j]))
        found = model.solve(stop=MaxRuntime(seconds), display=False)
        return [0, *(stop.idx + 1 for stop in found.best.routes()[0] if stop.is_client())]
    if peer == "networkx":
        import networkx

        graph = networkx.from_numpy_array(costs + 1e-9 * costs.max())  # an edge of weight 0 would be none
        first = networkx.approximation.greedy_tsp(graph, source=0)
        return list(networkx.approximation.simulated_annealing_tsp(graph, first, source=0, seed=1, max_iterations=30))[
            :-1
        ]
    if peer == "python-tsp":
        from python_tsp.heuristics import solve_tsp_local_search

        tour, _ = solve_tsp_local_search(costs, perturbation_scheme="two_opt", max_processing_time=seconds)
        return list(tour)
    raise ValueError(peer)


def child(peer: str, file: str, seconds: float) -> None:
    """Solve a stored problem and print the route, the time, and what it is called."""
    import numpy as np

    data = np.load(file)
    started = time.perf_counter()
    if peer == "learnroute":
        from learnroute import Objective
        from learnroute.solvers.contract import Budget
        from learnroute.solvers.search import best_order

        objective = Objective(data["travel"], data["scores"], data["weights"])
        best_order(objective, np.random.default_rng(0), Budget(), 10)  # kernels compiled or loaded
        started = time.perf_counter()
        order = best_order(objective, np.random.default_rng(0), Budget.of(seconds), 10**9).tolist()
        name = "learnroute"
    else:
        from importlib.metadata import version

        costs = tour_matrix(data["travel"], data["ends"])
        started = time.perf_counter()
        order = route_of(solve(peer, costs, seconds), len(costs) - 2)
        name = f"{peer} {version(peer)}"
    print(json.dumps({"order": order, "seconds": time.perf_counter() - started, "name": name}))


def run(python: str, peer: str, file: Path, seconds: float) -> dict[str, object] | None:
    command = [python, str(SCRIPT), "--child", peer, str(file), str(seconds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20 * seconds + 600)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1:], file=sys.stderr)
        return None
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--families", nargs="+", default=["euclidean", "closure"])
    parser.add_argument("--features", type=int, nargs="+", default=[80, 120], help="m, with n = 100")
    parser.add_argument("--peers", nargs="+", default=list(PEERS))
    parser.add_argument("--travel-only", action="store_true", help="peers ignore scores")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the peers")
    parser.add_argument("--python-tsp", default=None, help="a Python that has python-tsp")
    given = parser.parse_args()
    if given.child:
        child(given.child[0], given.child[1], float(given.child[2]))
        return
    import numpy as np

    from learnroute import Learner, objective_of
    from learnroute.study.families import random_problem

    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| T | family | m | route by | value | above the best | travel | above the best | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for size in given.sizes:
        for family in given.families:
            for features in given.features:
                objective = objective_of(random_problem(family, size, Learner(features, 100, 0.1), 1))
                rows = []
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder) / "problem.npz"
                    ends = (0 if given.travel_only else objective.weights[-1]) * objective.scores
                    np.savez(
                        file, travel=objective.travel, scores=objective.scores, weights=objective.weights, ends=ends
                    )
                    for peer in given.peers:
                        own = {"learnroute": sys.executable, "python-tsp": given.python_tsp}.get(peer, given.python)
                        found = run(own, peer, file, LIMITS.get(size, 30.0)) if own else None
                        if found is not None and found["order"] is not None:
                            order = np.array(found["order"])
                            rows.append(
                                (found["name"], objective(order), objective.legs(order).sum(), found["seconds"])
                            )
                value, travel = min(row[1] for row in rows), min(row[2] for row in rows)
                for name, one, way, seconds in rows:
                    print(f"| {size} | {family} | {features} | {name} | {one:.3f} | {100 * (one / value - 1):.3f} % "
                          f"| {way:.3f} | {100 * (way / travel - 1):.2f} % | {seconds:.1f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
