"""λ chosen together with visits, compared with all sequences of visits on a fine grid of λ.

    python benchmarks/visit_regularization.py

Random problems of T = 4 … 6 with required regions, travel budgets, depots, fixed ends, repeats, unequal samples and
importance. `auto` is compared with the best of all sequences and 321 λ; `schedule` with the best of all sequences, each
of them with the best λ per visit that coordinate descent over 81 λ finds from three starts. Prints each plan that is
more than 0.1 % worse, and the worst excess per T.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from learnroute import Constraints, Depot, InputError, Problem, Proximal, Visits, expected_loss, plan
from learnroute.model.spectrum import proximal_moments
from learnroute.model.validation import FloatArray

GRID, COARSE = np.logspace(-4, 6, 321), np.logspace(-4, 6, 81)
SWEEPS = 30


def drawn(size: int, seed: int) -> Problem:
    """Return a random problem whose λ is to be chosen, with feasible rules for its visits."""
    rng = np.random.default_rng([size, seed])
    while True:
        vectors = rng.standard_normal((size, 3)) * rng.choice([0.3, 1.0, 3.0])
        names = [f"R{i + 1}" for i in rng.permutation(size)]
        more: dict[str, Any] = {}
        if rng.random() < 0.3:
            more["depot"] = Depot("home", coordinates=rng.random(2).tolist(), returns=bool(rng.random() < 0.5))
        elif rng.random() < 0.4:
            more["constraints"] = Constraints(
                start=names[0] if rng.random() < 0.5 else None, end=names[1] if rng.random() < 0.5 else None,
                returns=bool(rng.random() < 0.5),
            )  # fmt: skip
        m, n = rng.choice([[12, 40], [40, 12], [30, 28], [200, 40], [5, 400]])
        if rng.random() < 0.4:
            more["samples"] = rng.integers(max(2, n // 4), 2 * n, size).tolist()
        if rng.random() < 0.4:
            more["importance"] = (rng.random(size) * (rng.random(size) < 0.8) + 0.01).tolist()
        repeat = int(rng.choice([1, 1, 1, 2])) if size < 6 else 1
        try:
            visits = Visits(
                names[2 : 2 + int(rng.integers(0, 3))], repeat=repeat,
                at_most=size if repeat > 1 else None if rng.random() < 0.7 else int(rng.integers(3, size + 1)),
                budget=float(rng.uniform(0.5, 2.5)) if rng.random() < 0.3 else None,
            )  # fmt: skip
            problem = Problem(
                coordinates=rng.random((size, 2)), vectors=vectors, travel_rate=float(10 ** rng.uniform(-3, 0.5)),
                initial=(vectors**2).sum(axis=1) * rng.uniform(0.5, 2.0) + rng.exponential(0.5), visits=visits,
                learner=Proximal(int(m), int(n), float(rng.choice([0.0, 0.3, 1.0])), regularization="auto"), **more,
            )  # fmt: skip
        except InputError:
            continue
        if sequences(problem):
            return problem


def travel_of(problem: Problem, visits: Sequence[int]) -> float:
    """Return the travel of a route, leg by leg."""
    stops = [*([problem.size] if problem.depot is not None else []), *visits]
    stops += stops[:1] if problem.closed else []
    return sum(float(problem.ways.matrix[i, j]) for i, j in itertools.pairwise(stops))


def sequences(problem: Problem) -> list[tuple[int, ...]]:
    """Return all feasible sequences of visits."""
    rules, constraints = problem.visit_rules, problem.constraints
    must, found = set(np.flatnonzero(rules.required).tolist()), []
    for many in range(1, rules.at_most + 1):
        for visits in itertools.product(np.flatnonzero(rules.allowed).tolist(), repeat=many):
            ends = problem.regions[visits[0]], problem.regions[visits[-1]]
            if max(map(visits.count, visits)) > rules.repeat or not must <= set(visits):
                continue
            if constraints.start not in (None, ends[0]) or constraints.end not in (None, ends[1]):
                continue
            if travel_of(problem, visits) <= rules.budget * (1 + 1e-12):
                found.append(visits)
    return found


class Law:
    """Expected losses for tables of λ."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        counts = np.ones(problem.size) if problem.importance is None else np.asarray(problem.importance)
        self.weights = counts / counts.sum()
        vectors = np.asarray(problem.vectors)
        self.apart = ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2)

    def step(self, region: int, table: FloatArray) -> tuple[FloatArray, ...]:
        """Return p₁, q and ν for each λ of a table."""
        moments = proximal_moments(self.problem.learner.features, int(self.problem.counts[region]), table)
        found = moments.step(self.problem.learner.noise**2)
        return tuple(np.broadcast_to(part, table.shape)[:, None] for part in (found[0], found[2], found[4]))

    def losses(self, visits: Sequence[int], steps: Sequence[tuple[FloatArray, ...]]) -> FloatArray:
        """Return the loss per region; steps have one row, or one row per λ."""
        errors = np.asarray(self.problem.initial_errors)[None]
        for k, (p, q, noise) in zip(visits, steps, strict=True):
            errors = p * errors - q * errors[:, k, None] + (1 - p) * self.apart[k] + noise
        travel = self.problem.travel_rate * travel_of(self.problem, visits) / self.problem.size
        return np.asarray(errors @ self.weights + travel)


