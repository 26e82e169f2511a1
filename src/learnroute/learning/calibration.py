"""The law of a black-box learner, fitted to the errors along pilot routes, with a check whether to believe it.

Training in region k turns the error in each region j into p₁·e_j - q·e_k + (1 - p₁)·D[k, j] + ν, where D is the
transfer matrix (docs/theory.md). That is proved for linear rules on Gaussian features; of other learners it is a model.
So p₁, q and ν are estimated by least squares over all visits, and a free fit beside it, in which the coefficient of D
need not be 1 - p₁, tells whether the law may hold. All errors after one visit are those of one model: intervals are
cluster-robust, a visit being a cluster, by the jackknife (CR3), which is not too narrow where clusters are few.

The law has two more forms (laws.py). A linear learner whose first model's errors are known takes the one that allows
for D having been measured from that model: by the same theory, it is exact. Any other learner may keep what regions
have in common at a rate of its own; that form is taken if it predicts visits better which it was not fitted to.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, RefusedError, did_you_mean
from learnroute.formats import json_files
from learnroute.formats.files import errors_naming
from learnroute.learning import laws
from learnroute.learning.following import Following
from learnroute.learning.laws import Fit, Route, Visits
from learnroute.learning.transfers import Transfer
from learnroute.model.learner import CALIBRATED, Learner
from learnroute.model.problem import Problem
from learnroute.model.validation import LARGEST_VALUE, FloatArray, as_matrix, as_number, frozen

FORMS = LINEAR, HELD, COMMON = "linear", "held", "common"  # of the law
FEWEST_VISITS = 6  # clusters below which no interval means anything
LITTLE = 0.5  # R² below which the law explains too little to plan by
OFF = 0.1  # by how much coefficients may add up to something else than 1, if the interval leaves 1 out


class Coefficient(NamedTuple):
    """An estimate, its standard error, and its confidence interval."""

    value: float
    standard_error: float
    low: float
    high: float

    def holds(self, number: float) -> bool:
        """Whether a number is within the interval."""
        return self.low <= number <= self.high


@dataclass(frozen=True, eq=False)
class Calibration:
    """The law of a learner, and how well it holds.

    Attributes
    ----------
    form
        The form of the law that is planned with: `linear`, `held` (of a linear learner whose first model is known), or
        `common` (if that predicts left-out visits better).
    retention, coupling, noise
        p₁, q and ν of that form, with intervals.
    common_retention
        ρ, with its interval, if the form is `common`; else None.
    free_retention, free_coupling, free_transfer
        The coefficients of e_j, of -e_k and of D[k, j], if all are free.
    coefficient_sum
        That of e_j and D[k, j], which the law has at 1; of the form `held`, with that of the first model's error.
    r_squared
        The share of the variance of errors after a visit that the law explains; `free_r_squared` that of the free fit.
    left_out
        For each form that could be fitted, that share in visits that coefficients were not fitted to.
    residuals
        For each region, the mean of what the law leaves over there, and its root mean square.
    visits, level
        How many visits were fitted, and of which level the intervals are.
    holds
        Whether nothing speaks against the law; `notes` say what does.
    """

    retention: Coefficient
    coupling: Coefficient
    noise: Coefficient
    free_retention: Coefficient
    free_coupling: Coefficient
    free_transfer: Coefficient
    coefficient_sum: Coefficient
    r_squared: float
    free_r_squared: float
    residuals: Mapping[str, tuple[float, float]]
    visits: int
    level: float
    holds: bool
    notes: tuple[str, ...]
    transfer: Transfer
    form: str
    common_retention: Coefficient | None
    left_out: Mapping[str, float]

    @property
    def learner(self) -> Learner:
        """The learner of the rule `calibrated`, to plan with."""
        retention, coupling = self.retention.value, self.coupling.value
        common = None if self.common_retention is None else self.common_retention.value
        return Learner(
            rule=CALIBRATED, retention=retention, coupling=coupling, noise=self.noise.value, common_retention=common
        )

    def to_problem(
        self, travel: ArrayLike | None = None, coordinates: ArrayLike | None = None, **fields: Any
    ) -> Problem:
        """Return the planning problem of this learner; without travel or coordinates, travel costs nothing.

        Of a learner that is held back towards its first model, what that took from D is given back; errors below 0,
        which come of noise, count as 0.
        """
        known = self.transfer
        if self.form == HELD and self.retention.value < 1:
            assert known.before is not None
            kept, coupled = self.retention.value, self.coupling.value
            own = (known.errors - kept * known.before + coupled * known.before[:, None]) / (1 - kept)
            known = replace(known, errors=frozen(np.maximum(0.0, own)))
        return known.to_problem(self.learner, travel, coordinates, **fields)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        names = ("retention", "coupling", "noise", "free_retention", "free_coupling", "free_transfer",
                 "coefficient_sum")  # fmt: skip
        return {
            "form": self.form,
            **{name: getattr(self, name)._asdict() for name in names},
            "common_retention": None if self.common_retention is None else self.common_retention._asdict(),
            "left_out": dict(self.left_out),
            "r_squared": self.r_squared,
            "free_r_squared": self.free_r_squared,
            "residuals": {name: {"mean": mean, "rms": rms} for name, (mean, rms) in self.residuals.items()},
            "visits": self.visits,
            "level": self.level,
            "holds": self.holds,
            "notes": list(self.notes),
        }


def calibrate(
    transfer: Transfer | ArrayLike, followed: Iterable[Any], level: float = 0.95, forms: Iterable[str] = FORMS
) -> Calibration:
    """Fit the law to the errors along pilot routes.

    Parameters
    ----------
    transfer
        The learner's transfer matrix: a `Transfer`, or T x T errors in the order of the regions.
    followed
        What `follow` returned for some routes, or pairs of a route and its T x T errors (as `Following` has them). The
        learner, its error measure and its training must be those of the transfer matrix. One or two routes will do;
        more make intervals narrower. The first visit counts only where the errors before it are known.
    level
        Of the intervals.
    forms
        Which forms of the law may be taken, of `linear`, `held` and `common`; `linear` always is.

    Returns
    -------
    Calibration
        p₁, q and ν with intervals, how well the law fits, and the learner to plan with.

    Raises
    ------
    RefusedError
        If there are too few visits, or p₁ is outside of [0, 1] beyond doubt: then no law of this kind holds.
    """
    known = transfer if isinstance(transfer, Transfer) else Transfer.of(transfer)
    if not 0 < as_number("level", level, meaning="the level") < 1:
        raise InputError("a number between 0 and 1 is needed", field="level", value=level)
    wanted = _wanted(forms)
    routes = _routes(known, followed)
    found, here = _visits(known, routes)
    count = int(found.visit.max()) + 1
    if count < FEWEST_VISITS:
        raise RefusedError(f"{count} visits with errors before and after; at least {FEWEST_VISITS} are needed")
    fits = {name: fit for name, fit in _forms(known, routes, found, here).items() if name in wanted}
    form = HELD if HELD in fits else min(fits, key=lambda name: fits[name].left_out)
    loose = laws.free(found, known.before if form == HELD else None, here)
    width = len(loose.values)
    freely = [_interval(loose, np.eye(width)[k], count - width, level) for k in range(3)]
    total = _interval(loose, np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])[:width], count - width, level)
    kept = _interval(fits[form], np.eye(len(fits[form].values))[0], count - 3, level)
    if form != COMMON and (kept.low > 1 or kept.high < 0):
        raise RefusedError(
            f"the retention would be {kept.value:.3g} ({kept.low:.3g} … {kept.high:.3g}), not within 0 and 1: errors "
            "of this learner do not follow the law"
        )
    fit = fits[form]
    values, notes = (fit.values, []) if form == COMMON else _within(fit.values, fit.table, fit.wanted)
    left = fit.wanted - fit.table @ values
    variance = float(((found.after - found.after.mean()) ** 2).sum())
    explained, freely_explained = (
        1 - float((rest**2).sum()) / variance if variance > 0 else 0.0 for rest in (left, loose.rest)
    )
    if explained < LITTLE:
        notes.append(f"R² = {explained:.2f}: the law explains too little of the errors to plan by")
    if form != COMMON and not total.holds(1.0) and abs(total.value - 1) > OFF:
        notes.append(
            f"coefficients of e and D add up to {total.value:.3f} ({total.low:.3f} … {total.high:.3f}), not to 1: "
            "train as long for D as along a route, or do not trust predicted errors"
        )
    residuals = {}
    for k, name in enumerate(known.regions):
        own = left[found.region == k]
        if len(own):
            residuals[name] = (float(own.mean()), math.sqrt(float((own**2).mean())))
    width = len(values)
    parts = [
        _interval(fit, np.eye(width)[k], count - width, level)._replace(value=float(values[k])) for k in range(width)
    ]
    return Calibration(
        retention=parts[0],
        coupling=parts[1],
        noise=parts[2],
        free_retention=freely[0],
        free_coupling=freely[1],
        free_transfer=freely[2],
        coefficient_sum=total,
        r_squared=explained,
        free_r_squared=freely_explained,
        residuals=residuals,
        visits=count,
        level=level,
        holds=not notes,
        notes=tuple(notes),
        transfer=known,
        form=form,
        common_retention=parts[3] if form == COMMON else None,
        left_out={name: 1 - one.left_out / variance if variance > 0 else 0.0 for name, one in fits.items()},
    )


def _wanted(forms: Iterable[str]) -> set[str]:
    """Check names of forms."""
    named = [forms] if isinstance(forms, str) or not isinstance(forms, Iterable) else list(forms)
    for name in named:
        if name not in FORMS:
            raise InputError(f"unknown; {did_you_mean(name, FORMS)}", field="forms", value=name)
    return {LINEAR, *named}


def _forms(known: Transfer, routes: list[Route], found: Visits, here: FloatArray) -> dict[str, Fit]:
    """Fit every form of the law that these errors can tell."""
    fits = {LINEAR: laws.linear(found)}
    with suppress(RefusedError):
        fits[COMMON] = laws.common(routes, known.errors, fits[LINEAR].values, found.visit)
    if known.before is not None:
        with suppress(RefusedError):
            fits[HELD] = laws.held(found, known.before, here)
    return fits


def read_following(path: str | Path) -> tuple[list[str], Any, Any]:
    """Read a route, its errors and those before it from what `Following.write` wrote as `.json`."""
    path = Path(path)
    with errors_naming(path):
        data = json_files.read(path)
        if not isinstance(data, dict) or not {"route", "errors"} <= set(data):
            raise InputError("an object with route and errors is needed, as `learnroute follow -o` writes it")
        return data["route"], data["errors"], data.get("before")


def _routes(known: Transfer, followed: Iterable[Any]) -> list[Route]:
    """Check followed routes."""
    if isinstance(followed, Following | str | Mapping) or not isinstance(followed, Iterable):
        raise InputError("a list of followed routes is needed", field="followed", value=followed)
    routes = []
    for number, one in enumerate(followed):
        route, errors, before = _followed(f"followed[{number}]", one)
        places = [_place(f"followed[{number}].route", name, known.regions) for name in route]
        table = as_matrix(f"followed[{number}].errors", errors, len(places), len(places), least=-LARGEST_VALUE,
                          meaning="errors")  # fmt: skip
        first = None
        if before is not None:
            first = as_matrix(f"followed[{number}].before", [before], 1, len(places), least=-LARGEST_VALUE,
                              meaning="errors")[0]  # fmt: skip
        if len(places) > (first is None):
            routes.append(Route(places, table, first))
    if not routes:
        size = len(known.regions)
        raise InputError(f"no visits; follow at least one route through the {size} regions", field="followed")
    return routes


def _visits(known: Transfer, routes: list[Route]) -> tuple[Visits, FloatArray]:
    """Bring errors along routes into one table; and say which region each entry's visit was to."""
    columns: list[list[FloatArray]] = [[] for _ in (*Visits._fields, "here")]
    visits = 0
    for places, table, first in routes:
        shift = 0 if first is None else 1
        rows = table if first is None else np.vstack([first, table])
        for t in range(1, len(rows)):
            k = t - shift  # which stop of the route this visit is
            row = (rows[t], rows[t - 1], np.full(len(places), rows[t - 1][k]), known.errors[places[k]][places],
                   np.array(places), np.full(len(places), visits), np.full(len(places), places[k]))  # fmt: skip
            for column, part in zip(columns, row, strict=True):
                column.append(np.asarray(part, dtype=np.float64))
            visits += 1
    joined = [np.concatenate(column) for column in columns]
    return Visits(*joined[:-1]), joined[-1]


