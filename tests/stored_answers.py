"""Problems with all rules, ends, depots, repeats, budgets and fleets, whose optimal totals were stored earlier.

`python tests/stored_answers.py` stores the totals that the installed version proves, in `stored_answers.json`. Those in
the repository are by commit 5c8a3d11, in which orders, visits and fleets had searches and proofs of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from learnroute import Constraints, Depot, Fleet, Learner, Problem, Visits, plan

STORED = Path(__file__).with_suffix(".json")
LEARNERS: dict[str, dict[str, Any]] = {
    "under": {"features": 40, "samples": 100, "noise": 0.3},
    "over": {"features": 120, "samples": 100, "noise": 0.3},
    "m1000": {"features": 1000, "samples": 100, "noise": 0.3},
    "prox0.3": {"features": 120, "samples": 100, "noise": 0.3, "rule": "proximal", "regularization": 0.3},
    "prox4": {"features": 60, "samples": 100, "noise": 0.5, "rule": "proximal", "regularization": 4.0},
    "grad": {"features": 60, "samples": 80, "noise": 0.4, "rule": "gradient", "steps": 8, "rate": 0.3},
}
COUPLED = ("prox0.3", "prox4", "grad")
ENDS: dict[str, Constraints | None] = {
    "free": None, "start": Constraints(start="R2"), "both": Constraints(start="R2", end="R4"),
    "end": Constraints(end="R4"), "return": Constraints(returns=True), "depot": None, "depot-open": None,
}  # fmt: skip
VISITS: tuple[dict[str, Any], ...] = (
    {}, {"required": ["R1", "R2"]}, {"repeat": 2}, {"budget": 14.0}, {"at_least": 3}, {"at_most": 2},
    {"forbidden": ["R3"]}, {"required": "all", "budget": 60.0},
)  # fmt: skip
FLEETS: tuple[dict[str, Any], ...] = (
    {"vehicles": 2}, {"vehicles": 2, "serve": "own"}, {"vehicles": 3, "weights": "equal"}, {"models": 2},
    {"models": 2, "serve": "merged"}, {"vehicles": 2, "travel": "longest", "limit": 30.0},
)  # fmt: skip


def make_problem(
    size: int, learner: str, seed: int, *, ends: str = "free", directed: bool = False, uneven: bool = False,
    importance: bool = False, rate: float = 0.1, **members: Any,
) -> Problem:  # fmt: skip
    """Return a problem of places in a square, or of travel that differs by direction."""
    rng = np.random.default_rng([size, seed])
    places, vectors = rng.random((size, 2)) * 10, rng.standard_normal((size, 4))
    fields: dict[str, Any] = {
        "vectors": vectors, "initial": (vectors**2).sum(axis=1) + 1.0, "learner": Learner(**LEARNERS[learner]),
        "constraints": ENDS[ends], "travel_rate": rate, **members,
    }  # fmt: skip
    if directed:
        fields["travel"] = np.round(rng.uniform(1, 10, (size, size)), 3) * (1 - np.eye(size))
    else:
        fields["coordinates"] = places
    if ends.startswith("depot"):
        there, back = (rng.uniform(1, 9, size) for _ in range(2)) if directed else (None, None)
        at = None if directed else (5.0, 5.0)
        fields["depot"] = Depot("D", coordinates=at, travel=there, travel_back=back, returns=ends == "depot")
    if uneven:
        fields["samples"] = rng.integers(130, 200, size) if learner == "under" else rng.integers(60, 100, size)
    if importance:
        fields["importance"] = rng.uniform(0.2, 2, size)
    return Problem(**fields)


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each problem, which begins with its group and subgroup, and its settings."""
    for size, learner, ends in product((5, 8), LEARNERS, ("free", "start", "both", "return", "depot", "depot-open")):
        yield f"order/{size}/{learner}/{ends}", {"size": size, "learner": learner, "seed": 1, "ends": ends,
                                                 "directed": size == 5}  # fmt: skip
    for learner, ends in product(("under", "over", "m1000", "prox0.3", "grad"), ("free", "depot")):
        group = "coupled" if learner in COUPLED else "order"
        yield f"{group}/14/{learner}/{ends}", {"size": 14, "learner": learner, "seed": 2, "ends": ends}
    for size, learner in product((10, 12), COUPLED):
        yield f"coupled/{size}/{learner}", {"size": size, "learner": learner, "seed": 3}
    for learner, uneven, importance in product(("under", "over"), (True, False), (True, False)):
        if uneven or importance:
            settings = {"size": 7, "learner": learner, "seed": 4, "uneven": uneven, "importance": importance}
            yield f"uneven/{learner}/{uneven}/{importance}", settings
    few = ("under", "over", "prox0.3")
    for learner, (k, visits), ends in product(few, enumerate(VISITS), ("free", "depot", "end", "return")):
        yield f"visits/{learner}/{k}/{ends}", {"size": 5, "learner": learner, "seed": 5, "ends": ends, "rate": 0.02,
                                               "visits": Visits(**visits)}  # fmt: skip
    for learner, (k, fleet), ends in product(few, enumerate(FLEETS), ("free", "depot")):
        settings = {"size": 4, "learner": learner, "seed": 6, "ends": ends, "fleet": Fleet(**fleet)}
        yield f"fleet/{learner}/{k}/{ends}", settings
        yield f"fleet-visits/{learner}/{k}/{ends}", {**settings, "rate": 0.02, "visits": Visits()}


def proved_total(settings: dict[str, Any]) -> float:
    """Return the optimal total loss."""
    problem = make_problem(**settings)
    found = plan(problem, "exact" if problem.size == 14 else "auto")
    assert found.optimal
    return found.loss.total


if __name__ == "__main__":
    STORED.write_text(json.dumps({name: proved_total(settings) for name, settings in cases()}, indent=0) + "\n")
