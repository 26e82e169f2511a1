"""The planning problem: regions, the travel between them, their dissimilarities, and the learner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, check_type, did_you_mean, show
from learnroute.model.constraints import Constraints
from learnroute.model.depot import Depot, as_depot, extract_depot, stop_costs
from learnroute.model.dissimilarities import Dissimilarities, distance_sums, row_sums
from learnroute.model.ends import Ends
from learnroute.model.features_scaling import FeaturesScaling
from learnroute.model.fields import (
    as_dissimilarities,
    as_estimates,
    as_importance,
    as_initial,
    as_initial_model,
    as_lower_bounds,
    as_rows,
    as_samples,
    check_geographic,
    check_one_kind,
    parameter_names,
    remove_rounding_asymmetry,
    weights_by,
)
from learnroute.model.fleet import Fleet
from learnroute.model.instance import Instance
from learnroute.model.labelled_tables import SQUARE, align, align_places, align_square, row_labels
from learnroute.model.law import Updates
from learnroute.model.learners import MEMBERS as LEARNER_MEMBERS
from learnroute.model.learners import Calibrated, Learner, LeastSquares, Regime
from learnroute.model.ranges import check_travel_range, check_vectors_range
from learnroute.model.rules import FleetRules, VisitRules
from learnroute.model.streets import Streets
from learnroute.model.travel import Places, Travel, TravelMatrix
from learnroute.model.validation import (
    FloatArray,
    IntArray,
    as_count,
    as_matrix,
    as_members,
    as_names,
    as_number,
    as_square,
    as_vector,
    freeze,
)
from learnroute.model.visits import ALL, Visits

SCORED = ("dissimilarity", "dissimilarity_estimate", "transfer", "vectors", "importance")
DERIVED = {"scores": SCORED, "dissimilarities": (*SCORED, "initial", "initial_estimate")}  # and their sources
NO_TRAVEL = "missing; give travel costs, or coordinates to take distances from"
DissimilarityKind = Literal["estimate", "upper", "measured"]
ESTIMATE: Final = "estimate"
UPPER: Final = "upper"
MEASURED: Final = "measured"

FIELDS = (
    "travel", "learner", "dissimilarity", "vectors", "initial", "regions", "coordinates", "truth", "initial_model",
    "title", "geographic", "constraints", "travel_rate", "samples", "dissimilarity_low", "dissimilarity_estimate",
    "initial_estimate", "transfer", "depot", "features_scaling", "visits", "importance", "fleet",
)  # fmt: skip

PARTS: dict[str, Any] = {  # fields that are objects, with from_dict and to_dict
    "constraints": Constraints, "depot": Depot, "visits": Visits, "fleet": Fleet, "features_scaling": FeaturesScaling,
}  # fmt: skip


@dataclass(frozen=True, eq=False, init=False)
class Problem:
    """A planning problem: regions, travel costs, dissimilarities and a learner.

    Each of the T regions is visited once, in an order to be chosen, unless `visits` makes visits optional. A problem is
    immutable and validated on construction.

    Numbers are 0 or have a magnitude from 1e-100 to 1e100: those that are given, and the travel (also times its rate)
    and the dissimilarities that follow from them.

    Arrays may be lists, arrays, or labelled tables (pandas, polars, xarray). Labels are names of regions: rows and
    columns are brought into the order of `regions`, and unknown labels are rejected.

    Parameters
    ----------
    travel
        T x T travel costs, `travel[i, j]` from region i to region j. May be asymmetric. If omitted, they are the
        distances between the `coordinates`, and the T x T matrix is built only when it is needed.
    learner
        How the learner trains, with its numbers of features and samples and its label noise.
    dissimilarity
        T x T symmetric upper bounds Δ on the squared distance between two regions' true models.
    vectors
        Instead of `dissimilarity`: one vector per region, with Δ[i, j] their squared distance. The T x T matrix Δ is
        never built from them.
    transfer
        Instead of `dissimilarity`: a T x T matrix D of measured errors. `transfer[k, j]` is the error in region j of a
        model trained in region k alone (`learnroute.learning.transfer`). D may be asymmetric, with a nonzero diagonal.
    initial
        Upper bounds Δ_i0 on the squared distance between a region's true model and the learner's initial model. If
        omitted, they are derived from `initial_model`, if that is given, and otherwise 0.
    regions
        Names of the regions; if omitted, the labels of the first labelled table, otherwise `R1`, `R2`, ….
    coordinates
        One (x, y) per region: for drawing, and for travel if no costs are given.
    geographic
        Whether the coordinates are (longitude, latitude) in degrees; distances are then great-circle distances in
        kilometres.
    truth, initial_model
        The regions' true models and the learner's initial model w_0 (0 if omitted), if they are known. Without `truth`,
        an initial model only gives `initial`, as its squared distances to the `vectors`.
    title
        Title of the problem in printed results.
    constraints
        Where routes must begin and end, and whether the return trip counts.
    travel_rate
        The loss that one unit of travel cost is worth; the loss contains travel times this rate.
    samples
        Instead of `learner.samples`: the number of samples per region, if the numbers differ.
    dissimilarity_low
        Lower bounds in addition to the upper bounds of `dissimilarity`, used by `robustness`. No plan depends on them.
    dissimilarity_estimate, initial_estimate
        Unbiased estimates in addition to the upper bounds. If given, plans and expected losses use them
        (`with_upper_bounds()` drops them). Entries below 0 count as 0.
    depot
        A place that is not a region: routes start there and, if it says so, return there. T does not count it.
    features_scaling
        How raw features are scaled for the learner, if the dissimilarities were estimated from scaled features.
        `follow` and `transfer` apply it to samples. No plan depends on it.
    visits
        Which regions must, may and must not be visited, how often, and how far routes may go; if omitted, each region
        is visited once.
    importance
        One number >= 0 per region: how much its error counts in the mean over all regions, relative to the others; 1 if
        omitted. A region of importance 0 only provides data.
    fleet
        Several vehicles, each with its own model, or several models on one vehicle; if omitted, one of each.
    streets
        The streets along which travel was measured, if it was measured on a road graph.

    Raises
    ------
    InputError
        If a number, a name or a shape is wrong; the message gives the field, the value and a remedy.
    """

    learner: Learner
    dissimilarity: FloatArray | None
    vectors: FloatArray | None
    initial: FloatArray
    regions: tuple[str, ...]
    coordinates: FloatArray | None
    truth: FloatArray | None
    initial_model: FloatArray | None
    title: str
    geographic: bool
    constraints: Constraints
    travel_rate: float
    samples: IntArray | None
    dissimilarity_low: FloatArray | None
    dissimilarity_estimate: FloatArray | None
    initial_estimate: FloatArray | None
    transfer: FloatArray | None
    depot: Depot | None
    features_scaling: FeaturesScaling | None
    visits: Visits | None
    importance: FloatArray | None
    fleet: Fleet | None
    streets: Streets | None
    ends: Ends
    ways: Travel

    def __init__(
        self,
        travel: ArrayLike | None = None,
        learner: Learner | None = None,
        dissimilarity: ArrayLike | None = None,
        vectors: ArrayLike | None = None,
        initial: ArrayLike | None = None,
        regions: Sequence[str] | None = None,
        coordinates: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        initial_model: ArrayLike | None = None,
        title: str = "",
        geographic: bool = False,
        constraints: Constraints | None = None,
        travel_rate: float = 1.0,
        samples: ArrayLike | None = None,
        dissimilarity_low: ArrayLike | None = None,
        dissimilarity_estimate: ArrayLike | None = None,
        initial_estimate: ArrayLike | None = None,
        transfer: ArrayLike | None = None,
        depot: Depot | None = None,
        streets: Streets | None = None,
        features_scaling: FeaturesScaling | None = None,
        visits: Visits | None = None,
        importance: ArrayLike | None = None,
        fleet: Fleet | None = None,
    ) -> None:
        check_type("learner", learner, Learner)
        assert learner is not None
        tables = {
            "travel": travel, "dissimilarity": dissimilarity, "vectors": vectors, "initial": initial,
            "coordinates": coordinates, "truth": truth, "samples": samples, "dissimilarity_low": dissimilarity_low,
            "dissimilarity_estimate": dissimilarity_estimate, "initial_estimate": initial_estimate,
            "transfer": transfer, "importance": importance,
        }  # fmt: skip
        labels = row_labels(tables)
        if labels is not None:
            regions = labels if regions is None else as_names("regions", regions, None)
        order = regions if labels is not None else None
        travel, dissimilarity, dissimilarity_low, dissimilarity_estimate, transfer = (
            align_square(field, tables[field], order) for field in SQUARE
        )
        initial_model = align("initial_model", initial_model, parameter_names(truth, vectors))
        coordinates = align_places("coordinates", coordinates, order)
        vectors, initial, truth, samples, initial_estimate, importance = (
            align(field, tables[field], order)
            for field in ("vectors", "initial", "truth", "samples", "initial_estimate", "importance")
        )
        if travel is not None:
            costs = remove_rounding_asymmetry(as_square("travel", travel, None, meaning="travel costs"))
            size = len(costs)
        elif coordinates is not None:
            size = len(as_matrix("coordinates", coordinates, None, 2, meaning="coordinates"))
        else:
            raise InputError(NO_TRAVEL, field="travel")
        if size < 2:
            given = "coordinates" if travel is None else "travel"
            raise InputError(
                "a problem needs at least 2 regions", field=given, found=f"has {size} row{'' if size == 1 else 's'}"
            )
        check_one_kind(dissimilarity, vectors, transfer)
        if transfer is not None:
            for field in ("dissimilarity_low", "dissimilarity_estimate", "initial_estimate", "truth"):
                if tables[field] is not None:
                    raise InputError("belongs to dissimilarities, not to measured errors (transfer)", field=field)
            transfer = as_square("transfer", transfer, size, meaning="errors", zero_diagonal=False)
        delta = None if dissimilarity is None else as_dissimilarities("dissimilarity", dissimilarity, size)
        models = as_rows("truth", truth, size, None, "model parameters")
        points = as_rows("vectors", vectors, size, None, "vector entries")
        first = as_initial_model(learner, models, points, initial_model)
        if initial_model is not None and models is None and initial is not None:
            reason = "given with initial, which is derived from it; without truth, give one of the two"
            raise InputError(reason, field="initial_model")
        if not isinstance(title, str) or not title.isprintable():
            raise InputError("expected one line of printable text", field="title", value=title)
        names = as_names("regions", [f"R{i + 1}" for i in range(size)] if regions is None else regions, size)
        places = as_rows("coordinates", coordinates, size, 2, "coordinates")
        check_geographic(geographic, places)
        wanted = Constraints() if constraints is None else constraints
        if not isinstance(wanted, Constraints):
            raise InputError("expected Constraints", field="constraints", value=wanted)
        check_type("streets", streets, Streets, type(None))
        check_type("features_scaling", features_scaling, FeaturesScaling, type(None))
        check_type("visits", visits, Visits, type(None))
        check_type("fleet", fleet, Fleet, type(None))
        checked = {
            "learner": learner,
            "dissimilarity": delta,
            "vectors": points,
            "initial": as_initial(
                initial, points if models is None else models, None if initial_model is None else first, size
            ),
            "regions": names,
            "coordinates": places,
            "truth": models,
            "initial_model": None if models is None else first,
            "title": title,
            "geographic": geographic,
            "constraints": wanted,
            "travel_rate": as_number("travel_rate", travel_rate, least=0.0, meaning="the travel rate"),
            "samples": None if samples is None else as_samples(learner, samples, size),
            "dissimilarity_low": as_lower_bounds(dissimilarity_low, delta),
            "dissimilarity_estimate": as_estimates(dissimilarity_estimate, size),
            "initial_estimate": None if initial_estimate is None else freeze(np.maximum(0.0, as_vector(
                "initial_estimate", initial_estimate, size, meaning="initial dissimilarities",
            ))),
            "transfer": transfer,
            "depot": as_depot(depot, names, places, travel is not None, geographic),
            "streets": streets,
            "features_scaling": features_scaling,
            "visits": visits,
            "fleet": fleet,
            "importance": as_importance(importance, size),
            "ends": wanted.compile(names, depot),
        }  # fmt: skip
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if travel is not None:
            ways: Travel = TravelMatrix(stop_costs(costs, self.depot))
        else:
            assert self.stop_coordinates is not None
            ways = Places(self.stop_coordinates, geographic)
        object.__setattr__(self, "ways", ways)
        check_travel_range(ways, self.stops, self.travel_rate)
        if self.vectors is not None:
            check_vectors_range(self.vectors, names)
        learner.check_positions(self.most_visits, exactly=self.visits_all_once and self.fleet_rules.single)
        if self.fleet is not None and not self.fleet_rules.single:
            self.fleet.check(wanted, learner, transfer is not None)
        optional = not self.visit_rules.required.all()
        if (
            optional
            and initial is None
            and initial_model is None
            and (learner.undecided or self.updates.retention.any())
        ):
            reason = "missing; optional visits need the dissimilarity of the initial model to each region"
            raise InputError(reason, field="initial")
        if not self.fleet_rules.single and not self.initial_errors.any():
            self._check_initial_model(self.fleet_rules)

    def _check_initial_model(self, fleet: FleetRules) -> None:
        """Reject an initial model with an error of 0 everywhere if a fleet may leave models untrained."""
        unused = fleet.merged and fleet.equal and not self.learner.undecided and not self.updates.retention.any()
        if not unused and self.scores.any():
            reason = "models may stay untrained; set initial to the dissimilarity of the initial model to each region"
            raise InputError(reason, field="initial", found="is missing or 0 for all regions")

    def __repr__(self) -> str:
        name = f" {show(self.title)}" if self.title else ""
        start = "" if self.depot is None else f" and the depot {show(self.depot.name)}"
        return f"<Problem{name}: {self.size:,} regions{start}, {self.regime} regime, {self.shape}>"

    @property
    def shape(self) -> str:
        """The learner's numbers in one line."""
        return self.learner.shape_text(self.samples)

    def replace(self, **changes: Any) -> Problem:
        """Return the same problem with some of its fields replaced."""
        for name in changes:
            if name not in (*FIELDS, "streets"):
                raise InputError(f"unknown field; {did_you_mean(name, FIELDS)}", field=name)
        kept = {name: getattr(self, name) for name in (*FIELDS, "streets") if name not in (*changes, "travel")}
        found = Problem(**{"travel": self.given_travel, **kept, **changes})
        for name, sources in DERIVED.items():  # slow to compute: T² correctly rounded additions, points
            same = (source not in changes or getattr(found, source) is getattr(self, source) for source in sources)
            if name in self.__dict__ and all(same):
                found.__dict__[name] = self.__dict__[name]
        return found

    @cached_property
    def travel(self) -> FloatArray:
        """The T x T travel costs. From coordinates, they are computed on first use (rejected if there are too many)."""
        return freeze(self.ways.matrix[: self.size, : self.size])

    @property
    def given_travel(self) -> FloatArray | None:
        """The T x T travel costs if they were given; None if they follow from the coordinates."""
        return None if isinstance(self.ways, Places) else self.travel

    @property
    def size(self) -> int:
        """The number of regions T."""
        return len(self.regions)

    @property
    def travel_unit(self) -> str:
        """The unit of travel, if it is known: great-circle distances are in kilometres."""
        return self.ways.unit

    # Indices of stops: first the regions, then the depot

    @property
    def stops(self) -> tuple[str, ...]:
        """The names of the regions, followed by the name of the depot if there is one."""
        return self.regions if self.depot is None else (*self.regions, self.depot.name)

    @property
    def closed(self) -> bool:
        """Whether the return trip counts: to the depot, or to the first region."""
        return self.ends.closed

    @cached_property
    def stop_coordinates(self) -> FloatArray | None:
        """The coordinates of all stops, or None if they are unknown."""
        if self.depot is None or self.coordinates is None:
            return self.coordinates
        return freeze(np.vstack([self.coordinates, self.depot.place]))

    def from_depot(self, order: ArrayLike) -> IntArray:
        """Convert an order of regions to an order of stops: the depot, if there is one, comes first."""
        return np.concatenate([np.arange(self.size, len(self.stops)), np.asarray(order, dtype=np.int64)])

    def regions_of(self, order: ArrayLike) -> IntArray:
        """Convert an order of stops to an order of regions."""
        given = np.asarray(order, dtype=np.int64)
        return given[given < self.size]

    @property
    def regime(self) -> Regime:
        """The learner's regime; `mixed` if some regions have fewer samples than features and others have more."""
        if self.samples is None:
            return self.learner.regime
        fewer = self.samples < self.learner.features
        return "over" if fewer.all() else "mixed" if fewer.any() else "under"

    @cached_property
    def counts(self) -> IntArray:
        """The number of samples in each region, whether given per region or by the learner."""
        return freeze(np.full(self.size, self.learner.samples)) if self.samples is None else self.samples

    @cached_property
    def visit_rules(self) -> VisitRules:
        """Which visits are allowed, by index."""
        visits = Visits(required=ALL) if self.visits is None else self.visits
        found = visits.compile(self.regions, [end for end in self.ends.fixed if end < self.size])
        limit = None if self.fleet is None or not self.fleet_rules.single else self.fleet.limit
        if limit is None or limit >= found.budget:
            return found
        return replace(found, budget=limit, budget_field="fleet.limit")  # of the one vehicle

    @property
    def visits_all_once(self) -> bool:
        """Whether each region is visited exactly once, and travel is unlimited."""
        return self.visit_rules.each_once and bool(self.visit_rules.required.all())

    @cached_property
    def fleet_rules(self) -> FleetRules:
        """Vehicles, models and how they serve."""
        return FleetRules() if self.fleet is None or self.fleet.is_single else self.fleet.compile()

    @cached_property
    def instance(self) -> Instance:
        """The problem by index, as solvers use it."""
        coupled = self.learner.couples or not self.updates.same_positions
        return Instance(
            self.ways, self.travel_rate, self.ends, self.dissimilarities, self.updates, coupled, self.visit_rules,
            self.fleet_rules,
        )  # fmt: skip

    @property
    def most_visits(self) -> int:
        """The maximum number of visits of all routes together."""
        return self.size if self.visits is None else self.visit_rules.at_most

    @cached_property
    def updates(self) -> Updates:
        """How each training, by its number and region, changes the expected errors of a model."""
        return self.learner.updates(self.counts, self.most_visits)

    # Plans and expected losses use unbiased estimates if the problem has them, otherwise the given dissimilarities

    @property
    def dissimilarity_kind(self) -> DissimilarityKind:
        """What plans use: `estimate` (unbiased), `upper` (bounds, Assumption 1) or `measured` (a transfer matrix)."""
        if self.transfer is not None:
            return MEASURED
        return UPPER if self.dissimilarity_estimate is None and self.initial_estimate is None else ESTIMATE

    def with_upper_bounds(self) -> Problem:
        """Return the same problem without its estimates; its plans use the upper bounds (Assumption 1)."""
        return self.replace(dissimilarity_estimate=None, initial_estimate=None) if self.has_estimates else self

    @property
    def has_estimates(self) -> bool:
        """Whether there are unbiased estimates beside the upper bounds."""
        return self.dissimilarity_kind == ESTIMATE

    def with_dissimilarities(self, kind: str) -> Problem:
        """Return the problem whose plans use this kind of dissimilarities; reject a kind that it does not have."""
        if kind == self.dissimilarity_kind:
            return self
        if kind == UPPER and self.has_estimates:
            return self.with_upper_bounds()
        reasons = {
            ESTIMATE: "the problem has no unbiased estimates (dissimilarity_estimate); omit it",
            UPPER: "the problem has measured errors (transfer) and no upper bounds; omit it",
            MEASURED: "the problem has no measured errors (transfer); omit it",
        }
        unknown = f"unknown; {did_you_mean(kind, [ESTIMATE, UPPER])}"
        raise InputError(reasons.get(str(kind), unknown), field="dissimilarities", value=kind)

    @cached_property
    def dissimilarities(self) -> Dissimilarities:
        """Δ between regions and Δ to the initial model, in one object."""
        vectors = self.vectors if self.matrix is None else None
        return Dissimilarities(self.matrix, vectors, self.initial_errors, self.scores, self.region_weights)

    @property
    def matrix(self) -> FloatArray | None:
        """Δ, or the transfer matrix D in its place; None if the problem has vectors instead."""
        if self.dissimilarity_estimate is not None:
            return self.dissimilarity_estimate
        return self.dissimilarity if self.transfer is None else self.transfer

    @property
    def initial_errors(self) -> FloatArray:
        """The expected error of the initial model in each region."""
        return self.initial if self.initial_estimate is None else self.initial_estimate

    def check_symmetric(self, what: str) -> None:
        """Reject the problem if it has measured errors, because `what` needs squared distances between models."""
        if self.transfer is not None:
            raise InputError(f"{what} dissimilarities; this problem has measured errors instead", field="transfer")

    def with_regularization(self, value: float | Sequence[float] | str) -> Problem:
        """Return the same problem for the proximal learner with this λ, or with one λ per position.

        Only the learner is validated; everything that does not depend on λ is shared.
        """
        learner = self.learner.with_regularization(value)
        learner.check_positions(self.most_visits, exactly=self.visits_all_once and self.fleet_rules.single)
        if self.samples is not None:
            as_samples(learner, self.samples, self.size)
        _ = self.dissimilarities  # computed once and shared by all λ
        found = copy(self)
        for derived in ("updates", "instance", "decided"):
            found.__dict__.pop(derived, None)
        object.__setattr__(found, "learner", learner)
        return found

    def with_travel_rate(self, rate: float) -> Problem:
        """Return the same problem for a travel rate that may be outside the range of numbers, to explore other routes.

        Nothing is validated; everything is shared.
        """
        found = copy(self)
        object.__setattr__(found, "travel_rate", rate)
        return found

    @cached_property
    def decided(self) -> Problem:
        """The same problem with some λ if that is to be chosen; its travel and rules are the same."""
        return self.with_regularization(1.0) if self.learner.undecided else self

    @cached_property
    def region_weights(self) -> FloatArray:
        """How much the error in each region counts: the importance, scaled to a mean of 1."""
        return weights_by(self.importance, self.size)

    @cached_property
    def scores(self) -> FloatArray:
        """S[i], the weighted sum of region i's dissimilarities to all regions: the cost of ending there."""
        return self.summed_dissimilarities(self.region_weights)

    def summed_dissimilarities(self, weights: FloatArray) -> FloatArray:
        """Return the weighted sum of dissimilarities to all regions, for each region."""
        if self.matrix is not None:
            return row_sums(self.matrix, weights)
        assert self.vectors is not None
        return distance_sums(self.vectors, weights)

    def dissimilarities_to(self, region: int) -> FloatArray:
        """Return the dissimilarities from one region to all regions: a row of Δ (or D), without building the matrix."""
        place = as_count("region", region, least=0, meaning="the index of a region")
        if place >= self.size:
            raise InputError(f"there are {self.size} regions; indices go from 0", field="region", value=region)
        return self.dissimilarities[place]

    @cached_property
    def initial_sum(self) -> float:
        """The weighted sum of the errors of the initial model."""
        return math.fsum(self.region_weights * self.initial_errors)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Build a problem from the content of a problem file (see docs/formats.md)."""
        fields = extract_depot(as_members("", data, FIELDS))
        if "travel" not in fields and "coordinates" not in fields:
            raise InputError(NO_TRAVEL, field="travel")
        as_members("", fields, FIELDS, ("learner",))
        learner = as_members("learner.", fields["learner"], LEARNER_MEMBERS)
        if learner.get("rule") != Calibrated.rule:
            needed = ("features",) if "samples" in fields else ("features", "samples")
            as_members("learner.", learner, LEARNER_MEMBERS, needed)
            if "samples" in fields:  # they replace the number in the learner
                m = as_count("learner.features", learner["features"], meaning="the number of features m")
                shape = Learner(**{**learner, "samples": 4 * m + 2})
                first = int(as_samples(shape, fields["samples"], None)[0])
                own = as_count("learner.samples", learner.get("samples", first), meaning="the number of samples n")
                learner["samples"] = first if isinstance(shape, LeastSquares) and abs(own - m) <= 1 else own
        for name, kind in PARTS.items():
            if name in fields:
                fields[name] = kind.from_dict(fields[name])
        return cls(**{**fields, "learner": Learner(**learner)})
