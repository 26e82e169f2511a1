"""Train along a route, test in all regions after each stop, and compare with the errors that a plan predicts."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from learnroute.errors import InputError, check_callable, count_text, did_you_mean, list_names, show
from learnroute.learning.adapters import as_learner, is_classifier
from learnroute.learning.data import (
    Batch,
    FeatureMap,
    RegionData,
    as_batch,
    check_samples,
    columns_of,
    fitted_map,
    resample_region,
)
from learnroute.learning.final_error import FinalError, enough_repeats, final_errors_of, final_errors_table
from learnroute.learning.measures import Error, measure_of, name_of, standard_error_of
from learnroute.learning.metrics import MEANING, Metrics, metrics_of
from learnroute.learning.planned_training import PlannedTraining
from learnroute.learning.records import learner_record
from learnroute.learning.serving import PlannedFleet, check_coefficients
from learnroute.model.features_scaling import FeaturesScaling
from learnroute.model.fields import weights_by
from learnroute.model.labelled_tables import align
from learnroute.model.result import Plan
from learnroute.model.result_mixin import PictureMixin
from learnroute.model.table import Column, Sheet, Table
from learnroute.model.validation import FloatArray, as_count, freeze
from learnroute.solvers.contract import Progress

MOST_CLASSES = 1000  # with more distinct targets, they are treated as numbers, not classes


@dataclass(frozen=True, eq=False)
class Following(PictureMixin):
    """The errors measured while following a route.

    Attributes
    ----------
    route
        The regions in order of visit, one per row of `errors`. With several vehicles, one vehicle after another.
    tested
        The regions in order of first visit, then those that a plan skips, one per column of `errors`.
    errors
        errors[i, j] is the error in the j-th region after the i-th visit, averaged over the repeats. With several
        models, it is the error of the model that the visit trained.
    before
        The error in each region before any training, for a linear learner; else None.
    model
        The learner after the last region, in the first repeat. With several models, their average if it serves all
        regions, or a tuple of models (None: never trained) if each serves its own regions.
    metrics
        Metrics of the errors, averaged over the repeats; `learnroute.learning.MEANING` explains each.
    final, final_by_region
        The measured and the predicted error after the last stop, on average and in each tested region.
    repeats
        Number of times the route was followed.
    notes
        Differences between samples and learner and those that the plan assumes, one sentence each.
    learner
        The class and the parameters of the learner, without seeds; `calibrate` compares them with those of the transfer
        matrix. None if they are unknown.
    importance
        How much each region counts in the mean errors of `final` and of the printed table. None if all regions count
        equally, as they do in `metrics`.
    fleet
        With several models, the model that each visit trained, and how the models serve. `final` and `final_by_region`
        are errors of the serving models. None if there is one model.
    measure
        The name of the error measure, as in `Transfer`; empty if it is unknown.
    """

    picture = "draw_following"
    route: tuple[str, ...]
    tested: tuple[str, ...]
    errors: FloatArray
    before: FloatArray | None
    model: Any
    metrics: Metrics
    final: FinalError
    final_by_region: tuple[FinalError, ...]
    repeats: int = 1
    notes: tuple[str, ...] = ()
    learner: dict[str, Any] | None = None
    importance: FloatArray | None = None
    fleet: PlannedFleet | None = None
    measure: str = ""

    @property
    def verdict(self) -> str | None:
        """Whether the prediction and the measured errors disagree by more than chance; None without a prediction."""
        if self.final.deviation is None:
            return None
        apart = [name for name, one in zip(self.tested, self.final_by_region, strict=True) if one.agrees is False]
        where = f" in {list_names(apart)}" if apart else ""
        said, few = "predicted and measured errors", "too few repeats to tell"
        if self.final.agrees is False:
            once = " of the test samples (repeats also show the chance in training)" if self.repeats == 1 else ""
            off = f"{abs(self.final.deviation):.1f} standard errors{once}"
            return f"{said} differ by more than chance: {off}" + (f"; most{where}" if apart else "")
        if self.final.agrees is None:
            if not apart:
                return f"{few} whether {said} agree ({self.repeats}; {enough_repeats(1)} would do)"
            return f"{said} differ by more than chance{where}; {few} on average ({enough_repeats(1)} would do)"
        if apart:
            return f"{said} agree on average, but differ by more than chance{where}"
        enough = enough_repeats(len(self.tested))
        if 1 < self.repeats < enough:
            return f"{said} agree within chance on average; {few} for single regions ({enough} would do)"
        return f"{said} agree within chance"

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as plain JSON values."""
        return {
            **({"route": list(self.route)} if self.fleet is None else self.fleet.to_dict()),
            "tested": list(self.tested),
            "measure": self.measure,
            "errors": self.errors.tolist(),
            "before": None if self.before is None else self.before.tolist(),
            "learner": self.learner,
            "importance": None if self.importance is None else self.importance.tolist(),
            "metrics": self.metrics.to_dict(),
            "repeats": self.repeats,
            "final": {
                **self.final.to_dict(),
                "regions": [
                    {"region": name, **one.to_dict()}
                    for name, one in zip(self.tested, self.final_by_region, strict=True)
                ],
            },
            "notes": list(self.notes),
            "meaning": dict(MEANING),
        }

    def table(self) -> Table:
        """Return the matrix of errors, one row per visit."""
        found = Table.of_matrix("after training on", self.tested, self.errors, self.route)
        if self.fleet is None:
            return found
        numbered = [(model + 1, *row) for model, row in zip(self.fleet.models, found.rows, strict=True)]
        return Table((Column(self.fleet.kind), *found.columns), numbered, read_back=True)

    def sheet(self) -> Sheet:
        """Return the errors after each stop, the metrics, and the final errors with the predicted ones."""
        heads = (("after", ""), ("error there", ".4g"), ("mean error", ".4g"))
        columns = tuple(Column(None, head, style, left=not style) for head, style in heads)
        own = [self.errors[i, self.tested.index(name)] for i, name in enumerate(self.route)]
        means = (weights_by(self.importance, len(self.tested)) * self.errors).mean(axis=1)
        rows: list[tuple[Any, ...]] = list(zip(self.route, own, means, strict=True))
        lines = [] if self.fleet is None else self.fleet.lines()
        when, served = "after the last region", None
        if self.fleet is not None:
            columns = (Column(None, self.fleet.kind), *columns)
            rows = [(model + 1, *row) for model, row in zip(self.fleet.models, rows, strict=True)]
            when = f"of the {'average of all models' if self.fleet.weights is not None else 'models that serve'}"
            served = self.fleet.servers(self.tested)
        tables = [Table(columns, rows)]
        lines += [(name.replace("_", " "), f"{value:.6g}") for name, value in self.metrics.to_dict().items()]
        if self.final.expected is not None or self.repeats > 1 or self.fleet is not None:
            tables.append(final_errors_table(self.tested, self.final_by_region, served))
        lines += [] if self.verdict is None else [("verdict", self.verdict)]
        headline = f"mean error {when}: {self.final} ({count_text(self.repeats, 'repeat')})"
        return Sheet(headline, tuple(tables), (*lines, *(("note", note) for note in self.notes)))


