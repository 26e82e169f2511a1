"""Simulated fleets against the law of distances, event by event, and the two samplers against each other."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from learnroute import Fleet, InputError, Learner, Problem, Visits, evaluate, plan
from learnroute.learning import simulate
from learnroute.model.routes import UNTRAINED, Routes
from oracle import law_of

SIZE = 4
UNDER, OVER = Learner(3, 9, 0.6), Learner(12, 6, 0.6)
PROXIMAL = Learner(6, 8, 0.6, rule="proximal", regularization=0.7)
BY_POSITION = Learner(6, 12, 0.6, rule="proximal", regularization=tuple(float(k) for k in range(8)))
GRADIENT = Learner(6, 4, 0.6, rule="gradient", steps=5, rate=0.1)
TWICE = Visits(required=(), repeat=2)


def problem_of(learner: Learner, fleet: Fleet, visits: Visits | None = None, **members: Any) -> Problem:
    rng = np.random.default_rng(5)
    truth = rng.standard_normal((SIZE, 3))
    first = rng.standard_normal(3)
    members = {"vectors": truth, "initial": ((truth - first) ** 2).sum(axis=1), **members}
    return Problem(
        1 - np.eye(SIZE), learner, truth=truth, initial_model=first, fleet=fleet, visits=visits, travel_rate=0.01,
        **members,
    )  # fmt: skip


CASES: dict[str, tuple[Learner, Fleet, Visits | None, list[list[int]], list[int] | None]] = {
    "under, merged": (UNDER, Fleet(2), None, [[0, 1], [2, 3]], None),
    "under, equal weights": (UNDER, Fleet(3, weights="equal"), None, [[0, 1], [], [2, 3]], None),
    "under, own": (UNDER, Fleet(2, serve="own"), TWICE, [[0, 1], [1]], None),
    "over, merged": (OVER, Fleet(2), TWICE, [[0, 1, 1], [2]], None),
    "over, merged, one at home": (OVER, Fleet(2), TWICE, [[0, 2], []], None),
    "over, equal weights": (OVER, Fleet(3, weights="equal"), None, [[3], [0, 1], [2]], None),
    "over, own models": (OVER, Fleet(models=3), TWICE, [[0, 1, 0, 2]], [0, 1, 0, 1]),
    "proximal, merged": (PROXIMAL, Fleet(3), TWICE, [[0, 3], [2, 2], [1]], None),
    "proximal, merged models": (PROXIMAL, Fleet(models=2, serve="merged"), None, [[0, 1, 2, 3]], [0, 1, 1, 0]),
    "proximal, own": (PROXIMAL, Fleet(2, serve="own"), None, [[3, 0], [2, 1]], None),
    "proximal by position, merged": (BY_POSITION, Fleet(2), TWICE, [[0, 1, 2], [3, 0]], None),
    "gradient, merged": (GRADIENT, Fleet(2, weights="equal"), None, [[0, 1], [2, 3]], None),
}


def planned(name: str) -> tuple[Problem, Routes]:
    learner, fleet, visits, routes, models = CASES[name]
    asked = problem_of(learner, fleet, visits)
    made = evaluate(asked, routes if fleet.vehicles > 1 else routes[0], models=models)
    assert made.fleet is not None
    return asked, made.fleet


@pytest.mark.parametrize("sampler", ["low-dimensional", "direct"])
@pytest.mark.parametrize("name", CASES)
def test_mean_is_the_law_of_distances_within_three_standard_errors(name: str, sampler: str) -> None:
    asked, routes = planned(name)
    found = simulate(asked, routes, runs=4000, seed=3, sampler=sampler)
    expected = law_of(asked, float).error(routes) / SIZE
    assert found.expected == pytest.approx(expected, rel=1e-9)
    assert abs(found.mean - expected) <= 3 * found.standard_error
    assert found.standard_error < 0.05 * expected


def test_untrained_models_serve_if_they_are_planned_to() -> None:
    asked, routes = planned("over, own models")
    served = asked.instance.service(routes).served_by
    assert served is not None
    assert UNTRAINED in served.tolist()
    found = simulate(asked, routes, runs=50)
    assert found.plan is not None
    assert found.plan.served_by is not None
    assert None in found.plan.served_by.values()


@pytest.mark.parametrize("features", [3, 4, 20])
def test_both_samplers_draw_averages_from_the_same_law(features: int) -> None:
    """With zero, one and many dimensions outside of the span of the true models."""
    asked = problem_of(Learner(features, 8, 0.6, rule="proximal", regularization=0.5), Fleet(3))
    routes = Routes.of_vehicles([[0], [1, 2], [3]])
    errors = [simulate(asked, routes, 3000, seed, sampler).errors
              for seed, sampler in enumerate(("low-dimensional", "direct"))]  # fmt: skip
    assert ks_2samp(*errors).pvalue > 0.01


def test_regions_are_served_as_planned_though_the_truth_is_otherwise() -> None:
    """Weights, and the model of each region, go by the dissimilarities of the plan; errors by the true models."""
    for fleet in (Fleet(2), Fleet(2, serve="own")):
        wrong = 1.0 - np.eye(SIZE)
        asked = problem_of(PROXIMAL, fleet, vectors=None, dissimilarity=wrong, initial=[0.2, 3.0, 3.0, 3.0])
        routes = Routes.of_vehicles([[0, 1], [2, 3]])
        found = simulate(asked, routes, runs=4000, seed=1)
        truly = problem_of(PROXIMAL, fleet)
        best = law_of(truly, float).error(routes) / SIZE
        service = asked.instance.service(routes)
        assert truly.instance.service(routes, service).errors.mean() == pytest.approx(found.expected, rel=1e-9)
        assert found.expected > 1.001 * best
        assert abs(found.mean - found.expected) <= 3 * found.standard_error
        made = evaluate(asked, [[0, 1], [2, 3]])
        assert made.true_loss is not None
        assert made.true_loss.error == pytest.approx(found.expected, rel=1e-9)


def test_true_models_are_drawn_with_the_first_one_in_the_under_regime() -> None:
    """A model that stays untrained serves: its distance to the regions matters there, too."""
    asked = problem_of(UNDER, Fleet(2, serve="own"), TWICE)
    unknown = asked.replace(truth=None, initial_model=None)
    made = evaluate(unknown, [[0, 1], []])
    found = simulate(unknown, made, runs=2000)
    assert found.truth.origin == "drawn"
    assert found.expected == pytest.approx(made.loss.error, rel=1e-6)
    assert abs(found.mean - found.expected) <= 3 * found.standard_error


def test_a_plan_is_simulated_and_shown() -> None:
    asked = problem_of(PROXIMAL, Fleet(2))
    made = plan(asked)
    found = simulate(asked, made, runs=500)
    assert made.fleet is not None
    again = simulate(asked, made.fleet, runs=500)
    np.testing.assert_array_equal(found.errors, again.errors)
    said = found.to_dict()
    assert said["routes"] == [list(route) for route in made.routes]
    assert said["weights"] == list(made.weights or ())
    assert "route" not in said
    labels = [label for label, _ in found.sheet().lines]
    assert {"1 vehicle 1", "1 vehicle 2", "1 serves"} <= set(labels)
    assert len(found.to_frame()) == 500
    assert any("do not give an upper bound on the error" in note for note in found.notes)


def test_one_list_of_regions_is_rejected_for_a_fleet() -> None:
    with pytest.raises(InputError, match=r"routes = .*: expected a list of region names per vehicle"):
        simulate(problem_of(PROXIMAL, Fleet(2)), [0, 1, 2, 3])


def test_a_plan_of_one_vehicle_is_simulated_as_its_order() -> None:
    asked = problem_of(PROXIMAL, Fleet(2)).replace(fleet=None)
    made = plan(asked)
    np.testing.assert_array_equal(simulate(asked, made, 200).errors, simulate(asked, made.order, 200).errors)
