"""Sizes that can be proved optimal, compared with CP-SAT and HiGHS: `python benchmarks/proofs.py --help`.

Prints Markdown tables, shown in docs/appendix/benchmarks.md. The peers get the best formulations we know and the same
time. They need `pip install ortools highspy`, and run in separate processes (the two cannot share one).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from learnroute import Learner, Problem, objective_of, plan
from learnroute.study.families import random_problem

FAMILIES = ("uniform", "closure", "euclidean", "vectors")
FEATURES = (80, 102, 120, 200, 1000)
LIMITS = {20: 2.0, 30: 5.0, 50: 60.0, 75: 300.0, 100: 120.0}


def problem_of(family: str, size: int, features: int, seed: int) -> Problem:
    return random_problem(family, size, Learner(features, 100, 0.1), seed)


def ours(problem: Problem, limit: float, method: str = "exact") -> dict[str, Any]:
    started, cpu = time.perf_counter(), time.process_time()
    found = plan(problem, method, time_limit=limit)
    return {
        "value": found.loss.total,
        "bound": found.lower_bound,
        "optimal": found.optimal,
        "seconds": time.perf_counter() - started,
        "cpu": time.process_time() - cpu,
    }


def cp_sat(problem: Problem, limit: float) -> dict[str, Any]:
    """Solve as a circuit through an extra node; if all positions count, with an element constraint on weights."""
    cp_model = importlib.import_module("ortools.sat.python.cp_model")

    objective, size, scale = objective_of(problem), problem.size, 10_000
    model = cp_model.CpModel()
    arcs, terms = [], []
    first = [model.new_bool_var("") for _ in range(size)]
    last = [model.new_bool_var("") for _ in range(size)]
    place = [model.new_int_var(0, size - 1, "") for _ in range(size)]
    for i in range(size):
        arcs += [(size, i, first[i]), (i, size, last[i])]
        model.add(place[i] == 0).only_enforce_if(first[i])
        model.add(place[i] == size - 1).only_enforce_if(last[i])
        for j in range(size):
            if i != j:
                arc = model.new_bool_var("")
                arcs.append((i, j, arc))
                terms.append(round(scale * objective.travel.matrix[i, j]) * arc)
                if objective.weights[:-1].any():
                    model.add(place[j] == place[i] + 1).only_enforce_if(arc)
    model.add_circuit(arcs)
    if objective.weights[:-1].any():
        model.add_all_different(place)
        for i in range(size):
            costs = [round(scale * w * objective.scores[i]) for w in objective.weights]
            cost = model.new_int_var(min(costs), max(costs), "")
            model.add_element(place[i], costs, cost)
            terms.append(cost)
    else:
        terms += [round(scale * objective.weights[-1] * objective.scores[i]) * last[i] for i in range(size)]
    model.minimize(sum(terms))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = os.cpu_count() or 1
    started = time.perf_counter()
    status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return {
        "value": (solver.objective_value / scale + objective.constant) / size if found else None,
        "bound": (solver.best_objective_bound / scale + objective.constant) / size,
        "optimal": status == cp_model.OPTIMAL,
        "seconds": time.perf_counter() - started,
    }


def highs(problem: Problem, limit: float) -> dict[str, Any]:
    """Solve with subtour cuts added lazily (only the last counts), or the Picard–Queyranne flow through T positions."""
    objective = objective_of(problem)
    started = time.perf_counter()
    if objective.weights[:-1].any():
        return {**_flow(objective, limit), "seconds": time.perf_counter() - started}
    return {**_subtours(objective, started + limit), "seconds": time.perf_counter() - started}


def _subtours(objective: Any, deadline: float) -> dict[str, Any]:
    highspy = importlib.import_module("highspy")

    size = objective.size
    pairs = [(i, j) for i in range(size) for j in range(i)]
    column = {pair: k for k, pair in enumerate(pairs)}
    at, enter = len(pairs), len(pairs) + size  # edges to `out` (last region) and to `home` (first region)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    costs = [objective.travel.matrix[i, j] for i, j in pairs]
    costs += [float(objective.weights[-1] * s) for s in objective.scores] + [0.0] * size
    for cost in costs:
        solver.addCol(float(cost), 0.0, 1.0, 0, [], [])
    around: list[list[int]] = [[] for _ in range(size)]
    for (i, j), k in column.items():
        around[i].append(k)
        around[j].append(k)
    for i in range(size):
        row = [*around[i], at + i, enter + i]
        solver.addRow(2.0, 2.0, len(row), row, [1.0] * len(row))
    for start in (at, enter):
        solver.addRow(1.0, 1.0, size, list(range(start, start + size)), [1.0] * size)
    integer = False
    bound = -np.inf
    while True:
        left = deadline - time.perf_counter()
        if left <= 0:
            return {"value": None, "bound": (bound + objective.constant) / size, "optimal": False}
        solver.setOptionValue("time_limit", left)
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return {"value": None, "bound": (bound + objective.constant) / size, "optimal": False}
        bound = max(bound, solver.getInfo().objective_function_value)
        x = np.array(solver.getSolution().col_value)
        cuts = _violated(x, pairs, size, at, enter)
        for members in cuts:
            inside = [k for (i, j), k in column.items() if members[i] and members[j]]
            solver.addRow(-highspy.kHighsInf, float(members.sum() - 1), len(inside), inside, [1.0] * len(inside))
        if cuts:
            continue
        if integer or bool(np.all(np.minimum(x, 1 - x) < 1e-6)):
            return {
                "value": (bound + objective.constant) / size,
                "bound": (bound + objective.constant) / size,
                "optimal": True,
            }
        integer = True
        for k in range(len(costs)):
            solver.changeColIntegrality(k, highspy.HighsVarType.kInteger)


def _violated(x: Any, pairs: list[tuple[int, int]], size: int, at: int, enter: int) -> list[Any]:
    """Return violated subtour sets of regions: components, or minimum cuts if the graph is connected."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(size + 1))
    for k, (i, j) in enumerate(pairs):
        if x[k] > 1e-7:
            graph.add_edge(i, j, weight=float(x[k]))
    for i in range(size):  # out and home are one vertex, joined by the forced edge
        if x[at + i] + x[enter + i] > 1e-7:
            graph.add_edge(i, size, weight=float(x[at + i] + x[enter + i]))
    parts = [set(c) for c in networkx.connected_components(graph)]
    if len(parts) == 1:
        cut, (one, other) = networkx.stoer_wagner(graph)
        parts = [set(one), set(other)] if cut < 2 - 1e-6 else []
    masks = []
    for part in parts:
        if size not in part and len(part) > 1:
            mask = np.zeros(size, dtype=bool)
            mask[list(part)] = True
            masks.append(mask)
    return masks