def follow(
    route: Plan | PlannedTraining | Mapping[str, Any] | Sequence[str] | Sequence[int],
    data: Mapping[str, Any],
    learner: Any = None,
    error: str | Error | None = None,
    features: FeatureMap | None = None,
    progress: Progress | None = None,
    repeats: int = 1,
    seed: int = 0,
) -> Following:
    """Train a copy of the learner in the regions in order, testing in all of them after each visit.

    Each visit has fresh samples: if a region is visited several times, its training samples are divided among the
    visits in equal parts, in their order.

    Parameters
    ----------
    route
        A plan (or its JSON object, as returned by `read_plan`), or names of regions. With several vehicles or models,
        each model starts from the given learner and is trained along its visits. Regions are then served as planned:
        by the average of the models, which must be linear, or each region by its own model. Regions that a plan skips
        are tested if `data` contains them; regions of `data` that are missing from a list of names are not tested.
        Integers are positions in `data`, counted from 0.
    data
        Each region's samples: a `RegionData`, or (features, targets, test features, test targets).
    learner
        Any object with `partial_fit` and `predict`, a scikit-learn pipeline whose last step has them, a river model
        with `learn_many`, or a `TorchLearner`. Training continues from its current model; the object itself is not
        changed. A classifier receives all labels that occur in the regions. If omitted, the learner of the plan is
        used: its rule, λ (by position), steps and rate; a calibrated learner cannot be rebuilt from a plan. If another
        learner is given, the plan predicts nothing, and a note says so.
    error
        Error measure on the test samples of a region: `squared`, `zero-one`, `cross-entropy`, or a function of the
        model and the region. Default: `zero-one` for classifiers, otherwise `squared`.
    features
        A feature map applied before the learner: a callable or a transformer. A transformer that is not fitted yet is
        fitted on the first region's training samples, the only ones known when the route begins. Default: the plan's
        `features_scaling`, if it has one. Samples are assumed to be raw unless `RegionData.scaling` says otherwise (as
        in those of `Estimate.held_out`); samples made by the same scaling are not scaled again.
    progress
        Called after every stop.
    repeats
        Number of times to follow the route. The first repeat uses the samples as given. Each other repeat divides each
        region's samples anew into training and test samples of the same sizes, and changes the learner's random state.
    seed
        Seed of the repeats. With the same seed, all routes through the same data get the same samples.

    Returns
    -------
    Following
        The errors after each stop, the metrics, and the model after the last region.

    Raises
    ------
    InputError
        If a region has no data or cannot be learnt; the message names the region.
    """
    check_callable("progress", progress)
    runs = as_count("repeats", repeats, meaning="the number of repeats")
    seed = as_count("seed", seed, least=0, meaning="the seed")
    planned = route if isinstance(route, PlannedTraining) else None
    if isinstance(route, Plan | Mapping):
        planned = PlannedTraining.of(route)
    front = planned.scaling if features is None and planned is not None else features
    stops = stops_of(route if planned is None else planned.route, data)
    skipped = () if planned is None else planned.skipped
    tested = tuple(dict.fromkeys([*stops, *(name for name in skipped if name in data)]))
    _, regions, classes = regions_of(tested, data, front)
    visits = [tested.index(name) for name in stops]
    fleet = None if planned is None else planned.fleet
    if learner is None:
        if planned is None:
            raise InputError("missing; give a learner, or a plan with a learner", field="learner")
        learner = planned.make_learner(regions[0].train[0].shape[1])
    measure = measure_of(error, is_classifier(learner))
    places = [list(data).index(name) for name in tested]  # so that other routes get the same samples
    matrices, finals = [], []
    before: FloatArray | None = None
    own: list[float | None] = []
    first: Any = None
    for run in range(runs):
        dealt, given = regions, learner
        if run:
            draws = [np.random.default_rng((seed, run, place)) for place in places]
            dealt = [resample_region(region, rng) for region, rng in zip(regions, draws, strict=True)]
            given = reseed(copy.deepcopy(learner), seed + run)
        models = [as_learner(given, classes) for _ in range(1 if fleet is None else fleet.size)]
        model = models[0]
        if not run:
            before = errors_in(model, regions, measure) if hasattr(model, "coef_") else None
        matrices.append(_train_along(models, fleet, visits, tested, dealt, measure, (run, runs), progress))
        serving = [model] * len(tested)
        if fleet is None:
            finals.append(matrices[-1][-1])
        else:
            untrained = _first_learner(as_learner(given, classes), regions[0]) if fleet.serves_untrained else None
            serving = fleet.serving(models, untrained, tested)
            finals.append(_served_errors(serving, dealt, measure))
        if not run:
            first = model if fleet is None else fleet.result(models, serving)
            own = [standard_error_of(measure, one, region) for one, region in zip(serving, dealt, strict=True)]
    notes: tuple[str, ...] = ()
    errors: FloatArray | None = None
    if planned is not None:
        notes, errors = _expectations(planned, tested, regions, getattr(model, "model", model), measure)
    noise = None if planned is None else planned.label_noise
    importance = None if planned is None else planned.importance_in(tested)
    weights = weights_by(importance, len(tested))
    final, by_region = final_errors_of(np.array(finals), own, regions, errors, noise, weights)
    ends = [None] * runs if fleet is None else finals
    metrics = [metrics_of(matrix, visits, end).to_dict() for matrix, end in zip(matrices, ends, strict=True)]
    return Following(
        route=stops,
        tested=tested,
        errors=freeze(np.mean(matrices, axis=0)) if runs > 1 else freeze(matrices[0]),
        before=before,
        model=getattr(first, "model", first),
        metrics=Metrics(**{name: float(np.mean([one[name] for one in metrics])) for name in metrics[0]}),
        final=final,
        final_by_region=by_region,
        repeats=runs,
        notes=notes,
        learner=learner_record(learner),
        importance=importance,
        fleet=fleet,
        measure=name_of(measure),
    )


