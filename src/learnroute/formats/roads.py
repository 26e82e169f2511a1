"""Travel along roads: shortest paths between the regions of a road graph. Requires SciPy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from learnroute.errors import InputError, install_hint
from learnroute.model.rounding import SAME
from learnroute.model.streets import Streets
from learnroute.model.validation import FloatArray, IntArray, freeze

AT_ONCE = 4_000_000  # distances kept in memory while the matrix is filled


@dataclass(frozen=True)
class Roads:
    """A graph: edges with costs and, if known, shapes (WKT); nodes with coordinates, if known."""

    origins: list[int]
    goals: list[int]
    costs: list[float]
    shapes: list[str | None]
    size: int
    places: list[list[float]] | None
    geographic: bool


def street_members(roads: Roads, regions: list[int], names: list[str]) -> dict[str, Any]:
    """Return the members of a problem that follow from the roads, for regions at some of the nodes."""
    streets = _ShortestPaths(roads, np.array(regions))
    data: dict[str, Any] = {"travel": streets.travel(names)}
    if roads.places is not None:
        data["coordinates"] = streets.places[regions]
        data["streets"] = streets
        if roads.geographic:
            data["geographic"] = True
    return data


class _ShortestPaths(Streets):
    def __init__(self, roads: Roads, regions: IntArray) -> None:
        origins, goals, costs = np.array(roads.origins, int), np.array(roads.goals, int), np.array(roads.costs, float)
        # keep the cheapest of parallel streets, the first one if tied
        by_ends = np.lexsort((costs, goals, origins))
        ends = np.column_stack([origins, goals])[by_ends]
        first = np.ones(len(by_ends), dtype=bool)
        first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
        kept = by_ends[first]
        self.graph = _sparse(costs[kept], origins[kept], goals[kept], roads.size)
        self.shapes = {
            (roads.origins[k], roads.goals[k]): shape for k in kept.tolist() if (shape := roads.shapes[k]) is not None
        }
        self.regions = regions
        self._tree: tuple[int, IntArray] | None = None  # shortest paths from the last requested region
        self.places = freeze(np.array(roads.places if roads.places is not None else np.zeros((roads.size, 2))))

    def travel(self, names: list[str]) -> FloatArray:
        """Return the cost of the cheapest path between all regions; reject regions that no path connects."""
        size = len(self.regions)
        found = np.empty((size, size))
        step = max(1, AT_ONCE // self.graph.shape[0])
        for start in range(0, size, step):
            found[start : start + step] = self._from(self.regions[start : start + step])[:, self.regions]
        apart = np.argwhere(~np.isfinite(found))
        if len(apart):
            i, j = apart[0].tolist()
            here, there = (repr(names[k]) if k < len(names) else f"region {k}" for k in (i, j))
            raise InputError(
                f"no path leads from {here} to {there}; add an edge in this direction, or remove one of them"
            )
        larger = np.maximum(found, found.T)
        return larger if bool((larger - found <= SAME * larger).all()) else found

    def path(self, origin: int, goal: int) -> FloatArray:
        start, end = int(self.regions[origin]), int(self.regions[goal])
        if self._tree is None or self._tree[0] != start:
            self._tree = start, _dijkstra()(self.graph, indices=start, return_predecessors=True)[1]
        before = self._tree[1]
        nodes = [end]
        while nodes[-1] != start:
            nodes.append(int(before[nodes[-1]]))
        nodes.reverse()
        found = [self.places[start]]
        for a, b in pairwise(nodes):
            found += [*self._inner_points(a, b), self.places[b]]
        return freeze(np.array(found))

    def _from(self, nodes: IntArray) -> FloatArray:
        return np.asarray(_dijkstra()(self.graph, indices=nodes)).reshape(len(nodes), -1)

    def _inner_points(self, a: int, b: int) -> list[FloatArray]:
        """Return the inner points of a street's shape, from a to b."""
        numbers = re.findall(r"(-?\d[\d.eE+-]*)\s+(-?\d[\d.eE+-]*)", self.shapes.get((a, b), ""))
        try:
            line = np.array(numbers, dtype=np.float64).reshape(-1, 2)
        except ValueError:
            return []
        if len(line) < 3 or not np.isfinite(line).all():
            return []
        here = self.places[a]
        return list(line[1:-1] if np.hypot(*(line[0] - here)) <= np.hypot(*(line[-1] - here)) else line[-2:0:-1])


def _dijkstra() -> Any:
    try:
        from scipy.sparse.csgraph import dijkstra
    except ImportError:
        raise InputError(f"road graphs need SciPy: {install_hint('streets')}") from None
    return dijkstra


def _sparse(costs: FloatArray, origins: IntArray, goals: IntArray, size: int) -> Any:
    _dijkstra()
    from scipy.sparse import csr_array

    return csr_array((costs, (origins, goals)), shape=(size, size))
