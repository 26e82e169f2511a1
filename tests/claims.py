"""Random problems of every kind, and checks of a plan's claims against the exact loss of all routes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from learnroute import (
    Calibrated,
    Constraints,
    Fleet,
    Gradient,
    InputError,
    Learner,
    Plan,
    Problem,
    Proximal,
    Visits,
)
from learnroute.model.depot import Depot
from learnroute.model.spectrum import largest_rate
from learnroute.model.validation import FloatArray
from oracle import LawOfDistances

TOLERANCE = Fraction(1, 10**10)  # share of the total by which an optimal route may exceed the optimum
SMALLEST = Fraction(2) ** -690  # numbers that differ by less count as equal

EDGES = (0.0, 0.0, 1.0, 1.0, 0.5, 0.25, 1e-9, 1 - 1e-9)


def random_problem(seed: int, size: int | None = None) -> Problem | None:
    """Return a problem of any kind that a file may hold; None if the drawn problem is invalid."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6)) if size is None else size
    scale = float(rng.choice([1.0, 1.0, 1.0, 1e-6, 1e6, 1e-90, 1e60]))
    fields: dict[str, Any] = {"learner": _learner(rng, scale), **_models(rng, size, scale)}
    travel = rng.random((size, size)) * rng.choice([0.0, 1e-3, 1.0, 1.0, 10.0]) * scale
    travel[rng.random((size, size)) < rng.choice([0.0, 0.3])] = 0.0
    fields["travel"] = travel * (1 - np.eye(size)) if rng.random() < 0.3 else np.triu(travel, 1) + np.triu(travel, 1).T
    fields["travel_rate"] = float(rng.choice([1.0, 1.0, 0.1, 0.0, 1e-90]))
    names = [f"R{i + 1}" for i in range(size)]
    ends = [str(x) for x in rng.permutation(names)[:2]]
    closed = bool(rng.random() < 0.3)
    if rng.random() < 0.2:
        costs = (rng.random(size) * scale).tolist()
        fields["depot"] = Depot("Base", travel=costs, returns=closed)
        closed = False
    start = ends[0] if rng.random() < 0.25 and "depot" not in fields else None
    end = ends[1] if rng.random() < 0.25 else None
    fields["constraints"] = Constraints(start=start, end=end, returns=closed)
    if fields["learner"].rule != "calibrated" and rng.random() < 0.25:
        fields["samples"] = [int(n) for n in rng.choice([40, 90, 100, 140, 400], size)]
    fields["importance"] = _importance(np.random.default_rng([seed, 1]), size)
    try:
        return Problem(**fields)
    except InputError:
        return None


def random_fleet(seed: int, most: int = 4) -> Problem | None:
    """Return a problem of any kind with several vehicles or models; None if the drawn problem is invalid."""
    rng = np.random.default_rng([seed, 30])
    problem = random_problem(seed, int(rng.integers(2, most + 1)))
    if problem is None:
        return None
    names = [str(name) for name in rng.permutation(problem.regions)]
    longest, fixed = float(problem.ways.matrix.max()), (problem.constraints.start, problem.constraints.end)
    visits = None
    if rng.random() < 0.6:
        repeat = int(rng.choice([1, 1, 2]))
        visits = Visits(
            required=[name for name in names[1:] if rng.random() < 0.3],
            forbidden=names[:1] if rng.random() < 0.2 and names[0] not in fixed else [],
            repeat=repeat, at_most=3 if repeat > 1 else None, at_least=int(rng.choice([1, 1, 2])),
            budget=float(rng.random()) * 4 * longest if rng.random() < 0.2 else None,
        )  # fmt: skip
    size = int(rng.choice([1, 2, 2, 3]))
    try:
        members: dict[str, Any] = {
            str(rng.choice(["vehicles", "models"])): size,
            "serve": str(rng.choice(["merged", "own"])) if size > 1 else "own",
            "weights": "equal" if rng.random() < 0.2 else "chosen",
            "travel": str(rng.choice(["total", "longest"])),
            "limit": float(rng.random()) * 3 * longest if rng.random() < 0.3 else None,
        }
        fleet = Fleet(**members)
        ends = Constraints(returns=problem.constraints.returns) if fleet.vehicles > 1 else problem.constraints
        return problem.replace(fleet=fleet, visits=visits, constraints=ends)
    except InputError:
        return None


