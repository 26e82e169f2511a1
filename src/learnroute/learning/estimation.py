"""Estimate dissimilarities from data: models, noise, unbiased Δ and upper confidence bounds for each region."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, check_callable, check_type, count_text, percent
from learnroute.formats.samples import causes
from learnroute.learning.confidence import Fit, error_draws, fit, noisiest_direction, upper_bound
from learnroute.learning.data import FeatureMap, RegionData, Rows, as_share, check_samples, uneven_moments
from learnroute.learning.law_effect import law_effect
from learnroute.learning.predictors import Predictors, compare
from learnroute.learning.preparation import Missing, PreparedRegions, Scaling, constant_columns, prepare_regions
from learnroute.model.dissimilarities import row_sums
from learnroute.model.features_scaling import FeaturesScaling
from learnroute.model.labelled_tables import align, align_places, align_square, row_labels
from learnroute.model.learners import Learner, Proximal
from learnroute.model.order_effect import MOST_REGIONS
from learnroute.model.problem import Problem
from learnroute.model.result_mixin import PictureMixin
from learnroute.model.table import Column, Sheet, Table
from learnroute.model.validation import (
    FloatArray,
    IntArray,
    as_choice,
    as_count,
    as_names,
    as_number,
    as_vector,
    check_level,
    freeze,
)
from learnroute.solvers.contract import Budget, Progress
from learnroute.tuning import decide_learner

DRAWS = 4000  # of errors; the level is then uncertain by about 0.3 percentage points at 95 %
MOST_NUMBERS = 4 * 10**8  # random numbers kept in memory
LEAST_SAMPLES = 8  # regions with fewer samples are not estimated
CHOOSING = 5.0  # seconds for choosing λ, if that is to be chosen
SPARE = 2  # samples in excess of the number of features: the under regime's n >= m + 2

Method = Literal["least squares", "pilot features"]
LEAST_SQUARES: Method = "least squares"


@dataclass(frozen=True, eq=False)
class Estimate(PictureMixin):
    """Models, noise and dissimilarities of the regions, estimated from samples.

    Attributes
    ----------
    regions
        The regions that could be estimated; all arrays are in their order.
    failures
        For each other region, the reason why it could not be estimated.
    models, noise, pooled_noise
        Least-squares models (one row per region), noise σ of each region, and noise σ of all regions together.
    dissimilarity, initial
        Unbiased estimates of `|w_i - w_j|²` and `|w_i - w_0|²`; noise can make them negative.
    upper, initial_upper
        Upper confidence bounds of the same; each single bound holds with probability `level`.
    scores
        Row sums of `upper`.
    method
        `least squares`, or `pilot features` if a region had too few samples for all features.
    transform, features_scaling
        The map from raw features to the learner's: the requested feature map, scaling and intercept. Scaling and
        intercept form `features_scaling`, which the problem keeps; None if neither or a feature map was requested.
    rows
        The samples that were used, and those reserved for training and testing.
    caveats
        Limitations of the estimates, one sentence each.
    regularization
        λ of the proximal learner that the line about the order is for; None for least squares. `compare_predictors`
        replaces `auto` and `schedule` by the λ that it chose.
    predictors
        How well law and rehearsal predict errors on the held-out samples, after `compare_predictors`; else None.
    """

    picture = "draw_estimate"
    regions: tuple[str, ...]
    failures: dict[str, str]
    models: FloatArray
    noise: FloatArray
    pooled_noise: float
    dissimilarity: FloatArray
    upper: FloatArray
    initial: FloatArray
    initial_upper: FloatArray
    level: float
    method: Method
    columns: tuple[str, ...]
    rows: dict[str, Rows]
    dropped: dict[str, int]
    share: float
    seed: int
    caveats: tuple[str, ...]
    features_scaling: FeaturesScaling | None
    transform: Callable[[FloatArray], FloatArray] = field(repr=False)
    samples: dict[str, tuple[FloatArray, FloatArray]] = field(repr=False)
    regularization: float | Sequence[float] | str | None = None
    predictors: Predictors | None = None

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} more could not be" if self.failures else ""
        return (
            f"<Estimate of {len(self.regions)} regions{failed}: {self.models.shape[1]} features, "
            f"σ = {self.pooled_noise:.4g}, {self.method}, upper bounds at {percent(self.level)}>"
        )

    @property
    def scores(self) -> FloatArray:
        """Scores S_i computed from the upper bounds."""
        return row_sums(self.upper, np.ones(len(self.upper)))

    @property
    def score_estimates(self) -> FloatArray:
        """Scores S_i computed from the unbiased estimates."""
        return row_sums(self.dissimilarity, np.ones(len(self.dissimilarity)))

    def held_out(self) -> dict[str, RegionData]:
        """Return the samples not used for estimation, in the learner's features, for `follow` and `transfer`.

        They record the `features_scaling` applied to them, so that they are not scaled again.
        """
        data = {}
        for name in self.regions:
            inputs, outputs = self.samples[name]
            train, test = (
                (self.transform(inputs[part]), outputs[part]) for part in (self.rows[name].train, self.rows[name].test)
            )
            data[name] = RegionData(train, test, scaling=self.features_scaling)
        return data

    def planning(self) -> dict[str, RegionData]:
        """Return the samples used for estimation, in the learner's features, for `rehearse`.

        They are divided into training and test samples: as many training samples as in `held_out`, but at most half.
        """
        data = {}
        for name in self.regions:
            inputs, outputs = self.samples[name]
            train, test = ((self.transform(inputs[part]), outputs[part]) for part in self.planning_rows(name))
            data[name] = RegionData(train, test, scaling=self.features_scaling)
        return data

    def planning_rows(self, region: str) -> tuple[IntArray, IntArray]:
        """Return the rows of a region's samples that `planning` uses for training and for testing."""
        rows = np.random.default_rng(self.seed).permutation(self.rows[region].estimate)
        count = min(len(self.rows[region].train), (len(rows) + 1) // 2)
        return rows[:count], rows[count:]

    def to_problem(
        self,
        travel: ArrayLike | None = None,
        samples: int | None = None,
        coordinates: ArrayLike | None = None,
        regions: Sequence[str] | None = None,
        title: str = "",
        geographic: bool = False,
        regularization: float | Sequence[float] | str | None = None,
    ) -> Problem:
        """Return the planning problem with these estimates, and with the upper bounds as Δ.

        Plans use the estimates, or the bounds after `with_upper_bounds()`. The lower bounds, for `robustness`, are as
        far below the estimates as the upper bounds are above them.

        `travel` (and `coordinates`) are in the order of `regions`. The default order is that of the labels of `travel`
        if it has any, otherwise that of the estimate. Labels are aligned, and regions that could not be estimated are
        omitted. `samples` is n for all regions; by default, each region's number of samples reserved for training.
        If `travel` is omitted, it is the distance between the coordinates, which are longitudes and latitudes if
        `geographic`. Without both, travel costs nothing and plans minimise the error alone. The learner is least
        squares, or proximal if a `regularization` is given (a number, one per position, "auto" or "schedule").
        """
        if travel is None and coordinates is None:
            between = self.regions if regions is None else regions
            travel = np.zeros((len(between), len(between)))
        if travel is None:
            between = row_labels({"coordinates": coordinates}) or (self.regions if regions is None else regions)
            travel = np.zeros((len(between), len(between)))
            regions = between if regions is None else regions
            made = self.to_problem(travel, samples, coordinates, regions, title, regularization=regularization)
            return made.replace(travel=None, geographic=geographic)
        own = row_labels({"travel": travel})
        names = as_names("regions", own or self.regions if regions is None else regions, None)
        costs = np.asanyarray(align_square("travel", travel, names), dtype=object)  # masks are rejected later
        if costs.shape != (len(names), len(names)):
            raise InputError(
                f"there are {len(names)} regions; give a square matrix",
                field="travel",
                found=f"has shape {costs.shape}",
            )
        for name in self.regions:
            if name not in names:
                raise InputError(f"region {name!r} is missing; add all estimated regions", field="travel")
        place = [names.index(name) for name in self.regions]
        places = None if coordinates is None else np.asanyarray(align_places("coordinates", coordinates, names))
        if places is not None and places.shape[:1] != (len(names),):
            raise InputError(f"there are {len(names)} regions; give one row each", field="coordinates",
                             found=f"has shape {places.shape}")  # fmt: skip
        learner, by_region = self._learner(samples, regularization)
        return Problem(
            travel=costs[np.ix_(place, place)],
            learner=learner,
            samples=by_region,
            features_scaling=self.features_scaling,
            dissimilarity=self.upper,
            dissimilarity_low=np.clip(2 * self.dissimilarity - self.upper, 0, self.upper),
            dissimilarity_estimate=self.dissimilarity,
            initial=self.initial_upper,
            initial_estimate=self.initial,
            regions=self.regions,
            coordinates=None if places is None else places[place],
            title=title,
            geographic=geographic,
        )

    def _learner(
        self, samples: int | None, regularization: float | Sequence[float] | str | None
    ) -> tuple[Learner, list[int] | None]:
        """Return the learner, and the number of samples per region if these numbers differ."""
        width, noise = self.models.shape[1], self.pooled_noise
        counts = [len(self.rows[name].train) for name in self.regions] if samples is None else [samples]
        if samples is None and min(counts) == 0:
            raise InputError(
                "missing; no samples are left for training, so give the number per region", field="samples"
            )
        training: dict[str, Any] = {}
        if regularization is not None:
            training = {"rule": Proximal.rule, "regularization": regularization}
        elif samples is None:
            self._check_counts(counts)
        learner = Learner(width, min(counts), noise, **training)
        return learner, None if len(set(counts)) == 1 else counts

    def _check_counts(self, counts: list[int]) -> None:
        """Reject numbers of samples for which the expected error of least squares does not exist."""
        width = self.models.shape[1]
        for name, count in zip(self.regions, counts, strict=True):
            if abs(count - width) <= 1:
                raise InputError(
                    f"the expected error of least squares with {width} features does not exist for {width - 1} to "
                    f"{width + 1} samples; use another share, one number of samples for all regions (samples), or a "
                    "regularization",
                    field=f"region {name!r}",
                    found=f"has {count} samples left to train on",
                )

    def compare_predictors(
        self, regularization: float | Sequence[float] | str | None = None, orders: int = 30, draws: int = 16
    ) -> Estimate:
        """Return a copy with `predictors`, which tell whether to plan by the law or by rehearsal.

        Both predict the final errors of random orders from the samples used for estimation. The errors are measured on
        the held-out samples, divided into training and test samples in several draws.

        Parameters
        ----------
        regularization
            λ of a proximal learner, as in `to_problem`; `auto` and `schedule` are chosen for a plan without travel. If
            omitted, the learner is least squares.
        orders, draws
            Number of random orders to compare, and of random divisions of the samples.

        Raises
        ------
        InputError
            If no samples were held out, λ cannot be chosen, or the learner cannot learn from the samples.
        """
        planning, kept = self.planning(), self.held_out()
        for name in self.regions:
            if not len(kept[name].test[1]):
                raise InputError("no samples are left for testing; use a smaller share", field=f"region {name!r}")
        orders = as_count("orders", orders, least=3, meaning="the number of orders")
        draws = as_count("draws", draws, least=1, meaning="the number of draws")
        problem = self._decided_problem(regularization)
        predictors = compare(problem, planning, kept, orders, draws, self.seed)
        chosen = None if regularization is None else problem.learner.regularization
        return replace(self, regularization=chosen, predictors=predictors)

    def _decided_problem(self, regularization: float | Sequence[float] | str | None) -> Problem:
        """Return the problem without travel, with its λ chosen if that is requested."""
        return decide_learner(self.to_problem(regularization=regularization), self.seed, Budget.of(CHOOSING))

    def table(self) -> Table:
        """Return the upper bounds of the dissimilarities as a matrix."""
        return Table.of_matrix("", self.regions, self.upper)

    def sheet(self) -> Sheet:
        """Return one row per region, and the caveats."""
        heads = ("noise σ", "dissimilarity", "at most", "initial error", "at most ")
        columns = (
            Column(None, "region", left=True),
            Column(None, "samples"),
            Column(None, "held out"),
            *(Column(None, head, ".4g") for head in heads),
        )
        parts, size = [self.rows[name] for name in self.regions], len(self.regions)
        counts = [len(part.estimate) for part in parts], [len(part.train) + len(part.test) for part in parts]
        counted = np.maximum(self.dissimilarity, 0.0), np.maximum(self.initial, 0.0)  # as in the problem
        scores = row_sums(counted[0], np.ones(size)) / size, self.scores / size
        rows = list(zip(self.regions, *counts, self.noise, *scores, counted[1], self.initial_upper, strict=True))
        lines = (
            (
                "columns",
                "mean dissimilarity to all regions; dissimilarity to the initial model; upper bounds (at most)",
            ),
            self._order_line(),
            *([] if self.predictors is None else [("predictor", self.predictors.text)]),
            *(("failed", line) for line in causes(self.failures)),
            *(("caveat", caveat) for caveat in self.caveats),
        )
        headline = (
            f"{size} regions, {self.models.shape[1]} features, {self._fit}; noise σ = {self.pooled_noise:.4g}, "
            f"bounds at {percent(self.level)}"
        )
        return Sheet(headline, (Table(columns, rows),), lines)

    @property
    def _fit(self) -> str:
        return f"models fitted {'by' if self.method == LEAST_SQUARES else 'on'} {self.method}"

    def _order_line(self) -> tuple[str, str]:
        """Say whether the order matters for the learner, or why that is unknown."""
        if not all(len(self.rows[name].train) for name in self.regions):
            return "order", "unknown: no samples are left for training"
        try:
            problem = self._decided_problem(self.regularization)
            effect = law_effect(problem)
        except InputError as error:
            return "order", f"unknown: {error}"
        learner = problem.learner.training_text.removeprefix("proximal, ") or LEAST_SQUARES
        if effect is None:
            return "order", f"unknown: compared for at most {MOST_REGIONS} regions"
        return "order", f"{effect.errors}: {effect.verdict} ({learner}, no travel)"

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the samples as plain JSON values (see docs/appendix/estimation.md)."""
        return {
            "regions": list(self.regions),
            "level": self.level,
            "method": self.method,
            "dissimilarity": self.upper.tolist(),
            "dissimilarity_estimate": self.dissimilarity.tolist(),
            "initial": self.initial_upper.tolist(),
            "initial_estimate": self.initial.tolist(),
            "scores": self.scores.tolist(),
            "score_estimates": self.score_estimates.tolist(),
            "noise": self.pooled_noise,
            "noise_by_region": self.noise.tolist(),
            "models": self.models.tolist(),
            "features": self.models.shape[1],
            "columns": list(self.columns),
            "features_scaling": None if self.features_scaling is None else self.features_scaling.to_dict(),
            "samples": {
                part: [len(getattr(self.rows[name], part)) for name in self.regions]
                for part in ("estimate", "train", "test")
            },
            "dropped": [self.dropped[name] for name in self.regions],
            "share": self.share,
            "seed": self.seed,
            "caveats": list(self.caveats),
            "failures": dict(self.failures),
            "predictors": None if self.predictors is None else self.predictors.to_dict(),
        }


def estimate(
    samples: Mapping[str, Any],
    level: float = 0.95,
    share: float = 0.5,
    test: float | None = None,
    seed: int = 0,
    initial_model: ArrayLike | None = None,
    features: FeatureMap | None = None,
    scaling: Scaling = "none",
    intercept: bool = False,
    missing: Missing = "refuse",
    pilot: int | None = None,
    columns: Sequence[str] | None = None,
    draws: int = DRAWS,
    progress: Progress | None = None,
) -> Estimate:
    """Estimate how different the regions' models are.

    The result names regions that cannot be estimated, with the reason; the others are still estimated.

    Parameters
    ----------
    samples
        Each region's (features, targets), with shapes (samples, features) and (samples,), or the result of
        `read_samples`. The number of samples may differ between regions.
    level
        Level of the upper confidence bounds.
    share, test
        Δ is estimated only on the fraction `share` of each region's samples, drawn at random. The fraction `test` is
        kept for testing (default: half of the rest) and the remainder for training. With `share=1` no samples remain,
        and the result says so.
    seed
        Seed of the split and of the bounds. The same samples and seed give the same result.
    initial_model
        The learner's initial model w_0, in its features; zeros if omitted. Its labels are names of columns, and
        `intercept`.
    features
        A feature map applied first: a callable, or a transformer (fitted on the samples for estimation if it is not
        fitted yet).
    scaling
        `standardise` gives features mean 0 and variance 1 over all regions; `whiten` also makes them uncorrelated, as
        the theory assumes. Fitted on the samples for estimation.
    intercept
        Whether to add a constant feature.
    missing
        `refuse` rejects regions with missing values; `drop` removes the samples that have them.
    pilot
        Compare models only on this many principal directions of the features. Chosen automatically if a region has
        fewer than m + 2 samples.
    columns
        Names of the features; if omitted, the labels of the tables, if they have any. Labelled columns are brought
        into one order.
    draws
        Number of errors drawn per region for the bounds.
    progress
        Called periodically with the fraction that is done.

    Returns
    -------
    Estimate
        Models, noise, dissimilarities with upper confidence bounds, and the samples that remain.

    Raises
    ------
    InputError
        If samples, names or shares are invalid, or fewer than two regions could be estimated.
    """
    check_samples("samples", samples)
    check_type("intercept", intercept, bool)
    check_callable("progress", progress)
    check_level(level)
    share = as_share("share", share)
    test = (1 - share) / 2 if test is None else as_number("test", test, least=0.0, meaning="shares")
    if share + test > 1:
        raise InputError("shares must not sum to more than 1", field="share", found=f"= {share:g} and test = {test:g}")
    as_choice("missing", missing, get_args(Missing))
    as_choice("scaling", scaling, get_args(Scaling))
    draws = as_count("draws", draws, least=100, meaning="the number of draws")
    seeds = np.random.SeedSequence(as_count("seed", seed, least=0, meaning="the seed")).spawn(len(samples) + 1)
    taken = prepare_regions(samples, columns, features, scaling, intercept, missing, (share, test), seeds[:-1])
    fits, method, remarks = _fits(taken, pilot)
    if len(fits) < 2:
        reasons = causes(taken.failures)
        if not fits and len(reasons) == 1:
            raise InputError(reasons[0])
        said = "; ".join(reasons) or "no data"
        raise InputError(f"an estimate needs at least 2 regions; {len(fits)} can be used ({said})")
    width = len(next(iter(fits.values())).model)
    known = (*taken.columns, "intercept") if intercept else taken.columns
    begin = align("initial_model", initial_model, known if len(known) == width else None)
    first = np.zeros(width) if begin is None else _model(begin, width)
    distances = _distances(list(fits.values()), first, level, draws, np.random.default_rng(seeds[-1]), progress)
    total = sum(f.degrees for f in fits.values())
    return Estimate(
        regions=tuple(fits),
        failures=taken.failures,
        models=freeze(np.array([f.model for f in fits.values()])),
        noise=freeze(np.sqrt([f.variance for f in fits.values()])),
        pooled_noise=float(np.sqrt(sum(f.variance * f.degrees for f in fits.values()) / total)),
        dissimilarity=distances[0],
        upper=distances[1],
        initial=distances[2],
        initial_upper=distances[3],
        level=float(level),
        method=method,
        columns=taken.columns,
        rows={name: taken.rows[name] for name in fits},
        dropped={name: taken.dropped[name] for name in fits},
        share=share,
        seed=seed,
        caveats=(
            *remarks,
            *_map_caveat(features),
            *_initial_caveat(first),
            *_scale_caveat(taken, fits, intercept),
            *_negative_caveat(distances[0], distances[2]),
            *_share_caveat(share),
            _level_caveat(level),
        ),
        features_scaling=taken.scaling if features is None else None,
        transform=taken.transform,
        samples={name: taken.samples[name] for name in fits},
    )


def _fits(taken: PreparedRegions, pilot: int | None) -> tuple[dict[str, Fit], Method, tuple[str, ...]]:
    """Fit every region, on all features or on pilot features; record those that fail in the failures."""
    inputs: dict[str, FloatArray] = {}
    for name, (raw, _) in taken.samples.items():
        part = raw[taken.rows[name].estimate]
        if len(part) < LEAST_SAMPLES:
            whole = len(part) + len(taken.rows[name].train) + len(taken.rows[name].test)
            taken.failures[name] = (
                f"{count_text(len(part), 'sample')} to estimate from (of {whole}); at least {LEAST_SAMPLES} needed"
            )
            continue
        still = constant_columns(taken.mapped(part), taken.columns)
        if still:
            taken.failures[name] = still
            continue
        inputs[name] = taken.transform(part)
    fits: dict[str, Fit] = {}
    directions, remarks = _pilot(inputs, pilot)
    for name, made in inputs.items():
        targets = taken.samples[name][1][taken.rows[name].estimate]
        try:
            if directions is None:
                fits[name] = fit(made, targets)
            else:
                if len(made) < directions.shape[1] + SPARE:
                    raise InputError(f"{len(made)} samples for {directions.shape[1]} pilot features; use fewer of them")
                small = fit(made @ directions, targets)
                fits[name] = Fit(directions @ small.model, directions @ small.root, small.variance, small.degrees)
        except InputError as error:
            taken.failures[name] = str(error)
    return fits, LEAST_SQUARES if directions is None else "pilot features", remarks


def _pilot(inputs: dict[str, FloatArray], pilot: int | None) -> tuple[FloatArray | None, tuple[str, ...]]:
    """Return the principal directions to compare models on, or None for all features, and the resulting caveats."""
    if not inputs:
        return None, ()
    width = next(iter(inputs.values())).shape[1]
    fewest = min(inputs, key=lambda name: len(inputs[name]))
    least = len(inputs[fewest])
    if pilot is not None:
        wanted = as_count("pilot", pilot, meaning="the number of pilot features")
        if wanted > width:
            raise InputError(f"must be <= {width}, the number of features", field="pilot", value=wanted)
        reason = "as requested"
    elif least >= width + SPARE:
        return None, ()
    else:
        wanted = max(1, min(width, least // 2))
        reason = f"region {fewest!r} has {least} samples to estimate from, and least squares needs {width + SPARE}"
    moments = sum(made.T @ made / len(made) for made in inputs.values())
    values, vectors = np.linalg.eigh(moments)
    kept = float(values[-wanted:].sum() / values.sum())
    return vectors[:, ::-1][:, :wanted], (
        f"models are compared on {wanted} principal directions of {width} features ({reason}), which hold "
        f"{percent(kept)} of the features' variance: differences in other directions are ignored, so "
        "dissimilarities may be too small by any amount, and the bounds hold only within these directions; the "
        "effect of other features counts as noise",
    )


def _distances(
    fits: list[Fit],
    initial_model: FloatArray,
    level: float,
    draws: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the unbiased Δ and its bounds, and the unbiased Δ_i0 and its bounds."""
    size, width = len(fits), len(initial_model)
    if size * draws * width > MOST_NUMBERS:
        raise InputError(
            f"{size} regions of {width} features would store more than {MOST_NUMBERS:,} numbers; "
            f"use draws <= {MOST_NUMBERS // (size * width)}",
            field="draws",
            value=draws,
        )
    errors = [error_draws(f, draws, rng) for f in fits]
    delta, upper = np.zeros((size, size)), np.zeros((size, size))
    initial, initial_upper = np.zeros(size), np.zeros(size)
    for i, one in enumerate(fits):
        squared = float(np.sum((one.model - initial_model) ** 2))
        initial[i] = squared - one.inflation
        initial_upper[i] = max(initial[i], upper_bound(squared, errors[i], noisiest_direction(one.covariance), level))
        for j in range(i):
            other = fits[j]
            squared = float(np.sum((one.model - other.model) ** 2))
            delta[i, j] = delta[j, i] = squared - one.inflation - other.inflation
            worst = noisiest_direction(one.covariance + other.covariance)
            bound = upper_bound(squared, errors[i] - errors[j], worst, level)
            upper[i, j] = upper[j, i] = max(bound, delta[i, j])
        if progress is not None:
            progress("estimate", (i + 1) * (i + 2) / (size * (size + 1)))
    return freeze(delta), freeze(upper), freeze(initial), freeze(initial_upper)


def _model(entries: ArrayLike, width: int) -> FloatArray:
    return as_vector("initial_model", entries, width, meaning="model parameters")


def _scale_caveat(taken: PreparedRegions, fits: dict[str, Fit], intercept: bool) -> tuple[str, ...]:
    """Warn if the features are so far from white that squared distances of models are not prediction errors."""
    pooled = np.concatenate([taken.transform(taken.samples[name][0][taken.rows[name].estimate]) for name in fits])
    uneven = uneven_moments(pooled[:, :-1] if intercept else pooled)
    if uneven is None:
        return ()
    return (
        f"the features' second moments go from {uneven[0]:.2g} to {uneven[1]:.2g} by direction, but the "
        "theory assumes 1: squared distances between models are not prediction errors then; standardise or whiten them",
    )


def _map_caveat(features: FeatureMap | None) -> tuple[str, ...]:
    if features is None:
        return ()
    return (
        "a feature map cannot be saved in a file, so the problem has no features_scaling: train on the samples of "
        "held_out()",
    )


def _initial_caveat(first: FloatArray) -> tuple[str, ...]:
    if not first.any():
        return ()
    return ("the problem does not contain the initial model: give `follow` a learner that starts from it",)


def _negative_caveat(delta: FloatArray, initial: FloatArray) -> tuple[str, ...]:
    """Say how many unbiased estimates count as 0."""
    size, pairs, first = len(delta), int((delta < 0).sum()) // 2, int((initial < 0).sum())
    if not pairs + first:
        return ()
    return (
        f"{pairs} of {size * (size - 1) // 2} estimated dissimilarities and {first} of {size} initial errors are below "
        "0 by chance; they count as 0 in problems, plans and tables",
    )


def _share_caveat(share: float) -> tuple[str, ...]:
    if share < 1:
        return ()
    return ("all samples were used: errors measured on the same samples would be too small",)


def _level_caveat(level: float) -> str:
    return f"each bound holds with probability {level:g} (not jointly), for linear models with normal noise"