def _train_along(
    models: Sequence[Any], fleet: PlannedFleet | None, visits: Sequence[int], names: Sequence[str],
    regions: Sequence[RegionData], measure: Error, run: tuple[int, int], progress: Progress | None,
) -> FloatArray:  # fmt: skip
    """Train models in one region after another; return the errors of the trained model in all regions, per visit."""
    errors = np.empty((len(visits), len(regions)))
    for i, batch in enumerate(_batches(visits, names, regions)):
        model = models[0 if fleet is None else fleet.models[i]]
        try:
            model.partial_fit(*batch)
        except InputError as refusal:
            raise refusal.within(f"region {names[visits[i]]!r}") from None
        if fleet is not None and fleet.weights is not None:
            check_coefficients(model)
        errors[i] = errors_in(model, regions, measure)
        if progress is not None:
            progress("follow", (run[0] + (i + 1) / len(visits)) / run[1])
    return errors


def _first_learner(model: Any, region: RegionData) -> Any:
    """Return a learner that predicts before any training; reject learners that cannot."""
    if hasattr(model, "without_training") and not hasattr(model, "coef_"):
        return model.without_training(region.test[0].shape[1])
    try:
        model.predict(region.test[0][:1])
    except Exception as error:  # learners of any library may raise anything
        reason = "the plan uses the initial model, but this learner cannot predict before its first training"
        raise InputError(f"{reason}; give a learner that was trained", field="learner", value=model) from error
    return model


