"""A depot: plans, bounds, proofs and the checker against all orders, for each learning rule."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learnroute import (
    METHODS,
    Calibrated,
    Constraints,
    Depot,
    Gradient,
    InputError,
    Journey,
    Learner,
    Problem,
    Proximal,
    compare,
    evaluate,
    expected_loss,
    plan,
    tradeoff,
    verify,
    with_depot,
)
from learnroute.model.routes import Routes

SIZE = 6
LEARNERS = {
    "under": Learner(20, 30, 0.4),
    "over": Learner(30, 20, 0.4),
    "mixed": Learner(20, 30, 0.4),
    "fewer": Learner(30, 12, 0.4),
    "more": Learner(10, 20, 0.4),
    "proximal": Proximal(20, 15, 0.4, regularization=1.5),
    "by position": Proximal(20, 15, 0.4, regularization=(0.5, 1.0, 2.0, 0.7, 3.0, 1.0)),
    "proximal, unequal": Proximal(20, 15, 0.4, regularization=1.5),
    "both": Proximal(20, 15, 0.4, regularization=(0.5, 1.0, 2.0, 0.7, 3.0, 1.0)),
    "gradient": Gradient(20, 25, 0.4, steps=3, rate=0.2),
    "calibrated": Calibrated(noise=0.2, retention=0.6, coupling=0.1),
}
UNEQUAL = {"mixed": [30, 10, 40, 12, 25, 8], "fewer": [12, 20, 8, 25, 15, 10], "more": [20, 30, 15, 40, 25, 12],
           "proximal, unequal": [15, 30, 8, 20, 40, 10], "both": [15, 30, 8, 20, 40, 10]}  # fmt: skip


def problem_of(kind: str, *, returns: bool = True, end: bool = False, seed: int = 0, vectors: bool = False) -> Problem:
    """Return a problem of six regions and a depot with asymmetric travel."""
    rng = np.random.default_rng(seed)
    points = rng.random((SIZE, 3))
    delta = ((points[:, None] - points) ** 2).sum(axis=2)
    models: dict[str, Any] = {"vectors": points} if vectors else {"dissimilarity": delta}
    if kind == "calibrated":
        models = {"transfer": rng.random((SIZE, SIZE))}
    travel = rng.uniform(0.1, 1.0, (SIZE, SIZE))
    np.fill_diagonal(travel, 0)
    depot = Depot("Base", None, rng.uniform(0.1, 1.0, SIZE), rng.uniform(0.1, 1.0, SIZE), returns)
    return Problem(
        travel, LEARNERS[kind], **models, initial=rng.random(SIZE), samples=UNEQUAL.get(kind), travel_rate=1.7,
        constraints=Constraints(end="R3") if end else None, depot=depot,
    )  # fmt: skip


def brute_force(problem: Problem) -> Iterator[tuple[tuple[int, ...], float]]:
    """The total loss of every allowed route, by the recursion and explicit travel from and to the depot."""
    assert problem.depot is not None
    size, depot = problem.size, problem.depot
    delta = np.array([problem.dissimilarities_to(i) for i in range(size)])
    for order in itertools.permutations(range(size)):
        if problem.constraints.end is not None and problem.regions[order[-1]] != problem.constraints.end:
            continue
        errors = [float(x) for x in problem.initial]
        for t, k in enumerate(order):
            p, learnt, q, _, noise = (float(table[t, k]) for table in problem.updates.tables)
            before = errors[k]
            errors = [p * errors[j] - q * before + learnt * float(delta[k, j]) + noise for j in range(size)]
        way = float(np.asarray(depot.travel)[order[0]])
        way += sum(float(problem.travel[a, b]) for a, b in itertools.pairwise(order))
        way += float(np.asarray(depot.travel_back)[order[-1]]) if depot.returns else 0.0
        yield order, problem.travel_rate * way / size + sum(errors) / size


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize(("returns", "end"), [(True, False), (False, False), (True, True), (False, True)])
def test_plans_are_best_of_all_routes_from_the_depot(kind: str, returns: bool, end: bool) -> None:
    problem = problem_of(kind, returns=returns, end=end, vectors=kind in ("proximal", "over"))
    losses = dict(brute_force(problem))
    best = min(losses.values())
    instance, orders = problem.instance, problem.instance.orders
    for order in itertools.islice(losses, 0, None, 37):
        assert expected_loss(problem, order).total == pytest.approx(losses[order], rel=1e-12)
        routes = Routes.of_order(order)
        assert instance(routes) == pytest.approx(SIZE * losses[order], rel=1e-12)
        assert orders.order(routes).tolist() == problem.from_depot(order).tolist()
        assert orders.exact is None or orders.exact(orders.order(routes)) == pytest.approx(instance(routes), rel=1e-12)
    for method in ("exact", "search", "auto"):
        found = plan(problem, method)
        searched = method == "search" and problem.learner.rule != "least-squares"  # a heuristic there, at any size
        assert found.loss.total == pytest.approx(best, rel=0.01 if searched else 1e-12), method
        assert losses[found.order] == pytest.approx(found.loss.total, rel=1e-12)
        assert found.lower_bound is not None
        assert found.lower_bound <= best * (1 + 1e-12)
        assert (found.depot, found.closed) == ("Base", returns)
        assert found.stops == ("Base", *found.route, *(["Base"] if returns else []))
    checked = verify(problem, found)
    assert checked.verdict == "confirmed", [c for c in checked if not c.holds]


@pytest.mark.parametrize("kind", ["under", "over", "mixed", "proximal", "calibrated"])
def test_every_method_and_its_bound_hold(kind: str) -> None:
    problem = problem_of(kind, seed=1)
    losses = dict(brute_force(problem))
    for name in METHODS:
        if name == "algorithm1":
            continue
        found = plan(problem, name)
        assert found.loss.total == pytest.approx(losses[found.order], rel=1e-12), name
        assert found.lower_bound is not None
        assert found.lower_bound <= min(losses.values()) * (1 + 1e-12), name
        assert verify(problem, found).verdict != "refuted", name
    rows = compare(problem, draws=20).rows
    assert all(row.loss is None or row.loss.total >= min(losses.values()) * (1 - 1e-12) for row in rows)


@pytest.mark.parametrize("kind", ["under", "over"])
@pytest.mark.parametrize("returns", [True, False])
def test_algorithm_1_keeps_its_guarantee(kind: str, returns: bool) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        places, points = rng.random((SIZE, 2)), rng.random((SIZE, 3))
        depot = Depot("Base", rng.random(2), returns=returns)
        problem = Problem(learner=LEARNERS[kind], coordinates=places, vectors=points, depot=depot, travel_rate=3)
        ways = np.hypot(*(places - np.asarray(depot.coordinates)).T)
        priced = problem.replace(travel=problem.travel, depot=replace(depot, travel=ways, travel_back=ways))
        by_places = plan(problem, "algorithm1")
        assert by_places.loss.total == pytest.approx(evaluate(priced, by_places.order).loss.total, rel=1e-12)
        problem = priced
        found = plan(problem, "algorithm1")
        best = min(total for _, total in brute_force(problem))
        assert found.guarantee.value is not None
        assert "a depot" in found.guarantee.reason
        assert best * (1 - 1e-12) <= found.loss.total <= found.guarantee.value * best
        assert verify(problem, found).verdict != "refuted"


def test_forged_plans_are_refuted() -> None:
    problem = problem_of("over")
    good = plan(problem).to_dict()
    worse = evaluate(problem, good["order"][::-1]).to_dict()
    assert verify(problem, {**worse, "optimal": True}).verdict == "refuted"
    assert verify(problem, {**good, "depot": "Elsewhere"}).verdict == "refuted"
    assert verify(problem, {**good, "closed": False}).verdict == "refuted"
    assert verify(problem, {**good, "lower_bound": good["lower_bound"] * 1.01}).verdict == "refuted"
    assert problem.depot is not None
    one_way = problem.replace(depot=replace(problem.depot, returns=False))
    assert verify(one_way, good).verdict == "refuted"


@pytest.mark.parametrize("kind", ["under", "over", "proximal"])
def test_the_trade_off_is_the_pareto_front_of_routes_from_the_depot(kind: str) -> None:
    problem = problem_of(kind, seed=2)
    found = tradeoff(problem, points=8)
    for choice in found.points:
        assert choice.route == tuple(problem.regions[i] for i in choice.order)
        loss = expected_loss(problem, choice.order)
        assert choice.error == pytest.approx(loss.error, rel=1e-12)
        assert choice.travel_cost * problem.travel_rate / SIZE == pytest.approx(loss.travel, rel=1e-12)
    if found.complete:
        points = [(expected_loss(problem, order).travel, expected_loss(problem, order).error)
                  for order, _ in brute_force(problem)]  # fmt: skip
        for travel, error in points:
            assert any(c.travel_cost * problem.travel_rate / SIZE <= travel + 1e-12 and c.error <= error + 1e-12
                       for c in found.points)  # fmt: skip


@pytest.mark.parametrize("returns", [True, False])
@pytest.mark.parametrize("kind", ["under", "over", "mixed", "proximal"])
def test_a_journey_from_the_depot_that_learns_nothing_new_keeps_its_plan(kind: str, returns: bool) -> None:
    problem = problem_of(kind, returns=returns, seed=3)
    trip = Journey(problem)
    best = min(total for _, total in brute_force(problem))
    assert trip.expected_loss == pytest.approx(best, rel=1e-9)
    for _ in range(problem.size):
        trip.visit()
        assert trip.expected_loss == pytest.approx(best, rel=1e-9)
    assert trip.next is None


@pytest.mark.parametrize("places", [True, False])
def test_a_region_becomes_the_depot(places: bool) -> None:
    rng = np.random.default_rng(5)
    whole = Problem(learner=LEARNERS["over"], coordinates=rng.random((7, 2)), vectors=rng.random((7, 3)))
    whole = whole if places else whole.replace(travel=whole.travel)
    problem = with_depot(whole, "R4")
    assert problem.regions == ("R1", "R2", "R3", "R5", "R6", "R7")
    assert problem.stops[-1] == "R4"
    found = plan(problem)
    assert found.stops[0] == found.stops[-1] == "R4"
    order = [whole.regions.index(name) for name in found.stops]
    way = sum(float(whole.travel[a, b]) for a, b in itertools.pairwise(order))
    assert found.travel_cost == pytest.approx(way, rel=1e-12)


def test_more_regions_than_are_enumerated() -> None:
    """Other proofs with a depot (branch and bound, ng-routes, 1-trees) are checked."""
    rng = np.random.default_rng(7)
    places, points = rng.random((26, 2)), rng.random((26, 3))
    for learner in (LEARNERS["under"], LEARNERS["over"], LEARNERS["proximal"]):
        problem = Problem(learner=learner, coordinates=places, vectors=points, depot=Depot("Base", (0.5, 0.5)))
        found = plan(problem)
        assert found.gap is not None
        assert found.optimal or learner.rule == "proximal"
        assert verify(problem, found).verdict != "refuted"
        assert {c.what for c in verify(problem, found) if c.holds} >= {"route", "loss", "bound", "travel_cost", "depot"}


def base(**changes: Any) -> Problem:
    places = [[0, 0], [1, 0], [0, 1]]
    fields: dict[str, Any] = {"coordinates": places, "vectors": [[0], [1], [2]], "learner": Learner(20, 30)}
    return Problem(**fields | changes)


COSTS = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no place": (lambda: base(depot=Depot("D")), r"depot\.coordinates: missing"),
    "three numbers": (lambda: base(depot=Depot("D", [1, 2, 3])), r"depot\.coordinates"),
    "a region's name": (lambda: base(depot=Depot("R2", [1, 2])), r"depot\.name = 'R2'.*a region has this name"),
    "not a depot": (lambda: base(depot="R2"), "depot"),
    "no costs": (lambda: base(travel=COSTS, depot=Depot("D", [1, 2])), r"depot\.travel: missing"),
    "two costs": (lambda: base(travel=COSTS, depot=Depot("D", [1, 2], [1, 2])), r"depot\.travel.*2 .*3"),
    "a negative cost": (lambda: base(travel=COSTS, depot=Depot("D", [1, 2], [1, -2, 1])), r"depot\.travel\[1\] = -2"),
    "costs beside places": (lambda: base(depot=Depot("D", [1, 2], [1, 1, 1])), r"depot\.travel: .*coordinates"),
    "a start too": (lambda: base(depot=Depot("D", [1, 2]), constraints=Constraints(start="R1")), "constraints.start"),
    "a latitude": (lambda: base(geographic=True, depot=Depot("D", [10, 95])), r"depot\.coordinates.*latitude"),
    "no name": (lambda: Depot(""), r"depot\.name"),
    "return": (lambda: Depot("D", returns="yes"), r"depot\.return = 'yes'"),  # type: ignore[arg-type]
    "a misspelt region": (lambda: with_depot(base(regions=["North", "South", "East"]), "Nort"), "did you mean.*North"),
    "places for costs": (lambda: with_depot(base(travel=COSTS), [1, 2]), "depot.*travel"),
    "two depots": (lambda: with_depot(base(depot=Depot("D", [1, 2])), "R1"), "the problem has a depot"),
    "its own end": (lambda: with_depot(base(constraints=Constraints(end="R1")), "R1"), r"constraints\.end = 'R1'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_depots_that_do_not_fit_are_rejected_by_name(case: str) -> None:
    make, line = REFUSED[case]
    with pytest.raises(InputError, match=line) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_the_depot_is_no_stop_of_a_route_that_is_given() -> None:
    problem = problem_of("over")
    with pytest.raises(InputError, match="'Base' is the depot, where all routes start; remove it from the route"):
        evaluate(problem, list(plan(problem).stops))


def test_ambiguous_name_of_a_depot_is_rejected() -> None:
    data = {
        "regions": ["A", "B", "A", "C"],
        "coordinates": [[0, 0], [1, 0], [0, 1], [1, 1]],
        "vectors": [[0.0], [1.0], [2.0]],
        "learner": {"features": 4, "samples": 10},
        "depot": "A",
    }
    with pytest.raises(InputError, match="a region has this name"):
        Problem.from_dict(data)