def _followed(field: str, given: Any) -> tuple[Sequence[Any], Any, Any]:
    if isinstance(given, Following):
        return given.route, given.errors, given.before
    if isinstance(given, tuple | list) and len(given) in (2, 3) and not isinstance(given[0], str):
        return given[0], given[1], given[2] if len(given) == 3 else None
    raise InputError("what follow returned, or a route and its errors, is needed", field=field, value=given)


def _place(field: str, name: Any, regions: tuple[str, ...]) -> int:
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < len(regions):
        return int(name)
    if name not in regions:
        hint = did_you_mean(name, regions, "there are")
        raise InputError(f"not in the transfer matrix; {hint}", field=field, value=name)
    return regions.index(name)


def _within(values: FloatArray, table: FloatArray, wanted: FloatArray) -> tuple[FloatArray, list[str]]:
    """Return the least-squares coefficients with 0 <= q <= p₁ <= 1, and what had to be moved for that."""
    kept, coupled, _ = values
    if 0 <= coupled <= kept <= 1:
        return frozen(values), []
    notes = [] if coupled > -OFF and coupled - kept < OFF and kept < 1 + OFF else [
        f"unbounded least squares has p₁ = {kept:.3g} and q = {coupled:.3g}, which no law has (0 <= q <= p₁ <= 1)"
    ]  # fmt: skip
    candidates = []
    edges = (  # the edges of the triangle 0 <= q <= p₁ <= 1: what is free, and what is fixed
        (np.array([1.0, 0.0]), np.zeros(2)), (np.array([1.0, 1.0]), np.zeros(2)), (np.array([0.0, 1.0]), np.eye(2)[0]),
    )  # fmt: skip
    for along, fixed in edges:
        rest = wanted - table[:, :2] @ fixed
        slope = np.linalg.lstsq(np.column_stack([table[:, :2] @ along, table[:, 2]]), rest, rcond=None)[0]
        pair = fixed + min(1.0, max(0.0, float(slope[0]))) * along
        noise = float((wanted - table[:, :2] @ pair).mean())
        candidates.append(np.array([*pair, noise]))
    best = min(candidates, key=lambda c: float(((wanted - table @ c) ** 2).sum()))
    return frozen(best), notes


def _interval(fit: Fit, mix: FloatArray, degrees: int, level: float) -> Coefficient:
    value, error = float(mix @ fit.values), math.sqrt(max(0.0, float(mix @ fit.covariance @ mix)))
    half = _student(0.5 + level / 2, max(1, degrees)) * error
    return Coefficient(value, error, value - half, value + half)


def _student(share: float, degrees: int) -> float:
    """Return a quantile of Student's t, by its expansion about the normal one (Cornish and Fisher)."""
    z = NormalDist().inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + math.fsum(term / degrees ** (k + 1) for k, term in enumerate(terms))
