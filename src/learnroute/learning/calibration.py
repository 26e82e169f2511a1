"""The law of a black-box learner, fitted to the errors along pilot routes, with a check whether to believe it.

Training in region k turns the error in each region j into p₁·e_j - q·e_k + (1 - p₁)·D[k, j] + ν, where D is the
transfer matrix (docs/theory.md). That is proved for linear rules on Gaussian features; of other learners it is a model.
So p₁, q and ν are estimated by least squares over all visits, and a free fit beside it, in which the coefficient of D
need not be 1 - p₁, tells whether the law may hold. All errors after one visit are those of one model: intervals are
cluster-robust, a visit being a cluster, by the jackknife (CR3), which is not too narrow where clusters are few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, RefusedError, did_you_mean
from learnroute.formats import json_files
from learnroute.formats.files import errors_naming
from learnroute.learning.following import Following
from learnroute.learning.transfers import Transfer
from learnroute.model.learner import CALIBRATED, Learner
from learnroute.model.problem import Problem
from learnroute.model.validation import LARGEST_VALUE, FloatArray, as_matrix, as_number, frozen

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
    retention, coupling, noise
        p₁, q and ν of the law, with intervals.
    free_retention, free_coupling, free_transfer
        The coefficients of e_j, of -e_k and of D[k, j], if all are free.
    coefficient_sum
        That of e_j and D[k, j], which the law has at 1.
    r_squared
        The share of the variance of errors after a visit that the law explains; `free_r_squared` that of the free fit.
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

    @property
    def learner(self) -> Learner:
        """The learner of the rule `calibrated`, to plan with."""
        retention, coupling = self.retention.value, self.coupling.value
        return Learner(rule=CALIBRATED, retention=retention, coupling=coupling, noise=self.noise.value)

    def to_problem(
        self, travel: ArrayLike | None = None, coordinates: ArrayLike | None = None, **fields: Any
    ) -> Problem:
        """Return the planning problem of this learner; without travel or coordinates, travel costs nothing."""
        return self.transfer.to_problem(self.learner, travel, coordinates, **fields)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        names = ("retention", "coupling", "noise", "free_retention", "free_coupling", "free_transfer",
                 "coefficient_sum")  # fmt: skip
        return {
            **{name: getattr(self, name)._asdict() for name in names},
            "r_squared": self.r_squared,
            "free_r_squared": self.free_r_squared,
            "residuals": {name: {"mean": mean, "rms": rms} for name, (mean, rms) in self.residuals.items()},
            "visits": self.visits,
            "level": self.level,
            "holds": self.holds,
            "notes": list(self.notes),
        }


class _Visits(NamedTuple):
    """All errors after visits, with what they are explained by; one entry a visit and region."""

    after: FloatArray
    before: FloatArray
    here: FloatArray
    moved: FloatArray
    region: FloatArray
    visit: FloatArray


def calibrate(transfer: Transfer | ArrayLike, followed: Iterable[Any], level: float = 0.95) -> Calibration:
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
    found = _visits(known, followed)
    count = int(found.visit.max()) + 1 if len(found.visit) else 0
    if count < FEWEST_VISITS:
        raise RefusedError(f"{count} visits with errors before and after; at least {FEWEST_VISITS} are needed")
    one = np.ones(len(found.after))
    gained = found.after - found.moved
    law = np.column_stack([found.before - found.moved, -found.here, one])
    free = np.column_stack([found.before, -found.here, found.moved, one])
    parts, spread = _fitted(law, gained, found.visit)
    kept, coupled, noise = (_interval(parts, spread, np.eye(3)[k], count - 3, level) for k in range(3))
    loose, loose_spread = _fitted(free, found.after, found.visit)
    freely = [_interval(loose, loose_spread, np.eye(4)[k], count - 4, level) for k in range(3)]
    total = _interval(loose, loose_spread, np.array([1.0, 0.0, 1.0, 0.0]), count - 4, level)
    if kept.low > 1 or kept.high < 0:
        raise RefusedError(
            f"the retention would be {kept.value:.3g} ({kept.low:.3g} … {kept.high:.3g}), not within 0 and 1: errors "
            "of this learner do not follow the law"
        )
    values, notes = _within(parts, law, gained)
    left = gained - law @ values
    variance = float(((found.after - found.after.mean()) ** 2).sum())
    explained, freely_explained = (
        1 - float((rest**2).sum()) / variance if variance > 0 else 0.0 for rest in (left, found.after - free @ loose)
    )
    if explained < LITTLE:
        notes.append(f"R² = {explained:.2f}: the law explains too little of the errors to plan by")
    if not total.holds(1.0) and abs(total.value - 1) > OFF:
        notes.append(
            f"coefficients of e and D add up to {total.value:.3f} ({total.low:.3f} … {total.high:.3f}), not to 1: "
            "train as long for D as along a route, or do not trust predicted errors"
        )
    residuals = {}
    for k, name in enumerate(known.regions):
        own = left[found.region == k]
        if len(own):
            residuals[name] = (float(own.mean()), math.sqrt(float((own**2).mean())))
    law_parts = [part._replace(value=float(value)) for part, value in zip((kept, coupled, noise), values, strict=True)]
    return Calibration(
        retention=law_parts[0],
        coupling=law_parts[1],
        noise=law_parts[2],
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
    )


def read_following(path: str | Path) -> tuple[list[str], Any, Any]:
    """Read a route, its errors and those before it from what `Following.write` wrote as `.json`."""
    path = Path(path)
    with errors_naming(path):
        data = json_files.read(path)
        if not isinstance(data, dict) or not {"route", "errors"} <= set(data):
            raise InputError("an object with route and errors is needed, as `learnroute follow -o` writes it")
        return data["route"], data["errors"], data.get("before")


def _visits(known: Transfer, followed: Iterable[Any]) -> _Visits:
    """Bring errors along routes into one table."""
    if isinstance(followed, Following | str | Mapping) or not isinstance(followed, Iterable):
        raise InputError("a list of followed routes is needed", field="followed", value=followed)
    columns: list[list[FloatArray]] = [[] for _ in _Visits._fields]
    visits, size = 0, len(known.regions)
    for number, one in enumerate(followed):
        route, errors, before = _followed(f"followed[{number}]", one)
        places = [_place(f"followed[{number}].route", name, known.regions) for name in route]
        table = as_matrix(f"followed[{number}].errors", errors, len(places), len(places), least=-LARGEST_VALUE,
                          meaning="errors")  # fmt: skip
        if before is not None:
            first = as_matrix(f"followed[{number}].before", [before], 1, len(places), least=-LARGEST_VALUE,
                              meaning="errors")  # fmt: skip
            table = np.vstack([first, table])
        shift = len(table) - len(places)
        for t in range(1, len(table)):
            k = t - shift  # which stop of the route this visit is
            row = (table[t], table[t - 1], np.full(len(places), table[t - 1][k]), known.errors[places[k]][places],
                   np.array(places), np.full(len(places), visits))  # fmt: skip
            for column, part in zip(columns, row, strict=True):
                column.append(np.asarray(part, dtype=np.float64))
            visits += 1
    if not visits:
        raise InputError(f"no visits; follow at least one route through the {size} regions", field="followed")
    return _Visits(*(np.concatenate(column) for column in columns))


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


def _fitted(table: FloatArray, wanted: FloatArray, clusters: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return least-squares coefficients and their covariance by the jackknife over clusters (CR3)."""
    values, _, rank, _ = np.linalg.lstsq(table, wanted, rcond=None)
    if rank < table.shape[1]:
        raise RefusedError("the errors along these routes do not tell retention from coupling; follow other routes")
    # leaving a cluster out changes the normal equations by its own; visits are few, so each is solved anew
    places = clusters.astype(np.int64)
    count, width = int(places.max()) + 1, table.shape[1]
    squares, products = np.zeros((count, width, width)), np.zeros((count, width))
    np.add.at(squares, places, table[:, :, None] * table[:, None, :])
    np.add.at(products, places, table * wanted[:, None])
    without = np.array(
        [np.linalg.pinv(squares.sum(axis=0) - squares[g]) @ (products.sum(axis=0) - products[g]) for g in range(count)]
    )
    apart = without - without.mean(axis=0)
    covariance: FloatArray = (count - 1) / count * apart.T @ apart
    return np.asarray(values), covariance


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


def _interval(values: FloatArray, covariance: FloatArray, mix: FloatArray, degrees: int, level: float) -> Coefficient:
    value, error = float(mix @ values), math.sqrt(max(0.0, float(mix @ covariance @ mix)))
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
