"""The value of the route of one vehicle against the explicit law, and the rules of routes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from learnroute.model.ends import Ends
from learnroute.model.instance import Instance
from learnroute.model.routes import Routes
from oracle import law_of_instance
from samples import random_instance


def allows(instance: Instance, *visits: int) -> bool:
    return instance.allows(Routes.of_order(visits))


@pytest.mark.parametrize("seed", range(12))
def test_the_value_is_that_of_the_law_visit_by_visit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, repeat=2, origin=seed % 3 == 0, closed=seed % 2 == 0, by_position=seed % 4 == 1)
    law = law_of_instance(instance)
    for length in range(1, instance.visits.at_most + 1):
        routes = Routes.of_order(rng.integers(instance.size, size=length))
        (travel,) = law.travels(routes)
        assert instance.travels(routes) == pytest.approx([travel], rel=1e-14)
        assert instance.paid_travel(routes) == instance.travels(routes)[0]
        assert instance(routes) == pytest.approx(law.value(routes), rel=1e-13)
        assert math.fsum(instance.parts(routes).terms()) == pytest.approx(law.error(routes), rel=1e-12)
        assert instance.service(routes).errors == pytest.approx(law.errors(routes.regions), rel=1e-12)
        assert instance.magnitude(routes) >= abs(instance(routes))


def test_staying_in_a_region_costs_no_travel() -> None:
    instance = random_instance(np.random.default_rng(1), repeat=3, closed=True)
    routes = Routes.of_order([2, 2, 2])
    assert instance.paid_travel(routes) == 0.0
    assert instance(routes) == math.fsum(instance.parts(routes).terms())


def test_rules() -> None:
    instance = random_instance(np.random.default_rng(2), size=5, repeat=2, at_most=4, required=[1], forbidden=[3])
    assert allows(instance, 1)
    assert allows(instance, 1, 0, 1, 2)
    assert not allows(instance)
    assert not allows(instance, 0, 2)  # 1 is required
    assert not allows(instance, 1, 3)  # 3 is forbidden
    assert not allows(instance, 1, 1, 1)
    assert not allows(instance, 0, 1, 2, 4, 0)
    ended = replace(instance, ends=Ends(first=0, last=4))
    assert allows(ended, 0, 1, 4)
    assert not allows(ended, 1, 0, 4)
    assert not allows(ended, 0, 4, 1)


def test_a_budget_is_kept_up_to_rounding() -> None:
    instance = random_instance(np.random.default_rng(3), closed=True)
    travel = instance.paid_travel(Routes.of_order([0, 1, 2]))
    for budget, kept in ((travel, True), (math.nextafter(travel, 0.0), True), (travel * (1 - 1e-9), False)):
        assert allows(replace(instance, visits=replace(instance.visits, budget=budget)), 0, 1, 2) is kept


def test_with_an_origin_a_route_begins_anywhere() -> None:
    instance = random_instance(np.random.default_rng(4), origin=True)
    assert instance.first is None
    assert allows(instance, 2, 0)
    assert instance.paid_travel(Routes.of_order([2])) == instance.travel.matrix[instance.size, 2]
