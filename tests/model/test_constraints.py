from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import oracle
from learnroute import Constraints, InputError, Learner, Problem, error_over_time, evaluate, expected_loss
from learnroute.model.losses import travel_cost
from learnroute.study.families import random_problem
from samples import OVER, UNDER, linear_of

SAMPLES = {
    "equal": None,
    "over": [90, 100, 70, 110, 30],
    "under": [200, 130, 150, 180, 125],
    "mixed": [90, 200, 30, 150, 60],
}
REALS = {"under": Learner(80, 100, 0.4), "over": Learner(120, 100, 0.4)}


def make_problem(samples: Any, learner: Learner, **constraints: Any) -> Problem:
    base = random_problem("uniform", 5, learner, seed=3)
    shape = Learner(120, 100, 0.4) if samples else learner
    return base.replace(
        learner=shape, samples=samples, constraints=Constraints(**constraints), travel_rate=0.7,
        initial=np.arange(1.0, 6.0), travel=np.array(base.travel) * (1 + np.tri(5)),
    )  # fmt: skip


@pytest.mark.parametrize("learner", REALS.values(), ids=REALS)
@pytest.mark.parametrize("samples", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("returns", [False, True])
def test_the_objective_is_the_loss_for_all_orders(samples: Any, learner: Learner, returns: bool) -> None:
    problem = make_problem(samples, learner, returns=returns)
    objective = linear_of(problem)
    assert problem.regime == {"over": "over", "under": "under", "mixed": "mixed"}.get(
        next(k for k, v in SAMPLES.items() if v is samples), learner.regime
    )
    for order in itertools.permutations(range(5)):
        by_hand = oracle.journey_loss(problem, order)
        loss = expected_loss(problem, order)
        assert loss.total == pytest.approx(by_hand["total"], rel=1e-12)
        assert loss.error == pytest.approx(by_hand["error"], rel=1e-12)
        assert objective(order) == pytest.approx(5 * by_hand["total"], rel=1e-12)
        assert travel_cost(problem, order) == pytest.approx(by_hand["travel_cost"], rel=1e-12)
        assert error_over_time(problem, order)[-1].mean() == pytest.approx(by_hand["error"], rel=1e-12)
        floor = np.sum(objective.weights * objective.scores[list(order)])
        assert floor <= np.sum(objective.weights_of(order) * objective.scores[list(order)]) * (1 + 1e-12)
        retained = float(np.prod(problem.updates.retention[0]))
        assert problem.instance.shares(order).sum() == pytest.approx(1 - retained, rel=1e-12)


def test_ranks_put_regions_in_the_order_that_forgets_least() -> None:
    for samples in (SAMPLES["over"], SAMPLES["mixed"]):
        objective = linear_of(make_problem(samples, UNDER).replace(travel_rate=0.0))
        best = min(itertools.permutations(range(5)), key=objective)
        assert objective(np.argsort(-objective.ranks, kind="stable")) == pytest.approx(objective(best), rel=1e-12)


def test_losses_agree_in_both_units() -> None:
    problem = make_problem(None, REALS["over"], returns=True)
    found = evaluate(problem, [2, 0, 1, 4, 3])
    assert found.travel_cost == pytest.approx(oracle.journey_loss(problem, [2, 0, 1, 4, 3])["travel_cost"], rel=1e-12)
    assert found.loss.travel == pytest.approx(0.7 * found.travel_cost / 5, rel=1e-12)
    other = found.loss_in_travel_units
    assert other is not None
    assert other.travel == pytest.approx(found.travel_cost, rel=1e-12)
    assert other.total * 0.7 / 5 == pytest.approx(found.loss.total, rel=1e-12)
    assert found.closed
    free = evaluate(problem.replace(travel_rate=0), [2, 0, 1, 4, 3])
    assert free.loss.travel == 0
    assert free.to_dict()["loss_in_travel_units"] is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"constraints": {"start": "Nowhere"}}, "constraints.start = 'Nowhere': there is no such region"),
        ({"constraints": {"start": "R1", "end": "R1"}}, "constraints.end = 'R1': is also the start"),
        ({"constraints": {"end": 3}}, "constraints.end = 3: expected the name of a region"),
        ({"constraints": {"return": "yes"}}, "constraints.return = 'yes': expected true or false"),
        ({"constraints": {"begin": "R1"}}, "constraints.begin: unknown field"),
        ({"start": "R1"}, "start: unknown field"),
        ({"travel_rate": -1}, "travel_rate = -1.0: the travel rate must be >= 0"),
        ({"samples": [50, 60]}, "samples has 2 entries: expected 3"),
        ({"samples": [50, 60, 81]}, "learner.features = 80 with samples[2] = 81: the expected error does not exist"),
        ({"samples": [50, 60.5, 70]}, "samples[1] = 60.5: the number of samples must be a whole number"),
        ({"samples": [50, 0, 70]}, "samples[1] = 0.0: numbers of samples must be >= 1"),
        ({"geographic": True}, "geographic = true: there are no coordinates"),
        ({"geographic": True, "coordinates": [[0, 91], [0, 1], [1, 1]]}, "coordinates[0, 1] = 91: latitudes go from"),
        ({"geographic": 1, "coordinates": [[0, 1], [0, 1], [1, 1]]}, "geographic = 1: expected true or false"),
    ],
)  # fmt: skip
def test_impossible_settings_are_rejected_by_name(fields: dict[str, Any], message: str) -> None:
    data = {
        "travel": [[0, 1, 2], [1, 0, 2], [2, 2, 0]],
        "dissimilarity": [[0, 1, 2], [1, 0, 2], [2, 2, 0]],
        "learner": {"features": 80, "samples": 100},
    }
    with pytest.raises(InputError, match=re.escape(message)):
        Problem.from_dict({**data, **fields})


