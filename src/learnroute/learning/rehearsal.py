"""Rehearsal: choose routes by training on the planning samples themselves, dealt anew many times.

A law has one number per rule and does not know that real features vary more in some directions than in others. Here,
each region's samples are dealt to training and test in several draws, the same for all routes, and routes are priced
by their mean test error. Of a linear learner a training is an affine map that is made once, and the core prices
thousands of routes per second. Any other learner has a budget of trainings, spent by successive halving.

Where a region may be visited up to R times, its training samples are dealt to R batches, one for each visit. So no
visit trains on samples that another visit, or another vehicle, has trained on: a second visit brings new samples when
the plan is carried out, and must not be priced by samples that the model has learnt already.
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
from learnroute.learning.adapters import as_learner
from learnroute.learning.affine_maps import is_linear
from learnroute.learning.data import FeatureMap, RegionData
from learnroute.learning.following import regions_of
from learnroute.learning.intake import Scaling, learn_scaling
from learnroute.learning.measures import Error, measure_of, squared_error
from learnroute.learning.planned_training import PlannedTraining, make_learner, needs_intercept, rule_of_model
from learnroute.learning.records import learner_record
from learnroute.learning.rehearsal_work import AnyWork, Found, LinearWork, Work, replace_strength
from learnroute.learning.serving import PlannedFleet
from learnroute.model.fleet_objective import UNTRAINED, FleetRoutes, Service
from learnroute.model.learners import Calibrated, Proximal
from learnroute.model.order_effect import OrderEffect
from learnroute.model.problem import Problem
from learnroute.model.result import Guarantee, Plan
from learnroute.model.result_mixin import ResultMixin
from learnroute.model.table import Column, Sheet, Table, route_text
from learnroute.model.validation import FloatArray, as_choice, as_count, freeze
from learnroute.solvers.contract import Budget, Progress

METHOD = "rehearsal"
AUTO = "auto"
DRAWS = 32  # deals of the samples, to search with; as many others to judge with
MOST_TIES = 10  # listed
NO_GUARANTEE = Guarantee(None, "rehearsed routes have no guarantee")


class Tie(NamedTuple):
    """Routes that cannot be distinguished from the chosen ones; one per vehicle.

    `models` are the models that the visits of one vehicle train, where it has several.
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
        """Return plain JSON values: `route`, or `routes` of several vehicles."""
        several = len(self.routes) > 1
        visits: dict[str, Any] = {"routes": [list(route) for route in self.routes]} if several else {
            "route": list(self.route)
        }  # fmt: skip
        models = {} if self.models is None else {"models": list(self.models)}
        return {**visits, **models, "error": self.error, "total": self.total}