def _importance(rng: np.random.Generator, size: int) -> list[float] | None:
    """Return the importance of regions: none given, equal, different, or close to zero."""
    if rng.random() < 0.6:
        return None
    kind = rng.integers(0, 4)
    if kind == 0:
        return [float(rng.random()) + 0.1] * size
    found = rng.random(size) if kind < 3 else 10.0 ** rng.uniform(-12, 12, size)
    found[rng.random(size) < (0.5 if kind == 2 else 0.0)] = 0.0
    return found.tolist() if found.any() else None


def _learner(rng: np.random.Generator, scale: float) -> Learner:
    rule = str(rng.choice(["calibrated", "calibrated", "calibrated", "proximal", "gradient", "least-squares"]))
    noise = float(rng.choice([0.0, 0.1, 1.0])) * scale**0.5
    if rule == "calibrated":
        p = _share(rng)
        common = _share(rng) if rng.random() < 0.4 else None
        q = _share(rng) * (p if common is None else 1.0)
        nu = float(rng.choice([0.0, rng.normal(), -p * q * rng.random()])) * scale
        nu = 0.0 if abs(nu) < 1e-100 else nu
        return Calibrated(noise=nu, retention=p, coupling=min(q, p) if common is None else q,
                       common_retention=common)  # fmt: skip
    m, n = (int(x) for x in rng.choice([2, 5, 20, 100, 300], 2))
    if rule == "proximal":
        return Proximal(m, n, noise, regularization=float(rng.choice([1e-3, 0.1, 1.0, 20.0])))
    if rule == "gradient":
        rate = float(rng.choice([0.05, 0.5, 0.9])) * largest_rate(m, n)
        return Gradient(m, n, noise, steps=int(rng.integers(1, 4)), rate=rate)
    return Learner(m, n if abs(n - m) > 1 else m + 5, noise)


def _share(rng: np.random.Generator) -> float:
    return float(rng.choice(EDGES)) if rng.random() < 0.3 else float(rng.random())


def _models(rng: np.random.Generator, size: int, scale: float) -> dict[str, Any]:
    """Return the dissimilarities as vectors, as a symmetric matrix, or as measured errors."""
    kind = rng.integers(0, 4)
    initial = None if rng.random() < 0.2 else rng.random(size) * scale * rng.choice([0.0, 1.0, 10.0])
    if kind <= 1:
        vectors = rng.normal(size=(size, int(rng.integers(1, 4)))) * scale**0.5
        if kind == 1:
            vectors = np.rint(rng.normal(size=(size, 1)) * 2)
        elif rng.random() < 0.2:
            vectors = vectors + 1e8 * scale**0.5  # common to all regions
        return {"vectors": vectors, "initial": initial}
    matrix = rng.random((size, size)) * scale * (rng.random((size, size)) < rng.choice([0.5, 1.0]))
    if kind == 2:
        return {"dissimilarity": np.triu(matrix, 1) + np.triu(matrix, 1).T, "initial": initial}
    return {"transfer": matrix, "initial": initial}


