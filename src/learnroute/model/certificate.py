"""What proves a lower bound: the numbers from which anyone can recompute it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from learnroute.errors import InputError
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, as_number, as_vector, shown

Kind = Literal["simple", "tree", "walks", "cases"]
KINDS = ("simple", "tree", "walks", "cases")
ROUNDING = 4e-12  # relative to all that is added up


class Case(NamedTuple):
    """One case of a proof by cases, in the order in which they are told apart.

    `split`: a vertex and the ends of two of its edges, by which the case falls into smaller ones that follow; () where
    the case is closed. Then its 1-tree at these multipliers costs too much, or (without any) it has no tour.
    """

    split: tuple[int, ...]
    multipliers: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Certificate:
    """A lower bound on the value of every order, in the units of the objective, and what it follows from.

    Attributes
    ----------
    kind
        `simple`: spanning tree and rearrangement, nothing to store. `tree`: a least 1-tree with one multiplier a
        vertex. `walks`: a cheapest walk with one multiplier a region and memory sets. `cases`: 1-trees with
        edges struck out or needed, case by case.
    bound
        No order has a smaller value.
    multipliers
        One number a region (`tree`: and one for each of the added vertices).
    memory
        For each region, the regions that a walk still remembers on arriving there.
    cases
        How the cases were told apart and closed.
    """

    kind: Kind
    bound: float
    multipliers: FloatArray | None = None
    memory: tuple[tuple[int, ...], ...] = ()
    cases: tuple[Case, ...] = ()

    def to_dict(self, size: int) -> dict[str, Any]:
        """Return the certificate as the JSON contract has it: the bound per region."""
        data: dict[str, Any] = {"kind": self.kind, "bound": self.bound / size}
        if self.multipliers is not None:
            data["multipliers"] = self.multipliers.tolist()
        if self.memory:
            data["memory"] = [list(row) for row in self.memory]
        if self.cases:
            data["cases"] = [[list(case.split), list(case.multipliers)] for case in self.cases]
        return data

    @classmethod
    def from_dict(cls, data: Any, size: int) -> Certificate:
        """Read what `to_dict` wrote, or refuse."""
        if not isinstance(data, Mapping) or data.get("kind") not in KINDS:
            raise InputError(f"certificate = {shown(data)}: an object with kind {', '.join(KINDS)} is needed")
        kind = data["kind"]
        bound = as_number("certificate.bound", data.get("bound"), least=-np.inf, meaning="bounds", most=np.inf) * size
        if kind == "simple":
            return cls(kind, float(bound))
        length = size if kind == "walks" else size + 2
        numbers = as_vector(
            "certificate.multipliers", data.get("multipliers"), length, least=-1e100, meaning="multipliers"
        )
        return cls(
            kind,
            float(bound),
            numbers,
            _memory(data.get("memory"), size) if kind == "walks" else (),
            _cases(data.get("cases"), size) if kind == "cases" else (),
        )


def _memory(rows: Any, size: int) -> tuple[tuple[int, ...], ...]:
    if not isinstance(rows, list) or len(rows) != size:
        raise InputError(f"certificate.memory = {shown(rows)}: one list of regions for each of {size} is needed")
    for v, row in enumerate(rows):
        if not isinstance(row, list) or not all(type(u) is int and 0 <= u < size for u in row):
            raise InputError(f"certificate.memory[{v}] = {shown(row)}: a list of 0-based indices is needed")
    return tuple(tuple(row) for row in rows)


def _cases(rows: Any, size: int) -> tuple[Case, ...]:
    if not isinstance(rows, list):
        raise InputError(f"certificate.cases = {shown(rows)}: a list of cases is needed")
    found = []
    for k, row in enumerate(rows):
        field = f"certificate.cases[{k}]"
        if not isinstance(row, list) or len(row) != 2 or not isinstance(row[0], list):
            raise InputError(f"{field} = {shown(row)}: a pair is needed: a split, and multipliers")
        split, numbers = row
        if len(split) not in (0, 3) or not all(type(v) is int and -1 <= v <= size + 1 for v in split):
            raise InputError(f"{field}: split = {shown(split)}: no or three vertices are needed")
        if numbers:
            numbers = as_vector(field, numbers, size + 1, least=-1e100, meaning="multipliers").tolist()
        found.append(Case(tuple(split), tuple(numbers)))
    return tuple(found)


def exhaustive(objective: Objective, least: float) -> Certificate:
    """Return the certificate of an optimum found by enumeration: no multipliers, and everything remembered."""
    size = objective.size
    counted = objective.weights.sum() if objective.factors is None else size
    largest = float(counted * objective.scores.max() + (size + 1) * objective.travel.max())
    return Certificate("walks", least - ROUNDING * largest, np.zeros(size), (tuple(range(size)),) * size)
