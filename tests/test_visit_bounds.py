"""Lower bounds of plans with optional visits: below all sequences, confirmed by the checker, and refuted if forged."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from claims import random_visits
from learnroute import (
    Calibrated,
    Constraints,
    Depot,
    Gradient,
    InputError,
    Learner,
    Problem,
    Proximal,
    Visits,
    evaluate,
    plan,
    verify,
)
from learnroute.model.certificates import Simple, VisitRoutes
from learnroute.solvers.exact import visit_ng_routes as ng_routes
from learnroute.solvers.exact.subgradient import new_ascent
from learnroute.solvers.params import AscentParams
from learnroute.verification import held_karp
from learnroute.verification import visits as checker
from learnroute.verification.pairs import PairLosses
from oracle import law_of


@pytest.fixture
def certificates_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable enumeration in the checker, so that confirmed claims follow from the certificate."""
    monkeypatch.setattr(checker, "MOST_SEQUENCES", 0)
    monkeypatch.setattr(held_karp, "MOST_REGIONS", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("certificates_alone")
@pytest.mark.parametrize("block", range(4))
def test_bounds_are_below_all_sequences_and_confirmed(block: int) -> None:
    kinds = set()
    for seed in range(40 * block, 40 * block + 40):
        problem = random_visits(seed)
        everyone = [] if problem is None else law_of(problem).orders()
        if problem is None or problem.visits_all_once or not everyone:
            continue
        with np.errstate(all="ignore"):
            best = min(map(law_of(problem).total, everyone))
            try:
                found = plan(problem, "search", seed=1)
            except InputError:
                continue
            if found.certificate is None:
                assert not problem.dissimilarities.symmetric
                assert any("lower bound" in note for note in found.notes)
                continue
            data = json.loads(json.dumps(found.to_dict()))
            kinds.add(data["certificate"]["kind"])
            assert Fraction(data["certificate"]["bound"]) <= best, seed
            assert verify(problem, data).verdict == "confirmed", seed
            raised = float(best) + 1e-9 * found.loss.magnitude
            if not raised > best:  # all losses are 0
                continue
            data |= {"lower_bound": raised, "optimal": False, "gap": None, "certified_ratio": None}
            assert verify(problem, data).verdict == "refuted", seed
    assert kinds == {"simple", "visit-routes"}


@pytest.mark.slow
def test_no_multipliers_prove_a_false_bound() -> None:
    """Any multipliers and ng-sets give a valid bound: never one above the best sequence."""
    rng, tried = np.random.default_rng(5), 0
    for seed in range(300):
        problem = random_visits(seed)
        if problem is None or problem.visits_all_once or problem.updates.coupled:
            continue
        everyone = law_of(problem).orders()
        if not everyone:
            continue
        losses = PairLosses(problem)
        best = min(losses.total(problem.from_depot(np.array(visits)).tolist()).high for visits in everyone)
        stops = len(problem.stops)
        for _ in range(6):
            size = abs(float(best)) / problem.size * 10.0 ** rng.integers(-2, 3)
            ng_sets = [tuple(rng.integers(0, stops, rng.integers(0, 4)).tolist()) for _ in range(stops)]
            price = float(rng.choice([0.0, size]))
            forged = VisitRoutes(0.0, rng.normal(0, size, stops), tuple(ng_sets), price)
            outcome = checker.VisitChecker(losses, problem.visit_rules, forged)._by_certificate(
                best * (1 + Fraction(1, 10**9))
            )
            assert not outcome.proved or best <= 0, seed
            assert outcome.follows is None or outcome.follows <= best, seed
            tried += outcome.follows is not None
    assert tried > 100


def large_problem(seed: int = 0, size: int = 24, **changes: Any) -> Problem:
    """Too many sets and sequences to try; a quarter of the regions must be visited."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((size, 4))
    fields: dict[str, Any] = {
        "learner": Learner(120, 100, 0.2), "vectors": vectors, "coordinates": 10 * rng.random((size, 2)),
        "initial": 3 * (vectors**2).sum(axis=1), "travel_rate": 0.5,
        "visits": Visits([f"R{i}" for i in range(1, size // 4)]),
    }  # fmt: skip
    return Problem(**{**fields, **changes})


CASES: dict[str, dict[str, Any]] = {
    "open": {},
    "under": {"learner": Learner(80, 100, 0.2)},
    "budget": {"visits": Visits(["R1", "R2"], budget=16.0), "learner": Learner(1000, 100, 0.2)},
    "forbidden, at most": {"visits": Visits(["R1", "R2"], ["R3", "R4"], at_least=4, at_most=6)},
    "repeats": {"visits": Visits(["R1", "R2"], repeat=2, at_most=30)},
    "depot": {"depot": Depot("depot", (5.0, 5.0), returns=False)},
    "depot and back": {"depot": Depot("depot", (5.0, 5.0))},
    "both ends": {"constraints": Constraints(start="R7", end="R9", returns=True)},
    "last and back": {"constraints": Constraints(end="R9", returns=True)},
    "cycle": {"constraints": Constraints(returns=True)},
    "samples": {"samples": [90 + 5 * (i % 4) for i in range(24)]},
    "importance": {"importance": [i % 3 for i in range(24)]},
    "calibrated": {"learner": Calibrated(noise=0.1, retention=0.4, coupling=0.0)},
}


@pytest.mark.parametrize("case", CASES)
def test_large_plans_have_bounds_that_are_confirmed_and_refuted_if_raised(case: str) -> None:
    problem = large_problem(**CASES[case])
    found = plan(problem, "search")
    assert isinstance(found.certificate, VisitRoutes)
    assert found.gap is not None
    assert found.gap < 0.2
    assert verify(problem, found.to_dict()).verdict == "confirmed"
    data = found.to_dict()
    data["certificate"]["bound"] *= 1 + 1e-3
    assert verify(problem, data).verdict == "refuted"


def test_a_bound_that_meets_the_loss_proves_the_optimum() -> None:
    found = plan(large_problem())
    assert found.method == "search"
    assert found.optimal
    assert verify(large_problem(), found.to_dict()).verdict == "confirmed"
    worse = evaluate(large_problem(), found.route[::-1])
    assert not worse.optimal
    assert worse.lower_bound is not None
    assert worse.lower_bound <= found.loss.total
    assert verify(large_problem(), worse.to_dict()).verdict == "confirmed"


def test_a_bound_for_another_budget_or_other_required_regions_is_refuted() -> None:
    tight = large_problem(**CASES["budget"])
    data = plan(tight, "search").to_dict()
    assert data["certificate"]["budget_multiplier"] > 0
    for visits in (Visits(["R1", "R2"], budget=40.0), Visits(["R1"], budget=16.0)):
        other = tight.replace(visits=visits)
        assert verify(other, data).verdict == "refuted"


LEARNERS = [
    Proximal(30, 60, 0.3, regularization=1.0),
    Proximal(30, 60, 0.3, regularization=tuple(map(float, range(24)))),
    Gradient(30, 60, 0.3, steps=3, rate=0.3),
    Calibrated(noise=0.05, retention=0.5, coupling=0.2),
    Calibrated(noise=-0.01, retention=0.5, coupling=0.2, common_retention=0.25),
]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("importance", [None, [i % 3 for i in range(24)]])
def test_coupled_learners_have_the_floor(learner: Learner, importance: list[int] | None) -> None:
    problem = large_problem(learner=learner, importance=importance)
    found = plan(problem, "search")
    assert isinstance(found.certificate, Simple)
    assert found.gap is not None
    assert found.gap < 1
    assert verify(problem, found.to_dict()).verdict == "confirmed"
    data = found.to_dict()
    data["certificate"]["bound"] *= 1 + 1e-9
    assert verify(problem, data).verdict == "refuted"


def test_a_unit_of_travel_may_be_worth_more_than_the_largest_number_of_a_problem() -> None:
    rng = np.random.default_rng(0)
    places, vectors = 1e-90 * rng.random((8, 2)), 1e20 * rng.normal(size=(8, 2))
    problem = Problem(
        None, Learner(80, 20), vectors=vectors, initial=1e40 * (1 + rng.random(8)), coordinates=places,
        visits=Visits(budget=1.5e-90),
    )  # fmt: skip
    found = plan(problem, "search")
    assert isinstance(found.certificate, VisitRoutes)
    assert found.certificate.budget_multiplier > 1e100
    assert verify(problem, json.loads(json.dumps(found.to_dict()))).holds


BEYOND_THE_RANGE: dict[str, Any] = {
    "travel": [[0, 1e-310, 1e-310], [1e-310, 0, 1e-310], [1e-310, 1e-310, 0]], "travel_rate": 0,
    "dissimilarity": [[0, 2.5e-308, 5e-324], [2.5e-308, 0, 0], [5e-324, 0, 0]], "initial": [2.5e-308, 0, 5e-324],
    "learner": {"rule": "calibrated", "retention": 0.5, "coupling": 0, "noise": 0},
    "visits": {"repeat": 2, "budget": 1e30, "required": ["R1", "R2"]},
}  # fmt: skip


def test_travel_so_short_that_multipliers_would_be_infinite_is_rejected() -> None:
    with pytest.raises(
        InputError, match=r"travel\[0, 1\] = 1e-310: travel costs must be 0 or have a magnitude >= 1e-100"
    ):
        Problem.from_dict(BEYOND_THE_RANGE)


@pytest.mark.parametrize(("repeat", "retention", "budget"), [(3, 2.179731528975322e-70, 7.0), (4, 1.3e-52, 1e30)])
def test_a_bound_that_rounding_keeps_below_its_target_takes_few_steps(
    repeat: int, retention: float, budget: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers are within the range, but the loss is so small that a tenth of the gap is rounded to 0."""
    problem = Problem(
        [[0, 1, 1], [1, 0, 1], [1, 1, 0]], Calibrated(retention=retention, coupling=0.0),
        7e-100 * np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), initial=[1e-99, 1e-100, 0], travel_rate=0,
        visits=Visits(["R1"], repeat=repeat, budget=budget),
    )  # fmt: skip
    steps, cheapest = [], ng_routes._Relaxation.cheapest

    def count(self: Any, network: Any, multipliers: Any) -> Any:
        steps.append(multipliers)
        assert len(steps) < 1000
        return cheapest(self, network, multipliers)

    monkeypatch.setattr(ng_routes._Relaxation, "cheapest", count)
    found = plan(problem, "search", initial=["R1", *["R3"] * repeat])  # beyond rounding of the error before
    assert found.optimal
    assert np.isfinite(steps).all()
    assert verify(problem, found).holds


@pytest.mark.parametrize("entry", [np.inf, 1e200, np.nan])
def test_an_ascent_ends_if_its_step_is_not_finite_or_0(entry: float) -> None:
    ascent = new_ascent(np.zeros(2), 1.0, AscentParams(steps=10))
    assert ascent.advance(np.array([1.0, 0.0]), 0.0)
    assert not ascent.advance(np.array([entry, 1.0]), 0.0)
    assert ascent.ended
    assert np.isfinite(ascent.multipliers).all()
    assert not new_ascent(np.zeros(2), 1.0, AscentParams(steps=10)).advance(np.array([1.0, 0.0]), np.nan)
