"""Forms that the law of a learner may have, each as a least-squares problem over visits.

All say how training in region k turns the error e_j in each region j into another one. `linear` is the law of linear
learners, with measured errors D in the place of dissimilarities:

    e_j ← p₁·e_j - q·e_k + (1 - p₁)·D[k, j] + ν

`held` allows for a D that was measured from a first model with errors e⁰, which the learner was held back to. Then D is
what the same law makes of e⁰, and what is left of it is

    e_j ← D[k, j] + p₁·(e_j - e⁰_j) - q·(e_k - e⁰_k) + ν

`common` tells apart what a visit does to one region and what it does to all of them, e_j = a_j - b:

    a_j ← p₁·a_j + (1 - p₁)·D[k, j],    b ← ρ·b + q·a_k - ν

With ρ = p₁ - q it is `linear`. Networks keep what all regions have in common, such as their first layers, longer than
what is one region's own. Here a and b are followed from the route and D alone, so that q and ρ do not suffer from
errors in variables: noise in measured regressors biases least squares towards 0. It is fitted by Gauss–Newton.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from learnroute.errors import RefusedError
from learnroute.model.validation import FloatArray

MOST_STEPS = 50  # of Gauss–Newton
SMALL = 1e-9  # a step that changes no more ends the fit
DIFFERENCE = 1e-6  # of a coefficient, for slopes
MOST_COMMON = 0.99  # of ρ: at 1, gains would add up for ever


class Visits(NamedTuple):
    """All errors after visits, with what they are explained by; one entry a visit and region."""

    after: FloatArray
    before: FloatArray
    here: FloatArray
    moved: FloatArray
    region: FloatArray
    visit: FloatArray


class Route(NamedTuple):
    """One followed route: the places of its stops, errors (a row a stop, columns in the order of the stops).

    `first` are the errors before it, where they are known.
    """

    places: list[int]
    errors: FloatArray
    first: FloatArray | None


class Fit(NamedTuple):
    """Least-squares coefficients, their covariance, and the table they belong to: wanted ≈ table @ values.

    `left_out` is the sum of squares of what coefficients without a visit leave over in that visit.
    """

    values: FloatArray
    covariance: FloatArray
    table: FloatArray
    wanted: FloatArray
    left_out: float

    @property
    def rest(self) -> FloatArray:
        """What is left over."""
        return np.asarray(self.wanted - self.table @ self.values)


def linear(found: Visits) -> Fit:
    """Fit p₁, q and ν of the law of linear learners."""
    table = np.column_stack([found.before - found.moved, -found.here, np.ones(len(found.after))])
    return fitted(table, found.after - found.moved, found.visit)


def free(found: Visits, first: FloatArray | None, here: FloatArray) -> Fit:
    """Fit the coefficients of e_j, -e_k, D[k, j] and 1, all free, and of e⁰_j and -e⁰_k if they count."""
    columns = [found.before, -found.here, found.moved, np.ones(len(found.after))]
    if first is not None:
        columns += [first[found.region.astype(np.int64)], -first[here.astype(np.int64)]]
    return fitted(np.column_stack(columns), found.after, found.visit)


def held(found: Visits, first: FloatArray, here: FloatArray) -> Fit:
    """Fit p₁, q and ν of a learner that is held back towards a first model with these errors."""
    own = first[found.region.astype(np.int64)]
    apart = found.here - first[here.astype(np.int64)]
    table = np.column_stack([found.before - own, -apart, np.ones(len(found.after))])
    return fitted(table, found.after - found.moved, found.visit)


def common(routes: Sequence[Route], moved: FloatArray, start: FloatArray, clusters: FloatArray) -> Fit:
    """Fit p₁, q, ν and ρ by Gauss–Newton, from p₁, q and ν of the linear law; the fit is linear about its end."""
    measured = np.concatenate([route.errors[0 if route.first is not None else 1 :].ravel() for route in routes])

    def predicted(values: FloatArray) -> FloatArray:
        return np.concatenate([_one_step(route, moved, *map(float, values)) for route in routes])

    tied = min(MOST_COMMON, max(0.0, float(start[0] - start[1])))
    begun = (np.array([*start, rho]) for rho in (tied, 0.5, 0.8))
    values = min((_descended(measured, predicted, _bounded(one)) for one in begun), key=lambda one: one[1])[0]
    table = _slopes(predicted, values)
    return fitted(table, measured - predicted(values) + table @ values, clusters)._replace(values=values)


def _descended(
    measured: FloatArray, predicted: Callable[[FloatArray], FloatArray], values: FloatArray
) -> tuple[FloatArray, float]:
    """Return the coefficients that Gauss–Newton steps lead to, halved until they help, and what is left over."""
    least = float(((measured - predicted(values)) ** 2).sum())
    for _ in range(MOST_STEPS):
        step = np.linalg.lstsq(_slopes(predicted, values), measured - predicted(values), rcond=None)[0]
        tried, now = values, least
        while np.abs(step).max() > SMALL:
            tried = _bounded(values + step)
            now = float(((measured - predicted(tried)) ** 2).sum())
            if now < least:
                break
            step = step / 2
        if now >= least or least - now < SMALL * least:
            break
        values, least = tried, now
    return values, least


def _slopes(predicted: Callable[[FloatArray], FloatArray], values: FloatArray) -> FloatArray:
    """Return how predictions change with each coefficient, by central differences."""
    steps = DIFFERENCE * np.eye(len(values))
    return np.column_stack([(predicted(values + h) - predicted(values - h)) / (2 * DIFFERENCE) for h in steps])


def _bounded(values: FloatArray) -> FloatArray:
    low, high = np.array([0.0, 0.0, -np.inf, 0.0]), np.array([1.0, 1.0, np.inf, MOST_COMMON])
    return np.asarray(np.clip(values, low, high))


def _one_step(route: Route, moved: FloatArray, kept: float, coupled: float, noise: float, rho: float) -> FloatArray:
    """Return what errors after each visit should be, from those before it, and from a and b along the route."""
    places = route.places
    table = moved[np.ix_(places, places)]
    own, gained, rows = (table[0], 0.0, []) if route.first is None else (route.first, 0.0, [])
    for t in range(1 if route.first is None else 0, len(places)):
        last = route.errors[t - 1] if t else route.first
        assert last is not None
        rows.append(kept * last + (1 - kept) * table[t] + (kept - rho) * gained - coupled * own[t] + noise)
        gained = rho * gained + coupled * own[t] - noise
        own = kept * own + (1 - kept) * table[t]
    return np.concatenate(rows)


def fitted(table: FloatArray, wanted: FloatArray, clusters: FloatArray) -> Fit:
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
    left_out = wanted - np.einsum("ij,ij->i", table, without[places])
    return Fit(np.asarray(values), (count - 1) / count * apart.T @ apart, table, wanted, float((left_out**2).sum()))
