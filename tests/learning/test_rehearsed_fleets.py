"""Rehearsal of repeated visits and fleets, against the learners themselves and against all routes."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor

from learnroute import Fleet, InputError, Visits, read_plan, verify
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
from learnroute.learning.rehearsal_work import is_less, problem_of_samples
from learnroute.learning.rehearsed_routes import RehearsedRoutes
from learnroute.model.instance import Instance, Service
from learnroute.model.routes import UNTRAINED, Routes
from learnroute.solvers.contract import Budget
from learnroute.solvers.rehearsal import Annealing, first_routes, shuffle

NAMES = ("A", "B", "C", "D")
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.5])


def regions(size: int = 4, features: int = 3, train: int = 24, seed: int = 0) -> dict[str, RegionData]:
    """Regions with different models, and features that vary differently by direction."""
    rng = np.random.default_rng(seed)
    found = {}
    for k in range(size):
        inputs = rng.standard_normal((train + 10 + k, features)) @ rng.standard_normal((features, features))
        targets = inputs @ (2 * rng.standard_normal(features)) + 0.5 * rng.standard_normal(len(inputs))
        found[NAMES[k]] = RegionData((inputs[:train], targets[:train]), (inputs[train:], targets[train:]))
    return found


def train_by_hand(learner: Any, routes: Routes, models: int, dealt: list[RegionData], visits: int) -> list[Any]:
    """The oracle: each model is a learner, and each visit takes the next part of its region's samples."""
    found, used = [copy.deepcopy(learner) for _ in range(models)], [0] * len(dealt)
    for route, labels in zip(routes.vehicles, routes.models, strict=True):
        for region, model in zip(route, labels, strict=True):
            inputs, targets = dealt[region].train
            size = len(targets) // visits
            part = slice(used[region] * size, (used[region] + 1) * size)
            used[region] += 1
            found[model].partial_fit(inputs[part], targets[part])
    return found


def errors_by_hand(model: Any, first: Any, dealt: list[RegionData]) -> list[float]:
    """The errors of a learner; before its first training, those of its initial model."""
    return [squared_error(model if hasattr(model, "coef_") else first, region) for region in dealt]


def evaluator(
    data: dict[str, RegionData], learner: Any, draws: Draws, **fields: Any
) -> tuple[RehearsedRoutes, Instance]:
    """Return the evaluator of routes, and the instance."""
    names, given = list(data), list(data.values())
    problem = problem_of_samples(learner, names, given, fields, 0, draws.visits)
    trainings = LinearTrainings(learner, draws, problem.region_weights, names)
    return RehearsedRoutes(trainings, problem.instance), problem.instance


LEARNERS = [
    RouteRegressor(),
    ProximalRegressor(0.2, fit_intercept=True),
    ProximalRegressor([0.0, 0.1, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8], initial_model=[1.0, 0.0, -1.0]),
    GradientRegressor(5, 0.02),
]
TWO_VANS = Routes.of_vehicles([[0, 1, 1], [2, 0, 3]])
TWO_MODELS = Routes.of_models([0, 2, 1, 0, 3, 1], [0, 1, 0, 1, 1, 0])
ONE_HOME = Routes.of_vehicles([[3, 1, 0, 2], []])


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_repeated_visits_train_as_the_learners_do(learner: Any) -> None:
    data = regions()
    draws = Draws(list(data.values()), 3, 0, visits=2)
    found, _ = evaluator(data, learner, draws, visits=Visits(repeat=2), importance=WEIGHTS)
    for order in ([0, 1, 0, 2], [3, 3, 1], [2], [1, 0, 2, 3, 1, 0, 2, 3]):
        routes = Routes.of_models(order, [0] * len(order))
        errors = found.errors(routes, found.service(routes))
        for draw in range(3):
            dealt = draws.divide(draw)
            (model,) = train_by_hand(learner, routes, 1, dealt, 2)
            wanted = np.mean(WEIGHTS / WEIGHTS.mean() * [squared_error(model, region) for region in dealt])
            assert errors[draw] == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("routes", [TWO_VANS, TWO_MODELS, ONE_HOME])
