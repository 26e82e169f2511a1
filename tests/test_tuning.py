"""λ and route together: against a fine grid with the optimal route at each λ, and schedules against single λ."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from learnroute import (
    InputError,
    Journey,
    Learner,
    Problem,
    Proximal,
    Visits,
    compare,
    error_over_time,
    evaluate,
    expected_loss,
    plan,
    robustness,
    tradeoff,
    verify,
)
from learnroute.model.routes import Routes
from learnroute.solvers.contract import Budget
from learnroute.study.families import random_problem
from learnroute.tuning import error_curve, tune_for


def undecided_problem(kind: str = "auto", m: int = 20, size: int = 6, seed: int = 0, **changes: Any) -> Problem:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((size, 4))
    given = {
        "coordinates": rng.random((size, 2)),
        "learner": Proximal(m, 18, 0.5, regularization=kind),
        "vectors": vectors,
        "initial": (vectors**2).sum(axis=1),
    }
    return Problem(**{**given, **changes})


@pytest.mark.parametrize("m", [6, 17, 18, 40])
def test_no_lambda_of_a_fine_grid_with_its_optimal_route_is_better(m: int) -> None:
    asked = undecided_problem(m=m, size=5, seed=m)
    found = plan(asked)
    assert found.learner is not None
    grid = np.logspace(-2, 3, 51)
    best = min(plan(asked.with_regularization(float(one)), "exact").loss.total for one in grid)
    assert found.loss.total <= 1.001 * best
    assert found.chosen == "auto"
    low, high = found.regularization_range or (0, 0)
    value = found.learner.regularization
    assert isinstance(value, float)
    assert low <= value <= high
    for one in np.geomspace(low, high, 7):
        loss = expected_loss(asked.with_regularization(float(one)), found.order).total
        assert loss <= 1.0101 * found.loss.total
    assert plan(asked).learner == found.learner


@pytest.mark.parametrize(("m", "initial", "noise"), [(6, 100.0, 0.0), (6, 1e-3, 3.0)])
def test_lambda_may_be_far_below_and_above_1(m: int, initial: float, noise: float) -> None:
    """Without noise and with an initial model far off, the least λ is best; with much noise, the largest."""
    asked = undecided_problem(size=4, initial=[initial] * 4, learner=Proximal(m, 18, noise, regularization="auto"))
    found = plan(asked)
    best = error_curve(asked, found.visits, np.logspace(-9, 9, 721)).min()
    assert found.loss.error <= best * (1 + 1e-6)
    assert best < (1 - 1e-6) * error_curve(asked, found.visits, [1e-3, 1e5]).min()


@pytest.mark.parametrize("m", [6, 18, 40])
def test_a_schedule_is_at_least_as_good_as_one_lambda_and_no_single_change_helps(m: int) -> None:
    one, many = plan(undecided_problem(m=m, size=5)), plan(undecided_problem("schedule", m=m, size=5))
    assert many.learner is not None
    schedule = many.learner.regularization
    assert isinstance(schedule, tuple)
    assert many.loss.total <= one.loss.total * (1 + 1e-9)
    for t in range(5):
        for factor in (0.5, 0.9, 1.1, 2.0):
            other = list(schedule)
            other[t] *= factor
            changed = expected_loss(undecided_problem(m=m, size=5).with_regularization(other), many.order).total
            assert changed >= many.loss.total * (1 - 1e-4)


@pytest.mark.parametrize("seed", [0, 6])
def test_no_other_visits_with_their_own_lambda_are_better(seed: int) -> None:
    more: dict[str, Any] = {"samples": [10, 18, 30, 12]} if seed else {"importance": [1, 0, 3, 1]}
    asked = undecided_problem(m=30, size=4, seed=seed, visits=Visits(["R2"], at_most=3), travel_rate=0.5, **more)
    everyone = [
        visits for many in (1, 2, 3) for visits in itertools.permutations(range(4), many) if 1 in visits
    ]  # fmt: skip
    for kind in ("auto", "schedule"):
        best = min(tune_for(asked, Routes.of_order(visits), kind, Budget()).total for visits in everyone)
        assert plan(asked.with_regularization(kind)).loss.total <= 1.0001 * best


@pytest.mark.parametrize(("m", "initial"), [(20, 10.0), (5, 1e3), (20, 1e4)])
def test_without_noise_and_with_as_many_samples_as_features_the_first_lambda_is_close_to_0(
    m: int, initial: float
) -> None:
    """The share that is retained decreases like the square root of λ only."""
    learner = Proximal(m, m, 0.0, regularization="schedule")
    asked = undecided_problem("schedule", size=3, initial=[initial] * 3, learner=learner, travel_rate=0.0)
    found = plan(asked)
    assert found.learner is not None
    rest = found.learner.regularization[1:]
    losses = [expected_loss(asked.with_regularization([1e-24, *rest]), found.order).total, found.loss.total]
    assert losses[1] <= losses[0] * (1 + 1e-4)


def test_with_many_samples_the_schedule_is_the_running_mean() -> None:
    asked = undecided_problem("schedule", m=3, size=6, learner=Proximal(3, 10_000, 0.01, regularization="schedule"))
    found = tune_for(asked, Routes.of_order(range(6)), "schedule", Budget())
    assert isinstance(found.regularization, tuple)
    assert found.regularization[1:] == pytest.approx([1, 2, 3, 4, 5], rel=0.05)
    vectors = asked.vectors
    assert vectors is not None
    floor = ((vectors - vectors.mean(axis=0)) ** 2).sum() / 6
    assert found.total - plan(asked.replace(travel_rate=0.0)).loss.travel == pytest.approx(floor, rel=0.3)


def test_a_curve_is_the_loss_at_each_lambda() -> None:
    for samples in (None, [10, 18, 30, 12, 40, 18]):
        asked = undecided_problem(samples=samples)
        table = [0.01, 0.3, 2.0, 50.0]
        curve = error_curve(asked, Routes.of_order(range(6)), table)
        wanted = [expected_loss(asked.with_regularization(one), range(6)).error for one in table]
        assert curve == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize("family", ["euclidean", "vectors"])
@pytest.mark.parametrize("samples", [False, True])
def test_a_curve_of_many_regions_is_what_the_law_gives_visit_by_visit(family: str, samples: bool) -> None:
    """Stops are taken in blocks; 150 of them are three."""
    rng = np.random.default_rng(1)
    given = random_problem(family, 150, Learner(12, 10, 0.3), 1).with_regularization(1.0)
    asked = given.replace(samples=rng.integers(5, 30, 150)) if samples else given
    order, table = rng.permutation(150), [1e-3, 0.3, 2.0, 1e4]
    wanted = [error_over_time(asked.with_regularization(one), order)[-1].mean() for one in table]
    assert error_curve(asked, Routes.of_order(order), table) == pytest.approx(wanted, rel=1e-12)
    assert [expected_loss(asked.with_regularization(one), order).error for one in table] == pytest.approx(
        wanted, rel=1e-12
    )


def test_estimates_choose_lambda_if_there_are_some() -> None:
    asked = undecided_problem()
    delta = np.array([asked.dissimilarities_to(i) for i in range(6)])
    inflated = asked.replace(vectors=None, dissimilarity=3 * delta, dissimilarity_estimate=delta,
                             initial=3 * asked.initial, initial_estimate=asked.initial)  # fmt: skip
    true, found, bounds = plan(asked), plan(inflated), plan(inflated.with_upper_bounds())
    assert found.learner is not None
    assert true.learner is not None
    assert bounds.learner is not None
    assert found.learner.regularization == pytest.approx(true.learner.regularization, rel=0.02)
    assert bounds.learner.regularization != pytest.approx(true.learner.regularization, rel=0.1)
    low = delta.copy()
    low[0, 1] = low[1, 0] = -0.5  # by chance below 0
    assert plan(inflated.replace(dissimilarity_estimate=low)).optimal


def test_initial_model_without_error_is_rejected() -> None:
    for kind in ("auto", "schedule"):
        with pytest.raises(InputError, match="initial is missing or 0 for all regions: the initial model has no error"):
            plan(undecided_problem(kind, initial=None))


def test_given_route_gets_its_best_lambda() -> None:
    asked = undecided_problem()
    found = evaluate(asked, range(6))
    grid = [expected_loss(asked.with_regularization(float(one)), range(6)).total for one in np.logspace(-2, 3, 201)]
    assert found.loss.total <= min(grid) * (1 + 1e-6)


def test_all_planning_commands_accept_an_undecided_learner() -> None:
    asked = undecided_problem(size=5)
    assert {row.method for row in compare(asked, ["exact", "travel"]).rows} == {"exact", "travel"}
    assert tradeoff(asked, points=4).complete
    assert robustness(asked, within=0.1, draws=3).draws == 3
    journey = Journey(asked)
    assert not journey.problem.learner.undecided
    expected = journey.expected_error
    while journey.next:
        journey.visit(journey.next)
    assert float(journey.errors.mean()) == pytest.approx(expected)


def test_plans_are_verified_and_forged_ones_are_not() -> None:
    asked = undecided_problem()
    found = plan(asked)
    assert verify(asked, found).holds
    data = found.to_dict()
    doubled = 2 * data["learner"]["regularization"]
    assert not verify(asked, data | {"learner": data["learner"] | {"regularization": doubled}}).holds
    assert not verify(asked, data | {"learner": {"rule": "proximal", "regularization": "auto"}}).holds
    assert not verify(asked, data | {"learner": {"rule": "least-squares"}}).holds
    assert not verify(asked, data | {"learner": {"rule": "proximal", "regularization": -1}}).holds
    other = asked.with_regularization(1.0)
    assert not verify(other, found).holds


@pytest.mark.parametrize("size", [3, 7, 13, 22])
@pytest.mark.parametrize("kind", ["one", "list", "samples", "matrix"])
def test_honest_plans_are_confirmed_and_raised_bounds_are_not(size: int, kind: str) -> None:
    rng = np.random.default_rng(size)
    asked = undecided_problem(size=size, seed=size).with_regularization(1.5)
    if kind == "list":
        asked = asked.with_regularization(rng.uniform(0.1, 5, size).tolist())
    elif kind == "samples":
        asked = asked.replace(samples=rng.integers(5, 50, size))
    elif kind == "matrix":
        noise = rng.uniform(0.5, 2, (size, size))
        delta = np.array([asked.dissimilarities_to(i) for i in range(size)]) * (noise + noise.T)
        asked = asked.replace(vectors=None, dissimilarity=delta)
    found = plan(asked, "search")
    checked = verify(asked, found)
    assert checked.holds, [check for check in checked if not check.holds]
    best = plan(asked, "exact").loss.total if size <= 7 else None
    data = found.to_dict()
    for member in ("lower_bound", "certificate"):
        raised = best * 1.0001 if best is not None else found.loss.total * 0.99999
        forged = {**data, "gap": None, "certified_ratio": None}
        forged[member] = raised if member == "lower_bound" else {**data["certificate"], "bound": raised}
        assert not verify(asked, forged).holds
    if best is not None and found.loss.total > best * (1 + 1e-9):
        assert verify(asked, data | {"optimal": True}).verdict == "refuted"
