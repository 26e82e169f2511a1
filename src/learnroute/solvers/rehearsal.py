"""Evaluation of routes by rehearsal, and simulated annealing of them (`cpp/rehearsal*.h`)."""

from __future__ import annotations

import numpy as np

from learnroute import _core
from learnroute.model.instance import Instance
from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Budget
from learnroute.solvers.core_instance import CoreInstance
from learnroute.solvers.methods import METHODS
from learnroute.solvers.params import DEFAULTS, RehearsalParams
from learnroute.solvers.solve import solve


class RehearsalModel:
    """Errors of sequences of batches for each draw: affine maps by position and batch, and tests (see the core).

    The draw is the last axis of each array. Each region has `visits` consecutive batches, one per visit. Without
    repeated visits, batches are regions.
    """

    def __init__(
        self, maps: FloatArray, constants: FloatArray, start: FloatArray, root: FloatArray, aims: FloatArray,
        rest: FloatArray, visits: int = 1,
    ) -> None:  # fmt: skip
        positions, batches, width, _, draws = maps.shape
        flat = [np.ascontiguousarray(table).ravel() for table in (maps, constants, start, root, aims, rest)]
        self.core = _core.Rehearsal(batches, positions, draws, *flat)
        self.visits, self.tests = visits, rest.size // draws
        self.work = width**2 * draws  # multiplications per training

    def errors(self, batches: IntArray) -> FloatArray:
        """Return the error of each draw after training one model on a sequence of batches."""
        return self.core.errors(np.ascontiguousarray(batches, dtype=np.int64))

    def models(self, batches: IntArray) -> FloatArray:
        """Return the models after a sequence of batches, one column per draw."""
        return self.core.models(np.ascontiguousarray(batches, dtype=np.int64))

    def batches(self, routes: Routes, models: int) -> list[IntArray]:
        """Return the batches that each model is trained on; successive visits to a region use successive batches."""
        found: list[list[int]] = [[] for _ in range(models)]
        counts: dict[int, int] = {}
        for _, region, model in routes.visits():
            found[model].append(region * self.visits + counts.get(region, 0))
            counts[region] = counts.get(region, 0) + 1
        return [np.array(batches, dtype=np.int64) for batches in found]


class Annealing:
    """Simulated annealing of routes by their rehearsed errors. The travel and the rules of the objective count."""

    def __init__(self, instance: Instance) -> None:
        self.instance, self.problem = instance, CoreInstance(instance, everything=True)

    def anneal(
        self, rehearsed: RehearsalModel, start: Routes, rng: np.random.Generator, budget: Budget,
        params: RehearsalParams = DEFAULTS.rehearsal, share: float = 1.0,
    ) -> tuple[Routes, float]:  # fmt: skip
        """Return the best routes found from `start`, which must satisfy the rules, and their value.

        `share` is the share of the usual effort to spend.
        """
        found = _core.RehearsalSearch(rehearsed.core, self.problem.core, rehearsed.visits, int(rng.integers(2**63)))
        found.start(*self.problem.rows(start))
        visits = max(self.instance.size, self.instance.visits.at_most)
        effort = max(1, int(share * params.moves * visits))
        work = rehearsed.work * (visits + rehearsed.tests - 1)  # per move
        step = max(1, min(int(params.work / work), -(-effort // params.temperatures)))
        found.run(step, 0.0)
        hot, done = params.hot * found.typical_loss, 0
        while done < effort and not budget.exhausted:
            found.run(step, hot * (params.cold / params.hot) ** (done / effort))
            done += step
            budget.progress("rehearse", min(1.0, done / effort))
        routes = self.problem.routes(found.best)
        assert routes is not None
        return routes, found.best_value


def first_routes(instance: Instance, rng: np.random.Generator, budget: Budget) -> Routes:
    """Return routes that satisfy the rules: random if each region is visited once, else searched."""
    if not instance.permutation:
        return solve(instance, METHODS["search"], rng, budget.for_one_job(), bounds=False).routes
    first, last = instance.first, instance.ends.last
    inner = [region for region in range(instance.size) if region not in (first, last)]
    ends = [[] if end is None else [end] for end in (first, last)]
    return shuffle(Routes.of_order([*ends[0], *inner, *ends[1]]), instance, rng)


def shuffle(routes: Routes, instance: Instance, rng: np.random.Generator) -> Routes:
    """Return the same visits in random order, with the same number per vehicle and model; fixed ends stay."""
    visits = routes.regions
    begin, end = int(instance.first is not None), len(visits) - int(instance.ends.last is not None)
    visits[begin:end] = rng.permutation(visits[begin:end]).tolist()
    rest = iter(visits)
    return Routes(tuple(tuple(next(rest) for _ in route) for route in routes.vehicles), routes.models)