def test_models_serve_as_averaged_or_chosen_learners_do(learner: Any, routes: Routes) -> None:
    data = regions()
    several: dict[str, Any] = {"vehicles": 2} if len(routes.vehicles) > 1 else {"models": 2}
    draws = Draws(list(data.values()), 3, 1, visits=2)
    first = copy.deepcopy(learner).without_training(3)
    for serve in ("merged", "own"):
        found, _ = evaluator(data, learner, draws, visits=Visits(repeat=2), fleet=Fleet(**several, serve=serve))
        service = found.service(routes)
        models = [train_by_hand(learner, routes, 2, draws.divide(draw), 2) for draw in range(3)]
        if serve == "merged":
            assert service.weights is not None
            errors = []
            for pair, dealt in zip(models, map(draws.divide, range(3)), strict=True):
                used = [one if hasattr(one, "coef_") else first for one in pair]
                average = copy.deepcopy(used[0])
                for name in ("coef_", "intercept_"):
                    parts = [w * getattr(one, name) for w, one in zip(service.weights, used, strict=True)]
                    setattr(average, name, sum(parts))
                errors.append(errors_by_hand(average, first, dealt))
        else:
            assert service.served_by is not None
            each = np.array([
                [errors_by_hand(one, first, draws.divide(draw)) for draw, one in enumerate(column)]
                for column in ([first] * 3, *zip(*models, strict=True))
            ])  # fmt: skip
            assert np.array_equal(service.served_by, np.argmin(each.mean(axis=1), axis=0) + UNTRAINED)
            errors = [[each[service.served_by[k] + 1, draw, k] for k in range(4)] for draw in range(3)]
        assert found.errors_by_region(routes, service) == pytest.approx(np.array(errors), rel=1e-8)
        assert found.errors(routes, service) == pytest.approx(np.mean(errors, axis=1), rel=1e-8)


def test_no_other_weights_are_better() -> None:
    data = regions()
    draws = Draws(list(data.values()), 4, 0)
    found, _ = evaluator(data, ProximalRegressor(0.1), draws, fleet=Fleet(vehicles=3))
    routes = Routes.of_vehicles([[0, 1], [2], [3]])
    best = found.errors(routes, found.service(routes)).mean()
    rng = np.random.default_rng(0)
    for weights in rng.dirichlet(np.ones(3), size=200):
        assert best <= found.errors(routes, Service(np.empty(0), weights=weights)).mean() + 1e-12
    equal, _ = evaluator(data, ProximalRegressor(0.1), draws, fleet=Fleet(vehicles=3, weights="equal"))
    weights = equal.service(Routes.of_vehicles([[0, 1], [2, 3], []])).weights
    assert weights is not None
    assert weights.tolist() == [0.5, 0.5, 0.0]


def all_routes(size: int, rules: Any, repeat: int, longest: int) -> Iterator[Routes]:
    """Every sequence of visits, cut into vehicles or labelled with models in every way."""
    for count in range(1, longest + 1):
        for visits in itertools.product(range(size), repeat=count):
            if max(map(visits.count, visits)) > repeat:
                continue
            if rules.vehicles > 1:
                for cut in range(count + 1):
                    yield Routes.of_vehicles([visits[:cut], visits[cut:]])
            else:
                for labels in itertools.product(range(rules.models), repeat=count):
                    yield Routes.of_models(visits, labels)


