"""Time limits hold: after the deadline, only little work is done. The test clock advances when it is read."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from learnroute import (
    Fleet,
    Journey,
    Learner,
    Problem,
    compare,
    compare_fleets,
    compare_learners,
    evaluate,
    plan,
    robustness,
    tradeoff,
    tuning,
    visit_curve,
)
from learnroute.errors import InputError
from learnroute.learning import ProximalRegressor, RouteRegressor, rehearse, simulation
from learnroute.model.instance import Instance
from learnroute.model.learners import Proximal
from learnroute.model.routes import Routes
from learnroute.model.spectrum import proximal_moments
from learnroute.model.visits import Visits
from learnroute.solvers.contract import Budget, Rounds
from learnroute.study.families import random_problem

STEP = 1e-3  # seconds that pass with each reading of the clock
REGIONS = 40
LATE_READINGS = 60  # of the clock after the deadline; without a limit, there are thousands
LATE_SOLVES = 2  # solvers that begin after the deadline: the first one of a call always does
LATE_STRENGTHS = 200  # λ that are evaluated after the deadline


class Clock:
    """A clock that advances by a step when it is read, and counts events after a deadline."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.deadline = 1000.0, np.inf
        self.readings = self.solves = self.strengths = 0
        begin, moments = Instance.without_idle, proximal_moments

        def counted_begin(instance: Instance) -> Instance:
            self.solves += self.late
            return begin(instance)

        def counted_moments(features: int, samples: int, regularization: Any) -> Any:
            self.strengths += self.late * np.size(regularization)
            return moments(features, samples, regularization)

        monkeypatch.setattr(time, "monotonic", self.read)
        monkeypatch.setattr(Instance, "without_idle", counted_begin)  # called by each solve
        monkeypatch.setattr(tuning, "proximal_moments", counted_moments)

    @property
    def late(self) -> bool:
        return self.now > self.deadline

    def read(self) -> float:
        self.now += STEP
        self.readings += self.late
        return self.now

    def start(self, limit: float) -> float:
        self.deadline = self.now + limit
        self.readings = self.solves = self.strengths = 0
        return limit


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def proximal(problem: Problem, regularization: str | float) -> Problem:
    return problem.replace(learner=Proximal(30, 25, 0.1, regularization=regularization))


def with_fleet(problem: Problem) -> Problem:
    return problem.replace(fleet=Fleet(vehicles=3), initial=np.ones(problem.size))


def samples_of(problem: Problem) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    shapes = ((12, 3), (12,), (6, 3), (6,))
    return {name: tuple(rng.normal(size=shape) for shape in shapes) for name in problem.regions}


CALLS: dict[str, Callable[[Problem, float], Any]] = {
    "plan": lambda problem, limit: plan(problem, time_limit=limit),
    "plan-auto": lambda problem, limit: plan(proximal(problem, "auto"), time_limit=limit),
    "plan-schedule": lambda problem, limit: plan(proximal(problem, "schedule"), time_limit=limit),
    "evaluate": lambda problem, limit: evaluate(problem, range(REGIONS), time_limit=limit),
    "evaluate-auto": lambda problem, limit: evaluate(proximal(problem, "auto"), range(REGIONS), time_limit=limit),
    "evaluate-schedule": lambda problem, limit: evaluate(
        proximal(problem, "schedule"), range(REGIONS), time_limit=limit
    ),
    "compare": lambda problem, limit: compare(problem, time_limit=limit),
    "compare-auto": lambda problem, limit: compare(proximal(problem, "auto"), time_limit=limit),
    "learners": lambda problem, limit: compare_learners(problem, time_limit=limit),
    "tradeoff": lambda problem, limit: tradeoff(problem, time_limit=limit),
    "tradeoff-auto": lambda problem, limit: tradeoff(proximal(problem, "auto"), time_limit=limit),
    "robustness": lambda problem, limit: robustness(problem, 0.2, time_limit=limit),
    "journey": lambda problem, limit: Journey(problem, time_limit=limit),
    "journey-auto": lambda problem, limit: Journey(proximal(problem, "auto"), time_limit=limit),
    "visits": lambda problem, limit: plan(problem.replace(visits=Visits()), time_limit=limit),
    "visits-auto": lambda problem, limit: plan(proximal(problem, "auto").replace(visits=Visits()), time_limit=limit),
    "visit-curve": lambda problem, limit: visit_curve(problem, time_limit=limit),
    "fleet": lambda problem, limit: plan(with_fleet(problem), time_limit=limit),
    "fleet-auto": lambda problem, limit: plan(with_fleet(proximal(problem, "auto")), time_limit=limit),
    "fleets": lambda problem, limit: compare_fleets(with_fleet(problem), [1, 2], [2], time_limit=limit),
    "fleets-auto": lambda problem, limit: compare_fleets(
        with_fleet(proximal(problem, "auto")), [1, 2], [2], time_limit=limit
    ),
    "compare-visits": lambda problem, limit: compare(
        proximal(problem, "schedule").replace(visits=Visits()), time_limit=limit
    ),
    "rehearse": lambda problem, limit: rehearse(samples_of(problem), RouteRegressor(), time_limit=limit),
    "rehearse-auto": lambda problem, limit: rehearse(
        samples_of(problem), ProximalRegressor(1.0), regularization="auto", time_limit=limit
    ),
    "rehearse-visits": lambda problem, limit: rehearse(
        samples_of(problem), RouteRegressor(), visits=Visits(), time_limit=limit
    ),
    "rehearse-fleet": lambda problem, limit: rehearse(
        samples_of(problem), RouteRegressor(), fleet=Fleet(vehicles=3), time_limit=limit
    ),
}


