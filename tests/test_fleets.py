"""Routes of fleets: against all routes in plain Python, against plans without a fleet, and weights of averages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learnroute import Calibrated, Constraints, Depot, Fleet, Gradient, Learner, Problem, Proximal, Visits, plan
from learnroute.errors import InputError, RefusedError
from learnroute.model.dissimilarities import Dissimilarities
from learnroute.model.instance import Instance
from learnroute.model.merge_weights import FEW, merge_weights
from learnroute.model.rules import FleetRules
from learnroute.model.travel import TravelMatrix
from learnroute.solvers import solve as pipeline
from learnroute.solvers.contract import Answer, Budget
from learnroute.solvers.exact.enumeration import Enumeration
from learnroute.solvers.exact.floor import Floor, floor_bound
from learnroute.solvers.methods import METHODS
from learnroute.solvers.params import DEFAULTS, SolverParams
from oracle import average, law_of, law_of_instance, least_average
from samples import draw_rules, random_instance

QUICK = DEFAULTS._replace(ruin_fleet=DEFAULTS.ruin_fleet._replace(starts=3, iterations=300, repair=2000))
MODES: dict[str, dict[str, bool]] = {"merged": {"merged": True}, "equal": {"merged": True, "equal": True}, "own": {}}


def solve(
    instance: Instance, method: str = "exact", budget: Budget | None = None, params: SolverParams = QUICK, seed: int = 0
) -> Answer:
    rng = np.random.default_rng(seed)
    found = pipeline.solve(instance, METHODS[method], rng, budget or Budget(), params, bounds=False)
    assert instance.allows(found.routes)
    return found


def draw_fleet(seed: int, mode: str, several: str, size: int = 4, count: int = 2, **rules: Any) -> Instance:
    """A fleet with rules, laws and travel drawn at random."""
    rng = np.random.default_rng([seed, len(mode), len(several)])
    alone = random_instance(rng, size, **{**draw_rules(rng, size), **rules}, vectors=mode != "own")
    numbers: dict[str, Any] = {"vehicles": 1, "models": 1, several: count, "merged": False, **MODES[mode]}
    fleet = FleetRules(**numbers, longest=bool(rng.random() < 0.5))
    return replace(alone, fleet=fleet)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("several", ["vehicles", "models"])
def test_the_best_of_all_routes_is_found_and_proved(mode: str, several: str) -> None:
    for seed in range(4):
        instance = draw_fleet(seed, mode, several, 3 + seed % 2, 2 + seed // 3)
        law = law_of_instance(instance)
        best, where = law.best()
        assert where is not None
        found = solve(instance)
        assert found.optimal
        assert instance(found.routes) == pytest.approx(best, rel=1e-9)
        assert instance(found.routes) == pytest.approx(law.value(found.routes), rel=1e-9)
        assert instance(solve(instance, "search").routes) == pytest.approx(best, rel=1e-9), seed


def shortest_ways(travel: np.ndarray) -> np.ndarray:
    """No detour is shorter."""
    for via in range(len(travel)):
        travel = np.minimum(travel, travel[:, [via]] + travel[[via]])
    return travel


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("several", ["vehicles", "models"])
def test_limits_and_budgets_are_kept(mode: str, several: str) -> None:
    """Each limit is at most the travel of the best routes without it."""
    stopped = 0
    settings: dict[str, Any] = {
        "required": [0, 1],
        "forbidden": (),
        "repeat": 1,
        "at_most": None,
        "rate": 0.1,
        "by_position": False,
    }
    for seed in (1,):
        free = draw_fleet(seed, mode, several, **settings)
        free = replace(free, travel=TravelMatrix(shortest_ways(free.travel.matrix)))
        least, routes = law_of_instance(free).best()
        assert routes is not None
        travels = free.travels(routes)
        for share in (0.0, 0.7, 1.0):
            for instance in (
                replace(free, fleet=replace(free.fleet, limit=share * max(travels))),
                replace(free, visits=replace(free.visits, budget=share * sum(travels))),
            ):
                best, where = law_of_instance(instance).best()
                stopped += best > least + 1e-9
                if where is None:
                    with pytest.raises(InputError, match=r"fleet\.limit|visits\.budget"):
                        solve(instance)
                    continue
                proved = solve(instance, params=DEFAULTS)
                assert proved.optimal
                assert instance(proved.routes) == pytest.approx(best, rel=1e-9)
                found = [solve(instance, "search", seed=seed, params=DEFAULTS) for seed in range(3)]
                assert not any(each.optimal for each in found)
                assert min(instance(each.routes) for each in found) == pytest.approx(best, rel=1e-9)
    assert stopped > 0


def test_routes_from_starts_beyond_the_limits_are_annealed() -> None:
    places = np.random.default_rng(4).random((60, 2))
    alone = Problem(coordinates=places, dissimilarity=np.zeros((60, 60)), initial=np.zeros(60),
                    learner=Learner(80, 100, 0.0), depot=Depot(coordinates=(0.5, 0.5)))  # fmt: skip
    instance = alone.replace(fleet=Fleet(vehicles=5, serve="own", limit=2.1)).instance
    params = DEFAULTS._replace(ruin_fleet=DEFAULTS.ruin_fleet._replace(starts=2, descent=1, iterations=100))
    shares: list[float] = []
    solve(instance, "search", Budget(progress=lambda _, share: shares.append(share)), params)
    assert min(shares) > 0.5, "starts within the limits were annealed"
    assert max(shares) == 1.0


def test_no_travel_with_a_budget_of_zero() -> None:
    for fleet in (Fleet(vehicles=2), Fleet(vehicles=2, limit=0.0)):
        found = plan(small(Learner(8, 6, 0.2), visits=Visits(budget=0.0), fleet=fleet), method="search")
        assert found.travels == (0.0, 0.0)


@pytest.mark.parametrize("mode", MODES)
def test_seven_regions_and_three_vehicles(mode: str) -> None:
    """The oracle cannot try all routes of seven regions, so there are few visits."""
    instance = draw_fleet(1, mode, "vehicles", 7, 3, required=[0, 3], forbidden=(), repeat=1, at_most=3)
    best, _ = law_of_instance(instance).best()
    for method in ("exact", "search"):
        assert instance(solve(instance, method).routes) == pytest.approx(best, rel=1e-9)


def test_three_models_of_seven_regions() -> None:
    instance = draw_fleet(2, "own", "models", 7, 3, required=[2], forbidden=(), repeat=1, at_most=3)
    best, _ = law_of_instance(instance).best()
    for method in ("exact", "search"):
        assert instance(solve(instance, method).routes) == pytest.approx(best, rel=1e-9)


LEARNERS: dict[str, Learner] = {
    "m < n": Learner(20, 60, 0.3),
    "m > n": Learner(60, 30, 0.3),
    "proximal": Proximal(30, 60, 0.3, regularization=1.0),
    "by position": Proximal(30, 60, 0.3, regularization=(0.5, 1.0, 2.0, 3.0)),
    "gradient": Gradient(30, 60, 0.3, steps=3, rate=0.3),
    "calibrated": Calibrated(noise=0.05, retention=0.5, coupling=0.2),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "open": {},
    "depot": {"depot": Depot("depot", (5.0, 5.0), returns=False)},
    "depot and back": {"depot": Depot("depot", (5.0, 5.0)), "importance": [1.0, 0.0, 2.0, 1.0]},
    "back": {"constraints": Constraints(returns=True)},
    "one-way": {"travel": np.arange(16.0).reshape(4, 4) * (1 - np.eye(4)), "coordinates": None},
    "optional": {"visits": Visits(["R2"], ["R4"], repeat=2, at_most=3)},
}


def small(learner: Learner, seed: int = 0, **fields: Any) -> Problem:
    """Four regions."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((4, 3))
    known = {"vectors": vectors, "coordinates": 10 * rng.random((4, 2)), "travel_rate": 0.05}
    return Problem(**{"learner": learner, "initial": 1 + (vectors**2).sum(axis=1), **known, **fields})


