"""Forms of the law of a learner, each as a least-squares problem over visits.

All describe how training in region k changes the error e_j in each region j. `linear` is the law of linear learners,
with measured errors D instead of dissimilarities:

    e_j ← p₁·e_j - q·e_k + (1 - p₁)·D[k, j] + ν

`held` allows for a D that was measured from an initial model with errors e⁰, towards which the learner was regularised.
Then D is the result of applying the same law to e⁰, and the law becomes

    e_j ← D[k, j] + p₁·(e_j - e⁰_j) - q·(e_k - e⁰_k) + ν

`common` separates the effect of a visit on one region from its effect on all regions, e_j = a_j - b:

    a_j ← p₁·a_j + (1 - p₁)·D[k, j],    b ← ρ·b + q·a_k - ν

With ρ = p₁ - q this is `linear`. Networks retain what all regions have in common, such as their first layers, longer
than what is specific to one region. Here a and b are computed from the route and D alone, so that q and ρ do not suffer
from errors in variables (noise in measured regressors biases least squares towards 0). The form is fitted by
Gauss–Newton.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from learnroute.errors import RefusedError
from learnroute.model import law
from learnroute.model.law import ModelErrors, Step
from learnroute.model.validation import FloatArray, IntArray

FORMS = LINEAR, HELD, COMMON = "linear", "held", "common"  # of the law, the simplest first
MOST_STEPS = 50  # of Gauss–Newton
SMALL = 1e-9  # a step that changes no more than this ends the fit
DIFFERENCE = 1e-6  # of a coefficient, for numerical derivatives
MOST_COMMON = 0.99  # upper bound of ρ; at 1, gains would accumulate forever
EDGES = (  # of the triangle 0 <= q <= p₁ <= 1 in (p₁, q, ν): direction and starting point
    (np.array([1.0, 0.0, 0.0]), np.zeros(3)),
    (np.array([1.0, 1.0, 0.0]), np.zeros(3)),
    (np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])),
)

System = tuple[FloatArray, FloatArray]  # a table A and values b, to be fitted by A @ coefficients ≈ b
Bound = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]  # of coefficients, by the normal equations
Predictor = Callable[[FloatArray], FloatArray]  # from sets of coefficients to predictions, one row per set


class Visits(NamedTuple):
    """All errors after visits, with their explanatory variables; one entry per visit and region.

    `before`, `here` and `moved` are e_j, e_k and D[k, j]; `region` is j, `place` is k, and `visit` counts the visits.
    """

    after: FloatArray
    before: FloatArray
    here: FloatArray
    moved: FloatArray
    region: IntArray
    place: IntArray
    visit: IntArray


class Route(NamedTuple):
    """One followed route: the indices of its stops, and errors (one row per stop, columns in the order of the stops).

    `first` are the errors before the route, if known.
    """

    places: list[int]
    errors: FloatArray
    first: FloatArray | None

    @property
    def skipped(self) -> int:
        """Number of visits at the start that do not count because the errors before them are unknown."""
        return int(self.first is None)

    @property
    def before(self) -> FloatArray:
        """The errors before each visit that counts, one row per visit."""
        return self.errors[:-1] if self.first is None else np.vstack([self.first, self.errors[:-1]])

    @property
    def after(self) -> FloatArray:
        """The errors after each visit that counts, one row per visit."""
        return self.errors[self.skipped :]


class Coefficient(NamedTuple):
    """An estimate, its standard error, and its confidence interval."""

    value: float
    standard_error: float
    low: float
    high: float

    def holds(self, number: float) -> bool:
        """Return whether a number is within the interval."""
        return self.low <= number <= self.high

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} … {self.high:.2f})"


class Fit(NamedTuple):
    """Least-squares coefficients, their covariance, and the table they belong to: wanted ≈ table @ values.

    `bounded` are the coefficients to plan with: the best ones within the bounds of the law. `left_out` is, for each
    entry, the error of predicting it with bounded coefficients fitted to all other visits.
    """

    values: FloatArray
    covariance: FloatArray
    table: FloatArray
    wanted: FloatArray
    bounded: FloatArray
    left_out: FloatArray

    @property
    def residuals(self) -> FloatArray:
        """Residuals of the coefficients within bounds."""
        return np.asarray(self.wanted - self.table @ self.bounded)


def visits_of(routes: Sequence[Route], moved: FloatArray) -> Visits:
    """Collect the errors along routes in one table."""
    columns: list[list[Any]] = [[] for _ in Visits._fields]
    visits = 0
    for route in routes:
        places = np.array(route.places)
        for t, (before, after) in enumerate(zip(route.before, route.after, strict=True), route.skipped):
            here, size = places[t], len(places)
            row = (after, before, np.full(size, before[t]), moved[here][places], places, np.full(size, here),
                   np.full(size, visits))  # fmt: skip
            for column, part in zip(columns, row, strict=True):
                column.append(part)
            visits += 1
    return Visits(*(np.concatenate(column) for column in columns))


def linear_system(found: Visits) -> System:
    """Return the least-squares problem of the form `linear`."""
    table = np.column_stack([found.before - found.moved, -found.here, np.ones(len(found.after))])
    return table, found.after - found.moved


def held_system(found: Visits, first: FloatArray) -> System:
    """Return the least-squares problem of the form `held`, for an initial model with errors `first`."""
    table = [found.before - first[found.region], first[found.place] - found.here, np.ones(len(found.after))]
    return np.column_stack(table), found.after - found.moved


def fit_free(found: Visits, first: FloatArray | None = None, gained: FloatArray | None = None) -> Fit:
    """Fit free coefficients of e_j, -e_k, D[k, j] and 1, and of e⁰_j and -e⁰_k if `first` is given.

    `gained` is b before each visit, by the form `common`: e_j ← p₁·e_j - q·e_k + (1 - p₁)·D[k, j] + (p₁ - q - ρ)·b + ν.
    """
    columns = [found.before, -found.here, found.moved, np.ones(len(found.after))]
    if first is not None:
        columns += [first[found.region], -first[found.place]]
    if gained is not None and np.ptp(gained) > SMALL:
        columns.append(gained[found.visit] / np.abs(gained).max())
    return fit(np.column_stack(columns), found.after, found.visit)


def fit_forms(routes: Sequence[Route], found: Visits, moved: FloatArray, first: FloatArray | None) -> dict[str, Fit]:
    """Fit every form of the law that these errors identify, the simplest first."""
    fits = {LINEAR: fit(*linear_system(found), found.visit, in_triangle)}
    if first is not None:
        with suppress(RefusedError):
            fits[HELD] = fit(*held_system(found, first), found.visit, in_triangle)
    with suppress(RefusedError):
        fits[COMMON] = common(routes, moved, common_starts(fits[LINEAR].values), found.visit)
    return fits


def common(routes: Sequence[Route], moved: FloatArray, starts: Sequence[FloatArray], clusters: IntArray) -> Fit:
    """Fit p₁, q, ν and ρ by Gauss–Newton from several starts; the returned fit is linearised at the best solution."""
    predict, measured = _one_step(routes, moved), _measured_errors(routes)
    values = _descent(measured, predict, starts)
    table = _slopes(predict, values)
    found = fit(table, measured - predict(values[None])[0] + table @ values, clusters, in_box)
    return found._replace(values=values, bounded=values)


def common_values(routes: Sequence[Route], moved: FloatArray, start: FloatArray) -> FloatArray:
    """Return p₁, q, ν and ρ without their covariance, starting from coefficients close to the solution."""
    return _descent(_measured_errors(routes), _one_step(routes, moved), [start])


def common_starts(tied: FloatArray) -> list[FloatArray]:
    """Return coefficients to start from: p₁, q and ν of the linear law, with its own ρ and with larger ones."""
    own = min(MOST_COMMON, max(0.0, float(tied[0] - tied[1])))
    return [np.array([*tied, rho]) for rho in (own, 0.5, 0.8)]


def _measured_errors(routes: Sequence[Route]) -> FloatArray:
    return np.concatenate([route.after.ravel() for route in routes])


def _descent(measured: FloatArray, predict: Predictor, starts: Sequence[FloatArray]) -> FloatArray:
    """Return the best coefficients found by Gauss–Newton steps, each halved until it improves the fit."""
    found = (_descent_from(measured, predict, in_box(start)) for start in starts)
    return min(found, key=lambda one: one[1])[0]


def _descent_from(measured: FloatArray, predict: Predictor, values: FloatArray) -> tuple[FloatArray, float]:
    rest = measured - predict(values[None])[0]
    least = float((rest**2).sum())
    for _ in range(MOST_STEPS):
        step = least_squares(_slopes(predict, values), rest)
        tried, now = values, least
        while np.abs(step).max() > SMALL:
            tried = in_box(values + step)
            rest = measured - predict(tried[None])[0]
            now = float((rest**2).sum())
            if now < least:
                break
            step = step / 2
        if now >= least or least - now < SMALL * least:
            break
        values, least = tried, now
    return values, least


def _slopes(predict: Predictor, values: FloatArray) -> FloatArray:
    """Return the derivatives of the predictions by each coefficient, from central differences."""
    steps = DIFFERENCE * np.eye(len(values))
    found = predict(np.vstack([values + steps, values - steps]))
    return np.asarray((found[: len(values)] - found[len(values) :]).T / (2 * DIFFERENCE))


def _one_step(routes: Sequence[Route], moved: FloatArray) -> Predictor:
    """Return the function that predicts the errors after each visit from the measured errors before it.

    a and b are computed from the route alone; a share p₁ of their difference to the measured errors before a visit
    remains after it. The function accepts several sets of coefficients at once, one per row.
    """
    alike: dict[tuple[int, bool], list[int]] = {}
    for number, route in enumerate(routes):
        alike.setdefault((len(route.places), route.first is None), []).append(number)
    groups = []
    for numbers in alike.values():
        chosen = [routes[number] for number in numbers]
        tables = np.stack([moved[np.ix_(route.places, route.places)] for route in chosen], axis=1)
        before = np.stack([route.before for route in chosen], axis=1)
        first = ModelErrors((before if chosen[0].first is not None else tables)[:1])
        groups.append((numbers, range(chosen[0].skipped, len(tables)), tables, before, first))

    def predict(values: FloatArray) -> FloatArray:
        kept, coupled, noise, rho = values.T[:, :, None]
        step = Step(kept, 1 - kept, coupled, rho, noise)
        rows: list[FloatArray] = [np.empty(0)] * len(routes)
        for numbers, visits, tables, before, first in groups:
            models = [first, *law.follow(first, visits, [step] * len(visits), tables)]
            together = np.stack(
                [
                    after.total + kept[..., None] * (measured - held.total)
                    for held, measured, after in zip(models[:-1], before, models[1:], strict=True)
                ],
                axis=2,
            )
            for place, number in enumerate(numbers):
                rows[number] = together[:, place].reshape(len(values), -1)
        return np.concatenate(rows, axis=1)

    return predict


def common_gains(routes: Sequence[Route], moved: FloatArray, values: FloatArray) -> FloatArray:
    """Return b before each visit, from the route, D, and p₁, q, ν and ρ."""
    kept, coupled, noise, rho = (float(value) for value in values)
    found = []
    for route in routes:
        visits, table = range(route.skipped, len(route.places)), moved[np.ix_(route.places, route.places)]
        first = ModelErrors(table[0] if route.first is None else route.first)
        steps = [Step(kept, 1 - kept, coupled, rho, noise)] * len(visits)
        after = list(law.follow(first, visits, steps, table))
        found += [-float(errors.common) for errors in (first, *after[:-1])]
    return np.array(found)


def forecast(route: Route, table: FloatArray, values: FloatArray) -> FloatArray:
    """Predict all errors along a route from those before its first visit, with p₁, q, ν and optionally ρ.

    `table` contains the errors towards which the learner moves (`target_errors`), T x T over all regions.
    """
    kept, coupled, noise = (float(value) for value in values[:3])
    rho = float(values[3]) if len(values) > 3 else kept - coupled
    visits = range(route.skipped, len(route.places))
    steps, rows = [Step(kept, 1 - kept, coupled, rho, noise)] * len(visits), table[np.ix_(route.places, route.places)]
    return np.array([errors.total for errors in law.follow(ModelErrors(route.before[0]), visits, steps, rows)])


def target_errors(moved: FloatArray, first: FloatArray, values: FloatArray) -> FloatArray:
    """Return D without the part retained from an initial model with errors `first`; negative values (noise) are 0.

    For a learner that retains everything, this part cannot be determined, and D is returned unchanged.
    """
    kept, coupled = float(values[0]), float(values[1])
    if kept >= 1:
        return moved
    return np.asarray(np.maximum(0.0, (moved - kept * first + coupled * first[:, None]) / (1 - kept)))


def fit(table: FloatArray, wanted: FloatArray, clusters: IntArray, bound: Bound | None = None) -> Fit:
    """Return least-squares coefficients and their covariance by the jackknife over clusters (CR3)."""
    solution, _, rank, _ = np.linalg.lstsq(table, wanted, rcond=None)
    values = np.asarray(solution, dtype=np.float64)
    if rank < table.shape[1]:
        raise RefusedError("the errors along these routes do not separate retention from coupling; follow other routes")
    # leaving out a cluster subtracts its part of the normal equations; visits are few, so each system is solved anew
    count, width = int(clusters.max()) + 1, table.shape[1]
    squares, products = np.zeros((count, width, width)), np.zeros((count, width))
    np.add.at(squares, clusters, table[:, :, None] * table[:, None, :])
    np.add.at(products, clusters, table * wanted[:, None])
    squares, products = squares.sum(axis=0) - squares, products.sum(axis=0) - products
    without = np.einsum("gij,gj->gi", np.linalg.pinv(squares, hermitian=True), products)
    apart = without - without.mean(axis=0)
    covariance = (count - 1) / count * apart.T @ apart
    bounded = values
    if bound is not None:
        bounded = bound(values, table.T @ table, table.T @ wanted)
        without = np.array([bound(*parts) for parts in zip(without, squares, products, strict=True)])
    left_out = wanted - np.einsum("ij,ij->i", table, without[clusters])
    return Fit(values, covariance, table, wanted, bounded, left_out)


def bounded_values(table: FloatArray, wanted: FloatArray, bound: Bound) -> FloatArray:
    """Return the coefficients within bounds, without their covariance."""
    return bound(least_squares(table, wanted), table.T @ table, table.T @ wanted)


def least_squares(table: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return the least-squares coefficients; if there are several solutions, the one with the smallest norm."""
    return np.asarray(np.linalg.lstsq(table, wanted, rcond=None)[0], dtype=np.float64)


def in_triangle(values: FloatArray, squares: FloatArray, products: FloatArray) -> FloatArray:
    """Return the least-squares coefficients p₁, q, ν with 0 <= q <= p₁ <= 1, given the unbounded ones."""
    if 0 <= values[1] <= values[0] <= 1:
        return values
    candidates = []
    for along, fixed in EDGES:  # p₁ and q are fixed + share * along, and ν is free
        basis = np.column_stack([along, [0.0, 0.0, 1.0]])
        share = (np.linalg.pinv(basis.T @ squares @ basis) @ basis.T @ (products - squares @ fixed))[0]
        point = fixed + min(1.0, max(0.0, float(share))) * along
        noise = float((products - squares @ point)[2] / squares[2, 2])
        candidates.append(point + np.array([0.0, 0.0, noise]))
    return min(candidates, key=lambda point: float(point @ squares @ point - 2 * point @ products))


def in_box(values: FloatArray, *_: FloatArray) -> FloatArray:
    """Return p₁, q, ν and ρ within their bounds."""
    low, high = np.array([0.0, 0.0, -np.inf, 0.0]), np.array([1.0, 1.0, np.inf, MOST_COMMON])
    return np.asarray(np.clip(values, low, high))