@pytest.mark.parametrize("limit", [0.02, 0.2])
@pytest.mark.parametrize("name", CALLS)
def test_little_is_done_after_the_deadline(name: str, limit: float, clock: Clock) -> None:
    problem = random_problem("euclidean", REGIONS, Learner(30, 25, 0.1), 1)
    try:
        CALLS[name](problem, clock.start(limit))
    except InputError as refusal:
        if name != "robustness" or "too few seconds for a single draw" not in str(refusal):
            raise
    assert clock.readings <= LATE_READINGS
    assert clock.solves <= LATE_SOLVES
    assert clock.strengths <= LATE_STRENGTHS


@pytest.mark.parametrize("regularization", [None, 1.0])
def test_visits_keep_their_limit(regularization: float | None, clock: Clock) -> None:
    problem = random_problem("euclidean", REGIONS, Learner(30, 25, 0.1), 1)
    trip = Journey(problem if regularization is None else proximal(problem, regularization), "nearest")
    trip.visit(time_limit=clock.start(0.1))
    assert clock.readings <= LATE_READINGS
    assert clock.solves <= 1


def test_a_comparison_says_which_methods_there_was_no_time_for(clock: Clock) -> None:
    problem = random_problem("euclidean", REGIONS, Learner(30, 25, 0.1), 1)
    first, *others = compare(problem, ["search", "nearest", "travel"], time_limit=clock.start(0.003)).rows
    assert first.loss is not None
    assert all(row.loss is None and "time limit" in (row.refused or "") for row in others)


def test_random_methods_are_averaged_over_the_draws_that_there_is_time_for(clock: Clock) -> None:
    problem = random_problem("euclidean", REGIONS, Learner(30, 25, 0.1), 1)
    (row,) = compare(problem, ["random"], draws=1000, time_limit=clock.start(0.2)).rows
    assert 1 < row.draws < 1000


def test_curves_that_come_too_late_are_left_out_and_reported(clock: Clock) -> None:
    problem = random_problem("euclidean", REGIONS, Learner(30, 25, 0.1), 1)
    whole = compare_learners(problem)
    hurried = compare_learners(problem, time_limit=clock.start(0.005))
    assert len(hurried.curves) == 1 < len(whole.curves)
    assert any("left out" in note for note in hurried.notes) or len({row.order for row in hurried.rows}) == 1
    assert all(np.isfinite(row.total) for row in hurried.rows if row.total is not None)


def test_another_round_begins_only_if_the_longest_one_would_fit(clock: Clock) -> None:
    rounds, made = Rounds(Budget.of(clock.start(1.0))), 0
    while not rounds.is_late:
        with rounds.measure():
            clock.now += 0.3 if made else 0.4
        made += 1
    assert made == 2
    assert not clock.late
    assert not Rounds(Budget.of(clock.start(0.01))).is_late  # the first one always begins, ...
    assert Rounds(Budget.of(clock.start(0.01)), 0.4).is_late  # ... unless it is known to take longer


def test_lambda_is_chosen_without_a_last_search_if_time_is_short(clock: Clock) -> None:
    problem = proximal(random_problem("euclidean", REGIONS, Learner(30, 25, 0.1), 1), "auto")
    found = plan(problem, time_limit=clock.start(0.05))
    assert clock.solves == 0
    assert found.method == "search"
    assert found.chosen == "auto"
    assert found.lower_bound is not None


