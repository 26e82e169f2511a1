"""What proves a lower bound: the numbers from which anyone can recompute it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from learnroute.errors import InputError, shown
from learnroute.model.objective import Objective
from learnroute.model.validation import FloatArray, as_number, as_vector

Kind = Literal["simple", "tree", "walks", "cases"]
KINDS = ("simple", "tree", "walks", "cases")
ROUNDING = 4e-12  # relative to all that is added up


class Case(NamedTuple):
    """One case of a proof by cases, in the order in which they are told apart.

    `split`: a vertex and the ends of two of its edges, by which the case falls into smaller ones that follow; () where
    the case is closed. Then its 1-tree at these multipliers, and these of combs (by number), costs too much, or
    (without any) it has no tour.
    """

    split: tuple[int, ...]
    multipliers: tuple[float, ...]
    combs: tuple[tuple[int, float], ...] = ()


class Walks(NamedTuple):
    """What a walk is refunded and remembers.

    `memory`: for each region, the regions that a walk still remembers on arriving there. `places`: a position, a region
    and what a walk remembers on arriving there then, besides.
    """

    multipliers: FloatArray
    memory: tuple[tuple[int, ...], ...]
    places: tuple[tuple[int, ...], ...] = ()

    def masks(self) -> list[list[int]]:
        """Return what is remembered at each position and region, itself included, one bit a region."""
        always = [sum(1 << u for u in {v, *row}) for v, row in enumerate(self.memory)]
        found = [list(always) for _ in always]
        for position, region, *others in self.places:
            for other in others:
                found[position][region] |= 1 << other
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the members as the JSON contract has them."""
        data: dict[str, Any] = {
            "multipliers": self.multipliers.tolist(),
            "memory": [list(row) for row in self.memory],
        }
        if self.places:
            data["places"] = [list(row) for row in self.places]
        return data

    @classmethod
    def from_dict(cls, field: str, data: Any, size: int) -> Walks:
        """Read what `to_dict` wrote, or refuse."""
        if not isinstance(data, Mapping):
            raise InputError(f"{field} = {shown(data)}: an object with multipliers and memory is needed")
        numbers = as_vector(f"{field}.multipliers", data.get("multipliers"), size, least=-1e100, meaning="multipliers")
        memory = _lists(f"{field}.memory", data.get("memory"), size)
        if len(memory) != size:
            raise InputError(f"{field}.memory: {len(memory)} lists; one for each of {size} regions is needed")
        places = _lists(f"{field}.places", data.get("places", []), size)
        for k, row in enumerate(places):
            if len(row) < 2:
                raise InputError(f"{field}.places[{k}] = {list(row)}: a position and a region are needed, then others")
        return cls(numbers, memory, places)


@dataclass(frozen=True, eq=False)
class Certificate:
    """A lower bound on the value of every order, in the units of the objective, and what it follows from.

    Attributes
    ----------
    kind
        `simple`: spanning tree and rearrangement, nothing to store. `tree`: a least 1-tree with one multiplier a
        vertex. `walks`: cheapest walks with one multiplier a region and memory sets. `cases`: 1-trees with
        edges struck out or needed, case by case.
    bound
        No order has a smaller value.
    multipliers
        Of a 1-tree: one number a region and one for each of the added vertices.
    walks
        What walks are refunded and remember. Where there are several, all but the last only say which steps to strike
        out: those that no walk cheaper than the bound takes.
    cases
        How the cases were told apart and closed.
    combs
        What cases refer to: a handle and an odd number of teeth each, all of them sets of vertices.
    """

    kind: Kind
    bound: float
    multipliers: FloatArray | None = None
    walks: tuple[Walks, ...] = ()
    cases: tuple[Case, ...] = ()
    combs: tuple[tuple[tuple[int, ...], ...], ...] = ()

    def to_dict(self, size: int) -> dict[str, Any]:
        """Return the certificate as the JSON contract has it: the bound per region."""
        data: dict[str, Any] = {"kind": self.kind, "bound": self.bound / size}
        if self.multipliers is not None:
            data["multipliers"] = self.multipliers.tolist()
        if self.walks:
            data |= self.walks[-1].to_dict()
        if self.walks[1:]:
            data["before"] = [walks.to_dict() for walks in self.walks[:-1]]
        if self.cases:
            data["cases"] = [
                [
                    list(case.split),
                    list(case.multipliers),
                    *([[list(pair) for pair in case.combs]] if case.combs else []),
                ]
                for case in self.cases
            ]
        if self.combs:
            data["combs"] = [[list(members) for members in comb] for comb in self.combs]
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
        if kind == "walks":
            before = data.get("before", [])
            if not isinstance(before, list):
                raise InputError(f"certificate.before = {shown(before)}: a list of objects is needed")
            stages = [Walks.from_dict(f"certificate.before[{k}]", stage, size) for k, stage in enumerate(before)]
            return cls(kind, float(bound), walks=(*stages, Walks.from_dict("certificate", data, size)))
        numbers = as_vector(
            "certificate.multipliers", data.get("multipliers"), size + 2, least=-1e100, meaning="multipliers"
        )
        if kind == "tree":
            return cls(kind, float(bound), numbers)
        combs = _combs(data.get("combs", []), size + 2)
        return cls(kind, float(bound), numbers, cases=_cases(data.get("cases"), size, len(combs)), combs=combs)


