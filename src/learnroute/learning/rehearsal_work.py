"""How a rehearsal chooses routes: affine maps and annealing, or a budget of trainings and successive halving."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.learning.adapters import as_learner
from learnroute.learning.affine_maps import Draws, LinearTrainings, is_linear
from learnroute.learning.data import RegionData
from learnroute.learning.halving import Trainer, candidates_for, halve
from learnroute.learning.measures import Error, name_of, squared_error
from learnroute.learning.planned_training import rule_of_model
from learnroute.learning.rehearsed_routes import RehearsedRoutes
from learnroute.learning.transfers import common_scaling, transfer
from learnroute.model.fleet import Fleet
from learnroute.model.instance import Instance, Service
from learnroute.model.learners import Calibrated, Gradient, Learner, LeastSquares, Proximal
from learnroute.model.notes import regularization_note
from learnroute.model.problem import Problem
from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray, as_count
from learnroute.model.visits import Visits
from learnroute.solvers.contract import Budget, Rounds
from learnroute.solvers.methods import METHODS
from learnroute.solvers.params import DEFAULTS
from learnroute.solvers.rehearsal import Annealing, first_routes, shuffle
from learnroute.solvers.solve import solve

RANDOM_ORDERS = 100
BEYOND_CHANCE = 2.0  # standard errors
MANY = 1 / 3  # the order matters if more than this share of random orders is worse by more than chance
GRID = np.logspace(-4, 3, 15)  # first grid of λ, in mean eigenvalues of the features' covariance
FINE = np.logspace(-0.5, 0.5, 7)  # second grid, in multiples of the best λ of the first
NEARLY = 0.01  # a loss at most this share above the lowest one counts as nearly as good
COARSE = 0.25  # share of the usual effort spent on each λ
FEWEST_DRAWS, PROBED = 2, 4  # draws and regions
PREPARING, BEGINNING, SEARCHING = 0.4, 0.2, 0.5  # of the remaining time, for draws, first routes and the search


@dataclass(frozen=True, eq=False)
class RehearsalOutcome:
    """The chosen routes, their errors in the evaluation draws (draws x regions), and the routes compared with them."""

    routes: Routes
    service: Service | None  # how models serve; None if there is one model
    errors: FloatArray
    random: FloatArray  # mean errors of random orders
    matters: bool  # whether the routes are better than many random orders, by more than chance
    others: tuple[tuple[Routes, float], ...]  # routes that cannot be distinguished, with their errors
    correction: float
    strength: float | None = None
    strengths: tuple[float, float] | None = None
    complete: bool = True  # whether search and evaluation ran to their end, without a time limit or an interrupt


def is_less(errors: FloatArray, others: FloatArray, correction: float) -> bool:
    """Return whether errors are lower than others in the same draws by more than chance.

    Differences are relative to both errors, (a - b)/(|a| + |b|), so that all draws count equally. With few samples, the
    errors of some draws are many times larger than the rest and would dominate any difference of means.
    """
    sizes = np.abs(errors) + np.abs(others)
    apart = np.divide(errors - others, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return len(apart) > 1 and float(apart.mean()) + BEYOND_CHANCE * correction * float(apart.std(ddof=1)) < 0


def visits_per_region(problem: Problem | None, fields: Mapping[str, Any]) -> int:
    """Return how often one region may be visited; each visit trains on different samples."""
    if problem is not None:
        return min(problem.visit_rules.repeat, problem.most_visits)
    visits = fields.get("visits")
    if not isinstance(visits, Visits):
        return 1
    return visits.repeat if visits.at_most is None else min(visits.repeat, visits.at_most)


class Work:
    """Base class of both rehearsal methods: the problem and the structure of its routes."""

    problem: Problem
    instance: Instance
    names: Sequence[str]
    regions: Sequence[RegionData]
    seed: int
    draws: int
    trainings: int
    visits: int
    chooses = False
    notes: tuple[str, ...] = ()

    def _check_samples(self) -> None:
        """Reject regions with fewer samples than they have visits."""
        for name, region in zip(self.names, self.regions, strict=True):
            if len(region.train[1]) < self.visits:
                reason = f"{len(region.train[1])} training samples for {self.visits} visits; each needs some of its own"
                raise InputError(reason, field=f"region {name!r}")

    def _set_problem(self, problem: Problem) -> None:
        self.problem = problem.decided
        self.instance = self.problem.instance

    def travel_of(self, routes: Routes) -> float:
        """Return the contribution of travel to the loss per region."""
        return self.problem.travel_rate * self.instance.paid_travel(routes) / self.problem.size

    def shortest(self, rng: np.random.Generator, budget: Budget) -> list[Routes]:
        """Return the shortest order of all regions, if travel costs something and one model learns in all of them."""
        if not self.instance.permutation or not self.instance.travel.matrix.any():
            return []
        part = budget.for_one_job().part(0.1)
        return [solve(self.instance, METHODS["travel"], rng, part, bounds=False).routes]

    def solve(self, budget: Budget) -> RehearsalOutcome:
        """Return the chosen routes and the routes compared with them."""
        raise NotImplementedError


class LinearWork(Work):
    """Rehearsal of linear learners: affine maps, annealing, and evaluation in new draws."""

    def __init__(
        self, learner: Any, names: Sequence[str], regions: Sequence[RegionData], problem: Problem | None,
        fields: Mapping[str, Any], draws: int, seed: int, chooses: bool, budget: Budget,
    ) -> None:  # fmt: skip
        self.learner, self.names, self.regions, self.seed, self.chooses = learner, names, regions, seed, chooses
        self.visits = visits_per_region(problem, fields)
        self._check_samples()
        for field in ("visits", "fleet") if type(learner).__name__ == "RecursiveRegressor" else ():
            if (fields.get(field) if problem is None else getattr(problem, field)) is not None:
                reason = "a RecursiveRegressor supports only one model, trained once in each region"
                raise InputError(f"{reason}; omit it, or use another learner", field=field)
        self.draws = self._affordable_draws(draws, budget)
        if self.draws < draws:
            self.notes = (f"the time limit allows {self.draws} of {draws} draws",)
        self.trainings = 2 * self.draws * len(names) * self.visits
        self.searching, self.judging = self._train(self.draws), self._train(self.draws, draws)
        self.searching.check()
        made = problem_of_samples(learner, names, regions, fields, seed, self.visits) if problem is None else problem
        self._set_problem(made)
        self.annealing = Annealing(self.instance)
        self.searching.weights = self.judging.weights = self.problem.region_weights

    def _train(self, draws: int, first: int = 0, some: int | None = None) -> LinearTrainings:
        """Return the trainings in some draws, in all or the first regions."""
        drawn = Draws(self.regions[:some], draws, self.seed, first, self.visits)
        return LinearTrainings(self.learner, drawn, np.ones(len(drawn.regions)), self.names[:some])

    def _affordable_draws(self, draws: int, budget: Budget) -> int:
        """Return how many draws can be prepared, to search and to evaluate, in a part of the time.

        The time is measured in a few regions, with the fewest draws and with all, and linear in between.
        """
        left = budget.seconds_left
        if left is None:
            return draws
        times = []
        for count in (FEWEST_DRAWS, draws):
            began = time.monotonic()
            few = self._train(count, some=PROBED)
            few.check()
            few.maps(1)
            times.append(2 * (time.monotonic() - began) * len(self.names) / len(few.names))
        fewest, most = times
        share = (PREPARING * left - fewest) / max(most - fewest, 1e-9)
        return FEWEST_DRAWS + int(min(max(share, 0.0), 1.0) * (draws - FEWEST_DRAWS))

    def evaluator(self, trainings: LinearTrainings, strength: float | None = None) -> RehearsedRoutes:
        """Return an evaluator of routes."""
        return RehearsedRoutes(trainings, self.instance, strength)

    def solve(self, budget: Budget) -> RehearsalOutcome:
        """Search from several starts, and evaluate the best routes in draws not used to choose them."""
        rng = np.random.default_rng(self.seed)
        first = first_routes(self.instance, rng, budget.part(BEGINNING))
        strength, strengths, ends = None, None, []
        if self.chooses:
            strength, first = self._choose(first, rng, budget.part(0.5))
            least, most = ((self.searching.scale or 1.0) * GRID[[0, -1]]).tolist()
            self.notes = (*self.notes, *regularization_note(strength, least, most))
        searched = self.evaluator(self.searching, strength)
        starts, search = DEFAULTS.rehearsal.starts, budget.part(SEARCHING)  # the rest is for the evaluation
        for k in range(starts):
            begin = first if not k else shuffle(first, self.instance, rng)
            begin = begin if self.instance.allows(begin) else first
            ends.append(self.annealing.anneal(searched.rehearsed, begin, rng, search.portion(k, starts)))
            if search.exhausted:
                break
        best, complete = min(ends, key=lambda each: each[1])[0], not search.exhausted
        if self.chooses:
            strengths = self._range(best, strength or 1.0, budget.part(SEARCHING))
        judged = self.evaluator(self.judging, strength)
        correction = self.judging.draws.correction

        def errors(routes: Routes) -> FloatArray:
            return judged.errors(routes, searched.service(routes))

        service = searched.service(best)
        by_region = judged.errors_by_region(best, service)
        own = judged.average(by_region)
        known, random = dict[Routes, FloatArray](), list[Routes]()
        rounds = Rounds(replace(budget, stop=None))  # an interrupt ends the search only
        while len(random) < RANDOM_ORDERS and not rounds.is_late:
            with rounds.measure():
                random.append(shuffle(best, self.instance, rng))
                known[random[-1]] = errors(random[-1])
        random_errors = np.array([known[routes] for routes in random])
        shortest = [] if rounds.is_late else self.shortest(rng, budget)
        others = []
        for routes in dict.fromkeys((*(routes for routes, _ in ends), *random, *shortest)):
            if routes == best or (routes not in known and rounds.is_late):
                continue
            other = known[routes] if routes in known else errors(routes)
            if not is_less(own + self.travel_of(best), other + self.travel_of(routes), correction):
                others.append((routes, float(other.mean())))
        worse = sum(is_less(own, each, correction) for each in random_errors)
        return RehearsalOutcome(
            best, None if self.problem.fleet_rules.single else service, by_region,
            random_errors.mean(axis=1), worse > MANY * len(random_errors), tuple(others), correction, strength,
            strengths, complete and len(random) == RANDOM_ORDERS,
        )  # fmt: skip

    def _choose(self, first: Routes, rng: np.random.Generator, budget: Budget) -> tuple[float, Routes]:
        """Return λ and routes, annealed for each λ of a grid, then of a finer grid around the best one."""
        scale, best = self.searching.scale or 1.0, (math.inf, 1.0, first)
        for factors in (GRID, FINE):
            centre = scale if factors is GRID else best[1]
            for k, factor in enumerate(factors.tolist()):
                rehearsed = self.evaluator(self.searching, centre * factor).rehearsed
                part = budget.portion(k, len(factors))
                routes, value = self.annealing.anneal(rehearsed, best[2], rng, part, share=COARSE)
                best = min(best, (value, centre * factor, routes), key=lambda each: each[0])
                if budget.exhausted:
                    break
        return best[1], best[2]

    def _range(self, routes: Routes, strength: float, budget: Budget) -> tuple[float, float]:
        """Return the range of λ around `strength` for which the loss of these routes is within 1 % of its loss."""

        def loss(at: float) -> float:
            priced = self.evaluator(self.searching, at)
            return float(priced.errors(routes, priced.service(routes)).mean()) + self.travel_of(routes)

        limit, ends = (1 + NEARLY) * loss(strength), []
        for step in (1 / FINE[4], FINE[4]):
            end = strength
            while 1e-6 < end / strength < 1e6 and not budget.exhausted and loss(end * step) <= limit:
                end *= step
            ends.append(end)
        return float(ends[0]), float(ends[1])


class GeneralWork(Work):
    """Rehearsal of any learner: a budget of trainings, spent by successive halving."""

    def __init__(
        self, learner: Any, names: Sequence[str], regions: Sequence[RegionData], problem: Problem | None,
        fields: Mapping[str, Any], trainings: int | None, seed: int, measure: Error, classes: FloatArray | None,
    ) -> None:  # fmt: skip
        self.learner, self.names, self.regions, self.seed = learner, names, regions, seed
        self.measure, self.classes, self.trainings = measure, classes, 0
        self.visits = visits_per_region(problem, fields)
        self._check_samples()
        fleet = fields.get("fleet") if problem is None else problem.fleet
        if fleet is not None and not (isinstance(fleet, Fleet) and fleet.is_single):
            reason = "several models need a linear learner and squared errors; omit it, or plan by the law"
            raise InputError(reason, field="fleet")
        visits = len(names) if problem is None else problem.visit_rules.at_most
        allowed = None if trainings is None else as_count("trainings", trainings, meaning="the number of trainings")
        self.candidates = candidates_for(allowed, visits)
        if problem is None:
            problem = problem_of_transfer(learner, names, regions, fields, seed, measure)
            self.trainings = len(names)
        self._set_problem(problem)

    def solve(self, budget: Budget) -> RehearsalOutcome:
        """Apply successive halving to random orders, the shortest route, and the order of increasing typicality."""
        rng = np.random.default_rng(self.seed)
        first = first_routes(self.instance, rng, budget)
        candidates = dict.fromkeys([*self.shortest(rng, budget), *self._typicality_order(first)])
        for _ in range(10 * self.candidates):
            routes = shuffle(first, self.instance, rng)
            if len(candidates) < self.candidates and self.instance.allows(routes):
                candidates[routes] = None
        tried = list(candidates)[: self.candidates] or [first]
        draws = Draws(self.regions, 0, self.seed, visits=self.visits)
        trainer = Trainer(self.learner, self.classes, self.measure, draws)
        travel = np.array([self.travel_of(routes) for routes in tried])
        weights = self.problem.region_weights
        found = halve(trainer, [routes.order for routes in tried], travel, weights,
                      lambda: shuffle(first, self.instance, rng).order, budget)  # fmt: skip
        self.draws, self.trainings = len(found.errors), self.trainings + found.trainings
        correction = Draws(self.regions, len(found.errors), self.seed).correction
        own = (weights * found.errors).mean(axis=1)
        others = tuple((Routes.of_order(order), error) for order, error in found.ties)
        matters = is_less(own, found.random, correction)
        return RehearsalOutcome(
            Routes.of_order(found.order), None, found.errors, found.random, matters, others, correction,
            complete=not budget.exhausted,
        )  # fmt: skip

    def _typicality_order(self, first: Routes) -> list[Routes]:
        """Return the order from the least typical region to the most typical one (Li and Hiratani 2025)."""
        if self.instance.first is not None or self.instance.ends.last is not None:
            return []
        order = np.array(first.regions)
        found = Routes.of_order(order[np.argsort(-self.problem.scores[order], kind="stable")])
        return [found] if self.instance.allows(found) else []


def replace_strength(learner: Any, strength: float) -> Any:
    """Return a copy of a proximal learner with another λ; return any other learner unchanged."""
    if not is_linear(learner) or not hasattr(learner, "strength"):
        return learner
    found = as_learner(learner)
    found.strength = strength
    return found


def problem_of_samples(
    learner: Any, names: Sequence[str], regions: Sequence[RegionData], fields: Mapping[str, Any], seed: int,
    visits: int = 1,
) -> Problem:  # fmt: skip
    """Return the problem defined by the samples, in which each region's vector is its least-squares fit.

    The training samples of a region are divided among `visits` visits.
    """
    fits, rest, degrees = [], 0.0, 0
    for region in regions:
        inputs = np.concatenate([region.train[0], region.test[0]])
        targets = np.concatenate([region.train[1], region.test[1]])
        if learner.fit_intercept:
            inputs = np.column_stack([inputs, np.ones(len(inputs))])
        fit, _, rank, _ = np.linalg.lstsq(inputs, targets, rcond=None)
        fits.append(fit)
        rest, degrees = rest + float(((targets - inputs @ fit) ** 2).sum()), degrees + len(targets) - int(rank)
    counts = [len(region.train[1]) // visits for region in regions]
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
    first = np.append(learner.coef_, learner.intercept_) if hasattr(learner, "coef_") else learner._initial_parameters(
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
    """Return the problem of an arbitrary learner from its transfer matrix, with one training per region."""
    found = transfer(dict(zip(names, regions, strict=True)), learner, 1, measure, seed)
    law = Calibrated(retention=0.0, coupling=0.0, noise=0.0, measure=name_of(measure))
    return found.to_problem(law, **{"travel": _no_travel(len(names), fields), **fields})


def _no_travel(size: int, fields: Mapping[str, Any]) -> FloatArray | None:
    return None if "coordinates" in fields else np.zeros((size, size))
