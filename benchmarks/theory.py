"""Figures of docs/theory.md that no formula gives: `python benchmarks/theory.py` (a minute).

1. How much the order matters at the best single λ, and how far from the floor its error is.
2. Estimates of the dissimilarities: the error that they predict for a fixed route, and for one that they chose.
3. Federated averaging with fresh data in each round, which the law prices, and with fixed local data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from learnroute import Learner, Problem, plan, read_problem
from learnroute.fleet_tables import federated_error
from learnroute.learning import estimate
from learnroute.model.losses import expected_loss
from learnroute.model.pooled import floor_of
from learnroute.model.validation import FloatArray

EXAMPLES = Path(__file__).parents[1] / "examples"
REGIONS, ORDERS = 12, 100
STRENGTHS = np.geomspace(1e-3, 1e3, 61)
DATA_SETS, SAMPLES = 300, 15
ROUNDS, CLIENTS, RUNS = 20, 6, 2000


def drawn(seed: int, learner: Learner, common: float, regions: int = REGIONS) -> Problem:
    """Return a problem without travel: five standard normal numbers per model, and a component common to all models.

    The initial model is 0, so the common component is what it lacks.
    """
    own = np.random.default_rng(seed).standard_normal((regions, 5))
    models = np.column_stack([own, np.full(regions, common)])
    return Problem(np.zeros((regions, regions)), learner, vectors=models, initial=(models**2).sum(axis=1))


def problems() -> Iterator[tuple[str, Problem]]:
    """Yield ten drawn problems, the examples, and two problems with few samples and a bad initial model."""
    for m in (20, 80, 120, 400, 1000):
        for common in (1.0, 2.0):
            yield f"m = {m}, n = 100, common component {common:g}", drawn(m, Learner(m, 100, 0.5), common)
    for name in ("city-survey", "warehouse-robot", "north-sea"):
        yield name, read_problem(EXAMPLES / f"{name}.json")
    for common in (4.0, 8.0):
        yield f"m = 120, n = 20, common component {common:g}", drawn(0, Learner(120, 20, 0.5), common)


def best_strength() -> None:
    """Print how much random orders differ, for least squares and at the best single λ."""
    print(f"{ORDERS} random orders per problem\n")
    print("| problem | least squares: orders differ by | best λ | orders differ by | above the floor |")
    print("|---|---|---|---|---|")
    for name, problem in problems():
        rng = np.random.default_rng(0)
        orders = [rng.permutation(problem.size) for _ in range(ORDERS)]
        known = problem.learner
        proximal = problem.replace(
            learner=Learner(known.features, known.samples, known.noise, rule="proximal", regularization=1.0)
        )
        rows = [errors_of(proximal.with_regularization(float(strength)), orders) for strength in STRENGTHS]
        best = min(range(len(rows)), key=lambda k: float(rows[k].mean()))
        tuned, floor = rows[best], floor_of(problem)
        above = " … ".join(f"{100 * (error / floor - 1):.1f}" for error in (tuned.min(), tuned.max()))
        plain = spread(errors_of(problem, orders))
        print(f"| {name} | {plain} | {STRENGTHS[best]:.3g} | {spread(tuned)} | {above} % |", flush=True)


def errors_of(problem: Problem, orders: list[Any]) -> FloatArray:
    """Return the expected error of each order."""
    return np.array([expected_loss(problem, order).error for order in orders])


def spread(errors: FloatArray) -> str:
    """Return how much larger the largest error is than the smallest one."""
    return f"{100 * (errors.max() / errors.min() - 1):.1f} %"


def chosen_routes() -> None:
    """Print predicted and true expected errors of a fixed route and of the route that is best by the estimates."""
    truth = drawn(3, Learner(6, SAMPLES, 1.0, rule="proximal", regularization=0.3), 1.0, regions=8)
    models, rng = truth.vectors, np.random.default_rng(0)
    assert models is not None
    fixed = list(range(truth.size))
    found: dict[str, list[tuple[float, float]]] = {"fixed before the estimates": [], "chosen by the estimates": []}
    negative = 0
    for _ in range(DATA_SETS):
        data = {}
        for k, model in enumerate(models):
            inputs = rng.standard_normal((SAMPLES, 6))
            data[f"R{k + 1}"] = inputs, inputs @ model + rng.standard_normal(SAMPLES)
        estimated = estimate(data, share=1.0, draws=100)
        negative += int((estimated.dissimilarity < 0).sum() / 2 + (estimated.initial < 0).sum())
        known = estimated.to_problem(truth.travel, samples=SAMPLES).replace(learner=truth.learner)
        for name, order in zip(found, (fixed, list(plan(known).order)), strict=True):
            found[name].append((expected_loss(known, order).error, expected_loss(truth, order).error))
    print(f"\n{DATA_SETS} data sets; {negative} negative estimates were set to 0\n")
    print("| route | predicted | true expected error | difference |\n|---|---|---|---|")
    for name, pairs in found.items():
        predicted, true = np.array(pairs).T
        print(f"| {name} | {predicted.mean():.3f} | {true.mean():.3f} | {mean_of(predicted - true)} |", flush=True)


def mean_of(values: FloatArray) -> str:
    """Return a mean and its standard error."""
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def federated() -> None:
    """Print errors of federated averaging: by the law, simulated with fresh data, and with fixed local data."""
    print(f"\n{ROUNDS} rounds, {CLIENTS} regions, m = 20, {RUNS} runs\n")
    print("| learner | law | fresh data in each round | fixed local data |\n|---|---|---|---|")
    proximal, gradient = {"rule": "proximal", "regularization": 0.3}, {"rule": "gradient", "steps": 5, "rate": 0.1}
    for name, training, n, noise in (
        ("λ = 0.3", proximal, 10, 0.5), ("λ = 0.3", proximal, 40, 0.5), ("5 steps of 0.1", gradient, 10, 1.5),
        ("5 steps of 0.1", gradient, 40, 1.5),
    ):  # fmt: skip
        problem = drawn(0, Learner(20, n, noise, **training), 1.0, regions=CLIENTS)
        simulated = [mean_of(averaged(problem, fresh)) for fresh in (True, False)]
        law = federated_error(problem, ROUNDS)
        print(f"| {name}, n = {n}, σ = {noise} | {law:.3f} | {simulated[0]} | {simulated[1]} |", flush=True)


def averaged(problem: Problem, fresh: bool) -> FloatArray:
    """Return the mean error over all regions after federated averaging, one value per run."""
    m, rng = problem.learner.features, np.random.default_rng(0)
    assert problem.vectors is not None
    truth = np.pad(problem.vectors, ((0, 0), (0, m - problem.vectors.shape[1])))
    models, maps = np.zeros((RUNS, m)), [training(problem.learner, own, rng) for own in truth]
    for done in range(ROUNDS):
        if fresh and done:
            maps = [training(problem.learner, own, rng) for own in truth]
        models = np.mean([np.einsum("rij,rj->ri", kept, models) + learnt for kept, learnt in maps], axis=0)
    errors: FloatArray = ((models[:, None] - truth) ** 2).sum(axis=2).mean(axis=1)
    return errors


def training(learner: Learner, truth: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return P and c of the training w -> P w + c on new samples of one region, for all runs."""
    n, one = learner.samples, np.eye(len(truth))
    inputs = rng.standard_normal((RUNS, n, len(truth)))
    targets = inputs @ truth + learner.noise * rng.standard_normal((RUNS, n))
    covariance, moments = inputs.transpose(0, 2, 1) @ inputs / n, np.einsum("rni,rn->ri", inputs, targets) / n
    if learner.rule == "proximal":
        inverse = np.linalg.inv(covariance + learner.regularization * one)
        return learner.regularization * inverse, np.einsum("rij,rj->ri", inverse, moments)
    step = one - learner.rate * covariance
    kept, learnt = np.broadcast_to(one, step.shape), np.zeros_like(moments)
    for _ in range(learner.steps):
        kept, learnt = step @ kept, np.einsum("rij,rj->ri", step, learnt) + learner.rate * moments
    return kept, learnt


def main() -> None:
    best_strength()
    chosen_routes()
    federated()


if __name__ == "__main__":
    main()