def _served_errors(serving: Sequence[Any], regions: Sequence[RegionData], measure: Error) -> FloatArray:
    """Return the error in each region of the model that serves it."""
    return np.concatenate([errors_in(model, [region], measure) for model, region in zip(serving, regions, strict=True)])


def _batches(visits: Sequence[int], names: Sequence[str], regions: Sequence[RegionData]) -> list[Batch]:
    """Return the samples of each visit: a region's samples are divided equally among its visits."""
    parts = {}
    for region in set(visits):
        many, (inputs, outputs) = visits.count(region), regions[region].train
        if len(outputs) < many:
            reason = f"{len(outputs)} training samples for {many} visits; each visit needs samples of its own"
            raise InputError(reason, field=f"region {names[region]!r}")
        parts[region] = iter(zip(np.array_split(inputs, many), np.array_split(outputs, many), strict=True))
    return [next(parts[region]) for region in visits]


def _expectations(
    planned: PlannedTraining, tested: Sequence[str], regions: Sequence[RegionData], model: Any, measure: Error
) -> tuple[tuple[str, ...], FloatArray | None]:
    """Return notes on a plan, and the errors that it predicts; None if it predicts none."""
    batches = _batches([tested.index(name) for name in planned.route], tested, regions)
    notes, errors = planned.remarks(regions, batches, model), planned.errors
    if errors is not None and len(tested) < len(errors):
        errors = errors[[k for k, name in enumerate(planned.regions) if name in tested]]
        notes = (*notes, f"{len(planned.regions) - len(tested)} skipped regions have no samples, and are not tested")
    other = planned.difference(model)
    if other is not None:
        return (other, *notes), None
    if errors is not None and planned.measure not in ("", name_of(measure)):
        own, given = (name.replace("_", " ") for name in (planned.measure, name_of(measure)))
        return (*notes, f"the plan predicts the {own}, so there is no prediction for the {given}"), None
    return notes, errors


def regions_of(
    route: Any, data: Any, features: FeatureMap | None = None
) -> tuple[tuple[str, ...], list[RegionData], FloatArray | None]:
    """Return the named regions, their checked samples, and all labels if there are few.

    The samples are transformed by the feature map, if there is one.
    """
    stops = stops_of(route, data)
    columns = _columns(data[stops[0]])
    if columns is not None and isinstance(features, FeaturesScaling):
        columns = features.columns or columns
    regions = [_check_region(name, data[name], columns) for name in stops]
    mapped = fitted_map(features, regions[0].train[0])
    if mapped is not None:
        regions = [_map_region(name, region, mapped) for name, region in zip(stops, regions, strict=True)]
    labels = np.unique(np.concatenate([part[1] for region in regions for part in (region.train, region.test)]))
    return stops, regions, labels if len(labels) <= MOST_CLASSES else None


