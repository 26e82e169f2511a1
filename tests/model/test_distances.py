"""Distances on the globe and in the plane against references of fifty digits, near, far and at the antipode."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnroute.model.linear import Weighted
from learnroute.model.travel import EARTH_RADIUS, Places
from learnroute.solvers.bounds import sparse_bound
from learnroute.solvers.contract import Budget
from learnroute.solvers.exact.held_karp import held_karp

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
NANOMETRE = 1e-12  # km

Place = tuple[float, float]


def sine(x: Decimal) -> Decimal:
    """By its power series, after reduction to a quarter turn."""
    x %= 2 * PI
    if abs(x) > PI:
        x -= PI.copy_sign(x) * 2
    if abs(x) > PI / 2:
        x = PI.copy_sign(x) - x
    term = total = x
    for k in range(1, 40):
        term *= -x * x / ((2 * k) * (2 * k + 1))
        total += term
    return total


def arctangent(x: Decimal) -> Decimal:
    """Of a number >= 0, by its power series, after halving the angle."""
    halvings = 0
    while x > Decimal("0.1"):
        x /= 1 + (1 + x * x).sqrt()
        halvings += 1
    term, total = x, x
    for k in range(1, 40):
        term *= -x * x
        total += term / (2 * k + 1)
    return total * Decimal(2) ** halvings


def great_circle(a: Place, b: Place) -> float:
    """The angle between two places as vectors, by cross and dot product, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        u, v = (_vector(place) for place in (a, b))
        cross = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        length = sum(x * x for x in cross).sqrt()  # type: ignore[union-attr]
        dot = sum(x * y for x, y in zip(u, v, strict=True))
        angle = PI / 2 if dot == 0 else arctangent(length / abs(dot))
        return float(Decimal(EARTH_RADIUS) * (angle if dot >= 0 else PI - angle))


def _vector(place: Place) -> tuple[Decimal, Decimal, Decimal]:
    longitude, latitude = (Decimal(x) * PI / 180 for x in place)
    cosine = sine(latitude + PI / 2)
    return cosine * sine(longitude + PI / 2), cosine * sine(longitude), sine(latitude)


def distance(a: Place, b: Place) -> float:
    return float(Places(np.array([a, b]), geographic=True).between(0, 1))


def check(a: Place, b: Place) -> None:
    exact = great_circle(a, b)
    for found in (distance(a, b), distance(b, a)):
        assert abs(found - exact) <= 8e-16 * exact + NANOMETRE, (a, b, found, exact)


PLACES = st.tuples(st.floats(-360, 360), st.floats(-90, 90))
STEPS = st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.sampled_from([1e-14, 1e-10, 1e-7, 1e-5, 1e-3, 1.0, 30.0]))


@given(PLACES, PLACES)
def test_ordinary_distances(a: Place, b: Place) -> None:
    check(a, b)


@given(PLACES, STEPS)
def test_tiny_distances(a: Place, step: tuple[float, float, float]) -> None:
    x, y, size = step
    check(a, (a[0] + size * x if abs(a[0]) < 300 else a[0], max(-90.0, min(90.0, a[1] + size * y))))


@given(PLACES, STEPS)
def test_distances_to_about_the_antipode(a: Place, step: tuple[float, float, float]) -> None:
    x, y, size = step
    there = a[0] + 180 if a[0] < 0 else a[0] - 180
    check(a, (there + size * x, max(-90.0, min(90.0, -a[1] + size * y))))


def test_small_distances_have_all_their_digits() -> None:
    for step in (1e-6, 1e-9, 1e-12):  # degrees; 0.1 m to 100 nm
        b = (11.5 + step, 48.0 + step)
        assert distance((11.5, 48.0), b) == pytest.approx(great_circle((11.5, 48.0), b), rel=1e-13, abs=0)


def test_same_place_under_another_name() -> None:
    assert distance((180, 7.3), (-180, 7.3)) == 0
    assert distance((-359.5, 7.3), (0.5, 7.3)) == 0
    assert distance((0, 90), (77, 90)) < NANOMETRE
    assert distance((0, 90), (0, -90)) == pytest.approx(math.pi * EARTH_RADIUS, rel=1e-15)
    assert distance((10, 20), (-170, -20)) == pytest.approx(math.pi * EARTH_RADIUS, rel=1e-15)


@pytest.mark.parametrize("spread", [1e-9, 1e-4, 1.0, 60.0])
def test_searches_measure_the_same(spread: float) -> None:
    from learnroute.solvers.core_travel import place_travel
    from learnroute.solvers.local_search.candidates import candidates_of
    from learnroute.solvers.local_search.tour_search import TourSearch
    from learnroute.solvers.params import KOptParams

    rng = np.random.default_rng(0)
    near = np.column_stack([rng.uniform(-1, 1, 40), rng.uniform(-1, 1, 40)]) * spread + [20, 10]
    points = Places(np.vstack([near, near * [1, -1] + [180, 0]]), geographic=True, scale=3.0)
    ground = place_travel(points)
    i, j = (x.ravel() for x in np.indices((80, 80)))
    wanted, found = points.between(i, j), ground.lengths(i, j)
    np.testing.assert_allclose(found, wanted, rtol=1e-15, atol=3.0 * EARTH_RADIUS * 4e-15)
    objective = Weighted(points, np.zeros(80), np.zeros(80))
    search = TourSearch(objective, np.arange(80), candidates_of(objective, 8), KOptParams())
    again = [search.costs(a, b) for a, b in zip(i[:200], j[:200], strict=True)]
    assert again == found[:200].tolist()


@pytest.mark.parametrize("spread", [1e-12, 1e-6, 1.0, 80.0])
@pytest.mark.parametrize("antipodes", [False, True])
def test_bounds_from_rounded_places_stay_below(spread: float, antipodes: bool) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        places = np.column_stack([rng.uniform(-1, 1, 7), rng.uniform(-1, 1, 7)]) * spread + [12, 5]
        if antipodes:
            places[::2] = places[::2] * [1, -1] + [180, 0]
        travel = Places(places, True)
        objective = Weighted(travel, np.zeros(7), np.zeros(7))
        least = objective(held_karp(objective, rng, Budget()).order)
        assert sparse_bound(objective, travel) <= least


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_distances_in_the_plane(x: float, y: float, u: float, v: float) -> None:
    with localcontext() as context:
        context.prec = 60
        exact = float(((Decimal(x) - Decimal(u)) ** 2 + (Decimal(y) - Decimal(v)) ** 2).sqrt())
    assert float(Places(np.array([[x, y], [u, v]])).between(0, 1)) == pytest.approx(exact, rel=1e-15, abs=1e-300)