@pytest.mark.parametrize("rule", LEARNERS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_plans_of_all_rules_are_the_best(rule: str, setting: str) -> None:
    """Modes rotate, so that each is combined with each rule."""
    turn = list(LEARNERS).index(rule) + list(SETTINGS).index(setting)
    fleet = [
        Fleet(vehicles=2), Fleet(vehicles=2, weights="equal", travel="longest"), Fleet(vehicles=2, serve="own"),
        Fleet(models=2), Fleet(models=2, serve="merged"),
    ][turn % 5]  # fmt: skip
    problem = small(LEARNERS[rule], turn, fleet=fleet, **SETTINGS[setting])
    found = plan(problem, params=QUICK)
    assert found.optimal
    assert found.loss.total == pytest.approx(law_of(problem, float).least(), rel=1e-9)


@pytest.mark.parametrize("fleet", [Fleet(vehicles=2, serve="own"), Fleet(models=2)])
def test_measured_errors_are_served_by_own_models(fleet: Fleet) -> None:
    rng = np.random.default_rng(5)
    law = Calibrated(noise=-0.01, retention=0.5, coupling=0.6, common_retention=0.7)
    transfer = rng.uniform(0, 2, (4, 4))
    problem = small(law, vectors=None, transfer=transfer, initial=[1.0, 2.0, 3.0, 1.0], fleet=fleet)
    assert plan(problem).loss.total == pytest.approx(law_of(problem, float).least(), rel=1e-9)
    with pytest.raises(InputError, match=r"fleet\.serve"):
        problem.replace(fleet=replace(fleet, serve="merged"))


@pytest.mark.parametrize("visits", [None, Visits(["R1"]), Visits(repeat=2, at_most=3)])
@pytest.mark.parametrize("limit", [None, 12.0])
def test_one_vehicle_has_the_plan_that_there_is_without_a_fleet(visits: Visits | None, limit: float | None) -> None:
    for learner in (LEARNERS["m > n"], LEARNERS["proximal"]):
        alone = small(learner, visits=visits)
        if limit is not None:
            alone = alone.replace(visits=replace(visits or Visits("all"), budget=limit))
        try:
            wanted = plan(alone)
        except InputError:
            with pytest.raises(InputError):
                plan(small(learner, visits=visits, fleet=Fleet(limit=limit)))
            continue
        found = plan(small(learner, visits=visits, fleet=Fleet(limit=limit)))
        own = {"seconds": 0, "rules": {}}  # the limit is that of the vehicle, or of the visits
        assert found.to_dict() | own == wanted.to_dict() | own


def test_one_model_that_serves_if_it_is_better_than_none() -> None:
    problem = small(LEARNERS["m < n"], fleet=Fleet(serve="own"), visits=Visits())
    found = plan(problem)
    assert found.optimal
    assert found.loss.total == pytest.approx(law_of(problem, float).least(), rel=1e-9)
    assert found.loss.total < plan(problem.replace(fleet=None)).loss.total
    assert found.served_by is not None
    assert set(found.served_by.values()) == {None, 0}


def test_bounds_are_below_all_routes() -> None:
    """Hundreds of fleets, including laws that no model obeys and dissimilarities that are not distances."""
    sharp = 0
    for seed in range(120):
        rng = np.random.default_rng([seed, 4])
        settings = {**draw_rules(rng, 3), "required": [0, 1] if seed % 2 else [], "forbidden": (), "at_most": 2}
        alone = random_instance(rng, 3, vectors=seed % 4 > 0, **settings)
        if seed % 4 == 0:
            apart = alone.known.matrix + alone.known.matrix.T
            np.fill_diagonal(apart, 0.0)
            alone = alone.knowing(Dissimilarities(apart, None, alone.known.initial, apart.sum(axis=1)))
        if seed % 5 == 0:
            alone = replace(alone, updates=replace(alone.updates, noise=alone.updates.noise - 0.05))
        rules = FleetRules(1 + seed % 3 // 2, 1 + (seed % 3 < 2), True, seed % 7 == 0, bool(rng.random() < 0.5))
        instance = replace(alone, fleet=rules)
        assert Floor().supports(instance, DEFAULTS)
        certificate = floor_bound(instance)
        best, _ = law_of_instance(instance).best()
        assert certificate.bound <= best + 1e-12, seed
        sharp += certificate.bound > 0.5 * best
    assert sharp > 10


def programme(rng: np.random.Generator, count: int, regions: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Means and distances of models with individual scatter."""
    points, models = rng.standard_normal((regions, 3)), rng.standard_normal((count, 3))
    scatter = rng.random(count) * rng.choice([0.0, 0.1, 2.0])
    means = ((points[None] - models[:, None]) ** 2).sum(axis=(1, 2)) + regions * scatter
    between = ((models[:, None] - models) ** 2).sum(axis=2) + scatter[:, None] + scatter
    np.fill_diagonal(between, 0.0)
    return means, between


@pytest.mark.parametrize("count", [1, 2, 3, 5, FEW])
def test_weights_of_averages_are_the_best(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(20 if count < FEW else 2):
        means, between = programme(rng, count)
        weights = merge_weights(means, 6 * between)
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1.0, rel=1e-12)
        apart: Any = 6 * between
        least = least_average(means.tolist(), apart)
        assert average(means.tolist(), apart, weights.tolist()) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("count", [FEW + 1, 20])
def test_weights_of_many_models_have_equal_slopes(count: int) -> None:
    """KKT: the slope of models with weight is the least slope."""
    rng = np.random.default_rng(count)
    for _ in range(5):
        means, between = programme(rng, count)
        weights = merge_weights(means, 6 * between)
        slopes = means - 6 * between @ weights
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1.0, rel=1e-9)
        assert slopes[weights > 1e-9].max() == pytest.approx(slopes.min(), abs=1e-6 * np.abs(means).max())


def test_many_routes_are_not_enumerated() -> None:
    problem = small(LEARNERS["m > n"])
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((30, 3))
    large = problem.replace(
        vectors=vectors, coordinates=rng.random((30, 2)), initial=(vectors**2).sum(axis=1), fleet=Fleet(vehicles=3),
        regions=[f"R{i}" for i in range(30)],
    )  # fmt: skip
    assert not Enumeration("routes").supports(large.instance, DEFAULTS)
    with pytest.raises(RefusedError, match="too many routes of 3 vehicles"):
        plan(large, "exact")