def reseed(model: Any, seed: int) -> Any:
    """Give another random state to a learner, or to each of its parts that has one."""
    if hasattr(model, "get_params") and hasattr(model, "set_params"):
        states = [name for name in model.get_params() if name.rsplit("__", 1)[-1] == "random_state"]
        model.set_params(**dict.fromkeys(states, seed))
    elif hasattr(model, "random_state"):
        model.random_state = seed
    return model


def errors_before(model: Any, regions: Sequence[RegionData], error: Error) -> FloatArray | None:
    """Return the error in each region of a linear learner's initial model; None for other learners."""
    if hasattr(model, "without_training") and not hasattr(model, "coef_"):
        model = model.without_training(regions[0].test[0].shape[1])
    return errors_in(model, regions, error) if hasattr(model, "coef_") else None


def errors_in(model: Any, regions: Sequence[RegionData], error: Error) -> FloatArray:
    """Return the error of a model in each region."""
    found = [error(model, region) for region in regions]
    wrong = next((one for one in found if not isinstance(one, Real) or isinstance(one, bool)), None)
    if wrong is not None:
        raise InputError("the error in a region must be a number", field="error", found=f"gave {show(wrong)}")
    wrong = next((one for one in found if not math.isfinite(one)), None)
    if wrong is not None:
        reason = "predictions must be finite; use smaller training steps, or scale the features"
        raise InputError(reason, field="learner", found=f"has an error of {float(wrong):g}")
    return freeze(np.array(found, dtype=np.float64))


def stops_of(route: Any, data: Any) -> tuple[str, ...]:
    """Return the names of the regions of a route; reject regions without samples."""
    check_samples("data", data)
    several = isinstance(route, Iterable) and not isinstance(route, str | type)
    stops = tuple(route) if several else ()
    if stops and all(isinstance(place, int | np.integer) and not isinstance(place, bool) for place in stops):
        outside = [place for place in stops if not 0 <= place < len(data)]
        if outside:
            raise InputError(f"there is no region {outside[0]}; indices go from 0 to {len(data) - 1}", field="route")
        names = list(data)
        stops = tuple(names[int(place)] for place in stops)
    if not stops or not all(isinstance(name, str) for name in stops):
        raise InputError("expected a list of region names", field="route", value=route)
    for name in stops:
        if name not in data:
            hint = did_you_mean(name, data, "regions with data are")
            raise InputError(f"there is no data for region {name!r}; {hint}", field="route")
    return stops


def _columns(given: Any) -> tuple[str, ...] | None:
    """Return the names of the features; None if the first region has none."""
    if isinstance(given, RegionData):
        given = given.train
    return columns_of(given[0]) if isinstance(given, tuple) and given else None


def _check_region(name: str, given: Any, columns: tuple[str, ...] | None) -> RegionData:
    parts = {}
    region = given
    if isinstance(given, tuple) and len(given) == 4:
        region = RegionData(given[:2], given[2:])
    if not isinstance(region, RegionData):
        raise InputError(
            "expected a RegionData, or (features, targets, test features, test targets); test samples must not be "
            "those trained on",
            field=f"region {name!r}",
        )
    for part, what in ((region.train, "training"), (region.test, "test")):
        inputs, outputs = as_batch(name, *part, columns)
        wrong = ~(np.isfinite(inputs).all(axis=1) & np.isfinite(outputs))
        if wrong.any():
            raise InputError(
                f"{what} sample {int(np.argmax(wrong))} is not finite; fill in or drop missing values",
                field=f"region {name!r}",
            )
        if not len(outputs):
            raise InputError(f"has no {what} samples; add at least 1", field=f"region {name!r}")
        parts[what] = (inputs, outputs)
    return RegionData(parts["training"], parts["test"], align("truth", region.truth, columns), region.scaling)


def _map_region(name: str, region: RegionData, features: Callable[[FloatArray], FloatArray]) -> RegionData:
    try:
        return region.map_features(features)
    except InputError as refusal:
        raise refusal.within(f"region {name!r}") from None
