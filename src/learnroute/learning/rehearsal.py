"""Rehearsal: choose routes by training on random divisions of the planning samples.

A law has one number per rule and ignores that real features vary more in some directions than in others. A rehearsal
divides each region's samples into training and test samples in several draws, the same for all routes, and evaluates
routes by their mean test error. With a linear learner, each training is an affine map that is computed once, and the
core evaluates thousands of routes per second. Other learners have a budget of trainings, spent by successive halving.

If a region may be visited up to R times, its training samples are divided into R batches, one per visit, so that no
visit trains on samples that another visit or another vehicle has used. When the plan is carried out, a second visit
brings new samples, so it must not be evaluated on samples that the model has already learnt.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, get_args

import numpy as np

from learnroute.errors import InputError, check_type
from learnroute.learning.adapters import as_learner, is_classifier
from learnroute.learning.affine_maps import is_linear
from learnroute.learning.data import FeatureMap, RegionData
from learnroute.learning.following import regions_of
from learnroute.learning.measures import Error, measure_of, squared_error
from learnroute.learning.planned_training import PlannedTraining, make_learner, needs_intercept, rule_of_model
from learnroute.learning.preparation import Scaling, learn_scaling
from learnroute.learning.records import learner_record
from learnroute.learning.rehearsal_work import GeneralWork, LinearWork, RehearsalOutcome, Work, replace_strength
from learnroute.learning.serving import PlannedFleet
from learnroute.model.fleet_objective import UNTRAINED, FleetRoutes, Service
from learnroute.model.learners import Calibrated, Proximal
from learnroute.model.order_effect import OrderEffect
from learnroute.model.problem import Problem
from learnroute.model.result import Guarantee, Plan
from learnroute.model.result_mixin import ResultMixin
from learnroute.model.table import Column, Sheet, Table, route_difference, route_text
from learnroute.model.validation import FloatArray, as_choice, as_count, freeze
from learnroute.solvers.contract import Budget, Progress

METHOD = "rehearsal"
AUTO = "auto"
DRAWS = 32  # divisions of the samples for the search; as many others evaluate the chosen route
MOST_TIES = 10  # ties listed in the result
SHOWN_TIES = 3  # of these, ties that are printed
NO_GUARANTEE = Guarantee(None, "rehearsed routes have no guarantee")


class Tie(NamedTuple):
    """Routes that cannot be distinguished from the chosen ones, one per vehicle.

    `models` are the models that the visits train, for one vehicle with several models.
    """

    routes: tuple[tuple[str, ...], ...]
    error: float
    total: float
    models: tuple[int, ...] | None = None

    @property
    def route(self) -> tuple[str, ...]:
        """The regions in order of visit, one vehicle after another."""
        return tuple(name for route in self.routes for name in route)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values: `route`, or `routes` for several vehicles."""
        several = len(self.routes) > 1
        visits: dict[str, Any] = {"routes": [list(route) for route in self.routes]} if several else {
            "route": list(self.route)
        }  # fmt: skip
        models = {} if self.models is None else {"models": list(self.models)}
        return {**visits, **models, "error": self.error, "total": self.total}


