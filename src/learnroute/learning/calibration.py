"""The law of a black-box learner, fitted to the errors along pilot routes, with a check of its validity.

Training in region k turns the error in each region j into p₁·e_j - q·e_k + (1 - p₁)·D[k, j] + ν, where D is the
transfer matrix (docs/theory.md). This is proved for linear rules on Gaussian features; for other learners it is a
model. Therefore p₁, q and ν are estimated by least squares over all visits. A second, free fit, in which the
coefficient of D need not be 1 - p₁, tells whether the law may hold. All errors after one visit belong to the same
model, so the intervals are cluster-robust with one cluster per visit. They come from the jackknife (CR3), which is not
too narrow if clusters are few.

The law has two more forms (laws.py). Pilots that a form was not fitted to decide which form to plan with
(selection.py) and, together with the intervals, whether to plan by the law at all (verdict.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, RefusedError, did_you_mean, percent
from learnroute.formats import json_files
from learnroute.formats.files import errors_naming
from learnroute.learning import laws
from learnroute.learning.following import Following
from learnroute.learning.law_effect import law_effect
from learnroute.learning.laws import COMMON, FORMS, HELD, LINEAR, Coefficient, Fit, Route
from learnroute.learning.records import as_record, distinguishing_names
from learnroute.learning.selection import cross_validate, preference_of
from learnroute.learning.transfers import Transfer
from learnroute.learning.verdict import MEANING, Evidence, judge
from learnroute.model.learners import Calibrated, Learner
from learnroute.model.problem import Problem
from learnroute.model.result_mixin import PictureMixin
from learnroute.model.table import Column, Sheet, Table
from learnroute.model.validation import FloatArray, as_choice, as_matrix, as_number, freeze

SEVERAL = "several models were trained; follow a route with one model"
FEWEST_VISITS = 6  # with fewer clusters, intervals are meaningless
ABOUT = {
    LINEAR: "the law of linear learners",
    HELD: "linear, corrected for the initial model from which the transfer matrix was measured",
    COMMON: "linear, with a separate retention of the gain that all regions share",
}


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(PictureMixin):
    """The law of a learner, and whether to plan by it.

    Attributes
    ----------
    verdict
        `supported` (plan by it), `weak` (plan with care) or `not supported` (do not plan by it).
    reason, advice
        Why, and what would help; `advice` is None for a supported law.
    form
        The form of the law to plan with: `linear`, `held` (allows for the initial model from which D was measured) or
        `common` (with ρ). It predicts left-out pilots best; among ties, the simplest form is chosen.
    forms
        R² in left-out pilots for each form that could be fitted; with a single pilot, R² in left-out visits.
    skill
        Relative reduction of the squared error on the left-out data, compared with predictions that ignore where the
        learner trained.
    retention, coupling, noise
        p₁, q and ν of that form, with intervals.
    common_retention
        ρ, with its interval, if the form is `common`; else None.
    free_retention, free_coupling, free_transfer
        The coefficients of e_j, of -e_k and of D[k, j] in the free fit.
    coefficient_sum
        Sum of the coefficients of e_j and D[k, j], which is 1 under the law. For the form `held`, the sum includes the
        coefficient of the initial model's error.
    r_squared
        The share of the variance of errors after a visit that the law explains. `free_r_squared` is the same for the
        free fit.
    residuals
        Mean and root mean square of the law's residuals in each region.
    visits, pilots, level
        Number of fitted visits, number of pilots, and level of the intervals.
    same_learner
        Whether D and all pilots belong to the same learner; None if that is not recorded.
    notes
        Further remarks.
    measure
        The name of the error measure, the same for D and all pilots; empty if it is unknown.
    """

    picture = "draw_calibration"
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
    pilots: int
    level: float
    verdict: str
    reason: str
    advice: str | None
    same_learner: bool | None
    notes: tuple[str, ...]
    transfer: Transfer
    form: str
    common_retention: Coefficient | None
    forms: Mapping[str, float]
    skill: float
    measure: str = ""

    def __repr__(self) -> str:
        rho = "" if self.common_retention is None else f", ρ = {self.common_retention.value:.3g}"
        return (
            f"<Calibration, {self.verdict}: p₁ = {self.retention.value:.3g}, q = {self.coupling.value:.3g}, "
            f"ν = {self.noise.value:.3g}{rho}, form {self.form}, {self.visits} visits; {self.reason}>"
        )

    @property
    def learner(self) -> Learner:
        """The learner of the rule `calibrated`, to plan with."""
        common = None if self.common_retention is None else self.common_retention.value
        return Calibrated(
            retention=self.retention.value, coupling=self.coupling.value, noise=self.noise.value,
            common_retention=common, verdict=self.verdict, measure=self.measure or None,
        )  # fmt: skip

    def to_problem(
        self, travel: ArrayLike | None = None, coordinates: ArrayLike | None = None, **fields: Any
    ) -> Problem:
        """Return the planning problem of this learner; without travel or coordinates, travel costs nothing.

        For a learner that is regularised towards its initial model, D is corrected for that effect. Errors below 0,
        which are due to noise, count as 0.
        """
        known = self.transfer
        if self.form == HELD:
            assert known.before is not None
            values = np.array([self.retention.value, self.coupling.value])
            known = replace(known, errors=freeze(laws.target_errors(known.errors, known.before, values)))
        return known.to_problem(self.learner, travel, coordinates, **fields)

    def table(self) -> Table:
        """Return one row per coefficient, in the law and in the free fit."""
        pairs = (
            ("retention p₁", self.retention, self.free_retention),
            ("coupling q", self.coupling, self.free_coupling),
            ("common retention ρ", self.common_retention, None),
            ("noise ν", self.noise, None),
            ("coefficient of D", None, self.free_transfer),
            ("sum of coefficients of e and D", None, self.coefficient_sum),
        )
        columns = [Column("coefficient", "", left=True)]
        for prefix, *heads in (
            ("", "estimate", f"{percent(self.level)} interval"),
            ("free_", "unconstrained", "interval "),
        ):
            columns += [
                Column(f"{prefix}estimate", heads[0], ".4f"),
                Column(f"{prefix}low"),
                Column(f"{prefix}high"),
                Column(None, heads[1], lambda part: f"{part.low:.4f} … {part.high:.4f}"),
            ]
        cells = [(name, *_cells(law), *_cells(free)) for name, law, free in pairs if law or free]
        return Table(tuple(columns), cells)

    def sheet(self) -> Sheet:
        """Return the coefficients, how well the law fits, and whether to plan by it."""
        scores = ", ".join(f"{name} {score:.3f}" for name, score in self.forms.items())
        worst = max(self.residuals, key=lambda name: abs(self.residuals[name][0]))
        effect = law_effect(self.to_problem())
        lines = (
            ("form", f"{self.form}: {ABOUT[self.form]}"),
            ("forms", f"R² in left-out {'pilots' if self.pilots > 1 else 'visits'}: {scores}"),
            ("worst", f"region {worst}, mean residual {self.residuals[worst][0]:+.4g}"),
            ("verdict", f"{self.verdict}, {MEANING[self.verdict]}: {self.reason}"),
            *([] if self.advice is None else [("advice", self.advice)]),
            *([] if effect is None else [("order", f"{effect.errors}: {effect.verdict} (by the law, no travel)")]),
            *(("warning", note) for note in self.notes),
        )
        fit = f"R² = {self.r_squared:.3f} ({self.free_r_squared:.3f} with unconstrained coefficients)"
        return Sheet(f"{fit}, {self.visits} visits in {self.pilots} pilots", (self.table(),), lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        names = ("retention", "coupling", "noise", "free_retention", "free_coupling", "free_transfer",
                 "coefficient_sum")  # fmt: skip
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "advice": self.advice,
            "form": self.form,
            "measure": self.measure,
            "forms": dict(self.forms),
            "skill": self.skill,
            **{name: getattr(self, name)._asdict() for name in names},
            "common_retention": None if self.common_retention is None else self.common_retention._asdict(),
            "r_squared": self.r_squared,
            "free_r_squared": self.free_r_squared,
            "residuals": {name: {"mean": mean, "rms": rms} for name, (mean, rms) in self.residuals.items()},
            "visits": self.visits,
            "pilots": self.pilots,
            "level": self.level,
            "same_learner": self.same_learner,
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
        Results of `follow` for some routes, or pairs of a route and its T x T errors (as in `Following`). Learner,
        error measure and training should be the same as for the transfer matrix; a note says so if the learner differs,
        and another error measure is rejected.
        At least two routes are needed for a supported law; more routes make the intervals narrower. The first visit
        counts only if the errors before it are known.
    level
        Level of the intervals.
    forms
        Forms of the law to choose from: `linear`, `held` and `common`. If none of them can be fitted, `linear` is used.

    Returns
    -------
    Calibration
        The verdict, p₁, q and ν with intervals, how well the law fits, and the learner to plan with.

    Raises
    ------
    RefusedError
        If there are too few visits, or retention and coupling cannot be identified from them.
    """
    known = transfer if isinstance(transfer, Transfer) else Transfer.of(transfer)
    if not 0 < as_number("level", level, meaning="the level") < 1:
        raise InputError("expected a number between 0 and 1", field="level", value=level)
    wanted = _check_forms(forms)
    routes, records, measured = _routes(known, followed)
    found = laws.visits_of(routes, known.errors)
    count = int(found.visit.max()) + 1
    if count < FEWEST_VISITS:
        raise RefusedError(
            f"only {count} visits have errors before and after; follow more routes, for at least {FEWEST_VISITS}"
        )
    fits = laws.fit_forms(routes, found, known.errors, known.before)
    fits = {name: fit for name, fit in fits.items() if name in wanted} or {LINEAR: fits[LINEAR]}
    scores = cross_validate(routes, known.errors, known.before, found, fits)
    same, differences = _compare_learners(known, records)
    form = scores.choose(preference_of(same))
    fit = fits[form]
    gained = laws.common_gains(routes, known.errors, fit.bounded) if form == COMMON else None
    free = laws.fit_free(found, known.before if form == HELD else None, gained)
    parts = _intervals(fit, count, level)
    free_parts = _intervals(free, count, level)
    summed = [0, 2, 4] if form == HELD else [0, 2]
    total = _interval(free, np.eye(len(free.values))[summed].sum(axis=0), count, level)
    plain = (parts[0].value, parts[1].value)
    parts = [part._replace(value=float(value)) for part, value in zip(parts, fit.bounded, strict=True)]
    skill = scores.skill(form)
    own = _error_just_after(fit, found, level)
    verdict = judge(Evidence(form, skill, parts[0], free_parts[2], total, own, plain, len(routes), same), known)
    variance = float(((found.after - found.after.mean()) ** 2).sum())
    explained, freely_explained = (
        1 - float((one.residuals**2).sum()) / variance if variance > 0 else 0.0 for one in (fit, free)
    )
    residuals = {}
    for k, name in enumerate(known.regions):
        own = fit.residuals[found.region == k]
        if len(own):
            residuals[name] = (float(own.mean()), math.sqrt(float((own**2).mean())))
    return Calibration(
        retention=parts[0],
        coupling=parts[1],
        noise=parts[2],
        free_retention=free_parts[0],
        free_coupling=free_parts[1],
        free_transfer=free_parts[2],
        coefficient_sum=total,
        r_squared=explained,
        free_r_squared=freely_explained,
        residuals=residuals,
        visits=count,
        pilots=len(routes),
        level=level,
        verdict=verdict.verdict,
        reason=verdict.reason,
        advice=verdict.advice,
        same_learner=same,
        notes=(*verdict.notes, *differences),
        transfer=known,
        form=form,
        common_retention=parts[3] if form == COMMON else None,
        forms=scores.r_squared,
        skill=skill,
        measure=measured,
    )


