"""What proves a lower bound: the numbers from which anyone can recompute it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from learnroute.errors import InputError
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, as_vector, shown

Kind = Literal["simple", "tree", "walks"]
KINDS = ("simple", "tree", "walks")
ROUNDING = 4e-12  # relative to all that is added up


@dataclass(frozen=True, eq=False)
class Certificate:
    """A lower bound on the value of every order, in the units of the objective, and what it follows from.

    Attributes
    ----------
    kind
        `simple`: spanning tree and rearrangement, nothing to store. `tree`: a least 1-tree with one multiplier a
        vertex. `walks`: a cheapest walk with one multiplier a region and memory sets.
    bound
        No order has a smaller value.
    multipliers
        One number a region (`tree`: and one for each of the added vertices).
    memory
        For each region, the regions that a walk still remembers on arriving there.
    """

    kind: Kind
    bound: float
    multipliers: FloatArray | None = None
    memory: tuple[tuple[int, ...], ...] = ()

    def to_dict(self, size: int) -> dict[str, Any]:
        """Return the certificate as the JSON contract has it: the bound per region."""
        data: dict[str, Any] = {"kind": self.kind, "bound": self.bound / size}
        if self.multipliers is not None:
            data["multipliers"] = self.multipliers.tolist()
        if self.memory:
            data["memory"] = [list(row) for row in self.memory]
        return data

    @classmethod
    def from_dict(cls, data: Any, size: int) -> Certificate:
        """Read what `to_dict` wrote, or refuse."""
        if not isinstance(data, Mapping) or data.get("kind") not in KINDS:
            raise InputError(f"certificate = {shown(data)}: an object with kind {', '.join(KINDS)} is needed")
        kind = data["kind"]
        bound = as_vector("certificate.bound", [data.get("bound")], 1, least=-1e100, meaning="bounds")[0] * size
        if kind == "simple":
            return cls(kind, float(bound))
        length = size if kind == "walks" else size + 2
        numbers = as_vector(
            "certificate.multipliers", data.get("multipliers"), length, least=-1e100, meaning="multipliers"
        )
        return cls(kind, float(bound), numbers, _memory(data.get("memory"), size) if kind == "walks" else ())


def _memory(rows: Any, size: int) -> tuple[tuple[int, ...], ...]:
    if not isinstance(rows, list) or len(rows) != size:
        raise InputError(f"certificate.memory = {shown(rows)}: one list of regions for each of {size} is needed")
    for v, row in enumerate(rows):
        if not isinstance(row, list) or not all(type(u) is int and 0 <= u < size for u in row):
            raise InputError(f"certificate.memory[{v}] = {shown(row)}: a list of 0-based indices is needed")
    return tuple(tuple(row) for row in rows)


def exhaustive(objective: Objective, least: float) -> Certificate:
    """Return the certificate of an optimum found by enumeration: no multipliers, and everything remembered."""
    size = objective.size
    counted = objective.weights.sum() if objective.factors is None else size
    largest = float(counted * objective.scores.max() + (size + 1) * objective.travel.max())
    return Certificate("walks", least - ROUNDING * largest, np.zeros(size), (tuple(range(size)),) * size)