@dataclass(frozen=True, eq=False, repr=False)
class Rehearsal(ResultMixin):
    """A route that was chosen by rehearsal, and how certain that choice is.

    Attributes
    ----------
    plan
        The route as a plan, for `follow`, files and pictures. Its `loss` is what the law expects of this route.
    error, standard_error
        The mean test error over all regions after the route, over draws that it was not chosen in, and the standard
        error of this mean. Label noise is part of it.
    errors, region_errors
        The error of each of these draws, and the mean error in each region in the order of the problem.
    total
        The error plus travel times its rate, per region.
    random
        The errors of random orders of the same visits in the same draws, and whether the order matters: whether more
        than a third of them are worse by more than two standard errors of the relative differences by draw. Of a
        fleet, visits are dealt to its models at random, as many to each, and the models serve as is best then.
    random_errors
        The error of each random order.
    fleet
        Where there are several vehicles or models: the visits of each, and the weights or the served regions that the
        search draws chose. `plan` has those that the law would choose; `follow` serves by these.
    ties, tied
        Routes that cannot be distinguished from the chosen one: the best of them, and how many there are of all that
        were looked at.
    learner
        The class and the parameters of the learner.
    regularization, chosen
        λ of a proximal learner, and `auto` if it was chosen with the route.
    draws, trainings, seconds
        Draws of the search, trainings that were carried out (of a linear learner: affine maps that were made), and how
        long all took.
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
        """The same as 0-based indices."""
        return self.plan.order

    def __repr__(self) -> str:
        way = " | ".join(route_text(route, self.plan.closed, self.plan.depot) for route in self.routes if route)
        return f"<Rehearsal {way}: error {self.error:.5g} ± {self.standard_error:.2g}; {self.random.text}>"

    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        return self.route, self.order

    def table(self) -> Table:
        """Return one row per region: its places on the route, what serves it, and the rehearsed error there.

        The places of several vehicles are numbered `vehicle:place`.
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
        """Return the route with its errors, whether the order matters, and what cannot be distinguished from it."""
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
            said = "; ".join(
                f"{' | '.join(', '.join(route) for route in tie.routes)} (total {tie.total:.4g})"
                for tie in self.ties[:3]
            )
            lines.append(("ties", f"{self.tied} other routes cannot be distinguished: {said}"))
        lines.append(("cost", f"{self.trainings:,} trainings, {self.seconds:.1f} s; error of a random order "
                              f"{self.random.mean:.4g}, of this one {self.error:.4g}"))  # fmt: skip
        headline = f"{self.plan.visited}, rehearsed error {self.error:.5g} ± {self.standard_error:.2g}"
        return Sheet(headline, (self.table(),), (*lines, *(("note", note) for note in self.notes)))

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
    error: str | Error = squared_error,
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
    """Choose the route by training on the samples of the regions themselves, dealt anew many times.

    Parameters
    ----------
    data
        Each region's planning samples: a `RegionData`, or (features, targets, test features, test targets). Each draw
        deals them anew, as many to training and to test as were given. Keep other samples to train and to test with
        later.
    learner
        One of the learners of this package, whose trainings are affine maps (`RouteRegressor`, `ProximalRegressor`,
        `GradientRegressor`, `RecursiveRegressor`), or anything that `follow` takes. If omitted, that of the problem.
    problem
        Travel, constraints, optional and repeated visits, fleet, importance and `features_scaling`. If omitted, one is
        made from the data and `fields`. Where a region may be visited R times, each visit has 1/R of its training
        samples, so that all train on samples of their own.
    regularization
        `auto` chooses λ of a `ProximalRegressor` together with the route.
    error
        `squared`, `zero-one`, `cross-entropy`, or a function of a model and a region. Affine maps need `squared`.
    features
        A map in front of the learner, as of `follow`; by default the problem's `features_scaling`.
    scaling
        `standardise` or `whiten` features over all regions; the plan keeps how. Without a problem only.
    draws
        Deals of the samples to search with, of a linear learner; as many others judge the route.
    trainings
        The budget of trainings of any other learner; by default 25 routes' worth.
    seed
        Same data, seed and arguments: same route.
    time_limit, progress, stop
        As of `plan`: the best route so far is returned.
    fields
        Of the problem that is made: travel or coordinates, geographic, travel_rate, constraints, depot, visits,
        fleet, importance, title. Without travel and coordinates, travel costs nothing.

    Returns
    -------
    Rehearsal
        The route, its error with a standard error, random orders and ties beside it, and the plan.

    Raises
    ------
    InputError
        Where data, learner or problem are not what is asked for, or a region cannot be learnt.
    """
    started = time.monotonic()
    budget = Budget.of(time_limit, progress, stop)
    measure = measure_of(error)
    seed = as_count("seed", seed, least=0, meaning="the seed")
    draws = as_count("draws", draws, least=2, meaning="the number of draws")
    names, regions, classes = _regions_of(data, problem, features, scaling, fields)
    width = regions[0].train[0].shape[1]
    if regularization is not None:
        as_choice("regularization", regularization, (AUTO,))
    if learner is None:
        learner, regularization = _learner_of(problem, width, regularization)
    as_learner(learner, classes)  # refused here, if it is none
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
        work: Work = LinearWork(learner, names, regions, problem, fields, draws, seed, chooses)
    else:
        if chooses:
            raise InputError("λ can only be chosen for squared errors", field="regularization", value=regularization)
        work = AnyWork(learner, names, regions, problem, fields, trainings, seed, measure, classes)
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
    """Return the learner of a problem, and whether its λ is to be chosen."""
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


def _result(work: Work, found: Found, learner: Any, budget: Budget, started: float) -> Rehearsal:
    """Return the plan, and what was rehearsed."""
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
    ended = (f"{budget.end} before the search was complete",) if budget.exhausted else ()
    notes = (*ended, *_visits_note(work), *_model_note(learner))
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
    """Return how the models of a fleet serve, as a plan file has it."""
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
    return (f"each region's training samples are dealt to {work.visits} visits, {size} samples for each",)


def _model_note(learner: Any) -> tuple[str, ...]:
    given = getattr(learner, "initial_model", None) is not None or hasattr(learner, "coef_")
    return ("the plan does not keep the first model: give `follow` a learner that starts there",) if given else ()
