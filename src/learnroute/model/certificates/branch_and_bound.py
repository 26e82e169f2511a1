"""A branch-and-bound tree whose nodes are pruned by 1-trees (Held and Karp 1971; combs: Grötschel and Padberg 1979)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from learnroute.errors import InputError
from learnroute.model.certificates.base import (
    LISTS_OF_INDICES,
    NUMBERS,
    Certificate,
    as_index_lists,
    as_multipliers,
    plain,
)  # fmt: skip
from learnroute.model.validation import FloatArray, as_number

Comb = tuple[tuple[int, ...], ...]  # a handle and an odd number of teeth, all of them sets of vertices


class Node(NamedTuple):
    """One node of a branch-and-bound tree, depth first.

    `branch` is a vertex and the ends of two of its edges, on which the node branches into the nodes that follow. It is
    () if the node is pruned. Then its 1-tree with these multipliers, and these dual values of combs (by number),
    reaches the incumbent; without multipliers, the node is infeasible.
    """

    branch: tuple[int, ...]
    multipliers: tuple[float, ...]
    combs: tuple[tuple[int, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the members that are not empty."""
        members = {
            "branch": list(self.branch),
            "multipliers": list(self.multipliers),
            "combs": [list(pair) for pair in self.combs],
        }
        return {name: value for name, value in members.items() if value}


@dataclass(frozen=True, eq=False, repr=False)
class BranchAndBound(Certificate):
    """A branch-and-bound tree: each of its nodes is pruned by a 1-tree, infeasible, or branched on.

    `multipliers` are those of the root. `nodes` are in depth-first order and refer to `combs` by number.
    """

    kind: ClassVar[str] = "branch-and-bound"
    members: ClassVar[Mapping[str, Any]] = {
        "multipliers": {
            **NUMBERS,
            "description": "Multipliers of the root's 1-tree: one per region, then those of the vertices home and out",
        },
        "nodes": {
            "type": "array",
            "description": "Nodes of the tree, depth first",
            "items": {
                "type": "object",
                "properties": {
                    "branch": {
                        "type": "array",
                        "items": {"type": "integer", "minimum": -1},
                        "minItems": 3,
                        "maxItems": 3,
                        "description": "A vertex and the ends of two of its edges, or -1; omitted in pruned nodes",
                    },
                    "multipliers": {
                        **NUMBERS,
                        "description": "One per region, then that of home; omitted in infeasible nodes",
                    },
                    "combs": {
                        "type": "array",
                        "description": "Pairs of the index of a comb and its dual value",
                        "items": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                    },
                },
                "additionalProperties": False,
            },
        },
        "combs": {
            "type": "array",
            "description": "Combs: a handle and an odd number of teeth, as lists of vertices",
            "items": LISTS_OF_INDICES,
        },
    }
    optional: ClassVar[tuple[str, ...]] = ("combs",)

    multipliers: FloatArray
    nodes: tuple[Node, ...]
    combs: tuple[Comb, ...] = ()

    def _members(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "multipliers": plain(self.multipliers),
            "nodes": [node.to_dict() for node in self.nodes],
        }
        if self.combs:
            data["combs"] = [[list(members) for members in comb] for comb in self.combs]
        return data

    @classmethod
    def read(cls, bound: float, data: Mapping[str, Any], size: int) -> Self:
        """Read multipliers, combs and nodes."""
        multipliers = as_multipliers("certificate.multipliers", data.get("multipliers"), size + 2)
        rows = data.get("combs", [])
        if not isinstance(rows, list):
            raise InputError("expected a list of combs", field="certificate.combs", value=rows)
        combs = tuple(as_index_lists(f"certificate.combs[{k}]", row, size + 2) for k, row in enumerate(rows))
        nodes = data.get("nodes")
        if not isinstance(nodes, list):
            raise InputError("expected a list of nodes", field="certificate.nodes", value=nodes)
        found = tuple(_node(f"certificate.nodes[{k}]", row, size, len(combs)) for k, row in enumerate(nodes))
        return cls(bound, multipliers, found, combs)


def _node(field: str, row: Any, size: int, combs: int) -> Node:
    known = ("branch", "multipliers", "combs")
    if not isinstance(row, Mapping) or not set(row) <= set(known):
        raise InputError(f"expected an object with {', '.join(known)}", field=field, value=row)
    branch = row.get("branch", [])
    if (
        not isinstance(branch, list)
        or len(branch) not in (0, 3)
        or not all(type(v) is int and -1 <= v <= size + 1 for v in branch)
    ):
        raise InputError("no or three vertices are needed", field=f"{field}.branch", value=branch)
    multipliers = row.get("multipliers", [])
    if multipliers != []:
        multipliers = as_multipliers(f"{field}.multipliers", multipliers, size + 1).tolist()
    return Node(tuple(branch), tuple(multipliers), _dual_values(f"{field}.combs", row.get("combs", []), combs))


def _dual_values(field: str, rows: Any, combs: int) -> tuple[tuple[int, float], ...]:
    if not isinstance(rows, list):
        raise InputError("expected a list of pairs, a comb and its dual value", field=field, value=rows)
    found = []
    for k, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != 2 or type(row[0]) is not int or not 0 <= row[0] < combs:
            raise InputError(
                f"expected a comb below {combs} and its dual value", field=f"{field}[{k}]", value=row
            )  # fmt: skip
        value = as_number(f"{field}[{k}]", row[1], meaning="dual values of combs", derived=True)
        found.append((row[0], value))
    return tuple(found)
