"""Monte Carlo simulation of Stage II: the learner's errors on a route, compared with the closed forms."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from learnroute.errors import InputError, RefusedError, check_type, percent
from learnroute.learning.krylov import numbers_per_run, trainings_of
from learnroute.learning.samplers import (
    Frame,
    Sampler,
    direct,
    low_dimensional,
    served_errors,
    span_coordinates,
    train_directly,
    train_in_span,
)
from learnroute.learning.serving import PlannedFleet
from learnroute.learning.truth import Truth, truth_of
from learnroute.model.given_routes import as_order, indices_of, routes_of
from learnroute.model.instance import Service
from learnroute.model.learners import Learner, LeastSquares
from learnroute.model.losses import expected_loss, true_loss
from learnroute.model.notes import KINDS
from learnroute.model.problem import UPPER, DissimilarityKind, Problem
from learnroute.model.result import Plan
from learnroute.model.result_mixin import ResultMixin
from learnroute.model.rounding import PRINTED
from learnroute.model.routes import Routes
from learnroute.model.table import Column, Sheet, Table, route_text
from learnroute.model.validation import LARGEST_COUNT, FloatArray, IntArray, as_choice, as_count, check_level, freeze
from learnroute.model.value import Loss, loss_of, true_dissimilarities, visited_then_skipped
from learnroute.solvers.contract import Budget, Progress, Rounds

SamplerName = Literal["low-dimensional", "direct"]
SAMPLERS: dict[str, Sampler] = {"low-dimensional": low_dimensional, "direct": direct}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_RUNS = 10**8
MOST_ENTRIES = 3 * 10**8  # of one region's features: 2.4 GB
CHUNK = 200_000  # numbers in memory; runs are drawn in chunks, and the time limit is checked between them
MOST_CHUNK = 4096  # runs
WORK = 5_000_000  # numbers times visits per chunk


@dataclass(frozen=True, eq=False)
class Simulation(ResultMixin):
    """Draws of the final error F_T (e2) on one route, with its closed form. Regions are weighted by importance.

    Attributes
    ----------
    expected
        Lemma 1 or Lemma 2 (e6, e12) for the simulated true models, or the recursion of a regularised learner.
    mean, standard_error, interval
        Mean of the simulated errors, its standard error and its confidence interval, which contains `expected` with
        probability `level` if the closed form is correct.
    bound
        The planner's bound (e8, e14) from the upper bounds Δ alone, in its parts; `loss` is the same for the true
        models. For a regularised learner it is not a bound, but the loss of models whose squared distances equal Δ.
    dissimilarities
        The dissimilarities that drawn models match: `estimate` (unbiased estimates) or `upper` (upper bounds).
    errors
        The final error of every run.
    notes
        Remarks on the result, one sentence each.
    plan
        With several vehicles or models, their routes, and the weights or the models that serve the regions.
    """

    picture = "draw_simulations"
    route: tuple[str, ...]
    order: tuple[int, ...]
    regime: str
    learner: Learner
    expected: float
    mean: float
    standard_error: float
    level: float
    loss: Loss
    bound: Loss
    errors: FloatArray
    runs: int
    requested: int
    seed: int
    sampler: str
    truth: Truth
    seconds: float
    notes: tuple[str, ...]
    dissimilarities: DissimilarityKind = UPPER
    plan: Plan | None = None

    def __repr__(self) -> str:
        half = self.interval[1] - self.mean
        way = route_text(self.route) if self.plan is None else f"{len(self.plan.routes)} routes"
        return (
            f"<Simulation of {way}: error {self.mean:.5g} ± {half:.2g} ({percent(self.level)} interval), "
            f"closed form {self.expected:.5g}, {self.runs:,} runs>"
        )

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the mean."""
        half = NormalDist().inv_cdf((1 + self.level) / 2) * self.standard_error
        return self.mean - half, self.mean + half

    @property
    def deviation(self) -> float | None:
        """The mean minus the closed form in standard errors; None if nothing is random."""
        random = self.standard_error > 1e-12 * abs(self.mean)  # otherwise it is only rounding error
        return (self.mean - self.expected) / self.standard_error if random else None

    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        return self.route, self.order

    def table(self) -> Table:
        """Return one row per run."""
        return Table((Column("run"), Column("error")), list(enumerate(self.errors.tolist(), 1)))

    def sheet(self) -> Sheet:
        """Return the mean error and the closed form."""
        return simulations_sheet([("route", self)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the single errors as plain JSON values (see docs/appendix/simulation.md)."""
        return {
            "expected": self.expected,
            "mean": self.mean,
            "standard_error": self.standard_error,
            "runs": self.runs,
            **self._routes(),
            "regime": self.regime,
            "learner": {"rule": self.learner.rule, **self.learner.training},
            "level": self.level,
            "interval": list(self.interval),
            "deviation": self.deviation,
            "quantiles": {f"{q:g}": float(np.quantile(self.errors, q)) for q in QUANTILES},
            "overall": {
                "expected": self.loss.total,
                "mean": self.mean + self.loss.travel,
                "travel": self.loss.travel,
                "bound": self.bound.total,
            },
            "bound": self.bound.error,
            "truth": {"origin": self.truth.origin, "met": self.truth.met},
            "dissimilarities": self.dissimilarities,
            "sampler": self.sampler,
            "requested_runs": self.requested,
            "seed": self.seed,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }

    def _routes(self) -> dict[str, Any]:
        """Return the route, or the routes of a fleet and how its models serve, in the form of a plan file."""
        if self.plan is None:
            return {"order": list(self.order), "route": list(self.route)}
        return {name: value for name, value in self.plan.to_dict().items() if name in ROUTES}


ROUTES = ("order", "route", "routes", "models", "weights", "served_by", "travels")


def simulations_table(found: Sequence[tuple[str, Simulation]]) -> Table:
    """Return one row per route, with the method that found it."""
    first = found[0][1]
    columns = (
        Column("method"),
        Column(None, "route", left=True),
        Column("expected", "closed form", ".6g"),
        Column("mean", "simulated", ".6g"),
        Column(None, f"± {percent(first.level)}", ".2g"),
        Column(None, "difference", lambda deviation: f"{deviation:+.2f} s.e."),
        Column(None, "with travel", ".6g"),
        *map(Column, ("standard_error", "low", "high", "runs", "travel")),
        Column("bound", "bound for Δ", ".6g"),
        Column("route"),
    )
    rows = [
        (method, f"{k} {method}", one.expected, one.mean, one.interval[1] - one.mean, one.deviation,
         one.mean + one.loss.travel, one.standard_error, *one.interval, one.runs, one.loss.travel, one.bound.error,
         one.route)
        for k, (method, one) in enumerate(found, 1)
    ]  # fmt: skip
    return Table(columns, rows)


def simulations_sheet(found: Sequence[tuple[str, Simulation]]) -> Sheet:
    """Return the printed form of simulations of the same problem along several routes."""
    first = found[0][1]
    origin = "from the file" if first.truth.origin == "given" else f"drawn to match {KINDS[first.dissimilarities]}"
    seconds = sum(one.seconds for _, one in found)
    lines = [
        (
            "error",
            "mean over all regions after the last visit (F_T); bound for Δ: for any models with these dissimilarities",
        )
    ]
    for k, (_, one) in enumerate(found, 1):
        lines += [(f"route {k}", " > ".join(one.route))] if one.plan is None else _fleet_lines(one.plan, k)
    lines += [
        ("models", origin),
        ("runs", f"{first.runs:,} each, {first.sampler} sampler, seed {first.seed}, {seconds:.2f} s"),
        *(("note", note) for note in dict.fromkeys(note for _, one in found for note in one.notes)),
    ]
    return Sheet(f"{first.runs:,} trainings along a route", (simulations_table(found),), tuple(lines))


def _fleet_lines(made: Plan, number: int) -> list[tuple[str, str]]:
    fleet = PlannedFleet.of(made.training())
    assert fleet is not None
    return [(f"{number} {label}", text) for label, text in fleet.lines()]


def simulate(
    problem: Problem,
    route: Any,
    runs: int = 10_000,
    seed: int = 0,
    sampler: str = "low-dimensional",
    level: float = 0.95,
    time_limit: float | None = None,
    progress: Progress | None = None,
    models: Sequence[int] | None = None,
) -> Simulation:
    """Train along a route many times, each time with new features and new noise.

    Parameters
    ----------
    problem
        A problem. If it has no true models (`truth`, `initial_model`), some are drawn to match its dissimilarities.
    route
        Names or indices of the regions, in order of visit; for several vehicles, one such list per vehicle; or a plan.
        If `problem.visits` allows it, regions may be skipped or visited again. Errors are measured in all regions. With
        several vehicles or models, each model is trained along its visits.
    runs
        Number of runs.
    seed
        The same problem, route, runs, sampler and seed give the same draws. Other routes have the same true models.
    sampler
        `low-dimensional` (default, its cost does not depend on m and n) or `direct` (all of X and z; the reference).
    level
        Level of the confidence interval.
    time_limit
        Time limit in seconds. If it is reached, the result contains the runs drawn so far, and a note says so.
    progress
        Called periodically with the fraction that is done.
    models
        For one vehicle with several models, the number of the model that each visit trains, from 0.

    Returns
    -------
    Simulation
        Mean, interval and quantiles of the final error, and the closed form.

    Raises
    ------
    InputError
        If an argument has the wrong type or is out of range, or true models would have to be drawn for too many
        regions.
    """
    check_type("problem", problem, Problem)
    if not problem.learner.has_shape:
        raise InputError("a calibrated learner cannot be simulated; train it with `follow`", field="learner.rule")
    started = time.monotonic()
    as_choice("sampler", sampler, SAMPLERS)
    runs = as_count("runs", runs, least=2, meaning="the number of runs")
    if runs > MOST_RUNS:
        raise InputError(f"must be <= {MOST_RUNS:,}", field="runs", value=runs)
    check_level(level)
    budget = Budget.of(time_limit, progress)
    made = _fleet_plan(problem, route, models)
    if made is not None:
        stops = np.array(made.order, dtype=np.int64)
    else:
        stops = as_order(problem, indices_of(problem, route.order if isinstance(route, Plan) else route))
    drawn, stream = np.random.SeedSequence(as_count("seed", seed, least=0, meaning="the seed")).spawn(2)
    truth = truth_of(problem, np.random.default_rng(drawn))
    known = _with_truth(problem, truth)
    trainings = [stops] if made is None else _trainings(problem, made)
    counts = [problem.counts[visits] for visits in trainings]
    notes: tuple[str, ...] = ()
    if made is None:
        loss, bound = true_loss(known, stops), expected_loss(problem.with_upper_bounds(), stops)
        last = trainings_of(problem.learner, len(stops))[-1]
        if counts[0][-1] > problem.learner.features and problem.learner.noise == 0 and isinstance(last, LeastSquares):
            errors = np.full(runs, loss.error)  # the last region is learnt exactly, so the error is not random
        else:
            errors = _draw(*_one_model(problem, truth, stops, sampler), len(stops), runs, stream, budget)
        notes = _bound_note(problem, truth)
    else:
        assert made.fleet is not None
        instance = problem.instance
        service = instance.service(made.fleet)
        known_instance = instance.knowing(true_dissimilarities(known))
        loss = loss_of(known_instance, made.fleet, known_instance.service(made.fleet, service))
        upper = problem.with_upper_bounds().instance
        bound = loss_of(upper, made.fleet, upper.service(made.fleet, service))
        errors = _draw(*_several_models(problem, truth, trainings, service, sampler), len(stops), runs, stream, budget)
        notes = _average_note() if instance.fleet.merged else _bound_note(problem, truth)
    return Simulation(
        route=tuple(problem.regions[i] for i in stops),
        order=tuple(int(i) for i in stops),
        regime=problem.regime,
        learner=problem.learner,
        expected=loss.error,
        mean=math.fsum(errors) / len(errors),
        standard_error=float(errors.std(ddof=1)) / math.sqrt(len(errors)),
        level=float(level),
        loss=loss,
        bound=bound,
        errors=freeze(errors),
        runs=len(errors),
        requested=runs,
        seed=seed,
        sampler=sampler,
        truth=truth,
        seconds=time.monotonic() - started,
        notes=(
            *truth.notes,
            *notes,
            *_tail_note(problem, counts),
            *_time_note(len(errors), runs),
        ),
        dissimilarities=problem.dissimilarity_kind,
        plan=made,
        problem=problem,
    )


def _fleet_plan(problem: Problem, route: Any, models: Sequence[int] | None) -> Plan | None:
    """Return the plan to simulate for several vehicles or models; None for one vehicle with one model."""
    if problem.fleet_rules.single:
        return None
    routes = route.fleet if isinstance(route, Plan) else route
    return Plan.of(problem, routes if isinstance(routes, Routes) else routes_of(problem, routes, models))


def _trainings(problem: Problem, made: Plan) -> list[IntArray]:
    """Return the visits that train each model of a fleet, in order."""
    assert made.fleet is not None
    return [np.array(visits, dtype=np.int64) for visits in made.fleet.trainings(problem.fleet_rules.size)]


Draw = Callable[[int, np.random.Generator], FloatArray]  # runs and rng -> final errors


def _one_model(problem: Problem, truth: Truth, stops: IntArray, sampler: str) -> tuple[Draw, int]:
    """Return a function that draws final errors of one model, and how many numbers it needs per run."""
    sample, learner, samples = SAMPLERS[sampler], problem.learner, problem.counts[stops]
    everyone = visited_then_skipped(stops.tolist(), problem.size)
    models, visits = (truth.models - truth.initial_model)[everyone], np.argsort(everyone)[stops]
    weights = problem.region_weights[everyone]
    if sample is not direct:
        models = span_coordinates(models)
    numbers = _numbers(sampler, learner, models.shape[1] + 1, samples)
    return lambda runs, rng: sample(models, visits, learner, samples, runs, rng, weights), numbers


def _several_models(
    problem: Problem, truth: Truth, trainings: Sequence[IntArray], service: Service, sampler: str
) -> tuple[Draw, int]:
    """Return a function that draws final errors of a fleet, and how many numbers it needs per run."""
    learner, models, whole = problem.learner, truth.models - truth.initial_model, sampler == "direct"
    known = Frame.whole(models, learner.features) if whole else Frame.span_coordinates(models, learner.features)
    train, width = train_directly if whole else train_in_span, known.models.shape[1]
    counts = [problem.counts[visits] for visits in trainings]
    numbers = max((_numbers(sampler, learner, width, samples) for samples in counts if len(samples)), default=width)

    def draw(runs: int, rng: np.random.Generator) -> FloatArray:
        trained = [
            train(known, visits, learner, samples, runs, rng) if len(visits) else np.zeros((runs, width))
            for visits, samples in zip(trainings, counts, strict=True)
        ]
        return served_errors(known, trained, service, rng, problem.region_weights)

    return draw, numbers + len(trainings) * width


def _numbers(sampler: str, learner: Learner, width: int, samples: IntArray) -> int:
    """Return approximately how many numbers one run keeps in memory; reject too many."""
    if sampler == "direct":
        numbers = learner.features * int(samples.max())
        if numbers > MOST_ENTRIES:
            raise RefusedError(
                f"direct: {learner.features:,} features x {samples.max():,} samples are more than {MOST_ENTRIES:,} "
                "numbers per region; use the low-dimensional sampler, which draws from the same distribution",
            )
        return numbers
    trainings = trainings_of(learner, len(samples))
    return width + max(map(numbers_per_run, trainings, repeat(learner.features), samples.tolist()))


def _draw(
    draw: Draw, numbers: int, visits: int, runs: int, stream: np.random.SeedSequence, budget: Budget
) -> FloatArray:
    """Draw in chunks, each with its own stream, as long as another one fits into the time; at least two runs."""
    chunk = min(MOST_CHUNK, max(2, min(CHUNK, WORK // max(1, visits)) // numbers))
    rounds = Rounds(budget)
    parts: list[FloatArray] = []
    done = 0
    while done < runs:
        size = min(chunk, runs - done)
        rng = np.random.default_rng(stream.spawn(1)[0])
        with rounds.measure():
            parts.append(draw(size, rng))
        done += size
        budget.progress("simulate", done / runs)
        if rounds.is_late:
            break
    return np.concatenate(parts)


def _with_truth(problem: Problem, truth: Truth) -> Problem:
    if truth.origin == "given":
        return problem
    return problem.replace(truth=truth.models, initial_model=truth.initial_model)


def _bound_note(problem: Problem, truth: Truth) -> tuple[str, ...]:
    """Warn if Δ gives no bound: for some learners, or if true models are further apart (Assumption 1 fails)."""
    if problem.updates.coupled:
        return (
            "with a regularised learner, upper bounds on the dissimilarities do not give an upper bound on the error; "
            "the closed form assumes that true models are exactly that far apart",
        )
    delta = problem.dissimilarity
    if truth.origin == "drawn" or delta is None:
        return ()
    for i, model in enumerate(truth.models):
        apart = np.sum((truth.models - model) ** 2, axis=1)
        j = int(np.argmax(apart - delta[i]))
        if apart[j] > delta[i, j] * (1 + PRINTED):
            pair = f"Δ[{problem.regions[i]}, {problem.regions[j]}]"
            return (
                f"{pair} = {delta[i, j]:g} but the true models are {apart[j]:g} apart (squared): "
                "the bound from Δ need not hold",
            )
    return ()


def _average_note() -> tuple[str, ...]:
    return (
        "the average of models has a smaller error if true models are further apart, so upper bounds on the "
        "dissimilarities do not give an upper bound on the error",
    )


def _tail_note(problem: Problem, counts: Sequence[IntArray]) -> tuple[str, ...]:
    """Warn if the error has a mean but no variance: an inverse chi-square with at most 4 degrees of freedom."""
    learner, nearest = problem.learner, LARGEST_COUNT
    for samples in counts:  # samples per visit of a model
        for n, training in zip(samples.tolist(), trainings_of(learner, len(samples)), strict=True):
            nearest = min(nearest, abs(learner.features - n)) if isinstance(training, LeastSquares) else nearest
    degrees = nearest + 1
    if degrees > 4 or learner.noise == 0:
        return ()
    return (
        f"with |m - n| = {degrees - 1} the error has no finite variance: the standard error and the interval "
        "are unreliable, and the mean converges slowly",
    )


def _time_note(done: int, runs: int) -> tuple[str, ...]:
    return (f"the time limit was reached after {done:,} of {runs:,} runs",) if done < runs else ()