def _cells(part: Coefficient | None) -> tuple[Any, ...]:
    return (None,) * 4 if part is None else (part.value, part.low, part.high, part)


def _check_forms(forms: Iterable[str]) -> set[str]:
    """Check names of forms."""
    named = [forms] if isinstance(forms, str) or not isinstance(forms, Iterable) else list(forms)
    return {as_choice("forms", name, FORMS) for name in named}


def read_following(path: str | Path) -> tuple[list[str], Any, Any, Any, Any]:
    """Read a route, its errors, those before it, the learner and the measure from a `.json` file of a `Following`."""
    path = Path(path)
    with errors_naming(path):
        data = json_files.read(path)
        if not isinstance(data, dict) or not {"route", "errors"} <= set(data):
            raise InputError("expected a file written by `learnroute follow -o`, with route and errors")
        if "models" in data:
            raise InputError(SEVERAL, field="models")
        _check_once("route", data["route"], data.get("tested", data["route"]))
        learner = as_record("learner", data.get("learner"))
        return data["route"], data["errors"], data.get("before"), learner, data.get("measure")


def _routes(known: Transfer, followed: Iterable[Any]) -> tuple[list[Route], list[dict[str, Any] | None], str]:
    """Check followed routes; return them with the records of their learners, and the one measure of all errors."""
    if isinstance(followed, Following | str | Mapping) or not isinstance(followed, Iterable):
        raise InputError("expected a list of followed routes", field="followed", value=followed)
    routes, records, measured = [], [], known.measure
    for number, one in enumerate(followed):
        route, errors, before, learner, measure = _unpack_pilot(f"followed[{number}]", one)
        if measure and measured and measure != measured:
            what = f"the transfer matrix has {known.measure}" if known.measure else f"other pilots have {measured}"
            reason = f"{what}; measure all with the same error"
            raise InputError(reason, field=f"followed[{number}].measure", value=measure)
        measured = measured or str(measure or "")
        places = [_place(f"followed[{number}].route", name, known.regions) for name in route]
        table = as_matrix(f"followed[{number}].errors", errors, len(places), len(places), meaning="errors")  # fmt: skip
        first = None
        if before is not None:
            first = as_matrix(f"followed[{number}].before", [before], 1, len(places), meaning="errors")[0]  # fmt: skip
        if len(places) > (first is None):
            routes.append(Route(places, table, first))
            records.append(as_record(f"followed[{number}].learner", learner))
    if not routes:
        size = len(known.regions)
        raise InputError(f"no visits; follow at least one route through the {size} regions", field="followed")
    return routes, records, measured


