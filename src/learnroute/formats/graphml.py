"""Road graphs in GraphML, as written by networkx and osmnx; parsed as a stream, without custom entities.

Regions are nodes with an attribute `region` (their name), or the nodes listed as `nodes` in `NAME.regions.json`. The
depot is the node with an attribute `depot` (its name), or the node whose id is `depot` in `NAME.regions.json`. Edges
have a `length` or a `weight`. The other members of a problem come from node attributes `vector`, `initial`, `samples`
and `importance`, from graph attributes `title`, `features`, `samples` and `noise`, or from `NAME.regions.json`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.parsers import expat

from learnroute.errors import InputError, show
from learnroute.formats.companion import companion_path, missing_models_error, read_companion
from learnroute.formats.csv_files import training_member
from learnroute.formats.files import read_text
from learnroute.formats.roads import Roads, street_members
from learnroute.model.learners import TRAINING
from learnroute.model.validation import LARGEST_VALUE, MOST_MATRIX_REGIONS

WANTED = {
    "graph": ("title", "features", "samples", "noise", "crs"),
    "node": ("region", "depot", "vector", "initial", "samples", "importance", "x", "y", "lon", "lat"),
    "edge": ("length", "weight", "geometry"),
}
LEARNER = ("features", "samples", "noise")


def read(path: Path, *, models: bool = True) -> dict[str, Any]:
    """Read a road graph and its companion file into the members of a problem, including streets.

    With `models`, vectors or dissimilarities are required.
    """
    text = read_text(path)
    parser = _Parser(path)
    parser.parse(text)
    roads = parser.roads()
    data = read_companion(path, ("travel", "coordinates", "geographic"))
    depots = _depots(path, parser, data)
    chosen = [i for i in _region_nodes(path, parser, data.pop("nodes", None)) if i not in depots]
    if len(chosen) < 2:
        raise InputError(
            f"{len(chosen)} regions; mark at least 2 nodes by an attribute region (their name), or list their ids as "
            f"nodes in {companion_path(path)}",
            where=path,
        )
    if len(chosen) > MOST_MATRIX_REGIONS:
        raise InputError(f"{len(chosen):,} regions; travel is limited to {MOST_MATRIX_REGIONS:,} regions", where=path)
    own = [parser.nodes[i] for i in chosen]
    data.setdefault("regions", [node.get("region", node["id"]) for node in own])
    if "title" in parser.graph:
        data.setdefault("title", parser.graph["title"])
    if models and not {"dissimilarity", "vectors", "transfer"} & set(data):
        if not any("vector" in node for node in own):
            raise missing_models_error(path)
        data["vectors"] = [_vector(path, node) for node in own]
    for field in ("initial", "samples", "importance"):
        if field not in data and any(field in node for node in own):
            data[field] = [_number(path, node["line"], field, node.get(field, "")) for node in own]
    learner: dict[str, Any] = {f: _number(path, 1, f, parser.graph[f]) for f in LEARNER if f in parser.graph}
    learner |= {f: training_member(parser.graph[f]) for f in TRAINING if f in parser.graph}
    if learner:
        data.setdefault("learner", learner)
    names = [str(name) for name in data["regions"]] if isinstance(data["regions"], list) else []
    for node in (parser.nodes[i] for i in depots):
        data["depot"] = str(node.get("depot") or node.get("region") or node["id"])
        data["regions"] = names = [*names, data["depot"]]
    return data | street_members(roads, [*chosen, *depots], names)


def _depots(path: Path, parser: _Parser, data: dict[str, Any]) -> list[int]:
    """Return the node of the depot, if there is one."""
    given = data.pop("depot", None)
    marked = [i for i, node in enumerate(parser.nodes) if node.get("depot")]
    if given is not None:
        if not isinstance(given, str | int) or str(given) not in parser.place:
            raise InputError(
                f"expected the id of a node of {path.name}", field="depot", value=given, where=companion_path(path)
            )
        marked = [parser.place[str(given)]]
    if len(marked) > 1:
        raise InputError("second depot; only one is allowed", where=path, line=parser.nodes[marked[1]]["line"])
    return marked


def _region_nodes(path: Path, parser: _Parser, listed: Any) -> list[int]:
    """Return the nodes that are regions."""
    if listed is None:
        return [i for i, node in enumerate(parser.nodes) if "region" in node]
    if not isinstance(listed, list):
        raise InputError("expected a list of node ids", field="nodes", value=listed, where=companion_path(path))
    for k, node in enumerate(listed):
        if isinstance(node, bool) or not isinstance(node, str | int) or str(node) not in parser.place:
            raise InputError(
                f"there is no such node in {path.name}", field=f"nodes[{k}]", value=node, where=companion_path(path)
            )
    return [parser.place[str(node)] for node in listed]


class _Parser:
    """Parser of the relevant parts of a GraphML text."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.graph: dict[str, str] = {}
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []
        self.place: dict[str, int] = {}
        self._keys: dict[str, tuple[str, str]] = {}  # id -> (domain, attribute)
        self._directed = True
        self._owner: tuple[str, dict[str, Any]] | None = None
        self._field: str | None = None
        self._text: list[str] = []
        self._open: list[str] = []
        self._parser = expat.ParserCreate("UTF-8")  # the text is already decoded, whatever encoding the file declares
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse_declarations
        self._parser.EntityDeclHandler = self._refuse_declarations
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    def parse(self, text: str) -> None:
        """Parse the whole text; errors name the line."""
        try:
            self._parser.Parse(text.encode(), True)
        except expat.ExpatError as error:
            raise InputError(f"not XML ({expat.ErrorString(error.code)})", where=self.path, line=error.lineno) from None
        except UnicodeEncodeError:
            raise InputError("not UTF-8 text; save the file as UTF-8", where=self.path) from None
        if not self.nodes:
            raise InputError("no nodes; expected a GraphML graph with nodes and edges", where=self.path)

    def roads(self) -> Roads:
        """Return the graph with its costs and coordinates."""
        which = "length" if any("length" in edge for edge in self.edges) else "weight"
        origins, goals, costs, shapes = [], [], [], []
        for edge in self.edges:
            line = edge["line"]
            ends = []
            for end in ("source", "target"):
                if edge[end] not in self.place:
                    raise InputError("there is no such node", field=end, value=edge[end], where=self.path, line=line)
                ends.append(self.place[edge[end]])
            if which not in edge:
                raise InputError(f"the edge has no {which}; give each edge a length", where=self.path, line=line)
            cost = _number(self.path, line, which, edge[which], least=0.0)
            for way in (ends,) if edge["directed"] else (ends, ends[::-1]):
                origins.append(way[0])
                goals.append(way[1])
                costs.append(cost)
                shapes.append(edge.get("geometry"))
        system = self.graph.get("crs", "").upper()
        named = all({"lon", "lat"} <= node.keys() for node in self.nodes)
        geographic = named or "4326" in system or "CRS84" in system
        across, along = ("lon", "lat") if named else ("x", "y")
        places = None
        if all(across in node and along in node for node in self.nodes):
            places = [[self._degree(node, across), self._degree(node, along)] for node in self.nodes]
        return Roads(origins, goals, costs, shapes, len(self.nodes), places, geographic)

    def _degree(self, node: dict[str, Any], field: str) -> float:
        return _number(self.path, node["line"], field, node[field])

    def _refuse_declarations(self, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise InputError(
            "document types and entities are not supported; remove the declaration", where=self.path, line=line
        )

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        line = self._parser.CurrentLineNumber
        if not self._open and name != "graphml":
            raise InputError(f"<{name[:40]}>: a GraphML file begins with <graphml>", where=self.path, line=line)
        self._open.append(name)
        if name == "data" and self._owner is not None:
            kind, field = self._keys.get(attributes.get("key", ""), ("", ""))
            if kind in (self._owner[0], "all") and field in WANTED[self._owner[0]]:
                self._field, self._text = field, []
        elif name == "node":
            identity = self._require(line, attributes, "id")
            if identity in self.place:
                raise InputError("given twice", field="id", value=identity, where=self.path, line=line)
            self.place[identity] = len(self.nodes)
            self.nodes.append({"id": identity, "line": line})
            self._owner = ("node", self.nodes[-1])
        elif name == "edge":
            ends = {end: self._require(line, attributes, end) for end in ("source", "target")}
            directed = attributes.get("directed", "true" if self._directed else "false") == "true"
            self.edges.append({"line": line, "directed": directed, **ends})
            self._owner = ("edge", self.edges[-1])
        elif name == "graph":
            if self._open.count("graph") > 1 or self.nodes:
                raise InputError("second graph; expected only one", where=self.path, line=line)
            self._directed = attributes.get("edgedefault", "directed") == "directed"
            self._owner = ("graph", self.graph)
        elif name == "key":
            identity = self._require(line, attributes, "id")
            self._keys[identity] = (attributes.get("for", "all"), attributes.get("attr.name", identity))
        elif name == "hyperedge":
            raise InputError("hyperedges are not supported; use edges between two nodes", where=self.path, line=line)

    def _end(self, name: str) -> None:
        self._open.pop()
        name = name.rpartition(":")[2]
        if name == "data" and self._field is not None and self._owner is not None:
            self._owner[1][self._field] = "".join(self._text).strip()
            self._field = None
        elif name in ("node", "edge"):
            self._owner = ("graph", self.graph)

    def _characters(self, text: str) -> None:
        if self._field is not None:
            self._text.append(text)

    def _require(self, line: int, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            raise InputError("missing", field=name, where=self.path, line=line)
        return attributes[name]


def _number(path: Path, line: int, field: str, text: str, least: float = -LARGEST_VALUE) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not least <= number <= LARGEST_VALUE:
        kind = "a number >= 0" if least == 0 else "a finite number"
        raise InputError(f"expected {kind}", field=field, value=text, where=path, line=line)
    return number


def _vector(path: Path, node: dict[str, Any]) -> list[float]:
    """Return the numbers of a node's vector, separated by commas or spaces."""
    entries = node.get("vector", "").replace(",", " ").split()
    if not entries:
        raise InputError(f"missing at node {show(node['id'])}", field="vector", where=path, line=node["line"])
    return [_number(path, node["line"], "vector", entry) for entry in entries]
