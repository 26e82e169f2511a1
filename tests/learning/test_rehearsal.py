"""Rehearsal: the core's trainings against the learners, its search against all orders, and what users get."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor

from learnroute import Constraints, InputError, Problem, Proximal, Visits, read_plan, verify
from learnroute.formats import plan_from
from learnroute.learning import (
    GradientRegressor,
    ProximalRegressor,
    RecursiveRegressor,
    RegionData,
    RouteRegressor,
    follow,
    rehearse,
    squared_error,
)
from learnroute.learning.affine_maps import Draws, LinearTrainings
from learnroute.learning.halving import route_count
from learnroute.solvers.rehearsal import RehearsalModel

NAMES = ("A", "B", "C", "D", "E")


PROBLEM = Problem(
    coordinates=np.random.default_rng(0).random((5, 2)), learner=Proximal(4, 15, 0.5, regularization=0.3),
    vectors=np.random.default_rng(1).random((5, 2)), initial=[1.0] * 5, regions=NAMES,
)  # fmt: skip


def regions(size: int = 5, features: int = 4, train: int = 15, seed: int = 0) -> dict[str, RegionData]:
    """Regions whose features vary more in some directions than in others, differently in each."""
    rng = np.random.default_rng(seed)
    found = {}
    for k in range(size):
        model, turn = rng.standard_normal(features), rng.standard_normal((features, features)) / 2
        inputs = rng.standard_normal((train + 12 + k, features)) @ turn
        targets = inputs @ model + 0.5 * rng.standard_normal(len(inputs))
        found[NAMES[k]] = RegionData((inputs[:train], targets[:train]), (inputs[train:], targets[train:]))
    return found


def rehearsal_of(learner: Any, data: dict[str, RegionData], draws: Draws, weights: Any = None) -> RehearsalModel:
    """Return the evaluator of orders of all regions."""
    given = np.ones(len(data)) if weights is None else weights
    found = LinearTrainings(learner, draws, given, list(data)).maps(len(data))
    return RehearsalModel(found.maps, found.constants, found.start, found.root, found.aims, found.rest)


def error_by_training(learner: Any, order: Any, dealt: list[RegionData], weights: Any) -> float:
    """The oracle: the learner itself, one batch after the other."""
    import copy

    model = copy.deepcopy(learner)
    for k in order:
        model.partial_fit(*dealt[k].train)
    return float(np.mean(weights * np.array([squared_error(model, region) for region in dealt])))


FITTED = ProximalRegressor(0.2).fit(*regions(seed=9)["A"].train)
LINEAR = [
    RouteRegressor(),
    RouteRegressor(fit_intercept=True),
    ProximalRegressor(0.3),
    ProximalRegressor(0.05, initial_model=[1.0, 0.0, -1.0, 2.0], fit_intercept=True),
    ProximalRegressor([0.0, 0.1, 0.2, 0.4, 0.8]),
    GradientRegressor(7),
    GradientRegressor(7, 0.05, fit_intercept=True),
    RecursiveRegressor(0.5),
    FITTED,
]


@pytest.mark.parametrize("learner", LINEAR, ids=str)
def test_the_core_trains_as_the_learners_do(learner: Any) -> None:
    data, weights = regions(), np.array([0.5, 1.0, 2.0, 0.0, 1.5])
    draws = Draws(list(data.values()), 3, 0)
    found = rehearsal_of(learner, data, draws, weights)
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1]):
        wanted = [error_by_training(learner, order, draws.divide(draw), weights) for draw in range(3)]
        assert found.errors(np.array(order)) == pytest.approx(wanted, rel=1e-8)


def test_fewer_samples_than_features() -> None:
    data = regions(features=12, train=6)
    draws = Draws(list(data.values()), 2, 1)
    found = rehearsal_of(RouteRegressor(), data, draws)
    wanted = [error_by_training(RouteRegressor(), [3, 1, 0, 2, 4], draws.divide(draw), 1.0) for draw in range(2)]
    assert found.errors(np.array([3, 1, 0, 2, 4])) == pytest.approx(wanted, rel=1e-8)


def cheapest(data: dict[str, RegionData], learner: Any, problem: Problem, draws: int, sequences: Any) -> float:
    """The lowest value of the given sequences."""
    priced = rehearsal_of(learner, data, Draws(list(data.values()), draws, 0))
    travel, rate, size = np.asarray(problem.travel), problem.travel_rate, problem.size
    values = (
        priced.errors(np.array(one)).mean() + rate * sum(travel[a, b] for a, b in itertools.pairwise(one)) / size
        for one in sequences
    )
    return float(min(values))


@pytest.mark.parametrize("optional", [False, True])
def test_the_search_finds_the_best_of_all_sequences(optional: bool) -> None:
    data, learner = regions(), ProximalRegressor(0.1)
    fields: dict[str, Any] = {"coordinates": np.random.default_rng(3).random((5, 2)), "travel_rate": 0.3}
    if optional:
        fields["visits"] = Visits(required=["C"], at_least=2)
    found = rehearse(data, learner, draws=8, **fields)
    lengths = range(2, 6) if optional else [5]
    sequences = [one for n in lengths for one in itertools.permutations(range(5), n) if 2 in one]
    assert found.problem is not None
    best = cheapest(data, learner, found.problem, 8, sequences)
    assert cheapest(data, learner, found.problem, 8, [found.order]) == pytest.approx(best, rel=1e-12)
    assert "C" in found.route


def test_the_problem_says_that_lambda_is_to_be_chosen() -> None:
    found = rehearse(regions(), problem=PROBLEM.with_regularization("auto"), draws=4)
    assert found.chosen == "auto"
    assert found.problem is not None
    assert not found.problem.learner.undecided


def test_three_ties_are_printed_where_they_differ() -> None:
    rng = np.random.default_rng(2)
    names = [f"Sampling station {k}" for k in range(40)]
    data = {name: tuple(rng.normal(size=shape) for shape in ((12, 3), (12,), (6, 3), (6,))) for name in names}
    found = rehearse(data, ProximalRegressor(1.0), draws=4, trainings=200)
    (said,) = [text for name, text in found.sheet().lines if name == "ties"]
    assert found.tied > 3
    assert said.count("(total ") == 3
    assert said.startswith(f"{found.tied} other routes cannot be distinguished: visits ")
    assert all(tie.count("Sampling station") <= 6 for tie in said.split(";"))


def test_constraints_hold() -> None:
    found = rehearse(regions(), problem=PROBLEM.replace(constraints=Constraints("D", "B")), draws=4)
    assert (found.route[0], found.route[-1]) == ("D", "B")
    assert all((tie.route[0], tie.route[-1]) == ("D", "B") for tie in found.ties)


def test_the_answer_and_its_uncertainty() -> None:
    data = regions()
    found = rehearse(data, ProximalRegressor(0.05), draws=16, seed=4)
    told = found.to_dict()
    assert {"route", "error", "standard_error", "random", "ties"} <= set(told)
    assert told["random"]["least"] <= told["random"]["mean"] <= told["random"]["most"]
    draws = Draws(list(data.values()), 16, 4, 16)  # those that the route was not chosen in
    judged = rehearsal_of(ProximalRegressor(0.05), data, draws).errors(np.array(found.order))
    assert found.error == pytest.approx(judged.mean())
    assert found.standard_error == pytest.approx(judged.std(ddof=1) * draws.correction)
    assert np.mean(found.region_errors) == pytest.approx(found.error)
    assert found.route not in [tie.route for tie in found.ties]
    assert found.random.text in found.sheet().lines[1][1]
    assert rehearse(data, ProximalRegressor(0.05), draws=16, seed=4).order == found.order
    assert len(found.to_frame()) == 5


def test_an_order_that_does_not_matter_is_reported() -> None:
    found = rehearse(regions(), RecursiveRegressor(), draws=4, coordinates=np.arange(10.0).reshape(5, 2))
    assert not found.random.matters
    assert found.random.most == pytest.approx(found.random.least)
    assert found.plan.travel_cost == pytest.approx(4 * np.hypot(2, 2))  # the shortest route
    assert "any order will do" in found.random.text


def test_an_order_that_matters_is_reported() -> None:
    rng = np.random.default_rng(0)
    data = {}
    for k, name in enumerate(NAMES):
        inputs = rng.standard_normal((60, 2))
        targets = inputs @ [10.0 * (k == 0), 1.0]  # one region is unlike the others: not to be visited last
        data[name] = RegionData((inputs[:30], targets[:30]), (inputs[30:], targets[30:]))
    found = rehearse(data, ProximalRegressor(0.001), draws=8)
    assert found.random.matters
    assert found.route[-1] != "A"


def test_lambda_is_chosen_with_the_route() -> None:
    data = regions()
    found = rehearse(data, ProximalRegressor(), regularization="auto", draws=8)
    assert found.chosen == "auto"
    assert found.regularization is not None
    low, high = found.plan.regularization_range or (0.0, 0.0)
    assert low <= found.regularization <= high
    assert found.plan.learner is not None
    assert found.plan.learner.training == {"rule": "proximal", "regularization": found.regularization}
    draws = Draws(list(data.values()), 8, 0)

    def best(strength: float) -> float:
        priced = rehearsal_of(ProximalRegressor(strength), data, draws)
        return min(float(priced.errors(np.array(one)).mean()) for one in itertools.permutations(range(5)))

    chosen = best(found.regularization)
    assert all(chosen <= (1 + 1e-3) * best(strength) for strength in np.logspace(-3, 2, 11))


def test_plans_are_ordinary(tmp_path: Path) -> None:
    data = regions()
    found = rehearse(data, ProximalRegressor(0.3, fit_intercept=True), draws=4)
    plan = found.plan
    assert (plan.method, plan.lower_bound, plan.guarantee.value) == ("rehearsal", None, None)
    followed = follow(plan, data)
    assert followed.final.predicted == pytest.approx(found.error)
    assert followed.notes == ()
    plan.save(tmp_path / "plan.json")
    written = read_plan(tmp_path / "plan.json")
    assert follow(written, data).final.predicted == pytest.approx(found.error)
    assert found.problem is not None
    again = plan_from(written, found.problem)
    assert again.rehearsal == plan.rehearsal
    assert verify(found.problem, written).holds
    plan.save(tmp_path / "plan.csv")
    found.plot(path=tmp_path / "picture.png")
    assert "rehearsed error" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["route"] == list(plan.route)


def test_features_are_scaled_once_and_the_plan_says_how() -> None:
    data = regions()
    found = rehearse(data, ProximalRegressor(0.3), scaling="whiten", draws=4)
    assert found.plan.features_scaling is not None
    assert follow(found.plan, data).final.predicted == pytest.approx(found.error)


def test_any_other_learner_has_a_budget_of_trainings() -> None:
    data, wanted = regions(), route_count(4) * 5
    found = rehearse(
        data, SGDRegressor(random_state=0), trainings=wanted + 3, coordinates=np.random.default_rng(0).random((5, 2))
    )
    assert found.trainings == wanted
    assert len(found.random_errors) == 2
    assert sorted(found.route) == list(NAMES)
    with pytest.raises(InputError, match="give the learner"):
        follow(found.plan, data)
    assert follow(found.plan, data, SGDRegressor(random_state=0)).final.predicted == pytest.approx(found.error)
    with pytest.raises(InputError, match=r"^trainings = 10: too few for 7 routes of 5 visits; give at least 35$"):
        rehearse(data, SGDRegressor(), trainings=10)


def test_another_error_than_the_squared_one_is_measured_by_training() -> None:
    found = rehearse(regions(), ProximalRegressor(0.3), error=lambda model, region: float(np.abs(model.coef_).sum()))
    assert found.trainings == route_count(8) * 5


def test_a_search_that_is_stopped_returns_what_it_has() -> None:
    stop = threading.Event()
    stop.set()
    for learner in (ProximalRegressor(0.1), SGDRegressor()):
        found = rehearse(regions(), learner, stop=stop)
        assert sorted(found.route) == list(NAMES)
        assert any("interrupted" in note for note in found.notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learner": None}, "learner: missing"),
        ({"regularization": "schedule"}, "regularization = 'schedule'"),
        ({"learner": RouteRegressor(), "regularization": "auto"}, "λ can only be chosen for a proximal learner"),
        ({"draws": 1}, "draws = 1"),
        ({"scaling": "much"}, "scaling = 'much'"),
        ({"learner": RecursiveRegressor(), "visits": Visits()}, "visits: a RecursiveRegressor supports only one model"),
        ({"learner": object()}, "learner"),
        ({"learner": GradientRegressor(3, 100.0)}, "region 'A'"),
        ({"data": regions(train=5), "learner": RouteRegressor()}, "region 'A'"),
        ({"draws": 10**6}, "use draws <="),
    ],
)  # fmt: skip
def test_bad_arguments_are_rejected(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        rehearse(**{"data": regions(), "learner": ProximalRegressor(0.3), **change})
    assert message in str(refused.value)