@dataclass(frozen=True, eq=False, repr=False)
class Rehearsal(ResultMixin):
    """A route chosen by rehearsal, and how certain the choice is.

    Attributes
    ----------
    plan
        The route as a plan, for `follow`, files and pictures. Its `loss` is the one that the law predicts.
    error, standard_error
        The mean test error over all regions after the route, in draws that were not used to choose it, and the standard
        error of this mean. It includes label noise.
    errors, region_errors
        The error in each of these draws, and the mean error in each region in the order of the problem.
    total
        The error plus travel times its rate, per region.
    random
        The errors of random orders of the same visits in the same draws, and whether the order matters, that is,
        whether more than a third of them are worse by more than two standard errors of the relative differences by
        draw. For a fleet, visits are assigned to models at random, as many to each, and the best service by these
        models is used.
    random_errors
        The error of each random order.
    fleet
        With several vehicles or models, the visits of each, and the weights or served regions chosen on the search
        draws. `plan` contains those that the law would choose; `follow` uses the ones chosen here.
    ties, tied
        The best routes that cannot be distinguished from the chosen one, and their number among all evaluated routes.
    learner
        The class and the parameters of the learner.
    regularization, chosen
        λ of a proximal learner, and `auto` if it was chosen with the route.
    draws, trainings, seconds
        Number of draws of the search, number of trainings carried out (for a linear learner: affine maps computed), and
        the total time in seconds.
    """

    picture = "draw_rehearsal"
    plan: Plan
    error: float
    standard_error: float
    errors: FloatArray
    region_errors: FloatArray
    total: float
    random: OrderEffect
    random_errors: FloatArray
    ties: tuple[Tie, ...]
    tied: int
    learner: dict[str, Any]
    regularization: float | None
    chosen: str
    draws: int
    trainings: int
    seconds: float
    notes: tuple[str, ...] = ()
    fleet: PlannedFleet | None = None
    _regions: tuple[str, ...] = field(default=(), repr=False)

    @property
    def route(self) -> tuple[str, ...]:
        """The regions in order of visit."""
        return self.plan.route

    @property
    def routes(self) -> tuple[tuple[str, ...], ...]:
        """The route of each vehicle."""
        return self.plan.routes

    @property
    def order(self) -> tuple[int, ...]:
        """The route as 0-based indices."""
        return self.plan.order

    def __repr__(self) -> str:
        way = " | ".join(route_text(route, self.plan.closed, self.plan.depot) for route in self.routes if route)
        return f"<Rehearsal {way}: error {self.error:.5g} ± {self.standard_error:.2g}; {self.random.text}>"

    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        return self.route, self.order

    def table(self) -> Table:
        """Return one row per region: its positions on the route, what serves it, and its rehearsed error.

        With several vehicles, positions are numbered `vehicle:position`.
        """
        places: dict[str, list[str]] = {}
        for vehicle, route in enumerate(self.routes, 1):
            for place, name in enumerate(route, 1):
                places.setdefault(name, []).append(f"{vehicle}:{place}" if self.plan.several else str(place))
        errors = dict(zip(self._regions, self.region_errors.tolist(), strict=True))
        names = [*places, *self.plan.skipped]
        columns = [Column("position", "visit", left=True), Column("region", "region", left=True)]
        rows: list[list[Any]] = [[", ".join(places.get(name, ["skipped"])), name] for name in names]
        servers = None if self.fleet is None else self.fleet.servers(names)
        if servers is not None:
            columns.append(Column("served_by", "served by", left=True))
            rows = [[*row, server] for row, server in zip(rows, servers, strict=True)]
        columns.append(Column("error", "rehearsed error", ".4g"))
        return Table(tuple(columns), [(*row, errors[row[1]]) for row in rows])

    def sheet(self) -> Sheet:
        """Return the route with its errors, whether the order matters, and the tied routes."""
        said = f"{self.error:.6g} ± {self.standard_error:.2g} over {len(self.errors)} draws"
        lines = [("error", said), ("order", self.random.text)]
        lines += [] if self.fleet is None else self.fleet.lines()
        if self.chosen:
            low, high = self.plan.regularization_range or (math.nan, math.nan)
            said = f"λ = {self.regularization:.4g}; {low:.3g} … {high:.3g} is within 1 % on this route"
            lines.append(("chosen", said))
        if self.plan.travel_cost > 0:
            lines.append(("travel", f"{self.plan.travel_cost:.6g}; total loss {self.total:.6g} per region"))
        if self.tied:
            said = "; ".join(f"{self._difference(tie)} (total {tie.total:.4g})" for tie in self.ties[:SHOWN_TIES])
            lines.append(("ties", f"{self.tied} other routes cannot be distinguished: {said}"))
        lines.append(("cost", f"{self.trainings:,} trainings, {self.seconds:.1f} s; error of a random order "
                              f"{self.random.mean:.4g}, of this one {self.error:.4g}"))  # fmt: skip
        headline = f"{self.plan.visited}, rehearsed error {self.error:.5g} ± {self.standard_error:.2g}"
        return Sheet(headline, (self.table(),), (*lines, *(("note", note) for note in self.notes)))

    def _difference(self, tie: Tie) -> str:
        """Return where tied routes differ from the chosen ones."""
        found = []
        for vehicle, (route, chosen) in enumerate(zip(tie.routes, self.routes, strict=True), 1):
            if said := route_difference(route, chosen):
                found.append(f"vehicle {vehicle}, {said}" if self.plan.several else said)
        return " | ".join(found) or "the same visits train other models"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            **({} if self.plan.several else {"route": list(self.route), "order": list(self.order)}),
            "routes": [list(route) for route in self.routes],
            **({} if self.fleet is None else self.fleet.to_dict()),
            "error": self.error,
            "standard_error": self.standard_error,
            "total": self.total,
            "travel_cost": self.plan.travel_cost,
            "random": {**self.random.to_dict(), "orders": len(self.random_errors)},
            "order_matters": self.random.matters,
            "verdict": self.random.text,
            "ties": [tie.to_dict() for tie in self.ties],
            "tied": self.tied,
            "errors": dict(zip(self._regions, self.region_errors.tolist(), strict=True)),
            "learner": self.learner,
            "regularization": self.regularization,
            "chosen": self.chosen,
            "draws": self.draws,
            "trainings": self.trainings,
            "seconds": self.seconds,
            "seed": self.plan.seed,
            "notes": list(self.notes),
        }


