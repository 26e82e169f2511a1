"""Travel on a road graph: time to read a GraphML file and find all shortest paths between regions, next to networkx.

python benchmarks/streets.py
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import networkx as nx
import numpy as np

from learnroute import read_problem

SIDE, REGIONS, CHECKED = 142, 200, 5


def city(side: int, regions: int, seed: int = 0) -> nx.MultiDiGraph:
    """Return crossings in a distorted grid; one street in five is one-way, in either direction."""
    rng = np.random.default_rng(seed)
    graph = nx.MultiDiGraph(crs="epsg:4326")
    x, y = np.meshgrid(8 + 0.0012 * np.arange(side), 47 + 0.0009 * np.arange(side))
    places = np.column_stack([x.ravel(), y.ravel()]) + rng.normal(0, 2e-4, (side * side, 2))
    for i, (longitude, latitude) in enumerate(places.tolist()):
        graph.add_node(i, x=longitude, y=latitude, street_count=4)
    for i in range(side * side):
        for j in ((i + 1) if (i + 1) % side else None, i + side if i + side < side * side else None):
            if j is None:
                continue
            metres = float(np.hypot(*((places[i] - places[j]) * (75_800, 111_200))))
            facts = {"length": metres, "highway": "residential", "name": "Street", "osmid": int(rng.integers(10**9))}
            turn = rng.random()
            for a, b in [(i, j)] * (turn > 0.1) + [(j, i)] * (turn < 0.1 or turn > 0.2):
                graph.add_edge(a, b, **facts)
    whole = graph.subgraph(max(nx.strongly_connected_components(graph), key=len)).copy()
    for k, node in enumerate(rng.choice(sorted(whole), regions, replace=False).tolist()):
        whole.nodes[node].update(region=f"Region {k + 1}", vector=f"{rng.normal():.3f},{rng.normal():.3f}")
    return whole


def main() -> None:
    graph = city(SIDE, REGIONS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "city.graphml"
        nx.write_graphml(graph, path)
        started, cpu = time.perf_counter(), time.process_time()
        problem = read_problem(path, {"features": 80, "samples": 100})
        ours, ours_cpu = time.perf_counter() - started, time.process_time() - cpu
        started = time.perf_counter()
        again = nx.read_graphml(path)
        reading = time.perf_counter() - started
        bytes_ = path.stat().st_size
    nodes = {data["region"]: node for node, data in again.nodes(data=True) if "region" in data}
    started = time.perf_counter()
    for i in range(CHECKED):
        found = nx.single_source_dijkstra_path_length(again, nodes[problem.regions[i]], weight="length")
        np.testing.assert_allclose(problem.travel[i], [found[nodes[name]] for name in problem.regions], rtol=1e-12)
    theirs = (time.perf_counter() - started) * REGIONS / CHECKED
    started = time.perf_counter()
    assert problem.streets is not None
    for i in range(REGIONS - 1):
        problem.streets.path(i, i + 1)
    along = time.perf_counter() - started
    print(f"{len(graph):,} nodes, {graph.number_of_edges():,} edges, {REGIONS} regions, {bytes_ / 1e6:.0f} MB")
    print(f"learnroute: file and travel {ours:.1f} s ({ours_cpu:.1f} s of CPU); {REGIONS - 1} ways {along:.1f} s")
    print(f"networkx: file {reading:.1f} s, travel {theirs:.0f} s (from {CHECKED} of the regions)")


if __name__ == "__main__":
    main()
