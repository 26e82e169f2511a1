"""Search in the over regime: 10 s against ten times as long, and against fast-tsp's routes after local search.

`python benchmarks/over.py`. The excess is relative to the value minus the lowest score at all positions, the part that
depends on the route. fast-tsp gets travel alone, for 10 s; its tour is cut at its longest edge, taken in its better
direction and improved by our local search until no move helps. One thread each; `--sizes`, `--features` and `--maps`
select rows.
"""

from __future__ import annotations

import argparse
import os
import platform
from importlib.metadata import version

import numpy as np

from learnroute import Objective
from learnroute.model.linear import Weighted
from learnroute.model.travel import Places, TravelMatrix
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search.iterated import iterated_local_search
from peers import fast_tsp, route_of

SAMPLES = 100


def problem(size: int, features: int, clustered: bool, matrix: bool) -> Objective:
    """Return regions in a square, uniform or in clusters, with scores as large as a few legs."""
    rng = np.random.default_rng(size + features)
    places = rng.uniform(0, 1, (size, 2))
    if clustered:
        centres = rng.uniform(0, 1, (max(4, size // 50), 2))
        places = centres[rng.integers(len(centres), size=size)] + rng.normal(0, 0.01, (size, 2))
    rate = 1 - SAMPLES / features
    with np.errstate(under="ignore"):
        weights = (1 - rate) * rate ** np.arange(size - 1, -1, -1.0)
    points = Places(places)
    return Weighted(TravelMatrix(points.matrix) if matrix else points, rng.uniform(1, 3, size), weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1000, 3000])
    parser.add_argument("--features", type=int, nargs="+", default=[102, 120, 200, 1000], help="m, with n = 100")
    parser.add_argument("--maps", nargs="+", choices=["uniform", "clustered"], default=["uniform", "clustered"])
    parser.add_argument("--places", action="store_true", help="places instead of matrices; without fast-tsp")
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, numpy {version('numpy')}; "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    print(f"| T | map | m | {given.seconds:g} s, above the best | fast-tsp, polished |\n|---|---|---|---|---|")
    for size in given.sizes:
        for kind in given.maps:
            for features in given.features:
                objective = problem(size, features, kind == "clustered", not given.places)
                floor = float(objective.weights.sum() * objective.scores.min())
                values = [
                    objective(iterated_local_search(objective, np.random.default_rng(seed), Budget.of(limit), 10**9))
                    for seed, limit in enumerate((given.seconds, 10 * given.seconds))
                ]
                peer = np.nan
                if not given.places:
                    tour = fast_tsp(objective.travel.matrix, np.zeros(size))(given.seconds)
                    route = np.array(route_of([int(vertex) for vertex in tour], objective.travel.matrix))
                    begun = min(route, np.ascontiguousarray(route[::-1]), key=objective)
                    peer = objective(
                        iterated_local_search(objective, np.random.default_rng(0), Budget(), 1, initial=begun)
                    )
                best = float(np.nanmin([*values, peer]))
                cells = [f"{100 * (value - best) / (best - floor):.3f} %" for value in (values[0], peer)]
                print(f"| {size} | {kind} | {features} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
