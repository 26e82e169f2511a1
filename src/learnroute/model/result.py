"""The plan: a route, its loss, and how good it is proved to be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import list_names, percent
from learnroute.model.certificates import Certificate
from learnroute.model.constraints import FREE, Constraints
from learnroute.model.features_scaling import FeaturesScaling
from learnroute.model.learners import Learner, LeastSquares, Proximal, Regime
from learnroute.model.order_effect import OrderEffect, expected_order_effect
from learnroute.model.plan_rules import rules_of
from learnroute.model.problem import ESTIMATE, UPPER, DissimilarityKind, Problem
from learnroute.model.result_mixin import ResultMixin
from learnroute.model.routes import Routes
from learnroute.model.table import Column, Sheet, Table, clip, route_text
from learnroute.model.validation import FloatArray
from learnroute.model.value import MOST_ERRORS, Loss, untrained_loss, value_of, visited_then_skipped

if TYPE_CHECKING:
    from pandas import DataFrame


class Stop(NamedTuple):
    """One stop of a route.

    Attributes
    ----------
    position
        The number of the visit, from 1; 0 for the depot, and the number after the last visit for the return.
    name, place
        The name of the stop, and its index among the stops of the problem.
    travel
        The travel cost from the previous stop; 0 at the start.
    visit
        Whether the learner trains here: not in the depot, and not on its return.
    region
        Whether the stop is a region rather than the depot.
    """

    position: int
    name: str
    place: int
    travel: float
    visit: bool
    region: bool


def itinerary(problem: Problem, order: ArrayLike) -> list[Stop]:
    """Return all stops of a route, from its start to its end."""
    visits = np.asarray(order, dtype=np.int64).tolist()
    stops = problem.from_depot(visits)
    travel = [0.0, *problem.ways.legs(stops, problem.closed).tolist()]
    first = 1 + len(visits) - len(stops)
    indices = [*stops.tolist(), *(stops[:1].tolist() if problem.closed else [])]
    return [
        Stop(position, problem.stops[i], i, way, 1 <= position <= len(visits), i < problem.size)
        for position, (i, way) in enumerate(zip(indices, travel, strict=True), first)
    ]


@dataclass(frozen=True)
class Guarantee:
    """A proved upper bound on the ratio of the total loss to the optimum, known before the route is.

    `value` is the best bound that applies, or None; `reason` says why it holds or why there is none.
    `paper` and `sharper` are the two bounds known for Algorithm 1, if they apply.
    """

    value: float | None
    reason: str
    paper: float | None = None
    sharper: float | None = None


PARTS = {
    "travel": "travel",
    "dissimilarity": "error from dissimilar regions",
    "initial": "error from the initial model",
    "noise": "error from noise",
    "pairs": "gain from averaging models",  # by regularised learners
    "total": "total",
}
WHAT = {"estimate": "estimate", "upper": "upper bound", "measured": "expected"}  # meaning of the losses of a plan
NO_GUARANTEE = Guarantee(None, "")


@dataclass(frozen=True)
class Plan(ResultMixin):
    """A route with its value and its certificate. Losses and bounds are per region, as in the paper.

    Attributes
    ----------
    route, order
        The regions in order of visit: names, and 0-based indices.
    lower_bound
        A lower bound on the total loss of every route.
    optimal
        Whether the route is proved to have the lowest total loss.
    method, requested
        The method that found the route, and the method that was requested.
    notes
        Remarks for the user about this plan, one sentence each.
    true_loss
        The expected loss, if the true models are known. With upper bounds, a least squares learner's `loss` bounds it.
    certificate
        The data from which the lower bound follows; `learnroute verify` recomputes it.
    travel_cost, travel_rate
        The travel cost of the whole route, in units of travel, and the loss that one unit is worth. For several
        vehicles, the travel cost is the one that counts: the total, or that of the longest route.
    closed, constraints
        Whether the return to the depot, or to the first region, is part of the route; and the constraints on routes.
    depot
        The start of the route, if it is not a region; it is in neither `route` nor `order`, but in `stops`.
    learner, chosen, regularization_range
        The learner that the route was planned for. If its regularisation was chosen together with the route, `chosen`
        is auto or schedule, and the range contains each λ (for a schedule, each common factor) with a loss within 1 %.
    dissimilarities
        The dissimilarities behind loss, bound and route: `estimate` (unbiased estimates), `upper` (upper bounds,
        Assumption 1) or `measured` (a transfer matrix).
    samples, features_scaling
        The number of fresh samples per region that the plan assumes (one number, or one per region in the order of
        `route`), and how raw features are scaled for the learner, if the problem says so. `follow` trains with both.
    expected_errors
        The expected error in each region after the last visit, without label noise, in the order of `route` (of first
        visits), followed by the `skipped` regions. None above 10,000 regions.
    importance
        How much the error in each of these regions counts, in the same order; None if all count equally.
    skipped
        The regions that are not visited, in the order of the problem.
    untrained, contributions
        If visits are optional: the loss without any visit, and for each visit of the route the total loss without
        it. None if unknown.
    fleet, travels
        If there are several vehicles or models: their visits by index, and the travel of each vehicle. `route` and
        `order` then contain the visits of all vehicles, one vehicle after another; `routes` has one route per vehicle.
    weights, served_by
        The weight of each model in the average that serves all regions; or, by region, the number of the model that
        serves it (None: the initial model).
    loss_at_most
        The largest total loss with dissimilarities between their bounds; None if unknown. For a least squares learner
        it is the loss with the upper bounds; for a regularised learner, the loss may decrease with a dissimilarity.
    rules
        The rules for visits and fleet of the problem, in its format. They explain what another problem lacks; claims
        are never verified against them.
    rehearsal
        If the route was chosen by `learnroute.learning.rehearse`: the rehearsed error with its standard error, the
        errors per region (in the order of `expected_errors`, label noise included), the errors of random orders,
        whether the order matters, and the number of draws. `follow` compares measured errors with these. None for
        other plans.
    problem
        The problem, if the plan was made in this process; for pictures and maps.
    """

    picture = "draw_plan"
    route: tuple[str, ...]
    order: tuple[int, ...]
    regime: Regime
    loss: Loss
    lower_bound: float | None = None
    optimal: bool = False
    guarantee: Guarantee = NO_GUARANTEE
    method: str = ""
    requested: str = ""
    seconds: float = 0.0
    seed: int = 0
    notes: tuple[str, ...] = ()
    true_loss: Loss | None = None
    certificate: Certificate | None = None
    travel_cost: float = 0.0
    travel_rate: float = 1.0
    closed: bool = False
    constraints: Constraints = FREE
    learner: Learner | None = None
    chosen: str = ""
    regularization_range: tuple[float, float] | None = None
    loss_at_most: float | None = None
    depot: str | None = None
    dissimilarities: DissimilarityKind = UPPER
    samples: int | tuple[int, ...] | None = None
    features_scaling: FeaturesScaling | None = None
    expected_errors: tuple[float, ...] | None = None
    importance: tuple[float, ...] | None = None
    skipped: tuple[str, ...] = ()
    untrained: float | None = None
    contributions: tuple[float, ...] | None = None
    fleet: Routes | None = None
    weights: tuple[float, ...] | None = None
    served_by: dict[str, int | None] | None = None
    travels: tuple[float, ...] | None = None
    rehearsal: dict[str, Any] | None = None
    rules: dict[str, Any] | None = None

    @classmethod
    def of(cls, problem: Problem, routes: Routes) -> Plan:
        """Return the plan that follows from problem and routes alone, without proofs; reject routes that break rules.

        All plans are created here. Claims of a solver or a file about the route are added by `dataclasses.replace`.
        """
        value, visits, several = value_of(problem, routes), routes.regions, not problem.fleet_rules.single
        route, few = tuple(problem.regions[i] for i in visits), problem.size <= MOST_ERRORS
        visited = set(route)
        samples = problem.learner.samples if problem.samples is None else tuple(problem.samples[visits].tolist())
        counted = problem.importance if few else None
        counted = None if counted is None else counted[visited_then_skipped(visits, problem.size)]
        return cls(
            route=route,
            order=tuple(visits),
            fleet=routes if several else None,
            travels=value.travels if several else None,
            regime=problem.regime,
            travel_rate=problem.travel_rate,
            closed=problem.closed,
            constraints=problem.constraints,
            learner=problem.learner,
            depot=None if problem.depot is None else problem.depot.name,
            dissimilarities=problem.dissimilarity_kind,
            samples=samples if problem.learner.has_shape else None,
            features_scaling=problem.features_scaling,
            importance=None if counted is None else tuple(counted.tolist()),
            skipped=tuple(name for name in problem.regions if name not in visited),
            untrained=None if problem.visits_all_once else untrained_loss(problem),
            rules=rules_of(problem),
            problem=problem,
            **{name: member for name, member in value._asdict().items() if name != "travels"},
        )

    @property
    def visits(self) -> Routes:
        """The visits of each vehicle by index, and the model that each visit trains."""
        return self.fleet or Routes.of_order(self.order)

    @property
    def routes(self) -> tuple[tuple[str, ...], ...]:
        """The route of each vehicle: the regions that it visits, in order; empty for an unused vehicle."""
        return tuple(self.route[visits] for visits in self._visits_by_vehicle())

    def _visits_by_vehicle(self) -> list[slice]:
        """Return the part of `route` that belongs to each vehicle."""
        counts = [len(self.order)] if self.fleet is None else [len(route) for route in self.fleet.vehicles]
        ends = list(accumulate(counts, initial=0))
        return [slice(*pair) for pair in pairwise(ends)]

    @property
    def several(self) -> bool:
        """Whether there are several vehicles."""
        return self.fleet is not None and len(self.fleet.vehicles) > 1

    @property
    def models(self) -> tuple[int, ...] | None:
        """The number of the model that each visit of a single vehicle trains; None unless there are several models."""
        return None if self.fleet is None or self.several else self.fleet.models[0]

    @property
    def label_noise(self) -> float | None:
        """The variance of the label noise, which measured squared errors contain beside `expected_errors`.

        0 for a calibrated learner, whose errors were measured and contain it already; None if unknown.
        """
        return None if self.learner is None else self.learner.label_noise

    @property
    def stops(self) -> tuple[str, ...]:
        """The names of all places in order: the depot, the regions, and the place that the route returns to.

        For several vehicles, the stops of `by_vehicle()`, one vehicle after another.
        """
        if self.several:
            return tuple(name for plan in self.by_vehicle().values() for name in plan.stops)
        way = self.route if self.depot is None else (self.depot, *self.route)
        return (*way, way[0]) if self.closed else way

    @property
    def size(self) -> int:
        """The number of regions T, visited or not."""
        return len(set(self.order)) + len(self.skipped)

    @property
    def visited(self) -> str:
        """How many regions are visited, in words: `12 regions`, `3 of 12 regions`, `5 visits to 3 of 12 regions`."""
        regions = self.size - len(self.skipped)
        again = f"{len(self.order):,} visits to " if len(self.order) > regions else ""
        return f"{again}{regions:,}{f' of {self.size:,}' if self.skipped else ''} regions"

    def __repr__(self) -> str:
        ways = (route_text(plan.route, self.closed, self.depot) for plan in self.by_vehicle().values())
        return f"<Plan {' | '.join(ways)}: total loss {self.loss.total:.5g}, {self.quality}, method {self.method}>"

    @property
    def loss_in_travel_units(self) -> Loss | None:
        """The loss of the whole route in units of travel cost; None if travel is worth nothing."""
        return self.loss.in_travel_units(self.travel_rate, self.size)

    @property
    def gap(self) -> float | None:
        """How far the total loss can be above the optimum, as a share of it.

        None if unknown, or if the optimum may be negative or zero, because then the share is undefined.
        """
        if self.optimal:
            return 0.0
        if self.lower_bound is None or self.lower_bound <= 0:
            return None
        return self.loss.total / self.lower_bound - 1

    @property
    def certified_ratio(self) -> float | None:
        """An upper bound on the ratio of the total loss to the optimum; None if unknown."""
        return None if self.gap is None else 1 + self.gap

    @property
    def quality(self) -> str:
        """How good the route is proved to be, in words."""
        if self.optimal:
            return f"proved optimal{self._doubt}"
        if self.lower_bound is None:
            return "nothing proved"
        if self.gap is None:  # a share of a loss that may be negative or zero is undefined
            least = f"{self.loss.total - self.lower_bound:.3g} above the least possible total loss"
        else:
            least = f"{100 * self.gap:.3g} % above the optimum"
        return f"at most {least}{self._doubt}"

    @property
    def _doubt(self) -> str:
        """Restricts proofs to a law that measurements do not fully support."""
        return f" for this law, {self.learner.doubt}" if self.learner is not None and self.learner.doubt else ""

    def by_vehicle(self) -> dict[int, Plan]:
        """Return the plan of each used vehicle alone, by its number from 1."""
        if not self.several:
            return {1: self}
        assert self.travels is not None
        found = {}
        for number, (visits, travel) in enumerate(zip(self._visits_by_vehicle(), self.travels, strict=True), 1):
            if self.order[visits]:
                samples = self.samples[visits] if isinstance(self.samples, tuple) else self.samples
                without = None if self.contributions is None else self.contributions[visits]
                found[number] = replace(
                    self, route=self.route[visits], order=self.order[visits], fleet=None, travels=None,
                    travel_cost=travel, samples=samples, contributions=without,
                )  # fmt: skip
        return found

    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        return self.route, self.order

    def to_frame(self, *, problem: Problem | None = None) -> DataFrame:
        """Return one row per stop, as a pandas data frame; `problem` as for `table`."""
        return self.table(problem).to_frame()

    def table(self, problem: Problem | None = None) -> Table:
        """Return one row per stop; without a problem, only the names of the stops."""
        problem = self.known_problem(problem)
        names = (Column("position", "visit", left=True), Column("region", "region", left=True), Column("index"))
        if problem is None:
            return Table(names, [(k + 1, name, self.order[k]) for k, name in enumerate(self.route)])
        if problem.learner.undecided and self.learner is not None:
            problem = problem.replace(learner=self.learner)
        size, places = problem.size, problem.stop_coordinates
        marks = [Column("vehicle", "vehicle")] if self.several else []
        marks += [Column("model", "model")] if self.models is not None else []
        columns = (
            *marks,
            *(column._replace(head=None) for column in names),
            *map(Column, ("travel_from_previous", "travel_so_far", "score", "weight")),
            *map(Column, () if places is None else ("lon", "lat") if problem.geographic else ("x", "y")),
            *(column._replace(name=None) for column in names[:2]),
            Column(None, "travel", ".4g"),
            Column(None, "mean dissimilarity", ".4g"),
            *((Column("total_without", "total loss without it", ".5g"),) if self.contributions is not None else ()),
        )
        rows: list[tuple[Any, ...]] = []
        for number, plan in self.by_vehicle().items():
            rows += plan._rows(problem, size, places, (number,) if self.several else ())
        return Table(columns, rows)

    def _rows(
        self, problem: Problem, size: int, places: FloatArray | None, vehicle: tuple[int, ...]
    ) -> list[tuple[Any, ...]]:
        """Return one row per stop of one vehicle."""
        rows, so_far, shares = [], 0.0, self._shares(problem)
        for k, stop in enumerate(itinerary(problem, self.order)):
            so_far += stop.travel
            at = stop.position - 1
            score = float(problem.scores[stop.place]) if stop.region else math.nan
            share = shares[at] if stop.visit else math.nan  # there is no training on return
            data = (stop.position, stop.name, stop.place if stop.region else None, stop.travel, so_far, score, share)
            place = () if places is None else places[stop.place].tolist()
            leg = stop.travel if k else None
            named = (stop.position, stop.name, leg, score / size)
            away = (None, f"{'back to' if k else 'from'} {stop.name}", leg, None)
            model = () if self.models is None else (self.models[at] + 1 if stop.visit else None,)
            row = (*vehicle, *model, *data, *place, *(named if stop.visit else away))
            if self.contributions is not None:
                row = (*row, self.contributions[at] if stop.visit else None)
            rows.append(row)
        return rows

    def _shares(self, problem: Problem) -> list[float]:
        """Return the share of each visit in the model that it trains."""
        trained, shares = list(self.models or [0] * len(self.order)), np.empty(len(self.order))
        for model in set(trained):
            own = [k for k, one in enumerate(trained) if one == model]
            shares[own] = problem.instance.shares([self.order[k] for k in own])
        found: list[float] = shares.tolist()
        return found

    def _loss_table(self) -> Table:
        """Return the parts of the loss, their shares unless a part is negative, and the parts in other units."""
        units = self.loss_in_travel_units if self.travel_rate != 1 else None
        others = {"in units of travel (all regions)": units, "with true models": self.true_loss}
        more = {name: loss for name, loss in others.items() if loss is not None}
        parts = {part: getattr(self.loss, part) for part in PARTS if part != "pairs" or self.loss.pairs}
        shared = self.loss.total > 0 and min(parts.values()) >= 0
        rows = [
            (name, parts[part], *([parts[part] / self.loss.total] if shared else []),
             *(getattr(loss, part) for loss in more.values()))
            for part, name in PARTS.items() if part in parts
        ]  # fmt: skip
        coupled = self.dissimilarities == UPPER and self.learner is not None and self.learner.couples
        kind = "expected" if coupled else WHAT[self.dissimilarities]
        heads = (kind, *(["share"] if shared else []), *more)
        first = Column(None, "expected loss per region", left=True)
        return Table(
            (
                first,
                *(
                    Column(None, head, (lambda share: percent(share, 1)) if head == "share" else ".6g")
                    for head in heads
                ),
            ),
            rows,
        )

    def sheet(self) -> Sheet:
        """Return the route, the parts of its loss, and how good it is proved to be."""
        requested = f" (chosen by {self.requested})" if self.requested != self.method else ""
        lines = [
            ("method", f"{self.method}{requested}, {self.seconds:.3f} s"),
            *self.fleet_lines(),
        ]
        if isinstance(self.learner, Proximal) and self.regularization_range is not None:
            values, (low, high) = self.learner.fixed_regularization, self.regularization_range
            said = f"{values[0]:.4g}" if len(values) == 1 else " ".join(f"{one:.3g}" for one in values)
            near = f"{'' if len(values) == 1 else 'times '}{low:.3g} … {high:.3g}"
            lines.append(("λ", f"{said} (chosen; {near} is within 1 % of its loss on this route)"))
        if self.skipped:
            names = list_names([clip(name) for name in self.skipped])
            lines.append(("skipped", f"{len(self.skipped):,} of {self.size:,} regions: {names}"))
        if self.untrained is not None:
            lines.append(("untrained", f"total loss {self.untrained:.6g} without any visit"))
        if self.dissimilarities == ESTIMATE and self.loss_at_most is not None:
            lines.append(("at most", f"{self.loss_at_most:.6g} with the upper bounds on the dissimilarities"))
        effect = None if self.problem is None else self._order_effect(self.problem)
        if effect is not None:
            lines.append(("order", effect.text))
        if self.rehearsal is not None:
            error, spread = self.rehearsal["error"], self.rehearsal["standard_error"]
            lines.append(
                ("rehearsed", f"error {error:.6g} ± {spread:.2g}; the losses above are those of the error law")
            )
        lines.append(("guarantee", self._guarantee_text()))
        headline = f"{self.visited}, total loss {self.loss.total:.5g}, {self.quality}"
        notes = (("note", note) for note in self.notes)
        return Sheet(headline, (self.table(), self._loss_table()), (*lines, *notes))

    def _guarantee_text(self) -> str:
        """Return the proved claims: optimality, the gap to a lower bound, and the ratio of the method."""
        if self.optimal:
            return f"optimal (proved){self._doubt}"
        said = [] if self.lower_bound is None else [f"{self.quality} (lower bound {self.lower_bound:.6g})"]
        if self.guarantee.value is not None:
            said.append(f"at most {self.guarantee.value:.4g} times the optimum ({self.guarantee.reason})")
        return "; ".join(said) or f"none ({self.guarantee.reason})"

    def fleet_lines(self) -> list[tuple[str, str]]:
        """Return how far vehicles travel and how the models of a fleet serve, as lines with a heading each."""
        unit = f" {self.problem.travel_unit}" if self.problem is not None and self.problem.travel_unit else ""
        return [*self._travel_lines(unit), *self._service_lines()]

    def _travel_lines(self, unit: str) -> list[tuple[str, str]]:
        if not self.several:
            return [("travel", f"{self.travel_cost:.6g}{unit} for the whole route")]
        assert self.travels is not None
        total = math.fsum(self.travels)
        paid = "" if total == self.travel_cost else f"; the longest route counts, {self.travel_cost:.6g}{unit}"
        lines = [("travel", f"{total:.6g}{unit} of all vehicles{paid}")]
        for number, (route, travel) in enumerate(zip(self.routes, self.travels, strict=True), 1):
            way = f"{travel:.6g}{unit}: {route_text(route, self.closed, self.depot)}" if route else "not used"
            lines.append((f"vehicle {number}", way))
        return lines

    def _service_lines(self) -> list[tuple[str, str]]:
        """Return lines that describe how the models of a fleet serve the regions."""
        if self.weights is not None:
            shares = " + ".join(f"{weight:.3g} · model {k}" for k, weight in enumerate(self.weights, 1) if weight)
            return [("serves", f"the weighted average {shares}")]
        if self.served_by is None:
            return []
        names: dict[int | None, list[str]] = {}
        for name, model in self.served_by.items():
            names.setdefault(model, []).append(clip(name))
        order = sorted(names, key=lambda model: math.inf if model is None else model)
        return [
            ("initial model" if model is None else f"model {model + 1}", f"serves {list_names(names[model])}")
            for model in order
        ]

    def _order_effect(self, problem: Problem) -> OrderEffect | None:
        """Return whether the order matters by the law; None if a rehearsal answers that, or if it is unknown."""
        if self.rehearsal is not None or self.fleet is not None or self.learner is None:
            return None
        if problem.learner.undecided:
            problem = problem.replace(learner=self.learner)
        return expected_order_effect(problem, self.order)

    def _learner(self) -> dict[str, Any]:
        """Return the learner's training rule and how it was chosen."""
        said: dict[str, Any] = {"rule": LeastSquares.rule}
        if self.learner is not None:
            said |= self.learner.training
        if self.chosen:
            said |= {"chosen": self.chosen, "range": list(self.regularization_range or ())}
        return said

    def _service(self) -> dict[str, Any]:
        """Return the models and how they serve."""
        said: dict[str, Any] = {} if self.models is None else {"models": list(self.models)}
        if self.weights is not None:
            said["weights"] = list(self.weights)
        if self.served_by is not None:
            said["served_by"] = dict(self.served_by)
        return said if self.travels is None else {**said, "travels": list(self.travels)}

    def training(self) -> dict[str, Any]:
        """Return the parts of the plan that `follow` needs: the route, how to train, and the expected errors."""
        samples, errors = self.samples, self.expected_errors
        fleet = {} if self.fleet is None else {"routes": [list(route) for route in self.routes], **self._service()}
        return {
            "route": list(self.route),
            **fleet,
            "skipped": list(self.skipped),
            "learner": self._learner(),
            "features": self.learner.features if self.learner is not None and self.learner.has_shape else None,
            "samples": list(samples) if isinstance(samples, tuple) else samples,
            "features_scaling": None if self.features_scaling is None else self.features_scaling.to_dict(),
            "expected_errors": None if errors is None else list(errors),
            "importance": None if self.importance is None else list(self.importance),
            "label_noise": self.label_noise,
            "rehearsal": self.rehearsal,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain JSON values, in the format of docs/formats.md."""
        return {
            **({} if self.several else {"route": list(self.route)}),
            "routes": [list(route) for route in self.routes],
            **({} if self.several else {"order": list(self.order)}),
            **self._service(),
            "untrained": self.untrained,
            "contributions": None if self.contributions is None else list(self.contributions),
            "regime": self.regime,
            "loss": self.loss.to_dict(),
            "travel_cost": self.travel_cost,
            "travel_rate": self.travel_rate,
            "loss_in_travel_units": self.loss_in_travel_units.to_dict() if self.loss_in_travel_units else None,
            "closed": self.closed,
            "depot": self.depot,
            "constraints": self.constraints.to_dict(),
            "rules": self.rules,
            **{name: value for name, value in self.training().items() if name != "route"},
            "dissimilarities": self.dissimilarities,
            "loss_at_most": self.loss_at_most,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "certified_ratio": self.certified_ratio,
            "optimal": self.optimal,
            "guarantee": self.guarantee.value,
            "guarantee_reason": self.guarantee.reason,
            "guarantee_paper": self.guarantee.paper,
            "guarantee_sharper": self.guarantee.sharper,
            "method": self.method,
            "requested": self.requested,
            "seconds": self.seconds,
            "seed": self.seed,
            "notes": list(self.notes),
            "true_loss": self.true_loss.to_dict() if self.true_loss else None,
            "certificate": self.certificate.to_dict(len({*self.order}) + len(self.skipped))
            if self.certificate
            else None,
        }