CASES: list[dict[str, Any]] = [
    {"visits": Visits(repeat=2, at_most=4)},
    {"visits": Visits(repeat=2, at_most=4, required=["B"], at_least=3, budget=1.4)},
    {"visits": Visits(required="all"), "fleet": Fleet(vehicles=2)},
    {"visits": Visits(at_most=3), "fleet": Fleet(vehicles=2, weights="equal", travel="longest")},
    {"visits": Visits(repeat=2, at_most=3), "fleet": Fleet(vehicles=2, serve="own", limit=0.9)},
    {"visits": Visits(at_most=3), "fleet": Fleet(models=2)},
    {"visits": Visits(repeat=2, at_most=4), "fleet": Fleet(models=2, serve="merged")},
    {"visits": Visits(forbidden=["A"], budget=1.0), "fleet": Fleet(models=2)},
    {"visits": Visits(at_most=3), "fleet": Fleet(serve="own")},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_search_finds_the_best_of_all_routes(case: dict[str, Any]) -> None:
    data, repeat = regions(3), case["visits"].repeat
    fields = {**case, "coordinates": np.random.default_rng(3).random((3, 2)), "travel_rate": 1.0}
    draws = Draws(list(data.values()), 4, 0, visits=repeat)
    found, instance = evaluator(data, ProximalRegressor(0.1), draws, **fields)

    def value(routes: Routes) -> float:
        error = found.errors(routes, found.service(routes)).mean()
        return float(3 * error + instance.paid_travel(routes))

    every = all_routes(3, instance.fleet, repeat, instance.visits.at_most)
    best = min(value(routes) for routes in every if instance.allows(routes))
    rng = np.random.default_rng(0)
    first, annealing = first_routes(instance, rng, Budget.of()), Annealing(instance)
    tried = [annealing.anneal(found.rehearsed, first, rng, Budget.of()) for _ in range(4)]
    for routes, reached in tried:
        assert instance.allows(routes)
        assert value(routes) >= best - 1e-9
        if repeat == 1:  # else the batches of vehicles go by their numbers, which are given anew
            assert value(routes) == pytest.approx(reached, rel=1e-9)
    assert min(reached for _, reached in tried) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(
    ("fields", "several"),
    [
        ({"fleet": Fleet(vehicles=2)}, True),
        ({"fleet": Fleet(models=2), "visits": Visits()}, False),
        ({"fleet": Fleet(vehicles=2, serve="own"), "visits": Visits(repeat=2)}, True),
    ],
)
def test_fleets_are_ordinary_plans_that_are_followed(fields: dict[str, Any], several: bool, tmp_path: Path) -> None:
    data = regions()
    places: dict[str, Any] = {"coordinates": np.random.default_rng(0).random((4, 2)), "travel_rate": 0.1}
    found = rehearse(data, ProximalRegressor(0.1), draws=6, seed=2, **fields, **places)
    assert found.problem is not None
    assert found.plan.several == several
    told = found.to_dict()
    assert ("route" in told) != several
    assert told["routes"] == [list(route) for route in found.plan.routes]
    assert ("weights" in told) != ("served_by" in told)
    found.plan.save(tmp_path / "plan.json")
    written = read_plan(tmp_path / "plan.json")
    assert verify(found.problem, written).holds
    assert plan_from(written, found.problem).rehearsal == found.plan.rehearsal
    followed = follow(written, data)
    assert followed.fleet == found.fleet  # served as it was rehearsed, not as the law would
    assert followed.final.predicted == pytest.approx(found.error)
    assert found.total == pytest.approx(found.error + 0.1 * found.plan.travel_cost / 4)
    assert all(len(tie.routes) == len(found.plan.routes) for tie in found.ties)
    assert {name for tie in found.ties for name in tie.route} <= set(NAMES)
    found.plot(path=tmp_path / "picture.png")
    assert "rehearsed error" in found._repr_html_()
    assert len(found.to_frame()) == 4


def test_the_error_is_measured_in_other_draws_with_the_service_of_the_search() -> None:
    data, learner = regions(), ProximalRegressor(0.1)
    fields: dict[str, Any] = {"fleet": Fleet(vehicles=2, serve="own"), "visits": Visits(repeat=2, at_most=5)}
    found = rehearse(data, learner, draws=5, seed=3, **fields)
    fleet = found.plan.fleet
    assert fleet is not None
    assert found.fleet is not None
    served = found.fleet.served_by
    assert served is not None
    first = copy.deepcopy(learner).without_training(3)
    draws, errors = Draws(list(data.values()), 5, 3, 5, 2), []
    for draw in range(5):
        dealt = draws.divide(draw)
        models = train_by_hand(learner, fleet, 2, dealt, 2)
        used = [first if (number := served[name]) is None else models[number] for name in NAMES]
        errors.append(np.mean([squared_error(one, region) for one, region in zip(used, dealt, strict=True)]))
    assert found.error == pytest.approx(np.mean(errors), rel=1e-8)
    assert found.standard_error == pytest.approx(np.std(errors, ddof=1) * draws.correction, rel=1e-8)


def test_no_two_visits_train_on_the_same_samples() -> None:
    data = regions(2, train=40)
    draws = Draws(list(data.values()), 8, 0, visits=3)
    for region in draws.divide(0):
        batches = [tuple(targets) for _, targets in draws.batches(region)]
        assert [len(batch) for batch in batches] == [13, 13, 13]
        assert len({*itertools.chain(*batches), *region.test[1]}) == 39 + len(region.test[1])


def test_repeats_of_any_learner_have_batches_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    batches, train = [], SGDRegressor.partial_fit

    def record(model: Any, inputs: Any, targets: Any) -> Any:
        batches.append(targets)
        return train(model, inputs, targets)

    monkeypatch.setattr(SGDRegressor, "partial_fit", record)
    found = rehearse(regions(), SGDRegressor(random_state=0), trainings=200, visits=Visits(repeat=2, required="all"))
    assert [len(batch) for batch in batches[:4]] == [24] * 4  # the transfer matrix: each region alone
    assert {len(batch) for batch in batches[4:]} == {12}
    assert found.notes[0] == "each region's training samples are split over 2 visits, 12 samples each"


def test_lambda_of_a_fleet_is_chosen_with_its_routes() -> None:
    found = rehearse(regions(), ProximalRegressor(), regularization="auto", draws=4, fleet=Fleet(vehicles=2))
    assert found.chosen == "auto"
    low, high = found.plan.regularization_range or (0.0, 0.0)
    assert found.regularization is not None
    assert low <= found.regularization <= high


def test_shuffling_keeps_visits_vehicles_and_ends() -> None:
    data = regions()
    draws = Draws(list(data.values()), 2, 0, visits=2)
    _, instance = evaluator(data, ProximalRegressor(0.1), draws, visits=Visits(repeat=2), fleet=Fleet(vehicles=2))
    found = shuffle(TWO_VANS, instance, np.random.default_rng(0))
    assert sorted(found.regions) == sorted(TWO_VANS.regions)
    assert found.models == TWO_VANS.models
    assert found != TWO_VANS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learner": RecursiveRegressor(), "fleet": Fleet(vehicles=2)}, "fleet: a RecursiveRegressor supports only"),
        ({"learner": SGDRegressor(), "fleet": Fleet(models=2)}, "fleet: several models need a linear learner"),
        ({"visits": Visits(repeat=30)}, "region 'A': 24 training samples for 30 visits"),
        ({"visits": Visits(required="all"), "fleet": Fleet(vehicles=2, limit=0.01)}, "fleet.limit = 0.01"),
        ({"visits": Visits(required="all", budget=0.01)}, "visits.budget = 0.01"),
        ({"fleet": Fleet(vehicles=2), "regularization": "schedule"}, "regularization = 'schedule'"),
    ],
)  # fmt: skip
def test_unsupported_rehearsals_are_rejected(change: dict[str, Any], message: str) -> None:
    places = np.random.default_rng(0).random((4, 2))
    with pytest.raises(InputError) as refused:
        rehearse(**{"data": regions(), "learner": ProximalRegressor(0.3), "coordinates": places, **change})
    assert message in str(refused.value)


