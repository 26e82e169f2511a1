"""The importance of regions: weights of the mean error, wherever errors are averaged or bounded.

`test_claims`, `test_forgeries` and `test_optional_visits` draw problems with importance too, and compare plans and
`verify` with all orders in exact fractions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from learnroute import (
    Gradient,
    InputError,
    Journey,
    Learner,
    Problem,
    Proximal,
    Visits,
    compare_learners,
    evaluate,
    expected_loss,
    plan,
    robustness,
    verify,
)  # fmt: skip
from learnroute.cli import run
from learnroute.learning import simulate
from learnroute.model.losses import error_over_time
from learnroute.model.pooled import floor_of, pooled_curve
from learnroute.model.routes import Routes
from learnroute.model.subsets import restrict_to, with_depot, with_region
from learnroute.model.validation import FloatArray
from learnroute.model.value import slopes, value_of
from learnroute.tuning import error_curve

IMPORTANCE = [3.0, 0.0, 1.0, 0.5, 2.0]
WEIGHTS = np.array(IMPORTANCE) / 1.3
LEARNERS = {
    "under": Learner(20, 60, 0.3),
    "over": Learner(60, 20, 0.3),
    "proximal": Proximal(20, 30, 0.3, regularization=0.8),
    "gradient": Gradient(20, 30, 0.3, steps=2, rate=0.3),
}


def problem_of(learner: Learner, **changes: Any) -> Problem:
    rng = np.random.default_rng(11)
    vectors = rng.standard_normal((5, 3))
    fields: dict[str, Any] = {
        "learner": learner, "vectors": vectors, "coordinates": rng.random((5, 2)), "travel_rate": 0.4,
        "initial": (vectors**2).sum(axis=1) + rng.random(5), "importance": IMPORTANCE,
    }  # fmt: skip
    return Problem(**{**fields, **changes})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 2, 3, 4, -1], r"importance\[4\] = -1"),
        ([0, 0, 0, 0, 0], "importance: is 0 for all regions; at least one must be > 0"),
        ([1, 2], "importance has 2 entries"),
        ([1, 2, 3, 4, None], r"importance\[4\]"),
        ([1, 2, 3, 4, float("inf")], r"importance\[4\]"),
        ("much", "importance"),
    ],
)
def test_refusals_name_the_field(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        problem_of(LEARNERS["under"], importance=given)


@pytest.mark.parametrize("learner", [*LEARNERS.values(), Proximal(20, 30, 0.3, regularization="schedule")])
@pytest.mark.parametrize("visits", [None, Visits()])
def test_equal_importance_equals_no_importance(learner: Learner, visits: Visits | None) -> None:
    plain, equal = (
        plan(problem_of(learner, importance=given, visits=visits)).to_dict() for given in (None, [0.1] * 5)
    )  # fmt: skip
    assert equal.pop("importance") == [0.1] * 5
    assert plain.pop("importance") is None
    del plain["seconds"], equal["seconds"]
    assert equal == plain


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_the_error_is_the_weighted_mean_of_those_by_region(learner: Learner) -> None:
    problem = problem_of(learner)
    for order in itertools.permutations(range(5)):
        errors = error_over_time(problem, order)[-1]  # importance does not change the error in a region
        assert expected_loss(problem, order).error == pytest.approx(float(WEIGHTS @ errors) / 5, rel=1e-12)
        np.testing.assert_allclose(
            np.array(value_of(problem, Routes.of_order(order)).expected_errors), errors[list(order)], rtol=1e-11
        )
    bare = problem_of(learner, importance=None)
    np.testing.assert_array_equal(error_over_time(bare, order), error_over_time(problem, order))


def test_region_of_importance_0_still_provides_data() -> None:
    """The model of the region in the middle is best for the two beside it."""
    line = Problem(
        np.ones((3, 3)) - np.eye(3), Learner(20, 60), vectors=[[-1.0], [0.0], [1.0]], importance=[1, 0, 1],
        initial=[9, 9, 9], visits=Visits(),
    )  # fmt: skip
    found = plan(line)
    assert found.route == ("R2",)
    assert found.loss.error == pytest.approx(1.0)
    assert plan(line.replace(importance=[1, 0, 0])).route == ("R1",)
    assert found.untrained == pytest.approx(9.0)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_a_plan_for_other_importance_is_refuted(learner: Learner) -> None:
    found = plan(problem_of(learner))
    assert found.optimal
    assert verify(problem_of(learner), found).holds
    assert verify(problem_of(learner, importance=[1, 1, 1, 0.5, 2]), found).verdict == "refuted"
    assert verify(problem_of(learner, importance=None), found).verdict == "refuted"


@pytest.mark.parametrize("matrix", [False, True])
def test_no_model_is_below_the_floor(matrix: bool) -> None:
    problem = problem_of(LEARNERS["proximal"])
    assert problem.vectors is not None
    middle = WEIGHTS @ problem.vectors / 5
    least = float(WEIGHTS @ ((problem.vectors - middle) ** 2).sum(axis=1)) / 5
    if matrix:
        delta = ((problem.vectors[:, None] - problem.vectors[None]) ** 2).sum(axis=2)
        problem = problem.replace(vectors=None, dissimilarity=delta)
    assert floor_of(problem) == pytest.approx(least, rel=1e-12)
    assert compare_learners(problem).floor.error == pytest.approx(least, rel=1e-12)
    far = problem.replace(learner=Proximal(2, 10**6, 0.0, regularization=(1e-9, 1.0, 2.0, 3.0, 4.0)), travel_rate=0.0)
    found = plan(far, "nearest")  # the mean of all regions' fits, unweighted
    assert found.lower_bound is not None
    assert least * (1 - 1e-3) < found.lower_bound <= plan(far).loss.total
    assert verify(far, found).verdict != "refuted"


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("order", [[4, 1, 3, 0, 2], [1, 4, 4]])
def test_simulations_agree_with_the_law(learner: Learner, order: list[int]) -> None:
    visits = Visits(repeat=2) if len(order) < 5 else None
    base = problem_of(learner, visits=visits)
    problem = base.replace(truth=base.vectors, initial_model=[0.1, 0.2, 0.3])
    assert simulate(problem, order, runs=2).expected != pytest.approx(
        simulate(problem.replace(importance=None), order, runs=2).expected, rel=0.005
    )
    for sampler, runs in (("low-dimensional", 20_000), ("direct", 3000)):
        found = simulate(problem, order, runs=runs, seed=3, sampler=sampler)
        assert abs(found.mean - found.expected) < 3 * found.standard_error, sampler


@pytest.mark.parametrize("samples", [None, [10, 20, 30, 40, 50]])
def test_errors_are_linear_in_the_weights(samples: list[int] | None) -> None:
    """With one region of weight 1 the mean is its error; all others are weighted means of these."""
    problem, table = problem_of(LEARNERS["proximal"], samples=samples), np.array([0.01, 0.3, 5.0])
    alone = [problem.replace(importance=row) for row in np.eye(5)]
    curves: list[Callable[[Problem, FloatArray], FloatArray]] = [
        lambda one, given: pooled_curve(one)(given),
        lambda one, given: error_curve(one, Routes.of_order([3, 0, 4, 1, 2]), given.tolist()),
    ]
    for curve in curves:
        by_region = np.array([curve(one, table) for one in alone])
        np.testing.assert_allclose(curve(problem, table), WEIGHTS @ by_region / 5, rtol=1e-10)
        np.testing.assert_allclose(curve(problem.replace(importance=None), table), by_region.mean(axis=0), rtol=1e-10)


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_slopes_are_differences_of_losses(learner: Learner) -> None:
    base = problem_of(learner)
    assert base.vectors is not None
    delta = ((base.vectors[:, None] - base.vectors[None]) ** 2).sum(axis=2)
    problem, order = base.replace(vectors=None, dissimilarity=delta), [2, 0, 4, 1, 3]
    counts, first = slopes(problem.instance, Routes.of_order(order))
    total = expected_loss(problem, order).total
    for i, j in itertools.combinations(range(5), 2):
        more = delta.copy()
        more[i, j] = more[j, i] = delta[i, j] + 1
        assert expected_loss(problem.replace(dissimilarity=more), order).total - total == pytest.approx(counts[i, j])
    for i in range(5):
        other = problem.replace(initial=problem.initial + np.eye(5)[i])
        assert expected_loss(other, order).total - total == pytest.approx(first[i])
    bounded = problem.replace(dissimilarity_low=delta * np.linspace(0.5, 0.9, 5) * np.linspace(0.5, 0.9, 5)[:, None])
    found = evaluate(bounded, order)
    assert found.loss_at_most is not None
    assert found.loss_at_most >= total - 1e-12
    assert verify(bounded, found).verdict != "refuted"
    assert verify(bounded, {**found.to_dict(), "loss_at_most": found.loss_at_most * 1.001}).verdict == "refuted"
    assert robustness(bounded, draws=5).draws == 5


@pytest.mark.parametrize("wanted", ["auto", "schedule"])
def test_the_regularisation_is_chosen_by_the_weighted_error(wanted: str) -> None:
    """If only one region counts, it is best to end there and forget the others."""
    found = plan(problem_of(Proximal(20, 200, 0.1, regularization=wanted), importance=[0, 0, 0, 1, 0], travel_rate=0.0))
    assert found.route[-1] == "R4"
    other = plan(problem_of(Proximal(20, 200, 0.1, regularization=wanted), importance=None, travel_rate=0.0))
    assert found.loss.error < 0.1 * other.loss.error


def test_fewer_and_more_regions() -> None:
    problem = problem_of(LEARNERS["over"])
    fewer = restrict_to(problem, [0, 1, 4])
    assert fewer.importance is not None
    assert fewer.importance.tolist() == [3.0, 0.0, 2.0]
    assert with_depot(problem, "R1").region_weights.tolist() == pytest.approx([0, 8 / 7, 4 / 7, 16 / 7])
    with pytest.raises(InputError, match="importance: missing"):
        with_region(problem, "New", coordinates=[0, 0], vector=[1, 1, 1])
    with pytest.raises(InputError, match="importance = 2: all regions count alike"):
        with_region(problem.replace(importance=None), "New", coordinates=[0, 0], vector=[1, 1, 1], importance=2)
    more = with_region(problem, "New", coordinates=[0, 0], vector=[1, 1, 1], importance=2)
    assert more.importance is not None
    assert more.importance.tolist() == [*IMPORTANCE, 2.0]
    data = {"coordinates": [[0, 0], [1, 0], [2, 0]], "vectors": [[0], [1]], "importance": [7, 1, 2], "depot": "R1",
            "learner": {"features": 20, "samples": 60}}  # fmt: skip
    depot = Problem.from_dict(data)
    assert depot.importance is not None
    assert depot.importance.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_journeys_go_by_the_weighted_error(learner: Learner) -> None:
    problem = problem_of(learner)
    journey = Journey(problem)
    for _ in range(5):
        left = [order for order in itertools.permutations(range(5))
                if list(order[: len(journey.visits)]) == list(journey.order[: len(journey.visits)])]  # fmt: skip
        loss = expected_loss(problem, journey.order)
        assert journey.expected_error == pytest.approx(loss.error, rel=1e-12)
        assert loss.total == pytest.approx(min(expected_loss(problem, order).total for order in left), rel=1e-12)
        journey.visit()


def test_scores_are_not_kept_if_importance_changes() -> None:
    problem = problem_of(LEARNERS["under"])
    before = problem.scores
    assert problem.replace(travel_rate=2.0).scores is before
    assert problem.replace(importance=None).scores.tolist() != before.tolist()


def test_check_and_plan_report_it(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from learnroute import write_problem

    write_problem(problem_of(LEARNERS["under"]), tmp_path / "p.json")
    assert run(["check", str(tmp_path / "p.json")]) == 0
    assert "importance" in capsys.readouterr().out
    assert run(["plan", str(tmp_path / "p.json")]) == 0
    assert "importance" in capsys.readouterr().out