@pytest.mark.parametrize("regularization", ["auto", 1.0])
@pytest.mark.parametrize("rules", [{}, {"visits": Visits(budget=100.0)}, {"fleet": Fleet(vehicles=2)}])
def test_plans_report_the_time_of_the_whole_calculation(
    rules: dict[str, Any], regularization: str | float, clock: Clock
) -> None:
    problem = proximal(random_problem("euclidean", 8, Learner(30, 25, 0.1), 1), regularization)
    problem = problem.replace(initial=np.ones(8), **rules)
    begun = clock.now
    found = plan(problem)
    assert 0 <= clock.now - begun - found.seconds < 3 * STEP
    begun = clock.now
    given = evaluate(problem, found.route if found.fleet is None else found.routes)
    assert 0 <= clock.now - begun - given.seconds < 3 * STEP


def test_a_budget_says_how_much_is_left(clock: Clock) -> None:
    budget = Budget.of(clock.start(1.0))
    assert budget.has_seconds(0.5)
    assert not budget.has_seconds(1.0)
    assert not budget.without_limit().exhausted
    clock.now += 2.0
    assert budget.exhausted
    assert not budget.has_seconds(0.0)
    assert budget.without_limit().has_seconds(1e9)


def test_a_rehearsal_has_as_many_draws_and_random_orders_as_there_is_time_for(clock: Clock) -> None:
    samples = samples_of(random_problem("euclidean", REGIONS, Learner(30, 25, 0.1), 1))
    whole = rehearse(samples, RouteRegressor())
    assert (whole.draws, len(whole.random_errors), whole.notes) == (32, 100, ())
    few = rehearse(samples, RouteRegressor(), time_limit=clock.start(0.02))
    assert (few.draws, len(few.errors)) == (2, 2)
    assert 1 <= len(few.random_errors) < 100
    assert few.notes[:2] == (
        "the time limit was reached before the rehearsal was complete", "the time limit allows 2 of 32 draws"
    )  # fmt: skip


def test_a_fleet_is_rejected_before_lambda_is_chosen(clock: Clock) -> None:
    clock.deadline = -np.inf  # count everything
    with pytest.raises(InputError, match="only one vehicle with one model"):
        compare(with_fleet(proximal(random_problem("euclidean", 5, Learner(30, 25, 0.1), 1), "auto")))
    assert clock.strengths == 0


def test_simulations_of_long_routes_are_drawn_in_small_chunks(clock: Clock) -> None:
    sizes = list[int]()

    def draw(runs: int, _rng: np.random.Generator) -> Any:
        sizes.append(runs)
        return np.zeros(runs)

    stream, budget = np.random.SeedSequence(1), Budget.of(clock.start(8 * STEP))
    errors = simulation._draw(draw, 100, 1000, 10_000, stream, budget)
    assert 2 <= len(sizes) < 20
    assert len(errors) == sum(sizes) < 10_000
    assert max(sizes) * 100 * 1000 <= simulation.WORK


def test_lambda_of_many_regions_is_chosen_in_rounds(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    table, evaluated = np.logspace(-3, 3, 31), list[float]()

    def curve(some: Any) -> Any:
        evaluated.extend(some)
        return (np.log(some) - 1) ** 2

    regions = tuning.ROUND // 4  # four λ per round
    assert tuning.minimise(curve, table, regions, Rounds(Budget())) == tuning.minimise(
        curve, table, 1, Rounds(Budget())
    )
    evaluated.clear()
    tuning.minimise(curve, table, regions, Rounds(Budget.of(clock.start(5 * STEP))))
    assert 4 <= len(evaluated) < 31
    assert max(evaluated) > 100 * min(evaluated)  # they are spread over the table


def test_the_range_of_lambda_is_left_out_if_all_rounds_would_be_late(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    curve = tuning.error_curve

    def slow_curve(problem: Problem, order: Any, table: Any) -> Any:
        clock.now += STEP * len(table)
        return curve(problem, order, table)

    monkeypatch.setattr(tuning, "error_curve", slow_curve)
    problem = with_fleet(proximal(random_problem("euclidean", 91, Learner(30, 25, 0.1), 1), "auto"))  # one λ per round
    routes = Routes.of_vehicles([range(vehicle, problem.size, 3) for vehicle in range(3)])
    clock.deadline = np.inf
    found = tuning.tune_for(problem, routes, "auto", Budget.of())
    assert found.low < found.high
    found = tuning.tune_for(problem, routes, "auto", Budget.of(clock.start(0.4)))
    assert found.low == found.high
    assert clock.now < clock.deadline + 0.02
