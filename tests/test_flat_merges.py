"""Averages of models that nearly coincide: the best weights are found, confirmed, and told from worse ones."""

from __future__ import annotations

import itertools
import json
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from claims import false_claims
from learnroute import Fleet, Problem, Proximal, evaluate, plan, verify
from learnroute.model.merge_weights import merge_weights
from learnroute.verification.fleet_losses import average_error
from oracle import law_of, least_average


def nearly_flat(seed: int, scale: float = 1.0) -> Problem:
    """A learner that retains almost everything, so that its models differ by 1e-6 to 1e-10 of their errors."""
    rng = np.random.default_rng([seed, 42])
    size = int(rng.integers(2, 5))
    plasticity, coupling, noise = (float(10 ** rng.uniform(-10, -6)) for _ in range(3))
    known: dict[str, Any] = {
        "travel": np.round(rng.random((size, size)), 2) * (1 - np.eye(size)),
        "travel_rate": float(rng.choice([0.01, 0.1, 1, 0])) * scale,
        "vectors": np.round(rng.normal(size=(size, int(rng.integers(1, 3)))), 2) * scale**0.5,
        "initial": np.round(5 * rng.random(size), 2) * scale,
        "fleet": {str(rng.choice(["vehicles", "models"])): int(rng.choice([2, 2, 3])), "serve": "merged"},
        "learner": {
            "rule": "calibrated", "retention": 1 - plasticity, "coupling": coupling * (rng.random() < 0.3),
            "noise": noise * (rng.random() < 0.3) * scale,
        },
    }  # fmt: skip
    if rng.random() < 0.6:
        known["visits"] = {"at_most": int(rng.integers(1, size + 1))}
    return Problem.from_dict({name: value.tolist() if isinstance(value, np.ndarray) else value
                              for name, value in known.items()})  # fmt: skip


def claims(found: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(found.to_dict()))
    return data


@pytest.mark.parametrize("scale", [1.0, 1e-47, 1e-80, 1e60])
def test_plans_are_confirmed_and_no_claim_is_false(scale: float) -> None:
    for seed in range(60 if scale == 1 else 8):
        problem = nearly_flat(seed, scale)
        exact = law_of(problem)
        least = exact.least()
        for method in ("auto", "search"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = plan(problem, method)
                report = verify(problem, claims(found))
            assert false_claims(exact, least, found) == [], (seed, method)
            assert [check for check in report if not check.holds] == [], (seed, method)


def test_worse_routes_and_weights_are_not_optimal() -> None:
    """Routes of the fleet are claimed to be optimal: confirmed exactly if none are better by more than 1e-10."""
    verdicts = set()
    for seed in range(12):
        problem = nearly_flat(seed)
        exact = law_of(problem)
        totals = [(exact.total(routes), routes) for routes in exact.routes()]
        least = min(total for total, _ in totals)
        for total, routes in totals[:: 1 + len(totals) // 6]:
            named = [[problem.regions[i] for i in route] for route in routes.vehicles]
            one = problem.fleet_rules.vehicles == 1
            data = claims(evaluate(problem, named[0] if one else named, models=routes.models[0] if one else None))
            value = data["loss"]["total"]
            data |= {"optimal": True, "lower_bound": value, "gap": 0.0, "certified_ratio": 1.0, "certificate": None}
            found = {check.what: check.holds for check in verify(problem, data)}
            assert found["weights"] is True
            assert found["optimum"] is (total - least <= abs(total) / 10**10), (seed, named)
            verdicts.add(found["optimum"])
    assert verdicts == {True, False}


def test_other_weights_are_refuted_where_they_matter() -> None:
    """Weights are judged by the error they lose, however flat: by more than 1e-10 of it is too much."""
    verdicts = []
    for seed in range(30):
        problem = nearly_flat(seed)
        data = claims(plan(problem, "search"))
        exact = law_of(problem)
        routes = plan(problem, "search").fleet
        assert routes is not None
        linear, quadratic = exact.programme(routes)
        least = least_average(linear, quadratic)
        for vertex in range(len(data["weights"])):
            weights = [float(a == vertex) for a in range(len(data["weights"]))]
            lost = average_error(linear, quadratic, list(map(Fraction, weights))) - least
            found = {check.what: check.holds for check in verify(problem, {**data, "weights": weights})}
            assert found["weights"] is (lost <= abs(least) / 10**10), (seed, vertex)
            verdicts.append(found["weights"])
    assert {True, False} == set(verdicts)


@pytest.mark.parametrize("exponent", range(-12, 1, 3))
def test_the_error_of_the_best_weights_does_not_depend_on_flatness(exponent: int) -> None:
    rng = np.random.default_rng(exponent + 20)
    for _ in range(40):
        models = rng.normal(size=(3, 2)) * 10.0 ** (exponent / 2)
        apart = ((models[:, None] - models) ** 2).sum(axis=2) * 5
        linear = 10.0 + apart.max() * rng.random(3)
        fractions = list(map(Fraction, linear.tolist())), [list(map(Fraction, row)) for row in apart.tolist()]
        weights = list(map(Fraction, merge_weights(linear, apart).tolist()))
        lost = average_error(*fractions, weights) - least_average(*fractions)
        assert lost <= Fraction(1, 10**14)


def test_untrained_models_far_away_do_not_spoil_the_average() -> None:
    """Weights of 1e-17 on a model whose errors are 1e20 times larger would be rounding noise."""
    vectors = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    for factor, models in itertools.product((1e8, 1e17, 1e30), (2, 3)):
        problem = Problem(
            np.ones((3, 3)) - np.eye(3), Proximal(30, 60, 0.3, regularization=0.1), vectors=vectors,
            initial=factor * np.array([1.0, 1.1, 0.9]), travel_rate=1e-3, fleet=Fleet(vehicles=models),
        )  # fmt: skip
        found = plan(problem)
        assert false_claims(law_of(problem), law_of(problem).least(), found) == []
        assert [check for check in verify(problem, claims(found)) if check.verdict == "refuted"] == []