def random_visits(seed: int, most: int = 5) -> Problem | None:
    """Return a random problem of any kind with random rules for its visits; None if the drawn problem is invalid."""
    rng = np.random.default_rng([seed, 29])
    problem = random_problem(seed)
    if problem is None or problem.size > most:
        return None
    names = [str(name) for name in rng.permutation(problem.regions)]
    fixed = {problem.constraints.start, problem.constraints.end}
    forbidden = [name for name in names[:1] if rng.random() < 0.3 and name not in fixed and problem.size > 2]
    required: Any = [name for name in names[1:] if rng.random() < 0.25]
    repeat = int(rng.choice([1, 1, 2]))
    at_most = int(rng.integers(1, 5)) if repeat > 1 or rng.random() < 0.4 else None
    travel = float(problem.travel.max())
    budget = float(rng.random() * 3 * travel) if rng.random() < 0.3 else None
    try:
        return problem.replace(visits=Visits(required, forbidden, repeat, 1, at_most, budget))
    except InputError:
        return None


def mixed_magnitudes(problem: Problem, seed: int) -> Problem | None:
    """Return a problem with numbers times powers of ten of their own; None if it is outside the range of numbers."""
    rng = np.random.default_rng([seed, 31])
    width, size = float(rng.choice([10, 30, 60, 95])), problem.size

    def spread(numbers: Any, share: float = 1.0) -> FloatArray:
        shape, ends = np.shape(numbers), width * share * np.array([-1, 0, 0, 1])
        powers = rng.uniform(ends[0], ends[-1], shape) if rng.random() < 0.5 else rng.choice(ends, shape)
        found: FloatArray = np.clip(np.asarray(numbers) * 10.0**powers, -1e99, 1e99)
        return np.where(np.abs(found) < 1e-100, 0.0, found)

    travel, learner = spread(problem.travel), problem.learner
    changes: dict[str, Any] = {"initial": spread(problem.initial), "importance": spread(np.ones(size))}
    if rng.random() < 0.7:
        changes["travel"] = travel if rng.random() < 0.5 else np.maximum(travel, travel.T)
    for name, share in (("dissimilarity", 1.0), ("transfer", 1.0), ("vectors", 0.45)):
        if getattr(problem, name) is not None:
            found = spread(getattr(problem, name), share)
            changes[name] = np.maximum(found, found.T) if name == "dissimilarity" else found
    changes = {name: value for name, value in changes.items() if rng.random() < 0.7}
    if learner.rule == "proximal" and rng.random() < 0.5:
        learner = Proximal(learner.features, learner.samples, learner.noise, regularization=float(spread(1.0)))
    some = rng.choice(changes.get("travel", problem.travel).ravel()) * rng.choice([0.999, 1, 2, 1e5])
    longest = float(min(some, 1e100))
    if problem.visits is not None and problem.visits.budget is not None:
        changes["visits"] = replace(problem.visits, budget=longest)
    if problem.fleet is not None and problem.fleet.limit is not None:
        changes["fleet"] = replace(problem.fleet, limit=longest)
    try:
        return problem.replace(**changes, learner=learner)
    except InputError:
        return None


def false_claims(exact: LawOfDistances, least: Fraction, found: Plan) -> list[str]:
    """Return the false claims of a plan."""
    total, wrong = exact.total(found.visits), []
    room = max(TOLERANCE * abs(total), SMALLEST)
    if found.optimal and total - least > room:
        wrong.append(f"optimal, but {float(total)} is above {float(least)}")
    if found.lower_bound is not None:
        if not np.isfinite(found.lower_bound):
            wrong.append(f"lower_bound {found.lower_bound}")
        elif Fraction(found.lower_bound) - least > (room if found.optimal else SMALLEST):
            wrong.append(f"lower_bound {found.lower_bound} is above {float(least)}")
    if found.guarantee.value is not None and total - Fraction(found.guarantee.value) * least > room * 2:
        wrong.append(f"guarantee {found.guarantee.value}: {float(total)} and {float(least)}")
    digits = max(abs(total) / 10**9, SMALLEST)
    if found.gap is not None and total - Fraction(1 + found.gap) * least > digits:
        wrong.append(f"gap {found.gap}: {float(total)} and {float(least)}")
    if found.loss_at_most is not None and total > Fraction(found.loss_at_most) + digits:
        wrong.append(f"loss_at_most {found.loss_at_most} is below {float(total)}")
    return wrong
