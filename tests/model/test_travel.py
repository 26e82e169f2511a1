"""Both kinds of travel against loops over single legs."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from learnroute import Learner, Problem
from learnroute.model.depot import Depot
from learnroute.model.losses import travel_cost
from learnroute.model.travel import EARTH_RADIUS, Places, Travel, TravelMatrix

SIZE = 7
KINDS = ["symmetric", "directed", "plane", "globe"]


def travel_of(kind: str) -> tuple[Travel, list[list[float]]]:
    """Return travel and its costs, computed one by one."""
    rng = np.random.default_rng(3)
    if kind in ("symmetric", "directed"):
        costs = rng.uniform(1, 2, (SIZE, SIZE))
        costs = costs + costs.T if kind == "symmetric" else costs
        np.fill_diagonal(costs, 0.0)
        return TravelMatrix(costs), costs.tolist()
    places = np.column_stack([rng.uniform(-180, 180, SIZE), rng.uniform(-80, 80, SIZE)])
    length = _great_circle if kind == "globe" else math.dist
    return Places(places, kind == "globe", 1.5), [
        [1.5 * length(a, b) for b in places.tolist()] for a in places.tolist()
    ]


def _great_circle(a: list[float], b: list[float]) -> float:
    """Return the length by the law of cosines."""
    (u, v), (x, y) = ([math.radians(angle) for angle in place] for place in (a, b))
    cosine = math.sin(v) * math.sin(y) + math.cos(v) * math.cos(y) * math.cos(u - x)
    return EARTH_RADIUS * math.acos(max(-1.0, min(1.0, cosine)))


def near(wanted: Any) -> Any:
    """Compare with a tolerance: the law of cosines loses half of the digits of short distances."""
    return pytest.approx(np.array(wanted), rel=1e-12, abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_travel_of_many_orders_equals_travel_of_each(kind: str) -> None:
    travel, costs = travel_of(kind)
    everyone = range(SIZE)
    assert travel.size == SIZE
    assert travel.symmetric == (kind != "directed")
    assert travel.unit == ("km" if kind == "globe" else "")
    assert travel.between(np.arange(SIZE)[:, None], np.arange(SIZE)) == near(costs)
    assert travel.between(2, np.arange(SIZE)) == near([costs[2][j] for j in everyone])
    assert travel.between(np.arange(SIZE), 2) == near([costs[i][2] for i in everyone])
    assert travel.has_matrix == isinstance(travel, TravelMatrix)
    assert travel.matrix == near(costs)
    assert travel.has_matrix


@pytest.mark.parametrize("kind", KINDS)
def test_legs_are_the_ways_of_an_order_and_the_return_trip(kind: str) -> None:
    travel, costs = travel_of(kind)
    order = [3, 0, 6, 1]
    wanted = [costs[i][j] for i, j in pairwise(order)]
    assert travel.legs(order, closed=False) == near(wanted)
    assert travel.legs(order, closed=True) == near([*wanted, costs[1][3]])


@pytest.mark.parametrize("kind", KINDS)
def test_subsets_and_scaled_travel(kind: str) -> None:
    travel, costs = travel_of(kind)
    some = [5, 2, 4]
    fewer, dearer = travel.of(some), travel.scale_by(2.5)
    assert type(fewer) is type(dearer) is type(travel)
    assert fewer.matrix == near([[costs[i][j] for j in some] for i in some])
    assert dearer.matrix == near([[2.5 * cost for cost in row] for row in costs])
    assert dearer.of(some).between(0, 2) == near(2.5 * costs[5][4])
    assert travel.matrix == near(costs)


@pytest.mark.parametrize("matrix", [False, True])
def test_stops_at_the_same_location_have_the_same_number(matrix: bool) -> None:
    places = Places(np.array([[0.0, 1], [2, 3], [-0.0, 1], [4, 5], [2, 3]]))
    found = (TravelMatrix(places.matrix) if matrix else places).locations
    same = [[bool(a == b) for b in found] for a in found]
    assert same == [[bool(way == 0) for way in row] for row in places.matrix]


@pytest.mark.parametrize("places", [False, True])
@pytest.mark.parametrize("depot", [False, True])
def test_problem_has_travel_in_its_unit_and_objective_at_the_rate(places: bool, depot: bool) -> None:
    rng = np.random.default_rng(0)
    where, vectors = rng.uniform(0, 10, (5, 2)), rng.normal(0, 1, (4, 2))
    apart = Places(where).matrix
    given: dict[str, Any] = {"coordinates": where[:4]} if places else {"travel": apart[:4, :4]}
    if depot:
        given["depot"] = Depot(coordinates=where[4]) if places else Depot(travel=apart[4, :4])
    problem = Problem(**given, learner=Learner(3, 10), vectors=vectors, travel_rate=3.0)
    stops = 5 if depot else 4
    order = [2, 0, 3, 1]
    np.testing.assert_array_equal(problem.ways.matrix, apart[:stops, :stops])
    np.testing.assert_array_equal(problem.travel, apart[:4, :4])
    assert not problem.travel.flags.writeable
    assert (problem.given_travel is None) == places
    np.testing.assert_array_equal(problem.instance.orders.travel.matrix, 3.0 * problem.ways.matrix)
    way = [4, *order, 4] if depot else order
    assert travel_cost(problem, order) == pytest.approx(sum(apart[i, j] for i, j in pairwise(way)), rel=1e-15)
