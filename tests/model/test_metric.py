from __future__ import annotations

import itertools

import numpy as np
import pytest

from learnroute import check_metric, metric_closure, plan
from learnroute.guarantees import guarantee_of_algorithm1
from learnroute.model.metric import metric_report
from learnroute.study.families import random_problem
from samples import ALL_FAMILIES, METRIC_FAMILIES, UNDER


@pytest.mark.parametrize("size", [3, 8, 20])
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_worst_triple_and_the_count_are_those_of_a_full_search(size: int, symmetric: bool) -> None:
    for seed in range(5):
        travel = np.random.default_rng(seed).uniform(1, 10, (size, size))
        travel = (travel + travel.T) / 2 if symmetric else travel
        np.fill_diagonal(travel, 0)
        saved = {
            (i, k, j): travel[i, j] - travel[i, k] - travel[k, j] for i, k, j in itertools.permutations(range(size), 3)
        }
        report = check_metric(travel)
        assert report.symmetric == symmetric
        assert report.triples == len(saved)
        assert report.violations == sum(s > 1e-11 for s in saved.values())
        if report.worst is None:
            assert max(saved.values()) <= 1e-11
        else:
            assert saved[report.worst] == pytest.approx(max(saved.values()))
            assert report.excess == pytest.approx(max(saved.values()))


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_families_are_metric_as_they_say(family: str) -> None:
    reports = [check_metric(random_problem(family, 15, UNDER, seed).travel) for seed in range(3)]
    assert all(report.metric == (family in METRIC_FAMILIES) for report in reports)


def test_about_one_in_eight_triples_of_the_papers_draws_is_violated() -> None:
    reports = [check_metric(random_problem("uniform", 10, UNDER, seed).travel) for seed in range(200)]
    assert 0.10 < np.mean([report.violations / report.triples for report in reports]) < 0.14


@pytest.mark.parametrize("symmetric", [True, False])
def test_closure_is_a_metric_of_shortest_ways_and_reports_what_it_changed(symmetric: bool) -> None:
    rng = np.random.default_rng(3)
    travel = rng.uniform(1, 10, (7, 7))
    travel = (travel + travel.T) / 2 if symmetric else travel
    np.fill_diagonal(travel, 0)
    closed, changed = metric_closure(travel)
    assert check_metric(closed).triangle
    for i, j in itertools.permutations(range(7), 2):
        others = [k for k in range(7) if k not in (i, j)]
        ways = [travel[i, j]]
        for length in (1, 2, 3, 4, 5):
            for stops in itertools.permutations(others, length):
                way = (i, *stops, j)
                ways.append(sum(travel[a, b] for a, b in itertools.pairwise(way)))
        assert closed[i, j] == pytest.approx(min(ways))
    assert {(i, j) for i, j in changed.tolist()} == set(zip(*np.nonzero(closed != travel), strict=True))
    again, unchanged = metric_closure(closed)
    assert len(unchanged) == 0
    assert np.array_equal(again, closed)


def test_zero_travel_between_distinct_regions_is_valid() -> None:
    """A cost of 0 off the diagonal is free travel, not a missing entry."""
    travel = np.array([[0, 0, 5], [0, 0, 1], [5, 1, 0]], dtype=float)
    closed, changed = metric_closure(travel)
    assert closed[0, 2] == 1
    assert len(changed) == 2


def test_rounding_of_collinear_points_is_no_violation() -> None:
    points = np.linspace(0, 0.7, 50)
    assert check_metric(np.abs(points[:, None] - points[None, :])).metric


def test_check_stops_on_request() -> None:
    places = np.random.default_rng(1).uniform(0, 1, (120, 2))
    travel = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    asked = iter([False, False, True])
    assert metric_report(travel, lambda: next(asked)) is None
    assert metric_report(travel, lambda: False) == check_metric(travel)


def test_guarantee_needs_a_completed_metric_check() -> None:
    problem = random_problem("euclidean", 320, UNDER, 1)
    assert guarantee_of_algorithm1(problem).value == 1.5
    late = guarantee_of_algorithm1(problem, stop=lambda: True)
    assert late.value is None
    assert "no time was left to check the triangle inequality" in late.reason
    found = plan(problem, "algorithm1", time_limit=1e-3)
    assert found.guarantee.value is None
