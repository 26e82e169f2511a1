"""Road graphs written by networkx: travel is its shortest paths, and plans follow the streets."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import gpxpy
import networkx as nx
import numpy as np
import pytest

from learnroute import InputError, Problem, check_metric, plan, read_problem, write_plan
from learnroute.plots import draw_plan

ROOT = Path(__file__).parents[2]
LEARNER = {"features": 80, "samples": 100}


def town(seed: int, kind: Any = nx.MultiDiGraph, size: int = 40) -> Any:
    """A random graph, strongly connected by a ring, with parallel streets and five regions."""
    rng = np.random.default_rng(seed)
    graph = kind(crs="epsg:4326", simplified=True)
    for i in range(size):
        graph.add_node(i, x=8 + rng.uniform(0, 0.1), y=47 + rng.uniform(0, 0.1), street_count="3")
    for i in range(size):
        graph.add_edge(i, (i + 1) % size, length=float(rng.uniform(50, 300)), oneway=True)
    for i, j in rng.integers(0, size, (3 * size, 2)).tolist():
        graph.add_edge(i, j, length=float(rng.uniform(50, 300)), weight=1.0, highway="residential")
    for k, i in enumerate(rng.choice(size, 5, replace=False).tolist()):
        graph.nodes[i].update(region=f"Region {k}", vector=f"{k}, {k * k}")
    return graph


def write_graph(graph: Any, folder: Path, **beside: Any) -> Path:
    nx.write_graphml(graph, folder / "town.graphml")
    if beside:
        (folder / "town.regions.json").write_text(json.dumps(beside))
    return folder / "town.graphml"


def regions_of(graph: Any) -> list[Any]:
    return [node for node, data in graph.nodes(data=True) if "region" in data]


def assert_shortest(problem: Problem, graph: Any, nodes: list[Any], by: str = "length") -> None:
    for i, a in enumerate(nodes):
        for j, b in enumerate(nodes):
            expected = nx.shortest_path_length(graph, a, b, weight=by)
            assert problem.travel[i, j] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", [nx.MultiDiGraph, nx.DiGraph, nx.MultiGraph, nx.Graph])
def test_travel_is_the_shortest_path_of_networkx(tmp_path: Path, kind: Any) -> None:
    for seed in range(3):
        graph = town(seed, kind)
        problem = read_problem(write_graph(graph, tmp_path), LEARNER)
        nodes = regions_of(graph)
        assert problem.regions == tuple(graph.nodes[node]["region"] for node in nodes)
        assert_shortest(problem, graph, nodes)
        report = check_metric(problem.travel)
        assert report.violations == 0
        assert report.symmetric == (not graph.is_directed())
        assert problem.geographic
        assert problem.coordinates is not None
        assert problem.coordinates.tolist() == [[graph.nodes[n]["x"], graph.nodes[n]["y"]] for n in nodes]
        assert problem.vectors is not None
        assert problem.vectors.tolist() == [[k, k * k] for k in (int(name[-1]) for name in problem.regions)]


def test_importance_is_an_attribute_of_nodes(tmp_path: Path) -> None:
    graph = town(1)
    for k, node in enumerate(regions_of(graph)):
        graph.nodes[node]["importance"] = 0.5 * k
    problem = read_problem(write_graph(graph, tmp_path), LEARNER)
    assert problem.importance is not None
    assert problem.importance.tolist() == [0, 0.5, 1, 1.5, 2]


def test_street_paths_follow_edges_and_have_the_length_of_travel(tmp_path: Path) -> None:
    graph = town(1)
    problem = read_problem(write_graph(graph, tmp_path), LEARNER)
    node_at = {(data["x"], data["y"]): node for node, data in graph.nodes(data=True)}
    assert problem.streets is not None
    for i in range(5):
        for j in range(5):
            nodes = [node_at[x, y] for x, y in problem.streets.path(i, j).tolist()]
            legs = [min(edge["length"] for edge in graph[a][b].values()) for a, b in pairwise(nodes)]
            assert sum(legs) == pytest.approx(problem.travel[i, j], rel=1e-12)
            assert (nodes[0], nodes[-1]) == (regions_of(graph)[i], regions_of(graph)[j])


@pytest.mark.slow
def test_plans_follow_the_streets(tmp_path: Path) -> None:
    problem = read_problem(ROOT / "examples" / "old-town" / "old-town.graphml")
    assert (problem.title, problem.size, problem.learner.features) == ("Old town", 8, 60)
    assert problem.streets is not None
    found = plan(problem)
    way = [problem.streets.path(a, b).tolist() for a, b in pairwise(found.order)]
    places = [way[0][0], *(place for leg in way for place in leg[1:])]
    write_plan(found, tmp_path / "r.geojson", problem)
    *stops, line = json.loads((tmp_path / "r.geojson").read_text())["features"]
    assert len(stops) == 8
    assert line["geometry"]["coordinates"] == places
    assert len(places) > 12
    write_plan(found, tmp_path / "r.gpx", problem)
    gpx = gpxpy.parse((tmp_path / "r.gpx").read_text())
    assert [[p.longitude, p.latitude] for p in gpx.tracks[0].segments[0].points] == places
    assert [point.name for point in gpx.routes[0].points] == list(found.route)
    write_plan(found, tmp_path / "r.plan", problem)
    assert len(json.loads((tmp_path / "r.plan").read_text())["mission"]["items"]) == len(places)
    drawn = draw_plan(found, problem).axes[0].lines[0].get_xydata()
    assert {tuple(place) for place in np.asarray(drawn).tolist()} == {tuple(place) for place in places}


def test_companion_file_has_nodes_and_models(tmp_path: Path) -> None:
    graph = town(2)
    nodes = [7, 3, 12]
    beside = {"nodes": ["7", 3, 12], "regions": ["A", "B", "C"], "vectors": [[0], [1], [2]], "learner": LEARNER}
    path = write_graph(graph, tmp_path, **beside, title="Named")
    for where in (path, tmp_path):
        problem = read_problem(where)
        assert problem.regions == ("A", "B", "C")
        assert problem.title == "Named"
        assert_shortest(problem, graph, nodes)


def test_weights_are_used_if_edges_have_no_lengths(tmp_path: Path) -> None:
    graph = town(3)
    for _, _, data in graph.edges(data=True):
        data["weight"] = data.pop("length")
    for _, data in graph.nodes(data=True):
        del data["x"]
    problem = read_problem(write_graph(graph, tmp_path), LEARNER)
    assert_shortest(problem, graph, regions_of(graph), "weight")
    assert problem.coordinates is None
    assert problem.streets is None


def test_shapes_of_streets_are_followed_from_either_end(tmp_path: Path) -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("a", x=0.0, y=0.0, region="A", vector="0")
    graph.add_node("b", x=4.0, y=0.0, region="B", vector="1")
    for one, other in (("a", "b"), ("b", "a")):
        graph.add_edge(one, other, length=6.0, geometry="LINESTRING (0 0, 1 1.5, 2e0 -1, 4 0)")
    problem = read_problem(write_graph(graph, tmp_path), LEARNER)
    assert problem.streets is not None
    assert problem.streets.path(0, 1).tolist() == [[0, 0], [1, 1.5], [2, -1], [4, 0]]
    assert problem.streets.path(1, 0).tolist() == [[4, 0], [2, -1], [1, 1.5], [0, 0]]
    assert not problem.geographic


def test_unconnected_regions_are_named(tmp_path: Path) -> None:
    graph = nx.DiGraph()
    graph.add_node("a", region="Harbour", vector="0")
    graph.add_node("b", region="Castle", vector="1")
    graph.add_edge("a", "b", length=1.0)
    with pytest.raises(InputError, match="no path leads from 'Castle' to 'Harbour'; add an edge in this direction"):
        read_problem(write_graph(graph, tmp_path), LEARNER)


HEAD = (
    '<graphml><key id="l" for="edge" attr.name="length"/><key id="r" for="node" attr.name="region"/>'
    '<key id="v" for="node" attr.name="vector"/><key id="x" for="node" attr.name="x"/>'
    '<key id="y" for="node" attr.name="y"/><graph edgedefault="undirected">\n'
)
NODES = (
    '<node id="a"><data key="r">A</data><data key="v">1</data></node>\n'
    '<node id="b"><data key="r">B</data><data key="v">2</data></node>\n'
)
EDGE = '<edge source="a" target="b"><data key="l">3</data></edge>\n'
BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: not XML (no element found)"),
        ("<graphml>", "not XML"),
        ("<?xml version='1.0' encoding='none'?><graphml/>", "no nodes"),
        ("<html/>", "line 1: <html>: a GraphML file begins with <graphml>"),
        ("<graphml/>", "no nodes"),
        (BOMB + HEAD + NODES + "</graph></graphml>", "line 1: document types and entities are not supported"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><graphml/>', "line 1: document types and entities are not supported"),
        (HEAD + "&b;</graph></graphml>", "line 2: not XML (undefined entity)"),
        ("<graphml>" * 300_000, "not XML"),
        (HEAD + NODES + EDGE.replace('"b"', '"c"') + "</graph></graphml>", "line 4, target = 'c': there is no such"),
        (
            HEAD + NODES + EDGE.replace("3", "-3") + "</graph></graphml>",
            "line 4, length = '-3': expected a number >= 0",
        ),
        (HEAD + NODES + EDGE.replace("3", "x") + "</graph></graphml>", "line 4, length = 'x'"),
        (HEAD + NODES + '<edge source="a" target="b"/></graph></graphml>', "line 4: the edge has no weight"),
        (HEAD + NODES + '<edge source="a"/></graph></graphml>', "line 4, target: missing"),
        (HEAD + NODES + '<node id="a"/></graph></graphml>', "line 4, id = 'a': given twice"),
        (HEAD + NODES + "<hyperedge/></graph></graphml>", "line 4: hyperedges are not supported"),
        (HEAD + NODES + EDGE + "</graph><graph/></graphml>", "second graph; expected only one"),
        (
            HEAD + NODES.replace("2", "two") + EDGE + "</graph></graphml>",
            "line 3, vector = 'two': expected a finite number",
        ),
        (HEAD + NODES.replace("2", "") + EDGE + "</graph></graphml>", "line 3, vector: missing at node 'b'"),
        (HEAD + NODES.replace('"r"', '"q"') + EDGE + "</graph></graphml>", "0 regions; mark at least 2 nodes"),
        (HEAD + NODES.replace('"v"', '"q"') + EDGE + "</graph></graphml>", "town.graphml: has no vectors and no"),
    ],
    ids=range(21),
)
def test_wrong_graphs_are_rejected_by_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "town.graphml"
    path.write_text(text)
    with pytest.raises(InputError) as refusal:
        read_problem(path, LEARNER)
    assert str(refusal.value).startswith(str(tmp_path))
    assert message in str(refusal.value)
    assert len(str(refusal.value)) < 600


def test_wrong_names_beside_it_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "town.graphml"
    path.write_text(HEAD + NODES + EDGE + "</graph></graphml>")
    assert read_problem(path, LEARNER).travel.tolist() == [[0, 3], [3, 0]]
    for nodes, message in (
        ("a", "nodes = 'a': expected a list of node ids"),
        (["a", "z"], r"nodes\[1\] = 'z': there is no such node in town\.graphml"),
        (["a", True], r"nodes\[1\] = True: there is no such node"),
        (["a"], "1 regions; mark at least 2 nodes"),
    ):
        (tmp_path / "town.regions.json").write_text(json.dumps({"nodes": nodes}))
        with pytest.raises(InputError, match=message):
            read_problem(path, LEARNER)
