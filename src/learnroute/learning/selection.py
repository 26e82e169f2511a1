"""Select the form of the law that best predicts pilot routes to which it was not fitted.

Each form is fitted without some of the pilots, and predicts all errors along these from the errors before their first
visit, as a plan does. With a single pilot, its visits are left out in turn, and each is predicted from the errors just
before it. If forms tie, the simpler one is chosen. Forms tie if the difference of their squared errors is within its
standard error (the one-standard-error rule of Breiman, Friedman, Olshen and Stone 1984).

Two predictions that ignore where the learner trained are made in the same way. A law that is not better than these
cannot distinguish orders of regions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from learnroute.learning import laws
from learnroute.learning.laws import COMMON, HELD, LINEAR, Fit, Route, Visits
from learnroute.model.validation import FloatArray, IntArray

MOST_FOLDS = 10  # groups of pilots that are left out in turn; ten are customary in cross-validation
STANDARD_ERRORS = 1.0  # of the difference; a form that is better by at most this much ties with the simpler one
TIE = 0.001  # of left-out R²; forms that differ by at most this much always tie


class Scores(NamedTuple):
    """Squared errors of predicting left-out visits, for each form (one per visit) and for order-blind predictions.

    `order_blind` is the sum for the better of two predictions that ignore where the learner trained, and `total` the
    sum of squares about the mean.
    """

    errors: dict[str, FloatArray]
    order_blind: float
    total: float

    @property
    def r_squared(self) -> dict[str, float]:
        """The left-out R² of each form; if it is below 0, the mean predicts better."""
        return {
            name: 1 - float(errors.sum()) / self.total if self.total > 0 else 0.0
            for name, errors in self.errors.items()
        }

    def skill(self, form: str) -> float:
        """Return the relative reduction of the squared error of the order-blind prediction by a form."""
        return 1 - float(self.errors[form].sum()) / self.order_blind if self.order_blind > 0 else 0.0

    def choose(self, preference: Sequence[str]) -> str:
        """Return the best form; among ties, the first in order of preference."""
        known = [form for form in preference if form in self.errors]
        best = known[0]
        for form in known[1:]:
            saved = self.errors[best] - self.errors[form]
            doubt = STANDARD_ERRORS * math.sqrt(len(saved)) * float(saved.std(ddof=1))
            if saved.sum() > max(doubt, TIE * self.total):
                best = form
        return best


def preference_of(same_learner: bool | None) -> tuple[str, ...]:
    """Return the forms, the simplest first: `common` has one more coefficient than the others.

    For a linear learner, `held` is proved if the initial model of D is known. The proof does not apply if the pilots
    belong to another learner.
    """
    return (LINEAR, HELD, COMMON) if same_learner is False else (HELD, LINEAR, COMMON)


def cross_validate(
    routes: Sequence[Route], moved: FloatArray, first: FloatArray | None, found: Visits, fits: dict[str, Fit]
) -> Scores:
    """Score fitted forms on left-out pilots (or left-out visits of a single pilot)."""
    if len(routes) > 1:
        errors, blind = _by_pilots(routes, moved, first, fits)
    else:
        errors = {name: _sums(found.visit, one.left_out**2) for name, one in fits.items()}
        blind = _by_visits(found, moved)
    return Scores(errors, blind, float(((found.after - found.after.mean()) ** 2).sum()))


def _by_pilots(
    routes: Sequence[Route], moved: FloatArray, first: FloatArray | None, fits: dict[str, Fit]
) -> tuple[dict[str, FloatArray], float]:
    """Return the squared errors of each form and of the better order-blind prediction, in left-out pilots."""
    errors: dict[str, list[FloatArray]] = {name: [] for name in fits}
    forecast_error, means = 0.0, 0.0
    for fold in np.array_split(np.arange(len(routes)), min(len(routes), MOST_FOLDS)):
        rest = [route for number, route in enumerate(routes) if number not in fold]
        known = laws.visits_of(rest, moved)
        values = {name: _refit(name, one, rest, known, moved, first) for name, one in fits.items()}
        targets = dict.fromkeys(fits, moved)
        if HELD in fits:
            assert first is not None
            targets[HELD] = laws.target_errors(moved, first, values[HELD])
        blind = laws.least_squares(_blind_table(known, moved), known.after)
        typical = _region_means(known, len(moved))
        for number in fold:
            route = routes[number]
            for name in fits:
                apart = laws.forecast(route, targets[name], values[name]) - route.after
                errors[name].append((apart**2).sum(axis=1))
            forecast_error += float(((_blind_forecast(route, moved, blind) - route.after) ** 2).sum())
            means += float(((typical[route.places] - route.after) ** 2).sum())
    return {name: np.concatenate(parts) for name, parts in errors.items()}, min(forecast_error, means)


def _sums(groups: IntArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(groups, weights=values), dtype=np.float64)


def _refit(
    form: str, whole: Fit, routes: Sequence[Route], found: Visits, moved: FloatArray, first: FloatArray | None
) -> FloatArray:
    if form == COMMON:
        return laws.common_values(routes, moved, whole.values)
    if form == LINEAR:
        return laws.bounded_values(*laws.linear_system(found), laws.in_triangle)
    assert first is not None
    return laws.bounded_values(*laws.held_system(found, first), laws.in_triangle)


def _by_visits(found: Visits, moved: FloatArray) -> float:
    """Return the squared error of the better order-blind prediction, in left-out visits."""
    table, stepped, means = _blind_table(found, moved), 0.0, 0.0
    for visit in range(int(found.visit.max()) + 1):
        out = found.visit == visit
        values = laws.least_squares(table[~out], found.after[~out])
        stepped += float(((found.after[out] - table[out] @ values) ** 2).sum())
        rest = Visits(*(column[~out] for column in found))
        typical = _region_means(rest, len(moved))[found.region[out]]
        means += float(((found.after[out] - typical) ** 2).sum())
    return min(stepped, means)


def _blind_table(found: Visits, moved: FloatArray) -> FloatArray:
    """Return regressors of the law with D's column means instead of D, so that every visit has the same effect."""
    typical = moved.mean(axis=0)[found.region]
    return np.column_stack([found.before, -found.here, typical, np.ones(len(found.after))])


def _blind_forecast(route: Route, moved: FloatArray, values: FloatArray) -> FloatArray:
    now, rows, typical = route.before[0], [], moved.mean(axis=0)[route.places]
    for t in range(route.skipped, len(route.places)):
        now = values[0] * now - values[1] * now[t] + values[2] * typical + values[3]
        rows.append(now)
    return np.array(rows)


def _region_means(found: Visits, size: int) -> FloatArray:
    """Return the mean error in each region after visits; for regions without any, the mean over all."""
    counts = np.bincount(found.region, minlength=size)
    sums = np.bincount(found.region, weights=found.after, minlength=size)
    return np.asarray(np.where(counts > 0, sums / np.maximum(1, counts), found.after.mean()))
