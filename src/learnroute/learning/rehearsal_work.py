"""How a rehearsal chooses an order: affine maps and annealing, or a budget of trainings and successive halving."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.learning.adapters import as_learner
from learnroute.learning.affine_maps import Draws, LinearTrainings, is_linear
from learnroute.learning.data import RegionData
from learnroute.learning.halving import Trainer, candidates_for, halve
from learnroute.learning.measures import Error, squared_error
from learnroute.learning.planned_training import rule_of_model
from learnroute.learning.transfers import common_scaling, transfer
from learnroute.model.learners import Calibrated, Gradient, Learner, LeastSquares, Proximal
from learnroute.model.losses import objective_of, travel_cost, visit_objective_of
from learnroute.model.problem import Problem
from learnroute.model.validation import FloatArray, IntArray, as_count
from learnroute.model.visit_objective import VisitObjective
from learnroute.solvers.contract import Budget
from learnroute.solvers.methods import travel_only
from learnroute.solvers.params import DEFAULTS
from learnroute.solvers.rehearsal import Rehearsed, anneal, first_visits, shuffled

RANDOM_ORDERS = 100
BEYOND_CHANCE = 2.0  # standard errors
GRID = np.logspace(-4, 3, 15)  # λ that are tried first, in mean eigenvalues of the features' covariance
FINE = np.logspace(-0.5, 0.5, 7)  # factors of the best of them that are tried then
NEARLY = 0.01  # a loss this share above the least one is nearly as good
COARSE = 0.25  # the share of the usual effort for each λ


@dataclass(frozen=True, eq=False)
class Found:
    """The order, its errors in draws for judging (draws x regions), and what stands beside it."""

    order: IntArray
    errors: FloatArray
    random: FloatArray  # mean errors of random orders
    gain: FloatArray  # by draw: the error minus that of a random order, the median of several
    others: tuple[tuple[IntArray, float], ...]  # that cannot be distinguished, with their errors
    correction: float
    strength: float | None = None
    strengths: tuple[float, float] | None = None


class Work:
    """What both ways to rehearse share: the problem, and the order's frame."""

    problem: Problem
    objective: VisitObjective
    names: Sequence[str]
    regions: Sequence[RegionData]
    seed: int
    draws: int
    trainings: int
    chooses = False

    def _set_problem(self, problem: Problem) -> None:
        if problem.fleet is not None:
            raise InputError(
                "a rehearsal supports one vehicle with one model; omit the fleet, or use `plan`", field="fleet"
            )
        if problem.rules is not None and problem.rules.repeat > 1:
            reason = "a rehearsal supports one visit per region; omit it, or use `plan`"
            raise InputError(reason, field="visits.repeat", value=problem.rules.repeat)
        self.problem = problem.regularized(1.0) if problem.learner.undecided else problem
        self.objective = visit_objective_of(self.problem)

    def travel_of(self, order: IntArray) -> float:
        """Return what the travel of an order adds to its loss per region."""
        return self.problem.travel_rate * travel_cost(self.problem, order) / self.problem.size

    def shortest(self, rng: np.random.Generator, budget: Budget) -> list[IntArray]:
        """Return the shortest order of all regions, where travel costs something and all are visited."""
        if self.problem.rules is not None or not self.objective.travel.any():
            return []
        asked = self.problem if self.problem.travel_rate else self.problem.changed(travel_rate=1.0)
        return [asked.regions_of(travel_only(objective_of(asked), rng, budget.sparing().part(0.1)).order)]

    def solve(self, budget: Budget) -> Found:
        """Return the order that was chosen, and what stands beside it."""
        raise NotImplementedError