def heavy_tailed(draws: int, rng: np.random.Generator) -> Sequence[np.ndarray[Any, Any]]:
    """Errors of two orders, the first of which is 10 % better in each draw, and a few draws decide the means."""
    size = np.exp(rng.standard_normal(draws) * 4)
    return 0.9 * size, size


def test_order_effect_is_detected_despite_heavy_tails() -> None:
    better, worse = heavy_tailed(32, np.random.default_rng(0))
    apart = better - worse
    assert apart.mean() + 2 * math.sqrt(1 / 32 + 1 / 3) * apart.std(ddof=1) > 0  # a difference of means says nothing
    assert is_less(better, worse, math.sqrt(1 / 32 + 1 / 3))
    assert not is_less(worse, better, math.sqrt(1 / 32 + 1 / 3))
    assert not is_less(np.zeros(5), np.zeros(5), 1.0)
    assert not is_less(np.array([1.0]), np.array([2.0]), 1.0)


def test_an_order_is_not_dismissed_if_random_ones_are_much_worse() -> None:
    """As many samples as features: some least-squares fits are wild, and errors of draws differ by powers of ten."""
    rng = np.random.default_rng(1)
    data = {}
    for k, name in enumerate(NAMES):
        inputs = rng.standard_normal((26 + 8 * k, 6)) * [1, 1, 1, 0.1, 0.01, 0.001]
        targets = inputs @ rng.standard_normal(6) + rng.standard_normal(len(inputs))
        data[name] = RegionData((inputs[:-20], targets[:-20]), (inputs[-20:], targets[-20:]))
    data["A"] = RegionData(
        (data["A"].train[0][:6] + 0.0, data["A"].train[1][:6]), (data["A"].test[0], data["A"].test[1])
    )
    found = rehearse({name: data[name] for name in NAMES}, ProximalRegressor(1e-9), draws=16)
    assert found.random.most > 5 * found.error
    assert "any order will do" not in found.random.text