def _flow(objective: Any, limit: float) -> dict[str, Any]:
    highspy = importlib.import_module("highspy")

    size = objective.size
    steps = [(t, i, j) for t in range(size - 1) for i in range(size) for j in range(size) if i != j]
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", limit)
    stays = objective.weights[:, None] * objective.scores[None, :]
    visits: list[list[int]] = [[] for _ in range(size)]
    inflow: dict[tuple[int, int], list[int]] = {}
    outflow: dict[tuple[int, int], list[int]] = {}
    for k, (t, i, j) in enumerate(steps):
        cost = objective.travel.matrix[i, j] + stays[t + 1, j] + (stays[0, i] if t == 0 else 0.0)
        solver.addCol(float(cost), 0.0, 1.0, 0, [], [])
        visits[j].append(k)
        if t == 0:
            visits[i].append(k)
        outflow.setdefault((t, i), []).append(k)
        inflow.setdefault((t + 1, j), []).append(k)
    for k in range(len(steps)):
        solver.changeColIntegrality(k, highspy.HighsVarType.kInteger)
    for row in visits:
        solver.addRow(1.0, 1.0, len(row), row, [1.0] * len(row))
    start = [k for k, (t, _, _) in enumerate(steps) if t == 0]
    solver.addRow(1.0, 1.0, len(start), start, [1.0] * len(start))
    for t in range(1, size - 1):
        for i in range(size):
            into, out = inflow[t, i], outflow[t, i]
            solver.addRow(0.0, 0.0, len(into) + len(out), into + out, [1.0] * len(into) + [-1.0] * len(out))
    solver.run()
    info = solver.getInfo()
    done = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    found = info.objective_function_value if done or info.primal_solution_status == 2 else None
    return {
        "value": None if found is None else (found + objective.constant) / size,
        "bound": (info.mip_dual_bound + objective.constant) / size,
        "optimal": done,
    }


