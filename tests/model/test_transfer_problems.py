"""Problems with measured errors D instead of dissimilarities, and calibrated learners."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnroute import (
    Calibrated,
    Constraints,
    InputError,
    Journey,
    Learner,
    Problem,
    error_over_time,
    evaluate,
    expected_loss,
    plan,
    read_problem,
    robustness,
    verify,
    write_problem,
)
from learnroute.formats import WRITERS
from learnroute.formats.json_files import problem_to_dict
from learnroute.learning import simulate
from learnroute.model.routes import Routes

CALIBRATED: dict[str, Any] = {"rule": "calibrated", "retention": 0.4, "coupling": 0.15, "noise": 0.02}
LEARNERS = {
    "calibrated": CALIBRATED,
    "noise below 0": {**CALIBRATED, "noise": -0.03},
    "common gain kept": {**CALIBRATED, "common_retention": 0.7},
    "coupled beyond its retention": {**CALIBRATED, "retention": 0.1, "common_retention": 0.6},
    "uncoupled": {**CALIBRATED, "coupling": 0.0},
    "retains nothing": {**CALIBRATED, "coupling": 0.0, "retention": 0.0},
    "under": {"features": 80, "samples": 100, "noise": 0.1},
    "over": {"features": 200, "samples": 100, "noise": 0.1},
    "proximal": {"features": 80, "samples": 100, "noise": 0.1, "rule": "proximal", "regularization": 0.5},
}


def problem(learner: dict[str, Any], size: int = 6, seed: int = 0, **changes: Any) -> Problem:
    rng = np.random.default_rng(seed)
    given = {
        "coordinates": rng.random((size, 2)),
        "geographic": True,
        "transfer": rng.random((size, size)) + 0.3 * np.eye(size),
        "initial": rng.random(size),
        "learner": Learner(**learner),
        "travel_rate": 0.001,
    }
    return Problem(**{**given, **changes})


def final_error(asked: Problem, order: tuple[int, ...]) -> float:
    """The law, step by step: e_j ← p₁·e_j - q·e_k + (1 - p₁)·D[k, j] + ν; with ρ, e is a_j less a common b."""
    errors, gained = np.array(asked.initial), 0.0
    assert asked.transfer is not None
    learner = asked.learner
    for t, k in enumerate(order):
        kept, _, coupling, _, noise = (table[t, k] for table in asked.updates.tables)
        if getattr(learner, "common_retention", None) is None:
            errors = kept * errors - coupling * errors[k] + (1 - kept) * asked.transfer[k] + noise
        else:
            gained = learner.common_retention * gained + coupling * errors[k] - noise
            errors = kept * errors + (1 - kept) * asked.transfer[k]
    return float(errors.mean()) - gained


@pytest.mark.parametrize("name", LEARNERS)
def test_every_order_is_priced_by_the_law_and_the_best_is_found(name: str) -> None:
    asked = problem(LEARNERS[name])
    totals = {}
    instance = asked.instance
    for order in itertools.permutations(range(6)):
        found = expected_loss(asked, order)
        assert found.error == pytest.approx(final_error(asked, order), rel=1e-9)
        assert instance(Routes.of_order(order)) == pytest.approx(6 * found.total, rel=1e-9)
        totals[order] = found.total
    best = min(totals.values())
    planned = plan(asked, "exact")
    assert planned.optimal
    assert planned.loss.total == pytest.approx(best, rel=1e-9)
    for method in ("auto", "search", "baseline", "random", "algorithm1", "travel"):
        other = plan(asked, method)
        assert other.lower_bound is None or other.lower_bound <= best * (1 + 1e-9)
        assert verify(asked, other).verdict != "refuted"
    assert verify(asked, planned).verdict == "confirmed"


def test_the_common_retention_of_linear_learners_changes_nothing() -> None:
    tied, told = (problem({**CALIBRATED, **more}) for more in ({}, {"common_retention": 0.4 - 0.15}))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(6)
        assert expected_loss(told, order).error == pytest.approx(expected_loss(tied, order).error, rel=1e-12)


def test_no_floor_is_claimed_if_no_model_has_the_errors() -> None:
    """Points whose mean is far from all: with a common retention, errors fall below those of the mean model."""
    points = np.array([[0.0], [1.0], [2.0], [3.0]])
    apart = (points - points.T) ** 2
    law = Calibrated(retention=0.5, coupling=0.15, common_retention=0.7)
    asked = Problem(np.zeros((4, 4)), law, dissimilarity=apart, initial=np.full(4, 3.0))
    best = min(expected_loss(asked, order).total for order in itertools.permutations(range(4)))
    assert best < apart.mean() / 2  # what the mean of all models has
    for method in ("exact", "search"):
        found = plan(asked, method)
        assert found.loss.total == pytest.approx(best)
        assert found.lower_bound is None or found.lower_bound <= best + 1e-9
        assert verify(asked, found).verdict != "refuted"


def test_errors_over_time_end_with_the_error_of_the_loss() -> None:
    asked = problem(CALIBRATED)
    order = (3, 1, 5, 0, 2, 4)
    assert error_over_time(asked, order)[-1].mean() == pytest.approx(expected_loss(asked, order).error)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.slow
def test_bounds_hold_for_more_regions_and_are_checked(seed: int) -> None:
    asked = problem(CALIBRATED, size=8, seed=seed, constraints=Constraints(returns=bool(seed % 2)))
    exact, searched = plan(asked, "exact"), plan(asked, "search")
    assert exact.optimal
    assert exact.loss.total <= searched.loss.total * (1 + 1e-12)
    assert searched.lower_bound is not None
    assert searched.lower_bound <= exact.loss.total
    rng = np.random.default_rng(seed)
    sampled = [evaluate(asked, rng.permutation(8).tolist()).loss.total for _ in range(200)]
    assert min(sampled) >= exact.loss.total


@pytest.mark.parametrize("suffix", WRITERS, ids=lambda suffix: suffix or "folder")
def test_files_hold_them_or_reject(tmp_path: Path, suffix: str) -> None:
    asked = problem({**LEARNERS["noise below 0"], "common_retention": 0.75})
    path = tmp_path / f"problem{suffix}"
    if suffix == ".csv":
        with pytest.raises(InputError, match="places have vectors"):
            write_problem(asked, path)
        return
    write_problem(asked, path)
    back = read_problem(path)
    read, wanted = problem_to_dict(back), problem_to_dict(asked)
    assert [read[key] for key in ("transfer", "initial", "learner")] == [
        wanted[key] for key in ("transfer", "initial", "learner")
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dissimilarity": np.ones((6, 6)) - np.eye(6)}, "transfer and dissimilarity: both given"),
        ({"vectors": np.ones((6, 2))}, "transfer and vectors: both given"),
        ({"truth": np.ones((6, 2))}, "truth: belongs to dissimilarities"),
        ({"dissimilarity_low": np.zeros((6, 6))}, "dissimilarity_low: belongs to dissimilarities"),
        ({"samples": [5] * 6}, "samples: a calibrated learner has no samples; remove them"),
        ({"transfer": -np.ones((6, 6))}, "transfer[0, 0] = -1"),
        ({"transfer": np.ones((5, 5))}, "transfer has 5 rows"),
    ],
)
def test_mismatched_input_is_rejected(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refusal:
        problem(CALIBRATED, **changes)
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"retention": 1.2}, "learner.retention = 1.2: expected a number from 0 to 1"),
        ({"coupling": 0.5}, "learner.coupling = 0.5: expected a number from 0 to the retention"),
        ({"coupling": None}, "learner.coupling: missing; the rule calibrated needs retention and coupling"),
        ({"common_retention": 1.5}, "learner.common_retention = 1.5: expected a number from 0 to 1"),
        ({"features": 8}, "learner.features = 8: a calibrated learner has no features; remove them"),
        ({"rule": "proximal", "regularization": 1.0, "features": 8, "samples": 9}, "learner.retention = 0.4: the rule"),
    ],
)
def test_a_calibrated_learner_is_checked(members: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refusal:
        Learner(**{**CALIBRATED, **members})
    assert said in str(refusal.value)


def test_asymmetry_is_reported_by_methods_that_need_symmetry() -> None:
    asked = problem(LEARNERS["under"], initial=None)
    for call in (
        lambda: robustness(asked, 0.2),
        lambda: simulate(asked, range(6), 10),
        lambda: Journey(asked).visit("R1", dissimilarity={"R2": 0.1}),
    ):
        with pytest.raises(InputError, match=r"transfer: .*dissimilarities; this problem has measured errors"):
            call()
    with pytest.raises(
        InputError, match=r"learner.rule: a calibrated learner cannot be simulated; train it with `follow`"
    ):
        simulate(problem(CALIBRATED), range(6), 10)


def test_a_journey_plans_again_with_measured_errors() -> None:
    asked = problem(CALIBRATED)
    journey = Journey(asked)
    first = journey.next
    assert first is not None
    journey.visit(first, errors=dict.fromkeys(asked.regions, 0.5))
    assert journey.errors == pytest.approx(np.full(6, 0.5))
    left = [i for i in range(6) if asked.regions[i] != first]
    assert asked.transfer is not None
    values = {}
    for order in itertools.permutations(left):
        errors = np.full(6, 0.5)
        for k in order:
            errors = 0.4 * errors - 0.15 * errors[k] + 0.6 * asked.transfer[k] + 0.02
        travel = sum(asked.travel[i, j] for i, j in itertools.pairwise((asked.regions.index(first), *order)))
        values[order] = errors.sum() + 0.001 * travel
    planned = tuple(asked.regions.index(name) for name in journey.route if name != first)
    assert values[planned] == pytest.approx(min(values.values()))