class LinearWork(Work):
    """Affine maps, annealing, and judging in fresh draws."""

    def __init__(
        self, learner: Any, names: Sequence[str], regions: Sequence[RegionData], problem: Problem | None,
        fields: Mapping[str, Any], draws: int, seed: int, chooses: bool,
    ) -> None:  # fmt: skip
        self.learner, self.names, self.regions, self.seed, self.chooses = learner, names, regions, seed, chooses
        self.draws, self.trainings = draws, 2 * draws * len(names)
        self.searching, self.judging = (
            LinearTrainings(learner, Draws(regions, draws, seed, first), np.ones(len(names)), names)
            for first in (0, draws)
        )
        self.searching.check()
        self._set_problem(problem_of_samples(learner, names, regions, fields, seed) if problem is None else problem)
        if type(learner).__name__ == "RecursiveRegressor" and self.problem.rules is not None:
            reason = "optional visits are not supported for a RecursiveRegressor; use another learner"
            raise InputError(reason, field="visits")
        self.searching.weights = self.judging.weights = self.problem.region_weights

    def rehearsed(self, trainings: LinearTrainings, strength: float | None = None) -> Rehearsed:
        """Return what prices orders."""
        found = trainings.maps(self.objective.rules.at_most, strength)
        return Rehearsed(found.maps, found.constants, found.start, found.root, found.aims, found.rest)

    def solve(self, budget: Budget) -> Found:
        """Search from several starts, and judge the best order in draws that it was not chosen in."""
        rng = np.random.default_rng(self.seed)
        first = first_visits(self.objective, rng, budget)
        strength, strengths, orders = None, None, []
        if self.chooses:
            strength, first = self._choose(first, rng, budget.part(0.5))
        rehearsed = self.rehearsed(self.searching, strength)
        starts = DEFAULTS.rehearsal.starts
        for k in range(starts):
            part = _share(budget, k, starts)
            begin = first if not k else shuffled(first, self.objective, rng)
            if math.isfinite(self.objective.rules.budget):
                begin = first
            orders.append(anneal(rehearsed, self.objective, begin, rng, part))
            if budget.exhausted:
                break
        best = min(orders, key=lambda each: each[1])[0]
        if self.chooses:
            strengths = self._range(best, strength or 1.0)
        judged = self.rehearsed(self.judging, strength)
        random = [shuffled(best, self.objective, rng) for _ in range(RANDOM_ORDERS)]
        errors = np.array([judged.errors(order) for order in random])
        own = judged.errors(best)
        correction = self.judging.draws.correction
        pool = {tuple(order.tolist()): order for order in (*(one for one, _ in orders), *random,
                                                           *self.shortest(rng, budget))}  # fmt: skip
        pool.pop(tuple(best.tolist()), None)
        others = tuple((order, float(judged.errors(order).mean())) for order in pool.values()
                       if self._ties(order, best, judged, correction))  # fmt: skip
        by_region = self.judging.errors_by_region(judged.models(best))
        return Found(
            best, by_region, errors.mean(axis=1), own - np.median(errors, axis=0), others, correction, strength,
            strengths,
        )  # fmt: skip

    def _ties(self, order: IntArray, best: IntArray, judged: Rehearsed, correction: float) -> bool:
        """Whether an order is not worse than the best one by more than chance, travel included."""
        apart = judged.errors(order) - judged.errors(best)
        more = float(apart.mean()) + self.travel_of(order) - self.travel_of(best)
        return more <= BEYOND_CHANCE * correction * float(apart.std(ddof=1))

    def _choose(self, first: IntArray, rng: np.random.Generator, budget: Budget) -> tuple[float, IntArray]:
        """Return λ and an order: routes are annealed for a grid of λ, then for a finer one around the best."""
        scale, best = self.searching.scale or 1.0, (math.inf, 1.0, first)
        for factors in (GRID, FINE):
            centre = scale if factors is GRID else best[1]
            for k, factor in enumerate(factors.tolist()):
                rehearsed = self.rehearsed(self.searching, centre * factor)
                part = _share(budget, k, len(factors))
                order, value = anneal(rehearsed, self.objective, best[2], rng, part, share=COARSE)
                best = min(best, (value, centre * factor, order), key=lambda each: each[0])
                if budget.exhausted:
                    break
        return best[1], best[2]

    def _range(self, order: IntArray, strength: float) -> tuple[float, float]:
        """Return the range of λ around the chosen one with a loss within 1 % of its own on this order."""
        travel, ends = self.travel_of(order), []
        limit = (1 + NEARLY) * (float(self.rehearsed(self.searching, strength).errors(order).mean()) + travel)
        for step in (1 / FINE[4], FINE[4]):
            end = strength
            while 1e-6 < end / strength < 1e6:
                error = float(self.rehearsed(self.searching, end * step).errors(order).mean())
                if error + travel > limit:
                    break
                end *= step
            ends.append(end)
        return float(ends[0]), float(ends[1])


