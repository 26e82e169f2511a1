"""What is asked: the regions, the travel between them, how their models differ, and the learner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, check_type, did_you_mean, shown
from learnroute.model.constraints import MEMBERS, Constraints
from learnroute.model.distances import Points
from learnroute.model.ends import Ends
from learnroute.model.labels import SQUARE, aligned, aligned_places, aligned_square, labelled, names_along, names_of
from learnroute.model.learner import CALIBRATED, LEAST_SQUARES, Learner, Regime, Updates
from learnroute.model.learner import MEMBERS as LEARNER_MEMBERS
from learnroute.model.pairs import Dissimilarities
from learnroute.model.rounding import PRINTED, SAME
from learnroute.model.streets import Streets
from learnroute.model.validation import (
    LARGEST_VALUE,
    FloatArray,
    IntArray,
    as_count,
    as_matrix,
    as_names,
    as_number,
    as_square,
    as_vector,
    frozen,
)

NO_TRAVEL = "missing; give travel costs, or coordinates to take distances from"


FIELDS = (
    "travel", "learner", "dissimilarity", "vectors", "initial", "regions", "coordinates", "truth", "initial_model",
    "title", "geographic", "constraints", "travel_rate", "samples", "dissimilarity_low", "dissimilarity_estimate",
    "initial_estimate", "transfer",
)  # fmt: skip
RENAMED = {
    "route": "belongs to a plan; give the problem that it was made for",
    "start": "the learner's initial model is now called initial_model; the region to start from is constraints.start",
}


@dataclass(frozen=True, eq=False, init=False)
class Problem:
    """T regions to visit once each, in an order to be chosen. Validated here, once; immutable.

    Arrays may be lists, arrays, or tables with labels (pandas, polars, xarray). Labels are names of regions: rows and
    columns are brought into the order of `regions`, and labels that are none of them are refused.

    Parameters
    ----------
    travel
        T x T travel costs, `travel[i, j]` from region i to region j. May be asymmetric. If omitted, they are the
        distances between the `coordinates`, and no T x T matrix is made until something needs it.
    learner
        The learner's shape.
    dissimilarity
        T x T symmetric upper bounds Δ on the squared distance between two regions' true models.
    vectors
        Instead of `dissimilarity`: one vector a region, Δ[i, j] being their squared distance. No T x T
        matrix of Δ is ever made from them.
    transfer
        Instead of `dissimilarity`: a T x T matrix D of measured errors, `transfer[k, j]` that in region j of a model
        trained in region k alone (`learnroute.learning.transfer`). It need not be symmetric, nor its diagonal 0.
    initial
        Upper bounds Δ_i0 on the squared distance between a region's true model and the learner's initial one;
        0 if omitted.
    regions
        Names; if omitted, the labels of the first table that has some, else `R1`, `R2`, ….
    coordinates
        One (x, y) a region: for drawing, and for travel where no costs are given.
    geographic
        Whether the coordinates are (longitude, latitude) in degrees; distances are then great circles in kilometres.
    truth, initial_model
        The regions' true models and the learner's initial one, w_0 (0 if omitted), where they are known.
    title
        What the problem is called in print.
    constraints
        Where routes must begin and end, and whether the way back counts.
    travel_rate
        How much loss one unit of travel cost is worth: what travel is multiplied by in the loss.
    samples
        One number of samples a region, where they differ; instead of `learner.samples`.
    dissimilarity_low
        Lower bounds beside the upper ones of `dissimilarity`: what `robustness` goes by. No plan depends on them.
    dissimilarity_estimate, initial_estimate
        Unbiased estimates beside the upper bounds: what a regularisation is chosen by, where a plan chooses it. Entries
        below 0 count as 0.
    streets
        The ways along which travel was measured, where it was measured on a road graph.

    Raises
    ------
    InputError
        Where a number, a name or a shape is wrong; the message says field, value and remedy.
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
    streets: Streets | None
    points: Points | None
    ends: Ends

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
        streets: Streets | None = None,
    ) -> None:
        check_type("learner", learner, Learner)
        assert learner is not None
        tables = {
            "travel": travel, "dissimilarity": dissimilarity, "vectors": vectors, "initial": initial,
            "coordinates": coordinates, "truth": truth, "samples": samples, "dissimilarity_low": dissimilarity_low,
            "dissimilarity_estimate": dissimilarity_estimate, "initial_estimate": initial_estimate,
            "transfer": transfer,
        }  # fmt: skip
        labels = names_along(tables)
        if labels is not None:
            regions = labels if regions is None else as_names("regions", regions, None)
        order = regions if labels is not None else None
        travel, dissimilarity, dissimilarity_low, dissimilarity_estimate, transfer = (
            aligned_square(field, tables[field], order) for field in SQUARE
        )
        initial_model = aligned("initial_model", initial_model, _parameters(truth))
        coordinates = aligned_places("coordinates", coordinates, order)
        vectors, initial, truth, samples, initial_estimate = (
            aligned(field, tables[field], order)
            for field in ("vectors", "initial", "truth", "samples", "initial_estimate")
        )
        if travel is not None:
            costs = _either_way(as_square("travel", travel, None, meaning="travel costs"))
            size = len(costs)
            self.__dict__["travel"] = costs
        elif coordinates is not None:
            size = len(as_matrix("coordinates", coordinates, None, 2, least=-LARGEST_VALUE, meaning="coordinates"))
        else:
            raise InputError(NO_TRAVEL, field="travel")
        if size < 2:
            given = "coordinates" if travel is None else "travel"
            raise InputError("at least 2 regions are needed to have an order", field=given, found=f"has {size} rows")
        _check_one_kind(dissimilarity, vectors, transfer)
        if transfer is not None:
            for field in ("dissimilarity_low", "dissimilarity_estimate", "truth"):
                if tables[field] is not None:
                    raise InputError("belongs to dissimilarities, not to measured errors (transfer)", field=field)
            transfer = as_square("transfer", transfer, size, meaning="errors", zero_diagonal=False)
        delta = None
        if dissimilarity is not None:
            delta = _symmetric(as_square("dissimilarity", dissimilarity, size, meaning="dissimilarities"))
        models = _rows("truth", truth, size, None, "model parameters")
        if not isinstance(title, str) or not title.isprintable():
            raise InputError("one line of printable text is needed", field="title", value=title)
        names = as_names("regions", [f"R{i + 1}" for i in range(size)] if regions is None else regions, size)
        places = _rows("coordinates", coordinates, size, 2, "coordinates")
        _check_geographic(geographic, places)
        wanted = Constraints() if constraints is None else constraints
        if not isinstance(wanted, Constraints):
            raise InputError("Constraints are needed", field="constraints", value=wanted)
        if streets is not None:
            check_type("streets", streets, Streets)
        checked = {
            "learner": learner,
            "dissimilarity": delta,
            "vectors": _rows("vectors", vectors, size, None, "vector entries"),
            "initial": as_vector(
                "initial", np.zeros(size) if initial is None else initial, size, least=0.0,
                meaning="initial dissimilarities",
            ),
            "regions": names,
            "coordinates": places,
            "truth": models,
            "initial_model": _initial_model(learner, models, initial_model),
            "title": title,
            "geographic": geographic,
            "constraints": wanted,
            "travel_rate": as_number("travel_rate", travel_rate, least=0.0, meaning="the worth of travel"),
            "samples": _samples(learner, samples, size),
            "dissimilarity_low": _lower(dissimilarity_low, delta),
            "dissimilarity_estimate": _estimate(dissimilarity_estimate, size),
            "initial_estimate": None if initial_estimate is None else frozen(np.maximum(0.0, as_vector(
                "initial_estimate", initial_estimate, size, least=-LARGEST_VALUE, meaning="initial dissimilarities",
            ))),
            "transfer": transfer,
            "streets": streets,
            "points": Points(places, geographic) if travel is None and places is not None else None,
            "ends": wanted.compiled(names),
        }  # fmt: skip
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        learner.check_positions(size)

    def __repr__(self) -> str:
        name = f" {shown(self.title)}" if self.title else ""
        return f"<Problem{name}: {self.size:,} regions, {self.regime} regime, {self.shape}>"

    @property
    def shape(self) -> str:
        """The learner's numbers in a line."""
        learner = self.learner
        if learner.rule == CALIBRATED:
            return f"calibrated, p₁ = {learner.retention:.4g}, q = {learner.coupling:.4g}, ν = {learner.noise:.4g}"
        n = str(learner.samples) if self.samples is None else f"{self.samples.min()} … {self.samples.max()}"
        return f"m = {learner.features}, n = {n}, σ = {learner.noise:g}"

    def changed(self, **changes: Any) -> Problem:
        """Return the same problem with some of its fields replaced."""
        fields = {name: getattr(self, name) for name in (*FIELDS, "streets") if name != "travel"}
        for name in changes:
            if name not in (*FIELDS, "streets"):
                raise InputError(f"unknown field; {did_you_mean(name, FIELDS)}", field=name)
        return Problem(**{"travel": None if self.points is not None else self.travel, **fields, **changes})

    @cached_property
    def travel(self) -> FloatArray:
        """The T x T travel costs; from coordinates, they are made when first asked for (refused if too many)."""
        assert self.points is not None
        return self.points.matrix()

    @property
    def size(self) -> int:
        """The number of regions T."""
        return len(self.regions)

    @property
    def regime(self) -> Regime:
        """The learner's regime; `mixed` where some regions have fewer samples than features, and some more."""
        if self.samples is None or self.learner.rule == CALIBRATED:
            return self.learner.regime
        fewer = self.samples < self.learner.features
        return "over" if fewer.all() else "mixed" if fewer.any() else "under"

    @cached_property
    def counts(self) -> IntArray:
        """The number of samples in each region, whether given one by one or by the learner."""
        return frozen(np.full(self.size, self.learner.samples)) if self.samples is None else self.samples

    @cached_property
    def updates(self) -> Updates:
        """How training at each position in each region moves the expected errors."""
        return self.learner.updates(self.counts)

    @cached_property
    def dissimilarities(self) -> Dissimilarities:
        """Δ between regions and to the initial model, in one."""
        return Dissimilarities(self.matrix, self.vectors, self.initial, self.scores)

    @property
    def matrix(self) -> FloatArray | None:
        """Δ, or the transfer matrix D in its place; None where vectors say how regions differ."""
        return self.dissimilarity if self.transfer is None else self.transfer

    def check_symmetric(self, what: str) -> None:
        """Refuse what needs squared distances between models, if the problem has measured errors."""
        if self.transfer is not None:
            raise InputError(
                f"{what} dissimilarities, which are symmetric; these are measured errors", field="transfer"
            )

    def regularized(self, value: float | Sequence[float]) -> Problem:
        """Return the same problem for the proximal learner with this λ, or one for each position."""
        return self.changed(learner=self.learner.regularized(value))

    @cached_property
    def scores(self) -> FloatArray:
        """S[i], the sum of region i's dissimilarities to all regions: what it costs to end there."""
        if self.matrix is not None:
            return row_sums(self.matrix)
        assert self.vectors is not None
        return distance_sums(self.vectors)

    def dissimilarities_to(self, region: int) -> FloatArray:
        """Return the dissimilarities between one region and each region: a row of Δ (or of D), without the matrix."""
        place = as_count("region", region, least=0, meaning="the index of a region")
        if place >= self.size:
            raise InputError(f"there are {self.size} regions; indices go from 0", field="region", value=region)
        if self.matrix is not None:
            row: FloatArray = self.matrix[place]
            return row
        assert self.vectors is not None
        apart = self.vectors - self.vectors[place]
        return frozen(np.einsum("ij,ij->i", apart, apart))

    @cached_property
    def initial_sum(self) -> float:
        """The sum of the initial dissimilarities."""
        return math.fsum(self.initial)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Build a problem from the content of a problem file (see docs/formats.md)."""
        fields = _members("", data, FIELDS, ())
        if "travel" not in fields and "coordinates" not in fields:
            raise InputError(NO_TRAVEL, field="travel")
        _members("", fields, FIELDS, ("learner",))
        learner = _members("learner.", fields["learner"], LEARNER_MEMBERS, ())
        if learner.get("rule") == CALIBRATED:
            pass
        elif "features" not in learner:
            raise InputError("missing; needed are features", field="learner.features")
        elif "samples" in fields:  # they replace the learner's own
            counts = _samples(None, fields["samples"], None)
            assert counts is not None
            m = as_count("learner.features", learner["features"], meaning="the number of features m")
            shape = Learner(**{**learner, "samples": 4 * m + 2})
            for i, n in enumerate(counts.tolist()):
                shape.check_shape(f"samples[{i}]", n)
            own = as_count("learner.samples", learner.get("samples", counts[0]), meaning="the number of samples n")
            unfit = shape.rule == LEAST_SQUARES and abs(own - m) <= 1
            learner["samples"] = int(counts[0]) if unfit else own
        elif "samples" not in learner:
            raise InputError("missing; needed are features, samples", field="learner.samples")
        if "constraints" in fields:
            wanted = _members("constraints.", fields["constraints"], tuple(MEMBERS), ())
            fields["constraints"] = Constraints(**{MEMBERS[key]: value for key, value in wanted.items()})
        if not isinstance(fields.get("geographic", False), bool):
            raise InputError("true or false is needed", field="geographic", value=fields["geographic"])
        return cls(**{**fields, "learner": Learner(**learner)})


def _check_one_kind(dissimilarity: Any, vectors: Any, transfer: Any) -> None:
    """Refuse none or several of what says how regions differ."""
    if transfer is None:
        if (dissimilarity is None) == (vectors is None):
            given = "neither" if vectors is None else "both"
            raise InputError(f"{given} given; give exactly one of the two", field="dissimilarity", found="and vectors")
        return
    for field, other in (("dissimilarity", dissimilarity), ("vectors", vectors)):
        if other is not None:
            raise InputError("both given; give exactly one of the two", field="transfer", found=f"and {field}")


def _parameters(truth: Any) -> tuple[str, ...] | None:
    """Return what the columns of the true models are called, where they are."""
    columns = labelled(truth).columns or []
    return names_of("truth", columns, "column") if all(isinstance(name, str) for name in columns) else None


def _samples(learner: Learner | None, samples: ArrayLike | None, size: int | None) -> IntArray | None:
    """Check the regions' numbers of samples, if they are given; None where all are the learner's own."""
    if samples is None:
        return None
    if learner is not None and learner.rule == CALIBRATED:
        raise InputError("a calibrated learner has none; leave it out", field="samples")
    entries = as_vector("samples", samples, size, least=1.0, meaning="numbers of samples")
    counts = [as_count(f"samples[{i}]", n, meaning="the number of samples") for i, n in enumerate(entries.tolist())]
    if not counts:
        raise InputError("one a region is needed", field="samples", found="has 0 entries")
    for i, n in enumerate(counts if learner is not None else []):
        assert learner is not None
        learner.check_shape(f"samples[{i}]", n)
    return frozen(np.array(counts, dtype=np.int64))


def _lower(low: ArrayLike | None, delta: FloatArray | None) -> FloatArray | None:
    """Check lower bounds of the dissimilarities against the upper ones."""
    if low is None:
        return None
    if delta is None:
        raise InputError("given without dissimilarity; lower bounds belong to upper ones", field="dissimilarity_low")
    bounds = _symmetric(as_square("dissimilarity_low", low, len(delta), meaning="dissimilarities"), "dissimilarity_low")
    i, j = divmod(int(np.argmax(bounds - delta)), len(delta))
    if bounds[i, j] > delta[i, j]:
        raise InputError(
            f"above dissimilarity[{i}, {j}] = {delta[i, j]:g}; a lower bound is no larger than the upper one",
            field=f"dissimilarity_low[{i}, {j}]",
            found=f"= {bounds[i, j]:g}",
        )
    return bounds


def _estimate(given: ArrayLike | None, size: int) -> FloatArray | None:
    """Check unbiased estimates of the dissimilarities, which may be below 0 by chance; those become 0."""
    if given is None:
        return None
    field = "dissimilarity_estimate"
    matrix = as_matrix(field, given, size, size, least=-LARGEST_VALUE, meaning="dissimilarities")
    return _symmetric(as_square(field, np.maximum(matrix, 0.0), size, meaning="dissimilarities"), field)


def _check_geographic(geographic: Any, places: FloatArray | None) -> None:
    """Refuse longitudes and latitudes that are none."""
    if not isinstance(geographic, bool):
        raise InputError("true or false is needed", field="geographic", value=geographic)
    if not geographic:
        return
    if places is None:
        raise InputError(
            "there are no coordinates; give a longitude and a latitude for each region",
            field="geographic",
            found="= true",
        )
    for column, (most, what) in enumerate(((360.0, "longitudes"), (90.0, "latitudes"))):
        wrong = np.flatnonzero(np.abs(places[:, column]) > most)
        if wrong.size:
            i = int(wrong[0])
            raise InputError(
                f"{what} go from -{most:g} to {most:g} degrees; longitude comes first",
                field=f"coordinates[{i}, {column}]",
                found=f"= {places[i, column]:g}",
            )


def _rows(field: str, value: ArrayLike | None, size: int, width: int | None, meaning: str) -> FloatArray | None:
    """Check a field that has one row a region, if it is given."""
    if value is None:
        return None
    rows = as_matrix(field, value, size, width, least=-LARGEST_VALUE, meaning=meaning)
    if rows.shape[1] == 0:
        raise InputError("at least 1 needed", field=f"{field}[0]", found="has 0 entries")
    return rows


def _initial_model(learner: Learner, truth: FloatArray | None, given: ArrayLike | None) -> FloatArray | None:
    """Check the initial model against the true ones."""
    if truth is None:
        if given is not None:
            reason = "the learner's initial model is given without truth; give both or neither"
            raise InputError(reason, field="initial_model")
        return None
    width = truth.shape[1]
    if width > learner.features and learner.rule != CALIBRATED:
        raise InputError(
            f"a learner with learner.features = {learner.features} has models of at most {learner.features}",
            field="truth[0]",
            found=f"has {width} entries",
        )
    model = np.zeros(width) if given is None else given
    return as_vector("initial_model", model, width, least=-LARGEST_VALUE, meaning="model parameters")


def _members(prefix: str, data: Any, known: tuple[str, ...], needed: tuple[str, ...]) -> dict[str, Any]:
    """Return the members of a JSON object, refusing unknown and missing ones by name."""
    if not isinstance(data, dict):
        raise InputError(
            f"an object with {', '.join(known)} is needed", field=prefix.rstrip(".") or "problem", value=data
        )
    for key in data:
        if key not in known:
            if not prefix and key in RENAMED:
                raise InputError(RENAMED[key], field=key)
            raise InputError(f"unknown field; {did_you_mean(key, known)}", field=f"{prefix}{key}")
    for key in needed:
        if key not in data:
            raise InputError(f"missing; needed are {', '.join(needed)}", field=f"{prefix}{key}")
    return {key: value for key, value in data.items() if value is not None or key in needed}


def row_sums(matrix: FloatArray) -> FloatArray:
    """Correctly rounded row sums: the same bits however the regions are numbered, so that ties stay ties."""
    return frozen(np.array([math.fsum(row.tolist()) for row in matrix], dtype=np.float64))


def distance_sums(vectors: FloatArray) -> FloatArray:
    """For each vector, the sum of its squared distances to all of them, in O(T·m).

    With the mean taken out, the cross term vanishes: S[i] = T·|w_i|² + sum_j |w_j|². Nothing cancels.

    The mean is taken out twice: far from the origin it is not a float64 number itself, but each difference to what it
    is rounded to loses no more than one rounding of the difference, and so the second mean is as good as exact. What
    vectors have in common therefore costs no digits: S[i] is off by less than (m + 8·√T)·2⁻⁵² of it.
    """
    centred = _centred(_centred(vectors))
    squares = np.einsum("ij,ij->i", centred, centred)
    return frozen(len(vectors) * squares + math.fsum(squares))


def _centred(vectors: FloatArray) -> FloatArray:
    return vectors - np.array([math.fsum(column) for column in vectors.T]) / len(vectors)


def _either_way(travel: FloatArray) -> FloatArray:
    """Return travel costs with what rounding leaves between the two directions taken out, if that is all."""
    other = travel.T
    if np.array_equal(travel, other) or bool((np.abs(travel - other) > SAME * np.maximum(travel, other)).any()):
        return travel
    return frozen(np.maximum(travel, other))


def _symmetric(matrix: FloatArray, field: str = "dissimilarity") -> FloatArray:
    difference = np.abs(matrix - matrix.T)
    excess = difference - PRINTED * np.maximum(matrix, matrix.T)
    i, j = divmod(int(np.argmax(excess)), len(matrix))
    if excess[i, j] > 0:
        raise InputError(
            "dissimilarities must be symmetric; give the larger of the two in both places",
            field=f"{field}[{i}, {j}]",
            found=f"= {matrix[i, j]:g} but {field}[{j}, {i}] = {matrix[j, i]:g}",
        )
    return frozen((matrix + matrix.T) / 2)
