"""The value of a sequence of visits against the explicit law, and the rules of sequences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from learnroute.model.ends import Ends
from visiting import law_value, route_length, sample


@pytest.mark.parametrize("seed", range(12))
def test_the_value_is_that_of_the_law_visit_by_visit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    objective = sample(rng, repeat=2, origin=seed % 3 == 0, closed=seed % 2 == 0, by_position=seed % 4 == 1)
    for length in range(1, objective.rules.at_most + 1):
        visits = rng.integers(objective.size, size=length)
        length_of_route = route_length(objective, visits.tolist())
        assert objective.travel_cost(visits) == pytest.approx(length_of_route, rel=1e-14)
        assert objective(visits) == pytest.approx(law_value(objective, visits.tolist()), rel=1e-13)
        assert objective.error(visits) == pytest.approx(objective(visits) - objective.rate * length_of_route, rel=1e-9)
        assert objective.magnitude(visits) >= abs(objective(visits))


def test_staying_in_a_region_costs_no_travel() -> None:
    objective = sample(np.random.default_rng(1), repeat=3, closed=True)
    assert objective.travel_cost([2, 2, 2]) == 0.0
    assert objective([2, 2, 2]) == objective.error([2, 2, 2])


def test_rules() -> None:
    objective = sample(np.random.default_rng(2), size=5, repeat=2, at_most=4, required=[1], forbidden=[3])
    assert objective.allows([1])
    assert objective.allows([1, 0, 1, 2])
    assert not objective.allows([])
    assert not objective.allows([0, 2])  # 1 is required
    assert not objective.allows([1, 3])  # 3 is forbidden
    assert not objective.allows([1, 1, 1])
    assert not objective.allows([0, 1, 2, 4, 0])
    ended = replace(objective, ends=Ends(first=0, last=4))
    assert ended.allows([0, 1, 4])
    assert not ended.allows([1, 0, 4])
    assert not ended.allows([0, 4, 1])


def test_a_budget_is_kept_up_to_rounding() -> None:
    objective = sample(np.random.default_rng(3), closed=True)
    travel = objective.travel_cost([0, 1, 2])
    for budget, kept in ((travel, True), (math.nextafter(travel, 0.0), True), (travel * (1 - 1e-9), False)):
        assert replace(objective, rules=replace(objective.rules, budget=budget)).allows([0, 1, 2]) is kept


def test_with_an_origin_a_sequence_begins_anywhere() -> None:
    objective = sample(np.random.default_rng(4), origin=True)
    assert objective.first is None
    assert objective.allows([2, 0])
    assert objective.travel_cost([2]) == objective.travel[objective.size, 2]