class AnyWork(Work):
    """A budget of trainings, spent by successive halving."""

    def __init__(
        self, learner: Any, names: Sequence[str], regions: Sequence[RegionData], problem: Problem | None,
        fields: Mapping[str, Any], trainings: int | None, seed: int, measure: Error, classes: FloatArray | None,
    ) -> None:  # fmt: skip
        self.learner, self.names, self.regions, self.seed = learner, names, regions, seed
        self.measure, self.classes, self.trainings = measure, classes, 0
        visits = len(names) if problem is None or problem.rules is None else problem.rules.at_most
        allowed = None if trainings is None else as_count("trainings", trainings, meaning="the number of trainings")
        self.candidates = candidates_for(allowed, visits)
        if problem is None:
            problem = problem_of_transfer(learner, names, regions, fields, seed, measure)
            self.trainings = len(names)
        self._set_problem(problem)

    def solve(self, budget: Budget) -> Found:
        """Halve random orders, the least typical region first, and the shortest route."""
        rng = np.random.default_rng(self.seed)
        first = first_visits(self.objective, rng, budget)
        candidates = [*self.shortest(rng, budget), *self._from_typical(first)]
        seen = {tuple(order.tolist()) for order in candidates}
        for _ in range(10 * self.candidates):
            order = shuffled(first, self.objective, rng)
            if len(candidates) < self.candidates and tuple(order.tolist()) not in seen:
                candidates.append(order)
                seen.add(tuple(order.tolist()))
        candidates = candidates[: self.candidates]
        draws = Draws(self.regions, 0, self.seed)
        trainer = Trainer(self.learner, self.classes, self.measure, draws)
        travel = np.array([self.travel_of(order) for order in candidates])
        weights = self.problem.region_weights
        found = halve(trainer, candidates, travel, weights,
                      lambda: shuffled(first, self.objective, rng), budget)  # fmt: skip
        self.draws, self.trainings = len(found.errors), self.trainings + found.trainings
        correction = Draws(self.regions, len(found.errors), self.seed).correction
        own = (weights * found.errors).mean(axis=1)
        return Found(found.order, found.errors, found.random, own - found.random, found.ties, correction)

    def _from_typical(self, first: IntArray) -> list[IntArray]:
        """Return the order from the least typical region to the most typical one (Li and Hiratani 2025)."""
        objective = self.objective
        if objective.first is not None or objective.ends.last is not None:
            return []
        return [first[np.argsort(-self.problem.scores[first], kind="stable")]]


def _share(budget: Budget, done: int, parts: int) -> Budget:
    """Return the budget of one of several pieces of equal work, telling the progress of all."""

    def progress(stage: str, share: float) -> None:
        budget.progress(stage, (done + share) / parts)

    return replace(budget.part(1 / (parts - done)), progress=progress)


def replace_strength(learner: Any, strength: float) -> Any:
    """Return a copy of a proximal learner with another λ; any other learner as it is."""
    if not is_linear(learner) or not hasattr(learner, "strength"):
        return learner
    found = as_learner(learner)
    found.strength = strength
    return found


def problem_of_samples(
    learner: Any, names: Sequence[str], regions: Sequence[RegionData], fields: Mapping[str, Any], seed: int
) -> Problem:
    """Return the problem that the samples make: each region's vector is its least-squares fit."""
    fits, rest, degrees = [], 0.0, 0
    for region in regions:
        inputs = np.concatenate([region.train[0], region.test[0]])
        targets = np.concatenate([region.train[1], region.test[1]])
        if learner.fit_intercept:
            inputs = np.column_stack([inputs, np.ones(len(inputs))])
        fit, _, rank, _ = np.linalg.lstsq(inputs, targets, rcond=None)
        fits.append(fit)
        rest, degrees = rest + float(((targets - inputs @ fit) ** 2).sum()), degrees + len(targets) - int(rank)
    counts = [len(region.train[1]) for region in regions]
    shape = len(fits[0]), min(counts), math.sqrt(rest / max(1, degrees))
    rule, numbers = rule_of_model(learner)
    members: dict[str, Any] = {"rule": rule}
    if rule == Proximal.rule:
        members["regularization"] = learner.strength
    elif rule == Gradient.rule:
        members |= {"steps": numbers[0], "rate": numbers[1]}
    known = rule in (LeastSquares.rule, Proximal.rule, Gradient.rule) and None not in numbers
    try:
        own = Learner(*shape, **members) if known else None
    except InputError:  # the law does not hold for these numbers, though training is possible
        own = None
    if own is None:
        return problem_of_transfer(learner, names, regions, fields, seed, squared_error)
    first = np.append(learner.coef_, learner.intercept_) if hasattr(learner, "coef_") else learner._first_model(
        len(fits[0]) - bool(learner.fit_intercept)
    )  # fmt: skip
    given = {
        "travel": _no_travel(len(names), fields),
        "vectors": np.array(fits),
        "initial": ((np.array(fits) - first[: len(fits[0])]) ** 2).sum(axis=1),
        "samples": counts if len(set(counts)) > 1 else None,
        "features_scaling": common_scaling(list(regions)),
        **fields,
    }
    return Problem(learner=own, regions=list(names), **given)


def problem_of_transfer(
    learner: Any, names: Sequence[str], regions: Sequence[RegionData], fields: Mapping[str, Any], seed: int,
    measure: Error,
) -> Problem:  # fmt: skip
    """Return the problem of a learner whose rule no file can name: by its transfer matrix, one training per region."""
    found = transfer(dict(zip(names, regions, strict=True)), learner, 1, measure, seed)
    law = Calibrated(retention=0.0, coupling=0.0, noise=0.0)
    return found.to_problem(law, **{"travel": _no_travel(len(names), fields), **fields})


def _no_travel(size: int, fields: Mapping[str, Any]) -> FloatArray | None:
    return None if "coordinates" in fields else np.zeros((size, size))
