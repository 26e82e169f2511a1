"""Trade-offs, comparisons and robustness with optional visits."""

from __future__ import annotations

import numpy as np
import pytest

from learnroute import Learner, Visits, compare, expected_loss, plan, robustness, tradeoff
from learnroute.model.routes import Routes
from learnroute.plots import draw_comparison, draw_tradeoff
from oracle import law_of
from test_optional_visits import problems, small


@pytest.mark.parametrize("block", range(2))
def test_the_curve_is_the_pareto_front_of_all_sequences(block: int) -> None:
    for problem in problems(60 * block, 60 * block + 60):
        law = law_of(problem)
        everyone = law.orders()
        if problem.visits_all_once or problem.learner.undecided or not everyone or len(everyone) > 500:
            continue
        with np.errstate(all="ignore"):
            found = tradeoff(problem)
            ways = np.array([float(law.travels(Routes.of_order(visits))[0]) for visits in everyone])
            losses = [expected_loss(problem, visits) for visits in everyone]
            errors = np.array([loss.error for loss in losses])
            scale = max(loss.magnitude - loss.travel for loss in losses)
        for point in found.points:
            assert point.order in everyone
            within = ways <= point.travel_cost * (1 + 1e-9)
            assert point.error == pytest.approx(errors[within].min(), rel=1e-9, abs=1e-10 * scale), problem
        if found.complete:
            for way, error in zip(ways, errors, strict=True):
                assert any(
                    point.travel_cost <= way * (1 + 1e-8) and point.error <= error + 1e-9 * abs(error) + 1e-9 * scale
                    for point in found.points
                ), problem


def test_visit_curve_is_drawn_and_summarised() -> None:
    problem = small()
    found = tradeoff(problem)
    assert found.complete
    assert found.marks == {}
    chosen = found.points[found.chosen]
    assert chosen.loss(problem.travel_rate) == pytest.approx(plan(problem).loss.total)
    assert found.points[0].travel_cost == 0
    assert len(found.points[0].order) == 1
    assert found.within(1.0).travel_cost <= 1
    draw_tradeoff(found, problem)
    assert "all Pareto-optimal routes" in str(found.sheet())
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((12, 3))
    large = small(vectors=vectors, coordinates=rng.random((12, 2)), initial=(vectors**2).sum(axis=1) + 1)
    beyond = tradeoff(large, points=6)
    assert not beyond.complete
    assert len({len(point.order) for point in beyond.points}) > 1


def test_methods_that_choose_visits_are_compared() -> None:
    problem = small(visits=Visits(budget=3.0))
    found = compare(problem)
    assert [row.method for row in found.rows] == ["exact", "search"]
    assert found.optimal
    assert found.lower_bound == pytest.approx(plan(problem).loss.total)
    draw_comparison(found, problem)
    row = compare(problem, ["exact", "nearest"]).rows[1]
    assert row.refused is not None
    assert "method nearest does not support optional visits (visits); use auto, exact or search" in row.refused
    alone = compare(problem, ["nearest"])
    assert alone.lower_bound is None
    assert "no lower bound" in alone.sheet().headline
    assert alone.to_dict()["lower_bound"] is None


@pytest.mark.parametrize("learner", [None, Learner(40, 20, 0.3)])
def test_robustness_of_chosen_visits(learner: Learner | None) -> None:
    problem = small(visits=Visits(repeat=2, at_most=4), **({} if learner is None else {"learner": learner}))
    found = robustness(problem, within=0.3, draws=8)
    assert found.plan.order == plan(problem).order
    assert found.best_case <= found.plan.loss.total <= found.worst_case + 1e-12
    vectors = problem.vectors
    assert vectors is not None
    delta = ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2)
    lower = problem.replace(vectors=None, dissimilarity=0.7 * delta)
    if learner is not None:  # all dissimilarities count positively
        assert found.best_case == pytest.approx(expected_loss(lower, found.plan.order).total)