def rehearse(
    data: Mapping[str, Any],
    learner: Any = None,
    problem: Problem | None = None,
    regularization: str | None = None,
    error: str | Error | None = None,
    features: FeatureMap | None = None,
    scaling: Scaling = "none",
    draws: int = DRAWS,
    trainings: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    **fields: Any,
) -> Rehearsal:
    """Choose the route by training on random divisions of the regions' samples.

    Parameters
    ----------
    data
        Each region's planning samples: a `RegionData`, or (features, targets, test features, test targets). Each draw
        divides them anew into training and test samples of the same sizes. Keep other samples for the actual training
        and testing.
    learner
        One of the learners of this package, whose trainings are affine maps (`RouteRegressor`, `ProximalRegressor`,
        `GradientRegressor`, `RecursiveRegressor`), or any learner that `follow` accepts. If omitted, the problem's.
    problem
        Travel, constraints, optional and repeated visits, fleet, importance and `features_scaling`. If omitted, a
        problem is built from the data and `fields`. If a region may be visited R times, each visit gets 1/R of its
        training samples, so that no two visits share samples.
    regularization
        `auto` chooses λ of a `ProximalRegressor` together with the route.
    error
        `squared`, `zero-one`, `cross-entropy`, or a function of a model and a region. Affine maps need `squared`.
        Default: `zero-one` for classifiers, otherwise `squared`.
    features
        A feature map applied before the learner, as in `follow`; by default the problem's `features_scaling`.
    scaling
        `standardise` or `whiten` features over all regions; the plan records the scaling. Only without a problem.
    draws
        Number of divisions of the samples to search with, for a linear learner; as many others evaluate the route.
    trainings
        Budget of trainings for any other learner; by default enough for 25 routes.
    seed
        The same data, seed and arguments give the same route.
    time_limit, progress, stop
        As in `plan`; the best route so far is returned.
    fields
        Fields of the problem to build: travel or coordinates, geographic, travel_rate, constraints, depot, visits,
        fleet, importance, title. Without travel and coordinates, travel costs nothing.

    Returns
    -------
    Rehearsal
        The route, its error with a standard error, random orders, ties, and the plan.

    Raises
    ------
    InputError
        If data, learner or problem are invalid, or a region cannot be learnt.
    """
    started = time.monotonic()
    budget = Budget.of(time_limit, progress, stop)
    seed = as_count("seed", seed, least=0, meaning="the seed")
    draws = as_count("draws", draws, least=2, meaning="the number of draws")
    names, regions, classes = _regions_of(data, problem, features, scaling, fields)
    width = regions[0].train[0].shape[1]
    if regularization is not None:
        as_choice("regularization", regularization, (AUTO,))
    if learner is None:
        learner, regularization = _learner_of(problem, width, regularization)
    as_learner(learner, classes)  # rejects anything that is not a learner
    measure = measure_of(error, is_classifier(learner))
    chooses = regularization == AUTO
    if chooses and rule_of_model(replace_strength(learner, 1.0))[0] != Proximal.rule:
        raise InputError(
            "λ can only be chosen for a proximal learner (ProximalRegressor)",
            field="regularization",
            value=regularization,
        )
    if chooses:
        learner = replace_strength(learner, 1.0)
    if is_linear(learner) and measure is squared_error:
        work: Work = LinearWork(learner, names, regions, problem, fields, draws, seed, chooses, budget)
    else:
        if chooses:
            raise InputError("λ can only be chosen for squared errors", field="regularization", value=regularization)
        work = GeneralWork(learner, names, regions, problem, fields, trainings, seed, measure, classes)
    found = work.solve(budget)
    return _result(work, found, learner, budget, started)


def _regions_of(
    data: Any, problem: Problem | None, features: FeatureMap | None, scaling: Scaling, fields: Mapping[str, Any]
) -> tuple[tuple[str, ...], list[RegionData], FloatArray | None]:
    """Return the regions, their samples in the learner's features, and all labels."""
    as_choice("scaling", scaling, get_args(Scaling))
    if problem is not None:
        check_type("problem", problem, Problem)
        for given in (*fields, *(["scaling"] if scaling != "none" else [])):
            raise InputError("is part of the problem; omit it, or the problem", field=given)
        return regions_of(problem.regions, data, problem.features_scaling if features is None else features)
    names, regions, classes = regions_of(list(data) if isinstance(data, Mapping) else [], data, features)
    if scaling != "none":
        pooled = np.concatenate([part[0] for region in regions for part in (region.train, region.test)])
        made = learn_scaling(pooled, scaling, False, ())
        assert made is not None
        regions = [region.map_features(made) for region in regions]
    return names, regions, classes


