"""Journeys with optional visits: the best continuation, visits that no longer pay, rules, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from claims import random_visits
from learnroute import InputError, Journey, Problem, Visits, plan
from oracle import law_of
from test_optional_visits import small


def least_continuation(journey: Journey) -> float:
    """The lowest loss of all feasible continuations, or of ending here, by the law, visit by visit."""
    law = law_of(journey.problem)
    made = journey.order[: len(journey.visits)]
    found = []
    for routes in law.routes():
        (whole,) = routes.vehicles
        if whole[: len(made)] == made:
            (way,) = law.travels(routes)
            found.append(loss_after(journey, whole[len(made) :], len(made)) + float(law.rate * way / law.size))
    return min(found)


def loss_after(journey: Journey, more: tuple[int, ...], many: int) -> float:
    problem = journey.problem
    own, common = journey.errors - journey.common, journey.common
    for t, k in enumerate(more, many):
        p, learnt, q, second, noise = (float(table[t, k]) for table in problem.updates.tables)
        common = second * common - q * own[k] + noise
        own = p * own + learnt * problem.dissimilarities_to(k)
    return float((problem.region_weights * own).mean() + common)


@pytest.mark.parametrize("block", range(3))
def test_remaining_route_is_the_best_of_all(block: int) -> None:
    """After each visit, for any measurements: the rest, or the end, is the best of all sequences."""
    rng = np.random.default_rng(block)
    for seed in range(40 * block, 40 * block + 40):
        problem = random_visits(seed, most=4)
        if problem is None or problem.visits_all_once or problem.learner.undecided or problem.most_visits > 4:
            continue
        with np.errstate(all="ignore"):
            try:
                journey = Journey(problem)
            except InputError:
                continue  # no route keeps the rules
            while True:
                best, scale = least_continuation(journey), abs(journey.common) + float(np.abs(journey.errors).max())
                assert journey.expected_loss == pytest.approx(best, rel=1e-9, abs=1e-11 * scale), (seed, journey)
                if journey.next is None:
                    break
                some = zip(problem.regions[:2], np.abs(journey.errors), strict=False)
                journey.visit(errors={name: float(rng.uniform(0.5, 2) * old) for name, old in some if seed % 2})


def test_visits_that_no_longer_pay_are_dropped_with_the_reason(tmp_path: Path) -> None:
    problem = small(travel_rate=0.02)
    journey = Journey(problem, file=tmp_path / "j.json")
    assert journey.route == plan(problem).route
    planned = journey.rest
    assert len(planned) > 2
    journey.visit(errors=dict.fromkeys(problem.regions, 1e-3))
    assert journey.rest == ()
    assert journey.next is None
    assert set(journey.dropped) == set(planned[1:])
    assert all("is dropped: a visit would add " in note for note in journey.notes)
    assert "no further visit lowers the loss" in str(journey.sheet())
    with pytest.raises(InputError, match="no further visit lowers the loss; the journey is over"):
        journey.visit()
    again = Journey.resume(tmp_path / "j.json")
    assert again.to_dict() == journey.to_dict()
    assert again.notes == journey.notes
    journey.visit(planned[1], errors=dict.fromkeys(problem.regions, 50.0))  # it may go on, and visits pay again
    assert journey.rest
    assert not set(journey.rest) & set(journey.dropped)


def test_rules_hold_along_the_whole_journey() -> None:
    visits = Visits(["R5"], ["R1"], 2, 1, 4, 6.0)
    problem = small(visits=visits, travel_rate=0.01)
    journey = Journey(problem)
    with pytest.raises(InputError, match="must not be visited"):
        journey.visit("R1")
    while journey.next is not None:
        journey.visit()
    names = [visit.region for visit in journey.visits]
    assert "R5" in names
    assert "R1" not in names
    assert len(names) <= 4
    assert max(map(names.count, names)) <= 2
    assert journey.travel_cost <= 6


def test_journey_reports_constraints_that_no_longer_hold() -> None:
    journey = Journey(small(visits=Visits(["R6"], repeat=2, budget=5.0), travel_rate=0.01))
    for name in ("R3", "R1"):
        journey.visit(name)
    assert journey.rest == ()
    assert journey.notes[0] == "no route from here satisfies the rules (visits): R6 must be visited"


def test_regions_are_added_and_dropped() -> None:
    problem: Problem = small(travel_rate=0.02, visits=Visits(["R2"], ["R3"]))
    journey = Journey(problem)
    journey.visit()
    gone = next(name for name in journey.left if name != "R2")
    journey.drop(gone)
    assert gone not in journey.problem.regions
    journey.add("new", coordinates=(2.5, 0.1), vector=(0.0, 0.0, 0.0), initial=1.0)
    assert "new" in journey.left