def _unpack_pilot(field: str, given: Any) -> tuple[Sequence[Any], Any, Any, Any, Any]:
    if isinstance(given, Following):
        if given.fleet is not None:
            raise InputError(SEVERAL, field=field)
        _check_once(field, given.route, given.tested)
        return given.route, given.errors, given.before, given.learner, given.measure
    if isinstance(given, tuple | list) and len(given) in (2, 3, 4, 5) and not isinstance(given[0], str):
        before, learner, measure = [*given[2:], None, None, None][:3]
        return given[0], given[1], before, learner, measure
    raise InputError("expected a result of follow(), or a route and its errors", field=field, value=given)


def _check_once(field: str, route: Any, tested: Any) -> None:
    """Reject pilots that skip or revisit regions."""
    if list(route) != list(tested):
        raise InputError("a pilot route must visit each tested region exactly once", field=field)


def _place(field: str, name: Any, regions: tuple[str, ...]) -> int:
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < len(regions):
        return int(name)
    if name not in regions:
        hint = did_you_mean(name, regions, "there are")
        raise InputError(f"not in the transfer matrix; {hint}", field=field, value=name)
    return regions.index(name)


def _compare_learners(known: Transfer, records: list[dict[str, Any] | None]) -> tuple[bool | None, list[str]]:
    """Return whether D and all pilots have one learner (None: not recorded), and a note per other learner."""
    pilots: dict[tuple[str, str], list[str]] = {}
    for number, record in enumerate(records, 1):
        if known.learner is not None and record is not None:
            names = distinguishing_names(known.learner, record)
            if names is not None:
                pilots.setdefault(names, []).append(str(number))
    sentences = [
        f"D was measured with {ours}, {'pilots' if len(numbers) > 1 else 'pilot'} {', '.join(numbers)} with {theirs}"
        for (ours, theirs), numbers in pilots.items()
    ]
    if sentences:
        return False, sentences
    return (True if known.learner is not None and None not in records else None), []


def _intervals(fit: Fit, count: int, level: float) -> list[Coefficient]:
    return [_interval(fit, mix, count, level) for mix in np.eye(len(fit.values))]


def _interval(fit: Fit, mix: FloatArray, count: int, level: float) -> Coefficient:
    """Return a linear combination of coefficients with its interval; degrees of freedom come from the visits."""
    value, error = float(mix @ fit.values), math.sqrt(max(0.0, float(mix @ fit.covariance @ mix)))
    half = _student(0.5 + level / 2, max(1, count - len(fit.values))) * error
    return Coefficient(value, error, value - half, value + half)


def _error_just_after(fit: Fit, found: laws.Visits, level: float) -> Coefficient:
    """Return the mean residual just after training, in the region of the training; regions are the clusters."""
    own = found.region == found.place
    means = np.array([fit.residuals[own & (found.place == k)].mean() for k in np.unique(found.place)])
    value, error = float(means.mean()), float(means.std(ddof=1)) / math.sqrt(len(means))
    half = _student(0.5 + level / 2, len(means) - 1) * error
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
