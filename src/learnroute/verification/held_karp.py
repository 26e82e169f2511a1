"""Check an optimum by enumeration: the least value over all sets of regions, from the end (Held and Karp 1962)."""

from __future__ import annotations

import math

import numpy as np

from learnroute.model.certificates import HeldKarp
from learnroute.model.objective import Objective
from learnroute.model.rounding import OPTIMALITY
from learnroute.verification.checks import Check, no_better, not_repeated, refuted_by

MOST_REGIONS = 20  # up to which all sets are enumerated


def bound(objective: Objective, certificate: HeldKarp, ceiling: float) -> float:
    """Return the least value of any order."""
    return min(ceiling, least_value(objective)) if objective.size <= MOST_REGIONS else -math.inf


def optimum(objective: Objective, certificate: HeldKarp, value: float) -> Check:
    """Compare a value with the least one."""
    if objective.size > MOST_REGIONS:
        return not_repeated(f"more than {MOST_REGIONS} regions cannot be enumerated")
    least = least_value(objective)
    if value - least <= OPTIMALITY * abs(least):
        return no_better("all sets of regions enumerated anew")
    return refuted_by((value - least) / objective.size)


def least_value(objective: Objective) -> float:
    """Return the least value of any order: the best way to go on through each set of regions, from the end."""
    if objective.ends.cyclic:
        return min(_least_of_ends(objective, None, last, None) for last in range(objective.size))
    return _least_of_ends(objective, objective.ends.first, objective.ends.last, objective.ends.first)


def _least_of_ends(objective: Objective, first: int | None, last: int | None, back: int | None) -> float:
    """Return the least value of an order with these ends; the way back leads to `back`, or to the first if unknown."""
    size, travel, scores = objective.size, objective.travel, objective.scores
    inner = [v for v in range(size) if v not in (first, last)]
    sets = np.arange(1 << len(inner))
    tail = [] if last is None else [last]
    if objective.factors is None:
        behind = sum(((sets >> k) & 1 for k in range(len(inner))), start=np.full(len(sets), len(tail)))
        shares = objective.weights[np.maximum(size - 1 - behind, 0)]
        final = float(objective.weights[-1])
    else:
        shares = np.full(len(sets), math.prod(objective.factors[v] for v in tail))
        for k, v in enumerate(inner):
            shares = shares * np.where((sets >> k) & 1, objective.factors[v], 1.0)
        final = 1.0
    home = np.zeros(size)
    if objective.ends.closed and back is not None:
        home = travel[:, back]
    counts = sum(((sets >> k) & 1 for k in range(len(inner))), start=np.zeros(len(sets), dtype=np.int64))
    rows = np.array(inner, dtype=np.int64)
    best = np.full((len(inner), len(sets)), np.inf)
    for k, v in enumerate(inner):
        if last is None:
            best[k, 1 << k] = final * scores[v] + home[v]
        else:
            best[k, 1 << k] = travel[v, last] + final * scores[last] + home[last] + shares[0] * scores[v]
    for count in range(2, len(inner) + 1):
        layer = sets[counts == count]
        for k, v in enumerate(inner):
            here = layer[(layer >> k) & 1 == 1]
            rest = here ^ (1 << k)
            best[k, here] = (best[:, rest] + travel[v, rows][:, None]).min(axis=0) + shares[rest] * scores[v]
    if not inner:  # both ends fixed, or one of them and nothing else
        stops = [v for v in (first, last) if v is not None]
        return objective(stops)
    full = best[:, -1]
    if first is not None:
        full = full + travel[first, rows] + shares[-1] * scores[first]
    elif objective.ends.closed and last is not None:
        full = full + travel[last, rows]
    return float(full.min() + objective.constant)