def _learner_of(problem: Problem | None, width: int, regularization: str | None) -> tuple[Any, str | None]:
    """Return the learner of a problem, and `auto` if its λ is to be chosen."""
    if problem is None:
        raise InputError("missing; give a learner, or a problem with a learner", field="learner")
    own = problem.learner
    if isinstance(own, Calibrated):
        raise InputError(
            "missing; a problem with a calibrated learner does not define how to train; give the learner (--learner)",
            field="learner",
        )
    intercept = needs_intercept(width, own.features, problem.features_scaling)
    if own.undecided:
        kind = str(own.training["regularization"])
        if kind != AUTO:
            raise InputError("a rehearsal chooses one λ; use auto", field="learner.regularization", value=kind)
        return make_learner(own.with_regularization(1.0), intercept), AUTO
    return make_learner(own, intercept), regularization


def _result(work: Work, found: RehearsalOutcome, learner: Any, budget: Budget, started: float) -> Rehearsal:
    """Return the result with the plan and the rehearsed errors."""
    problem, routes = work.problem, found.routes
    strength = found.strength
    if strength is not None and work.chooses:
        learner = replace_strength(learner, strength)
        problem = problem.with_regularization(strength)
    elif isinstance(problem.learner, Proximal) and not problem.learner.undecided:
        values = problem.learner.fixed_regularization
        strength = values[0] if len(values) == 1 else None
    weights = problem.region_weights
    errors = (weights * found.errors).mean(axis=1)
    mean = float(errors.mean())
    spread = found.correction * float(errors.std(ddof=1)) if len(errors) > 1 else math.nan
    effect = OrderEffect(
        mean, float(found.random.mean()), float(found.random.min()), float(found.random.max()), found.matters
    )
    by_region = found.errors.mean(axis=0)
    made = Plan.of(problem, routes.regions if problem.fleet_rules is None else routes)
    first_visits_first = [problem.regions.index(name) for name in (*dict.fromkeys(made.route), *made.skipped)]
    ended = () if found.complete else (f"{budget.end} before the rehearsal was complete",)
    notes = (*ended, *work.notes, *_visits_note(work), *_model_note(learner))
    seconds = time.monotonic() - started
    ties = sorted(
        (Tie(_names(problem, other), error, error + work.travel_of(other),
             None if made.models is None else other.models[0])
         for other, error in found.others), key=lambda tie: tie.total,
    )  # fmt: skip
    rehearsed = {
        "error": mean,
        "standard_error": spread,
        "errors": by_region[first_visits_first].tolist(),
        "random": effect.to_dict(),
        "order_matters": effect.matters,
        "draws": work.draws,
        **_service(problem, found.service),
    }
    plan = replace(
        made, method=METHOD, requested=METHOD, guarantee=NO_GUARANTEE, seconds=seconds, seed=work.seed,
        notes=(*notes, effect.text), rehearsal=rehearsed, chosen=AUTO if work.chooses else "",
        regularization_range=found.strengths,
    )  # fmt: skip
    return Rehearsal(
        plan=plan,
        error=mean,
        standard_error=spread,
        errors=freeze(errors),
        region_errors=freeze(by_region),
        total=mean + work.travel_of(routes),
        random=effect,
        random_errors=freeze(found.random),
        ties=tuple(ties[:MOST_TIES]),
        tied=len(ties),
        learner=learner_record(learner),
        regularization=strength,
        chosen=AUTO if work.chooses else "",
        draws=work.draws,
        trainings=work.trainings,
        seconds=seconds,
        notes=notes,
        fleet=PlannedTraining.of(plan).fleet,
        _regions=problem.regions,
        problem=problem,
    )


def _names(problem: Problem, routes: FleetRoutes) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(problem.regions[region] for region in route) for route in routes.routes)


def _service(problem: Problem, service: Service | None) -> dict[str, Any]:
    """Return how the models of a fleet serve, in the form of a plan file."""
    if service is None:
        return {}
    if service.weights is not None:
        return {"weights": service.weights.tolist()}
    assert service.served_by is not None
    numbers = [None if one == UNTRAINED else one for one in service.served_by.tolist()]
    return {"served_by": dict(zip(problem.regions, numbers, strict=True))}


def _visits_note(work: Work) -> tuple[str, ...]:
    if work.visits == 1:
        return ()
    counts = {len(region.train[1]) // work.visits for region in work.regions}
    size = f"{min(counts)} … {max(counts)}" if len(counts) > 1 else f"{min(counts)}"
    return (f"each region's training samples are split over {work.visits} visits, {size} samples each",)


def _model_note(learner: Any) -> tuple[str, ...]:
    given = getattr(learner, "initial_model", None) is not None or hasattr(learner, "coef_")
    return (
        ("the plan does not contain the initial model: give `follow` a learner that starts from it",) if given else ()
    )