def _lists(field: str, rows: Any, size: int) -> tuple[tuple[int, ...], ...]:
    if not isinstance(rows, list):
        raise InputError(f"{field} = {shown(rows)}: a list of lists is needed")
    for v, row in enumerate(rows):
        if not isinstance(row, list) or not all(type(u) is int and 0 <= u < size for u in row):
            raise InputError(f"{field}[{v}] = {shown(row)}: a list of 0-based indices below {size} is needed")
    return tuple(tuple(row) for row in rows)


def _combs(rows: Any, vertices: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    if not isinstance(rows, list):
        raise InputError(f"certificate.combs = {shown(rows)}: a list of combs is needed")
    return tuple(_lists(f"certificate.combs[{k}]", row, vertices) for k, row in enumerate(rows))


def _cases(rows: Any, size: int, combs: int) -> tuple[Case, ...]:
    if not isinstance(rows, list):
        raise InputError(f"certificate.cases = {shown(rows)}: a list of cases is needed")
    found = []
    for k, row in enumerate(rows):
        field = f"certificate.cases[{k}]"
        if not isinstance(row, list) or len(row) not in (2, 3) or not isinstance(row[0], list):
            raise InputError(f"{field} = {shown(row)}: a split, multipliers, and those of combs if any, are needed")
        split, numbers, *pairs = row
        if len(split) not in (0, 3) or not all(type(v) is int and -1 <= v <= size + 1 for v in split):
            raise InputError(f"{field}: split = {shown(split)}: no or three vertices are needed")
        if numbers != []:
            numbers = as_vector(field, numbers, size + 1, least=-1e100, meaning="multipliers").tolist()
        found.append(Case(tuple(split), tuple(numbers), _pairs(field, pairs[0] if pairs else [], combs)))
    return tuple(found)


def _pairs(field: str, rows: Any, combs: int) -> tuple[tuple[int, float], ...]:
    if not isinstance(rows, list):
        raise InputError(f"{field}: {shown(rows)}: a list of pairs is needed, a comb and its multiplier")
    found = []
    for row in rows:
        if not isinstance(row, list) or len(row) != 2 or type(row[0]) is not int or not 0 <= row[0] < combs:
            raise InputError(f"{field}: {shown(row)}: a comb below {combs} and its multiplier are needed")
        found.append((row[0], float(as_number(field, row[1], meaning="multipliers of combs"))))
    return tuple(found)


def exhaustive(objective: Objective, least: float) -> Certificate:
    """Return the certificate of an optimum found by enumeration: no multipliers, and everything remembered."""
    size = objective.size
    counted = objective.weights.sum() if objective.factors is None else size
    largest = float(counted * objective.scores.max() + (size + 1) * objective.travel.max())
    everything = Walks(np.zeros(size), (tuple(range(size)),) * size)
    return Certificate("walks", least - ROUNDING * largest, walks=(everything,))