PEERS = {"cp-sat": cp_sat, "highs": highs}


def beside(peer: str, family: str, size: int, features: int, seed: int, limit: float) -> dict[str, Any]:
    """Run a peer in a separate process."""
    order = json.dumps([peer, family, size, features, seed, limit])
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--one", order], capture_output=True, text=True, timeout=2 * limit + 60
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return {"value": None, "bound": None, "optimal": False, "seconds": 2 * limit + 60}
    return answer


def table(sizes: list[int], seeds: int, families: list[str], features: list[int], scale: float) -> None:
    print("| T | family | m | instances | proved | limit | worst wall | worst CPU | worst gap |")
    print("|---|---|---|---|---|---|---|---|---|")
    for size in sizes:
        limit = scale * LIMITS.get(size, 300.0)
        for family in families:
            for m in features:
                rows = [ours(problem_of(family, size, m, seed), limit) for seed in range(seeds)]
                gap = max(row["value"] / row["bound"] - 1 for row in rows)
                print(
                    f"| {size} | {family} | {m} | {seeds} | {sum(row['optimal'] for row in rows)} | {limit:g} s "
                    f"| {max(row['seconds'] for row in rows):.2f} s | {max(row['cpu'] for row in rows):.2f} s "
                    f"| {100 * gap:.3f} % |",
                    flush=True,
                )


def side_by_side(sizes: list[int], limit: float, families: list[str], features: list[int]) -> None:
    print(f"\nOne instance each (seed 0), {limit:g} s: seconds to a proof, or the gap left.\n")
    print("| T | family | m | learnroute | CP-SAT | HiGHS |\n|---|---|---|---|---|---|")
    for size in sizes:
        for family in families:
            for m in features:
                cells = [ours(problem_of(family, size, m, 0), limit)]
                cells += [beside(peer, family, size, m, 0, limit) for peer in PEERS]
                print(f"| {size} | {family} | {m} | " + " | ".join(map(cell, cells)) + " |", flush=True)


def cell(row: dict[str, Any]) -> str:
    if row["optimal"]:
        return f"{row['seconds']:.1f} s"
    if row["value"] is None or not row["bound"] or row["bound"] <= 0:
        return "open"
    return f"open, {100 * (row['value'] / row['bound'] - 1):.2f} %"


def large(size: int, limit: float) -> None:
    print(
        "\n| T | family | m | value | certified gap | gap of the travel part | seconds |\n|---|---|---|---|---|---|---|"
    )
    for family in ("euclidean", "closure"):
        problem = problem_of(family, size, 80, 0)
        started = time.perf_counter()
        found = plan(problem, "auto", time_limit=limit)
        seconds = time.perf_counter() - started
        assert found.gap is not None
        assert found.lower_bound is not None
        share = (found.loss.total - found.lower_bound) / found.loss.travel
        print(
            f"| {size} | {family} | 80 | {found.loss.total:.6g} | {100 * found.gap:.3f} % | {100 * share:.2f} % "
            f"| {seconds:.1f} s |",
            flush=True,
        )


def _version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} –"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 30, 50])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--features", type=int, nargs="*", default=list(FEATURES))
    parser.add_argument("--peers", type=int, nargs="*", default=[], metavar="T", help="Sizes for the side by side run")
    parser.add_argument("--peer-limit", type=float, default=30.0, metavar="SECONDS")
    parser.add_argument("--large", type=int, nargs="*", default=[], metavar="T")
    parser.add_argument("--slack", type=float, default=1.0, help="Times the time limit of each size")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        peer, family, size, features, seed, limit = json.loads(given.one)
        print(json.dumps(PEERS[peer](problem_of(family, size, features, seed), limit)))
        return
    packages = ", ".join(map(_version, ("learnroute", "numpy", "ortools", "highspy")))
    print(f"Python {platform.python_version()}, {packages}; {os.cpu_count()} cores, {platform.machine()}\n")
    if given.sizes:
        table(given.sizes, given.seeds, given.families, given.features, given.slack)
    if given.peers:
        side_by_side(given.peers, given.peer_limit, given.families, given.features)
    for size in given.large:
        large(size, 60.0)


if __name__ == "__main__":
    main()