def test_the_learner_may_leave_samples_to_the_regions() -> None:
    data = {
        "travel": [[0, 1], [1, 0]],
        "dissimilarity": [[0, 1], [1, 0]],
        "learner": {"features": 80},
        "samples": [100, 20],
    }
    assert Problem.from_dict(data).regime == "mixed"


def test_routes_that_end_elsewhere_are_rejected() -> None:
    problem = make_problem(None, OVER, start="R2", end="R4")
    assert evaluate(problem, ["R2", "R1", "R5", "R3", "R4"]).route[0] == "R2"
    with pytest.raises(InputError, match=r"route: begins at 'R1'; constraints\.start is 'R2'"):
        evaluate(problem, ["R1", "R2", "R5", "R3", "R4"])
    with pytest.raises(InputError, match=r"route: ends at 'R3'; constraints\.end is 'R4'"):
        evaluate(problem, ["R2", "R1", "R5", "R4", "R3"])


def test_travel_follows_from_places() -> None:
    places = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    flat = Problem(learner=UNDER, vectors=places, coordinates=places)
    assert flat.travel.tolist() == [[0, 5, 10], [5, 0, 5], [10, 5, 0]]
    assert flat.instance.travel.is_metric
    assert expected_loss(flat, [0, 1, 2]).travel == pytest.approx(10 / 3)
    # Paris, London, New York: great circles of 344 and 5 837 km (of 5 570 km between the last two)
    cities = [[2.3522, 48.8566], [-0.1276, 51.5072], [-74.006, 40.7128]]
    globe = Problem(learner=UNDER, vectors=places, coordinates=cities, geographic=True)
    assert globe.travel[0, 1] == pytest.approx(344, abs=1)
    assert globe.travel[0, 2] == pytest.approx(5837, abs=3)
    assert globe.travel[1, 2] == pytest.approx(5570, abs=3)
    assert np.array_equal(globe.travel, globe.travel.T)
    with pytest.raises(InputError, match="travel: missing; give travel costs, or coordinates"):
        Problem(learner=UNDER, vectors=places)