def least_constant(problem: Problem) -> float:
    """Return the lowest loss over all sequences and all λ of the grid, with the same λ at each visit."""
    law = Law(problem)
    steps = [law.step(k, GRID) for k in range(problem.size)]
    return min(float(law.losses(visits, [steps[k] for k in visits]).min()) for visits in sequences(problem))


def least_schedule(problem: Problem) -> float:
    """Return the lowest loss over all sequences, with one λ per visit chosen by coordinate descent."""
    law = Law(problem)
    steps = [law.step(k, COARSE) for k in range(problem.size)]

    def row(region: int, at: int) -> tuple[FloatArray, ...]:
        return tuple(part[at : at + 1] for part in steps[region])

    best = np.inf
    for visits in sequences(problem):
        for start in (0, 40, 60):
            chosen, before = [min(start + 2 * t, 80) if start else 8 * t for t in range(len(visits))], np.inf
            for _ in range(SWEEPS):
                for t, k in enumerate(visits):
                    here = [row(region, at) for region, at in zip(visits, chosen, strict=True)]
                    here[t] = steps[k]
                    losses = law.losses(visits, here)
                    chosen[t], reached = int(np.argmin(losses)), float(losses.min())
                if reached >= before:
                    break
                before = reached
            best = min(best, before, reached)
    return best


def main() -> None:
    """Print plans that are worse, and the worst excess per T."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[4, 5, 6])
    parser.add_argument("--problems", type=int, default=20, help="per T")
    parser.add_argument("--first", type=int, default=0, help="seed of the first problem")
    parser.add_argument("--kinds", nargs="+", default=["auto", "schedule"], choices=["auto", "schedule"])
    asked = parser.parse_args()
    for size in asked.sizes:
        worst = dict.fromkeys(asked.kinds, -np.inf)
        for seed in range(asked.first, asked.first + asked.problems):
            problem = drawn(size, seed)
            for kind in asked.kinds:
                found = plan(problem.with_regularization(kind))
                assert found.learner is not None
                total = expected_loss(problem.with_regularization(found.learner.regularization), found.order).total
                least = least_constant(problem) if kind == "auto" else least_schedule(problem)
                excess = (total - least) / abs(least)
                worst[kind] = max(worst[kind], excess)
                if excess > 1e-3:
                    said = f"{100 * excess:.3f} % worse: {found.route} {found.learner.regularization}"
                    print(f"T = {size}, seed {seed}, {kind}: {said}", flush=True)
        said = ", ".join(f"{kind} {100 * excess:+.4f} %" for kind, excess in worst.items())
        print(f"T = {size}, {asked.problems} problems, largest excess: {said}", flush=True)


if __name__ == "__main__":
    main()
